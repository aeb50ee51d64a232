"""The scores of a run's tries: a step's by the judge, with anchors beside them; held-out ones by their checks."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

import anyio

from mcprl.config import Config
from mcprl.errors import BudgetError, JudgeError, McprlError
from mcprl.judges import open_judge
from mcprl.judges.verifier import Verifier
from mcprl.llm import LanguageModel
from mcprl.runs.journal import Journal
from mcprl.types import Group, Score, Tool, Trajectory


@dataclass(frozen=True)
class Judged:
    """The scores of a step's groups, none where the judge failed; at how many it did; and by how much the groups' means
    lay over their anchors, by kind."""

    scores_P: list[list[Score]]
    failures: int
    over_anchors: dict[str, float]

    def metrics(self) -> dict[str, float]:
        """The step's mean score and success, the failures of the judge, and the distance to the anchors."""
        scores = [score for scores in self.scores_P for score in scores]
        return {
            "score": fmean(score.value for score in scores) if scores else 0.0,
            "success": fmean(bool(score.success) for score in scores) if scores else 0.0,
            "judge_failures": self.failures,
            **self.over_anchors,
        }


class Scoring:
    """Scores groups and records the scores. `policy` is the run's own base model, which may be the judge."""

    def __init__(
        self,
        config: Config,
        tools: tuple[Tool, ...],
        journal: Journal,
        policy: LanguageModel,
    ) -> None:
        self.config, self.journal = config, journal
        self.judge, self.verifier = open_judge(config.judge, tools, config.seed, policy), Verifier(tools)
        self._best: dict[str, tuple[float, Trajectory]] = {}  # of each task the try with the highest score so far
        complete = (journal.last_step() or 0) if "best" in config.judge.anchors else 0  # a step is not its own anchor
        for step in range(1, complete + 1):
            self._remember(journal.trajectories("train", step), journal.scores("train", step))

    async def train(self, step: int, groups_P: Sequence[Group], base_P: Sequence[Group] | None = None) -> Judged:
        """The judge's scores of a step. `base_P`: the base model's rollouts of the same scenarios, if they are anchors.

        Raises `JudgeError` if it failed at most of the groups, `BudgetError` if it reached its cost limit.
        """
        scores_P: list[list[Score]] = [[] for _ in groups_P]
        anchors_P = self._anchors(groups_P, base_P)
        over: dict[str, list[float]] = {}
        failed: list[McprlError] = []

        async def one(p: int) -> None:
            group, anchors = groups_P[p], anchors_P[p]
            try:
                every = await self.judge.score(Group(group.scenario, (*group.trajectories, *anchors.values())))
            except (JudgeError, BudgetError) as error:
                failed.append(error)
                return
            by_id = {score.trajectory_id: score for score in every}
            scores_P[p] = [by_id[member.id] for member in group.trajectories if member.id in by_id]
            for kind, anchor in anchors.items():
                if scores_P[p] and anchor.id in by_id:
                    mean = fmean(score.value for score in scores_P[p])
                    over.setdefault(f"over_{kind}", []).append(mean - by_id[anchor.id].value)

        async with anyio.create_task_group() as tasks:
            for p in range(len(groups_P)):
                tasks.start_soon(one, p)
        if spent := [error for error in failed if isinstance(error, BudgetError)]:
            raise spent[0]
        if len(failed) > len(groups_P) / 2:
            raise JudgeError(f"the judge failed at {len(failed)} of {len(groups_P)} groups; the last: {failed[-1]}")
        for group, scores in zip(groups_P, scores_P, strict=True):
            self.journal.write_scores("train", step, scores)
            self._remember(group.trajectories, scores)
        return Judged(scores_P, len(failed), {kind: fmean(values) for kind, values in over.items()})

    async def held_out(self, phase: str, step: int, group: Group) -> list[Score]:
        """Scores of a group that is not trained on: by its checks, where it has some."""
        scores = await (self.verifier if group.scenario.checks else self.judge).score(group)
        self.journal.write_scores(phase, step, scores)
        return scores

    def rewards(self, step: int, group: Group, scores: Sequence[Score]) -> list[float]:
        """The values as they are, or for the control that must learn nothing, dealt at random within the group."""
        values = [score.value for score in scores]
        if self.config.control == "shuffle-rewards":
            random.Random(f"{self.config.seed} {step} {group.scenario.id}").shuffle(values)
        return values

    def _anchors(self, groups_P: Sequence[Group], base_P: Sequence[Group] | None) -> list[dict[str, Trajectory]]:
        """What is judged beside each group and never trained on, by kind."""
        kinds = self.config.judge.anchors
        found: list[dict[str, Trajectory]] = [{} for _ in groups_P]
        if base_P:
            found = [{"base": base.trajectories[0]} for base in base_P]
        if "best" in kinds:
            for anchors, group in zip(found, groups_P, strict=True):
                if group.scenario.id in self._best:
                    anchors["best"] = self._best[group.scenario.id][1]
        return found

    def _remember(self, tried: Iterable[Trajectory], scores: Iterable[Score]) -> None:
        if "best" not in self.config.judge.anchors:
            return
        by_id = {member.id: member for member in tried}
        for score in scores:
            member = by_id[score.trajectory_id]
            if score.value > self._best.get(member.scenario_id, (-1.0,))[0]:
                self._best[member.scenario_id] = score.value, member
