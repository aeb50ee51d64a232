"""One MCP session with one server: opened, used and closed. The only module that imports mcp.

A server is somebody else's program: it may hang, die, lie or flood. Whatever it does ends, within the configured time,
as a result that the model can read (a call that failed), as `SessionLost` (the connection died), or as a one-line
`ServerError`.
"""

import json
import logging
import math
import os
import re
import shlex
import shutil
import ssl
import string
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, TypeVar
from urllib.parse import urlsplit

import anyio
import anyio.lowlevel
import httpx2
import mcp_types
from anyio.abc import Process, TaskGroup, TaskStatus
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import ClientSession, MCPError
from mcp.client.sse import sse_client
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.dispatcher import CallOptions
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.message import SessionMessage
from mcp.shared.transport_context import TransportContext
from pydantic import ValidationError

from mcprl import stdio
from mcprl.config import ServerConfig
from mcprl.digest import cap, digest
from mcprl.errors import ServerError, SessionLost
from mcprl.types import Json, Tool, ToolResult

MAX_MESSAGE_BYTES = 8 * 2**20
"""The longest message that is read; a longer reply becomes an error result."""
CLOSE_S = 5.0
"""Seconds that closing may take before it is cut short."""
LOGGERS = ("mcp", "client", "httpx2")
"""Where the SDK logs."""

_MAX_PAGES = 50
_MAX_RESOURCES, _MAX_RESOURCE_BYTES = 20, 20_000
_OLD_S = 120.0
"""Seconds without a request after which a server may have forgotten an HTTP session."""
_SCRATCH = "/scratch"

for _name in LOGGERS:  # else logging's last resort prints the SDK's tracebacks on the screen
    logging.getLogger(_name).addHandler(logging.NullHandler())

_Streams = tuple[Any, Any]
_Reply = TypeVar("_Reply")


@dataclass(frozen=True)
class Malformed:
    """A listed tool that cannot be read, and why."""

    name: str
    reason: str


