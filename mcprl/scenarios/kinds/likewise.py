"""Writes of what another thing has already: give order O-17 the same status as order O-12."""

from mcprl.judges.checks import shows
from mcprl.scenarios.filling import REMOVING, target_slot
from mcprl.scenarios.intents import Change, Likewise, Value
from mcprl.scenarios.kinds.changes import effect_of, look_after
from mcprl.scenarios.kinds.statuses import reopens
from mcprl.scenarios.planner import Planner
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.slots import Slot
from mcprl.scenarios.steps import Field, Found, Grounded, call_of, same
from mcprl.text import stems, words
from mcprl.types import Session, Tool


async def likewise(planner: Planner, clean: Session, written: Session, state: State, tool: Tool) -> Grounded | None:
    """A write whose value is read from another thing of the same kind."""
    slot = target_slot(planner.catalog, tool)
    trips = [trip for trip in planner.known.round_trips if trip.write == tool.name and len(trip.bind) == 1]
    trip = next((trip for trip in trips if slot and trip.bind[0][1] == slot.path and not trip.constants), None)
    others = [own for own in planner.catalog.needs(tool) if own != slot]
    if trip is None or slot is None or len(others) != 1 or {*words(tool.name)} & REMOVING:
        return None
    read = planner.known.tools[trip.read]
    things = [await planner.finder.thing(clean, state, read) for _ in range(2)]
    found, model = things
    if found is None or model is None or not found.steps or not model.steps or found.subject == model.subject:
        return None
    own, other = _field(found, others[0]), _field(model, others[0])
    key = found.steps[-1].call.arguments.get(str(trip.bind[0][0][-1]))
    if key is None or own is None or other is None or same(own.value, other.value):
        return None
    filled = [(slot, key), (others[0], other.value)]
    call, look = call_of(tool, filled), look_after(planner, tool, filled)
    if look is None or shows(found.steps[-1].result, look) or reopens(planner, filled, found.record):
        return None
    value = Value(planner.catalog.slot(others[0]), other.value)
    change = Change(tool.name, tool.description, effect_of(planner, tool, found.reference), found.reference, (value,))
    done = await written.call(tool.name, call.arguments) if change.effect == "set" else None
    if done is None or done.is_error or not shows(await written.call(look.tool, look.arguments), look):
        return None
    plan = (*found.plan[:-1], *(made for made in model.plan if made not in found.plan[:-1]), call)
    entities = [*found.entities, *model.entities]
    return planner.task("likewise", Likewise(change, model.reference), (), plan, (look,), state, entities)


def _field(found: Found, slot: Slot) -> Field | None:
    """The field of a thing that a write's slot sets, by its name."""
    return next((field for field in found.fields if stems(field.attribute.key) == stems(slot.key)), None)
