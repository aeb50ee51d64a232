"""The one thread in which a process computes its updates."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import anyio.to_thread

T = TypeVar("T")
_THREAD = ThreadPoolExecutor(1, thread_name_prefix="mcprl-update")


async def in_update_thread(work: Callable[[], T]) -> T:
    """What the work returns, which blocks until it is done, also if it is cancelled.

    It is always the same thread: torch's libraries and the heap keep memory for each that ever computed. Steps of
    SmolLM2 took 3.6 GiB in one thread and 6 in five (2026-11-22).
    """
    return await anyio.to_thread.run_sync(lambda: _THREAD.submit(work).result())
