"""What learning owes to what: the time and the gain of the warm start and of RL, from a journal with a made clock."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support.journals import played, scenario

from mcprl.config import Config
from mcprl.runs import journal as journals
from mcprl.runs.journal import Journal
from mcprl.runs.learning import Learning, measure, rl_minutes, wall_s
from mcprl.runs.report import build, markdown, pool, table, write
from mcprl.types import Adapter

TESTS = [scenario(n) for n in range(60)]
TRAIN = [scenario(n, "train") for n in range(2)]


class Clock:
    """The journal's clock: it stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(journals, "_now", made)
    return made


def evaluated(journal: Journal, clock: Clock, model: str, step: int, solves: Callable[[int], bool]) -> None:
    clock.wait(30)
    played(journal, f"test:{model}", step, TESTS, lambda n, _: solves(n))
    clock.wait(2)
    journal.write_event("evaluated", phase=f"test:{model}")


def begin(folder: Path, clock: Clock, warm: bool = True) -> None:
    """Tasks, the test of the base model, which solves a third, and a warm start of ten minutes, to a half."""
    with Journal.create(folder, Config()) as journal:
        clock.wait(20)
        journal.write_scenarios([*TRAIN, *TESTS])
        journal.write_event("scenarios", train=2, val=0, test=60)
        evaluated(journal, clock, "base", 0, lambda n: n % 3 == 0)
        if warm:
            journal.write_event("warming", steps=10)
            clock.wait(400)
            played(journal, "val", 0, TRAIN, lambda n, _: True)  # supervised training may validate, too
            clock.wait(200)
            journal.write_adapter(Adapter(str(folder / "adapters/warm"), 0), kind="warm")
            evaluated(journal, clock, "warm", 0, lambda n: n % 2 == 0)


def reinforce(journal: Journal, clock: Clock, steps: range) -> None:
    """Steps of RL of 90 seconds each and a validation of 30 before the first."""
    clock.wait(30)
    played(journal, "val", steps.start - 1, TRAIN, lambda n, _: True)
    for step in steps:
        clock.wait(60)
        played(journal, "train", step, TRAIN, lambda n, _: True, rollouts=4)
        clock.wait(30)
        journal.write_step(step, {}, Adapter(str(journal.folder / f"adapters/step-{step}"), step))


def end(journal: Journal, clock: Clock, solves: Callable[[int], bool], step: int = 10) -> None:
    if step:
        journal.write_adapter(Adapter(str(journal.folder / f"adapters/step-{step}"), step), kind="best")
    journal.write_event("best", step=step, score=1.0)
    evaluated(journal, clock, "trained", step, solves)
    journal.write_event("done")


def trained(folder: Path, clock: Clock, solves: Callable[[int], bool], warm: bool = True, steps: int = 10) -> Path:
    begin(folder, clock, warm)
    with Journal.open(folder, write=True) as journal:
        reinforce(journal, clock, range(1, steps + 1))
        end(journal, clock, solves, steps)
    return folder


def test_the_times_of_warm_start_and_rl_are_those_of_their_records(tmp_path: Path, clock: Clock) -> None:
    folder = trained(tmp_path / "run", clock, lambda n: n % 2 == 0)
    with Journal.open(folder) as journal:
        assert measure(journal) == Learning(warm_s=600, rl_s=30 + 10 * 90, rl_steps=10)
        assert wall_s(journal) == 20 + 3 * 32 + 600 + 930


def test_minutes_of_rl_are_counted_on_after_a_resume_and_the_pause_is_not(tmp_path: Path, clock: Clock) -> None:
    begin(tmp_path / "run", clock)
    with Journal.open(tmp_path / "run", write=True) as journal:
        assert rl_minutes(journal) == 0
        reinforce(journal, clock, range(1, 5))
        assert rl_minutes(journal) == pytest.approx((30 + 4 * 90) / 60)
    clock.wait(100_000)
    with Journal.open(tmp_path / "run", write=True) as journal:
        assert rl_minutes(journal) == pytest.approx((30 + 4 * 90) / 60)
        reinforce(journal, clock, range(5, 7))
        assert rl_minutes(journal) == pytest.approx((30 + 4 * 90 + 30 + 2 * 90) / 60)


def test_a_warm_start_that_was_interrupted_counts_both_times(tmp_path: Path, clock: Clock) -> None:
    begin(tmp_path / "run", clock, warm=False)
    with Journal.open(tmp_path / "run", write=True) as journal:
        journal.write_event("warming", steps=10)
        clock.wait(100)
        played(journal, "demonstration", 1, TRAIN, lambda n, _: True)
    clock.wait(5_000)
    with Journal.open(tmp_path / "run", write=True) as journal:
        clock.wait(7)
        journal.write_event("warming", steps=10)
        clock.wait(200)
        journal.write_adapter(Adapter("adapters/warm", 0), kind="warm")
        assert measure(journal).warm_s == 307


