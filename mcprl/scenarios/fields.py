"""A tool result as data: text parsed into records, the fields that a task can ask for, the rows of a list.

Probing harvests values through it, the task makers choose fields and rows with it, and vetting resolves references with
it.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from mcprl.judges.checks import holds, is_empty, leaves, squash
from mcprl.servers.digest import looks_like_error
from mcprl.text import common_prefix, words
from mcprl.types import Call, Json, Scalar, ToolResult

Keys = tuple[str, ...]
"""A path inside a result without its list positions."""


def usable(result: ToolResult) -> bool:
    """Whether a result has data: it is no error, not empty, no "nothing found", and not only error messages."""
    if result.is_error or is_empty(result.structured, result.text):
        return False
    short_text = result.structured is None and len(result.text) < 120
    if short_text and re.match(r"\W*(?:no|none|nothing)\b", result.text, re.IGNORECASE):
        return False
    texts = [leaf for _, leaf in leaves(result.structured) if isinstance(leaf, str)]
    return not texts or not all(looks_like_error(text, None) for text in texts)


def shows(result: ToolResult, values: Iterable[Scalar]) -> bool:
    """Whether a result is no error and states all the values."""
    return not result.is_error and all(holds(result.text, value) for value in values)


_NAME = r"[A-Za-z][\w ./()-]{0,30}?"
_IS = r"\**\s*[:=]\**\s+"


def text_value(text: str) -> Json:
    """A text result as JSON; `None` if it has no structure.

    If half of the lines or more are `key: value` pairs, the result is a record, or a list of records if a key comes
    again. A table with a header is a list of records. Otherwise two or more lines are a list of records whose keys are
    `column 0`, `column 1` and so on.
    """
    lines = [line.strip() for line in text.splitlines() if re.search(r"\w", line)]
    if not lines:
        return None
    paired = [pairs for line in lines if (pairs := _pairs(line))]
    if paired and len(paired) >= len(lines) / 2:
        records = _records(itertools.chain(*paired))
        return records if len(records) > 1 else records[0]
    for mark in (",", "|"):
        head, *rows = ([cell.strip() for cell in line.strip("|").split(mark)] for line in lines)
        if rows and len(head) > 1 and all(map(str.strip, head)) and {len(row) for row in rows} == {len(head)}:
            return [dict(zip(head, map(_scalar, row), strict=True)) for row in rows]
    rows = [re.sub(r"^(?:\d+[.)]|[-*]|\[\w+\])\s+", "", line) for line in lines if not line.endswith(":")]
    if len(rows) < 2:
        return None
    cells = [re.split(r"\s*\|\s*|\t|\s\(|\)\s*$", row) for row in rows]
    scalars = [[_scalar(cell.strip()) for cell in row if cell.strip()] for row in cells]
    return [{f"column {n}": scalar for n, scalar in enumerate(row)} for row in scalars]


def _pairs(line: str) -> list[tuple[str, Scalar]]:
    """`- name: Ana, total: 12` as pairs; none if a part of the line is no pair."""
    parts = re.split(rf"\s*[,;|]\s+(?={_NAME}{_IS})", re.sub(r"^(?:\d+[.)]|[*>-]+)\s+", "", line))
    matches = [re.fullmatch(rf"\**({_NAME}){_IS}(.{{1,80}})", part) for part in parts]
    if not all(matches):
        return []
    return [(match[1], _scalar(match[2].strip().rstrip(","))) for match in matches if match]


def _records(pairs: Iterable[tuple[str, Scalar]]) -> list[dict[str, Scalar]]:
    """The pairs as records: a key that the last record has begins a new one."""
    records: list[dict[str, Scalar]] = [{}]
    for name, value in pairs:
        if name in records[-1]:
            records.append({})
        records[-1][name] = value
    return records


def record_of(result: ToolResult) -> Json:
    """A result as JSON: the server's own, or its text parsed by `text_value`."""
    return result.structured if result.structured is not None else text_value(result.text)


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


@dataclass(frozen=True)
class Field:
    """One field of a result: its path, its label in requests and answers, and its values (several for a short list)."""

    path: Keys
    label: str
    values: tuple[Scalar, ...]


def result_fields(texts: Sequence[str], call: Call, result: ToolResult) -> list[Field]:
    """The fields of a result that a task can ask for.

    They are the scalars of a record, or for plain text what varies among the `texts` that the tool has returned.
    """
    record = record_of(result)
    if isinstance(record, list) and result.structured is None and "column 0" in record[0]:
        record = None  # cells without names can be harvested, but a request could not name them
    given = {squash(str(leaf)) for _, leaf in leaves(call.arguments)}
    if record is None or not isinstance(record, dict | list):
        varying = text_facts(texts, result.text, given)
        return [Field((), "result", varying)] if varying else []
    return record_fields(record, given)


def record_fields(record: Json, given: set[str]) -> list[Field]:
    """The scalars of one record that a task can ask for, each with a label that no other has.

    `given` are the values that the call or the request states (squashed): they are no answers.
    """
    grouped: dict[Keys, list[Scalar]] = {}
    for path, leaf in leaves(record):
        grouped.setdefault(tuple(part for part in path if isinstance(part, str)), []).append(leaf)
    counts = Counter(" ".join(words(keys[-1])) for keys in grouped if keys)
    fields: list[Field] = []
    for keys, values in grouped.items():
        if not keys or not words(keys[-1]):
            continue
        label = " ".join(words(keys[-1]))
        if squash(keys[-1]) in given:  # a map by entity: its keys are no names of fields
            continue
        if counts[label] > 1 and len(keys) > 1:
            label = " ".join((*words(keys[-2]), *words(keys[-1])))
        different = tuple(dict.fromkeys(values))
        if len(values) <= 3 and all(_is_answer(value, given) for value in different):
            fields.append(Field(keys, label, different))
    labels = Counter(field.label for field in fields)
    return [field for field in fields if labels[field.label] == 1]


def _is_answer(value: Scalar, given: set[str]) -> bool:
    """Whether a value can be asked for: not yet given, one line, at most 64 characters."""
    text = str(value)
    return squash(text) not in given and 0 < len(text) <= 64 and "\n" not in text


def rows_of(record: Json) -> tuple[Keys, list[dict[str, Any]]] | None:
    """The first list of at least two records in a result, with its path; `None` if there is none."""
    if isinstance(record, list):
        rows = [row for row in record if isinstance(row, dict)]  # pyright: ignore[reportUnknownVariableType]
        if len(rows) < 2 or len(rows) < len(record):  # pyright: ignore[reportUnknownArgumentType]
            return None
        return (), rows  # pyright: ignore[reportUnknownVariableType]
    if isinstance(record, dict):
        for key, inner in record.items():  # pyright: ignore[reportUnknownVariableType]
            if listed := rows_of(inner):
                keys, rows = listed
                return (str(key), *keys), rows  # pyright: ignore[reportUnknownArgumentType]
    return None


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
