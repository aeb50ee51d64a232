"""What an answer lists beside the things that were asked for."""

import re
from collections.abc import Sequence

from mcprl.judges.mentions import Reading
from mcprl.judges.values import Place, tokens
from mcprl.types import Fact

_BULLET = re.compile(r"^[ \t]*(?:[-*•–]|\d{1,2}[.)])[ \t]+(\S.*)$", re.MULTILINE)
_FIELD = re.compile(r"[^:\n]{2,40}:\s+(?=\S)")
_HEADING = re.compile(r":\s*$")
_ENUMERATED = re.compile(r"(?:[^.:;!?\n]|[.:](?=\S))+")
_SHORT = 3
"""Words of an entry that is nothing but a name."""
_SAYS = frozenset(
    "a an both all each in on at of with which who is are was were but too also thanks please today now then that "
    "these those it they there only just so from to for by as".split()
)
"""Words that no mere name has."""


def beside_the_list(reading: Reading, facts: Sequence[Fact], own: Sequence[Place], request: str) -> str:
    """The first entry of a list that has none of the facts' values, where all others are such; empty if there is none.

    `own` are the places of all facts of one field.
    """
    if len({fact.name for fact in facts}) != 1 or any(fact.subject for fact in facts):
        return ""
    known, least = set(tokens(request)), 2 if len(facts) > 1 else 3
    runs = _enumerations(reading.text, own, joined=len(facts) == 1)
    bullets = [match.span(1) for match in _BULLET.finditer(reading.text)]
    for entries in (bullets, *runs):
        held = [any(start <= place[0] < end for place in own) for start, end in entries]
        if len(entries) < least or not any(held) or all(held) or _is_record(reading.text, entries, own):
            continue
        for (start, end), has in zip(entries, held, strict=True):
            entry = reading.text[start:end].strip()
            words = tokens(entry)
            name = 0 < len(words) <= _SHORT and not _SAYS & set(words) and not _HEADING.search(entry)
            if name and not has and not set(words) <= known and re.search(r"[a-z]{3}", entry):
                return entry
    return ""


def _is_record(text: str, entries: Sequence[Place], own: Sequence[Place]) -> bool:
    """Whether the entries are the fields of one thing: "Name: Kira Lindt", "City: Lyon"."""
    values = [start + label.end() for start, end in entries if (label := _FIELD.match(text[start:end]))]
    return len(values) == len(entries) and any(place[0] in values for place in own)


def _within(spot: int, own: Sequence[Place]) -> bool:
    return any(start < spot < end for start, end in own)


def _enumerations(text: str, own: Sequence[Place], *, joined: bool) -> list[list[Place]]:
    """The parts of each run of names that commas and a last "and" join, those of `own` whole. Of `joined` ones the
    "and" must be there."""
    found: list[list[Place]] = []
    for run in _ENUMERATED.finditer(text):
        joints = list(re.finditer(r",? (?:and|plus) |, ", run[0]))
        if joined and (not joints or "and" not in joints[-1][0]):
            continue
        borders = [match.span() for match in joints if not _within(run.start() + match.start(), own)]
        starts = [run.start(), *(run.start() + end for _, end in borders)]
        ends = [*(run.start() + start for start, _ in borders), run.end()]
        parts = list(zip(starts, ends, strict=True))
        if len(parts) > 1 and all(0 < len(tokens(text[a:b])) <= _SHORT for a, b in parts[1:]):
            found.append(parts)
    return found
