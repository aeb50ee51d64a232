"""Tool listings that servers really send: schemas that are none, a thousand tools."""

import json
import sys
import time
from pathlib import Path
from typing import Any

from support.command_line import mcprl

from mcprl.cli import server_tables
from mcprl.cli.prompt_cost import prompt_cost
from mcprl.config import ServerConfig
from mcprl.servers.server import connect
from mcprl.types import Tool

RAW = Path(__file__).with_name("raw.py")


def target(folder: Path, tools: list[Any]) -> str:
    (folder / "tools.json").write_text(json.dumps(tools))
    return f"{sys.executable} {RAW} {folder / 'tools.json'}"


def tool(name: str, schema: Any, **inside: Any) -> dict[str, Any]:
    whole = {"type": "object", "properties": {"x": schema}, **inside}
    return {"name": name, "description": "Get a thing.", "annotations": {"readOnlyHint": True}, "inputSchema": whole}


async def test_a_tool_whose_schema_is_none_is_left_out_with_its_reason_and_the_others_stay(tmp_path: Path) -> None:
    bad = {
        "type_number": (5, "inputSchema.x: 5 is no schema"),
        "type_5": ({"type": 5}, "inputSchema.x: `type` is 5"),
        "type_object": ({"type": {"a": 1}}, "inputSchema.x: `type` is {'a': 1}"),
        "type_list": ({"type": ["string", 5]}, "inputSchema.x: `type` is ['string', 5]"),
        "enum_5": ({"type": "string", "enum": 5}, "inputSchema.x: `enum` is 5"),
        "word": ("string", "inputSchema.x: 'string' is no schema"),
        "inside": ({"type": "array", "items": {"type": 5}}, "inputSchema.x[]: `type` is 5"),
        "choice": ({"anyOf": [{"type": "null"}, {"enum": 3}]}, "inputSchema.x: `enum` is 3"),
    }
    good = {
        "plain": {"type": "string"},
        "anything": True,
        "own_required": {"type": "string", "required": True},
        "unknown_type": {"type": "int"},
        "odd_options": {"enum": [{"a": 1}, ["b"], None]},
    }
    listed = [tool(name, schema) for name, (schema, _) in bad.items()]
    listed += [tool(name, schema) for name, schema in good.items()]
    listed.append(tool("required_5", {"type": "string"}, required=5))
    async with connect([ServerConfig(target=target(tmp_path, listed))]) as server:
        assert {each.name for each in server.tools} == {*good}
        reasons = {status.name: status.reason for status in server.listing if status.tool is None}
    assert reasons == {name: f"malformed: {reason}" for name, (_, reason) in bad.items()} | {
        "required_5": "malformed: inputSchema: `required` is 5"
    }


def test_inspect_shows_tools_with_odd_schemas(tmp_path: Path) -> None:
    listed = [
        tool("odd_options", {"enum": [{"a": 1}, ["b"], None]}),
        tool("anything", True),
        tool("type_5", {"type": 5}),
    ]
    inspected = mcprl("inspect", "--server", target(tmp_path, listed))
    assert "2 of 3 tools may be called" in inspected.out, inspected.err


def test_the_cost_of_tools_takes_time_with_their_number() -> None:
    tools = [Tool(f"fetch_thing_{n}", f"Get thing number {n} from the archive.") for n in range(1_000)]
    began = time.perf_counter()
    few = prompt_cost(tools[:100])
    a_hundred = time.perf_counter() - began
    began = time.perf_counter()
    cost = prompt_cost(tools)
    a_thousand = time.perf_counter() - began
    assert a_thousand < 30 * a_hundred, "with its square it would take a hundred times as long"
    assert abs(sum(few.tools.values()) - few.prompt) < 60, "what stands around the tools is none's"
    assert {name: cost.tools[name] for name in few.tools} == few.tools


def test_inspect_shows_the_parameters_of_unions_and_references(tmp_path: Path) -> None:
    level = {"enum": ["low", "high", None]}
    by = [
        {"properties": {"id": {"type": "integer"}, "level": {"$ref": "#/$defs/Level"}}, "required": ["id"]},
        {"$ref": "#/$defs/ByName"},
    ]
    named = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    shapes: dict[str, dict[str, Any]] = {
        "either": {"anyOf": by, "$defs": {"Level": level, "ByName": named}},
        "one": {"oneOf": by, "$defs": {"Level": level, "ByName": named}},
        "both": {"allOf": by, "properties": {"at": {"const": 7}}, "$defs": {"Level": level, "ByName": named}},
        "itself": {"$ref": "#/$defs/Node", "$defs": {"Node": {"properties": {"next": {"$ref": "#/$defs/Node"}}}}},
        "loop": {"$ref": "#/$defs/Loop", "$defs": {"Loop": {"$ref": "#/$defs/Loop"}}},
        "nowhere": {"properties": {"x": {"$ref": "#/$defs/None"}, "y": {"anyOf": [{"type": "null"}, level]}}},
    }
    right = {
        "either": "id?: integer, level?: low|high|null, name?: string",
        "one": "id?: integer, level?: low|high|null, name?: string",
        "both": "at?: 7, id: integer, level?: low|high|null, name: string",
        "itself": "next?: any",
        "loop": "",
        "nowhere": "x?: any, y?: null|low|high|null",
    }
    for name, schema in shapes.items():
        assert server_tables.parameters(Tool(name, "", {"type": "object", **schema})) == right[name]
    listed = [{"name": name, "inputSchema": {"type": "object", **schema}} for name, schema in shapes.items()]
    done = mcprl("inspect", "--server", target(tmp_path, listed), "--sandbox")
    assert done.code == 0, done.err
    assert right["both"] in done.out


def test_inspect_says_what_it_waits_for_while_a_server_starts(tmp_path: Path) -> None:
    done = mcprl("inspect", "--server", f"sh -c 'sleep 6; exec {target(tmp_path, [tool('a', {})])}'")
    assert done.code == 0, done.err
    assert "connecting to the server (0:05)" in done.out
    assert "1 of 1 tool may be called" in done.out
