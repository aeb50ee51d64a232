"""Tasks that write: set, create, remove, and set to what follows from a read."""

from dataclasses import replace
from typing import Literal

from mcprl.judges.checks import holds
from mcprl.scenarios.addresses import as_address
from mcprl.scenarios.fields import scalars, usable
from mcprl.scenarios.filling import REMOVING
from mcprl.scenarios.intents import Adjust, Attribute, Change, Reference, Value
from mcprl.scenarios.parameters import is_hash, shortened_hash
from mcprl.scenarios.planner import Planner
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.slots import Slot, build
from mcprl.scenarios.steps import Filled, Found, call_of
from mcprl.servers.effects import VERBS
from mcprl.text import stems, words
from mcprl.types import CallMade, Check, Scalar, Scenario, Session, StateHolds, Tool

Effect = Literal["set", "create", "remove", "act"]
_CREATES = frozenset(
    "create add append insert book new register open log record submit post send save write invite".split()
)


async def write(planner: Planner, clean: Session, written: Session, state: State, tool: Tool) -> Scenario | None:
    """A task that writes, executed in the session `written`.

    If probing found a read that shows the write, its result is the check, and the read must not show it in a `clean`
    session. Otherwise the check is the call itself.
    """
    filled = planner.fill_write(tool, state)
    if filled is None:
        return None
    thing, steps, filled, entities = await _target(planner, clean, state, tool, filled)
    call = call_of(tool, filled)
    effect = _shown(planner, tool, filled)
    before = None
    if effect:
        before = await clean.call(effect.tool, effect.arguments)
        if not before.is_error and all(holds(before.text, value) for value in effect.values):
            return None
    removal = None if effect else await _removal(planner, clean, tool, filled)
    result = await written.call(tool.name, call.arguments)
    if result.is_error or planner.known.failures.is_failure(tool.name, call.arguments, result):
        return None
    if effect and not _holds(await written.call(effect.tool, effect.arguments), effect):
        return None
    if removal and not _holds(await written.call(removal.tool, removal.arguments), removal):
        removal = None
    named = {value.attribute.key for value in thing.values} if thing else set[str]()
    slots = {slot for slot, _ in filled if thing and planner.catalog.slot(slot).key in named}
    values = tuple(
        Value(planner.catalog.slot(slot), value)
        for slot, value in filled
        if slot not in slots
        and not planner.known.is_setting(slot)
        and value != slot.schema.get("default")
        and not _is_reference(planner, slot, thing)
    )
    values = as_address(values)
    checks: tuple[Check, ...] = tuple(check for check in (effect or removal,) if check)
    checks = checks or (CallMade(tool.name, call.arguments),)
    intent = Change(tool.name, tool.description, _effect(planner, tool, thing), thing, values)
    kind = "write" if effect or removal else "action"
    plan = (*steps.plan, call) if steps else (call,)
    return planner.task(kind, intent, (), plan, checks, state, entities)


def _is_reference(planner: Planner, slot: Slot, thing: Reference | None) -> bool:
    """Whether the slot's value stands for the thing, which the request names otherwise."""
    return thing is not None and _entity(planner, slot.tool) == slot


def _entity(planner: Planner, tool: str) -> Slot | None:
    """The slot of a write that names an existing thing: the first required one whose values results hold."""
    fresh = planner.fresh(planner.known.tools[tool])
    slots = [slot for slot in planner.known.slots[tool] if slot.required and planner.catalog.names_entity(slot)]
    slots = [slot for slot in slots if slot not in fresh]
    keyed = [slot for slot in slots if planner.catalog.slot(slot).meaning in ("identifier", "name", "path", "email")]
    made = {*words(tool)} & _CREATES
    return (keyed or ([] if made else slots) or [None])[0]


async def _target(
    planner: Planner, session: Session, state: State, tool: Tool, filled: Filled
) -> tuple[Reference | None, Found | None, Filled, list[Scalar]]:
    """The existing thing that a write is about, now and then found by its name in a list: the reference, the way to it,
    the slots with its key, and the entities of the task."""
    slot = _entity(planner, tool.name)
    filled = [
        (own, shortened_hash(str(value)) if is_hash(value) else planner.catalog.from_root(value))
        for own, value in filled
    ]
    free = _free(planner, filled)
    if slot is None or all(own != slot for own, _ in filled):
        return None, None, filled, free
    value = next(value for own, value in filled if own == slot)
    reference = Reference(planner.catalog.named_by(tool, slot), (Value(planner.catalog.slot(slot), value),))
    if planner.max_calls > 1 and planner.rng.random() < 0.6:
        found = await planner.by_name(session, state, tool, slot)
        if found:
            key, listed = found
            filled = [(own, key if own == slot else value) for own, value in filled]
            free = _free(planner, filled)
            if listed.steps:
                return listed.reference, listed, filled, [*free, *listed.entities]
            reference = replace(reference, values=(Value(planner.catalog.slot(slot), key),))
    return reference, None, filled, free


