"""Writes that depend on what a read shows: a number that follows from one, and a condition."""

from collections.abc import Sequence

from mcprl.judges.checks import holds, shows
from mcprl.scenarios.fields import scalars
from mcprl.scenarios.filling import removes, target_slot
from mcprl.scenarios.intents import Adjust, Attribute, Conditional, Value
from mcprl.scenarios.kinds.changes import change_of, effect_of, is_proved, look_after, steps_on
from mcprl.scenarios.planner import Planner
from mcprl.scenarios.probing.knowledge import RoundTrip, State
from mcprl.scenarios.slots import Slot
from mcprl.scenarios.steps import Field, Filled, Found, Grounded, call_of, same
from mcprl.text import stems
from mcprl.types import Fact, Scalar, Session, StateHolds, Tool

_CONDITIONS = ("status", "category", "place", "year")


def _shown(planner: Planner, tool: Tool) -> tuple[Slot, RoundTrip] | None:
    """The slot of a write that names its thing, and the read that shows the write by that key alone."""
    slot = target_slot(planner.catalog, tool)
    trips = [trip for trip in planner.known.round_trips if trip.write == tool.name and len(trip.bind) == 1]
    trip = next((trip for trip in trips if slot and trip.bind[0][1] == slot.path and not trip.constants), None)
    return (slot, trip) if slot and trip and not removes(tool) else None


def _key(found: Found | None, trip: RoundTrip) -> Scalar | None:
    """The value by which the read of a round trip took a thing."""
    return found.steps[-1].call.arguments.get(str(trip.bind[0][0][-1])) if found and found.steps else None


async def adjust(planner: Planner, clean: Session, written: Session, state: State, tool: Tool) -> Grounded | None:
    """A write of a number that follows from the number that a read shows: raise the stock by 5."""
    shown = _shown(planner, tool)
    if shown is None:
        return None
    slot, trip = shown
    numbers = [
        own for own in planner.known.slots[tool.name] if own.kind in ("integer", "number") and own.path in trip.shown
    ]
    if len(numbers) != 1 or any(own not in (slot, *numbers) for own in planner.catalog.needs(tool)):
        return None
    found = await planner.finder.thing(clean, state, planner.known.tools[trip.read])
    if found and effect_of(planner, tool, found.reference) != "set":
        return None  # a certificate over 12 more is no raise of anything
    key, old = _key(found, trip), _old(planner, found, numbers[0]) if found else None
    if found is None or key is None or old is None:
        return None
    attribute, value = old
    change = planner.rng.choice((1, 2, 3, 5, 10, 12, 20, -1, -2, -3, -5))
    new = value + change
    call = call_of(tool, [(slot, key), (numbers[0], new)])
    look = StateHolds(trip.read, found.steps[-1].call.arguments, (new,))
    if new < 0 or holds(found.steps[-1].result.text, new) or not await is_proved(written, call, look):
        return None
    intent = Adjust(tool.name, tool.description, found.reference, attribute, change, new)
    return planner.task("adjust", intent, (), (*found.plan, call), (look,), state, found.entities)


def _old(planner: Planner, found: Found, slot: Slot) -> tuple[Attribute, int | float] | None:
    """The number in the record that the slot writes, by its name."""
    for path, value in scalars(found.record):
        own, written = {*stems(path[-1])}, {*stems(slot.key)}
        alike = own <= written or written <= own
        if alike and isinstance(value, int | float) and not isinstance(value, bool):
            return planner.catalog.attribute(found.steps[-1].tool.name, (*found.keys, *path), found.record), value
    return None


async def conditional(planner: Planner, clean: Session, written: Session, state: State, tool: Tool) -> Grounded | None:
    """A write that is asked for only if a field of its thing has a value: half of the time it has another, and must be
    told instead. If order O-17 is still open, mark it as paid, otherwise tell me the status."""
    shown = _shown(planner, tool)
    if shown is None:
        return None
    slot, trip = shown
    found = await planner.finder.thing(clean, state, planner.known.tools[trip.read])
    key, filled = _key(found, trip), planner.filler.fill(tool, state)
    field = _condition(planner, found) if found else None
    if found is None or key is None or filled is None or field is None:
        return None
    filled = [(own, key if own == slot else value) for own, value in filled]
    stated = [Value(planner.catalog.slot(own), value) for own, value in filled if own != slot]
    look = look_after(planner, tool, filled)
    if look is None or len(stated) != 1 or shows(found.steps[-1].result, look):
        return None
    change = change_of(planner, tool, found.reference, stated)
    true = planner.rng.random() < 0.5
    expected = field.value if true else _other(planner, found, field, filled)
    if change.effect != "set" or expected is None or _goes_back(planner, filled, field, expected):
        return None
    intent = Conditional(change, Value(field.attribute, expected), true)
    if not true:
        fact = Fact(field.value, field.attribute.label, field.attribute.meaning, rivals=(expected,))
        outcome = (field.value,)
        return planner.task("conditional", intent, outcome, tuple(found.plan), (fact,), state, found.entities)
    call = call_of(tool, filled)
    if not await is_proved(written, call, look):
        return None
    return planner.task("conditional", intent, (), (*found.plan, call), (look,), state, found.entities)


def _condition(planner: Planner, found: Found) -> Field | None:
    """A field of the thing that has one of a few values, which the request does not name it by."""
    fields = [
        field
        for field in found.fields
        if field.attribute.meaning in _CONDITIONS
        and " in the " not in field.attribute.label
        and not field.live
        and isinstance(field.value, str | int)
    ]
    return planner.rng.choice(fields) if fields else None


def _goes_back(planner: Planner, filled: Filled, field: Field, expected: Scalar) -> bool:
    """Whether the write would put a status back to one before the condition's, or past the next: nobody asks to open
    what is shipped, or to deliver what is open. What is cancelled can be so from anywhere.
    """
    for slot, value in filled:
        further = steps_on(planner, slot, expected, value)
        if field.attribute.meaning == "status" and further is not None:
            return further < 1 or (further > 1 and not str(value).startswith(("cancel", "refund", "return")))
    return False


def _other(planner: Planner, found: Found, field: Field, filled: Filled) -> Scalar | None:
    """Another value that the field may have, and that is not written."""
    path = next((path for path, _ in scalars(found.record) if path[-1] == field.attribute.key), ())
    place = ("from", found.steps[-1].tool.name, *found.keys, *path)
    seen: Sequence[Scalar] = field.attribute.choices or list(planner.known.base.pool.get(place, ()))
    taken = [field.value, *(value for _, value in filled)]
    others = [value for value in seen if not any(same(value, other) for other in taken)]
    others = [value for value in others if not _goes_back(planner, filled, field, value)]
    return planner.rng.choice(others) if others else None
