"""Log-probabilities of given tokens from final hidden states, in chunks: a (T, vocabulary) tensor is never made.

A frozen output layer needs no gradient of its own, and the gradient of a token's log-probability by its hidden state is
one vector, W[target] - softmax(W h) W. So it is computed in the same pass that computes the log-probability, and
backward only scales it: a vocabulary of 151,936 trains in the memory of one chunk.
"""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from mcprl.models.packing import Packed

CHUNK = 2**23
"""Logits in memory at once."""


def target_logprobs(
    head: Any, hidden: Float[Tensor, "T H"], targets: Int[Tensor, " T"], temperature: float = 1.0
) -> Float[Tensor, " T"]:
    """Log-probabilities of `targets` in nats, float32, if `head` is applied to `hidden` and sampled at `temperature`.

    A head that is not one frozen matrix (it has a bias, a LoRA, or is trained) is applied again in backward instead.
    """
    vocabulary = head.weight.shape[0]
    chunk = max(1, CHUNK // vocabulary)
    if type(head) in {nn.Linear, Packed} and head.bias is None and not head.weight.requires_grad:
        apply: Callable[..., Tensor] = _FrozenHead.apply
        weight = head.whole() if isinstance(head, Packed) else head.weight
        return apply(hidden, weight, targets, temperature, chunk)

    def of_chunk(hidden: Float[Tensor, "t H"], targets: Int[Tensor, " t"]) -> Float[Tensor, " t"]:
        return -functional.cross_entropy(head(hidden).float() / temperature, targets, reduction="none")

    chunks = zip(hidden.split(chunk), targets.split(chunk), strict=True)
    parts = [checkpoint(of_chunk, *tensors, use_reentrant=False) for tensors in chunks]
    return torch.cat([part for part in parts if isinstance(part, Tensor)])


def entropies(head: Any, hidden: Float[Tensor, "T H"], temperature: float = 1.0) -> Float[Tensor, " T"]:
    """The entropies, in nats, float32, of what `head` predicts from `hidden` at `temperature`. They are computed in
    chunks, and again in backward."""

    def of_chunk(hidden: Float[Tensor, "t H"]) -> Float[Tensor, " t"]:
        logprob_V = (head(hidden).float() / temperature).log_softmax(-1)
        return -(logprob_V.exp() * logprob_V).sum(-1)

    chunks = hidden.split(max(1, CHUNK // head.weight.shape[0]))
    parts = [checkpoint(of_chunk, part, use_reentrant=False) for part in chunks]
    return torch.cat([part for part in parts if isinstance(part, Tensor)])


class _FrozenHead(Function):
    @staticmethod
    def forward(
        ctx: Any,
        hidden: Float[Tensor, "T H"],
        weight: Float[Tensor, "V H"],
        targets: Int[Tensor, " T"],
        temperature: float,
        chunk: int,
    ) -> Float[Tensor, " T"]:
        logprobs: list[Tensor] = []
        gradients: list[Tensor] = []
        for h, target in zip(hidden.split(chunk), targets.split(chunk), strict=True):
            logprob_V = functional.linear(h, weight).float().div_(temperature).log_softmax(-1)
            logprobs.append(logprob_V.gather(1, target[:, None])[:, 0])
            if ctx.needs_input_grad[0]:
                expected = functional.linear(logprob_V.exp_().to(weight.dtype), weight.mT)
                gradients.append((weight[target] - expected) / temperature)
        if gradients:
            ctx.save_for_backward(torch.cat(gradients))
        return torch.cat(logprobs)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Float[Tensor, " T"]) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        (gradients,) = ctx.saved_tensors
        return (gradients * grad[:, None]).to(gradients.dtype), None, None, None, None
