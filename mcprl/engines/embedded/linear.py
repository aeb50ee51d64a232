"""Linear layers as the decoder computes them: a LoRA beside low precision, and weights packed for oneDNN."""

from typing import Any

import torch
from torch import Tensor, nn

PACKED_ROWS = 16  # oneDNN lays packed weights out for products with this many rows, and multiplies any number with them

TINY = 2**18  # elements of the largest matrix; see `benchmarks/decode.py`
_PACKS_BF16 = ("avx512_bw", "avx512_vl", "avx512_dq")
"""What a CPU must have for oneDNN to pack bfloat16, unless it has `avx_ne_convert`."""


class Adapted(nn.Module):
    """A layer of low precision and the LoRA beside it in float32, as the trainer computes them.

    The output is `rows` * (W x + up down x) + bias: `rows` (out,) scales a DoRA's rows, and is None for a plain LoRA.
    """

    def __init__(self, base: nn.Module, up: Tensor, down: Tensor, rows: Tensor | None = None) -> None:
        super().__init__()
        self.base = base
        self.up, self.down = nn.Parameter(up, False), nn.Parameter(down, False)
        self.rows = None if rows is None else nn.Parameter(rows, False)

    def forward(self, hidden: Tensor) -> Tensor:
        out = self.base(hidden)
        update = hidden.float() @ self.down.mT @ self.up.mT
        if self.rows is None:
            return (out + update).to(out.dtype)
        bias = 0.0 if self.base.bias is None else self.base.bias
        return ((out - bias + update) * self.rows + bias).to(out.dtype)


class Packed(nn.Module):
    """A linear layer whose weight oneDNN has packed into the blocks that it multiplies, on a CPU.

    On an AMD EPYC with AVX-512, one thread, matrices of 576 x 1,536: 1.2 to 2 times as fast as torch's own product with
    4 to 64 rows in float32, 1.2 to 3 times in bfloat16 (2026-11-22, beside other work).
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        weight = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach(), PACKED_ROWS)
        self.weight, self.bias = nn.Parameter(weight, False), linear.bias

    def forward(self, hidden: Tensor) -> Tensor:
        return torch.ops.mkldnn._linear_pointwise(hidden, self.weight, self.bias, "none", [], "")


def can_pack(weight: Tensor) -> bool:
    """Whether oneDNN packs such a weight on this machine's CPU."""
    if weight.device.type != "cpu" or weight.dtype not in (torch.float32, torch.bfloat16):
        return False
    has = torch.cpu.get_capabilities()
    return weight.dtype == torch.float32 or bool(has.get("avx_ne_convert")) or all(map(has.get, _PACKS_BF16))


def is_tiny(model: Any) -> bool:
    """Whether a step's matrix products take less time than what surrounds them."""
    embedding = model.get_input_embeddings().weight
    return max(p.numel() for p in model.parameters() if p.dim() == 2 and p is not embedding) < TINY
