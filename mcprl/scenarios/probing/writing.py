"""Probing's writes: which work, which reads show what they wrote, which need nothing that exists, and whether what one
session writes is seen by another.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import anyio

from mcprl.judges.checks import holds, says_missing
from mcprl.scenarios.fields import record_of
from mcprl.scenarios.parameters import FOLDERS
from mcprl.scenarios.probing.draws import Draw, Penalties, draw_write, fill_write
from mcprl.scenarios.probing.hints import Hints
from mcprl.scenarios.probing.knowledge import Knowledge, RoundTrip, SourcedValue, State
from mcprl.scenarios.probing.reading import SLOW_S, worked
from mcprl.scenarios.probing.results import folder_of, takes_path
from mcprl.scenarios.probing.sessions import Budget, Visit
from mcprl.scenarios.probing.sources import fits, place
from mcprl.scenarios.probing.values import stranger
from mcprl.scenarios.slots import JsonPath, Slot, build
from mcprl.servers.effects import is_read, is_reset
from mcprl.text import compact, counted, words
from mcprl.types import Call, Session, Tool, ToolResult, ToolServer

Binding = tuple[tuple[tuple[JsonPath, JsonPath], ...], tuple[tuple[JsonPath, Any], ...]]
"""`bind` and `constants` of a `RoundTrip`."""
_SHORT = 200
"""Letters of a text that may say that there is no such thing: "Document X does not exist"."""
_PASSES = 12
_NEAR = 0.8
"""How alike the names of two slots must be for no other pair to be called with."""
_ALIKE = 0.5
_MAKING = frozenset("create write make new mkdir touch move rename copy".split())
_MOST_READS = 15
"""Reads after one write."""
_SOUGHT = 3
"""Writes with one tool after which reads are made."""
_WANTED = 3
"""Calls of one write that must work before it is called no more."""


class Prober:
    """Calls writes in one session, and learns. Nothing is written in the `clean` one."""

    def __init__(self, known: Knowledge, session: Visit, clean: Visit, budget: Budget, rng: random.Random) -> None:
        self._known, self._session, self._clean, self._budget, self._rng = known, session, clean, budget, rng
        self._state = State(pool={source: dict(values) for source, values in known.base.pool.items()})
        self._penalties: dict[str, Penalties] = {}
        self._sought: dict[str, int] = {}

    async def around(self, hints: Hints, end: int = 0) -> None:
        """Call each write in turn, those that have not worked more often, until each worked or `end` calls are left."""
        known = self._known
        writes = [tool for tool in known.tools.values() if not is_read(tool)]
        for call in hints.calls():
            tool = known.tools.get(call.tool)
            enough = known.working.get(call.tool, 0) >= _WANTED or self._budget.over or self._budget.left <= end
            if tool and not is_read(tool) and not enough:
                await self._try(tool, Draw(hints.picked(known, call), {}))
        for attempt in range(_PASSES):
            for tool in writes:
                enough = known.working.get(tool.name, 0) >= _WANTED or self._budget.left <= end
                if (
                    self._budget.over
                    or self._budget.left <= end
                    or (attempt and enough)
                    or (attempt > 1 and not known.slots[tool.name])
                ):
                    continue
                chosen = [slot for slot in known.slots[tool.name] if slot.required or self._rng.random() >= 0.6]
                if not chosen and known.slots[tool.name]:
                    continue
                penalties = self._penalties.setdefault(tool.name, Penalties())
                await self._try(tool, draw_write(known, tool, chosen, self._state, self._rng, attempt, penalties))

    async def _try(self, tool: Tool, draw: Draw) -> None:
        """One call of a write, and the reads that show what it wrote."""
        known, picked = self._known, draw.picked
        arguments = build({slot.path: value for slot, (_, value) in picked.items()})
        result = await self._session.call(tool.name, arguments)
        none = result.structured is None and len(result.text) < _SHORT and says_missing(result.text)
        good = result.latency_s <= SLOW_S and not result.is_error and not none
        known.count(tool.name, arguments, result, good)
        if not good:
            self._penalties.setdefault(tool.name, Penalties()).blame(picked, draw.scores, result.text)
            return
        known.keep(tool.name, arguments, result)
        refers = any(source[0] in ("from", "sql", "worked") for source, _ in picked.values())
        if picked and not refers and tool.name not in known.creators:
            known.creators.append(tool.name)
        known.learn(self._state, tool, picked, result)
        self._state.harvest(tool.name, arguments)
        await self._find_round_trip(tool, picked)

    async def _find_round_trip(self, tool: Tool, picked: dict[Slot, SourcedValue]) -> None:
        """Call every read that can take the values just written, and keep one round trip for each that shows them."""
        known = self._known
        sought = self._sought[tool.name] = self._sought.get(tool.name, 0) + 1
        if not picked or sought > _SOUGHT or any(trip.write == tool.name for trip in known.round_trips):
            return
        written = {slot: value for slot, (_, value) in picked.items()}
        by_path = {slot.path: value for slot, value in written.items()}
        asked = 0
        for read in (reading for reading in known.tools.values() if is_read(reading)):
            if self._budget.over:
                continue
            hopeless = len(known.tools) > 12 and not known.working.get(read.name)
            for bind, constants in bindings(known, read, tool, written, self._rng):
                if hopeless and not self._is_near(read, tool, bind):
                    break
                asked += 1
                if asked > _MOST_READS:
                    return
                bound = {path: by_path[origin] for path, origin in bind}
                arguments = build(bound | dict(constants))
                result = await self._session.call(read.name, arguments)
                good = worked(known, read.name, arguments, result)
                known.count(read.name, arguments, result, good)
                shown = _shown(picked, bind, result) if good else ()
                if good and not shown and any(source[0] == "from" for source, _ in picked.values()):
                    shown = _changed(picked, bind, await self._before(read, arguments), result)
                if shown:
                    self._keep(tool, read, RoundTrip(tool.name, read.name, bind, constants, shown), result)
                    break

    def _is_near(self, read: Tool, write: Tool, bind: tuple[tuple[JsonPath, JsonPath], ...]) -> bool:
        """Whether a read takes a value under the name that the write has for it."""
        taking = {slot.path: slot for slot in self._known.slots[read.name]}
        return bool(bind) and all(
            self._known.affinity(taking[path], place(write.name, origin)) >= _NEAR for path, origin in bind
        )

    async def _before(self, read: Tool, arguments: dict[str, Any]) -> ToolResult:
        """What a read gave before anything was written, as far as it was made then."""
        earlier = [one for one in self._known.examples.get(read.name, ()) if one.arguments == arguments]
        return earlier[0].result if earlier else await self._clean.call(read.name, arguments)

    def _keep(self, tool: Tool, read: Tool, trip: RoundTrip, result: ToolResult) -> None:
        known = self._known
        known.working[read.name] = known.working.get(read.name, 0) + 1
        for path, origin in trip.bind:
            sources = known.sources.setdefault((read.name, path), [])
            if (source := place(tool.name, origin)) not in sources:
                sources.append(source)
        known.round_trips.append(trip)
        self._state.harvest(read.name, record_of(result))


async def confirm_creators(known: Knowledge, session: Session, rng: random.Random) -> None:
    """Keep the creators that work in a session where nothing was written before."""
    for name in list(known.creators):
        draw = fill_write(known, known.tools[name], known.base, rng, 2)
        arguments = build({slot.path: value for slot, (_, value) in draw.picked.items()}) if draw else {}
        if draw is None or (await session.call(name, arguments)).is_error:
            known.creators.remove(name)


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


def _changed(
    picked: dict[Slot, SourcedValue],
    bind: tuple[tuple[JsonPath, JsonPath], ...],
    before: ToolResult,
    after: ToolResult,
) -> tuple[JsonPath, ...]:
    """The paths of the written values that a read's result shows after the write and not before."""
    origins = {origin for _, origin in bind}
    written = [(slot.path, value) for slot, (_, value) in picked.items() if not isinstance(value, bool)]
    return tuple(
        path
        for path, value in written
        if path not in origins and holds(after.text, value) and not holds(before.text, value)
    )


