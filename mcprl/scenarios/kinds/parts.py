"""Questions about what a thing holds or is linked to: the observations on a person, the files of a commit, who works on
a project."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mcprl.scenarios.catalog import NAMING
from mcprl.scenarios.fields import Keys, is_answer
from mcprl.scenarios.intents import COUNT, Attribute, Connected, Count, Listing, Reference, Value
from mcprl.scenarios.naming import said
from mcprl.scenarios.parameters import is_hash, is_search
from mcprl.scenarios.planner import Planner
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.probing.values import known_format
from mcprl.scenarios.slots import Slot
from mcprl.scenarios.steps import Field, Grounded, Step, is_whole, same
from mcprl.text import singular, stems, words
from mcprl.types import Json, Scalar, Session, Tool

_MOST = 6
_IDLE = frozenset(
    "about after again along among around before behind being below between could doing during every other shall since "
    "still their there these thing those through under until where which while whose within without would".split()
)
"""Words that nobody searches for."""
_SEARCHES = 5
"""Attempts of one search task to find something."""


async def parts(planner: Planner, session: Session, state: State) -> Grounded | None:
    """All the parts that one thing's record lists, or how many they are."""
    found = await planner.finder.thing(session, state, planner.choice.tool(planner.catalog.entity_slots))
    if found is None or not found.steps or not found.reference.values:
        return None
    lists = [pair for pair in _lists(found.record) if 0 < len(pair[1]) <= 12 and _is_part(pair[0])]
    if not lists:
        return None
    keys, items = planner.rng.choice(lists)
    step = found.steps[-1]
    noun, asked, values = _named(planner, step, (*found.keys, *keys), items)
    where = _whose(found.reference)
    if planner.rng.random() < (0.6 if len(items) > 1 else 0.1):
        entry = Field(COUNT, len(items), (), derived=True)
        return planner.question("count", Count(noun, where), found.plan, [entry], state, found.entities)
    if not values or len(values) > _MOST or len({*map(str, values)}) < len(items):
        return None
    given = [value.value for value in found.reference.values]
    if not all(is_answer(value, given) and not is_hash(value) for value in values):
        return None
    listed = [Field(asked, value) for value in values]
    return planner.question("listing", Listing(noun, where, asked), found.plan, listed, state, found.entities)


def _lists(record: Mapping[str, Any]) -> Iterator[tuple[Keys, Sequence[Any]]]:
    """The lists of a record's own fields: texts, or records of parts."""
    for key, value in record.items():
        if isinstance(value, list) and value and all(isinstance(item, str | dict) for item in value):  # pyright: ignore[reportUnknownVariableType]
            yield (str(key),), value  # pyright: ignore[reportUnknownArgumentType]


def _is_part(keys: Keys) -> bool:
    last = words(keys[-1])[-1:]
    return bool(last) and singular(last[0]) != last[0]


def _named(planner: Planner, step: Step, keys: Keys, items: Sequence[Any]) -> tuple[str, Attribute, list[Scalar]]:
    """The noun of the parts, the attribute that names them, and its values; none if they have no names."""
    if all(isinstance(item, str) for item in items):
        noun = " ".join(stems(keys[-1]))
        return noun, Attribute(keys[-1], noun, "text"), list(items)
    rows = [item for item in items if isinstance(item, dict)]
    noun = planner.catalog.noun(step.tool, keys, rows[0])
    for key in rows[0]:
        attribute = planner.catalog.attribute(step.tool.name, (*keys, key), rows[0])
        if attribute.meaning in NAMING and all(isinstance(row.get(key), str) for row in rows):
            return noun, attribute, [row[key] for row in rows]
    return noun, Attribute("", noun, "name"), []


def _whose(reference: Reference) -> tuple[Value, ...]:
    """The values that name a thing as those of the thing whose parts are asked for."""
    first, *rest = reference.values
    meaning = "identifier" if first.attribute.meaning == "identifier" else "name"
    label = "about" if reference.noun in ("entity", "node", "record", "item") else reference.noun
    return Value(replace(first.attribute, label=label, meaning=meaning), first.value), *rest


async def link(planner: Planner, session: Session, state: State) -> Grounded | None:
    """What a thing is linked to by a relation with a name of its own."""
    tool = planner.choice.tool(planner.catalog.entity_slots)
    found = await planner.finder.thing(session, state, tool, False)
    step = found.steps[-1] if found and found.steps else None
    if found is None or step is None or not found.reference.values:
        return None
    name = found.reference.values[0].value
    edges = [edge for edge in _edges(step.record) if any(same(end, name) for end in edge[::2])]
    if not edges:
        return None
    subject, verb, other = planner.rng.choice(edges)
    forward = same(subject, name)
    ends = [
        (edge[2] if forward else edge[0]) for edge in edges if edge[1] == verb and same(edge[0 if forward else 2], name)
    ]
    others = [end for edge in edges for end in edge[::2] if end not in ends and not same(end, name)]
    if len(ends) > 4 or not all(is_answer(end, [name]) for end in ends):
        return None
    intent = Connected(str(verb), str(subject) if forward else None, None if forward else str(other))
    rivals = tuple(dict.fromkeys(others))
    asked = [Field(Attribute("link", "name", "name"), end, rivals) for end in dict.fromkeys(ends)]
    return planner.question("link", intent, found.plan, asked, state, found.entities)


