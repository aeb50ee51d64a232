"""Many turns at once."""

import anyio

from mcprl.engines.embedded.engine import EmbeddedEngine
from mcprl.types import Completion, CompletionRequest


async def complete_all(engine: EmbeddedEngine, requests: list[CompletionRequest]) -> list[Completion]:
    done: dict[int, Completion] = {}

    async def one(n: int) -> None:
        done[n] = await engine.complete(requests[n])

    async with anyio.create_task_group() as tasks:
        for n in range(len(requests)):
            tasks.start_soon(one, n)
    return [done[n] for n in range(len(requests))]
