"""What an answer mentions: numbers with their units, dates, times of day, and words, each with its place in the text.

An answer is normalized first: letters without accents, plain quotes and hyphens, no Markdown emphasis, numbers in
words as digits (text2num). In scripts that put no space between words each letter is a word (`scripts`). Places are
those in the normalized text.
"""

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise

from mcprl.judges.scripts import UNSPACED, WORD, folded
from mcprl.judges.spelling import spelled_out
from mcprl.judges.units import DURATIONS, LETTERS, convert, currency_of, unit_of
from mcprl.text import stems

_PLAIN = str.maketrans("‘’“”–—−\u00a0\u202f\u2009", "''\"\"---   ")
_MONTHS = tuple("jan feb mar apr may jun jul aug sep oct nov dec".split())
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DATE = re.compile(
    r"(?<![\w.])(?:"
    r"(?P<y1>\d{4})[-/.](?P<m1>\d{1,2})[-/.](?P<d1>\d{1,2})(?![\d-])"
    r"|(?P<n1>\d{1,2})(?P<sep>[/.-])(?P<n2>\d{1,2})(?P=sep)(?P<y2>\d{4}|\d{2})(?!\w)"
    rf"|(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?[\s-]+(?P<m3>{_MONTH})(?:,?[\s-]+(?P<y3>\d{{4}})(?!\w|[:.]\d))?"
    rf"|(?P<m4>{_MONTH})\s+(?:the\s+)?(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?(?![\w:]|\.\d)(?:,?\s+(?P<y4>\d{{4}})(?!\w|[:.]\d))?"
    r"|(?<=on the )(?P<d6>\d{1,2})(?:st|nd|rd|th)\b(?=\s*(?:[.,;:!?)]|$|(?:at|from|and)\b))"
    rf"|(?P<m5>{_MONTH})\s+(?:of\s+)?(?P<y5>\d{{4}})(?!\w)"
    r")",
)
_TIME = re.compile(
    r"(?<![\w:.])t?(?P<h>\d{1,2})(?:[:.](?P<min>\d{2}))?(?::(?P<s>\d{2})(?:[.,]\d+)?)?\s*"
    r"(?P<half>a\.?m\b\.?|p\.?m\b\.?)?(?P<loose>o'clock\b)?"
    r"\s*(?P<part>in the (?:early |late )?(?:morning|afternoon|evening)\b|at night\b)?"
    r"\s*(?P<zone>z\b|utc\b|gmt\b|[+-]\d{2}:?\d{2}\b)?|\b(?P<word>noon|midnight)\b"
)
_IDENTIFIER = re.compile(r"(?<![\w])(?=[\w./:@-]*\d)(?=[\w./:@-]*[a-z_])[a-z_]\w*(?:[-_/.:@]+\w+)*|#\d+")
_WEB = re.compile(r"\b[a-z][a-z+.]*://\S+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?<!\w)(?:\.{0,2}/)?(?:[\w.~-]+/){2,}[\w.~-]*")
_NUMBER = re.compile(
    r"(?:(?<![\w.,/#])|(?<=\beur)|(?<=\busd)|(?<=\bgbp))(?P<sign>(?<![\w)])[-+])?(?P<number>\d{1,3}(?:[,'](?:\d{3}))+(?:\.\d+)?|\d{1,3}(?:\.\d{3})+,\d+|"
    r"\d{1,3}(?: \d{3})+(?![\d,.]\d|\d)|\d+,\d{1,2}(?![\d,])|\d+(?:\.\d+)?|\.\d+)"
    r"(?P<scale>\s?(?:k|thousand|million|billion|dozen)\b)?(?!\d|:\d|[-_/]\w*\d|\.\d)"
)
_BRITISH = re.compile(r"\b((?:col|fav|hon|lab|neighb|harb|flav))our", re.IGNORECASE)
_ENUMERATED = re.compile(r"^[ \t]*(\d{1,2})[.)] +(?=\S)", re.MULTILINE)
"""The marker of an entry of a list with numbers."""
_POWER = re.compile(r"(?:[a-z]{1,3}/)?(?:[mckd]?m|ft|in|l|s)[23]")
"""A unit with a power, which has a digit but is no identifier: `m3`, `mg/m3`."""
_FOLLOWS = re.compile(
    r"\s?-?(%|[€$£¥₹]|°\s?[cf]?|[a-zμ]+/[a-zμ]+[23]?|[a-zμ]+ per (?:square |cubic )?[a-z]+|[a-zμ]+(?: [a-z]+)?)"
)
"""What may be a number's unit, currency or noun."""
_SCALES = {"k": 1e3, "thousand": 1e3, "million": 1e6, "billion": 1e9, "dozen": 12.0}

