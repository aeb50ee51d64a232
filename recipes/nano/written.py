"""Servers that were written down whole, and what people ask them: `written/NAME/server.py` and `tasks.jsonl`.

Each is a small real MCP server with requests in people's words, the calls that serve them and the answer. They teach a
starter the language that no generator speaks. The calls are made here, so that every conversation has real results.
"""

import importlib.util
import json
import logging
import random
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
from mcp import Client
from mcp.server.mcpserver import MCPServer
from practice import Talk

from mcprl.scenarios.writers.plain import DECLINED
from mcprl.servers.digest import digest
from mcprl.servers.protocol import block_text
from mcprl.training.demonstrations import transcript
from mcprl.types import Call, Scenario, Session, Tool, ToolResult

FOLDER = Path(__file__).parent / "written"
HELD_OUT = ("chess", "deploys", "firewall", "freight", "grants", "hotel", "lab", "newsletter")
"""Servers that are never trained on, each by another writer."""
CHUNK = 15
"""Conversations of a step."""


logging.getLogger("mcp.server").setLevel(logging.CRITICAL)  # a tool that refuses is no fault here


def names() -> list[str]:
    """All written servers."""
    return sorted(path.parent.name for path in FOLDER.glob("*/server.py"))


@lru_cache
def conversations(name: str) -> tuple[Sequence[Tool], list[Talk]]:
    """The tools of a written server, and every conversation with it."""
    server = Written(FOLDER / name)
    return server.tools, anyio.run(_conversations, server)


def chunk(number: int, learned: Sequence[str] = ()) -> tuple[str, list[Talk]]:
    """A server and some conversations with it. Numbers count through shuffled epochs of the servers that are `learned`:
    by default, of all that are not held out."""
    learned = learned or [name for name in names() if name not in HELD_OUT]
    parts = [(name, at) for name in learned for at in range(60 // CHUNK)]
    epoch, position = divmod(number, len(parts))
    random.Random(f"epoch {epoch}").shuffle(parts)
    name, at = parts[position]
    talks = list(conversations(name)[1])
    random.Random(f"{name} {epoch}").shuffle(talks)
    return name, talks[at * CHUNK : (at + 1) * CHUNK]


def strangers(name: str, number: int) -> Iterator[tuple[Sequence[Tool], Talk]]:
    """Requests to other written servers, declined: one with all of this one's tools shown, one with one to three."""
    rng = random.Random(f"strangers {number}")
    tools = list(conversations(name)[0])
    for shown in (tools, rng.sample(tools, rng.choice((1, 1, 2, 3)))):
        other = rng.choice([each for each in names() if each not in (name, *HELD_OUT)])
        asked = rng.choice([messages for kind, messages in conversations(other)[1] if kind not in ("ask", "decline")])
        yield shown, ("stranger", (asked[0], {"role": "assistant", "content": rng.choice(DECLINED)}))


class Written:
    """A written server: a `ToolServer` in this process. Every session has a module of its own, with its data as loaded.

    A module whose session has ended is used again: to run one makes its tools' schemas, which takes 50 ms.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._idle: list[tuple[ModuleType, dict[str, Any]]] = []
        self.tools: list[Tool] = anyio.run(self._listed)
        self.instructions = ""
        self.forbidden: tuple[Tool, ...] = ()

    @asynccontextmanager
    async def session(self, setup: Sequence[Call] = ()) -> AsyncGenerator[Session]:
        async with self._client() as client:
            session = _InProcess(client)
            for call in setup:
                await session.call(call.tool, call.arguments)
            yield session

    def describe(self) -> tuple[()]:
        return ()

    async def resources(self) -> list[tuple[str, str]]:
        return []

    async def known_values(self) -> dict[str, Any]:
        return {}

    @asynccontextmanager
    async def _client(self) -> AsyncGenerator[Client]:
        module, data = self._idle.pop() if self._idle else _loaded(self.folder)
        vars(module).update(deepcopy(data))  # its functions look their globals up by name
        async with Client(module.server) as client:
            yield client
        self._idle.append((module, data))

    async def _listed(self) -> list[Tool]:
        async with self._client() as client:
            page = await client.list_tools(cursor=None)
            return [Tool(tool.name, tool.description or "", tool.input_schema) for tool in page.tools]


def _loaded(folder: Path) -> tuple[ModuleType, dict[str, Any]]:
    """A server's module, and a copy of its data."""
    spec = importlib.util.spec_from_file_location(f"written_{folder.name}", folder / "server.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, deepcopy({name: value for name, value in vars(module).items() if _is_data(name, value)})


def _is_data(name: str, value: object) -> bool:
    return not (name.startswith("__") or callable(value) or isinstance(value, ModuleType | MCPServer))


class _InProcess:
    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        reply = await self._client.call_tool(tool, dict(arguments))
        text = "\n".join(block_text(block) for block in reply.content)
        return digest(text, reply.structured_content, bool(reply.is_error))


async def _conversations(server: Written) -> list[Talk]:
    talks: list[Talk] = []
    for line in (server.folder / "tasks.jsonl").read_text().splitlines():
        task = json.loads(line)
        plan = tuple(Call(call["tool"], call["arguments"]) for call in task["calls"])
        scenario = Scenario(task["request"], task["request"], (), plan, task["answer"], kind=task["kind"])
        talks.append((scenario.kind, await transcript(server, scenario)))
    return talks
