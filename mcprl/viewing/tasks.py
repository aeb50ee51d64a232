"""The tasks of a run: what they cover, how often each is solved, and which the trained model won and lost."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from mcprl.runs.clusters import tools_of
from mcprl.runs.comparison import MODELS, Model
from mcprl.runs.examples import answer
from mcprl.runs.journal import Journal
from mcprl.runs.proof import Tested
from mcprl.runs.records import success_by_task
from mcprl.types import Scenario
from mcprl.viewing.groups import Column, column

PAGE: Final = 100
NAMES: Final[dict[Model, str]] = {"base": "base", "start": "start", "warm": "supervised", "trained": "trained"}
VERDICTS: Final = ("lost", "won", "unsolved", "kept")


@dataclass(frozen=True)
class Coverage:
    """A part of the tasks: how many there are in each split, and the success (0..1) in training and in the tests."""

    name: str
    train: int
    val: int
    test: int
    rates: Sequence[float | None]


@dataclass(frozen=True)
class TaskLine:
    """A task with its success (0..1) in training and by each tested model, `None` where it was not measured."""

    scenario: Scenario
    rates: Sequence[float | None]


@dataclass(frozen=True)
class Pair:
    """A tested task with each model's success, answer and the words of its judge."""

    scenario: Scenario
    models: Sequence[tuple[str, float, str, str]]


def rates(journal: Journal) -> list[tuple[str, dict[str, float]]]:
    """Each task's success by id, in training (without given calls) and of each tested model."""
    tested = Tested(journal).outcomes
    own = (outcome for outcome in journal.outcomes("train") if not outcome.given_calls)
    found = [("in training", success_by_task(own))]
    return found + [(NAMES[model], success_by_task(tested[model])) for model in MODELS if model in tested]


def coverage(scenarios: Iterable[Scenario], measured: Sequence[tuple[str, dict[str, float]]]) -> list[Coverage]:
    """The tasks by tool, then by kind."""
    parts: defaultdict[str, list[Scenario]] = defaultdict(list)
    kinds: defaultdict[str, list[Scenario]] = defaultdict(list)
    for scenario in scenarios:
        for tool in tools_of(scenario):
            parts[tool].append(scenario)
        kinds[f"kind {scenario.kind}"].append(scenario)
    return [
        Coverage(
            name,
            *(sum(task.split == split for task in tasks) for split in ("train", "val", "test")),
            rates=[_mean(success.get(task.id) for task in tasks) for _, success in measured],
        )
        for name, tasks in (*sorted(parts.items()), *sorted(kinds.items()))
    ]


def task_lines(
    scenarios: Iterable[Scenario],
    measured: Sequence[tuple[str, dict[str, float]]],
    split: str,
    words: str,
    sort: str,
    page: int,
) -> tuple[list[TaskLine], bool]:
    """A page of the tasks of a split (or of all) that have the words, and whether there are more."""
    wanted = words.lower()
    lines = [
        TaskLine(scenario, [success.get(scenario.id) for _, success in measured])
        for scenario in scenarios
        if split in ("", scenario.split)
        and wanted in f"{scenario.request} {scenario.kind} {' '.join(tools_of(scenario))}".lower()
    ]
    names = [name for name, _ in measured]
    if sort in names:
        at = names.index(sort)
        lines.sort(key=lambda line: (line.rates[at] is None, line.rates[at] or 0.0))
    elif sort in ("request", "kind"):
        lines.sort(key=lambda line: getattr(line.scenario, sort))
    return lines[PAGE * page : PAGE * (page + 1)], len(lines) > PAGE * (page + 1)


def pairs(journal: Journal, verdict: str) -> tuple[dict[str, int], list[Pair]]:
    """How many tested tasks have each verdict, and those of one."""
    tested = Tested(journal)
    found: defaultdict[str, list[str]] = defaultdict(list)
    for task in tested.tasks:
        found[_verdict(task.success)].append(task.scenario.id)
    chosen = set(found[verdict])
    shown: list[Pair] = []
    told = {model: _told(journal, tested, model) for model in tested.outcomes}
    for task in tested.tasks:
        if task.scenario.id in chosen:
            models = [
                (NAMES[model], task.success[model], *told[model][outcomes[0].trajectory_id])
                for model, outcomes in task.rollouts.items()
            ]
            shown.append(Pair(task.scenario, models))
    return {each: len(found[each]) for each in VERDICTS}, shown


def pair_columns(journal: Journal, task: str) -> list[Column]:
    """A tested task's rollouts by each model side by side."""
    found: list[Column] = []
    for model, outcomes in Tested(journal).outcomes.items():
        ids = {outcome.trajectory_id for outcome in outcomes if outcome.scenario_id == task}
        if ids:
            phase, step = f"test:{model}", outcomes[0].step
            scores = {score.trajectory_id: score for score in journal.scores(phase, step)}
            members = [each for each in journal.trajectories(phase, step, task) if each.id in ids]
            found += [column(NAMES[model], each, scores.get(each.id)) for each in members]
    return found


def _verdict(rates: Mapping[Model, float]) -> str:
    before, after = rates.get("base", 0.0), rates.get("trained", rates.get("base", 0.0))
    if after != before:
        return "won" if after > before else "lost"
    return "kept" if after else "unsolved"


def _told(journal: Journal, tested: Tested, model: Model) -> dict[str, tuple[str, str]]:
    """Of each rollout its answer and its judge's words, by trajectory id."""
    phase, step = f"test:{model}", tested.outcomes[model][0].step
    words = {score.trajectory_id: score.explanation for score in journal.scores(phase, step)}
    return {each.id: (answer(each), words.get(each.id, "not judged")) for each in journal.trajectories(phase, step)}


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
