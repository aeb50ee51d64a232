"""Drafts: the tasks that a language model writes, parsed from its reply, their references into results, their likeness.

`author` asks for drafts and drops those that are alike; `vetting` makes scenarios of the rest.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mcprl.judges.checks import leaves, squash
from mcprl.types import Call, Json, Scalar

ALIKE = 0.7
"""The Jaccard index of word triples from which on two requests count as one.

Two questions that differ in an id at the end are below it if they are short (0.67) and above it if they are long.
"""
ALIKE_BY_MEANING = 0.93
"""The cosine of two requests' vectors from which on they count as one."""

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "tasks": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "request": {"type": "string"},
                    "plan": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {"tool": {"type": "string"}, "arguments": {"type": "string"}},
                            "required": ["tool", "arguments"],
                            "additionalProperties": False,
                        },
                    },
                    "facts": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {"name": {"type": "string"}, "value": {"type": "string"}},
                            "required": ["name", "value"],
                            "additionalProperties": False,
                        },
                    },
                    "missing": {"type": "boolean"},
                    "answer": {"type": "string"},
                },
                "required": ["request", "plan", "facts", "missing", "answer"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["tasks"],
    "additionalProperties": False,
}
"""The schema of a reply. `arguments` is JSON in a string: strict schemas allow no object with free keys."""

_OPENING = re.compile(r"[\s,]*(?=\{)")
_REFERENCE = re.compile(r"@(\d+)\.(\S+)")


@dataclass(frozen=True)
class Draft:
    """A task as written.

    Arguments and the facts' values may be references: `@1.order_id` is that field of the first call's result,
    `@1.0.order_id` that field of its first row.
    """

    request: str
    plan: tuple[Call, ...]
    facts: tuple[tuple[str, Any], ...]
    missing: bool = False
    answer: str = ""


def read(reply: str) -> tuple[list[Draft], int]:
    """The drafts of a reply, and how many entries could not be parsed.

    JSON inside prose is found, and a reply that breaks off is read as far as it goes. A refusal has no drafts.
    """
    drafts: list[Draft] = []
    unreadable = 0
    for entry in _entries(reply):
        try:
            drafts.append(_draft(entry))
        except (KeyError, TypeError, ValueError):
            unreadable += 1
    return drafts, unreadable


def _entries(reply: str) -> list[Any]:
    """The JSON objects of the first list of tasks in the reply, up to the point where it breaks off."""
    start = re.search(r'"tasks"\s*:\s*\[', reply) or re.search(r"\[\s*(?=\{)", reply)
    decoder = json.JSONDecoder()
    entries: list[Any] = []
    position = start.end() if start else len(reply)
    while opening := _OPENING.match(reply, position):
        try:
            entry, position = decoder.raw_decode(reply, opening.end())
        except (ValueError, RecursionError):
            break
        entries.append(entry)
    return entries


def _draft(entry: Mapping[str, Any]) -> Draft:
    """One entry as a draft. Raises `KeyError`, `TypeError` or `ValueError` if it is none."""
    plan = tuple(Call(str(call["tool"]), _arguments(call.get("arguments"))) for call in entry["plan"])
    facts = tuple((str(fact["name"]), fact["value"]) for fact in entry.get("facts") or ())
    request = " ".join(str(entry["request"]).split())
    if not request or not all(isinstance(value, str | int | float) for _, value in facts):
        raise ValueError("no request, or a fact that is no value")
    draft = Draft(request, plan, facts, entry.get("missing") is True, str(entry.get("answer") or ""))
    json.dumps(
        asdict(draft), ensure_ascii=False
    ).encode()  # raises ValueError for half a surrogate pair: it cannot be sent
    return draft


def _arguments(given: Any) -> dict[str, Any]:
    value = json.loads(given or "{}") if isinstance(given, str | None) else given
    if not isinstance(value, dict):
        raise ValueError("arguments are not an object")
    return value  # pyright: ignore[reportUnknownVariableType]


def resolved(value: Json, records: Sequence[Json]) -> Json:
    """A value with its references replaced by what they refer to in `records`, the results so far.

    Raises `LookupError` if a reference leads nowhere.
    """
    if isinstance(value, dict):
        return {key: resolved(inner, records) for key, inner in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list):
        return [resolved(inner, records) for inner in value]  # pyright: ignore[reportUnknownVariableType]
    target = reference(value)
    if target is None:
        return value
    number, keys = target
    return follow(keys, records[number])


def reference(value: Json) -> tuple[int, tuple[str, ...]] | None:
    """The index of the result (from 0) and the keys that a reference names; `None` for a plain value."""
    match = _REFERENCE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or int(match[1]) == 0:
        return None
    return int(match[1]) - 1, tuple(match[2].split("."))


def follow(keys: Sequence[str], record: Json) -> Scalar:
    """The scalar of a result at the keys. Raises `LookupError` if there is none."""
    for key in keys:
        if isinstance(record, list) and key.isdigit():
            record = record[int(key)]  # pyright: ignore[reportUnknownVariableType]
        elif isinstance(record, dict):
            record = record[key]  # pyright: ignore[reportUnknownVariableType]
        else:
            raise LookupError(key)
    if not isinstance(record, str | int | float):
        raise LookupError(keys[-1])
    return record


def looked_up(written: Any, records: Sequence[Json]) -> tuple[Scalar, tuple[Scalar, ...]]:
    """The value of a fact, and the other rows' values of the same field if it is a reference into a list.

    Raises `LookupError` if a reference leads nowhere.
    """
    target = reference(written)
    if target is None:
        return _as_in_results(written, records), ()
    number, keys = target
    value = follow(keys, records[number])
    position = next((n for n, key in enumerate(keys) if key.isdigit()), None)
    if position is None:
        return value, ()
    return value, tuple(dict.fromkeys(_other_rows(keys, position, records[number], value)))


def _other_rows(keys: Sequence[str], position: int, record: Json, value: Scalar) -> Iterator[Scalar]:
    """The values unlike `value` at the same keys of other rows, of the first hundred. `position` is that of the row."""
    for row in range(100):
        try:
            other = follow([*keys[:position], str(row), *keys[position + 1 :]], record)
        except LookupError:
            continue
        if other != value and not isinstance(other, bool):
            yield other


def _as_in_results(written: Any, records: Sequence[Json]) -> Scalar:
    """A literal value with the type that it has in the results.

    The reply's schema makes all facts text: `"12.5"` may be the number 12.5.
    """
    for record in records:
        for _, leaf in leaves(record):
            if squash(str(leaf)) == squash(str(written)):
                return leaf
    return written


def triples(text: str) -> frozenset[tuple[str, ...]]:
    """The word triples of a text without case and punctuation. A text of one or two words is one tuple of them."""
    words = [bare for word in squash(text).split() if (bare := word.strip(".,;:!?'\"()"))]
    return frozenset(tuple(words[n : n + 3]) for n in range(max(1, len(words) - 2)))


def likeness(a: frozenset[tuple[str, ...]], b: frozenset[tuple[str, ...]]) -> float:
    """The Jaccard index of two texts' `triples`: 1 if all are common, 0 if none is."""
    return len(a & b) / max(1, len(a | b))
