"""Procedural servers: deterministic, callable, unlike one another and unlike the servers the policy is tested on."""

import json
import re
from typing import Any

import pytest
from support.paths import TESTS
from worlds import World, world

from mcprl.text import stems
from mcprl.types import Call, Tool

SHOWN_ON: dict[str, dict[str, dict[str, Any]]] = json.loads((TESTS / "support" / "shown_on.json").read_text())
"""The tools of the servers that the policy is shown on as unseen ones: parameters and description of each by server and
name. Recorded on 2026-11-22 from the servers' own listings."""

NEVER = set(
    re.findall(
        r"\w+",
        """customer customers order orders product products stock timezone timezones entity entities observation
    observations relation relations file files directory directories echo node nodes repo repos repository commit
    commits branch branches staging table tables sql insight flight flights airport airports passenger passengers
    baggage reservation reservations env annotated gzip""",
    )
)

SEEDS = 500


@pytest.fixture(scope="module")
def worlds() -> list[World]:
    return [world(seed) for seed in range(SEEDS)]


def example(schema: dict[str, Any], known: dict[str, Any], name: str = "") -> Any:
    """A value that fits a property: one seen under that name in a result, else a plain one."""
    if "anyOf" in schema:
        return example(schema["anyOf"][0], known, name)
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema["type"] if isinstance(schema["type"], str) else schema["type"][0]
    if kind == "object":
        required = schema.get("required", [])
        return {key: example(inner, known, key) for key, inner in schema["properties"].items() if key in required}
    if kind == "array":
        return [example(schema["items"], known, name)]
    python = {"string": str, "integer": int, "number": (int, float), "boolean": bool}[kind]
    if isinstance(known.get(name), python) and not (isinstance(known[name], bool) and kind != "boolean"):
        return known[name]
    return {"string": "abc", "integer": 3, "number": 2.5, "boolean": True}[kind]


def arguments_for(tool: Tool, known: dict[str, Any]) -> dict[str, Any]:
    properties = tool.input_schema["properties"]
    return {name: example(properties[name], known, name) for name in tool.input_schema["required"]}


def leaves(value: Any, found: dict[str, Any]) -> None:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in items:
        found.setdefault(str(name), inner)
        leaves(inner, found)


async def tour(made: World) -> list[tuple[str, str, bool]]:
    """Call every tool twice, with arguments taken from earlier results where they fit."""
    log: list[tuple[str, str, bool]] = []
    known: dict[str, Any] = {}
    async with made.session() as session:
        for _ in range(2):
            for tool in sorted(made.tools, key=lambda tool: len(tool.input_schema["required"])):
                result = await session.call(tool.name, arguments_for(tool, known))
                leaves(result.structured, known)
                log.append((tool.name, result.text, result.is_error))
    return log


def spoken(name: str) -> list[str]:
    """The words of a tool's name, whatever its case."""
    return (
        re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
        .replace("_", " ")
        .replace("-", " ")
        .replace(".", " ")
        .lower()
        .split()
    )


async def test_the_same_seed_gives_the_same_tools_and_the_same_answers():
    for seed in range(40):
        one, other = world(seed), world(seed)
        assert one.tools == other.tools
        assert await tour(one) == await tour(other)
    assert world(1).tools != world(2).tools


async def test_every_tool_answers_and_most_answer_without_an_error(worlds: list[World]):
    calls = [entry for made in worlds[:300] for entry in await tour(made)]
    fine = {name for name, _, is_error in calls if not is_error}
    assert all(text for _, text, _ in calls)
    assert len(fine) > 0.7 * len({name for name, _, _ in calls})


async def test_arguments_that_do_not_fit_come_back_as_errors(worlds: list[World]):
    for made in worlds[:100]:
        async with made.session() as session:
            for tool in made.tools:
                for name in tool.input_schema["required"]:
                    assert (await session.call(tool.name, {name: object()})).is_error
                if tool.input_schema["required"]:
                    assert (await session.call(tool.name, {})).is_error
            assert (await session.call("no such tool", {})).is_error


async def test_a_session_starts_afresh_with_its_set_up_calls_made():
    changed = 0
    for seed in range(60):
        made = world(seed)
        writes = [tool for tool in made.tools if tool.read_only is False and not tool.destructive]
        reads = [tool for tool in made.tools if tool.read_only and not tool.input_schema["required"]]
        setup = [Call(tool.name, arguments_for(tool, {})) for tool in writes]
        async with made.session() as before:
            first = [(await before.call(tool.name, {})).text for tool in reads]
            for call in setup:
                await before.call(call.tool, call.arguments)
            after = [(await before.call(tool.name, {})).text for tool in reads]
        async with made.session() as fresh:
            assert [(await fresh.call(tool.name, {})).text for tool in reads] == first
        async with made.session(setup) as prepared:
            assert [(await prepared.call(tool.name, {})).text for tool in reads] == after
        changed += first != after
    assert changed >= 5


