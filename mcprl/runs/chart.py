"""What a chart of runs shows: each one's base, warm-started and trained model, others on its tasks, and their cost."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from mcprl.errors import ConfigError, JournalError
from mcprl.runs.clusters import clusterings
from mcprl.runs.comparison import Interval
from mcprl.runs.evaluations import ReadEvaluation, read_evaluation
from mcprl.runs.intervals import widest_rate
from mcprl.runs.journal import Journal
from mcprl.runs.learning import Part
from mcprl.runs.proof import Tested, build
from mcprl.types import Scenario, Suite


@dataclass(frozen=True)
class Bar:
    """A model's success in a test (0..1) with its 95 % interval, and US dollars for 1,000 such tasks, if priced."""

    model: str
    success: float
    ci95: Interval
    cost: float | None = None


@dataclass(frozen=True)
class ChartedRun:
    """A run's bars, on `tasks` tasks of its leading suite."""

    name: str
    suite: Suite
    tasks: int
    bars: tuple[Bar, ...]


def charted(folders: Sequence[Path], price: str = "", evaluations: Sequence[Path] = ()) -> list[ChartedRun]:
    """The runs as a chart shows them, each with the evaluations (the JSON of `mcprl eval`) that did its leading suite's
    tasks. `price` is what a million tokens cost in US dollars, read and sampled: `0.1/0.4`.

    Raises `ConfigError` for another price, and `JournalError` for a run without a tested model or an evaluation that
    did no run's tasks.
    """
    per_token = _per_token(price) if price else None
    read = {path: read_evaluation(path) for path in evaluations}
    runs = [_charted(folder, per_token, [*read.values()]) for folder in folders]
    for path, evaluation in read.items():
        if not any(bar.model == evaluation.model for run in runs for bar in run.bars):
            raise JournalError(f"{path} has not all held-out tasks of any of these runs; give eval their --pack")
    return runs


def _charted(folder: Path, per_token: tuple[float, float] | None, others: Sequence[ReadEvaluation]) -> ChartedRun:
    report = build(folder)
    test, last = report.test, "trained" if report.steps else "supervised"
    tested = (
        ("base", test.base, "test of the base model"),
        ("began from", test.start, "test of what training began from"),
        ("supervised", test.warm, "test after the warm start"),
        (last, test.trained, "test of the trained model"),
    )
    spent = {part.name: part for part in report.spent}
    bars = [
        Bar(name, rate.success, rate.ci95, _cost(spent.get(part), per_token)) for name, rate, part in tested if rate
    ]
    if not bars:
        raise JournalError(f"{report.name} has no tested model to draw ({report.status})")
    with Journal.open(folder) as journal:
        tasks = [task.scenario for task in Tested(journal).tasks if task.scenario.suite == report.lead]
    for other in others:
        if all(other.requests.get(task.id) == task.request and task.id in other.success for task in tasks):
            success, low, high = _rate(tasks, other)
            bars.append(Bar(other.model, success, (low, high), other.cost))
    return ChartedRun(report.name, report.lead, test.n, tuple(bars))


def _rate(tasks: Sequence[Scenario], evaluation: ReadEvaluation) -> tuple[float, float, float]:
    """An evaluation's success at the tasks, with its 95 % interval."""
    success = [evaluation.success[task.id] for task in tasks]
    low, high, _ = widest_rate(success, clusterings(tasks))
    return fmean(success), low, high


def _cost(part: Part | None, per_token: tuple[float, float] | None) -> float | None:
    """US dollars for 1,000 rollouts like those of the test."""
    if not (per_token and part and part.rollouts):
        return None
    return 1_000 * (part.read * per_token[0] + part.sampled * per_token[1]) / part.rollouts


def _per_token(price: str) -> tuple[float, float]:
    match = re.fullmatch(r"(\d*\.?\d+)/(\d*\.?\d+)", price)
    if not match:
        raise ConfigError(f"--price {price!r} is no price; give dollars per million tokens read and sampled: 0.1/0.4")
    return float(match[1]) / 1e6, float(match[2]) / 1e6
