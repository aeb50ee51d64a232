"""Tables: with bars (Markdown, psql, boxes), with commas or tabs, and in columns of fixed width."""

import csv
import re
from collections.abc import Sequence

from mcprl.scenarios.readers.scalars import Record, is_name, is_prose, plain, scalar

_RULED = re.compile(r"[\s|+:=─━┼│╪═┬┴├┤╞╡┌┐└┘╔╗╚╝╠╣╦╩╬║-]*$")
_OF_PAIRS = {(name, "value") for name in ("field", "property", "attribute", "key", "item", "detail")}
_GAP = re.compile(r"\s{2,}|\t")
_MOST_COLUMNS = 100
_BARS = str.maketrans("│║┃", "|||")
_COUNTED = re.compile(r"\(?\d+ (?:rows?|records?|results?|items?|entries)\b.{0,40}$")


def read_barred(text: str) -> list[Record] | Record | None:
    """A table whose cells stand between bars and that has a rule of dashes, or as many bars in every line. One with the
    heads field and value is a record."""
    if "[ RECORD " in text or "|" not in (text := text.translate(_BARS)):
        return None
    lines = text.splitlines()
    tables = [block for block in _blocks(lines) if len(block) > 1]
    records: list[Record] = []
    for block in tables:
        rows = [_cells(line) for line in block if not _is_rule(line)]
        ruled = len(rows) < len(block)
        if len(rows) < 2 or len(rows[0]) < 2 or not (ruled or _is_header(rows)):
            return None
        rows = [row for row in rows if len(row) == len(rows[0])] if ruled else rows
        if len({len(row) for row in rows}) != 1 or not all(rows[0]):
            return None
        if len(tables) == 1 and (pairs := _pairs(rows)):
            return pairs
        records += _records(rows)
    return records or None


def _blocks(lines: Sequence[str]) -> list[list[str]]:
    """The runs of lines that have bars or are rules beside such lines."""
    blocks: list[list[str]] = [[]]
    for line in lines:
        if "|" in line or (_is_rule(line) and line.strip()):
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if sum("|" in line for line in block) > 1]


def _is_rule(line: str) -> bool:
    return bool(_RULED.match(line)) and re.search(r"--|:-|-:|══|──|━━|==|\|\s*-\s*\|", line) is not None


def _cells(line: str) -> list[str]:
    line = line.strip()
    if line.startswith("|"):
        line = line[1:-1] if line.endswith("|") and not line.endswith("\\|") else line[1:]
    return [plain(cell.replace("\\|", "|")) for cell in re.split(r"(?<!\\)\|", line)]


def _pairs(rows: Sequence[Sequence[str]]) -> Record:
    """The one record of a table with the heads field and value; empty for others."""
    if tuple(name.casefold() for name in rows[0]) not in _OF_PAIRS:
        return {}
    return {name: value for name, cell in rows[1:] if name and (value := scalar(cell)) is not None}


def _records(rows: Sequence[Sequence[str]]) -> list[Record]:
    """The rows under a header as records; cells without a value are left out."""
    head, *rest = rows
    values = ([(name, scalar(cell)) for name, cell in zip(head, row, strict=True)] for row in rest)
    return [found for row in values if (found := {name: value for name, value in row if value is not None})]


