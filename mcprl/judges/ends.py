"""The two ends of a way or a transfer: where something comes from and where it goes."""

import re
from collections.abc import Sequence

from mcprl.judges.mentions import Reading
from mcprl.judges.values import Place
from mcprl.text import stems
from mcprl.types import Fact

_NAMES = {
    -1: "from origin source departure depart departs departing start begin sender old former leaves leaving",
    1: "to destination target arrival arrive arrives arriving end finish receiver recipient new bound",
}
_STEMS = {sign: {stem for word in names.split() for stem in stems(word)} for sign, names in _NAMES.items()}
_FROM = re.compile(r"\bfrom(?: the)?\s+[\"']?$")
_TO = re.compile(r"(?:\b(?:to|into|towards?)(?: the)?\s+|->\s*|→\s*|=>\s*)[\"']?$")


def end_of(fact: Fact) -> int:
    """-1 if a fact is where something comes from, 1 if it is where it goes, else 0, by its name."""
    own = {*stems(fact.name), *fact.name.lower().split("_")}
    signs = [sign for sign, names in _STEMS.items() if own & names]
    return signs[0] if len(signs) == 1 else 0


def stated_ends(reading: Reading, spots: Sequence[Place]) -> set[int]:
    """The ends that an answer makes of the values at these places, by the prepositions before them."""
    found: set[int] = set()
    for start, _ in spots:
        before = reading.text[max(0, start - 16) : start]
        found |= {-1} if _FROM.search(before) else {1} if _TO.search(before) else set()
    return found


def is_other_end(reading: Reading, own: Sequence[Place], rival: Place) -> bool:
    """Whether a rival is only the other end of the way of which the fact is one: "from A to B"."""
    first, second = sorted((own[0], rival))
    return bool(
        _FROM.search(reading.text[: first[0]])
        and re.fullmatch(r"[\"']?,? to (?:the )?", reading.text[first[1] : second[0]])
    )
