"""Whether an answer states a fact: its value with its own subject, and no other value as if it were the same.

True values beside the asked one are no fault. A value and a rival as alternatives, a value that is taken back, and
values that stand with each other's subjects are no answer.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from mcprl.judges.mentions import Reading, read
from mcprl.judges.phrases import polarity
from mcprl.judges.scripts import WORD, folded
from mcprl.judges.values import Place, kind_of, places, same, tokens
from mcprl.text import stems
from mcprl.types import Fact, Scalar

_NEGATED = re.compile(
    r"(?:\bnot(?! only| just)|n't|\bnever|\bno longer|\bcannot|\brather than|\binstead of|\bother than|\bneither|\bnor|"
    r"\bused to|\b(?:none|neither|nobody|no one|not one|nothing) of|"
    r"\bno(?! (?:[^\s,;:.!?]+ ){1,3}for [\"'(]?$)|\bpreviously|\bformerly|\bas opposed to|"
    r"\bunlike|\bexcept)\s+(?:(?!but\b|and\b|so\b|it\b|it's\b|is\b|because\b)[^\s,;:.!?]+\s+){0,3}[\"'(]?$"
)
_DENIED = re.compile(r"[\"')]?\s+(?:is|are|was|were|has|does|do)(?:n't| not)\b")
_QUESTION = re.compile(
    r"\W*(?:is|are|was|were|do|does|did|has|have|can|could|would|should|which|what|who|when|where|how|maybe|perhaps|or)\b"
)
_LONGER = re.compile(r"[-_][a-z]*\d")
"""What follows a word that is the beginning of a longer code: `xterm-256color`."""
_ONE_OF = re.compile(
    r"\bone of (?:these|those|them) (?:is|must be|should be|could be|may be|might be)\b|"
    r"\b(?:can't|cannot|can not|couldn't) (?:say|tell|be (?:sure|certain)) (?:whether|if)\b"
)
"""An answer that leaves open which of its values it is."""
_TO_COME = re.compile(
    r"\b(?:will|'ll|should|would|yet to|about to|ready to|waiting to|failed to)(?: soon| now| probably| have)?"
    r"(?: be| get)?(?: been)?\s+[\"'(]?$|"
    r"\b(?:if|whether|don't think|do not think|not sure|unsure|before)\b[^.,;:!?]{0,40}"
    r"\b(?:is|are|was|were|has|have|had|been)\s+(?:been )?[\"'(]?$"
)
"""What stands before a status that will be, may be, or is doubted."""
_TAKEN_BACK = re.compile(
    r"[\"'`)*]*(?:\s*\?\s*no\b|[.,;:!?]?\s+(?:oh |sorry,? )?(?:(?:wait|actually),? no\b|correction\b|scratch that\b))"
)
_RETRACTS = re.compile(
    r"[^.!?;\n]*[.!?;,-]+\s+(?:(?:oh|sorry|wait|hm+|hold on|my mistake)\b[,.!]* )*(?:"
    r"(?:no|nope|nein|non)\b[,.:;!-]+ ?(?!(?:problem|worries|need|other|further|more|one|thanks?)\b)|"
    r"(?P<mildly>actually|correction|rather|i mean)\b[,:]? )(?P<instead>[^.!?;\n]+)"
)
"""What comes after a value and takes it back."""
_NONE = re.compile(
    r"\bthere (?:are|is|were|was|seem to be)(?: \w+ly)? none\b(?! (?:of|in|at|on|for|like|other|left over))|"
    r"\bthere (?:are|is|were|was)n't any\b(?=\s*[.,;!]|$)|^(?:none|nothing|zero)\b"
)
"""That there are none: no answer to a count above zero, whatever else stands beside it."""
_OF = re.compile(r"\bof (?:the |all |our |its |these |those )?$")
_OR = re.compile(r"[\s\"')]*(?:\w+\s+)?,?\s*or\s+(?:maybe |perhaps |possibly |else |even |about )?[\"'(]?")
_OR_AFTER = re.compile(r"[\"')]*,?\s+or\s+(?!so\b|simply\b|just\b|rather\b|thereabouts\b|in other)\S+")
_OR_BEFORE = re.compile(
    r"\w[\"')]*,?\s+or\s+(?:(?:maybe|perhaps|possibly|about|on|in|by|the|an?|it is|it's)\s+){0,2}[\"'(]?$"
)
_DOUBT = re.compile(r"\b(?:or|maybe|perhaps|possibly|alternatively|otherwise|might|could)\b")
_JOINED = frozenset(
    "or and maybe perhaps possibly either also even but could might may can be it is it's its was were else "
    "alternatively otherwise then again if not the a an one nor plus no wait sorry actually rather i mean correction "
    "make that both about around roughly eur usd gbp euro euros dollars pounds".split()
)
"""Words between two values that are given as if they were the same."""
_COUNTED = re.compile(r"\s*(?:in stock|left|units?|pieces?|available)\b")
"""What makes a number beside a price a quantity."""
_MAKES = re.compile(r"\b(?:makes?|comes? to|gives?|totals?|equals?)\b(?! that)")
"""What stands between an operand and the computed value: "80 at 5 euros make 400"."""
_OF_ALL = re.compile(r"\b(?:both|each|every|all|same|equal\w*|also|too|either|likewise)\b")
"""What makes a value that of several things."""
_STOP = frozenset("a i an in on no yes is it the of to and or at by for be so do me my we us n/a none null".split())
_CUES: Mapping[str, frozenset[str]] = {
    "money": frozenset("cost price priced charge pay sell worth".split()),
    "count": frozenset("left stock unit piece available copy remaining many quantity".split()),
    "status": frozenset("status state".split()),
    "person": frozenset("by name".split()),
    "place": frozenset("city located live based town country".split()),
    "duration": frozenset("take long duration last".split()),
}
"""Words that stand for a field of this meaning besides its own name."""
_UNTELLING = frozenset("id of the is in a at no and by to".split())
_SENTENCE = re.compile(r"[.!?;](?=\s|$)|\n")
_CLAUSE = re.compile(r",\s|\s?[()|:]\s?|\s-+\s|\b(?:and|but|while|whereas|with|although|though|versus|vs)\b")
_CODE_BEHIND = re.compile(r"\s+#?(?=\S*\d)")
_NUMBERED = re.compile(
    r"(?:^|[.!?:,;(] ?|\b(?:the|an?|is|it's) )(?!the|and|for|over|are|has|about|its|costs)[a-z]{3,} #?$"
)
"""The noun that a value is a number of: "Invoice 11, over 480.00"."""
_Item = tuple[int, str, int]
"""What stands at a place: (place, "S", owner) or (place, "V", value)."""


def _unlabelled(value: Scalar) -> frozenset[str]:
    return frozenset()


@dataclass(frozen=True)
class Asked:
    """What an answer is compared with besides the fact: the request, all facts of the task in its order, and the labels
    under which the results have a value."""

    request: str = ""
    facts: tuple[Fact, ...] = ()
    labels: Callable[[Scalar], frozenset[str]] = _unlabelled


def misses(answer: str, fact: Fact, asked: Asked) -> str:
    """Why `answer` does not state `fact`, empty if it does."""
    if isinstance(fact.value, bool):
        return _misses_flag(answer, fact, asked)
    if fact.meaning == "status" and fact.value in (0, 1) and polarity(answer, fact.name) is not None:
        return _misses_flag(answer, replace(fact, value=bool(fact.value)), asked)  # as databases without a flag keep it
    reading = read(answer)
    rivals = {rival: _stated(reading, rival, fact) for rival in fact.rivals if _is_rival(rival, fact, asked)}
    longer = [place for found in rivals.values() for place in found]
    own = [place for place in _stated(reading, fact.value, fact) if not any(_inside(place, each) for each in longer)]
    own = [place for place in own if not _taken_back(reading, place)]
    if not own or (len(asked.facts) < 2 and fact.meaning == "count" and fact.value and _NONE.search(reading.text)):
        return "not in the answer"
    computed = fact.derived and not isinstance(fact.value, str)
    if fact.rivals and not computed and places(read(asked.request), fact.value, fact.meaning, fact.unit):
        alike = {
            rival: found for rival, found in rivals.items() if isinstance(rival, str) == isinstance(fact.value, str)
        }
        return _not_chosen(reading, own, alike) or _swapped(reading, fact, asked)
    kept = [place for other in (fact, *asked.facts) for place in _stated(reading, other.value, other)]
    apart = {
        rival: [place for place in found if not any(_inside(place, each) or place == each for each in kept)]
        for rival, found in rivals.items()
        if not _in_request(rival, fact, asked)
    }
    return _hedged(reading, fact, own, apart, asked) or _swapped(reading, fact, asked)


def _misses_flag(answer: str, fact: Fact, asked: Asked) -> str:
    if len(asked.facts) > 1 and fact.name:
        parts = re.split(r"[.;,\n]|\band\b|\bbut\b", answer)
        answer = ". ".join(part for part in parts if {*stems(fact.name)} & {*stems(part)}) or answer
    said = polarity(answer, fact.name)
    if said is None:
        return "the answer says neither yes nor no"
    return "" if said is fact.value else f"the answer says {'yes' if said else 'no'}"


def _stated(reading: Reading, value: Scalar, fact: Fact) -> list[Place]:
    """Where the answer states a value of the fact's kind: not negated, in a question, doubted or taken back."""
    alike = kind_of(value) == kind_of(fact.value)
    meaning, unit = (fact.meaning, fact.unit) if alike else ("text", "")
    if _ONE_OF.search(reading.text):
        return []
    found = places(reading, value, meaning, unit)
    if fact.derived and meaning == "duration" and isinstance(value, int | float):  # the difference of B and A
        found += [place for place in places(reading, -value, meaning, unit) if reading.text[place[0]] == "-"]
    if fact.meaning == "status":
        found = [place for place in found if not _TO_COME.search(reading.text[max(0, place[0] - 80) : place[0]])]
    if isinstance(value, str):
        found = [place for place in found if not _LONGER.match(reading.text, place[1])]
    return [place for place in found if _is_told(reading, place) and not _TAKEN_BACK.match(reading.text, place[1])]


