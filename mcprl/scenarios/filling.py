"""Values for the arguments of a write."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from mcprl.scenarios.addresses import address_parts, with_address
from mcprl.scenarios.catalog import NAMING, Catalog
from mcprl.scenarios.english.nouns import is_person
from mcprl.scenarios.fields import record_of
from mcprl.scenarios.parameters import is_search
from mcprl.scenarios.probing.draws import Draw, Penalties, fill_write
from mcprl.scenarios.probing.knowledge import Knowledge, State
from mcprl.scenarios.probing.results import takes_path
from mcprl.scenarios.probing.sources import Source
from mcprl.scenarios.probing.values import invent, known_format, sentence, title
from mcprl.scenarios.slots import Slot
from mcprl.scenarios.steps import Filled, in_order
from mcprl.scenarios.subset import Subset
from mcprl.servers.effects import is_read
from mcprl.text import stems, words
from mcprl.types import Json, Scalar, Tool

Row = tuple[Scalar, ...]
_UNCHANGED = re.compile(r"\b(?:different from|same as|unchanged)\b")
_GOALS = frozenset("destination target to new dest".split())

_CREATING = frozenset(
    "create add append insert book new register open log record submit post send save write invite".split()
)
_CREATING_FIRST = frozenset("place raise file issue schedule request make".split())  # elsewhere they are nouns
_NEAR = 0.5
_WRITTEN = frozenset(
    "title name label note message text content body comment description subject summary reason topic caption".split()
)
"""Words of parameters whose text anybody makes up."""
_REMOVING = frozenset("delete remove cancel clear close unlink archive".split())
"""Verbs of writes that take something away."""


# --- what a write is about --------------------------------------------------------------------------------------------


def creates(tool: str) -> bool:
    """Whether a write makes something, by the verb in its tool's name."""
    parts = words(tool)
    return not _CREATING.isdisjoint(parts) or (len(parts) > 1 and parts[0] in _CREATING_FIRST)


def removes(tool: Tool) -> bool:
    """Whether a write takes something away, by the verb in its tool's name."""
    return not _REMOVING.isdisjoint(words(tool.name))


def is_one_of_few(catalog: Catalog, slot: Slot) -> bool:
    """Whether a slot takes one of a few values, which its schema or its description lists, or which recur."""
    sources = catalog.known.sources.get((slot.tool, slot.path), ())
    few = ("quoted",) in sources or catalog.slot(slot).meaning in ("category", "status", "flag")
    return bool(slot.choices) or few


def target_slot(catalog: Catalog, tool: Tool) -> Slot | None:
    """The slot of a write that names the existing thing that it is about, which is what a task's split depends on:
    the first required one whose values results hold."""
    fresh = fresh_slots(catalog, tool)
    slots = [slot for slot in catalog.needs(tool) if catalog.names_entity(slot) and slot not in fresh]
    keyed = [slot for slot in slots if catalog.slot(slot).meaning in ("identifier", "name", "path", "email")]
    return (keyed or ([] if creates(tool.name) else slots) or [None])[0]


def reference_slots(catalog: Catalog, tool: Tool) -> list[Slot]:
    """The slots of a write that refer to other existing things than its target."""
    target, fresh = target_slot(catalog, tool), fresh_slots(catalog, tool)
    slots = [slot for slot in catalog.known.slots[tool.name] if catalog.names_entity(slot)]
    return [slot for slot in slots if target not in (None, slot) and slot not in fresh]


def fresh_slots(catalog: Catalog, tool: Tool) -> tuple[Slot, ...]:
    """The slots of a write that name what it makes, or the place that something goes to: no existing thing."""
    verbs = {*words(tool.name)}
    slots = [
        slot for slot in catalog.known.slots[tool.name] if slot.required and slot.kind == "string" and not slot.choices
    ]
    if verbs & {"move", "rename", "copy"}:
        return tuple(slot for slot in slots if {*words(slot.key)} & _GOALS) if len(slots) > 1 else ()
    if not verbs & {"create", "write", "make", "new", "mkdir", "touch"}:
        return ()
    made = catalog.noun(tool)
    for slot in slots:
        last = words(slot.key)[-1]
        named = catalog.named_by(tool, slot)
        if last in ("path", "name", "title", "filename") and (len(words(slot.key)) == 1 or named == made):
            return (slot,)
    return ()


