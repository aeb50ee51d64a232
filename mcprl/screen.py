"""What the command line shows: tables and lines. The only module that imports rich."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from mcprl.cost import prompt_cost
from mcprl.scenarios import Pack
from mcprl.server import Server, ToolStatus
from mcprl.types import Call, Scenario, Tool

_MOST_EXAMPLES = 6


def console() -> Console:
    """Standard output: styled on a terminal, plain lines elsewhere, where a line may be as long as it needs."""
    screen = Console(highlight=False, soft_wrap=False)
    return screen if screen.is_terminal else Console(highlight=False, width=160)


def _table(*columns: str, right: Sequence[str] = ()) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in columns:
        numeric = name in right
        table.add_column(name, justify="right" if numeric else "left", no_wrap=numeric, overflow="fold")
    return table


# --- inspect ----------------------------------------------------------------------------------------------------------


def show_server(screen: Console, server: Server) -> None:
    """Who the server is, what it offers, what may be called and why not, and what it costs."""
    for facts in server.describe():
        screen.print(
            f"[bold]{escape(facts.title or facts.name)}[/] {escape(facts.version)}  [dim]{escape(facts.target)}[/]"
        )
        screen.print(f"  {facts.transport}, protocol {facts.protocol}")
        screen.print(f"  connected in {facts.connect_s:.2f} s, tools listed in {facts.list_s:.2f} s")
        screen.print(f"  sessions: {escape(facts.sessions)}" + (", has resources" if facts.resources else ""))
        for note in facts.notes:
            screen.print(f"  note: {escape(note)}")
    cost = prompt_cost(server.tools)
    table = _table("tool", "class", "tokens", "parameters", right=["tokens"])
    for status in server.listing:
        tokens = str(cost.tools.get(status.name, "")) if status.allowed else "-"
        last = (
            Text(_parameters(status.tool))
            if status.allowed and status.tool
            else Text(f"left out: {status.reason}", "yellow")
        )
        table.add_row(Text(status.name), _kind(status), tokens, last)
    screen.print()
    screen.print(table)
    screen.print()
    screen.print(
        f"{len(server.tools)} of {len(server.listing)} tools may be called; "
        f"their prompt costs [bold]{cost.prompt:,}[/] tokens ({cost.how})"
    )


def _kind(status: ToolStatus) -> Text:
    tool = status.tool
    if tool is None:
        return Text("unreadable", "red")
    if tool.read_only:
        return Text("read-only", "green")
    if tool.destructive:
        return Text("destructive", "red")
    return Text("unmarked", "dim") if tool.read_only is None else Text("writes", "yellow")


def _parameters(tool: Tool) -> str:
    """`order_id: string, limit?: integer`: enough to see what a tool takes."""
    schema = tool.input_schema
    required = set(schema.get("required", ()))
    fields: Mapping[str, Any] = schema.get("properties", {})
    return ", ".join(f"{name}{'' if name in required else '?'}: {_type(field)}" for name, field in fields.items())


def _type(field: Any) -> str:
    if not isinstance(field, dict):
        return "any"
    schema: dict[str, Any] = field
    if "enum" in schema:
        return "|".join(str(value) for value in schema["enum"])
    kinds = schema.get("type") or [_type(option) for option in schema.get("anyOf", schema.get("oneOf", ()))]
    return str(kinds) if isinstance(kinds, str) else "|".join(map(str, kinds)) or "any"


# --- scenarios --------------------------------------------------------------------------------------------------------


def show_pack(screen: Console, pack: Pack) -> None:
    """A few tasks with what was proved about them, and what the whole pack covers."""
    for scenario in _examples(pack.scenarios):
        screen.print(f"[bold]{escape(scenario.kind)}[/] [dim]({scenario.split})[/] {escape(scenario.request)}")
        for call in scenario.plan:
            screen.print(f"    [cyan]{escape(_call(call))}[/]", soft_wrap=True)
        screen.print(f"    [green]{escape(scenario.answer)}[/]")
    screen.print()
    table = _table("tool, parameter or pair", "train", "val", "test", right=["train", "val", "test"])
    for name, *counts in pack.coverage():
        table.add_row(Text(name), *(str(count) if count else "[yellow]0[/]" for count in counts))
    screen.print(table)
    for name, reason in pack.left_out.items():
        screen.print(f"[yellow]no task for {escape(name)}: {escape(reason)}[/]")
    sizes = {split: len(pack.split(split)) for split in ("train", "val", "test")}
    screen.print(f"\n{sizes['train']} training, {sizes['val']} validation and {sizes['test']} held-out tasks")


def _examples(scenarios: Iterable[Scenario]) -> list[Scenario]:
    """One task of each kind first, up to a handful."""
    first: dict[str, Scenario] = {}
    for scenario in scenarios:
        first.setdefault(scenario.kind, scenario)
    return list(first.values())[:_MOST_EXAMPLES]


def _call(call: Call) -> str:
    return f"{call.tool}({', '.join(f'{name}={value!r}' for name, value in call.arguments.items())})"


# --- runs -------------------------------------------------------------------------------------------------------------


def show_rows(screen: Console, rows: Sequence[Mapping[str, object]]) -> None:
    """Rows of the same columns as a table; numbers stand to the right."""
    if not rows:
        return
    right = [name for name, value in rows[0].items() if isinstance(value, int | float)]
    table = _table(*rows[0], right=right)
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row.values()))
    screen.print(table)


def _cell(value: object) -> str:
    return "" if value is None else f"{value:.3g}" if isinstance(value, float) else str(value)