def _is_told(reading: Reading, place: Place) -> bool:
    """Whether what stands at a place is neither negated nor in a question."""
    before, after = reading.text[: place[0]], reading.text[place[1] :]
    if _NEGATED.search(before[-60:]) or _DENIED.match(after):
        return False
    end = re.search(r"[.!?](?=\s|$)|\n", after)
    if end is None or end[0] != "?":
        return True
    begin = max((match.end() for match in re.finditer(r"[.!?,;:](?=\s)|\n", before)), default=0)
    return not _QUESTION.match(reading.text, begin)


def _taken_back(reading: Reading, place: Place) -> bool:
    """Whether the next sentence takes back what stands at a place: "She lives in Lyon. No, in Ghent." One that begins
    with "actually" does only if it names something else."""
    again = _RETRACTS.match(reading.text, place[1])
    if again is None or re.search(r"\b(?:not|never)\b|n't\b", again["instead"]):
        return False
    own = reading.text[slice(*place)]
    other = re.search(r"(?<=[a-z] )[A-Z]\w+|\d\d", reading.cased[slice(*again.span("instead"))])
    return own not in again["instead"] and (not again["mildly"] or other is not None)


def _is_rival(rival: Scalar, fact: Fact, asked: Asked) -> bool:
    if isinstance(rival, bool) or any(same(rival, other.value) for other in (fact, *asked.facts)):
        return False
    words = tokens(str(rival))
    short = len(words) == 1 and (words[0] in _STOP or (len(words[0]) < 2 and not words[0].isdigit()))
    return bool(words) and not short


