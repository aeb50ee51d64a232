"""Blocks of pairs as records: one a block, all of them as one, or sections of one."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from mcprl.scenarios.readers.scalars import Record, record
from mcprl.types import Json

_NUMBERED = re.compile(r"(.*?[^\W\d])\W*\s#?((?=\d|\S*[\d-]\d|\w{4})[\w-]*\d[\w.-]*)$")
"""`Order 17`, `Invoice INV-1041`; not `bolt M6`."""


@dataclass
class Block:
    """Lines between separators: pairs with at most one heading; `loose` counts lines that are neither."""

    heading: str = ""
    level: int = 0
    pairs: list[tuple[str, Json]] = field(default_factory=list[tuple[str, Json]])
    lines: int = 0
    """How many lines the pairs stand on."""
    loose: int = 0
    names: set[str] = field(default_factory=set[str])
    indent: int = 0
    """How far the last line of pairs is indented."""
    blank: bool = False
    """Whether only a blank line parts it from the block before."""


def records_of(blocks: list[Block]) -> Record | list[Record] | None:
    """Blocks as records: one a block if they are alike, else all of them as one record."""
    if not all(block.blank for block in blocks[1:]):
        blocks = _joined(blocks)
    names = [{name.casefold() for name, _ in block.pairs} for block in blocks]
    if len(blocks) == 1:
        return _one_or_several(blocks[0])
    if _alike(names):
        if not names[0] & set[str].union(*names[1:]):  # a summary before the records
            blocks = blocks[1:]
        if len(blocks) > 2 and not names[-1] & set[str].union(*names[:-1]):  # and one behind them
            blocks = blocks[:-1]
        titled = _titled(blocks)
        return titled if len(titled) > 1 else titled[0]
    if all(block.heading for block in blocks[1:]) and len({block.heading for block in blocks}) == len(blocks):
        sections = {
            block.heading: record(block.pairs) for block in blocks if block.heading and block.level == blocks[-1].level
        }
        head = [pair for block in blocks if block.heading not in sections for pair in block.pairs]
        return {**record(head), **sections}
    if any(block.loose for block in blocks[1:]):
        return None
    merged: list[tuple[str, Json]] = []
    for block in blocks:
        merged += block.pairs
    return record(merged) if len({name for name, _ in merged}) == len(merged) else None


def _joined(blocks: Sequence[Block]) -> list[Block]:
    """Blocks of which some begin with a rule or heading: those behind a mere blank line are joined to the one before,
    if they have no name of it.
    """
    joined = [blocks[0]]
    for block in blocks[1:]:
        if block.blank and not block.names & joined[-1].names:
            joined[-1].pairs += block.pairs
            joined[-1].names |= block.names
        else:
            joined.append(block)
    return joined


def _alike(names: Sequence[set[str]]) -> bool:
    """Whether most neighbouring blocks share half of their names."""
    shared = [len(a & b) >= max(1, min(len(a), len(b)) / 2) for a, b in itertools.pairwise(names)]
    return sum(shared) > len(shared) / 2 or bool(set[str].intersection(*names))


def _one_or_several(block: Block) -> Record | list[Record] | None:
    """The pairs of one block: a name that comes again begins a new record."""
    records: list[Record] = [{}]
    for name, value in block.pairs:
        if name in records[-1]:
            records.append({})
        records[-1][name] = value
    if len(records) > 1:
        if (whole := _with_list(block)) is not None:
            return whole
        if len(block.pairs) <= 0.75 * len(records) * len(block.names):
            return None  # lines of a talk: "Ana: hello"
        return [record([*pairs.items()]) for pairs in records]
    return _titled([block])[0] or None


def _with_list(block: Block) -> Record | None:
    """The pairs as one record if one name stands several times in a row among others that stand once: the items of an
    invoice are a list. Else `None`."""
    runs = [(name, [value for _, value in run]) for name, run in itertools.groupby(block.pairs, lambda pair: pair[0])]
    several = [name for name, values in runs if len(values) > 1]
    if len(several) != 1 or len({name for name, _ in runs}) < len(runs) or len(runs) < 4:
        return None
    return {
        **record([(name, values[0]) for name, values in runs]),
        several[0]: next(v for n, v in runs if n == several[0]),
    }


def _titled(blocks: Sequence[Block]) -> list[Record]:
    """Blocks as records; the heading is a field if every block has one, or if it names one thing ("Order 17")."""
    records = [record(block.pairs) for block in blocks]
    headings = [block.heading for block in blocks]
    if not all(headings):
        return records
    held = set[str]().union(*(map(str.casefold, fields) for fields in records))
    matches = [_NUMBERED.match(heading[:80]) for heading in headings]
    labels = {match[1].strip().casefold() if match else "" for match in matches}
    label = labels.pop() if len(labels) == 1 else ""
    if label and len(label.split()) <= 3 and label.split()[-1] not in ("for", "in", "of", "on", "from", "to", "at"):
        if label in held:
            return records
        numbered = [(match[1].strip(), _number(match[2])) for match in matches if match]
        return [{name: value, **fields} for (name, value), fields in zip(numbered, records, strict=True)]
    name = next((name for name in ("title", "name", "heading") if name not in held), None)
    if name is None or len(set(headings)) < 2:
        return records
    return [{name: heading, **fields} for heading, fields in zip(headings, records, strict=True)]


def _number(text: str) -> int | str:
    return int(text) if text.isdecimal() and len(text) < 18 and str(int(text)) == text else text
