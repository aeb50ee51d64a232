"""Procedural MCP servers: `world(seed)` is a small server that nobody has seen, for pre-training the nano policy.

A world has tools, a state and a style, all drawn from the seed, and answers calls in plain Python in the shape that
real servers' results have after `servers.digest`. The scenario generator probes it exactly as it probes a real server.
On one core of a small server building a world takes about 2 ms and a call about 0.03 ms.

    python recipes/nano/worlds.py --seed 3      prints a world's tools as the policy reads them, and a few calls
"""

import argparse
import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

from build import Builder, Handler, State
from calculators import CALCULATORS
from entities import Entity, entity, entity_family
from stores import agenda, ledger, log, memos, settings, status
from style import Refusal, Style, Text
from words import word

from mcprl.servers.digest import digest
from mcprl.types import Call, Session, Tool, ToolResult

TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


class World:
    """A procedural server: a `ToolServer` without a wire."""

    def __init__(
        self, seed: int, tools: Sequence[Tool], handlers: Mapping[str, Handler], state: State, style: Style
    ) -> None:
        self.seed = seed
        self.tools = list(tools)
        self.instructions = ""
        self.forbidden: tuple[Tool, ...] = ()
        self.style = style
        self._handlers = handlers
        self._state = state

    @asynccontextmanager
    async def session(self, setup: Sequence[Call] = ()) -> AsyncGenerator[Session]:
        """A session whose writes nobody else sees."""
        session = WorldSession(self)
        for call in setup:
            await session.call(call.tool, call.arguments)
        yield session

    async def resources(self) -> list[tuple[str, str]]:
        return []

    async def known_values(self) -> dict[str, Any]:
        return {}

    def fresh_state(self) -> State:
        return {table: {key: _copied(value) for key, value in rows.items()} for table, rows in self._state.items()}

    def answer(self, state: State, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Validate, run and digest one call."""
        handler = self._handlers.get(tool)
        if handler is None:
            return ToolResult(f"Unknown tool: {tool}", is_error=True)
        try:
            given = {name: value for name, value in arguments.items() if value is not None}
            _validate(handler, given, self.style)
            value = handler.run(
                state, {handler.slots[name]: value for name, value in given.items() if name in handler.slots}
            )
        except Refusal as refusal:
            return digest(str(refusal), is_error=not refusal.soft)
        except (ArithmeticError, ValueError, IndexError) as error:  # as MCP servers report what a tool raises
            return digest(f"Error executing tool {tool}: {error}", is_error=True)
        return digest(str(value)) if isinstance(value, Text) else digest("null", value)


class WorldSession:
    """One conversation with a world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._state = world.fresh_state()

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        return self._world.answer(self._state, tool, arguments)


def world(seed: int) -> World:
    """The world of this seed."""
    rng = Random(seed)
    builder = Builder(rng, Style.draw(rng))
    compose(builder)
    return World(seed, builder.tools, builder.handlers, builder.state, builder.style)


def compose(b: Builder) -> None:
    """Fill a world: 2 to 14 tools from a few entities and small families."""
    rng = b.rng
    target = rng.choice((2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 11, 12, 13, 14))
    writes = rng.random() < 0.65
    empty = writes and rng.random() < 0.12
    entities: list[Entity] = []
    calculators = rng.sample(CALCULATORS, len(CALCULATORS))
    if target > 3 and b.chance(0.3):
        status(b)
    while len(b.tools) < target:
        left = target - len(b.tools)
        family = rng.choices(
            ("entity", "calculator", "ledger", "memos", "agenda", "settings", "log", "status"),
            (7.0, 1.8, 0.7, 0.7, 0.7, 0.4, 0.3, 0.2),
        )[0]
        if len(entities) == 1 and left > 2:  # most servers are about things that belong to one another
            family = "entity"
        if family == "entity" and len(entities) < 4:
            entities.append(entity(b, entities, empty))
            entity_family(b, entities[-1], min(left, rng.randint(2, 5)), writes)
        elif family == "calculator" and calculators:
            b.flavour = word(rng) if b.chance(0.25) else ""
            calculators.pop()(b)
            b.flavour = ""
        elif family == "ledger":
            ledger(b, writes)
        elif family == "memos":
            memos(b, writes)
        elif family == "agenda":
            agenda(b, writes)
        elif family == "settings":
            settings(b, writes)
        elif family == "log":
            log(b, writes)
        elif family == "status":
            status(b)
    del b.tools[14:]
    rng.shuffle(b.tools) if b.chance(0.3) else None


def _copied(value: Any) -> Any:
    """Rows and lists are copied one level deep: handlers replace what lies deeper, they never change it."""
    return value.copy() if isinstance(value, (dict, list)) else value


def _validate(handler: Handler, arguments: Mapping[str, Any], style: Style) -> None:
    for name in handler.required:
        if name not in arguments:
            raise style.wrong(f"'{name}' is required")
    for name, value in arguments.items():
        if (wanted := handler.accepted.get(name)) is not None and (problem := _problem(wanted, value)):
            raise style.wrong(f"{name}: {problem}")


def _problem(schema: dict[str, Any], value: Any) -> str:
    """Why `value` does not fit `schema`, or nothing. As deep as procedural schemas go."""
    kind = schema["type"]
    if not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        return f"expected {kind}, got {json.dumps(value, default=str)[:40]}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{value!r} is not one of {', '.join(map(str, schema['enum']))}"
    if "maximum" in schema and not schema["minimum"] <= value <= schema["maximum"]:
        return f"{value} is not between {schema['minimum']} and {schema['maximum']}"
    if isinstance(value, list):
        return next(filter(None, (_problem(schema["items"], item) for item in value)), "")
    if isinstance(value, dict):
        known = schema["properties"]
        missing = [name for name in schema.get("required", ()) if name not in value]
        inner = (_problem(known[name], item) for name, item in value.items() if name in known)
        return f"'{missing[0]}' is required" if missing else next(filter(None, inner), "")
    return ""


async def show(seed: int) -> None:
    """Print the world as the policy reads it, and what it answers."""
    import jinja2  # only this printout needs it; transformers brings it

    import mcprl

    made = world(seed)
    template = (Path(mcprl.__file__).parent / "models/nano/chat_template.jinja").read_text()
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    print(
        environment.from_string(template).render(
            tools=[tool.as_function() for tool in made.tools], messages=[{"role": "user", "content": "..."}]
        )
    )
    async with made.session() as session:
        known: dict[str, Any] = {}
        for tool in sorted(made.tools, key=lambda tool: len(tool.input_schema.get("required", ()))):
            arguments = {
                name: _guess(tool.input_schema["properties"][name], known.get(name))
                for name in tool.input_schema["required"]
            }
            result = await session.call(tool.name, arguments)
            _harvest(result.structured, known)
            print(f"\n>>> {tool.name}({json.dumps(arguments, ensure_ascii=False)})" + ("  [error]" * result.is_error))
            print(result.text)


def _guess(schema: dict[str, Any], known: Any) -> Any:
    if known is not None and not _problem(schema, known):
        return known
    if "enum" in schema:
        return schema["enum"][0]
    if schema["type"] == "object":
        return {name: _guess(schema["properties"][name], None) for name in schema.get("required", ())}
    if schema["type"] == "array":
        return [_guess(schema["items"], known)]
    return {"string": "abc", "integer": 3, "number": 2.5, "boolean": True}[schema["type"]]


def _harvest(value: Any, known: dict[str, Any]) -> None:
    if isinstance(value, dict):
        for name, inner in value.items():
            known.setdefault(name, inner)
            _harvest(inner, known)
    elif isinstance(value, list):
        for inner in value[:1]:
            _harvest(inner, known)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Print a procedural MCP server and what it answers.")
    parser.add_argument("--seed", type=int, default=0, help="which world")
    asyncio.run(show(parser.parse_args().seed))
