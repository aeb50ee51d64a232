"""The objective, token by token: tensors (T) of trained tokens in, losses (T) out; `token_mean` makes them one number.

    r_t  = exp(log pi(t) - log mu(t))     importance ratio: pi the trainer's policy, mu the sampler's own record
    loss = sum over the step's trained tokens of l_t(r_t, A_t) / their number, with A_t the advantage of t's trajectory

mu is what the engine reported when it sampled, never a second forward pass of the trainer, so that the one clipped
ratio corrects for both staleness (the policy has moved) and mismatch (another engine, another precision): truncated
importance sampling (Yao et al. 2025, "Your efficient RL framework secretly brings you off-policy RL training").
"""

import torch
from torch import Tensor


def importance_ratio(logprobs: Tensor, sampler_logprobs: Tensor) -> Tensor:
    """r_t = exp(log pi(t) - log mu(t)), with gradient."""
    return (logprobs - sampler_logprobs).exp()


def cispo(logprobs: Tensor, sampler_logprobs: Tensor, advantages: Tensor, clip_high: float) -> Tensor:
    """CISPO (MiniMax-M1, arXiv 2506.13585, eq. 4 and 5): l_t = -sg(min(r_t, 1 + clip_high)) A_t log pi(t).

    The clipped ratio is a detached weight (sg: stop-gradient), so no token is ever left out of the gradient, as PPO's
    clip leaves out the rare ones that matter. There is no lower clip, as in the paper's experiments.
    """
    weight = importance_ratio(logprobs, sampler_logprobs).detach().clamp(max=1 + clip_high)
    return -weight * advantages * logprobs


def ppo(logprobs: Tensor, sampler_logprobs: Tensor, advantages: Tensor, clip_low: float, clip_high: float) -> Tensor:
    """PPO's clip (arXiv 1707.06347, eq. 7) with DAPO's asymmetric bounds (arXiv 2503.14476, eq. 8):
    l_t = -min(r_t A_t, clip(r_t, 1 - clip_low, 1 + clip_high) A_t)."""
    ratio = importance_ratio(logprobs, sampler_logprobs)
    return -torch.minimum(ratio * advantages, ratio.clamp(1 - clip_low, 1 + clip_high) * advantages)


def k3(logprobs: Tensor, reference_logprobs: Tensor) -> Tensor:
    """KL(pi || reference) of each sampled token, estimated as x - log x - 1 with x = reference / pi.

    Unbiased and never negative (Schulman 2020, "Approximating KL divergence", k3; GRPO, arXiv 2402.03300, eq. 4).
    """
    log_x = reference_logprobs - logprobs
    return log_x.exp() - log_x - 1


def token_mean(losses: Tensor, tokens: int) -> Tensor:
    """Sum (of one micro-batch) over the trained tokens of the whole step: each token weighs the same, however long its
    trajectory and wherever a micro-batch ends (DAPO, arXiv 2503.14476, eq. 8)."""
    return losses.sum() / tokens
