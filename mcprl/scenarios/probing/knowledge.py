"""What probing found out about a server: values and their places, which slots take them, what its writes change.

`probe` fills a `Knowledge`; composing tasks reads it. Nothing here is specific to one server: slots are filled with
what schemas name, what descriptions quote, well-known formats, and values harvested from earlier results. The sources
that worked are kept.
"""

import json
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from jsonschema import Draft202012Validator

from mcprl.judges.checks import leaves
from mcprl.scenarios.fields import record_of
from mcprl.scenarios.names import noun, related
from mcprl.scenarios.probing.failures import Failures
from mcprl.scenarios.probing.results import Records, as_rows, inner_paths, short_lines, tokens, without_logs
from mcprl.scenarios.probing.sources import (
    CONFIGURED,
    GIVEN,
    INSTRUCTIONS,
    KINDS,
    Source,
    affinity,
    converted,
    described,
    place,
    quoted,
)
from mcprl.scenarios.probing.sql import Table, selects
from mcprl.scenarios.probing.values import UNIVERSAL, clock, day_near, invent, iso_day, known_format, moments
from mcprl.scenarios.slots import JsonPath, Slot
from mcprl.servers.effects import is_read
from mcprl.servers.protocol import ASKED_BACK
from mcprl.text import compact, stems
from mcprl.types import Call, Json, Scalar, Tool, ToolResult

MOST_EXAMPLES = 40
"""Examples kept of one tool."""
_REASON_LENGTH = 100
_TELLS = re.compile(r"error|message|reason|detail|not found|invalid", re.IGNORECASE)


@dataclass(frozen=True)
class Example:
    """A successful call of a tool, and its result."""

    arguments: dict[str, Any]
    result: ToolResult


@dataclass
class Attempts:
    """The calls of one tool while probing: how many were `made`, how many `worked`, the `reason` of the last failure as
    one line, or what the server asked back for in a call, and the names of the sources whose values worked.
    """

    made: int = 0
    worked: int = 0
    reason: str = ""
    sources: list[str] = field(default_factory=list[str])

    def count(self, result: ToolResult, worked: bool) -> None:
        """Count a call with its result."""
        self.made += 1
        self.worked += worked
        if not worked:
            text = " ".join(message_of(result).split()) or "an empty result"
            asked = next((said for said in ASKED_BACK.values() if said in result.text), "")
            if not asked and self.reason in ASKED_BACK.values():
                return  # that call came further: this one was refused for its values
            text = asked or text
            self.reason = text[:_REASON_LENGTH] + "..." * (len(text) > _REASON_LENGTH)

    @property
    def told(self) -> str:
        """Why no task uses the tool, if no call of it worked."""
        if not self.made:
            return "not called while probing"
        return f"nothing worked that was called while probing ({self.made}): {self.reason}"

    def take_back(self, result: ToolResult) -> None:
        """Count a call that had counted as working as a failed one."""
        self.made -= 1
        self.worked -= 1
        self.count(result, False)


def message_of(result: ToolResult) -> str:
    """What a failed result says: the longest of its texts that speak of an error, else its text."""
    if not isinstance(result.structured, Mapping):
        return result.text
    told = [str(leaf) for path, leaf in leaves(result.structured) if _TELLS.search(f"{path[-1]} {leaf}") and leaf]
    return next((text for text in told if " " in text), result.text)


SourcedValue = tuple[Source, Any]
Allowed = Callable[[Scalar], bool]


@dataclass(frozen=True)
class State:
    """A state that a fresh session can be put into, the values seen in it, and what calls that read return in it."""

    setup: tuple[Call, ...] = ()
    pool: dict[Source, dict[Scalar, None]] = field(default_factory=dict[Source, dict[Scalar, None]])
    results: dict[str, ToolResult] = field(default_factory=dict[str, ToolResult], repr=False)

    def harvest(self, origin: str, value: Json) -> None:
        """Keep every short scalar of a result (or of a write's arguments) under its place. `origin` is the tool or the
        resource. Maps from ids to things count as lists.
        """
        for path, leaf in leaves(as_rows(value)):
            if isinstance(leaf, bool) or not 0 < len(str(leaf)) <= 80:
                continue
            self.add(place(origin, path), leaf)

    def add(self, source: Source, value: Scalar) -> None:
        """Keep a value under its place, at most 400 for each. Blank text is none."""
        values = self.pool.setdefault(source, {})
        if len(values) < 400 and str(value).strip():
            values[value] = None

    def harvest_text(self, origin: str, text: str) -> None:
        """Keep the values that stand in a text, under the names of their kinds, and the lines of a listing."""
        for kind, token in tokens(text):
            self.add(place(origin, (kind,)), int(token) if kind == "number" else token)
        for line in short_lines(text):
            self.add(place(origin, ("line",)), line)


