"""Files of tasks, JSONL or CSV, read line by line. Every error names the file, the line, the field and the value.

`scenarios.packs.handwritten` makes scenarios of the lines.
"""

import csv
import difflib
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from mcprl.errors import ScenarioError
from mcprl.text import shortened

SHORT = ("expect", "calls", "state", "missing", "asks", "declines")
"""The fields in short form, which become checks."""
SEEDS = "seeds"
"""A field that makes one line many tasks: the numbers that stand for `{seed}`, by split."""
_RANGE = re.compile(r"(?P<split>train|val|test)\s+(?P<first>\d+)\s*-\s*(?P<last>\d+)")


@dataclass(frozen=True)
class Line:
    """One task as it was written: its fields, and where they stand (a file, "line 12")."""

    path: Path | None
    place: str
    tree: dict[str, Any]

    def error(self, field: str, message: str) -> ScenarioError:
        """The error that names the file, the line and the field."""
        where = (str(self.path) if self.path else "", self.place, field)
        return ScenarioError(f"{', '.join(filter(None, where))}: {message}")


# --- files to lines ---------------------------------------------------------------------------------------------------


def read_lines(path: Path) -> list[Line]:
    """The lines of a JSONL file, a JSON list or a CSV file (`,`, `;` or tab between cells).

    Raises `ScenarioError` if the file is missing, is of another kind, or has a line that cannot be parsed.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ScenarioError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv"):
        return list(_csv_lines(path, text))
    if suffix == ".json":
        return list(_json_entries(path, text))
    if suffix == ".jsonl":
        return list(_json_lines(path, text))
    raise ScenarioError(f"{path}: tasks are read from .jsonl, .json or .csv files, or from the folder of a pack")


def _json_lines(path: Path, text: str) -> Iterator[Line]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            where = f"line {number}"
            yield _as_line(path, where, _parsed(f"{path}, {where}", line, "; write one task a line, as one object"))


def _json_entries(path: Path, text: str) -> Iterator[Line]:
    """The entries of a JSON list; a file that holds none is read line by line."""
    if not text.lstrip().startswith("["):
        yield from _json_lines(path, text)
        return
    for number, entry in enumerate(_parsed(str(path), text), 1):
        yield _as_line(path, f"entry {number}", entry)


def _as_line(path: Path, place: str, tree: Any) -> Line:
    if not isinstance(tree, dict):
        raise ScenarioError(f"{path}, {place}: {shown(tree)} is not a task; write an object with at least a request")
    return Line(path, place, tree)  # pyright: ignore[reportUnknownArgumentType]


def _parsed(where: str, text: str, advice: str = "") -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        why = f"{error.msg} at {f'line {error.lineno}, ' if error.lineno > 1 else ''}column {error.colno}"
    except RecursionError:
        why = "nested too deeply"
    except ValueError:
        why = "it holds a number of too many digits"
    raise ScenarioError(f"{where} is not JSON: {why}{advice}")


def _csv_lines(path: Path, text: str) -> Iterator[Line]:
    head = text.partition("\n")[0]
    delimiter = max("\t;,", key=head.count)
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True)
    columns: list[str] = []
    before = 0
    try:
        for row in reader:
            place, before = f"line {before + 1}", reader.line_num
            if not columns:
                columns = [column.strip().casefold() for column in row]
                _validate_header(path, columns)
            elif any(cell.strip() for cell in row):
                if len(row) > len(columns):
                    raise ScenarioError(
                        f"{path}, {place} has {len(row)} cells, the header {len(columns)} columns; put cells that "
                        f"hold {delimiter!r} into double quotes"
                    )
                cells = {column: cell.strip() for column, cell in zip(columns, row, strict=False)}
                yield Line(path, place, {column: cell for column, cell in cells.items() if cell})
    except csv.Error as error:
        raise ScenarioError(f"{path}, line {reader.line_num} is not CSV: {error}") from None


def _validate_header(path: Path, columns: Sequence[str]) -> None:
    allowed = ("request", "split", "kind", "form", "id", "answer", "plan", "setup", SEEDS, *SHORT)
    if "request" not in columns:
        raise ScenarioError(
            f"{path}, line 1: no column is called request; the first line names the columns: {', '.join(allowed)}"
        )
    for column in columns:
        if columns.count(column) > 1:
            raise ScenarioError(f"{path}, line 1: two columns are called {column}; give each a name of its own")
        if column not in allowed:
            raise ScenarioError(f"{path}, line 1: {unknown('column', column, allowed)}")


def of_each_seed(line: Line) -> Iterator[Line]:
    """The line itself or, if it has seeds (`train 0-159; val 160-191; test 1000-1095`), a line for each: with its
    number in place of `{seed}`, its split, and the seed as the value that no other split may have."""
    if SEEDS not in line.tree:
        yield line
        return
    rest = json.dumps({name: value for name, value in line.tree.items() if name != SEEDS})
    if "{seed}" not in rest:
        raise line.error(SEEDS, "no other field says {seed}, so that all tasks were alike")
    if decided := {"split", "suite", "values"} & line.tree.keys():
        raise line.error(sorted(decided)[0], "stands beside seeds, which decide it")
    for part in str(line.tree[SEEDS]).split(";"):
        found = _RANGE.fullmatch(part.strip())
        if not found or int(found["first"]) > int(found["last"]):
            raise line.error(SEEDS, f"{shown(part.strip())}; expected ranges such as train 0-159; val 160-191")
        for seed in range(int(found["first"]), int(found["last"]) + 1):
            tree = json.loads(rest.replace('"{seed}"', str(seed)).replace("{seed}", str(seed)))
            own = {"split": found["split"], "suite": "seeds", "values": [f"seed {seed}"]}
            yield replace(line, tree=tree | own)


# --- validation -------------------------------------------------------------------------------------------------------


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def validated(line: Line, place: str, kind: type[Any], tree: Any) -> Any:
    """The dataclass `kind` made of a field's tree. Raises the line's error for the first field that does not fit."""
    if not isinstance(tree, dict):
        raise line.error(place, f"{shown(tree)} is not an object")
    allowed = [field.name for field in fields(kind)]
    for name in tree:  # pyright: ignore[reportUnknownVariableType]
        if name not in allowed:
            raise line.error(place, unknown("field", str(name), allowed))  # pyright: ignore[reportUnknownArgumentType]
    try:
        return _adapter(kind).validate_python(tree)
    except ValidationError as error:
        first = error.errors()[0]
        path, value = _follow(tree, first["loc"], first["type"] == "missing")  # pyright: ignore[reportUnknownArgumentType]
        field = ".".join(filter(None, (place, *path)))
        raise line.error(field, _expectation(first["type"], first["msg"], first.get("ctx", {}), value)) from None


def _follow(tree: Mapping[str, Any], loc: Sequence[str | int], missing: bool) -> tuple[list[str], Any]:
    """The part of an error's location that leads through the tree, and the value there.

    The rest of a location names branches of a union.
    """
    value: Any = tree
    path: list[str] = []
    for part in loc:
        try:
            value = value[part]
        except (LookupError, TypeError):
            return [*path, str(part)] if missing else path, value
        path.append(str(part))
    return path, value


def _expectation(kind: str, message: str, context: Mapping[str, Any], value: Any) -> str:
    if kind == "literal_error":
        return (
            f"{shown(value)} is none of {str(context.get('expected', '')).replace(chr(39), '').replace(' or ', ', ')}"
        )
    if kind == "missing":
        return "missing"
    return f"{shown(value)}; expected {message.removeprefix('Input should be ')}"


def unknown(what: str, name: str, allowed: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, allowed, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(allowed)}"
    return f"unknown {what} {name!r}; {hint}"


def shown(value: Any) -> str:
    return shortened(repr(value), 80)