def bindings(
    known: Knowledge, read: Tool, write: Tool, written: dict[Slot, Any], rng: random.Random
) -> Iterator[Binding]:
    """Ways to fill a read's required slots with what a write was given, the closest names first.

    At most one required slot may be without choices or a setting of the server.
    """
    required = [slot for slot in known.slots[read.name] if slot.required]
    if not required:
        yield (), ()
        return
    fixed = [slot for slot in required if slot.choices or known.is_setting(slot)]
    free = [slot for slot in required if slot not in fixed]
    if len(fixed) > 2 or len(free) > 1:
        return
    constants = tuple((slot.path, rng.choice(known.options(slot, known.base, rng, bool) or [None])) for slot in fixed)
    if any(value is None for _, value in constants):
        return
    if not free:
        yield (), constants
        return
    slot = free[0]
    origins = [origin for origin in written if fits(slot, written[origin])]
    origins.sort(key=lambda origin: -known.affinity(slot, place(write.name, origin.path)))
    near = [origin for origin in origins if known.affinity(slot, place(write.name, origin.path)) >= _NEAR]
    for origin in near[:1] or origins[:3]:
        yield ((slot.path, origin.path),), constants


def near_arguments(
    known: Knowledge, read: Tool, write: Tool, written: dict[Slot, Any], rng: random.Random
) -> dict[str, Any] | None:
    """The arguments of a read, with what is written where the names agree; `None` if they do not.

    What a write puts at a path is looked for in the folder that it goes to.
    """
    makes = {*words(write.name)} & _MAKING and {*words(read.name)} & FOLDERS
    values = {slot.path: folder_of(value) if makes and takes_path(slot) else value for slot, value in written.items()}
    taking = {slot.path: slot for slot in known.slots[read.name]}
    for bind, constants in bindings(known, read, write, written, rng):
        if all(known.affinity(taking[path], place(write.name, origin)) >= _ALIKE for path, origin in bind):
            return build({path: values[origin] for path, origin in bind} | dict(constants))
    return None


# --- sharing ----------------------------------------------------------------------------------------------------------

