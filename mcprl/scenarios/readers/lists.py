"""Lists of one line an item, with or without bullets: items of cells ("Oak Shelf (SKU-321) - 12 in stock"), or
scalars.
"""

import re
from collections.abc import Sequence

from mcprl.scenarios.readers.scalars import BULLET, Record, is_code, is_name, is_prose, pair_of, plain, scalar
from mcprl.types import Scalar

_MARKS = re.compile(r"\s+(?:[-–—]+>?|=>|[|·•→]+)\s+|\t+|\s{2,}|;\s+|\s+(?=\()|(?<=\)),?\s+(?=[(\w])")
_COMMAS = re.compile(r",\s+")
_KEYED = re.compile(r"(([A-Za-z]{2,15})\.? #?\d+),?(?:\s+(\S.*))?$")  # `job 301 for Mara Lund`
_NUMBER = ("no", "nr", "num", "nbr")
_TITLE = re.compile(r"[^\W\d_][\w&'’.-]*(?: [\w&'’.-]+){0,3}")
_UNIT = re.compile(
    r"(?:[a-zA-Zµ°%]{1,3}|mins?|minutes?|seconds?|hours?|days?|weeks?|months?|years?|ago|old|euros?|dollars?|pounds?|"
    r"bytes|miles|metres?|meters?|grams?|litres?|liters?|percent|degrees|left|late|early|more)$"
)


def read_list(text: str) -> list[Record] | list[Scalar] | None:
    """The items of a list as records of cells, or as scalars; `None` for prose, code or a single item."""
    if is_code(text):
        return None
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    items = [plain(line[match.end() :]) for line in lines if (match := BULLET.match(line))]
    bulleted = len(items) >= 2 and len(items) >= len(lines) * 0.6
    if not bulleted:
        items = [plain(line) for line in _unmarked(lines)]
    if len(items) == 1 < len(lines) and " " not in items[0] and not bulleted:
        return [items[0]]  # one path under "Allowed directories:"
    if len(items) < 2 or len({line[:1] in "{}[]<" for line in items}) > 1:
        return None
    parts = [item.partition(": ") for item in items]
    pairs = [(name, value) for name, mark, value in parts if mark and len(name) <= 50 and " - " not in name]
    if len(pairs) == len(items) and names_things(pairs):
        items = [" - ".join(pair) for pair in pairs]
    rows = _split(items)
    if not bulleted and all(len(row) == 1 for row in rows):
        rows = _by_words(items) or rows
    if not bulleted and len(rows) > 2 and _is_apart(rows):
        rows = rows[1:]
    if all(len(row) == 1 for row in rows):
        if any(is_prose(item) or len(item.split()) > 8 for item in items):
            return None
        most_words = 3 if bulleted or lines[0].endswith(":") else 1
        if not bulleted and any(len(item.split()) > most_words for item in items):
            return None
        return [value for item in items if (value := scalar(item)) is not None]
    if any(is_prose(cell) for row in rows for cell in row[:1]):
        return None
    return _named(rows, strict=not bulleted)


def names_things(pairs: Sequence[tuple[str, object]]) -> bool:
    """Whether the names of pairs are no fields but things ("INV-1: EUR 12.50", "Wool Rug: 2 left (reorder at 5)"): all
    differ, and all have a figure, or all values are one phrase of several words but for its figures.
    """
    names = [name for name, _ in pairs]
    if not 1 < len({*names}) == len(names) <= 500:
        return False
    phrases = {re.sub(r"\d[\d.,]*", "0", str(value)) for _, value in pairs}
    return all(re.search(r"\d", name) for name in names) or (len(phrases) == 1 and len(phrases.pop().split()) > 2)


def _unmarked(lines: Sequence[str]) -> list[str]:
    """The lines without a heading before them ("Found 3:"), a count before or behind them, or an indented note."""
    items = list(lines)
    barred = [line for line in lines if " | " in line]
    if len(barred) > max(1, 0.6 * len(lines) - 1):
        return barred
    if items and items[0].endswith(":"):
        items = items[1:]
    return items if not any(item.endswith((":", ".", ",", ";")) for item in items) else []


