"""One session with all connected servers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcprl.errors import ServerError, SessionLost, Unavailable
from mcprl.servers.digest import digest
from mcprl.servers.nearness import spelled
from mcprl.servers.routes import Route, ServerSession
from mcprl.types import Call, ToolResult

if TYPE_CHECKING:
    from mcprl.servers.server import Server


class JointSession:
    """`sessions` has one with each server, by its name.

    A session that writes takes a process of each server that it writes to. So that no two wait for each other's, only
    as many sessions write as the server with the fewest processes has, and none waits while it reads through another.
    """

    def __init__(self, server: "Server", sessions: Mapping[str, ServerSession], setup: Sequence[Call]) -> None:
        self._server, self._sessions = server, sessions
        self._setup = [(call.tool, spelled(call.arguments)) for call in setup]
        self._written = self._counted = False

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        if not (route := self._server.routes.get(tool)):
            known = ", ".join(self._server.routes)
            return self._error(f"there is no tool {tool!r}. The tools are: {known}")
        return await self._take(tool, route, arguments)

    async def look(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """A call that the policy does not make: of any tool that it may call, or that scores."""
        if not (route := self._server.route(tool)):
            return self._error(f"{tool!r} may not be called; --reward-tool {tool} lets mcprl alone call it")
        return await self._take(tool, route, arguments)

    async def _take(self, tool: str, route: Route, arguments: Mapping[str, Any]) -> ToolResult:
        cache = self._server.cache
        self._written = self._written or not route.stateless
        if cache is None or self._written:
            return await self._call(tool, route, arguments)
        key = f"{self._setup} {tool} {spelled(arguments)}"
        return await cache.get(key, lambda: self._call(tool, route, arguments))

    async def _call(self, tool: str, route: Route, arguments: Mapping[str, Any]) -> ToolResult:
        if reason := await self._server.refuse(tool, route, arguments):
            return self._error(f"{tool!r} is not called: {reason}")
        if not route.reads:
            self._server.turns.begin_write()
        for name, session in self._sessions.items():
            if name != route.server:
                session.rest()
        if self._server.writers and not (route.stateless or self._counted):
            await self._server.writers.acquire_on_behalf_of(self)
            self._counted = True
        try:
            return await self._sessions[route.server].call(route, arguments, self._server.policy.max_result_bytes)
        except SessionLost:
            raise
        except Unavailable as error:
            return self._error(str(error))
        except ServerError as error:
            raise SessionLost(str(error)) from None

    def release(self) -> None:
        for session in self._sessions.values():
            session.release()
        if self._server.writers and self._counted:
            self._server.writers.release_on_behalf_of(self)

    def _error(self, text: str) -> ToolResult:
        result = digest(f"Error: {text}", None, True, self._server.policy.max_result_bytes)
        return replace(result, unanswered=True)
