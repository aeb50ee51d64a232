"""One MCP session with one server: opened, used and closed. Only this module, `transports`, `oauth` and
`protocol` import mcp.

A server is a foreign program: it may hang, die, lie or flood. Each of these ends, within the configured time, as a
result that the model can read (a call that failed), as `SessionLost` (the connection died), or as a one-line
`ServerError`. Secrets are hidden before anything else reads a reply.
"""

import math
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import Any, TypeVar

import anyio
import mcp_types
from anyio.abc import TaskGroup, TaskStatus
from mcp import ClientSession, MCPError
from pydantic import ValidationError

from mcprl.config import ServerConfig
from mcprl.errors import ServerError, SessionLost, Unavailable
from mcprl.servers.digest import cap, digest
from mcprl.servers.line import WaitingLine
from mcprl.servers.partner import Partner
from mcprl.servers.protocol import ASKED_BACK, SAMPLING, Dispatcher, Malformed, block_text, first_problem
from mcprl.servers.scratch import inward, outward, without_folder
from mcprl.servers.transports import Http, Sse, Stdio, Transport, is_url
from mcprl.text import counted
from mcprl.types import Json, Scalar, Tool, ToolResult

CLOSE_S = 5.0
"""Seconds that closing may take before it is cut short."""

_MAX_PAGES, _MAX_TOOLS = 50, 1_000
_MAX_RESOURCES, _MAX_RESOURCE_BYTES = 20, 20_000
_MAX_COMPLETIONS = 50
_OLD_S = 120.0
"""Seconds without a request after which a server may have forgotten an HTTP session."""
_FOR_NOW = (401, 408, 425, 429, 502, 503, 504)
"""HTTP statuses with which a server, or what is before it, refuses a request that it may serve later."""

_Reply = TypeVar("_Reply")


