"""Weights that oneDNN has packed for a CPU, and a frozen base of which trainer and sampler hold the same one copy."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

PACKED_ROWS = 16  # oneDNN lays packed weights out for products with this many rows, and multiplies any number with them
LARGE = 2**28
"""Parameters from which a base is kept once. A LoRA is then computed beside the base; below it is merged for sampling,
into a copy, which is faster."""
_PACKS_BF16 = ("avx512_bw", "avx512_vl", "avx512_dq")
"""What a CPU must have for oneDNN to pack bfloat16, unless it has `avx_ne_convert`."""


class Packed(nn.Module):
    """A linear layer whose frozen weight oneDNN has packed into the blocks that it multiplies, on a CPU.

    On an AMD EPYC with AVX-512, one thread, matrices of 576 x 1,536: 1.2 to 2 times as fast as torch's own product with
    4 to 64 rows in float32, 1.2 to 3 times in bfloat16 (2026-11-22, beside other work). Backward unpacks the weight for
    the moment of its product, which takes little beside the product of a bin.
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        weight = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach(), PACKED_ROWS)
        self.weight, self.bias = nn.Parameter(weight, False), linear.bias

    def forward(self, hidden: Tensor) -> Tensor:
        if hidden.requires_grad and torch.is_grad_enabled():
            return _Product.apply(hidden, self.weight, self.bias)  # pyright: ignore[reportReturnType]
        return _product(hidden, self.weight, self.bias)

    def whole(self) -> Tensor:
        """The weight (out, in) as it was before it was packed."""
        return self.weight.to_dense()


class _Product(Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.weight, ctx.dtype = weight, hidden.dtype  # no activations are kept: a frozen weight has no gradient
        return _product(hidden, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return (grad.to(ctx.weight.dtype) @ ctx.weight.to_dense()).to(ctx.dtype), None, None


def _product(hidden: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return torch.ops.mkldnn._linear_pointwise(hidden.to(weight.dtype), weight, bias, "none", [], "")


def can_pack(weight: Tensor) -> bool:
    """Whether oneDNN is there, which it is not on Apple silicon, and packs such a weight on this machine's CPU."""
    if weight.device.type != "cpu" or not torch.backends.mkldnn.is_available():
        return False
    return weight.dtype == torch.float32 or (weight.dtype == torch.bfloat16 and _packs_bf16())


def multiplies_bf16() -> bool:
    """Whether this machine's CPU has instructions for bfloat16; without them it is slower than float32."""
    has = torch.cpu.get_capabilities()
    return bool(has.get("avx512_bf16") or has.get("amx_bf16"))


def _packs_bf16() -> bool:
    has = torch.cpu.get_capabilities()
    return bool(has.get("avx_ne_convert")) or all(map(has.get, _PACKS_BF16))


def share_base(model: Any) -> bool:
    """Pack the frozen linear layers of a large model in place, LoRAs' own excepted, if its CPU can: whoever copies the
    model shares them. An output layer that is the embedding stays. Returns whether it did."""
    if sum(p.numel() for p in model.parameters() if not p.requires_grad) < LARGE:
        return False
    embedding = model.get_input_embeddings().weight
    layers = [(name, layer) for name, layer in model.named_modules() if type(layer) is nn.Linear]
    frozen = [(n, each) for n, each in layers if not each.weight.requires_grad and each.weight is not embedding]
    if not frozen or not all(can_pack(layer.weight) for _, layer in frozen) or not _unpacks(frozen[0][1]):
        return False
    for name, layer in frozen:
        model.set_submodule(name, Packed(layer))
        layer.weight = nn.Parameter(torch.empty(0), False)  # whoever holds the layer holds no weight with it
    return True


def _unpacks(linear: nn.Linear) -> bool:
    """Whether oneDNN gives back the very weight that it has packed, which backward needs."""
    try:
        return torch.equal(Packed(linear).whole(), linear.weight)
    except RuntimeError:
        return False


def is_shared(model: Any) -> bool:
    """Whether `share_base` has packed the model."""
    return any(isinstance(module, Packed) for module in model.modules())
