"""How a request names what a call returned: the values that it states, the noun, a name or a description of one row."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

from mcprl.judges.checks import holds
from mcprl.scenarios.addresses import as_period, as_person
from mcprl.scenarios.askable import askable
from mcprl.scenarios.catalog import Catalog
from mcprl.scenarios.english.labels import is_adjective, names
from mcprl.scenarios.fields import is_answer, scalars
from mcprl.scenarios.intents import Reference, Value
from mcprl.scenarios.names import kind_of
from mcprl.scenarios.parameters import AGAINST, is_hash, is_paging, is_search, shortened_hash
from mcprl.scenarios.probing.results import takes_path
from mcprl.scenarios.probing.sources import ordered
from mcprl.scenarios.slots import Slot
from mcprl.scenarios.steps import Filled, Found, Step, is_whole
from mcprl.scenarios.subset import Subset
from mcprl.text import singular, words
from mcprl.types import Scalar, Tool

_TABLES = frozenset(("table", "collection", "sheet"))
"""Words of parameters that say what the rows of a result are."""
_ROWS = frozenset("record records row rows entry entries read select data query".split())
"""Words of tools that read the rows of a table."""
_DESCRIBING = ("person", "place", "category", "status", "date", "year")


# --- what a request states --------------------------------------------------------------------------------------------


def said(catalog: Catalog, filled: Filled, paging: bool = False) -> Iterable[Value]:
    """The arguments that a request must state: not the paging, unless it is asked for, and not what equals the
    default."""
    if period := next((pair for pair in permutations(filled, 2) if _is_period(catalog, *pair)), ()):
        yield as_period(*period)
    for slot, value in filled:
        if (slot, value) in period:
            continue
        unsaid = is_paging(slot) and not slot.required and not paging
        if unsaid or slot.schema.get("default") == value or catalog.known.is_setting(slot):
            continue
        if str(value).lower() in ("all", "any", "*", ".") and not catalog.names_entity(slot):
            continue
        yield value_of(catalog, slot, value)


def _is_period(catalog: Catalog, first: tuple[Slot, Scalar], last: tuple[Slot, Scalar]) -> bool:
    """Whether two values are the first and the last day of a period."""
    dates = all(catalog.slot(slot).meaning in ("date", "datetime") for slot, _ in (first, last))
    return dates and ordered(first[0], last[0])


def value_of(catalog: Catalog, slot: Slot, value: Scalar) -> Value:
    """The value of a slot as a request says it: the `revision` of a commit is just the commit."""
    attribute = catalog.slot(slot)
    if attribute.meaning != "identifier" or {*words(attribute.label)} & AGAINST:
        return Value(attribute, value)
    noun = catalog.named_by(catalog.known.tools[slot.tool], slot)
    alike = {*words(noun)} & {*words(attribute.label)}
    last = words(attribute.label)[-1:]
    if alike or last in (("id",), ("number",), ("code",), ("key",)):
        return Value(attribute, value)
    return Value(replace(attribute, label=noun), value)


# --- nouns ------------------------------------------------------------------------------------------------------------


def row_noun(catalog: Catalog, step: Step, row: Mapping[str, Any]) -> str:
    """What a row is called: the lines of the file `contacts.csv` are contacts, those of another file entries."""
    noun = catalog.noun(step.tool, step.keys, row)
    if noun == "item" and isinstance(kind := row.get("type"), str) and kind.isalpha():
        return kind_of(kind)
    table = next((value for slot, value in step.filled if names_table(slot, noun)), None)
    if isinstance(table, str) and table.isidentifier():
        return singular(words(table)[-1])
    entity = next((pair for pair in step.filled if catalog.names_entity(pair[0])), None)
    if entity is None or catalog.named_by(step.tool, entity[0]).split()[-1] != noun.split()[-1]:
        return noun
    if sum(not slot.choices and not catalog.known.is_setting(slot) for slot in catalog.needs(step.tool)) > 1:
        return noun  # it takes several values to name the thing: an office and its grid point
    if entity[1] in row.values():
        return noun  # it is the thing itself that is listed
    stem = str(entity[1]).rpartition("/")[2].partition(".")[0]
    named = words(stem)
    if catalog.slot(entity[0]).meaning == "path" and named and named[-1].isalpha():
        if named[-1].endswith("list"):  # a checklist has items
            return "item"
        return singular(named[-1]) if singular(named[-1]) != named[-1] else "entry"
    return "entry"


def names_table(slot: Slot, noun: str) -> bool:
    """Whether the value of a slot says what the rows of a result are: those of the table `boats` are boats, if a tool
    reads records and not columns."""
    return noun not in ("column", "field") and bool({*words(slot.key)} & _TABLES and _ROWS & {*words(slot.tool)})


def stateless(noun: str, values: Sequence[Value]) -> str:
    """A noun without an adjective for a state, if one of the values is one: waiting jobs are no open jobs."""
    state, _, rest = noun.partition(" ")
    told = any(value.attribute.meaning == "status" for value in values)
    return rest if told and rest and is_adjective(state) else noun


def shown_by(catalog: Catalog, noun: str) -> list[Tool]:
    """The tools that look up one such thing by its key, or by its path, and are about it: `get_order` for an
    order, not the tool for its invoice."""

    def is_own(tool: Tool) -> bool:
        needed = [slot for slot in catalog.needs(tool) if not catalog.known.is_setting(slot)]
        single = len(needed) == 1 and isinstance(needed[0].path[-1], str)  # no list of them
        own = single and catalog.names_entity(needed[0]) and catalog.named_by(tool, needed[0])
        return own == noun and catalog.noun(tool).split()[-1] == noun.split()[-1]

    return [tool for tool in catalog.known.reads() if is_own(tool)]


# --- things -----------------------------------------------------------------------------------------------------------


def record_found(subset: Subset, step: Step, record: Mapping[str, Any], earlier: Found | None = None) -> Found | None:
    """The thing of one record, named by the call's arguments or as the `earlier` list names it."""
    catalog = subset.catalog
    values = as_person(tuple(said(catalog, step.filled)))
    entities = tuple(value.value for value in values)
    noun = catalog.noun_of(step)
    reference = earlier.reference if earlier else Reference(noun, values)
    given = [value.value for value in reference.values] or list(earlier.entities if earlier else ())
    fields = askable(catalog, step, record, (), given)
    shown = "\n".join(step.result.text for step in earlier.steps) if earlier else ""
    fields = tuple(entry for entry in fields if not holds(shown, entry.value))  # else one call less would do
    named = [value for value in values if value.attribute.meaning != "flag"]
    if not values and not subset.allowed(f"{step.tool.name}()") and subset.suite == "entities":
        return None
    if any(catalog.is_ambiguous(value.value) for value in named if not earlier):
        return None
    steps = (*earlier.steps, step) if earlier else (step,)
    return Found(reference, steps, record, fields, (*entities, *(earlier.entities if earlier else ())))


