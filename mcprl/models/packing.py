"""Weights that oneDNN has packed for a CPU, and a frozen base of which trainer and sampler hold the same one copy."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import torch
from peft.tuners import lora
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

T = TypeVar("T")
PACKED_ROWS = 16  # oneDNN lays packed weights out for products with this many rows, and multiplies any number with them
LARGE = 2**28
"""Parameters from which a base is kept once. A LoRA is then computed beside the base; below it is merged for sampling,
into a copy, which is faster."""
PART = 2**20
"""Elements that a LoRA's product converts to float32 at once."""
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


class SharedLora(lora.Linear):
    """peft's LoRA on a `Packed` layer, with peft's numbers. Backward keeps the layer's input as it is, once for all
    layers that read it, and no copies in float32."""

    def forward(self, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if self.disable_adapters or len(self.active_adapters) != 1:
            return super().forward(x, *args, **kwargs)
        name, base = self.active_adapters[0], self.base_layer
        down, up, scale = self.lora_A[name].weight, self.lora_B[name].weight, self.scaling[name]
        return _AdaptedProduct.apply(x, base.weight, base.bias, down, up, scale)  # pyright: ignore[reportReturnType]


def _as_given(function: Callable[..., T]) -> Callable[..., T]:
    """Have what a layer computes in the types that it has: under autocast a product would come out in another."""

    @wraps(function)
    def without_autocast(*args: Any) -> T:
        with torch.autocast("cpu", enabled=False):
            return function(*args)

    return without_autocast


class _Product(Function):
    @staticmethod
    @_as_given
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.weight, ctx.dtype = weight, hidden.dtype  # no activations are kept: a frozen weight has no gradient
        return _product(hidden, weight, bias)

    @staticmethod
    @once_differentiable
    @_as_given
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _gradient(grad, ctx.weight).to(ctx.dtype), None, None


class _AdaptedProduct(Function):
    """W x + bias + scale * up down x, with the LoRA in float32; backward is for x, `down` and `up`."""

    @staticmethod
    @_as_given
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, down: Tensor, up: Tensor, scale: float
    ) -> Tensor:
        x_T, out = x.flatten(0, -2), _product(x, weight, bias)
        inner = torch.cat([part.to(down.dtype) @ down.mT for part in _parts(x_T, x)])
        for part, inner_part in zip(_parts(out.flatten(0, -2), out), _parts(inner, out), strict=True):
            part.copy_(torch.addmm(part.to(up.dtype), inner_part, up.mT, alpha=scale))
        ctx.save_for_backward(x, down, up, inner)
        ctx.weight, ctx.scale = weight, scale
        return out

    @staticmethod
    @once_differentiable
    @_as_given
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        x, down, up, inner = ctx.saved_tensors
        grad_T, x_T = grad.flatten(0, -2), x.flatten(0, -2)
        of_inner, of_up, of_down = torch.empty_like(inner), torch.zeros_like(up), torch.zeros_like(down)
        for part, inner_part, into in zip(*(_parts(each, grad) for each in (grad_T, inner, of_inner)), strict=True):
            scaled = part.to(up.dtype) * ctx.scale  # not in place: it may be the gradient itself
            torch.mm(scaled, up, out=into)
            of_up.addmm_(scaled.mT, inner_part)
        for part, into in zip(_parts(x_T, x), _parts(of_inner, x), strict=True):
            of_down.addmm_(into.mT, part.to(down.dtype))
        if not ctx.needs_input_grad[0]:
            return None, None, None, of_down, of_up, None
        of_x = _gradient(grad_T, ctx.weight).to(x.dtype)
        for part, inner_part in zip(_parts(of_x, x), _parts(of_inner, x), strict=True):
            part.copy_(torch.addmm(part.to(down.dtype), inner_part, down))
        return of_x.view_as(x), None, None, of_down, of_up, None


def _parts(rows: Tensor, like: Tensor) -> tuple[Tensor, ...]:
    """The rows in parts of as many as have `PART` elements in a tensor as wide as `like`: in float32 whole ones are so
    large that the C library takes them from the system anew each time."""
    return rows.split(max(1, PART // like.shape[-1]))


def _product(hidden: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return torch.ops.mkldnn._linear_pointwise(hidden.to(weight.dtype), weight, bias, "none", [], "")


def _gradient(grad: Tensor, weight: Tensor) -> Tensor:
    """Of a product's input, by that of its output."""
    return grad.to(weight.dtype) @ weight.to_dense()


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
        above = model.get_submodule(name.rpartition(".")[0])
        if type(above) is lora.Linear:
            above.__class__ = SharedLora
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
