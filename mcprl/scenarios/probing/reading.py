"""Probing's reads: call the tools that only read until they teach nothing new; learn what their failures are like.

`find_functions` finds the tools that only work something out of their arguments, by what they do: `add(a, b)`.
"""

import random
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from mcprl.judges.checks import leaves, squash
from mcprl.scenarios.fields import record_of
from mcprl.scenarios.probing.draws import Penalties, draw_write, fill_read
from mcprl.scenarios.probing.knowledge import MOST_EXAMPLES, Knowledge, SourcedValue, State, message_of
from mcprl.scenarios.probing.results import without_logs
from mcprl.scenarios.probing.sessions import Visit
from mcprl.scenarios.probing.sources import converted, fits, is_named, offered, shape
from mcprl.scenarios.probing.values import UNIVERSAL, known_format, stranger, usual_high
from mcprl.scenarios.slots import JsonPath, Slot, build
from mcprl.servers.effects import is_read
from mcprl.servers.proposals import propose
from mcprl.text import words
from mcprl.types import Scalar, Session, Tool, ToolResult

SLOW_S = 2.0
"""A tool that takes longer than this is left out of tasks: every rollout would wait for it."""
_HOPEFUL = 10
"""Calls that a tool gets that never works, before it is called only with values that may well fit."""
_ATTEMPTS = 6
"""Calls of one tool in one pass over the tools."""

_KEYS = frozenset("id uid pk key code ref nr no".split())
"""Words in the names of numbers that stand for things."""


def worked(known: Knowledge, tool: str, arguments: Mapping[str, Any], result: ToolResult) -> bool:
    """Whether a call gave something: in time, no failure, not empty."""
    return result.latency_s <= SLOW_S and not known.failures.is_failure(tool, arguments, result)


