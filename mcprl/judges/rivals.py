"""Rivals in an answer: other values beside or instead of the value that was asked for.

One neighbouring detail is polite. A value and a rival as alternatives, several rivals, or no choice among the things
that the request names are no answer.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mcprl.judges.ends import is_other_end
from mcprl.judges.mentions import Reading
from mcprl.judges.values import Place, kind_of, places
from mcprl.types import Fact, Scalar

_NEGATED = re.compile(
    r"(?:\bnot(?! only| just)|n't|\bnever|\bno longer|\bcannot|\brather than|\binstead of|\bother than|"
    r"\bneither|\bnor|\bused to|\b(?:none|neither|nobody|no one|not one|nothing) of|\bno|"
    r"\bpreviously|\bformerly|\bas opposed to|\bunlike|\bexcept)\s+(?:(?!but\b|and\b|so\b|it\b|it's\b|"
    r"is\b|because\b)[^\s,;:.!?]+\s+){0,3}[\"'(]?$"
)
_JOINED = frozenset(
    "or and maybe perhaps possibly either also even but could might may can be it is it's its was were "
    "else alternatively "
    "otherwise then again if not the a an one nor plus to no wait sorry actually rather i mean correction make that "
    "both about around roughly eur usd gbp euro euros dollars pounds".split()
)
_DOUBT = re.compile(r"\b(?:or|maybe|perhaps|possibly|alternatively|otherwise|might|could)\b")
_COUNTED = re.compile(r"\s*(?:in stock|left|units?|pieces?|available)\b")
"""What makes a number beside a price a quantity."""
_TO_COME = re.compile(
    r"\b(?:will|'ll|should|would|yet to|about to|ready to|waiting to|failed to)(?: soon| now| probably| have)?"
    r"(?: be| get)?(?: been)?\s+[\"'(]?$"
)
_DOUBTED = re.compile(
    r"\b(?:if|whether|don't think|do not think|not sure|unsure|before)\b[^.,;:!?]{0,40}"
    r"\b(?:is|are|was|were|has|have|had|been)\s+(?:been )?[\"'(]?$|(?:don't|do not) think it(?:'s|'d)? (?:has )?$"
)
_TAKEN_BACK = re.compile(
    r"[\"'`)*]*(?:\s*\?\s*no\b|[.,;:!?]?\s+(?:oh |sorry,? )?(?:(?:wait|actually),? no\b|correction\b|scratch that\b))"
)
_RETRACTS = re.compile(
    r"[^.!?;\n]*[.!?;,-]+\s+(?:(?:oh|sorry|wait|hm+|hold on|my mistake)\b[,.!]* )*(?:"
    r"(?:no|nope|nein|non)\b[,.:;!-]+ ?(?!(?:problem|worries|need|other|further|more|one|thanks?)\b)|"
    r"(?P<mildly>actually|correction|rather|i mean)\b[,:]? )(?P<instead>[^.!?;\n]+)"
)
"""What comes after a value and takes it back."""
_CANNOT_TELL = re.compile(r"\b(?:can't|cannot|can not|couldn't) (?:say|tell|be (?:sure|certain)) (?:whether|if)\b")
_ONE_OF = re.compile(r"\bone of (?:these|those|them) (?:is|must be|should be|could be|may be|might be)\b")
_LONGER = re.compile(r"[-_][a-z]*\d")
"""What follows a word that is the beginning of a longer code: `xterm-256color`."""
_OR = re.compile(r"^[\s\"')]*(?:\w+\s+)?,?\s*or\s+(?:maybe |perhaps |possibly |else |even |about )?[\"'(]?")
_OPENS = re.compile(r"\W*(?:(?:that|it)(?:'s|'d be| would be| is| was)|the answer is)?(?: (?:the )?[a-z]+)?[\s\"'(#]*")
"""What stands before the choice where an answer begins with it."""
_REASON = re.compile(r"(?:[^.;!?\n]|\.(?=\d))*,? (?:as|since|because) [^.;!?,\n]*")
_OF = re.compile(r"\bof (?:the |all |our |its |these |those )?$")
_CONCLUDES = re.compile(
    r"\b(?:so|therefore|hence|thus|winner|answer|(?!after\b|under\b|over\b|other\b|number\b|order\b)\w+er|\w+est|more|most|less|least|fewer|fewest|first|"
    r"better|best|worst|ahead|beats|wins)\b"
)


def _unlabelled(value: Scalar) -> frozenset[str]:
    return frozenset()


def _unknown(value: Scalar) -> bool:
    return True


@dataclass(frozen=True)
class Asked:
    """What an answer is compared with besides the fact: the request, all facts of the task, the labels under which the
    results have a value, and whether they have it at all."""

    request: str = ""
    facts: tuple[Fact, ...] = ()
    labels: Callable[[Scalar], frozenset[str]] = _unlabelled
    holds: Callable[[Scalar], bool] = _unknown


def live(reading: Reading, value: Scalar, fact: Fact) -> list[Place]:
    """Where the answer states a value of the fact's kind: neither negated nor in a question."""
    alike = kind_of(value) == kind_of(fact.value)
    meaning = fact.meaning if alike else "text"
    found = places(reading, value, meaning, fact.unit if alike else "")
    if fact.meaning == "status":
        found = [place for place in found if not _is_open(reading, place)]
    if isinstance(value, str):
        found = [place for place in found if not _LONGER.match(reading.text, place[1])]
    if _ONE_OF.search(reading.text) or (fact.derived and _CANNOT_TELL.search(reading.text)):
        return []
    return [place for place in found if is_stated(reading, place) and not _TAKEN_BACK.match(reading.text, place[1])]


