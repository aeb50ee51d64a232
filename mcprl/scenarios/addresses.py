"""Postal addresses: drawn as a whole from what the server holds, and said as a whole."""

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mcprl.scenarios.fields import record_of
from mcprl.scenarios.intents import Attribute, Value
from mcprl.scenarios.probing.knowledge import Knowledge
from mcprl.scenarios.slots import Slot
from mcprl.types import Json, Scalar

_PARTS = tuple(
    "address address1 address2 street city town state province zip zipcode postcode postal_code country".split()
)
"""The names of an address's parts, in the order in which they are said."""
_LEAST = 3


def with_address(known: Knowledge, filled: list[tuple[Slot, Scalar]], rng: random.Random) -> list[tuple[Slot, Scalar]]:
    """`filled` with the address of one of the server's records in place of parts that do not belong together."""
    parts = {slot.key for slot, _ in filled if _part(slot.key)}
    if len(parts) < _LEAST:
        return filled
    records = [record_of(example.result) for examples in known.examples.values() for example in examples]
    held = [record for whole in records for record in _records(whole) if all(record.get(part) for part in parts)]
    if not held:
        return filled
    address = rng.choice(held)
    return [(slot, address[slot.key] if slot.key in parts else value) for slot, value in filled]


def as_address(values: Sequence[Value]) -> tuple[Value, ...]:
    """Values with the parts of an address said as one: `12 Main Street, Denver, CO 80279, USA`."""
    parts = [value for value in values if _part(value.attribute.key) and str(value.value)]
    if len(parts) < _LEAST:
        return tuple(values)
    parts.sort(key=lambda value: _PARTS.index(_part(value.attribute.key)))
    text = ", ".join(str(value.value) for value in parts)
    whole = Value(Attribute("address", "address", "place"), text)
    return (*(value for value in values if not _part(value.attribute.key)), whole)


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
