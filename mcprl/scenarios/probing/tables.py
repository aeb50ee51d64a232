"""The tables of a server that is queried in SQL, as data, and the SELECTs that a task's plan makes of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mcprl.types import Scalar

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