class Connection:
    """One MCP session. One task, `_own`, opens and closes it; any task may send requests through it.

    The folder behind `{scratch}` is written `/scratch` in all that a server tells and is told (`scratch`).
    """

    def __init__(self, transport: Transport, name: str, timeout_s: float, partner: Partner | None) -> None:
        self.transport, self._name, self._timeout_s, self._partner = transport, name, timeout_s, partner
        self._leave = anyio.Event()
        self._suspect = False
        self._used = anyio.current_time()
        self._lost, self._line = "", WaitingLine(timeout_s / 2)
        self._session: ClientSession
        self._dispatcher: Dispatcher
        self.closed = anyio.Event()

    @classmethod
    async def open(
        cls, config: ServerConfig, name: str, tasks: TaskGroup, sse: bool = False, partner: Partner | None = None
    ) -> "Connection":
        """Connect; the connection's owner runs in `tasks`. `partner` answers if the server asks for a language model.

        Raises `ServerError` if it cannot be opened in time.
        """
        if is_url(config.target):
            transport = (Sse if sse else Http)(config, name)
        else:
            transport = Stdio(config, name)
        await transport.log_in()
        connection = cls(transport, name, config.timeout_s, partner)
        await tasks.start(connection._own)
        return connection

    @property
    def usable(self) -> bool:
        """Whether new calls may use it: it is open, no call timed out on it, and the server still knows the session."""
        old = not isinstance(self.transport, Stdio) and anyio.current_time() - self._used > _OLD_S
        return not (old or self._suspect or self._leave.is_set() or self.closed.is_set())

    def discard(self) -> None:
        """Have the owner close it, soon."""
        self._leave.set()

    # --- requests -----------------------------------------------------------------------------------------------------

    async def call(self, tool: str, arguments: Mapping[str, Any], max_bytes: int) -> ToolResult:
        """Call a tool. A failure is an error result; if the server asked its client back in the call, it says so.

        Raises `SessionLost` if the connection died, and `Unavailable` if the server refused for now.
        """
        params = mcp_types.CallToolRequestParams(name=tool, arguments=self._inward(dict(arguments)))
        request = mcp_types.CallToolRequest(params=params)
        before = len(self._dispatcher.asked)
        try:  # not the session's own call_tool, which validates against the server's output schema at any cost
            with self._line.waiting(self._name):
                reply = await self._ask(lambda: self._session.send_request(request, mcp_types.CallToolResult))
        except _Refused as error:
            if self.transport.status in _FOR_NOW:
                raise Unavailable(str(error), self.transport.retry_after_s) from None
            text = f"Error: {error}{self._asked_since(before)}"
            result = digest(self._outward(text), None, True, max_bytes)
            return replace(result, unanswered=isinstance(error, _Unanswered) or self.transport.status >= 500)
        text = "\n".join(block_text(block) for block in reply.content)
        text += self._asked_since(before) if reply.is_error else ""
        return digest(self._outward(text), self._outward(reply.structured_content), bool(reply.is_error), max_bytes)

    def _asked_since(self, before: int) -> str:
        """What the server asked its client for meanwhile, as a line; empty if nothing."""
        asked = dict.fromkeys(self._dispatcher.asked[before:])
        if self._partner:
            asked.pop(SAMPLING, None)
        return "".join(f"\n[{ASKED_BACK[method]}]" for method in asked)

    async def list_tools(self) -> tuple[list[Tool | Malformed], tuple[str, ...]]:
        """The listed tools, each read by itself, and a note if the listing was cut short. Raises `ServerError`."""
        tools: list[Tool | Malformed] = []
        cursors: set[str] = set()
        params = None
        with anyio.move_on_after(self._timeout_s):
            for _ in range(_MAX_PAGES):
                try:
                    await self._ask(lambda params=params: self._session.list_tools(params=params))
                except _Refused as error:
                    raise ServerError(f"{self._name}: listing its tools failed: {error}") from None
                listed, cursor = await self._dispatcher.last_page(_MAX_TOOLS - len(tools))
                page = [without_folder(tool, self.transport.scratch) for tool in listed]
                came_back = bool(cursors and page) and all(tool in tools for tool in page)
                tools += [] if came_back else page
                if len(tools) == _MAX_TOOLS:
                    return tools, (f"only the first {_MAX_TOOLS} tools are read",)
                if cursor is None or (came_back and not cursor):  # some servers end their listing with an empty one
                    return tools, ()
                if cursor in cursors or came_back:
                    return tools, (f"the listing came back to its cursor {cursor[:40]!r}; stopped there",)
                cursors.add(cursor)
                params = mcp_types.PaginatedRequestParams(cursor=cursor)
        if not cursors:
            raise ServerError(f"{self._name}: listing its tools failed: no answer within {self._timeout_s:g} s")
        return tools, (f"the listing did not end; stopped after {counted(len(cursors), 'page')}",)

    async def resources(self) -> list[tuple[str, str]]:
        """The first few text resources as (uri, text), without those that cannot be read in time."""
        texts: list[tuple[str, str]] = []
        with anyio.move_on_after(self._timeout_s):
            try:
                page = await self._ask(self._session.list_resources)
                for resource in page.resources[:_MAX_RESOURCES]:
                    uri = str(resource.uri)
                    reply = await self._ask(lambda uri=uri: self._session.read_resource(uri))
                    parts = [part.text for part in reply.contents if isinstance(part, mcp_types.TextResourceContents)]
                    if parts:
                        text = cap("\n".join(parts), _MAX_RESOURCE_BYTES)[0]
                        texts.append((self._outward(uri), self._outward(text)))
            except (_Refused, SessionLost):
                pass
        return texts

    async def completions(self) -> dict[str, list[Scalar]]:
        """What the server completes for the arguments of its prompts and resource templates, by the argument's name,
        and the URIs of its resources as `uri`.
        """
        values: dict[str, list[Scalar]] = {}
        with anyio.move_on_after(self._timeout_s), suppress(_Refused, SessionLost):
            if self._capability("resources"):
                resources = (await self._ask(self._session.list_resources)).resources[:_MAX_RESOURCES]
                values["uri"] = [self._outward(str(resource.uri)) for resource in resources]
            for reference, name in await self._completable() if self._capability("completions") else ():
                argument = {"name": name, "value": ""}
                with suppress(_Refused):
                    reply = await self._ask(partial(self._session.complete, reference, argument))
                    values.setdefault(name, []).extend(self._outward(reply.completion.values[:_MAX_COMPLETIONS]))
        return values

    async def _completable(self) -> list[tuple[mcp_types.PromptReference | mcp_types.ResourceTemplateReference, str]]:
        """The arguments of the server's prompts and resource templates."""
        arguments: list[tuple[mcp_types.PromptReference | mcp_types.ResourceTemplateReference, str]] = []
        if self._capability("prompts"):
            for prompt in (await self._ask(self._session.list_prompts)).prompts[:_MAX_RESOURCES]:
                reference = mcp_types.PromptReference(name=prompt.name)
                arguments += [(reference, argument.name) for argument in (prompt.arguments or ())[:3]]
        if self._capability("resources"):
            page = await self._ask(self._session.list_resource_templates)
            for template in page.resource_templates[:_MAX_RESOURCES]:
                reference = mcp_types.ResourceTemplateReference(uri=template.uri_template)
                arguments += [(reference, name) for name in re.findall(r"{[+#./;?&]?(\w+)", template.uri_template)[:3]]
        return arguments

    # --- from the handshake -------------------------------------------------------------------------------------------

    @property
    def info(self) -> mcp_types.Implementation:
        return self._session.server_info or mcp_types.Implementation(name=self._name, version="")

    @property
    def protocol(self) -> str:
        return self._session.protocol_version or ""

    @property
    def instructions(self) -> str:
        return self._outward(self._session.instructions or "")

    @property
    def has_resources(self) -> bool:
        return self._capability("resources")

    def _capability(self, name: str) -> bool:
        return getattr(self._session.server_capabilities, name, None) is not None

    # --- opening, requests, closing -----------------------------------------------------------------------------------

    async def _own(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Open, report, wait to be discarded, close. Raises `ServerError` if it cannot be opened in time."""
        opened = False
        with anyio.CancelScope(deadline=anyio.current_time() + self._timeout_s) as scope:
            try:
                async with self.transport.streams() as (read, write):
                    self._dispatcher = Dispatcher(read, write)
                    client = mcp_types.Implementation(name="mcprl", version=version("mcprl"))
                    opening = ClientSession(
                        dispatcher=self._dispatcher, client_info=client, sampling_callback=self._partner
                    )
                    async with opening as self._session:
                        await _handshake(self._session)
                        opened, self.transport.status, scope.deadline = True, 0, math.inf
                        task_status.started()
                        await self._leave.wait()
                        scope.deadline = anyio.current_time() + CLOSE_S
            except Exception as error:
                self._lost = self.transport.explain(error)
            finally:
                self.closed.set()
        if not opened:
            silence = f"{self._name}: no answer within {self._timeout_s:g} s; is it an MCP server?"
            error = WrongTransport if self.transport.status in (400, 404, 405, 406, 415) else ServerError
            raise error(self._lost or silence)

    async def _ask(self, request: Callable[[], Awaitable[_Reply]]) -> _Reply:
        """One request with its deadline. Raises `_Refused` with the cause if it failed, `SessionLost` if the connection
        died.
        """
        if self._lost or self.closed.is_set():
            raise SessionLost(self._lost or f"{self._name}: the connection is closed")
        self._used = anyio.current_time()
        self.transport.status = 0
        try:
            with anyio.fail_after(self._timeout_s):
                return await request()
        except anyio.get_cancelled_exc_class():
            self._suspect = True  # the server may still work on it
            raise
        except TimeoutError:
            self._suspect = True
            raise _Unanswered(f"no answer within {self._timeout_s:g} s") from None
        except MCPError as error:
            forgotten = self._has_forgotten(error)
            if forgotten or error.code == mcp_types.CONNECTION_CLOSED:
                self._suspect = True
                with anyio.move_on_after(0.0 if forgotten else 1.0):  # the owner is about to get the cause
                    await self.closed.wait()
                raise SessionLost(self._lost or f"{self._name}: {self.transport.clean(error.error.message)}") from None
            status = f" (HTTP {self.transport.status})" if self.transport.status else ""
            raise _Refused(self.transport.clean(error.error.message) + status) from None
        except ValidationError as error:
            raise _Unanswered(f"the server's reply is not MCP: {self.transport.clean(first_problem(error))}") from None
        except (RuntimeError, RecursionError, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise _Unanswered(self.transport.clean(str(error)) or type(error).__name__) from None

    def _has_forgotten(self, error: MCPError) -> bool:
        """Whether the server has forgotten the session. It should say 404, and some say 400."""
        status, text = self.transport.status, error.error.message.lower()
        if status == 404:
            return error.code != mcp_types.METHOD_NOT_FOUND
        return status == 400 and "session" in text

    def _inward(self, value: Json) -> Json:
        return inward(value, self.transport.scratch)

    def _outward(self, value: Json) -> Json:
        return outward(value, self.transport.scratch)


class WrongTransport(ServerError):
    """The URL answered the handshake with a 4xx, as a server that speaks another transport may."""


class _Refused(Exception):
    """A request that failed while the connection stayed open."""


class _Unanswered(_Refused):
    """One that the server did not answer, or with what is no answer."""


async def _handshake(session: ClientSession) -> None:
    """The handshake of MCP 2025 first, since only that has sessions: from 2026-07-28 on the protocol is stateless."""
    try:
        await session.initialize()
    except MCPError as error:
        try:
            await session.discover()
        except (MCPError, ValidationError, RuntimeError):
            raise error from None
