"""Values of an answer that nothing supports: of the asked kind, but in no fact, request or result.

An answer that gives the right value and makes up another of its kind beside it, is wrong.
"""

import re
from calendar import day_abbr, day_name, month_abbr, month_name
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from datetime import date

from mcprl.judges.listings import beside_the_list
from mcprl.judges.mentions import Day, Number, Reading, read
from mcprl.judges.rivals import Asked, is_stated
from mcprl.judges.units import convert, unit_of
from mcprl.judges.values import Place, kind_of, places, tokens
from mcprl.judges.workings import follows
from mcprl.types import Fact

WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
CALENDAR = {name.lower() for names in (day_name, day_abbr, month_name, month_abbr) for name in names}
_RELATIVE = frozenset("today tonight tomorrow yesterday".split())
_SAME = re.compile(r"\b(?:every|each|all|both)\b[^.;!?]*\b(?:the same|equal|identical)\b(?: \w+)?\W{0,4}$")
_BESIDE = re.compile(
    r"\b(?:and|or|plus|by|called|named|is|was)\s+(?:an? |the )?(?:in |at |from |to )?"
    r"((?:[A-Z][a-z][\w']*(?: (?=[A-Z])|))+)"
)
_SHAPED = re.compile(r"[A-Za-z]+|\d+|.", re.DOTALL)
_JOINED = re.compile(
    r"[\"']?\s*(?:&|/|\band|\bor|\bplus|\bas well as)\s+(?:also |the |in )?([a-z][\w-]+)(?=\s*(?:[.;!?\n)]|$))"
)
_BEFORE = re.compile(r"(?:^|\b(?:in|as|under|is|the|an?|of|called)\s|'s\s|[:(]\s?)([a-z][a-z-]+)\s[\"']?$")
_PLAIN = re.compile(
    r"(?:\w+(?:ed|ly|ing)|category|type|kind|class|group|status|section|department|label|it|is|are|the|an?|of|in|as|"
    r"under|called|just|still|now|also|its|this|that|your|our|for|on|at|from|with|says|said|sorry|well|so|yes|no)"
)


def unsupported(reading: Reading, fact: Fact, own: Sequence[Place], asked: Asked) -> str:
    """The first value of the fact's kind in the answer that nothing supports, in words; empty if there is none."""
    kind = kind_of(fact.value, fact.meaning)
    found = ""
    if kind == "number":
        found = _number(reading, fact, own, asked) or _same_for_all(reading, fact, own)
    elif kind == "word":
        found = _shaped(reading, fact, asked) or _joined(reading, fact, own, asked) or _listed(reading, fact, asked)
        found = found or _stranger(reading, fact, own, asked)
    found = found or _day(reading, fact, own, asked)
    return f"in an answer that also gives {found!r}, which nothing supports" if found else ""


# --- numbers ----------------------------------------------------------------------------------------------------------


def _number(reading: Reading, fact: Fact, own: Sequence[Place], asked: Asked) -> str:
    facts = (fact, *asked.facts)
    spots = {*own, *(place for other in facts for place in places(reading, other.value, other.meaning, other.unit))}
    known = {float(other.value) for other in facts if isinstance(other.value, int | float)}
    rivals = [rival for other in facts for rival in other.rivals]
    known |= {abs(float(rival)) for rival in rivals if isinstance(rival, int | float)}
    texts = [asked.request, *(rival for rival in rivals if isinstance(rival, str)), *(o.subject for o in facts)]
    known |= {abs(number.value) for text in texts for number in read(text).numbers}
    known |= {float(part) for other in facts for part in re.findall(r"\d+", other.subject)} | {
        1.0,
        float(len(facts) - 1),
    }
    exact = [abs(float(o.value)) for o in facts if isinstance(o.value, float) and o.value != int(o.value)]
    doubtful: list[Number] = []
    for number in reading.numbers:
        inside = any(start < number.end and number.start < end for start, end in spots)
        ordinal = re.match(r"(?:st|nd|rd|th)\b", reading.text[number.end :])
        part = re.match(r" of (?:which|them|these|those)\b", reading.text[number.end :])
        if inside or ordinal or part or not _alike(number, fact) or not is_stated(reading, (number.start, number.end)):
            continue
        rounded = any(round(value, number.decimals) == abs(number.value) for value in exact)
        if rounded or abs(number.value) in known or asked.holds(number.value):
            known.add(abs(number.value))
        else:
            doubtful.append(number)
    told = {abs(number.value) for number in reading.numbers} & known | {
        abs(number.value) for number in read(asked.request).numbers
    }
    told |= {abs(float(other.value)) for other in facts if isinstance(other.value, int | float)}
    for number in doubtful:
        derived = (result for one in told for other in told if one != other for result in follows(one, other))
        if not any(abs(abs(number.value) - abs(result)) <= 0.005 for result in derived):
            return reading.text[number.start : number.end]
    return ""