_SUBJECTS = frozenset("from source subject start parent src tail".split())
_OBJECTS = frozenset("to target object end child destination dst head".split())
_VERBS = frozenset("relation type predicate verb label kind relationship edge link name".split())
"""Words of the fields of a relation: who or what it leads from and to, and its verb."""


def _is_verb(text: str) -> bool:
    """Whether a relation reads as a verb in the third person: `works_at`, `is for`, `manages`."""
    head = (words(text) or ("",))[0]
    return head in ("is", "has") or (head.endswith("s") and not head.endswith("ss") and len(head) > 3)


def _edges(record: Json) -> list[tuple[Scalar, Scalar, Scalar]]:
    """The (subject, verb, object) of all rows that link two names."""
    if isinstance(record, list):
        return [edge for item in record for edge in _edges(item)]
    if not isinstance(record, Mapping):
        return []
    ends: dict[str, Scalar] = {}
    for key, value in record.items():  # pyright: ignore[reportUnknownVariableType]
        named = {*words(str(key))}  # pyright: ignore[reportUnknownArgumentType]
        side = "from" if named & _SUBJECTS else "to" if named & _OBJECTS else "verb" if named & _VERBS else ""
        if side and isinstance(value, str):
            ends.setdefault(side, value)
    if len(ends) == 3 and _is_verb(str(ends["verb"])):
        return [(ends["from"], ends["verb"], ends["to"])]
    return [edge for inner in record.values() for edge in _edges(inner)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


async def search(planner: Planner, session: Session, state: State) -> Grounded | None:
    """The things that a search for a word finds, or how many they are."""
    tool = planner.choice.tool(lambda tool: any(is_search(slot) for slot in planner.catalog.needs(tool)))
    slot = next((slot for slot in planner.catalog.needs(tool) if is_search(slot)), None) if tool else None
    if tool is None or slot is None:
        return None
    glob = known_format(slot) == "glob"
    step, items = None, list[Any]()
    for _ in range(_SEARCHES):  # most words are in no text
        chosen = _pattern(planner, state, tool, slot) if glob else _word(planner, state, tool, slot)
        step = await planner.calls.read(session, state, tool, chosen) if chosen else None
        found = (list(step.rows) or step.record) if step else None
        items = found if isinstance(found, list) else []
        if items:
            break
    if step is None or not 0 < len(items) <= _MOST or not is_whole(planner.known, step):
        return None
    query = str(next(value for own, value in step.filled if own == slot))
    if all(isinstance(item, str) for item in items):
        named = planner.catalog.named_by(tool, slot)
        noun, asked, values = (
            named,
            Attribute(named, named, "path"),
            [planner.catalog.from_root(str(item)) for item in items],
        )
    else:
        noun, asked, values = _named(planner, step, step.keys, list(step.rows))
    label = "match" if glob else "mention"
    rest = [(own, value) for own, value in step.filled if own != slot and value not in (".", *planner.catalog.roots)]
    where = (*said(planner.catalog, rest), Value(Attribute(slot.key, label, "name"), query))
    if not values or not all(is_answer(value, [query]) for value in values) or len({*values}) < len(values):
        return None
    listed = [Field(asked, value) for value in values]
    entities = [" ".join([*(str(value) for _, value in rest), query])] if glob else [query]
    return planner.question("search", Listing(noun, where, asked), [step.call], listed, state, entities)


def _pattern(planner: Planner, state: State, tool: Tool, slot: Slot) -> dict[Slot, Scalar]:
    """A folder and a pattern for the files of one kind in it; empty if the tool takes no folder with files."""
    folders = [
        own for own in planner.catalog.needs(tool) if own != slot and planner.catalog.slot(own).meaning == "path"
    ]
    paths = [str(value) for own in folders for value in planner.known.options(own, state, planner.rng, lambda _: True)]
    files = [path for path in paths if re.search(r"[^/]/[^/]+\.\w{1,5}$", path)]
    if not files or len(folders) != 1:
        return {}
    folder, _, name = planner.rng.choice(sorted(files)).rpartition("/")
    return {folders[0]: folder, slot: f"*.{name.rpartition('.')[2]}"}


def _word(planner: Planner, state: State, tool: Tool, slot: Slot) -> dict[Slot, Scalar]:
    """A word to search for; empty if there is none."""
    found = _searched(planner, state, tool.name)
    return {slot: planner.rng.choice(found)} if found else {}


def _searched(planner: Planner, state: State, tool: str) -> list[str]:
    """Words of the texts that the tool's results hold, which a person may remember."""
    places = {**planner.known.base.pool, **state.pool}
    texts = [str(value) for source, values in places.items() if source[:2] == ("from", tool) for value in values]
    texts = [text for text in texts if " " in text]
    found = {word.strip(".,:;!?()\"'").lower() for text in texts for word in text.split()}
    return sorted(w for w in found - _IDLE if _is_sought(w) and planner.allowed(w))


def _is_sought(word: str) -> bool:
    """Whether somebody may search for a word: no participle, adverb or day."""
    return word.isalpha() and len(word) > 4 and not word.endswith(("ed", "ing", "ly"))
