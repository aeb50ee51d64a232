"""Attention over a token trie, as an attention implementation of transformers: `attn_implementation="mcprl_trie"`.

In the depth-first layout a node's descendants follow it. So the queries that attend to a node's keys are one span,
causal over the node itself and unmasked over its descendants: a causal kernel with more queries than keys. Each node
takes one kernel call. A token's results, one for each of its ancestors, are merged by their log-sum-exp. A mask is made
only if a sliding window cuts. Keys that stand before the layout (`training.trunk`) take one call for all tokens. On
CUDA one FlexAttention kernel replaces all this if a trial shows that it is exact and faster
(`training.flex_attention`).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from transformers import AttentionInterface, AttentionMaskInterface

from mcprl.models.attention import attention, attention_backward, merge
from mcprl.training import flex_attention
from mcprl.training.trie import Trie
from mcprl.training.trunk import KeysValues, StepTrunk

TRIE_ATTENTION = "mcprl_trie"


def _interface(
    module: Any,
    query: Float[Tensor, "1 heads N D"],
    key: Float[Tensor, "1 kv_heads N D"],
    value: Float[Tensor, "1 kv_heads N D"],
    attention_mask: Tensor | None = None,
    *,
    trie: Trie,
    layers_called: list[int],
    trunk: StepTrunk | None = None,
    kept: dict[int, KeysValues | None] | None = None,
    scaling: float | None = None,
    dropout: float = 0.0,
    sliding_window: int | None = None,
    softcap: float | None = None,
    s_aux: Float[Tensor, " heads"] | None = None,
    **_: Any,
) -> tuple[Float[Tensor, "1 N heads D"], None]:
    """What transformers calls in each layer, for a layout of N tokens.

    `s_aux` are attention sinks, as GPT-OSS has them; frozen ones. The keys and values of `trunk` stand before those of
    the layout, which are put into `kept` under the layer's number. Appends that number to `layers_called`, so that the
    caller sees whether all layers use this attention. Raises `NotImplementedError` for capped scores, dropout
    and masks.
    """
    layers_called.append(module.layer_idx)
    if softcap is not None or dropout or attention_mask is not None:
        raise NotImplementedError("attention with capped scores, dropout or a mask of its own")
    if kept is not None:
        kept.setdefault(module.layer_idx, (key, value))  # gradient checkpointing computes them once more
    if trunk:
        first_key, first_value = (tensor.to(key.dtype) for tensor in trunk.before(module.layer_idx))
        key, value = torch.cat((first_key, key), 2), torch.cat((first_value, value), 2)
    device_type = query.device.type
    if torch.is_autocast_enabled(device_type):  # norms and rotations have left some in float32
        dtype = torch.get_autocast_dtype(device_type)
        query, key, value = (tensor.to(dtype) for tensor in (query, key, value))
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    compute = attend
    if query.is_cuda:
        shape = query.shape[1], key.shape[1], query.shape[3], query.dtype, query.device, s_aux is not None
        if flex_attention.is_exact_and_faster(attend, *shape):
            compute = flex_attention.attend
    return compute(query, key, value, trie, scale, sliding_window, s_aux).transpose(1, 2), None


def attend(
    query: Float[Tensor, "1 heads N D"],
    key: Float[Tensor, "1 kv_heads K D"],
    value: Float[Tensor, "1 kv_heads K D"],
    trie: Trie,
    scale: float,
    window: int | None,
    sinks: Float[Tensor, " heads"] | None,
) -> Float[Tensor, "1 heads N D"]:
    """Attention of each of the trie's N tokens over its ancestors and itself, node by node.

    The K keys are those of the trie's tokens, behind those of a trunk if there are more. `window` is how many positions
    a token attends to, itself included; `None` means all.
    """
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    apply: Callable[..., Tensor] = _TrieAttention.apply
    return apply(query, key, value, sinks, trie, scale, window)


AttentionInterface.register(TRIE_ATTENTION, _interface)
AttentionMaskInterface.register(TRIE_ATTENTION, lambda *_, **__: None)  # pyright: ignore[reportArgumentType]


@dataclass(frozen=True)
class _Span:
    """Keys that stand together, and the queries that attend to them. The first `own` queries are the keys' own tokens,
    each of which attends to those before it; the other queries attend to all keys that `mask` does not hide."""

    keys: slice
    queries: slice
    own: int
    mask: Float[Tensor, "Q K"] | None

    @property
    def causal(self) -> bool:
        return self.own > 0 and self.mask is None


def _spans(trie: Trie, trunk: int, window: int | None, like: Tensor) -> Iterator[_Span]:
    """The spans of a trie behind a trunk of so many tokens: of each node, children before their parents, and of the
    trunk at last. So the first span that has a query is that of its own node."""
    for node in reversed(trie.nodes):
        positions, own = trie.positions[node.start : node.stop], node.end - node.start
        mask = _window_mask(positions, range(node.depth, node.depth + own), window, like)
        yield _Span(slice(trunk + node.start, trunk + node.end), slice(node.start, node.stop), own, mask)
    if trunk:
        mask = _window_mask(trie.positions, range(-trunk, 0), window, like)
        yield _Span(slice(trunk), slice(len(trie)), 0, mask)


class _TrieAttention(Function):
    @staticmethod
    def forward(
        ctx: Any,
        query: Float[Tensor, "1 heads N D"],
        key: Float[Tensor, "1 heads K D"],
        value: Float[Tensor, "1 heads K D"],
        sinks: Float[Tensor, " heads"] | None,
        trie: Trie,
        scale: float,
        window: int | None,
    ) -> Float[Tensor, "1 heads N D"]:
        out = torch.empty_like(query, dtype=torch.float32)  # sums are accumulated in float32
        lse = query.new_empty(query.shape[:-1], dtype=torch.float32)
        spans = list(_spans(trie, key.shape[2] - query.shape[2], window, query))
        for span in spans:
            q, k, v = query[:, :, span.queries], key[:, :, span.keys], value[:, :, span.keys]
            part, part_lse = attention(q, k, v, scale, span.mask, causal=span.causal, may_hide_all=True)
            first = span.queries.start or 0
            own, others = slice(first, first + span.own), slice(first + span.own, span.queries.stop)
            out[:, :, own], lse[:, :, own] = part[:, :, : span.own], part_lse[:, :, : span.own]
            if others.start < others.stop:
                other, other_lse = part[:, :, span.own :].float(), part_lse[:, :, span.own :]
                out[:, :, others] = merge(out[:, :, others], lse[:, :, others], other, other_lse)
                lse[:, :, others] = torch.logaddexp(lse[:, :, others], other_lse)
        if sinks is not None:  # one more key, whose value is 0
            merged = torch.logaddexp(lse, sinks.float()[:, None])
            out *= (lse - merged).exp()[..., None]
            lse = merged
        out = out.to(query.dtype)
        ctx.save_for_backward(query, key, value, out, lse)
        ctx.spans, ctx.scale = spans, scale
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        query, key, value, out, lse = ctx.saved_tensors
        d_query = torch.zeros_like(query, dtype=torch.float32)
        d_key, d_value = torch.empty_like(key), torch.empty_like(value)
        for span in ctx.spans:
            q, k, v = query[:, :, span.queries], key[:, :, span.keys], value[:, :, span.keys]
            saved = (grad[:, :, span.queries], q, k, v, out[:, :, span.queries], lse[:, :, span.queries])
            dq, dk, dv = attention_backward(*saved, ctx.scale, span.mask, causal=span.causal)
            d_query[:, :, span.queries] += dq
            d_key[:, :, span.keys], d_value[:, :, span.keys] = dk, dv
        return d_query.to(query.dtype), d_key, d_value, None, None, None, None


def _window_mask(
    positions: Sequence[int], keys: range, window: int | None, like: Tensor
) -> Float[Tensor, "Q K"] | None:
    """0 where a token at one of Q positions attends to one of the K positions `keys`, -inf where the sliding window
    hides it or it comes later; `None` if the window hides none."""
    if window is None or max(positions) - keys.start < window:
        return None
    queries_Q = torch.tensor(positions, device=like.device)[:, None]
    keys_K = torch.arange(keys.start, keys.stop, device=like.device)
    visible = (keys_K <= queries_Q) & (queries_Q - keys_K < window)
    return like.new_zeros(visible.shape).masked_fill_(~visible, -torch.inf)
