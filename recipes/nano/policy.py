"""The nano policy's shape, and a forward pass for training it: groups of conversations that share their tools'
signatures.

The model is transformers' own Qwen3; only the training forward is ours. It lays all tokens of several groups out
flat, with no padding outside attention, computes each group's prefix once, and is about twice as fast on a CPU as
whole rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from transformers import Qwen3Config, Qwen3ForCausalLM

HEAD = 32
THETA = 10_000.0


def config(
    vocabulary: int, eos: int, pad: int, layers: int = 4, width: int = 192, heads: int = 4, kv_heads: int = 2
) -> Qwen3Config:
    return Qwen3Config(
        vocab_size=vocabulary,
        hidden_size=width,
        intermediate_size=width * 8 // 3,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        head_dim=HEAD,
        max_position_embeddings=4096,
        rope_parameters={"rope_type": "default", "rope_theta": THETA},
        tie_word_embeddings=True,
        eos_token_id=eos,
        pad_token_id=pad,
    )


@dataclass(frozen=True)
class Branches:
    """Branches of one group that are padded together for attention: where their tokens lie in the flat batch (K, L),
    which of the padded places are real, and what each may see (L, P + L) as an additive mask."""

    index: Tensor
    real: Tensor
    mask: Tensor


@dataclass(frozen=True)
class Layout:
    """Several groups laid out flat: ids and positions (N), and per group its prefix's place and its branches."""

    ids: Tensor
    positions: Tensor
    groups: list[tuple[int, int, list[Branches]]]


def layout(groups: Sequence[tuple[Sequence[int], Sequence[Sequence[int]]]]) -> Layout:
    """Lay out groups of (prefix, branches). Branches of a group are ordered by length; only like lengths are padded
    together."""
    ids: list[int] = []
    positions: list[int] = []
    placed: list[tuple[int, int, list[Branches]]] = []
    for prefix, branches in groups:
        start, depth = len(ids), len(prefix)
        ids += prefix
        positions += range(depth)
        buckets: list[list[int]] = []
        for length in map(len, branches):
            if not buckets or length > 1.3 * buckets[-1][0] + 16:
                buckets.append([])
            buckets[-1].append(length)
        offset, made = len(ids), []
        for lengths in buckets:
            longest = max(lengths)
            starts = torch.tensor([0, *lengths]).cumsum(0)[:-1] + offset
            steps = torch.arange(longest)
            real = steps < torch.tensor(lengths)[:, None]
            index = torch.where(real, starts[:, None] + steps, starts[:, None])
            seen = torch.cat(
                (torch.ones(longest, depth, dtype=torch.bool), torch.ones(longest, longest, dtype=torch.bool).tril()), 1
            )
            made.append(Branches(index, real, torch.zeros(seen.shape).masked_fill(~seen, float("-inf"))))
            offset += sum(lengths)
        for branch in branches:
            ids += branch
            positions += range(depth, depth + len(branch))
        placed.append((start, start + depth, made))
    return Layout(torch.tensor(ids), torch.tensor(positions), placed)


def hidden(model: Qwen3ForCausalLM, batch: Layout) -> Tensor:
    """Final hidden states (N, H): those of `model.model` on each whole conversation."""
    shape: Any = model.config
    heads, kv_heads = shape.num_attention_heads, shape.num_key_value_heads
    angles = batch.positions[:, None, None] * THETA ** (-torch.arange(0, HEAD, 2) / HEAD)
    cos, sin = angles.cos(), angles.sin()
    x = functional.embedding(batch.ids, model.model.embed_tokens.weight)
    layers: Any = model.model.layers
    for layer in layers:
        own = layer.self_attn
        weight = torch.cat((own.q_proj.weight, own.k_proj.weight, own.v_proj.weight))
        projected = functional.linear(_norm(x, layer.input_layernorm.weight), weight).view(len(x), -1, HEAD)
        q, k, v = projected.split((heads, kv_heads, kv_heads), 1)
        q, k = _rotate(_norm(q, own.q_norm.weight), cos, sin), _rotate(_norm(k, own.k_norm.weight), cos, sin)
        k, v = k.repeat_interleave(heads // kv_heads, 1), v.repeat_interleave(heads // kv_heads, 1)
        x = x + functional.linear(_attend(q, k, v, batch), own.o_proj.weight)
        weight = torch.cat((layer.mlp.gate_proj.weight, layer.mlp.up_proj.weight))
        gate, up = functional.linear(_norm(x, layer.post_attention_layernorm.weight), weight).chunk(2, -1)
        x = x + functional.linear(functional.silu(gate) * up, layer.mlp.down_proj.weight)
    return _norm(x, model.model.norm.weight)


def _norm(x: Tensor, weight: Tensor) -> Tensor:
    return functional.rms_norm(x, (x.shape[-1],), weight, 1e-6)


def _rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


def _attend(q: Tensor, k: Tensor, v: Tensor, batch: Layout) -> Tensor:
    """Attention over (N, heads, D): prefixes causally, branches over their prefix and themselves."""
    parts: list[Tensor] = []
    for start, end, buckets in batch.groups:
        own = [t[start:end].transpose(0, 1)[None] for t in (q, k, v)]  # (1, heads, P, D)
        out = functional.scaled_dot_product_attention(own[0], own[1], own[2], is_causal=True)
        parts.append(out[0].transpose(0, 1).flatten(1))
        for bucket in buckets:
            mine = [t[bucket.index].transpose(1, 2) for t in (q, k, v)]  # (K, heads, L, D)
            keys, values = (torch.cat((own[n].expand(len(bucket.index), -1, -1, -1), mine[n]), 2) for n in (1, 2))
            out = functional.scaled_dot_product_attention(mine[0], keys, values, attn_mask=bucket.mask)
            parts.append(out.transpose(1, 2)[bucket.real].flatten(1))
    return torch.cat(parts)
