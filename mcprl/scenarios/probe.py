"""Probe a server: call its tools, harvest their results, find which outputs feed which inputs and what a write changes.

Read-only tools are called freely, writing tools only in sessions of their own.
"""

import random
from collections.abc import Iterator
from typing import Any

from mcprl.judges.checks import holds
from mcprl.scenarios.draws import draw_value, fill_write
from mcprl.scenarios.fields import record_of, text_value, usable
from mcprl.scenarios.knowledge import Knowledge, RoundTrip, SourcedValue, State, affinity, fits, place, shape
from mcprl.scenarios.slots import JsonPath, Slot, build, slots, unfillable
from mcprl.scenarios.values import UNIVERSAL, invent, known_format
from mcprl.servers.digest import digest
from mcprl.servers.effects import is_read
from mcprl.types import Session, Tool, ToolResult, ToolServer

SLOW_S = 2.0
"""A tool that takes longer than this is left out of tasks: every rollout would wait for it."""
_ATTEMPTS = 6
"""Calls of one tool in one pass over the tools."""

Binding = tuple[tuple[tuple[JsonPath, JsonPath], ...], tuple[tuple[JsonPath, Any], ...]]
"""`bind` and `constants` of a `RoundTrip`."""


async def probe(server: ToolServer, seed: int, budget: int = 400) -> Knowledge:
    """Find out what the server holds.

    At most `budget` reading calls are made in one session, and only while new values turn up. A few writes follow.
    """
    rng = random.Random(f"probe {seed}")
    tools = {tool.name: tool for tool in server.tools if not unfillable(tool)}
    known = Knowledge(tools, {name: slots(tool) for name, tool in tools.items()})
    for uri, text in await server.resources():
        known.base.harvest(uri, digest(text).structured or text_value(text))
    async with server.session() as session:
        await _read_around(known, known.base, session, rng, budget)
        await _link(known, session, rng)
        await _widen(known, session, rng)
    writing = [tool for tool in tools.values() if not is_read(tool)]
    if writing:
        async with server.session() as session:
            await _write_around(known, session, writing, rng)
        async with server.session() as session:
            await _confirm_creators(known, session, rng)
    return known


async def read_around(known: Knowledge, state: State, session: Session, rng: random.Random) -> None:
    """Harvest the values of a session in `state`, from the sources that are already known to work."""
    await _read_around(known, state, session, rng, 3 * len(known.tools), 2)


async def _read_around(
    known: Knowledge, state: State, session: Session, rng: random.Random, budget: int, attempts: int = _ATTEMPTS
) -> None:
    """Call the reads, those with the fewest required slots first, until the budget is spent or two passes in a row
    bring no new value.
    """
    reads = sorted(
        (tool for tool in known.tools.values() if is_read(tool)),
        key=lambda tool: sum(s.required for s in known.slots[tool.name]),
    )
    seen: set[str] = set()
    done: set[str] = set()
    last_size = 0
    idle_passes = 0
    left = budget
    while left > 0 and idle_passes < 2:
        size = sum(len(values) for values in state.pool.values())
        idle_passes = 0 if size > last_size else idle_passes + 1
        last_size = size
        for tool in reads:
            for attempt in range(min(attempts, left) if known.slots[tool.name] else 1):
                if tool.name in done:
                    break
                picked = _fill_read(known, tool, state, rng, attempt)
                arguments = build({slot.path: value for slot, (_, value) in picked.items()})
                if (call := f"{tool.name} {arguments}") in seen:
                    continue
                seen.add(call)
                result = await session.call(tool.name, arguments)
                known.calls += 1
                left -= 1
                if usable(result) and result.latency_s <= SLOW_S:
                    known.learn(state, tool, picked, result)
                if result.latency_s > SLOW_S or _exhausted(known, tool):
                    done.add(tool.name)


