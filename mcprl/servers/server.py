"""Connected MCP servers as one set of tools, with sessions to call them in."""

from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from copy import copy
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import TaskGroup

from mcprl.config import ServerConfig, ToolPolicy, read_reward
from mcprl.errors import ServerError
from mcprl.events import Emit, Note
from mcprl.secrets import learn
from mcprl.servers.approval import Approvals
from mcprl.servers.backend import Backend, ServerFacts, name_servers
from mcprl.servers.connection import CLOSE_S
from mcprl.servers.demo import demonstrated
from mcprl.servers.digest import cap
from mcprl.servers.exchanges import Exchanges, RecordedSession
from mcprl.servers.limits import limits
from mcprl.servers.log import logging_to
from mcprl.servers.partner import Answer, Partner
from mcprl.servers.permission import ToolStatus, matches, permission, require_callable, require_matches, unmarked_note
from mcprl.servers.protocol import Malformed, listed_differently
from mcprl.servers.reads import ReadCache
from mcprl.servers.replay import PREFIX, Replay, recorded_servers
from mcprl.servers.reset import Turns
from mcprl.servers.rewards import scoring
from mcprl.servers.routes import Route, ServerSession
from mcprl.servers.session import JointSession
from mcprl.types import Call, Json, RewardCheck, Session, Tool