class Reader:
    """Calls reads in one session in one state, and learns, until it is `late`."""

    def __init__(
        self,
        known: Knowledge,
        state: State,
        session: Session,
        rng: random.Random,
        late: Callable[[], bool] = lambda: False,
    ) -> None:
        self.known, self.state, self._session, self.rng = known, state, session, rng
        self.late = late
        self._seen: set[str] = set()
        self._done: set[str] = set()
        self._attempts: dict[str, int] = {}
        self._penalties: dict[str, Penalties] = {}
        self.calls = 0

    async def around(self, budget: int, attempts: int = _ATTEMPTS) -> None:
        """Call the reads, those with the fewest required slots first, until the budget is spent or two passes in a row
        bring no new value.
        """
        known = self.known
        reads = [tool for tool in known.tools.values() if is_read(tool)]
        reads.sort(key=lambda tool: sum(slot.required for slot in known.slots[tool.name]))
        if not reads:
            return
        end = self.calls + budget
        fair = max(1, budget // len(reads))
        idle_passes, last_size = 0, -1
        while self.calls < end and idle_passes < 2 and not self.late():
            size = sum(len(values) for values in self.state.pool.values()) + sum(map(bool, known.working.values()))
            idle_passes = 0 if size > last_size else idle_passes + 1
            last_size = size
            for tool in reads:
                share = min(attempts, fair, end - self.calls)
                for _ in range(share if known.slots[tool.name] else 1):
                    if tool.name not in self._done and self.calls < end and not self.late():
                        await self._try(tool)

    async def _try(self, tool: Tool) -> None:
        """One call of a tool with newly drawn values; none if the same call was made before."""
        known = self.known
        attempt = self._attempts[tool.name] = self._attempts.get(tool.name, -1) + 1
        penalties = self._penalties.setdefault(tool.name, Penalties())
        draw = fill_read(known, tool, self.state, self.rng, attempt, penalties)
        arguments = build({slot.path: value for slot, (_, value) in draw.picked.items()})
        if (call := f"{tool.name} {arguments}") in self._seen:
            penalties.blame(draw.picked, draw.scores, "")
            return
        if attempt > _HOPEFUL and not known.working.get(tool.name) and min(draw.scores.values(), default=1.0) < 0.3:
            return
        self._seen.add(call)
        result = await self.call(tool, arguments)
        if worked(known, tool.name, arguments, result):
            known.learn(self.state, tool, draw.picked, result)
        else:
            penalties.blame(draw.picked, draw.scores, result.text)
            self._note_offers(tool, draw.picked, message_of(result))
        if (result.latency_s > SLOW_S and attempt > 2) or self._exhausted(tool):
            self._done.add(tool.name)

    def _note_offers(self, tool: Tool, picked: Mapping[Slot, SourcedValue], message: str) -> None:
        """Keep the values that an error says would have been right, for the slots that it names."""
        known, said = self.known, message.casefold().replace(tool.name.casefold(), "")
        for slot, (_, value) in picked.items():
            if slot.choices or not is_named(slot, value, said):
                continue
            right = [converted(slot, value) for value in offered(message, known.slots[tool.name])]
            values = [value for value in right if value is not None]
            if values:
                known.offered.setdefault(slot, {}).update(dict.fromkeys(values))

    async def call(self, tool: Tool, arguments: dict[str, Any]) -> ToolResult:
        """Make a call, count it, and keep it as an example if it worked on the base state."""
        result = await self._session.call(tool.name, arguments)
        self.calls += 1
        good = worked(self.known, tool.name, arguments, result)
        self.known.count(tool.name, arguments, result, good)
        if good and self.state is self.known.base:
            self.known.keep(tool.name, arguments, result)
        return result

    def _exhausted(self, tool: Tool) -> bool:
        """Whether calling a tool again teaches nothing: it takes no arguments or anything, or has enough examples."""
        known = self.known
        if not known.slots[tool.name] or len(known.examples.get(tool.name, ())) >= MOST_EXAMPLES:
            return True
        required = [slot for slot in known.slots[tool.name] if slot.required]
        if not required and known.working.get(tool.name, 0) > 2 * _ATTEMPTS:
            return True
        takes_anything = any(("invented",) in known.sources.get((tool.name, slot.path), []) for slot in required)
        return takes_anything and known.working.get(tool.name, 0) > _ATTEMPTS

    async def link(self) -> None:
        """Find further places whose values a slot takes: those whose values look like the ones it took (`owner_id` for
        `person_id`).
        """
        known = self.known
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
                if source not in sources and (isinstance(taken[0], str) or known.affinity(slot, source) >= 0.45)
            ]
            alike.sort(key=lambda entry: -known.affinity(slot, entry[0]))
            for source, values in alike[:8]:
                if self.late() or not values or not fits(slot, values[0]):
                    continue
                arguments = build({slot.path: self.rng.choice(values)})
                result = await self.call(tool, arguments)
                if worked(known, tool.name, arguments, result):
                    sources.append(source)
                    known.base.harvest(tool.name, without_logs(record_of(result), known.tools))

    async def widen(self) -> None:
        """Find the slots of a universal format that take any value of it, not only the values seen.

        A split needs values of its own, and those seen may be few.
        """
        known = self.known
        for tool in known.reads():
            for slot in known.slots[tool.name]:
                sources = known.sources.get((tool.name, slot.path), [])
                universal = slot.kind == "string" and known_format(slot) in UNIVERSAL
                if not universal or not sources or ("invented",) in sources or self.late():
                    continue
                arguments = build(self._with_required(tool, {slot.path: known.made_up(slot, self.rng)}))
                result = await self.call(tool, arguments)
                if worked(known, tool.name, arguments, result):
                    sources.append(("invented",))
                    known.base.harvest(tool.name, without_logs(record_of(result), known.tools))

    def _with_required(self, tool: Tool, filled: dict[JsonPath, Any]) -> dict[JsonPath, Any]:
        """The filled slots and values that worked for the other required ones."""
        for slot in self.known.slots[tool.name]:
            if slot.required and slot.path not in filled:
                options = self.known.options(slot, self.known.base, self.rng, bool)
                filled[slot.path] = self.rng.choice(options or [None])
        return filled

    async def strangers(self, tool: Tool) -> None:
        """Call a tool with values that it cannot know, to learn what its failures are like."""
        required = [slot for slot in self.known.slots[tool.name] if slot.required]
        if any(not slot.choices for slot in required) and all(_may_be_strange(slot, tool) for slot in required):
            await self._learn_failure(tool, build({slot.path: _nonsense(slot, self.rng) for slot in required}))

    async def doubt(self, tool: Tool) -> bool:
        """Call a tool that worked with strangers in place of the values that worked, and learn from the results.

        Examples that look like failures in the light of them are taken back. Returns whether none is left.
        """
        known = self.known
        examples = known.examples.get(tool.name, ())
        free = [slot for slot in known.slots[tool.name] if slot.required and not slot.choices]
        free = [slot for slot in free if _may_be_strange(slot, tool)]
        for slot in free[:2] if examples else ():
            arguments = replaced(self.rng.choice(examples).arguments, slot, self.rng)
            if arguments is not None:
                await self._learn_failure(tool, arguments)
        for example in list(examples):
            if known.failures.is_failure(tool.name, example.arguments, example.result):
                known.forget(tool.name, example)
        return bool(free) and not known.working.get(tool.name)

    async def _learn_failure(self, tool: Tool, arguments: dict[str, Any]) -> None:
        result = await self._session.call(tool.name, arguments)
        self.calls += 1
        self.known.calls += 1
        self.known.failures.learn(tool.name, arguments, result)


