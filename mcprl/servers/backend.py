"""One configured server: its name, its transport, the pool of its connections, and the tools it listed."""

import re
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from anyio.abc import TaskGroup

from mcprl.config import ServerConfig
from mcprl.errors import ServerError, SessionLost, Unavailable
from mcprl.secrets import scrub
from mcprl.servers.connection import Connection, WrongTransport
from mcprl.servers.identity import identity
from mcprl.servers.limits import Pace
from mcprl.servers.partner import Partner
from mcprl.servers.pool import Lease, Pool
from mcprl.servers.protocol import Malformed
from mcprl.servers.reset import reset_call, run_command
from mcprl.servers.retries import Outage, RetryBudget
from mcprl.servers.routes import Route
from mcprl.servers.settings import command_values, environment_values
from mcprl.servers.transports import is_url
from mcprl.types import Call, Scalar, Tool, ToolResult

_HTTP_SESSIONS = 128
_SPARE_PROCESSES = 2


@dataclass(frozen=True)
class ServerFacts:
    """A server as connecting to it showed it. Times in seconds.

    `title`, `version` and `instructions` are the server's own texts, `sessions` is whether and how sessions are kept
    apart, `notes` are oddities. `target` is scrubbed of secrets, `identity` tells it from others.
    """

    name: str
    target: str
    title: str
    version: str
    transport: str
    protocol: str
    connect_s: float
    list_s: float
    resources: bool
    sessions: str
    instructions: str = ""
    notes: tuple[str, ...] = ()
    identity: str = ""


class Backend:
    """One server and its connections. `start` is called once; `discard` closes the connections."""

    def __init__(self, config: ServerConfig, name: str, tasks: TaskGroup, partner: Partner | None = None) -> None:
        self.name, self._config, self._tasks, self._partner = name, config, tasks, partner
        self._target = scrub(config.target)
        http = is_url(config.target)
        self._sse = http and urlsplit(config.target).path.rstrip("/").endswith("/sse")
        self._connections: list[Connection] = []
        self.processes = 0 if http else config.processes
        """Processes at once, at most; 0 over HTTP."""
        capacity = self.processes or _HTTP_SESSIONS
        spares = 0 if http else min(_SPARE_PROCESSES, capacity - 1)
        self.pool = Pool(self._connect, self._prepare, capacity, spares, shared=not http, tasks=tasks)
        self.retries, self._outage = RetryBudget(), Outage(config.timeout_s)
        self._paces: dict[str, Pace] = {}
        self.listed: list[Tool | Malformed] = []
        self.facts: ServerFacts

    async def start(self) -> None:
        """Connect once and list the tools; the connection stays in the pool. Raises `ServerError`."""
        if self._config.reset_tool:
            reset_call(self._config.reset_tool)  # raises if it cannot be read
        start = time.perf_counter()
        async with self._any_connection() as connection:
            connected = time.perf_counter()
            self.listed, notes = await connection.list_tools()
            self.facts = ServerFacts(
                name=self.name,
                target=self._target,
                title=connection.info.title or connection.info.name,
                version=connection.info.version,
                transport=connection.transport.kind,
                protocol=connection.protocol,
                connect_s=connected - start,
                list_s=time.perf_counter() - connected,
                resources=connection.has_resources,
                sessions=connection.transport.sessions,
                instructions=connection.instructions.strip(),
                notes=notes,
                identity=identity(self._config),
            )

    def session(self, setup: Sequence[Call]) -> "LiveSession":
        """A session in which the `setup` calls have been made; nothing happens before its first call."""
        return LiveSession(self, self.pool.lease(setup))

    def slow_down(self, tool: str, pace: Pace) -> None:
        """Have all calls of a tool, setup and repeated ones included, wait for their turn."""
        self._paces[tool] = pace

    def renewed_by(self, tool: str) -> None:
        """A setup that begins with this tool needs no fresh connection."""
        self.pool.renewing.add(tool)

    def lost(self) -> None:
        """A session was lost. Over HTTP the server may have been started anew, and know none of the others either."""
        if not self.pool.shared:
            self.pool.drop_idle(fresh=True)

    async def wait_for_turn(self, tool: str) -> None:
        if tool in self._paces:
            await self._paces[tool].wait()

    @property
    def resets(self) -> bool:
        """Whether a tool or a command is configured that resets the server's state."""
        return bool(self._config.reset_tool or self._config.reset_command)

    async def reset(self) -> None:
        """Make the configured reset call, then run the configured command. Raises `ServerError`."""
        if self._config.reset_tool:
            call = reset_call(self._config.reset_tool)
            async with self._any_connection(writes=True) as connection:
                result = await connection.call(call.tool, call.arguments, 4_000)
            if result.is_error:
                cause = connection.transport.clean(result.text)
                raise ServerError(f"{self.name}: the reset call {call.tool} failed: {cause}")
        if self._config.reset_command:
            await run_command(self._config.reset_command, self._config.timeout_s)
        self.pool.drop_idle(fresh=bool(self._config.reset_command))  # what the setup calls of the others made is gone

    async def resources(self) -> list[tuple[str, str]]:
        """As `Connection.resources`."""
        with suppress(ServerError):
            async with self._any_connection() as connection:
                return await connection.resources()
        return []

    async def known_values(self) -> dict[str, dict[str, list[Scalar]]]:
        """Values of the command line, the environment and the completions, by name."""
        completions: dict[str, list[Scalar]] = {}
        with suppress(ServerError):
            async with self._any_connection() as connection:
                completions = await connection.completions()
        return {
            "command line": command_values(self._config),
            "environment": environment_values(self._config),
            "completions": completions,
        }

    @asynccontextmanager
    async def _any_connection(self, writes: bool = False) -> AsyncGenerator[Connection]:
        lease = self.pool.lease()
        try:
            async with lease.use(writes=writes) as connection:
                yield connection
        finally:
            lease.release()

    def discard(self) -> None:
        """Have all connections closed, soon."""
        for connection in self._connections:
            connection.discard()

    async def wait_closed(self) -> None:
        for connection in self._connections:
            await connection.closed.wait()

    async def _connect(self) -> Connection:
        """A new connection. A server that was there once may be away for `timeout_s` seconds."""
        while True:
            try:
                connection = await self._connect_once()
            except ServerError:
                if not self.listed or not await self._outage.wait():
                    raise
            else:
                self._outage.over()
                return connection

    async def _connect_once(self) -> Connection:
        try:
            connection = await self._open(self._sse)
        except WrongTransport:
            if self._sse:
                raise
            # A server from before 2025 answers the POST with a 4xx and speaks SSE at the same URL (MCP 2025-03-26,
            # "Backwards Compatibility").
            try:
                connection = await self._open(sse=True)
            except ServerError:
                connection = None
            if connection is None:
                raise
            self._sse = True
        still_open = [earlier for earlier in self._connections if not earlier.closed.is_set()]
        self._connections = [*still_open, connection]
        return connection

    async def _open(self, sse: bool) -> Connection:
        return await Connection.open(self._config, self._target, self._tasks, sse, self._partner)

    async def _prepare(self, connection: Connection, setup: Sequence[Call]) -> None:
        for call in setup:
            await self.wait_for_turn(call.tool)
            try:
                result = await connection.call(call.tool, call.arguments, 4_000)
            except (SessionLost, Unavailable) as error:  # it may have been made: nobody may make it again
                raise ServerError(f"{self.name}: the setup call {call.tool} failed: {error}") from None
            if result.is_error:
                cause = connection.transport.clean(result.text)
                raise ServerError(f"{self.name}: the setup call {call.tool} failed: {cause}")


