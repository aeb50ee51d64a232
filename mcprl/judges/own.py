"""A reward function of the user's own as the judge of a run."""

import inspect
import math
from collections.abc import Awaitable, Callable
from typing import Any, cast

from mcprl.errors import JudgeError
from mcprl.judges import Judge
from mcprl.types import Group, Scenario, Score, Trajectory

Reward = Callable[[Scenario, Trajectory], float | Awaitable[float]]
"""What a rollout of a task is worth: any finite number, best from 0 to 1. It may be a coroutine."""
_SUCCESS = 0.5
"""The reward from which on a rollout counts as a success in the metrics of training."""


class RewardJudge:
    """Scores each rollout by a function, which decides for itself what an answer that never came is worth."""

    model = None

    def __init__(self, reward: Reward) -> None:
        self._reward = reward

    async def score(self, group: Group) -> list[Score]:
        """The reward of each rollout that did not break. Raises `JudgeError`, and whatever the function raises."""
        return [await self._scored(group.scenario, each) for each in group.trajectories if each.stop != "error"]

    async def _scored(self, scenario: Scenario, trajectory: Trajectory) -> Score:
        found = self._reward(scenario, trajectory)
        value = float(await found if inspect.isawaitable(found) else found)
        if not math.isfinite(value):
            raise JudgeError(f"the reward function gave {value} for {trajectory.id}; expected a finite number")
        return Score(trajectory.id, value, value >= _SUCCESS)

    async def forecast(self, groups: int, example: Group) -> str:
        """Nothing: what it costs is the user's to know."""
        return ""

    def report(self) -> dict[str, float]:
        return {}


def own_judge(given: Judge | Reward) -> Judge:
    """A judge as it is, or a reward function as one."""
    return cast(Any, given) if hasattr(given, "score") else RewardJudge(cast(Reward, given))
