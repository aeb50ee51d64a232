"""Two runs, or a run and another model, compared on the test tasks that both did: which is better, with an interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcprl.errors import JournalError
from mcprl.runs import intervals
from mcprl.runs.clusters import clusterings
from mcprl.runs.comparison import Interval
from mcprl.runs.evaluations import read_evaluation
from mcprl.runs.journal import Journal
from mcprl.runs.proof import SUITES, Tested
from mcprl.runs.records import success_by_task
from mcprl.types import Scenario, Suite


@dataclass(frozen=True)
class PairedRuns:
    """Two models on the same `n` tasks of a suite: the success of each (0..1), the second's minus the first's with its
    95 % interval, and the tasks at which the second does better (`won`) and worse (`lost`).
    """

    suite: Suite
    n: int
    first: float
    second: float
    difference: float
    ci95: Interval
    won: int
    lost: int


@dataclass(frozen=True)
class _Side:
    """A run's trained model, or the model of an evaluation: its success (0..1) and the requests by task, the tasks
    themselves unless it is a printed one, and the hash of the server's tools if it is a run's."""

    name: str
    success: Mapping[str, float]
    requests: Mapping[str, str]
    tasks: Mapping[str, Scenario]
    tool_hash: str = ""


def compare_runs(first: Path, second: Path) -> list[PairedRuns]:
    """Two runs or evaluations (the folder of `mcprl eval`, or the JSON that it printed), by suite.

    Raises `JournalError` if a run has no tested trained model, if neither has the tasks themselves, or if they are of
    unlike tasks.
    """
    a, b = sides = _side(first), _side(second)
    tasks = a.tasks or b.tasks
    if not tasks:
        raise JournalError(f"{a.name} and {b.name} are printed evaluations; name the folder of one, runs/evals/NAME")
    hashes = {side.name: side.tool_hash for side in sides if side.tool_hash}
    if len({*hashes.values()}) > 1:
        told = ", ".join(f"{name} {value or 'none'}" for name, value in hashes.items())
        raise JournalError(f"the runs cannot be compared: their servers' tools differ ({told})")
    both = [name for name in a.success if name in b.success]
    if any(a.requests[name] != b.requests[name] for name in both) or any(
        a.tasks[name].checks != b.tasks[name].checks for name in both if a.tasks and b.tasks
    ):
        raise JournalError("the runs cannot be compared: tasks of one name differ in their request or checks")
    if not both or len(both) < max(len(side.success) for side in sides):
        each = ", ".join(f"{side.name} has {len(side.success)}" for side in sides)
        raise JournalError(
            f"the runs cannot be compared: they were not tested on the same tasks ({each}, {len(both)} are in both); "
            "give both one pack (--pack) or one --test-pack"
        )
    return [
        _paired(suite, [tasks[n] for n in names], [a.success[n] for n in names], [b.success[n] for n in names])
        for suite in SUITES
        if (names := [name for name in both if tasks[name].suite == suite])
    ]


def _side(path: Path) -> _Side:
    if path.suffix == ".json":
        evaluation = read_evaluation(path)
        return _Side(path.name, evaluation.success, evaluation.requests, {})
    name = path.absolute().name
    with Journal.open(path) as journal:
        if journal.fact("evaluation"):
            return _evaluated(name, journal)
        tested = Tested(journal)
    if "trained" not in tested.outcomes:
        raise JournalError(f"{tested.name} has no test of a trained model to compare ({tested.head['status']})")
    tasks = {task.scenario.id: task.scenario for task in tested.tasks}
    success = {task.scenario.id: task.success["trained"] for task in tested.tasks}
    requests = {name: scenario.request for name, scenario in tasks.items()}
    return _Side(name, success, requests, tasks, tested.head["tool_hash"])


def _evaluated(name: str, journal: Journal) -> _Side:
    tasks = {scenario.id: scenario for scenario in journal.scenarios()}
    success = success_by_task(journal.outcomes("eval", 0))
    if not success:
        raise JournalError(f"{name} has no scores; go on with: mcprl eval --resume {name}")
    return _Side(name, success, {each: scenario.request for each, scenario in tasks.items()}, tasks)


def _paired(suite: Suite, tasks: Sequence[Scenario], first: Sequence[float], second: Sequence[float]) -> PairedRuns:
    mean, low, high, _ = intervals.widest_difference(first, second, clusterings(tasks))
    return PairedRuns(
        suite=suite,
        n=len(tasks),
        first=sum(first) / len(tasks),
        second=sum(second) / len(tasks),
        difference=mean,
        ci95=(low, high),
        won=sum(b > a for a, b in zip(first, second, strict=True)),
        lost=sum(b < a for a, b in zip(first, second, strict=True)),
    )