def _is_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names columns: names that differ, and a row beneath has cells of another kind, or the
    names are written as identifiers or capitals.
    """
    head, *rest = rows
    if not rest or len(set(head)) < len(head) or not all(is_name(name, 4) and not is_prose(name) for name in head):
        return False
    if any(re.search(r"\d{2}|: |^[^\w%#*(]|^\d", name) for name in head):
        return False
    columns = zip(*rows, strict=False)
    if any(all(re.search(r"\d", cell) for cell in column) for column in columns):
        return False  # the first row is a row as the others are
    if all(
        re.fullmatch(r"[a-z][a-z0-9]*(?:[_.-][a-z0-9]+)*|[A-Z][A-Z0-9 _/%-]*|[a-z]+(?:[A-Z][a-z0-9]*)+", n)
        for n in head
    ):
        return (
            not all(re.fullmatch(r"[A-Z][A-Z0-9 _/-]*|[a-z]+", cell) for row in rest for cell in row) or len(rest) > 1
        )
    typed = [sum(bool(re.search(r"\d", row[n])) for row in rest if n < len(row)) for n in range(len(head))]
    return max(typed) > len(rest) / 2 or (all(re.match(r"[A-Z]", name) for name in head) and len(rest) > 1)


def read_separated(text: str) -> list[Record] | None:
    """CSV, TSV or the same with semicolons, under a header. `csv.Sniffer` is not used: it takes prose for tables, and
    its regular expressions are slow on hostile text.
    """
    lines = [line for line in text.strip().splitlines() if line.strip()]
    for mark in ("\t", ";", ","):
        if len(lines) < 2 or mark not in lines[0]:
            continue
        try:
            rows = [row for row in csv.reader(text.strip().splitlines(), delimiter=mark, strict=True) if row]
        except csv.Error:
            continue
        rows = [[cell.strip() for cell in row] for row in rows]
        if len(rows) > 2 and len(rows[-1]) == 1 and _COUNTED.match(rows[-1][0]):
            rows.pop()
        spaced = mark + " " in lines[0]
        if len({len(row) for row in rows}) != 1 or (spaced and any(" " in name for name in rows[0])):
            continue
        if spaced and not any(re.search(r"\d", cell) for row in rows[1:] for cell in row):
            continue  # prose broken at a comma
        if _is_header(rows):
            return _records(rows)
    return None


def read_aligned(text: str) -> list[Record] | None:
    """A table in columns of fixed width under a header, with or without a rule of dashes beneath it."""
    lines = [line.expandtabs().rstrip() for line in text.splitlines()]
    for block in _paragraphs(lines):
        while len(block) > 2 and not _is_columned(block[0]):
            block = block[1:]
        while len(block) > 2 and _COUNTED.match(block[-1].strip()):
            block = block[:-1]
        if len(block) < 2:
            continue
        ruled = re.fullmatch(r"\s*[-=─]+(?:\s+[-=─]+)+", block[1]) is not None
        if ruled:
            rows = _cut([block[0], *block[2:]], [match.span() for match in re.finditer(r"\S+", block[1])])
        else:
            rows = _columns(block)
        if rows and len(rows) > 1 and all(rows[0]) and (_is_header(rows) or ruled):
            return _records(rows)
    return None


def _paragraphs(lines: Sequence[str]) -> list[list[str]]:
    blocks: list[list[str]] = [[]]
    for line in lines:
        if line:
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if len(block) > 1]


def _is_columned(line: str) -> bool:
    return _GAP.search(line.strip()) is not None and ": " not in line


def _columns(block: Sequence[str]) -> list[list[str]] | None:
    """The cells of a table whose columns are parted by places that are blank in every line; `None` if there are
    fewer than two, or if a header's word would lie across two columns.
    """
    if not _is_columned(block[0]):
        return None
    head = block[0]
    width = max(map(len, block))
    filled = bytearray(width)
    for line in block:
        for match in re.finditer(r"\S+", line):
            filled[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    spans = [match.span() for match in re.finditer(rb"\x01+", bytes(filled))]
    if len(spans) > _MOST_COLUMNS:
        return None
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        named = bool(head[start:end].strip())
        under = any(line[start:end].strip() for line in block[1:])
        single = head[joined[-1][1] if joined else 0 : start] == " "
        if named and not under and single and head[end : end + 1] == " ":
            return None  # a word of a header that belongs to the column before it or behind it
        if joined and (not named or (single and not under)):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    rows = _cut(block, joined)
    return rows if len(joined) > 1 and not any(_GAP.search(name) for name in rows[0]) else None


def _cut(lines: Sequence[str], spans: Sequence[tuple[int, int]]) -> list[list[str]]:
    """The cells of the lines at the spans; the last one runs to the end of its line."""
    starts = [start for start, _ in spans]
    ends = [*(start for start in starts[1:]), None]
    return [[line[start:end].strip() for start, end in zip(starts, ends, strict=True)] for line in lines]
