"""Tasks whose right answer is no value: what does not exist, and what the request leaves out."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from mcprl.scenarios.askable import MACHINE
from mcprl.scenarios.english.labels import JOINTS
from mcprl.scenarios.english.nouns import ABSTRACT, spoken
from mcprl.scenarios.fields import usable
from mcprl.scenarios.filling import target_slot
from mcprl.scenarios.intents import (
    Absent,
    Attribute,
    Change,
    Lacking,
    Lookup,
    Missing,
    Reference,
    Value,
)
from mcprl.scenarios.kinds.changes import effect_of, stated
from mcprl.scenarios.naming import shown_by, value_of
from mcprl.scenarios.parameters import READING, is_search, opens
from mcprl.scenarios.planner import Planner
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.probing.values import stranger
from mcprl.scenarios.slots import Slot
from mcprl.scenarios.steps import Grounded, call_of
from mcprl.text import stems, words
from mcprl.types import AsksBack, CallMade, Check, SaysMissing, Scalar, Session, Tool

_BY_EMAIL = ("email", "email")
"""What is asked for, and named by: nobody asks for the address that they give."""
_UNNAMED = ("number", "line", "code", "hash", "file")
_TOKENS = (*_UNNAMED, "date", "path", "url", "email")
"""Places of values that stand in a text: of a date that a field has, too, this is the name."""


async def missing(planner: Planner, session: Session, state: State) -> Grounded | None:
    """An attribute of a thing that does not exist: the answer must say so."""
    rng, catalog = planner.rng, planner.catalog
    tool = planner.choice.tool(catalog.entity_slots)
    needed = planner.catalog.needs(tool) if tool else []
    if tool is None or len(needed) != 1 or needed[0].choices:
        return None
    if is_search(needed[0]) and tool.name not in catalog.lists:
        return None  # what is found is no thing
    options = planner.known.options(needed[0], state, rng, lambda _: True)
    unknown = _stranger(planner, tool, needed[0], options)
    if unknown is None:
        return None
    meaning, noun = catalog.slot(needed[0]).meaning, catalog.named_by(tool, needed[0])
    call = call_of(tool, [(needed[0], unknown)])
    result = await session.call(tool.name, call.arguments)
    if result.unanswered or (
        usable(result) and not planner.known.failures.is_failure(tool.name, call.arguments, result)
    ):
        return None
    naming = value_of(planner.catalog, needed[0], unknown)
    if is_search(needed[0]):
        naming = replace(naming, attribute=replace(naming.attribute, label="mention", meaning="name"))
    reference = Reference(noun, (naming,))
    key = stems(needed[0].key)  # `paths` takes what `path` does
    own = [
        other
        for other in shown_by(planner.catalog, reference.noun)
        if stems(planner.catalog.needs(other)[-1].key) == key
    ]
    shown = [keys for other in own for keys in _seen_fields(planner, other)] if tool not in own else []
    asked = [catalog.attribute(tool.name, keys, {}) for keys in _seen_fields(planner, tool) if keys not in shown]
    asked = [a for a in asked if a.meaning not in ("identifier", "name", "text") and (a.meaning, meaning) != _BY_EMAIL]
    asked = [a for a in asked if not _is_key(a, naming.attribute)]
    single = tool.name not in catalog.lists
    readers = [other for other in own if {*words(other.name)} & READING]
    takers = [
        other for other in planner.known.reads() if [stems(slot.key) for slot in planner.catalog.needs(other)] == [key]
    ]
    obvious = (readers or own or takers) == [tool]
    attribute = rng.choice(asked) if asked and single and (rng.random() < 0.7 or not obvious) else None
    if attribute is None and not obvious:
        return None  # whether a customer exists is not asked of their orders, nor what is in a file of its size
    checks: tuple[Check, ...] = (CallMade(call.tool, call.arguments, failed=True), SaysMissing())
    return planner.task("missing", Missing(reference, attribute), (), (call,), checks, state, [unknown])


def _is_key(asked: Attribute, key: Attribute) -> bool:
    """Whether a field is what its thing is named by: the path of the repo with repository path /photos."""
    return {*asked.label.split()} <= {*key.label.split()}


async def absent(planner: Planner, clean: Session, written: Session, state: State, tool: Tool) -> Grounded | None:
    """A write on a thing that does not exist: the answer must say so. To have looked for the thing is enough."""
    target, filled = target_slot(planner.catalog, tool), planner.filler.fill(tool, state)
    if target is None or target.choices or not filled or all(slot != target for slot, _ in filled):
        return None
    options = planner.known.options(target, state, planner.rng, lambda _: True)
    unknown = _stranger(planner, tool, target, options)
    if unknown is None:
        return None
    filled = [(slot, unknown if slot == target else value) for slot, value in filled]
    thing = Reference(planner.catalog.named_by(tool, target), (value_of(planner.catalog, target, unknown),))
    effect, values = effect_of(planner, tool, thing), stated(planner, tool, filled, thing)
    if effect == "create" or values is None or (effect == "set" and not values):
        return None
    call = call_of(tool, filled)
    result = await written.call(tool.name, call.arguments)
    if result.unanswered:
        return None
    if not result.is_error and not planner.known.failures.is_failure(tool.name, call.arguments, result):
        return None
    look = call_of(tool, [(target, unknown)])
    checks: tuple[Check, ...] = (CallMade(tool.name, look.arguments, failed=True), SaysMissing())
    change = Change(tool.name, tool.description, effect, thing, values)
    return planner.task("missing", Absent(change), (), (call,), checks, state, [unknown])


def _stranger(planner: Planner, tool: Tool, slot: Slot, options: Sequence[Scalar]) -> Scalar | None:
    """A value that is none of `options`, but like one with which the tool worked, or like one of them: what a call of
    the tool might look for in vain."""
    catalog = planner.catalog
    noun, meaning = catalog.named_by(tool, slot), catalog.slot(slot).meaning
    worked = [value for made in planner.known.examples.get(tool.name, ()) for value in _taken(made.arguments, slot)]
    values = [catalog.from_root(v) for v in worked if v in options and v not in (".", *catalog.roots)]
    values = values or [catalog.from_root(v) for v in options]
    if meaning == "path":
        values = _placed(planner, options, values, noun == "folder")
    planner.rng.shuffle(values)
    person = meaning == "person" or (meaning == "name" and spoken(noun) in ABSTRACT)
    made = [stranger(value, planner.rng, person=person, noun=noun) for value in values[:6]]
    return next((v for v in made if planner.allowed(v) and v not in options and opens(tool, v)), None)


def _placed(planner: Planner, options: Sequence[Scalar], worked: Sequence[Scalar], folders: bool) -> list[Scalar]:
    """The paths of folders, or of files and folders, with a folder of their own if there are any: a bare name would be
    searched for."""
    paths = [value for value in worked if not (folders and PurePosixPath(str(value)).suffix)]
    known = [planner.catalog.from_root(value) for value in options]
    inner = [path for path in known if "/" in str(path).lstrip("/") and path not in planner.catalog.roots]
    inner = [path for path in inner if not (folders and PurePosixPath(str(path)).suffix)]
    return ([path for path in paths if "/" in str(path)] or inner) if inner else paths


def _taken(arguments: object, slot: Slot) -> list[Scalar]:
    """The value of the slot in a call's arguments."""
    node: object = arguments
    for part in slot.path:
        if isinstance(part, str) and isinstance(node, dict):
            node = node.get(part)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        elif isinstance(part, int) and isinstance(node, list) and len(node) > part:  # pyright: ignore[reportUnknownArgumentType]
            node = node[part]  # pyright: ignore[reportUnknownVariableType]
    return [node] if isinstance(node, str | int | float) else []


