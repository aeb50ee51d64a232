"""What a tool result says: text read as JSON where it can be, the things one can ask about it, the rows of a list."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mcprl.judges.checks import Scalar, is_empty, leaves, squash
from mcprl.scenarios.names import words
from mcprl.servers.digest import looks_like_error
from mcprl.text import common_prefix
from mcprl.types import Call, Json, ToolResult

Keys = tuple[str, ...]


def usable(result: ToolResult) -> bool:
    """Whether a result holds something: no error, not empty, and not one message per item that says what went wrong."""
    if result.is_error or is_empty(result.structured, result.text):
        return False
    if (
        result.structured is None
        and len(result.text) < 120
        and re.match(r"\W*(?:no|none|nothing)\b", result.text, re.IGNORECASE)
    ):
        return False
    texts = [leaf for _, leaf in leaves(result.structured) if isinstance(leaf, str)]
    return not texts or not all(looks_like_error(text, None) for text in texts)


_NAME = r"[A-Za-z][\w ./()-]{0,30}?"
_IS = r"\**\s*[:=]\**\s+"


def text_value(text: str) -> Json:
    """What a text result means as JSON: `key: value` pairs as a record, or as several where a key comes again; tables
    with a header as records; other lines as lists of their cells.
    """
    lines = [line.strip() for line in text.splitlines() if re.search(r"\w", line)]
    if not lines:
        return None
    paired = [pairs for line in lines if (pairs := _pairs(line))]
    if paired and len(paired) >= len(lines) / 2:
        records: list[dict[str, Any]] = [{}]
        for name, value in itertools.chain(*paired):
            if name in records[-1]:
                records.append({})
            records[-1][name] = value
        return records if len(records) > 1 else records[0]
    for mark in (",", "|"):
        head, *rows = ([cell.strip() for cell in line.strip("|").split(mark)] for line in lines)
        if rows and len(head) > 1 and all(map(str.strip, head)) and {len(row) for row in rows} == {len(head)}:
            return [dict(zip(head, map(_scalar, row), strict=True)) for row in rows]
    rows = [re.sub(r"^(?:\d+[.)]|[-*]|\[\w+\])\s+", "", line) for line in lines if not line.endswith(":")]
    cells = [
        [_scalar(cell.strip()) for cell in re.split(r"\s*\|\s*|\t|\s\(|\)\s*$", row) if cell.strip()] for row in rows
    ]
    return [{f"column {n}": cell for n, cell in enumerate(row)} for row in cells] if len(cells) > 1 else None


def _pairs(line: str) -> list[tuple[str, Scalar]]:
    """`- name: Ana, total: 12` as pairs; nothing where a part of the line is none."""
    parts = re.split(rf"\s*[,;|]\s+(?={_NAME}{_IS})", re.sub(r"^(?:\d+[.)]|[*>-]+)\s+", "", line))
    found = [re.fullmatch(rf"\**({_NAME}){_IS}(.{{1,80}})", part) for part in parts]
    return [(match[1], _scalar(match[2].strip().rstrip(","))) for match in found if match] if all(found) else []


def record_of(result: ToolResult) -> Json:
    """A result as JSON, whether the server sent JSON or text that can be read as such."""
    return result.structured if result.structured is not None else text_value(result.text)


def _scalar(text: str) -> Scalar:
    try:
        return (
            int(text)
            if re.fullmatch(r"-?\d{1,9}", text)
            else float(text)
            if re.fullmatch(r"-?\d+\.\d+", text)
            else text
        )
    except ValueError:
        return text


@dataclass(frozen=True)
class Field:
    """One thing a result says: its path, what to call it, and its values (several for a short list)."""

    path: Keys
    label: str
    values: tuple[Scalar, ...]


def result_fields(texts: Sequence[str], call: Call, result: ToolResult) -> list[Field]:
    """What can be asked about a result: the scalars of a record, or what varies among the `texts` of a tool."""
    record = record_of(result)
    if isinstance(record, list) and result.structured is None and "column 0" in record[0]:
        record = None  # cells without names: values to use, but nothing to ask for by name
    given = {squash(str(leaf)) for _, leaf in leaves(call.arguments)}
    if record is None or not isinstance(record, dict | list):
        varying = text_facts(texts, result.text, given)
        return [Field((), "result", varying)] if varying else []
    return record_fields(record, given)


def record_fields(record: Json, given: set[str]) -> list[Field]:
    """The askable scalars of one record, each with the shortest label that no other scalar has."""
    grouped: dict[Keys, list[Scalar]] = {}
    for path, leaf in leaves(record):
        grouped.setdefault(tuple(part for part in path if isinstance(part, str)), []).append(leaf)
    tails: dict[str, int] = {}
    for keys in grouped:
        if keys:
            tails[" ".join(words(keys[-1]))] = tails.get(" ".join(words(keys[-1])), 0) + 1
    found: list[Field] = []
    for keys, values in grouped.items():
        if not keys or not words(keys[-1]):
            continue
        label = " ".join(words(keys[-1]))
        if squash(keys[-1]) in given:  # a map by entity: its keys are no names of fields
            continue
        if tails[label] > 1 and len(keys) > 1:
            label = " ".join((*words(keys[-2]), *words(keys[-1])))
        shown = tuple(dict.fromkeys(values))
        if len(values) > 3 or any(
            squash(str(value)) in given or not 0 < len(str(value)) <= 64 or "\n" in str(value) for value in shown
        ):
            continue
        found.append(Field(keys, label, shown))
    return [entry for entry in found if sum(entry.label == other.label for other in found) == 1]


def rows_of(record: Json) -> tuple[Keys, list[dict[str, Any]]] | None:
    """The first list of at least two records in a result, with its path."""
    if isinstance(record, list):
        rows = [row for row in record if isinstance(row, dict)]  # pyright: ignore[reportUnknownVariableType]
        return ((), rows) if len(rows) >= 2 and len(rows) == len(record) else None  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(record, dict):
        for key, inner in record.items():  # pyright: ignore[reportUnknownVariableType]
            if found := rows_of(inner):
                return (str(key), *found[0]), found[1]  # pyright: ignore[reportUnknownArgumentType]
    return None


def text_facts(texts: Sequence[str], text: str, given: set[str]) -> tuple[Scalar, ...]:
    """What a text result says that other results of the same tool do not, and that the call did not give."""
    mine = text.split()
    others = [other.split() for other in texts if other != text]
    if not 0 < len(mine) <= 25 or "\n" in text.strip():
        return ()
    start = min((common_prefix(mine, other) for other in others), default=0)
    end = min((common_prefix(mine[start:][::-1], other[start:][::-1]) for other in others), default=0)
    start = start if start > 1 or mine[0].endswith(":") else 0  # one common word may be chance: "the ..."
    end = end if end > 1 else 0
    middle = mine[start : len(mine) - end] if others else mine
    fresh = [word.strip(".,;:!?()'\"") for word in middle]
    numbers = [_scalar(word) for word in fresh if re.fullmatch(r"-?\d+(?:\.\d+)?", word) and word not in given]
    if numbers and len(numbers) <= 2:
        return tuple(dict.fromkeys(numbers))
    whole = " ".join(middle)
    return (whole,) if 0 < len(whole) <= 64 and len(others) else ()