class LiveSession:
    """A session on a backend's connections."""

    def __init__(self, backend: Backend, lease: Lease[Connection]) -> None:
        self._backend, self._lease = backend, lease

    async def call(self, route: Route, arguments: Mapping[str, Any], max_bytes: int) -> ToolResult:
        """One call. If the server marks it as a read, it is repeated after a fault that may pass, in the state that the
        session has."""
        lease, retries = self._lease, self._backend.retries
        for attempt in count():
            try:
                async with lease.use(writes=not route.stateless) as connection:
                    await self._backend.wait_for_turn(route.tool)
                    start = time.perf_counter()  # a wait for a process says nothing about the tool
                    result = await connection.call(route.tool, arguments, max_bytes)
                retries.succeeded()
                return replace(result, latency_s=time.perf_counter() - start)
            except (SessionLost, Unavailable) as error:
                if lost := isinstance(error, SessionLost):
                    self._backend.lost()
                after_s = error.after_s if isinstance(error, Unavailable) else 0.0
                if not route.stateless or (lost and lease.written) or not await retries.wait(attempt, after_s):
                    raise
                if lost:
                    lease.release()  # the connection may have died of another session's call, or of old age
        raise AssertionError  # for the type checker: `count` does not end

    def rest(self) -> None:
        self._lease.rest()

    def release(self) -> None:
        self._lease.release()


def name_servers(servers: Sequence[ServerConfig]) -> list[tuple[ServerConfig, str]]:
    """Each server with a name of its own: the configured one, else the host or the program of its target."""
    named: dict[str, ServerConfig] = {}
    for config in servers:
        base = config.name or _short_name(config.target)
        free = (name for name in chain([base], (f"{base}{number}" for number in count(2))) if name not in named)
        named[next(free)] = config
    return [(config, name) for name, config in named.items()]


def _short_name(target: str) -> str:
    target = scrub(target)
    words = [Path(word).stem for word in target.split() if not word.startswith("-")] or ["server"]
    runner = len(words) > 1 and re.fullmatch(r"python[\d.]*|node|npx|uvx?|deno|bun", words[0])
    word = urlsplit(target).hostname or (words[1] if runner else words[0])
    if re.fullmatch(r"localhost|[\d.:]+", word):
        word = "server"
    return re.sub(r"[^A-Za-z0-9]+", "_", re.sub(r"^mcp-server-", "", word)).strip("_") or "server"
