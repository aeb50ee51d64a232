"""Connected MCP servers as one set of tools, with sessions to call them in."""

import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import anyio

from mcprl.config import ServerConfig, ToolPolicy
from mcprl.errors import ServerError, SessionLost, Unavailable
from mcprl.events import Emit, Note
from mcprl.secrets import learn
from mcprl.servers.backend import Backend, ServerFacts, name_servers
from mcprl.servers.connection import CLOSE_S, Connection
from mcprl.servers.digest import cap, digest
from mcprl.servers.limits import Limits, limits
from mcprl.servers.log import logging_to
from mcprl.servers.permission import (
    ToolStatus,
    permission,
    require_callable,
    require_matches,
    unmarked_note,
)
from mcprl.servers.pool import Lease
from mcprl.servers.protocol import Malformed
from mcprl.servers.reset import Turns
from mcprl.types import Call, Json, Session, Tool, ToolResult


class Server:
    """One or more connected MCP servers; implements `types.ToolServer`. Made by `connect`.

    `listing` holds every tool that was listed, `tools` those that `permission` allows; no other is ever called. The
    state rule in `pool` decides which process or MCP session serves a session: sessions that only read may share a
    process, but not an MCP session over HTTP, and no session sees what another wrote (as far as the server keeps its
    sessions apart).
    """

    def __init__(self, backends: Sequence[Backend], policy: ToolPolicy) -> None:
        self._backends, self._policy = tuple(backends), policy
        self._routes: dict[str, _Route] = {}
        listing: list[ToolStatus] = []
        for backend in backends:
            prefix = f"{backend.name}__" if len(backends) > 1 else ""
            for tool in backend.listed:
                name = prefix + tool.name
                if isinstance(tool, Malformed):
                    listing.append(ToolStatus(backend.name, name, None, False, f"malformed: {tool.reason}"))
                    continue
                status = permission(backend.name, name, tool, policy)
                if name in self._routes:
                    status = replace(status, allowed=False, undecided=False, reason="listed twice")
                if status.allowed and status.tool:
                    limited = limits({name, tool.name}, policy)
                    reads = bool(status.tool.read_only)
                    self._routes[name] = _Route(backend, tool.name, reads, status.stateless, limited)
                listing.append(status)
        self.listing = tuple(listing)
        listed = {tool.name for backend in backends for tool in backend.listed}
        require_matches(policy, listed | {status.name for status in listing})
        self._turns = Turns(self._reset if any(backend.resets for backend in backends) else None)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that may be called, in the servers' order; named `server__tool` if there are several servers."""
        return tuple(status.tool for status in self.listing if status.allowed and status.tool)

    @property
    def forbidden(self) -> tuple[Tool, ...]:
        """The tools that the policy leaves out."""
        return tuple(status.tool for status in self.listing if not status.allowed and status.tool)

    @property
    def instructions(self) -> str:
        """The servers' own instructions for the model, each cut to the policy's `max_instruction_bytes`.

        Empty if there are none. With several servers, each begins with its name.
        """
        limit = self._policy.max_instruction_bytes
        texts = {facts.name: facts.instructions for facts in self.describe()} if limit else {}
        capped = {name: cap(text, limit)[0] for name, text in texts.items() if text}
        if len(self._backends) == 1:
            return "".join(capped.values())
        return "\n\n".join(f"{name}: {text}" for name, text in capped.items())

    def session(self, setup: Sequence[Call] = ()) -> AbstractAsyncContextManager[Session]:
        """A session in a fresh state in which the `setup` calls have been made.

        Nothing is started before the first call. A call raises `SessionLost` if the connection died, could not be
        made, or the setup failed.
        """
        return self._session(setup)

    @asynccontextmanager
    async def _session(self, setup: Sequence[Call]) -> AsyncGenerator[Session]:
        setups: dict[Backend, list[Call]] = {backend: [] for backend in self._backends}
        for call in setup:
            if call.tool not in self._routes:
                raise ServerError(f"a setup call is of {call.tool!r}, which is not among the allowed tools")
            route = self._routes[call.tool]
            if reason := route.limits.refuse(call.arguments):
                raise ServerError(f"a setup call of {call.tool!r} is refused: {reason}")
            setups[route.backend].append(Call(route.tool, call.arguments))
        leases = {backend: backend.pool.lease(calls) for backend, calls in setups.items()}
        try:
            yield _Session(self._routes, leases, self._policy.max_result_bytes, self._turns)
        finally:
            for lease in leases.values():
                lease.release()

    @property
    def resets(self) -> bool:
        """Whether the servers' shared state is reset before rollouts that write (`--reset-tool`, `--reset-command`)."""
        return self._turns.active

    def turn(self, writes: bool) -> AbstractAsyncContextManager[None]:
        """A turn on the servers' shared state, in which one session is opened: alone and after a reset if it `writes`.

        Without a configured reset it begins at once. Raises `ServerError` if the reset failed.
        """
        return self._turns.take(writes)

    async def _reset(self) -> None:
        for backend in self._backends:
            await backend.reset()

    def describe(self) -> tuple[ServerFacts, ...]:
        """The facts of each server."""
        return tuple(backend.facts for backend in self._backends)

    async def resources(self) -> list[tuple[str, str]]:
        """The first few text resources as (uri, text), cut to 20 kB each, without those that cannot be read in time."""
        texts: list[tuple[str, str]] = []
        for backend in self._backends:
            if backend.facts.resources:
                texts += await backend.resources()
        return texts

    async def known_values(self) -> dict[str, Json]:
        """Values by where they stand and by name: on the servers' command lines, in their environments, and what they
        complete for the arguments of their prompts and resource templates. Secrets are left out.
        """
        values: dict[str, Json] = {"command line": {}, "environment": {}, "completions": {}}
        for backend in self._backends:
            for origin, named in (await backend.known_values()).items():
                for name, own in named.items():
                    values[origin].setdefault(name, []).extend(own)
        return values