def _same_for_all(reading: Reading, fact: Fact, own: Sequence[Place]) -> str:
    """That several values are one, where the fact follows from different ones: "each costs the same, 5.00"."""
    differ = fact.derived and len({rival for rival in fact.rivals if isinstance(rival, int | float)}) > 1
    found = [_SAME.search(reading.text[:start]) for start, _ in own] if differ else []
    return next((match[0] for match in found if match), "")


def _alike(number: Number, fact: Fact) -> bool:
    """Whether a number could be taken for the fact's value: money for money, the same dimension for measures."""
    if fact.meaning == "money":
        return bool(number.currency) or (not number.unit and (number.decimals == 2 or number.value >= 1000))
    unit = unit_of(fact.unit)
    if unit:
        return bool(number.unit) and convert(1.0, number.unit, unit) is not None
    if fact.meaning in ("percent", "year"):
        return number.unit == "percent" or (fact.meaning == "year" and 1000 <= number.value < 3000)
    return not number.unit and not number.currency


# --- words with a shape -----------------------------------------------------------------------------------------------


def _shaped(reading: Reading, fact: Fact, asked: Asked) -> str:
    value = str(fact.value).strip()
    if fact.meaning in ("path", "phone", "person", "name") or len(value) > 40 or " " in value:
        return ""
    if not re.search(r"\d|[+-]$", value) or re.fullmatch(r"[0-9a-f]{20,}", value):
        return ""
    pattern = r"(?<![\w.-])" + "".join(map(_piece, _SHAPED.findall(value))) + r"(?![\w+-]|\.\w)"
    known = " ".join(
        (asked.request, *(f"{other.value} {other.subject} {other.rivals}" for other in (fact, *asked.facts)))
    )
    for match in re.finditer(pattern, reading.cased):
        if any(day.start < match.end() and match.start() < day.end for day in reading.days):
            continue
        if match[0].lower() not in known.lower() and not asked.holds(match[0]) and is_stated(reading, match.span()):
            return match[0]
    return ""


def _piece(part: str) -> str:
    if part.isdigit():
        return r"\d+"
    if part.isalpha():
        return r"[A-Z]+" if part.isupper() else r"[A-Za-z]+"
    return "[+-]" if part in "+-" else re.escape(part)


def _joined(reading: Reading, fact: Fact, own: Sequence[Place], asked: Asked) -> str:
    """A word that is joined to a category or status or makes another of it: "lighting and decor"."""
    if fact.meaning not in ("category", "status"):
        return ""
    known = " ".join(
        (asked.request, *(f"{o.value} {o.subject} {o.name} {o.rivals}" for o in (fact, *asked.facts)))
    ).lower()
    for start, end in own:
        after = _JOINED.match(reading.text[end:])
        before = _BEFORE.search(reading.text[:start]) if fact.meaning == "category" else None
        words = [match[1] for match in (after, before) if match]
        for word in words:
            if after and word == after[1] and re.fullmatch(r"\w+ed", word) and not asked.holds(word):
                return word
            if not _PLAIN.fullmatch(word) and word not in known and not asked.holds(word):
                return word
    return ""


def _stranger(reading: Reading, fact: Fact, own: Sequence[Place], asked: Asked) -> str:
    """A name beside another one that neither the request nor a result has."""
    if fact.meaning not in ("name", "person", "place", "text") or not str(fact.value)[:1].isupper():
        return ""
    given = {*tokens(asked.request), *(word for other in asked.facts for word in tokens(str(other.value)))}
    for match in _BESIDE.finditer(reading.cased):
        if any(start < match.end(1) and match.start(1) < end for start, end in own):
            continue
        names = [word for word in re.findall(r"\w{3,}", match[1].lower()) if word not in CALENDAR]
        if any(word not in given and not asked.holds(word) for word in names):
            return match[1].strip()
    return ""


