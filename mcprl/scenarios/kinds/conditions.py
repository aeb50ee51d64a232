"""Writes under a condition: if order O-17 is still open, mark it as paid, otherwise tell me the status."""

from collections.abc import Sequence

from mcprl.judges.checks import shows
from mcprl.scenarios.fields import scalars
from mcprl.scenarios.filling import REMOVING, target_slot
from mcprl.scenarios.intents import Change, Conditional, Value
from mcprl.scenarios.kinds.changes import effect_of, look_after
from mcprl.scenarios.kinds.statuses import steps_on
from mcprl.scenarios.planner import Planner
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.steps import Field, Filled, Found, Grounded, call_of, same
from mcprl.text import words
from mcprl.types import Fact, Scalar, Session, Tool

_CONDITIONS = ("status", "category", "place", "year")


async def conditional(planner: Planner, clean: Session, written: Session, state: State, tool: Tool) -> Grounded | None:
    """A write that is asked for only if a field of its thing has a value: half of the time it has another, and must be
    told instead."""
    slot = target_slot(planner.catalog, tool)
    trips = [trip for trip in planner.known.round_trips if trip.write == tool.name and len(trip.bind) == 1]
    trip = next((trip for trip in trips if slot and trip.bind[0][1] == slot.path and not trip.constants), None)
    if trip is None or slot is None or {*words(tool.name)} & REMOVING:
        return None
    found = await planner.finder.thing(clean, state, planner.known.tools[trip.read])
    key = found.steps[-1].call.arguments.get(str(trip.bind[0][0][-1])) if found and found.steps else None
    filled = planner.filler.fill(tool, state)
    field = _condition(planner, found) if found else None
    if found is None or key is None or filled is None or field is None:
        return None
    filled = [(own, key if own == slot else value) for own, value in filled]
    said = [Value(planner.catalog.slot(own), value) for own, value in filled if own != slot]
    look = look_after(planner, tool, filled)
    if look is None or len(said) != 1 or shows(found.steps[-1].result, look):
        return None
    change = Change(
        tool.name, tool.description, effect_of(planner, tool, found.reference), found.reference, tuple(said)
    )
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
    done = await written.call(tool.name, call.arguments)
    if done.is_error or not shows(await written.call(look.tool, look.arguments), look):
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
