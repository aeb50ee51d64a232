"""Where a text has a code, a name or a state in one of the forms that people give it."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from mcprl.judges.mentions import Reading
from mcprl.judges.regions import region_names
from mcprl.text import stems
from mcprl.types import Meaning

_FILLERS = ("a", "an", "the", "is", "are", "was", "were", "be", "been", "has", "have", "had", "by", "of")
_STATES = {"unpaid": ("outstanding",), "canceled": ("cancelled",), "done": ("finished", "completed")}
_THIN = frozenset("within about with from for and until into over under per".split())
_GIVEN = re.compile(
    r"(?<![.!?] )(?<!^)\b(?!(?:Dr|Mrs?|Ms|Miss|Sir|Prof|Professor|Doctor|Judge|Captain|Coach|Officer)\b)[A-Z][\w'-]+ $"
)
"""A given name before a surname: with another one it is another person."""


def reworded(wanted: Sequence[str], value: str, meaning: Meaning) -> list[tuple[str, ...]]:
    """Other words for a value: "rain or drizzle" for `Rain / drizzle`, the plural of a name."""
    found = [tuple(value.lower().replace("/", word).split()) for word in ("or", "and", "with") if " / " in value]
    found += [tuple(name.lower().split()) for name in region_names(value) if meaning in ("place", "category", "text")]
    if meaning == "status":
        found += [(word,) for word in _STATES.get(value.lower(), ())]
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


def spoken(reading: Reading, wanted: Sequence[str]) -> list[tuple[int, int]]:
    """Where a text says a state's words as a sentence: `product_not_received` as "the product was not received"."""
    filled = rf"\W+(?:(?:{'|'.join(_FILLERS)})\W+)*"
    pattern = rf"(?<!\w){filled.join(map(re.escape, wanted))}(?!\w)"
    return [(match.start(), match.end()) for match in re.finditer(pattern, reading.text)]


def surname(reading: Reading, wanted: str) -> list[tuple[int, int]]:
    """Where a text has a person's surname without any given name."""
    if len(wanted) < 4:
        return []
    found = [(start, end) for word, start, end in reading.words if word == wanted]
    return [place for place in found if not _GIVEN.search(reading.cased[: place[0]])]


def told(reading: Reading, wanted: Sequence[str]) -> list[tuple[int, int]]:
    """Where one line or sentence has all telling words of a text in any order and form: "Payment: within 14 days"."""
    telling = [
        word for word in wanted if word not in _FILLERS and word not in _THIN and (len(word) > 2 or word.isdigit())
    ]
    if len(telling) < 2 or not all(any(_kin(word, own) for word in reading.places) for own in telling):
        return []
    found: list[tuple[int, int]] = []
    borders = [0, *(m.end() for m in re.finditer(r"[.!?;](?=\s)|\n|\band\b|,\s", reading.text)), len(reading.text)]
    for start, end in pairwise(borders):
        inside = [(word, a, b) for word, a, b in reading.words if start <= a and b <= end]
        spots = [next(((a, b) for word, a, b in inside if _kin(word, own)), None) for own in telling]
        if all(spots):
            known = [spot for spot in spots if spot]
            found.append((min(known)[0], max(known)[1]))
    return found


@lru_cache(maxsize=65536)
def _kin(word: str, other: str) -> bool:
    """Whether two words are forms of one: `payment` and `pays`."""
    if word == other or stems(word) == stems(other):
        return True
    short, long = sorted((*stems(word)[:1], *stems(other)[:1]), key=len)
    return len(short) > 2 and short.isalpha() and long.startswith(short) and len(long) - len(short) < 5


def inflected(reading: Reading, wanted: Sequence[str]) -> list[tuple[int, int]]:
    """Where a text has several words in their order and in other forms: "they pay within 14 days"."""
    stemmed = [stems(word) for word in wanted]
    found: list[tuple[int, int]] = []
    for n in range(len(reading.words) - len(wanted) + 1):
        run = reading.words[n : n + len(wanted)]
        if all(stems(word) == own for (word, _, _), own in zip(run, stemmed, strict=True)):
            found.append((run[0][1], run[-1][2]))
    return found
