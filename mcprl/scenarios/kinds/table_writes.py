"""Tasks that change the tables of a server that takes SQL: set a column, add a row, remove one, make a table."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mcprl.judges.checks import holds
from mcprl.scenarios.english import grammar
from mcprl.scenarios.fields import is_answer, usable
from mcprl.scenarios.intents import Attribute, Change, Reference, Value
from mcprl.scenarios.kinds.tables import has_rows, naming, random_row, table_noun
from mcprl.scenarios.planner import Planner
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.probing.sql import Table, identifier, literal, select
from mcprl.scenarios.probing.values import invent
from mcprl.scenarios.slots import Slot, build
from mcprl.scenarios.steps import Grounded
from mcprl.text import words
from mcprl.types import Call, Scalar, Session, StateHolds, Tool

_CHANGED = ("status", "category", "money", "count", "measure", "date", "place", "phone", "email", "person", "number")
_TABLES = {
    "visit": ("place", "day", "note"),
    "task": ("title", "assignee", "status"),
    "review": ("title", "author", "comment"),
    "contact": ("name", "phone", "email"),
    "expense": ("label", "category", "day"),
    "tag": ("name", "color"),
    "delivery": ("supplier", "day", "status"),
    "holiday": ("name", "day"),
}
"""Tables that anybody may want: what is missing in a database is made of these. All columns but the key hold text."""
_HEADS = {
    "visit": ("home", "planned", "first"), "task": ("team", "daily", "weekly"), "review": ("online", "yearly", "staff"),
    "contact": ("emergency", "press", "supplier"), "expense": ("travel", "office", "monthly"),
    "tag": ("color", "price", "name"), "delivery": ("planned", "late", "weekly"),
    "holiday": ("public", "staff", "school"),
}  # fmt: skip
"""What stands before their names."""
_KEYS = ("an integer id as the primary key", "an integer primary key called id")


def writes_sql(planner: Planner, tool: Tool) -> Slot | None:
    """The slot of a writing tool that takes SQL, if its tables are known."""
    slots = [
        slot
        for slot in planner.known.slots[tool.name]
        if ("sql",) in planner.known.sources.get((tool.name, slot.path), ())
    ]
    return slots[0] if slots and planner.known.tables else None


async def table_write(planner: Planner, clean: Session, written: Session, state: State, tool: Tool) -> Grounded | None:
    """A task whose plan is one statement that writes, executed in the session `written`."""
    slot = writes_sql(planner, tool)
    told = f"{tool.name} {tool.description} {slot.description if slot else ''}".upper().replace("_", " ")
    kinds = [kind for kind in ("INSERT", "UPDATE", "UPDATE", "DELETE") if kind in told]
    if slot is None:
        return None
    if not kinds and "CREATE" in told:
        return await _create_table(planner, clean, written, state, slot)
    if not has_rows(planner.known):
        return None
    made = None
    for _ in range(8):
        kind = planner.rng.choice(kinds or ["UPDATE"])
        made = made or (_insert(planner) if kind == "INSERT" else _change_row(planner, remove=kind == "DELETE"))
    if made is None:
        return None
    intent, text, check, entities = made
    call = Call(tool.name, build({slot.path: text}))
    return await _checked(planner, clean, written, state, intent, call, check, entities)


async def _checked(
    planner: Planner,
    clean: Session,
    written: Session,
    state: State,
    intent: Change,
    call: Call,
    check: StateHolds,
    entities: list[Scalar],
) -> Grounded | None:
    """The task, if the look proves the write: it fails before and holds after."""
    before = await clean.call(check.tool, check.arguments)
    earlier = await written.call(check.tool, check.arguments)
    if any(_proves(check, result.text) for result in (before, earlier) if usable(result) or not result.is_error):
        return None
    result = await written.call(call.tool, call.arguments)
    if result.is_error or planner.known.failures.is_failure(call.tool, call.arguments, result):
        return None
    after = await written.call(check.tool, check.arguments)
    if after.is_error or not _proves(check, after.text):
        return None
    return planner.task("write", intent, (), (call,), (check,), state, entities)


def _proves(check: StateHolds, text: str) -> bool:
    return all(holds(text, value) for value in check.values) and not any(holds(text, value) for value in check.gone)


Made = tuple[Change, str, StateHolds, list[Scalar]]


def _change_row(planner: Planner, remove: bool) -> Made | None:
    """A column of a row set to another value, or the row removed."""
    table, row = random_row(planner)
    named = naming(planner, table, row)
    if named is None:
        return None
    where = f"WHERE {identifier(named.attribute.key)} = {literal(named.value)}"
    thing = Reference(table_noun(table), (named,))
    if remove:
        intent = Change(f"delete_{table_noun(table)}", "", "remove", thing)
        text = f"DELETE FROM {identifier(table.name)} {where}"
        return intent, text, _look(table, [named.attribute.key], named, gone=(named.value,)), [named.value]
    value = _another(planner, table, row, named.attribute.key)
    if value is None:
        return None
    intent = Change(f"update_{table_noun(table)}", "", "set", thing, (value,))
    column = value.attribute.key
    text = f"UPDATE {identifier(table.name)} SET {identifier(column)} = {literal(value.value)} {where}"
    return intent, text, _look(table, [column], named, values=(value.value,)), [named.value]


def _look(
    table: Table, columns: list[str], named: Value, values: tuple[Scalar, ...] = (), gone: tuple[Scalar, ...] = ()
) -> StateHolds:
    text = select(table, columns, {named.attribute.key: named.value})
    return StateHolds(table.tool, build({table.path: text}), values, gone)


def _another(planner: Planner, table: Table, row: Mapping[str, Any], key: str) -> Value | None:
    """A column of the row with a value of another row, or a number near its own."""
    columns = [planner.catalog.column(table, name) for name in table.columns if row.get(name) is not None]
    columns = [
        column
        for column in columns
        if column.meaning in _CHANGED and column.key != key and column.key not in (table.links or {})
    ]
    if not columns:
        return None
    column = planner.rng.choice(columns)
    old = row[column.key]
    if column.meaning in ("money", "measure") and isinstance(old, int | float):
        new = round(old * planner.rng.choice((0.8, 0.9, 1.1, 1.25, 1.5)), 2)
        return Value(column, int(new) if isinstance(old, int) else new) if new != old else None
    others = [other[column.key] for other in table.rows if other.get(column.key) not in (None, old, True, False)]
    others = [value for value in others if value is not None and old is not None and is_answer(value, [old])]
    unique = len({*others}) == len(others) and len(others) > 4 and column.meaning in ("phone", "email", "person")
    return Value(column, planner.rng.choice(others)) if others and not unique else None


def _insert(planner: Planner) -> Made | None:
    """A new row: a made-up name and values of other rows; its number is left to the database."""
    table, row = random_row(planner)
    if table.links:
        return None
    columns = [planner.catalog.column(table, name) for name in table.columns]
    if not isinstance(row.get(columns[0].key), int) or columns[0].meaning not in ("identifier", "number", "count"):
        return None
    values: list[Value] = []
    name: Value | None = None
    for column in columns[1:]:
        if name is None and column.meaning in ("person", "name"):
            kind = "person" if column.meaning == "person" or table_noun(table) in ("person", "owner") else "name"
            people = all(len(str(other.get(column.key)).split()) in (2, 3) for other in table.rows)
            made = invent(Slot("", ("person" if people else kind,), {"type": "string"}, True, ""), planner.rng)
            name = Value(column, made)
            values.append(name)
        else:
            known = [value for other in table.rows if (value := other.get(column.key)) is not None]
            value = _own(column, known, name, planner) if known else None
            values.append(Value(column, value)) if value is not None else None
    if name is None or not planner.allowed(name.value) or len(values) > 5:
        return None
    noun = table_noun(table)
    intent = Change(f"add_{noun.replace(' ', '_')}", "", "create", None, tuple(values))
    names = ", ".join(identifier(value.attribute.key) for value in values)
    text = f"INSERT INTO {identifier(table.name)} ({names}) VALUES ({', '.join(literal(v.value) for v in values)})"
    shown = [value.attribute.key for value in values]
    return intent, text, _look(table, shown, name, values=tuple(v.value for v in values)), [name.value]


def _own(column: Attribute, known: list[Scalar], name: Value | None, planner: Planner) -> Scalar | None:
    """A value for a new row: that of another row, unless it belongs to one alone. An address of one's own is made of
    the name and the domain of another's; `None` for what cannot be made up.
    """
    value = planner.rng.choice(known)
    if column.meaning == "email" and name is not None:
        return f"{'.'.join(words(str(name.value)))}@{str(value).rpartition('@')[2]}"
    return None if column.meaning in ("email", "phone", "identifier") and len({*known}) == len(known) else value


async def _create_table(
    planner: Planner, clean: Session, written: Session, state: State, slot: Slot
) -> Grounded | None:
    """A new table, seen in the list of all tables."""
    lister = await _lister(planner, clean)
    noun = planner.rng.choice(sorted(_TABLES))
    name = grammar.plural(noun)
    name = planner.rng.choice((name, name, *(f"{head}_{name}" for head in _HEADS[noun])))
    if lister is None or not planner.allowed(name) or any(table.name == name for table in planner.known.tables):
        return None
    body = ", ".join(["id INTEGER PRIMARY KEY", *(f"{column} TEXT" for column in _TABLES[noun])])
    spoken = f"{planner.rng.choice(_KEYS)} and text columns for {grammar.listed(_TABLES[noun])}"
    told = Value(Attribute("columns", "with", "category"), spoken)
    intent = Change("create_table", "", "create", None, (Value(Attribute("name", "name", "name"), name), told))
    call = Call(slot.tool, build({slot.path: f"CREATE TABLE {identifier(name)} ({body})"}))
    return await _checked(planner, clean, written, state, intent, call, replace(lister, values=(name,)), [name])


async def _lister(planner: Planner, session: Session) -> StateHolds | None:
    """A read without arguments that shows the names of all tables."""
    for tool in planner.known.reads():
        if planner.catalog.needs(tool):
            continue
        result = await session.call(tool.name, {})
        if usable(result) and all(holds(result.text, table.name) for table in planner.known.tables):
            return StateHolds(tool.name, {})
    return None
