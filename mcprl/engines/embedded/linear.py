"""A linear layer with a LoRA beside it, as the decoder computes one that is not merged."""

from typing import Any

from torch import Tensor, nn

TINY = 2**18  # elements of the largest matrix; see `benchmarks/decode.py`


class Adapted(nn.Module):
    """A layer of low precision, or of a base that is kept once, and the LoRA beside it in float32, as the trainer
    computes them.

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


def is_tiny(model: Any) -> bool:
    """Whether a step's matrix products take less time than what surrounds them."""
    embedding = model.get_input_embeddings().weight
    return max(p.numel() for p in model.parameters() if p.dim() == 2 and p is not embedding) < TINY
