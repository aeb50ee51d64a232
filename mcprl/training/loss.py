"""The objective, token by token: one number for each trained token in, one loss for each out.

    r_t  = exp(log pi(t) - log mu(t))     importance ratio: pi is the trainer's policy, mu the sampler's own record
    loss = sum over the step's trained tokens of weight_t * l_t(r_t, A_t), A_t being the advantage of t's trajectory

mu is what the engine reported when it sampled, never a second forward pass of the trainer. So one clipped ratio
corrects for both staleness (the policy has moved) and mismatch (another engine, another precision): truncated
importance sampling (Yao et al. 2025, "Your efficient RL framework secretly brings you off-policy RL training").
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

PerToken = Float[Tensor, " T"]
"""One number for each of the T trained tokens."""

BOUNDS = {"cispo": (1.0, 2.0), "ppo": (0.2, 0.28), "gspo": (3e-4, 4e-4)}
"""How far below and above 1 each loss leaves the ratio unclipped by default: its paper's bounds (DAPO's for PPO). CISPO
clips only above."""

BUDGET = 1024
"""Tokens that `constant` divides a row's losses by. Any number gives the same objective up to its scale, which AdamW's
steps do not depend on; it must only be the same in every step."""

KL_RATIO = 3.0
"""The importance ratio at which that of the KL penalty is truncated: CISPO's bound."""


def importance_ratio(logprobs: PerToken, sampler_logprobs: PerToken) -> PerToken:
    """r_t = exp(log pi(t) - log mu(t)), with gradient."""
    return (logprobs - sampler_logprobs).exp()


def sequence_ratio(logprobs: PerToken, sampler_logprobs: PerToken, rows: Int[Tensor, " T"]) -> PerToken:
    """GSPO's ratio (arXiv 2507.18071, eq. 7), the same for all tokens of a row: the geometric mean of their ratios,
    exp(mean over the row of log pi(t) - log mu(t)), with gradient. `rows` numbers each token's row."""
    lengths = torch.bincount(rows).clamp(min=1)
    sums = torch.zeros(len(lengths), dtype=logprobs.dtype, device=logprobs.device)
    return (sums.index_add(0, rows, logprobs - sampler_logprobs) / lengths).exp()[rows]


def cispo(ratio: PerToken, logprobs: PerToken, advantages: PerToken, clip_high: float) -> PerToken:
    """CISPO (MiniMax-M1, arXiv 2506.13585, eq. 4 and 5): l_t = -sg(min(r_t, 1 + clip_high)) A_t log pi(t).

    The clipped ratio is a detached weight (sg: stop-gradient), so every token keeps its gradient; PPO's clip removes
    that of rare tokens that matter. There is no lower clip, as in the paper's experiments.
    """
    return -ratio.detach().clamp(max=1 + clip_high) * advantages * logprobs


def ppo(ratio: PerToken, advantages: PerToken, clip_low: float, clip_high: float) -> PerToken:
    """PPO's clip (arXiv 1707.06347, eq. 7) with DAPO's asymmetric bounds (arXiv 2503.14476, eq. 8):
    l_t = -min(r_t A_t, clip(r_t, 1 - clip_low, 1 + clip_high) A_t).

    With `sequence_ratio` and bounds about a thousand times narrower it is GSPO's (arXiv 2507.18071, eq. 5).
    """
    return -torch.minimum(ratio * advantages, ratio.clamp(1 - clip_low, 1 + clip_high) * advantages)


def policy_gradient(
    kind: str,
    logprobs: PerToken,
    sampler_logprobs: PerToken,
    advantages: PerToken,
    lengths_B: Int[Tensor, " B"],
    clip_low: float,
    clip_high: float,
) -> tuple[PerToken, PerToken]:
    """The importance ratios and the losses of the tokens of consecutive rows: `cispo`, `ppo` or `gspo`."""
    if kind == "gspo":
        rows = torch.repeat_interleave(torch.arange(len(lengths_B), device=lengths_B.device), lengths_B)
        ratio = sequence_ratio(logprobs, sampler_logprobs, rows)
    else:
        ratio = importance_ratio(logprobs, sampler_logprobs)
    if kind == "cispo":
        return ratio, cispo(ratio, logprobs, advantages, clip_high)
    return ratio, ppo(ratio, advantages, clip_low, clip_high)


def k3(logprobs: PerToken, reference_logprobs: PerToken) -> PerToken:
    """KL(pi || reference) of each sampled token, estimated as x - log x - 1 with x = reference / pi.

    Unbiased and never negative (Schulman 2020, "Approximating KL divergence", k3): a measure, and no loss. Its gradient
    is, in expectation, that of KL(reference || pi), the divergence the other way round (Tang and Munos 2025, arXiv
    2506.09477).
    """
    log_x = reference_logprobs - logprobs
    return log_x.exp() - log_x - 1


def kl_penalty(logprobs: PerToken, sampler_logprobs: PerToken, reference_logprobs: PerToken) -> PerToken:
    """A loss with the gradient of KL(pi || reference): sg(r_t) (log pi - log reference)^2 / 2, which is Schulman's k2
    weighted by the truncated importance ratio.

    The gradient of k2 is (log pi - log reference) grad log pi. Its mean under pi is the divergence's gradient (Tang and
    Munos 2025, arXiv 2506.09477, section 4); the ratio makes it a mean under the sampler.
    """
    ratio = importance_ratio(logprobs, sampler_logprobs).detach().clamp(max=KL_RATIO)
    return ratio * (logprobs - reference_logprobs).square() / 2


def weights(lengths_B: Sequence[int], normalization: str) -> list[float]:
    """The weight of each row's tokens in the step's loss, the sum of weight times l_t. `lengths_B` counts each row's
    trained tokens.

    `token`: 1 / trained tokens of the step, however they are distributed over rows (DAPO, arXiv 2503.14476, eq. 8).
    `sequence`: 1 / (rows * the row's trained tokens), the mean of the rows' means (GRPO, arXiv 2402.03300, eq. 3).
    GSPO's objective is such a mean, too (arXiv 2507.18071, eq. 5).
    `constant`: 1 / (rows * `BUDGET`), the same whatever the rows' lengths (Dr. GRPO, arXiv 2503.20783, section 3.2).

    Raises `ValueError` if `normalization` is unknown.
    """
    rows = len(lengths_B)
    match normalization:
        case "token":
            return [1 / sum(lengths_B)] * rows
        case "sequence":
            return [1 / (rows * length) for length in lengths_B]
        case "constant":
            return [1 / (rows * BUDGET)] * rows
        case _:
            raise ValueError(f"unknown normalization {normalization!r}; expected token, sequence or constant")
