"""The adapters that an engine has at the moment, of more that requests may name."""

from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import takewhile

import anyio

from mcprl.engines import ADAPTERS, Engine
from mcprl.types import Adapter


class AdapterSlots:
    """Lends an engine's few places for adapters to requests. An adapter that a request uses keeps its place."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._loaded: list[Adapter] = []  # as the engine counts them: the oldest load first
        self._users: Counter[Adapter] = Counter()
        self._loading, self._freed = anyio.Lock(), anyio.Event()

    @asynccontextmanager
    async def using(self, adapter: Adapter | None) -> AsyncGenerator[None]:
        """A context in which the engine has the adapter. Waits while all places are in use. Raises `EngineError`."""
        if adapter is None:
            yield
            return
        if adapter not in self._loaded:  # those that are need not wait for a load of another
            async with self._loading:
                while adapter not in self._loaded:
                    self._freed = anyio.Event()
                    with anyio.CancelScope(shield=True):  # the engine would go on, and hold another than is noted here
                        await self._load(adapter)
                    if adapter not in self._loaded:
                        await self._freed.wait()
        self._users[adapter] += 1
        try:
            yield
        finally:
            self._users[adapter] -= 1
            self._freed.set()

    async def _load(self, adapter: Adapter) -> None:
        """Load the adapter if there is a free place. The engine drops its oldest load for it, so those in use that are
        older than the first idle one are loaded again, which costs nothing. The idle one is not lent from here on."""
        if len(self._loaded) == ADAPTERS:
            busy = list(takewhile(lambda each: self._users[each] > 0, self._loaded))
            if len(busy) == ADAPTERS:
                return
            self._loaded = [*self._loaded[len(busy) + 1 :], *busy]
            for each in busy:
                await self._engine.load_adapter(each)
        await self._engine.load_adapter(adapter)
        self._loaded.append(adapter)