def moved(catalog: Catalog, filled: Filled, fresh: Sequence[Slot]) -> Filled | None:
    """The values of a write; what goes to another folder keeps its name there. `None` if it is there already."""
    paths = [str(value) for slot, value in filled if slot not in fresh and "/" in str(value)]
    if not paths or not {*words(filled[0][0].tool)} & {"move", "copy"}:
        return filled
    name = paths[0].rpartition("/")[2]
    moved: Filled = [
        (slot, f"{str(value).rpartition('/')[0]}/{name}".lstrip("/") if slot in fresh else value)
        for slot, value in filled
    ]
    there = any(catalog.from_root(value) == catalog.from_root(paths[0]) for slot, value in moved if slot in fresh)
    return None if there else moved


# --- filling ----------------------------------------------------------------------------------------------------------


class Filler:
    """Fills writes: references to what exists, and new values for the rest. Optional arguments that are `idle`, since
    they changed nothing of what can be asked, are left out."""

    def __init__(self, subset: Subset, idle: Collection[Slot]) -> None:
        self._catalog, self._known, self._rng, self._allowed = subset.catalog, subset.known, subset.rng, subset.allowed
        self._idle = idle
        self._drawn: dict[str, Penalties] = {}
        self._last = Draw({}, {})

    def fill(self, tool: Tool, state: State, references: bool = True) -> Filled | None:
        """Values of the split for a write. `None` if six attempts found none.

        References to existing things come from the state if `references` is true. All other values are invented.
        """
        fresh, target = fresh_slots(self._catalog, tool), target_slot(self._catalog, tool)
        drawn = self._drawn.setdefault(tool.name, Penalties(allowed=partial(self._may_take, target)))
        for attempt in range(6):
            draw = fill_write(self._known, tool, state if references else State(), self._rng, attempt, drawn)
            if draw is None:
                return None
            picked = draw.picked
            self._last = draw
            describing = [
                slot for slot in picked if not is_one_of_few(self._catalog, slot)
            ]  # and no reason for the removal
            if references and removes(tool) and len(describing) > 1:
                return self._existing(tool)
            filled: Filled = []
            idle = {slot.key for slot in self._idle}
            picked = {slot: sourced for slot, sourced in picked.items() if slot.required or slot.key not in idle}
            for slot, (source, value) in picked.items():
                unknown = self._catalog.slot(slot).meaning in NAMING or known_format(slot) == "name"
                if not slot.required and source == ("invented",) and slot.kind == "string" and unknown:
                    continue  # a made-up name of a thing that should exist, or nothing says what it takes
                if slot.kind == "boolean" and not slot.required and creates(tool.name):
                    continue  # how it is made
                if slot in fresh:
                    own = self._new(slot, state, sort_of(picked))
                elif self._is_taken_as_it_is(slot, source, target, picked):
                    own = value
                else:
                    own = self._value_of_split(slot, source, value, state)
                if own is None or (own in self._catalog.roots and {*words(slot.key)} & {"file", "filename"}):
                    break
                filled.append((slot, own))
            else:
                entities = [value for slot, value in filled if self._catalog.names_entity(slot)]
                if len({*map(str, entities)}) < len(entities):  # nothing is linked to itself
                    continue
                addressed = with_address(self._known, in_order(filled), self._rng, self._allowed)
                return moved(self._catalog, self._items_together(addressed, fresh), fresh)
        return None

    def _is_taken_as_it_is(self, slot: Slot, source: Source, target: Slot | None, picked: Iterable[Slot]) -> bool:
        """Whether a drawn value is right in every split: one of a few, a part of an address, another thing's key."""
        if (
            source[0] == "quoted"
            or (source[0] == "from" and is_one_of_few(self._catalog, slot))
            or slot in address_parts(picked)
        ):
            return True
        names_other = self._catalog.names_entity(slot) and self._catalog.slot(slot).meaning != "text"
        return target not in (None, slot) and source[0] == "from" and names_other

    def blame(self, tool: Tool, message: str = "") -> None:
        """Learn that the last values of a write failed or, without a message or by what it says, changed nothing."""
        drawn, picked = self._drawn[tool.name], self._last.picked
        drawn.blame(picked, self._last.scores, message)
        if not message or _UNCHANGED.search(message.casefold()):
            drawn.stale.update(
                (slot, picked[slot][0]) for slot in reference_slots(self._catalog, tool) if slot in picked
            )

    def forgive(self) -> None:
        """Draw again what was refused: the server's state is as it was at first."""
        for drawn in self._drawn.values():
            drawn.taken -= drawn.refused

    def _may_take(self, target: Slot | None, slot: Slot, value: Scalar) -> bool:
        return slot != target or self._allowed(value)

    def _items_together(self, filled: Filled, fresh: Sequence[Slot]) -> Filled:
        """The values of a write; those of one object in a list are taken from one record, unless it is a new one."""
        values = dict(filled)
        inner = [slot for slot in values if len(slot.path) > 2]
        inner = [slot for slot in inner if not any(slot.path[:-1] == new.path[:-1] for new in fresh)]
        for parent in dict.fromkeys(slot.path[:-1] for slot in inner):
            slots = [slot for slot in inner if slot.path[:-1] == parent]
            found = self._known.records.together([self._alike(slot) for slot in slots]) if len(slots) > 1 else []
            values.update(zip(slots, self._rng.choice(found), strict=True) if found else ())
        return list(values.items())

    def _alike(self, slot: Slot) -> list[Source]:
        """The places whose name says that their values are of the slot's kind."""
        return [place for place in self._known.base.pool if self._known.affinity(slot, place) >= 0.9]

    def _new(self, slot: Slot, state: State, sort: str = "") -> Scalar | None:
        """A name or a path that does not exist yet: paths in a folder that exists. Things of the `sort` of people get
        a person's name."""
        named = self._catalog.slot(slot)
        if named.meaning != "path" and slot.key != "path" and not {*words(slot.key)} & _GOALS:
            made_up = ("invented",) in self._known.sources.get((slot.tool, slot.path), ())
            seen = [] if made_up else [str(value) for value in self._known.options(slot, state, self._rng, _any)]
            named_so = {*stems(slot.key)} - {"name", "title"}
            for source, values in self._known.base.pool.items():
                seen += [str(value) for value in values if source[-1:] and {*stems(source[-1])} == named_so]
            joint = "-" if seen and not any(" " in value for value in seen) else " "
            make = (
                partial(title, person=is_person(sort))
                if sort and known_format(slot) == "name"
                else partial(invent, slot)
            )
            made = (joint.join(str(make(self._rng)).split()) for _ in range(24))
            made = (value.lower() if joint == "-" else value for value in made)
            return next((value for value in made if self._allowed(value)), None)
        seen = self._inner_paths(slot, state)
        if not seen:  # other parameters of the tool take paths that exist
            own = [other for other in self._known.slots[slot.tool] if self._catalog.slot(other).meaning == "path"]
            seen = [value for other in own for value in self._inner_paths(other, state)]
        folders = sorted({value.rpartition("/")[0] for value in seen if "." not in value.rpartition("/")[0]})
        folder = self._rng.choice(folders) + "/" if folders else ""
        is_folder = self._catalog.named_by(self._known.tools[slot.tool], slot) == "folder"
        for _ in range(24):
            stem = "-".join(
                str(
                    invent(replace(slot, path=("folder",), schema={"type": "string"}, description=""), self._rng)
                ).split()
            )
            value = f"{folder}{stem.lower()}{'' if is_folder else self._rng.choice(('.txt', '.md'))}"
            if self._allowed(value):
                return value
        return None

    def _inner_paths(self, slot: Slot, state: State) -> list[str]:
        """The paths that the slot takes, as they are from the server's folder: those with a folder of their own."""
        paths = [str(self._catalog.from_root(value)) for value in self._known.options(slot, state, self._rng, _any)]
        return [path for path in paths if "/" in path and not path.startswith(("/", "."))]

    def _existing(self, tool: Tool) -> Filled | None:
        """The values of one row that a read has shown, for a write that takes away what they describe together."""
        slots = [slot for slot in self._known.slots[tool.name] if slot.required and not self._known.is_setting(slot)]
        settings = [slot for slot in self._known.slots[tool.name] if slot.required and self._known.is_setting(slot)]
        records = [
            record_of(example.result)
            for name in self._known.tools
            for example in self._known.examples.get(name, ())
            if is_read(self._known.tools[name])
        ]
        rows = [row for record in records for row in _rows_with(record, [slot.key for slot in slots])]
        self._rng.shuffle(rows)
        for row in rows:
            values = [row[slot.key] for slot in slots]
            if all(self._allowed(value) for slot, value in zip(slots, values, strict=True) if slot.kind == "string"):
                given = [(slot, self._known.options(slot, State(), self._rng, _any)) for slot in settings]
                return [*((slot, options[0]) for slot, options in given if options), *zip(slots, values, strict=True)]
        found = self._known.records.together(
            [self._alike(slot) or self._known.places_of(slot) for slot in slots], several=True
        )
        found = [values for values in found if all(map(self._allowed, values))]
        return list(zip(slots, self._rng.choice(found), strict=True)) if found else None

    def _value_of_split(self, slot: Slot, source: Source, value: Any, state: State) -> Scalar | None:
        """`value` if the slot lists it or it belongs to the split, else another that does; `None` if none was found."""
        if self._known.is_setting(slot):
            return value
        # What a write returned is what probing put in.
        own_place = source[1:2] != (slot.tool,) and {*stems(source[-1])} & {
            stem for part in slot.path for stem in stems(str(part))
        }
        is_text = self._catalog.slot(slot).meaning == "text" and slot.kind == "string" and not slot.choices
        if is_text and (isinstance(slot.path[-1], int) or not own_place):
            make = sentence if known_format(slot) in ("name", "sentence") else None
            made = (make(self._rng) if make else self._known.made_up(slot, self._rng) for _ in range(24))
            return next((text for text in made if self._allowed(text)), None)
        if source[0] == "from" and value is not None and (self._catalog.slot(slot).choices or self._allowed(value)):
            return value
        if source[0] == "from":
            own = [value for value in state.pool.get(source, ()) if self._allowed(value)]
            return self._rng.choice(own) if own else None
        for _ in range(24):
            if self._catalog.slot(slot).choices or self._allowed(value):
                return value
            value = self._known.made_up(slot, self._rng)
        return value if self._allowed(value) else None


