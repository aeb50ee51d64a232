"""Invented values: well-known formats, numbers, words for free text, strangers and neighbours of a harvested value.

Probing uses them if no harvested value fits; tasks that write or that ask for a missing thing always do.
"""

import random
import re
import string
import tomllib
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache
from importlib.resources import files
from re import _parser  # pyright: ignore[reportAttributeAccessIssue, reportPrivateUsage]
from typing import Any

import rstr

from mcprl.scenarios.english.nouns import data, is_person
from mcprl.scenarios.slots import JsonPath, Slot
from mcprl.text import singular, words

_WORDS = tomllib.loads((files("mcprl.scenarios.probing") / "words.toml").read_text())
_ADJECTIVES, _NOUNS, _STATES, _PAPERS, _TABLES, _FIRST, _LAST = (
    _WORDS[name].split() for name in ("adjectives", "nouns", "states", "papers", "tables", "first_names", "last_names")
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


# --- sentences --------------------------------------------------------------------------------------------------------


def sentence(rng: random.Random) -> str:
    """A sentence that somebody may note down."""
    return _told(_WORDS["sentences"], rng)


def note(rng: random.Random) -> str:
    """A note that fits anything."""
    return _told(_WORDS["notes"], rng)


def finding(rng: random.Random) -> str:
    """What somebody may have found out about a business."""
    return _told(_WORDS["findings"], rng)


def handover(rng: random.Random) -> str:
    """What the next person has to know."""
    return _told(_WORDS["handovers"], rng)


def _told(sentences: Sequence[str], rng: random.Random) -> str:
    return rng.choice(sentences).format(
        first=rng.choice(_FIRST),
        last=rng.choice(_LAST),
        day=rng.choice(_DAYS),
        n=rng.randint(2, 40),
    )


# --- numbers ----------------------------------------------------------------------------------------------------------

_SMALL = {
    "seconds delay wait sleep": 1,
    "page offset skip start cursor index position": 2,
    "limit count size top max results per head tail lines first last context depth n rows": 10,
    "duration timeout interval retries steps hours": 3,
    "days quantity amount nights guests adults passengers people": 6,
}
"""Words in names of numbers, and how large such a number may be that still finds something."""
_AMOUNTS = (25, 50, 75, 100, 120, 150, 200, 250, 300, 400, 500)
"""Amounts of money that people hand out."""
_UNBOUNDED = 2**53 - 1


def usual_high(slot: Slot) -> int:
    """The largest usual value of a number by its name; 0 if the name does not say."""
    named = words(slot.key)
    lasts = {"seconds"} & {*words(str(slot.schema.get("description", "")))}
    things = 12 if named and singular(named[-1]) != named[-1] else 0  # so many bags
    return next((high for names, high in _SMALL.items() if {*named, *lasts} & {*names.split()}), things)


def _bounds(slot: Slot) -> tuple[float | None, float | None]:
    """The schema's bounds, for whole numbers the smallest and the largest that are within; `None` where there is none
    but what a number of JavaScript can hold, as zod's `int()` writes it."""
    found: list[float | None] = []
    for end, step in (("Minimum", 1), ("Maximum", -1)):
        value, beyond = slot.schema.get(end.lower()), slot.schema.get(f"exclusive{end}")
        if isinstance(beyond, int | float) and not isinstance(beyond, bool):
            value = beyond + (step if slot.kind == "integer" else 0)
        is_bound = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _UNBOUNDED
        found.append(value if is_bound else None)
    return found[0], found[1]


def number(slot: Slot, rng: random.Random) -> int | float:
    """A number within the schema's bounds; for a `number` slot about one in seven has a fraction."""
    least, most = _bounds(slot)
    low = 1 if least is None else least
    usual = usual_high(slot)
    default_high = max(low, 0) + (usual or rng.choice((20, 100, 1_000)))
    if words(slot.key) == ("amount",) and most is None:
        return rng.choice(_AMOUNTS)
    if slot.kind == "number" and most is not None and most - (least or 0) < 2:
        return float(f"{(least or 0) + (most - (least or 0)) * rng.uniform(0.1, 0.9):.2g}")
    if usual:
        return rng.randint(int(low), max(int(low), min(int(usual if most is None else most), int(low) + usual)))
    high = default_high if most is None else most
    low = max(int(low), 2) if slot.kind == "number" and high > 2 else int(low)  # nobody asks what adding 1 makes
    value = rng.randint(low, max(low, int(high)))
    if slot.kind == "integer" or rng.random() < 0.85:
        return value
    return round(value + rng.choice((0.25, 0.5, 0.75)), 2)


# --- texts of a pattern -----------------------------------------------------------------------------------------------

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


# --- neighbours and days ----------------------------------------------------------------------------------------------

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


# --- formats ----------------------------------------------------------------------------------------------------------

_PAPER_ENDS = ("", ".txt", ".md", ".csv", ".pdf", ".docx", ".xlsx")
"""What people keep in folders, and how the names of such files end."""
_GLOBS = tuple(f"{front}*.{end}" for end in ("txt", "md", "csv", "json", "py", "log", "html") for front in ("", "**/"))


def _two(rng: random.Random) -> str:
    return f"{rng.choice(_ADJECTIVES)} {rng.choice(_NOUNS)}"


def _person(rng: random.Random) -> str:
    return f"{rng.choice(_FIRST)} {rng.choice(_LAST)}"


def _name(rng: random.Random) -> str:
    return rng.choice((_two, _person))(rng)


def title(rng: random.Random, *, person: bool = False) -> str:
    """The name of a new person or thing."""
    return _person(rng) if person else _two(rng).title()


def _code(rng: random.Random) -> str:
    return f"{''.join(rng.choices(string.ascii_uppercase, k=rng.randint(1, 3)))}-{rng.randint(100, 9_999)}"


def _date(rng: random.Random) -> str:
    return f"20{rng.randint(20, 29)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"


def clock(rng: random.Random) -> str:
    """A time of the day, as 14:30."""
    minute = rng.choice((0, 0, 0, 15, 30, 30, 45, 5 * rng.randint(0, 11)))
    return f"{rng.randint(7, 22):02}:{minute:02}"  # nobody makes calls at night


def _expression(rng: random.Random) -> str:
    a, b, c = (rng.randint(2, 95) for _ in range(3))
    ways = (f"{a} * {b}", f"{a} + {b} + {c}", f"({a} + {b}) * {c}", f"{a * b} / {b}", f"{a * b} - {c}", f"{a}.5 * {b}")
    return rng.choice(ways)


# (format, what a slot's declared format, name or description must match, a function that draws a value). The first
# match wins; the last entry is for slots that match none.
_FORMATS: list[tuple[str, str, Callable[[random.Random], str]]] = [
    ("timezone", r"time ?zone|\btz\b|\biana\b", lambda rng: rng.choice(data()["zones"])),
    ("date-time", r"date.?time|timestamp|iso ?8601", lambda rng: f"{_date(rng)}T{clock(rng)}:00Z"),
    ("date", r"\bdate\b|\bday\b|yyyy-mm-dd|\bdue\b|\bbirthday\b|\buntil\b|\bdeadline\b|\b\w+ed on\b", _date),
    ("time", r"\btime\b|hh:mm|\bclock\b", clock),
    ("email", r"e-?mail", lambda rng: f"{rng.choice(_FIRST)}.{rng.choice(_LAST)}@{rng.choice(_NOUNS)}.example".lower()),
    (
        "uri",
        r"\burl\b|\buri\b|\blink\b|\bhref\b",
        lambda rng: f"https://{rng.choice(_NOUNS)}.example/{rng.choice(_NOUNS)}",
    ),
    ("version", r"^(?:\w+ )*version$", lambda rng: f"{rng.randint(1, 9)}.{rng.randint(0, 30)}.{rng.randint(0, 9)}"),
    ("glob", r"\bglob\b|\bpattern\b", lambda rng: rng.choice(_GLOBS)),
    ("folder", r"\bfolder\b|\bdirectory\b|\bdir\b", lambda rng: f"{rng.choice(_STATES)}-{rng.choice(_PAPERS)}s"),
    (
        "path",
        r"\bpaths?\b|\bfile ?names?\b|\bfile\b|\bsource\b|\bdestination\b",
        lambda rng: f"{rng.choice(_STATES)}-{rng.choice(_PAPERS)}.txt",
    ),
    ("color", r"\bcolou?r\b", lambda rng: f"#{rng.randrange(1 << 24):06x}"),
    (
        "phone",
        r"\bphone\b|\bmobile\b",
        lambda rng: f"+{rng.randint(1, 98)} {rng.randint(100, 999)} {rng.randint(1000, 9999)}",
    ),
    ("finding", r"\b(?:insights?|findings?|conclusions?|lessons?)\b", finding),
    ("note", r"\b(?:observations?|contents|remarks?|facts?)\b", note),
    ("summary", r"\bsummary\b", handover),
    (
        "sentence",
        r"\b(?:text|content|contents|body|note|notes|message|comment|description|observations?|reason|details)\b",
        sentence,
    ),
    ("id", r"\b(?:id|ids|code|sku|number|ref|reference|identifier)\b", _code),
    ("expression", r"\bexpression\b|\bformula\b|\barithmetic\b", _expression),
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

UNIVERSAL = frozenset(("timezone", "date-time", "date", "time", "color", "expression"))
"""Formats whose values mean the same on every server: a slot that takes one value of it takes all."""


def known_format(slot: Slot) -> str:
    """The well-known format that a string slot's schema, name or description points to; `name` if none."""
    form = _format_of(str(slot.schema.get("format", "")), slot.path, slot.description)
    return "person" if form == "name" and is_person(" ".join(words(slot.key)[-1:])) else form


@lru_cache(maxsize=4_096)
def _format_of(declared: str, path: JsonPath, description: str) -> str:
    """The first format that one of the texts is or speaks of, the declared one first; `name` if none."""
    parts = [" ".join(words(part)) for part in path if isinstance(part, str)]
    for text in (declared, parts[-1], " ".join(parts), description.lower()):
        for name, pattern, _ in _FORMATS[:-1]:
            if text and (text == name or re.search(pattern, text)):
                return name
    return "name"


def invent(slot: Slot, rng: random.Random) -> Any:
    """A plausible value for a slot. The server may not know it."""
    if slot.choices:
        return rng.choice(slot.choices)
    if slot.kind in ("integer", "number"):
        return number(slot, rng)
    pattern = slot.schema.get("pattern")
    if isinstance(pattern, str) and (made := matching(pattern, rng)):
        return made
    wanted = known_format(slot)
    make = next(make for name, _, make in _FORMATS if name == wanted)
    return make(rng)


# --- strangers --------------------------------------------------------------------------------------------------------

_ISO_DAY = r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)"


def stranger(value: Any, rng: random.Random, *, person: bool = False, noun: str = "") -> Any:
    """A value of the same shape as `value` that the server most likely does not know.

    All digits are drawn anew, and so are the letters of a code in capitals. Without a digit, the last part of a path or
    every word is replaced. A `person` gets another first and last name, and what has the `noun` of a table a name that
    a table may have.
    """
    if isinstance(value, int | float):
        return int(value) + rng.randint(10_000, 99_999)
    text = str(value)
    if re.search(_ISO_DAY, text):
        return re.sub(_ISO_DAY, lambda _: _date(rng), text)
    if "@" in text[1:]:
        made = f"{rng.choice(_FIRST)}.{rng.choice(_LAST)}".lower()
        return f"{made}@{text.rpartition('@')[2]}"
    if any(ch.isdigit() for ch in text):
        return "".join(rng.choice("0123456789") if ch.isdigit() else ch for ch in text)
    if re.fullmatch(r"[A-Z]{5,8}", text):  # a booking's code
        return "".join(rng.choices(string.ascii_uppercase, k=len(text)))
    if "/" in text:
        head, _, tail = text.rpartition("/")
        last = _filed("." + tail.rpartition(".")[2] if "." in tail[1:] else "", rng)
        return f"{head}/{last.capitalize() if tail[:1].isupper() else last}"
    if named := re.fullmatch(r"[\w-]+(\.[a-z]{1,5})", text):
        return _filed(named[1], rng)
    if person and len(text.split()) > 1:
        return _person(rng)
    if person:
        made = rng.choice(_LAST)
        return made if text[:1].isupper() else made.lower()
    if noun == "table":
        return rng.choice(_TABLES)
    if " " not in text:
        made = rng.choice(_NOUNS)
        return made.title() if text[:1].isupper() else made
    parts = [rng.choice(_NOUNS if position else _ADJECTIVES) for position in range(len(text.split()))][:3]
    made = " ".join(parts)
    return made.title() if text[:1].isupper() else made


def _filed(end: str, rng: random.Random) -> str:
    """The name of a file that ends so, or of a folder: what people keep, unless it is a program's."""
    if end not in _PAPER_ENDS:
        return f"{rng.choice(_ADJECTIVES)}-{rng.choice(_NOUNS)}{end}"
    front = rng.choice(("", f"{rng.choice(_STATES)}-"))
    return f"{front}{rng.choice(_PAPERS)}{end or 's'}"
