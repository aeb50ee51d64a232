"""One FlexAttention kernel over a trie: the mask and the forward pass on a CPU, all of it where there is a GPU."""

import random
import time
from typing import Any

import pytest
import torch

from mcprl.training import flex_attention, trie_attention
from mcprl.training.trie import Trie, build

pytestmark = pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile:UserWarning")
needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


def _rows() -> list[list[int]]:
    rng = random.Random(0)
    head = list(range(20))
    rows = [[*head, *(rng.randrange(9) for _ in range(rng.randrange(3, 20)))] for _ in range(6)]
    return [*rows, rows[0][:25], [*rows[1][:23], 50, 51], [60, 61, 62]]


def _given(trie: Trie, device: str = "cpu", dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(1, heads, len(trie), 16, generator=generator).to(device, dtype) for heads in (4, 2, 2)]


@pytest.mark.parametrize("window", [None, 7])
def test_a_token_sees_itself_and_its_ancestors_and_nothing_else(window: int | None) -> None:
    rows = _rows()
    trie = build(rows)
    expected = torch.zeros(len(trie), len(trie), dtype=torch.bool)
    for row, ids in enumerate(rows):
        places = [trie.place(row, depth) for depth in range(len(ids))]
        for depth, place in enumerate(places):
            first = 0 if window is None else max(0, depth - window + 1)
            expected[place, places[first : depth + 1]] = True
    places = torch.arange(len(trie))
    attends = flex_attention.mask_mod(trie, window, torch.device("cpu"))
    assert torch.equal(attends(0, 0, places[:, None], places[None]), expected)


@pytest.mark.parametrize("sinks", [None, torch.tensor([0.5, -1.0, 2.0, 0.0])], ids=["no sinks", "sinks"])
@pytest.mark.parametrize("window", [None, 7])
def test_its_forward_pass_is_that_of_the_form_by_nodes(window: int | None, sinks: torch.Tensor | None) -> None:
    trie = build(_rows())
    with torch.no_grad():
        query, key, value = _given(trie)
        one = flex_attention.attend(query, key, value, trie, 0.3, window, sinks)
        other = trie_attention.attend(query, key, value, trie, 0.3, window, sinks)
    assert torch.allclose(one, other, atol=1e-5)


@pytest.mark.parametrize(
    ("off", "slow", "taken"),
    [(0.0, False, True), (0.0, True, False), (1e-2, False, False), (float("nan"), False, False)],
)
def test_it_is_taken_only_where_a_trial_shows_it_right_and_faster(
    off: float, slow: bool, taken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]

    def tried(*given: Any) -> torch.Tensor:
        clock[0] += 3 if slow else 1
        return trie_attention.attend(*given) * (1 + off)

    def other(*given: Any) -> torch.Tensor:
        clock[0] += 2
        return trie_attention.attend(*given)

    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(flex_attention, "attend", tried)
    with torch.no_grad():
        assert flex_attention.is_exact_and_faster(other, 4, 2, 8, torch.float32, torch.device("cpu"), True) is taken


def test_a_kernel_that_fails_is_not_taken() -> None:
    """FlexAttention itself on a CPU: it has no backward there."""
    assert not flex_attention.is_exact_and_faster(
        trie_attention.attend, 2, 2, 8, torch.float32, torch.device("cpu"), False
    )


@pytest.mark.gpu
@pytest.mark.filterwarnings("default")  # torch's compiler imports what torch itself has deprecated
@needs_cuda
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("window", [None, 7])
def test_on_cuda_it_gives_the_output_and_gradients_of_the_form_by_nodes(window: int | None, dtype: torch.dtype) -> None:
    trie = build(_rows())
    sinks = torch.tensor([0.5, -1.0, 2.0, 0.0], device="cuda")
    found: list[list[torch.Tensor]] = []
    for form in (flex_attention.attend, trie_attention.attend):
        leaves = [tensor.requires_grad_() for tensor in _given(trie, "cuda", dtype)]
        query, key, value = leaves
        out = form(query, key, value, trie, 0.3, window, sinks)
        found.append([out.detach(), *torch.autograd.grad(out.float().square().sum(), leaves)])
    near = 1e-4 if dtype == torch.float32 else 3e-2
    for one, other in zip(*found, strict=True):
        assert float((one - other).float().norm() / other.float().norm()) < near
