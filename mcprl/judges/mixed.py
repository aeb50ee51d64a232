"""The verifier for tasks with checks, mixed with a language model that judges tasks without checks and style."""

from dataclasses import dataclass

from mcprl.judges.ruler import Ruler
from mcprl.judges.verifier import Verifier
from mcprl.llm import LanguageModel
from mcprl.types import Group, Score


@dataclass(frozen=True)
class MixedScore(Score):
    """A score of a task with checks: `read` is the language model's own (0..1)."""

    read: float = 0.0


@dataclass
class Mixed:
    """For a task with checks, `value = (1 - weight) * verifier + weight * ruler`, with the verifier's `success`. For a
    task without checks, the ruler's score. Neither calls a rollout that never answered a success.
    """

    verifier: Verifier
    ruler: Ruler
    weight: float

    @property
    def model(self) -> LanguageModel:
        return self.ruler.model

    async def score(self, group: Group) -> list[Score]:
        ranked = await self.ruler.score(group)
        if not group.scenario.checks:
            return ranked
        checked = {score.trajectory_id: score for score in await self.verifier.score(group)}
        return [self._mixed(checked[score.trajectory_id], score) for score in ranked]

    def _mixed(self, checked: Score, ranked: Score) -> MixedScore:
        value = (1 - self.weight) * checked.value + self.weight * ranked.value
        why = f"verifier {checked.value:.2f}: {checked.explanation}; ruler {ranked.value:.2f}: {ranked.explanation}"
        return MixedScore(checked.trajectory_id, round(value, 6), checked.success, why, ranked.value)

    async def forecast(self, groups: int, example: Group) -> str:
        return await self.ruler.forecast(groups, example)

    def report(self) -> dict[str, float]:
        return self.ruler.report()
