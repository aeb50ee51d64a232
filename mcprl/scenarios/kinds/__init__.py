"""The kinds of tasks, a function each: it draws things, makes the calls on a session and returns one task.

`None` means that what was drawn makes no task. `scenarios.compose` calls them.
"""

from mcprl.scenarios.kinds.abstain import absent, lacking, lacking_write, missing
from mcprl.scenarios.kinds.aggregates import count, extreme, listing, total, whether
from mcprl.scenarios.kinds.both import both, write_and_ask
from mcprl.scenarios.kinds.changes import WriteTask, write
from mcprl.scenarios.kinds.computes import act, compute
from mcprl.scenarios.kinds.declines import forbidden, unable, unserved
from mcprl.scenarios.kinds.dependent_writes import adjust, conditional
from mcprl.scenarios.kinds.edits import edit
from mcprl.scenarios.kinds.lookups import (
    MakeTask,
    across,
    combine,
    compare,
    each,
    lookup,
    relation,
)
from mcprl.scenarios.kinds.parts import link, parts, search
from mcprl.scenarios.kinds.table_writes import table_write, writes_sql
from mcprl.scenarios.kinds.tables import has_rows, table_count, table_extreme, table_lookup, table_missing, table_total

__all__ = [
    "MakeTask",
    "WriteTask",
    "edit",
    "has_rows",
    "reading_kinds",
    "table_kinds",
    "table_write",
    "write",
    "writes_sql",
    "writing_kinds",
]


def table_kinds() -> dict[MakeTask, int]:
    """The kinds whose plan is a SELECT, with their shares."""
    return {table_lookup: 30, table_count: 15, table_extreme: 15, table_total: 10, table_missing: 8}


def reading_kinds(max_calls: int) -> dict[MakeTask, int]:
    """The kinds that write nothing, for plans of at most `max_calls` calls. Each has its share of the tasks as a
    weight."""
    kinds: dict[MakeTask, int] = {lookup: 80, missing: 6, count: 8, total: 6, extreme: 14, listing: 10}
    kinds |= {compute: 12, act: 6, parts: 9, link: 9, search: 5, lacking: 4, lacking_write: 4, unserved: 7}
    kinds |= {unable: 8, forbidden: 4, whether: 6}
    chained: dict[MakeTask, int] = {relation: 20, each: 5, compare: 5, both: 7, combine: 6, across: 9}
    return kinds | chained if max_calls > 1 else kinds


def writing_kinds(max_calls: int) -> dict[WriteTask, int]:
    """The kinds that write, likewise."""
    kinds: dict[WriteTask, int] = {write: 70, absent: 3}
    return kinds | {adjust: 20, conditional: 15, write_and_ask: 10} if max_calls > 1 else kinds