def test_where_rl_brings_nothing_the_report_says_so_with_both_times(tmp_path: Path, clock: Clock) -> None:
    report = write(trained(tmp_path / "run", clock, lambda n: n % 2 == 0 or n == 1))
    sentence = "Over the warm start alone (50.0 %), RL brought nothing that this test shows: +1.7 points (95 % interval"
    for text in (table(report), (tmp_path / "run" / "report.md").read_text()):
        assert sentence in text
        assert "1 task won, 0 lost) in 15.5 min after 10.0 min of warm start." in text
    rows = [line.split() for line in table(report).splitlines()]
    assert ["base", "model", "-", "33.3", "%", "-"] in rows
    assert any(row[:6] == ["warm", "start", "10.0", "min", "50.0", "%"] and row[6] == "+16.7" for row in rows)
    assert any(row[:7] == ["RL", "(10", "steps)", "15.5", "min", "51.7", "%"] and row[7] == "+1.7" for row in rows)


def test_what_training_began_from_is_told_apart_from_what_this_run_brought(tmp_path: Path, clock: Clock) -> None:
    begin(tmp_path / "run", clock, warm=False)
    with Journal.open(tmp_path / "run", write=True) as journal:
        evaluated(journal, clock, "start", 0, lambda n: n % 2 == 0)
        end(journal, clock, lambda n: n % 2 == 0 or n == 1, step=0)
    report = build(tmp_path / "run")
    text = table(report)
    assert "began from a LoRA that solves 50.0 % of them; over that, this run brought no clear change: +1.7" in text
    assert "nothing is shown to be due to this run: +1.7 points" in text
    assert "due to this run (0 lost, 1 won)" in text
    assert next(part.seconds for part in report.spent if part.name == "test of what training began from") == 32


def test_what_is_lost_of_what_training_began_from_speaks_against_the_run(tmp_path: Path, clock: Clock) -> None:
    begin(tmp_path / "run", clock, warm=False)
    with Journal.open(tmp_path / "run", write=True) as journal:
        evaluated(journal, clock, "start", 0, lambda n: n % 2 == 0)
        end(journal, clock, lambda n: n != 4, step=0)
    assert "1 of 60 was lost against the LoRA that training began from." in table(build(tmp_path / "run"))


def test_a_gain_and_a_loss_by_rl_are_told_as_such(tmp_path: Path, clock: Clock) -> None:
    gains = build(trained(tmp_path / "gains", clock, lambda n: True))
    assert "Over the warm start alone (50.0 %), RL brought a gain of +50.0 points" in table(gains)
    loses = build(trained(tmp_path / "loses", clock, lambda n: False))
    assert "Over the warm start alone (50.0 %), RL brought a loss of -50.0 points" in table(loses)


def test_a_gain_without_a_plan_shown_is_rls_alone(tmp_path: Path, clock: Clock) -> None:
    alone = build(trained(tmp_path / "alone", clock, lambda n: True, warm=False))
    assert "RL alone made this change, without a plan shown, in 15.5 min." in table(alone)
    after_plans = build(trained(tmp_path / "after", clock, lambda n: True))
    assert "RL alone" not in table(after_plans)


def test_a_warm_start_without_rl_owes_rl_nothing(tmp_path: Path, clock: Clock) -> None:
    begin(tmp_path / "run", clock)
    with Journal.open(tmp_path / "run", write=True) as journal:
        end(journal, clock, lambda n: n % 2 == 0, step=0)
    report = build(tmp_path / "run")
    assert "RL took no step: all of it is due to the warm start." in table(report)
    assert "| RL (" not in markdown(report)


def test_a_run_whose_steps_were_all_worse_than_its_start_says_which_model_was_tested(
    tmp_path: Path, clock: Clock
) -> None:
    begin(tmp_path / "run", clock)
    with Journal.open(tmp_path / "run", write=True) as journal:
        reinforce(journal, clock, range(1, 11))
        end(journal, clock, lambda n: n % 2 == 0, step=0)
    assert "the model that RL began from was tested, since no later step was better" in table(build(tmp_path / "run"))


def test_without_a_warm_start_all_is_rls(tmp_path: Path, clock: Clock) -> None:
    page = markdown(build(trained(tmp_path / "run", clock, lambda n: n % 2 == 0, warm=False)))
    assert "| RL (10 steps) | 15.5 min | 50.0 % | +16.7 (" in page
    assert "warm start" not in page.split("## By tool")[0]


def test_seeds_that_are_pooled_have_the_mean_of_their_times(tmp_path: Path, clock: Clock) -> None:
    folders = [
        trained(tmp_path / f"seed-{seed}", clock, lambda n: n % 2 == 0, steps=10 * seed)  # of 10 and 20 steps
        for seed in (1, 2)
    ]
    assert pool(folders).learning == Learning(warm_s=600, rl_s=30 + 15 * 90, rl_steps=15)
    assert "RL (15 steps)" in table(pool(folders))
