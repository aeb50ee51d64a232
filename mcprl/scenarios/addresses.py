"""What a person says as a whole: a postal address, drawn as one from what the server holds, a name, a period."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mcprl.scenarios.english.labels import tables
from mcprl.scenarios.fields import record_of
from mcprl.scenarios.intents import Attribute, Value
from mcprl.scenarios.probing.knowledge import Allowed, Knowledge
from mcprl.scenarios.slots import Slot
from mcprl.text import words
from mcprl.types import Json, Scalar

_PARTS = tuple(
    "address address1 address2 street city town state province zip zipcode postcode postal_code country".split()
)
"""The names of an address's parts, in the order in which they are said."""
_LEAST = 3


def address_parts(slots: Iterable[Slot]) -> list[Slot]:
    """The slots that take the parts of an address, if there are enough for one."""
    parts = [slot for slot in slots if _part(slot.key)]
    return parts if len(parts) >= _LEAST else []


def with_address(
    known: Knowledge, filled: list[tuple[Slot, Scalar]], rng: random.Random, allowed: Allowed
) -> list[tuple[Slot, Scalar]]:
    """`filled` with the address of one of the server's records in place of parts that do not belong together. Said as a
    whole, it is an `allowed` value."""
    parts = {slot.key for slot in address_parts(slot for slot, _ in filled)}
    if not parts:
        return filled
    records = [record_of(example.result) for examples in known.examples.values() for example in examples]
    held = [record for whole in records for record in _records(whole) if all(record.get(part) for part in parts)]
    held = [record for record in held if allowed(_said({part: record[part] for part in parts}))]
    if not held:
        return filled
    address = rng.choice(held)
    return [(slot, address[slot.key] if slot.key in parts else value) for slot, value in filled]


def as_address(values: Sequence[Value]) -> tuple[Value, ...]:
    """Values with the parts of an address said as one: `12 Main Street, Denver, CO 80279, USA`."""
    parts = {value.attribute.key: value.value for value in values if _part(value.attribute.key) and str(value.value)}
    if len(parts) < _LEAST:
        return tuple(values)
    whole = Value(Attribute("address", "address", "place"), _said(parts))
    return (*(value for value in values if not _part(value.attribute.key)), whole)


def as_person(values: Sequence[Value], label: str = "name") -> tuple[Value, ...]:
    """Values with a first and a last name said as one: `Raj Kovacs`."""
    names = {words(value.attribute.key)[0]: value for value in values if words(value.attribute.key)[1:] == ("name",)}
    first = names.get("first") or names.get("given")
    last = names.get("last") or names.get("family")
    if first is None or last is None:
        return tuple(values)
    whole = Value(Attribute("name", label, "name"), f"{first.value} {last.value}")
    return tuple(whole if value is first else value for value in values if value is not last)


def _said(parts: Mapping[str, Scalar]) -> str:
    return ", ".join(str(parts[key]) for key in sorted(parts, key=lambda key: _PARTS.index(_part(key))) if parts[key])


def _part(key: str) -> str:
    name = key.lower().replace("-", "_")
    return name if name in _PARTS else ""


def _records(record: Json) -> Iterator[Mapping[str, Any]]:
    if isinstance(record, Mapping):
        yield record  # pyright: ignore[reportUnknownVariableType]
        for inner in record.values():  # pyright: ignore[reportUnknownVariableType]
            yield from _records(inner)  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(record, list):
        for inner in record:  # pyright: ignore[reportUnknownVariableType]
            yield from _records(inner)  # pyright: ignore[reportUnknownArgumentType]


_POINTS = ("start", "begin", "end")


def as_period(first: tuple[Slot, Scalar], last: tuple[Slot, Scalar]) -> Value:
    """Two days as a request says them: `between 2026-03-03 and 2026-05-05`, and `due between` if the tool says so."""
    events = [word for word in words(first[0].tool) if word in tables()["events"] and word not in _POINTS]
    label = " ".join([*events[:1], "between"])
    return Value(Attribute("period", label), f"{first[1]} and {last[1]}")