def _seen_fields(planner: Planner, tool: Tool) -> list[tuple[str, ...]]:
    """The paths of the fields that the tool's results have had."""
    pool = planner.known.base.pool
    places = [place[2:] for place in pool if place[:2] == ("from", tool.name) and len(place) == 3]
    named = [keys for keys in places if keys[0] not in _TOKENS]
    told = {str(value) for keys in named for value in pool["from", tool.name, *keys]}
    places = [keys for keys in places if keys in named or not {str(v) for v in pool["from", tool.name, *keys]} <= told]
    places = [keys for keys in places if keys[0] not in _UNNAMED or not named]
    return [
        keys
        for keys in places
        if not {*words(keys[0])} & {*MACHINE, *JOINTS} and not re.search(r"\d|[()\[\]{}=<>]", keys[0])
    ]


async def lacking(planner: Planner, session: Session, state: State) -> Grounded | None:
    """A question about one thing that leaves out which: the answer must ask, and nothing may be made up."""
    catalog = planner.catalog
    tool = planner.choice.tool(lambda tool: tool.name not in catalog.lists and catalog.entity_slots(tool))
    needed = planner.catalog.needs(tool) if tool else []
    fields = _seen_fields(planner, tool) if tool else []
    if tool is None or len(needed) != 1 or not fields:
        return None
    slot = needed[0]
    noun, lacks = catalog.named_by(tool, slot), catalog.slot(slot)
    asked = catalog.attribute(tool.name, planner.rng.choice(fields), {})
    if asked.meaning in ("identifier", "text", "flag") or _is_key(asked, lacks):
        return None
    words = tuple(dict.fromkeys((*noun.split(), *spoken(noun).split(), *lacks.label.split(), lacks.key)))
    intent = Lacking(Lookup(Reference(noun), (asked,)), lacks)
    return planner.task("asks", intent, (), (), (AsksBack(words),), state, [])


async def lacking_write(planner: Planner, session: Session, state: State) -> Grounded | None:
    """A write that leaves out the thing, or the value to set: the answer must ask, and nothing may be written."""
    writes = [tool for tool in planner.known.writes() if target_slot(planner.catalog, tool)]
    tool = planner.rng.choice(writes) if writes else None
    target = target_slot(planner.catalog, tool) if tool else None
    filled = planner.filler.fill(tool, state) if tool else None
    if tool is None or target is None or filled is None:
        return None
    key = tuple(Value(planner.catalog.slot(target), value) for slot, value in filled if slot == target)
    thing = Reference(planner.catalog.named_by(tool, target), key)
    effect = effect_of(planner, tool, thing)
    if effect == "create" or not key:
        return None
    needed = [
        (slot, value)
        for slot, value in filled
        if slot != target and slot.required and effect == "set" and not planner.known.is_setting(slot)
    ]
    if effect == "set" and not needed:  # nothing is set: a branch is checked out
        return None
    values = tuple(Value(planner.catalog.slot(slot), value) for slot, value in needed)
    told = [value.attribute for value in values if len(values) == 1 and value.attribute.meaning != "identifier"]
    lacks = planner.rng.choice([key[0].attribute, *told])
    intent = Lacking(Change(tool.name, tool.description, effect, thing, values), lacks)
    names = (*thing.noun.split(), *spoken(thing.noun).split()) if lacks == key[0].attribute else ()
    asked = tuple(dict.fromkeys((*names, *lacks.label.split(), lacks.key)))
    return planner.task("asks", intent, (), (), (AsksBack(asked),), state, [key[0].value])
