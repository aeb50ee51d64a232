"""Results of reads that several sessions share (`--cache-reads`)."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import anyio

from mcprl.types import ToolResult


class ReadCache:
    """Results by their calls. Who asks for one that is on its way waits for it; errors are not kept."""

    def __init__(self) -> None:
        self._results: dict[str, ToolResult] = {}
        self._lines: dict[str, anyio.Lock] = {}

    async def get(self, key: str, call: Callable[[], Awaitable[ToolResult]]) -> ToolResult:
        async with self._lines.setdefault(key, anyio.Lock()):
            if key in self._results:
                return replace(self._results[key], latency_s=0.0)
            result = await call()
            if not result.is_error:
                self._results[key] = result
            return result
