"""Lengths of time by the clock: "3:25" for 205 seconds, "3 minutes and 25 seconds" for a result's "3:25"."""

import re
from collections.abc import Set

from mcprl.judges.mentions import Reading
from mcprl.judges.units import DURATIONS, convert

SPAN = re.compile(r"(?P<first>\d{1,3}):(?P<second>[0-5]\d)(?::(?P<third>[0-5]\d))?")
_FREE = re.compile(rf"(?<![\d:.]){SPAN.pattern}(?![\d:])(?!\s?[ap]\.?m\b)")


def timed(reading: Reading, seconds: Set[float]) -> list[tuple[int, int]]:
    """Where a text has m:ss, h:mm or h:mm:ss of one of the lengths."""
    return [
        (match.start(), match.end())
        for match in _FREE.finditer(reading.text)
        if any(abs(one - other) < 0.5 for one in _seconds(match) for other in seconds)
    ]


def lasting(reading: Reading, value: str) -> list[tuple[int, int]]:
    """Where a text says in units of time how long `value`, such as "3:25", is."""
    match = SPAN.fullmatch(value.strip())
    wanted = _seconds(match) if match else set()
    found: list[tuple[int, int]] = []
    for number in reading.numbers:
        length = convert(number.value, number.unit, "second") if number.unit in DURATIONS else None
        if length is not None and any(abs(length - one) < 1e-6 for one in wanted):
            found.append((number.start, number.end))
    return found


def _seconds(match: re.Match[str]) -> set[float]:
    """The lengths in seconds that a span may have: two parts are minutes and seconds, or hours and minutes."""
    first, second = int(match["first"]), int(match["second"])
    if match["third"]:
        return {first * 3600.0 + second * 60 + int(match["third"])}
    return {first * 60.0 + second, first * 3600.0 + second * 60}
