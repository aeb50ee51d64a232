"""The rows of a complete list that a question is about: all of them, or those that a filter keeps."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mcprl.scenarios.askable import MACHINE
from mcprl.scenarios.catalog import NAMING
from mcprl.scenarios.english.labels import JOINTS, tables
from mcprl.scenarios.fields import is_answer, scalars
from mcprl.scenarios.intents import Attribute, Value
from mcprl.scenarios.names import kind_of
from mcprl.scenarios.naming import names_table, row_noun, stateless
from mcprl.scenarios.parameters import bound, is_search
from mcprl.scenarios.planner import Planner
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.slots import Slot
from mcprl.scenarios.steps import Step, in_order, is_whole
from mcprl.text import compact, singular, stems
from mcprl.types import Call, Scalar, Session, Tool

ORDERED = ("money", "count", "measure", "percent", "number", "date", "datetime", "year", "duration")
"""Meanings of fields of which a thing has more or less than another."""
ADDED = ("money", "count", "measure", "duration")
"""Meanings of fields that are added up."""
STOCKS = frozenset("stock inventory available units copies quantity".split())
"""Words of fields that say how many there are of some goods."""
_GROUPING = ("category", "status", "person", "place", "year")
_LIMITED = ("money", "count", "measure", "percent", "number", "date", "year")
_MOMENTS = ("date", "datetime", "year")
_FIRST = re.compile(
    r"\b(cheapest|lowest|smallest|oldest|earliest|newest|latest|most recent|highest|largest|biggest|most expensive)"
    r"(?: \w+)? first\b"
)
"""What a tool says of the order of its rows."""
_LEAST_FIRST = frozenset("cheapest lowest smallest oldest earliest".split())
_RANKED = {
    ("cheapest", "most expensive"): ("money",),
    ("oldest", "earliest", "newest", "latest", "most recent"): _MOMENTS,
}
"""The meanings of what rows are in order of, where the word tells it."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_STOCKED = frozenset("stock inventory quantity capacity seat bed bedroom room rating".split())
"""Words of counts over and under which people set limits: with fewer than 5 in stock, and not with 2 removed lines."""


@dataclass(frozen=True)
class Rows:
    """Some rows of a complete list, the steps that lead to it, what they have in common in words, and their noun. `of`
    has the entities of the thing whose list it is.

    Of a list that a page cuts off, the first row is known if its tool says what comes first: `first` by which
    attribute, and whether it is the one with the most of it.
    """

    steps: tuple[Step, ...]
    noun: str
    where: tuple[Value, ...]
    rows: tuple[Mapping[str, Any], ...]
    of: tuple[Scalar, ...] = ()
    first: tuple[Attribute, bool] | None = None

    @property
    def step(self) -> Step:
        """The call that lists them."""
        return self.steps[-1]

    @property
    def plan(self) -> list[Call]:
        """The calls that lead to them."""
        return [step.call for step in self.steps]

    def column(self, planner: Planner, meanings: Sequence[str]) -> Attribute | None:
        """An attribute that all rows have, of one of the meanings, at random."""
        fitting = self.columns(planner, meanings)
        return planner.rng.choice(fitting) if fitting else None

    def columns(self, planner: Planner, meanings: Sequence[str]) -> list[Attribute]:
        """The attributes that all rows have, of these meanings."""
        attributes = [
            planner.catalog.attribute(self.step.tool.name, (*self.step.keys, *path), self.rows[0])
            for path, _ in scalars(self.rows[0])
            if len(path) == 1
        ]
        said = {value.attribute.key for value in self.where}
        return [
            attribute
            for attribute in attributes
            if attribute.meaning in meanings
            and not is_code(attribute)
            and not {*attribute.label.split()} & MACHINE
            and attribute.key not in said
            and (attribute.label not in JOINTS or meanings is _GROUPING)
            and all(row.get(attribute.key) is not None for row in self.rows)
        ]

    def entities(self) -> list[Scalar]:
        """The values in the request that name things, not categories."""
        named = [value.value for value in self.where if value.attribute.meaning in NAMING]
        return [*named, *self.of]


