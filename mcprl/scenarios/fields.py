"""A tool result as data: text parsed into records, the fields that a task can ask for, the rows of a list.

Probing harvests values through it, and the task makers choose fields and rows with it.
"""

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mcprl.judges.checks import holds, is_empty, leaves, squash
from mcprl.scenarios.readers import read_text
from mcprl.servers.digest import digest, looks_like_error
from mcprl.text import common_prefix, words
from mcprl.types import Json, Scalar, Tool, ToolResult

Keys = tuple[str, ...]
"""A path inside a result without its list positions."""


def usable(result: ToolResult) -> bool:
    """Whether a result has data: it is no error, not empty, no "nothing found", and not only error messages."""
    if result.is_error or is_empty(result.structured, result.text) or _found_none(result.structured):
        return False
    short_text = result.structured is None and len(result.text) < 120
    if short_text and re.match(r"\W*(?:no|none|nothing)\b", result.text, re.IGNORECASE):
        return False
    texts = [leaf for _, leaf in leaves(result.structured) if isinstance(leaf, str)]
    return not texts or not all(looks_like_error(text, None) for text in texts)


def _found_none(record: Json) -> bool:
    """Whether a record says that nothing was found: it has lists, which are empty, and a number of none."""
    parts = [*record.values()] if isinstance(record, Mapping) else []  # pyright: ignore[reportUnknownVariableType]
    parts += [inner for part in parts if isinstance(part, Mapping) for inner in part.values()]  # pyright: ignore[reportUnknownVariableType]
    lists = [part for part in parts if isinstance(part, list)]  # pyright: ignore[reportUnknownVariableType]
    return bool(lists) and not any(lists) and any(type(part) is int and part == 0 for part in parts)


def shows(result: ToolResult, values: Iterable[Scalar]) -> bool:
    """Whether a result is no error and states all the values."""
    return not result.is_error and all(holds(result.text, value) for value in values)


def opened(result: ToolResult) -> ToolResult:
    """A result without its envelope, as much of it as the whole text shows."""
    payload = _content(result.structured)
    if payload is result.structured:
        return result
    room = len(result.text.encode()) - _ENVELOPE if result.cut_bytes else sys.maxsize
    text = payload if isinstance(payload, str) else ""
    bare = digest(text, None if text else payload, max_bytes=room)
    return replace(bare, is_error=result.is_error or bare.is_error, latency_s=result.latency_s)


def record_of(result: ToolResult) -> Json:
    """A result as JSON without its envelope: the server's own, or its text parsed by `read_text`."""
    return _payload(result.structured) if result.structured is not None else _payload(read_text(result.text))


_ENVELOPE = 400
"""Bytes that an envelope may take before its content."""
_CONTENT = frozenset("result results data payload output response content body".split())
REPORT = frozenset("ok success error tool arguments method request".split())
"""Fields that report on the call."""


def _payload(record: Json) -> Json:
    """What is inside an envelope, text as the record that it spells; other values as they are."""
    content = _content(record)
    return read_text(content) or content if isinstance(content, str) and content is not record else content


def _content(record: Json) -> Json:
    """What is inside an envelope: the one field for content of a record whose others report on the call."""
    if not isinstance(record, dict):
        return record
    held = [key for key in record if {*words(str(key))} & _CONTENT]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    reports = [key for key in record if str(key).lower() in REPORT]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if len(held) != 1 or not reports:  # pyright: ignore[reportUnknownArgumentType]
        return record  # pyright: ignore[reportUnknownVariableType]
    return record[held[0]]  # pyright: ignore[reportUnknownVariableType]


def _scalar(text: str) -> Scalar:
    """The number that the text is written as, else the text."""
    try:
        if re.fullmatch(r"-?\d{1,9}", text):
            return int(text)
        if re.fullmatch(r"-?\d+\.\d+", text):
            return float(text)
    except ValueError:
        return text
    return text


def scalars(record: Json, keys: Keys = ()) -> list[tuple[Keys, Scalar]]:
    """The scalars of one record with their paths. What is inside a list belongs to other things and is left out."""
    if isinstance(record, Mapping):
        return [pair for key, inner in record.items() for pair in scalars(inner, (*keys, str(key)))]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return [(keys, record)] if keys and isinstance(record, str | int | float) else []


_WORDS = re.compile(r"[^\W_]+")


def is_answer(value: Scalar, given: Iterable[Scalar]) -> bool:
    """Whether a value can be asked for: one line, at most 64 characters, and neither given nor words of what is given:
    the first name of `liam_thomas_8955`, the customer in `INV-1041-harbor-cafe.txt`."""
    given = list(given)
    text, told = squash(str(value)), [squash(str(other)) for other in given]
    if not 0 < len(text) <= 64 or "\n" in str(value) or text in told or _is_one_of(value, given):
        return False
    if text in _NOTHING or str(value).strip() in _NOTHING or _ENTRY.search(str(value)):
        return False
    if isinstance(value, float) and "e" in text:
        return False  # nobody says 8.28e-05
    own = {*_WORDS.findall(text)}
    return len(text) < 3 or not any(map(str.isalpha, text)) or not any(own <= {*_WORDS.findall(t)} for t in told)


def _is_one_of(value: Scalar, given: Iterable[Scalar]) -> bool:
    """Whether a number is one of those that are given: 55.0 is 55."""
    return type(value) in (int, float) and any(type(other) in (int, float) and other == value for other in given)


_HEAD = 400
"""Letters of a text that may say how much was found."""
_NOTHING = ("none", "n/a", "na", "null", "nil", "?", "??", "-", "--", "...", "tbd", "unknown")
_ENTRY = re.compile(r"<[^<> ]+@|^#\d+ \w+ | \| ")
"""What a whole entry of a list has in it, and no value of one field."""


