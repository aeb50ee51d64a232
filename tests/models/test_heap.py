"""What the C library keeps after it was freed is given back, if it is much."""

import ctypes
import sys

import psutil
import pytest

from mcprl.models import heap

MIB = 2**20
BLOCK = 64 * 1024
"""Bytes below which glibc takes a block from its heap and not from the system."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="glibc's heap")


def freed_with_gaps() -> list[object]:
    """Allocate and free 400 MiB in blocks, but for a few that keep the heap from shrinking by itself."""
    blocks = [ctypes.create_string_buffer(b"x" * (BLOCK - 1)) for _ in range(400 * MIB // BLOCK)]
    return list(blocks[::200])


def resident() -> int:
    return psutil.Process().memory_info().rss


def test_much_that_was_freed_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heap, "SPARE", 100 * MIB)
    heap.trim_heap()
    before, kept = resident(), freed_with_gaps()
    assert resident() - before > 300 * MIB, "the heap was to keep it"
    heap.trim_spare()
    assert resident() - before < 100 * MIB
    assert kept


def test_little_is_left_for_what_comes_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heap, "SPARE", 2**20 * MIB)
    heap.trim_heap()
    before, kept = resident(), freed_with_gaps()
    heap.trim_spare()
    assert resident() - before > 300 * MIB
    assert kept
