"""The kinds of tasks, a function each: it draws things, makes the calls on a session and returns one task.

`None` means that what was drawn makes no task. `scenarios.compose` calls them.
"""

from mcprl.scenarios.kinds.abstain import lacking, missing, unserved
from mcprl.scenarios.kinds.aggregates import count, extreme, listing, total
from mcprl.scenarios.kinds.changes import adjust, write
from mcprl.scenarios.kinds.lookups import MakeTask, act, compare, compute, compute_each, each, lookup, relation
from mcprl.scenarios.kinds.parts import link, parts, search
from mcprl.scenarios.kinds.table_writes import table_write, writes_sql
from mcprl.scenarios.kinds.tables import table_count, table_extreme, table_lookup, table_total

__all__ = ["MakeTask", "adjust", "reading_kinds", "table_kinds", "table_write", "write", "writes_sql"]


def table_kinds() -> dict[MakeTask, int]:
    """The kinds whose plan is a SELECT, with their shares."""
    return {table_lookup: 30, table_count: 15, table_extreme: 15, table_total: 10}


def reading_kinds(max_calls: int) -> dict[MakeTask, int]:
    """The kinds that write nothing, for plans of at most `max_calls` calls. Each has its share of the tasks as a
    weight."""
    kinds: dict[MakeTask, int] = {lookup: 28, missing: 8, count: 7, total: 5, extreme: 12, listing: 5}
    kinds |= {compute: 12, act: 6, parts: 9, link: 9, search: 5, lacking: 4, unserved: 3}
    return kinds | {relation: 14, each: 7, compare: 6, compute_each: 4} if max_calls > 1 else kinds
