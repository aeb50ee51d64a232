"""Calls that read, of one subset: with which values, and what came back."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mcprl.judges.checks import leaves
from mcprl.scenarios.addresses import as_person
from mcprl.scenarios.choice import Choice
from mcprl.scenarios.fields import UNNAMED, named_cells, rows_of, scalars, usable
from mcprl.scenarios.naming import value_of
from mcprl.scenarios.parameters import REPORTING, bound, is_hash, is_paging, is_wait, opens, shortened_hash
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.probing.sessions import key_of
from mcprl.scenarios.probing.sources import Source
from mcprl.scenarios.probing.values import known_format
from mcprl.scenarios.probing.writing import without_moments
from mcprl.scenarios.slots import Slot
from mcprl.scenarios.steps import Filled, Step, call_of, in_order
from mcprl.scenarios.subset import Subset
from mcprl.servers.digest import as_read
from mcprl.text import words
from mcprl.types import Call, Scalar, Session, Tool, ToolResult

Row = tuple[Scalar, ...]
_PRESENTING = frozenset("sort order sorting direction ascending descending format verbose style detail details".split())
"""Words of parameters that say how a result is laid out."""
_REDRAWN = 12
"""Draws of values for one call: of the smallest split, with 15 % of the combinations, six calls of seven are then."""
_SLOW_S = 1.0
"""Seconds. A call that takes longer is not made again to learn more."""


class Calls:
    """Fills tools that read with values of the subset, and executes the calls.

    `idle` counts the optional arguments that changed nothing of what can be asked.
    """

    def __init__(self, subset: Subset, choice: Choice) -> None:
        self.subset, self._choice = subset, choice
        self._catalog, self._known, self._rng = subset.catalog, subset.known, subset.rng
        self.idle: Counter[Slot] = Counter()
        self._effective: set[Slot] = set()
        self._dead: set[tuple[Slot, Scalar]] = set()  # with which a read found nothing: a second draw would be lost
        self._rows = _Rows(subset)
        self._large: dict[str, tuple[ToolResult, Step | None]] = {}

    async def read(
        self,
        session: Session,
        state: State,
        tool: Tool,
        fixed: Mapping[Slot, Scalar],
        fits: Callable[[Filled], bool] = lambda _: True,
    ) -> Step | None:
        """Call a read-only tool with the `fixed` values; other slots take values that belong to the split. Values that
        do not fit together are drawn again, a few times."""
        filled = self._fill(tool, state, fixed)
        for _ in range(_REDRAWN):
            if filled is None or fits(filled):
                break
            filled = self._fill(tool, state, fixed)
        step = await self.execute(session, tool, filled) if filled is not None else None
        if step is None:
            named = [pair for pair in filled or () if self._catalog.names_entity(pair[0]) and pair[0] not in fixed]
            narrowed = any(not slot.required for slot, _ in filled or ())  # a filter may be what left nothing
            self._dead.update(named if len(named) == 1 and not narrowed and state is self._known.base else ())
            return None
        self._choice.took(tool, step.result.latency_s)
        return await self._without_idle(session, step, fixed)

    def _fill(self, tool: Tool, state: State, fixed: Mapping[Slot, Scalar]) -> Filled | None:
        """Values for the required slots and now and then for an optional filter; paging is left to its default."""
        filled: Filled = []
        fixed = {**self._together(tool, state, fixed), **fixed}
        for slot in self._known.slots[tool.name]:
            if slot in fixed:
                filled.append((slot, fixed[slot]))
                continue
            if not (slot.required or is_wait(slot) or self._is_subject(slot)) and (
                is_paging(slot)
                or bound(slot)
                or slot.kind == "boolean"
                or self.idle[slot] > 1
                or self._is_idle(slot)
                or (slot.tool, slot.path) not in self._known.sources
                or self._rng.random() < 0.6
            ):
                continue
            entity = self._catalog.names_entity(slot)
            options = self._known.options(slot, state, self._rng, self.subset.allowed if entity else lambda _: True)
            options = [value for value in options if (slot, value) not in self._dead and opens(tool, value)]
            sources = self._known.sources.get((slot.tool, slot.path), ())
            listed = self._known.shown_for(slot) if ("quoted",) in sources else []
            told = len(listed) > 1  # it takes anything, and says what for
            invented = ("invented",) in sources and not told
            made_up = invented or known_format(slot) == "expression" or is_wait(slot)
            if not entity and not slot.choices and made_up:
                options = [self._invented(slot)]
            if entity:
                options = [value for value in options if value not in (".", *self._catalog.roots)] or options
            options = [value for value in options if value != "."] or options
            if options == ["."]:
                options = list(self._catalog.roots) or options
            if options:
                value = self._rng.choice(options)
                value = shortened_hash(str(value)) if entity and is_hash(value) else value
                if slot.required or slot.schema.get("default") != value:
                    filled.append((slot, value))
            elif slot.required:
                return None
        return in_order(filled)

    def _together(self, tool: Tool, state: State, fixed: Mapping[Slot, Scalar]) -> dict[Slot, Scalar]:
        """Values of one record for the required slots that take values of results: a name and the place that goes with
        it. Empty if fewer than two slots do, or if no record of the split has all.
        """
        slots = [slot for slot in self._catalog.needs(tool) if not slot.choices and not self._known.is_setting(slot)]
        places = [self._known.places_of(slot) for slot in slots]
        if len(slots) < 2 or state is not self._known.base or not all(places):
            return {}
        rows = self._rows.of(tool, slots, places)
        fitting = [
            values
            for values in rows
            if all(fixed.get(slot, value) == value for slot, value in zip(slots, values, strict=True))
            and all(map(self.subset.allowed, self._rows.named(tool, slots, values)))
        ]
        return dict(zip(slots, self._rng.choice(fitting), strict=True)) if fitting else {}

    def _invented(self, slot: Slot) -> Any:
        """An invented value, one that belongs to the split if two dozen draws have one."""
        for _ in range(24):
            value = self._known.made_up(slot, self._rng)
            if self.subset.allowed(value):
                break
        return value  # pyright: ignore[reportPossiblyUnboundVariable]

    def _is_subject(self, slot: Slot) -> bool:
        """Whether an optional slot names what the call is about, so that nobody asks without it: its default is only
        one of the things, and no other slot names one."""
        others = (other for other in self._known.slots[slot.tool] if other.required)
        own = slot.schema.get("default") is not None and self._catalog.names_entity(slot)
        return own and not any(map(self._catalog.names_entity, others))

    def _is_idle(self, slot: Slot) -> bool:
        """Whether an optional slot took only values that say nothing about the server: nobody states them."""
        sources = self._known.sources.get((slot.tool, slot.path), [])
        if {*words(slot.key)} & _PRESENTING:
            return True
        if slot.choices:
            return False
        numeric = slot.kind in ("integer", "number")
        idle = ("invented", "quoted", "worked") if numeric else ("invented",)
        # A result that repeats a call's number is no source of it.
        return all(source[0] in idle or (numeric and source[-1:] == slot.path[-1:]) for source in sources)

    async def _without_idle(self, session: Session, step: Step, fixed: Mapping[Slot, Scalar]) -> Step:
        """The step without the optional arguments that change nothing of what can be asked: nobody would say them."""
        for slot, _ in step.filled:
            told = slot.required or slot in fixed or slot in self._effective
            if told or step.result.latency_s > _SLOW_S:
                continue
            shorter = await self.execute(session, step.tool, [pair for pair in step.filled if pair[0] != slot])
            if shorter is None or shorter.content != step.content:
                self._effective.add(slot)
                continue
            self.idle[slot] += 1
            return await self._without_idle(session, shorter, fixed)
        return step

    async def execute(self, session: Session, tool: Tool, filled: Filled) -> Step | None:
        """Make a call; `None` if its result is not usable."""
        if near := self._relative(filled):
            step = await self._executed(session, tool, filled)
            other = await self._executed(session, tool, near) if step else None
            text = said = without_moments(step.result.text) if step else ""
            for (_, whole), (_, value) in zip(filled, near, strict=True):  # a result may repeat the path
                said = said.replace(str(whole), str(value)) if whole != value else said
            return other if other and without_moments(other.result.text) in (text, said) else step
        return await self._executed(session, tool, filled)

    def _relative(self, filled: Filled) -> Filled | None:
        """The values with paths as they are from the folder that the server serves; `None` if none is in it."""
        near = [(slot, self._catalog.from_root(value) if slot.kind == "string" else value) for slot, value in filled]
        return near if near != filled else None

    async def _executed(self, session: Session, tool: Tool, filled: Filled) -> Step | None:
        call = call_of(tool, filled)
        result = await session.call(tool.name, call.arguments)
        if not result.cut_bytes:
            return self._step(tool, filled, call, result)
        # A large result is worked out once: a session that nothing is written in gives the very same again.
        seen, step = self._large.get(key_of(call), (None, None))
        if seen is not result:
            step = self._step(tool, filled, call, as_read(result))
            self._large[key_of(call)] = result, step
        return replace(step, filled=filled, call=call) if step else None

    def _step(self, tool: Tool, filled: Filled, call: Call, result: ToolResult) -> Step | None:
        """A call that was made, with the rows of its result; `None` if that is not usable."""
        if not usable(result) or self._known.failures.is_failure(tool.name, call.arguments, result):
            return None
        record = self._catalog.record(tool, result)
        listed = rows_of(record, least=1)
        keys, rows = listed or ((), [])
        if rows and any(UNNAMED.fullmatch(str(name)) for name in rows[0]):
            rows = named_cells(rows)
            record = rows if rows and not keys else None
        self._catalog.identify(tool.name, record)
        return Step(tool, filled, call, result, record, keys, tuple(rows))

    def as_one_record(self, step: Step) -> Step:
        """The step as one record, if its rows are only the parts of a thing with fields of its own: an order's items.

        Without an argument that names a thing, both are meant at times.
        """
        if not step.keys or not isinstance(step.record, Mapping):
            return step
        own = [path for path, value in scalars(step.record) if not {*words(path[0])} & REPORTING and str(value)]
        named = any(self._catalog.names_entity(slot) for slot, _ in step.filled)
        if len(own) >= 2 if named else own and self._rng.random() < 0.5:
            return replace(step, rows=(), keys=())
        return step


class _Rows:
    """Values that fill a call together, since one record or one call that worked has them all. They are worked out once
    for each tool: every draw asks for all."""

    def __init__(self, subset: Subset) -> None:
        self._subset = subset
        self._records: dict[str, list[Row]] = {}
        self._called: dict[str, list[Row]] = {}
        self._named: dict[tuple[str, Row], Row] = {}

    def of(self, tool: Tool, slots: Sequence[Slot], places: list[list[Source]]) -> list[Row]:
        """The rows of records or, half the time, of calls that worked."""
        known = self._subset.known
        if tool.name not in self._records:
            self._records[tool.name] = known.records.together(places)
            worked = [dict(leaves(example.arguments)) for example in known.examples.get(tool.name, ())]
            whole = [given for given in worked if {*given} >= {slot.path for slot in slots}]
            self._called[tool.name] = [tuple(given[slot.path] for slot in slots) for given in whole]
        called = self._called[tool.name]
        return called if called and self._subset.rng.random() < 0.5 else self._records[tool.name]

    def named(self, tool: Tool, slots: Sequence[Slot], row: Row) -> Row:
        """The values of a row that name things, as a request says them: a person by both names."""
        catalog = self._subset.catalog
        if (tool.name, row) not in self._named:
            filled = zip(slots, row, strict=True)
            said = as_person([value_of(catalog, slot, value) for slot, value in filled if catalog.names_entity(slot)])
            self._named[tool.name, row] = tuple(value.value for value in said)
        return self._named[tool.name, row]
