"""What probing would call, without a call: the same probing on a server whose calls all fail."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from mcprl.scenarios.probing.hints import Hints
from mcprl.scenarios.probing.probe import probe
from mcprl.types import Call, Json, Tool, ToolResult, ToolServer


async def rehearse(server: ToolServer, seed: int, budget: int, hints: Hints | None = None) -> list[Call]:
    """The calls that probing would make if all of them failed; the server is asked for nothing.

    Probing itself fills further arguments with values of its results. It calls no other tools than these.
    """
    silent = _Silent(tuple(server.tools), server.instructions)
    await probe(silent, seed, budget, hints=hints)
    return silent.calls


@dataclass(frozen=True)
class _Silent:
    """A server's tools without the server: keeps the calls and answers each with an error."""

    tools: tuple[Tool, ...]
    instructions: str
    forbidden: tuple[Tool, ...] = ()
    calls: list[Call] = field(default_factory=list[Call])

    @asynccontextmanager
    async def session(self, setup: Sequence[Call] = ()) -> AsyncGenerator["_Silent"]:
        yield self

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        self.calls.append(Call(tool, dict(arguments)))
        return ToolResult("Error: not called", is_error=True)

    async def resources(self) -> list[tuple[str, str]]:
        return []

    async def known_values(self) -> dict[str, Json]:
        return {}