def _free(planner: Planner, filled: Filled) -> list[Scalar]:
    """The texts of a write that belong to a split: no choices and no settings."""
    return [
        value
        for slot, value in filled
        if not slot.choices and slot.kind == "string" and not planner.known.is_setting(slot)
    ]


def _shown(planner: Planner, tool: Tool, filled: Filled) -> StateHolds | None:
    """What a read must show after the write. If several reads show it, the last that probing found is taken."""
    values = {slot.path: value for slot, value in filled}
    effect = None
    for trip in planner.known.round_trips:
        shown = tuple(values[path] for path in trip.shown if path in values)
        if trip.write == tool.name and shown and all(origin in values for _, origin in trip.bind):
            bound = {path: values[origin] for path, origin in trip.bind}
            effect = StateHolds(trip.read, build(bound | dict(trip.constants)), shown)
    return effect


async def _removal(planner: Planner, session: Session, tool: Tool, filled: Filled) -> StateHolds | None:
    """A list without required arguments that shows the thing that a write removes."""
    slot = _entity(planner, tool.name)
    if slot is None or not {*words(tool.name)} & REMOVING:
        return None
    key = next((value for own, value in filled if own == slot), None)
    for source in planner.known.sources.get((tool.name, slot.path), []):
        lister = planner.known.tools.get(source[1]) if source[0] == "from" else None
        if lister is None or planner.needs(lister) or key is None:
            continue
        shown = await session.call(lister.name, {})
        if usable(shown) and holds(shown.text, key):
            return StateHolds(lister.name, {}, gone=(key,))
    return None


def _holds(result: object, check: StateHolds) -> bool:
    text = getattr(result, "text", "")
    if getattr(result, "is_error", True):
        return False
    return all(holds(text, value) for value in check.values) and not any(holds(text, value) for value in check.gone)


def _effect(planner: Planner, tool: Tool, thing: Reference | None) -> Effect:
    """What a write does, by its verb: it creates if it is about no existing thing, or about a part of one."""
    verbs = {*words(tool.name)}
    if verbs & REMOVING:
        return "remove"
    if verbs & {"move", "rename", "copy"}:
        return "act"
    if thing is None:
        return "create" if verbs & _CREATES else "act"
    if verbs & _CREATES:
        made = {*stems(planner.catalog.noun(tool))}
        return "create" if made.isdisjoint((*stems(thing.noun), *VERBS)) else "act"
    return "set"


async def adjust(planner: Planner, clean: Session, written: Session, state: State, tool: Tool) -> Scenario | None:
    """A write of a number that follows from the number that a read shows."""
    trip = next((trip for trip in planner.known.round_trips if trip.write == tool.name and len(trip.bind) == 1), None)
    slot = _entity(planner, tool.name)
    if trip is None or slot is None or trip.bind[0][1] != slot.path or trip.constants:
        return None
    numbers = [
        own for own in planner.known.slots[tool.name] if own.kind in ("integer", "number") and own.path in trip.shown
    ]
    others = [own for own in planner.needs(tool) if own not in (slot, *numbers)]
    if len(numbers) != 1 or others:
        return None
    found = await planner.thing(clean, state, planner.known.tools[trip.read])
    key = found.steps[-1].call.arguments.get(str(trip.bind[0][0][-1])) if found and found.steps else None
    old = _old(planner, found, numbers[0]) if found else None
    if found is None or key is None or old is None:
        return None
    attribute, value = old
    change = planner.rng.choice((1, 2, 3, 5, 10, 12, 20, -1, -2, -3, -5))
    new = value + change
    if new < 0:
        return None
    call = call_of(tool, [(slot, key), (numbers[0], new)])
    effect = StateHolds(trip.read, found.steps[-1].call.arguments, (new,))
    if holds(found.steps[-1].result.text, new) or (await written.call(tool.name, call.arguments)).is_error:
        return None
    if not _holds(await written.call(effect.tool, effect.arguments), effect):
        return None
    intent = Adjust(tool.name, tool.description, found.reference, attribute, change, new)
    plan = (*found.plan, call)
    return planner.task("adjust", intent, (), plan, (effect,), state, found.entities)


def _old(planner: Planner, found: Found, slot: Slot) -> tuple[Attribute, int | float] | None:
    """The number in the record that the slot writes, by its name."""
    for path, value in scalars(found.record):
        alike = {*stems(path[-1])} & {*stems(slot.key)}
        if alike and isinstance(value, int | float) and not isinstance(value, bool):
            return planner.catalog.attribute(found.steps[-1].tool.name, (*found.keys, *path), found.record), value
    return None
