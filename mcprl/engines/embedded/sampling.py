"""Draws tokens from logits by inverting the cumulative distribution at given uniform numbers."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import pad

BLOCK = 256  # tokens of the vocabulary whose probabilities are summed before any of them is looked at


def sample(
    logits: Float[Tensor, "N V"], temperatures: Sequence[float], draws: Sequence[float], top_ps: Sequence[float] = ()
) -> tuple[Int[Tensor, " N"], Float[Tensor, " N"]]:
    """Each row's token from softmax(logits / temperature) over the whole vocabulary, and its log-probability in nats.

    Row n is drawn with the uniform number `draws[n]`; at temperature 0 it is the likeliest token, with its
    log-probability at temperature 1. A log-probability is NaN if the row's logits are not numbers. A row with a `top_p`
    below 1 is drawn from its nucleus alone (arXiv 1904.09751, eq. 2-3): the fewest tokens that have that probability.
    """
    scores = logits.float()
    if any(temperature not in {0.0, 1.0} for temperature in temperatures):
        scores = scores / _column([temperature or 1.0 for temperature in temperatures], scores)
    if any(top_p < 1 for top_p in top_ps):
        scores = _nuclei(scores, _column(top_ps, scores))
    top, likeliest = scores.max(-1, keepdim=True)  # (N, 1)
    weights = (scores - top).exp_()  # (N, V)
    blocks = pad(weights, (0, -weights.shape[1] % BLOCK)).unflatten(1, (-1, BLOCK))  # (N, blocks, BLOCK)
    cumulative = blocks.sum(-1).double().cumsum(-1)
    total = cumulative[:, -1:]
    block, share = _invert(cumulative, _column(draws, cumulative) * total)
    inside = blocks[torch.arange(len(block), device=block.device), block[:, 0]].double().cumsum(-1)  # (N, BLOCK)
    token, _ = _invert(inside, share * inside[:, -1:])
    picked = (block * BLOCK + token).clamp_(max=logits.shape[1] - 1)
    if 0.0 in temperatures:
        picked = torch.where(_column(temperatures, scores) == 0, likeliest, picked)
    logprobs = scores.gather(1, picked) - top - total.log().float()
    return picked[:, 0], logprobs[:, 0]


def _nuclei(scores: Float[Tensor, "N V"], top_p: Float[Tensor, "N 1"]) -> Float[Tensor, "N V"]:
    """The scores, those outside their row's nucleus -inf."""
    ordered, tokens = scores.softmax(-1).sort(descending=True, stable=True)
    outside = (ordered.cumsum(-1) - ordered >= top_p) & (top_p < 1)  # rounding may bring a whole row's sum above 1
    return scores.masked_fill(outside.scatter(1, tokens, outside), -torch.inf)


def _invert(cumulative: Float[Tensor, "N K"], target: Float[Tensor, "N 1"]) -> tuple[Tensor, Tensor]:
    """The first place whose cumulative weight is above the target (N, 1), and how far the target is into that place's
    weight, as a share of it below 1."""
    place = torch.searchsorted(cumulative, target, right=True).clamp_(max=cumulative.shape[1] - 1)
    before = pad(cumulative, (1, 0)).gather(1, place)
    weight = cumulative.gather(1, place) - before
    return place, ((target - before) / weight).clamp_(0.0, 1 - 1e-12)


def _column(values: Sequence[float], like: Tensor) -> Tensor:
    return torch.tensor(values, dtype=like.dtype, device=like.device)[:, None]
