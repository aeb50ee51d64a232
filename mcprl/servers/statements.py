"""SQL statements in arguments: when two say the same, and when one changes no more than another.

Models write `update vets set paid = TRUE where ID = 11;` for a plan's `UPDATE vets SET paid = 1 WHERE id = 11`. sqlglot
(pure Python, many dialects) reads both; it is imported only for a text that begins like a statement.
"""

import logging
import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from mcprl.types import Scalar

if TYPE_CHECKING:
    from sqlglot import Expr

_STATEMENT = re.compile(
    r"\s*(?:select\b.*\bfrom\b|with\b.*\bas\b|(?:insert|replace)\b.*\binto\b|update\b.*\bset\b|delete\s+from\b"
    r"|(?:create|drop|alter)\b.*\b(?:table|index|view)\b)",
    re.IGNORECASE | re.DOTALL,
)
_MOST = 10_000
"""Characters of a statement that is read."""


def is_statement(text: Scalar) -> bool:
    """Whether a text reads like an SQL statement, whether or not it is one."""
    return isinstance(text, str) and _STATEMENT.match(text) is not None


def same_statement(a: str, b: str) -> bool:
    """Whether two texts are one SQL statement, spelled differently."""
    first, second = _read(a), _read(b)
    return first is not None and first == second


def changes_no_more(made: str, planned: str, is_given: Callable[[Scalar], bool]) -> bool:
    """Whether the statement `made` changes no other rows and columns than `planned`, whatever it sets them to.

    That is an UPDATE or DELETE of the same or fewer rows, an INSERT of as many into the same columns with values that
    all are `is_given`, or a CREATE TABLE of the same columns. Other clauses (OR REPLACE, FROM) must be the same.
    """
    one, other = _read(made), _read(planned)
    if one is None or other is None or type(one) is not type(other) or _clauses(one) != _clauses(other):
        return False
    from sqlglot import exp

    if not _table(one) or _table(one) != _table(other):
        return False
    if isinstance(one, exp.Create):
        return bool(_defined(one)) and _defined(one) == _defined(other)
    if isinstance(one, exp.Insert):
        known = {_value(literal) for literal in other.find_all(exp.Literal)}
        if not all(value in known or is_given(value) for value in map(_value, one.find_all(exp.Literal))):
            return False
        listed = [[column.name for column in each.this.expressions] for each in (one, other)]
        rows = [len(each.expression.expressions) for each in (one, other) if isinstance(each.expression, exp.Values)]
        return sorted(listed[0]) == sorted(listed[1]) and len(rows) == 2 and rows[0] == rows[1]
    if not isinstance(one, exp.Update | exp.Delete):
        return False
    return _set(one) <= _set(other) and _conditions(one) >= _conditions(other)


def looks_for(made: str, planned: str) -> bool:
    """Whether a SELECT reads the tables of another and names all values of it: it finds what that finds, or more."""
    one, other = _read(made), _read(planned)
    if one is None or other is None:
        return False
    from sqlglot import exp

    if not isinstance(one, exp.Select) or not isinstance(other, exp.Select):
        return False
    tables, values = ([{*map(str, tree.find_all(kind))} for tree in (one, other)] for kind in (exp.Table, exp.Literal))
    return tables[0] >= tables[1] and values[0] >= values[1]


@lru_cache(maxsize=4_096)
def _read(text: str) -> "Expr | None":
    """The one statement of a text in a normal form; `None` if it has none, or several."""
    if len(text) > _MOST or not is_statement(text):
        return None
    from sqlglot import errors, exp, parse

    logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it warns of what it cannot read
    try:
        found = [tree for tree in parse(text, dialect="sqlite") if tree is not None]
        if len(found) != 1 or isinstance(found[0], exp.Command):
            return None
        alone = len({table.name.lower() for table in found[0].find_all(exp.Table)}) == 1
        tree = _sorted(found[0].transform(lambda node: _plain(node, alone)))
        tree.sql()  # raises for what cannot be spelled, such as x''
    except (errors.SqlglotError, ValueError, RecursionError):
        return None
    return tree


def _plain(node: "Expr", alone: bool) -> "Expr":
    """A node without what only spells it: quotes, case, the name of the only table, a result's new name."""
    from sqlglot import exp

    if isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier):
        compared = isinstance(node.parent, exp.EQ) and node.arg_key == "expression"
        if node.this.quoted and not node.table and (compared or isinstance(node.parent, exp.Tuple)):
            return exp.Literal.string(node.name)  # SQLite takes "Yuki" for a text where no column has the name
        if alone and node.table:
            node.set("table", None)
    if isinstance(node, exp.Identifier):
        return exp.to_identifier(node.name.lower(), quoted=False)
    if isinstance(node, exp.Boolean):
        return exp.Literal.number(int(bool(node.this)))
    if isinstance(node, exp.Alias) and isinstance(node.parent, exp.Select):
        return node.this.copy()
    if isinstance(node, exp.Literal) and re.fullmatch(r"0|[1-9]\d{0,14}|(?:0|[1-9]\d{0,14})\.\d{1,9}", node.name):
        return exp.Literal.number(f"{float(node.name):g}" if "." in node.name else node.name)
    return node


def _sorted(tree: "Expr") -> "Expr":
    """The statement with what is joined by AND in the order of the alphabet."""
    from sqlglot import exp

    if where := tree.args.get("where"):
        parts = sorted(where.this.flatten() if isinstance(where.this, exp.And) else [where.this], key=lambda p: p.sql())
        tree.set("where", exp.Where(this=exp.and_(*(part.unnest() for part in parts), wrap=False)))
    return tree


def _clauses(tree: "Expr") -> dict[str, object]:
    """What a statement has beside its table, columns, values and conditions, and what it only returns."""
    compared = {"this", "expression", "expressions", "where", "exists", "returning"}
    from_another = {"expression"} if tree.key == "create" else set[str]()
    return {name: part for name, part in tree.args.items() if part and name not in compared - from_another}


def _value(literal: "Expr") -> Scalar:
    try:
        return literal.name if literal.is_string else float(literal.name)
    except ValueError:  # 1e
        return literal.name


def _table(tree: "Expr") -> str:
    from sqlglot import exp

    target = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    return target.name if isinstance(target, exp.Table) else ""


def _defined(tree: "Expr") -> list[str]:
    """The columns that a CREATE TABLE defines."""
    from sqlglot import exp

    return sorted(column.name for column in tree.find_all(exp.ColumnDef))


def _set(tree: "Expr") -> set[str]:
    """The columns that an UPDATE sets."""
    return {str(each.this) for each in tree.expressions}


def _conditions(tree: "Expr") -> set[str]:
    """What all its rows fulfil."""
    from sqlglot import exp

    where = tree.args.get("where")
    parts = [] if where is None else where.this.flatten() if isinstance(where.this, exp.And) else [where.this]
    return {part.sql() for part in parts}
