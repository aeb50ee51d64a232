"""What an answer claims: a write that was made is reported with what is known, no other is claimed, no date made up.

Known are the request, the calls and their results. Short confirmations claim nothing.
"""

import re
from collections.abc import Iterator
from itertools import combinations

from mcprl.judges.evidence import Evidence
from mcprl.judges.mentions import Day, Number, Reading, read, telling
from mcprl.judges.missing import says_missing
from mcprl.judges.phrases import declines, questions_back, sentences
from mcprl.judges.scripts import folded
from mcprl.judges.values import places
from mcprl.servers.arguments import leaves
from mcprl.text import stems
from mcprl.types import CallMade, Scalar, StateHolds

_UNDONE = re.compile(
    r"\b(?:i|we) (?:(?:have|did|could|can)(?:n't|'t| ?not)|(?:was|were|am|are)(?: not |n't | un)able to) "
    r"(?:yet |actually |been able to )?(?!find|see|think|know|notice|have|need|touch)\w+\b"
    r"(?! (?:anything|any ?thing|nothing) else| any other| the (?:rest|others?)\b)|"
    r"\b(?:has|have)(?:n't| not) (?:yet )?been (?:changed|set|updated|created|added|removed|deleted|cancell?ed|sent)|"
    r"\b(?:nothing|none of it) (?:was|has been|is) (?:changed|done|saved|sent)\b|"
    r"\bdid(?:n't| not) (?:go|come) through\b|\bstill (?:has|have|shows?) the old\b|"
    r"\bnothing (?:(?:for me|had|has|needed) )?to (?:be )?(?:chang|do|updat|add|delet|remov)|"
    r"\b(?<!else )(?<!rest )(?<!total )(?:stays|remains|is still) (?:as it (?:was|is)|unchanged|the same)\b|"
    r"(?<!'ve )(?<!have )\balready (?:had|has|exist|there|in there|down as|marked|set|on file|recorded)|"
    r"\b(?:was|were|is|are) (?:in there |there )?already\b(?! (?:done|been))"
)
_WAITS = re.compile(
    r"(?:^|[:,] )(?:(?:shall|should) i (?:go ahead|proceed|do (?:it|that))\b|"
    r"(?:do you (?:really )?want me to|are you sure|(?:can|could) you (?:please )?(?:tell|confirm|let|give)) "
    r"(?!.*\b(?:also|else|as well|too|instead)\b))[^?]*\?$|"
    r"\b(?:tell me|let me know|say so) if (?:you(?:'d)? (?:want|like) me to|i should) "
    r"(?!.*\b(?:also|else|as well|too|instead)\b)"
)
_REPORTS = re.compile(
    r"\b(?:done|all set|(?:i|we)(?:'ve| have) (?!not|n't)|(?:has|have|was|were) (?:now )?(?:been )?\w+ed\b|"
    r"(?:is|are) (?:now|gone)\b|\bno longer\b|any ?more\b|updated|added|created|saved|sent)\b"
)
"""What tells that something was done."""
_DONE = re.compile(
    r"\b(?:ok|okay|all set|got it|yes|ready|gone|taken care|(?:success|complet|confirm|finish|note|noti|remember)\w*|"
    r"done|made|set|put|sent|added|saved|written|kept|fixed|sorted|"
    r"(?:i|we|it|that|is|are|was|were|has|have|been|now)(?:'s|'re|'ve)?(?: \w+ly| just| now| been)* \w+(?:ed|en|wn)|"
    r"(?:is|are|it's|that's|they're)(?: now)? (?:there|on|off|up|in)|"
    r"erledigt|fertig|gemacht|gespeichert|hecho|listo|fait|termine|fatto|feito|pronto|gedaan|klaar|klart|gjort|valmis|"
    r"gotowe|zrobione|hotovo|kesz|tamam|selesai|xong|готово|сделано|выполнено|виконано|\u062a\u0645|"
    r"\u05d1\u05d5\u05e6\u05e2|\u05d4\u05d5\u05e9\u05dc\u05dd)\b|"
    r"^\w+ed\b|完成|完了|好的|已|しました|했습니다|완료|เรียบร้อย|แล้ว"
)
"""That something was done, in a few languages; others are known by what was done to what."""
_WRITES = (
    r"(?:add|append|book|cancell?|chang|creat|delet|e?mail|eras|forward|insert|merg|messag|mov|notifi|order|past|post|push|"
    r"refund|renam|remov|reschedul|reset|return|sav|schedul|send|sent|sett?|shipp?|submitt|switch|transferr|updat|upload|wip|writ)"
)
_CLAIMED = re.compile(
    rf"\b(?:i|we)(?:'ve| have) (?:just |now |also |already )*({_WRITES}(?:ed|en|e)?)\b"
    r"(?! (?:(?:it|them|both|these) )?(?:nothing|none|no|up|down|out|together|over)\b)"
    rf"|\band ({_WRITES}ed) (?:it|them|the \w+) (?:to|into|onto)\b|\bi (?!add)({_WRITES}ed)\b"
)
"""A write in the first person."""
_ANNOUNCED = re.compile(r"\W*(?:all )?done\b(?=[^\w]|$)")
"""An answer that begins with what only a write is answered with."""
_CODE = re.compile(r"(?<![\w/.@-])(?=[\w-]*\d)(?=[\w-]*[a-z])[a-z0-9]+(?:[-_][a-z0-9]+)+(?![\w/]|-\w)")
_LEAST = 100
"""Numbers below it count and enumerate what nobody has to know."""


