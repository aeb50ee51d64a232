"""The two ends of a way or a transfer: where something comes from and where it goes. The two ways of a change, and the
two sides of a deed: who does it, and to whom."""

import re
from collections.abc import Sequence

from mcprl.judges.mentions import Reading
from mcprl.judges.values import Place
from mcprl.text import stems
from mcprl.types import Fact, Scalar

_NAMES = {
    -1: "from origin source departure depart departs departing start begin sender old former leaves leaving",
    1: "to destination target arrival arrive arrives arriving end finish receiver recipient new bound",
}
_STEMS = {sign: {stem for word in names.split() for stem in stems(word)} for sign, names in _NAMES.items()}
_FROM = re.compile(r"\bfrom(?: the)?\s+[\"']?$")
_TO = re.compile(r"(?:\b(?:to|into|towards?)(?: the)?\s+|->\s*|→\s*|=>\s*)[\"']?$")

_WHO = re.compile(r"\bwho (?:currently |now )?([a-z]+(?:s|ed)) (?!by\b)([^?.!,]+)")

_NAMED = re.compile(r"\b(?:called|named|names? (?:is|are)) (?:the )?[\"']?$")

_CHANGES = (
    ("lost lose loses losing loss dropped", "gained gain gains gaining won put"),
    (
        "rose rise risen rises grew grown grow increased increase climbed",
        "fell fall fallen falls shrank shrunk shrink decreased decrease dropped sank",
    ),
    ("earned earn earns made profit", "spent spend spends loss lost"),
    ("added add adds bought received", "removed remove removes took sold"),
    ("average averages averaged mean", "altogether together total sum combined"),
    ("left remaining over change", "short lacking missing shy"),
)  # fmt: skip


def opposed(reading: Reading, own: Sequence[Place], fact: Fact, request: str) -> bool:
    """Whether an answer tells the value as another thing than was asked for: the other way, side, or a name."""
    return (
        other_way(reading, own, fact.value, request)
        or other_side(reading, own, request)
        or misnamed(reading, own, fact, request)
    )


def other_way(reading: Reading, own: Sequence[Place], value: Scalar, request: str) -> bool:
    """Whether a change is told as the opposite of what was asked for: "it has gained 1.5 kg" of a loss."""
    if not isinstance(value, int | float) or value <= 0:
        return False
    asked = {*re.findall(r"[a-z]+", request.lower())}
    for sides in ([{*side.split()} for side in pair] for pair in _CHANGES):
        for here, there in (sides, sides[::-1]):
            told = [_last_word(reading, spot, here | there) in there - here for spot in own]
            if asked & here - there and not asked & there and told and all(told):
                return True
    return False


def other_side(reading: Reading, own: Sequence[Place], request: str) -> bool:
    """Whether the one who does something is told as the one to whom it is done: "A leads B" of who leads A."""
    asked = _WHO.search(request.lower())
    if not asked or not own:
        return False
    whom = re.escape(asked[2].split(" at ")[0].strip())
    turned = re.compile(rf"\b{whom} (?:currently |now )?{asked[1]} (?:the )?$")
    return all(turned.search(reading.text[:start]) for start, _ in own)


def misnamed(reading: Reading, own: Sequence[Place], fact: Fact, request: str) -> bool:
    """Whether a place is told as the name of something: the owner is called Ostrava."""
    if fact.meaning != "place" or not own or _NAMED.search(request.lower()):
        return False
    return all(_NAMED.search(reading.text[:start]) for start, _ in own)


def _last_word(reading: Reading, spot: Place, among: set[str]) -> str:
    """The last of the words before a place, in its sentence and not negated, or else the first behind it."""
    start = max((m.end() for m in re.finditer(r"[.!?;]\s", reading.text[: spot[0]])), default=0)
    before = _affirmed(reading.text[start : spot[0]], among)
    after = _affirmed(re.split(r"[.!?;](?:\s|$)", reading.text[spot[1] :])[0], among)
    return (before[-1:] or after[:1] or [""])[0]


def _affirmed(text: str, among: set[str]) -> list[str]:
    """Those of the words that a text has without a negation just before them."""
    told = re.findall(r"[a-z]+(?:'t)?", text)
    return [
        word
        for n, word in enumerate(told)
        if word in among and not (n and (told[n - 1] in ("not", "never", "no") or told[n - 1].endswith("n't")))
    ]


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