_COMMON = frozenset(
    "about also because been before could does from have just like more need only please should some than that their "
    "them then there these they this those very want what when where which will with would your".split()
)
"""Words that tell nothing of what a text is about."""

Place = tuple[int, int]
"""Where a text states something: start and end."""


@dataclass(frozen=True)
class Number:
    """A number as it stands in a text. `unit` is a unit's or a currency's own name; `noun` the word that follows."""

    start: int
    end: int
    value: float
    unit: str = ""
    currency: frozenset[str] = frozenset()
    noun: str = ""
    decimals: int = 0
    signed: bool = False


@dataclass(frozen=True)
class Day:
    """A date as it stands in a text; 0 for what it leaves out. `swapped` if day and month could change places."""

    start: int
    end: int
    year: int
    month: int
    day: int
    swapped: bool = False


@dataclass(frozen=True)
class Clock:
    """A time of day as it stands in a text, on 24 hours. `second` is -1 if it has none. A `loose` one may be in either
    half of the day."""

    start: int
    end: int
    hour: int
    minute: int
    second: int = -1
    zone: str = ""
    loose: bool = False


@dataclass(frozen=True)
class Reading:
    """A text with all that it mentions. `words` have their places: (word, start, end)."""

    text: str
    numbers: tuple[Number, ...] = ()
    days: tuple[Day, ...] = ()
    clocks: tuple[Clock, ...] = ()
    words: tuple[tuple[str, int, int], ...] = ()
    places: dict[str, list[int]] = field(default_factory=dict[str, list[int]], compare=False)
    cased: str = ""


_TITLE = re.compile(r"\b(Dr|Mr|Mrs|Ms|Prof|St)\.(?= [A-Z])")


@lru_cache(maxsize=4096)
def normal(text: str) -> str:
    """The text with plain quotes, hyphens and letters, without Markdown emphasis and the full stop of a title ("Dr.");
    case and lines stay."""
    text = folded(text.translate(_PLAIN)).translate(_PLAIN)
    text = text.replace("ø", "o").replace("Ø", "O").replace("ł", "l").replace("Ł", "L").replace("đ", "d")
    text = _TITLE.sub(r"\1", _BRITISH.sub(r"\1or", text))
    return re.sub(r"\*\*|__(?=\w)|(?<=\w)__|`|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)", "", text)


@lru_cache(maxsize=4096)
def read(text: str) -> Reading:
    """What a text mentions."""
    cased = normal(text)
    if re.search(r"[A-Za-z]{3}|\d[hm]", cased):
        cased = spelled_out(cased)
    low = cased.lower()
    if len(low) != len(cased):
        cased = low
    words = tuple((match[0], match.start(), match.end()) for match in WORD.finditer(low))
    places: dict[str, list[int]] = {}
    for index, (word, _, _) in enumerate(words):
        places.setdefault(word, []).append(index)
    masked, days, clocks = low, [], []
    for match in _WEB.finditer(masked):
        if not _DATE.fullmatch(match[0].rstrip(".,;")):
            masked = _mask(masked, match)
    markers = list(_ENUMERATED.finditer(masked))
    if len(markers) > 1 and markers[0][1] == "1":
        for match in markers:
            masked = _mask(masked, match)
    for match in _DATE.finditer(masked):
        day = _day(match)
        if day:
            days.append(day)
            masked = _mask(masked, match)
    days = _in_one_order(days, low)
    for match in _TIME.finditer(masked):
        clock = _clock(match)
        if clock:
            clocks.append(clock)
            masked = _mask(masked, match)
    for match in _IDENTIFIER.finditer(masked):
        if not _currency_first(match[0]) and not _POWER.fullmatch(match[0]):
            masked = _mask(masked, match)
    numbers = [_number(match, masked, cased) for match in _NUMBER.finditer(masked)]
    numbers = _durations([number for number in numbers if number], masked)
    return Reading(low, tuple(numbers), tuple(days), tuple(clocks), words, places, cased)


