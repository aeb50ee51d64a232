"""Whether an answer states a fact in its role: the value of the asked field, and not its neighbours' in its place."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mcprl.judges.comparing import compares_keys, other_extreme, singled_out
from mcprl.judges.ends import end_of, opposed, stated_ends
from mcprl.judges.matches import beaten, score_objection
from mcprl.judges.mentions import Reading, read
from mcprl.judges.owners import assigned, inside, stand_ins
from mcprl.judges.phrases import polarity
from mcprl.judges.rivals import Asked, choice, hedged, live, look, only_reason, taken_back
from mcprl.judges.scripts import WORD, folded
from mcprl.judges.support import unsupported
from mcprl.judges.units import is_unit
from mcprl.judges.values import Place, kind_of, places, same, tokens
from mcprl.judges.workings import welcome
from mcprl.text import stems
from mcprl.types import Fact, Scalar

_STOP = frozenset("a i an in on no yes is it the of to and or at by for be so do me my we us n/a none null".split())
_CUES: Mapping[str, frozenset[str]] = {
    "money": frozenset("cost price priced charge pay sell worth".split()),
    "count": frozenset("left stock unit piece available copy remaining many quantity".split()),
    "status": frozenset("status state".split()),
    "person": frozenset("by name".split()),
    "place": frozenset("city located live based town country".split()),
    "email": frozenset("email mail".split()),
    "phone": frozenset("phone telephone call".split()),
    "duration": frozenset("take long duration last".split()),
}
_NONE = re.compile(
    r"\bthere (?:are|is|were|was|seem to be)(?: \w+ly)? none\b(?! (?:of|in|at|on|for|like|other|left over))|"
    r"\bthere (?:are|is|were|was)n't any\b(?=\s*[.,;!]|$)|^(?:none|nothing|zero)\b"
)
"""That there are none: no answer to a count above zero, whatever else stands beside it."""
_OF_ALL = re.compile(r"\b(?:both|each|every|all|same|equal\w*|also|too|either|likewise)\b")
"""What makes a value that of several things."""
_UNTELLING = frozenset("id of the is in a at no and by to".split())


def states(answer: str, fact: Fact, request: str = "", facts: Sequence[Fact] = ()) -> bool:
    """Whether `answer` states `fact` in its role. `facts` are all that the request asks for, in its order."""
    return not objection(answer, fact, Asked(request, tuple(facts)))


def objection(answer: str, fact: Fact, asked: Asked) -> str:
    """Why `answer` does not state `fact` in its role, empty if it does."""
    if isinstance(fact.value, bool):
        return _flag(answer, fact, asked)
    reading = read(answer)
    score = _score(reading, fact, asked)
    if score is not None:
        return score
    rivals = [rival for rival in fact.rivals if _is_rival(rival, fact, asked)]
    stated = {rival: live(reading, rival, fact) for rival in rivals}
    longer = [place for found in stated.values() for place in found]
    own = [p for p in live(reading, fact.value, fact) if not any(inside(p, other) for other in longer)]
    own = own if len(asked.facts) > 1 else [place for place in own if not taken_back(reading, place)]
    if not own or (len(asked.facts) < 2 and fact.meaning == "count" and _NONE.search(reading.text) and fact.value):
        return "not in the answer"
    if kind_of(fact.value, fact.meaning) == "word":
        others = [place for rival in rivals if kind_of(rival) == "word" for place in stated[rival]]
        if beaten(reading, own, others, asked.request):
            return "the answer makes it the loser"
        if compares_keys(reading, own, asked.request):
            return "in an answer that compares what nobody asked for"
        singled = singled_out(reading, own, others, asked.request)
        if singled is not None:
            return "" if singled else "the comparison is the wrong way round"
    return _beside(reading, fact, own, stated, asked) or unsupported(reading, fact, own, asked)


def _beside(
    reading: Reading, fact: Fact, own: Sequence[Place], stated: Mapping[Scalar, Sequence[Place]], asked: Asked
) -> str:
    """What is wrong with the rivals that the answer states beside the value, and with whose value it is."""
    kept = [place for other in (fact, *asked.facts) for place in live(reading, other.value, other)]
    near = {
        rival: [place for place in found if not any(inside(place, long) or place == long for long in kept)]
        for rival, found in stated.items()
    }
    shown = welcome(reading, fact, own, {rival: found for rival, found in near.items() if found}, asked.request)
    if fact.rivals and places(read(asked.request), fact.value, fact.meaning, fact.unit):
        alike = [rival for rival in stated if isinstance(rival, str) == isinstance(fact.value, str)]
        chosen = choice(reading, own, {rival: stated[rival] for rival in alike if rival not in shown})
        return chosen or _swapped(reading, fact, asked)
    near = {
        rival: found
        for rival, found in near.items()
        if found and rival not in shown and not _in_request(rival, fact, asked)
    }
    return (
        only_reason(reading, fact, own, stated)
        or hedged(reading, fact, own, near, asked)
        or _misplaced(reading, fact, near, asked)
        or _turned(reading, fact, own, asked)
    )


def _score(reading: Reading, fact: Fact, asked: Asked) -> str | None:
    group = [other for other in asked.facts if _alike(other, fact) and other.subject]
    if len(group) != 2 or len(asked.facts) != 2 or group[0].subject == group[1].subject:
        return None

    def named(other: Fact) -> list[Place]:
        return _subject_places(reading, other, group)

    return score_objection(reading, group, named)


def _alike(one: Fact, other: Fact) -> bool:
    """Whether two facts are one field of two things: `home_score` and `away_score`, too."""
    return one.name == other.name or bool({*stems(one.name)} & {*stems(other.name)})


def _spells(rival: Scalar, kind: str, fact: Fact) -> bool:
    """Whether a text spells a value of the fact's kind, such as a number with its unit."""
    spelled = read(str(rival))  # without codes
    is_spelled = bool(spelled.numbers or spelled.clocks)
    return kind_of(rival) == "word" and kind_of(rival, fact.meaning) == kind and is_spelled


