"""The tables of a server that takes SQL: their names, columns, rows and links, read with SELECTs."""

import ast
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mcprl.judges.checks import holds, leaves
from mcprl.scenarios.fields import UNNAMED, record_of, usable
from mcprl.scenarios.probing.knowledge import Knowledge
from mcprl.scenarios.probing.sources import place
from mcprl.scenarios.probing.sql import Row, Table, identifier, selects, takes_sql
from mcprl.scenarios.readers.scalars import scalar
from mcprl.scenarios.slots import Slot, build
from mcprl.servers.effects import is_read
from mcprl.text import stems, words
from mcprl.types import Call, Json, Session, Tool, ToolResult

_CATALOGUES = (
    "SELECT name FROM sqlite_master WHERE type = 'table'",
    "SELECT table_name FROM information_schema.tables WHERE table_schema NOT IN ('pg_catalog', 'information_schema')",
    "SHOW TABLES",
)
_COLUMNS = (
    "SELECT name FROM pragma_table_info('{}')",
    "SELECT column_name FROM information_schema.columns WHERE table_name = '{}' ORDER BY ordinal_position",
)
_NAMES = {"name", "table", "line", "key", "value"}
_RULE = re.compile(r"[-+=: ]+")
_FOOT = re.compile(r"\W*\d+ (?:rows?|records?|results?)\b.*")
_ASKING = frozenset("execute run query db database sqlite postgres mysql duckdb".split())
_TABLE = re.compile(r"[A-Za-z_][\w .$]{0,60}")
_MOST_TABLES = 12
_MOST_ROWS = 200
_PAGES = (60, 20, 5)
_ASKED_OF_EACH = 12


async def learn_tables(known: Knowledge, session: Session, budget: int) -> None:
    """Read the tables through a tool that takes SQL, one that only reads if there is one, and make SELECTs of it as
    examples. Of a tool for all of SQL none but SELECTs are sent."""
    for tool in sorted(known.tools.values(), key=lambda tool: not is_read(tool)):
        required = [slot for slot in known.slots[tool.name] if slot.required]
        if len(required) == 1 and (takes_sql(tool, required[0]) or _asks(tool, required[0])):
            query = Query(known, session, tool, required[0], budget)
            await query.read_tables()
            if known.tables:
                known.sources[(tool.name, required[0].path)] = [("sql",)]
                await query.try_selects()
                return


def _asks(tool: Tool, slot: Slot) -> bool:
    """Whether a tool that says nothing of SQL may take it, which one SELECT shows: `execute_query(query)`."""
    return slot.kind == "string" and slot.key in ("query", "statement") and bool(_ASKING & {*words(tool.name)})


class Query:
    """The tool that takes SELECTs, on one session, with a number of calls to make."""

    def __init__(self, known: Knowledge, session: Session, tool: Tool, slot: Slot, budget: int) -> None:
        self._known, self._session, self._tool, self._slot, self.left = known, session, tool, slot, budget

    async def _ask(self, text: str) -> ToolResult | None:
        """The result of a SELECT; `None` if it failed or no call is left."""
        if self.left <= 0:
            return None
        self.left -= 1
        arguments = build({self._slot.path: text})
        result = await self._session.call(self._tool.name, arguments)
        good = not self._known.failures.is_failure(self._tool.name, arguments, result) and usable(result)
        self._known.count(self._tool.name, arguments, result, good)
        return result if good else None

    async def read_tables(self) -> None:
        """Fill the known tables. A SELECT on a table that does not exist shows first what failures are like."""
        arguments = build({self._slot.path: "SELECT * FROM zq_none_such"})
        failed = await self._session.call(self._tool.name, arguments)
        self._known.failures.learn(self._tool.name, arguments, failed)
        for name in await self._names():
            table = await self._table(name)
            if table is not None:
                self._known.tables.append(table)
            if len(self._known.tables) >= _MOST_TABLES:
                break
        self._known.tables = [replace(table, links=_links(table, self._known.tables)) for table in self._known.tables]

    async def _names(self) -> list[str]:
        """Names that may be tables': from results of tools about tables or schemas, else from the usual catalogues."""
        about = {"table", "schema", "collection", "database"}
        names: dict[str, None] = {}
        for source, values in self._known.base.pool.items():
            tool = self._known.tools.get(source[1])
            listing = tool is not None and not any(slot.required for slot in self._known.slots[tool.name])
            if tool is not None and listing and about & {*stems(tool.name)} and {*stems(source[-1])} & _NAMES:
                names.update((str(value), None) for value in values if _TABLE.fullmatch(str(value)))
        for catalogue in _CATALOGUES:
            if not names and (result := await self._ask(catalogue)):
                told = (str(value) for row in rows_in(result, catalogue) for value in list(row.values())[-1:])
                names.update((name, None) for name in told if _TABLE.fullmatch(name))
        return list(names)[:40]

    async def _table(self, name: str) -> Table | None:
        """A table by its name, with its first rows; `None` if there is none."""
        rows: list[Row] = []
        size = 0
        for page in _PAGES:
            result = await self._ask(f"SELECT * FROM {identifier(name)} LIMIT {page}")
            if result is None:
                return None
            if not result.cut_bytes and (rows := rows_in(result)):
                size = page
                break
        if not rows:
            return None
        while len(rows) % size == 0 and len(rows) < _MOST_ROWS:
            result = await self._ask(f"SELECT * FROM {identifier(name)} LIMIT {size} OFFSET {len(rows)}")
            more = rows_in(result) if result is not None and not result.cut_bytes else []
            if not more:
                break
            rows += more
        rows = await self._named(name, rows)
        whole = len(rows) % size != 0 or (self.left > 0 and len(rows) < _MOST_ROWS)
        for row in rows:
            for column, value in row.items():
                if value is not None and len(str(value)) <= 80:
                    self._known.base.add(place(self._tool.name, (name, column)), value)
        return Table(name, tuple(rows[0]), tuple(rows), whole, {}, self._tool.name, self._slot.path)

    async def _named(self, name: str, rows: list[Row]) -> list[Row]:
        """The rows with the names of their columns, which some servers leave out."""
        if any(not UNNAMED.fullmatch(column) for column in rows[0]):
            return rows
        for catalogue in _COLUMNS:
            result = await self._ask(catalogue.format(name))
            names = [str(value) for row in rows_in(result, catalogue) for value in row.values()] if result else []
            if len(names) == len(rows[0]):
                return [dict(zip(names, row.values(), strict=True)) for row in rows]
        return rows

    async def try_selects(self) -> None:
        """Make some SELECTs, kept as examples."""
        for text in selects(self._known.tables, random.Random("selects"), _ASKED_OF_EACH, bool):
            result = await self._ask(text)
            if result is not None:
                self._known.learn(self._known.base, self._tool, {self._slot: (("sql",), text)}, result)
                self._known.keep(self._tool.name, build({self._slot.path: text}), result)


