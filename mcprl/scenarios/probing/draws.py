"""Which values probing puts into the slots of a call, and from which source: `fill_read`, `fill_write`.

Each slot has candidate sources with a score. The best is taken; a source whose values fail loses score, so that other
sources follow. Values of several slots are taken from one record where there is one.

All draws come from one random generator. Their order and number belong to what a seed means: a change to them changes
every pack.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from mcprl.judges.checks import leaves
from mcprl.scenarios.parameters import READING, is_replaced
from mcprl.scenarios.probing.candidates import LIKELY, Candidate, candidates
from mcprl.scenarios.probing.knowledge import Knowledge, SourcedValue, State
from mcprl.scenarios.probing.results import takes_path
from mcprl.scenarios.probing.sources import Source, converted, is_named, ordered
from mcprl.scenarios.slots import Slot
from mcprl.servers.effects import is_read
from mcprl.text import stems, words
from mcprl.types import Scalar, Tool

_BLAMED = 0.3
"""What a source loses when a call with its value fails."""
_MOST_STALE = 2
_OTHER = frozenset(("new", "other", "replacement", "another", "destination", "target"))


_FOLDER = re.compile(r"not a (?:directory|folder)|enotdir")
_FILE = re.compile(r"(?<!not )(?:is a|illegal operation on a) directory|eisdir|not a (?:regular )?file")
"""What an error says of a path of the wrong kind, in small letters: that a folder, or a file, was expected."""


def _any(_slot: Slot, _value: Scalar) -> bool:
    return True


@dataclass
class Penalties:
    """What the calls of one tool taught: how much score each (slot, source) has lost, and which values were `taken`
    together from one record. Only `allowed` values are taken so, and none of a source that is often `stale`: what it
    holds of a thing is what the thing has already. `folders` says of a path whether errors asked for a folder. `bare`
    is whether the tool refuses a call without arguments. `refused` are those of `taken` with which a call failed.
    `fitting` has what records can put into slots, so that each record is looked at once.
    """

    lost: dict[tuple[Slot, Source], float] = field(default_factory=dict[tuple[Slot, Source], float])
    taken: set[tuple[Scalar, ...]] = field(default_factory=set[tuple[Scalar, ...]])
    bare: bool = False
    refused: set[tuple[Scalar, ...]] = field(default_factory=set[tuple[Scalar, ...]])
    allowed: Callable[[Slot, Scalar], bool] = _any
    stale: Counter[tuple[Slot, Source]] = field(default_factory=Counter[tuple[Slot, Source]])
    folders: dict[Slot, bool] = field(default_factory=dict[Slot, bool])
    fitting: dict[tuple[Slot, ...], "Fitting"] = field(default_factory=dict[tuple[Slot, ...], "Fitting"])

    def fits(self, slot: Slot, value: Any) -> bool:
        """Whether a value is of the kind that the errors so far asked for: a file's name has an ending."""
        is_folder = "." not in str(value).rstrip("/").rpartition("/")[2]
        return slot not in self.folders or self.folders[slot] == is_folder

    def blame(self, picked: Mapping[Slot, SourcedValue], scores: Mapping[Slot, float], message: str) -> None:
        """Take score from the source of the slot that a failure's message names, else of the least certain slot."""
        self.bare = self.bare or not picked
        values = {value for _, value in picked.values()}
        self.refused.update(taken for taken in self.taken if {*taken} <= values)
        free = [slot for slot in picked if not slot.choices]
        if not free:
            return
        said = message.casefold().replace(free[0].tool.casefold(), "")
        named = [slot for slot in free if is_named(slot, picked[slot][1], said)]
        if _FOLDER.search(said) or _FILE.search(said):
            self.folders.update(dict.fromkeys(named, bool(_FOLDER.search(said))))
        unsure = [slot for slot in named if scores.get(slot, 0.0) < LIKELY]
        if not unsure or len(named) == len(free):
            unsure = [min(free, key=lambda slot: scores.get(slot, 0.0))]
        for slot in unsure:
            entry = slot, picked[slot][0]
            self.lost[entry] = self.lost.get(entry, 0.0) + _BLAMED