def _listed(reading: Reading, fact: Fact, asked: Asked) -> str:
    facts = asked.facts or (fact,)
    own = [place for other in facts for place in places(reading, other.value, other.meaning, other.unit)]
    return beside_the_list(reading, facts, own, asked.request)


# --- days -------------------------------------------------------------------------------------------------------------


def _day(reading: Reading, fact: Fact, own: Sequence[Place], asked: Asked) -> str:
    """A date or a day of the week that is neither the request's nor the fact's, nor that of a result."""
    request = read(asked.request)
    facts = (fact, *asked.facts)
    values = [value for other in facts for value in (other.value, *other.rivals) if isinstance(value, str)]
    known = [day for value in values for day in read(value).days]
    dated = bool(known or request.days) or fact.meaning in ("date", "time", "datetime")
    timed = kind_of(fact.value, fact.meaning) in ("time", "number") and bool(request.days)
    for day in reading.days if dated else ():
        if not is_stated(reading, (day.start, day.end)):
            continue
        mine = any(_same_day(day, other) for other in request.days)
        told = mine or (not timed and any(_same_day(day, other) for other in known))
        years = {other.year for other in (*request.days, *known)}
        held = (not timed or _within(day, request.days)) and _held(day, years, asked.holds)
        if not told and not held and not _own_date(day, facts, own):
            return reading.text[day.start : day.end]
    own_days = [day for other in facts for day in read(str(other.value)).days]
    told = [day for day in known if any(_same_day(day, other) for other in reading.days)]
    told += [replace(day, year=year) for day in reading.days for year in {other.year for other in request.days} if year]
    return _weekday(reading, request, fact, [*own_days, *told, *request.days], asked)


def _own_date(day: Day, facts: Sequence[Fact], own: Sequence[Place]) -> bool:
    return any(start <= day.start < end for start, end in own) and kind_of(facts[0].value, facts[0].meaning) == "date"


def _weekday(reading: Reading, request: Reading, fact: Fact, days: Sequence[Day], asked: Asked) -> str:
    named = {word: None for word, place in _day_words(reading) if is_stated(reading, place)}
    wanted = {word: None for word, _ in _day_words(request)}
    known = {WEEKDAYS[date(d.year, d.month, d.day).weekday()] for d in days if _is_whole(d)}
    for words in (WEEKDAYS, _RELATIVE):
        told = [word for word in named if word in words]
        asks = [word for word in wanted if word in words]
        if not told or any(word in asks for word in told):
            continue
        strange = [word for word in told if word not in known and not asked.holds(word)]
        if asks and kind_of(fact.value, fact.meaning) in ("time", "number"):
            return told[0]
        if strange and known and words is WEEKDAYS:
            return strange[0]
    return ""


def _day_words(reading: Reading) -> Iterator[tuple[str, Place]]:
    for word, start, end in reading.words:
        single = word.removesuffix("s")
        if single in WEEKDAYS or word in _RELATIVE:
            yield (single if single in WEEKDAYS else word), (start, end)


def _same_day(one: Day, other: Day) -> bool:
    months, years = (one.month, other.month), (one.year, other.year)
    return one.day == other.day and (0 in months or months[0] == months[1]) and (0 in years or years[0] == years[1])


def _is_whole(day: Day) -> bool:
    try:
        return bool(date(day.year, day.month, day.day))
    except ValueError:
        return False


def _held(day: Day, years: Collection[int], holds: Callable[[str | int | float], bool]) -> bool:
    """Whether a result has the date; one without a year in one of `years`."""
    dated = [day.year] if day.year else [year for year in years if year]
    return bool(day.month and day.day) and any(holds(f"{y:04d}-{day.month:02d}-{day.day:02d}") for y in dated)


def _within(day: Day, days: Sequence[Day]) -> bool:
    """Whether a date is one of the span that two others make."""
    span = sorted((other.year, other.month, other.day) for other in days)
    return len(span) == 2 and span[0] <= (day.year or span[0][0], day.month, day.day) <= span[1]
