"""The SQL that probing and plans write: SELECTs with filters, joins and counts on the tables seen, and writes."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mcprl.scenarios.slots import Slot
from mcprl.types import Scalar, Tool

Row = dict[str, Scalar | None]


@dataclass(frozen=True)
class Table:
    """A table: its name, its columns in order, and the rows seen. `whole` is whether `rows` are all of them.

    `links` has, for each column that refers to another table, that table and its column. `tool` and `path` are the slot
    that takes a SELECT.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    whole: bool = False
    links: Mapping[str, tuple[str, str]] | None = None
    tool: str = ""
    path: tuple[str | int, ...] = ()


def select(
    table: Table,
    columns: Sequence[str] = (),
    where: Mapping[str, Scalar] | None = None,
    aggregate: str = "",
    joined: Sequence[tuple[Table, str, str]] = (),
    order: str = "",
    limit: int = 0,
) -> str:
    """A SELECT on a table.

    `columns` are all if empty. `where` has the values that columns must equal. `aggregate` is a function (`COUNT`,
    `SUM`, `AVG`, `MIN`, `MAX`) of the first column, or of `*`. `joined` has further tables, each with the column of
    `table` and its own column that must be equal; a column of another table is written `table.column`. `order` is a
    column, with ` DESC` behind it for the largest first.
    """
    names = [_column(name, table, joined) for name in columns]
    shown = ", ".join(names) or "*"
    if aggregate:
        shown = f"{aggregate}({names[0] if names else '*'})"
    text = f"SELECT {shown} FROM {identifier(table.name)}"
    for other, own, theirs in joined:
        text += f" JOIN {identifier(other.name)} ON {identifier(table.name)}.{identifier(own)} = "
        text += f"{identifier(other.name)}.{identifier(theirs)}"
    conditions = [f"{_column(name, table, joined)} = {literal(value)}" for name, value in (where or {}).items()]
    if conditions:
        text += f" WHERE {' AND '.join(conditions)}"
    if order:
        name, _, direction = order.partition(" ")
        text += f" ORDER BY {_column(name, table, joined)}{' ' + direction if direction else ''}"
    return text + (f" LIMIT {limit}" if limit else "")


def _column(name: str, table: Table, joined: Sequence[object]) -> str:
    """A column in SQL; with its table in front if several tables are read."""
    owner, dot, column = name.rpartition(".")
    if dot:
        return f"{identifier(owner)}.{identifier(column)}"
    return f"{identifier(table.name)}.{identifier(name)}" if joined else identifier(name)


def identifier(name: str) -> str:
    """A name in SQL, quoted if it is not a plain word."""
    return name if name.isidentifier() and name.isascii() else '"' + name.replace('"', '""') + '"'


def literal(value: Scalar) -> str:
    """A value in SQL."""
    if isinstance(value, bool):
        return "1" if value else "0"
    return str(value) if isinstance(value, int | float) else "'" + value.replace("'", "''") + "'"


Allowed = Callable[[Scalar], bool]


def takes_sql(tool: Tool, slot: Slot) -> bool:
    """Whether the slot takes SQL: its name or description, or its tool's, says so."""
    told = f"{slot.description} {tool.description} {tool.name.replace('_', ' ')}"
    named = re.search(r"\b(?:sql|query|statement)\b", slot.key.lower().replace("_", " "))
    return slot.kind == "string" and bool(named) and bool(re.search(r"(?i:\bsql)|\bSELECT\b", f"{told} {slot.key}"))


def selects(tables: Sequence[Table], rng: random.Random, count: int, allowed: Allowed) -> list[str]:
    """Different SELECTs on the tables. Each value that one filters by is `allowed`."""
    filled = [table for table in tables if table.rows]
    texts = [_select(rng.choice(filled), filled, rng, allowed) for _ in range(3 * count if filled else 0)]
    return list(dict.fromkeys(text for text in texts if text))[:count]


def _select(table: Table, tables: Sequence[Table], rng: random.Random, allowed: Allowed) -> str:
    row = rng.choice(table.rows)
    filters = [(name, value) for name, value in row.items() if value is not None and allowed(value)]
    if not filters:
        return ""
    name, value = rng.choice(filters)
    asked = rng.choice([column for column in table.columns if column != name] or [name])
    numbers = [column for column in table.columns if isinstance(row.get(column), float)]
    kind = rng.random()
    if kind < 0.25:
        return select(table, [], {name: value}, "COUNT")
    if kind < 0.4 and numbers:
        return select(table, [rng.choice(numbers)], {name: value}, rng.choice(("SUM", "AVG", "MIN", "MAX")))
    if kind < 0.6 and table.links:
        own, (other, theirs) = rng.choice(sorted(table.links.items()))
        linked = next((entry for entry in tables if entry.name == other), None)
        if linked is not None:
            shown = f"{other}.{rng.choice(linked.columns)}"
            return select(table, [shown], {name: value}, joined=[(linked, own, theirs)])
    return select(table, [asked], {name: value})


def statement(tool: Tool, slot: Slot, tables: Sequence[Table], rng: random.Random) -> str:
    """A statement that writes, of a kind that the descriptions of the tool and the slot name."""
    told = f"{tool.name} {tool.description} {slot.description}".upper().replace("_", " ")
    kinds = [kind for kind in ("INSERT", "UPDATE", "DELETE") if kind in told]
    filled = [table for table in tables if table.rows]
    if (not kinds and "CREATE" in told) or not filled:
        name = f"{rng.choice(('notes', 'visits', 'tags', 'reviews', 'tasks'))}_{rng.randint(2, 99)}"
        return f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, title TEXT, amount REAL)"
    table = rng.choice(filled)
    row = rng.choice(table.rows)
    key, others = table.columns[0], table.columns[1:]
    match rng.choice(kinds or ["UPDATE"]):
        case "INSERT":
            fresh = {column: _another(table, column, rng) for column in table.columns}
            values = ", ".join("NULL" if value is None else literal(value) for value in fresh.values())
            return f"INSERT INTO {identifier(table.name)} ({', '.join(map(identifier, fresh))}) VALUES ({values})"
        case "DELETE":
            return f"DELETE FROM {identifier(table.name)} WHERE {_equals(key, row[key])}"
        case _:
            column = rng.choice(others or (key,))
            changed = _equals(column, _another(table, column, rng)).replace(" IS NULL", " = NULL")
            return f"UPDATE {identifier(table.name)} SET {changed} WHERE {_equals(key, row[key])}"


def _another(table: Table, column: str, rng: random.Random) -> Scalar | None:
    """A value for a column of a row: a new key for the first column, a value of another row for the others."""
    values = [row[column] for row in table.rows if row.get(column) is not None]
    if column != table.columns[0]:
        return rng.choice(values) if values else None
    numbers = [value for value in values if isinstance(value, int)]
    return max(numbers) + rng.randint(1, 90) if numbers else f"{values[0]}{rng.randint(100, 999)}" if values else None


def _equals(column: str, value: Scalar | None) -> str:
    return f"{identifier(column)} IS NULL" if value is None else f"{identifier(column)} = {literal(value)}"
