"""Whether an answer only repeats what was read: a result as it is, or a whole list of which one thing was asked for.

True values of the same thing beside the asked one are no dump, nor is a list beside a sentence that singles out what
was asked for.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mcprl.judges.mentions import Reading, read, telling
from mcprl.judges.phrases import polarity
from mcprl.judges.values import Place, places, same, tokens
from mcprl.servers.arguments import leaves
from mcprl.types import Fact, Scalar, ToolResult

Row = Mapping[str, Scalar]
"""What a list has of one thing: values by their labels."""

_SENTENCE = re.compile(r"[.!?;](?=\s|$)|\n")
_CLAUSE = re.compile(r"[.!?;:,](?=\s|$)|\n|[()|]|\s-+\s|\b(?:and|but|while|whereas)\b")
_LABELLED = re.compile(r"[^:\n\d]{2,40}:(?: |$)")
"""The beginning of a line that has one field of a record."""
_PIECES = re.compile(r"[;|=\t]\s?|[,:]\s|\s{2,}")
_MANY = 5
"""Other things of a list that nobody tells by the way."""


def dumped(reading: Reading, facts: Sequence[Fact], request: str, results: Sequence[ToolResult]) -> str:
    """Why an answer that states the facts is a dump of the results, empty if it is none."""
    if _is_verbatim(reading.cased, facts, results):
        return "in an answer that only repeats what was read"
    if _tells_all(reading, facts, request, results):
        return "in an answer that gives the whole list that it is computed from"
    for listing in listings(facts, results):
        told = [row for row in listing.others if any(_spots(reading, value) for value in listing.telling(row))]
        many = len(told) >= 2 and (len(told) >= 0.6 * len(listing.others) or len(told) >= _MANY)
        if many and not _singles_out(reading, listing, told, facts, request):
            return f"in an answer that also gives {len(told)} of the {len(listing.others)} others of a list"
    return ""


@dataclass(frozen=True)
class ListResult:
    """A list of a result: the things in it that were asked for, which have the most of the facts, and the others."""

    own: list[Row]
    others: list[Row]
    seen: Counter[Scalar]

    def telling(self, row: Row) -> list[Scalar]:
        """The values of a thing that no other thing of the list has."""
        return [value for value in row.values() if self.seen[value] == 1 and not isinstance(value, bool)]


def listings(facts: Sequence[Fact], results: Sequence[ToolResult]) -> Iterator[ListResult]:
    """The lists of results in which things that were asked for stand among two others or more."""
    wanted = [fact.value for fact in facts if not isinstance(fact.value, bool)]
    for rows in (rows for result in results for rows in _lists(result)):
        held = [sum(any(same(value, own) for value in row.values()) for own in wanted) for row in rows]
        most = max(held, default=0)
        others = [row for row, n in zip(rows, held, strict=True) if n < most]
        if len(others) >= 2:
            own = [row for row, n in zip(rows, held, strict=True) if n == most]
            yield ListResult(own, others, Counter(value for row in rows for value in {*row.values()}))


def _tells_all(reading: Reading, facts: Sequence[Fact], request: str, results: Sequence[ToolResult]) -> bool:
    """Whether the answer gives most rows of a list with several values each, where only what is computed from them was
    asked for."""
    if not all(fact.derived for fact in facts):
        return False
    mine = [place for fact in facts for place in places(reading, fact.value, fact.meaning, fact.unit)]
    for rows in (list(rows) for result in results for rows in _lists(result)):
        spots = [[_spots(reading, value) for value in row.values() if not isinstance(value, bool)] for row in rows]
        told = [each for each in spots if len(each) > 2 and all(each)]
        if len(told) >= 3 and len(told) >= 0.6 * len(rows):
            marks = [(start, n) for n, row in enumerate(told) for found in row for start, _ in found]
            return not _in_own_clause(reading, mine, [*marks, *((start, -1) for start, _ in mine)], request)
    return False


def _is_verbatim(answer: str, facts: Sequence[Fact], results: Sequence[ToolResult]) -> bool:
    """Whether the answer states a fact only in JSON or in a whole result of several values or lines."""
    rest = _without_json(answer)
    for result in results:
        text = result.text.strip()
        several = isinstance(result.structured, dict | list) or text.count("\n") >= 2 or text[:1] in ("[", "{")
        if several and len(text) <= 2 * len(rest):
            rest = re.sub(r"\s+".join(map(re.escape, text.split())), " ", rest)
    if rest == answer:
        return False
    reading = read(rest)
    return any(
        polarity(rest, fact.name) is None
        if isinstance(fact.value, bool)
        else not places(reading, fact.value, fact.meaning, fact.unit)
        for fact in facts
    )


def _without_json(text: str) -> str:
    """The text without JSON objects and lists of two values or more."""
    decoder, at = json.JSONDecoder(), 0
    while match := re.compile(r"[{\[]").search(text, at):
        at = match.start() + 1
        try:
            found, end = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        if len(list(leaves(found))) > 1:
            text = f"{text[: match.start()]} {text[end:]}"
    return text


def _lists(result: ToolResult) -> Iterator[Sequence[Row]]:
    """The lists of a result: those of JSON, or the lines of a text that are not the fields of one record."""
    found: dict[tuple[str | int, ...], dict[int, dict[str, Scalar]]] = {}
    for path, value in leaves(result.structured):
        for n, part in enumerate(path):
            if isinstance(part, int):
                label = ".".join(str(each) for each in path[n + 1 :])
                found.setdefault(path[:n], {}).setdefault(part, {})[label] = value
    yield from (list(rows.values()) for rows in found.values())
    if not isinstance(result.structured, dict | list):
        lines = (line.strip() for line in result.text.splitlines())
        kept = (line for line in lines if line and not _LABELLED.match(line))
        yield [{str(n): piece for n, piece in enumerate(_PIECES.split(line))} for line in kept]


def _spots(reading: Reading, value: Scalar) -> list[Place]:
    """Where an answer has a value of a result; sought only if its words or a number are there."""
    there = isinstance(value, int | float) or all(word in reading.places for word in tokens(value) or ("",))
    return places(reading, value) if there else []


def _singles_out(
    reading: Reading, listing: ListResult, told: Sequence[Row], facts: Sequence[Fact], request: str
) -> bool:
    """Whether the answer tells what was asked for apart from the list: more often than the other things, in a sentence
    beside which none tells of one other thing, or in a clause with a word of the request, such as "newest", that no
    clause about the others has."""
    mine = [place for fact in facts for place in places(reading, fact.value, fact.meaning, fact.unit)]
    labels = {label for row in listing.own for label, value in row.items() for fact in facts if same(value, fact.value)}
    named = [[place for label in labels & row.keys() for place in _spots(reading, row[label])] for row in told]
    if len(mine) > len(facts) * max((len(spots) for spots in named), default=0) > 0:
        return True
    marks = [(start, -1) for start, _ in mine]
    for n, row in [*((-1, row) for row in listing.own), *enumerate(told)]:
        marks += [(start, n) for value in listing.telling(row) for start, _ in _spots(reading, value)]
    sentences = [who for who, _, _ in _grouped(marks, _SENTENCE, reading.text)]
    blocks = [who for n, who in enumerate(sentences) if not n or who != sentences[n - 1]]
    for n, who in enumerate(blocks):
        beside = blocks[max(0, n - 1) : n] + blocks[n + 1 : n + 2]
        if who == {-1} and not any(len(other) == 1 for other in beside):
            return True
    return _in_own_clause(reading, mine, marks, request)


def _in_own_clause(reading: Reading, mine: Sequence[Place], marks: Sequence[tuple[int, int]], request: str) -> bool:
    """Whether what was asked for (-1) stands in a clause with a word of the request that no clause about others has."""
    clauses = _grouped(marks, _CLAUSE, reading.text)
    rest = " ".join(text for who, text, _ in clauses if who != {-1})
    asked = telling(read(request)) - telling(read(rest))
    return any(
        who == {-1} and asked & telling(read(text)) and any(a <= place[0] < a + len(text) for place in mine)
        for who, text, a in clauses
    )


def _grouped(marks: Sequence[tuple[int, int]], border: re.Pattern[str], text: str) -> list[tuple[set[int], str, int]]:
    """Of each part of a text between borders that tells of some things: which things, the part, and its start."""
    borders = [0, *(match.end() for match in border.finditer(text)), len(text)]
    parts = [({who for at, who in marks if a <= at < b}, text[a:b], a) for a, b in pairwise(borders)]
    return [part for part in parts if part[0]]
