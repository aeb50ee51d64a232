"""Attention over a token trie as one FlexAttention kernel, for CUDA; on a CPU it has no backward pass.

A token at place k is seen by the places from k to the end of what lies below its node: the layout is depth-first. That
is the whole mask, so that blocks of it are skipped without ever making it. Whether the kernel is used is tried on the
device at hand, once for each shape: it must give what the per-node form gives, and sooner.
"""

import time
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import AuxRequest, BlockMask, create_block_mask, flex_attention

from mcprl.training.trie import Tree, build

Attend = Callable[[Tensor, Tensor, Tensor, Tree, float, int | None, Tensor | None], Tensor]
"""(1, heads, N, D) of queries, (1, kv_heads, N, D) of keys and of values, the trie, scale, window, sinks (heads)."""

_compiled = cache(lambda: torch.compile(flex_attention, dynamic=True))
_masks: dict[int | None, tuple[Tree, BlockMask]] = {}  # of the last trie: all layers of a step have the same


def attend(
    query: Tensor, key: Tensor, value: Tensor, tree: Tree, scale: float, window: int | None, sinks: Tensor | None
) -> Tensor:
    """What each token of the trie gets from its ancestors and itself."""
    kernel: Any = _compiled() if query.is_cuda else flex_attention
    mask = _mask(tree, window, query.device)
    aux = AuxRequest(lse=sinks is not None)
    out, more = kernel(query, key, value, block_mask=mask, scale=scale, enable_gqa=True, return_aux=aux)
    return out if sinks is None else out * (more.lse - sinks[:, None]).sigmoid()[..., None].to(out.dtype)


def sees(tree: Tree, window: int | None, device: torch.device) -> Callable[[Any, Any, Tensor, Tensor], Tensor]:
    """Whether the token at place q attends to the one at k, as FlexAttention asks it."""
    ends = torch.tensor([node.stop for node in tree.nodes for _ in range(node.start, node.end)], device=device)
    positions = torch.tensor(tree.positions, device=device)

    def seen(_batch: Any, _head: Any, q: Tensor, k: Tensor) -> Tensor:
        below = (k <= q) & (q < ends[k])
        return below if window is None else below & (positions[q] - positions[k] < window)

    return seen


def _mask(tree: Tree, window: int | None, device: torch.device) -> BlockMask:
    known = _masks.get(window)
    if known is None or known[0] is not tree:
        made = create_block_mask(sees(tree, window, device), None, None, len(tree), len(tree), device=str(device))
        known = _masks[window] = (tree, made)
    return known[1]


@cache
@torch.enable_grad()  # the first to ask computes without
def pays(
    other: Attend, heads: int, kv_heads: int, width: int, dtype: torch.dtype, device: torch.device, sinks: bool
) -> bool:
    """Whether `attend` gives what `other` gives, gradients included, and takes less time, on a trie of 8 tries."""
    trie = build([(*range(1024), *range(2000 + 200 * row, 2128 + 200 * row)) for row in range(8)])
    shapes = ((1, count, len(trie), width) for count in (heads, kv_heads, kv_heads, heads))
    generator = torch.Generator(device).manual_seed(0)
    draw = lambda *shape: torch.randn(*shape, generator=generator, device=device, dtype=dtype)  # noqa: E731
    *given, grad = (draw(*shape) for shape in shapes)
    sink = draw(heads) if sinks else None

    def run(form: Attend) -> tuple[list[Tensor], float]:
        began = time.perf_counter()
        leaves = [tensor.clone().requires_grad_() for tensor in given]
        out = form(leaves[0], leaves[1], leaves[2], trie, width**-0.5, None, sink)
        found = [out.detach(), *torch.autograd.grad(out, leaves, grad)]
        finite = all(bool(tensor.isfinite().all()) for tensor in found)  # waits for the device
        return found if finite else [], time.perf_counter() - began

    try:
        (own, own_s), (theirs, theirs_s) = ([run(form) for _ in range(3)][-1] for form in (attend, other))  # warm
    except Exception:  # whatever a compiler or a driver raises: there is the other form
        return False
    near = 1e-4 if dtype == torch.float32 else 3e-2
    alike = len(own) == 4 and all(_apart(one, two) < near for one, two in zip(own, theirs, strict=True))
    return alike and own_s < theirs_s


def _apart(one: Tensor, other: Tensor) -> float:
    return float((one - other).float().norm() / other.float().norm())