@dataclass(frozen=True)
class RoundTrip:
    """A write whose values a read shows afterwards.

    `bind` has (path in `read`, path in `write`) of the slots that take the same value. `constants` are further
    arguments of `read`. `shown` are the paths in `write` whose values the read shows.
    """

    write: str
    read: str
    bind: tuple[tuple[JsonPath, JsonPath], ...]
    constants: tuple[tuple[JsonPath, Any], ...]
    shown: tuple[JsonPath, ...]


@dataclass
class Knowledge:
    """All that probing found out about a server.

    `base` is the state of a fresh session. `sources` has, for each slot (tool, path), the sources that worked, the
    likeliest first. `texts` has the different text results of each tool. `working` counts each tool's usable results.
    `creators` are writes that work in a fresh session without references to existing things. `volatile` are the (tool,
    field label) pairs that change from one session to the next. `used_values` are the (slot, value) pairs that reads
    were probed with. `calls` counts the probing calls. `examples` has different successful calls of each tool,
    `attempts` what was called and with which success. `failures` tells failed results from others. `shared` is whether
    a write of one session is seen by another, and `sharing` how that was found out. `tables` are those of a server that
    takes SQL. `records` tells which values belong together. `worked` has the values of slots that were found by trying.
    `aside` are the tools that no task may use, with the reason. `offered` has what errors said would have been right.
    `functions` are the tools that proved to work something out of their arguments.
    """

    tools: dict[str, Tool]
    slots: dict[str, list[Slot]]
    base: State = field(default_factory=State)
    sources: dict[tuple[str, JsonPath], list[Source]] = field(default_factory=dict[tuple[str, JsonPath], list[Source]])
    texts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    working: dict[str, int] = field(default_factory=dict[str, int])
    round_trips: list[RoundTrip] = field(default_factory=list[RoundTrip])
    creators: list[str] = field(default_factory=list[str])
    volatile: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    used_values: set[tuple[Slot, Any]] = field(default_factory=set[tuple[Slot, Any]])
    calls: int = 0
    examples: dict[str, list[Example]] = field(default_factory=dict[str, list[Example]])
    attempts: dict[str, Attempts] = field(default_factory=dict[str, Attempts])
    failures: Failures = field(default_factory=Failures)
    shared: bool = False
    sharing: str = "whether sessions are kept apart is unknown: no tool that writes may be called"
    tables: list[Table] = field(default_factory=list[Table])
    records: Records = field(default_factory=Records)
    worked: dict[Slot, dict[Scalar, None]] = field(default_factory=dict[Slot, dict[Scalar, None]])
    forbidden: list[Tool] = field(default_factory=list[Tool])
    aside: dict[str, str] = field(default_factory=dict[str, str])
    offered: dict[Slot, dict[Scalar, None]] = field(default_factory=dict[Slot, dict[Scalar, None]])
    functions: set[str] = field(default_factory=set[str])
    _settings: dict[Slot, tuple[int, bool]] = field(default_factory=dict[Slot, tuple[int, bool]])
    _affinities: dict[tuple[Slot, Source], float] = field(default_factory=dict[tuple[Slot, Source], float])

    def reads(self) -> list[Tool]:
        """The read-only tools that returned something usable."""
        return [tool for name, tool in self.tools.items() if is_read(tool) and self.working.get(name)]

    def writes(self) -> list[Tool]:
        """The writing tools that worked."""
        return [tool for name, tool in self.tools.items() if not is_read(tool) and self.working.get(name)]

    def places(self, state: State) -> dict[Source, dict[Scalar, None]]:
        """The places of a state with their values, those that hold in every state included."""
        if state is self.base:
            return state.pool
        return {source: values for source, values in self.base.pool.items() if source[1] in GIVEN} | state.pool

    def options(self, slot: Slot, state: State, rng: random.Random, allowed: Allowed) -> list[Scalar]:
        """Values that may be put into a slot in a state, from the sources that worked when probed.

        A setting of the server (the folder on its command line) is in the split of every task, so `allowed` is not
        asked about it.
        """
        sources = self.sources.get((slot.tool, slot.path), [])
        if slot.choices:
            return list(slot.choices) if sources else []
        if slot.tool in self.functions and slot.kind in ("integer", "number"):
            return [value for value in (self.made_up(slot, rng) for _ in range(12)) if allowed(value)]
        if ("quoted",) in sources and ("invented",) in sources and len(told := self.shown_for(slot)) > 1:
            return told  # it takes anything, and says what it knows
        places = self.places(state)
        values: dict[Scalar, None] = {}
        for source in sources:
            own = (converted(slot, value) for value in places.get(source, ()))
            kept = [value for value in own if value is not None and (source[1] in CONFIGURED or allowed(value))]
            values.update(dict.fromkeys(kept))
        if ("worked",) in sources:
            values.update(dict.fromkeys(value for value in self.worked.get(slot, ()) if allowed(value)))
        if ("sql",) in sources:
            values.update(dict.fromkeys(text for text in selects(self.tables, rng, 12, allowed)))
        return self._with_made_up(slot, sources, list(values), rng, allowed)

    def _with_made_up(
        self, slot: Slot, sources: list[Source], values: list[Scalar], rng: random.Random, allowed: Allowed
    ) -> list[Scalar]:
        """`values`, or invented ones in their place, and sometimes the examples of the schema."""
        near = any(self.affinity(slot, source) >= 0.5 for source in sources)
        close = known_format(slot) not in UNIVERSAL and near
        if ("invented",) in sources and (not values or (not close and rng.random() < 0.6)):
            values = [value for value in (self.made_up(slot, rng) for _ in range(12)) if allowed(value)]
        if ("quoted",) in sources and (not values or rng.random() < 0.2):
            values += [value for value in self.shown_for(slot) if allowed(value) and value not in values]
        return values

    def shown_for(self, slot: Slot) -> list[Scalar]:
        """The values that the schema, descriptions and errors show for a slot."""
        tool = self.tools[slot.tool]
        own = (converted(slot, value) for value in quoted(slot, tool))
        values = (value for value in own if value is not None)
        offered = self.offered.get(slot, ())
        return list(dict.fromkeys([*offered, *values, *described(slot, tool, self.slots[slot.tool])]))

    def made_up(self, slot: Slot, rng: random.Random) -> Any:
        """As `values.invent`, but a date is near those that results show, and a time where they show times."""
        form = known_format(slot)
        if form in ("name", "sentence") and not slot.choices and slot.kind == "string":
            form = self._form_shown(slot.key)
        if form == "date":
            return day_near(self._dates(), rng) or invent(slot, rng)
        return clock(rng) if form == "time" and "format" not in slot.schema else invent(slot, rng)

    def _form_shown(self, key: str) -> str:
        """`date` or `time` if that is what results hold under a parameter's name, else empty."""
        found = ([*values][:20] for source, values in self.base.pool.items() if source[-1] == key)
        return moments(next(filter(None, found), []))

    def _dates(self) -> list[str]:
        """The later half of the dates seen in results, as ISO days, sorted."""
        seen = sorted({day for values in self.base.pool.values() for value in values if (day := iso_day(str(value)))})
        return seen[len(seen) // 2 :]

    def affinity(self, slot: Slot, source: Source) -> float:
        """As `sources.affinity`, remembered."""
        if (slot, source) not in self._affinities:
            self._affinities[slot, source] = affinity(self.tools, slot, source)
        return self._affinities[slot, source]

    def places_of(self, slot: Slot) -> list[Source]:
        """The places whose values worked for a slot."""
        return [source for source in self.sources.get((slot.tool, slot.path), ()) if source[0] == "from"]

    def likely_sources(self, slot: Slot) -> dict[Source, float]:
        """The places that worked for slots of the same name in other tools, each with how alike the tools are, 0..1."""
        about = stems(noun(self.tools[slot.tool]))
        likely: dict[Source, float] = {}
        for (tool, path), sources in self.sources.items():
            if path[-1:] != slot.path[-1:] or tool == slot.tool:
                continue
            alike = related(about, stems(noun(self.tools[tool])))
            for source in sources:
                if source[0] == "from":
                    likely[source] = max(alike, likely.get(source, 0.0))
        return likely

    def accepts(self, call: Call) -> bool:
        """Whether the arguments of a call meet the schema of its tool; if that is none, they do."""
        tool = self.tools.get(call.tool)
        if tool is None:
            return True
        try:
            return Draft202012Validator(tool.input_schema).is_valid(call.arguments)  # pyright: ignore[reportUnknownMemberType]
        except Exception:  # a schema that is none, or refers to what is not there
            return True

    def is_shown(self, value: Scalar) -> bool:
        """Whether the server's instructions, or a read that needs no argument, show a value."""
        reads = [tool.name for tool in self.reads() if not any(slot.required for slot in self.slots[tool.name])]
        return any(value in values for source, values in self.base.pool.items() if source[1] in (*reads, INSTRUCTIONS))

    def is_setting(self, slot: Slot) -> bool:
        """Whether the slot takes only settings of the server: its value names no entity and ties a task to no split.

        Places whose values are all settings are results that repeat the arguments of calls.
        """
        if self._settings.get(slot, (-1, False))[0] != self.calls:
            self._settings[slot] = (self.calls, self._takes_settings(slot))
        return self._settings[slot][1]

    def _takes_settings(self, slot: Slot) -> bool:
        sources = self.sources.get((slot.tool, slot.path), [])
        if not sources or any(source[0] != "from" for source in sources):
            return False
        pool = self.base.pool
        given = {value for source, values in pool.items() if source[1] in CONFIGURED for value in values}
        if not given or not all(source[1] in CONFIGURED or {*pool.get(source, ())} <= given for source in sources):
            return False
        alike = (places for (_, path), places in self.sources.items() if path[-1:] == slot.path[-1:])
        return any(source[1] in CONFIGURED for places in alike for source in places if source[0] == "from")

    def count(self, tool: str, arguments: Mapping[str, Any], result: ToolResult, worked: bool) -> None:
        """Count a call of a tool. If it worked, the server counts as holding what its result says."""
        self.calls += 1
        self.attempts.setdefault(tool, Attempts()).count(result, worked)

    def keep(self, tool: str, arguments: Mapping[str, Any], result: ToolResult) -> None:
        """Keep the records of a call that worked in a fresh session, and the call as an example of its tool."""
        examples = self.examples.setdefault(tool, [])
        if len(examples) < MOST_EXAMPLES and not any(example.arguments == arguments for example in examples):
            examples.append(Example(json.loads(compact(dict(arguments))), result))
        self.records.add(tool, arguments, as_rows(without_logs(record_of(result), self.tools)))
        if result.structured is None:
            seen = State()
            seen.harvest_text(tool, result.text)
            self.records.add_values(tool, arguments, seen.pool)

    def forget(self, tool: str, example: Example) -> None:
        """Take back an example that proved a failure."""
        self.examples[tool].remove(example)
        self.attempts[tool].take_back(example.result)
        self.working[tool] -= 1
        if not self.working[tool]:
            for slot in self.slots[tool]:
                self.sources.pop((tool, slot.path), None)

    def set_aside(self, tool: str, reason: str) -> None:
        """Leave a tool out of all tasks, with all that it returned."""
        self.aside[tool] = reason
        for held in (self.tools, self.slots, self.working, self.examples, self.texts):
            held.pop(tool, None)
        for source in [source for source in self.base.pool if source[:2] == ("from", tool)]:
            del self.base.pool[source]
        for sources in self.sources.values():
            sources[:] = [source for source in sources if source[:2] != ("from", tool)]

    def learn(self, state: State, tool: Tool, picked: Mapping[Slot, SourcedValue], result: ToolResult) -> None:
        """Keep what a call that worked teaches: the sources of its values, its text, and the values of its result."""
        self.working[tool.name] = self.working.get(tool.name, 0) + 1
        used = self.attempts.setdefault(tool.name, Attempts()).sources
        for slot, (source, value) in picked.items():
            used += [name for name in [" ".join(source[:2])] if name not in used]
            sources = self.sources.setdefault((tool.name, slot.path), [])
            if source not in sources and source[0] in KINDS:
                sources.append(source)
                sources.sort(key=partial(self._rank, slot))
            if source[0] == "worked":
                self.worked.setdefault(slot, {})[value] = None
        if result.structured is None:
            texts = self.texts.setdefault(tool.name, [])
            if result.text not in texts:
                texts.append(result.text)
            state.harvest_text(tool.name, result.text)
        state.harvest(tool.name, without_logs(record_of(result), self.tools))
        for path in inner_paths(picked, result):
            state.add(("from", tool.name, "path"), path)

    def _rank(self, slot: Slot, source: Source) -> float:
        """The sort key of a slot's sources: the schema's choices, then places by affinity, then other sources."""
        if source[0] == "from":
            return 1 - self.affinity(slot, source) / 10
        return KINDS.index(source[0])
