"""Updates that go on whether or not a client listens, and their events, which any client can follow from the start."""

import asyncio
import json
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

KEPT = 256
ALIVE_S = 15.0
"""Seconds without an event after which a stream shows that it is alive. JSON allows white space before an object, so a
reader of lines does not see it; but one whose machine slept knows a dead connection from a long update."""
Event = dict[str, Any]
"""One line of a stream: `type` says what it is."""


@dataclass
class Job:
    """One update and what it has said so far."""

    id: str
    events: list[Event] = field(default_factory=list[Event])
    done: bool = False
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def say(self, **event: Any) -> None:
        self.events.append(event)
        self._wake()

    def end(self) -> None:
        self.done = True
        self._wake()

    async def follow(self, start: int = 0) -> AsyncGenerator[str]:
        """The events from the `start`-th on as lines of JSON, until the last; a space while there is none."""
        at = start
        while True:
            news = self._news
            for event in self.events[at:]:
                yield json.dumps(event) + "\n"
                at += 1
            if self.done and at >= len(self.events):
                return
            try:
                await asyncio.wait_for(news.wait(), ALIVE_S)
            except TimeoutError:
                yield " "

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


class Jobs:
    """The updates of a server, one after another. The newest that ended are kept to be followed."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()

    def find(self, name: str) -> Job | None:
        return self._jobs.get(name)

    def all(self) -> list[Job]:
        """The jobs, the oldest first."""
        return list(self._jobs.values())

    def start(self, name: str | None, work: Callable[[Job], Awaitable[None]]) -> Job:
        """Begin a job as soon as those before it have ended. `work` says its events, and what went wrong among them."""
        job = Job(name or uuid4().hex)
        self._jobs[job.id] = job
        for old in [each.id for each in self.all() if each.done][: max(0, len(self._jobs) - KEPT)]:
            del self._jobs[old]

        async def run() -> None:
            try:
                async with self._turn:
                    await work(job)
            finally:
                job.end()

        task = asyncio.create_task(run(), name=f"job {job.id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return job

    async def close(self) -> None:
        """Abandon the jobs that wait; the running job ends its optimizer steps first."""
        for task in [*self._tasks]:
            task.cancel()
        for task in [*self._tasks]:
            with suppress(asyncio.CancelledError):
                await task
