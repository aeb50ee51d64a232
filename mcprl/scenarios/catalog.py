"""What a server is about, in people's terms: attributes of results, nouns of things, and what names one thing."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mcprl.scenarios.english.labels import JOINTS, is_adjective, spelled_out
from mcprl.scenarios.english.nouns import is_concrete, is_person
from mcprl.scenarios.fields import Keys, described, first_record, record_of, rows_of, scalars
from mcprl.scenarios.identities import Identities
from mcprl.scenarios.intents import Attribute
from mcprl.scenarios.meaning import infer, refined
from mcprl.scenarios.names import CONTAINERS, NAME_PARTS, NO_NOUNS, STATES, lists_things, noun
from mcprl.scenarios.packs.pack import fraction
from mcprl.scenarios.parameters import FOLDERS, is_hash, is_paging, shortened_hash
from mcprl.scenarios.probing.knowledge import Knowledge
from mcprl.scenarios.probing.sources import CONFIGURED, quoted
from mcprl.scenarios.probing.sql import Table
from mcprl.scenarios.probing.values import UNIVERSAL, known_format
from mcprl.scenarios.slots import Slot
from mcprl.scenarios.steps import Step
from mcprl.servers.effects import VERBS, is_read
from mcprl.text import singular, stems, words
from mcprl.types import Json, Scalar, Tool, ToolResult

NAMING = ("name", "person", "email", "identifier", "path")
"""Meanings of values that name a thing on their own."""
_OF_TEXT = ("identifier", "duration", "text", "name", "person", "place", "category", "date")
_KEYS = frozenset(("id", "key", "code", "number", "no", "uuid", "slug", "ref", "sku", "hash", "sha"))

_QUALIFIERS = frozenset("short long full abbreviated parent display new old first last own other".split())
"""What stands before a key and is no kind of thing: the short hash."""
_BARE = re.compile(r"[\w#@.+-]+(?: [\w#@.+-]+){0,2}(?<![.:])")
"""A text that is one value: `landed`, `ana_17`, `in transit`."""


class Catalog(Identities):
    """Attributes, nouns and identities of one server's things. `known` is only read."""

    def __init__(self, known: Knowledge, taken: Callable[[str], bool] = lambda _: False) -> None:
        settings = [value for place, own in known.base.pool.items() if place[1] in CONFIGURED for value in own]
        paths = [str(value).rstrip("/") for value in settings if str(value).startswith("/") and len(str(value)) > 1]
        super().__init__(paths, taken)
        self.known = known
        self._attributes: dict[tuple[str, Keys], Attribute] = {}
        self._slots: dict[Slot, Attribute] = {}
        self._entities: dict[Slot, bool] = {}
        self._listed: dict[str, str] = {}
        self.lists: set[str] = set()
        """The tools that have returned several rows."""
        self.draws: Counter[tuple[object, str, str]] = Counter()
        """How often a tool was drawn for a kind of task in a split, and which of them ever made one (`fruitful`)."""
        self.fruitful: set[tuple[object, str]] = set()
        heads = Counter(words(name)[0] for name in known.tools if len(words(name)) > 1)
        self._prefix = next((head for head, n in heads.items() if n == len(known.tools) > 2), "")
        self._first_records: dict[str, Mapping[str, Any]] = {}
        for name, examples in known.examples.items():
            found = [first_record(record_of(example.result)) for example in examples]
            usual = Counter(next(iter(record)) for record in found if record).most_common(1)
            for record in found:
                if record and next(iter(record)) == usual[0][0]:
                    self._first_records.setdefault(name, record)
        self._taken = {slot.key for slots in known.slots.values() for slot in slots if slot.required}
        self._nouns: set[str] = set()
        self._nouns = {self.noun(tool) for tool in known.tools.values()}
        self._keyed: dict[str, Counter[str]] = {}
        for tool in known.tools.values():
            for slot in (slot for slot in known.slots[tool.name] if slot.required):
                self._keyed.setdefault(slot.key, Counter())[self.noun(tool)] += 1
        for tool, examples in known.examples.items():
            for example in examples:
                self.identify(tool, record_of(example.result))

    # --- attributes ---------------------------------------------------------------------------------------------------

    def attribute(self, tool: str, keys: Keys, record: Mapping[str, Any]) -> Attribute:
        """The attribute at `keys` of the tool's results, judged by all values seen there and by one record's others."""
        if (tool, keys) not in self._attributes:
            seen = list(self.known.base.pool.get(("from", tool, *keys), ()))[:60]
            here = [value for path, value in scalars(record) if keys[-len(path) :] == path]
            neighbours = {path[-1]: value for path, value in scalars(record) if path and path[-1] != keys[-1]}
            description = described(self.known.tools.get(tool), keys)
            attribute = infer(keys[-1], seen or here, description, neighbours)
            self._attributes[tool, keys] = refined(attribute, seen or here, self._nouns & self._taken)
        return self._attributes[tool, keys]

    def slot(self, slot: Slot) -> Attribute:
        """The attribute that a parameter stands for, judged by the values that it took."""
        if slot not in self._slots:
            places = self.known.sources.get((slot.tool, slot.path), [])
            seen = [value for place in places for value in list(self.known.base.pool.get(place, ()))[:20]]
            seen = seen if self._is_harvested(slot) else ["2026-01-01"] if known_format(slot) == "date" else []
            name = slot.key if isinstance(slot.path[-1], str) else singular(slot.key)
            attribute = replace(
                infer(name, list(slot.choices) or seen, slot.description), key=slot.key, choices=slot.choices
            )
            if attribute.meaning in ("category", "status") and not slot.choices:
                attribute = replace(attribute, choices=self._listed_choices(slot, seen))
            if slot.kind == "string" and not seen and attribute.meaning in ("count", "measure", "number"):
                attribute = replace(attribute, meaning="person" if is_person(attribute.label) else "name")
            if slot.kind in ("integer", "number") and not seen and attribute.meaning in _OF_TEXT:
                attribute = replace(attribute, meaning="number")
            counted = slot.kind == "integer" and attribute.meaning in ("number", "count") and not slot.choices
            if counted and slot.required and self._is_harvested(slot) and not is_paging(slot):
                attribute = replace(attribute, meaning="identifier")  # only some numbers are taken: those of things
            self._slots[slot] = attribute
        return self._slots[slot]

    def _listed_choices(self, slot: Slot, seen: Sequence[Scalar]) -> tuple[Scalar, ...]:
        """The values that the description lists as the possible ones, if calls with one of them worked."""
        listed = quoted(slot, self.known.tools[slot.tool])
        works = ("quoted",) in self.known.sources.get((slot.tool, slot.path), ()) or {*seen} & {*listed}
        return tuple(listed) if works and len(listed) > 1 else ()

    def column(self, table: Table, name: str) -> Attribute:
        """The attribute that a column of a table stands for."""
        place = (f"table {table.name}", (name,))
        if place not in self._attributes:
            seen = [value for row in table.rows[:60] if (value := row.get(name)) is not None]
            if {*seen} == {0, 1} and is_adjective(" ".join(words(name))):  # a database's truth values
                seen = [bool(value) for value in seen]
            neighbours = {key: value for key, value in table.rows[0].items() if key != name and value is not None}
            self._attributes[place] = infer(name, seen, "", neighbours)
        return self._attributes[place]

    # --- nouns --------------------------------------------------------------------------------------------------------

    def noun(self, tool: Tool, keys: Keys = (), row: Mapping[str, Any] | None = None) -> str:
        """What a tool's result, or the rows at `keys` of it, are called in the singular: `order`.

        A row whose first field is its key names its kind: `{"commit": "1c55c83", ...}`.
        """
        for name in list(row or ())[:3]:
            *front, last = stems(name) or ("",)
            if last in _KEYS and front and front[-1] not in _QUALIFIERS:
                return " ".join(front)
        own = self._own_noun(tool)
        columns = {column for table in self.known.tables for column in table.columns}
        if row and columns and any(isinstance(value, str) and value in columns for value in row.values()):
            return "column"
        if row is None and not keys:
            row = self._first_records.get(tool.name)
        if row and not lists_things(own) and (key := self._row_key(tool, keys, row)):
            states = [word for word in own if is_adjective(word)] or [STATES[word] for word in own if word in STATES]
            return " ".join((*states[:1], key))
        if row is not None and own and own[-1] in FOLDERS:
            return "item"
        if keys and (parts := [word for word in stems(keys[-1]) if word not in CONTAINERS]):
            ends = (n for n, word in enumerate(parts) if n and word in JOINTS)
            return " ".join(parts[: next(ends, len(parts))])  # of `counties_at_phase` the county
        *front, last = own or ["item"]
        return " ".join([*front, singular(last)])

    def listed_noun(self, tool: Tool) -> str:
        """What the rows of a tool's results are called, else what its result is."""
        return self._listed.get(tool.name) or self.noun(tool)

    def _own_noun(self, tool: Tool) -> list[str]:
        """The words of a tool's name that say what it is about, without those that begin the names of all tools."""
        parts = noun(tool).split()
        while len(parts) > 1 and parts[0] == self._prefix:
            parts = parts[1:]
        if parts == [self._prefix] and len(words(tool.name)) > 1:
            return [*words(tool.name)[1:]]  # of `git_log` the log, though it may be a verb
        return parts

    def _row_key(self, tool: Tool, keys: Keys, row: Mapping[str, Any]) -> str:
        """The name of a row's first field, if it is the noun of what its values name."""
        first = next(iter(row), "")
        parts = words(first)
        if len(parts) != 1 or parts[0] in (*_KEYS, *NO_NOUNS) or not isinstance(row.get(first), str | int):
            return ""
        if isinstance(row[first], int):  # a number is a key only under the name of something that tools take
            return parts[0] if first in self._taken and not isinstance(row[first], bool) else ""
        attribute = self.attribute(tool.name, (*keys, first), row)
        if attribute.meaning not in ("identifier", "name", "path") or singular(parts[0]) != parts[0]:
            return ""
        values = [other for other in row.values() if isinstance(other, str | int | float)]
        return parts[0] if len(values) > 1 else ""

    def named_by(self, tool: Tool, slot: Slot) -> str:
        """What a value of the slot names: an `order` by `order_id`, whatever the tool says about it."""
        *front, last = stems(" ".join(spelled_out(slot.key))) or ("",)
        if {*front} & NAME_PARTS:
            return " ".join(word for word in self.noun(tool).split() if word not in _KEYS) or "person"
        if last in (*_KEYS, "name", "path", "title", "email") and front:
            return " ".join(front)
        if last == "path" or (self.slot(slot).meaning == "path" and last in ("file", "directory", "folder")):
            return "folder" if self._takes_folders(tool) else "file"
        own, other = self.noun(tool), last not in self.noun(tool).split() and not is_person(last)
        if other and is_concrete(own) and slot.required and tool.name not in self.lists:
            return own  # the car with a plate
        if last in self._nouns and last not in NO_NOUNS:
            return last
        if last in _KEYS and self._keyed.get(slot.key):
            return self._keyed[slot.key].most_common(1)[0][0]
        for source in self.known.sources.get((slot.tool, slot.path), ()):
            giver = self.known.tools.get(source[1]) if source[0] == "from" else None
            if giver is None or not is_read(giver):
                continue
            record = self._first_records.get(giver.name)
            key = self._row_key(giver, (), record) if record else ""
            if record and key and self._holds_first(source, record):
                return key
            if last in (*_KEYS, "name", "title"):
                return self.noun(giver, source[2:-1])
        label = self.slot(slot).label
        usual = self._first_records.get(tool.name)
        if usual and tool.name not in self.lists and (key := self._row_key(tool, (), usual)):
            return key
        if self.slot(slot).meaning in ("identifier", "person", "name") and label.isalpha() and label not in NO_NOUNS:
            return label
        *front, last = self.noun(tool).split()
        return " ".join(front) if front and last in _KEYS else " ".join([*front, last])

    def noun_of(self, step: Step) -> str:
        """What a call is about: the thing that its arguments name, else what its result holds."""
        entity = next((slot for slot, _ in step.filled if self.names_entity(slot)), None)
        setting = next((slot for slot, _ in step.filled if self.known.is_setting(slot)), None)
        if entity is None and setting is not None and not step.rows:  # the status of the repository that is served
            front = [word for word in words(setting.key) if word not in ("path", "id", "name", "dir", "file", "url")]
            return " ".join(front) or self.noun(step.tool, step.keys)
        if entity is None:
            return self.noun(step.tool, step.keys)
        noun = self.named_by(step.tool, entity)
        value = next(str(value) for slot, value in step.filled if slot == entity)
        return "folder" if noun == "file" and "." not in value.rpartition("/")[2] else noun

    def is_usual(self, tool: Tool, record: Mapping[str, Any]) -> bool:
        """Whether a record is of the tool's usual kind: a commit and not the text of a file that a hash may name."""
        usual = self._first_records.get(tool.name)
        return not usual or not self._row_key(tool, (), usual) or next(iter(usual)) in record

    def _holds_first(self, source: tuple[str, ...], record: Mapping[str, Any]) -> bool:
        """Whether a place holds the first field of a tool's rows, under its name or among the forms of its text."""
        first = next(iter(record))
        return source[-1] == first or record[first] in self.known.base.pool.get(source, ())

    def _takes_folders(self, tool: Tool) -> bool:
        """Whether a tool's paths are those of folders, by its name."""
        return bool({*words(tool.name)} & FOLDERS)

    # --- identities ---------------------------------------------------------------------------------------------------

    def identify(self, tool: str, record: Json) -> None:
        """Learn which names belong to which key: all of a thing's names fall into the split of its key."""
        listed = rows_of(record, least=1)
        keys, rows = listed if listed else ((), [record] if isinstance(record, dict) else [])
        if len(rows) > 1:
            self.lists.add(tool)
            if tool in self.known.tools:
                self._listed[tool] = self.noun(self.known.tools[tool], keys, rows[0])
            noun = self.noun(self.known.tools[tool], keys, rows[0]) if tool in self.known.tools else ""
            self._keyed.setdefault(next(iter(rows[0])), Counter())[noun] += 1
        for row in rows:
            own = {
                path: value
                for path, value in scalars(row)
                if len(path) == 1 and not isinstance(value, bool) and path[0].lower() not in JOINTS
            }
            meanings = {path: self.attribute(tool, (*keys, *path), row).meaning for path in own}
            key = next((path for path in own if meanings[path] in NAMING), None)
            for value in (str(value) for value in own.values() if is_hash(value)):
                self.unite(shortened_hash(value), value)
            # Another identifier is another thing's: the customer of an order.
            for path in own:
                if key and path != key and meanings[path] in NAMING and meanings[path] != "identifier":
                    self.unite(str(own[path]), str(own[key]))
                elif key and isinstance(own[path], str) and meanings[path] not in NAMING:
                    self.share(str(own[path]), str(own[key]))

    # --- tools --------------------------------------------------------------------------------------------------------

    def needs(self, tool: Tool) -> list[Slot]:
        """The required slots of a tool."""
        return [slot for slot in self.known.slots[tool.name] if slot.required]

    def entity_slots(self, tool: Tool) -> list[Slot]:
        """The required slots of a tool whose values name things of the server."""
        return [slot for slot in self.needs(tool) if self.names_entity(slot)]

    def computes(self, tool: Tool) -> bool:
        """Whether the tool needs arguments, none of which names a thing of the server."""
        needed = [slot for slot in self.needs(tool) if not self.known.is_setting(slot)]
        named = any(self.names_entity(slot) for slot in needed)
        return bool(needed) and not named and tool.name not in self.lists

    def record(self, tool: Tool, result: ToolResult) -> Json:
        """A result as JSON. A bare value is a record with one field, named by what the tool is about."""
        record = record_of(result)
        if record is None and _BARE.fullmatch(result.text):
            record = result.text
        if not isinstance(record, str | int | float) or isinstance(record, bool):
            return record
        named = [word for word in self.noun(tool).split() if word not in VERBS]
        return {"_".join(named) or "result": record}

    # --- parameters ---------------------------------------------------------------------------------------------------

    def names_entity(self, slot: Slot) -> bool:
        """Whether the slot's values name things of the server: results hold them or the schema lists them, and they are
        keys or names."""
        if slot not in self._entities:
            own = slot.required and slot.kind == "string" and slot.key in self.noun(self.known.tools[slot.tool]).split()
            named = own or self.slot(slot).meaning in (*NAMING, "text")
            listed = own and len(slot.choices) > 2  # the gates of a yard
            self._entities[slot] = listed or (named and self._is_harvested(slot))
        return self._entities[slot]

    def _is_harvested(self, slot: Slot) -> bool:
        """Whether the slot takes values that results hold, and not any other."""
        sources = self.known.sources.get((slot.tool, slot.path), [])
        harvested = any(source[0] in ("from", "worked") for source in sources) and not self.known.is_setting(slot)
        universal = slot.kind == "string" and known_format(slot) in UNIVERSAL
        return harvested and not universal and not slot.choices and ("invented",) not in sources

    def populations(self) -> Iterable[Sequence[Scalar]]:
        """The values that each parameter which names a thing of the server may take."""
        for slot in (slot for slots in self.known.slots.values() for slot in slots if self.names_entity(slot)):
            places = self.known.sources.get((slot.tool, slot.path), [])
            yield slot.choices or [value for place in places for value in self.known.base.pool.get(place, ())]

    def pairs(self) -> set[tuple[str, str]]:
        """The pairs of reading tools of which the first shows a key of another thing that the second takes."""
        found: set[tuple[str, str]] = set()
        for tool in self.known.reads():
            for slot in (slot for slot in self.known.slots[tool.name] if slot.required and self.names_entity(slot)):
                for source in self.known.sources.get((tool.name, slot.path), ()):
                    giver = self.known.tools.get(source[1]) if source[0] == "from" else None
                    other = giver is not None and self.noun(giver) != self.named_by(tool, slot)
                    if giver and giver is not tool and is_read(giver) and (other or tool.name in self.lists):
                        found.add((giver.name, tool.name))
        return found

    def held_out_pairs(self, seed: int) -> set[tuple[str, str]]:
        """The pairs that the test on forms keeps for itself: a fifth of them, rounded down."""
        ranked = sorted(self.pairs(), key=lambda pair: fraction(f"pair {seed} {pair}"))
        return {*ranked[: len(ranked) // 5]}

    def nouns(self) -> tuple[str, ...]:
        """What the server is about: the nouns of its tools that list things, the most frequent first."""
        if self.known.tables:
            return tuple(dict.fromkeys(singular(words(table.name)[-1]) for table in self.known.tables))
        found = [
            self.listed_noun(tool) for tool in self.known.tools.values() if is_read(tool) and tool.name in self._listed
        ]
        return tuple(dict.fromkeys(sorted(found, key=found.count, reverse=True)))
