"""Values near to one that was seen."""

import random
import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:$|[T ])")
_CLOCK = re.compile(r"\d\d:\d\d")
_SPELLED = re.compile(r"\d{1,2} [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4}")


def neighbour(value: Any, rng: random.Random) -> Any:
    """A value whose number is at most 12 away from that of `value` (`C-1039` for `C-1042`): it may well exist.

    `None` for a float, and for a string that does not end in a digit or has a `.` or `:` (an address, a time).
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return max(0, value + rng.choice((-1, 1)) * rng.randint(1, 12))
    if not isinstance(value, str) or "." in value or ":" in value:
        return None
    match = re.fullmatch(r"(.*?)(\d{1,6})", value)
    if match is None:
        return None
    number = max(0, int(match[2]) + rng.choice((-1, 1)) * rng.randint(1, 12))
    return f"{match[1]}{number:0{len(match[2])}}"


def iso_day(text: str) -> str:
    """The day that a text says, as 2026-05-20; empty if it is none."""
    if _ISO.match(text):
        return text[:10]
    if not _SPELLED.fullmatch(text):
        return ""
    for form in ("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y"):
        try:
            return datetime.strptime(text, form).date().isoformat()
        except ValueError:
            continue
    return ""


def moments(values: Sequence[object]) -> str:
    """`date` or `time` if all the values are such, else empty."""
    texts = list(map(str, values))
    if texts and all(map(iso_day, texts)):
        return "date"
    return "time" if texts and all(map(_CLOCK.fullmatch, texts)) else ""


def day_near(dates: Sequence[str], rng: random.Random) -> str | None:
    """A day at most a month from one of the ISO `dates`; `None` if that is no day."""
    try:
        return (date.fromisoformat(rng.choice(dates)) + timedelta(rng.randint(-31, 31))).isoformat()
    except (IndexError, ValueError, OverflowError):
        return None
