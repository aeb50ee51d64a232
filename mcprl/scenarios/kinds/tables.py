"""Questions that a server answers in SQL: the plan is one SELECT on tables whose columns and rows probing has read."""

from collections.abc import Mapping, Sequence
from typing import Any

from mcprl.judges.checks import is_empty
from mcprl.scenarios.english.nouns import is_person
from mcprl.scenarios.fields import is_answer, record_of, rows_of, truth
from mcprl.scenarios.intents import COUNT, Attribute, Count, Extreme, Lookup, Missing, Reference, Relation, Total, Value
from mcprl.scenarios.kinds.rows import ADDED, ORDERED, is_code
from mcprl.scenarios.names import NAME_PARTS
from mcprl.scenarios.planner import Planner
from mcprl.scenarios.probing.knowledge import Knowledge, State
from mcprl.scenarios.probing.sql import Table, select
from mcprl.scenarios.probing.tables import rows_in
from mcprl.scenarios.probing.values import stranger
from mcprl.scenarios.slots import build
from mcprl.scenarios.steps import Field, Grounded
from mcprl.text import singular, words
from mcprl.types import Call, CallMade, SaysMissing, Scalar, Session

_GROUPING = ("category", "status", "person", "place", "year", "flag", "name")
_NAMES = ("name", "identifier", "person", "email")


async def table_lookup(planner: Planner, session: Session, state: State) -> Grounded | None:
    """A column of one row, or of the row of another table that it refers to."""
    table, row = random_row(planner)
    named = naming(planner, table, row)
    if named is None:
        return None
    reference = Reference(table_noun(table), (named,))
    where = {named.attribute.key: named.value}
    linked = _linked(planner, table) if planner.rng.random() < 0.4 else None
    if linked is None:
        asked = _column(planner, table, row, (named.attribute.key, *(table.links or ())))
        asked = _with_time(planner, table, row, asked)
        call = _call(table, select(table, [one.key for one in asked], where))
        values = await _cells(session, call) if asked else []
        if not values or not all(is_answer(value, [named.value]) for value in values):
            return None
        keys = {one.key for one in asked}
        rivals = [other for key, other in row.items() if other is not None and key not in keys and other != named.value]
        fields = [
            Field(one, truth(value) if one.meaning == "flag" else value, tuple(rivals), derived=one.meaning == "flag")
            for one, value in zip(asked, values, strict=True)
        ]
        return planner.question("lookup", Lookup(reference, asked), [call], fields, state, [named.value])
    column, other, key = linked
    asked = _column(planner, other, other.rows[0], (key, *(other.links or ())))
    asked = _with_time(planner, other, other.rows[0], asked)
    if is_person(table_noun(other)) and any(one.meaning in ("date", "datetime") for one in asked):
        return None  # nobody asks for a vet's first day by an appointment
    text = select(table, [f"{other.name}.{one.key}" for one in asked], where, joined=[(other, column, key)])
    call = _call(table, text)
    values = await _cells(session, call) if asked else []
    if not values or not all(is_answer(value, [named.value]) for value in values):
        return None
    intent = Relation(reference, (table_noun(other),), asked)
    facts = [Field(one, value) for one, value in zip(asked, values, strict=True)]
    return planner.question("relation", intent, [call], facts, state, [named.value])


def _with_time(
    planner: Planner, table: Table, row: Mapping[str, Any], asked: Attribute | None
) -> tuple[Attribute, ...]:
    """What is asked for, with the time of day that goes with it if it is a day: when is the appointment?"""
    time = _column(planner, table, row, (), ("time",)) if asked and asked.meaning == "date" else None
    return (asked, *((time,) if time else ())) if asked else ()