@dataclass
class Fitting:
    """The first `read` records in the order in which they were found: for each that fills at least two of the slots,
    their values and whether the record has a word of the tool's name."""

    read: int = 0
    found: list[tuple[dict[Slot, SourcedValue], bool]] = field(
        default_factory=list[tuple[dict[Slot, SourcedValue], bool]]
    )

    def update(self, known: Knowledge, tool: Tool, slots: Sequence[Slot]) -> None:
        """Look at the records that are new."""
        wanted = {*words(tool.name)}
        for record in known.records.since(self.read):
            self.read += 1
            values = {slot: own for slot in slots if (own := _in_record(known, slot, record))}
            if len(values) > 1:
                told = any(
                    isinstance(leaf, str) and leaf.casefold() in wanted for own in record.values() for leaf in own
                )
                self.found.append((values, told))


@dataclass(frozen=True)
class Draw:
    """The values drawn for a call, and how certain their sources are."""

    picked: dict[Slot, SourcedValue]
    scores: dict[Slot, float]


def fill_read(
    known: Knowledge, tool: Tool, state: State, rng: random.Random, attempt: int, penalties: Penalties
) -> Draw:
    """Values for a read's required slots, and for one optional slot on odd attempts; on few before the tool worked. A
    tool that takes only optional ones, and not none, gets one."""
    chosen = [slot for slot in known.slots[tool.name] if slot.required]
    optional = [slot for slot in known.slots[tool.name] if not slot.required]
    if attempt and not chosen and not known.working.get(tool.name):
        ranked = sorted(optional, key=lambda slot: not slot.choices)
        at = (attempt - 1) % (len(ranked) + 1)
        chosen = ranked[at : at + 1] or optional  # one after the other, then all
    elif optional and not chosen and penalties.bare:
        chosen = [rng.choice(optional)]
    elif optional and attempt % (2 if known.working.get(tool.name) else 4) == 1:
        chosen.append(rng.choice(optional))
    return _draw(known, tool, chosen, state, rng, penalties, attempt)


def fill_write(
    known: Knowledge, tool: Tool, state: State, rng: random.Random, attempt: int, penalties: Penalties | None = None
) -> Draw | None:
    """Values for a write's slots; `None` if the draw left all its optional slots empty. With the `penalties` of
    earlier draws, no record is drawn twice.
    """
    chosen = [slot for slot in known.slots[tool.name] if slot.required or rng.random() >= 0.6]
    if not chosen and known.slots[tool.name]:
        return None
    return draw_write(known, tool, chosen, state, rng, attempt, penalties or Penalties())


def draw_write(
    known: Knowledge,
    tool: Tool,
    chosen: Sequence[Slot],
    state: State,
    rng: random.Random,
    attempt: int,
    penalties: Penalties,
) -> Draw:
    """Values for the chosen slots of a write. Attempts 2, 5, 8, ... refer to no existing thing if they need not."""
    return _draw(known, tool, chosen, state, rng, penalties, attempt, refers=attempt % 3 != 2)