def _in_request(rival: Scalar, fact: Fact, asked: Asked) -> bool:
    return bool(asked.request) and bool(_stated(read(asked.request.rstrip("?")), rival, fact))


def _inside(place: Place, other: Place) -> bool:
    """Whether a place is a part of another one."""
    return place != other and other[0] <= place[0] and place[1] <= other[1]


# --- rivals -----------------------------------------------------------------------------------------------------------


def _hedged(
    reading: Reading, fact: Fact, own: Sequence[Place], rivals: Mapping[Scalar, Sequence[Place]], asked: Asked
) -> str:
    """The value and a rival of its kind joined as alternatives or as a bare list, or anything else after "or"."""
    kind = kind_of(fact.value, fact.meaning)
    labels = asked.labels(fact.value)
    for rival, found in rivals.items():
        if kind_of(rival, fact.meaning if kind_of(rival) == kind_of(fact.value) else "text") != kind:
            continue
        other_field = bool(labels) and bool(asked.labels(rival)) and not labels & asked.labels(rival)
        for place, value in ((place, value) for place in found for value in own):
            gap = _gap(reading.text, value, place)
            if gap is None:
                continue
            unlike = kind == "word" and (other_field or _looks(rival) != _looks(fact.value))
            counted = fact.meaning == "money" and _COUNTED.match(reading.text, place[1])
            computing = re.search(r"[=():+*/-]", gap) or (place < value and _MAKES.search(gap))
            operand = (fact.derived and computing) or _OF.search(reading.text[: place[0]])
            if (unlike or counted or operand) and not _DOUBT.search(gap):
                continue
            doubted = len(gap) < 45 and _DOUBT.search(gap) and not re.search(r"[.;!?]\s", gap)
            if {*re.findall(r"[\w']+", gap)} <= _JOINED or doubted:
                return f"in an answer that also gives {rival!r}, as if it were the same"
    return _alternative(reading, own, kind, asked)


