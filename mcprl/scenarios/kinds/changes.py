"""Tasks that write: set, create, remove, and what else a tool does."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Literal

from mcprl.judges.checks import holds, shows
from mcprl.scenarios.addresses import as_address, as_person
from mcprl.scenarios.english.nouns import is_person
from mcprl.scenarios.fields import record_of, scalars, usable
from mcprl.scenarios.filling import (
    creates,
    fresh_slots,
    is_made_up,
    is_one_of_few,
    moved,
    reference_slots,
    removes,
    sort_of,
    target_slot,
)
from mcprl.scenarios.intents import Change, Reference, Value
from mcprl.scenarios.kinds.aggregates import topmost
from mcprl.scenarios.parameters import is_hash, shortened_hash
from mcprl.scenarios.planner import Planner
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.probing.values import note
from mcprl.scenarios.probing.writing import near_arguments
from mcprl.scenarios.slots import Slot, build
from mcprl.scenarios.steps import Filled, Grounded, call_of
from mcprl.servers.effects import VERBS
from mcprl.servers.proposals import propose
from mcprl.text import singular, stems, words
from mcprl.types import Call, CallMade, Check, Json, Scalar, Session, StateHolds, Tool, ToolResult

_MOST_LOOKS = 2
"""Reads around a write for which probing found none that shows it."""
_SETTING = frozenset("set update change edit modify patch configure adjust amend correct mark put write".split())
"""Verbs of what sets a field of a thing; others do something with it."""
_FINAL = frozenset(
    (
        "done processed shipped closed cancelled canceled delivered completed finished resolved refunded returned paid "
        "merged sold"
    ).split()
)
"""States in which nothing is for a time only."""
WriteTask = Callable[[Planner, Session, Session, State, Tool], Awaitable[Grounded | None]]
"""A kind of task that writes: the sessions are a clean one and one to write in."""
Effect = Literal["set", "create", "remove", "act"]


async def write(planner: Planner, clean: Session, written: Session, state: State, tool: Tool) -> Grounded | None:
    """A task that writes, executed in the session `written`.

    If probing found a read that shows the write, its result is the check, and the read must not show it in a `clean`
    session. Otherwise the check is the call itself.
    """
    filled = planner.filler.fill(tool, state)
    if filled is None:
        return None
    thing, way, filled, entities = await _target(planner, clean, state, tool, filled)
    call = call_of(tool, filled)
    effect = look_after(planner, tool, filled)
    if effect:
        before = await clean.call(effect.tool, effect.arguments)
        if shows(before, effect):
            effect = replace(effect, values=tuple(value for _, value in filled), together=True)
        if shows(before, effect):
            planner.filler.blame(tool)
            return None
        if reopens(planner, filled, record_of(before)):
            return None
    looks = [] if effect or removes(tool) else await _looks(planner, clean, tool, filled)
    removal = None if effect else await _removal(planner, clean, tool, filled)
    result = await written.call(tool.name, call.arguments)
    if result.is_error or planner.known.failures.is_failure(tool.name, call.arguments, result):
        planner.filler.blame(tool, result.text)
        return None
    if effect and not shows(await written.call(effect.tool, effect.arguments), effect):
        return None
    seen, changed = await _seen(written, looks, filled)
    effect = effect or seen
    if looks and not effect and not changed and _says_all(looks[0][1], filled):
        planner.filler.blame(tool)
        return None
    if removal and not shows(await written.call(removal.tool, removal.arguments), removal):
        removal = None
    values, does = stated(planner, tool, filled, thing), effect_of(planner, tool, thing)
    if values is None or (not values and does == "set") or (not thing and does == "remove"):
        return None  # the thing has this value already, or nothing is set
    checks: tuple[Check, ...] = tuple(check for check in (effect or removal,) if check)
    if not checks and propose(tool) in ("unknown", "read"):
        return None  # its name tells of no deed and no read shows one: whoever calls it wants its result
    fresh = fresh_slots(planner.catalog, tool)
    made_up = any(is_made_up(planner.known, *pair) for pair in filled if pair[0] not in fresh)
    if made_up and (does == "set" or not checks):
        return None
    checks = checks or (CallMade(tool.name, call.arguments),)
    intent = change_of(planner, tool, thing, values)
    kind = "write" if effect or removal else "action"
    return planner.task(kind, intent, (), (*way, call), checks, state, entities)


def stated(planner: Planner, tool: Tool, filled: Filled, thing: Reference | None) -> tuple[Value, ...] | None:
    """The values that a request states besides the thing; `None` if one of them is what the thing is named by."""
    named = {(value.attribute.key, value.value) for value in thing.values} if thing else set[tuple[str, Scalar]]()
    if any((slot.key, value) in named for slot, value in filled if slot != target_slot(planner.catalog, tool)):
        return None
    values = tuple(
        Value(planner.catalog.slot(slot), value)
        for slot, value in filled
        if (planner.catalog.slot(slot).key, value) not in named
        and not planner.known.is_setting(slot)
        and value != slot.schema.get("default")
        and not _is_reference(planner, slot, thing)
    )
    return as_person(as_address(values), _part_of(filled))


def _part_of(filled: Filled) -> str:
    """What the objects in a write's lists are called: `passenger` for `passengers[].first_name`."""
    return next((singular(str(slot.path[0])) for slot, _ in filled if len(slot.path) > 2), "name").replace("_", " ")


