"""How messages get to a server and back: streamable HTTP, SSE, or the pipes of a process.

A message longer than `MAX_MESSAGE_BYTES`, or with more than `MAX_CONTAINERS` objects and lists, is not read; it becomes
an error.
"""

import codecs
import math
import re
import ssl
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.lowlevel
import httpx2
import mcp_types
from anyio.abc import Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import MCPError
from mcp.client.sse import sse_client
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from mcprl.config import ServerConfig
from mcprl.errors import ServerError, SessionLost
from mcprl.secrets import hide, resolve
from mcprl.servers import oauth
from mcprl.servers.log import Output
from mcprl.servers.process import child, exit_status, prepare, read_lines
from mcprl.servers.protocol import first_problem, last_of, one_line

MAX_MESSAGE_BYTES = 2 * 2**20
_tls = cache(ssl.create_default_context)  # making one takes 25 ms
MAX_CONTAINERS = 50_000
"""Reading a message holds up all rollouts, since Python parses JSON in one piece: a quarter of a second for the worst
of such messages (`python -m support.hostile_table` in tests)."""
_TOO_LONG = f"longer than {MAX_MESSAGE_BYTES} bytes, or of more than {MAX_CONTAINERS} objects and lists"
_MAX_LOG_LINE_BYTES = 2**14
_LONG_LINE = b"[a line that is too long]"
"""Instead of its beginning: where that is cut, half of a secret may stand."""

Streams = tuple[Any, Any]
"""The stream from which the SDK reads messages, and the stream to which it writes them."""


def is_url(target: str) -> bool:
    return re.match(r"https?://", target) is not None


class Transport(ABC):
    """The transport of one connection. `kind` is its name for users, `sessions` how it keeps sessions apart."""

    kind: str
    sessions: str
    status = 0
    """The last HTTP status of 400 or more."""
    retry_after_s = 0.0
    """The seconds after which the server asked for the request again with that status, 0 if it did not say."""
    scratch = ""
    """The folder that `{scratch}` stands for, empty if the command asks for none."""

    def __init__(self, config: ServerConfig, name: str) -> None:
        self._config, self._name = config, name

    async def log_in(self) -> None:
        """Do what may wait for a person, before `streams`; nothing for most. Raises `ServerError`."""
        return

    @abstractmethod
    def streams(self) -> AbstractAsyncContextManager[Streams]:
        """Connect, once. `explain` turns what it raises into a message."""

    def clean(self, text: str) -> str:
        """A server's text as one line for an error, secrets hidden."""
        return one_line(hide(text))

    def explain(self, error: BaseException) -> str:
        """The cause of a transport's exception, an exception group's first, and what to do about it."""
        while isinstance(error, BaseExceptionGroup):
            causes: tuple[BaseException, ...] = error.exceptions
            error = causes[0]
        match error:
            case ServerError():
                return str(error)
            case _ if self.status in (401, 403):
                advice = "give credentials with --header 'Authorization: Bearer $TOKEN', or log in with --oauth"
                return f"{self._name}: refused with HTTP {self.status}; {advice}"
            case _ if self.status in (408, 425, 429):
                return f"{self._name}: refused for now with HTTP {self.status}; try again later"
            case _ if self.status >= 500:
                return f"{self._name}: the server failed with HTTP {self.status}; its own log says why"
            case _ if self.status:
                return f"{self._name}: HTTP {self.status}, not an MCP endpoint; check the path (often /mcp or /sse)"
            case httpx2.ConnectError():
                return f"{self._name}: cannot connect ({self.clean(str(error))}); is the server running there?"
            case MCPError():
                return f"{self._name}: does not speak MCP: {self.clean(error.error.message)}"
            case ValidationError():
                return f"{self._name}: does not speak MCP: {self.clean(first_problem(error))}"
            case OSError():
                return f"{self._name}: {self.clean(error.strerror or str(error))}"
            case _:
                return f"{self._name}: {type(error).__name__}: {self.clean(str(error))}"


