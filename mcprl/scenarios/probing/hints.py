"""What the user knows about a server: values for its parameters, requests with their calls, recorded calls.

All three become values and calls that probing makes; nothing in them is believed without a call that worked.
"""

import ast
import csv
import io
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcprl.errors import ConfigError
from mcprl.judges.checks import leaves
from mcprl.scenarios.probing.knowledge import Knowledge, SourcedValue
from mcprl.scenarios.probing.sources import HINTS, place
from mcprl.scenarios.probing.traffic import Recorded, read_traffic
from mcprl.scenarios.slots import Slot
from mcprl.types import Call, Scalar

BARE = "value"
"""The name of values that the user gave without one."""


@dataclass(frozen=True)
class Hints:
    """What the user knows.

    `values` has values by parameter (`order_id`) or tool and parameter (`get_order.order_id`); those without a name are
    under `BARE`. `examples` are requests with the calls that serve them. `traffic` are recorded calls.
    """

    values: Mapping[str, list[Scalar]] = field(default_factory=dict[str, list[Scalar]])
    examples: tuple[tuple[str, tuple[Call, ...]], ...] = ()
    traffic: tuple[Recorded, ...] = ()

    def calls(self) -> list[Call]:
        """The calls of the examples and the traffic, each once."""
        made = [call for _, calls in self.examples for call in calls] + [recorded.call for recorded in self.traffic]
        return list({json.dumps([call.tool, call.arguments], sort_keys=True): call for call in made}.values())

    def add_to(self, known: Knowledge) -> None:
        """Put the values, the calls' arguments and the recorded results among the values that probing calls with."""
        for name, values in self.values.items():
            for value in values:
                known.base.add(("from", HINTS, name), value)
        for call in self.calls():
            if call.tool not in known.tools:
                continue
            for path, leaf in leaves(call.arguments):
                names = [str(part) for part in path if isinstance(part, str)]
                if names and not isinstance(leaf, bool):
                    known.base.add(("from", HINTS, f"{call.tool}.{names[-1]}"), leaf)
        for recorded in self.traffic:
            if recorded.result is not None and recorded.call.tool in known.tools:
                known.base.harvest(recorded.call.tool, recorded.result)
                known.records.add(recorded.call.tool, recorded.call.arguments, recorded.result)

    @staticmethod
    def picked(known: Knowledge, call: Call) -> dict[Slot, SourcedValue]:
        """The values of a hinted call by slot, with where probing finds them again."""
        given = {place("", path)[2:]: leaf for path, leaf in leaves(call.arguments)}
        picked: dict[Slot, SourcedValue] = {}
        for slot in known.slots[call.tool]:
            names = place("", slot.path)[2:]
            if names in given:
                source = ("choices",) if slot.choices else ("from", HINTS, f"{call.tool}.{slot.key}")
                picked[slot] = (source, given[names])
        return picked


def read_hints(values: str = "", examples: Iterable[str] = (), traffic: str = "") -> Hints:
    """The hints of a file of values, of examples as text, and of a file of recorded calls.

    Raises `ConfigError`, which names the file and the line, or the example.
    """
    return Hints(
        read_values(Path(values)) if values else {},
        tuple(read_example(text) for text in examples),
        tuple(read_traffic(Path(traffic))) if traffic else (),
    )


# --- values -----------------------------------------------------------------------------------------------------------


def read_values(path: Path) -> dict[str, list[Scalar]]:
    """The values of a file by parameter: TOML or JSON (a table per tool, or names at the top), CSV (a column each), or
    lines: `order_id = O-17, O-18`, or a bare value.
    """
    text = read_file(path, "--values")
    match path.suffix.lower():
        case ".toml":
            return _named(_toml(path, text), path)
        case ".json":
            return _named(_json(path, text), path)
        case ".csv":
            return _columns(path, text)
        case _:
            return _lines(text)


