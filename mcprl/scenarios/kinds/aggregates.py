"""Questions about a whole list: how many, whether any, how much together, which has the most, which are there."""

from collections.abc import Mapping
from typing import Any, Literal

from mcprl.judges.checks import is_empty
from mcprl.scenarios.askable import askable
from mcprl.scenarios.catalog import NAMING
from mcprl.scenarios.english.nouns import is_technical
from mcprl.scenarios.fields import is_answer, scalars
from mcprl.scenarios.intents import COUNT, Attribute, Count, Extreme, Listing, Reference, Top, Total
from mcprl.scenarios.kinds.rows import (
    ADDED,
    ORDERED,
    Rows,
    is_number,
    is_stock,
    rows_of_a_list,
)
from mcprl.scenarios.naming import said
from mcprl.scenarios.parameters import is_search
from mcprl.scenarios.planner import Planner
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.slots import Slot
from mcprl.scenarios.steps import Field, Found, Grounded, call_of, is_whole
from mcprl.text import singular, stems
from mcprl.types import Call, CallMade, Check, Fact, Scalar, Session, Tool

_LISTS_READ = 4
"""Lists that are read for one with a first and a last of something."""
_OWNERS = 6
"""Things that are looked at for one that has none of what a tool lists for them, or some."""


async def topmost(
    planner: Planner, session: Session, state: State, tool: Tool, slot: Slot
) -> tuple[Scalar, Found] | None:
    """A key that the slot takes, and the thing, named as the first or the last of a list."""
    for source in planner.finder.listed_in(tool, slot) * _LISTS_READ:
        chosen = await rows_of_a_list(planner, session, state, 2, planner.known.tools[source[1]], False, True)
        best = _best(planner, chosen) if chosen else None
        key = best[2].get(source[-1]) if best else None
        if chosen and best and isinstance(key, str | int) and planner.allowed(key):
            by, most, row = best
            reference = Reference(chosen.noun, chosen.where, Top(by, most))
            return key, Found(reference, chosen.steps, row, (), (*chosen.entities(), key))
    return None


def _best(planner: Planner, chosen: Rows) -> tuple[Attribute, bool, Mapping[str, Any]] | None:
    """The only row with the most or the least of an attribute, with the attribute and whether it is the most."""
    if chosen.first:
        return (*chosen.first, chosen.rows[0])
    by = chosen.column(planner, ORDERED)
    values = [row[by.key] for row in chosen.rows] if by else []
    if (
        by is None
        or by.label in (chosen.noun.split()[-1], f"{chosen.noun.split()[-1]} number")
        or len({type(value) for value in values}) > 1
    ):
        return None
    most = planner.rng.random() < 0.5 or (by.meaning == "count" and not is_stock(by))  # not the fewest added lines
    best = max(values) if most else min(values)
    return (by, most, chosen.rows[values.index(best)]) if values.count(best) == 1 else None


async def count(planner: Planner, session: Session, state: State) -> Grounded | None:
    """How many things there are."""
    chosen = await rows_of_a_list(planner, session, state, 1)
    if chosen is None:
        return None
    row = chosen.rows[0]
    told = {*stems(f"{chosen.step.tool.name} {chosen.step.tool.description.partition('.')[0]}")}
    if not chosen.where and chosen.step.keys and not {*chosen.noun.split()} & told:
        return None  # a list inside of what the tool is about may leave out some
    named = (value for value in chosen.where if value.attribute.meaning in ("name", "email", "identifier"))
    if len(chosen.rows) == 1 and any(value.value in row.values() for value in named):
        return None  # who gives the name of a thing knows that it is one
    rivals = (len(chosen.step.rows),) if len(chosen.rows) < len(chosen.step.rows) else ()
    entry = Field(COUNT, len(chosen.rows), rivals, derived=True)
    intent = Count(chosen.noun, chosen.where)
    return planner.question("count", intent, chosen.plan, [entry], state, chosen.entities())


async def whether(planner: Planner, session: Session, state: State) -> Grounded | None:
    """Whether a thing has any of what a tool lists for it: half of the time it has none, so that neither can be
    guessed."""
    catalog, rng = planner.catalog, planner.rng
    tool = planner.choice.tool(lambda tool: tool.name in catalog.lists and _owner(planner, tool))
    slot = _owner(planner, tool) if tool else None
    if tool is None or slot is None:
        return None
    there = rng.random() < 0.5
    owners = planner.known.options(slot, state, rng, planner.allowed)
    for owner in rng.sample(owners, min(len(owners), _OWNERS)):
        step = await planner.calls.execute(session, tool, [(slot, owner)])
        rows = len(step.rows) if step and is_whole(planner.known, step) else 0
        call = step.call if step else call_of(tool, [(slot, owner)])
        if bool(rows) is not there or not (there or await _gives_nothing(session, call)):
            continue
        noun = catalog.listed_noun(tool)
        fact = Fact(there, singular(noun.split()[-1]), "flag", derived=True)
        checks: tuple[Check, ...] = (fact,) if there else (CallMade(call.tool, call.arguments, failed=True), fact)
        intent = Count(noun, tuple(said(catalog, [(slot, owner)])), whether=True)
        return planner.task("whether", intent, (rows,), (call,), checks, state, [owner])
    return None


