"""Attention over a token trie, as an attention implementation of transformers: `attn_implementation="mcprl_trie"`.

In the depth-first layout a node's descendants follow it. So the queries that attend to a node's keys are one span,
causal over the node itself and unmasked over its descendants: a causal kernel with more queries than keys. Each node
takes one kernel call. A token's results, one for each of its ancestors, are merged by their log-sum-exp. No keys are
copied, and a mask is made only if a sliding window cuts. On CUDA one FlexAttention kernel replaces all this if a trial
shows that it is exact and faster (`training.flex_attention`).
"""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from transformers import AttentionInterface, AttentionMaskInterface

from mcprl.models.attention import attention, attention_backward, merge
from mcprl.training import flex_attention
from mcprl.training.trie import Node, Trie

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
    scaling: float | None = None,
    dropout: float = 0.0,
    sliding_window: int | None = None,
    softcap: float | None = None,
    s_aux: Float[Tensor, " heads"] | None = None,
    **_: Any,
) -> tuple[Float[Tensor, "1 N heads D"], None]:
    """What transformers calls in each layer, for a layout of N tokens.

    `s_aux` are attention sinks, as GPT-OSS has them; frozen ones. Appends the layer's number to `layers_called`, so
    that the caller sees whether all layers use this attention. Raises `NotImplementedError` for capped scores, dropout
    and masks.
    """
    layers_called.append(module.layer_idx)
    if softcap is not None or dropout or attention_mask is not None:
        raise NotImplementedError("attention with capped scores, dropout or a mask of its own")
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
    key: Float[Tensor, "1 kv_heads N D"],
    value: Float[Tensor, "1 kv_heads N D"],
    trie: Trie,
    scale: float,
    window: int | None,
    sinks: Float[Tensor, " heads"] | None,
) -> Float[Tensor, "1 heads N D"]:
    """Attention of each of the trie's tokens over its ancestors and itself, node by node.

    `window` is how many positions a token attends to, itself included; `None` means all.
    """
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    apply: Callable[..., Tensor] = _TrieAttention.apply
    return apply(query, key, value, sinks, trie, scale, window)


AttentionInterface.register(TRIE_ATTENTION, _interface)
AttentionMaskInterface.register(TRIE_ATTENTION, lambda *_, **__: None)  # pyright: ignore[reportArgumentType]


class _TrieAttention(Function):
    @staticmethod
    def forward(
        ctx: Any,
        query: Float[Tensor, "1 heads N D"],
        key: Float[Tensor, "1 heads N D"],
        value: Float[Tensor, "1 heads N D"],
        sinks: Float[Tensor, " heads"] | None,
        trie: Trie,
        scale: float,
        window: int | None,
    ) -> Float[Tensor, "1 heads N D"]:
        out = torch.empty_like(query, dtype=torch.float32)  # sums are accumulated in float32
        lse = query.new_empty(query.shape[:-1], dtype=torch.float32)
        masks = {node: _window_mask(trie, node, window, query) for node in trie.nodes}
        for node in reversed(trie.nodes):  # a token's own node comes before its ancestors
            own, below = slice(node.start, node.end), slice(node.end, node.stop)
            part, part_lse = _attend_node(query, key, value, node, masks[node], scale)
            length = node.end - node.start
            out[:, :, own], lse[:, :, own] = part[:, :, :length], part_lse[:, :, :length]
            if node.end < node.stop:
                part_below, lse_below = part[:, :, length:].float(), part_lse[:, :, length:]
                out[:, :, below] = merge(out[:, :, below], lse[:, :, below], part_below, lse_below)
                lse[:, :, below] = torch.logaddexp(lse[:, :, below], lse_below)
        if sinks is not None:  # one more key, whose value is 0
            merged = torch.logaddexp(lse, sinks.float()[:, None])
            out *= (lse - merged).exp()[..., None]
            lse = merged
        out = out.to(query.dtype)
        ctx.save_for_backward(query, key, value, out, lse)
        ctx.trie, ctx.scale, ctx.masks = trie, scale, masks
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        query, key, value, out, lse = ctx.saved_tensors
        d_query = torch.zeros_like(query, dtype=torch.float32)
        d_key, d_value = torch.empty_like(key), torch.empty_like(value)
        for node in ctx.trie.nodes:
            own, whole, mask = slice(node.start, node.end), slice(node.start, node.stop), ctx.masks[node]
            q, k, v = query[:, :, whole], key[:, :, own], value[:, :, own]
            saved = (grad[:, :, whole], q, k, v, out[:, :, whole], lse[:, :, whole])
            dq, dk, dv = attention_backward(*saved, ctx.scale, mask, causal=mask is None)
            d_query[:, :, whole] += dq
            d_key[:, :, own], d_value[:, :, own] = dk, dv
        return d_query.to(query.dtype), d_key, d_value, None, None, None, None


def _attend_node(
    query: Float[Tensor, "1 heads N D"],
    key: Float[Tensor, "1 heads N D"],
    value: Float[Tensor, "1 heads N D"],
    node: Node,
    mask: Float[Tensor, "Q K"] | None,
    scale: float,
) -> tuple[Float[Tensor, "1 heads Q D"], Float[Tensor, "1 heads Q"]]:
    """Attention over this node's K keys, for the Q tokens of the node and all its descendants, and its log-sum-exp."""
    own, whole = slice(node.start, node.end), slice(node.start, node.stop)
    parts = (query[:, :, whole], key[:, :, own], value[:, :, own])
    return attention(*parts, scale, mask, causal=mask is None, may_hide_all=True)


def _window_mask(trie: Trie, node: Node, window: int | None, like: Tensor) -> Float[Tensor, "Q K"] | None:
    """0 for the node's K tokens that each of the Q tokens of the node and its descendants attends to, -inf for those
    that the sliding window hides; `None` if it hides none."""
    positions = trie.positions[node.start : node.stop]
    if window is None or max(positions) - node.depth < window:
        return None
    queries = torch.tensor(positions, device=like.device)[:, None]
    keys = queries[: node.end - node.start, 0]
    visible = (keys <= queries) & (queries - keys < window)
    return like.new_zeros(visible.shape).masked_fill_(~visible, -torch.inf)