def read_file(path: Path, option: str) -> str:
    """The text of a file that an option names. Raises `ConfigError`."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{option} {path}: cannot be read: {error}") from None


def _toml(path: Path, text: str) -> Any:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"--values {path}: {error}") from None


def _json(path: Path, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(f"--values {path}:{error.lineno}: {error.msg}") from None


def _named(tree: Any, path: Path) -> dict[str, list[Scalar]]:
    """A tree of tables, lists and scalars as values by name; a table's name comes before its keys with a dot."""
    values: dict[str, list[Scalar]] = {}
    if not isinstance(tree, Mapping | list):
        raise ConfigError(f"--values {path}: expected names with values, or a list of values; got {tree!r}")
    for where, leaf in leaves(tree):
        names = [part for part in where if isinstance(part, str)]
        values.setdefault(".".join(names) or BARE, []).append(leaf)
    return values


def _columns(path: Path, text: str) -> dict[str, list[Scalar]]:
    values: dict[str, list[Scalar]] = {}
    head, *rows = list(csv.reader(io.StringIO(text))) or [[]]
    for number, row in enumerate(rows, 2):
        if row and len(row) != len(head):
            raise ConfigError(f"--values {path}:{number}: {len(row)} cells under {len(head)} names in the first line")
        for name, cell in zip(head, row, strict=bool(row)):
            if cell.strip():
                values.setdefault(name.strip(), []).append(_scalar(cell))
    return values


def _lines(text: str) -> dict[str, list[Scalar]]:
    values: dict[str, list[Scalar]] = {}
    for line in text.splitlines():
        line = line.strip()
        if not line or line.startswith("# "):
            continue
        name, equals, told = (part.strip() for part in line.partition("="))
        if equals and all(part.isidentifier() for part in name.replace("-", "_").split(".")):
            values.setdefault(name, []).extend(map(_scalar, re.findall(r"""\s*("[^"]*"|'[^']*'|[^,]+)""", told)))
        else:
            values.setdefault(BARE, []).append(_scalar(line))
    return values


def _scalar(text: str) -> Scalar:
    """The number that a text spells as people write one, else the text without quotes: `0x1F`, `+49151`, `1e5`, `007`
    and the version `3.10` are texts."""
    text = text.strip()
    if text in ("True", "False"):
        return text == "True"
    if re.fullmatch(r"-?(?:0|[1-9]\d{0,17})", text):
        return int(text)
    if re.fullmatch(r"-?(?:0|[1-9]\d{0,14})\.\d{1,12}", text) and str(float(text)) == text:
        return float(text)
    quoted = len(text) > 1 and text[0] in "\"'" and text[0] == text[-1]
    return text[1:-1] if quoted else text


# --- examples ---------------------------------------------------------------------------------------------------------


def read_example(text: str) -> tuple[str, tuple[Call, ...]]:
    """The request and the calls of `request => tool(name=value, ...); tool(...)`. Raises `ConfigError`."""
    request, arrow, told = text.partition("=>")
    if not arrow or not request.strip() or not told.strip():
        raise ConfigError(f"--example {text!r}: expected \"request => tool(name='value')\"")
    return request.strip(), tuple(_calls(told.strip(), text))


def _calls(told: str, text: str) -> Iterator[Call]:
    """The calls that a text spells as Python calls with literal arguments. A tool's name may have any `-` or `.`."""
    problem = f"--example {text!r}: {told!r} cannot be read; expected tool(name='value', ...), more calls after a ;"
    rest = told
    names: dict[str, str] = {}
    for number, (name, bare) in enumerate(_tool_names(rest)):
        rest = rest.replace(name + "(", f"tool{number}(", 1) if name != bare else rest
        names[f"tool{number}"] = name
    try:
        statements = ast.parse(rest).body
    except (SyntaxError, ValueError):
        raise ConfigError(problem) from None
    for statement in statements:
        made = statement.value if isinstance(statement, ast.Expr) else None
        for call in made.elts if isinstance(made, ast.Tuple) else [made]:
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
                raise ConfigError(problem)
            try:
                arguments = {str(entry.arg): ast.literal_eval(entry.value) for entry in call.keywords}
            except ValueError:
                raise ConfigError(problem) from None
            yield Call(names.get(call.func.id, call.func.id), arguments)


def _tool_names(text: str) -> list[tuple[str, str]]:
    """Names before a parenthesis that are no Python names, each with what Python would read."""
    found = re.findall(r"(?:^|[;,\n]\s*)([A-Za-z_][\w.-]*)\(", text)
    return [(name, name.rpartition("-")[2].rpartition(".")[2]) for name in found if not name.isidentifier()]
