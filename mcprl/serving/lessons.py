"""What one call trains on, checked: groups with rewards (a step of GRPO), or demonstrations (supervised steps)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from mcprl.config import TrainingConfig
from mcprl.text import counted
from mcprl.training.metrics import combined
from mcprl.training.step import Batch, RewardedGroup, make_batch, update
from mcprl.training.trainer import Trainer
from mcprl.types import Row

OnStep = Callable[[dict[str, float]], None]
"""Receives the metrics of each optimizer step."""


class Lesson(Protocol):
    """What one call trains on."""

    @property
    def supervised(self) -> bool:
        """Whether the steps are supervised, and so have an optimizer of their own: moments of RL would mislead them."""
        ...

    @property
    def config(self) -> TrainingConfig:
        """The settings of the updates."""
        ...

    @property
    def about(self) -> dict[str, int]:
        """What the first line of the stream says of it."""
        ...

    @property
    def why_not(self) -> str:
        """Why there is nothing to train on, empty if there is something."""
        ...

    def train(self, trainer: Trainer, on_step: OnStep) -> dict[str, float]:
        """Take the optimizer steps; returns their metrics as those of one. Blocks. Raises `TrainingError`."""
        ...


@dataclass(frozen=True)
class Rewarded:
    """Groups with rewards, and the one temperature at which all their turns were sampled."""

    groups: Sequence[RewardedGroup]
    temperature: float
    config: TrainingConfig
    supervised = False

    @cached_property
    def _batch(self) -> Batch:
        return make_batch(self.groups, self.config)

    @property
    def about(self) -> dict[str, int]:
        return {"groups": len(self.groups), "dropped_groups": self._batch.dropped_groups}

    @property
    def why_not(self) -> str:
        if self._batch.rows_B:
            return ""
        single = sum(len(group.rewards_G) < 2 for group in self.groups)
        alike = len(self.groups) - single
        reasons = [f"{alike} of {counted(len(self.groups), 'group')} with rewards that do not differ"] if alike else []
        reasons += [f"{single} with one trajectory and nothing to compare it with"] if single else []
        return f"no group has a signal: {'; '.join(reasons)}"

    def train(self, trainer: Trainer, on_step: OnStep) -> dict[str, float]:
        return update(trainer, self._batch, self.temperature, on_step)


@dataclass(frozen=True)
class Demonstrated:
    """The rows of each demonstration, of which one optimizer step takes `batch_size`, in their order."""

    rows: Sequence[Sequence[Row]]
    learning_rate: float
    batch_size: int
    config: TrainingConfig
    supervised = True
    why_not = ""

    @property
    def about(self) -> dict[str, int]:
        return {"trajectories": len(self.rows)}

    def train(self, trainer: Trainer, on_step: OnStep) -> dict[str, float]:
        steps: list[dict[str, float]] = []
        for first in range(0, len(self.rows), self.batch_size):
            rows_B = [row for rows in self.rows[first : first + self.batch_size] for row in rows]
            steps.append(trainer.supervise(rows_B, self.learning_rate))
            on_step(steps[-1])
        always = steps[0].keys() & steps[-1].keys()  # the first one may have the figures of a trial besides
        return combined([{name: step[name] for name in always} for step in steps])


def gradient_step(metrics: dict[str, float]) -> dict[str, float | None]:
    """What a stream says of an optimizer step. `kl` is to the base model, and null unless `kl_coef` has it computed;
    supervised steps have neither it nor a sampler to be exact with."""
    return {
        "loss": metrics["loss"],
        "kl": metrics.get("kl"),
        "grad_norm": metrics["grad_norm"],
        "tokens": int(metrics["trained_tokens"]),
        "exactness": metrics.get("exact_tokens"),
        "sampler_gap": metrics.get("sampler_gap_mean"),
    }
