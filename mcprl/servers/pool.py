"""Which live connection serves which session: the state rule.

A connection is in the state that its setup calls put it into for as long as nothing but tools marked read-only was
called on it since. So every session that asks for that state may read through the same connection, one after the other
and (where connections are `shared`) at once, and a session needs a connection of its own only when it first calls a
tool that may write. That one then serves the rest of the session, and is closed at its end: its state is that session's
alone. It is kept if the operator says that a setup begins anew (`--setup-tool`): then it serves such setups.

This is what makes sixty-four rollouts cheap: starting a server process costs 0.4-1.2 s of CPU, opening an HTTP session
15 ms on each side, a call on either 1-4 ms.
"""

import json
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import anyio
from anyio.abc import TaskGroup

from mcprl.errors import ServerError
from mcprl.types import Call

_USED = "used"
"""The state of a connection that a session has written through."""
_READERS = 4
"""Calls in flight on one shared connection before another is opened: a call's deadline runs from when it is sent."""


class Link(Protocol):
    """What the pool needs to know of a connection."""

    @property
    def usable(self) -> bool: ...

    def discard(self) -> None:
        """Have its owner close it, soon."""
        ...


LinkT = TypeVar("LinkT", bound=Link)


@dataclass(eq=False)
class _Slot(Generic[LinkT]):
    link: LinkT
    state: str
    calls: int = 0  # in flight
    holders: int = 0  # live sessions that read through it last: it is kept for them


class Pool(Generic[LinkT]):
    """At most `capacity` connections, made by `connect` and put into a state by `prepare`.

    Who finds none free waits in line, without a deadline of its own: the holder's calls have one. Unless `shared`, a
    connection serves one session at a time. `spares` fresh connections are opened ahead, in `tasks`, once writers have
    begun to use connections up.
    """

    def __init__(
        self,
        connect: Callable[[], Awaitable[LinkT]],
        prepare: Callable[[LinkT, Sequence[Call]], Awaitable[None]],
        capacity: int,
        spares: int,
        shared: bool,
        tasks: TaskGroup,
    ) -> None:
        self._connect, self._prepare = connect, prepare
        self._capacity, self._spares, self._tasks = capacity, spares, tasks
        self.shared = shared
        self.renewing = set[str]()
        """The tools whose calls bring any connection into a state that does not depend on what was before."""
        self._clean: list[_Slot[LinkT]] = []  # in a known state, the least recently used first
        self._count = 0  # connections that live or are being opened
        self._opening = Counter[str]()
        self._failed: dict[str, tuple[int, str]] = {}
        self._changed = anyio.Event()

    def lease(self, setup: Sequence[Call] = ()) -> "Lease[LinkT]":
        """The connections of one session, in the state of `setup`. Nothing happens before its first use."""
        return Lease(self, setup)

    async def take(self, setup: Sequence[Call], alone: bool) -> _Slot[LinkT]:
        """A slot in the state of `setup`: shared, or for the caller `alone`. Raises `ServerError`."""
        state = _state(setup)
        failures = self._failed.get(state, (0, ""))[0]
        while (slot := self._find(state, alone)) is None:
            blank = self._find(_state(()), alone=True, kept=False) if setup else None
            if blank is None and self._renews(setup):
                blank = self._find(_USED, alone=True) or self._find_idle()
            if blank is not None or self._has_room(state, alone):
                return await self._open(setup, state, alone, blank)
            await self._changed.wait()
            count, cause = self._failed.get(state, (0, ""))
            if count > failures:  # the opening that this one waited for failed; the next would fail, too, only later
                raise ServerError(cause)
        return slot

    def give_back(self, slot: _Slot[LinkT], used_up: bool, setup: Sequence[Call]) -> None:
        """Take back a connection lent to one session of this `setup` alone: for the next session, or to be closed if
        `used_up` and no setup begins anew."""
        if used_up and self._renews(setup) and slot.link.usable:
            self._clean.append(_Slot(slot.link, _USED))
        elif used_up:
            slot.link.discard()
            self._count -= 1
            self._tasks.start_soon(self._open_spare)
        else:
            self._clean.append(slot)
        self.wake()

    def drop_idle(self, fresh: bool) -> None:
        """Close the connections that serve nobody, since the server's state was changed behind them; those in a `fresh`
        state only if told to.
        """
        idle = [slot for slot in self._clean if not slot.calls and not slot.holders]
        for slot in [slot for slot in idle if fresh or slot.state != _state(())]:
            self._drop(slot)

    def wake(self) -> None:
        """Have every waiting session check again for a connection."""
        self._changed.set()
        self._changed = anyio.Event()

    def _renews(self, setup: Sequence[Call]) -> bool:
        return bool(setup) and setup[0].tool in self.renewing

    def _find(self, state: str, alone: bool, kept: bool = True) -> _Slot[LinkT] | None:
        for slot in [slot for slot in self._clean if not slot.link.usable and not slot.calls]:
            self._drop(slot)
        fitting = [slot for slot in self._clean if slot.state == state and slot.link.usable]
        slot = min(fitting, key=lambda slot: slot.calls, default=None)
        if slot is None or slot.calls >= (1 if alone else _READERS) or (slot.holders and not kept):
            return None
        self._clean.remove(slot)
        if not alone:
            self._clean.append(slot)
        return slot

    def _find_idle(self) -> _Slot[LinkT] | None:
        """Where no more may be opened, a connection that serves nobody, whatever its state: as one that is used."""
        idle = [slot for slot in self._clean if slot.link.usable and not slot.calls and not slot.holders]
        if self._count < self._capacity or not idle:
            return None
        self._clean.remove(idle[0])
        return _Slot(idle[0].link, _USED)

    def _has_room(self, state: str, alone: bool) -> bool:
        """Whether one more may be opened; closes an idle one of another state where that makes room."""
        if not alone and self._opening[state]:
            return False
        if self._count >= self._capacity:
            idle = next((slot for slot in self._clean if not slot.calls and not slot.holders), None)
            if idle is not None:
                self._drop(idle)
        return self._count < self._capacity

    async def _open(
        self, setup: Sequence[Call], state: str, alone: bool, blank: _Slot[LinkT] | None = None
    ) -> _Slot[LinkT]:
        self._opening[state] += 1
        self._count += blank is None
        link = blank.link if blank else None
        try:
            if link is not None and blank is not None and blank.state == _USED:
                link = await self._renewed(link, setup)
            elif link is None or setup:
                link = link or await self._connect()
                await self._prepare(link, setup)
        except BaseException as error:
            self._count -= 1
            if link is not None:
                link.discard()
            if isinstance(error, ServerError):
                self._failed[state] = (self._failed.get(state, (0, ""))[0] + 1, str(error))
            raise
        finally:
            self._opening[state] -= 1
            self.wake()
        slot = _Slot(link, state)
        if not alone:
            self._clean.append(slot)
        return slot

    async def _renewed(self, link: LinkT, setup: Sequence[Call]) -> LinkT:
        """A used connection in the state of `setup`, or another one in its place if it has died."""
        with suppress(ServerError):
            await self._prepare(link, setup)
            return link
        link.discard()
        link = await self._connect()
        try:
            await self._prepare(link, setup)
        except BaseException:
            link.discard()
            raise
        return link

    async def _open_spare(self) -> None:
        fresh = _state(())
        idle = sum(slot.state == fresh and not slot.calls for slot in self._clean)
        if self._count < self._capacity and idle + self._opening[fresh] < self._spares:
            with suppress(ServerError):
                await self._open((), fresh, alone=False)

    def _drop(self, slot: _Slot[LinkT]) -> None:
        self._clean.remove(slot)
        self._count -= 1
        slot.link.discard()


