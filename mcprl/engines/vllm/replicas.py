"""Several vLLM servers of the same model as one engine (`engine.base_urls`)."""

from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import anyio

from mcprl.config import Config
from mcprl.engines import Policy
from mcprl.engines.vllm.engine import VllmEngine
from mcprl.errors import ConfigError, EngineError, EngineLost
from mcprl.events import Emit, Event, Note, ignore
from mcprl.types import Adapter, Completion, CompletionRequest

_KNOWN = 4096
"""Conversations whose server is remembered, the newest ones."""


class Replicas:
    """Samples turns on several servers. All turns of conversations that begin alike, so those of a task's rollouts, go
    to one server, which has computed their prompt; a new one goes to the server with the fewest turns. A server that
    fails gets no more turns until it answers again; the rollouts that it had are repeated elsewhere. Raises
    `ConfigError` as `VllmEngine` does."""

    def __init__(self, config: Config, loaded: Policy, path: str, log: Path, emit: Emit = ignore) -> None:
        urls = config.engine.base_urls
        if config.engine.base_url:
            raise ConfigError("engine.base_url and engine.base_urls: give one of the two")
        if len({*urls}) < len(urls):
            raise ConfigError(f"engine.base_urls names a server twice: {', '.join(urls)}")
        self._urls, self._emit = urls, emit
        self._replicas = [
            VllmEngine(
                config.model_copy(update={"engine": config.engine.model_copy(update={"base_url": url})}),
                loaded,
                path,
                log,
                partial(self._told, url),
            )
            for url in urls
        ]
        self._running = Counter[int]()
        self._places: OrderedDict[str, int] = OrderedDict()

    async def ready(self) -> None:
        """Wait until one of the servers takes requests. Raises the last one's `EngineError` if all have failed."""
        failures: list[EngineError] = []

        async def wait(replica: VllmEngine) -> None:
            try:
                await replica.ready()
                tasks.cancel_scope.cancel()
            except EngineError as error:
                failures.append(error)

        async with anyio.create_task_group() as tasks:
            for replica in self._replicas:
                tasks.start_soon(wait, replica)
        if len(failures) == len(self._replicas):
            raise failures[-1]

    async def complete(self, request: CompletionRequest) -> Completion:
        """Sample one turn. Raises `EngineLost` if its server is lost, or none is up, and as `VllmEngine` does."""
        place = self._place(request)
        self._running[place] += 1
        try:
            return await self._replicas[place].complete(request)
        finally:
            self._running[place] -= 1

    def _place(self, request: CompletionRequest) -> int:
        """The number of the server for a conversation."""
        up = [n for n, replica in enumerate(self._replicas) if replica.is_up]
        if not up:
            raise EngineLost(f"none of the servers is up: {', '.join(self._urls)}")
        first = next((str(each) for each in request.messages if each["role"] == "user"), "")
        place = self._places.pop(first, None)
        if place not in up:
            place = min(up, key=lambda n: (self._running[n], self._of(n)))
        self._places[first] = place
        while len(self._places) > _KNOWN:
            self._places.popitem(last=False)
        return place

    def _of(self, place: int) -> int:
        """How many conversations a server has been given."""
        return sum(each == place for each in self._places.values())

    async def load_adapter(self, adapter: Adapter) -> None:
        """Have all servers serve the adapter; one that is not up loads it when it is. Raises `EngineError` if none
        does."""
        await self.ready()
        failures: list[EngineError] = []

        async def load(replica: VllmEngine) -> None:
            if not replica.is_up:
                return replica.expect(adapter)
            try:
                await replica.load_adapter(adapter)
            except EngineError as error:
                failures.append(error)
                replica.expect(adapter)

        async with anyio.create_task_group() as tasks:
            for replica in self._replicas:
                tasks.start_soon(load, replica)
        if failures and not any(replica.is_up for replica in self._replicas):
            raise failures[-1]

    @asynccontextmanager
    async def paused(self) -> AsyncGenerator[None]:
        """The servers have their own memory."""
        yield

    async def close(self) -> None:
        """Let go of the servers, which go on."""
        for replica in self._replicas:
            with suppress(EngineError):
                await replica.close()

    def _told(self, url: str, event: Event) -> None:
        """Emit what one server tells, with its name."""
        self._emit(Note(f"{event.text} ({url})") if isinstance(event, Note) and url not in event.text else event)
