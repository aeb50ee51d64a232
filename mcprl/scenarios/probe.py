"""Probe a server: call its tools, harvest what comes back, find which outputs feed which inputs, what a write changes.

Read-only tools are called freely, writing tools only in sessions of their own.
"""

import random
from collections.abc import Iterator
from typing import Any

from mcprl.judges.checks import holds
from mcprl.scenarios.fields import record_of, text_value, usable
from mcprl.scenarios.knowledge import (
    Group,
    Knowledge,
    RoundTrip,
    State,
    affinity,
    fill_write,
    fits,
    place,
    shape,
    source,
)
from mcprl.scenarios.names import is_read
from mcprl.scenarios.slots import Path, Slot, build, slots, unfillable
from mcprl.scenarios.values import UNIVERSAL, invent, known_format
from mcprl.servers.digest import digest
from mcprl.types import Session, Tool, ToolResult, ToolServer

SLOW_S = 2.0
"""A tool that takes longer than this is left out of tasks: every rollout would wait for it."""
_TRIES = 6


async def probe(server: ToolServer, seed: int, budget: int = 400) -> Knowledge:
    """Find out what the server holds: up to `budget` reading calls in one session while new values turn up, then a few
    writes.
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
        await _write_around(known, server, writing, rng)
    return known


async def read_around(known: Knowledge, state: State, session: Session, rng: random.Random) -> None:
    """Harvest what a session in `state` shows, with the sources that are already known to work."""
    await _read_around(known, state, session, rng, 3 * len(known.tools), 2)


async def _read_around(
    known: Knowledge, state: State, session: Session, rng: random.Random, budget: int, tries: int = _TRIES
) -> None:
    reads = sorted(
        (tool for tool in known.tools.values() if is_read(tool)),
        key=lambda tool: sum(s.required for s in known.slots[tool.name]),
    )
    seen: set[str] = set()
    done: set[str] = set()
    size, idle, left = 0, 0, budget
    while left > 0 and idle < 2:
        grown = sum(len(values) for values in state.pool.values())
        idle, size = (0 if grown > size else idle + 1), grown
        for tool in reads:
            for attempt in range(min(tries, left) if known.slots[tool.name] else 1):
                if tool.name in done:
                    break
                picked = _fill_read(known, tool, state, rng, attempt)
                if picked is None:
                    break
                arguments = build({slot.path: value for slot, (_, value) in picked.items()})
                if (spelled := f"{tool.name} {arguments}") in seen:
                    continue
                seen.add(spelled)
                result = await session.call(tool.name, arguments)
                known.calls += 1
                left -= 1
                if usable(result) and result.latency_s <= SLOW_S:
                    _worked(known, state, tool, picked, result)
                if result.latency_s > SLOW_S or _exhausted(known, tool):
                    done.add(tool.name)


def _fill_read(
    known: Knowledge, tool: Tool, state: State, rng: random.Random, attempt: int
) -> dict[Slot, tuple[Group, Any]] | None:
    """Values for a read's required slots and, every other time, for one optional slot; `None` where one has none."""
    chosen = {slot: source(known, slot, state, rng, attempt) for slot in known.slots[tool.name] if slot.required}
    if any(found is None for found in chosen.values()):
        return None
    optional = [slot for slot in known.slots[tool.name] if not slot.required]
    if optional and attempt % 2:
        extra = rng.choice(optional)
        chosen[extra] = source(known, extra, state, rng, attempt // 2)
    return {slot: found for slot, found in chosen.items() if found is not None}


def _exhausted(known: Knowledge, tool: Tool) -> bool:
    """Whether calling a tool again teaches nothing: it takes no arguments, or takes anything."""
    if not known.slots[tool.name]:
        return True
    sources = [known.sources.get((tool.name, slot.path), []) for slot in known.slots[tool.name] if slot.required]
    return any(("invented",) in groups for groups in sources) and known.working.get(tool.name, 0) > _TRIES


async def _link(known: Knowledge, session: Session, rng: random.Random) -> None:
    """Find further places whose values a slot takes: those that look like the values it took (`owner_id` for
    `person_id`).
    """
    for tool in known.reads():
        required = [slot for slot in known.slots[tool.name] if slot.required and not slot.choices]
        if len(required) != 1:
            continue
        groups = known.sources.get((tool.name, required[0].path), [])
        taken = [value for group in groups if group[0] == "from" for value in known.base.pool.get(group, ())]
        if not taken or ("invented",) in groups:
            continue
        shapes = {shape(value) for value in taken}
        alike = [
            (group, [value for value in values if shape(value) in shapes])
            for group, values in known.base.pool.items()
            if group not in groups and (isinstance(taken[0], str) or affinity(known, required[0], group) >= 0.45)
        ]
        for group, values in sorted(alike, key=lambda entry: -affinity(known, required[0], entry[0]))[:8]:
            if not values or not fits(required[0], values[0]):
                continue
            result = await session.call(tool.name, build({required[0].path: rng.choice(values)}))
            known.calls += 1
            if usable(result):
                groups.append(group)
                known.base.harvest(tool.name, record_of(result))


async def _widen(known: Knowledge, session: Session, rng: random.Random) -> None:
    """Find the slots of a universal format that take any value of it, not only those that were seen: a split needs
    values of its own."""
    for tool in known.reads():
        for slot in known.slots[tool.name]:
            groups = known.sources.get((tool.name, slot.path), [])
            if slot.kind != "string" or known_format(slot) not in UNIVERSAL or not groups or ("invented",) in groups:
                continue
            filled: dict[Path, Any] = {slot.path: invent(slot, rng)}
            for other in known.slots[tool.name]:
                if other.required and other != slot:
                    filled[other.path] = rng.choice(known.options(other, known.base, rng, lambda _: True) or [None])
            result = await session.call(tool.name, build(filled))
            known.calls += 1
            if usable(result):
                groups.append(("invented",))
                known.base.harvest(tool.name, record_of(result))


def _worked(
    known: Knowledge, state: State, tool: Tool, picked: dict[Slot, tuple[Group, Any]], result: ToolResult
) -> None:
    known.working[tool.name] = known.working.get(tool.name, 0) + 1
    for slot, (group, _) in picked.items():
        groups = known.sources.setdefault((tool.name, slot.path), [])
        if group not in groups:
            groups.append(group)
            groups.sort(
                key=lambda g: (
                    ("choices", "from", "quoted", "invented").index(g[0])
                    if g[0] != "from"
                    else 1 - affinity(known, slot, g) / 10
                )
            )
    if result.structured is None:
        texts = known.texts.setdefault(tool.name, [])
        if result.text not in texts:
            texts.append(result.text)
    state.harvest(tool.name, record_of(result))


# --- writes -----------------------------------------------------------------------------------------------------------


async def _write_around(known: Knowledge, server: ToolServer, writing: list[Tool], rng: random.Random) -> None:
    """Find out which writes work, in a session that may be spoilt, and which reads show what they wrote."""
    async with server.session() as session:
        state = State(pool={group: dict(values) for group, values in known.base.pool.items()})
        for attempt in range(_TRIES):
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
                fresh = {slot: value for slot, (group, value) in picked.items() if group[0] != "from"}
                if (
                    all(group[0] != "from" for group, _ in picked.values())
                    and tool.name not in known.creators
                    and fresh
                ):
                    known.creators.append(tool.name)
                _worked(known, state, tool, picked, result)
                state.harvest(tool.name, arguments)
                await _find_round_trips(known, session, state, tool, picked, rng)
    async with server.session() as session:  # a creator must work in a session where nothing was written before
        for name in list(known.creators):
            picked = fill_write(known, known.tools[name], known.base, rng, 0)
            arguments = build({slot.path: value for slot, (_, value) in picked.items()}) if picked else {}
            if picked is None or (await session.call(name, arguments)).is_error:
                known.creators.remove(name)


async def _find_round_trips(
    known: Knowledge,
    session: Session,
    state: State,
    tool: Tool,
    picked: dict[Slot, tuple[Group, Any]],
    rng: random.Random,
) -> None:
    """Look at every read that can be asked about the values just written, and note the ones that show them."""
    written = {slot: value for slot, (_, value) in picked.items()}
    if not written or any(trip.write == tool.name for trip in known.round_trips):
        return
    for read in (t for t in known.tools.values() if is_read(t)):
        for bind, constants in _bindings(known, read, tool, written, state, rng):
            values = {path: written[next(s for s in written if s.path == origin)] for path, origin in bind} | dict(
                constants
            )
            result = await session.call(read.name, build(values))
            known.calls += 1
            if not usable(result) or result.latency_s > SLOW_S:
                continue
            new = [
                slot for slot, (group, value) in picked.items() if group[0] != "from" and not isinstance(value, bool)
            ]
            shown = tuple(slot.path for slot in new if holds(result.text, written[slot]))
            shown = tuple(path for path in shown if path not in {origin for _, origin in bind}) or (
                shown if not bind else ()
            )
            if shown:
                known.working[read.name] = known.working.get(read.name, 0) + 1
                for path, origin in bind:
                    groups = known.sources.setdefault((read.name, path), [])
                    if (group := place(tool.name, origin)) not in groups:
                        groups.append(group)
                known.round_trips.append(RoundTrip(tool.name, read.name, bind, constants, shown))
                state.harvest(read.name, record_of(result))
                break


def _bindings(
    known: Knowledge, read: Tool, write: Tool, written: dict[Slot, Any], state: State, rng: random.Random
) -> Iterator[tuple[tuple[tuple[Path, Path], ...], tuple[tuple[Path, Any], ...]]]:
    """Ways to fill a read's required slots with what a write was given: by name first, then each string in turn."""
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