class Server:
    """Connected MCP servers; implements `types.ToolServer`. Made by `connect`. Without a server there is a `task`.

    `listing` holds every tool that was listed, `tools` those that `permission` allows; no other is ever called. The
    state rule in `pool` decides which process or MCP session serves a session: sessions that only read may share a
    process, but not an MCP session over HTTP, and no session sees what another wrote (as far as the server keeps its
    sessions apart). `repeats` is true if one of the servers only repeats what was recorded of it.
    """

    def __init__(
        self,
        backends: Sequence[Backend | Replay],
        policy: ToolPolicy,
        partner: Partner | None = None,
        task: str = "",
    ) -> None:
        self._backends, self.policy = {backend.name: backend for backend in backends}, policy
        self._partner, self._task = partner, task
        self.routes: dict[str, Route] = {}
        self.routes_behind: dict[str, Route] = {}
        """Those of the tools that mcprl alone calls."""
        self.cache: ReadCache | None = None
        self._exchanges: Exchanges | None = None
        self.scoring: RewardCheck | None = None
        """How the servers score rollouts (`--reward-tool`)."""
        scores = list[str]()
        self.repeats = any(isinstance(backend, Replay) for backend in backends)
        listing: list[ToolStatus] = []
        for backend in backends:
            prefix = f"{backend.name}__" if len(backends) > 1 else ""
            ambiguous = listed_differently(backend.listed)
            for tool in backend.listed:
                name = prefix + tool.name
                if isinstance(tool, Malformed):
                    listing.append(ToolStatus(backend.name, name, None, False, f"malformed: {tool.reason}"))
                    continue
                status = permission(backend.name, name, tool, policy)
                if name in self.routes or tool.name in ambiguous:
                    reason = "listed twice" + " and not alike" * (tool.name in ambiguous)
                    status = replace(status, allowed=False, undecided=False, behind=False, reason=reason)
                if status.tool and (status.allowed or status.behind):
                    limited = limits({name, tool.name}, policy)
                    if limited.pace:
                        backend.slow_down(tool.name, limited.pace)
                    reads, schema = bool(status.allowed and status.tool.read_only), tool.input_schema
                    routes = self.routes if status.allowed else self.routes_behind
                    routes[name] = Route(backend.name, tool.name, schema, reads, status.stateless, limited)
                    if matches({name, tool.name}, policy.setup) and isinstance(backend, Backend):
                        backend.renewed_by(tool.name)
                if status.behind and policy.reward and {name, tool.name} & {read_reward(policy.reward)[0]}:
                    scores.append(name)
                listing.append(status)
        self.listing = tuple(listing)
        listed = {tool.name for backend in backends for tool in backend.listed}
        require_matches(policy, listed | {status.name for status in listing})
        self.scoring = scoring(scores, policy)
        self.turns = Turns(self._reset if any(backend.resets for backend in backends) else None)
        self._approvals = Approvals(policy, self.listing)
        processes = [backend.processes for backend in backends if backend.processes]
        self.processes = min(processes, default=0)
        """Sessions that may write at once on every one of the servers; 0 if nothing bounds them."""
        self.writers = anyio.CapacityLimiter(self.processes) if len(processes) > 1 else None

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that may be called, in the servers' order; named `server__tool` if there are several servers."""
        return tuple(status.tool for status in self.listing if status.allowed and status.tool)

    @property
    def forbidden(self) -> tuple[Tool, ...]:
        """The tools that the policy leaves out."""
        left_out = (status for status in self.listing if not (status.allowed or status.behind))
        return tuple(status.tool for status in left_out if status.tool)

    @property
    def behind(self) -> tuple[Tool, ...]:
        """The tools that mcprl alone calls, to set tasks up and to score them (`--setup-tool`, `--reward-tool`)."""
        return tuple(status.tool for status in self.listing if status.behind and status.tool)

    def route(self, tool: str) -> Route | None:
        """The way of a call that mcprl makes, not the policy."""
        return self.routes.get(tool) or self.routes_behind.get(tool)

    @property
    def instructions(self) -> str:
        """The servers' own instructions for the model, each cut to the policy's `max_instruction_bytes`.

        Empty if there are none. With several servers, each begins with its name; without a server, it is the task.
        """
        if not self._backends:
            return self._task
        limit = self.policy.max_instruction_bytes
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
        setups: dict[str, list[Call]] = {name: [] for name in self._backends}
        for call in setup:
            if not (route := self.route(call.tool)):
                raise ServerError(
                    f"a setup call is of {call.tool!r}, which is not among the allowed tools; --setup-tool "
                    f"{call.tool} lets mcprl alone call it"
                )
            if reason := await self.refuse(call.tool, route, call.arguments):
                raise ServerError(f"a setup call of {call.tool!r} is refused: {reason}")
            setups[route.server].append(Call(route.tool, call.arguments))
        opened = JointSession(self, {name: self._open(name, calls) for name, calls in setups.items()}, setup)
        try:
            yield opened
        finally:
            opened.release()

    def _open(self, name: str, setup: Sequence[Call]) -> ServerSession:
        session = self._backends[name].session(setup)
        return RecordedSession(session, self._exchanges, name, setup) if self._exchanges else session

    async def refuse(self, tool: str, route: Route, arguments: Mapping[str, Any]) -> str:
        """Why a call of an allowed tool must not be made; empty if it may, and then it is counted."""
        reason = route.limits.refuse(arguments)
        return reason or ("" if await self.approved(tool) else "the operator did not approve of it")

    def let_approve(self, tasks: TaskGroup) -> None:
        """Have the operator asked before the first call of each tool, if that is configured; in `tasks`.

        Raises `ConfigError` if there is nobody to ask.
        """
        self._approvals.begin({facts.name: facts.identity for facts in self.describe()}, tasks)

    async def approved(self, tool: str) -> bool:
        """Whether the operator approves of an allowed tool's calls; with `--approve` that is asked now."""
        return await self._approvals.approved(tool)

    def caching_reads(self) -> "Server":
        """This server, except that sessions which have not written make identical calls of reading tools once."""
        caching = copy(self)
        caching.cache = ReadCache()
        return caching

    def lend(self, answer: Answer) -> None:
        """Have a model answer a server that asks for one, if the policy lends it (`--sampling base`)."""
        if self._partner:
            self._partner.answer = answer

    def share(self, name: str) -> None:
        """Have all sessions with a server read through one process, whatever they call: nothing of it writes."""
        shared = {tool: replace(route, stateless=True) for tool, route in self.routes.items() if route.server == name}
        self.routes |= shared

    @contextmanager
    def recorded(self, folder: Path | None) -> Generator[None]:
        """Keep what the servers told, and all calls of sessions that are opened meanwhile, in a run's folder if one is
        given.
        """
        if folder is None:
            yield
            return
        with Exchanges.open(folder, write=True) as exchanges:
            for name, backend in self._backends.items():
                tools = [asdict(tool) for tool in backend.listed]
                exchanges.write_server(name, facts=asdict(backend.facts), tools=tools, resets=backend.resets)
            self._exchanges = exchanges
            try:
                yield
            finally:
                self._exchanges = None

    @property
    def resets(self) -> bool:
        """Whether the servers' shared state is reset before rollouts that write (`--reset-tool`, `--reset-command`)."""
        return self.turns.active

    def turn(self, writes: bool) -> AbstractAsyncContextManager[None]:
        """A turn on the servers' shared state, in which one session is opened: alone and after a reset if it `writes`.

        Without a configured reset it begins at once. Raises `ServerError` if the reset failed.
        """
        return self.turns.take(writes)

    async def _reset(self) -> None:
        for backend in self._backends.values():
            await backend.reset()

    @property
    def repeated(self) -> int:
        """How many calls were made again after a fault that may pass."""
        return sum(each.retries.repeated for each in self._backends.values() if isinstance(each, Backend))

    def describe(self) -> tuple[ServerFacts, ...]:
        """The facts of each server."""
        return tuple(backend.facts for backend in self._backends.values())

    async def resources(self) -> list[tuple[str, str]]:
        """The first few text resources as (uri, text), cut to 20 kB each, without those that cannot be read in time."""
        texts: list[tuple[str, str]] = []
        for backend in self._backends.values():
            if backend.facts.resources:
                told = await backend.resources()
                self._keep(backend.name, resources=told)
                texts += told
        return texts

    async def known_values(self) -> dict[str, Json]:
        """Values by where they stand and by name: on the servers' command lines, in their environments, and what they
        complete for the arguments of their prompts and resource templates. Secrets are left out.
        """
        values: dict[str, Json] = {"command line": {}, "environment": {}, "completions": {}}
        for backend in self._backends.values():
            told = await backend.known_values()
            self._keep(backend.name, known_values=told)
            for origin, named in told.items():
                for name, own in named.items():
                    values[origin].setdefault(name, []).extend(own)
        return values

    def _keep(self, server: str, **parts: Json) -> None:
        if self._exchanges:
            self._exchanges.write_server(server, **parts)


