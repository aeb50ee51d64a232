"""How a request names a thing that a call returned, and which of its fields can be asked for."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mcprl.judges.checks import holds
from mcprl.scenarios.addresses import as_person
from mcprl.scenarios.calls import Calls
from mcprl.scenarios.clock import classified, time_of_day
from mcprl.scenarios.english.grammar import is_plural
from mcprl.scenarios.english.labels import JOINTS, is_adjective, is_done, names
from mcprl.scenarios.english.nouns import is_person
from mcprl.scenarios.fields import REPORT, Keys, is_answer, scalars, truth
from mcprl.scenarios.guessing import is_constant
from mcprl.scenarios.intents import Attribute, Reference, Value
from mcprl.scenarios.names import kind_of
from mcprl.scenarios.parameters import FOLDERS, is_hash, is_search, shortened_hash
from mcprl.scenarios.probing.results import takes_path
from mcprl.scenarios.steps import Field, Found, Step
from mcprl.text import singular, words
from mcprl.types import Scalar, Tool

MACHINE = frozenset("cid pk notnull dflt uri mime blob oid idx seq etag sha256 md5 rowid guid checksum inode".split())
"""Words of fields that programs read and nobody asks for."""

_LISTED = re.compile(r"[^,]{1,25}(?:, [^,]{1,25}){2,}|\d+ \w+(?:, \d+ \w+)+")
_CODES = re.compile(r"[\w-]*\d[\w-]*(?:, ?[\w-]*\d[\w-]*)+")
_UNITS = ("unit", "units", "uom")
"""Labels of what a quantity is counted in, as a word: nobody asks for it alone. A number of units is a stock."""
_DESCRIBING = ("person", "place", "category", "status", "date", "year")


class Naming(Calls):
    """Names records and rows, and chooses their fields."""

    def _record(self, step: Step, record: Mapping[str, Any], earlier: Found | None = None) -> Found | None:
        """The thing of one record, named by the call's arguments or as the `earlier` list names it."""
        values = as_person(tuple(self.said(step.filled)))
        entities = tuple(value.value for value in values)
        noun = self._noun(step)
        reference = earlier.reference if earlier else Reference(noun, values)
        given = [value.value for value in reference.values] or list(earlier.entities if earlier else ())
        fields = self.fields(step, record, (), given)
        shown = "\n".join(step.result.text for step in earlier.steps) if earlier else ""
        fields = tuple(entry for entry in fields if not holds(shown, entry.value))  # else one call less would do
        named = [value for value in values if value.attribute.meaning != "flag"]
        if not values and not self.allowed(f"{step.tool.name}()") and self.suite == "entities":
            return None
        if any(self.catalog.is_ambiguous(value.value) for value in named if not earlier):
            return None
        steps = (*earlier.steps, step) if earlier else (step,)
        return Found(reference, steps, record, fields, (*entities, *(earlier.entities if earlier else ())), step.keys)

    def _noun(self, step: Step) -> str:
        entity = next((slot for slot, _ in step.filled if self.catalog.names_entity(slot)), None)
        setting = next((slot for slot, _ in step.filled if self.known.is_setting(slot)), None)
        if entity is None and setting is not None and not step.rows:  # the status of the repository that is served
            front = [word for word in words(setting.key) if word not in ("path", "id", "name", "dir", "file", "url")]
            return " ".join(front) or self.catalog.noun(step.tool, step.keys)
        if entity is None:
            return self.catalog.noun(step.tool, step.keys)
        noun = self.catalog.named_by(step.tool, entity)
        value = next(str(value) for slot, value in step.filled if slot == entity)
        return "folder" if noun == "file" and "." not in value.rpartition("/")[2] else noun

    def row(self, step: Step, keyed: bool = True) -> Found | None:
        """One row of a list, named by a name of its own or, if the list is complete, by what only this row has.

        Unless `keyed`, no key that another tool looks the thing up by names it: nobody reads a list for that.
        """
        whole = self.is_whole(step)
        candidates = [row for row in step.rows if len(scalars(row)) > 1]
        self.rng.shuffle(candidates)
        nouns = {self.row_noun(step, row) for row in candidates}
        keyless = {noun for noun in nouns if not keyed and self.shown_by(noun)}
        named = ((row, self._naming(step, row, whole, self.row_noun(step, row) not in keyless)) for row in candidates)
        row, naming = next(((row, naming) for row, naming in named if naming), ({}, ()))
        if not naming:
            return None
        noun = self.row_noun(step, row)
        naming = tuple(self._own_key(value, row, noun) for value in naming)
        stated = [(slot, value) for slot, value in step.filled if not is_search(slot)]
        filters = [value for value in self.said(stated) if value.value not in {own.value for own in naming}]
        how, others = naming[0].attribute.meaning, {value.attribute.meaning for value in filters}
        if (how in ("name", "identifier") and "status" in others) or (how in _DESCRIBING and "path" in others):
            return None  # nobody says the cleaning PO22 VRX, but PO22 VRX; nor the one in room 8 of the keys list
        reference = Reference(stateless(noun, (*naming, *filters)), (*naming, *filters))
        given = [value.value for value in reference.values]
        if not all(holds(" ".join(map(str, given)), value) for slot, value in step.filled if is_search(slot)):
            return None  # the request does not say what was searched for
        fields = self.fields(step, row, step.rows, given)
        entities = (*(value.value for value in naming), *(f.value for f in filters if not f.attribute.choices))
        return Found(reference, (step,), row, fields, entities, step.keys)

    def shown_by(self, noun: str) -> list[Tool]:
        """The tools that look up one such thing by its key, or by its path, and are about it: `get_order` for an
        order, not the tool for its invoice."""

        def is_own(tool: Tool) -> bool:
            needed = [slot for slot in self.needs(tool) if not self.known.is_setting(slot)]
            single = len(needed) == 1 and isinstance(needed[0].path[-1], str)  # no list of them
            own = single and self.catalog.names_entity(needed[0]) and self.catalog.named_by(tool, needed[0])
            return own == noun and self.catalog.noun(tool).split()[-1] == noun.split()[-1]

        return [tool for tool in self.known.reads() if is_own(tool)]

    def _own_key(self, value: Value, row: Mapping[str, Any], noun: str) -> Value:
        """The value of a row's first field, if it is a key, as the thing's own: airport JFK by its `iata`."""
        coded = value.attribute.meaning == "identifier" or re.fullmatch(r"[A-Z]{2,4}", str(value.value))
        own = coded and value.attribute.key == next(iter(row)) and value.value != noun
        if not own or names(value.attribute, noun):
            return value
        return replace(value, attribute=replace(value.attribute, label=f"{noun} code"))

    def row_noun(self, step: Step, row: Mapping[str, Any]) -> str:
        """What a row is called: the lines of the file `contacts.csv` are contacts, those of another file entries."""
        noun = self.catalog.noun(step.tool, step.keys, row)
        if noun == "item" and isinstance(kind := row.get("type"), str) and kind.isalpha():
            return kind_of(kind)
        entity = next((pair for pair in step.filled if self.catalog.names_entity(pair[0])), None)
        if entity is None or self.catalog.named_by(step.tool, entity[0]).split()[-1] != noun.split()[-1]:
            return noun
        if entity[1] in row.values():
            return noun  # it is the thing itself that is listed
        stem = str(entity[1]).rpartition("/")[2].partition(".")[0]
        named = words(stem)
        if self.catalog.slot(entity[0]).meaning == "path" and named and named[-1].isalpha():
            if named[-1].endswith("list"):  # a checklist has items
                return "item"
            return singular(named[-1]) if singular(named[-1]) != named[-1] else "entry"
        return "entry"

    def _naming(self, step: Step, row: Mapping[str, Any], whole: bool, keyed: bool = True) -> tuple[Value, ...]:
        """The values that name a row: an own name or, if `keyed`, its key; else attributes that no other row shares."""
        own = [
            Value(self.catalog.attribute(step.tool.name, (*step.keys, *path), row), value)
            for path, value in scalars(row)
            if len(path) == 1
            and is_answer(value, ())
            and not isinstance(value, bool)
            and not re.search(r"[()\[\]{}<>|]", str(value))
        ]
        if own and self._is_heading(step, own[0]):
            own[0] = replace(own[0], attribute=replace(own[0].attribute, meaning="name"))
        own = [value for value in own if value.attribute.meaning not in ("text", "url", "flag")]
        self.rng.shuffle(own)

        def shares(values: Sequence[Value]) -> int:
            return sum(all(other.get(value.attribute.key) == value.value for value in values) for other in step.rows)

        # A key is unique without the filters of a list: who has it needs no list.
        key = () if any(True for _ in self.said(step.filled)) else ("identifier",)
        naming = [value for value in own if value.attribute.meaning in ("name", "email", "path", *key)]
        naming = [value for value in naming if shares([value]) == 1 and self.allowed(value.value)]
        naming = [value for value in naming if not self.catalog.is_ambiguous(value.value)]
        for value in naming:
            if keyed or value.attribute.meaning != "identifier":
                return (replace(value, value=shortened_hash(str(value.value))) if is_hash(value.value) else value,)
        if naming or not whole or len(step.rows) < 2:
            return ()
        described = [value for value in own if value.attribute.meaning in _DESCRIBING]
        for size in (1, 2):
            for start in range(len(described) - size + 1):
                chosen = described[start : start + size]
                if shares(chosen) == 1 and self.allowed(str([value.value for value in chosen])):
                    return tuple(chosen)
        return ()

    def _is_heading(self, step: Step, value: Value) -> bool:
        """Whether a value stands in the first column of a table in a document, which has another text in each row."""
        column = [row.get(value.attribute.key) for row in step.rows]
        texts = [text for text in column if isinstance(text, str) and re.search(r"[A-Za-z]", text)]
        first = value.attribute.key == next(iter(step.rows[0]), None) and value.attribute.meaning in (
            "category",
            "text",
        )
        in_document = any(takes_path(slot) for slot, _ in step.filled)
        return first and in_document and len({*texts}) == len(column)

    def fields(
        self, step: Step, record: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], given: Sequence[Scalar]
    ) -> tuple[Field, ...]:
        """What can be asked of a record: scalars that the request does not give away, whose labels differ."""
        found: list[Field] = []
        pairs = [(path, value) for path, value in scalars(record) if len(path) <= 2]
        computed = self.computes(step.tool)
        for path, value, is_live in classified(step.call, pairs):
            attribute = self.catalog.attribute(step.tool.name, (*step.keys, *path), record)
            if computed and is_live and (clock := time_of_day(value)):
                value = clock
                attribute = replace(attribute, meaning="time", label="time")
            if is_live and step.result.structured is None:
                continue
            if len(path) == 2 and words(path[0])[-1:] == ("address",) and not is_person(self._noun(step)):
                inside = " ".join(words(path[0]))  # an order is not in the city that it is sent to
                attribute = replace(attribute, label=f"{attribute.label} in the {inside}")
            if not self._is_askable(step, record, path, value, attribute, given):
                continue
            if attribute.meaning == "duration" and isinstance(value, str):  # its unit is in the answer
                attribute = replace(attribute, meaning="text")
            if is_hash(value) and len(path) == 1:
                attribute = replace(attribute, label="hash" if len(words(attribute.label)) == 1 else attribute.label)
            others = [other for key, other in pairs if key != path]
            if len(path) == 1:
                others += [row[path[0]] for row in rows if row is not record and row.get(path[0]) is not None]
            rivals = [other for other in others if is_answer(other, (*given, value)) and not isinstance(other, bool)]
            live = (*step.keys, *path) if is_live else ()
            spelled = attribute.meaning == "flag" and isinstance(value, str)  # yes and no
            told = truth(value) if spelled else value
            found.append(Field(attribute, told, tuple(dict.fromkeys(rivals))[:40], derived=spelled, live=live))
        labels = Counter(entry.attribute.label for entry in found)
        return tuple(entry for entry in found if labels[entry.attribute.label] == 1)

    def _is_askable(
        self,
        step: Step,
        record: Mapping[str, Any],
        path: Keys,
        value: Scalar,
        attribute: Attribute,
        given: Sequence[Scalar],
    ) -> bool:
        """Whether a field has a value that a request can ask for, under a label that people would use."""
        coded = isinstance(value, str) and len(value) > 2 and any(ch.isdigit() for ch in value)
        said = coded and any(str(value) in str(other) for other in given)  # the invoice of `invoices/INV-7.txt`
        hashed = is_hash(value) and any(str(value).startswith(str(g)) for g in given if g)
        if (
            said
            or hashed
            or path[-1] in given
            or not is_answer(value, given)
            or (isinstance(value, str) and value in record)
        ):
            return False
        if (step.tool.name, attribute.label) in self.known.volatile:
            return False
        if path[-1].lower() in REPORT or is_constant(self.known, step.tool.name, path[-1]):
            return False  # "success", "detail level"
        units = attribute.label in _UNITS and isinstance(value, str)
        if units or attribute.label in JOINTS or {*attribute.label.split()} & MACHINE:
            return False
        if any(ch.isdigit() for ch in path[-1]) and not step.keys:
            return False
        if str(value).isdigit() and attribute.meaning != "count" and is_plural(attribute.label):
            return False  # the only one of its parts, by its number: an answer would seem to count them
        # "Is it a folder?" has no wording, and a listing of files says what each is.
        if attribute.meaning == "flag" and words(path[-1])[0] == "is" and not is_adjective(attribute.label):
            return False
        if attribute.label == "type" and {*words(step.tool.name)} & FOLDERS:
            return False
        if attribute.label.split()[-1] == "type" and isinstance(value, str) and is_person(value):
            return False  # whoever knows the name knows that it is a person's
        if is_no_noun(attribute, value):
            return False
        if attribute.label == "change" and isinstance(value, str):
            return False  # "modified" is no answer to what the change is
        if attribute.label == "size" and self._noun(step) == "folder":  # that of its entry, not of what is in it
            return False
        if not isinstance(value, str) or attribute.meaning == "place":
            return True
        loose = step.result.structured is None
        sentence = loose and attribute.meaning == "text" and len(value.split()) > 4  # behind a colon
        several = _CODES.fullmatch(value) or (loose and _LISTED.fullmatch(value))
        return not sentence and not several

    def choose(self, found: Found, count: int = 0, fits: Callable[[Field], bool] = lambda _: True) -> tuple[Field, ...]:
        """One or two fields to ask for (or `count`), those seldom asked first. Truth values can be guessed: rare."""
        place = (self.kind, *(step.tool.name for step in found.steps))
        fields = [
            entry
            for entry in found.fields
            if fits(entry) and (entry.attribute.meaning != "flag" or self.rng.random() < 0.2)
            if entry.attribute.label != found.reference.noun.split()[-1]  # the file of a file
        ]
        count = count or (2 if len(fields) > 1 and self.rng.random() < 0.3 else 1)
        fields.sort(key=lambda entry: (self.asked[place, entry.attribute.key] // 3, self.rng.random()))
        chosen = tuple(fields[:count])
        self.asked.update((place, entry.attribute.key) for entry in chosen)
        return chosen


def stateless(noun: str, values: Sequence[Value]) -> str:
    """A noun without an adjective for a state, if one of the values is one: waiting jobs are no open jobs."""
    state, _, rest = noun.partition(" ")
    told = any(value.attribute.meaning == "status" for value in values)
    return rest if told and rest and is_adjective(state) else noun


def is_no_noun(attribute: Attribute, value: Scalar) -> bool:
    """Whether nobody would ask for the field by its label: its free shipping from, its germinated, captain 1028."""
    said = attribute.label.split()
    if len(said) > 1 and said[0] not in ("date", "time") and (said[-1] in (*JOINTS, "since") or said[0] == "on"):
        return True
    if is_done(attribute.label) and attribute.meaning in ("number", "count", "measure"):
        return True
    return is_person(attribute.label) and bool(re.fullmatch(r"[A-Z]*-?\d+", str(value)))
