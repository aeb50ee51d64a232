"""What single tasks show: every task that training lost, and transcripts of lost, unsolved and solved ones."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

from mcprl.runs.clusters import tools_of
from mcprl.runs.comparison import Model, TaskResult
from mcprl.runs.journal import Journal
from mcprl.runs.trackers import dialogue
from mcprl.types import Score, Suite, Trajectory

Verdict = Literal["lost", "unsolved", "solved"]
_MOST: Final[dict[Verdict, int]] = {"lost": 3, "unsolved": 2, "solved": 3}
"""How many examples of each verdict a report has, in this order."""

Told = Mapping[str, tuple[Trajectory, str]]
"""Each trajectory of a model's test with the judge's explanation, by trajectory id."""


@dataclass(frozen=True)
class Loss:
    """A test task at which the trained model succeeded less often than the earlier one: an answer of each, the earlier
    one's right and the trained one's wrong, and why it is wrong. `run` names the run.
    """

    run: str
    scenario: str
    suite: Suite
    form: str
    request: str
    before: str
    after: str
    why: str


@dataclass(frozen=True)
class ExampleTask:
    """One test task as the earlier and the trained model did it: the transcripts, and the judge's explanations.

    `lost`: the trained model succeeds less often; `unsolved`: both failed; `solved`: only the earlier one failed.
    """

    scenario: str
    suite: Suite
    request: str
    verdict: Verdict
    before: str
    after: str
    before_why: str
    after_why: str


def lost_tasks(tasks: Iterable[TaskResult], before: Model) -> list[TaskResult]:
    """The tasks at which the trained model succeeded less often than `before`."""
    return [task for task in tasks if _verdict(task, before) == "lost"]


def losses(run: str, journal: Journal, tasks: Iterable[TaskResult], before: Model) -> list[Loss]:
    """A line for each lost task, in the order of `tasks`."""
    lost = lost_tasks(tasks, before)
    if not lost:
        return []
    earlier, trained = _told(journal, before, lost), _told(journal, "trained", lost)
    lines: list[Loss] = []
    for task in lost:
        right, _ = _rollout(task, before, earlier, success=True)
        wrong, why = _rollout(task, "trained", trained, success=False)
        scenario = task.scenario
        lines.append(
            Loss(run, scenario.id, scenario.suite, scenario.form, scenario.request, answer(right), answer(wrong), why)
        )
    return lines


def pick_examples(journal: Journal, tasks: Sequence[TaskResult], before: Model) -> list[ExampleTask]:
    """Lost tasks first, then unsolved, then solved ones, a few of each, of different tools if possible."""
    chosen: list[tuple[Verdict, TaskResult]] = []
    for verdict, most in _MOST.items():
        members = [task for task in tasks if _verdict(task, before) == verdict]
        chosen.extend((verdict, task) for task in _by_different_tools(members)[:most])
    if not chosen:
        return []
    picked = [task for _, task in chosen]
    earlier, trained = _told(journal, before, picked), _told(journal, "trained", picked)
    examples: list[ExampleTask] = []
    for verdict, task in chosen:
        first, first_why = _rollout(task, before, earlier, success=verdict == "lost")
        last, last_why = _rollout(task, "trained", trained, success=verdict == "solved")
        scenario = task.scenario
        texts = dialogue(first.messages), dialogue(last.messages)
        examples.append(
            ExampleTask(scenario.id, scenario.suite, scenario.request, verdict, *texts, first_why, last_why)
        )
    return examples


def answer(trajectory: Trajectory) -> str:
    """The rollout's answer, or in brackets how it ended without one."""
    return trajectory.answer or f"({trajectory.error or trajectory.stop})"


def _verdict(task: TaskResult, before: Model) -> Verdict | None:
    """`None` for a task without both models, and for one that stayed as it was and was not failed."""
    if not {before, "trained"} <= task.success.keys():
        return None
    first, last = task.success[before], task.success["trained"]
    if last < first:
        return "lost"
    if last == first == 0:
        return "unsolved"
    return "solved" if last > first else None


def _rollout(task: TaskResult, model: Model, told: Told, *, success: bool) -> tuple[Trajectory, str]:
    """The task's first rollout by a model that counts as `success`, with the explanation; else its first."""
    outcomes = task.rollouts[model]
    chosen = next((outcome for outcome in outcomes if outcome.counts_as is success), outcomes[0])
    return told[chosen.trajectory_id]


def _by_different_tools(tasks: Sequence[TaskResult]) -> list[TaskResult]:
    """The first task of each combination of tools, then the others."""
    first: dict[tuple[str, ...], TaskResult] = {}
    for task in tasks:
        first.setdefault(tuple(tools_of(task.scenario)), task)
    leading = {task.scenario.id for task in first.values()}
    return [*first.values(), *(task for task in tasks if task.scenario.id not in leading)]


def _told(journal: Journal, model: Model, tasks: Iterable[TaskResult]) -> Told:
    outcomes = sorted((outcome.step, outcome.trajectory_id) for task in tasks for outcome in task.rollouts[model])
    told: dict[str, tuple[Trajectory, str]] = {}
    for step, members in groupby(outcomes, key=lambda pair: pair[0]):
        wanted = {name for _, name in members}
        scores = {score.trajectory_id: score for score in journal.scores(f"test:{model}", step)}
        for trajectory in journal.trajectories(f"test:{model}", step):
            if trajectory.id in wanted:
                told[trajectory.id] = trajectory, _why(trajectory, scores.get(trajectory.id))
    return told


def _why(trajectory: Trajectory, score: Score | None) -> str:
    return trajectory.error or (score.explanation if score else "not judged")