def _any(_: Scalar) -> bool:
    return True


def _rows_with(record: Json, keys: Sequence[str]) -> list[Mapping[str, Any]]:
    """The rows anywhere in a result that have a scalar under each of the keys."""
    if isinstance(record, list):
        return [row for item in record for row in _rows_with(item, keys)]
    if not isinstance(record, Mapping):
        return []
    if keys and all(isinstance(record.get(key), str | int) for key in keys):  # pyright: ignore[reportUnknownMemberType]
        return [record]  # pyright: ignore[reportUnknownVariableType]
    return [row for inner in record.values() for row in _rows_with(inner, keys)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


# --- values that fit --------------------------------------------------------------------------------------------------


def sort_of(picked: Mapping[Slot, tuple[Source, Any]]) -> str:
    """The type that a new thing is to have, empty if none is given."""
    sorts = (value for slot, (_, value) in picked.items() if {*words(slot.key)} & {"type", "kind", "category", "sort"})
    return next((value for value in sorts if isinstance(value, str)), "")


def is_anchored(known: Knowledge, slot: Slot, value: Scalar) -> bool:
    """Whether a text is one that the slot is known to take, and none that was made up or stood anywhere: a choice, an
    example, a format, or what results hold under a name like the slot's."""
    free = known_format(slot) == "name" or (known_format(slot) == "sentence" and is_search(slot))
    if not isinstance(value, str) or slot.choices or not free:
        return True
    return _is_known(known, slot, value)


def is_made_up(known: Knowledge, slot: Slot, value: Scalar) -> bool:
    """Whether a write takes a text that nobody would give it: a sentence as an alignment, a name as a query."""
    free = isinstance(value, str) and not slot.choices and known_format(slot) in ("name", "sentence")
    return free and not {*words(slot.key)} & _WRITTEN and not _is_known(known, slot, value)


def _is_known(known: Knowledge, slot: Slot, value: Scalar) -> bool:
    if str(value) in map(str, known.shown_for(slot)) or known.is_setting(slot) or takes_path(slot):
        return True
    near = (source for source in known.places_of(slot) if known.affinity(slot, source) >= _NEAR)
    return any(str(value) in map(str, known.base.pool.get(source, ())) for source in near)