def taken_back(reading: Reading, place: Place) -> bool:
    """Whether the next sentence takes back what stands at a place: "She lives in Lyon. No, in Ghent." One that begins
    with "actually" does only if it names something else."""
    again = _RETRACTS.match(reading.text, place[1])
    if again is None or re.search(r"\b(?:not|never)\b|n't\b", again["instead"]):
        return False
    own = reading.text[slice(*place)]
    other = re.search(r"(?<=[a-z] )[A-Z]\w+|\d\d", reading.cased[slice(*again.span("instead"))])
    return own not in again["instead"] and (not again["mildly"] or other is not None)


def is_stated(reading: Reading, place: Place) -> bool:
    """Whether what stands at a place is neither negated nor in a question."""
    return not _negated(reading, place) and not _denied(reading, place) and not _in_question(reading, place)


def _negated(reading: Reading, place: Place) -> bool:
    return bool(_NEGATED.search(reading.text[max(0, place[0] - 60) : place[0]]))


def _denied(reading: Reading, place: Place) -> bool:
    return bool(re.match(r"[\"')]?\s+(?:is|are|was|were|has|does|do)(?:n't| not)\b", reading.text[place[1] :]))


def _is_open(reading: Reading, place: Place) -> bool:
    """Whether a status is told as what will be, may be, or is doubted."""
    before = reading.text[max(0, place[0] - 80) : place[0]]
    return bool(_TO_COME.search(before) or _DOUBTED.search(before))


def _in_question(reading: Reading, place: Place) -> bool:
    end = re.search(r"[.!?](?=\s|$)|\n", reading.text[place[1] :])
    if end is None or end[0] != "?":
        return False
    begin = max((m.end() for m in re.finditer(r"[.!?,;:](?=\s)|\n", reading.text[: place[0]])), default=0)
    return bool(
        re.match(
            r"\W*(?:is|are|was|were|do|does|did|has|have|can|could|would|should|which|what|who|when|where|"
            r"how|maybe|perhaps|or)\b",
            reading.text[begin:],
        )
    )


def choice(reading: Reading, own: Sequence[Place], stated: Mapping[Scalar, Sequence[Place]]) -> str:
    """Of things that the request names the answer must single out the right one."""
    others = {place: rival for rival, found in stated.items() for place in found}
    if not others:
        return ""
    wrong = f"the answer does not single it out from {next(iter(others.values()))!r}"
    first = min((*own, *others))
    if _OPENS.fullmatch(reading.text[: first[0]]) and re.match(
        r"[\"')]*(?:[;.]|,? -|,(?= (?:it|they|which|since)\b))", reading.text[first[1] :]
    ):
        return "" if first in own else wrong
    for match in re.finditer(
        r"\b(?:than|over|beats|ahead of|behind|compared (?:to|with)|vs\.?|versus)\b", reading.text
    ):
        before = [place for place in (*own, *others) if place[1] <= match.start()]
        if before:
            return "" if max(before) in own else wrong
    parts = [(m.start(), m.end()) for m in re.finditer(r"[^.;!?\n,]+", reading.text)]
    for start, end in reversed(parts):
        inside = [place for place in (*own, *others) if start <= place[0] < end]
        single = inside and (all(place in own for place in inside) or all(place in others for place in inside))
        if single and _CONCLUDES.search(reading.text[start:end]):
            return "" if inside[0] in own else wrong
    rest = reading.text[first[1] : min((p[0] for p in others if p > first), default=first[1])]
    contrast = re.search(r"\b(?:while|whereas|only|against|but|followed)\b", rest)
    return "" if first in own and contrast else wrong