class Lease(Generic[LinkT]):
    """One session's hold on a pool: at most one connection at a time, so that none waits while it keeps others out."""

    def __init__(self, pool: Pool[LinkT], setup: Sequence[Call]) -> None:
        self._pool, self._setup = pool, setup
        self._held: _Slot[LinkT] | None = None
        self._alone = False
        self._taking = anyio.Lock()
        self.written = False

    @asynccontextmanager
    async def use(self, writes: bool) -> AsyncGenerator[LinkT]:
        """A connection for one call. Raises `ServerError` where none can be had."""
        async with self._taking:
            self.written = self.written or writes
            if not self._alone and (writes or not self._pool.shared):
                self.release()
                self._held, self._alone = await self._pool.take(self._setup, alone=True), True
            elif not self._alone:
                slot = await self._pool.take(self._setup, alone=False)
                slot.holders += 1
                self.release()
                self._held = slot
            slot = self._held
            assert slot is not None
            slot.calls += 1
        try:
            yield slot.link
        finally:
            slot.calls -= 1
            self._pool.wake()

    def rest(self) -> None:
        """Read through no connection until the next use. One that is held alone stays."""
        if not self._alone:
            self.release()

    def release(self) -> None:
        """Let go of the connection: the session is over, or looks for another."""
        slot, self._held = self._held, None
        if slot is None:
            return
        if self._alone:
            self._pool.give_back(slot, self.written or not slot.link.usable, self._setup)
            self._alone = False
        else:
            slot.holders -= 1
            self._pool.wake()


def _state(setup: Sequence[Call]) -> str:
    return json.dumps([[call.tool, call.arguments] for call in setup], sort_keys=True, default=str)
