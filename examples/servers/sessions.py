"""What the example servers share: a state of its own for each MCP session, the command line, and a pack of games."""

import argparse
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Generic, TypeVar

from mcp.server.mcpserver import Context, MCPServer

T = TypeVar("T")
_MOST = 1024
SEEDS = {"train": range(640), "val": range(10_000, 10_048), "test": range(20_000, 20_192)}
"""The games of each split."""


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
    parser.add_argument("--pack", type=Path, metavar="FOLDER", help="write the tasks there, and end")
    return parser


def game_task(request: str, setup: str, seed: int, calls: Iterable[tuple[str, dict[str, Any]]], answer: str) -> Any:
    """A game as a line of a pack. The calls are one way to play it, which shows the form and not how to win."""
    plan = [{"tool": tool, "arguments": arguments} for tool, arguments in calls]
    held_out = {"suite": "seeds", "values": [f"seed {seed}"], "kind": "game"}
    return {"request": request, "setup": setup, "plan": plan, "answer": answer} | held_out


def write_pack(folder: Path, tasks: dict[str, Iterable[Any]]) -> None:
    """Write a pack, a file for each split."""
    folder.mkdir(parents=True, exist_ok=True)
    for split, of_split in tasks.items():
        lines = [json.dumps(task) + "\n" for task in of_split]
        (folder / f"{split}.jsonl").write_text("".join(lines))
        print(f"{len(lines)} tasks in {folder / f'{split}.jsonl'}")


def serve(server: MCPServer, http: int | None) -> None:
    """Serve until the client leaves, or on a port until Ctrl-C."""
    if http is None:
        server.run()
    else:
        server.run("streamable-http", host="127.0.0.1", port=http)
