"""What an answer tells of the things in the results: each value belongs to its own thing, and what a result affirms is
not denied."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from typing import Any

from mcprl.judges.mentions import Place, Reading
from mcprl.judges.owners import assigned, inside
from mcprl.judges.phrases import sentences
from mcprl.judges.values import kind_of, places, same, tokens
from mcprl.servers.arguments import leaves
from mcprl.types import Scalar, ToolResult

Row = Mapping[str, Scalar]

_LINE = re.compile(r"^\s*([^:\n]{2,40}): +(\S.*)$", re.MULTILINE)
_MOST = 500
"""Rows of one kind, or fields of one row. More are not compared."""


def contradicted(reading: Reading, results: Sequence[ToolResult]) -> str:
    """What an answer tells of another thing than the results do, or denies of its own thing; empty if nothing."""
    kinds: dict[frozenset[str], dict[tuple[Scalar, ...], Row]] = {}
    for row in (row for result in results for row in _rows(result)):
        kinds.setdefault(frozenset(row), {})[tuple(row.values())] = row
    for rows in (list(kind.values()) for kind in kinds.values()):
        if max(len(rows), len(rows[0])) > _MOST:
            continue
        found = [_exchanged(reading, owners) for owners in (_by_key(reading, rows) if rows[1:] else rows)]
        found += [_denied(part, rows) for part in sentences(reading.text)]
        if wrong := next(filter(None, found), ""):
            return f"the answer tells {wrong}, which the results contradict"
    return ""


def _rows(result: ToolResult) -> Iterator[Row]:
    """The flat part of each object in a result, or the labelled lines of a text as one."""
    structured: Any = result.structured
    with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
        structured = ast.literal_eval(result.text) if not structured and result.text[:1] in "[{" else structured
    rows: dict[tuple[str | int, ...], dict[str, Scalar]] = {}
    for path, value in leaves(structured):
        if path and isinstance(path[-1], str) and isinstance(value, Scalar):
            rows.setdefault(path[:-1], {})[path[-1]] = value
    yield from rows.values()
    if not rows:
        yield {match[1].strip(): match[2].strip() for match in _LINE.finditer(result.text)}


def _by_key(reading: Reading, rows: Sequence[Row]) -> Iterator[dict[str, Scalar]]:
    """For each field that names the rows and each other field, the named rows' values."""
    for key in rows[0]:
        names = {str(row[key]) for row in rows}
        if len(names) < len(rows) or not all(isinstance(row[key], str) for row in rows):
            continue
        told = [row for row in rows if _named(reading, str(row[key]))]
        for field in (field for field in rows[0] if field != key and len(told) > 1):
            yield {str(row[key]): row[field] for row in told}


def _exchanged(reading: Reading, owners: Mapping[str, Scalar]) -> str:
    """The value that one owner has in the answer instead of another one's."""
    named = {name: _named(reading, name) for name in owners}
    told = {name: places(reading, owners[name]) for name in owners if named[name]}
    longer = [place for spots in (*named.values(), *told.values()) for place in spots]
    anchors = {name: [spot for spot in named[name] if not any(inside(spot, long) for long in longer)] for name in told}
    for one, other in combinations([name for name, spots in anchors.items() if spots], 2):
        mine, theirs = owners[one], owners[other]
        if same(mine, theirs) or kind_of(mine) != kind_of(theirs) or {mine, theirs} & anchors.keys():
            continue
        given = assigned(reading, {0: anchors[one], 1: anchors[other]}, {0: told[one], 1: told[other]})
        if given == {0: {1}, 1: {0}}:
            return f"{theirs} for {one}"
    return ""


def _named(reading: Reading, name: str) -> list[Place]:
    """Where the answer names a thing: job 304 and order O-17 also by the number alone, as tables do."""
    if not {*tokens(name)} & reading.places.keys():
        return []
    coded = re.search(r"\S*\d\S*$", name)
    return places(reading, name) or places(reading, coded[0] if coded else "", "identifier")


def _denied(sentence: str, rows: Sequence[Row]) -> str:
    """A word that a sentence negates, if all things whose codes it has have that word: "O-17 is not shipped yet"."""
    texts = [{value.lower() for value in row.values() if isinstance(value, str)} for row in rows]
    there = [values for values in texts if any(re.search(r"\d", value) and value in sentence for value in values)]
    words = (re.escape(word) for word in set.intersection(*there) if word.isalpha()) if there else ()
    found = (re.search(rf"(?:\bnot|n't|\bnever)(?: yet| been| currently)* {word}\b", sentence) for word in words)
    return next((repr(negated[0]) for negated in found if negated), "")
