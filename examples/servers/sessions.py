"""What the example servers share: a state of its own for each MCP session, and the command line."""

import argparse
from collections.abc import Callable
from typing import Generic, TypeVar

from mcp.server.mcpserver import Context, MCPServer

T = TypeVar("T")
_MOST = 1024


class Sessions(Generic[T]):
    """The state of each MCP session; the oldest are forgotten. On stdio a process is one session."""

    def __init__(self, new: Callable[[], T]) -> None:
        self._new, self._states = new, dict[str, T]()

    def __getitem__(self, ctx: Context) -> T:
        name = self._name(ctx)
        if name not in self._states:
            self[ctx] = self._new()
        return self._states[name]

    def __setitem__(self, ctx: Context, state: T) -> None:
        self._states.pop(self._name(ctx), None)
        self._states[self._name(ctx)] = state
        if len(self._states) > _MOST:
            del self._states[next(iter(self._states))]

    @staticmethod
    def _name(ctx: Context) -> str:
        return (ctx.headers or {}).get("mcp-session-id", "")


def command_line(about: str | None) -> argparse.ArgumentParser:
    """The options that every example server has."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--http", type=int, metavar="PORT", help="serve streamable HTTP on 127.0.0.1 instead of stdio")
    return parser


def serve(server: MCPServer, http: int | None) -> None:
    """Serve until the client leaves, or on a port until Ctrl-C."""
    if http is None:
        server.run()
    else:
        server.run("streamable-http", host="127.0.0.1", port=http)
