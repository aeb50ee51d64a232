"""The seam for engines: something that samples model turns. `embedded` runs in this process."""

from typing import Protocol

from mcprl.types import Adapter, Completion, CompletionRequest


class Engine(Protocol):
    """Samples model turns, many at once; `EngineError` where it cannot."""

    async def ready(self) -> None:
        """Wait until turns can be sampled, however long the engine takes to start; `EngineError` if they never can."""
        ...

    async def complete(self, request: CompletionRequest) -> Completion:
        """Sample one turn. Safe to call from many tasks; cancelling the task gives the turn up."""
        ...

    async def load_adapter(self, adapter: Adapter) -> None:
        """Make requests that name this adapter possible. It replaces the one before; the base model stays available."""
        ...

    async def close(self) -> None:
        """Give up what is running and free everything."""
        ...