def belied(evidence: Evidence) -> str:
    """Why the answer misreports a write that the task asks for, or claims one that it does not; empty if neither."""
    checks, answer, reading = evidence.scenario.checks, evidence.answer, evidence.reading
    wanted = [check for check in checks if isinstance(check, StateHolds | CallMade)]
    if not wanted or any(isinstance(check, CallMade) and check.failed for check in wanted):
        claimed = _CLAIMED.search(reading.text) or (None if evidence.writes else _ANNOUNCED.match(reading.text))
        return f"the answer claims {claimed[0]!r}, which was not to be done" if claimed else ""
    parts = sentences(answer)
    reported = any(_REPORTS.search(part) for part in parts)
    lacks = says_missing(answer) and not reported and len(wanted) == len(checks)
    if lacks or declines(answer) or any(_UNDONE.search(part) for part in parts):
        return "the answer says that it was not done"
    if questions_back(answer) or (not reported and any(_WAITS.search(part) for part in parts)):
        return "the answer asks back, though it was done"
    if stranger := next(_strangers(reading, _known(evidence)), None):
        return f"the answer reports {stranger!r}, which nobody gave and no result holds"
    if other := _other_choice(evidence):
        return f"the answer reports {other!r}, which is another choice than the one made"
    return "" if evidence.facts or _confirms(evidence) else "the answer says nothing of what was done"


def dates_made_up(evidence: Evidence) -> str:
    """Why a date beside what was looked up is made up; empty if none is, or if what was asked for is computed."""
    if not evidence.facts or any(fact.derived or fact.live for fact in evidence.facts):
        return ""
    reading = evidence.reading
    strange = next((day for day in _strange_days(reading, _known(evidence)) if day.month), None)
    return f"the answer reports {_at(reading, strange)!r}, which nobody gave and no result holds" if strange else ""


def _confirms(evidence: Evidence) -> bool:
    """Whether a sentence that is no question says that it was done, or has a value, a name or a word of it."""
    told = [part for part in sentences(evidence.answer) if not part.endswith("?")]
    reading = read("\n".join(told))
    if any(_DONE.search(part) for part in told) or any(places(reading, value) for value in _written(evidence)):
        return True
    plan = evidence.scenario.plan
    known = folded(" ".join((evidence.request, *(call.tool for call in plan))))
    return bool(telling(reading) & telling(read(" ".join(stems(known)))))


def _written(evidence: Evidence) -> Iterator[Scalar]:
    planned = {call.tool for call in evidence.scenario.plan[-1:]}
    for record in evidence.trajectory.calls:
        if record.tool in planned:
            yield from (value for _, value in leaves(record.arguments or {}))
            yield from (value for _, value in leaves(record.result.structured))


def _known(evidence: Evidence) -> Reading:
    """All that was given and found, as one text."""
    scenario, trajectory = evidence.scenario, evidence.trajectory
    texts = [scenario.request, *(str(fact.value) for fact in evidence.facts)]
    texts += [str(value) for call in (*scenario.plan, *trajectory.calls) for _, value in leaves(call.arguments or {})]
    results = (*(record.result for record in trajectory.calls), *trajectory.before, *trajectory.state)
    return read("\n".join((*texts, *(result.text for result in results))))


def _strangers(reading: Reading, known: Reading) -> Iterator[str]:
    """The dates, codes, amounts of money and larger numbers of an answer that are in nothing that is known. An amount
    may be the difference or the sum of two that are."""
    found: list[Day | Number] = [*_strange_days(reading, known)]
    numbers = {abs(number.value) for number in known.numbers}
    made = {round(abs(a + sign * b), 2) for a, b in combinations(numbers, 2) for sign in (1, -1)}
    for number in reading.numbers:
        is_amount = bool(number.currency) or number.decimals > 1
        told = abs(number.value) >= _LEAST or (is_amount and round(abs(number.value), 2) not in made)
        if told and not number.unit and abs(number.value) not in numbers:
            found.append(number)
    texts = [_at(reading, each) for each in found]
    texts += [match[0] for match in _CODE.finditer(reading.text)]
    yield from (text for text in texts if not re.search(rf"(?<!\d){re.escape(text)}(?!\d)", known.text))


def _strange_days(reading: Reading, known: Reading) -> Iterator[Day]:
    """The days of an answer that are in nothing that is known."""
    days = {(day.month, day.day) for day in known.days}
    yield from (day for day in reading.days if day.day and not _same(day) & days)


def _at(reading: Reading, mention: Day | Number) -> str:
    return reading.text[mention.start : mention.end]


def _same(day: Day) -> set[tuple[int, int]]:
    """The month and day that a date may be."""
    return {(day.month, day.day)} | ({(day.day, day.month)} if day.swapped else set())


def _other_choice(evidence: Evidence) -> str:
    """Another choice of a schema than was made, if the answer has it and lacks the one made."""
    for record in evidence.trajectory.calls:
        schema = evidence.tools[record.tool].input_schema if record.tool in evidence.tools else {}
        for name, value in (record.arguments or {}).items():
            choices = schema.get("properties", {}).get(name, {}).get("enum", ())
            if not isinstance(value, str) or value not in choices or places(evidence.reading, value, "status"):
                continue
            others = (each for each in choices if isinstance(each, str) and each != value)
            if told := next((each for each in others if places(evidence.reading, each, "status")), ""):
                return told
    return ""
