"""What a server turns out to hold: probe its tools, harvest values, find which outputs feed which inputs and what a
write changes.

Nothing here knows a server: slots are filled from what schemas name, what descriptions quote, well-known formats, and
values harvested from earlier results; what works is kept. Read-only tools are called freely, writing tools only in
sessions of their own.
"""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcprl.checks import Scalar, holds, leaves
from mcprl.digest import digest
from mcprl.invent import UNIVERSAL, invent, known_format, neighbour
from mcprl.results import record_of, text_value, usable
from mcprl.slots import Path, Slot, build, is_read, noun, related, slots, stems, unfillable, words
from mcprl.types import Call, Json, Session, Tool, ToolResult, ToolServer

Group = tuple[str, ...]
"""Where values come from: `("choices",)`, `("quoted",)`, `("invented",)`, or `("from", tool, *keys)` for a place in
results.
"""
Allowed = Callable[[Scalar], bool]
SLOW_S = 2.0
"""A tool that takes longer than this is left out of tasks: every rollout would wait for it."""


@dataclass(frozen=True)
class State:
    """A state that a fresh session can be put into, and the values seen in it."""

    setup: tuple[Call, ...] = ()
    pool: dict[Group, dict[Scalar, None]] = field(default_factory=dict[Group, dict[Scalar, None]])

    def harvest(self, source: str, value: Json) -> None:
        """Remember every short scalar of a result (or of a write's arguments) under the place it stood in."""
        for path, leaf in leaves(value):
            if isinstance(leaf, bool) or not 0 < len(str(leaf)) <= 80:
                continue
            values = self.pool.setdefault(place(source, path), {})
            if len(values) < 400:
                values[leaf] = None


@dataclass(frozen=True)
class RoundTrip:
    """Calling `write` with some values makes `read` show them. `bind` says which slot of `read` takes which slot of
    `write`.
    """

    write: str
    read: str
    bind: tuple[tuple[Path, Path], ...]
    constants: tuple[tuple[Path, Any], ...]
    shown: tuple[Path, ...]


@dataclass
class Knowledge:
    """All that probing found out about a server."""

    tools: dict[str, Tool]
    slots: dict[str, list[Slot]]
    base: State = field(default_factory=State)
    sources: dict[tuple[str, Path], list[Group]] = field(default_factory=dict[tuple[str, Path], list[Group]])
    texts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    working: dict[str, int] = field(default_factory=dict[str, int])
    round_trips: list[RoundTrip] = field(default_factory=list[RoundTrip])
    creators: list[str] = field(default_factory=list[str])
    volatile: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    tried: set[tuple[Slot, Any]] = field(default_factory=set[tuple[Slot, Any]])
    calls: int = 0

    def reads(self) -> list[Tool]:
        """The read-only tools that gave something back."""
        return [tool for name, tool in self.tools.items() if is_read(tool) and self.working.get(name)]

    def writes(self) -> list[Tool]:
        """The writing tools that worked."""
        return [tool for name, tool in self.tools.items() if not is_read(tool) and self.working.get(name)]

    def options(self, slot: Slot, state: State, rng: random.Random, allowed: Allowed) -> list[Scalar]:
        """Values that may be put into a slot in a state, from the sources that worked when probed."""
        groups = self.sources.get((slot.tool, slot.path), [])
        if slot.choices:
            return list(slot.choices) if groups else []
        harvested = [value for group in groups if group[0] == "from" for value in state.pool.get(group, ())]
        found = [value for value in dict.fromkeys(harvested) if fits(slot, value) and allowed(value)]
        close = known_format(slot) not in UNIVERSAL and any(affinity(self, slot, group) >= 0.5 for group in groups)
        if ("invented",) in groups and (not found or (not close and rng.random() < 0.6)):
            found = [value for value in (invent(slot, rng) for _ in range(12)) if allowed(value)]
        if ("quoted",) in groups and (not found or rng.random() < 0.2):
            found += [value for value in quoted(slot) if allowed(value) and value not in found]
        return found


def place(source: str, path: Path) -> Group:
    """A place in results: the tool (or resource) and the keys on the way, list positions left out."""
    return ("from", source, *(part for part in path if isinstance(part, str)))


def quoted(slot: Slot) -> list[Scalar]:
    """The values that a schema or description gives as examples."""
    given: list[Any] = [slot.schema[key] for key in ("default",) if slot.schema.get(key) not in (None, "")]
    given += list(slot.schema.get("examples", ()))
    if slot.kind == "string":
        given += re.findall(r"['\"`“]([^'\"`“”\s][^'\"`“”]{0,40})['\"`”]", slot.description)
        for some in re.findall(r"(?:such as|e\.g\.,?|for example,?|like|example:)\s+([^'\"`()]+)", slot.description):
            given += [word.strip(".;") for word in re.split(r",\s*|\s+or\s+", some) if len(word.split()) == 1]
        if known_format(slot) in ("path", "folder"):
            given.append(".")
    return list(dict.fromkeys(value for value in given if isinstance(value, str | int | float)))


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


def shape(value: Scalar) -> str:
    """What a value looks like: `P-104` and `P-97` are `A-0`; words in small letters are `a`, and two of them `a a`."""
    text = re.sub(r"[A-Z]+", "A", re.sub(r"\d+", "0", str(value)))
    return re.sub(r"[a-z]+", "a", text) if isinstance(value, str) else type(value).__name__


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


