"""Muon for the weight matrices, which learn faster with it than with AdamW here (see the model card)."""

from collections import defaultdict
from typing import Any

import torch
from torch import Tensor


class Muon(torch.optim.Optimizer):
    """Momentum, orthogonalized (Jordan et al. 2024), with AdamW's update size (Liu et al. 2025, eq. 4: 0.2
    sqrt(max(n, m))).

    PyTorch's own does the iteration in bfloat16, which a CPU without AMX does twenty times slower than float32.
    """

    def __init__(self, params: Any, lr: float, momentum: float = 0.95, weight_decay: float = 0.1) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """One update from the gradients; matrices of one shape go together."""
        for group in self.param_groups:
            by_shape: dict[tuple[int, ...], list[Tensor]] = defaultdict(list)
            for p in group["params"]:
                self.state[p].setdefault("momentum", torch.zeros_like(p)).lerp_(p.grad, 1 - group["momentum"])
                by_shape[tuple(p.shape)].append(p)
            for (rows, columns), params in by_shape.items():
                gradients = torch.stack([p.grad for p in params if p.grad is not None])
                ahead = gradients.lerp(torch.stack([self.state[p]["momentum"] for p in params]), group["momentum"])
                updates = orthogonal(ahead) * (0.2 * max(rows, columns) ** 0.5)
                for p, update in zip(params, updates, strict=True):
                    p.mul_(1 - group["lr"] * group["weight_decay"]).add_(update, alpha=-group["lr"])


def orthogonal(x: Tensor) -> Tensor:
    """The nearest semi-orthogonal matrices (..., n, m), roughly: five Newton-Schulz steps of order five."""
    wide = x if x.shape[-2] <= x.shape[-1] else x.mT
    wide = wide / (wide.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(5):
        square = wide @ wide.mT
        wide = 3.4445 * wide + (-4.7750 * square + 2.0315 * square @ square) @ wide
    return wide if x.shape[-2] <= x.shape[-1] else wide.mT
