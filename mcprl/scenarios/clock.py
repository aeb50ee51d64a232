"""Facts that depend on the clock: found in a result before they become false, and kept only if they hold tomorrow.

What is only true today (the time now, a weekday, a time in another zone, which summer time moves) is a live fact: the
check reads it from the rollout's own call. Of a moment that a tool works out, only the time of day is asked for.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

from mcprl.judges.checks import leaves
from mcprl.scenarios.english.labels import tables
from mcprl.scenarios.fields import Keys
from mcprl.text import words
from mcprl.types import Call, Scalar

_TIME = re.compile(r"(?<!\d)([01]?\d|2[0-3]):[0-5]\d(?!\d)")
_ISO = re.compile(r"\d{4}-\d\d-\d\d[T ](\d\d:\d\d)")
_RELATIVE = re.compile(r"\b(?:ago|from now|today|yesterday|tomorrow|just now|this week|last week)\b", re.IGNORECASE)
_WEEKDAY = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)day", re.IGNORECASE)
_FORMS = ("%Y-%m-%d", "%Y/%m/%d", "%b %-d", "%b %d", "%-d %b", "%d %b", "%B %-d", "%-d %B", "%m/%d/%Y", "%d/%m/%Y")


def classified(call: Call, pairs: Sequence[tuple[Keys, Scalar]]) -> Iterator[tuple[Keys, Scalar, bool]]:
    """The fields of a record as (path, value, whether it must be read anew), without those that are only true at the
    moment: what a person would have to ask again."""
    shows_today = any(is_of_today(value) and not _is_past(path) for path, value in pairs)
    given_time = any(isinstance(leaf, str) and _TIME.search(leaf) for _, leaf in leaves(call.arguments))
    for path, value in pairs:
        if isinstance(value, str) and _RELATIVE.search(value):
            continue
        if _is_past(path) and is_of_today(value):
            continue  # made or read today: by the reads of a task, too
        if not shows_today:
            yield path, value, False
        elif given_time and (isinstance(value, bool) or _WEEKDAY.fullmatch(str(value))):
            continue  # of today, and nobody said that the time is today's
        elif not isinstance(value, bool):
            yield path, value, True


def _is_past(path: Keys) -> bool:
    """Whether a field tells when something happened: a file of today does not make its size a fact of today."""
    return bool(path) and bool({*words(path[-1])} & {*tables()["events"], "accessed"})


def time_of_day(value: Scalar) -> str:
    """The hours and minutes of an ISO date and time, empty for other values."""
    match = _ISO.search(str(value))
    return match[1] if match else ""


def is_of_today(value: Scalar) -> bool:
    """Whether a value has the date of today, of yesterday or of tomorrow: in some zone it is that day now."""
    now = datetime.now(UTC)
    if isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        if (
            not 0 < value < 1e14
        ):  # no time, in seconds or in milliseconds; an integer may have too many digits to divide
            return False
        seconds = value / 1000 if value > 1e11 else value
        return abs(seconds - now.timestamp()) < 2 * 86_400
    if not any(ch.isdigit() for ch in value):
        return False
    return _spelled(now.date()).search(value) is not None


@lru_cache(maxsize=2)
def _spelled(today: date) -> re.Pattern[str]:
    """The date of today, of yesterday or of tomorrow in the usual forms."""
    days = [today + timedelta(days=offset) for offset in (-1, 0, 1)]
    forms = "|".join(re.escape(day.strftime(form)) for day in days for form in _FORMS)
    return re.compile(rf"(?<!\d)(?:{forms})(?!\d)")
