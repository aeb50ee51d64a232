"""One training step: rewarded groups in, one update of the LoRA out. `mcprl train` and `TrainableModel.train` share it.

group -> rewards (G) -> advantages (G) -> rows of the sampled ids -> certificate -> Trainer.update
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from mcprl.config import TrainingConfig
from mcprl.training.advantages import advantages, most_varied
from mcprl.training.opening import AnyTrainer
from mcprl.training.rows import certificate, training_rows
from mcprl.types import Row, Trajectory


@dataclass(frozen=True)
class RewardedGroup:
    """The rollouts of one scenario that have a reward, and their rewards, in the same order (G)."""

    trajectories_G: Sequence[Trajectory]
    rewards_G: Sequence[float]


@dataclass(frozen=True)
class Batch:
    """What a step trains on: rows with their trajectory's advantage.

    `trajectories` are those that the rows were made of. `dropped_groups`: number of groups without signal. `rewarded`:
    number of rollouts in all groups that ended in time; of each group at most `trained_per_group`.
    """

    rows_B: list[tuple[Row, float]]
    trajectories: list[Trajectory]
    dropped_groups: int
    rewarded: int


def make_batch(groups: Iterable[RewardedGroup], config: TrainingConfig) -> Batch:
    """The rows of every group whose rewards differ by more than `signal_tolerance`.

    A rollout that its deadline in seconds ended is left out, also of its group's mean: how slow the machine was is not
    the policy's doing. One that a token or turn limit ended is trained on as it was scored: ending in time is the
    policy's task (DAPO, arXiv 2503.14476, section 3.4, masks those at first, then scores them by their length).

    Raises `ValueError` if a reward is not finite.
    """
    rows_B: list[tuple[Row, float]] = []
    trajectories: list[Trajectory] = []
    dropped = rewarded = 0
    for group in groups:
        members = [
            member for member in zip(group.trajectories_G, group.rewards_G, strict=True) if member[0].stop != "deadline"
        ]
        kept = most_varied([reward for _, reward in members], config.trained_per_group or len(members))
        members = [members[place] for place in kept]
        rewarded += len(members)
        advantages_G = advantages([reward for _, reward in members], config.advantage_scale, config.signal_tolerance)
        if advantages_G is None:
            dropped += 1
            continue
        for (trajectory, _), advantage in zip(members, advantages_G, strict=True):
            trajectories.append(trajectory)
            rows_B += [(row, advantage) for row in training_rows(trajectory)]
    return Batch(rows_B, trajectories, dropped, rewarded)


def update(
    trainer: AnyTrainer,
    batch: Batch,
    temperature: float,
    on_step: Callable[[dict[str, float]], None] = lambda metrics: None,
    on_gaps: Callable[[dict[str, list[float]]], None] = lambda gaps: None,
) -> dict[str, float]:
    """Update the LoRA on a batch that was sampled at `temperature`; returns the metrics of `Trainer.update`. `on_step`
    receives those of each optimizer step, `on_gaps` each token's gap by trajectory id.

    Blocks: call it `in_update_thread`. Raises `TrainingError`, also for a batch without rows.
    """
    exactness = certificate([row for row, _ in batch.rows_B], batch.trajectories)
    informative = len(batch.trajectories) / batch.rewarded
    exact = {"exact_tokens": exactness.exactness}

    def on_exact_step(metrics: dict[str, float]) -> None:
        on_step(metrics | exact)

    return trainer.update(batch.rows_B, temperature, exactness, informative, on_exact_step, on_gaps)
