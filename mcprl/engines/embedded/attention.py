"""Attention over a shared trunk and each sequence's own tokens, laid out flat as `Decoder` does it.

The trunk's keys and values are attended by all sequences in one product; the part over a sequence's own tokens is
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
    """New tokens of one stream: flat positions `start:end`, own ones from `at` on in `kv` (layer, k/v, head, C, D)."""

    start: int
    end: int
    at: int
    kv: Tensor
    mask: Tensor | None  # (new, at + new); None where the span begins the row: then it is simply causal


@dataclass
class DecodeStep:
    """What attention needs to know about a step: the decoding rows first, then the spans."""

    kv: Tensor  # (layer, k/v, row, head, C, D)
    rows: Tensor  # (B,) the decoding rows
    at: Tensor  # (B,) where each row's new token goes
    mask: Tensor  # (B, 1, 1, C) 0 where a row may look, -inf elsewhere
    longest: int
    trunks: list[tuple[Tensor, Tensor | None]]  # each trunk's kv and which of the N tokens are on it, None for all
    spans: list[Span]

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
        """(H, N, D) queries and (KVH, N, D) new keys and values give (N, H, D)."""
        parts = [self._decode(layer, query, key, value, scale)] if len(self.rows) else []
        for span in self.spans:
            new = slice(span.start, span.end)
            parts.append(_span(span, layer, query[:, new], key[:, new], value[:, new], scale))
        out, lse = (torch.cat(part) if len(parts) > 1 else part[0] for part in zip(*parts, strict=True))
        H, _, D = query.shape
        for kv, tokens in self.trunks:
            asked = query if tokens is None else query[:, tokens]
            # All of a trunk is seen by all, so the queries of all heads that share its keys are asked as one head's.
            flat = asked.reshape(1, len(key), -1, D)
            trunk, trunk_lse = attention(flat, kv[layer, 0][None], kv[layer, 1][None], scale)
            trunk, trunk_lse = trunk.reshape(H, -1, D).transpose(0, 1), trunk_lse.reshape(H, -1).T
            if tokens is None:
                out = merge(out, lse, trunk, trunk_lse)
            else:
                out[tokens] = merge(out[tokens], lse[tokens], trunk, trunk_lse)
        return out

    def _decode(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> tuple[Tensor, Tensor]:
        """What the decoding rows make of their own tokens: (B, H, D) and its log-sum-exp, (B, H)."""
        B, KVH = len(self.rows), key.shape[0]
        H, _, D = query.shape
        keys, values = self.kv[layer, 0], self.kv[layer, 1]  # (row, KVH, C, D)
        keys[self.rows, :, self.at] = key[:, :B].transpose(0, 1)
        values[self.rows, :, self.at] = value[:, :B].transpose(0, 1)
        grouped = query[:, :B].view(KVH, H // KVH, B, D).permute(2, 0, 1, 3)
        seen = slice(0, self.longest)
        out, lse = attention(grouped, keys[:B, :, seen], values[:B, :, seen], scale, self.mask[:B, :, :, seen])
        return out.reshape(B, H, D), lse.reshape(B, H)


def _span(span: Span, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """What a span makes of its own tokens: (n, H, D) and its log-sum-exp, (n, H)."""
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
    """(new, end): the last `new` of `end` tokens look at themselves and what stands before them."""
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
