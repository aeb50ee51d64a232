"""Texts that match a schema's pattern, if these are of a bearable length."""

import random
import re
from re import _parser  # pyright: ignore[reportAttributeAccessIssue, reportPrivateUsage]
from typing import Any

import rstr

_MOST_CHARACTERS = 10_000


def matching(pattern: str, rng: random.Random) -> str:
    """A text that matches the pattern; empty if it is none that Python reads, or one whose texts may be very long."""
    try:
        if _longest(_parser.parse(pattern)) > _MOST_CHARACTERS:
            return ""
        return rstr.Rstr(rng).xeger(pattern)
    except (re.error, KeyError, ValueError, RecursionError, OverflowError):
        return ""


def _longest(pattern: Any) -> int:
    """Characters of the longest text that `rstr` makes of a parsed pattern: of what has no limit it takes 100."""
    length = 0
    for kind, own in pattern:
        if str(kind) in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            length += min(int(own[1]), 100) * _longest(own[2])
        elif str(kind) == "SUBPATTERN":
            length += _longest(own[-1])
        elif str(kind) == "BRANCH":
            length += max(map(_longest, own[1]))
        else:
            length += 1
    return length