class Connection:
    """One MCP session. One task, `_own`, opens and closes it; any task may send requests through it.

    What `{scratch}` stands for in a command reads as `/scratch` on both sides of a call, so that a tool gives the same
    results in every session.
    """

    def __init__(self, config: ServerConfig, name: str) -> None:
        self._timeout_s, self._name = config.timeout_s, name
        self._leave = anyio.Event()
        self._suspect = False
        self._used = anyio.current_time()
        self._lost = ""
        self._status = 0  # the last HTTP status of 400 or more
        self._scratch = ""
        self._session: ClientSession
        self._dispatcher: _Dispatcher
        self.closed = anyio.Event()
        self.transport, self.sessions = "", "not kept apart: the server gives no session"

    @classmethod
    async def open(
        cls, config: ServerConfig, name: str, tasks: TaskGroup, sink: IO[bytes] | None, sse: bool = False
    ) -> "Connection":
        """Connect, with the owner among `tasks`; a stdio server's stderr goes to `sink`. Raises `ServerError`."""
        connection = cls(config, name)
        if not is_url(config.target):
            transport = connection._stdio(config, sink)
        else:
            transport = (connection._sse if sse else connection._http)(config)
        await tasks.start(connection._own, transport)
        return connection

    @property
    def usable(self) -> bool:
        old = self.transport != "stdio" and anyio.current_time() - self._used > _OLD_S
        return not (old or self._suspect or self._leave.is_set() or self.closed.is_set())

    def discard(self) -> None:
        self._leave.set()

    # --- requests -----------------------------------------------------------------------------------------------------

    async def call(self, tool: str, arguments: Mapping[str, Any], max_bytes: int) -> ToolResult:
        """Call a tool. Whatever goes wrong is an error result, except the loss of the connection: `SessionLost`."""
        params = mcp_types.CallToolRequestParams(name=tool, arguments=self._inward(dict(arguments)))
        request = mcp_types.CallToolRequest(params=params)
        try:  # not the session's own call_tool: that validates against the server's output schema, whatever it costs
            reply = await self._ask(lambda: self._session.send_request(request, mcp_types.CallToolResult))
        except _Refused as error:
            return digest(self._outward(f"Error: {error}"), None, True, max_bytes)
        text = "\n".join(_block(block) for block in reply.content)
        return digest(self._outward(text), self._outward(reply.structured_content), bool(reply.is_error), max_bytes)

    async def list_tools(self) -> tuple[list[Tool | Malformed], tuple[str, ...]]:
        """The listed tools, each read by itself, and a note where the listing was cut short. Raises `ServerError`."""
        tools: list[Tool | Malformed] = []
        cursors: set[str] = set()
        params = None
        with anyio.move_on_after(self._timeout_s):
            for _ in range(_MAX_PAGES):
                try:
                    await self._ask(lambda params=params: self._session.list_tools(params=params))
                except _Refused as error:
                    raise ServerError(f"{self._name}: listing its tools failed: {error}") from None
                listed, cursor = self._dispatcher.page.get("tools"), self._dispatcher.page.get("nextCursor")
                tools += [_read_tool(tool) for tool in listed] if isinstance(listed, list) else []
                if not isinstance(cursor, str) or not cursor:
                    return tools, ()
                if cursor in cursors:
                    return tools, (f"the listing came back to its cursor {cursor[:40]!r}; stopped there",)
                cursors.add(cursor)
                params = mcp_types.PaginatedRequestParams(cursor=cursor)
        return tools, (f"the listing did not end; stopped after {len(cursors)} pages",)

    async def resources(self) -> list[tuple[str, str]]:
        """The first few text resources as (uri, text); what cannot be read in time is left out."""
        found: list[tuple[str, str]] = []
        with anyio.move_on_after(self._timeout_s):
            try:
                page = await self._ask(self._session.list_resources)
                for resource in page.resources[:_MAX_RESOURCES]:
                    uri = str(resource.uri)
                    reply = await self._ask(lambda uri=uri: self._session.read_resource(uri))
                    texts = [part.text for part in reply.contents if isinstance(part, mcp_types.TextResourceContents)]
                    if texts:
                        text = cap("\n".join(texts), _MAX_RESOURCE_BYTES)[0]
                        found.append((self._outward(uri), self._outward(text)))
            except _Refused:
                pass
        return found

    # --- what the handshake said --------------------------------------------------------------------------------------

    @property
    def info(self) -> mcp_types.Implementation:
        return self._session.server_info or mcp_types.Implementation(name=self._name, version="")

    @property
    def protocol(self) -> str:
        return self._session.protocol_version or ""

    @property
    def instructions(self) -> str:
        return self._session.instructions or ""

    @property
    def has_resources(self) -> bool:
        capabilities = self._session.server_capabilities
        return capabilities is not None and capabilities.resources is not None

    # --- the life of a connection -------------------------------------------------------------------------------------

    async def _own(
        self,
        transport: AbstractAsyncContextManager[_Streams],
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Open, report, wait to be discarded, close. Raises `ServerError` where it cannot be opened in time."""
        opened = False
        with anyio.CancelScope(deadline=anyio.current_time() + self._timeout_s) as scope:
            try:
                async with transport as (read, write):
                    self._dispatcher = _Dispatcher(read, write)
                    client = mcp_types.Implementation(name="mcprl", version=version("mcprl"))
                    async with ClientSession(dispatcher=self._dispatcher, client_info=client) as self._session:
                        await _handshake(self._session)
                        opened, self._status, scope.deadline = True, 0, math.inf
                        task_status.started()
                        await self._leave.wait()
                        scope.deadline = anyio.current_time() + CLOSE_S
            except Exception as error:
                self._lost = self._explain(error)
            finally:
                self.closed.set()
        if not opened:
            silence = f"{self._name}: no answer within {self._timeout_s:g} s; is it an MCP server?"
            raise (NotHere if self._status in (400, 404, 405, 406, 415) else ServerError)(self._lost or silence)

    async def _ask(self, request: Callable[[], Awaitable[_Reply]]) -> _Reply:
        """One request with its deadline. Raises `_Refused` with what went wrong, or `SessionLost`."""
        if self._lost or self.closed.is_set():
            raise SessionLost(self._lost or f"{self._name}: the connection is closed")
        self._used = anyio.current_time()
        try:
            with anyio.fail_after(self._timeout_s):
                return await request()
        except anyio.get_cancelled_exc_class():
            self._suspect = True  # the server may still be at it
            raise
        except TimeoutError:
            self._suspect = True
            raise _Refused(f"no answer within {self._timeout_s:g} s") from None
        except MCPError as error:
            if error.code == mcp_types.CONNECTION_CLOSED or error.error.message == "Session terminated":
                self._suspect = True
                with anyio.move_on_after(1.0):  # the owner is about to learn why
                    await self.closed.wait()
                raise SessionLost(self._lost or f"{self._name}: {_one_line(error.error.message)}") from None
            status = f" (HTTP {self._status})" if self._status else ""
            raise _Refused(_one_line(error.error.message) + status) from None
        except ValidationError as error:
            raise _Refused(f"the server's reply is not MCP: {_first(error)}") from None
        except (RuntimeError, RecursionError, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise _Refused(_one_line(str(error)) or type(error).__name__) from None

    def _explain(self, error: BaseException) -> str:
        """The one place where an exception of the transport, groups and all, becomes a cause and what to do."""
        while isinstance(error, BaseExceptionGroup):
            causes: tuple[BaseException, ...] = error.exceptions
            error = causes[0]
        match error:
            case ServerError():
                return str(error)
            case _ if self._status in (401, 403):
                how = "give credentials with --header 'Authorization=Bearer $TOKEN'"
                return f"{self._name}: refused with HTTP {self._status}; {how}"
            case _ if self._status >= 500:
                return f"{self._name}: the server failed with HTTP {self._status}; its own log says why"
            case _ if self._status:
                return f"{self._name}: HTTP {self._status}, not an MCP endpoint; check the path (often /mcp or /sse)"
            case httpx2.ConnectError():
                return f"{self._name}: cannot connect ({_one_line(str(error))}); is the server running there?"
            case MCPError():
                return f"{self._name}: does not speak MCP: {_one_line(error.error.message)}"
            case ValidationError():
                return f"{self._name}: does not speak MCP: {_first(error)}"
            case OSError():
                return f"{self._name}: {error.strerror or error}"
            case _:
                return f"{self._name}: {type(error).__name__}: {_one_line(str(error))}"

    def _inward(self, value: Json) -> Json:
        if not self._scratch:
            return value
        return json.loads(re.sub(rf"(?<![\w./-]){_SCRATCH}(?![\w-])", self._scratch, json.dumps(value)))

    def _outward(self, value: Json) -> Json:
        return json.loads(json.dumps(value).replace(self._scratch, _SCRATCH)) if self._scratch else value

    # --- transports ---------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _http(self, config: ServerConfig) -> AsyncGenerator[_Streams]:
        self.transport = "streamable HTTP"
        async with (
            self._client(config, httpx2.Timeout(config.timeout_s, read=None)) as client,
            streamable_http_client(config.target, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES) as streams,
        ):
            yield streams

    @asynccontextmanager
    async def _sse(self, config: ServerConfig) -> AsyncGenerator[_Streams]:
        self.transport, self.sessions = "SSE", "apart: a connection each"

        def client(
            headers: dict[str, str] | None = None,
            timeout: httpx2.Timeout | None = None,
            auth: httpx2.Auth | None = None,
        ) -> httpx2.AsyncClient:
            return self._client(config, timeout)

        async with sse_client(config.target, None, config.timeout_s, math.inf, client) as streams:
            yield streams

    def _client(self, config: ServerConfig, timeout: httpx2.Timeout | None) -> httpx2.AsyncClient:
        async def note(response: httpx2.Response) -> None:
            if response.status_code >= 400 and (response.request.method == "POST" or self.transport == "SSE"):
                self._status = response.status_code
            if "mcp-session-id" in response.headers:
                self.sessions = "apart: a session id each"
            if response.headers.get("content-type", "").startswith("application/json"):
                response.stream = _Capped(response.stream)

        parts = urlsplit(config.target)
        return httpx2.AsyncClient(
            headers={key: _resolve(value, f"the header {key}") for key, value in config.headers.items()},
            timeout=timeout,
            verify=ssl.create_default_context() if parts.scheme == "https" else False,  # costs 25 ms: only where needed
            trust_env=parts.hostname not in ("localhost", "127.0.0.1", "::1"),  # no proxy between us and ourselves
            event_hooks={"response": [note]},
        )

    @asynccontextmanager
    async def _stdio(self, config: ServerConfig, sink: IO[bytes] | None) -> AsyncGenerator[_Streams]:
        try:
            words = shlex.split(config.target)
        except ValueError as error:
            raise ServerError(f"cannot read the command {config.target!r}: {error}") from None
        env = {key: _resolve(value, f"the variable {key}") for key, value in config.env.items()}
        uses_scratch = any("{scratch}" in text for text in (*words, *env.values()))
        self.transport = "stdio"
        self.sessions = "apart: a process each" + (", with a scratch folder" if uses_scratch else "")
        with _scratch_folder(uses_scratch) as self._scratch:
            words = [word.replace("{scratch}", self._scratch) for word in words]
            env = {key: value.replace("{scratch}", self._scratch) for key, value in env.items()}
            env = get_default_environment() | env
            # As in an activated environment: `python` and installed commands are those beside our own interpreter.
            env["PATH"] = os.pathsep.join(filter(None, (str(Path(sys.executable).parent), env.get("PATH"))))
            program = shutil.which(words[0], path=env["PATH"]) if words else None
            if program is None:
                what = words[0] if words else config.target
                raise ServerError(
                    f"{what!r}: no such command; check the spelling (a URL starts with http:// or https://)"
                )
            # Absolute, because in a scratch folder the relative name of a file would mean something else.
            words = [_absolute(word) for word in (program, *words[1:])]
            stderr = sink or subprocess.DEVNULL
            async with (
                stdio.child(words, env, self._scratch or None, stderr) as process,
                anyio.create_task_group() as tasks,
            ):
                to_us, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](64)
                outgoing, to_server = anyio.create_memory_object_stream[SessionMessage](64)
                with to_us, incoming, outgoing, to_server:
                    waiting: set[mcp_types.RequestId] = set()
                    tasks.start_soon(self._read, process, to_us, waiting, sink)
                    tasks.start_soon(self._write, process, to_server, waiting)
                    try:
                        yield incoming, outgoing
                    finally:
                        tasks.cancel_scope.cancel()

    async def _read(
        self,
        process: Process,
        to_us: MemoryObjectSendStream[SessionMessage | Exception],
        waiting: set[mcp_types.RequestId],
        sink: IO[bytes] | None,
    ) -> None:
        assert process.stdout is not None
        noise = 0
        async for line in stdio.lines(process.stdout, MAX_MESSAGE_BYTES):
            if line is None:
                if len(waiting) != 1:  # whose reply it was cannot be told
                    raise SessionLost(f"{self._name} sent a message longer than {MAX_MESSAGE_BYTES} bytes")
                too_long = f"the reply was longer than {MAX_MESSAGE_BYTES} bytes"
                error = mcp_types.ErrorData(code=mcp_types.INTERNAL_ERROR, message=too_long)
                message = mcp_types.JSONRPCError(jsonrpc="2.0", id=waiting.pop(), error=error)
            else:
                try:
                    message = mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValidationError:
                    noise += 1
                    if noise <= 3 and sink is not None and line.strip():
                        sink.write(b"[not JSON-RPC on stdout] " + line[:200] + b"\n")
                    if noise % 100 == 0:  # a flood must not keep the others waiting
                        await anyio.lowlevel.checkpoint()
                    continue
                if isinstance(message, mcp_types.JSONRPCResponse | mcp_types.JSONRPCError) and message.id is not None:
                    waiting.discard(message.id)
            await to_us.send(SessionMessage(message))
        status = await stdio.exit_status(process, 0.5)
        raise SessionLost(
            f"{self._name} " + ("closed its output" if status is None else f"exited with status {status}")
        )

    async def _write(
        self,
        process: Process,
        to_server: MemoryObjectReceiveStream[SessionMessage],
        waiting: set[mcp_types.RequestId],
    ) -> None:
        assert process.stdin is not None
        async for sent in to_server:
            if isinstance(sent.message, mcp_types.JSONRPCRequest):
                waiting.add(sent.message.id)
            line = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                await process.stdin.send(line.encode() + b"\n")
            except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                return  # the reader sees the end and says why


class NotHere(ServerError):
    """The URL answered the handshake with a 4xx that a server speaking another transport may give."""


class _Refused(Exception):
    """A request that failed on a connection that lives."""


class _Dispatcher(JSONRPCDispatcher[TransportContext]):
    """Keeps the listing from the SDK, which would refuse all of it for one malformed tool."""

    page: dict[str, Any]

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        opts: CallOptions | None = None,
        *,
        _related_request_id: mcp_types.RequestId | None = None,
    ) -> dict[str, Any]:
        raw = await super().send_raw_request(method, params, opts, _related_request_id=_related_request_id)
        if method == "tools/list":
            self.page = raw
            return {key: value for key, value in raw.items() if key != "nextCursor"} | {"tools": []}
        return raw


class _Capped(httpx2.AsyncByteStream):
    """A response body that ends with an error past `MAX_MESSAGE_BYTES`."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > MAX_MESSAGE_BYTES:
                raise httpx2.StreamError(f"the reply was longer than {MAX_MESSAGE_BYTES} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _handshake(session: ClientSession) -> None:
    """The handshake of 2025 first, because only that has sessions: since 2026-07-28 the protocol is stateless."""
    try:
        await session.initialize()
    except MCPError as error:
        try:
            await session.discover()
        except (MCPError, ValidationError, RuntimeError):
            raise error from None


@contextmanager
def _scratch_folder(wanted: bool) -> Generator[str]:
    """A fresh folder, removed at the end; the empty string where none is wanted."""
    folder = os.path.realpath(tempfile.mkdtemp(prefix="mcprl-")) if wanted else ""
    try:
        yield folder
    finally:
        if wanted:
            shutil.rmtree(folder, ignore_errors=True)


def _absolute(word: str) -> str:
    return str(Path(word).absolute()) if Path(word).exists() else word


def is_url(target: str) -> bool:
    return re.match(r"https?://", target) is not None


def _read_tool(raw: Json) -> Tool | Malformed:
    try:
        tool = mcp_types.Tool.model_validate(raw, by_name=False)
    except (ValidationError, RecursionError) as error:
        fields: dict[str, Any] = raw if isinstance(raw, dict) else {}
        reason = _first(error) if isinstance(error, ValidationError) else "nested too deeply"
        return Malformed(str(fields.get("name") or "(no name)")[:80], reason)
    properties = tool.input_schema.get("properties", {})
    if not tool.name or not isinstance(properties, dict) or not isinstance(tool.input_schema.get("required", []), list):
        return Malformed(tool.name, "inputSchema: `properties` must be an object and `required` a list")
    hints = tool.annotations or mcp_types.ToolAnnotations()
    return Tool(
        name=tool.name,
        description=tool.description or "",
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        title=tool.title or hints.title,
        read_only=hints.read_only_hint,
        destructive=hints.destructive_hint,
        idempotent=hints.idempotent_hint,
    )


def _block(block: mcp_types.ContentBlock) -> str:
    match block:
        case mcp_types.TextContent():
            return block.text
        case mcp_types.ImageContent() | mcp_types.AudioContent():
            return f"[{block.type} {block.mime_type}, {len(block.data) * 3 // 4} bytes]"
        case mcp_types.ResourceLink():
            return f"[resource {block.name} {block.uri}]"
        case mcp_types.EmbeddedResource(resource=mcp_types.TextResourceContents() as resource):
            return resource.text
        case mcp_types.EmbeddedResource(resource=resource):
            return f"[resource {resource.mime_type or 'blob'} {resource.uri}]"


def _resolve(value: str, what: str) -> str:
    """`$NAME` and `${NAME}` replaced from the environment; `$$` is a dollar sign."""
    try:
        return string.Template(value).substitute(os.environ)
    except KeyError as error:
        raise ServerError(f"{what} wants ${error.args[0]}, which is not set in the environment") from None
    except ValueError:
        return value


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300]


def _first(error: ValidationError) -> str:
    item = error.errors(include_url=False, include_input=False)[0]
    return _one_line(f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}")
