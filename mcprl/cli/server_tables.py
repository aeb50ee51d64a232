"""What is known of servers before a call: their tools, what may be called and as what, and what probing would call."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from mcprl.cli.prompt_cost import prompt_cost
from mcprl.cli.tables import sheet, spelled
from mcprl.servers.sharing import prospect
from mcprl.text import counted, visible
from mcprl.types import Call, Tool

if TYPE_CHECKING:
    from mcprl.servers.permission import ToolStatus
    from mcprl.servers.server import Server

_DEEPEST = 8
"""References and unions in one another that are followed: a schema may refer to itself."""


def show_server(screen: Console, server: "Server", remembered: Mapping[str, str]) -> None:
    """The server's facts, a row for each tool (its mark, as what it may be called and why, its parameters or why it is
    left out), and the prompt's cost. `remembered` are the user's answers about unmarked tools.
    """
    shown = "shown to the model" if server.instructions else "left out by --max-instruction-bytes 0"
    for facts in server.describe():
        title, version = visible(facts.title or facts.name), visible(facts.version)
        screen.print(f"[bold]{escape(title)}[/] {escape(version)}  [dim]{escape(facts.target)}[/]")
        screen.print(f"  {facts.transport}, protocol {facts.protocol}")
        screen.print(f"  connected in {facts.connect_s:.2f} s, tools listed in {facts.list_s:.2f} s")
        screen.print(f"  sessions: {escape(prospect(server, facts))}" + ("; has resources" if facts.resources else ""))
        if facts.instructions:
            screen.print(f"  instructions: {len(facts.instructions.encode(errors='replace')):,} bytes, {shown}")
        for note in facts.notes:
            screen.print(f"  note: {escape(note)}")
    cost = prompt_cost(server.tools, server.instructions)
    table = sheet("tool", "marked", "called as", "tokens", "parameters", right=["tokens"])
    for status in server.listing:
        if status.allowed and status.tool:
            details = Text(visible(parameters(status.tool)))
        else:
            no = "you answered no (--forget asks again); " if remembered.get(status.name) == "no" else ""
            use = "for mcprl alone" if status.behind else "left out"
            details = Text(visible(f"{use}: {no}{status.reason}"), "yellow")
        tokens = str(cost.tools.get(status.name, "")) if status.allowed else "-"
        called = _called_as(status, remembered)
        table.add_row(Text(visible(status.name)), _mark(status), called, tokens, details)
    screen.print()
    screen.print(table)
    screen.print()
    screen.print(
        f"{len(server.tools)} of {counted(len(server.listing), 'tool')} may be called; "
        f"their prompt costs [bold]{cost.prompt:,}[/] tokens ({cost.how})"
    )


def _mark(status: "ToolStatus") -> Text:
    """What the server says of the tool."""
    if status.tool is None:
        return Text("unreadable", "red")
    colour = {"read-only": "green", "writes": "yellow", "destructive": "red", "unmarked": "dim"}[status.marked]
    return Text(status.marked, colour)


def _called_as(status: "ToolStatus", remembered: Mapping[str, str]) -> str:
    """Whether the tool is handled as a read or as a write, and by whose word."""
    if not status.allowed or status.tool is None:
        return "-"
    why = "remembered" if status.name in remembered else status.reason
    return f"{'read' if status.tool.read_only else 'write'} ({why})"


def parameters(tool: Tool) -> str:
    """A tool's parameters with their types, such as `order_id: string, limit?: integer`. Those of one branch of a union
    alone are optional."""
    root = tool.input_schema
    branches = list(_branches(root, root))
    fields = {name: field for branch in branches for name, field in branch.get("properties", {}).items()}
    needed = [{*branch.get("required", ())} for branch in branches]
    optional = {name: "" if all(name in each for each in needed) else "?" for name in fields}
    return ", ".join(f"{name}{optional[name]}: {_type(root, field)}" for name, field in fields.items())


def _branches(root: Mapping[str, Any], schema: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """The objects that a schema allows, each with all its properties: unions opened, references followed."""
    schema = _followed(root, schema)
    alternatives = next((schema[key] for key in ("anyOf", "oneOf") if isinstance(schema.get(key), list)), None)
    if depth > _DEEPEST or alternatives is None:
        parts = [part for each in schema.get("allOf", ()) for part in _branches(root, each, depth + 1)]
    else:
        for branch in alternatives:
            for part in _branches(root, branch, depth + 1):
                yield _joined([{**schema, "anyOf": None, "oneOf": None}, part])
        return
    yield _joined([schema, *parts])


def _joined(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """An object with the properties of all parts."""
    properties = {name: field for part in parts for name, field in part.get("properties", {}).items()}
    return {"properties": properties, "required": [name for part in parts for name in part.get("required", ())]}


def _followed(root: Mapping[str, Any], schema: Any) -> Mapping[str, Any]:
    """A schema with its `$ref` into the tool's own schema followed; empty if it leads nowhere."""
    for _ in range(_DEEPEST):
        if not isinstance(schema, dict) or "$ref" not in schema:
            break
        target: Any = root
        for part in str(schema["$ref"]).removeprefix("#").strip("/").split("/"):  # pyright: ignore[reportUnknownArgumentType]
            target = target.get(part) if isinstance(target, dict) else None  # pyright: ignore
        schema = target  # pyright: ignore[reportUnknownVariableType]
    return schema if isinstance(schema, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _type(root: Mapping[str, Any], field: Any, depth: int = 0) -> str:
    schema = _followed(root, field)
    if "const" in schema:
        return _spelled(schema["const"])
    if "enum" in schema:
        return "|".join(map(_spelled, schema["enum"]))
    if types := schema.get("type"):
        return types if isinstance(types, str) else "|".join(map(str, types))
    union = next((schema[key] for key in ("anyOf", "oneOf", "allOf") if isinstance(schema.get(key), list)), ())
    if depth > _DEEPEST:
        return "any"
    return "|".join(dict.fromkeys(_type(root, option, depth + 1) for option in union)) or "any"


def _spelled(value: Any) -> str:
    """A value of a schema: a text as it is, others as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def show_planned(screen: Console, tools: Sequence[Tool], calls: Sequence[Call], most: int) -> None:
    """A row for each tool that may be called: as what, how often probing calls it if it learns nothing, and a call."""
    table = sheet("tool", "as", "calls", "for example", right=["calls"])
    for tool in tools:
        own = [call for call in calls if call.tool == tool.name]
        example = spelled(max(own, key=lambda call: len(call.arguments))) if own else "its arguments are unknown"
        effect = "read" if tool.read_only else "write"
        table.add_row(Text(visible(tool.name)), effect, str(len(own)), Text(visible(example[:200])))
    screen.print(table)
    screen.print(
        f"\nno tool was called. Here: {counted(len(calls), 'call')}, as if each failed; probing makes at most "
        f"{most}, fills further arguments with values of its results, and calls no other tool. "
        "Tasks and rollouts call the same tools."
    )