def _owner(planner: Planner, tool: Tool) -> Slot | None:
    """The slot that names the thing whose list a tool gives, if it needs nothing else."""
    needed = planner.catalog.needs(tool)
    owned = len(needed) == 1 and planner.catalog.names_entity(needed[0]) and not is_search(needed[0])
    return needed[0] if owned and not is_technical(planner.catalog.listed_noun(tool)) else None


async def _gives_nothing(session: Session, call: Call) -> bool:
    """Whether a call works and finds nothing."""
    result = await session.call(call.tool, call.arguments)
    return not result.is_error and is_empty(result.structured, result.text)


async def total(planner: Planner, session: Session, state: State) -> Grounded | None:
    """The sum or the average of an attribute."""
    chosen = await rows_of_a_list(planner, session, state, 2, limited=False)
    column = chosen.column(planner, ADDED) if chosen else None
    if chosen is None or column is None or len(chosen.rows) > 8:
        return None
    values = [row[column.key] for row in chosen.rows]
    if not all(is_number(value) for value in values):
        return None
    measured = column.meaning == "measure" and "size" not in column.label.split()  # nobody adds up weights
    # Nobody asks for the average number of lines.
    average = measured or (column.meaning != "count" and planner.rng.random() < 0.2 and len(values) > 2)
    how: Literal["sum", "average"] = "average" if average else "sum"
    result = round(sum(values) / (len(values) if how == "average" else 1), 2)
    result = int(result) if float(result).is_integer() and all(isinstance(value, int) for value in values) else result
    entry = Field(column, result, tuple(dict.fromkeys(values)), derived=True)
    intent = Total(chosen.noun, chosen.where, column, how)
    return planner.question("total", intent, chosen.plan, [entry], state, chosen.entities())


async def extreme(planner: Planner, session: Session, state: State) -> Grounded | None:
    """An attribute of the thing with the most or the least of another."""
    chosen = await rows_of_a_list(planner, session, state, 2, limited=False, ranked=True)
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
            return planner.question("extreme", intent, plan, [entry], state, [*chosen.entities(), key])
    given = [value.value for value in chosen.where]
    fields = [
        entry
        for entry in askable(planner.catalog, chosen.step, row, chosen.rows, given)
        if entry.attribute.key != by.key and entry.attribute.meaning not in ("flag", "text")
    ]
    own = [keys for keys, _ in scalars(row)][:1]
    named = [
        entry
        for entry in fields
        if entry.attribute.meaning in NAMING
        and entry.attribute.key in row
        and (entry.attribute.meaning != "identifier" or (entry.attribute.key,) in own)
    ]
    fields = [entry for entry in fields if entry in named or entry.attribute.meaning != "identifier"]
    pool = named if counted or (named and planner.rng.random() < 0.7) else fields
    if not pool:
        return None
    entry = planner.rng.choice(pool)
    intent = Extreme(chosen.noun, chosen.where, by, most, (entry.attribute,))
    return planner.question("extreme", intent, chosen.plan, [entry], state, chosen.entities())


async def _beyond(
    planner: Planner, session: Session, chosen: Rows, row: Mapping[str, Any]
) -> tuple[Field, list[Call], Scalar] | None:
    """A field that a further call about one row shows, the plan to it, and the value that the call takes."""
    thing = Found(Reference(chosen.noun, chosen.where), (chosen.step,), row, ())
    following = await planner.finder.follow(session, thing)
    if following is None or planner.catalog.noun(following[0].steps[-1].tool) != chosen.noun:
        return None
    fields = planner.choice.fields(
        following[0], 1, lambda entry: entry.attribute.meaning not in ("flag", "text", "identifier")
    )
    return (fields[0], [*chosen.plan, following[0].plan[-1]], following[2]) if fields else None


async def listing(planner: Planner, session: Session, state: State) -> Grounded | None:
    """The names of a few things."""
    chosen = await rows_of_a_list(planner, session, state, 2)
    column = chosen.column(planner, NAMING) if chosen else None
    if chosen is None or column is None or len(chosen.rows) > 5 or not chosen.where:
        return None
    values = [row[column.key] for row in chosen.rows]
    if len(set(map(str, values))) < len(values) or not all(is_answer(value, ()) for value in values):
        return None
    others = [row[column.key] for row in chosen.step.rows if row not in chosen.rows and row.get(column.key) is not None]
    asked = [Field(column, value, tuple(others[:20])) for value in values]
    intent = Listing(chosen.noun, chosen.where, column)
    return planner.question("listing", intent, chosen.plan, asked, state, chosen.entities())
