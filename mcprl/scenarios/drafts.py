"""What a language model writes of tasks, as text in and data out; how alike two tasks are, and what tasks cover."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mcprl.judges.checks import Scalar, squash
from mcprl.types import Call, Json

ALIKE = 0.7
"""Share of common word triples from which on two requests count as one: a question with another id at its end is below
it where it is short (0.67) and above where all of a long sentence is the same."""
ALIKE_BY_MEANING = 0.93
"""Cosine of two requests' vectors from which on they count as one."""

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
"""`arguments` is JSON in a string: what providers enforce strictly takes no objects with keys of their own."""

_REFERENCE = re.compile(r"@(\d+)\.(\S+)")


@dataclass(frozen=True)
class Draft:
    """A task as written. Arguments and the facts' values may be references: `@1.order_id` is what the first call's
    result says there, `@1.0.order_id` what its first row says.
    """

    request: str
    plan: tuple[Call, ...]
    facts: tuple[tuple[str, Any], ...]
    missing: bool = False
    answer: str = ""


def read(reply: str) -> tuple[list[Draft], int]:
    """The drafts of a reply, and how many more could not be read. One that breaks off, or stands in prose, is read as
    far as it goes; a refusal gives none.
    """
    found: list[Draft] = []
    unreadable = 0
    for entry in _entries(reply):
        try:
            found.append(_draft(entry))
        except (KeyError, TypeError, ValueError):
            unreadable += 1
    return found, unreadable


def _entries(reply: str) -> list[Any]:
    start = re.search(r'"tasks"\s*:\s*\[', reply) or re.search(r"\[\s*(?=\{)", reply)
    decoder = json.JSONDecoder()
    found: list[Any] = []
    at = start.end() if start else len(reply)
    while opening := re.compile(r"[\s,]*(?=\{)").match(reply, at):
        try:
            entry, at = decoder.raw_decode(reply, opening.end())
        except (ValueError, RecursionError):  # where it breaks off
            break
        found.append(entry)
    return found


def _draft(entry: Mapping[str, Any]) -> Draft:
    plan = tuple(Call(str(call["tool"]), _arguments(call.get("arguments"))) for call in entry["plan"])
    facts = tuple((str(fact["name"]), fact["value"]) for fact in entry.get("facts") or ())
    request = " ".join(str(entry["request"]).split())
    if not request or not all(isinstance(value, str | int | float) for _, value in facts):
        raise ValueError("no request, or a fact that is no value")
    draft = Draft(request, plan, facts, entry.get("missing") is True, str(entry.get("answer") or ""))
    json.dumps(asdict(draft), ensure_ascii=False).encode()  # half a surrogate pair could not be sent: a ValueError
    return draft


def _arguments(given: Any) -> dict[str, Any]:
    value = json.loads(given or "{}") if isinstance(given, str | None) else given
    if not isinstance(value, dict):
        raise ValueError("arguments are not an object")
    return value  # pyright: ignore[reportUnknownVariableType]


def resolved(value: Json, records: Sequence[Json]) -> Json:
    """A value with its references into the results so far followed. Raises `LookupError` where one leads nowhere."""
    if isinstance(value, dict):
        return {key: resolved(inner, records) for key, inner in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list):
        return [resolved(inner, records) for inner in value]  # pyright: ignore[reportUnknownVariableType]
    found = reference(value)
    return value if found is None else follow(found[1], records[found[0]])


def reference(value: Json) -> tuple[int, tuple[str, ...]] | None:
    """Which result, from 0 on, and which keys a reference names; `None` for a plain value."""
    match = _REFERENCE.fullmatch(value.strip()) if isinstance(value, str) else None
    return (int(match[1]) - 1, tuple(match[2].split("."))) if match and int(match[1]) else None


def follow(keys: Sequence[str], record: Json) -> Scalar:
    """What stands in a result under the keys. Raises `LookupError`."""
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


def triples(text: str) -> frozenset[tuple[str, ...]]:
    """The word triples of a text, whatever its case and punctuation; of a shorter one all its words."""
    words = [bare for word in squash(text).split() if (bare := word.strip(".,;:!?'\"()"))]
    return frozenset(tuple(words[at : at + 3]) for at in range(max(1, len(words) - 2)))


def likeness(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    """Jaccard's index of two texts' `triples`: 1 the same words, 0 nothing in common."""
    return len(one & other) / max(1, len(one | other))
