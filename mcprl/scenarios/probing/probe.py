"""Probe a server: call its tools, harvest their results, find which outputs feed which inputs and what a write changes.

Read-only tools are called freely, writing tools only in sessions of their own.
"""

import random

from mcprl.events import Emit, ignore
from mcprl.scenarios.probing.bookkeeping import (
    DEPRECATED,
    RESETS,
    is_deprecated,
    resets,
    set_logs_aside,
    without_ambient,
)
from mcprl.scenarios.probing.functions import find_functions
from mcprl.scenarios.probing.hints import Hints
from mcprl.scenarios.probing.knowledge import Knowledge, State
from mcprl.scenarios.probing.querying import learn_tables
from mcprl.scenarios.probing.reading import Reader
from mcprl.scenarios.probing.sharing import find_sharing
from mcprl.scenarios.probing.sources import INSTRUCTIONS
from mcprl.scenarios.probing.trying import try_hints
from mcprl.scenarios.probing.visits import Budget, Visit
from mcprl.scenarios.probing.writing import Prober, confirm_creators
from mcprl.scenarios.readers import read_text
from mcprl.scenarios.slots import shown_slots, unfillable
from mcprl.servers.approval import Approves
from mcprl.servers.digest import digest
from mcprl.servers.effects import is_read, turn_on
from mcprl.types import Session, ToolServer

PROBE_S = 60.0
"""Seconds that probing may wait for the server."""


async def probe(
    server: ToolServer, seed: int, budget: int = 400, emit: Emit = ignore, hints: Hints | None = None
) -> Knowledge:
    """Find out what the server holds.

    At most `budget` calls are made, which wait for the server for at most a minute, and reads only while new values
    turn up. `hints` are what the user knows. Progress goes to `emit`.
    """
    rng = random.Random(f"probe {seed}")
    known = _known_of(server, hints or Hints())
    tools = known.tools
    if isinstance(server, Approves):
        for tool in tools:
            await server.approved(tool)  # asked now: the time until an answer is not probing's
    spent = Budget(known, budget, PROBE_S, emit)
    unmarked = {each.name for each in getattr(server, "listing", ()) if each.marked == "unmarked"}
    if unmarked:
        async with Visit(server, spent) as session:
            await find_functions(known, unmarked, session, random.Random(f"functions {seed}"), spent.part(0.4))
    writing = [tool for tool in tools.values() if not is_read(tool)]
    await _collect(server, known, hints or Hints())
    async with turn_on(server, writing=False), Visit(server, spent) as session:
        share = min(0.65, max(0.4, 1 - len(writing) / len(tools))) if writing else 0.9
        await _read(known, session, spent, rng, hints or Hints(), share)
    if writing:
        await _write(server, known, spent, rng, hints or Hints())
    return known


def _known_of(server: ToolServer, hints: Hints) -> Knowledge:
    """The tools that tasks may use, and their slots."""
    shown = {call.tool: call.arguments for call in hints.calls()}
    tools = {tool.name: tool for tool in server.tools if tool.name in shown or not unfillable(tool)}
    slots = {name: shown_slots(tool, shown.get(name, {})) for name, tool in tools.items()}
    known = Knowledge(tools, without_ambient(slots, {*hints.values, *(key for call in shown.values() for key in call)}))
    known.forbidden = [tool for tool in server.forbidden if not is_read(tool)]
    for tool in server.tools:
        if tool.name not in tools:
            known.aside[tool.name] = "its arguments cannot be filled from its schema"
        elif resets(tool):
            known.set_aside(tool.name, RESETS.format(tool.name))
        elif tool.name not in shown and is_deprecated(tool) and not all(map(is_deprecated, server.tools)):
            known.set_aside(tool.name, DEPRECATED)
    return known


async def _collect(server: ToolServer, known: Knowledge, hints: Hints) -> None:
    """Keep the values that are there before any call: of resources, instructions, the configuration and the user."""
    for origin, values in (await server.known_values()).items():
        known.base.harvest(origin, values)
    known.base.harvest_text(INSTRUCTIONS, server.instructions)
    for uri, text in await server.resources():
        known.base.harvest(uri, digest(text).structured or read_text(text))
    hints.add_to(known)


async def _read(
    known: Knowledge, session: Visit, budget: Budget, rng: random.Random, hints: Hints, share: float
) -> None:
    """All that only reads: what failures are like, the hints, a first round of calls, tables, and further rounds."""
    reader = Reader(known, known.base, session, rng, budget.late(share))
    reads = [tool for tool in known.tools.values() if is_read(tool)]
    for tool in reads[: budget.part(0.1)]:
        await reader.strangers(tool)
    await try_hints(reader, hints, budget.part(0.5))
    await reader.around(budget.part(share * 0.3), 2)
    await set_logs_aside(known, session, budget.part(0.05))
    await learn_tables(known, session, budget.part(0.25))
    end = budget.part(1 - share)
    await _rounds(reader, budget, end + (budget.left - end) // 4)
    doubted = [await reader.doubt(tool) for tool in known.reads() if budget.left > end // 2]
    if any(doubted):
        await _rounds(reader, budget, end)
    await set_logs_aside(known, session, budget.part(0.05))


async def _rounds(reader: Reader, budget: Budget, end: int) -> None:
    """Rounds of calls until they teach little or only `end` calls are left."""
    while not reader.late() and budget.left > end:
        before = reader.calls
        await reader.around(budget.left - end)
        await reader.link()
        await reader.widen()
        if reader.calls - before < max(1, len(reader.known.tools)):
            break


async def _write(server: ToolServer, known: Knowledge, budget: Budget, rng: random.Random, hints: Hints) -> None:
    """Try the writes in a session that may be spoilt, and see whether others are spoilt with it."""
    async with Visit(server, budget) as session, Visit(server, budget) as clean:
        await Prober(known, session, clean, budget, rng).around(hints, budget.part(0.3))
    async with Visit(server, budget) as session:
        await confirm_creators(known, session, rng)
    found = await find_sharing(server, known, budget, rng)
    known.shared, known.sharing = found.shared, found.told


async def read_around(known: Knowledge, state: State, session: Session, rng: random.Random) -> None:
    """Harvest the values of a session in `state`, from the sources that are already known to work."""
    await Reader(known, state, session, rng).around(3 * len(known.tools), 2)
