"""Memory that the C library keeps after it was freed, given back to the system."""

import ctypes
import gc
import time
from contextlib import suppress

COLLECT_EVERY_S = 60.0
"""Seconds between two looks at every object."""
_collected = -COLLECT_EVERY_S


def trim_heap() -> None:
    """Give back what is free. glibc alone has to be told, or what an update has freed stays with the process: of
    SmolLM2's steps 4.6 GB after the first and 6.7 after sixty.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def collect_and_trim() -> None:
    """Also give back what only objects that hold one another keep, if that was not done within the minute: it looks at
    every object, and keeps all threads waiting for up to half a second."""
    global _collected
    if time.monotonic() - _collected >= COLLECT_EVERY_S:
        gc.collect()
        _collected = time.monotonic()
    trim_heap()
