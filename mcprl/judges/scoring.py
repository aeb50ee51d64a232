"""The scores of a run: a training step's by the judge, with anchors beside each group; held-out tasks' by their checks.

An anchor is a trajectory that is judged together with a group and never trained on: the base model's rollout of the
task ("base"), or the best trajectory of the task so far ("best").
"""

import logging
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import fmean

import anyio

from mcprl.config import Config
from mcprl.errors import BudgetError, JudgeError
from mcprl.events import Emit, Note, ignore
from mcprl.judges import Judge, open_judge
from mcprl.judges.mixed import MixedScore
from mcprl.judges.verifier import Verifier
from mcprl.llm import LanguageModel
from mcprl.runs import agreement
from mcprl.runs.agreement import GroupAgreement
from mcprl.runs.clusters import tools_of
from mcprl.runs.journal import Journal
from mcprl.runs.records import given_calls
from mcprl.text import counted, first_line
from mcprl.types import Group, Score, Tool, Trajectory

_log = logging.getLogger("mcprl-judges")

JUDGED_SUCCESS = 0.5
"""The judge's score from which on a held-out task without checks counts as a success."""


async def ask(judge: Judge, group: Group) -> list[Score]:
    """The judge's scores. Whatever it raises is its failure at this group and not the end of a run: a `JudgeError`, or
    a `BudgetError` before its limit. The traceback of an error that is not the package's own goes to the run's log."""
    try:
        return await judge.score(group)
    except (JudgeError, BudgetError):
        raise
    except Exception as error:  # the judge may be the user's, and answers hold anything
        _log.error("the judge failed at %s", group.scenario.id, exc_info=True)
        failed = f"the judge failed at {group.scenario.id}: {type(error).__name__}: {first_line(error)}"
        raise JudgeError(failed) from error


async def score_held_out(group: Group, verifier: Verifier, judge: Judge, emit: Emit = ignore) -> list[Score]:
    """The scores of a group that is not trained on: by the task's checks or, if it has none, by a judge that reads.

    Without such a judge a task without checks has no scores: nothing says what a right answer is. Nor has a task at
    which the judge failed; a note says so. Raises `BudgetError`.
    """
    if group.scenario.checks:
        judge = verifier
    elif isinstance(judge, Verifier):
        return []
    try:
        scores = await ask(judge, group)
    except JudgeError as error:
        emit(Note(f"a task is not judged: {error}"))
        return []
    return [score if score.success is not None else _by_value(score) for score in scores]


def _by_value(score: Score) -> Score:
    return replace(score, success=score.value >= JUDGED_SUCCESS)


_UNFIT = "this judge cannot judge: "


@dataclass(frozen=True)
class _GroupScores:
    """A group's scores, how far their mean is above each anchor's, and how the judge agrees with the task's checks."""

    scores: list[Score]
    over: dict[str, float]
    agreement: GroupAgreement | None


@dataclass(frozen=True)
class Judged:
    """A step's groups and scores. `scores_P[p]` is empty if the judge failed at group p; `failures` counts these.
    `over_anchors` has, as `over_KIND`, the mean margin of the groups' mean scores over their anchors of that kind.
    `agreements` compares a judge that reads with the checks, for each group that has some.
    """

    groups_P: Sequence[Group]
    scores_P: list[list[Score]]
    failures: int
    over_anchors: dict[str, float]
    agreements: list[GroupAgreement] = field(default_factory=list[GroupAgreement])

    def metrics(self) -> dict[str, float]:
        """The step's mean score and success without given calls, the groups with some and their success, the failures
        of the judge, the distance to the anchors, and the judge's agreement with the checks (`agreement.kappa`,
        `agreement.order`). What the step does not show is left out."""
        own, helped = self._by_help()
        agreed = {"judge_kappa": agreement.kappa(self.agreements), "judge_order": agreement.order(self.agreements)}
        of_helped = {"helped_success": _success(helped)} if helped else {}
        of_own = {"score": fmean(score.value for score in own), "success": _success(own)} if own else {}
        return {
            **of_own,
            "helped_groups": sum(map(_is_helped, self.groups_P)),
            "judge_failures": self.failures,
            **of_helped,
            **self.over_anchors,
            **{name: value for name, value in agreed.items() if value is not None},
        }

    def _by_help(self) -> tuple[list[Score], list[Score]]:
        """The scores of groups without and with given calls."""
        own: list[Score] = []
        helped: list[Score] = []
        for group, scores in zip(self.groups_P, self.scores_P, strict=True):
            (helped if _is_helped(group) else own).extend(scores)
        return own, helped

    def by_tool(self) -> dict[str, tuple[int, int]]:
        """Of each tool that the tasks without given calls need, the successful rollouts and all that were scored."""
        counts: defaultdict[str, Counter[bool]] = defaultdict(Counter)
        for group, scores in zip(self.groups_P, self.scores_P, strict=True):
            for tool in () if _is_helped(group) else tools_of(group.scenario):
                counts[tool].update(bool(score.success) for score in scores)
        return {tool: (count[True], count.total()) for tool, count in sorted(counts.items()) if count.total()}

    def no_signal(self, tolerance: float) -> dict[str, int]:
        """The number of groups whose scores differ by no more than `tolerance`, by the reason."""
        reasons: Counter[str] = Counter()
        for scores in self.scores_P:
            values = [score.value for score in scores]
            if not values:
                reasons["not judged"] += 1
            elif max(values) - min(values) <= tolerance:
                solved = [bool(score.success) for score in scores]
                alike = "scored alike" if any(solved) else "never solved"
                reasons["always solved" if all(solved) else alike] += 1
        return dict(reasons)