def _draw(
    known: Knowledge,
    tool: Tool,
    chosen: Sequence[Slot],
    state: State,
    rng: random.Random,
    penalties: Penalties,
    attempt: int,
    refers: bool = True,
) -> Draw:
    """The best candidate of each slot; the slot with the most certain place is the anchor of the others' records."""
    best: dict[Slot, Candidate] = {}
    for slot in chosen:
        options = candidates(known, slot, state, rng, refers)
        options = [entry for entry in options if any(penalties.fits(slot, own) for own in entry.values)] or options
        best[slot] = max(options, key=lambda entry: entry.score - penalties.lost.get((slot, entry.source), 0.0))
    together = _of_one_record(known, tool, chosen, penalties) if refers and attempt % 3 != 1 else {}
    written = old_text(known, tool, rng)
    together |= {slot: (best[slot].source, value) for slot, value in written.items() if slot in best}
    picked = dict(together)
    for slot in _anchor_first(known, tool, best):
        if slot in picked:
            continue
        entry = best[slot]
        for usable in (penalties.fits, penalties.allowed):
            entry = replace(entry, values=[v for v in entry.values if usable(slot, v)] or entry.values)
        value = _value(known, tool, slot, entry, picked, rng)
        known.used_values.add((slot, value))
        picked[slot] = (best[slot].source, value)
    in_order = {slot: picked[slot] for slot in chosen}
    arrange(in_order)
    scores = {slot: entry.score - penalties.lost.get((slot, entry.source), 0.0) for slot, entry in best.items()}
    scores |= dict.fromkeys(together, 1.0)
    return Draw(in_order, scores)


def _of_one_record(
    known: Knowledge, tool: Tool, chosen: Sequence[Slot], penalties: Penalties
) -> dict[Slot, SourcedValue]:
    """The values of at least two slots from one record, that were not taken from one before; empty if there are none.

    Of several records, one that fills more slots is better, then one with a word of the tool's name (a status). A slot
    for something new or other is left to the other candidates.
    """
    taken = (slot for slot in chosen if not slot.choices and slot.path != ("amount",))  # what is given is no old total
    open_slots = tuple(slot for slot in taken if not _OTHER & {*words(slot.key)})
    if len(open_slots) < 2:
        return {}
    fitting = penalties.fitting.setdefault(open_slots, Fitting())
    fitting.update(known, tool, open_slots)
    best: dict[Slot, SourcedValue] = {}
    rank = (1, False)
    for found, told in reversed(fitting.found):
        picked = {slot: own for slot, own in found.items() if penalties.stale[slot, own[0]] < _MOST_STALE}
        if (len(picked), told) <= rank or tuple(value for _, value in picked.values()) in penalties.taken:
            continue
        if all(penalties.allowed(slot, own) and penalties.fits(slot, own) for slot, (_, own) in picked.items()):
            best, rank = picked, (len(picked), told)
    penalties.taken.add(tuple(value for _, value in best.values()))
    return best


def _in_record(known: Knowledge, slot: Slot, record: Mapping[Source, Sequence[Scalar]]) -> SourcedValue | None:
    """The value of a record whose place has the slot's name, if there is one."""
    likely = max(record, key=lambda source: known.affinity(slot, source), default=None)
    if likely is None or known.affinity(slot, likely) < 0.8:
        return None
    values = [value for value in (converted(slot, own) for own in record[likely]) if value is not None]
    return (likely, values[0]) if values else None


def _anchor_first(known: Knowledge, tool: Tool, best: Mapping[Slot, Candidate]) -> list[Slot]:
    """The slots, those that values of results fill first: what the tool is about before the rest."""
    about = {*stems(tool.name)}

    def rank(slot: Slot) -> tuple[bool, bool, float]:
        return best[slot].source[0] != "from", not about & {*stems(slot.key)}, -best[slot].score

    return sorted(best, key=rank)


def _value(
    known: Knowledge, tool: Tool, slot: Slot, entry: Candidate, picked: Mapping[Slot, SourcedValue], rng: random.Random
) -> Scalar:
    """A value of a candidate: of the record that the values picked so far are in, if possible one not used before. What
    takes the place of another thing is one of its kind.
    """
    values = list(entry.values)
    old = next((own for own in picked if _replaces(slot, own)), None)
    if old is not None and (kin := _of_its_kind(known, tool, (old, picked[old][1]), slot)):
        return rng.choice(kin)
    if entry.source[0] == "from" and len(known.slots[tool.name]) > 1:
        taken = [value for source, value in picked.values() if source[0] == "from"]
        together = [converted(slot, value) for value in known.records.beside(entry.source, reversed(taken))]
        beside = [value for value in together if value is not None and value in entry.values]
        others = [value for value in beside if value not in taken]
        values = others or beside or _about(known, tool, values)
    fresh = [value for value in values if (slot, value) not in known.used_values]
    return rng.choice(fresh or values)