def _is_reference(planner: Planner, slot: Slot, thing: Reference | None) -> bool:
    """Whether the slot's value stands for the thing, which the request names otherwise."""
    return thing is not None and target_slot(planner.catalog, planner.known.tools[slot.tool]) == slot


async def _target(
    planner: Planner, session: Session, state: State, tool: Tool, filled: Filled
) -> tuple[Reference | None, list[Call], Filled, list[Scalar]]:
    """The existing thing that a write is about, now and then found in a list by its name or as the first of it: the
    reference, the calls that lead to it, the slots with its key, and the entities of the task."""
    slot = target_slot(planner.catalog, tool)
    filled = [
        (own, shortened_hash(str(value)) if is_hash(value) else planner.catalog.from_root(value))
        for own, value in filled
    ]
    filled = _noted(planner, tool, filled)
    free = _free(planner, filled)
    if slot is None or all(own != slot for own, _ in filled):
        return None, [], filled, free
    value = next(value for own, value in filled if own == slot)
    reference = Reference(planner.catalog.named_by(tool, slot), (Value(planner.catalog.slot(slot), value),))
    if planner.max_calls > 1 and not reference_slots(planner.catalog, tool) and planner.rng.random() < 0.6:
        top = await topmost(planner, session, state, tool, slot) if planner.rng.random() < 0.4 else None
        named = top or await planner.finder.by_name(session, state, tool, slot)
        key, found = named or (value, None)
        keyed = [(own, key if own == slot else value) for own, value in filled]
        placed = moved(planner.catalog, keyed, fresh_slots(planner.catalog, tool)) if found else None
        if found and placed:
            filled, free = placed, _free(planner, placed)
            if found.steps:
                return found.reference, found.plan, filled, [*free, *found.entities]
            reference = replace(reference, values=(Value(planner.catalog.slot(slot), key),))
    return reference, [], filled, free


def _noted(planner: Planner, tool: Tool, filled: Filled) -> Filled:
    """The values of a write whose texts fit what it notes them on: what is noted on others may fit no other thing, but
    a new person."""
    sort = sort_of({slot: (("given",), value) for slot, value in filled})
    if not creates(tool.name) or is_person(sort):
        return filled
    made = iter([text for text in (note(planner.rng) for _ in range(24)) if planner.allowed(text)])
    return [
        (slot, next(made, value))
        if isinstance(slot.path[-1], int) and planner.catalog.slot(slot).meaning == "text"
        else (slot, value)
        for slot, value in filled
    ]


def _free(planner: Planner, filled: Filled) -> list[Scalar]:
    """The texts of a write that belong to a split, as a person says them: no choices and categories, no settings and no
    references to other things.
    """
    named = [
        Value(planner.catalog.slot(slot), value)
        for slot, value in filled
        if not is_one_of_few(planner.catalog, slot)
        and slot.kind == "string"
        and not planner.known.is_setting(slot)
        and slot not in reference_slots(planner.catalog, planner.known.tools[slot.tool])
    ]
    return [value.value for value in as_person(as_address(named))]


def look_after(planner: Planner, tool: Tool, filled: Filled) -> StateHolds | None:
    """What a read must show after the write. If several reads show it, the last that probing found is taken."""
    values = {slot.path: value for slot, value in filled}
    effect = None
    for trip in planner.known.round_trips:
        shown = tuple(values[path] for path in trip.shown if path in values)
        if trip.write == tool.name and shown and all(origin in values for _, origin in trip.bind):
            bound = {path: values[origin] for path, origin in trip.bind}
            effect = StateHolds(trip.read, build(bound | dict(trip.constants)), shown)
    return effect