def _gap(text: str, one: Place, other: Place) -> str | None:
    """The text between two places, `None` if it is long."""
    first, second = sorted((one, other))
    gap = text[first[1] : second[0]]
    return gap if first[1] <= second[0] and len(gap) < 60 else None


def _looks(value: Scalar) -> tuple[bool, bool]:
    """Whether a value is a code, and whether it begins with a capital: by these a reader tells it from another."""
    return bool(re.search(r"[\d+#]|-$", str(value))), str(value)[:1].isupper()


def _alternative(reading: Reading, own: Sequence[Place], kind: str, asked: Asked) -> str:
    """Words, or another number, date or time of day, beside an "or" beside the value."""
    kinds = {"number": reading.numbers, "date": reading.days, "time": reading.clocks}
    known = {place for fact in asked.facts for place in places(reading, fact.value, fact.meaning, fact.unit)}
    others = [(each.start, each.end) for each in kinds.get(kind, ()) if (each.start, each.end) not in known | {*own}]
    for start, end in own:
        if kind == "word":
            found = _OR_AFTER.match(reading.text, end) or _OR_BEFORE.search(reading.text[:start])
        else:
            after, before = _OR.match(reading.text, end), re.search(r"\bor\s+(?:\w+ )?$", reading.text[:start])
            found = (after and any(0 <= other[0] - after.end() <= 4 for other in others)) or (
                before and any(0 <= before.start() - other[1] <= 8 for other in others)
            )
        if found:
            return f"in an answer that gives an alternative to {reading.text[start:end]!r}"
    return ""


_OPENS = re.compile(r"\W*(?:(?:that|it)(?:'s|'d be| would be| is| was)|the answer is)?(?: (?:the )?[a-z]+)?[\s\"'(#]*")
"""What stands before the choice where an answer begins with it."""
_OPENED = re.compile(r"[\"')]*(?:[;.]|,? -|,(?= (?:it|they|which|since)\b))")
_THAN = re.compile(r"\b(?:than|over|beats|ahead of|behind|compared (?:to|with)|vs\.?|versus)\b")
_CONCLUDES = re.compile(
    r"\b(?:so|therefore|hence|thus|winner|answer|(?!(?:after|under|over|other|number|order|customer|user|member|tier|(?:sept|nov|dec)ember|october)\b)\w+er|\w+est|more|most|"
    r"less|least|fewer|first|better|worst|ahead|beats|wins)\b"
)
_CONTRAST = re.compile(r"\b(?:while|whereas|only|against|but|followed)\b")


