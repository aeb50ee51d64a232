"""One configured server: its name, how to reach it, the pool of its connections, and what it listed."""

import re
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from anyio.abc import TaskGroup

from mcprl.config import ServerConfig
from mcprl.errors import ServerError
from mcprl.servers.connection import Connection, NotHere
from mcprl.servers.pool import Pool
from mcprl.servers.protocol import Malformed
from mcprl.servers.transports import is_url
from mcprl.types import Call, Tool

_HTTP_SESSIONS = 128
_SPARE_PROCESSES = 2


@dataclass(frozen=True)
class ServerFacts:
    """What connecting to a server taught us. Times in seconds.

    `title` and `version` are the server's own words; `sessions` says whether and how they are kept apart; `notes` what
    was odd.
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


class Backend:
    """To be started once; its connections are closed by `discard`."""

    def __init__(self, config: ServerConfig, name: str, sink: IO[bytes] | None, tasks: TaskGroup) -> None:
        self.name, self._config, self._sink, self._tasks = name, config, sink, tasks
        http = is_url(config.target)
        self._sse = http and urlsplit(config.target).path.rstrip("/").endswith("/sse")
        self._connections: list[Connection] = []
        capacity = _HTTP_SESSIONS if http else config.processes
        spares = 0 if http else min(_SPARE_PROCESSES, capacity - 1)
        self.pool = Pool(self._connect, self._prepare, capacity, spares, shared=not http, tasks=tasks)
        self.listed: list[Tool | Malformed] = []
        self.facts: ServerFacts

    async def start(self) -> None:
        """Connect once and list the tools; the connection stays in the pool. Raises `ServerError`."""
        start = time.perf_counter()
        async with self._any_connection() as connection:
            connected = time.perf_counter()
            self.listed, notes = await connection.list_tools()
            self.facts = ServerFacts(
                name=self.name,
                target=_without_secrets(self._config.target),
                title=connection.info.title or connection.info.name,
                version=connection.info.version,
                transport=connection.transport.kind,
                protocol=connection.protocol,
                connect_s=connected - start,
                list_s=time.perf_counter() - connected,
                resources=connection.has_resources,
                sessions=connection.transport.sessions,
                instructions=connection.instructions,
                notes=notes,
            )

    async def resources(self) -> list[tuple[str, str]]:
        async with self._any_connection() as connection:
            return await connection.resources()

    @asynccontextmanager
    async def _any_connection(self) -> AsyncGenerator[Connection]:
        lease = self.pool.lease()
        try:
            async with lease.use(writes=False) as connection:
                yield connection
        finally:
            lease.release()

    def discard(self) -> None:
        for connection in self._connections:
            connection.discard()

    async def wait_closed(self) -> None:
        for connection in self._connections:
            await connection.closed.wait()

    async def _connect(self) -> Connection:
        try:
            connection = await self._open(self._sse)
        except NotHere:
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
        self._connections = [*(known for known in self._connections if not known.closed.is_set()), connection]
        return connection

    async def _open(self, sse: bool) -> Connection:
        return await Connection.open(self._config, _without_secrets(self._config.target), self._tasks, self._sink, sse)

    async def _prepare(self, connection: Connection, setup: Sequence[Call]) -> None:
        for call in setup:
            result = await connection.call(call.tool, call.arguments, 300)
            if result.is_error:
                raise ServerError(f"{self.name}: the setup call {call.tool} failed: {' '.join(result.text.split())}")


def named(servers: Sequence[ServerConfig]) -> list[tuple[ServerConfig, str]]:
    """Each server with its name: the configured one, else the host or the program of its target."""
    named: dict[str, ServerConfig] = {}
    for config in servers:
        base = config.name or _short_name(config.target)
        taken = sum(name == base or re.fullmatch(re.escape(base) + r"\d+", name) is not None for name in named)
        named[f"{base}{taken + 1}" if taken else base] = config
    return [(config, name) for name, config in named.items()]


def _short_name(target: str) -> str:
    words = [Path(word).stem for word in target.split() if not word.startswith("-")] or ["server"]
    runner = len(words) > 1 and re.fullmatch(r"python[\d.]*|node|npx|uvx?|deno|bun", words[0])
    word = urlsplit(target).hostname or (words[1] if runner else words[0])
    if re.fullmatch(r"localhost|[\d.:]+", word):
        word = "server"
    return re.sub(r"[^A-Za-z0-9]+", "_", re.sub(r"^mcp-server-", "", word)).strip("_") or "server"


def _without_secrets(target: str) -> str:
    """A URL without its user and query, which may hold keys."""
    parts = urlsplit(target)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl() if is_url(target) else target
