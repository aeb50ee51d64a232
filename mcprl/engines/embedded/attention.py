"""Attention over shared trunks and each stream's suffix, for flat tokens as `Decoder` lays them out.

All streams of a trunk attend to its keys and values in one product; the attention over each stream's own suffix is
merged in by log-sum-exp (Hydragen, arXiv 2402.05099).
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface

from mcprl.models.attention import attention, merge

ATTENTION = "mcprl_decoding"


@dataclass
class Span:
    """New tokens of one stream: `start:end` of the flat tokens. Their keys and values go into `kv` (layer, k/v, head,
    C, D) from place `at` on."""

    start: int
    end: int
    at: int
    kv: Tensor
    mask: Tensor | None  # (new, at + new); None if the span begins the row: then a causal kernel does


@dataclass
class DecodeStep:
    """What attention needs to know about a step of N flat tokens: R of the decoding rows, then the spans.

    If rows have guesses, they have up to W tokens each: token n of row b has place b * W + n of a grid.
    """

    kv: Tensor  # (layer, k/v, row, head, C, D)
    rows: Tensor  # (R,) the decoding row of each token
    at: Tensor  # (R,) the token's place in its row
    mask: Tensor  # (B, 1, W, C) 0 for the places that a token attends to, -inf for the others
    grid: Tensor | None  # (R,) each token's place in the grid; None if each row has one token
    longest: int  # the most places that a row has filled
    trunks: list[tuple[Tensor, Tensor | None]]  # each trunk's kv and which tokens attend to it, None for all
    spans: list[Span]

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
        """The output (N, H, D) for queries (H, N, D) and new keys and values (KVH, N, D)."""
        parts = [self._decode(layer, query, key, value, scale)] if len(self.rows) else []
        for span in self.spans:
            new = slice(span.start, span.end)
            parts.append(_span(span, layer, query[:, new], key[:, new], value[:, new], scale))
        out, lse = (torch.cat(part) if len(parts) > 1 else part[0] for part in zip(*parts, strict=True))
        H, _, D = query.shape
        for kv, tokens in self.trunks:
            attending = query if tokens is None else query[:, tokens]
            # No key of a trunk is masked, so the queries of all heads that share its keys can be flattened to one head.
            flat = attending.reshape(1, len(key), -1, D)
            trunk, trunk_lse = attention(flat, kv[layer, 0][None], kv[layer, 1][None], scale)
            trunk, trunk_lse = trunk.reshape(H, -1, D).transpose(0, 1), trunk_lse.reshape(H, -1).T
            if tokens is None:
                out = merge(out, lse, trunk, trunk_lse)
            else:
                out[tokens] = merge(out[tokens], lse[tokens], trunk, trunk_lse)
        return out

    def _decode(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> tuple[Tensor, Tensor]:
        """Attention of the decoding rows' tokens over their own suffixes (R, H, D), and its log-sum-exp."""
        tokens, KVH = len(self.rows), key.shape[0]
        H, _, D = query.shape
        keys, values = self.kv[layer, 0], self.kv[layer, 1]  # (row, KVH, C, D)
        keys[self.rows, :, self.at] = key[:, :tokens].transpose(0, 1)
        values[self.rows, :, self.at] = value[:, :tokens].transpose(0, 1)
        B, _, W, _ = self.mask.shape
        query = query[:, :tokens]
        if self.grid is not None:
            query = query.new_zeros(H, B * W, D).index_copy_(1, self.grid, query)
        grouped = query.view(KVH, H // KVH, B, W, D).permute(2, 0, 1, 3, 4).reshape(B, KVH, -1, D)
        filled = slice(0, self.longest)
        mask = self.mask[..., filled].repeat(1, 1, H // KVH if W > 1 else 1, 1)
        out, lse = attention(grouped, keys[:B, :, filled], values[:B, :, filled], scale, mask)
        out = out.reshape(B, H, W, D).transpose(1, 2).reshape(B * W, H, D)
        lse = lse.reshape(B, H, W).transpose(1, 2).reshape(B * W, H)
        return (out, lse) if self.grid is None else (out[self.grid], lse[self.grid])


def _span(span: Span, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """Attention of a span over its stream's own suffix (n, H, D), and its log-sum-exp (n, H)."""
    end = span.at + query.shape[1]
    keys, values = span.kv[layer]  # (KVH, C, D) each
    keys[:, span.at : end] = key
    values[:, span.at : end] = value
    group = query.shape[0] // key.shape[0]
    keys, values = _repeat(keys[:, :end], group), _repeat(values[:, :end], group)
    out, lse = attention(query[None], keys, values, scale, span.mask, causal=span.mask is None)
    return out[0].transpose(0, 1), lse[0].T


def _repeat(tensor: Tensor, group: int) -> Tensor:
    return tensor[None] if group == 1 else tensor[None].repeat_interleave(group, 1)


def causal_mask(new: int, end: int, like: Tensor) -> Tensor:
    """The mask (new, end) with which the last `new` of `end` tokens attend to themselves and all earlier tokens."""
    hidden = torch.ones(new, end, dtype=torch.bool, device=like.device).triu_(end - new + 1)
    return like.new_zeros(new, end).masked_fill_(hidden, -torch.inf)


def _interface(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    _mask: Any,
    *,
    decoding: DecodeStep,
    scaling: float,
    **_: Any,
) -> tuple[Tensor, None]:
    return decoding.attend(module.layer_idx, query[0], key[0], value[0], scaling)[None], None


AttentionInterface.register(ATTENTION, _interface)
AttentionMaskInterface.register(ATTENTION, lambda *_, **__: None)  # pyright: ignore[reportArgumentType]