def _not_chosen(reading: Reading, own: Sequence[Place], rivals: Mapping[Scalar, Sequence[Place]]) -> str:
    """Why the answer does not single out the right one of things that the request names; empty if it does."""
    others = {place: rival for rival, found in rivals.items() for place in found}
    if not others:
        return ""
    text, spots, first = reading.text, sorted((*own, *others)), min((*own, *others))
    wrong = f"the answer does not single it out from {next(iter(others.values()))!r}"
    if _OPENS.fullmatch(text[: first[0]]) and _OPENED.match(text, first[1]):
        return "" if first in own else wrong
    for match in _THAN.finditer(text):
        if before := [place for place in spots if place[1] <= match.start()]:
            return "" if before[-1] in own else wrong
    for match in reversed(list(re.finditer(r"[^.;!?\n,]+", text))):
        inside = {place in own for place in spots if match.start() <= place[0] < match.end()}
        if len(inside) == 1 and _CONCLUDES.search(match[0]):
            return "" if inside.pop() else wrong
    if first not in own:
        return wrong
    other = min(others)
    apart = _CONTRAST.search(text, first[1], other[0]) or _CONTRAST.match(text, other[1] + 1)  # "B only in 2013"
    return "" if apart else wrong


# --- whose value it is ------------------------------------------------------------------------------------------------


def _swapped(reading: Reading, fact: Fact, asked: Asked) -> str:
    """In an answer of several parts, the value stands with another part's subject or label, or in another's turn."""
    kind = kind_of(fact.value, fact.meaning)
    group = [other for other in asked.facts if kind_of(other.value, other.meaning) == kind and _are_parts(other, fact)]
    if fact not in group or len(group) < 2:
        return ""
    by_subject = len({other.subject for other in group}) == len(group) and all(other.subject for other in group)
    if not by_subject and len({other.name for other in group}) < len(group):
        return ""  # a plain list
    mine, named = group.index(fact), _subject_places if by_subject else _label_places
    values = {n: _stated(reading, other.value, other) for n, other in enumerate(group)}
    told = [place for found in values.values() for place in found]
    anchors = {
        n: [place for place in named(reading, other, group) if not _is_of_another(reading, place, told)]
        for n, other in enumerate(group)
    }
    given = _assigned(reading.text, anchors, values)
    equal = {n for n, other in enumerate(group) if same(other.value, fact.value)}
    own = given.get(mine, set())
    if own and not own & equal:
        return f"the answer gives {group[min(own)].value!r} in its place"
    if by_subject:
        alone = [n for n in equal - {mine} if anchors[n]]
        if alone and not anchors[mine] and len(values[mine]) < len(equal) and not _OF_ALL.search(reading.text):
            return f"the answer gives it for {group[alone[0]].subject!r} alone"
        holders = {owner for owner, found in given.items() if found & equal}
        if own - equal or (holders and not holders & equal):
            return "the answer gives it for another one"
    alike = kind != "word" or len({_looks(other.value) for other in group}) < len(group)
    if given or not alike or not all(values.values()):
        return ""
    firsts = [min(values[n]) for n in range(len(group))]
    if any(
        other.meaning == "identifier" and _NUMBERED.search(reading.text[: firsts[n][0]])
        for n, other in enumerate(group)
    ):
        return ""
    lasts = [max(values[n]) for n in range(len(group))]
    others = [n for n in range(len(group)) if n not in equal]
    wrong = any((spots[n] < spots[mine]) != (n < mine) for spots in (firsts, lasts) for n in others)
    return "the answer gives it in another's turn" if wrong else ""


def _is_of_another(reading: Reading, name: Place, told: Sequence[Place]) -> bool:
    """Whether a word is a part of a value, or names another thing by its code: `order` in "order O-2111 was paid"."""
    code = _CODE_BEHIND.match(reading.text, name[1])
    other = code is not None and all(place[0] != code.end() for place in told)
    return other or any(_inside(name, place) for place in told)


def _are_parts(one: Fact, other: Fact) -> bool:
    """Whether two facts are one field of two things (`home_score` and `away_score`, too) or fields of one thing."""
    return one.subject == other.subject or one.name == other.name or bool({*stems(one.name)} & {*stems(other.name)})


