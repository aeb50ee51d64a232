"""What is known of a server: the values seen in it and where, which slots take them, and what its writes change.

Nothing here knows a server: slots are filled from what schemas name, what descriptions quote, well-known formats, and
values harvested from earlier results; what works is kept. `scenarios.probe` finds it out.
"""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcprl.judges.checks import Scalar, leaves
from mcprl.scenarios.names import is_read, noun, related, stems, words
from mcprl.scenarios.slots import Path, Slot
from mcprl.scenarios.values import UNIVERSAL, invent, known_format, neighbour
from mcprl.types import Call, Json, Tool

Group = tuple[str, ...]
"""Where values come from: `("choices",)`, `("quoted",)`, `("invented",)`, or `("from", tool, *keys)` for a place in
results.
"""
Allowed = Callable[[Scalar], bool]


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


def shape(value: Scalar) -> str:
    """What a value looks like: `P-104` and `P-97` are `A-0`; words in small letters are `a`, and two of them `a a`."""
    text = re.sub(r"[A-Z]+", "A", re.sub(r"\d+", "0", str(value)))
    return re.sub(r"[a-z]+", "a", text) if isinstance(value, str) else type(value).__name__


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
