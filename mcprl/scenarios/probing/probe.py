"""Probe a server: call its tools, harvest their results, find which outputs feed which inputs and what a write changes.

Read-only tools are called freely, writing tools only in sessions of their own. `rehearse` makes the same calls without
the server.
"""

import random
import re
from collections import Counter
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from mcprl.events import Emit, ignore
from mcprl.scenarios.fields import record_of
from mcprl.scenarios.probing.hints import Hints
from mcprl.scenarios.probing.knowledge import Knowledge, State
from mcprl.scenarios.probing.reading import Reader, find_functions, worked
from mcprl.scenarios.probing.results import without_logs
from mcprl.scenarios.probing.sessions import Budget, Visit
from mcprl.scenarios.probing.sources import INSTRUCTIONS
from mcprl.scenarios.probing.tables import learn_tables
from mcprl.scenarios.probing.writing import Prober, confirm_creators, find_sharing
from mcprl.scenarios.readers import read_text
from mcprl.scenarios.slots import Slot, shown_slots, unfillable
from mcprl.servers.approval import Approves
from mcprl.servers.digest import digest
from mcprl.servers.effects import is_read, turn_on
from mcprl.text import words
from mcprl.types import Call, Json, Session, Tool, ToolResult, ToolServer

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
    given = hints or Hints()
    known = _known_of(server, given)
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
    await _collect(server, known, given)
    async with turn_on(server, writing=False), Visit(server, spent) as session:
        share = min(0.65, max(0.4, 1 - len(writing) / len(tools))) if writing else 0.9
        await _read(known, session, spent, rng, given, share)
    if writing:
        await _write(server, known, spent, rng, given)
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


async def try_hints(reader: Reader, hints: Hints, most: int) -> None:
    """Make the hinted calls of tools that only read, `most` of them; calls of other tools are left to the writes."""
    known = reader.known
    end = reader.calls + most
    for call in hints.calls():
        tool = known.tools.get(call.tool)
        if tool is None or not is_read(tool) or reader.calls >= end or reader.late():
            continue
        result = await reader.call(tool, call.arguments)
        if worked(known, tool.name, call.arguments, result):
            known.learn(known.base, tool, hints.picked(known, call), result)


# --- what is left out of tasks ----------------------------------------------------------------------------------------

LOGS = "it lists the calls that each session makes itself"
DEPRECATED = "its description says that it is deprecated"
RESETS = "it resets the server, which --reset-tool {} does between rollouts"

_LEAST_TOOLS = 5
_AMBIENT_SHARE = 0.8
_WHOLE = frozenset(
    "all app data database db demo environment env everything sandbox server session simulation state store world "
    "namespace the a to initial default".split()
)
"""Words for all that a server holds."""


def resets(tool: Tool) -> bool:
    """Whether a tool brings the whole server back into its first state, by its name: `reset_state`, `reset`."""
    verb, *rest = words(tool.name) or ("",)
    needed = tool.input_schema.get("required") or []
    return verb == "reset" and {*rest} <= _WHOLE and not needed


def is_deprecated(tool: Tool) -> bool:
    """Whether a tool is only there for those who know no better: `Reads a file. DEPRECATED: use read_text_file`."""
    begins = r"(?:^|[.;(\[])\s*\W*(?:this tool is )?deprecated\b"
    return bool(re.search(begins + r"\W*(?:[:.)\]-]|use\b|in favou?r\b|$)", tool.description, re.IGNORECASE))


def without_ambient(slots: Mapping[str, Sequence[Slot]], used: Collection[str] = ()) -> dict[str, list[Slot]]:
    """The slots of each tool without those that say in which context a call is made and not what it is about: an
    optional text that nearly all tools take, such as a namespace. A name in `used` is kept.
    """
    taken = Counter(slot.key for own in slots.values() for slot in own if _is_optional_text(slot))
    needed = {slot.key for own in slots.values() for slot in own if slot.required}
    least = max(_LEAST_TOOLS, _AMBIENT_SHARE * len(slots))
    ambient = {key for key, count in taken.items() if count >= least} - needed - {*used}
    return {name: [slot for slot in own if slot.key not in ambient] for name, own in slots.items()}


def _is_optional_text(slot: Slot) -> bool:
    return not slot.required and len(slot.path) == 1 and slot.kind == "string" and not slot.choices


async def set_logs_aside(known: Knowledge, session: Session, most: int) -> None:
    """Leave the tools out of all tasks that return the calls made so far. At most `most` tools are called again."""
    for tool in known.reads():
        results = [example.result for example in known.examples.get(tool.name, ())[:3]]
        if most > 0 and not any(slot.required for slot in known.slots[tool.name]):
            most -= 1
            results.append(await session.call(tool.name, {}))
        if any(_lists_calls(result, known.tools) for result in results):
            known.set_aside(tool.name, LOGS)


def _lists_calls(result: ToolResult, tools: Collection[str]) -> bool:
    record = record_of(result)
    return record != without_logs(record, tools)


# --- what would be called ---------------------------------------------------------------------------------------------


async def rehearse(server: ToolServer, seed: int, budget: int, hints: Hints | None = None) -> list[Call]:
    """The calls that probing would make if all of them failed; the server is asked for nothing.

    Probing itself fills further arguments with values of its results. It calls no other tools than these.
    """
    silent = _Silent(tuple(server.tools), server.instructions)
    await probe(silent, seed, budget, hints=hints)
    return silent.calls


@dataclass(frozen=True)
class _Silent:
    """A server's tools without the server: keeps the calls and answers each with an error."""

    tools: tuple[Tool, ...]
    instructions: str
    forbidden: tuple[Tool, ...] = ()
    calls: list[Call] = field(default_factory=list[Call])

    @asynccontextmanager
    async def session(self, setup: Sequence[Call] = ()) -> AsyncGenerator["_Silent"]:
        yield self

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        self.calls.append(Call(tool, dict(arguments)))
        return ToolResult("Error: not called", is_error=True)

    async def resources(self) -> list[tuple[str, str]]:
        return []

    async def known_values(self) -> dict[str, Json]:
        return {}