async def _looks(planner: Planner, clean: Session, tool: Tool, filled: Filled) -> list[tuple[Call, ToolResult]]:
    """Reads of what a write is about, and what they give before it."""
    looks: list[tuple[Call, ToolResult]] = []
    for read in planner.known.reads():
        arguments = near_arguments(planner.known, read, tool, dict(filled), planner.rng)
        if arguments and len(looks) < _MOST_LOOKS:
            before = await clean.call(read.name, arguments)
            looks += [] if before.is_error else [(Call(read.name, arguments), before)]
    return looks


async def _seen(
    written: Session, looks: Sequence[tuple[Call, ToolResult]], filled: Filled
) -> tuple[StateHolds | None, bool]:
    """A read that shows written values which it did not show before, with those values; and whether one shows anything
    else than before: a return that is asked for."""
    changed = False
    for call, before in looks:
        after = await written.call(call.tool, call.arguments)
        values = [_last_part(value) for _, value in filled]
        new = [value for value in values if not isinstance(value, bool) and not holds(before.text, value)]
        shown = tuple(value for value in new if not after.is_error and holds(after.text, value))
        if shown:
            return StateHolds(call.tool, call.arguments, shown), True
        changed = changed or (not after.is_error and after.text != before.text)
    return None, changed


def _last_part(value: Scalar) -> Scalar:
    """The name under which its folder lists a path; other values as they are."""
    return value.rpartition("/")[2] if isinstance(value, str) and re.fullmatch(r"[\w./-]+/[\w.-]+", value) else value


def _says_all(before: ToolResult, filled: Filled) -> bool:
    """Whether a read told all that is written before it was: nobody asks for what is so already."""
    return bool(filled) and all(holds(before.text, value) for _, value in filled)


async def _removal(planner: Planner, session: Session, tool: Tool, filled: Filled) -> StateHolds | None:
    """A list without required arguments that shows the thing that a write removes."""
    slot = target_slot(planner.catalog, tool)
    if slot is None or not removes(tool):
        return None
    key = next((value for own, value in filled if own == slot), None)
    for source in planner.known.sources.get((tool.name, slot.path), []):
        lister = planner.known.tools.get(source[1]) if source[0] == "from" else None
        if lister is None or planner.catalog.needs(lister) or key is None:
            continue
        shown = await session.call(lister.name, {})
        if usable(shown) and holds(shown.text, key):
            return StateHolds(lister.name, {}, gone=(key,))
    return None


def effect_of(planner: Planner, tool: Tool, thing: Reference | None) -> Effect:
    """What a write does, by its verb: it creates if it is about no existing thing, or about a part of one."""
    verbs = {*words(tool.name)}
    if removes(tool):
        return "remove"
    if verbs & {"move", "rename", "copy"}:
        return "act"
    if thing is None:
        return "create" if creates(tool.name) else "act"
    if creates(tool.name):
        made = {*stems(planner.catalog.noun(tool))}
        return "create" if made.isdisjoint((*stems(thing.noun), *VERBS)) else "act"
    return "set" if verbs & _SETTING else "act"


def change_of(planner: Planner, tool: Tool, thing: Reference | None, values: Sequence[Value]) -> Change:
    """What a write does to a thing, with the values that a request states."""
    return Change(tool.name, tool.description, effect_of(planner, tool, thing), thing, tuple(values))


async def is_proved(written: Session, call: Call, look: StateHolds) -> bool:
    """Whether a write works, and a look shows it afterwards."""
    done = await written.call(call.tool, call.arguments)
    return not done.is_error and shows(await written.call(look.tool, look.arguments), look)


def steps_on(planner: Planner, slot: Slot, now: Scalar, value: Scalar) -> int | None:
    """How many steps further a value of the slot is than the value now. `None` if the slot's values have no order, as a
    list by the alphabet has none."""
    order = [str(choice) for choice in planner.catalog.slot(slot).choices]
    if order == sorted(order) or not {str(now), str(value)} <= {*order}:
        return None
    return order.index(str(value)) - order.index(str(now))


def reopens(planner: Planner, filled: Filled, record: Json) -> bool:
    """Whether a write takes the thing of a record back from a final status: nobody asks to pay what is delivered."""
    for slot, value in filled:
        for path, now in scalars(record):
            is_final = str(now).lower() in _FINAL and stems(path[-1]) == stems(slot.key)
            if is_final and (steps_on(planner, slot, now, value) or 0) < 0:
                return True
    return False
