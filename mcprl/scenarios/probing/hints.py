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
from mcprl.scenarios.slots import Slot
from mcprl.servers.digest import digest
from mcprl.text import parse_json
from mcprl.types import Call, Json, Scalar

BARE = "value"
"""The name of values that the user gave without one."""


@dataclass(frozen=True)
class Recorded:
    """A recorded call; `result` is its result as JSON, `None` if none was recorded, or if it is text or an error."""

    call: Call
    result: Json = None


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


# --- traffic ---------------------------------------------------------------------------------------------------------


def read_traffic(path: Path) -> list[Recorded]:
    """The recorded calls of a JSON or JSONL file. Raises `ConfigError`, which names the line, if it has none."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"--traffic {path}: cannot be read: {error}") from None
    recorder = _Recorder()
    for record in _documents(path, text):
        recorder.read(record)
    if not recorder.calls:
        raise ConfigError(
            f"--traffic {path}: no tool call in it; expected chat messages with tool_calls, or JSON-RPC messages of "
            "tools/call"
        )
    return [Recorded(call, recorder.results.get(number)) for number, call in enumerate(recorder.calls)]


def _documents(path: Path, text: str) -> Iterator[Json]:
    """The JSON of the whole file, or of each line. A line may have words before its JSON, as logs have."""
    try:
        yield json.loads(text)
        return
    except ValueError:
        pass
    for number, line in enumerate(text.splitlines(), 1):
        start = line.find("{")
        if start < 0:
            continue
        try:
            yield json.loads(line[start:])
        except ValueError as error:
            raise ConfigError(f"--traffic {path}:{number}: no JSON: {error}") from None


class _Recorder:
    """Collects calls and their results from any JSON, wherever in it they are. A result is of the latest call with its
    id that has none: conversations count their calls anew."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.results: dict[int, Json] = {}
        self._open: dict[str, int] = {}

    def read(self, value: Json) -> None:
        """Collect from a document: chat messages and JSON-RPC messages at any depth."""
        if isinstance(value, list):
            for item in value:  # pyright: ignore[reportUnknownVariableType]
                self.read(item)
        if not isinstance(value, Mapping):
            return
        fields: dict[str, Any] = dict(value)  # pyright: ignore[reportUnknownArgumentType]
        if fields.get("method") == "tools/call" and isinstance(fields.get("params"), Mapping):
            self._call(str(fields.get("id")), fields["params"].get("name"), fields["params"].get("arguments"))
        elif isinstance(fields.get("result"), Mapping) and "content" in fields["result"] and "id" in fields:
            self._result(str(fields["id"]), fields["result"])
        elif isinstance(fields.get("tool_calls"), list):
            for call in fields["tool_calls"]:
                if isinstance(call, Mapping):
                    function = call["function"] if isinstance(call.get("function"), Mapping) else call  # pyright: ignore
                    self._call(str(call.get("id")), function.get("name"), function.get("arguments"))  # pyright: ignore
        elif fields.get("role") == "tool":
            self._keep(str(fields.get("tool_call_id")), str(fields.get("content")))
        else:
            for inner in fields.values():
                self.read(parse_json(inner) if isinstance(inner, str) else inner)

    def _call(self, key: str, name: Any, arguments: Any) -> None:
        if isinstance(arguments, str):
            arguments = parse_json(arguments)
        if isinstance(name, str) and isinstance(arguments or {}, Mapping):
            self._open[key] = len(self.calls)
            self.calls.append(Call(name, dict(arguments or {})))

    def _result(self, key: str, result: Mapping[str, Any]) -> None:
        blocks = result["content"] if isinstance(result["content"], list) else []
        texts = [str(block.get("text", "")) for block in blocks if isinstance(block, Mapping)]
        if result.get("isError"):
            self._open.pop(key, None)
        else:
            structured = result.get("structuredContent")
            self._keep(key, json.dumps(structured) if structured else "\n".join(texts))

    def _keep(self, key: str, text: str) -> None:
        number, result = self._open.pop(key, None), digest(text, max_bytes=100_000)
        if number is not None and not result.is_error and result.structured is not None:
            self.results[number] = result.structured
