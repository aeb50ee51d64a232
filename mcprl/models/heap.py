"""Memory that libraries keep although nobody uses it: the C library what was freed, oneDNN what it compiled."""

import ctypes
import gc
import os
import time
from contextlib import suppress

import psutil

SPARE = 2**30
"""Bytes that were freed and may stay with the process: taken again, a page costs its clearing."""
COLLECT_EVERY_S = 60.0
"""Seconds between two looks at every object."""
_collected = -COLLECT_EVERY_S


KERNELS = 256
"""Compiled kernels that oneDNN keeps, instead of 1,024. Those of one bin are some forty."""


class _Mallinfo2(ctypes.Structure):
    """glibc's account of its heaps, in bytes (mallinfo(3))."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    ]


def trim_heap() -> None:
    """Give back what is free. glibc alone has to be told, or what an update has freed stays with the process."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def trim_spare() -> None:
    """Give back what is free if that is more than `SPARE`. Tensors of ever other sizes leave gaps that the next ones
    do not fit: of SmolLM2's steps, of which a bin has 3 GiB in use, the process kept 8 (2026-11-26)."""
    with suppress(OSError, AttributeError):
        account = ctypes.CDLL("libc.so.6").mallinfo2
        account.restype = _Mallinfo2
        kept = account()
        if psutil.Process().memory_info().rss - kept.uordblks - kept.hblkhd > SPARE:
            trim_heap()


def collect_and_trim() -> None:
    """Also give back what only objects that hold one another keep, if that was not done within the minute: it looks at
    every object, and keeps all threads waiting for up to half a second."""
    global _collected
    if time.monotonic() - _collected >= COLLECT_EVERY_S:
        gc.collect()
        _collected = time.monotonic()
    trim_heap()


def bound_kernels() -> None:
    """Have oneDNN keep fewer kernels, if it has compiled none yet: each bin has another number of tokens, and so
    kernels of its own, 20 MB of SmolLM2's, which no later bin uses."""
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", str(KERNELS))
