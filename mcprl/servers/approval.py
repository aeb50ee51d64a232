"""Asking the operator before the first call of each tool (`--approve`)."""

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Protocol, runtime_checkable

import anyio
from anyio.abc import TaskGroup

from mcprl.config import ToolPolicy
from mcprl.errors import ConfigError
from mcprl.servers.permission import ToolStatus
from mcprl.text import visible


class Approver(Protocol):
    """Whoever answers for the operator."""

    @property
    def asks(self) -> bool:
        """Whether there is somebody to ask."""
        ...

    def always(self, server: str, status: ToolStatus) -> bool:
        """Whether the tool of the server with this identity was approved for good earlier."""
        ...

    async def ask(self, server: str, status: ToolStatus) -> bool:
        """Ask whether the tool may be called."""
        ...


APPROVER: ContextVar[Approver | None] = ContextVar("approver", default=None)
"""Whom to ask in this process; the command line sets it."""


@runtime_checkable
class Approves(Protocol):
    """A server whose tools the operator may have to approve."""

    async def approved(self, tool: str) -> bool: ...


class Approvals:
    """What the operator answered about the tools of one command. Each is asked about once, one after another, in
    `tasks`: a rollout whose deadline passes meanwhile leaves the question standing.
    """

    def __init__(self, policy: ToolPolicy, listing: Sequence[ToolStatus]) -> None:
        self._wanted = policy.approve
        self._statuses = {status.name: status for status in listing if status.allowed or status.behind}
        self._answers: dict[str, bool] = {}
        self._answered: dict[str, anyio.Event] = {}
        self._line = anyio.Lock()
        self._identities: Mapping[str, str] = {}
        self._tasks: TaskGroup | None = None

    def begin(self, identities: Mapping[str, str], tasks: TaskGroup) -> None:
        """Take over what was approved for good; `identities` are the servers' by name.

        Raises `ConfigError` if there is more to ask and nobody to answer.
        """
        self._identities, self._tasks = identities, tasks
        if not self._wanted:
            return
        approver = APPROVER.get()
        for name, status in self._statuses.items():
            if approver and approver.always(identities[status.server], status):
                self._answers[name] = True
        unknown = [visible(name)[:40] for name in self._statuses if name not in self._answers]
        if unknown and not (approver and approver.asks):
            raise ConfigError(
                f"--approve asks on a terminal, and there is none to ask about {', '.join(unknown[:8])}; name what may "
                "be called with --allow-tool instead, or answer `always` on a terminal first"
            )

    async def approved(self, name: str) -> bool:
        """Whether the tool may be called; asks if that is not known, and waits for the answer."""
        if not self._wanted or self._answers.get(name):
            return True
        if self._tasks is None:
            return False
        if name not in self._answered:
            self._answered[name] = anyio.Event()
            self._tasks.start_soon(self._ask, name)
        await self._answered[name].wait()
        return self._answers[name]

    async def _ask(self, name: str) -> None:
        approver, status = APPROVER.get(), self._statuses[name]
        async with self._line:
            self._answers[name] = approver is not None and await approver.ask(self._identities[status.server], status)
        self._answered[name].set()