def only_reason(reading: Reading, fact: Fact, own: Sequence[Place], stated: Mapping[Scalar, Sequence[Place]]) -> str:
    """A computed value that stands only in the reason for another number: "it is 7, as the other one is 5"."""
    for rival, found in stated.items() if fact.derived else ():
        gaps = [reading.text[found[-1][1] : start] for start, _ in own] if found and kind_of(rival) == "number" else []
        if gaps and all(_REASON.fullmatch(gap) for gap in gaps):
            return f"the answer gives {rival!r} in its place"
    return ""


def hedged(
    reading: Reading, fact: Fact, own: Sequence[Place], near: Mapping[Scalar, Sequence[Place]], asked: Asked
) -> str:
    """The value and a rival of its kind joined as alternatives or as a bare list, or any other value after "or"."""
    kind = kind_of(fact.value, fact.meaning)
    labels = asked.labels(fact.value)
    for rival, found in near.items():
        if kind_of(rival, fact.meaning if kind_of(rival) == kind_of(fact.value) else "text") != kind:
            continue
        unlike = kind == "word" and look(rival) != look(fact.value)
        other_field = bool(labels) and bool(asked.labels(rival)) and not labels & asked.labels(rival)
        for place in found:
            if is_other_end(reading, own, place):
                continue
            for value in own:
                gap = _gap(reading.text, value, place)
                if (
                    gap is None
                    or (unlike and not _DOUBT.search(gap))
                    or _OF.search(reading.text[: place[0]])
                    or (other_field and kind == "word" and not _DOUBT.search(gap))
                    or (fact.meaning == "money" and _COUNTED.match(reading.text, place[1]) and not _DOUBT.search(gap))
                ):
                    continue
                if set(re.findall(r"[\w']+", gap)) <= _JOINED or (
                    len(gap) < 45
                    and re.search(r"\bor\b|\bmaybe\b|\bperhaps\b|\bpossibly\b", gap)
                    and not re.search(r"[.;!?]\s", gap)
                ):
                    return f"in an answer that also gives {rival!r}, as if it were the same"
    return _alternative(reading, own, kind, asked)


def look(value: Scalar) -> tuple[bool, bool]:
    """Whether a value is a code, and whether it begins with a capital: by these a reader tells it from another."""
    return bool(re.search(r"[\d+#]|-$", str(value))), str(value)[:1].isupper()


def _alternative(reading: Reading, own: Sequence[Place], kind: str, asked: Asked) -> str:
    """Another number, date or time after "or", whatever it is."""
    if kind == "word":
        return _or_words(reading, own)
    rivals = {"number": reading.numbers, "date": reading.days, "time": reading.clocks}.get(kind, ())
    known = [place for fact in asked.facts for place in places(reading, fact.value, fact.meaning, fact.unit)]
    spots = {*own, *known}
    for value in own:
        joined = _OR.match(reading.text[value[1] :])
        after = value[1] + joined.end() if joined else -1
        for other in rivals:
            text = reading.text[other.start : other.end]
            if (other.start, other.end) in spots:
                continue
            backwards = re.search(r"\bor\s+(?:maybe |perhaps |possibly |about )?$", reading.text[: value[0]])
            if after <= other.start <= after + 4 and joined:
                return f"in an answer that also gives {text!r}, as if it were the same"
            if backwards and 0 <= backwards.start() - other.end <= 8:
                return f"in an answer that also gives {text!r}, as if it were the same"
    return ""


def _or_words(reading: Reading, own: Sequence[Place]) -> str:
    """Any words after or before an "or" that stands beside the value."""
    for start, end in own:
        after = re.match(
            r"[\"')]*,?\s+or\s+(?!so\b|simply\b|just\b|rather\b|thereabouts\b|in other)\S+", reading.text[end:]
        )
        before = re.search(
            r"\w[\"')]*,?\s+or\s+(?:(?:maybe|perhaps|possibly|on|in|by|the|an?|it is|it's)\s+){0,2}[\"'(]?$",
            reading.text[:start],
        )
        if after or before:
            return f"in an answer that gives an alternative to {reading.text[start:end]!r}"
    return ""


def _gap(text: str, one: Place, other: Place) -> str | None:
    """The text between two places, `None` if it is long."""
    first, second = sorted((one, other))
    gap = text[first[1] : second[0]]
    return gap if first[1] <= second[0] and len(gap) < 60 else None