def _turned(reading: Reading, fact: Fact, own: Sequence[Place], asked: Asked) -> str:
    """In an answer of several parts, the value stands with another part's subject or label; or it is told as the other
    end of a way."""
    if opposed(reading, own, fact, asked.request) or (len(asked.facts) < 2 and other_extreme(reading, asked.request)):
        return "the answer tells the opposite"
    end, told = end_of(fact), stated_ends(reading, own)
    if end and told:
        return "" if end in told else "the answer makes it the other end"
    others = [other for other in asked.facts if other != fact and end_of(other) == -end]
    if end and any(end in stated_ends(reading, live(reading, other.value, other)) for other in others):
        return "the answer makes it the other end"
    return _swapped(reading, fact, asked)


def _flag(answer: str, fact: Fact, asked: Asked) -> str:
    if len(asked.facts) > 1 and fact.name:
        parts = [
            part for part in re.split(r"[.;,\n]|\band\b|\bbut\b", answer) if set(stems(fact.name)) & set(stems(part))
        ]
        answer = ". ".join(parts) or answer
    said = polarity(answer, fact.name)
    if said is None:
        return "the answer says neither yes nor no"
    return "" if said is fact.value else f"the answer says {'yes' if said else 'no'}"


def _is_rival(rival: Scalar, fact: Fact, asked: Asked) -> bool:
    if isinstance(rival, bool) or any(same(rival, other.value) for other in (fact, *asked.facts)):
        return False
    if is_unit(rival, fact.unit):
        return False
    words = tokens(str(rival))
    return bool(words) and not (
        len(words) == 1 and (words[0] in _STOP or (len(words[0]) < 2 and not words[0].isdigit()))
    )


def _in_request(rival: Scalar, fact: Fact, asked: Asked) -> bool:
    return bool(asked.request) and bool(live(read(asked.request.rstrip("?")), rival, fact))


# --- whose value it is ------------------------------------------------------------------------------------------------


def _misplaced(reading: Reading, fact: Fact, near: Mapping[Scalar, Sequence[Place]], asked: Asked) -> str:
    """The answer gives a rival under the fact's own label or subject, and not the value."""
    kind = kind_of(fact.value, fact.meaning)
    near = {rival: found for rival, found in near.items() if kind_of(rival) == kind or _spells(rival, kind, fact)}
    values = {0: live(reading, fact.value, fact)}
    values |= dict(enumerate(near.values(), 1))
    others = [label for rival in near for label in asked.labels(rival)]
    own = fact if others else replace(fact, name=" ".join(w for w in stems(fact.name) if not is_unit(w, fact.unit)))
    marks = {0: _label_places(reading, own, [Fact("", label) for label in others])}
    marks |= {n: _label_places(reading, Fact("", label), [fact]) for n, label in enumerate(others, 1)}
    subject = {0: places(reading, fact.subject, "text")} if fact.subject else {}
    for anchors in (marks, subject):
        given = assigned(reading, anchors, values).get(0, set()) if anchors.get(0) else set[int]()
        if given and 0 not in given:
            rival = list(near)[min(given) - 1]
            return f"the answer gives {rival!r} in its place"
    return ""


