"""Which values probing puts into a slot, and from which source: `draw_value` for reads, `fill_write` for writes.

All draws come from one random generator. Their order and number belong to what a seed means: a change to them changes
every pack.
"""

import random
from collections.abc import Iterable, Sequence
from typing import Any

from mcprl.scenarios.knowledge import Knowledge, Source, SourcedValue, State, affinity, fits, quoted
from mcprl.scenarios.slots import Slot
from mcprl.scenarios.values import invent, neighbour
from mcprl.text import words
from mcprl.types import Scalar, Tool


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
        # Even attempts draw the guesses too and drop them.
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
            picked[slot] = (("choices",), rng.choice(slot.choices))
            continue
        places = [
            (affinity(known, slot, source), source, values)
            for source, values in state.pool.items()
            if _may_refer(slot, source)
        ]
        near = [entry for entry in places if entry[0] >= bar and any(fits(slot, value) for value in entry[2])]
        if near and attempt % 3 != 2:
            _, source, values = max(near, key=lambda entry: entry[0])
            value = rng.choice([value for value in values if fits(slot, value)])
            picked[slot] = (source, value)
        else:
            picked[slot] = (("invented",), invent(slot, rng))
    return picked if picked or not known.slots[tool.name] else None


_REFERRING = frozenset(("id", "ids", "key", "path", "from", "to", "source", "names", "name", "title", "code"))


def _may_refer(slot: Slot, source: Source) -> bool:
    """Whether a write's slot may refer to a thing that exists already.

    True for an id or a name, and for a name of several words (`customer_id`) with values of another tool; false for the
    tool's own free text.
    """
    return (source[1] != slot.tool and len(words(slot.key)) > 1) or slot.key.lower() in _REFERRING
