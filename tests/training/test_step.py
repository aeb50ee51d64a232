"""What a step trains on, and what it leaves out."""

import pytest

from mcprl.config import TrainingConfig
from mcprl.training.step import RewardedGroup, make_batch
from mcprl.types import Completion, StopReason, Trajectory


def _trajectory(name: str, stop: StopReason) -> Trajectory:
    turn = Completion({"role": "assistant", "content": name}, (1, 2), (3,), (-1.0,), "stop")
    return Trajectory(name, "s", (), (turn,), stop=stop)


def _group(*members: tuple[StopReason, float]) -> RewardedGroup:
    trajectories = [_trajectory(f"{n}", stop) for n, (stop, _) in enumerate(members)]
    return RewardedGroup(trajectories, [reward for _, reward in members])


CONFIG = TrainingConfig(advantage_scale="none")


def test_a_rollout_that_the_clock_cut_is_neither_trained_on_nor_part_of_the_groups_mean():
    batch = make_batch([_group(("answered", 1.0), ("deadline", 0.0), ("answered", 0.5))], CONFIG)
    assert [(row.trajectory_id, advantage) for row, advantage in batch.rows_B] == [("0", 0.25), ("2", -0.25)]
    assert [trajectory.id for trajectory in batch.trajectories] == ["0", "2"]
    assert (batch.rewarded, batch.dropped_groups) == (2, 0)


@pytest.mark.parametrize("stop", ["max_tokens", "max_turns"])
def test_a_rollout_that_its_own_length_cut_is_trained_on_as_a_failure(stop: StopReason):
    batch = make_batch([_group(("answered", 1.0), (stop, 0.0))], CONFIG)
    assert [advantage for _, advantage in batch.rows_B] == [0.5, -0.5]


def test_a_group_whose_only_difference_is_the_clocks_doing_is_dropped():
    batch = make_batch([_group(("answered", 1.0), ("deadline", 0.0)), _group(("deadline", 0.0))], CONFIG)
    assert not batch.rows_B
    assert (batch.rewarded, batch.dropped_groups) == (1, 2)


def test_of_a_large_group_the_rollouts_that_vary_most_are_trained_on():
    config = CONFIG.model_copy(update={"trained_per_group": 2})
    rewards = (0.2, 0.9, 0.0, 0.5, 0.2)
    answered: list[tuple[StopReason, float]] = [("answered", reward) for reward in rewards]
    batch = make_batch([_group(*answered), _group(("answered", 1.0), ("answered", 1.0))], config)
    assert [(row.trajectory_id, advantage) for row, advantage in batch.rows_B] == [("1", 0.45), ("2", -0.45)]
    assert (batch.rewarded, batch.dropped_groups) == (4, 1)
