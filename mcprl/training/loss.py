"""The objective, token by token: tensors (T) of trained tokens in, losses (T) out; `weights` make them one number.

    r_t  = exp(log pi(t) - log mu(t))     importance ratio: pi the trainer's policy, mu the sampler's own record
    loss = sum over the step's trained tokens of l_t(r_t, A_t) / their number, with A_t the advantage of t's trajectory

mu is what the engine reported when it sampled, never a second forward pass of the trainer, so that the one clipped
ratio corrects for both staleness (the policy has moved) and mismatch (another engine, another precision): truncated
importance sampling (Yao et al. 2025, "Your efficient RL framework secretly brings you off-policy RL training").
"""

from collections.abc import Sequence

import torch
from torch import Tensor

BOUNDS = {"cispo": (1.0, 2.0), "ppo": (0.2, 0.28), "gspo": (3e-4, 4e-4)}
"""How far below and above 1 each loss lets the ratio through by itself: its paper's (DAPO's for PPO); CISPO clips only
above."""


def importance_ratio(logprobs: Tensor, sampler_logprobs: Tensor) -> Tensor:
    """r_t = exp(log pi(t) - log mu(t)), with gradient."""
    return (logprobs - sampler_logprobs).exp()


def sequence_ratio(logprobs: Tensor, sampler_logprobs: Tensor, rows: Tensor) -> Tensor:
    """GSPO's ratio (arXiv 2507.18071, eq. 7), one for all tokens of a row: the geometric mean of theirs,
    exp(mean over the row of log pi(t) - log mu(t)), with gradient. `rows` (T) numbers each token's row."""
    lengths = torch.bincount(rows).clamp(min=1)
    sums = torch.zeros(len(lengths), dtype=logprobs.dtype, device=logprobs.device)
    return (sums.index_add(0, rows, logprobs - sampler_logprobs) / lengths).exp()[rows]


def cispo(ratio: Tensor, logprobs: Tensor, advantages: Tensor, clip_high: float) -> Tensor:
    """CISPO (MiniMax-M1, arXiv 2506.13585, eq. 4 and 5): l_t = -sg(min(r_t, 1 + clip_high)) A_t log pi(t).

    The clipped ratio is a detached weight (sg: stop-gradient), so no token is ever left out of the gradient, as PPO's
    clip leaves out the rare ones that matter. There is no lower clip, as in the paper's experiments.
    """
    return -ratio.detach().clamp(max=1 + clip_high) * advantages * logprobs


def ppo(ratio: Tensor, advantages: Tensor, clip_low: float, clip_high: float) -> Tensor:
    """PPO's clip (arXiv 1707.06347, eq. 7) with DAPO's asymmetric bounds (arXiv 2503.14476, eq. 8):
    l_t = -min(r_t A_t, clip(r_t, 1 - clip_low, 1 + clip_high) A_t).

    With `sequence_ratio` and bounds about a thousand times narrower it is GSPO's (arXiv 2507.18071, eq. 5).
    """
    return -torch.minimum(ratio * advantages, ratio.clamp(1 - clip_low, 1 + clip_high) * advantages)


def k3(logprobs: Tensor, reference_logprobs: Tensor) -> Tensor:
    """KL(pi || reference) of each sampled token, estimated as x - log x - 1 with x = reference / pi.

    Unbiased and never negative (Schulman 2020, "Approximating KL divergence", k3; GRPO, arXiv 2402.03300, eq. 4).
    """
    log_x = reference_logprobs - logprobs
    return log_x.exp() - log_x - 1


def weights(lengths_B: Sequence[int], normalization: str, longest: int) -> list[float]:
    """What one token of each row of a step weighs in the step's loss, the sum of weight times l_t.

    `token`: 1 / trained tokens of the step, however they are spread over rows (DAPO, arXiv 2503.14476, eq. 8).
    `sequence`: 1 / (rows * the row's trained tokens), the mean of the rows' means (GRPO, arXiv 2402.03300, eq. 3).
    `constant`: 1 / (rows * `longest`), with no length in it at all (Dr. GRPO, arXiv 2503.20783, section 3.2).
    """
    rows = len(lengths_B)
    match normalization:
        case "token":
            return [1 / sum(lengths_B)] * rows
        case "sequence":
            return [1 / (rows * length) for length in lengths_B]
        case "constant":
            return [1 / (rows * longest)] * rows
        case _:
            raise ValueError(f"unknown normalization {normalization!r}; expected token, sequence or constant")