def row_found(subset: Subset, step: Step, keyed: bool = True) -> Found | None:
    """One row of a list, named by a name of its own or, if the list is complete, by what only this row has.

    Unless `keyed`, no key that another tool looks the thing up by names it: nobody reads a list for that.
    """
    catalog = subset.catalog
    whole = is_whole(catalog.known, step)
    candidates = [row for row in step.rows if len(scalars(row)) > 1]
    subset.rng.shuffle(candidates)
    nouns = {row_noun(catalog, step, row) for row in candidates}
    keyless = {noun for noun in nouns if not keyed and shown_by(catalog, noun)}
    row, naming = {}, ()
    for row in candidates:
        if naming := naming_of(subset, step, row, whole, row_noun(catalog, step, row) not in keyless):
            break
    if not naming:
        return None
    noun = row_noun(catalog, step, row)
    if not keyed and _is_read_alone(catalog, step.tool, naming[0].value):
        return None
    naming = tuple(_own_key(value, row, noun) for value in naming)
    stated = [(slot, value) for slot, value in step.filled if not is_search(slot) and not names_table(slot, noun)]
    filters = [value for value in said(catalog, stated) if value.value not in {own.value for own in naming}]
    how, others = naming[0].attribute.meaning, {value.attribute.meaning for value in filters}
    if (how in ("name", "identifier") and "status" in others) or (how in _DESCRIBING and "path" in others):
        return None  # nobody says the cleaning PO22 VRX, but PO22 VRX; nor the one in room 8 of the keys list
    reference = Reference(stateless(noun, (*naming, *filters)), (*naming, *filters))
    given = [value.value for value in reference.values]
    if not all(holds(" ".join(map(str, given)), value) for slot, value in step.filled if is_search(slot)):
        return None  # the request does not say what was searched for
    fields = askable(catalog, step, row, step.rows, given)
    entities = (*(value.value for value in naming), *(f.value for f in filters if not f.attribute.choices))
    return Found(reference, (step,), row, fields, entities)


