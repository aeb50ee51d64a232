"""Invented values: well-known formats, plausible words for free text, variations of a harvested value.

Probing uses them if no harvested value fits; tasks that write or that ask for a missing thing always do.
"""

import random
import re
import string
import zoneinfo
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from mcprl.scenarios.slots import Slot
from mcprl.text import words

_ADJECTIVES = (
    "amber brisk calm cedar clever coastal copper crimson dusty early frosty gentle golden hidden hollow indigo "
    "ivory jade late linen lunar mellow misty narrow northern olive pale quiet rapid rustic scarlet silver slate "
    "solar spare steady sunny swift tidal upper velvet violet warm western wild winter young "
).split()
_NOUNS = (
    "anchor arch badge barrel basin beacon bridge canyon castle cliff cloud comet compass coral crater delta drum "
    "engine falcon fern field forest fountain garden glacier harbor hill island kettle ladder lagoon lantern ledger "
    "maple marsh meadow mill mirror needle oak orchard otter paddle pebble pier pine planet plaza pocket prairie "
    "quarry raven reef river saddle sail shadow signal spruce stone summit thistle tower trail tunnel valley vessel "
    "wagon willow window "
).split()
_FIRST = (
    "Ada Amir Bea Carlo Dana Elif Farid Greta Hugo Ines Jonas Kira Leon Mara Nils Nora Omar Petra Quinn Rosa Sami "
    "Tara Uma Viktor Wanda Yusuf Zoe "
).split()
_LAST = (
    "Abbas Berg Castro Dietz Egan Feld Grant Haas Iqbal Jansen Kovac Lund Moreau Novak Okoye Perez Quist Rossi Sato "
    "Toth Ueda Vance Weber Young Zeman "
).split()
_VERBS = ("needs holds faces joins marks meets moves opens keeps likes follows guards reaches crosses covers ").split()


def _two(rng: random.Random) -> str:
    return f"{rng.choice(_ADJECTIVES)} {rng.choice(_NOUNS)}"


def _person(rng: random.Random) -> str:
    return f"{rng.choice(_FIRST)} {rng.choice(_LAST)}"


def _name(rng: random.Random) -> str:
    return rng.choice((_two, _person))(rng)


def _sentence(rng: random.Random) -> str:
    return f"the {_two(rng)} {rng.choice(_VERBS)} the {rng.choice(_NOUNS)}"


def _code(rng: random.Random) -> str:
    return f"{''.join(rng.choices(string.ascii_uppercase, k=rng.randint(1, 3)))}-{rng.randint(100, 9_999)}"


def _date(rng: random.Random) -> str:
    return f"20{rng.randint(20, 29)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"


def _clock(rng: random.Random) -> str:
    return f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}"


@lru_cache(maxsize=1)
def _zones() -> list[str]:
    return sorted(
        zone
        for zone in zoneinfo.available_timezones()
        if zone.count("/") == 1 and not zone.startswith(("Etc", "SystemV"))
    )