async def table_missing(planner: Planner, session: Session, state: State) -> Grounded | None:
    """A column of a row that does not exist: the answer must say so."""
    table, row = random_row(planner)
    named = naming(planner, table, row) if table.whole else None
    if named is None:
        return None
    noun, key = table_noun(table), named.attribute.key
    person = named.attribute.meaning == "person" or (named.attribute.meaning == "name" and is_person(noun))
    unknown = stranger(named.value, planner.rng, person=person, noun=noun)
    asked = _column(planner, table, row, (key, *(table.links or ())))
    if unknown is None or asked is None or not planner.allowed(unknown):
        return None
    call = _call(table, select(table, [asked.key], {key: unknown}))
    result = await session.call(call.tool, call.arguments)
    if result.is_error or rows_in(result) or not is_empty(result.structured, result.text):
        return None
    intent = Missing(Reference(noun, (Value(named.attribute, unknown),)), asked)
    checks = (CallMade(call.tool, call.arguments, failed=True), SaysMissing())
    return planner.task("missing", intent, (), (call,), checks, state, [unknown])


async def table_count(planner: Planner, session: Session, state: State) -> Grounded | None:
    """How many rows there are with one or two values."""
    table, row = random_row(planner)
    where = _where(planner, table, row, 2)
    if not where:
        return None
    call = _call(table, select(table, (), {value.attribute.key: value.value for value in where}, "COUNT"))
    value = await _only(session, call)
    if not isinstance(value, int):
        return None
    field = Field(COUNT, value)
    return planner.question("count", Count(table_noun(table), where), [call], [field], state, _entities(where))


async def table_total(planner: Planner, session: Session, state: State) -> Grounded | None:
    """The sum or the average of a column."""
    table, row = random_row(planner)
    added = _column(planner, table, row, (), ADDED)
    if added is None:
        return None
    where = _where(planner, table, row, 1)
    how = "average" if added.meaning == "measure" else planner.rng.choice(("sum", "sum", "average"))
    function = {"sum": "SUM", "average": "AVG"}[how]
    call = _call(table, select(table, [added.key], {value.attribute.key: value.value for value in where}, function))
    value = await _only(session, call)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    field = Field(added, round(value, 2), (), derived=isinstance(value, float))
    intent = Total(table_noun(table), where, added, how)  # pyright: ignore[reportArgumentType]
    return planner.question("total", intent, [call], [field], state, _entities(where))


async def table_extreme(planner: Planner, session: Session, state: State) -> Grounded | None:
    """A column of the row with the most or the least of another."""
    table, row = random_row(planner)
    by = _column(planner, table, row, (), ORDERED)
    if by is None:
        return None
    named = ("name", "person"), ("identifier",)
    asked = next((column for meanings in named if (column := _column(planner, table, row, (by.key,), meanings))), None)
    if asked is None:
        return None
    where, most = _where(planner, table, row, 1), planner.rng.random() < 0.5
    if by.key in {value.attribute.key for value in where}:
        return None
    filters = {value.attribute.key: value.value for value in where}
    text = select(table, [asked.key, by.key], filters, order=by.key + (" DESC" if most else ""), limit=2)
    call = _call(table, text)
    rows = await _rows(session, call)
    if len(rows) != 2 or rows[0].get(by.key) == rows[1].get(by.key) or rows[0].get(asked.key) is None:
        return None
    value = rows[0][asked.key]
    if not is_answer(value, [own.value for own in where]):
        return None
    field = Field(asked, value, tuple(row[asked.key] for row in rows[1:] if row.get(asked.key) is not None))
    call = _call(table, text.replace("LIMIT 2", "LIMIT 1"))
    intent = Extreme(table_noun(table), where, by, most, (asked,))
    return planner.question("extreme", intent, [call], [field], state, _entities(where))


# --- parts of a SELECT ------------------------------------------------------------------------------------------------


def random_row(planner: Planner) -> tuple[Table, Mapping[str, Any]]:
    """A table and one of its rows, at random. There is one, if `has_rows`."""
    table = planner.rng.choice([table for table in planner.known.tables if table.rows and table.tool])
    return table, planner.rng.choice(table.rows)


def has_rows(known: Knowledge) -> bool:
    """Whether any table that can be read has a row."""
    return any(table.rows and table.tool for table in known.tables)


def table_noun(table: Table) -> str:
    *front, last = words(table.name) or ("row",)
    return " ".join([*front, singular(last)])