@asynccontextmanager
async def connect(
    servers: Sequence[ServerConfig],
    policy: ToolPolicy | None = None,
    *,
    log: Path | None = None,
    emit: Emit | None = None,
) -> AsyncGenerator[Server]:
    """Connect to the servers and list their tools. Their output and the SDK's goes to `log`, or nowhere.

    `emit` is given by who is about to call tools: it gets a note about those left out since nobody says what they do.
    Raises a `ServerError` of one line within each server's `timeout_s`, and with `emit` if no tool may be called;
    `ConfigError` if a pattern of the policy matches no tool.
    """
    if not servers:
        raise ServerError("no MCP server given; name one with --server URL-or-command")
    failure: Exception | None = None
    learn(servers)
    with logging_to(log):
        async with anyio.create_task_group() as tasks:
            backends = [Backend(config, name, tasks) for config, name in name_servers(servers)]
            try:
                for backend in backends:
                    await backend.start()
                server = Server(backends, policy or ToolPolicy())
                if emit:
                    require_callable(server.listing)
                    if note := unmarked_note(server.listing):
                        emit(Note(note))
                yield server
            except Exception as error:
                failure = error  # raised outside the task group, which would wrap it
            finally:
                with anyio.move_on_after(CLOSE_S, shield=True):
                    for backend in backends:
                        backend.discard()
                    for backend in backends:
                        await backend.wait_closed()
                tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure


@dataclass(frozen=True)
class _Route:
    """Where the calls of an allowed tool go: its server, its name there, and whether it is handled as a read."""

    backend: Backend
    tool: str
    reads: bool
    stateless: bool
    limits: Limits


@dataclass(frozen=True)
class _Session:
    routes: Mapping[str, _Route]
    leases: Mapping[Backend, Lease[Connection]]
    max_bytes: int
    turns: Turns

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        if tool not in self.routes:
            known = ", ".join(self.routes)
            return digest(f"Error: there is no tool {tool!r}. The tools are: {known}", None, True, self.max_bytes)
        route = self.routes[tool]
        if reason := route.limits.refuse(arguments):
            return digest(f"Error: {tool!r} is not called: {reason}", None, True, self.max_bytes)
        if not route.reads:
            self.turns.wrote()
        try:
            return await self._call(route, arguments)
        except SessionLost:
            raise
        except Unavailable as error:
            return digest(f"Error: {error}", None, True, self.max_bytes)
        except ServerError as error:
            raise SessionLost(str(error)) from None

    async def _call(self, route: _Route, arguments: Mapping[str, Any]) -> ToolResult:
        """One call. If the server marks it as a read, it is repeated after a fault that may pass, in the state that the
        session has."""
        lease = self.leases[route.backend]
        for attempt in count():
            start = time.perf_counter()
            try:
                async with lease.use(writes=not route.stateless) as connection:
                    result = await connection.call(route.tool, arguments, self.max_bytes)
                route.backend.retries.succeeded()
                return replace(result, latency_s=time.perf_counter() - start)
            except (SessionLost, Unavailable) as error:
                lost = isinstance(error, SessionLost)
                if not route.stateless or (lost and lease.written) or not await route.backend.retries.wait(attempt):
                    raise
                if lost:
                    lease.release()  # the connection may have died of another session's call, or of old age
        raise AssertionError  # for the type checker: `count` does not end
