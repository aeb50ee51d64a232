"""Two runs compared on the test tasks that both have: which of their trained models is better, with an interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mcprl.errors import JournalError
from mcprl.runs import intervals
from mcprl.runs.clusters import clusterings
from mcprl.runs.comparison import Interval, TaskResult
from mcprl.runs.journal import Journal
from mcprl.runs.proof import SUITES, Tested
from mcprl.types import Suite


@dataclass(frozen=True)
class PairedRuns:
    """Two runs on the same `n` tasks of a suite: the success of each one's trained model (0..1), the second's minus the
    first's with its 95 % interval, and the tasks at which the second does better (`won`) and worse (`lost`).
    """

    suite: Suite
    n: int
    first: float
    second: float
    difference: float
    ci95: Interval
    won: int
    lost: int


def compare_runs(first: Path, second: Path) -> list[PairedRuns]:
    """The runs by suite. Raises `JournalError` if one has no tested trained model, or if they are of unlike tasks."""
    names = first.absolute().name, second.absolute().name
    results: list[dict[str, TaskResult]] = []
    hashes: list[str] = []
    for folder in (first, second):
        with Journal.open(folder) as journal:
            tested = Tested(journal)
        if "trained" not in tested.outcomes:
            raise JournalError(f"{tested.name} has no test of a trained model to compare ({tested.head['status']})")
        results.append({task.scenario.id: task for task in tested.tasks})
        hashes.append(tested.head["tool_hash"])
    if hashes[0] != hashes[1]:
        told = ", ".join(f"{name} {value or 'none'}" for name, value in zip(names, hashes, strict=True))
        raise JournalError(f"the runs cannot be compared: their servers' tools differ ({told})")
    pairs = [(task, results[1][name]) for name, task in results[0].items() if name in results[1]]
    if any(a.scenario.request != b.scenario.request or a.scenario.checks != b.scenario.checks for a, b in pairs):
        raise JournalError("the runs cannot be compared: tasks of one name differ in their request or checks")
    if not pairs or len(pairs) < max(map(len, results)):
        each = ", ".join(f"{name} has {len(tasks)}" for name, tasks in zip(names, results, strict=True))
        raise JournalError(
            f"the runs cannot be compared: they were not tested on the same tasks ({each}, {len(pairs)} are in both); "
            "give both runs one pack (--pack) or one --test-pack"
        )
    return [_paired(suite, found) for suite in SUITES if (found := [p for p in pairs if p[0].scenario.suite == suite])]


def _paired(suite: Suite, pairs: Sequence[tuple[TaskResult, TaskResult]]) -> PairedRuns:
    first, second = ([pair[at].success["trained"] for pair in pairs] for at in (0, 1))
    clusters = clusterings([task.scenario for task, _ in pairs])
    mean, low, high, _ = intervals.widest_difference(first, second, clusters)
    return PairedRuns(
        suite=suite,
        n=len(pairs),
        first=sum(first) / len(pairs),
        second=sum(second) / len(pairs),
        difference=mean,
        ci95=(low, high),
        won=sum(b > a for a, b in zip(first, second, strict=True)),
        lost=sum(b < a for a, b in zip(first, second, strict=True)),
    )