def _is_read_alone(catalog: Catalog, tool: Tool, value: Scalar) -> bool:
    """Whether another tool reads the thing of a name by it alone: nobody looks for it in a list."""
    for other in catalog.known.reads():
        needed = catalog.needs(other)
        if other is tool or other.name in catalog.lists or len(needed) != 1:
            continue
        places = catalog.known.sources.get((other.name, needed[0].path), ())
        taken = [*needed[0].choices, *catalog.known.shown_for(needed[0])]
        if value in taken or any(value in catalog.known.base.pool.get(place, ()) for place in places):
            return True
    return False


def _own_key(value: Value, row: Mapping[str, Any], noun: str) -> Value:
    """The value of a row's first field, if it is a key, as the thing's own: airport JFK by its `iata`."""
    coded = value.attribute.meaning == "identifier" or re.fullmatch(r"[A-Z]{2,4}", str(value.value))
    own = coded and value.attribute.key == next(iter(row)) and value.value != noun
    if not own or names(value.attribute, noun):
        return value
    return replace(value, attribute=replace(value.attribute, label=f"{noun} code"))


def naming_of(subset: Subset, step: Step, row: Mapping[str, Any], whole: bool, keyed: bool = True) -> tuple[Value, ...]:
    """The values that name a row: an own name or, if `keyed`, its key; else attributes that no other row shares."""
    catalog = subset.catalog
    own = [
        Value(catalog.attribute(step.tool.name, (*step.keys, *path), row), value)
        for path, value in scalars(row)
        if len(path) == 1
        and is_answer(value, ())
        and not isinstance(value, bool)
        and not re.search(r"[()\[\]{}<>|]", str(value))
    ]
    if own and _is_heading(catalog, step, own[0]):
        own[0] = replace(own[0], attribute=replace(own[0].attribute, meaning="name"))
    own = [value for value in own if value.attribute.meaning not in ("text", "url", "flag")]
    subset.rng.shuffle(own)
    noun = row_noun(catalog, step, row)
    own.sort(key=lambda value: not names(value.attribute, noun))  # a name of its own before its model

    def shares(values: Sequence[Value]) -> int:
        return sum(all(other.get(value.attribute.key) == value.value for value in values) for other in step.rows)

    # A key is unique without the filters of a list: who has it needs no list.
    key = () if any(True for _ in said(catalog, step.filled)) else ("identifier",)
    naming = [value for value in own if value.attribute.meaning in ("name", "email", "path", *key)]
    naming = [value for value in naming if shares([value]) == 1 and subset.allowed(value.value)]
    naming = [value for value in naming if not catalog.is_ambiguous(value.value)]
    for value in naming:
        if keyed or value.attribute.meaning != "identifier":
            return (replace(value, value=shortened_hash(str(value.value))) if is_hash(value.value) else value,)
    if naming or not whole or len(step.rows) < 2:
        return ()
    described = [value for value in own if value.attribute.meaning in _DESCRIBING]
    for size in (1, 2):
        for start in range(len(described) - size + 1):
            chosen = described[start : start + size]
            if shares(chosen) == 1 and subset.allowed(str([value.value for value in chosen])):
                return tuple(chosen)
    return ()


def _is_heading(catalog: Catalog, step: Step, value: Value) -> bool:
    """Whether a value stands in the first column of a table in a document, which has another text in each row."""
    column = [row.get(value.attribute.key) for row in step.rows]
    texts = [text for text in column if isinstance(text, str) and re.search(r"[A-Za-z]", text)]
    first = value.attribute.key == next(iter(step.rows[0]), None) and value.attribute.meaning in (
        "category",
        "text",
    )
    in_document = any(takes_path(slot) for slot, _ in step.filled)
    return first and in_document and len({*texts}) == len(column)