def telling(reading: Reading) -> set[str]:
    """The words that tell what a text is about: longer ones, and pairs of letters in scripts without spaces."""
    letters = [word for word, _, _ in reading.words if re.match(rf"[{UNSPACED}]", word)]
    pairs = {one + other for one, other in pairwise(letters)}
    longer = {stem for word, _, _ in reading.words if len(word) > 3 or word.isdigit() for stem in stems(word)}
    return pairs | longer - _COMMON


def _in_one_order(days: list[Day], text: str) -> list[Day]:
    """The dates with those that could be read both ways read as the others of the text that could not."""
    figures = [day for day in days if re.fullmatch(r"\d+/\d+/\d+", text[day.start : day.end])]
    orders = {int(text[day.start :].split("/")[0]) == day.day for day in figures if not day.swapped}
    if len(orders) != 1:
        return days
    first, turned = orders.pop(), [day for day in figures if day.swapped]
    as_told = [replace(day, swapped=False) if first else replace(day, month=day.day, day=day.month) for day in turned]
    return [replace(as_told[turned.index(day)], swapped=False) if day in turned else day for day in days]


def _mask(text: str, match: re.Match[str]) -> str:
    return text[: match.start()] + "\x00" * len(match[0]) + text[match.end() :]


def _currency_first(text: str) -> bool:
    code = re.match(r"[a-z]+(?=\d[\d.,]*$)", text)
    return bool(code) and bool(currency_of(code[0])) and len(code[0]) == 3


def _day(match: re.Match[str]) -> Day | None:
    part = match.groupdict()
    swapped = False
    if part["y1"]:
        year, month, day = int(part["y1"]), int(part["m1"]), int(part["d1"])
    elif part["n1"]:
        first, second, year = int(part["n1"]), int(part["n2"]), int(part["y2"])
        year += 2000 if year < 100 else 0
        if second > 12:
            month, day = first, second
        else:
            day, month = first, second
            swapped = first <= 12 and first != second and part["sep"] != "."
    elif part["d6"]:
        year, month, day = 0, 0, int(part["d6"])
    else:
        name = part["m3"] or part["m4"] or part["m5"]
        month = _MONTHS.index(str(name)[:3]) + 1
        day = int(part["d3"] or part["d4"] or 0)
        year = int(part["y3"] or part["y4"] or part["y5"] or 0)
    if not (0 <= month <= 12 and 0 <= day <= 31):
        return None
    return Day(match.start(), match.end(), year, month, day, swapped)


def _clock(match: re.Match[str]) -> Clock | None:
    if match["word"]:
        return Clock(match.start(), match.end(), 12 if match["word"] == "noon" else 0, 0)
    half = (match["half"] or "").replace(".", "")
    part = (match["part"] or "").rsplit(" ", 1)[-1]
    spoken = match["loose"] or (
        part and re.search(r"\b(?:at|by|from|until|till|around|about) $", match.string[: match.start()])
    )
    if not match["min"] and not half and not spoken:
        return None
    if match["min"] and not half and match[0].lstrip("t")[len(match["h"])] == ".":
        return None  # 14.30 is a number
    hour, minute = int(match["h"]), int(match["min"] or 0)
    if (half and not 1 <= hour <= 12) or hour > 24 or minute > 59:
        return None
    if part and not half and hour <= 12:
        half = "am" if part == "morning" or (part == "night" and not 6 <= hour <= 11) else "pm"
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    loose = bool(match["loose"]) and not half and hour <= 12
    end = match.start() + len(match[0].rstrip())
    return Clock(match.start(), end, hour, minute, int(match["s"] or -1), match["zone"] or "", loose)


