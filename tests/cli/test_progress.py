"""What a run prints for each step."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from mcprl.cli.output import wrapped
from mcprl.cli.panel import Panel
from mcprl.cli.progress import Progress, TrainingProgress
from mcprl.events import Evaluated, Event, Sampled, StepComplete, WarmStartBegan, WarmStartStep

METRICS: dict[str, Any] = {
    "rollout_s": 2.0,
    "judge_s": 1.0,
    "train_s": 1.0,
    "sampled_tokens": 800,
    "score": 0.5,
    "success": 0.25,
    "dropped_groups": 3,
    "groups": 8,
    "judge_failures": 0,
    "turns": 2.04,
    "rollout_tokens": 53.6,
    "rollout_entropy": 8.25,
}


def printed(progress: Progress, *events: Event) -> str:
    """What the events print where there is no terminal."""
    progress.screen = Console(file=io.StringIO(), width=200)
    for event in events:
        progress(event)
    return progress.screen.file.getvalue().rstrip()  # pyright: ignore[reportAttributeAccessIssue]


def line(**judged: float) -> str:
    """The line of the second of four steps."""
    return printed(TrainingProgress(Path("runs/x")), StepComplete(2, 4, METRICS | judged))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time that progress and panel see."""
    now = [100.0]
    monkeypatch.setattr("mcprl.cli.progress.time.monotonic", lambda: now[0])
    return now


@pytest.mark.parametrize(
    ("judged", "end"),
    [
        ({}, "ETA 0:08"),
        ({"judge_order": 0.625, "judge_kappa": -0.1}, "ETA 0:08  judge's order +0.62  judge's kappa -0.10"),
        ({"judge_kappa": 0.4, "judge_cost": 0.25}, "ETA 0:08  judge $0.25  judge's kappa +0.40"),
    ],
)
def test_a_steps_line_has_the_judges_agreement_as_far_as_the_step_shows_it(judged: dict[str, float], end: str) -> None:
    text = line(**judged)
    assert text.startswith("step   2/4   score 0.50 success  25% dropped 3/8")
    assert text.endswith(end)


def test_without_a_terminal_nothing_is_silent_for_more_than_five_seconds(clock: list[float]) -> None:
    progress, lines = Progress("connecting"), list[str]()
    progress.screen = Console(file=io.StringIO(), width=200)
    for done in range(8):
        clock[0] += 2.0
        progress(Sampled("test:base", done, 98))
        progress.break_silence()
    lines = progress.screen.file.getvalue().splitlines()  # pyright: ignore[reportAttributeAccessIssue]
    assert lines == ["test:base: 2 of 98 rollouts (0:04)", "test:base: 5 of 98 rollouts (0:10)"]


def test_a_supervised_step_has_its_line_with_the_time_that_is_left(clock: list[float]) -> None:
    progress = TrainingProgress(Path("runs/x"))
    printed(progress, WarmStartBegan(100))
    clock[0] += 1.93
    step = WarmStartStep(7, 100, {"loss": 0.4321, "tokens_per_s": 250.4})
    assert printed(progress, step) == "warm start   7/100 loss 0.432   250 tok/s  ETA 2:59"
    clock[0] += 1.94
    assert printed(progress, WarmStartStep(69, 100, step.metrics)).endswith("ETA 1:00")  # 59.985 seconds


def test_a_steps_line_fits_80_columns() -> None:
    metrics = METRICS | {"score": -0.25, "success": 1.0, "dropped_groups": 4, "rollout_s": 80.0}
    assert len(printed(TrainingProgress(Path("runs/x")), StepComplete(17, 120, metrics))) <= 80


EVENTS = (
    Evaluated("test:base", 0, 96, 0.07, 20.0),
    Sampled("train", 34, 64),
    *(Evaluated("val", step, 48, success, 5.0) for step, success in ((0, 0.1), (10, 0.3), (20, 0.2))),
    *(StepComplete(step, 40, METRICS | {"success": success}) for step, success in ((18, 0.1), (19, 0.4))),
    StepComplete(
        20,
        40,
        METRICS,
        {"get_order": (6, 8), "list_orders": (1, 8), **{f"a_tool_with_a_long_name_{n}": (8, 8) for n in range(20)}},
        {"never solved": 2, "always solved": 1},
    ),
)


@pytest.mark.parametrize("columns", [80, 140])
def test_the_panel_shows_how_the_run_goes_and_fits_the_terminal(columns: int) -> None:
    panel = Panel("shop")
    assert panel.render("connecting") is None
    for event in EVENTS:
        panel.take(event)
    screen = Console(file=io.StringIO(), width=columns)
    screen.print(panel.render("step 21 of 40"))
    shown = screen.file.getvalue()  # pyright: ignore[reportAttributeAccessIssue]
    assert max(map(len, shown.splitlines())) == columns
    for part in (
        "shop: step 21 of 40",
        "rollouts ",
        "time left ",
        "and 10 more",
        "34 of 64 (train)",
        "▁█▅  20%, best 30%",
        "400 tokens/s, 4.0 s a step",
        "list_orders 12%  get_order 75%",
        "▁█▄  25% of the last 3 steps, ±17%",
        "2.0 turns, 54 tokens, 8.2 nats of entropy",
        "62% of 24 recent groups; none in 3 of 8 groups: 2 never solved",
        "1:50 at most",
    ):
        assert part in shown, shown


def test_the_time_that_is_left_counts_validations_and_the_test() -> None:
    panel = Panel("shop")
    for event in EVENTS:
        panel.take(event)
    assert panel.left_s == pytest.approx(20 * (4.0 + 2 / 20 * 5.0) + 20.0)


LABELLED = "note         " + "a word " * 20
SPLIT = "test:trained " + "a word " * 20


@pytest.mark.parametrize(
    ("line", "indent"),
    [
        (LABELLED, 13),
        (SPLIT, 13),
        ("warm start   " + "a word " * 20, 13),
        ("- " + "a word " * 20, 2),
        ("On 12 " * 20, 0),
    ],
)
def test_a_long_line_goes_on_below_what_follows_its_label(line: str, indent: int) -> None:
    terminal = Console(file=io.StringIO(), width=80, force_terminal=True)
    first, *others = wrapped(line, terminal).splitlines()
    assert others
    assert [len(each) - len(each.lstrip()) for each in others] == [indent] * len(others)
    assert max(map(len, (first, *others))) <= 80
    assert wrapped(line, Console(file=io.StringIO(), width=80)) == line
