"""Calls of one split: which tool, with which values, and what came back."""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Any

from mcprl.scenarios.addresses import as_period
from mcprl.scenarios.catalog import Catalog
from mcprl.scenarios.fields import UNNAMED, named_cells, record_of, rows_of, scalars, tells_of_more, usable
from mcprl.scenarios.intents import Value
from mcprl.scenarios.packs.pack import held_out_forms
from mcprl.scenarios.parameters import bound, is_complete, is_hash, is_paging, is_wait, opens, shortened_hash
from mcprl.scenarios.probing.knowledge import State
from mcprl.scenarios.probing.sources import ordered
from mcprl.scenarios.probing.values import known_format
from mcprl.scenarios.probing.writing import without_moments
from mcprl.scenarios.slots import Slot
from mcprl.scenarios.steps import Filled, Step, call_of, in_order
from mcprl.scenarios.together import Together
from mcprl.servers.effects import VERBS
from mcprl.text import words
from mcprl.types import Json, Scalar, Session, Split, Suite, Tool, ToolResult

_REPORTING = frozenset("total count page pages limit offset more next has cursor size per truncated status ok".split())
"""Words of the fields in which a list tells how long it is."""
_PRESENTING = frozenset("sort order sorting direction ascending descending format verbose style detail details".split())
"""Words of parameters that say how a result is laid out."""
_AGAINST = frozenset("target base against reference baseline since from to".split())
"""Words of parameters that name what something is compared with, not what it is about."""
_BARE = re.compile(r"[\w#@.+-]+(?: [\w#@.+-]+){0,2}(?<![.:])")
"""A text that is one value: `landed`, `ana_17`, `in transit`."""
MOST_BARREN = 3
"""Computations without a result that could be asked for, after which a tool is given up."""
_REDRAWN = 12
"""Draws of values for one call: of the smallest split, with 15 % of the combinations, six calls of seven are then."""
_SLOW_S = 1.0
"""Seconds. A call that takes longer is not made again to learn more."""


