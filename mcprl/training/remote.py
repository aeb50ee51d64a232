"""The update of a model whose weights live on a server that speaks the Tinker API: the same step as `Trainer`'s.

    rows -> datums -> the server's forward and backward -> the server's AdamW

The gradient is ours (tested against `Trainer`'s). What a server leaves out: it computes each row whole, gives no
entropy, and may not clip the gradient's norm. After a server was lost, the step is taken again from the state that was
saved last.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor

from mcprl.config import TrainingConfig
from mcprl.errors import EngineLost, TrainingError
from mcprl.events import Emit, Note, ignore
from mcprl.models.tinker.datums import datum, trained_values
from mcprl.models.tinker.model import RemoteModel
from mcprl.training import loss
from mcprl.training.metrics import combined, off_policy
from mcprl.training.objective import token_gaps
from mcprl.training.rows import Certificate, trained_logprobs
from mcprl.training.trainer import WARM_UP, check_gap, minibatches, require_exact
from mcprl.types import Row

T = TypeVar("T")
RETURNS_S = 60.0
"""Seconds that a lost server has to be there again before the run stops."""
LOST = 5
"""How often it may be lost in one step."""


class RemoteTrainer:
    """Has a server update the LoRA of a `RemoteModel`. It has the methods of `Trainer`, with the same meaning."""

    note = ""

    def __init__(self, model: RemoteModel, config: TrainingConfig, steps: int = 100, emit: Emit = ignore) -> None:
        self.model, self.config, self._emit = model, config, emit
        self.step, self._saved, self._warm_up_steps = 0, 0, max(1, round(WARM_UP * steps))
        self._since: list[Callable[[], Any]] = []  # the optimizer steps that no saved state has
        low, high = loss.BOUNDS[config.loss]
        self.clip_low, self.clip_high = config.clip_low or low, config.clip_high or high

    def update(
        self,
        rows: Sequence[tuple[Row, float]],
        temperature: float = 1.0,
        certificate: Certificate | None = None,
        informative_fraction: float = 1.0,
        on_step: Callable[[dict[str, float]], None] = lambda metrics: None,
        on_gaps: Callable[[dict[str, list[float]]], None] = lambda gaps: None,
    ) -> dict[str, float]:
        """As `Trainer.update`; at temperature 1. Raises `EngineError` if the server refuses or is lost for good."""
        rows = [(row, informative_fraction * advantage) for row, advantage in require_exact(rows, certificate)]
        if temperature != 1.0:
            raise TrainingError(f"temperature {temperature:g}: the server's log-probabilities are those at 1")
        steps = list[dict[str, float]]()
        for minibatch in minibatches(rows, self.config, self.step):
            step, gaps = self._taken(partial(self._policy_step, minibatch, self._rate(self.config.learning_rate)))
            if not steps:
                check_gap(step["sampler_gap_mean"], self.config.max_sampler_gap)
                on_gaps(token_gaps([row for row, _ in rows], gaps))
            steps.append(step)
            on_step(step)
        return combined(steps) | ({"exact_tokens": certificate.exactness} if certificate else {})

    def supervise(self, rows: Sequence[Row], learning_rate: float) -> dict[str, float]:
        """As `Trainer.supervise`. A clip of the importance weight to 1 makes CISPO's loss cross-entropy."""
        return self._taken(partial(self._supervised_step, rows, self._rate(learning_rate)))

    def save(self, folder: str | Path) -> None:
        """Write the adapter as peft does, and have the server keep it with the optimizer's state."""
        self._recovering(partial(self.model.save, Path(folder), {"step": self.step}))
        self._saved = self.step
        self._since.clear()

    def load(self, folder: str | Path) -> None:
        """Restore a saved folder: the next step is what it would have been."""
        kept = self._recovering(partial(self.model.load, Path(folder)))
        self.step = self._saved = int(kept.get("step", 0))
        self._since.clear()

    def _rate(self, learning_rate: float) -> float:
        return learning_rate * min(1.0, (self.step + 1) / self._warm_up_steps)

    # --- steps ----------------------------------------------------------------------------------------------------

    def _policy_step(
        self, rows: Sequence[tuple[Row, float]], rate: float
    ) -> tuple[dict[str, float], list[tuple[Row, Tensor]]]:
        """One optimizer step of policy gradient; its metrics, and its rows with their tokens' gaps (T_trained)."""
        config, rows_B = self.config, [row for row, _ in rows]
        weights_B = loss.weights([sum(row.mask) for row in rows_B], config.normalization)
        references_B = [self._reference(row) for row in rows_B] if config.kl_coef else None
        data = list[dict[str, Any]]()
        for i, (row, advantage) in enumerate(rows):
            values = [advantage] * len(row.ids)
            if references_B:  # KL's gradient is that of an advantage: CISPO's weight is the penalty's, too
                drift = zip(row.logprobs, references_B[i], strict=True)
                values = [advantage - config.kl_coef * (mine - base) for mine, base in drift]
            weighed = [weights_B[i] * value * trained for value, trained in zip(values, row.mask, strict=True)]
            data.append(datum(row, weighed, self.model.summed, len(rows)))
        bounds = {"clip_low_threshold": 1 - self.clip_low, "clip_high_threshold": 1 + self.clip_high}
        logprobs_B, metrics = self._optimizer_step(rows_B, data, config.loss, bounds, rate)
        trainer, sampler = _flat(logprobs_B), _flat([trained_logprobs(row) for row in rows_B])
        lengths_B = [len(values) for values in logprobs_B]
        advantages = _flat([[advantage] * length for (_, advantage), length in zip(rows, lengths_B, strict=True)])
        log_ratio = trainer - sampler
        clips = self.clip_low, self.clip_high
        counts = torch.tensor(lengths_B)
        ratio, losses = loss.policy_gradient(config.loss, trainer, sampler, advantages, counts, *clips)
        metrics |= off_policy(log_ratio, ratio, advantages, *clips, one_sided=config.loss == "cispo")
        if references_B:
            reference = _flat([trained_values(row, base[1:]) for row, base in zip(rows_B, references_B, strict=True)])
            losses = losses + config.kl_coef * loss.kl_penalty(trainer, sampler, reference)
            metrics["kl"] = float(loss.k3(trainer, reference).mean())
        weights = _flat([[weight] * len(values) for weight, values in zip(weights_B, logprobs_B, strict=True)])
        metrics["loss"] = float((losses * weights).sum())
        gaps = log_ratio.abs().split(lengths_B)
        return metrics, list(zip(rows_B, gaps, strict=True))

    def _supervised_step(self, rows: Sequence[Row], rate: float) -> dict[str, float]:
        (weight, *_) = loss.weights([sum(row.mask) for row in rows], "token")
        weighed_B = [[weight * trained for trained in row.mask] for row in rows]
        data = [datum(row, weighed, self.model.summed, len(rows)) for row, weighed in zip(rows, weighed_B, strict=True)]
        bounds = {"clip_low_threshold": 1.0, "clip_high_threshold": 1.0}
        logprobs_B, metrics = self._optimizer_step(rows, data, "cispo", bounds, rate)
        return {"loss": -float(_flat(logprobs_B).mean())} | metrics

    def _optimizer_step(
        self, rows: Sequence[Row], data: list[dict[str, Any]], kind: str, bounds: Mapping[str, float], rate: float
    ) -> tuple[list[list[float]], dict[str, float]]:
        """A step on the server. Returns the log-probabilities of each row's trained tokens before it, and metrics."""
        started, service, model = time.perf_counter(), self.model.service, self.model.current
        targets_B = service.forward_backward(model, data, kind, bounds)
        logprobs_B = [trained_values(row, values) for row, values in zip(rows, targets_B, strict=True)]
        if not all(math.isfinite(value) for values in logprobs_B for value in values):
            raise TrainingError(
                "the server's log-probabilities are not finite, so the step is not taken; mcprl train --resume with a "
                "lower --learning-rate goes on from the last one"
            )
        told = service.optim_step(model, rate, self.config.max_grad_norm)
        self.step += 1
        computed = float(sum(len(row.ids) for row in rows))
        metrics = {
            "grad_norm": told.get("grad_norm", math.nan),
            "learning_rate": rate,
            "skipped": 0.0,
            "trained_tokens": float(sum(map(len, logprobs_B))),
            "forwarded_tokens": computed,
            "tokens_per_s": computed / (time.perf_counter() - started),
        }
        return logprobs_B, metrics

    def _reference(self, row: Row) -> list[float]:
        """The base model's log-probability of each id (N); that of the first is not defined, and 0."""
        return [0.0, *self.model.service.base_logprobs(self.model.base, row.ids)]

    # --- a server that is lost ------------------------------------------------------------------------------------

    def _taken(self, step: Callable[[], T]) -> T:
        """Take an optimizer step, again if the server was lost in it, and remember it until it is saved."""
        result = self._recovering(step)
        self._since.append(step)
        return result

    def _recovering(self, work: Callable[[], T]) -> T:
        return recovering(self.model, work, self._emit, self._take_again)

    def _take_again(self) -> None:
        """The steps since the weights were saved, on the weights as they were then."""
        self.step = self._saved
        for step in self._since:
            step()


def recovering(
    model: RemoteModel, work: Callable[[], T], emit: Emit = ignore, on_restored: Callable[[], None] = lambda: None
) -> T:
    """Do something on the model's server; while that is lost, again when it is there again, with the weights as they
    were last saved, and after `on_restored`. It may be lost again meanwhile: one whose engine has died answers until it
    is ended. Raises `EngineLost` if it stays away."""
    lost = 0
    while True:
        try:
            if model.restore():
                on_restored()
            return work()
        except EngineLost as error:
            lost += 1
            emit(Note(f"{error}; waiting up to {RETURNS_S:g} s for it, then the step is taken again"))
            if lost > LOST or not model.service.wait(RETURNS_S):
                raise EngineLost(f"{error}; start it again, then mcprl train --resume goes on") from error
            model.service.lost = True
            time.sleep(1.0)


def _flat(values_B: Sequence[Sequence[float]]) -> Tensor:
    return torch.tensor([value for values in values_B for value in values], dtype=torch.float32)