def truth(value: Scalar) -> bool:
    """Whether the value of a flag means yes."""
    return value.lower() in ("yes", "true", "on", "y", "1") if isinstance(value, str) else bool(value)


def rows_of(record: Json, least: int = 2) -> tuple[Keys, list[dict[str, Any]]] | None:
    """The first list of records in a result, with its path; `None` if none has `least` records.

    An object whose values are all objects with the same keys, or all scalars under names that are no field's, is a list
    too: its keys are the rows' `name`.
    """
    if isinstance(record, list):
        rows = [row for row in record if isinstance(row, dict)]  # pyright: ignore[reportUnknownVariableType]
        if len(rows) < max(1, least) or len(rows) < len(record):  # pyright: ignore[reportUnknownArgumentType]
            return None
        return (), rows  # pyright: ignore[reportUnknownVariableType]
    if isinstance(record, dict):
        if rows := _map_rows(record):  # pyright: ignore[reportUnknownArgumentType]
            return (), rows
        for key, inner in record.items():  # pyright: ignore[reportUnknownVariableType]
            if listed := rows_of(inner, least):
                keys, rows = listed
                return (str(key), *keys), rows  # pyright: ignore[reportUnknownArgumentType]
    return None


def _map_rows(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The entries of a map from names to things as rows; empty if the object is a record with fields."""
    values = list(record.values())
    if len(values) < 3:
        return []
    if all(isinstance(value, dict) for value in values):
        shared = set.intersection(*({*value} for value in values))
        named = len(shared) >= 2 and len(shared) >= max(map(len, values)) / 2
        rows = [value if name in value.values() else {"name": name} | value for name, value in record.items()]
        return rows if named else []
    titled = [
        name for name in record if re.search(r"[A-Z].*[a-z]|[ -]|\d", name) and not re.search("[a-z][A-Z]|_", name)
    ]
    same_kind = len({type(value) for value in values}) == 1 and isinstance(values[0], str | int | float)
    if len(titled) < len(values) or not same_kind or not isinstance(values[0], str):
        return []
    if len({re.sub(r"\d+", "0", str(value)) for value in values}) <= 2:
        return [{"name": name, "id": value} for name, value in record.items()]
    return []


_FOUND = re.compile(r"\b(\d+) (?:\w+ ){0,2}(?:found|match(?:es|ed)?|in total|total|results)\b", re.IGNORECASE)
_SHOWN = re.compile(r"\bshow(?:ing|n|s)(?: only)?(?: the)? (?:top|first|last) \d+", re.IGNORECASE)


def tells_of_more(text: str, shown: int) -> bool:
    """Whether a text says that there is more than the `shown` rows in it: "40 found, showing top 10"."""
    head = text[:_HEAD]
    return bool(_SHOWN.search(head)) or any(int(number) > shown for number in _FOUND.findall(head))


def text_facts(texts: Sequence[str], text: str, given: set[str]) -> tuple[Scalar, ...]:
    """The values in a text result that vary among the tool's results and that the call did not give.

    The words that all `texts` begin and end with are cut off. One or two numbers in the rest are the values; otherwise
    the rest itself is one.
    """
    mine = text.split()
    others = [other.split() for other in texts if other != text]
    if not 0 < len(mine) <= 25 or "\n" in text.strip():
        return ()
    start = min((common_prefix(mine, other) for other in others), default=0)
    end = min((common_prefix(mine[start:][::-1], other[start:][::-1]) for other in others), default=0)
    # One common word may be chance: "the ...".
    if start == 1 and not mine[0].endswith(":"):
        start = 0
    if end == 1:
        end = 0
    middle = mine[start : len(mine) - end]
    fresh = [word.strip(".,;:!?()'\"") for word in middle]
    numbers = [_scalar(word) for word in fresh if re.fullmatch(r"-?\d+(?:\.\d+)?", word) and word not in given]
    if numbers and len(numbers) <= 2:
        return tuple(dict.fromkeys(numbers))
    whole = " ".join(middle)
    return (whole,) if others and 0 < len(whole) <= 64 else ()


def described(tool: Tool | None, keys: Keys) -> str:
    """The description that the tool's output schema gives the field, if it has one."""
    schema: Any = (tool.output_schema if tool else None) or {}
    for key in keys:
        if isinstance(schema, Mapping) and schema.get("type") == "array":  # pyright: ignore[reportUnknownMemberType]
            schema = schema.get("items") or {}  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        properties: Any = schema.get("properties") if isinstance(schema, Mapping) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        schema = properties.get(key, {}) if isinstance(properties, Mapping) else {}  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return str(schema.get("description", "")) if isinstance(schema, Mapping) else ""  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


def first_record(record: Json) -> Mapping[str, Any]:
    """The record of a result, or the first row of a list; empty for other results."""
    listed = rows_of(record, least=1) if isinstance(record, list) else None
    first = listed[1][0] if listed else record
    return first if isinstance(first, Mapping) else {}  # pyright: ignore[reportUnknownVariableType]


UNNAMED = re.compile(r"column \d+")
"""The names that readers give to cells without one."""


def named_cells(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows without the cells that have no names, which a request could not ask for; no rows if they have no others, or
    if such a cell is a text of several words."""
    cells = [value for row in rows for name, value in row.items() if UNNAMED.fullmatch(name)]
    if any(len(str(cell).split()) > 3 for cell in cells):
        return []
    named = [{name: value for name, value in row.items() if not UNNAMED.fullmatch(name)} for row in rows]
    return named if all(named) else []
