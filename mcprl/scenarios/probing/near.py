"""Values near to one that was seen."""

import random
import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any


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


def day_near(dates: Sequence[str], rng: random.Random) -> str | None:
    """A day at most a month from one of the ISO `dates`; `None` if that is no day."""
    try:
        return (date.fromisoformat(rng.choice(dates)) + timedelta(rng.randint(-31, 31))).isoformat()
    except (IndexError, ValueError, OverflowError):
        return None