class Http(Transport):
    kind, sessions = "streamable HTTP", "not kept apart: the server gives no session"
    _checked_methods: tuple[str, ...] = ("POST",)
    """The methods whose status is kept: a healthy server may refuse a GET."""
    _event_methods: tuple[str, ...] = ("GET", "POST")
    """The methods whose replies the SDK reads event by event."""

    @asynccontextmanager
    async def streams(self) -> AsyncGenerator[Streams]:
        async with (
            self._client(timeout=httpx2.Timeout(self._config.timeout_s, read=None)) as client,
            streamable_http_client(
                self._config.target, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES
            ) as streams,
        ):
            yield streams

    async def log_in(self) -> None:
        if self._logs_in:
            try:
                await self._login().begin()
            except ServerError as error:
                raise ServerError(f"{self._name}: {error}") from None

    @property
    def _logs_in(self) -> bool:
        return self._config.oauth or bool(self._config.oauth_client)

    def _login(self) -> oauth.Login:
        timeout = httpx2.Timeout(self._config.timeout_s)
        return oauth.login(self._config, lambda auth: self._http_client(timeout, auth))

    def _client(
        self,
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        """A client as `_http_client`. The SDK may pass `headers` and `auth`; they are not used."""
        return self._http_client(timeout, oauth.Bearer(self._login()) if self._logs_in else None)

    def _http_client(self, timeout: httpx2.Timeout | None, auth: httpx2.Auth | None) -> httpx2.AsyncClient:
        """A client with the configured headers."""
        host = urlsplit(self._config.target).hostname
        return httpx2.AsyncClient(
            # What is compressed may grow without bounds when it is read.
            headers={"Accept-Encoding": "identity"}
            | {key: resolve(value, f"the header {key}") for key, value in self._config.headers.items()},
            timeout=timeout,
            auth=auth,
            verify=_tls(),  # also for a target without TLS: its login server may have it
            trust_env=host not in ("localhost", "127.0.0.1", "::1"),  # no proxy to this machine
            event_hooks={"response": [self._inspect]},
        )

    async def _inspect(self, response: httpx2.Response) -> None:
        login = oauth.FLOW in response.request.extensions
        if response.status_code >= 400 and response.request.method in self._checked_methods and not login:
            self.status = response.status_code
            self.retry_after_s = _seconds(response.headers.get("retry-after", ""))
        if "mcp-session-id" in response.headers:
            self.sessions = "apart: a session id each"
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        events = kind == "text/event-stream" and response.status_code == 200
        encoded = response.headers.get("content-encoding", "identity") != "identity"
        events = events and response.request.method in self._event_methods
        response.stream = _Capped(response.stream, 0 if encoded else math.inf if events else MAX_MESSAGE_BYTES)


def _seconds(retry_after: str) -> float:
    """The value of Retry-After, which is seconds or a date (RFC 9110, 10.2.3); 0 if it is neither."""
    if retry_after.isdecimal():
        return float(retry_after[:9])
    try:
        then = parsedate_to_datetime(retry_after)
    except ValueError:
        return 0.0
    return max(0.0, then.timestamp() - time.time())


class Sse(Http):
    kind, sessions = "SSE", "apart: a connection each"
    _checked_methods = ("GET", "POST")
    _event_methods = ("GET",)

    @asynccontextmanager
    async def streams(self) -> AsyncGenerator[Streams]:
        async with sse_client(self._config.target, None, self._config.timeout_s, math.inf, self._client) as streams:
            yield streams


class Stdio(Transport):
    kind = "stdio"

    def __init__(self, config: ServerConfig, name: str) -> None:
        super().__init__(config, name)
        self._stderr, self._noise = Output(name), Output(f"{name} on stdout, not JSON-RPC")
        self._unanswered: set[mcp_types.RequestId] = set()
        self._stderr_ended = anyio.Event()

    @asynccontextmanager
    async def streams(self) -> AsyncGenerator[Streams]:
        env = {key: resolve(value, f"the variable {key}") for key, value in self._config.env.items()}
        with prepare(self._config.target, env, get_default_environment()) as command:
            self.scratch = command.scratch
            self.sessions = "apart: a process each" + (", with a scratch folder" if command.scratch else "")
            async with (
                child(command) as process,
                anyio.create_task_group() as tasks,
            ):
                received, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](64)
                outgoing, to_server = anyio.create_memory_object_stream[SessionMessage](64)
                with received, incoming, outgoing, to_server:
                    tasks.start_soon(self._read, process, received)
                    tasks.start_soon(self._write, process, to_server)
                    tasks.start_soon(self._keep_stderr, process)
                    try:
                        yield incoming, outgoing
                    finally:
                        tasks.cancel_scope.cancel()

    async def _read(self, process: Process, received: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        assert process.stdout is not None
        noise = 0
        async for line in read_lines(process.stdout, MAX_MESSAGE_BYTES):
            if line is None or _containers(line) > MAX_CONTAINERS:
                message = self._too_long()
            else:
                try:
                    message = mcp_types.jsonrpc_message_adapter.validate_json(
                        line.removeprefix(codecs.BOM_UTF8), by_name=False
                    )
                except ValidationError:
                    noise += 1
                    if noise <= 3 and line.strip():
                        self._noise.write(_LONG_LINE if len(line) > _MAX_LOG_LINE_BYTES else line)
                    if noise % 100 == 0:  # a flood must not keep other tasks waiting
                        await anyio.lowlevel.checkpoint()
                    continue
                if isinstance(message, mcp_types.JSONRPCResponse | mcp_types.JSONRPCError) and message.id is not None:
                    self._unanswered.discard(message.id)
            await received.send(SessionMessage(message))
        status = await exit_status(process, 0.5)
        with anyio.move_on_after(0.5):
            await self._stderr_ended.wait()  # its last words say why
        cause = "closed its output" if status is None else f"exited with status {status}"
        last = last_of(hide(self._stderr.last_words))
        raise SessionLost(f"{self._name} {cause}" + (f": {last}" if last else ""))

    async def _keep_stderr(self, process: Process) -> None:
        assert process.stderr is not None
        async for line in read_lines(process.stderr, _MAX_LOG_LINE_BYTES):
            self._stderr.write(_LONG_LINE if line is None else line)
        self._stderr.end()
        self._stderr_ended.set()

    def _too_long(self) -> mcp_types.JSONRPCError:
        """An error reply in place of one that was too long. Raises `SessionLost` if several requests are unanswered,
        since the too long reply may belong to any of them.
        """
        if len(self._unanswered) != 1:
            raise SessionLost(f"{self._name} sent a message {_TOO_LONG}")
        message = f"the reply was {_TOO_LONG}"
        error = mcp_types.ErrorData(code=mcp_types.INTERNAL_ERROR, message=message)
        return mcp_types.JSONRPCError(jsonrpc="2.0", id=self._unanswered.pop(), error=error)

    async def _write(self, process: Process, to_server: MemoryObjectReceiveStream[SessionMessage]) -> None:
        assert process.stdin is not None
        async for sent in to_server:
            if isinstance(sent.message, mcp_types.JSONRPCRequest):
                self._unanswered.add(sent.message.id)
            line = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                await process.stdin.send(line.encode() + b"\n")
            except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                return  # the reader raises, with the cause


def _containers(text: bytes) -> int:
    """At most how many objects and lists JSON has: each takes many times the memory of its two letters."""
    return text.count(b"{") + text.count(b"[")


class _Capped(httpx2.AsyncByteStream):
    """A response body that raises an error past `most` bytes, and past `MAX_CONTAINERS` in one event or body."""

    def __init__(self, stream: Any, most: float) -> None:
        self._stream, self._most = stream, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = containers = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > self._most:
                limit = f"was longer than {self._most} bytes" if self._most else "is compressed, which nobody asked for"
                raise httpx2.StreamError(f"the reply {limit}")
            event_ended = self._most == math.inf and re.search(rb"\r?\n\r?\n", chunk) is not None
            containers = _containers(chunk) + (0 if event_ended else containers)
            if containers > MAX_CONTAINERS:
                raise httpx2.StreamError(f"the reply had more than {MAX_CONTAINERS} objects and lists")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
