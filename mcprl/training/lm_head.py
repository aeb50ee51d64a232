"""Log-probabilities of given tokens from final hidden states, in chunks: there is never a (tokens, vocabulary) tensor.

A frozen output layer needs no gradient of its own, and the gradient of a token's log-probability by its hidden state is
one vector, W[target] - softmax(W h) W. So it is computed in the same pass that computes the log-probability, and
backward only scales it: a vocabulary of 151,936 trains in the memory of one chunk.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

CHUNK = 2**23
"""Logits held at once."""


def target_logprobs(head: Any, hidden: Tensor, targets: Tensor, temperature: float = 1.0) -> Tensor:
    """Log-probabilities (T) in nats, float32, of `targets` (T) where `head` is applied to `hidden` (T, H) and sampled
    at `temperature`.

    A head that is not one frozen matrix (it has a bias, a LoRA, or is trained) is applied again in backward instead.
    """
    vocabulary = head.weight.shape[0]
    rows = max(1, CHUNK // vocabulary)
    if type(head) is nn.Linear and head.bias is None and not head.weight.requires_grad:
        apply: Callable[..., Tensor] = _FrozenHead.apply
        return apply(hidden, head.weight, targets, temperature, rows)

    def one(hidden: Tensor, targets: Tensor) -> Tensor:
        return -functional.cross_entropy(head(hidden).float() / temperature, targets, reduction="none")

    chunks = zip(hidden.split(rows), targets.split(rows), strict=True)
    parts = [checkpoint(one, *chunk, use_reentrant=False) for chunk in chunks]
    return torch.cat([part for part in parts if isinstance(part, Tensor)])


def entropies(head: Any, hidden: Tensor, temperature: float = 1.0) -> Tensor:
    """The entropies (T) in nats, float32, of what `head` predicts from `hidden` (T, H) at `temperature`: chunk by
    chunk, computed again in backward."""

    def one(hidden: Tensor) -> Tensor:
        logprob_V = (head(hidden).float() / temperature).log_softmax(-1)
        return -(logprob_V.exp() * logprob_V).sum(-1)

    parts = [checkpoint(one, h, use_reentrant=False) for h in hidden.split(max(1, CHUNK // head.weight.shape[0]))]
    return torch.cat([part for part in parts if isinstance(part, Tensor)])


class _FrozenHead(Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, targets: Tensor, temperature: float, rows: int) -> Tensor:
        logprobs: list[Tensor] = []
        gradients: list[Tensor] = []
        for h, target in zip(hidden.split(rows), targets.split(rows), strict=True):
            logprob_V = (functional.linear(h, weight).float() / temperature).log_softmax(-1)
            logprobs.append(logprob_V.gather(1, target[:, None])[:, 0])
            if ctx.needs_input_grad[0]:
                expected = functional.linear(logprob_V.exp_().to(weight.dtype), weight.mT)
                gradients.append((weight[target] - expected) / temperature)
        if gradients:
            ctx.save_for_backward(torch.cat(gradients))
        return torch.cat(logprobs)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        (gradients,) = ctx.saved_tensors
        return (gradients * grad[:, None]).to(gradients.dtype), None, None, None, None