def test_no_tool_has_the_name_of_one_that_the_policy_is_shown_on(worlds: list[World]):
    taken = {"".join(spoken(name)) for tools in SHOWN_ON.values() for name in tools}
    for made in worlds:
        for tool in made.tools:
            assert "".join(spoken(tool.name)) not in taken, (made.seed, tool.name)
            assert not NEVER.intersection(spoken(tool.name)), (made.seed, tool.name)


FILLER = set(
    "a an the of by for to in on with and or from one all get list its this that at is be as into about".split()
)


def content(text: str) -> set[str]:
    """The words of a text or a name that say what it is about."""
    return {word for word in stems(text) if word not in FILLER}


def alike(one: set[str], other: set[str]) -> float:
    """How much two sets have in common, from 0 to 1."""
    return len(one & other) / len(one | other) if one | other else 1.0


def is_double(tool: Tool, name: str, known: dict[str, Any]) -> bool:
    """Whether a tool takes nearly the same parameters as a known one and says nearly the same of itself, or takes the
    same ones and has nearly the same name."""
    parameters = {" ".join(stems(key)) for key in tool.input_schema["properties"]}
    theirs = {" ".join(stems(key)) for key in known["parameters"]}
    if alike(parameters, theirs) < 0.6:
        return False
    says = alike(content(tool.description), content(known["description"]))
    named = alike(content(tool.name), content(name))
    return says >= 0.5 or (parameters == theirs and (says >= 0.3 and named >= 0.5))


def test_no_tool_doubles_one_that_the_policy_is_shown_on(worlds: list[World]):
    known = [(server, name, each) for server, tools in SHOWN_ON.items() for name, each in tools.items()]
    for made in worlds:
        for tool in made.tools:
            doubled = [(server, name) for server, name, each in known if is_double(tool, name, each)]
            assert not doubled, (made.seed, tool.name, tool.description, doubled)


@pytest.mark.parametrize(
    ("name", "parameters", "description"),
    [
        ("openTopics", ["names"], "Open specific topics by their names"),
        ("match_site_clock", ["source_timezone", "target_timezone", "time"], "Convert time between sites"),
        ("relay", ["message"], "Echoes back the input text"),
    ],
)
def test_doubles_are_recognised(name: str, parameters: list[str], description: str):
    tool = Tool(name, description, {"type": "object", "properties": {key: {"type": "string"} for key in parameters}})
    assert any(is_double(tool, own, each) for tools in SHOWN_ON.values() for own, each in tools.items())


def test_worlds_differ_in_names_sizes_schemas_and_words(worlds: list[World]):
    tools = [tool for made in worlds for tool in made.tools]
    some = [tool for made in worlds[:300] for tool in made.tools]
    assert len({tool.name for tool in some}) > 1_600
    assert len({tool.description for tool in some}) > 1_200
    assert {len(made.tools) for made in worlds} >= set(range(2, 15))
    assert max(len(made.tools) for made in worlds) <= 14
    counts = [len(tool.input_schema["properties"]) for tool in tools]
    assert all(counts.count(n) > 0.03 * len(tools) for n in (0, 1, 2, 3))
    schemas = [schema for tool in tools for schema in tool.input_schema["properties"].values()]
    kinds = [schema.get("type") for schema in schemas]
    assert all(kinds.count(kind) >= 20 for kind in ("string", "integer", "number", "boolean", "array", "object"))
    assert sum("enum" in schema for schema in schemas) > 200
    assert sum("anyOf" in schema for schema in schemas) > 20
    for shape in (
        r"[a-z]+(_[a-z]+)+$",
        r"[a-z]+([A-Z][a-z]+)+$",
        r"[a-z]+(-[a-z]+)+$",
        r"[a-z]+\.[a-z_]+$",
        r"([A-Z][a-z]+)+$",
    ):
        assert sum(bool(re.match(shape, tool.name)) for tool in tools) > 40, shape
    assert {tool.read_only for tool in tools} == {True, False, None}
    assert any(tool.destructive for tool in tools)


async def test_results_are_short_and_come_in_many_shapes(worlds: list[World]):
    results = [text for made in worlds[:200] for _, text, is_error in await tour(made) if not is_error]
    sizes = sorted(map(len, results))
    assert sizes[len(sizes) // 2] < 200
    assert sizes[int(len(sizes) * 0.9)] < 700
    assert sum(text.startswith("{") for text in results) > 200
    assert sum(text.startswith("[") for text in results) > 50
    assert sum(not text.startswith(("{", "[")) for text in results) > 200