@dataclass
class Calls:
    """Chooses tools, fills them with values of one split and suite, and executes the calls."""

    catalog: Catalog
    split: Split
    suite: Suite
    seed: int
    max_calls: int
    asked: Counter[tuple[tuple[object, ...], str]] = field(default_factory=Counter[tuple[tuple[object, ...], str]])
    """How often each field was asked for, by the kind of task and the tools that led to it."""
    used: defaultdict[tuple[object, str], float] = field(default_factory=lambda: defaultdict(float))
    """How often each kind of task drew each tool: a draw in vain counts half, so that a tool that seldom works does not
    starve the others."""

    def __post_init__(self) -> None:
        self.known = self.catalog.known
        self._idle: Counter[Slot] = Counter()
        self.barren: Counter[str] = Counter()
        """Tools whose computations had no result that could be asked for, with how often."""
        self.kind: object = None
        self.drawn: set[str] = set()
        """The kind of task that is being made, and the tools that were drawn for it."""
        self._effective: set[Slot] = set()
        self._together_rows = Together(self.catalog, self.naming)
        self._dead: set[tuple[Slot, Scalar]] = set()  # with which a read found nothing: a second draw would be lost
        self.rng = random.Random(f"compose {self.seed} {self.split} {self.suite}")

    def allowed(self, value: Any) -> bool:
        """Whether the thing that a value names belongs to the split."""
        return self.catalog.split(self.seed, value) == self.split

    def allowed_forms(self, name: str, forms: Sequence[str]) -> list[str]:
        """The constructions of a set that belong to the suite: those of the test on forms are used nowhere else."""
        held = held_out_forms(self.seed, name, forms)
        return held if self.suite == "forms" else [form for form in forms if form not in held]

    def tool(
        self, fits: Callable[[Tool], bool] = lambda _: True, weight: Callable[[Tool], float] = lambda _: 1.0
    ) -> Tool | None:
        """A read-only tool, at random among those that fit, those first that this kind of task seldom used for their
        `weight`."""
        unfit = {*(table.tool for table in self.known.tables), *self.catalog.yields.barren(self.kind, self.split)}
        tools = [tool for tool in self.known.reads() if tool.name not in unfit and fits(tool)]
        if not tools:
            return None
        drawn = {tool.name: self.used[self.kind, tool.name] + 4 * self.rng.random() for tool in tools}
        tool = min(tools, key=lambda tool: (drawn[tool.name] / weight(tool), tool.name))
        if self.rng.random() < 0.4:  # else tools that never make a task would come first again and again
            tool = self.rng.choices(tools, [weight(tool) for tool in tools])[0]
        self.drawn.add(tool.name)
        return tool

    def needs(self, tool: Tool) -> list[Slot]:
        """The required slots of a tool."""
        return [slot for slot in self.known.slots[tool.name] if slot.required]

    def computes(self, tool: Tool) -> bool:
        """Whether the tool needs arguments, none of which names a thing of the server."""
        needed = [slot for slot in self.needs(tool) if not self.known.is_setting(slot)]
        named = any(self.catalog.names_entity(slot) for slot in needed)
        return bool(needed) and not named and tool.name not in self.catalog.lists

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
            named = [pair for pair in filled or () if self.catalog.names_entity(pair[0]) and pair[0] not in fixed]
            narrowed = any(not slot.required for slot, _ in filled or ())  # a filter may be what left nothing
            self._dead.update(named if len(named) == 1 and not narrowed and state is self.known.base else ())
            return None
        self.used[self.kind, tool.name] += 8 * int(step.result.latency_s)  # seldom what takes seconds
        return await self._without_idle(session, step, fixed)

    def _fill(self, tool: Tool, state: State, fixed: Mapping[Slot, Scalar]) -> Filled | None:
        """Values for the required slots and now and then for an optional filter; paging is left to its default."""
        filled: Filled = []
        fixed = {**self._together(tool, state, fixed), **fixed}
        for slot in self.known.slots[tool.name]:
            if slot in fixed:
                filled.append((slot, fixed[slot]))
                continue
            if not (slot.required or is_wait(slot) or self._is_subject(slot)) and (
                is_paging(slot)
                or bound(slot)
                or slot.kind == "boolean"
                or self._idle[slot] > 1
                or self._is_idle(slot)
                or (slot.tool, slot.path) not in self.known.sources
                or self.rng.random() < 0.6
            ):
                continue
            entity = self.catalog.names_entity(slot)
            options = self.known.options(slot, state, self.rng, self.allowed if entity else lambda _: True)
            options = [value for value in options if (slot, value) not in self._dead and opens(tool, value)]
            sources = self.known.sources.get((slot.tool, slot.path), ())
            listed = self.known.shown_for(slot) if ("quoted",) in sources else []
            told = len(listed) > 1  # it takes anything, and says what for
            invented = ("invented",) in sources and not told
            made_up = invented or known_format(slot) == "expression" or is_wait(slot)
            if not entity and not slot.choices and made_up:
                options = [self._invented(slot)]
            if entity:
                options = [value for value in options if value not in (".", *self.catalog.roots)] or options
            if options:
                value = self.rng.choice(options)
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
        slots = [slot for slot in self.needs(tool) if not slot.choices and not self.known.is_setting(slot)]
        places = [self.known.places_of(slot) for slot in slots]
        if len(slots) < 2 or state is not self.known.base or not all(places):
            return {}
        rows = self._together_rows.of(tool, slots, places, self.rng)
        fitting = [
            values
            for values in rows
            if all(fixed.get(slot, value) == value for slot, value in zip(slots, values, strict=True))
            and all(map(self.allowed, self._together_rows.named(tool, slots, values)))
        ]
        return dict(zip(slots, self.rng.choice(fitting), strict=True)) if fitting else {}

    def _invented(self, slot: Slot) -> Any:
        """An invented value, one that belongs to the split if two dozen draws have one."""
        for _ in range(24):
            value = self.known.made_up(slot, self.rng)
            if self.allowed(value):
                break
        return value  # pyright: ignore[reportPossiblyUnboundVariable]

    def _is_subject(self, slot: Slot) -> bool:
        """Whether an optional slot names what the call is about, so that nobody asks without it: its default is only
        one of the things, and no other slot names one."""
        others = (other for other in self.known.slots[slot.tool] if other.required)
        own = slot.schema.get("default") is not None and self.catalog.names_entity(slot)
        return own and not any(map(self.catalog.names_entity, others))

    def _is_idle(self, slot: Slot) -> bool:
        """Whether an optional slot took only values that say nothing about the server: nobody states them."""
        sources = self.known.sources.get((slot.tool, slot.path), [])
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
            told = slot.required or slot in fixed or slot.choices or slot in self._effective
            if told or step.result.latency_s > _SLOW_S:
                continue
            shorter = await self.execute(session, step.tool, [pair for pair in step.filled if pair[0] != slot])
            if shorter is None or shorter.content != step.content:
                self._effective.add(slot)
                continue
            self._idle[slot] += 1
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
        near = [(slot, self.catalog.from_root(value) if slot.kind == "string" else value) for slot, value in filled]
        return near if near != filled else None

    async def _executed(self, session: Session, tool: Tool, filled: Filled) -> Step | None:
        call = call_of(tool, filled)
        result = await session.call(tool.name, call.arguments)
        if not usable(result) or self.known.failures.is_failure(tool.name, call.arguments, result):
            return None
        record = self.record(tool, result)
        listed = rows_of(record, least=1)
        keys, rows = listed or ((), [])
        if rows and any(UNNAMED.fullmatch(str(name)) for name in rows[0]):
            rows = named_cells(rows)
            record = rows if rows and not keys else None
        self.catalog.identify(tool.name, record)
        return Step(tool, filled, call, result, record, keys, tuple(rows))

    def record(self, tool: Tool, result: ToolResult) -> Json:
        """A result as JSON. A bare value is a record with one field, named by what the tool is about."""
        record = record_of(result)
        if record is None and _BARE.fullmatch(result.text):
            record = result.text
        if not isinstance(record, str | int | float) or isinstance(record, bool):
            return record
        named = [word for word in self.catalog.noun(tool).split() if word not in VERBS]
        return {"_".join(named) or "result": record}

    def _whole_record(self, step: Step) -> Step:
        """The step as one record, if its rows are only the parts of a thing with fields of its own: an order's items.

        Without an argument that names a thing, both are meant at times.
        """
        if not step.keys or not isinstance(step.record, Mapping):
            return step
        own = [path for path, value in scalars(step.record) if not {*words(path[0])} & _REPORTING and str(value)]
        named = any(self.catalog.names_entity(slot) for slot, _ in step.filled)
        if len(own) >= 2 if named else own and self.rng.random() < 0.5:
            return replace(step, rows=(), keys=())
        return step

    def said(self, filled: Filled, paging: bool = False) -> Iterable[Value]:
        """The arguments that a request must state: not the paging, unless it is asked for, and not what equals the
        default."""
        if period := next((pair for pair in permutations(filled, 2) if self._is_period(*pair)), ()):
            yield as_period(*period)
        for slot, value in filled:
            if (slot, value) in period:
                continue
            unsaid = is_paging(slot) and not slot.required and not paging
            if unsaid or slot.schema.get("default") == value or self.known.is_setting(slot):
                continue
            if str(value).lower() in ("all", "any", "*") and not self.catalog.names_entity(slot):
                continue
            yield self.naming(slot, value)

    def _is_period(self, first: tuple[Slot, Scalar], last: tuple[Slot, Scalar]) -> bool:
        """Whether two values are the first and the last day of a period."""
        dates = all(self.catalog.slot(slot).meaning in ("date", "datetime") for slot, _ in (first, last))
        return dates and ordered(first[0], last[0])

    def naming(self, slot: Slot, value: Scalar) -> Value:
        """The value of a slot as a request says it: the `revision` of a commit is just the commit."""
        attribute = self.catalog.slot(slot)
        if attribute.meaning != "identifier" or {*words(attribute.label)} & _AGAINST:
            return Value(attribute, value)
        noun = self.catalog.named_by(self.known.tools[slot.tool], slot)
        alike = {*words(noun)} & {*words(attribute.label)}
        last = words(attribute.label)[-1:]
        if alike or last in (("id",), ("number",), ("code",), ("key",)):
            return Value(attribute, value)
        return Value(replace(attribute, label=noun), value)

    def is_whole(self, step: Step) -> bool:
        """Whether the rows of a list are all there are."""
        slots = self.known.slots[step.tool.name]
        if step.result.cut_bytes or tells_of_more(step.result.text, len(step.rows)):
            return False
        return is_complete(slots, step.call.arguments, step.record, step.rows)
