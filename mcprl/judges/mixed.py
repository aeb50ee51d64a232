"""The verifier where a task has checks, a language model for the rest and for what checks cannot see."""

from dataclasses import dataclass

from mcprl.judges.ruler import Ruler
from mcprl.judges.verifier import Verifier
from mcprl.types import Group, Score


@dataclass
class Mixed:
    """value = (1 - weight) * verifier + weight * ruler, and the verifier's success: with a weight of 1 the ruler's
    score, and whether the task was done. The ruler alone where a task has no checks."""

    verifier: Verifier
    ruler: Ruler
    weight: float

    async def score(self, group: Group) -> list[Score]:
        ranked = await self.ruler.score(group)
        if not group.scenario.checks:
            return ranked
        checked = {score.trajectory_id: score for score in await self.verifier.score(group)}
        return [self._mixed(checked[score.trajectory_id], score) for score in ranked]

    def _mixed(self, checked: Score, ranked: Score) -> Score:
        value = (1 - self.weight) * checked.value + self.weight * ranked.value
        why = f"verifier {checked.value:.2f}: {checked.explanation}; ruler {ranked.value:.2f}: {ranked.explanation}"
        return Score(checked.trajectory_id, round(value, 6), checked.success, why)

    async def forecast(self, groups: int, example: Group) -> str:
        return await self.ruler.forecast(groups, example)

    def report(self) -> dict[str, float]:
        return self.ruler.report()