async def rows_of_a_list(
    planner: Planner,
    session: Session,
    state: State,
    least: int,
    tool: Tool | None = None,
    limited: bool = True,
    ranked: bool = False,
) -> Rows | None:
    """Rows of a complete list: all of them, or those that a filter keeps. `tool` lists them, by default any.

    With `limited` the filter may be a limit, or leave out a value: too much where the rows are ranked or added up. If
    they are `ranked`, a list that is cut off will do as well where it is known what comes first.
    """
    tool = tool or planner.choice.tool(lambda tool: tool.name in planner.catalog.lists)
    reached = await planner.finder.listed(session, state, tool) if tool else None
    if reached is None:
        return None
    steps, where, of = reached
    step, rows = steps[-1], steps[-1].rows
    if not rows or any(is_search(slot) for slot, _ in step.filled):
        return None
    if await _has_a_mode(planner, session, step):
        return None
    whole = is_whole(planner.known, step)
    nouns = {row_noun(planner.catalog, step, row) for row in rows}
    noun = nouns.pop() if len(nouns) == 1 else planner.catalog.noun(step.tool, step.keys, rows[0])
    tables = {
        slot.key for slot, _ in step.filled if names_table(slot, planner.catalog.noun(step.tool, step.keys, rows[0]))
    }
    where = tuple(value for value in where if value.attribute.key not in tables)
    chosen = Rows(steps, stateless(noun, where), where, rows, of)
    way = planner.rng.random() * (1.0 if whole else 0.7)
    if first := None if whole or not ranked else _first(planner, chosen):
        return replace(chosen, first=first)
    if way < 0.45 and len(where) < 2:
        chosen = _with_one_value(planner, chosen, limited)
    elif way < 0.7 and limited and len(where) < 2:
        chosen = _within_limit(planner, chosen)
    if chosen.where != where:
        chosen = await _as_filtered(planner, session, chosen)
    elif not whole:
        return None
    return chosen if chosen and least <= len(chosen.rows) <= 40 else None


async def _has_a_mode(planner: Planner, session: Session, step: Step) -> bool:
    """Whether a list was read with a required option that says nothing of its rows: with another they are the same."""
    for slot, value in step.filled:
        others = [choice for choice in slot.choices if choice != value]
        if not (slot.required and others) or any(value in row.values() for row in step.rows):
            continue
        filled = [(own, others[0] if own == slot else given) for own, given in step.filled]
        other = await planner.calls.execute(session, step.tool, filled)
        if other and other.rows == step.rows:
            return True
    return False


def _first(planner: Planner, chosen: Rows) -> tuple[Attribute, bool] | None:
    """By what the rows of a list are in order, and whether the most comes first, as the tool says of itself."""
    told = _FIRST.search(chosen.step.tool.description.lower())
    if told is None or len(chosen.rows) < 2:
        return None
    most = told[1] not in _LEAST_FIRST
    meanings = next((kinds for names, kinds in _RANKED.items() if told[1] in names), _LIMITED)
    for attribute in chosen.columns(planner, meanings):
        values = [row[attribute.key] for row in chosen.rows]
        alike = all(map(is_number, values)) or all(isinstance(value, str) for value in values)
        if alike and values == sorted(values, reverse=most) and values[0] != values[1]:
            return attribute, most
    return None


def _with_one_value(planner: Planner, chosen: Rows, negated: bool) -> Rows:
    """The rows that share a value of one attribute or, at times if `negated`, all others; all rows if there is no such
    attribute.
    """
    column = chosen.column(planner, _GROUPING)
    if column is None:
        return chosen
    counts = Counter(str(row[column.key]) for row in chosen.rows)
    value = planner.rng.choice([row[column.key] for row in chosen.rows])
    if len(counts) < 2 or len(counts) == len(chosen.rows) or not is_answer(value, ()) or isinstance(value, bool):
        return chosen
    others = negated and column.meaning in ("status", "place") and planner.rng.random() < 0.3  # not what is no client
    kept = tuple(row for row in chosen.rows if (row[column.key] == value) != others)
    if others:
        said = Value(column, value, "not")
        return replace(chosen, noun=stateless(chosen.noun, (said,)), where=(*chosen.where, said), rows=kept)
    noun, said = chosen.noun, (Value(column, value),)
    if noun == "item" and column.label in ("type", "kind"):  # an item of the type "file" is a file
        noun, said = kind_of(str(value)), ()
    return replace(chosen, noun=stateless(noun, said), where=(*chosen.where, *said), rows=kept)


