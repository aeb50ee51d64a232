"""Attention over shared trunks and each stream's suffix, for flat tokens as `Decoder` lays them out.

All streams of a trunk attend to its keys and values in one product; the attention over each stream's own suffix is
merged in by log-sum-exp (Hydragen, arXiv 2402.05099). So are attention sinks. In a layer with a sliding window a token
attends to as much of its trunk's end as the window reaches.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface

from mcprl.models.attention import attention, merge

ATTENTION = "mcprl_decoding"
BLOCK = 256  # tokens of a span that are computed at once in a layer with a window


@dataclass
class Span:
    """New tokens of one stream: `start:end` of the flat tokens. Their keys and values go into `kv` (layer, k/v, head,
    C, D) from place `at` on. They attend to the places from `first` on."""

    start: int
    end: int
    at: int
    kv: Tensor
    mask: Tensor | None  # (new, at + new - first); None if the span begins the row: then a causal kernel does
    first: int = 0


@dataclass
class TrunkPart:
    """A trunk's last K keys and values, `kv` (layer, k/v, head, K, D), and who attends to them."""

    kv: Tensor
    tokens: Tensor | None  # (n,) flat tokens; None for all
    mask: Tensor | None = None  # (n, K); None if each token attends to all keys


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
    filled: slice  # the places of which a row's token may attend to some
    positions: Tensor  # (N,) each token's place in its whole context, trunk and suffix
    trunks: list[TrunkPart]
    spans: list[Span]
    cuts: dict[int, "DecodeStep"] = field(default_factory=dict[int, "DecodeStep"])

    def within(self, window: int | None) -> "DecodeStep":
        """The same step for a layer whose tokens attend to this many positions at most, themselves included; `None`
        means all."""
        if window is None:
            return self
        if window not in self.cuts:
            self.cuts[window] = self._cut(window) if int(self.positions.max()) >= window else self
        return self.cuts[window]

    def _cut(self, window: int) -> "DecodeStep":
        trunks = [part for trunk in self.trunks if (part := _near(trunk, self.positions, window))]
        spans = [block for span in self.spans for block in _blocks(span, window, self.kv)]
        if not len(self.rows):
            return replace(self, trunks=trunks, spans=spans)
        B, _, W, C = self.mask.shape
        places = self.at if self.grid is None else self.at.new_zeros(B * W).index_copy_(0, self.grid, self.at)
        hidden = torch.arange(C, device=places.device) <= places.view(B, 1, W, 1) - window
        filled = slice(max(0, int(self.at.min()) - window + 1), self.filled.stop)
        return replace(self, mask=self.mask.masked_fill(hidden, -torch.inf), filled=filled, trunks=trunks, spans=spans)

    def attend(
        self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float, sinks: Tensor | None
    ) -> Tensor:
        """The output (N, H, D) for queries (H, N, D) and new keys and values (KVH, N, D). `sinks` (H,) are scores of
        one more key, whose value is 0."""
        parts = [self._decode(layer, query, key, value, scale)] if len(self.rows) else []
        for span in self.spans:
            new = slice(span.start, span.end)
            parts.append(_span(span, layer, query[:, new], key[:, new], value[:, new], scale))
        out, lse = (torch.cat(part) if len(parts) > 1 else part[0] for part in zip(*parts, strict=True))
        if sinks is not None:
            out = out * torch.sigmoid(lse - sinks)[..., None].to(out.dtype)
            lse = torch.logaddexp(lse, sinks.float())
        for trunk in self.trunks:
            attending = query if trunk.tokens is None else query[:, trunk.tokens]
            part, part_lse = _trunk(trunk, layer, attending, scale)
            if trunk.tokens is None:
                out = merge(out, lse, part, part_lse)
            else:
                out[trunk.tokens] = merge(out[trunk.tokens], lse[trunk.tokens], part, part_lse)
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
        mask = self.mask[..., self.filled].repeat(1, 1, H // KVH if W > 1 else 1, 1)
        out, lse = attention(grouped, keys[:B, :, self.filled], values[:B, :, self.filled], scale, mask)
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
    seen = slice(span.first, end)
    keys, values = _repeat(keys[:, seen], group), _repeat(values[:, seen], group)
    out, lse = attention(query[None], keys, values, scale, span.mask, causal=span.mask is None)
    return out[0].transpose(0, 1), lse[0].T


def _trunk(trunk: TrunkPart, layer: int, query: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """Attention of a trunk's tokens over it (n, H, D), and its log-sum-exp (n, H)."""
    keys, values = trunk.kv[layer]  # (KVH, K, D) each
    H, _, D = query.shape
    group = H // len(keys)
    # All heads have the same mask, so the queries of those that share keys can be flattened to one head.
    flat = query.reshape(1, len(keys), -1, D)
    mask = None if trunk.mask is None else trunk.mask.repeat(group, 1)
    out, lse = attention(flat, keys[None], values[None], scale, mask)
    return out.reshape(H, -1, D).transpose(0, 1), lse.reshape(H, -1).T


def _near(trunk: TrunkPart, positions: Tensor, window: int) -> TrunkPart | None:
    """The end of a trunk for those of its tokens that have some of it within their window; `None` if none has."""
    length = trunk.kv.shape[3]
    own = positions if trunk.tokens is None else positions[trunk.tokens]
    near = (own - window < length - 1).nonzero()[:, 0]
    if not len(near):
        return None
    tokens = near if trunk.tokens is None else trunk.tokens[near]
    first = max(0, int(own[near].min()) - window + 1)
    mask = _window_mask(own[near], slice(first, length), window, trunk.kv)
    return TrunkPart(trunk.kv[:, :, :, first:], tokens, mask)


def _blocks(span: Span, window: int, like: Tensor) -> list[Span]:
    """A span in pieces, each of which attends to no more keys than its windows reach."""
    blocks: list[Span] = []
    for start in range(span.start, span.end, BLOCK):
        end, at = min(start + BLOCK, span.end), span.at + start - span.start
        seen = slice(max(0, at - window + 1), at + end - start)
        queries = torch.arange(at, seen.stop, device=like.device)
        blocks.append(Span(start, end, at, span.kv, _window_mask(queries, seen, window, like), seen.start))
    return blocks


def _window_mask(queries: Tensor, keys: slice, window: int, like: Tensor) -> Tensor:
    """The mask (Q, K) with which queries at these places attend to the keys at those places, up to `window` of them
    that end at their own."""
    places = torch.arange(keys.start, keys.stop, device=queries.device)
    hidden = (places > queries[:, None]) | (places <= queries[:, None] - window)
    return like.new_zeros(hidden.shape).masked_fill_(hidden, -torch.inf)


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
    sliding_window: int | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """What transformers calls in each layer. `s_aux` are attention sinks."""
    if softcap is not None:
        raise NotImplementedError("attention with capped scores")
    step = decoding.within(sliding_window)
    return step.attend(module.layer_idx, query[0], key[0], value[0], scaling, s_aux)[None], None


AttentionInterface.register(ATTENTION, _interface)
AttentionMaskInterface.register(ATTENTION, lambda *_, **__: None)  # pyright: ignore[reportArgumentType]
