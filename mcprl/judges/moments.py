"""Where a text states a moment (a date in any form, or its time of day if it has no other date) or a length of time."""

import re
from collections.abc import Set
from datetime import datetime, timedelta
from functools import lru_cache

from mcprl.judges.mentions import Clock, Day, Place, Reading
from mcprl.judges.units import DURATIONS, convert


@lru_cache(maxsize=4096)
def moment(value: str) -> tuple[datetime, bool] | None:
    """The date that a string spells, and whether it has a time of day; `None` if it spells none."""
    from dateutil import parser

    text = value.strip()
    if not re.search(r"\d", text) or len(text) > 60 or re.fullmatch(r"[\d.]+", text):
        return None
    try:
        first, other = (parser.parse(text, default=datetime(year, 1, day)) for year, day in ((2004, 1), (2008, 2)))
    except (ValueError, OverflowError, TypeError):
        return None
    if first.year != other.year or first.day != other.day:  # a part is missing: it was filled in
        return None
    return first, bool(re.search(r"\d:\d\d", text))


def dates(reading: Reading, moment: tuple[datetime, bool]) -> list[Place]:
    """Where a text states the date; one with a time of day also by the time alone, if the text has no other date."""
    when, timed = moment
    days = [day for day in reading.days if _same_day(day, when)]
    if not timed:
        return [(day.start, day.end) for day in days]
    clocks = [clock for clock in reading.clocks if _same_moment(clock, when)]
    others = [clock for clock in reading.clocks if clock not in clocks]
    if days:
        near = [clock for clock in others if any(_gap(clock, day) < 16 for day in days)]
        return [] if near and not clocks else [(day.start, day.end) for day in days]
    return [] if reading.days else [(clock.start, clock.end) for clock in clocks]


def _gap(clock: Clock, day: Day) -> int:
    """The letters between a time of day and a date."""
    return max(clock.start - day.end, day.start - clock.end)


def _same_day(day: Day, when: datetime) -> bool:
    if day.swapped or not day.day:
        return False
    return day.month in (0, when.month) and day.day == when.day and day.year in (0, when.year)


def _same_moment(clock: Clock, when: datetime) -> bool:
    """Whether a time of day is that of `when`, in its own zone or, if the text says so, in UTC."""
    if clock.zone in ("z", "utc", "gmt") and when.utcoffset():
        when = when - (when.utcoffset() or timedelta())
    return _same_hands(clock, when.hour, when.minute) and clock.second in (-1, when.second)


def same_clock(clock: Clock, own: Clock) -> bool:
    """Whether two times of day are one, as far as both are told."""
    return _same_hands(clock, own.hour, own.minute) and (-1 in (clock.second, own.second) or clock.second == own.second)


def _same_hands(clock: Clock, hour: int, minute: int) -> bool:
    return clock.minute == minute and (clock.hour == hour or (clock.loose and clock.hour % 12 == hour % 12))


# --- lengths of time by the clock: "3:25" for 205 seconds ----------------------------------------------------------

SPAN = re.compile(r"(?P<first>\d{1,3}):(?P<second>[0-5]\d)(?::(?P<third>[0-5]\d))?")
_FREE = re.compile(rf"(?<![\d:.]){SPAN.pattern}(?![\d:])(?!\s?[ap]\.?m\b)")


def timed(reading: Reading, seconds: Set[float]) -> list[Place]:
    """Where a text has m:ss, h:mm or h:mm:ss of one of the lengths."""
    return [
        (match.start(), match.end())
        for match in _FREE.finditer(reading.text)
        if any(abs(one - other) < 0.5 for one in _lengths(match) for other in seconds)
    ]


def lasting(reading: Reading, value: str) -> list[Place]:
    """Where a text says in units of time how long `value`, such as "3:25", is."""
    match = SPAN.fullmatch(value.strip())
    wanted = _lengths(match) if match else set()
    found: list[Place] = []
    for number in reading.numbers:
        length = convert(number.value, number.unit, "second") if number.unit in DURATIONS else None
        if length is not None and any(abs(length - one) < 1e-6 for one in wanted):
            found.append((number.start, number.end))
    return found


def _lengths(match: re.Match[str]) -> set[float]:
    """The lengths in seconds that a span may have: two parts are minutes and seconds, or hours and minutes."""
    first, second = int(match["first"]), int(match["second"])
    if match["third"]:
        return {first * 3600.0 + second * 60 + int(match["third"])}
    return {first * 60.0 + second, first * 3600.0 + second * 60}