def _by_words(items: Sequence[str]) -> list[list[str]] | None:
    """Items that begin with one word and a number, or with equally many commas, or with equally many words of which one
    is a number or an address in all.
    """
    keyed = [_KEYED.match(item) for item in items]
    if all(keyed) and len({match[2] for match in keyed if match}) == 1 < len({match[1] for match in keyed if match}):
        cells = [[cell for cell in match.group(1, 3) if cell] for match in keyed if match]
        return cells if all(len(row) == 1 or _shared([row[1] for row in cells]) for row in cells) else None
    commas = [item.split(",") for item in items]
    if len({len(row) for row in commas}) == 1 and len(commas[0]) > 2 and not any(" " in item for item in items):
        return [[cell or "-" for cell in row] for row in commas]
    rows = [item.split() for item in items]
    if len({len(row) for row in rows}) != 1 or not 1 < len(rows[0]) < 8:
        return None
    figured = [all(re.fullmatch(r"[\d.,:/]*\d[\w%]{0,3}", row[n]) for row in rows) for n in range(len(rows[0]))]
    return rows if any(figured) else None


def _is_apart(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first line is a preamble: it has no figure in a column that has one in every other row."""
    least = min(map(len, rows))
    figured = [n for n in range(least) if all(re.search(r"\d", row[n]) for row in rows[1:])]
    return len(rows[0]) > least or any(
        not re.match(r"\W?\d", rows[0][n]) for n in figured if re.match(r"\W?\d", rows[1][n])
    )


def _split(items: Sequence[str]) -> list[list[str]]:
    """The cells of the items: split at commas too if that gives every item equally many."""
    rows = [_cells(item, _MARKS) for item in items]
    fine = [[part for cell in row for part in _cells(cell, _COMMAS)] for row in rows]
    return fine if len({len(row) for row in fine}) == 1 else rows


def _cells(text: str, marks: re.Pattern[str]) -> list[str]:
    """The parts between the marks, brackets around a whole part taken off."""
    parts = [part.strip().strip(",") for part in marks.split(text)]
    return [part[1:-1] if part[:1] == "(" and part[-1:] == ")" else part for part in parts if part]


def _named(rows: Sequence[Sequence[str]], strict: bool) -> list[Record] | None:
    """Rows as records. A cell is named by its own label, by the words that its column shares, else `column N`.

    If the rows differ in length, the cells without a label are left out, except the first.
    """
    even = len({len(row) for row in rows}) == 1
    if strict and not even:
        return None
    names = [_shared([row[n] for row in rows]) for n in range(len(rows[0]))] if even else []
    records: list[Record] = []
    for row in rows:
        found: dict[str, Scalar | None] = {}
        for n, cell in enumerate(row):
            pair = pair_of(cell) if ":" in cell or "=" in cell else None
            if pair:
                found.setdefault(pair[0], scalar(pair[1]))
            elif even and (shared := names[n]):
                words = cell.split()
                found.setdefault(shared[0], scalar(" ".join(words[shared[1] : len(words) - shared[2]])))
            elif even or n == 0:
                found[f"column {n}"] = scalar(cell)
        records.append({name: value for name, value in found.items() if value is not None})
    return _titled(records) if even else records


def _titled(records: list[Record]) -> list[Record]:
    """Records with the first column without a name called `name`, if another has one and it holds titles: short texts,
    no two alike."""
    unnamed = [name for name in records[0] if name.startswith("column ")]
    if not unnamed or len(unnamed) == len(records[0]) or any("name" in row for row in records):
        return records
    titles = [row.get(unnamed[0]) for row in records]
    texts = [title for title in titles if isinstance(title, str) and _TITLE.fullmatch(title)]
    if len({*texts}) < len(titles) or all(text.islower() and " " not in text for text in texts):
        return records  # else the words of an enumeration: "open"
    return [{"name" if name == unnamed[0] else name: value for name, value in row.items()} for row in records]


def _shared(cells: Sequence[str]) -> tuple[str, int, int] | None:
    """The label that all cells of a column begin or end with ("departs 08:25", "12 in stock"), and how many words it
    has at the start and at the end; `None` if there is none or it is a unit.
    """
    rows = [cell.split() for cell in cells]
    least = min(map(len, rows))
    start = 0
    while start < least - 1 and len({row[start] for row in rows}) == 1:
        start += 1
    end = 0
    while end < least - 1 - start and len({row[-1 - end] for row in rows}) == 1:
        end += 1
    before = " ".join(rows[0][:start])
    after = " ".join(rows[0][len(rows[0]) - end :])
    numbers = all(re.fullmatch(r"[-\d.,]+", row[0]) for row in rows) and all(len(row) == 1 + end for row in rows)
    if end and not start and numbers and not _UNIT.match(rows[0][-1]) and is_name(after):
        return after, 0, end
    if before.lower().rstrip(".") in _NUMBER and all(re.search(r"\d", row[-1]) for row in rows):
        return "number", start, 0
    if start and re.match(r"[a-z]|[A-Z][a-z]{3}", before) and is_name(before):
        return before.rstrip(":"), start, 0
    return None
