"""Where the calls of allowed tools go, and what carries them there."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from mcprl.servers.limits import Limits
from mcprl.types import ToolResult


@dataclass(frozen=True)
class Route:
    """The way of an allowed tool's calls: the name of its server, its name and schema there, and its limits.

    `reads`: it is handled as a read. `stateless`: the server or the operator says that it reads.
    """

    server: str
    tool: str
    schema: dict[str, Any]
    reads: bool
    stateless: bool
    limits: Limits


class ServerSession(Protocol):
    """One session with one server."""

    async def call(self, route: Route, arguments: Mapping[str, Any], max_bytes: int) -> ToolResult:
        """Make a call. Raises `SessionLost`, `Unavailable`, or `ServerError` if no connection can be had."""
        ...

    def rest(self) -> None:
        """Read through no connection until the next call. One that is the session's own stays."""
        ...

    def release(self) -> None:
        """End it."""
        ...
