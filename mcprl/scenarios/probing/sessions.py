"""The sessions that tasks are made in: replaced when they are lost, and while probing bounded in calls and in time.

Of the time only what the server takes counts, so that the same seed gives the same tasks on a busy machine.
"""

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, Self

import anyio

from mcprl.errors import SessionLost
from mcprl.events import Emit, Probing
from mcprl.scenarios.fields import opened
from mcprl.scenarios.probing.knowledge import Knowledge
from mcprl.types import Call, Session, ToolResult, ToolServer

MOST_LOST = 50
"""Calls in a row that may lose their sessions before the server counts as broken."""


def key_of(call: Call) -> str:
    """By what the results of calls are kept."""
    return json.dumps([call.tool, call.arguments], sort_keys=True, default=str)


class Renewed:
    """A session in a state made by `setup`; a context manager. What was written in a lost session is lost with it.

    A call that loses the session, or takes longer than `call_s`, is an error result. Raises `SessionLost` once
    `MOST_LOST` calls in a row lost theirs. `kept` has the results of a session that nothing is written in, by call: a
    call that it has is not made again, others are added.
    """

    def __init__(
        self,
        server: ToolServer,
        setup: Sequence[Call] = (),
        call_s: float = math.inf,
        kept: dict[str, ToolResult] | None = None,
    ) -> None:
        self._server, self._setup = server, setup
        self._call_s = call_s
        self._kept = kept
        self._stack = AsyncExitStack()
        self._session: Session
        self.renewed = self._in_a_row = 0

    async def __aenter__(self) -> Self:
        self._session = await self._stack.enter_async_context(self._server.session(self._setup))
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    async def renew(self) -> None:
        """Begin a fresh session: what was written is gone."""
        await self._stack.aclose()
        self._stack = AsyncExitStack()
        self._session = await self._stack.enter_async_context(self._server.session(self._setup))

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool, as `Session.call`; the result is without its envelope."""
        if self._kept is None:
            return await self._call(tool, arguments)
        key = key_of(Call(tool, dict(arguments)))
        if key not in self._kept:
            lost = self.renewed
            result = await self._call(tool, arguments)
            if self.renewed > lost:
                return result
            self._kept[key] = result
        return self._kept[key]

    async def _call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        try:
            with anyio.move_on_after(self._call_s):
                result = opened(await self._session.call(tool, arguments))
                self._in_a_row = 0
                return result
        except SessionLost as error:
            self.renewed += 1
            self._in_a_row += 1
            if self._in_a_row > MOST_LOST:
                raise
            await self.renew()
            return ToolResult(str(error), is_error=True)
        return ToolResult(f"took longer than {self._call_s:g} s", is_error=True, latency_s=self._call_s)


CALL_S = 6.0
"""Seconds after which a probing call is given up."""
_REPORT_EVERY = 20


class Budget:
    """How many calls probing may still make, and for how many seconds it may wait for the server. `spend` reports to
    `emit` every 20 calls."""

    def __init__(self, known: Knowledge, calls: int, seconds: float, emit: Emit) -> None:
        self._known, self._emit = known, emit
        self._total = self.left = calls
        self.left_s = seconds

    @property
    def over(self) -> bool:
        return self.left <= 0 or self.left_s <= 0

    def late(self, share: float) -> Callable[[], bool]:
        """Whether a share of the seconds that are left now will have passed, or all calls are made."""
        end_s = (1 - share) * self.left_s
        return lambda: self.left_s <= end_s or self.left <= 0

    def spend(self) -> None:
        self.left -= 1
        done = self._total - self.left
        if done % _REPORT_EVERY == 0:
            working = sum(1 for count in self._known.working.values() if count)
            self._emit(Probing(done, self._total, working, len(self._known.tools)))

    def part(self, share: float) -> int:
        """A share of the calls that are left."""
        return max(0, int(self.left * share))


class Visit:
    """A session for probing; a context manager. A lost session is replaced by a fresh one, a call that takes longer
    than `CALL_S` is an error result. `renewed` counts the replacements.
    """

    def __init__(self, server: ToolServer, budget: Budget) -> None:
        self._budget = budget
        self._session = Renewed(server, call_s=CALL_S)

    async def __aenter__(self) -> Self:
        await self._session.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._session.__aexit__(*error)

    @property
    def renewed(self) -> int:
        return self._session.renewed

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        self._budget.spend()
        began = time.monotonic()
        try:
            return await self._session.call(tool, arguments)
        finally:
            self._budget.left_s -= time.monotonic() - began