def _is_helped(group: Group) -> bool:
    return any(given_calls(trajectory) for trajectory in group.trajectories)


def _success(scores: Sequence[Score]) -> float:
    return fmean(bool(score.success) for score in scores) if scores else 0.0


class Scoring:
    """Scores groups and writes the scores to the journal. `policy` is the run's own model, which may be the judge;
    `judge` takes the place of the configured one."""

    def __init__(
        self,
        config: Config,
        tools: tuple[Tool, ...],
        journal: Journal,
        policy: LanguageModel,
        emit: Emit = ignore,
        judge: Judge | None = None,
    ) -> None:
        self.config, self.journal, self.emit = config, journal, emit
        self.judge = judge or open_judge(config.judge, tools, config.seed, policy)
        self.verifier = Verifier(tools)
        self._best: dict[str, tuple[float, Trajectory]] = {}  # scenario id -> highest score so far, its trajectory
        if "best" in config.judge.anchors:  # of complete steps only: a step that is done again is not its own anchor
            for step in range(1, (journal.last_step() or 0) + 1):
                self._remember_best(journal.trajectories("train", step), journal.scores("train", step))
        if self.judge.model and (judged := journal.events("judged")):
            self.judge.model.calls, self.judge.model.cost = judged[-1].data["calls"], judged[-1].data["cost"]

    async def forecast(self, steps: int) -> str:
        """What judging so many steps will cost, in a sentence, empty if nothing. The example is the base model's test
        rollouts, as a group of one task."""
        training = self.config.training
        examples = self.journal.trajectories("test:base", 0)[: training.group_size]
        group = Group(self.journal.scenarios("test")[0], tuple(examples))
        return await self.judge.forecast(steps * training.scenarios_per_step, group)

    async def train(self, step: int, groups_P: Sequence[Group], base_P: Sequence[Group] | None = None) -> Judged:
        """The judge's scores of a step: those that the journal holds, and new ones of the other groups.

        `base_P`: groups of one rollout of the base model each, if they are anchors. Raises `JudgeError` if it
        failed at most of the groups, and `BudgetError` if the next call could pass its limit.
        """
        anchors_P, recorded = self._anchors(groups_P, base_P), self._recorded("train", step, groups_P)
        scores_P: list[list[Score]] = [[] for _ in groups_P]
        margins: defaultdict[str, list[float]] = defaultdict(list)
        agreements_P: list[GroupAgreement | None] = [None for _ in groups_P]
        failures: list[JudgeError | BudgetError] = []

        async def score_group(p: int) -> None:
            try:
                known = recorded.get(groups_P[p].scenario.id)
                judged = known or await self._score_beside(step, groups_P[p], anchors_P[p])
            except (JudgeError, BudgetError) as error:
                failures.append(error)
                return
            scores_P[p], agreements_P[p] = judged.scores, judged.agreement
            for kind, margin in judged.over.items():
                margins[kind].append(margin)

        async with anyio.create_task_group() as tasks:
            for p in range(len(groups_P)):
                tasks.start_soon(score_group, p)
        for error in failures:
            if isinstance(error, BudgetError):
                raise error
        if len(failures) > len(groups_P) / 2:
            failed = (
                f"the judge failed at {len(failures)} of {counted(len(groups_P), 'group')}; the last: {failures[-1]}"
            )
            raise JudgeError(f"{failed}; another --judge-model may judge, and --judge verifier needs none")
        for group, scores in zip(groups_P, scores_P, strict=True):
            self._remember_best(group.trajectories, scores)
        self._emit_if_unfit()
        over_anchors = {kind: fmean(values) for kind, values in margins.items()}
        return Judged(groups_P, scores_P, len(failures), over_anchors, [each for each in agreements_P if each])

    async def held_out(self, phase: str, step: int, group: Group) -> list[Score]:
        """The scores of a group that is not trained on: those that the journal holds, else as `score_held_out` gives
        them."""
        if recorded := self._recorded(phase, step, [group]):
            return recorded[group.scenario.id].scores
        scores = await score_held_out(group, self.verifier, self.judge, self.emit)
        self.journal.write_scores(phase, step, scores)
        return scores

    def rewards(self, step: int, group: Group, scores: Sequence[Score]) -> list[float]:
        """The scores' values. For the control that must learn nothing, they are shuffled within the group."""
        values = [score.value for score in scores]
        if self.config.control == "shuffle-rewards":
            random.Random(f"{self.config.seed} {step} {group.scenario.id}").shuffle(values)
        return values

    async def _score_beside(self, step: int, group: Group, anchors: Mapping[str, Trajectory]) -> _GroupScores:
        """The scores of a training group, judged together with its anchors and written to the journal. `over` has, as
        `over_KIND`, how far their mean is above each anchor's score."""
        scores = await ask(self.judge, Group(group.scenario, (*group.trajectories, *anchors.values())))
        by_id = {score.trajectory_id: score for score in scores}
        own = [by_id[trajectory.id] for trajectory in group.trajectories if trajectory.id in by_id]
        over: dict[str, float] = {}
        if own:
            mean = fmean(score.value for score in own)
            over = {f"over_{kind}": mean - by_id[each.id].value for kind, each in anchors.items() if each.id in by_id}
        read = [(score.read, bool(score.success)) for score in own if isinstance(score, MixedScore)]
        agreed = agreement.compare_group(group.scenario.id, read, JUDGED_SUCCESS) if read else None
        with self.journal.db.transaction():
            self.journal.write_scores("train", step, own)
            if model := self.judge.model:
                spent = {"calls": model.calls, "cost": model.cost}
                counts = asdict(agreed) if agreed else None
                self.journal.write_event(
                    "judged", step=step, scenario=group.scenario.id, over=over, agreement=counts, **spent
                )
        return _GroupScores(own, over, agreed)

    def _emit_if_unfit(self) -> None:
        """Emit a note, once in a run, if the newest groups show that the judge cannot judge."""
        if not self.judge.model or any(note.data["text"].startswith(_UNFIT) for note in self.journal.events("note")):
            return
        found = agreement.newest(self.journal)
        if agreement.is_unfit(found):
            measured = f"{self.config.judge.model} beside the tasks' checks, {agreement.described(found)}"
            advice = "Name another --judge-model, or let the checks alone decide with --judge verifier"
            self.emit(Note(f"{_UNFIT}{measured}. {advice}"))

    def _recorded(self, phase: str, step: int, groups: Sequence[Group]) -> dict[str, _GroupScores]:
        """By scenario id, what the journal holds of the groups that were scored before the run was stopped."""
        by_id = {score.trajectory_id: score for score in self.journal.scores(phase, step)}
        judged = self.journal.events("judged") if phase == "train" and self.judge.model else []
        of_group = {event.data["scenario"]: event.data for event in judged if event.data["step"] == step}
        recorded: dict[str, _GroupScores] = {}
        for group in groups:
            if scores := [by_id[trajectory.id] for trajectory in group.trajectories if trajectory.id in by_id]:
                known = of_group.get(group.scenario.id, {})
                counts = known.get("agreement")
                agreed = GroupAgreement(**counts) if counts else None
                recorded[group.scenario.id] = _GroupScores(scores, known.get("over", {}), agreed)
        return recorded

    def _anchors(self, groups_P: Sequence[Group], base_P: Sequence[Group] | None) -> list[dict[str, Trajectory]]:
        """The anchors of each group, by kind."""
        kinds = self.config.judge.anchors
        anchors_P: list[dict[str, Trajectory]] = [{} for _ in groups_P]
        if base_P:
            anchors_P = [{"base": base.trajectories[0]} for base in base_P]
        if "best" in kinds:
            for anchors, group in zip(anchors_P, groups_P, strict=True):
                if group.scenario.id in self._best:
                    anchors["best"] = self._best[group.scenario.id][1]
        return anchors_P

    def _remember_best(self, trajectories: Iterable[Trajectory], scores: Iterable[Score]) -> None:
        if "best" not in self.config.judge.anchors:
            return
        by_id = {trajectory.id: trajectory for trajectory in trajectories}
        for score in scores:
            trajectory = by_id[score.trajectory_id]
            highest = self._best.get(trajectory.scenario_id)
            if highest is None or score.value > highest[0]:
                self._best[trajectory.scenario_id] = score.value, trajectory
