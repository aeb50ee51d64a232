"""What cannot be done: another matter, what the policy forbids, and writes that no tool of the server does."""

import re

from mcprl.judges.checks import leaves
from mcprl.scenarios.english.nouns import is_deal, is_technical, spoken
from mcprl.scenarios.filling import removes
from mcprl.scenarios.intents import Change, Forbidden, Reference, Unserved, Value
from mcprl.scenarios.kinds.changes import change_of
from mcprl.scenarios.names import noun as noun_of
from mcprl.scenarios.planner import Planner
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.probing.sources import affinity
from mcprl.scenarios.slots import slots
from mcprl.scenarios.steps import Field, Found, Grounded
from mcprl.servers.effects import is_read
from mcprl.text import stems, words
from mcprl.types import Declines, Scalar, Session, Tool

_SET = frozenset("money count email phone place person category".split())
"""Meanings of fields that people want to have changed."""
_FREE = frozenset("query sql command code script statement expression input prompt request".split())
"""Words of parameters with which a tool may do anything."""


async def unserved(planner: Planner, session: Session, state: State) -> Grounded | None:
    """Something that no tool does: the answer must say that it cannot be done."""
    nouns = tuple(noun for noun in planner.catalog.nouns() if not re.search(r" \w+ed$", noun))  # no "diff staged"
    return planner.task("declines", Unserved(nouns), (), (), (Declines(),), state, [])


async def forbidden(planner: Planner, session: Session, state: State) -> Grounded | None:
    """A write that the policy forbids, on a thing that is there: the answer must say that it cannot be done."""
    rng, catalog = planner.rng, planner.catalog
    tool = rng.choice(planner.known.forbidden) if planner.known.forbidden else None
    needed = [slot for slot in slots(tool) if slot.required] if tool else []
    target = next((slot for slot in needed if not slot.choices), None)
    if tool is None or target is None or _is_served(planner, tool):
        return None
    tools = planner.known.tools | {tool.name: tool}
    places = [place for place in state.pool if affinity(tools, target, place) >= 0.9]
    values = [value for place in places for value in state.pool[place] if planner.allowed(value)]
    if not values or any(slot is not target and not slot.choices for slot in needed):
        return None
    key = catalog.from_root(rng.choice(values))
    thing = Reference(catalog.named_by(tool, target), (Value(catalog.slot(target), key),))
    rest = tuple(Value(catalog.slot(slot), rng.choice(slot.choices)) for slot in needed if slot is not target)
    intent = Forbidden(change_of(planner, tool, thing, rest))
    return planner.task("declines", intent, (), (), (Declines(),), state, [key])


def _is_served(planner: Planner, tool: Tool) -> bool:
    """Whether a write that is allowed might do what the tool does: it is about the same things, and removes or not."""
    alike = (other for other in planner.known.writes() if {*stems(noun_of(tool))} & {*stems(noun_of(other))})
    return any(removes(other) == removes(tool) for other in alike)


async def unable(planner: Planner, session: Session, state: State) -> Grounded | None:
    """A write on a thing that is there and that no tool writes to: the answer must say that it cannot be done."""
    tool = planner.choice.tool(planner.catalog.entity_slots)
    found = await planner.finder.thing(session, state, tool) if tool and not planner.known.tables else None
    if found is None or len(found.reference.values) != 1 or found.keys:
        return None
    if is_technical(noun := spoken(found.reference.noun)):
        return None
    writes = [tool for tool in planner.known.tools.values() if not is_read(tool)]
    if any(_does_anything(planner, tool) or _is_about(planner, tool, found) for tool in writes):
        return None
    if planner.rng.random() < 0.35:
        verb = "cancel" if is_deal(noun) else "delete"
        change = Change(f"{verb}_{noun}", "", "remove", found.reference)
    elif value := _other_value(planner, state, found):
        change = Change(f"set_{value.attribute.key}", "", "set", found.reference, (value,))
    else:
        return None
    return planner.task("declines", Forbidden(change), (), (), (Declines(),), state, found.entities)


def _is_about(planner: Planner, tool: Tool, found: Found) -> bool:
    """Whether a write is about a thing or others of its kind: by its name, or since it takes their keys."""
    noun = {*stems(found.reference.noun)}
    keys = {found.subject, *(str(value) for step in found.steps for _, value in leaves(step.call.arguments))}
    pool = planner.known.base.pool
    for slot in planner.known.slots[tool.name]:
        places = planner.known.sources.get((tool.name, slot.path), ())
        taken = {str(value) for place in places for value in pool.get(place, ())}
        if keys & taken or noun & {*stems(planner.catalog.named_by(tool, slot))}:
            return True
    return bool(noun & {*stems(noun_of(tool))})


def _does_anything(planner: Planner, tool: Tool) -> bool:
    return any({*words(slot.key)} & _FREE for slot in planner.known.slots[tool.name] if slot.kind == "string")


def _other_value(planner: Planner, state: State, found: Found) -> Value | None:
    """A field of the thing that people want to have changed, with a value that another thing has."""
    fields = [field for field in found.fields if field.attribute.meaning in _SET and not (field.live or field.derived)]
    if not fields:
        return None
    entry = planner.rng.choice(fields)
    others = [value for value in _values(state, found, entry) if value != entry.value and planner.allowed(value)]
    return Value(entry.attribute, planner.rng.choice(others)) if others else None


def _values(state: State, found: Found, entry: Field) -> list[Scalar]:
    """What the field says of the things that are known."""
    tool = found.steps[-1].call.tool
    places = [place for place in state.pool if place[:2] == ("from", tool) and place[-1] == entry.attribute.key]
    return [value for place in places for value in state.pool[place]]