@asynccontextmanager
async def connect(
    servers: Sequence[ServerConfig],
    policy: ToolPolicy | None = None,
    *,
    log: Path | None = None,
    emit: Emit | None = None,
    task: str = "",
) -> AsyncGenerator[Server]:
    """Connect to the servers and list their tools. Their output and the SDK's goes to `log`, or nowhere. Without a
    server there may be a `task`, which is done without tools.

    `emit` is given by who is about to call tools: it gets a note about those left out since nobody says what they do.
    Raises a `ServerError` of one line within each server's `timeout_s`, and with `emit` if no tool may be called;
    `ConfigError` if a pattern of the policy matches no tool.
    """
    if not servers and not task:
        raise ServerError("no MCP server given; name one with --server URL-or-command")
    failure: Exception | None = None
    learn(servers)
    with logging_to(log):
        async with demonstrated(servers) as given, anyio.create_task_group() as tasks:
            backends: list[Backend | Replay] = []
            partner = Partner() if policy and policy.sampling == "base" else None
            try:
                configs = [config for each in given for config in recorded_servers(each)]
                for config, name in name_servers(configs):
                    replays = config.target.startswith(PREFIX)
                    backends.append(Replay(config, name, emit) if replays else Backend(config, name, tasks, partner))
                for backend in backends:
                    await backend.start()
                server = Server(backends, policy or ToolPolicy(), partner, task)
                if emit and servers:
                    require_callable(server.listing)
                    server.let_approve(tasks)
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
