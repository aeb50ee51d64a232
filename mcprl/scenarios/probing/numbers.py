"""Numbers that a tool may be called with: within the schema's bounds, and as large as their names say."""

import random

from mcprl.scenarios.slots import Slot
from mcprl.text import singular, words

_SMALL = {
    "seconds delay wait sleep": 1,
    "page offset skip start cursor index position": 2,
    "limit count size top max results per head tail lines first last context depth n rows": 10,
    "duration timeout interval retries steps hours": 3,
    "days quantity amount nights guests adults passengers people": 6,
}
"""Words in names of numbers, and how large such a number may be that still finds something."""


_AMOUNTS = (25, 50, 75, 100, 120, 150, 200, 250, 300, 400, 500)
"""Amounts of money that people hand out."""


_UNBOUNDED = 2**53 - 1


def usual_high(slot: Slot) -> int:
    """The largest usual value of a number by its name; 0 if the name does not say."""
    named = words(slot.key)
    lasts = {"seconds"} & {*words(str(slot.schema.get("description", "")))}
    things = 12 if named and singular(named[-1]) != named[-1] else 0  # so many bags
    return next((high for names, high in _SMALL.items() if {*named, *lasts} & {*names.split()}), things)


def _bounds(slot: Slot) -> tuple[float | None, float | None]:
    """The schema's bounds, for whole numbers the smallest and the largest that are within; `None` where there is none
    but what a number of JavaScript can hold, as zod's `int()` writes it."""
    found: list[float | None] = []
    for end, step in (("Minimum", 1), ("Maximum", -1)):
        value, beyond = slot.schema.get(end.lower()), slot.schema.get(f"exclusive{end}")
        if isinstance(beyond, int | float) and not isinstance(beyond, bool):
            value = beyond + (step if slot.kind == "integer" else 0)
        is_bound = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _UNBOUNDED
        found.append(value if is_bound else None)
    return found[0], found[1]


def number(slot: Slot, rng: random.Random) -> int | float:
    """A number within the schema's bounds; for a `number` slot about one in seven has a fraction."""
    least, most = _bounds(slot)
    low = 1 if least is None else least
    usual = usual_high(slot)
    default_high = max(low, 0) + (usual or rng.choice((20, 100, 1_000)))
    if words(slot.key) == ("amount",) and most is None:
        return rng.choice(_AMOUNTS)
    if slot.kind == "number" and most is not None and most - (least or 0) < 2:
        return float(f"{(least or 0) + (most - (least or 0)) * rng.uniform(0.1, 0.9):.2g}")
    if usual:
        return rng.randint(int(low), max(int(low), min(int(usual if most is None else most), int(low) + usual)))
    high = default_high if most is None else most
    low = max(int(low), 2) if slot.kind == "number" and high > 2 else int(low)  # nobody asks what adding 1 makes
    value = rng.randint(low, max(low, int(high)))
    if slot.kind == "integer" or rng.random() < 0.85:
        return value
    return round(value + rng.choice((0.25, 0.5, 0.75)), 2)
