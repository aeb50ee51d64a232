"""Which of two things a comparison singles out: "A is cheaper than B", and the same with the opposite word.

Words of one scale are alike or opposite: who asks for the cheaper one is answered by "B is more expensive than A".
"""

import re
from collections.abc import Iterator, Sequence

from mcprl.judges.mentions import Reading
from mcprl.judges.values import Place

_SCALES = {
    "amount": (
        "expensive dear costly pricey high big large great long heavy tall much many broad wide far thick deep",
        "fewer cheap low small little short light few narrow near close inexpensive affordable thin shallow",
    ),
    "time": ("old early before first ahead", "new young recent late after last latter behind"),
    "speed": ("fast quick", "slow"),
    "rank": ("good better best win beat lead", "bad worse worst lose trail"),
    "heat": ("warm hot", "cold cool"),
}
_DIRECTIONS = {
    word: (scale, sign)
    for scale, sides in _SCALES.items()
    for sign, side in zip((1, -1), sides, strict=True)
    for word in side.split()
}
_IRREGULAR = {
    "further": "far",
    "farther": "far",
    "furthest": "far",
    "farthest": "far",
    "latest": "late",
    "later": "late",
}
_WHOLE = frozenset("far late fewer better best worse worst before after first last".split())
"""Words that compare as they are."""
_THAN = re.compile(r"\b(?:than|compared (?:to|with))\b")
_BEFORE = re.compile(r"\b(?:before|after)\b")

_SUPERLATIVE = re.compile(r"\b(?:[a-z]+est|(?:most|least) [a-z]+)\b")
_KEY = re.compile(
    r"\b(?:more|less|most|least|fewer|fewest|[a-z]+(?:er|est))(?:\s+\w+)?\s+(id|ids|identifier|sku|code|key|uuid)"
    r"\b(?!-|[\s#:]*\d)"  # not the beginning of one: "cheaper than SKU-309"
)


def compares_keys(reading: Reading, own: Sequence[Place], request: str) -> bool:
    """Whether an answer compares what the things are named by, and nobody asked for that: "A has the cheaper id"."""
    return any(
        not re.search(rf"\b{match[1]}s?\b(?!-)", request.lower()) and any(end <= match.start() for _, end in own)
        for match in _KEY.finditer(reading.text)
    )


def other_extreme(reading: Reading, request: str) -> bool:
    """Whether an answer tells of the other end than the request: the youngest, where the oldest was asked for."""
    asked, told = (direction(" ".join(_SUPERLATIVE.findall(text.lower()))) for text in (request, reading.text))
    return _opposite(asked, told)


def direction(text: str) -> tuple[str, int] | None:
    """The scale of a text's comparison and its side, 1 or -1; `None` if it has none or several that differ.

    "more" and "less" before another word only turn it: "less expensive" is "cheap".
    """
    found: set[tuple[str, int]] = set()
    turn: int | None = None
    for word in re.findall(r"[a-z]+", text.lower()):
        if word in ("more", "most", "less", "least"):
            turn = 1 if word in ("more", "most") else -1
            continue
        scale = _of(word, bare=turn is not None)
        if scale:
            found.add((scale[0], scale[1] * (turn or 1)))
            turn = None
    if not found and turn is not None:  # "more people"
        found.add(("amount", turn))
    return found.pop() if len(found) == 1 else None


def singled_out(reading: Reading, own: Sequence[Place], others: Sequence[Place], request: str) -> bool | None:
    """Whether a comparison of one of the `own` places with one of the `others` favours the first, in the sense of the
    request. `None` if the text has no comparison of the two.
    """
    asked = direction(request)
    clauses: list[tuple[str, int]] = []
    for sentence, start in _sentences(reading.text):
        inside = sorted(place for place in (*own, *others) if start <= place[0] < start + len(sentence))
        than = _THAN.search(sentence) or (_BEFORE.search(sentence) if asked and asked[0] == "time" else None)
        if not than:
            clauses.append((sentence, start))
            continue
        before = [place for place in inside if place[1] <= start + than.start()]
        after = [place for place in inside if place[0] >= start + than.end()]
        if not others and after and not before and asked and (told := direction(sentence[: than.start()])):
            return _opposite(asked, told)  # the other one is before "than", under whatever name
        if not before or not after or (before[-1] in own) is (after[0] in own):
            continue
        told = direction(sentence[before[-1][1] - start : than.end()])
        return (before[-1] in own) is not _opposite(asked, told)
    verdicts = {
        _favours(clause, start + at, own, others, asked) for text, start in clauses for clause, at in _split(text)
    }
    if False in verdicts:
        return False
    return True if True in verdicts and others else None


def _favours(
    clause: str, start: int, own: Sequence[Place], others: Sequence[Place], asked: tuple[str, int] | None
) -> bool | None:
    """Whether a clause about one of the two favours the first: "A is cheaper", "B costs more"."""
    inside = [place for place in (*own, *others) if start <= place[0] < start + len(clause)]
    mine = {place in own for place in inside}
    told = direction(_without(clause, inside, start))
    if len(mine) != 1 or asked is None or told is None or asked[0] != told[0]:
        return None
    return mine.pop() is not _opposite(asked, told)


def _split(sentence: str) -> Iterator[tuple[str, int]]:
    start = 0
    for match in re.finditer(r",\s|\b(?:and|but|while|whereas|so)\b|$", sentence):
        yield sentence[start : match.start()], start
        start = match.end()


def _opposite(one: tuple[str, int] | None, other: tuple[str, int] | None) -> bool:
    return one is not None and other is not None and one[0] == other[0] and one[1] == -other[1]


def _sentences(text: str) -> Iterator[tuple[str, int]]:
    start = 0
    for match in re.finditer(r"[.!?;](?=\s|$)|\n|$", text):
        yield text[start : match.start()], start
        start = match.end()


def _without(sentence: str, places: Sequence[Place], start: int) -> str:
    for begin, end in places:
        sentence = sentence[: begin - start] + " " * (end - begin) + sentence[end - start :]
    return sentence


def _of(word: str, bare: bool) -> tuple[str, int] | None:
    """The scale of a comparative or superlative, or of a `bare` adjective after "more" or "less"."""
    word = _IRREGULAR.get(word, word)
    ends = [word] if bare or word in _WHOLE else []
    for ending in ("er", "est"):
        if word.endswith(ending):
            stem = word[: -len(ending)]
            ends += [stem, stem + "e", stem[:-1], stem[:-1] + "y"]
    return next((_DIRECTIONS[stem] for stem in ends if stem in _DIRECTIONS), None)
