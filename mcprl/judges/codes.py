"""Where a text has a code, a name or a state in one of the forms that people give it."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from mcprl.judges.mentions import Reading
from mcprl.text import stems
from mcprl.types import Meaning

_SYNONYMS = {"unpaid": ("outstanding",), "canceled": ("cancelled",), "done": ("finished", "completed")}
_GIVEN = re.compile(
    r"(?<![.!?] )(?<!^)\b(?!(?:Dr|Mrs?|Ms|Miss|Sir|Prof|Professor|Doctor|Judge|Captain|Coach|Officer)\b)[A-Z][\w'-]+ $"
)
"""A given name before a surname: with another one it is another person."""


_PAIRS = (
    "AL:Alabama AK:Alaska AZ:Arizona AR:Arkansas CA:California CO:Colorado CT:Connecticut DE:Delaware "
    "FL:Florida GA:Georgia HI:Hawaii ID:Idaho IL:Illinois IN:Indiana IA:Iowa KS:Kansas KY:Kentucky "
    "LA:Louisiana ME:Maine MD:Maryland MA:Massachusetts MI:Michigan MN:Minnesota MS:Mississippi "
    "MO:Missouri MT:Montana NE:Nebraska NV:Nevada NH:New_Hampshire NJ:New_Jersey NM:New_Mexico "
    "NY:New_York NC:North_Carolina ND:North_Dakota OH:Ohio OK:Oklahoma OR:Oregon PA:Pennsylvania "
    "RI:Rhode_Island SC:South_Carolina SD:South_Dakota TN:Tennessee TX:Texas UT:Utah VT:Vermont "
    "VA:Virginia WA:Washington WV:West_Virginia WI:Wisconsin WY:Wyoming "
)
_STATES = {pair[:2]: pair[3:] for pair in _PAIRS.split()}
_SHORT = {"USA": ("US", "America"), "US": ("USA", "America"), "UK": ("Britain",), "GB": ("UK", "Britain")}
_LONGER = {"USA": "US", "UK": "GB"}


def reworded(wanted: Sequence[str], value: str, meaning: Meaning) -> list[tuple[str, ...]]:
    """Other words for a value: "rain or drizzle" for `Rain / drizzle`, the plural of a name."""
    found = [tuple(value.lower().replace("/", word).split()) for word in ("or", "and", "with") if " / " in value]
    found += [tuple(name.lower().split()) for name in region_names(value) if meaning in ("place", "category", "text")]
    if meaning == "status":
        found += [(word,) for word in _SYNONYMS.get(value.lower(), ())]
    if meaning == "name" and len(wanted) == 2 and " " in value.strip():
        found.append((wanted[1], wanted[0]))
    if meaning in ("name", "category") and wanted[-1].isalpha() and len(wanted[-1]) > 3:
        found.append((*wanted[:-1], f"{wanted[-1]}s"))
    return found


def signed(reading: Reading, value: str) -> list[tuple[int, int]]:
    """Where a text has a code such as `A+` with its sign in words."""
    sign = {"+": "(?:positive|plus)", "-": "(?:negative|minus)"}.get(value[-1:], "")
    if not sign or len(value) < 2:
        return []
    pattern = rf"(?<!\w){re.escape(value[:-1].strip().lower())}[ -]{sign}(?!\w)"
    return [(match.start(), match.end()) for match in re.finditer(pattern, reading.text)]


def shortened(reading: Reading, value: str) -> list[tuple[int, int]]:
    """Where a text has the first seven or more digits of a long hexadecimal identifier, or a version without its v."""
    wanted = value.strip().lower()
    if re.fullmatch(r"v\d+(?:\.\d+)+", wanted):
        found = re.finditer(rf"(?<![\w.-]){re.escape(wanted[1:])}(?![\w-]|\.\d)", reading.text)
        return [(match.start(), match.end()) for match in found]
    if not re.fullmatch(r"[0-9a-f]{32,}", wanted):
        return []
    return [(start, end) for word, start, end in reading.words if len(word) >= 7 and wanted.startswith(word)]


def phone(reading: Reading, value: str) -> list[tuple[int, int]]:
    """Where a text has the digits of a telephone number, however they are grouped."""
    wanted = re.sub(r"\D", "", value)
    found = re.finditer(r"\+?\d[\d\s()./-]{4,}\d", reading.text)
    return [(match.start(), match.end()) for match in found if re.sub(r"\D", "", match[0]) == wanted]


def surname(reading: Reading, wanted: str) -> list[tuple[int, int]]:
    """Where a text has a person's surname without any given name."""
    if len(wanted) < 4:
        return []
    found = [(start, end) for word, start, end in reading.words if word == wanted]
    return [place for place in found if not _GIVEN.search(reading.cased[: place[0]])]


def inflected(reading: Reading, wanted: Sequence[str]) -> list[tuple[int, int]]:
    """Where a text has several words in their order and in other forms: "they pay within 14 days"."""
    stemmed = [stems(word) for word in wanted]
    found: list[tuple[int, int]] = []
    for n in range(len(reading.words) - len(wanted) + 1):
        run = reading.words[n : n + len(wanted)]
        if all(stems(word) == own for (word, _, _), own in zip(run, stemmed, strict=True)):
            found.append((run[0][1], run[-1][2]))
    return found


@lru_cache(maxsize=512)
def region_names(code: str) -> tuple[str, ...]:
    """The names of the country or the state of the USA that a code stands for: Texas for `TX`; none for anything else.
    Babel (CLDR) has those of countries."""
    if not (code.isalpha() and code.isupper() and 2 <= len(code) <= 3):
        return ()
    from babel import Locale

    territories: Any = Locale("en").territories  # typed as a mapping of bytes
    country = territories.get(_LONGER.get(code, code), "")
    others = _SHORT.get(code, ())
    return tuple(name.replace("_", " ") for name in (_STATES.get(code, ""), country, *others) if name)
