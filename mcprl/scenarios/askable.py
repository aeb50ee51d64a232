"""Which fields of a record a request can ask for: not what it gives away, what nobody would say, what tells nothing."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from mcprl.scenarios.catalog import Catalog
from mcprl.scenarios.clock import classified, time_of_day
from mcprl.scenarios.english.grammar import is_plural
from mcprl.scenarios.english.labels import JOINTS, is_adjective, is_done
from mcprl.scenarios.english.nouns import is_person
from mcprl.scenarios.fields import REPORT, Keys, is_answer, record_of, scalars, truth
from mcprl.scenarios.intents import Attribute
from mcprl.scenarios.parameters import FOLDERS, REPORTING, is_hash
from mcprl.scenarios.probing.knowledge import Knowledge
from mcprl.scenarios.steps import Field, Step
from mcprl.text import words
from mcprl.types import Scalar

MACHINE = frozenset("cid pk notnull dflt uri mime blob oid idx seq etag sha256 md5 rowid guid checksum inode".split())
"""Words of fields that programs read and nobody asks for."""

_LISTED = re.compile(r"[^,]{1,25}(?:, [^,]{1,25}){2,}|\d+ \w+(?:, \d+ \w+)+")
_CODES = re.compile(r"[\w-]*\d[\w-]*(?:, ?[\w-]*\d[\w-]*)+")
_UNITS = ("unit", "units", "uom")
"""Labels of what a quantity is counted in, as a word: nobody asks for it alone. A number of units is a stock."""
_LEAST = 4
"""Examples that show whether a field varies."""
_ALIKE = 0.6
"""The share of equal values from which on a guess is too good: what day it is in most places on earth."""


def askable(
    catalog: Catalog, step: Step, record: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], given: Sequence[Scalar]
) -> tuple[Field, ...]:
    """What can be asked of a record: scalars that the request does not give away, whose labels differ."""
    found: list[Field] = []
    pairs = [(path, value) for path, value in scalars(record) if len(path) <= 2]
    computed = catalog.computes(step.tool)
    for path, value, is_live in classified(step.call, pairs):
        attribute = catalog.attribute(step.tool.name, (*step.keys, *path), record)
        if computed and is_live and (clock := time_of_day(value)):
            value = clock
            attribute = replace(attribute, meaning="time", label="time")
        if is_live and step.result.structured is None:
            continue
        if len(path) == 2 and words(path[0])[-1:] == ("address",) and not is_person(catalog.noun_of(step)):
            inside = " ".join(words(path[0]))  # an order is not in the city that it is sent to
            attribute = replace(attribute, label=f"{attribute.label} in the {inside}")
        if not _is_askable(catalog, step, record, path, value, attribute, given):
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
    catalog: Catalog,
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
    if (step.tool.name, attribute.label) in catalog.known.volatile:
        return False
    if re.search(r"[()\[\]{}=<>]", path[-1]) or not re.search(r"[^\W\d_]", path[-1]):
        return False  # a line of code, or the number of a row
    if {*words(path[-1])} <= REPORTING and any(isinstance(part, list) for part in record.values()):
        return False  # how long the list beside it is
    if path[-1].lower() in REPORT or is_constant(catalog.known, step.tool.name, path[-1]):
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
    if attribute.label == "size" and catalog.noun_of(step) == "folder":  # that of its entry, not of what is in it
        return False
    if attribute.meaning in ("date", "datetime", "time") and not isinstance(value, str):
        return False  # seconds since 1970
    if not isinstance(value, str) or attribute.meaning == "place":
        return True
    loose = step.result.structured is None
    sentence = loose and attribute.meaning == "text" and len(value.split()) > 4  # behind a colon
    several = _CODES.fullmatch(value) or (loose and _LISTED.fullmatch(value))
    return not sentence and not several


def is_no_noun(attribute: Attribute, value: Scalar) -> bool:
    """Whether nobody would ask for the field by its label: its free shipping from, its germinated, captain 1028."""
    said = attribute.label.split()
    if len(said) > 1 and said[0] not in ("date", "time") and (said[-1] in (*JOINTS, "since") or said[0] == "on"):
        return True
    if is_done(attribute.label) and attribute.meaning in ("number", "count", "measure"):
        return True
    return is_person(attribute.label) and bool(re.fullmatch(r"[A-Z]*-?\d+", str(value)))


def is_constant(known: Knowledge, tool: str, key: str) -> bool:
    """Whether all examples of a tool, four at least, have the same value in a field: it tells nothing of a thing."""
    seen = _seen(known, tool, key)
    return len(seen) >= _LEAST and len({*seen}) == 1


def is_guessable(known: Knowledge, tool: str, entry: Field) -> bool:
    """Whether most examples of a tool have the same value in a field. An answer to it would prove no call."""
    seen = _seen(known, tool, entry.attribute.key)
    return len(seen) >= _LEAST and Counter(seen).most_common(1)[0][1] > _ALIKE * len(seen)


def _seen(known: Knowledge, tool: str, key: str) -> list[str]:
    """The values of a field in a tool's examples."""
    records = (record_of(example.result) for example in known.examples.get(tool, ()))
    return [str(value) for record in records for path, value in scalars(record) if path[-1] == key]
