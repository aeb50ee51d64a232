"""Attention over a token trie as one FlexAttention kernel, for CUDA; on a CPU the kernel has no backward pass.

In the depth-first layout the tokens that attend to the one at place k are those from k to the end of its node's
descendants. That defines the whole mask, so the kernel skips blocks without storing it. A trial on the device decides
whether the kernel is used, once for each shape: it must give the same as the per-node form, in less time.
"""

import time
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.attention.flex_attention import AuxRequest, BlockMask, create_block_mask, flex_attention

from mcprl.training.trie import Trie, build

Attend = Callable[[Tensor, Tensor, Tensor, Trie, float, int | None, Tensor | None], Tensor]
"""A function with the signature of `attend`."""

OPTIONS = {"BACKEND": "TRITON"}
"""By itself FlexAttention takes its kernel for decoding for fewer than 128 tokens, which does not compile for a length
that varies (torch 2.11 on an H100)."""

_masks: dict[int | None, tuple[Trie, BlockMask]] = {}  # by window, of the last trie: a step's layers share it


def attend(
    query: Float[Tensor, "1 heads N D"],
    key: Float[Tensor, "1 kv_heads N D"],
    value: Float[Tensor, "1 kv_heads N D"],
    trie: Trie,
    scale: float,
    window: int | None,
    sinks: Float[Tensor, " heads"] | None,
) -> Float[Tensor, "1 heads N D"]:
    """Attention of each of the trie's tokens over its ancestors and itself; see `trie_attention.attend`."""
    kernel: Any = _compiled() if query.is_cuda else flex_attention
    mask = _block_mask(trie, window, query.device)
    aux = AuxRequest(lse=sinks is not None)
    options = {"block_mask": mask, "scale": scale, "enable_gqa": True, "kernel_options": OPTIONS, "return_aux": aux}
    out, more = kernel(query, key, value, **options)
    return out if sinks is None else out * (more.lse - sinks[:, None]).sigmoid()[..., None].to(out.dtype)


def mask_mod(trie: Trie, window: int | None, device: torch.device) -> Callable[[Any, Any, Tensor, Tensor], Tensor]:
    """FlexAttention's mask function: whether the token at place q attends to the one at place k."""
    ends = torch.tensor([node.stop for node in trie.nodes for _ in range(node.start, node.end)], device=device)
    positions = torch.tensor(trie.positions, device=device)

    def attends(_batch: Any, _head: Any, q: Tensor, k: Tensor) -> Tensor:
        descends = (k <= q) & (q < ends[k])
        return descends if window is None else descends & (positions[q] - positions[k] < window)

    return attends


@cache
def _compiled() -> Any:
    return torch.compile(flex_attention, dynamic=True)


def _block_mask(trie: Trie, window: int | None, device: torch.device) -> BlockMask:
    cached = _masks.get(window)
    if cached is None or cached[0] is not trie:
        mask = create_block_mask(mask_mod(trie, window, device), None, None, len(trie), len(trie), device=str(device))
        cached = _masks[window] = (trie, mask)
    return cached[1]


@cache
@torch.enable_grad()  # the first forward pass may be one without gradients
def is_exact_and_faster(
    reference: Attend, heads: int, kv_heads: int, width: int, dtype: torch.dtype, device: torch.device, sinks: bool
) -> bool:
    """Whether `attend` gives what `reference` gives, gradients included, in less time, on a trie of 8 rows."""
    trie = build([(*range(1024), *range(2000 + 200 * row, 2128 + 200 * row)) for row in range(8)])
    generator = torch.Generator(device).manual_seed(0)

    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, device=device, dtype=dtype)

    *inputs, grad = (draw(1, count, len(trie), width) for count in (heads, kv_heads, kv_heads, heads))
    sink = draw(heads) if sinks else None

    def run(form: Attend) -> tuple[list[Tensor], float]:
        began = time.perf_counter()
        leaves = [tensor.clone().requires_grad_() for tensor in inputs]
        out = form(leaves[0], leaves[1], leaves[2], trie, width**-0.5, None, sink)
        results = [out.detach(), *torch.autograd.grad(out, leaves, grad)]
        finite = all(bool(tensor.isfinite().all()) for tensor in results)  # waits for the device
        return results if finite else [], time.perf_counter() - began

    try:  # the first two runs of each compile and warm up
        ours, our_seconds = [run(attend) for _ in range(3)][-1]
        expected, reference_seconds = [run(reference) for _ in range(3)][-1]
    except Exception:  # whatever a compiler or a driver raises: the reference remains
        return False
    tolerance = 1e-4 if dtype == torch.float32 else 3e-2
    exact = len(ours) == 4 and all(_distance(*pair) < tolerance for pair in zip(ours, expected, strict=True))
    return exact and our_seconds < reference_seconds


def _distance(result: Float[Tensor, "*shape"], expected: Float[Tensor, "*shape"]) -> float:
    """The relative distance of `result` from `expected`."""
    return float((result - expected).float().norm() / expected.float().norm())
