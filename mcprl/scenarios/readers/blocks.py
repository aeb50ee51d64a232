"""Records written as `name: value` lines: in blocks, under headings, in nested bullets."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from mcprl.scenarios.readers.lists import names_things, read_list
from mcprl.scenarios.readers.scalars import (
    BULLET,
    RULE,
    Pairs,
    Record,
    is_code,
    is_name,
    is_prose,
    pairs_in,
    plain,
    record,
    scalar,
)
from mcprl.types import Json

_NUMBERED = re.compile(r"(.*?[^\W\d])\W*\s#?((?=\d|\S*[\d-]\d|\w{4})[\w-]*\d[\w.-]*)$")
"""`Order 17`, `Invoice INV-1041`; not `bolt M6`."""
_RECORD_RULE = re.compile(r"[-*]*\[ ?RECORD \d+ ?\]?[-+]*$|\*{5,} ?\d+\. row ?\*{5,}$", re.IGNORECASE)
_BARRED = re.compile(r"([\w .-]{1,40}?)\s*\|\s(.*)$")
_HEADING = re.compile(r"(#{1,6})\s+(\S.*)$")


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


def read_blocks(text: str) -> Record | list[Record] | None:
    """The record or records that the text's pairs spell; `None` if fewer than half of its lines are pairs."""
    if is_code(text):
        return None
    blocks = [block for block in _blocks(text) if block.pairs or block.loose or block.heading]
    paired = sum(block.lines for block in blocks)
    loose = sum(block.loose for block in blocks)
    if not paired or paired < loose:
        return None
    kept = [block for block in blocks if block.pairs]
    if paired == 1 and (loose or (len(kept[0].pairs) == 1 and not _is_single(kept[0].pairs[0]))):
        return None
    if all(is_prose(str(value)) for block in kept for _, value in block.pairs):
        return None  # explanations
    pairs = [pair for block in kept for pair in block.pairs]
    if len(pairs) == paired and names_things(pairs):
        return None  # a list of things
    return records_of(kept)


def _is_single(pair: tuple[str, object]) -> bool:
    """Whether one pair alone can be a record: a short name and a short value that is no sentence."""
    return len(pair[0].split()) <= 3 and len(str(pair[1])) <= 80 and not is_prose(str(pair[1]))


def _blocks(text: str) -> list[Block]:
    """The text's lines as blocks, in their order."""
    blocks = [Block()]
    lines = [(line.expandtabs(), line.strip()) for line in text.splitlines()]
    outer = _indent_of_items(lines)
    below = _below(lines)
    listed = 0  # the line up to which the items of a field's list stand
    for number, (line, bare) in enumerate(lines):
        if number < listed:
            continue
        if blocks[-1].pairs and (end := _items_end(lines, number)):
            items = read_list("\n".join(bare for _, bare in lines[number:end]))
            blocks[-1].pairs.append((plain(bare).rstrip(":"), items or [plain(lines[number + 1][1][1:])]))
            blocks[-1].lines += end - number
            listed = end
            continue
        if not bare or RULE.match(bare):
            if blocks[-1].pairs or (bare and blocks[-1].loose):
                blocks.append(Block(blank=not bare))
        elif _RECORD_RULE.match(bare):
            blocks.append(Block())
        elif _is_empty_pair(blocks[-1], bare, below[number]):
            blocks[-1].lines += 1
        elif heading := _heading(line, bare, below[number], outer):
            blocks.append(Block(plain(heading[1]).rstrip(":").strip(), heading[0]))
        elif not blocks[-1].pairs and not blocks[-1].heading and _is_caption(lines, number):
            blocks.append(Block(plain(bare), 10))
        else:
            _add(blocks, line, bare, outer)
    return blocks


def _items_end(lines: Sequence[tuple[str, str]], number: int) -> int:
    """The end of the bullets without pairs beneath a name ("Items:"); 0 if the line is no such name."""
    bare = lines[number][1]
    if not bare.endswith(":") or not is_name(plain(bare).rstrip(":"), 3) or BULLET.match(bare):
        return 0
    end = number + 1
    while end < len(lines) and (match := BULLET.match(lines[end][1])) and not pairs_in(lines[end][1][match.end() :]):
        end += 1
    return end if end > number + 1 else 0