# (format, what a slot's declared format, name or description must match, a function that draws a value). The first
# match wins; the last entry is for slots that match none.
_FORMATS: list[tuple[str, str, Callable[[random.Random], str]]] = [
    ("timezone", r"time ?zone|\btz\b|\biana\b", lambda rng: rng.choice(_zones())),
    ("date-time", r"date.?time|timestamp|iso ?8601", lambda rng: f"{_date(rng)}T{_clock(rng)}:00Z"),
    ("date", r"\bdate\b|\bday\b|yyyy-mm-dd|\bdue\b|\bbirthday\b", _date),
    ("time", r"\btime\b|hh:mm|\bclock\b", _clock),
    ("email", r"e-?mail", lambda rng: f"{rng.choice(_FIRST)}.{rng.choice(_LAST)}@{rng.choice(_NOUNS)}.example".lower()),
    (
        "uri",
        r"\burl\b|\buri\b|\blink\b|\bhref\b",
        lambda rng: f"https://{rng.choice(_NOUNS)}.example/{rng.choice(_NOUNS)}",
    ),
    ("glob", r"\bglob\b|\bpattern\b", lambda rng: f"*{rng.choice(_NOUNS)}*"),
    ("folder", r"\bfolder\b|\bdirectory\b|\bdir\b", lambda rng: f"{rng.choice(_ADJECTIVES)}-{rng.choice(_NOUNS)}"),
    (
        "path",
        r"\bpaths?\b|\bfile ?names?\b|\bfile\b|\bsource\b|\bdestination\b",
        lambda rng: f"{rng.choice(_ADJECTIVES)}-{rng.choice(_NOUNS)}.txt",
    ),
    ("color", r"\bcolou?r\b", lambda rng: f"#{rng.randrange(1 << 24):06x}"),
    (
        "phone",
        r"\bphone\b|\bmobile\b",
        lambda rng: f"+{rng.randint(1, 98)} {rng.randint(100, 999)} {rng.randint(1000, 9999)}",
    ),
    (
        "sentence",
        r"\b(?:text|content|contents|body|note|notes|message|comment|description|observations?|summary|reason|details)\b",
        _sentence,
    ),
    ("id", r"\b(?:id|ids|code|sku|number|ref|reference|identifier)\b", _code),
    ("query", r"\b(?:query|search|keyword|keywords|term|q)\b", lambda rng: rng.choice(_NOUNS)),
    (
        "person",
        r"\b(?:person|author|owner|assignee|first name|last name|full name|customer|patient|user)\b",
        _person,
    ),
    (
        "kind",
        r"\b(?:type|kind|category|tag|tags|label|labels|role|status|group|relation)\b",
        lambda rng: rng.choice(_NOUNS),
    ),
    ("name", r"", _name),
]

UNIVERSAL = frozenset(("timezone", "date-time", "date", "time", "color"))
"""Formats whose values mean the same on every server: a slot that takes one value of it takes all."""


def known_format(slot: Slot) -> str:
    """The well-known format that a string slot's schema, name or description points to; `name` if none."""
    declared = str(slot.schema.get("format", ""))
    named = " ".join(word for part in slot.path if isinstance(part, str) for word in words(part))
    for text in (declared, " ".join(words(slot.key)), named, slot.description.lower()):
        for name, pattern, _ in _FORMATS[:-1]:
            if text and (text == name or re.search(pattern, text)):
                return name
    return "name"


def invent(slot: Slot, rng: random.Random) -> Any:
    """A plausible value for a slot. The server may not know it."""
    if slot.choices:
        return rng.choice(slot.choices)
    if slot.kind in ("integer", "number"):
        return _number(slot, rng)
    wanted = known_format(slot)
    make = next(make for name, _, make in _FORMATS if name == wanted)
    return make(rng)


def _number(slot: Slot, rng: random.Random) -> int | float:
    """A number within the schema's bounds; for a `number` slot about one in seven has a fraction."""
    low = slot.schema.get("minimum", slot.schema.get("exclusiveMinimum", 1))
    default_high = max(low, 0) + rng.choice((20, 100, 1_000))
    high = slot.schema.get("maximum", slot.schema.get("exclusiveMaximum", default_high))
    value = rng.randint(int(low), max(int(low), int(high)))
    if slot.kind == "integer" or rng.random() < 0.85:
        return value
    return round(value + rng.choice((0.25, 0.5, 0.75)), 2)


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


def stranger(value: Any, rng: random.Random) -> Any:
    """A value of the same shape as `value` that the server most likely does not know.

    All digits are drawn anew. Without a digit, the last part of a path or every word is replaced.
    """
    if isinstance(value, int | float):
        return int(value) + rng.randint(10_000, 99_999)
    text = str(value)
    if any(ch.isdigit() for ch in text):
        return "".join(rng.choice("0123456789") if ch.isdigit() else ch for ch in text)
    if "/" in text:
        head, _, tail = text.rpartition("/")
        last = rng.choice(_NOUNS)
        return f"{head}/{last.capitalize() if tail[:1].isupper() else last}"
    parts = [rng.choice(_NOUNS if position else _ADJECTIVES) for position in range(len(text.split()) or 1)][:3]
    made = " ".join(parts) if " " in text else parts[0]
    return made.title() if text[:1].isupper() else made
