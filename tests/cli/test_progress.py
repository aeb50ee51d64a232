"""What a run prints for each step."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from mcprl.cli.progress import Progress, TrainingProgress
from mcprl.events import Event, Sampled, StepComplete, WarmStartStep

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
    assert text.startswith("step   2/4   score 0.50  success  25%  dropped 3/8")
    assert text.endswith(end)


def test_without_a_terminal_a_long_phase_says_each_minute_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("mcprl.cli.progress.time.monotonic", lambda: clock[0])
    progress, lines = Progress(), list[str]()
    for done in range(1, 8):
        clock[0] += 25.0
        lines.append(printed(progress, Sampled("test:base", done, 98)))
    assert [line for line in lines if line] == [f"test:base: {n} of 98 rollouts" for n in (3, 6)]


def test_a_supervised_step_has_its_line() -> None:
    step = WarmStartStep(7, 100, {"loss": 0.4321, "tokens_per_s": 250.4})
    assert printed(TrainingProgress(Path("runs/x")), step) == "warm start   7/100 loss 0.432  250 tok/s"
