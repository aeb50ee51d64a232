"""Whether sessions share a state: what a write changed in one session is read again in another."""

import random
import re
from dataclasses import dataclass
from typing import Any

import anyio

from mcprl.scenarios.fields import record_of
from mcprl.scenarios.probing.draws import Penalties, draw_write
from mcprl.scenarios.probing.knowledge import Knowledge
from mcprl.scenarios.probing.reading import worked
from mcprl.scenarios.probing.values import stranger
from mcprl.scenarios.probing.visits import Budget, Visit
from mcprl.scenarios.probing.writing import near_arguments
from mcprl.scenarios.slots import Slot, build
from mcprl.servers.effects import is_reset
from mcprl.text import compact, counted
from mcprl.types import Call, Tool, ToolResult, ToolServer

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