def _within_limit(planner: Planner, chosen: Rows) -> Rows:
    """The rows with more, or with less, of something than a round number; all rows if nothing can be limited."""
    column = chosen.column(planner, _LIMITED)
    if column and column.meaning == "count" and not is_stock(column):
        return chosen
    values = sorted({row[column.key] for row in chosen.rows}, key=str) if column else []
    is_day = all(isinstance(value, str) and _DAY.fullmatch(value) for value in values)
    if column is None or len(values) < 2 or not (is_day or all(is_number(value) for value in values)):
        return chosen
    values.sort()
    at = planner.rng.randrange(len(values) - 1)
    limit = values[at] if is_day else _between(values[at], values[at + 1])
    over = planner.rng.random() < 0.5
    if limit is None or (is_day and not over and at == 0):
        return chosen
    kept = tuple(row for row in chosen.rows if (row[column.key] > limit if over else row[column.key] < limit))
    said = Value(column, limit, "over" if over else "under")
    return replace(chosen, where=(*chosen.where, said), rows=kept)


async def _as_filtered(planner: Planner, session: Session, chosen: Rows) -> Rows | None:
    """The rows as the tool's own filter returns them, where it has one: what is cheap is found by its `max_price`.

    `None` if a list that is cut off has no filter after which it is complete.
    """
    step, said, whole = chosen.step, chosen.where[-1], is_whole(planner.known, chosen.step)
    filled = {slot for slot, _ in step.filled}
    slot = next((own for own in planner.known.slots[step.tool.name] if own not in filled and filters(own, said)), None)
    narrowed = None
    if slot is not None and (not slot.choices or said.value in slot.choices):
        narrowed = await planner.calls.execute(session, step.tool, in_order([*step.filled, (slot, said.value)]))
    if narrowed is None or not all(_has(row, said) for row in narrowed.rows):
        return chosen if whole else None
    same = sorted(map(compact, narrowed.rows)) == sorted(map(compact, chosen.rows))
    if not (same if whole else is_whole(planner.known, narrowed)):
        return chosen if whole else None
    return replace(chosen, rows=narrowed.rows, steps=(*chosen.steps[:-1], narrowed))


def _has(row: Mapping[str, Any], said: Value) -> bool:
    """Whether a row has what is said of all; what it does not show is the filter's to know."""
    own: Any = row.get(said.attribute.key)
    limit: Any = said.value
    if own is None or said.how == "is":
        return own in (None, limit)
    alike = type(own) is type(limit) or (is_number(own) and is_number(limit))
    return alike and bool(own > limit if said.how == "over" else own < limit)


def filters(slot: Slot, said: Value) -> bool:
    """Whether a slot takes what is said of the rows: a value that they have, or what they are over or under."""
    if bounded := bound(slot):
        end, named = bounded
        own = {*stems(said.attribute.key)}
        return said.how == end and (named <= own or own <= named)
    return said.how == "is" and stems(slot.key) == stems(said.attribute.key)


def is_code(attribute: Attribute) -> bool:
    """Whether a number counts and measures nothing that is known: a port or a room, of which none is more than
    another."""
    heads = tables()["heads"].get(attribute.label.split()[-1], ())
    if attribute.meaning == "count":
        return "place" in heads
    return attribute.meaning == "number" and ("place" in heads or "number" not in heads)


def is_stock(attribute: Attribute) -> bool:
    """Whether it counts what things are made of or hold, so that people ask for few of it, too."""
    return bool(_STOCKED & {singular(word) for word in attribute.label.split()})


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _between(low: float, high: float) -> float | None:
    """The roundest number between two, as a person would say it; `None` if there is none."""
    for step in (1000, 500, 100, 50, 20, 10, 5, 2, 1):
        number = (low // step + 1) * step
        if low < number < high:
            return int(number)
    return None