def _fill_read(
    known: Knowledge, tool: Tool, state: State, rng: random.Random, attempt: int
) -> dict[Slot, SourcedValue]:
    """Values for a read's required slots and, on odd attempts, for one optional slot."""
    required = [slot for slot in known.slots[tool.name] if slot.required]
    optional = [slot for slot in known.slots[tool.name] if not slot.required]
    picked = {slot: draw_value(known, slot, state, rng, attempt) for slot in required}
    if optional and attempt % 2 == 1:
        extra = rng.choice(optional)
        picked[extra] = draw_value(known, extra, state, rng, attempt // 2)
    return picked


def _exhausted(known: Knowledge, tool: Tool) -> bool:
    """Whether calling a tool again teaches nothing: it takes no arguments, or takes anything."""
    if not known.slots[tool.name]:
        return True
    required = [slot for slot in known.slots[tool.name] if slot.required]
    takes_anything = any(("invented",) in known.sources.get((tool.name, slot.path), []) for slot in required)
    return takes_anything and known.working.get(tool.name, 0) > _ATTEMPTS


async def _link(known: Knowledge, session: Session, rng: random.Random) -> None:
    """Find further places whose values a slot takes: those whose values look like the ones it took (`owner_id` for
    `person_id`).
    """
    for tool in known.reads():
        required = [slot for slot in known.slots[tool.name] if slot.required and not slot.choices]
        if len(required) != 1:
            continue
        slot = required[0]
        sources = known.sources.get((tool.name, slot.path), [])
        taken = [value for source in sources if source[0] == "from" for value in known.base.pool.get(source, ())]
        if not taken or ("invented",) in sources:
            continue
        shapes = {shape(value) for value in taken}
        alike = [
            (source, [value for value in values if shape(value) in shapes])
            for source, values in known.base.pool.items()
            if source not in sources and (isinstance(taken[0], str) or affinity(known, slot, source) >= 0.45)
        ]
        alike.sort(key=lambda entry: -affinity(known, slot, entry[0]))
        for source, values in alike[:8]:
            if not values or not fits(slot, values[0]):
                continue
            result = await session.call(tool.name, build({slot.path: rng.choice(values)}))
            known.calls += 1
            if usable(result):
                sources.append(source)
                known.base.harvest(tool.name, record_of(result))


async def _widen(known: Knowledge, session: Session, rng: random.Random) -> None:
    """Find the slots of a universal format that take any value of it, not only the values seen.

    A split needs values of its own, and those seen may be few.
    """
    for tool in known.reads():
        for slot in known.slots[tool.name]:
            sources = known.sources.get((tool.name, slot.path), [])
            universal = slot.kind == "string" and known_format(slot) in UNIVERSAL
            if not universal or not sources or ("invented",) in sources:
                continue
            filled: dict[JsonPath, Any] = {slot.path: invent(slot, rng)}
            for other in known.slots[tool.name]:
                if other.required and other != slot:
                    filled[other.path] = rng.choice(known.options(other, known.base, rng, lambda _: True) or [None])
            result = await session.call(tool.name, build(filled))
            known.calls += 1
            if usable(result):
                sources.append(("invented",))
                known.base.harvest(tool.name, record_of(result))


# --- writes -----------------------------------------------------------------------------------------------------------


async def _write_around(known: Knowledge, session: Session, writing: list[Tool], rng: random.Random) -> None:
    """Find out which writes work and which reads show what they wrote, in a session that may be spoilt."""
    state = State(pool={source: dict(values) for source, values in known.base.pool.items()})
    for attempt in range(_ATTEMPTS):
        for tool in writing:
            if attempt and known.working.get(tool.name, 0) >= 2:
                continue
            picked = fill_write(known, tool, state, rng, attempt)
            if picked is None:
                continue
            arguments = build({slot.path: value for slot, (_, value) in picked.items()})
            result = await session.call(tool.name, arguments)
            known.calls += 1
            if result.is_error or result.latency_s > SLOW_S:
                continue
            refers = any(source[0] == "from" for source, _ in picked.values())
            if picked and not refers and tool.name not in known.creators:
                known.creators.append(tool.name)
            known.learn(state, tool, picked, result)
            state.harvest(tool.name, arguments)
            await _find_round_trip(known, session, state, tool, picked, rng)


async def _confirm_creators(known: Knowledge, session: Session, rng: random.Random) -> None:
    """Keep the creators that work in a session where nothing was written before."""
    for name in list(known.creators):
        picked = fill_write(known, known.tools[name], known.base, rng, 0)
        arguments = build({slot.path: value for slot, (_, value) in picked.items()}) if picked else {}
        if picked is None or (await session.call(name, arguments)).is_error:
            known.creators.remove(name)


async def _find_round_trip(
    known: Knowledge,
    session: Session,
    state: State,
    tool: Tool,
    picked: dict[Slot, SourcedValue],
    rng: random.Random,
) -> None:
    """Call every read that can take the values just written, and keep one round trip for each read that shows them."""
    if not picked or any(trip.write == tool.name for trip in known.round_trips):
        return
    written = {slot: value for slot, (_, value) in picked.items()}
    by_path = {slot.path: value for slot, value in written.items()}
    for read in (t for t in known.tools.values() if is_read(t)):
        for bind, constants in _bindings(known, read, tool, written, rng):
            bound = {path: by_path[origin] for path, origin in bind}
            result = await session.call(read.name, build(bound | dict(constants)))
            known.calls += 1
            if not usable(result) or result.latency_s > SLOW_S:
                continue
            shown = _shown(picked, bind, result)
            if shown:
                known.working[read.name] = known.working.get(read.name, 0) + 1
                for path, origin in bind:
                    sources = known.sources.setdefault((read.name, path), [])
                    if (source := place(tool.name, origin)) not in sources:
                        sources.append(source)
                known.round_trips.append(RoundTrip(tool.name, read.name, bind, constants, shown))
                state.harvest(read.name, record_of(result))
                break


def _shown(
    picked: dict[Slot, SourcedValue], bind: tuple[tuple[JsonPath, JsonPath], ...], result: ToolResult
) -> tuple[JsonPath, ...]:
    """The paths of the written values that a read's result shows.

    A value that the read was called with proves nothing, and neither does one that stood in the server before.
    """
    new = [(slot, value) for slot, (source, value) in picked.items() if source[0] != "from"]
    shown = [slot.path for slot, value in new if not isinstance(value, bool) and holds(result.text, value)]
    origins = {origin for _, origin in bind}
    return tuple(path for path in shown if path not in origins)


def _bindings(
    known: Knowledge, read: Tool, write: Tool, written: dict[Slot, Any], rng: random.Random
) -> Iterator[Binding]:
    """Ways to fill a read's required slots with what a write was given, the closest names first.

    At most one required slot may be without choices.
    """
    required = [slot for slot in known.slots[read.name] if slot.required]
    if not required:
        yield (), ()
        return
    if len(required) > 2:
        return
    constants = tuple((slot.path, rng.choice(slot.choices)) for slot in required if slot.choices)
    free = [slot for slot in required if not slot.choices]
    if len(free) != 1:
        return
    slot = free[0]
    origins = [origin for origin in written if fits(slot, written[origin])]
    origins.sort(key=lambda origin: -affinity(known, slot, place(write.name, origin.path)))
    for origin in origins[:3]:
        yield ((slot.path, origin.path),), constants
