"""A session that outlives its server: a lost one is replaced by a fresh one, and the call that lost it has failed."""

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, Self

import anyio

from mcprl.errors import SessionLost
from mcprl.scenarios.fields import opened
from mcprl.types import Call, Session, ToolResult, ToolServer

MOST_LOST = 50
"""Calls in a row that may lose their sessions before the server counts as broken."""


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
        key = json.dumps([tool, arguments], sort_keys=True, default=str)
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