def source(known: Knowledge, slot: Slot, state: State, rng: random.Random, attempt: int) -> tuple[Group, Any] | None:
    """A value for a slot and the group it came from; each further attempt tries a less likely group."""
    if slot.choices:
        return ("choices",), rng.choice(slot.choices)
    if attempt % 3 < 2:  # mostly what has worked before, with values not yet tried
        for group in known.sources.get((slot.tool, slot.path), []):
            unused = [value for value in state.pool.get(group, ()) if (slot, value) not in known.tried]
            if unused and fits(slot, unused[0]):
                known.tried.add((slot, unused[0]))
                return group, unused[0]
    for group in known.sources.get((slot.tool, slot.path), []):  # then codes near the known ones: C-1043 beside C-1042
        near = [guess for value in state.pool.get(group, ()) if (guess := neighbour(value, rng)) is not None]
        near = [guess for guess in near if (slot, guess) not in known.tried]
        if near and attempt % 2:
            known.tried.add((slot, near[0]))
            return group, rng.choice(near)
    found: list[tuple[float, Group, Sequence[Any]]] = []
    for group, values in state.pool.items():
        fitting = [value for value in values if fits(slot, value)]
        if fitting:
            found.append((affinity(known, slot, group), group, fitting))
    named = sorted((entry for entry in found if entry[0] >= 0.5), key=lambda entry: -entry[0])
    ladder: list[tuple[Group, Sequence[Any]]] = [(group, values) for _, group, values in named[:4]]
    if examples := quoted(slot):
        ladder.append((("quoted",), examples))
    ladder.append((("invented",), [invent(slot, rng)]))
    if slot.kind == "string" and len(named) < 2:
        others = [entry for entry in found if entry[0] < 0.5]
        rng.shuffle(others)
        ladder += [(group, values) for _, group, values in others[:4]]
        by_word = [
            word
            for _, _, values in found
            for value in values
            if isinstance(value, str)
            for word in value.split()
            if len(word) > 3
        ]
        if by_word and len(named) == 0:
            ladder.insert(0, (("invented",), [rng.choice(by_word)])) if "query" in slot.key else None
    group, values = ladder[attempt % len(ladder)]
    fresh = [value for value in values if (slot, value) not in known.tried]
    value = rng.choice(fresh or list(values))
    known.tried.add((slot, value))
    return group, value


def fits(slot: Slot, value: Any) -> bool:
    """Whether a harvested value has the slot's JSON type."""
    match slot.kind:
        case "integer":
            return isinstance(value, int)
        case "number":
            return isinstance(value, int | float)
        case "string":
            return isinstance(value, str)
        case _:
            return False


def affinity(known: Knowledge, slot: Slot, group: Group) -> float:
    """How likely the values of a place fit a slot, by names: 1 is the same name, under 0.5 is chance.

    `order_id` is `order_id`, or `id` in what `list_orders` gives; `id` of `get_order` is the same.
    """
    if group[0] != "from":
        return 0.0
    giving, keys = group[1], group[2:]
    key = stems(keys[-1]) if keys else ()
    wanted = stems(slot.key)
    taker = stems(noun(known.tools[slot.tool]))
    giver = {
        stem
        for part in (*keys[:-1], noun(known.tools[giving]) if giving in known.tools else giving)
        for stem in stems(part)
    }
    if len(wanted) == 1 and wanted == key and wanted[0] in ("id", "name", "key", "code", "slug", "title", "path"):
        return 0.95 if {*taker} & giver else 0.6
    if wanted == key:
        return 1.0
    if len(wanted) > 1 and wanted[-1:] == key:
        return 0.9 if {*wanted[:-1]} & giver else 0.45
    if len(wanted) == 1 and key[-1:] == wanted and len(key) > 1:
        return 0.9 if {*key[:-1]} & {*taker} else 0.55
    if len(wanted) == 1 and wanted[0] in giver and key and key[-1] in ("id", "name", "key", "code", "title", "slug"):
        return 0.8
    return min(0.49, related(wanted, key))


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


def fill_write(
    known: Knowledge, tool: Tool, state: State, rng: random.Random, attempt: int
) -> dict[Slot, tuple[Group, Any]] | None:
    """Values for a write: references from the state where a name matches closely (more eagerly with each attempt), else
    invented.
    """
    picked: dict[Slot, tuple[Group, Any]] = {}
    for slot in known.slots[tool.name]:
        if not slot.required and rng.random() < 0.6:
            continue
        if slot.choices:
            picked[slot] = ("choices",), rng.choice(slot.choices)
            continue
        bar = 0.75 if attempt % 2 == 0 else 0.45
        near = [
            (affinity(known, slot, group), group, values)
            for group, values in state.pool.items()
            if _refers(slot, group)
        ]
        near = [entry for entry in near if entry[0] >= bar and any(fits(slot, value) for value in entry[2])]
        if near and attempt % 3 != 2:
            _, group, values = max(near, key=lambda entry: entry[0])
            picked[slot] = group, rng.choice([value for value in values if fits(slot, value)])
        else:
            picked[slot] = ("invented",), invent(slot, rng)
    return picked if picked or not known.slots[tool.name] else None


def _refers(slot: Slot, group: Group) -> bool:
    """Whether a slot can mean something that exists already: an id or the name of another thing, not the tool's own
    free text.
    """
    return (group[1] != slot.tool and len(words(slot.key)) > 1) or slot.key.lower() in (
        "id",
        "ids",
        "key",
        "path",
        "from",
        "to",
        "source",
        "names",
        "name",
        "title",
        "code",
    )


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