def _column(
    planner: Planner,
    table: Table,
    row: Mapping[str, Any],
    without: Sequence[str],
    meanings: Sequence[str] = (),
) -> Attribute | None:
    """A column with a value in the row, of one of the meanings if some are given, at random; keys are seldom asked."""
    columns = [
        planner.catalog.column(table, name)
        for name in table.columns
        if name not in without and row.get(name) is not None
    ]
    fitting = [
        column
        for column in columns
        if (
            column.meaning in meanings and not is_code(column)
            if meanings
            else column.meaning not in ("identifier", "text")
        )
        and column.key not in (table.links or {})
    ]
    return planner.rng.choice(fitting) if fitting else None


def naming(planner: Planner, table: Table, row: Mapping[str, Any]) -> Value | None:
    """A name of the row that no other row has and that belongs to the split."""
    names = [planner.catalog.column(table, name) for name in table.columns if row.get(name) is not None]
    names = [name for name in names if name.meaning in _NAMES and name.key not in (table.links or {})]
    names = [name for name in names if not {*name.label.split()} & NAME_PARTS]  # others may have this one, too
    names = [name for name in names if not _is_of_another(planner, table, name.key)]
    names.sort(key=lambda name: (name.meaning == "identifier", planner.rng.random()))
    for name in names:
        value = row[name.key]
        alike = sum(other.get(name.key) == value for other in table.rows)
        if alike == 1 and is_answer(value, ()) and planner.allowed(value):
            return Value(name, value)
    return None


def _is_of_another(planner: Planner, table: Table, key: str) -> bool:
    """Whether a column is the key of another table's rows, by its name: `emp_no` that of employees in their titles."""
    begins = words(key)[0]
    owners = [other for other in planner.known.tables if key in other.columns and table_noun(other).startswith(begins)]
    return bool(owners) and table not in owners


def _where(planner: Planner, table: Table, row: Mapping[str, Any], most: int) -> tuple[Value, ...]:
    """Values of the row that other rows may share: what a list is filtered by."""
    columns = [planner.catalog.column(table, name) for name in table.columns if row.get(name) is not None]
    shared = [
        Value(column, row[column.key])
        for column in columns
        if column.meaning in _GROUPING
        and column.key not in (table.links or {})
        and column.meaning != "flag"
        and sum(other.get(column.key) == row[column.key] for other in table.rows) > 1
    ]
    planner.rng.shuffle(shared)
    chosen = shared[: planner.rng.randint(min(1, len(shared)), most)]
    kept = [value for value in chosen if not any(_is_implied(table, value, other) for other in chosen)]
    return tuple(kept or chosen[:1])


def _is_implied(table: Table, value: Value, other: Value) -> bool:
    """Whether all rows that have the other value have this one too: a Border Collie is a dog. Of two that always go
    together the sort is implied.
    """
    own, others = ([row for row in table.rows if row.get(one.attribute.key) == one.value] for one in (value, other))
    fewer = len(others) < len(own) or value.attribute.label in ("species", "type", "kind")
    return value is not other and fewer and all(row in own for row in others)


def _linked(planner: Planner, table: Table) -> tuple[str, Table, str] | None:
    """A column that refers to another table, that table, and its key."""
    tables = {other.name: other for other in planner.known.tables if other.rows}
    links = [(own, *there) for own, there in (table.links or {}).items() if there[0] in tables]
    if not links:
        return None
    column, name, key = planner.rng.choice(links)
    return column, tables[name], key


def _entities(where: Sequence[Value]) -> list[Scalar]:
    return [value.value for value in where if value.attribute.meaning in ("person", "name")]


def _call(table: Table, text: str) -> Call:
    return Call(table.tool, build({table.path: text}))


async def _rows(session: Session, call: Call) -> list[dict[str, Any]]:
    result = await session.call(call.tool, call.arguments)
    if result.is_error:
        return []
    listed = rows_of(record_of(result), least=1)
    return listed[1] if listed else rows_in(result, " ".join(map(str, call.arguments.values())))


async def _only(session: Session, call: Call) -> Scalar | None:
    """The value of a SELECT that returns one row of one column."""
    values = await _cells(session, call)
    return values[0] if len(values) == 1 else None


async def _cells(session: Session, call: Call) -> list[Scalar]:
    """The values of a SELECT that returns one row without blanks, else none."""
    rows = await _rows(session, call)
    values = list(rows[0].values()) if len(rows) == 1 else []
    return values if all(isinstance(value, str | int | float) for value in values) else []