def _swapped(reading: Reading, fact: Fact, asked: Asked) -> str:
    """In an answer of several parts, the value stands with another part's subject or label, or in another's turn."""
    number = next((n for n, other in enumerate(asked.facts) if other == fact), None)
    if number is None or len(asked.facts) < 2:
        return ""
    group = [
        other
        for other in asked.facts
        if kind_of(other.value, other.meaning) == kind_of(fact.value, fact.meaning) != "flag"
        and (_alike(other, fact) or other.subject == fact.subject)
    ]
    if fact not in group or len(group) < 2:
        return ""
    subjects = len({other.subject for other in group}) == len(group) and all(other.subject for other in group)
    names = len({other.name for other in group}) == len(group)
    if not subjects and not names:
        return ""  # a plain list
    values = {n: live(reading, other.value, other) for n, other in enumerate(group)}
    if subjects:
        anchors = {n: _subject_places(reading, other, group) for n, other in enumerate(group)}
        anchors = {n: found for n, found in anchors.items() if found}
        anchors = stand_ins(reading, anchors) if len(group) == 2 else anchors
    else:
        anchors = {n: _label_places(reading, other, group) for n, other in enumerate(group)}
        anchors = {n: _unnamed(reading, found, values[n]) for n, found in anchors.items()}
        anchors = {n: found for n, found in anchors.items() if found}
    return _compared(reading, group, group.index(fact), anchors, values, strict=subjects)


def _compared(
    reading: Reading,
    group: Sequence[Fact],
    mine: int,
    anchors: Mapping[int, Sequence[Place]],
    values: Mapping[int, Sequence[Place]],
    strict: bool,
) -> str:
    found = assigned(reading, anchors, values)
    value = group[mine].value
    equal = {n for n, other in enumerate(group) if same(other.value, value)}
    own = found.get(mine, set())
    if own and not own & equal:
        return f"the answer gives {group[min(own)].value!r} in its place"
    alone = [n for n in equal if n != mine and anchors.get(n)]
    once = not anchors.get(mine) and len(values[mine]) < len(equal)
    if strict and alone and once and not _OF_ALL.search(reading.text):
        return f"the answer gives it for {group[alone[0]].subject!r} alone"
    if strict and own - equal:
        return f"the answer also gives {group[min(own - equal)].value!r} for it"
    holders = {owner for owner, given in found.items() if given & equal}
    if strict and holders and not holders & equal:
        return f"the answer gives it for {group[min(holders)].subject!r}"
    if found:
        return ""
    kinds = {kind_of(other.value, other.meaning) for other in group}
    firsts = [min(values[n])[0] if values[n] else -1 for n in range(len(group))]
    coded = any(o.meaning == "identifier" and _numbered(reading, n) for o, n in zip(group, firsts, strict=True))
    looks = {look(other.value) for other in group}
    if len(kinds) == 1 and -1 not in firsts and not coded and (kinds != {"word"} or len(looks) < len(group)):
        wrong = any((firsts[n] < firsts[mine]) != (n < mine) for n in range(len(group)) if n not in equal)
        return "the answer gives it in another's turn" if wrong else ""
    return ""


def _numbered(reading: Reading, start: int) -> bool:
    """Whether a value stands behind the noun that it is a number of: "Invoice 11, over 480.00"."""
    before = re.search(r"(?:^|[.!?:,;(] ?|\b(?:the|an?|is|it's) )([a-z]{3,}) #?$", reading.text[: max(start, 0)])
    return before is not None and before[1] not in ("the", "and", "for", "over", "are", "has", "about", "its", "costs")


def _subject_places(reading: Reading, fact: Fact, group: Sequence[Fact]) -> list[Place]:
    """Where the answer names the fact's subject, in full or by words that no other subject has."""
    whole = places(reading, fact.subject, "text")
    longer = [
        place
        for other in group
        if set(tokens(fact.subject)) < set(tokens(other.subject))
        for place in places(reading, other.subject, "text")
    ]
    whole = [place for place in whole if not any(inside(place, long) for long in longer)]
    if whole:
        return whole
    others = {word for other in group if other.subject != fact.subject for word in tokens(other.subject)}
    telling = [word for word in tokens(fact.subject) if word not in others and (len(word) > 2 or word[-1].isdigit())]
    return sorted((start, end) for word, start, end in reading.words if word in telling)


def _label_places(reading: Reading, fact: Fact, others: Sequence[Fact]) -> list[Place]:
    """Where the answer has a word for the fact's field that stands for no other field."""
    taken = {word for other in others if other != fact for word in _cues(other)}
    own = _cues(fact) - taken
    return sorted((start, end) for word, start, end in reading.words if _is_cue((stems(word) or ("",))[0], own))


def _unnamed(reading: Reading, labels: Sequence[Place], own: Sequence[Place]) -> list[Place]:
    """The labels that do not only name another thing by its code: the `order` of "order O-2111 was delivered" says no
    order number."""
    behind = ((label, re.match(r"\s+#?(?=\S*\d)", reading.text[label[1] :])) for label in labels)
    starts = {start for start, _ in own}
    return [label for label, code in behind if code is None or label[1] + code.end() in starts]


def _is_cue(stem: str, cues: set[str]) -> bool:
    """Whether a word is one of the cues in another form: `boils` for `boiling`."""
    return stem in cues or (len(stem) > 3 and any(cue.startswith(stem) for cue in cues))


def _cues(fact: Fact) -> set[str]:
    own = {part for word in stems(fact.name) for part in WORD.findall(folded(word))}
    return (own | _CUES.get(fact.meaning, frozenset())) - _UNTELLING
