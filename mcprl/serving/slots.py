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
        self._changed = anyio.Condition()

    @asynccontextmanager
    async def using(self, adapter: Adapter | None) -> AsyncGenerator[None]:
        """A context in which the engine has the adapter. Waits while all places are in use. Raises `EngineError`."""
        if adapter is None:
            yield
            return
        async with self._changed:
            while not (adapter in self._loaded or await self._load(adapter)):
                await self._changed.wait()
            self._users[adapter] += 1
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                async with self._changed:
                    self._users[adapter] -= 1
                    self._changed.notify_all()

    async def _load(self, adapter: Adapter) -> bool:
        """Load the adapter into a free place; false if there is none. The engine drops its oldest load for it, so those
        in use that are older than the first idle one are loaded again, which costs nothing."""
        if len(self._loaded) == ADAPTERS:
            busy = list(takewhile(lambda each: self._users[each] > 0, self._loaded))
            if len(busy) == ADAPTERS:
                return False
            for each in busy:
                await self._engine.load_adapter(each)
            self._loaded = [*self._loaded[len(busy) + 1 :], *busy]
        await self._engine.load_adapter(adapter)
        self._loaded.append(adapter)
        return True
