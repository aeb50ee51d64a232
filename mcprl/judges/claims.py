"""What an answer claims of the writes that were made: what was not done, or was done to another thing, is belied.

Short confirmations claim nothing. A claim is held against what is known: the request, the calls and their results.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from mcprl.judges.mentions import Reading, read
from mcprl.judges.phrases import declines, questions_back, sentences
from mcprl.judges.values import places, tokens
from mcprl.servers.arguments import leaves
from mcprl.servers.effects import is_read
from mcprl.types import CallMade, CallRecord, Fact, Scalar, Scenario, StateHolds, Tool, Trajectory

_UNDONE = re.compile(
    r"\b(?:i|we) (?:(?:have|did|could|can)(?:n't|'t| ?not)|(?:was|were|am|are) (?:not |un)able to) "
    r"(?:yet |actually |been able to )?(?!find|see|think|know|notice|have|need)\w+|"
    r"\b(?:has|have)(?:n't| not) (?:yet )?been (?:changed|set|updated|created|added|removed|deleted|cancell?ed|sent)|"
    r"\b(?:nothing|none of it) (?:was|has been|is) (?:changed|done|saved|sent)\b"
)
_WROTE = r"(?:changed|set|updated|marked|moved|switched|adjusted|cancell?ed|deleted|removed|put|assigned|brought)"
_DONE_TO = re.compile(rf"(?:'s|\s(?:has|have|was|were|is|are))(?: now| just)*(?: been)? {_WROTE}\b")
_PATH = re.compile(r"(?:[a-z][\w+.-]*://)?[\w.@~-]+(?:/[\w.@~-]+)+")
_TELLING = re.compile(r"[\d._~-]|^[a-z]+://")
_CODE = re.compile(r"(?<![\w/.@-])(?=[\w-]*\d)(?=[\w-]*[a-z])[a-z0-9]+(?:[-_][a-z0-9]+)+(?![\w/]|-\w)")
_QUOTED = re.compile(r"\"([^\"\n]{3,120})\"")
_LEAST = 100
"""Numbers below it count and enumerate what nobody has to know."""


def belied(scenario: Scenario, trajectory: Trajectory, tools: Mapping[str, Tool]) -> str:
    """Why the answer misreports a write that the task asks for; empty if it does not, or if the task asks for none.

    `tools` are the server's, by name.
    """
    wanted = [check for check in scenario.checks if isinstance(check, StateHolds | CallMade)]
    if not wanted or any(isinstance(check, CallMade) and check.failed for check in wanted):
        return ""
    answer = trajectory.answer
    if any(_UNDONE.search(sentence) for sentence in sentences(answer)) or declines(answer):
        return "the answer says that it was not done"
    if questions_back(answer):
        return "the answer asks back, though it was done"
    known = _known(scenario, trajectory)
    reading = read(answer)
    if stranger := next(_strangers(reading, known), None):
        return f"the answer reports {stranger!r}, which nobody gave and no result holds"
    if other := _other_choice(reading, trajectory.calls, tools):
        return f"the answer reports {other!r}, which is another choice than the one made"
    if other := _other_thing(reading, scenario, tools):
        return f"the answer reports a change of {other!r}, which was only read"
    return ""


def _known(scenario: Scenario, trajectory: Trajectory) -> Reading:
    """All that was given and found, as one text."""
    looks = [*trajectory.before, *trajectory.state]
    texts = [scenario.request, *(str(check.value) for check in scenario.checks if isinstance(check, Fact))]
    texts += [str(value) for call in scenario.plan for _, value in leaves(call.arguments)]
    texts += [str(value) for record in trajectory.calls for _, value in leaves(record.arguments or {})]
    texts += [result.text for result in (*(record.result for record in trajectory.calls), *looks)]
    return read("\n".join(texts))


def _strangers(reading: Reading, known: Reading) -> Iterator[str]:
    """Dates, codes, paths, quotations and larger numbers of an answer that are in nothing that is known."""
    days = {(day.month, day.day): day.year for day in known.days}
    for day in reading.days:
        there = (day.month, day.day) in days or (day.swapped and (day.day, day.month) in days)
        if day.day and not there and not _clue(known, reading, day.start, day.end):
            yield reading.text[day.start : day.end]
    numbers = {abs(number.value) for number in known.numbers}
    for number in reading.numbers:
        is_new = abs(number.value) >= _LEAST and not number.unit and abs(number.value) not in numbers
        if is_new and not _clue(known, reading, number.start, number.end):
            yield reading.text[number.start : number.end]
    for pattern in (_PATH, _CODE):
        for match in pattern.finditer(reading.text):
            word = match[0].rstrip(".")
            if _TELLING.search(word) and word not in known.text and not _has(known, word):
                yield word
    for match in _QUOTED.finditer(reading.text):
        if not _has(known, match[1]):
            yield match[1]


def _clue(known: Reading, reading: Reading, start: int, end: int) -> bool:
    """Whether the words as they stand are in what is known: a number of an address, a date in another system."""
    return bool(re.search(rf"(?<!\d){re.escape(reading.text[start:end])}(?!\d)", known.text))


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
    """A thing that the plan only reads before it writes, if the answer says that it was changed."""
    given: dict[bool, set[Scalar]] = {True: set(), False: set()}
    for call in scenario.plan:
        reads = call.tool in tools and is_read(tools[call.tool])
        given[reads] |= {value for _, value in leaves(call.arguments) if re.search(r"\d", str(value))}
    looked = {
        value for check in scenario.checks if isinstance(check, StateHolds) for _, value in leaves(check.arguments)
    }
    for value in given[True] - given[False] - looked:
        if any(_DONE_TO.match(reading.text[end:]) for _, end in places(reading, value, "identifier")):
            return value
    return None