def _may_be_strange(slot: Slot, tool: Tool) -> bool:
    """Whether a value that no server knows does no harm: a number that is no key may be how much is computed, returned
    or waited for."""
    if slot.kind not in ("integer", "number") or slot.choices:
        return True
    named = words(slot.key)
    is_key = bool(_KEYS & {*named}) or (len(named) > 1 and named[-1] == "number") or named[-1:] == words(tool.name)[-1:]
    return is_key and not usual_high(slot)


def _nonsense(slot: Slot, rng: random.Random) -> Scalar:
    """A value of the slot's type that no server knows."""
    if slot.choices:
        return rng.choice(slot.choices)
    return rng.randint(70_000_000, 99_999_999) if slot.kind != "string" else f"zq{rng.randint(1000, 9999)}xv"


def replaced(arguments: Mapping[str, Any], slot: Slot, rng: random.Random) -> dict[str, Any] | None:
    """The arguments with a stranger at a slot; `None` if they have no value there."""
    values = dict(_values(arguments, ()))
    if slot.path not in values:
        return None
    values[slot.path] = stranger(values[slot.path], rng)
    return build(values)


def _values(value: Any, path: JsonPath) -> list[tuple[JsonPath, Scalar]]:
    """The scalars of arguments with their paths, list positions included."""
    if isinstance(value, Mapping):
        return [entry for key, inner in value.items() for entry in _values(inner, (*path, str(key)))]  # pyright: ignore
    if isinstance(value, list):
        return [entry for index, inner in enumerate(value) for entry in _values(inner, (*path, index))]  # pyright: ignore
    return [(path, value)] if value is not None else []


# --- functions --------------------------------------------------------------------------------------------------------

_MOST_DRAWS = 8
_ENOUGH = 3
"""Different arguments with different results after which a tool is a function."""


async def find_functions(
    known: Knowledge, unmarked: Collection[str], session: Visit, rng: random.Random, most: int
) -> None:
    """Mark the functions among the `unmarked` tools of `known` as read-only, in at most `most` calls."""
    doubtful = [tool for tool in known.tools.values() if tool.name in unmarked and _may_compute(known, tool)]
    for tool in doubtful:
        share = min(2 * _MOST_DRAWS, most // len(doubtful))
        if await _is_function(known, tool, session, rng, share):
            known.tools[tool.name] = replace(tool, read_only=True, destructive=False)
            known.functions.add(tool.name)


def _may_compute(known: Knowledge, tool: Tool) -> bool:
    slots = known.slots[tool.name]
    if is_read(tool) or not any(slot.required for slot in slots):
        return False
    return propose(tool) == "unknown" or _takes_numbers(known, tool)


def _takes_numbers(known: Knowledge, tool: Tool) -> bool:
    """Whether all that the tool needs are numbers and choices, a number at least among them."""
    needed = [slot for slot in known.slots[tool.name] if slot.required]
    numbers = [slot for slot in needed if slot.kind in ("integer", "number")]
    return bool(numbers) and all(slot in numbers or slot.choices for slot in needed)


async def _is_function(known: Knowledge, tool: Tool, session: Visit, rng: random.Random, most: int) -> bool:
    needed = [slot for slot in known.slots[tool.name] if slot.required]
    answers: dict[str, str] = {}
    for attempt in range(most // 2):
        draw = draw_write(known, tool, needed, known.base, rng, attempt, Penalties())
        arguments = build({slot.path: value for slot, (_, value) in draw.picked.items()})
        first = await session.call(tool.name, arguments)
        if first.is_error or first.latency_s > SLOW_S:
            continue
        again = await session.call(tool.name, arguments)
        found = _worked_out(first, [value for _, value in draw.picked.values()], propose(tool) != "unknown")
        if again.text != first.text:
            return False
        if not found:
            continue  # a metre in metres
        answers[str(arguments)] = found
        if len({*answers.values()}) >= _ENOUGH:
            return True
    return False


def _worked_out(result: ToolResult, given: list[Scalar], number: bool) -> str:
    """What a result has that its arguments do not hold; only numbers if `number`. Empty if there is nothing."""
    record = record_of(result)
    held = [leaf for _, leaf in leaves(record)] if record is not None else [result.text]
    told = {squash(str(value)) for value in given}
    new = [leaf for leaf in held if leaf is not None and squash(str(leaf)) not in told and not isinstance(leaf, bool)]
    if number:
        new = [leaf for leaf in new if _is_number(leaf)] if len(held) == 1 else []
    return " ".join(str(leaf) for leaf in new)


def _is_number(value: Scalar) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
