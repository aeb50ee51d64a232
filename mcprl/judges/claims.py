"""What an answer claims of the writes that were made: what was not done, or was done to another thing, is belied.

Short confirmations claim nothing. A claim is held against what is known: the request, the calls and their results.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from itertools import combinations

from mcprl.judges.confirming import confirms
from mcprl.judges.deeds import misreported, never_made, unreported
from mcprl.judges.mentions import Day, Number, Reading, read
from mcprl.judges.missing import says_missing
from mcprl.judges.moments import same_clock
from mcprl.judges.phrases import declines, questions_back, sentences
from mcprl.judges.rivals import is_stated
from mcprl.judges.support import WEEKDAYS
from mcprl.judges.units import DURATIONS, convert
from mcprl.judges.values import Place, places, tokens
from mcprl.judges.workings import follows
from mcprl.servers.arguments import leaves
from mcprl.servers.effects import is_read
from mcprl.types import CallMade, CallRecord, Fact, Scalar, Scenario, StateHolds, Tool, Trajectory

_UNDONE = re.compile(
    r"\b(?:i|we) (?:(?:have|did|could|can)(?:n't|'t| ?not)|(?:was|were|am|are)(?: not |n't | un)able to) "
    r"(?:yet |actually |been able to )?(?!find|see|think|know|notice|have|need|touch)\w+\b"
    r"(?! (?:anything|any ?thing|nothing) else| any other| the (?:rest|others?)\b)|"
    r"\b(?:has|have)(?:n't| not) (?:yet )?been (?:changed|set|updated|created|added|removed|deleted|cancell?ed|sent)|"
    r"\b(?:nothing|none of it) (?:was|has been|is) (?:changed|done|saved|sent)\b|"
    r"\bdid(?:n't| not) (?:go|come) through\b|\bstill (?:has|have|shows?) the old\b|"
    r"\bnothing (?:(?:for me|had|has|needed) )?to (?:be )?(?:chang|do|updat|add|delet|remov)|"
    r"\bleft (?:it|them|(?:the|that|this|your) [^.;,!?]*)?\bout\b|"
    r"\b(?<!else )(?<!rest )(?<!total )(?:stays|remains|is still) (?:as it (?:was|is)|unchanged|the same)\b|"
    r"(?<!'ve )(?<!have )\balready (?:had|has|exist|there|in there|down as|marked|set|on file|recorded)|"
    r"\b(?:was|were|is|are) (?:in there |there )?already\b(?! (?:done|been))"
)
_OFFERS = re.compile(r"^(?:should|shall) i (?!also\b)[^?]+\?$")
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
_WROTE = r"(?:changed|set|updated|marked|moved|switched|adjusted|cancell?ed|deleted|removed|put|assigned|brought)"
_DONE_TO = re.compile(
    rf"(?:(?:,| and|, and) [\w-]+)*\)?(?:'s|\s(?:has|have|was|were|is|are))(?: now| just)*(?: been)? {_WROTE}\b|"
    r"\snow has\b"
)
_DID = re.compile(
    rf"\b(?:i|we)(?:'ve| have)? (?:now )?{_WROTE} (?:(?!(?:from|for|by|to|in|on|at|with|and)\b)[a-z]+ ){{0,4}}$"
)
_PATH = re.compile(r"(?:[a-z][\w+.-]*://)?[\w.@~-]+(?:/[\w.@~-]+)+")
_TELLING = re.compile(r"[\d._~-]|^[a-z]+://")
_CODE = re.compile(r"(?<![\w/.@-])(?=[\w-]*\d)(?=[\w-]*[a-z])[a-z0-9]+(?:[-_][a-z0-9]+)+(?![\w/]|-\w)")
_CODES = re.compile(rf"{_CODE.pattern}|\b[a-z]+\d\w*(?!-)")
_QUOTED = re.compile(r"\"([^\"\n]{3,120})\"")
_LEAST = 100
"""Numbers below it count and enumerate what nobody has to know."""


def belied(scenario: Scenario, trajectory: Trajectory, tools: Mapping[str, Tool]) -> str:
    """Why the answer misreports a write that the task asks for; empty if it does not, or if the task asks for none.

    `tools` are the server's, by name.
    """
    wanted = [check for check in scenario.checks if isinstance(check, StateHolds | CallMade)]
    answer = trajectory.answer
    if not wanted or any(isinstance(check, CallMade) and check.failed for check in wanted):
        claimed = never_made(read(answer))
        return f"the answer claims {claimed!r}, which was not to be done" if claimed else ""
    reported = any(_REPORTS.search(part) for part in sentences(answer))
    lacks = says_missing(answer) and not reported and len(wanted) == len(scenario.checks)
    if lacks or declines(answer) or any(_UNDONE.search(part) for part in sentences(answer)):
        return "the answer says that it was not done"
    if questions_back(answer) or _offers(answer, scenario, reported):
        return "the answer asks back, though it was done"
    known = _known(scenario, trajectory)
    reading = read(answer)
    if stranger := next(_strangers(reading, known), None):
        return f"the answer reports {stranger!r}, which nobody gave and no result holds"
    if other := _other_choice(reading, trajectory.calls, tools):
        return f"the answer reports {other!r}, which is another choice than the one made"
    if other := _other_thing(reading, scenario, tools):
        return f"the answer reports a change of {other!r}, which was only read"
    if deed := misreported(scenario, reading, known, tools):
        return f"the answer reports {deed!r}, which is not what was done"
    if any(isinstance(check, Fact) for check in scenario.checks):
        return ""
    if not confirms(answer, scenario, trajectory.calls):
        return "the answer says nothing of what was done"
    lacking = unreported(trajectory.calls, reading, tools)
    return f"the answer leaves out {lacking!r}, which was found" if lacking else ""


def _offers(answer: str, scenario: Scenario, reported: bool) -> bool:
    """Whether the answer asks whether the write shall be made, or for something before it makes it."""
    parts = sentences(answer)
    if any(_WAITS.search(part) for part in parts) and not reported:
        return True
    written = [str(value).lower() for _, value in leaves(scenario.plan[-1].arguments)] if scenario.plan else []
    codes = [value for value in written if re.search(r"\d", value)]
    return any(_OFFERS.match(part) and any(code in part for code in codes) for part in parts)


def _known(scenario: Scenario, trajectory: Trajectory) -> Reading:
    """All that was given and found, as one text."""
    looks = [*trajectory.before, *trajectory.state]
    texts = [scenario.request, *(str(check.value) for check in scenario.checks if isinstance(check, Fact))]
    texts += [str(value) for call in scenario.plan for _, value in leaves(call.arguments)]
    texts += [str(value) for record in trajectory.calls for _, value in leaves(record.arguments or {})]
    texts += [result.text for result in (*(record.result for record in trajectory.calls), *looks)]
    return read("\n".join(texts))


def _strangers(reading: Reading, known: Reading) -> Iterator[str]:
    """What an answer states that is in nothing that is known."""
    for start, end in (*_strange_moments(reading, known), *_strange_numbers(reading, known)):
        if not re.search(rf"(?<!\d){re.escape(reading.text[start:end])}(?!\d)", known.text):
            yield reading.text[start:end]
    for pattern in (_PATH, _CODE):
        for match in pattern.finditer(reading.text):
            word = match[0].rstrip(".")
            same = word.rpartition("/")[2] in known.text and _has(known, word)
            if _TELLING.search(word) and word not in known.text and not same and not _is_day(word, known):
                yield word
    for match in _QUOTED.finditer(reading.text):
        if not _has(known, match[1]):
            yield match[1]


def _is_day(word: str, known: Reading) -> bool:
    """Whether two numbers are the day and the month of a known date: `25/5`."""
    parts = [int(part) for part in word.split("/") if part.isdigit()]
    return len(parts) == 2 and any(sorted(parts) == sorted((day.month, day.day)) for day in known.days)


def _strange_moments(reading: Reading, known: Reading) -> Iterator[Place]:
    """Dates, times of day where one is known, and days of the week that are of no known date."""
    days = {(day.month, day.day) for day in known.days}
    for day in reading.days:
        there = (day.month, day.day) in days or (day.swapped and (day.day, day.month) in days)
        if day.day and not there:
            yield day.start, day.end
    for clock in reading.clocks if known.clocks else ():
        if not any(same_clock(clock, other) for other in known.clocks):
            yield clock.start, clock.end
    weekdays = {WEEKDAYS[day] for day in map(_weekday, known.days) if day is not None}
    for word, start, end in reading.words:
        if word in WEEKDAYS and word not in weekdays:
            yield start, end


def _strange_numbers(reading: Reading, known: Reading) -> Iterator[Place]:
    """Larger numbers, amounts of money that do not follow from two that are known, and lengths of time."""
    numbers = {abs(number.value) for number in known.numbers}
    lasting = {round(value) for value in (*map(_seconds, known.numbers), *numbers)}
    for number in reading.numbers:
        seconds = _seconds(number)
        if seconds and {round(seconds), round(number.value)} & lasting:
            continue
        is_amount = bool(number.currency) or number.decimals > 1
        told = abs(number.value) >= _LEAST or (is_amount and not _follows(abs(number.value), numbers))
        if seconds or (told and not number.unit and abs(number.value) not in numbers):
            yield number.start, number.end


def _follows(value: float, numbers: set[float]) -> bool:
    """Whether a number is what two of these numbers give."""
    return any(abs(value - abs(made)) < 0.006 for pair in combinations(numbers, 2) for made in follows(*pair))


def _seconds(number: Number) -> float:
    """A length of time in seconds; 0 for other numbers."""
    return (convert(number.value, number.unit, "second") or 0.0) if number.unit in DURATIONS else 0.0


def _weekday(day: Day) -> int | None:
    with suppress(ValueError):
        return date(day.year, day.month, day.day).weekday()
    return None


def _has(known: Reading, text: str) -> bool:
    """Whether all words of a text are in what is known."""
    return all(word in known.places for word in tokens(text))


def _other_choice(reading: Reading, calls: Sequence[CallRecord], tools: Mapping[str, Tool]) -> Scalar | None:
    """Another choice of a schema than was made, if the answer has it and lacks the one made."""
    for record in calls:
        properties = tools[record.tool].input_schema.get("properties", {}) if record.tool in tools else {}
        for name, value in (record.arguments or {}).items():
            choices = properties.get(name, {}).get("enum", ())
            if value not in choices or len(choices) < 2 or not isinstance(value, str):
                continue
            if places(reading, value, "status"):
                continue
            for other in choices:
                if isinstance(other, str) and other != value and places(reading, other, "status"):
                    return other
    return None


def _other_thing(reading: Reading, scenario: Scenario, tools: Mapping[str, Tool]) -> Scalar | None:
    """A thing that is only read before the write, or that the request takes back, if the answer says that it was
    changed."""
    given: dict[bool, set[Scalar]] = {True: set(), False: set()}
    for call in scenario.plan:
        reads = call.tool in tools and is_read(tools[call.tool])
        given[reads] |= {value for _, value in leaves(call.arguments) if re.search(r"\d", str(value))}
    given[True] |= {match[0] for match in _CODES.finditer(f"{read(scenario.request).text}\n{reading.text}")}
    looks = [check.arguments for check in scenario.checks if isinstance(check, StateHolds | CallMade)]
    looked = {value for arguments in looks for _, value in leaves(arguments)}
    done = " ".join(str(value).lower() for value in given[False] | looked)  # an invoice by its file, too
    for value in given[True]:
        is_written = re.search(rf"(?<!\w){re.escape(str(value).lower())}(?!\w)", done)
        found = [] if is_written else places(reading, value, "identifier")
        found = [place for place in found if is_stated(reading, place)]
        if any(_DONE_TO.match(reading.text[end:]) or _DID.search(reading.text[:start]) for start, end in found):
            return value
    return None
