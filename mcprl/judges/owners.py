"""Whose value is whose in an answer: each value that it states is assigned to the subject or label that it stands with.

Understood are "A costs 5 and B costs 7", "5 for A, 7 for B", "A and B cost 5 and 7, respectively", "for A, it is 5",
rows and columns of tables, and "the other", "the former", "the latter".
"""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby

from mcprl.judges.mentions import Reading
from mcprl.judges.values import Place

_SENTENCE = re.compile(r"[.!?;](?=\s|$)|\n")
_SEGMENT = re.compile(r",\s|\s?[()|:]\s?|\s-+\s|\b(?:and|but|while|whereas|with|although|though|versus|vs)\b")
_OTHER = re.compile(r"\bthe (?:other|latter|second)(?: one)?\b")
_FORMER = re.compile(r"\bthe (?:former|first)(?: one)?\b")

Item = tuple[int, str, int]
"""What stands at a place: (place, "S", owner) or (place, "V", value)."""


def assigned(
    reading: Reading, anchors: Mapping[int, Sequence[Place]], values: Mapping[int, Sequence[Place]]
) -> dict[int, set[int]]:
    """The values that each owner has in a text, by the places of the owners' names and of the values."""
    shields = [place for places in (*anchors.values(), *values.values()) for place in places]
    sentence_of = _borders(reading.text, _SENTENCE, shields)
    segment_of = _borders(reading.text, _SEGMENT, shields)
    items: list[Item] = [(start, "S", owner) for owner, places in anchors.items() for start, _ in places]
    items += [(start, "V", value) for value, places in values.items() for start, _ in places]
    items = [next(same) for _, same in groupby(sorted(items), key=_same_item)]
    found: dict[int, set[int]] = {}
    waiting: list[Item] = []  # owners without a value so far
    for _, group in groupby(items, key=lambda item: _index(sentence_of, item[0])):
        for owner, value in _pairs(list(group), segment_of, waiting):
            found.setdefault(owner, set()).add(value)
    return found


def stand_ins(reading: Reading, anchors: Mapping[int, Sequence[Place]]) -> dict[int, list[Place]]:
    """The anchors of two owners, with "the other" and "the former" as names for them."""
    both = {owner: list(anchors.get(owner, ())) for owner in (0, 1)}
    for pattern, owner in ((_OTHER, 1), (_FORMER, 0)):
        for match in pattern.finditer(reading.text):
            named = [own for own in both if any(end <= match.start() for _, end in both[own])]
            meant = 1 - named[0] if "other" in match[0] and len(named) == 1 else owner
            both[meant] = [*both[meant], (match.start(), match.end())]
    return {owner: sorted(places) for owner, places in both.items() if places}


def inside(place: Place, other: Place) -> bool:
    """Whether a place is a part of another one."""
    return place != other and other[0] <= place[0] and place[1] <= other[1]


def _same_item(item: Item) -> tuple[str, int] | int:
    return (item[1], item[2]) if item[1] == "S" else item[0]


def _borders(text: str, pattern: re.Pattern[str], shields: Sequence[Place]) -> list[int]:
    matches = pattern.finditer(text)
    return [m.start() for m in matches if not any(start <= m.start() and m.end() <= end for start, end in shields)]


def _index(borders: Sequence[int], place: int) -> int:
    return sum(border < place for border in borders)


def _pairs(items: list[Item], segment_of: Sequence[int], waiting: list[Item]) -> list[tuple[int, int]]:
    """(owner, value) of one sentence. `waiting` has the owners that a sentence before it named without a value."""
    owners, values = ([item for item in items if item[1] == kind] for kind in "SV")
    if not values:
        waiting[:] = [*waiting, *owners] if owners else waiting
        return []
    if not owners:
        before, waiting[:] = list(waiting), []
        return _matched(before, values)
    waiting.clear()
    shape, n = "".join(item[1] for item in items), len(owners)
    if shape in ("SV" * n, "VS" * n, "S" * n + "V" * n, "V" * n + "S" * n):
        return _matched(owners, values)
    return _by_segment(items, segment_of)


def _matched(owners: Sequence[Item], values: Sequence[Item]) -> list[tuple[int, int]]:
    """By order if there are as many owners as values, all values for a single owner, else none."""
    if len(owners) == 1:
        return [(owners[0][2], value[2]) for value in values]
    if len(owners) != len(values):
        return []
    return [(owner[2], value[2]) for owner, value in zip(owners, values, strict=True)]


def _by_segment(items: list[Item], segment_of: Sequence[int]) -> list[tuple[int, int]]:
    """Each value with the owner in its part of the sentence, else with the one of the part before it, else after it."""
    parts = [list(group) for _, group in groupby(items, key=lambda item: _index(segment_of, item[0]))]
    found: list[tuple[int, int]] = []
    free: Item | None = None
    pending: list[Item] = []
    for part in parts:
        owners, values = ([item for item in part if item[1] == kind] for kind in "SV")
        if owners and values:
            if len({owner[2] for owner in owners}) > 1 and len(owners) != len(values):
                owners = owners[-1:] if part[0][1] == "S" else owners[:1]
            found += _matched(owners[:1] if len({owner[2] for owner in owners}) == 1 else owners, values)
            free = None
        elif owners and pending:
            found += _matched(owners[:1], pending)
            pending = []
        elif owners:
            free = owners[-1]
        elif free:
            found += _matched([free], values)
            free = None
        else:
            pending = values
    return found