def _replaces(new: Slot, old: Slot) -> bool:
    """Whether a slot is for what takes the place of another slot's thing: `new_item_id` for `item_id`."""
    kept = [stem for stem in stems(new.key) if stem not in _OTHER]
    return kept == [*stems(old.key)] and len(kept) < len(stems(new.key))


def _of_its_kind(known: Knowledge, tool: Tool, old: tuple[Slot, Scalar], new: Slot) -> list[Scalar]:
    """The values that stand beside an old value in one list of a result: the variants of one product.

    Of several lists, one where the two values of a call that worked stand together is taken, else the longest.
    """
    lists = known.records.lists_with(old[1])
    worked = [dict(leaves(example.arguments)) for example in known.examples.get(tool.name, ())]
    pairs = [(own[old[0].path], own[new.path]) for own in worked if old[0].path in own and new.path in own]
    proven = {place for one, other in pairs for place, values in known.records.lists_with(one) if other in values}
    usable = [values for place, values in lists if place in proven] or [values for _, values in lists if not proven]
    return [value for value in max(usable, key=len, default=[]) if value != old[1]]


def _about(known: Knowledge, tool: Tool, values: Sequence[Scalar]) -> list[Scalar]:
    """The values whose records hold a word of the tool's name (`cancel_pending_order`: those with status pending), all
    if there are none.
    """
    wanted = {*words(tool.name)}
    told = [value for value in values[:60] if known.records.tells(value, wanted)]
    return told or list(values)


def arrange(picked: dict[Slot, SourcedValue]) -> None:
    """Swap values of a begin and its end where the end comes first."""
    for one in picked:
        for other in picked:
            low, high = picked[one], picked[other]
            if not ordered(one, other) or type(low[1]) is not type(high[1]) or low[1] <= high[1]:
                continue
            picked[one], picked[other] = (low[0], high[1]), (high[0], low[1])


# --- a text in place of another ---------------------------------------------------------------------------------------

_LONGEST = 80
_TEXTS = frozenset("text str string content line lines snippet old new find search replace replacement".split())


class Replacement(NamedTuple):
    """The parameters of a tool that replaces a text in a file."""

    path: Slot
    old: Slot
    new: Slot


def replacement(tool: Tool, slots: Sequence[Slot]) -> Replacement | None:
    """The parameters of a tool that replaces a text in a file and needs nothing else; `None` for other tools, such as
    one that takes an old and a new path.
    """
    path = next((slot for slot in slots if slot.required and takes_path(slot)), None)
    texts = [slot for slot in slots if slot.kind == "string" and slot is not path and {*words(slot.key)} <= _TEXTS]
    pairs = [(old, new) for old in texts for new in texts if is_replaced(old.key, new.key)]
    if is_read(tool) or path is None or not pairs or {slot for slot in slots if slot.required} - {path, *pairs[0]}:
        return None
    return Replacement(path, *pairs[0])


def old_text(known: Knowledge, tool: Tool, rng: random.Random) -> dict[Slot, Scalar]:
    """For a tool that replaces a text in a file: the path of a file that was read and a line of it. Empty for others,
    and if none was read."""
    replaced = replacement(tool, known.slots[tool.name])
    if replaced is None:
        return {}
    lines: list[tuple[str, str]] = []
    for name, examples in known.examples.items():
        for example in examples if {*words(name)} & READING else ():
            arguments = [value for _, value in leaves(example.arguments)]
            if len(arguments) != 1 or not isinstance(path := arguments[0], str) or not PurePosixPath(path).suffix:
                continue
            text = example.result.text
            own = [line.strip() for line in text.splitlines()]
            lines += [(path, line) for line in own if 3 < len(line) <= _LONGEST and text.count(line) == 1]
    if not lines:
        return {}
    path, line = rng.choice(lines)
    return {replaced.path: path, replaced.old: line}
