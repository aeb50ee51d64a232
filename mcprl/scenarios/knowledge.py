"""What probing found out about a server: values and their places, which slots take them, what its writes change.

`scenarios.probe` fills a `Knowledge`; composing, writing and vetting tasks read it. Nothing here is specific to one
server: slots are filled with what schemas name, what descriptions quote, well-known formats, and values harvested from
earlier results. The sources that worked are kept.
"""

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from mcprl.judges.checks import leaves
from mcprl.scenarios.fields import record_of
from mcprl.scenarios.names import noun, related
from mcprl.scenarios.slots import JsonPath, Slot
from mcprl.scenarios.values import UNIVERSAL, invent, known_format
from mcprl.servers.effects import is_read
from mcprl.text import stems
from mcprl.types import Call, Json, Scalar, Tool, ToolResult

Source = tuple[str, ...]
"""Where values come from: `("choices",)`, `("quoted",)`, `("invented",)`, or `("from", tool, *keys)` for a place in
results.
"""
SourcedValue = tuple[Source, Any]
Allowed = Callable[[Scalar], bool]


@dataclass(frozen=True)
class State:
    """A state that a fresh session can be put into, and the values seen in it."""

    setup: tuple[Call, ...] = ()
    pool: dict[Source, dict[Scalar, None]] = field(default_factory=dict[Source, dict[Scalar, None]])

    def harvest(self, origin: str, value: Json) -> None:
        """Keep every short scalar of a result (or of a write's arguments) under its place. `origin` is the tool or the
        resource.
        """
        for path, leaf in leaves(value):
            if isinstance(leaf, bool) or not 0 < len(str(leaf)) <= 80:
                continue
            values = self.pool.setdefault(place(origin, path), {})
            if len(values) < 400:
                values[leaf] = None


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
    field label) pairs that change from one session to the next. `used_values` are the (slot, value) pairs that
    reads were probed with. `calls` counts the probing calls.
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

    def reads(self) -> list[Tool]:
        """The read-only tools that returned something usable."""
        return [tool for name, tool in self.tools.items() if is_read(tool) and self.working.get(name)]

    def writes(self) -> list[Tool]:
        """The writing tools that worked."""
        return [tool for name, tool in self.tools.items() if not is_read(tool) and self.working.get(name)]

    def options(self, slot: Slot, state: State, rng: random.Random, allowed: Allowed) -> list[Scalar]:
        """Values that may be put into a slot in a state, from the sources that worked when probed."""
        sources = self.sources.get((slot.tool, slot.path), [])
        if slot.choices:
            return list(slot.choices) if sources else []
        harvested = [value for source in sources if source[0] == "from" for value in state.pool.get(source, ())]
        values = [value for value in dict.fromkeys(harvested) if fits(slot, value) and allowed(value)]
        close = known_format(slot) not in UNIVERSAL and any(affinity(self, slot, source) >= 0.5 for source in sources)
        if ("invented",) in sources and (not values or (not close and rng.random() < 0.6)):
            values = [value for value in (invent(slot, rng) for _ in range(12)) if allowed(value)]
        if ("quoted",) in sources and (not values or rng.random() < 0.2):
            values += [value for value in quoted(slot) if allowed(value) and value not in values]
        return values

    def learn(self, state: State, tool: Tool, picked: Mapping[Slot, SourcedValue], result: ToolResult) -> None:
        """Keep what a call that worked teaches: the sources of its values, its text, and the values of its result."""
        self.working[tool.name] = self.working.get(tool.name, 0) + 1
        for slot, (source, _) in picked.items():
            sources = self.sources.setdefault((tool.name, slot.path), [])
            if source not in sources:
                sources.append(source)
                sources.sort(key=partial(self._rank, slot))
        if result.structured is None:
            texts = self.texts.setdefault(tool.name, [])
            if result.text not in texts:
                texts.append(result.text)
        state.harvest(tool.name, record_of(result))

    def _rank(self, slot: Slot, source: Source) -> float:
        """The sort key of a slot's sources: the schema's choices, then places by affinity, then other sources."""
        if source[0] == "from":
            return 1 - affinity(self, slot, source) / 10
        return ("choices", "from", "quoted", "invented").index(source[0])


def place(origin: str, path: JsonPath) -> Source:
    """A place in results: the tool (or resource) and the keys on the path. List positions are left out."""
    return ("from", origin, *(part for part in path if isinstance(part, str)))


def quoted(slot: Slot) -> list[Scalar]:
    """The values that a schema or description gives as examples."""
    examples: list[Any] = []
    if slot.schema.get("default") not in (None, ""):
        examples.append(slot.schema["default"])
    examples += list(slot.schema.get("examples", ()))
    if slot.kind == "string":
        examples += re.findall(r"['\"`“]([^'\"`“”\s][^'\"`“”]{0,40})['\"`”]", slot.description)
        for listing in re.findall(r"(?:such as|e\.g\.,?|for example,?|like|example:)\s+([^'\"`()]+)", slot.description):
            examples += [word.strip(".;") for word in re.split(r",\s*|\s+or\s+", listing) if len(word.split()) == 1]
        if known_format(slot) in ("path", "folder"):
            examples.append(".")
    return list(dict.fromkeys(value for value in examples if isinstance(value, str | int | float)))


def shape(value: Scalar) -> str:
    """The pattern of a value: `P-104` and `P-97` are `A-0`, a lower-case word is `a`, a number is its type's name."""
    if not isinstance(value, str):
        return type(value).__name__
    text = re.sub(r"[A-Z]+", "A", re.sub(r"\d+", "0", value))
    return re.sub(r"[a-z]+", "a", text)


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


def affinity(known: Knowledge, slot: Slot, source: Source) -> float:
    """How likely the values of a place fit a slot, by names: 1 is the same name, under 0.5 is chance.

    The slot `order_id` fits values named `order_id`, and values named `id` in results of `list_orders`. The slot `id`
    of `get_order` fits both as well.
    """
    if source[0] != "from":
        return 0.0
    _, giving, *keys = source
    key = stems(keys[-1]) if keys else ()
    wanted = stems(slot.key)
    taker = stems(noun(known.tools[slot.tool]))
    giver_names = (*keys[:-1], noun(known.tools[giving]) if giving in known.tools else giving)
    giver = {stem for name in giver_names for stem in stems(name)}
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
