"""What probing found out about a server: values and their places, which slots take them, what its writes change.

`scenarios.probe` fills a `Knowledge`; composing, writing and vetting tasks read it. Nothing here is specific to one
server: slots are filled with what schemas name, what descriptions quote, well-known formats, and values harvested from
earlier results. The sources that worked are kept.
"""

import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcprl.judges.checks import Scalar, leaves
from mcprl.scenarios.names import is_read, noun, related, stems, words
from mcprl.scenarios.slots import JsonPath, Slot
from mcprl.scenarios.values import UNIVERSAL, invent, known_format, neighbour
from mcprl.types import Call, Json, Tool

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

    `base` is the state of a fresh session. `sources` has, for each slot (tool, path), the sources that worked, most
    specific first. `texts` has the different text results of each tool. `working` counts each tool's usable results.
    `creators` are writes that work in a fresh session without references to existing things. `volatile` are the (tool,
    field label) pairs that change from one session to the next. `used_values` are the values that probing put into each
    slot. `calls` counts the probing calls.
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


def draw_value(known: Knowledge, slot: Slot, state: State, rng: random.Random, attempt: int) -> SourcedValue:
    """A value to probe a slot with, and its source.

    `attempt` counts from 0 how often the tool was called in this pass. The first row that yields a value wins:

    | attempt           | candidate                                                                             |
    |-------------------|---------------------------------------------------------------------------------------|
    | any               | one of the slot's choices, if the schema lists them                                   |
    | not 2, 5, 8, ...  | an unused value of a source that worked for the slot                                  |
    | 1, 3, 5, ...      | a guess beside a value of such a source: `C-1043` beside `C-1042`                     |
    | any               | a value of the entry `attempt % length` of `_candidates`, most likely sources first   |
    """
    if slot.choices:
        return ("choices",), rng.choice(slot.choices)
    if attempt % 3 != 2:
        unused = _unused_value(known, slot, state)
        if unused is not None:
            known.used_values.add((slot, unused[1]))
            return unused
    for source in known.sources.get((slot.tool, slot.path), []):
        # Even attempts draw the guesses too and drop them: the draws belong to the sequence that the seed stands for.
        guesses = _unused_neighbours(known, slot, state.pool.get(source, ()), rng)
        if guesses and attempt % 2 == 1:
            known.used_values.add((slot, guesses[0]))
            return source, rng.choice(guesses)
    candidates = _candidates(known, slot, state, rng)
    source, values = candidates[attempt % len(candidates)]
    fresh = [value for value in values if (slot, value) not in known.used_values]
    value = rng.choice(fresh or list(values))
    known.used_values.add((slot, value))
    return source, value


def _unused_value(known: Knowledge, slot: Slot, state: State) -> SourcedValue | None:
    """The first value not yet used for the slot, of the first source that worked for it and has one."""
    for source in known.sources.get((slot.tool, slot.path), []):
        unused = [value for value in state.pool.get(source, ()) if (slot, value) not in known.used_values]
        if unused and fits(slot, unused[0]):
            return source, unused[0]
    return None


def _unused_neighbours(known: Knowledge, slot: Slot, values: Iterable[Scalar], rng: random.Random) -> list[Any]:
    """Guesses beside `values` that were not yet used for the slot. One guess is drawn for each value."""
    guesses = [neighbour(value, rng) for value in values]
    return [guess for guess in guesses if guess is not None and (slot, guess) not in known.used_values]


def _candidates(known: Knowledge, slot: Slot, state: State, rng: random.Random) -> list[tuple[Source, Sequence[Any]]]:
    """Sources for a slot, each with its values, in the order in which attempts take them.

    1. For a search slot without a place of a like name: a word of the texts seen.
    2. At most four places whose name is like the slot's, the closest first.
    3. The examples that the schema and the description give.
    4. An invented value.
    5. For a string slot with fewer than two such places: at most four other places, in random order.
    """
    fitting = [(source, [value for value in values if fits(slot, value)]) for source, values in state.pool.items()]
    places = [(affinity(known, slot, source), source, values) for source, values in fitting if values]
    named = sorted((entry for entry in places if entry[0] >= 0.5), key=lambda entry: -entry[0])
    candidates: list[tuple[Source, Sequence[Any]]] = [(source, values) for _, source, values in named[:4]]
    if examples := quoted(slot):
        candidates.append((("quoted",), examples))
    candidates.append((("invented",), [invent(slot, rng)]))
    if slot.kind == "string" and len(named) < 2:
        others = [entry for entry in places if entry[0] < 0.5]
        rng.shuffle(others)
        candidates += [(source, values) for _, source, values in others[:4]]
    if slot.kind == "string" and not named and "query" in slot.key:
        seen_words = _long_words(values for _, _, values in places)
        if seen_words:
            candidates.insert(0, (("invented",), [rng.choice(seen_words)]))
    return candidates


def _long_words(places: Iterable[Sequence[Scalar]]) -> list[str]:
    texts = [value for values in places for value in values if isinstance(value, str)]
    return [word for text in texts for word in text.split() if len(word) > 3]


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
    giving, keys = source[1], source[2:]
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


def fill_write(
    known: Knowledge, tool: Tool, state: State, rng: random.Random, attempt: int
) -> dict[Slot, SourcedValue] | None:
    """Values for a write's slots; `None` if the draw left all its optional slots empty.

    A slot that may refer to an existing thing takes a value of the place whose name is closest. Odd attempts accept a
    less close name, and attempts 2, 5, 8, ... take none. All other slots take invented values.
    """
    bar = 0.75 if attempt % 2 == 0 else 0.45
    picked: dict[Slot, SourcedValue] = {}
    for slot in known.slots[tool.name]:
        if not slot.required and rng.random() < 0.6:
            continue
        if slot.choices:
            picked[slot] = ("choices",), rng.choice(slot.choices)
            continue
        places = [
            (affinity(known, slot, source), source, values)
            for source, values in state.pool.items()
            if _may_refer(slot, source)
        ]
        near = [entry for entry in places if entry[0] >= bar and any(fits(slot, value) for value in entry[2])]
        if near and attempt % 3 != 2:
            _, source, values = max(near, key=lambda entry: entry[0])
            picked[slot] = source, rng.choice([value for value in values if fits(slot, value)])
        else:
            picked[slot] = ("invented",), invent(slot, rng)
    return picked if picked or not known.slots[tool.name] else None


_REFERRING = frozenset(("id", "ids", "key", "path", "from", "to", "source", "names", "name", "title", "code"))


def _may_refer(slot: Slot, source: Source) -> bool:
    """Whether a write's slot may refer to a thing that exists already.

    True for an id or a name, and for a name of several words (`customer_id`) with values of another tool; false for the
    tool's own free text.
    """
    return (source[1] != slot.tool and len(words(slot.key)) > 1) or slot.key.lower() in _REFERRING