def _assigned(
    text: str, anchors: Mapping[int, Sequence[Place]], values: Mapping[int, Sequence[Place]]
) -> dict[int, set[int]]:
    """The values that each owner has in a text, by the places of the owners' names and of the values.

    A sentence that names as many owners as values has them in one order: "A costs 5 and B costs 7", "5 for A, 7 for B",
    "A and B cost 5 and 7". Else a value belongs to the only name in its clause, in the one before, or before its
    sentence.
    """
    shields = [place for spots in (*anchors.values(), *values.values()) for place in spots]
    sentences, clauses = _borders(_SENTENCE, text, shields), _borders(_CLAUSE, text, shields)
    items = [(start, "S", owner) for owner, spots in anchors.items() for start, _ in spots]
    items += [(start, "V", value) for value, spots in values.items() for start, _ in spots]
    items = [next(same) for _, same in groupby(sorted(items), key=lambda item: item[1:] if item[1] == "S" else item[0])]
    found: dict[int, set[int]] = {}
    waiting: list[int] = []  # owners that have no value so far
    for sentence in _parts(items, sentences):
        shape = "".join(kind for _, kind, _ in sentence)
        owners, told = ([each for _, kind, each in sentence if kind == sort] for sort in "SV")
        if told and not owners:
            owners, shape = waiting, "S" * len(waiting) + shape
        waiting = [] if told else [*waiting, *owners]
        n = len(owners)
        if shape in ("SV" * n, "VS" * n, "S" * n + "V" * n, "V" * n + "S" * n):
            pairs = list(zip(owners, told, strict=True))
        elif n == 1 and "S" not in "".join(kind for _, kind, _ in sentence):
            pairs = [(owners[0], value) for value in told]
        else:
            pairs = _by_clause(_parts(sentence, clauses))
        for owner, value in pairs:
            found.setdefault(owner, set()).add(value)
    return found


def _by_clause(clauses: Sequence[Sequence[_Item]]) -> list[tuple[int, int]]:
    """The pairs of owner and value of a sentence's clauses that name one owner, or follow one that names no value."""
    found: list[tuple[int, int]] = []
    free: int | None = None
    for clause in clauses:
        owners, told = ([each for _, kind, each in clause if kind == sort] for sort in "SV")
        owner = owners[0] if len({*owners}) == 1 else free if not owners else None
        free = owner if not told else None
        found += [(owner, value) for value in told if owner is not None]
    return found


def _borders(pattern: re.Pattern[str], text: str, shields: Sequence[Place]) -> list[int]:
    """Where the pattern matches outside of the shielded places."""
    matches = pattern.finditer(text)
    return [m.start() for m in matches if not any(start <= m.start() and m.end() <= end for start, end in shields)]


def _parts(items: Sequence[_Item], borders: Sequence[int]) -> list[list[_Item]]:
    return [list(part) for _, part in groupby(items, key=lambda item: sum(border < item[0] for border in borders))]


def _subject_places(reading: Reading, fact: Fact, group: Sequence[Fact]) -> list[Place]:
    """Where the answer names the fact's subject, in full or by words that no other subject has."""
    own = {*tokens(fact.subject)}
    longer = [o for o in group if own < {*tokens(o.subject)}]
    long = [place for other in longer for place in places(reading, other.subject)]
    whole = [place for place in places(reading, fact.subject) if not any(_inside(place, each) for each in long)]
    others = {word for other in group if other.subject != fact.subject for word in tokens(other.subject)}
    telling = {word for word in own - others if len(word) > 2 or word[-1].isdigit()}
    return whole or sorted((start, end) for word, start, end in reading.words if word in telling)


def _label_places(reading: Reading, fact: Fact, group: Sequence[Fact]) -> list[Place]:
    """Where the answer has a word for the fact's field that stands for no other field."""
    cues = _cues(fact) - {word for other in group if other != fact for word in _cues(other)}
    return sorted((start, end) for word, start, end in reading.words if _is_cue((*stems(word), "")[0], cues))


def _is_cue(stem: str, cues: set[str]) -> bool:
    """Whether a word is one of the cues in another form: `member` for `membership`."""
    return stem in cues or (len(stem) > 3 and any(cue.startswith(stem) for cue in cues))


def _cues(fact: Fact) -> set[str]:
    own = {part for word in stems(fact.name) for part in WORD.findall(folded(word))}
    return (own | _CUES.get(fact.meaning, frozenset())) - _UNTELLING