def schema_reads(known: Knowledge, plan: Sequence[Call]) -> tuple[Call, ...]:
    """The calls that tell which tables there are and which columns those have that SQL in the plan names, as no request
    does; none if the plan has no SQL, or if no tool tells of columns."""
    written = " ".join(str(value) for call in plan if _is_sql(known, call) for _, value in leaves(call.arguments))
    named = [table for table in known.tables if re.search(rf"\b{re.escape(table.name)}\b", written)]
    lister, describer = _lister(known), _describer(known)
    if not named or describer is None:
        return ()
    tool, slot = describer
    listing = (Call(lister),) if lister else ()
    return (*listing, *(Call(tool, build({slot.path: table.name})) for table in named))


def _is_sql(known: Knowledge, call: Call) -> bool:
    return any(("sql",) in known.sources.get((call.tool, slot.path), ()) for slot in known.slots[call.tool])


def _lister(known: Knowledge) -> str:
    """A read without arguments that showed the names of all tables; empty if there is none."""
    names = [table.name for table in known.tables]
    return next((tool for tool, _, text in _read_with(known, 0) if all(holds(text, name) for name in names)), "")


def _describer(known: Knowledge) -> tuple[str, Slot] | None:
    """A read that takes the name of a table and showed all its columns."""
    columns = {table.name: table.columns for table in known.tables}
    for tool, arguments, text in _read_with(known, 1):
        (slot,) = (slot for slot in known.slots[tool] if slot.required)
        shown = columns.get(str(arguments.get(slot.key)))
        if shown and not _is_sql(known, Call(tool)) and all(holds(text, column) for column in shown):
            return tool, slot
    return None


def _read_with(known: Knowledge, required: int) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """The calls that probing made of reads with so many required arguments: tool, arguments and result."""
    for tool in known.reads():
        if sum(slot.required for slot in known.slots[tool.name]) == required:
            for example in known.examples.get(tool.name, ()):
                yield tool.name, example.arguments, example.result.text


def rows_in(result: ToolResult, query: str = "") -> list[Row]:
    """The rows of a query's result; empty if it is no list of rows. Cells without names are called `column 0`, ...

    One column is read as such where the name above it stands in the `query`.
    """
    value = _parsed(result)
    if isinstance(value, Mapping):
        inner = [item for item in value.values() if isinstance(item, list)]  # pyright: ignore
        value = inner[0] if len(inner) == 1 else None
    if isinstance(value, list) and value and all(isinstance(row, list | tuple) for row in value):  # pyright: ignore
        value = [{f"column {n}": cell for n, cell in enumerate(row)} for row in value]  # pyright: ignore
    if not isinstance(value, list) or not all(isinstance(row, Mapping) for row in value):  # pyright: ignore
        return _one_column(result.text, query)
    return [{str(key): _scalar(cell) for key, cell in row.items()} for row in value]  # pyright: ignore


def _one_column(text: str, query: str) -> list[Row]:
    """The rows of a column whose name stands above its values, with or without bars; empty for other texts."""
    lines = [line.strip().strip("|").strip() for line in text.strip().splitlines()]
    head, *cells = [line for line in lines if line and not _RULE.fullmatch(line)] or [""]
    if not head or head.lower() not in query.lower() or any(mark in line for line in (head, *cells) for mark in "|\t"):
        return []
    return [{head: scalar(cell)} for cell in cells if not _FOOT.fullmatch(cell)]


def _parsed(result: ToolResult) -> Json:
    if result.structured is None and result.text.lstrip()[:1] in ("[", "{", "("):
        try:
            return ast.literal_eval(result.text.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            pass
    return record_of(result)


def _scalar(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _links(table: Table, tables: list[Table]) -> dict[str, tuple[str, str]]:
    """The columns that refer to other tables, by names (`customer_id`: table `customers`, column `id`) and values."""
    links: dict[str, tuple[str, str]] = {}
    for column in table.columns:
        own = {row[column] for row in table.rows if row.get(column) is not None}
        for other in tables:
            if other.name == table.name:
                continue
            for key in other.columns:
                named = stems(column) in ((*stems(other.name), *stems(key)), stems(key) if len(stems(key)) > 1 else ())
                if named and own and own <= {row.get(key) for row in other.rows}:
                    links.setdefault(column, (other.name, key))
    return links
