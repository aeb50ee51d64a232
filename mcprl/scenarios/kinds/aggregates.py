"""Questions about a whole list: how many, how much together, which has the most, which are there."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mcprl.scenarios.fields import is_answer, scalars
from mcprl.scenarios.intents import Attribute, Count, Extreme, Listing, Reference, Top, Total, Value
from mcprl.scenarios.naming import MACHINE, kind_of, stateless
from mcprl.scenarios.parameters import is_search
from mcprl.scenarios.planner import Planner
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.slots import Slot
from mcprl.scenarios.steps import Field, Found, Grounded, Reached, Step
from mcprl.scenarios.wording.modifiers import JOINTS
from mcprl.text import singular
from mcprl.types import Call, Scalar, Session, Tool

_ORDERED = ("money", "count", "measure", "percent", "number", "date", "datetime", "year", "duration")
_LISTS_READ = 4
"""Lists that are read for one with a first and a last of something."""
_LIMITED = ("money", "count", "measure", "percent", "number", "date", "year")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_ADDED = ("money", "count", "measure", "duration")
_STOCKED = frozenset("stock inventory quantity capacity seat bed bedroom room rating".split())
"""Words of counts over and under which people set limits: with fewer than 5 in stock, and not with 2 removed lines."""
_WAYS = frozenset("method option setting mode type kind category status rate setup preference".split())
"""Last words of nouns of which nobody adds up or ranks the amounts: ways to pay, not payments."""
_GROUPING = ("category", "status", "person", "place", "year")
_NAMES = ("name", "identifier", "person", "email", "path")


@dataclass(frozen=True)
class _Rows:
    """Some rows of a complete list, what they have in common in words, and their noun."""

    reached: Reached
    noun: str
    where: tuple[Value, ...]
    rows: tuple[Mapping[str, Any], ...]

    @property
    def step(self) -> Step:
        return self.reached.step

    def column(self, planner: Planner, meanings: Sequence[str]) -> Attribute | None:
        """An attribute that all rows have, of one of the meanings, at random."""
        attributes = [
            planner.catalog.attribute(self.step.tool.name, (*self.step.keys, *path), self.rows[0])
            for path, _ in scalars(self.rows[0])
            if len(path) == 1
        ]
        said = {value.attribute.key for value in self.where}
        fitting = [
            attribute
            for attribute in attributes
            if attribute.meaning in meanings
            and not {*attribute.label.split()} & MACHINE
            and attribute.key not in said
            and (attribute.label not in JOINTS or meanings is _GROUPING)
            and all(row.get(attribute.key) is not None for row in self.rows)
        ]
        return planner.rng.choice(fitting) if fitting else None

    def entities(self) -> list[Scalar]:
        """The values in the request that name things, not categories."""
        named = [value.value for value in self.where if value.attribute.meaning in _NAMES]
        return [*named, *self.reached.entities]


async def _rows(
    planner: Planner, session: Session, state: State, least: int, tool: Tool | None = None, limited: bool = True
) -> _Rows | None:
    """Rows of a complete list: all of them, or those that a filter keeps. `tool` lists them, by default any.

    With `limited` the filter may be a limit, or leave out a value: too much where the rows are ranked or added up.
    """
    tool = tool or planner.tool(lambda tool: tool.name in planner.catalog.lists)
    reached = await planner.read_named(session, state, tool) if tool else None
    step = reached.step if reached else None
    if (
        reached is None
        or step is None
        or not step.rows
        or not planner.is_whole(step)
        or any(is_search(slot) for slot, _ in step.filled)
    ):
        return None
    where, rows = reached.where, step.rows
    nouns = {planner.row_noun(step, row) for row in rows}
    noun = nouns.pop() if len(nouns) == 1 else planner.catalog.noun(step.tool, step.keys, rows[0])
    chosen = _Rows(reached, stateless(noun, where), where, rows)
    way = planner.rng.random()
    if way < 0.45 and len(where) < 2:
        chosen = _with_one_value(planner, chosen, limited)
    elif way < 0.7 and limited and len(where) < 2:
        chosen = _within_limit(planner, chosen)
    return chosen if least <= len(chosen.rows) <= 40 else None


def _with_one_value(planner: Planner, chosen: _Rows, negated: bool) -> _Rows:
    """The rows that share a value of one attribute or, at times if `negated`, all others; all rows if there is no such
    attribute.
    """
    column = chosen.column(planner, _GROUPING)
    if column is None:
        return chosen
    counts = Counter(str(row[column.key]) for row in chosen.rows)
    value = planner.rng.choice([row[column.key] for row in chosen.rows])
    if len(counts) < 2 or not is_answer(value, ()) or isinstance(value, bool):
        return chosen
    sorted_so = column.meaning in ("status", "place") or column.label.split()[-1] in ("type", "kind", "species")
    others = negated and sorted_so and planner.rng.random() < 0.3
    others = others and not str(value).startswith("un")  # nobody asks for what is not untracked
    kept = tuple(row for row in chosen.rows if (row[column.key] == value) != others)
    if others:
        said = Value(column, value, "not")
        return _Rows(chosen.reached, stateless(chosen.noun, (said,)), (*chosen.where, said), kept)
    noun, said = chosen.noun, (Value(column, value),)
    if noun == "item" and column.label in ("type", "kind"):  # an item of the type "file" is a file
        noun, said = kind_of(str(value)), ()
    return _Rows(chosen.reached, stateless(noun, said), (*chosen.where, *said), kept)


def _within_limit(planner: Planner, chosen: _Rows) -> _Rows:
    """The rows with more, or with less, of something than a round number; all rows if nothing can be limited."""
    column = chosen.column(planner, _LIMITED)
    if column and column.meaning == "count" and not _is_stock(column):
        return chosen
    values = sorted({row[column.key] for row in chosen.rows}, key=str) if column else []
    is_day = all(isinstance(value, str) and _DAY.fullmatch(value) for value in values)
    if column is None or len(values) < 2 or not (is_day or all(_is_number(value) for value in values)):
        return chosen
    values.sort()
    at = planner.rng.randrange(len(values) - 1)
    limit = values[at] if is_day else _between(values[at], values[at + 1])
    over = planner.rng.random() < 0.5
    if limit is None or (is_day and not over and at == 0):
        return chosen
    kept = tuple(row for row in chosen.rows if (row[column.key] > limit if over else row[column.key] < limit))
    said = Value(column, limit, "over" if over else "under")
    return _Rows(chosen.reached, chosen.noun, (*chosen.where, said), kept)


def _is_stock(attribute: Attribute) -> bool:
    """Whether it counts what things are made of or hold, so that people ask for few of it, too."""
    return bool(_STOCKED & {singular(word) for word in attribute.label.split()})


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _between(low: float, high: float) -> float | None:
    """The roundest number between two, as a person would say it; `None` if there is none."""
    for step in (1000, 500, 100, 50, 20, 10, 5, 2, 1):
        number = (low // step + 1) * step
        if low < number < high:
            return int(number)
    return None


@dataclass(frozen=True)
class Topmost:
    """The thing with the most or the least of something in a list: its key, how a request names it, the calls that
    lead to it, and the entities."""

    key: str | int
    reference: Reference
    plan: list[Call]
    entities: list[Scalar]


async def topmost(planner: Planner, session: Session, state: State, tool: Tool, slot: Slot) -> Topmost | None:
    """A thing whose key the slot takes, named as the first or the last of a list."""
    for source in planner.listed_in(tool, slot) * _LISTS_READ:
        chosen = await _rows(planner, session, state, 2, planner.known.tools[source[1]], limited=False)
        best = _best(planner, chosen) if chosen else None
        key = best[2].get(source[-1]) if best else None
        if chosen and best and isinstance(key, str | int) and planner.allowed(key):
            reference = Reference(chosen.noun, chosen.where, Top(best[0], best[1]))
            return Topmost(key, reference, chosen.reached.plan, [*chosen.entities(), key])
    return None


def _best(planner: Planner, chosen: _Rows) -> tuple[Attribute, bool, Mapping[str, Any]] | None:
    """The only row with the most or the least of an attribute, with the attribute and whether it is the most."""
    by = chosen.column(planner, _ORDERED)
    values = [row[by.key] for row in chosen.rows] if by else []
    if (
        by is None
        or _is_way(chosen.noun)
        or by.label in (chosen.noun.split()[-1], f"{chosen.noun.split()[-1]} number")
        or len({type(value) for value in values}) > 1
    ):
        return None
    most = planner.rng.random() < 0.5 or (by.meaning == "count" and not _is_stock(by))  # not the fewest added lines
    best = max(values) if most else min(values)
    return (by, most, chosen.rows[values.index(best)]) if values.count(best) == 1 else None


def _is_way(noun: str) -> bool:
    """Whether things are ways to do something: their amounts are neither added up nor ranked."""
    return noun.split()[-1] in _WAYS


async def count(planner: Planner, session: Session, state: State) -> Grounded | None:
    """How many things there are."""
    chosen = await _rows(planner, session, state, 1)
    if chosen is None:
        return None
    row = chosen.rows[0]
    entry = Field(Attribute("count", "number", "count"), len(chosen.rows), (), derived=True)
    if len(chosen.rows) < len(chosen.step.rows):
        entry = Field(entry.attribute, entry.value, (len(chosen.step.rows),), derived=True)
    columns = (planner.catalog.attribute(chosen.step.tool.name, (*chosen.step.keys, key), row) for key in row)
    stocked = not chosen.where and any(column.meaning == "count" and _is_stock(column) for column in columns)
    noun = f"different {chosen.noun}" if stocked else chosen.noun  # parts are kinds of parts, and pieces on the shelf
    intent = Count(noun, chosen.where)
    return planner.question("count", intent, chosen.reached.plan, [(entry, "")], state, chosen.entities())


async def total(planner: Planner, session: Session, state: State) -> Grounded | None:
    """The sum or the average of an attribute."""
    chosen = await _rows(planner, session, state, 2, limited=False)
    column = chosen.column(planner, _ADDED) if chosen else None
    if chosen is None or column is None or len(chosen.rows) > 8 or _is_way(chosen.noun):
        return None
    values = [row[column.key] for row in chosen.rows]
    if not all(_is_number(value) for value in values):
        return None
    measured = column.meaning == "measure" and "size" not in column.label.split()  # nobody adds up weights
    # Nobody asks for the average number of lines.
    average = measured or (column.meaning != "count" and planner.rng.random() < 0.2 and len(values) > 2)
    how: Literal["sum", "average"] = "average" if average else "sum"
    result = round(sum(values) / (len(values) if how == "average" else 1), 2)
    result = int(result) if float(result).is_integer() and all(isinstance(value, int) for value in values) else result
    entry = Field(column, result, tuple(dict.fromkeys(values)), derived=True)
    intent = Total(chosen.noun, chosen.where, column, how)
    return planner.question("total", intent, chosen.reached.plan, [(entry, "")], state, chosen.entities())


async def extreme(planner: Planner, session: Session, state: State) -> Grounded | None:
    """An attribute of the thing with the most or the least of another."""
    chosen = await _rows(planner, session, state, 2, limited=False)
    best = _best(planner, chosen) if chosen else None
    if chosen is None or best is None:
        return None
    by, most, row = best
    counted = by.meaning == "count"  # which has the most lines, and nothing else of it
    if not counted and planner.rng.random() < 0.5:
        beyond = await _beyond(planner, session, chosen, row)
        if beyond:
            entry, plan, key = beyond
            intent = Extreme(chosen.noun, chosen.where, by, most, (entry.attribute,))
            return planner.question("extreme", intent, plan, [(entry, "")], state, [*chosen.entities(), key])
    given = [value.value for value in chosen.where]
    fields = [
        entry
        for entry in planner.fields(chosen.step, row, chosen.rows, given)
        if entry.attribute.key != by.key and entry.attribute.meaning not in ("flag", "text")
    ]
    own = [keys for keys, _ in scalars(row)][:1]
    named = [
        entry
        for entry in fields
        if entry.attribute.meaning in _NAMES
        and entry.attribute.key in row
        and (entry.attribute.meaning != "identifier" or (entry.attribute.key,) in own)
    ]
    fields = [entry for entry in fields if entry in named or entry.attribute.meaning != "identifier"]
    pool = named if counted or (named and planner.rng.random() < 0.7) else fields
    if not pool:
        return None
    entry = planner.rng.choice(pool)
    intent = Extreme(chosen.noun, chosen.where, by, most, (entry.attribute,))
    return planner.question("extreme", intent, chosen.reached.plan, [(entry, "")], state, chosen.entities())


async def _beyond(
    planner: Planner, session: Session, chosen: _Rows, row: Mapping[str, Any]
) -> tuple[Field, list[Call], Scalar] | None:
    """A field that a further call about one row shows, the plan to it, and the value that the call takes."""
    thing = Found(Reference(chosen.noun, chosen.where), (chosen.step,), row, (), (), chosen.step.keys)
    following = await planner.follow(session, thing)
    if following is None or planner.catalog.noun(following[0].steps[-1].tool) != chosen.noun:
        return None
    fields = planner.choose(
        following[0], 1, lambda entry: entry.attribute.meaning not in ("flag", "text", "identifier")
    )
    return (fields[0], [*chosen.reached.plan, following[0].plan[-1]], following[2]) if fields else None


async def listing(planner: Planner, session: Session, state: State) -> Grounded | None:
    """The names of a few things."""
    chosen = await _rows(planner, session, state, 2)
    column = chosen.column(planner, _NAMES) if chosen else None
    if chosen is None or column is None or len(chosen.rows) > 5 or not chosen.where:
        return None
    values = [row[column.key] for row in chosen.rows]
    if len(set(map(str, values))) < len(values) or not all(is_answer(value, ()) for value in values):
        return None
    others = [row[column.key] for row in chosen.step.rows if row not in chosen.rows and row.get(column.key) is not None]
    asked = [(Field(column, value, tuple(others[:20])), "") for value in values]
    intent = Listing(chosen.noun, chosen.where, column)
    return planner.question("listing", intent, chosen.reached.plan, asked, state, chosen.entities())
