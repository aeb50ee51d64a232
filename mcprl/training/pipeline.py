"""Pipelining: the next step's rollouts are sampled while this step's update computes."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

import anyio

from mcprl.errors import McprlError

T = TypeVar("T")


@dataclass
class Concurrent(Generic[T]):
    """Work that runs beside something else: its result once it is there."""

    result: T | None = None
    error: McprlError | None = None


@asynccontextmanager
async def concurrently(work: Callable[[], Awaitable[T]] | None) -> AsyncGenerator[Concurrent[T]]:
    """Run `work`, if there is some, beside the body.

    An error of the work is raised after the body is complete. An error of the body cancels the work.
    """
    state = Concurrent[T]()
    failure: Exception | None = None

    async def run(work: Callable[[], Awaitable[T]]) -> None:
        try:
            state.result = await work()
        except McprlError as error:
            state.error = error

    async with anyio.create_task_group() as tasks:
        if work:
            tasks.start_soon(run, work)
        try:
            yield state
        except Exception as error:  # raised below: a task group would wrap it
            failure = error
            tasks.cancel_scope.cancel()
    if failure := failure or state.error:
        raise failure