def _number(match: re.Match[str], text: str, cased: str) -> Number | None:
    digits = match["number"]
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+,\d+|\d+,\d{1,2}", digits):
        digits = digits.replace(".", "").replace(",", ".")
    digits = re.sub(r"[,' ]", "", digits)
    scale = _SCALES.get((match["scale"] or "").strip(), 1.0)
    value = float(digits) * scale * (-1 if match["sign"] == "-" else 1)
    before, after = text[max(0, match.start() - 4) : match.start()], text[match.end() : match.end() + 40]
    end = match.end()
    attached = re.match(r"[a-z]+", after)
    unit, currency, noun = "", frozenset[str](), ""
    follows = _FOLLOWS.match(after)
    if follows:
        pair = follows[1].split(" ")
        for name in dict.fromkeys((follows[1], pair[0])):
            currency = (
                currency_of(name)
                if len(name) > 3 or name.upper() == cased[end : end + 40].lstrip()[:3]
                else frozenset()
            )
            currency = currency or (currency_of(name) if name in "€$£¥₹" else frozenset())
            unit = {"°c": "celsius", "°f": "fahrenheit", "° c": "celsius", "°": ""}.get(name) or unit_of(name)
            unit = "" if unit == "degree" else unit
            if currency or unit:
                end = match.end() + after.index(name) + len(name)
                break
        noun = pair[0]
        letter = re.match(r"\s?([AVWJK])(?=\s*(?:[.,;:!?)]|$|(?:at|per|in|of|on)\b))", cased[match.end() :])
        if letter and not match["scale"] and not currency:
            unit = LETTERS[letter[1]]
    if (
        attached
        and not unit
        and not currency
        and not match["scale"]
        and attached[0] not in ("x", "st", "nd", "rd", "th")
    ):
        return None  # 3f2a is an identifier
    symbol = re.search(r"([€$£¥₹]|(?<![a-z])us\$|(?<![a-z])[a-z]{3})\s?$", before)
    if symbol and not currency:
        start = match.start() - len(before) + symbol.start(1)
        if not symbol[1].isalpha() or cased[start : start + 3].isupper() or symbol[1] in ("eur", "usd", "gbp"):
            currency = currency_of(symbol[1])
        if currency and re.search(r"(?<![\w)\d])-$", text[max(0, start - 2) : start]):  # a dash with a space is none
            value = -abs(value)
    decimals = len(digits.partition(".")[2]) if scale == 1 else 0
    return Number(
        match.start(), end, value, unit if not currency else "", currency, noun, decimals, bool(match["sign"])
    )


def _durations(numbers: list[Number], text: str) -> list[Number]:
    """The numbers with each run like "1 hour and 30 minutes" made one."""
    merged: list[Number] = []
    for number in numbers:
        last = merged[-1] if merged else None
        joined = last and re.fullmatch(r",?\s*(?:and\s+)?", text[last.end : number.start])
        if last and joined and last.unit in DURATIONS[:-2] and not number.currency:
            smaller = DURATIONS[DURATIONS.index(last.unit) + 1] if last.unit in ("hour", "minute") else ""
            unit = smaller if not number.unit and not number.noun and number.value < 60 else number.unit
            more = convert(number.value, unit, last.unit) if unit in DURATIONS else None
            if more is not None and DURATIONS.index(unit) > DURATIONS.index(last.unit):
                merged[-1] = Number(last.start, number.end, last.value + more, last.unit, noun=last.noun, decimals=6)
                continue
        merged.append(number)
    return merged
