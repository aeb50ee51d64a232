"""What an optimizer step of RL minimizes on its rows: the loss of each trained token, and what is measured of it."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from mcprl.config import TrainingConfig
from mcprl.training import loss
from mcprl.training.forward import Bin
from mcprl.training.metrics import off_policy
from mcprl.training.rows import trained_logprobs
from mcprl.types import Row


class PolicyGradient:
    """The losses (T) of a bin's tokens, and what else is measured of each of them (T), by name.

    `rows` have their trajectory's advantage. `bounds`: how far below and above 1 the ratio stays unclipped.
    `reference_B` (T_trained each, nats): the base model's log-probabilities, for the KL penalty; empty without one.
    After the last bin `gap_B[i]` (T_trained, nats) is |trainer - sampler| of row i's trained tokens.
    """

    def __init__(
        self,
        config: TrainingConfig,
        rows: Sequence[tuple[Row, float]],
        bounds: tuple[float, float],
        reference_B: Sequence[Tensor],
        device: Any,
    ) -> None:
        self.gap_B: dict[int, Tensor] = {}
        self._config, self._bounds, self._reference_B = config, bounds, reference_B
        self._sampler_B = [torch.tensor(trained_logprobs(row), dtype=torch.float32, device=device) for row, _ in rows]
        self._advantage_B = [advantage for _, advantage in rows]

    def __call__(self, part: Bin) -> tuple[Tensor, dict[str, Tensor]]:
        config, sampler_B = self._config, [self._sampler_B[i] for i in part.indices]
        logprobs, sampler = torch.cat(part.logprobs_B), torch.cat(sampler_B)
        advantages = torch.cat(
            [torch.full_like(row, self._advantage_B[i]) for i, row in zip(part.indices, sampler_B, strict=True)]
        )
        lengths = [len(row) for row in sampler_B]
        counts = torch.tensor(lengths, device=logprobs.device)
        ratio, losses = loss.policy_gradient(config.loss, logprobs, sampler, advantages, counts, *self._bounds)
        measured = {"log_ratio": logprobs - sampler, "ratio": ratio, "advantage": advantages}
        # By row: the bins are in an order of their own, and one that ran out of memory comes again in smaller ones.
        gaps = measured["log_ratio"].detach().abs().split(lengths)
        self.gap_B |= zip(part.indices, gaps, strict=True)
        if self._reference_B:
            reference = torch.cat([self._reference_B[i] for i in part.indices])
            measured["kl"] = loss.k3(logprobs, reference)
            losses = losses + config.kl_coef * loss.kl_penalty(logprobs, sampler, reference)
        if part.entropies_B:
            measured["entropy"] = torch.cat(part.entropies_B)
            losses = losses - config.entropy_coef * measured["entropy"]
        return losses, measured

    def metrics(self, measured: dict[str, Tensor]) -> dict[str, float]:
        """The metrics of the step, from what was measured of all its tokens (T)."""
        means = {name: float(values.mean()) for name, values in measured.items() if name in ("kl", "entropy")}
        log_ratio, ratio, advantages = (measured[name] for name in ("log_ratio", "ratio", "advantage"))
        one_sided = self._config.loss == "cispo"
        return off_policy(log_ratio, ratio, advantages, *self._bounds, one_sided=one_sided) | means


def token_gaps(rows: Sequence[Row], measured: Iterable[tuple[Row, Tensor]]) -> dict[str, list[float]]:
    """By trajectory id, the gap (nats) of each sampled token in the order of sampling.

    `rows` are all those of an update, each trajectory's in their order; `measured` are some of these very rows with
    their gaps (T_trained). The tokens of the others have NaN.
    """
    gap_B = {id(row): gaps.tolist() for row, gaps in measured}
    found: defaultdict[str, list[float]] = defaultdict(list)
    for row in rows:
        found[row.trajectory_id] += gap_B.get(id(row)) or [math.nan] * sum(row.mask)
    return dict(found)