_MOST_LOOKS = 8
"""Reads around one write."""
_MOST_WRITES = 9
"""Calls of one writing tool, until a read shows what it changed."""
_SLOW_S = 1.5
"""Seconds. A read that takes longer may be given up the next time, which would look like a change."""
_TICK_S = 1.1
"""Seconds after which the clock in a result shows another moment."""
_MOST_UNSEEN = 4
"""Writing tools whose changes no other session sees, after which sessions count as kept apart."""
_CLOCK = re.compile(r"(?:\b\w{3},? )?(?:\w{3} \d\d? \d{4}|\d{4}-\d\d-\d\d)[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?")
"""A moment: what a file system or a log says about now differs between sessions and proves no write."""


def can_write(server: ToolServer, known: Knowledge) -> bool:
    """Whether tasks may write: what one session writes stays its own, or is undone before the next."""
    return not known.shared or is_reset(server)


@dataclass(frozen=True)
class _Change:
    """A read, and what it tells once a write has been made."""

    read: Call
    after: str


@dataclass(frozen=True)
class Sharing:
    """Whether a session starts from what another wrote, and a sentence about how that was found out."""

    shared: bool
    told: str


async def find_sharing(server: ToolServer, known: Knowledge, budget: Budget, rng: random.Random) -> Sharing:
    """Whether a session reads what another wrote.

    Each writing tool that worked is called in a session of its own, between reads, until one read tells something else
    than before. A further session makes that read: if it tells the same, the state is shared.
    """
    unseen = 0
    for tool in known.writes():
        if budget.over or unseen == _MOST_UNSEEN:
            break
        async with Visit(server, budget) as session:
            change = await _Trial(known, session, budget, rng).change(tool)
        if change is None:
            continue
        async with Visit(server, budget) as session:
            if _told(await session.call(change.read.tool, change.read.arguments)) == change.after:
                return Sharing(True, f"{change.read.tool} told in one session what {tool.name} had written in another")
        unseen += 1
    if unseen:
        return Sharing(False, f"no session saw what another had written, with {counted(unseen, 'writing tool')}")
    return Sharing(False, "whether sessions are kept apart is unknown: no write was made that a read shows")


class _Trial:
    """Writes in one session, with reads around each."""

    def __init__(self, known: Knowledge, session: Visit, budget: Budget, rng: random.Random) -> None:
        self._known, self._session, self._budget, self._rng = known, session, budget, rng
        self._restless = set[str]()

    async def change(self, tool: Tool) -> _Change | None:
        """A read that told something else after a write with this tool than before; `None` if none did."""
        penalties, last = Penalties(), dict[Slot, Any]()
        for attempt in range(_MOST_WRITES):
            slots = [slot for slot in self._known.slots[tool.name] if slot.required or self._rng.random() >= 0.6]
            draw = draw_write(self._known, tool, slots, self._known.base, self._rng, attempt, penalties)
            values = {slot: value for slot, (_, value) in draw.picked.items()}
            other = [slot for slot in values if values[slot] != last.get(slot, values[slot])]
            if attempt % 2 and other:  # of one thing another value: what stands in its record is so already
                values = last | {other[-1]: values[other[-1]]}
            last = values
            free = [slot for slot in values if slot.required and not slot.choices]
            if attempt >= _MOST_WRITES - 2 and free:  # to make what exists already would change nothing
                values[free[-1]] = stranger(values[free[-1]], self._rng)
            before = await self._looks(tool, values)
            if self._budget.over:
                break
            result = await self._session.call(tool.name, build({slot.path: value for slot, value in values.items()}))
            if result.is_error:
                penalties.blame(draw.picked, draw.scores, result.text)
                continue
            for read, told in before:
                after = _told(await self._session.call(read.tool, read.arguments))
                if after != told and await self._stays(read, after):
                    return _Change(read, after)
        return None

    async def _stays(self, read: Call, told: str) -> bool:
        """Whether a read tells the same at once and a tick of the clock later. What a counter or a clock changes would
        prove no write, and is not looked at again."""
        for pause in (0.0, _TICK_S):
            await anyio.sleep(pause)
            if _told(await self._session.call(read.tool, read.arguments)) != told:
                self._restless.add(read.tool)
                return False
        return True

    async def _looks(self, tool: Tool, written: dict[Slot, Any]) -> list[tuple[Call, str]]:
        """Reads that may show the write, each with what it tells before."""
        looks: list[tuple[Call, str]] = []
        for read in (read for read in self._known.reads() if read.name not in self._restless):
            if self._budget.over:
                break
            arguments = near_arguments(self._known, read, tool, written, self._rng)
            if arguments is None or len(looks) == _MOST_LOOKS:
                continue
            result = await self._session.call(read.name, arguments)
            if result.latency_s < _SLOW_S and worked(self._known, read.name, arguments, result):
                looks.append((Call(read.name, arguments), _told(result)))
        return looks


def _told(result: ToolResult) -> str:
    """What a result says of the server's state: without its envelope and its moments."""
    return without_moments(compact(record_of(result)) if result.structured is not None else result.text)


def without_moments(text: str) -> str:
    """A result's text without its moments."""
    return _CLOCK.sub("", text)
