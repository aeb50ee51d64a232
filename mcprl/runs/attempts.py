"""Attempts at benchmarks made by others, as a run's journal keeps them, and the pass rates that follow from them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from mcprl.runs import intervals
from mcprl.runs.journal import Journal
from mcprl.runs.records import dump

Interval = tuple[float, float, float]
"""A value and the low and high end of its 95 % interval."""

Attempter = Literal["base", "trained"]


@dataclass(frozen=True)
class PassRate:
    """Of `tasks` tasks: the fraction that the base passes, that the adapter passes, and what that gained."""

    tasks: int
    base: Interval
    trained: Interval | None = None
    gain: Interval | None = None


@dataclass(frozen=True)
class BenchResult:
    """A row of the report: what was measured of a benchmark's tasks. `trained` is missing before it was measured, and
    if no adapter was better than the base model."""

    bench: str
    measured: str
    tasks: int
    base: Interval
    trained: Interval | None = None
    gain: Interval | None = None


def pass_rates(base: Sequence[Mapping[str, bool]], trained: Sequence[Mapping[str, bool]] = ()) -> dict[str, PassRate]:
    """The rates by what was measured, of attempts at the same tasks in the same order, with 95 % intervals: Wilson's,
    and of the gain the paired bootstrap's.
    """
    found: dict[str, PassRate] = {}
    for name in dict.fromkeys(name for passed in base for name in passed):
        before = [float(passed[name]) for passed in base if name in passed]
        after = [float(passed[name]) for passed in trained if name in passed]
        gain = intervals.paired_difference(before, after) if after else None
        found[name] = PassRate(len(before), _rate(before), _rate(after) if after else None, gain)
    return found


def _rate(passed: Sequence[float]) -> Interval:
    return sum(passed) / len(passed), *intervals.wilson(sum(passed), len(passed))


def write_attempt(
    journal: Journal, bench: str, model: Attempter, step: int, task: str, passed: Mapping[str, bool], body: Any
) -> None:
    """Keep what became of a task: whether it passed, by what was measured, and all else that is known of it (`body`).

    `step` is the trained model's, 0 of the base model. An attempt that is written again changes nothing.
    """
    row = (bench, model, step, task, datetime.now(UTC).timestamp(), dump(dict(passed)), dump(body))
    journal.db.write("insert into attempt values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing", [row])


def attempts_at(journal: Journal, bench: str, model: Attempter, step: int) -> dict[str, dict[str, bool]]:
    """By task, whether the model passed, by what was measured."""
    query = "select task, passed from attempt where (bench, model, step) = (?, ?, ?) order by rowid"
    return {task: journal.db.json(passed) for task, passed in journal.db.read(query, bench, model, step)}


def bench_results(journal: Journal) -> list[BenchResult]:
    """What the benchmarks measured, as far as the run has come. Of several trained steps the last counts."""
    results: list[BenchResult] = []
    query = """select bench, max(case model when 'trained' then step end) from attempt group by bench
        order by min(rowid)"""
    for bench, step in journal.db.read(query):
        base = attempts_at(journal, bench, "base", 0)
        trained = {} if step is None else attempts_at(journal, bench, "trained", step)
        after = [trained[task] for task in base] if trained.keys() >= base.keys() else []
        for name, rate in pass_rates(list(base.values()), after).items():
            results.append(BenchResult(bench, name, **asdict(rate)))
    return results