def _is_caption(lines: Sequence[tuple[str, str]], number: int) -> bool:
    """Whether a line is the first of its paragraph, reads as a title, and has pairs right below it."""
    bare = lines[number][1]
    before = lines[number - 1][1] if number else ""
    if number + 1 >= len(lines) or len(bare) > 80 or not (not before or RULE.match(before)):
        return False
    if is_prose(bare) or pairs_in(bare) or BULLET.match(bare):
        return False
    return _has_pairs(lines[number + 1][1])


def _add(blocks: list[Block], line: str, bare: str, outer: int | None) -> None:
    """Add a line to the last block: its pairs, the rest of the value before it, or a loose line."""
    bullet = BULLET.match(bare)
    body = bare[bullet.end() :] if bullet else bare
    pairs = pairs_in(body) or _barred(body)
    if pairs:
        if bullet and _indent(line) == outer and pairs[0][0] in blocks[-1].names:
            blocks.append(Block())
        blocks[-1].pairs += pairs
        blocks[-1].names.update(name for name, _ in pairs)
        blocks[-1].lines += 1
        blocks[-1].indent = _indent(line)
    elif not bullet and _goes_on(blocks[-1], line):
        name, value = blocks[-1].pairs[-1]
        blocks[-1].pairs[-1] = (name, f"{value} {bare}")
    else:
        blocks[-1].loose += 1


def _goes_on(block: Block, line: str) -> bool:
    """Whether a line is the rest of the block's last value: text indented deeper than its name."""
    value = block.pairs[-1][1] if block.pairs else None
    return isinstance(value, str) and len(value) < 2_000 and _indent(line) > block.indent + 1


def _is_empty_pair(block: Block, bare: str, below: tuple[str, str] | None) -> bool:
    """Whether `Text:` among pairs is a name without a value, and no heading: the next name is not a repeated one."""
    if not block.pairs or not bare.endswith(":") or not is_name(plain(bare)[:-1], 3) or BULLET.match(bare):
        return False
    following = pairs_in(below[1]) if below else []
    return (
        bool(following)
        and following[0][0] not in block.names
        and below is not None
        and _indent(below[0]) <= block.indent
    )


def _barred(body: str) -> Pairs:
    """A line of psql's expanded form, `name | value`."""
    match = _BARRED.match(body) if body.count("|") == 1 else None
    return [(match[1].strip(), scalar(match[2]))] if match and is_name(match[1].strip(), 3) else []


def _below(lines: Sequence[tuple[str, str]]) -> list[tuple[str, str] | None]:
    """For each line the next one that is not blank."""
    below: list[tuple[str, str] | None] = []
    following: tuple[str, str] | None = None
    for line in reversed(lines):
        below.append(following)
        following = line if line[1] else following
    return below[::-1]


def _heading(line: str, bare: str, below: tuple[str, str] | None, outer: int | None) -> tuple[int, str] | None:
    """The level and text of a heading: `## Text`, `**Text**`, `Text:`, `1. Text` or a bullet with pairs beneath it."""
    if match := _HEADING.match(bare):
        return len(match[1]), re.sub(r"^\d+[.)]\s+", "", match[2].strip())
    if below is None:
        return None
    if re.fullmatch(r"\*\*[^*]{1,80}\*\*:?", bare) and not pairs_in(bare):
        return 7, bare
    bullet = BULLET.match(bare)
    body = plain(bare[bullet.end() :] if bullet else bare)
    if (
        re.fullmatch(r"[^.!?;]{1,60}:", body)
        and _has_pairs(below[1])
        and (not bullet or _indent(below[0]) > _indent(line))
    ):
        return 9 if bullet else 8, body
    deeper = _indent(below[0]) > _indent(line) and _has_pairs(below[1])
    if bullet and deeper and _indent(line) == outer and not is_prose(body) and not pairs_in(body):
        return 9, body
    numbered = bullet and bare[0].isdigit() and _has_pairs(below[1]) and not BULLET.match(below[1])
    return (9, body) if numbered and not is_prose(body) and not pairs_in(body) else None


def _has_pairs(bare: str) -> bool:
    bullet = BULLET.match(bare)
    return bool(pairs_in(bare[bullet.end() :] if bullet else bare))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _indent_of_items(lines: Sequence[tuple[str, str]]) -> int | None:
    """How far the outermost bullets are indented; `None` if there are none."""
    return min((_indent(line) for line, bare in lines if BULLET.match(bare)), default=None)


# --- blocks as records ------------------------------------------------------------------------------------------------


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
