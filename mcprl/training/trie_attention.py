"""Attention over a token trie, as an attention implementation of transformers: `attn_implementation="mcprl_tree"`.

In the depth-first layout all that lies below a node follows it, so what attends to a node's keys is one span of
queries: causal over the node itself, open over the rest, which is a causal kernel with more queries than keys. That is
one kernel call a node; a token's parts, one for each of its ancestors, are merged by their log-sum-exp. No keys are
copied, and no mask is made but where a sliding window cuts. On CUDA one FlexAttention kernel takes its place where a
trial shows it to be right and faster (`training.flex_attention`).
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from transformers import AttentionInterface, AttentionMaskInterface

from mcprl.models.attention import attention, attention_backward, merge
from mcprl.training import flex_attention
from mcprl.training.trie import Node, Tree

TREE_ATTENTION = "mcprl_tree"


def _interface(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None = None,
    *,
    tree: Tree,
    passed: list[int],
    scaling: float | None = None,
    dropout: float = 0.0,
    sliding_window: int | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """What transformers calls in each layer: query (1, heads, N, D), key and value (1, kv_heads, N, D) of a layout of N
    tokens give (1, N, heads, D). `s_aux` (heads) are attention sinks, as GPT-OSS has them; frozen ones. The layer's
    number is added to `passed`: the caller sees whether all layers came by."""
    passed.append(module.layer_idx)
    if softcap is not None or dropout or attention_mask is not None:
        raise NotImplementedError("attention with capped scores, dropout or a mask of its own")
    if torch.is_autocast_enabled(kind := query.device.type):  # norms and rotations have left some in float32
        query, key, value = (given.to(torch.get_autocast_dtype(kind)) for given in (query, key, value))
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    form = attend
    if query.is_cuda:
        shape = query.shape[1], key.shape[1], query.shape[3], query.dtype, query.device, s_aux is not None
        form = flex_attention.attend if flex_attention.pays(attend, *shape) else attend
    return form(query, key, value, tree, scale, sliding_window, s_aux).transpose(1, 2), None


def attend(
    query: Tensor, key: Tensor, value: Tensor, tree: Tree, scale: float, window: int | None, sinks: Tensor | None
) -> Tensor:
    """What each token of the trie gets from its ancestors and itself, node by node; see `flex_attention.Attend`."""
    groups = query.shape[1] // key.shape[1]
    key, value = (kv.repeat_interleave(groups, 1) if groups > 1 else kv for kv in (key, value))
    apply: Callable[..., Tensor] = _TreeAttention.apply
    return apply(query, key, value, sinks, tree, scale, window)


AttentionInterface.register(TREE_ATTENTION, _interface)
AttentionMaskInterface.register(TREE_ATTENTION, lambda *_, **__: None)  # pyright: ignore[reportArgumentType]


class _TreeAttention(Function):
    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        sinks: Tensor | None,
        tree: Tree,
        scale: float,
        window: int | None,
    ) -> Tensor:
        out = torch.empty_like(query, dtype=torch.float32)  # what is added up, is added up in float32
        lse = query.new_empty(query.shape[:-1], dtype=torch.float32)
        masks = {node: _window_mask(tree, node, window, query) for node in tree.nodes}
        for node in reversed(tree.nodes):  # a token's own node comes before its ancestors
            own, below = slice(node.start, node.end), slice(node.end, node.stop)
            part, part_lse = _attend(query, key, value, node, masks[node], scale)
            length = node.end - node.start
            out[:, :, own], lse[:, :, own] = part[:, :, :length], part_lse[:, :, :length]
            if node.end < node.stop:
                more = part[:, :, length:].float(), part_lse[:, :, length:]
                out[:, :, below] = merge(out[:, :, below], lse[:, :, below], *more)
                lse[:, :, below] = torch.logaddexp(lse[:, :, below], part_lse[:, :, length:])
        if sinks is not None:  # one more key, whose value is 0
            merged = torch.logaddexp(lse, sinks.float()[:, None])
            out *= (lse - merged).exp()[..., None]
            lse = merged
        out = out.to(query.dtype)
        ctx.save_for_backward(query, key, value, out, lse)
        ctx.tree, ctx.scale, ctx.masks = tree, scale, masks
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        query, key, value, out, lse = ctx.saved_tensors
        d_query = torch.zeros_like(query, dtype=torch.float32)
        d_key, d_value = torch.empty_like(key), torch.empty_like(value)
        for node in ctx.tree.nodes:
            own, whole, mask = slice(node.start, node.end), slice(node.start, node.stop), ctx.masks[node]
            q, k, v = query[:, :, whole], key[:, :, own], value[:, :, own]
            behind = (grad[:, :, whole], q, k, v, out[:, :, whole], lse[:, :, whole])
            dq, dk, dv = attention_backward(*behind, ctx.scale, mask, causal=mask is None)
            d_query[:, :, whole] += dq
            d_key[:, :, own], d_value[:, :, own] = dk, dv
        return d_query.to(query.dtype), d_key, d_value, None, None, None, None


def _attend(
    query: Tensor, key: Tensor, value: Tensor, node: Node, mask: Tensor | None, scale: float
) -> tuple[Tensor, Tensor]:
    """Of the node's tokens and all below it: attention over the node's keys."""
    own, whole = slice(node.start, node.end), slice(node.start, node.stop)
    parts = (query[:, :, whole], key[:, :, own], value[:, :, own])
    return attention(*parts, scale, mask, causal=mask is None, blind=True)


def _window_mask(tree: Tree, node: Node, window: int | None, like: Tensor) -> Tensor | None:
    """What a sliding window of so many positions hides: (tokens of the node and below it, tokens of the node); `None`
    where it reaches over all of them."""
    positions = tree.positions[node.start : node.stop]
    if window is None or max(positions) - node.depth < window:
        return None
    queries = torch.tensor(positions, device=like.device)[:, None]
    keys = queries[: node.end - node.start, 0]
    seen = (keys <= queries) & (queries - keys < window)
    return like.new_zeros(seen.shape).masked_fill_(~seen, -torch.inf)
