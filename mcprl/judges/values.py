"""Where a text states a value, in any form that people give values of its meaning."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from mcprl.judges.codes import inflected, phone, reworded, shortened, signed, surname
from mcprl.judges.mentions import Clock, Day, Number, Place, Reading, read
from mcprl.judges.moments import SPAN, dates, lasting, moment, same_clock, timed
from mcprl.judges.scripts import MARKS, UNSPACED
from mcprl.judges.units import DURATIONS, MINOR, convert, currency_of, unit_of
from mcprl.types import Meaning, Scalar

_NUMERIC = ("money", "count", "measure", "percent", "number", "year", "duration")
_DATA = tuple(f"{size}byte" for size in ("kilo", "mega", "giga", "tera", "kibi", "mebi", "gibi"))
"""Units that no number has which a server gives without one."""
_EXACT = ("email", "url", "path")
_FILE_CODE = re.compile(r"^[A-Za-z]{2,}-?\d{2,}(?=[-_.])")
"""The code that a file's name begins with, by which people call it: `INV-1041-harbor-cafe.txt`."""
_COUNTED = frozenset("left units unit pieces items item copies remaining available people persons times".split())
_BEHIND = re.compile(r"^\W*(?:\w+\s+)?(?:behind|earlier|before|less|slower|fewer|lower|below)\b")
_ISO = re.compile(r"\d{4}-\d{1,2}-\d{1,2}(?:[t ]\d{1,2}:\d{2}.*)?$", re.IGNORECASE)
_ROUGHLY = re.compile(r"(?:about|around|roughly|approximately|approx\.?|nearly|almost|~|≈|some) ?[€$£]?$")
_ROUNDED_FROM = 10
"""Numbers from here on may be told with one decimal of several."""
_NONE = re.compile(
    r"\b(?:none|nothing|nil|zero|0|sold out|out of stock|not a single|not any|n't any|no(?! (?:idea|"
    r"problem|doubt|order)\b)"
    r"(?= \w+))\b"
)
_ONE = re.compile(
    r"(?<!\bthe )(?<!\bthis )(?<!\bthat )(?<!\bwhich )(?<!\bno )(?<!\bany )(?<!\beach )(?<!\bevery )"
    r"\b(?:one|a single)\b (?!of\b|moment\b|second\b|more\b|that\b|is\b|thing\b)(?=([a-z]+))"
)
_COSTING = re.compile(r"\b(?:costs?|price (?:is|of))\s*$")
_LOOSE = re.compile(rf"[\w\s.,'&/(){MARKS}-]+")
"""Text whose signs may be left out or changed: `in_progress`, `Novak, Ana`. Others (`C++`) are compared as they are."""


def places(reading: Reading, value: Scalar, meaning: Meaning = "text", unit: str = "") -> list[Place]:
    """Where a text states `value`: numbers by value in whatever form and unit, words by their letters.

    For truth values there are none: a text affirms or denies as a whole (`phrases.polarity`).
    """
    if isinstance(value, bool):
        return []
    if isinstance(value, int | float):
        found = [(number.start, number.end) for number in _numbers(reading, float(value), meaning, unit)]
        if meaning == "identifier":
            found += [
                (match.start() + 1, match.end()) for match in re.finditer(rf"#{value}(?!\w|[.-]\d)", reading.text)
            ]
        if meaning == "duration":
            target = unit_of(unit) or "second"
            found += timed(reading, {convert(float(value), target, "second") or 0.0})
        return sorted(set(found))
    found = _exact(reading, value) if meaning in _EXACT else _words(reading, value, meaning)
    if meaning == "path":
        name = value.rstrip("/").rsplit("/", 1)[-1]
        found += [place for short in (name, *_FILE_CODE.findall(name)) for place in _exact(reading, short)]
        called = [word for word in tokens(name.rsplit(".", 1)[0]) if word.isalpha()]
        found += _runs(reading, called, ordered=False) if len(called) > 2 else []
    elif meaning == "identifier":
        found += shortened(reading, value)
    elif SPAN.fullmatch(value.strip()) and meaning != "datetime":
        found += _typed(reading, value, meaning, unit) + lasting(reading, value)
    elif meaning == "phone":
        found += phone(reading, value)
    elif meaning not in ("email", "url"):
        found += _typed(reading, value, meaning, unit)
    return sorted(set(found))


def kind_of(value: Scalar, meaning: Meaning = "text") -> str:
    """`flag`, `number`, `date`, `time` or `word`: values of one kind could be taken for one another."""
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, int | float) or meaning in _NUMERIC:
        return "number"
    if meaning in ("date", "datetime") or _ISO.match(value.strip()):
        return "date"
    if meaning == "time" or re.fullmatch(r"\d{1,2}:\d{2}(:\d{2})?", value.strip()):
        return "time"
    return "number" if re.fullmatch(r"[-+]?\d[\d,]*(\.\d+)?", value.strip()) else "word"


def same(a: Scalar, b: Scalar) -> bool:
    """Whether two values are one value, however they are written."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, str) and isinstance(b, str):
        return tokens(a) == tokens(b)
    try:
        return float(a) == float(b)
    except ValueError:
        return False


@lru_cache(maxsize=16_384)
def tokens(text: str) -> tuple[str, ...]:
    """The words of a value, by which it is found in a text."""
    return tuple(word for word, _, _ in read(text).words)


# --- numbers ----------------------------------------------------------------------------------------------------------


def _numbers(reading: Reading, value: float, meaning: Meaning, unit: str) -> list[Number | Day]:
    found: list[Number | Day] = [
        number for number in reading.numbers if _is_number(reading, number, value, meaning, unit)
    ]
    if meaning == "year":
        found += [day for day in reading.days if day.year == value]
    if value == 1 and meaning in ("count", "number"):
        ones = [match for match in _ONE.finditer(reading.text) if not (unit_of(match[1]) or currency_of(match[1]))]
        found += [Number(match.start(), match.end(), 1) for match in ones]
    if value == 0 and meaning in ("count", "number", "text", "measure"):
        found += [Number(match.start(), match.end(), 0) for match in _NONE.finditer(reading.text)]
    return found


def _is_number(reading: Reading, number: Number, value: float, meaning: Meaning, unit: str) -> bool:
    """Whether a mention is the value, in its own unit or converted."""
    if meaning == "percent":
        return _is_percent(number, value, unit)
    if meaning == "money" and number.noun in MINOR and unit.lower() not in MINOR and not number.currency:
        return _equal(number.value / 100, value, number.decimals + 2)
    if unit.lower() in MINOR and number.currency:
        return _equal(number.value * 100, value, number.decimals)
    if number.unit == "percent" and unit_of(unit) != "percent":
        return False
    if meaning == "count" and _COSTING.search(reading.text[: number.start]):  # it costs 8, where 8 were ordered
        return False
    own_currency = currency_of(unit)
    if number.currency and (meaning == "count" or (own_currency and not own_currency & number.currency)):
        return False
    if meaning == "money" and (number.noun in _COUNTED or number.unit) and not number.currency:
        return False
    if not unit and number.unit in _DATA:
        return False
    if meaning in ("count", "year") and number.unit and not unit:
        return meaning == "count" and number.unit in DURATIONS[:4] and number.value == value
    own_unit = unit_of(unit) if not own_currency else ""
    amount = number.value
    its_unit = number.unit or (unit_of(number.noun) if own_unit and number.currency else "")
    if number.currency and not its_unit and (own_unit or meaning == "year"):
        return False
    if unit and not own_unit and not own_currency and number.unit:
        return False
    if meaning == "duration" and not unit and number.unit in DURATIONS:
        its_unit, own_unit = number.unit, "second"
    if own_unit and its_unit and own_unit != its_unit:
        converted = convert(number.value, its_unit, own_unit)
        if converted is None:
            return False
        amount = converted
    if value < 0 < amount and _BEHIND.match(reading.text[number.end :]):
        amount = -amount
    elif value > 0 and amount == value and unit and _BEHIND.match(reading.text[number.end :]) and own_unit in DURATIONS:
        return False
    elif value < 0 < amount and not number.signed and own_unit in DURATIONS:
        amount = (
            -amount
            if not re.match(r"^\W*(?:\w+\s+)?(?:ahead|later|after|more)\b", reading.text[number.end :])
            else amount
        )
    decimals = number.decimals if own_unit in ("", number.unit) or not number.unit else 6
    rounds = abs(value) >= _ROUNDED_FROM and (meaning != "money" or _ROUGHLY.search(reading.text[: number.start]))
    if meaning == "money" and rounds and number.decimals == 2 and abs(amount - value) < 0.0101:
        return True  # half a cent rounded the other way
    return _equal(amount, value, decimals, 1 if rounds else 2)


def _is_percent(number: Number, value: float, unit: str) -> bool:
    if number.unit == "percent":
        fraction = abs(value) <= 1 and unit_of(unit) != "percent"
        return _equal(number.value, value * 100 if fraction else value, number.decimals)
    return not number.unit and not number.currency and _equal(number.value, value, number.decimals)


def _equal(amount: float, value: float, decimals: int, least: int = 2) -> bool:
    """Equal, or the value rounded to `least` decimals or more if it has more."""
    if abs(amount - value) <= 1e-9 * max(1.0, abs(value)):
        return True
    longer = round(value, least) != value
    return longer and decimals >= least and abs(amount - value) <= 0.5000001 * 10.0**-decimals


def _typed(reading: Reading, value: str, meaning: Meaning, unit: str) -> list[Place]:
    """Where a text states the number, date, time or quantity that a string spells."""
    kind = kind_of(value, meaning)
    when = moment(value) if kind == "date" else None
    if when:
        return dates(reading, when)
    own = read(value)
    text = own.text.strip()
    whole = [n for n in (*own.numbers, *own.clocks) if n.end - n.start >= len(text) - 1 - (text[:1] in "€$£")]
    if len(whole) != 1 or meaning in ("person", "name", "identifier", "category"):
        return []
    if isinstance(whole[0], Clock):
        return [(clock.start, clock.end) for clock in reading.clocks if same_clock(clock, whole[0])]
    number = whole[0]
    unit = unit or number.unit or next(iter(sorted(number.currency)), "")
    if len(number.currency) > 1:
        unit = ""
    found = _numbers(reading, number.value, meaning if meaning != "text" else "number", unit)
    return [(mention.start, mention.end) for mention in found]


# --- words ------------------------------------------------------------------------------------------------------------


def _words(reading: Reading, value: str, meaning: Meaning) -> list[Place]:
    """Where a text has the value's words in their order, whatever stands between them; people's in any order."""
    wanted = tokens(value)
    if not wanted or not _LOOSE.fullmatch(value.strip()) or {*value.strip()[:1], *value.strip()[-1:]} & {*"+-"}:
        return _exact(reading, value) + signed(reading, value.strip())
    found = _runs(reading, wanted, ordered=meaning != "person" or len(wanted) > 3 or " " not in value.strip())
    for words in reworded(wanted, value, meaning):
        found += _runs(reading, words, ordered=True)
    if meaning == "person" and len(wanted) > 1:
        found += surname(reading, wanted[-1])
    elif meaning == "text" and len(wanted) > 2:
        found += inflected(reading, wanted)
    elif meaning == "identifier" and value.strip().isdigit():
        amounts = {number.start for number in reading.numbers if number.unit or number.currency}
        found = [place for place in found if place[0] not in amounts]
    if meaning == "status" and len(wanted) == 1 and "ll" in wanted[0]:
        found += _runs(reading, (wanted[0].replace("ll", "l"),), ordered=True)
    elif meaning == "status" and len(wanted) == 1 and wanted[0].endswith("eled"):
        found += _runs(reading, (wanted[0][:-2] + "led",), ordered=True)
    found = [(a, b) for a, b in found if reading.text[b : b + 1] not in ("+", "#")]
    if re.search(r"\d", value):  # O-17 does not stand in O-17-B, 12.5 not in 12.55
        found = [(a, b) for a, b in found if not re.match(r"[-_/.]\w", reading.text[b:])]
    return found


def _runs(reading: Reading, wanted: Sequence[str], ordered: bool) -> list[Place]:
    found: list[Place] = []
    size = len(wanted)
    for index in (
        place for word in ({wanted[0]} if ordered else set(wanted)) for place in reading.places.get(word, ())
    ):
        window = reading.words[index : index + size]
        have = [word for word, _, _ in window]
        if have != list(wanted) and (ordered or sorted(have) != sorted(wanted)):
            continue
        gaps = [reading.text[a[2] : b[1]] for a, b in pairwise(window)]
        if all(len(gap) <= 3 and not re.search(r"[.;:?!\n]\s", gap) for gap in gaps):
            found.append((window[0][1], window[-1][2]))
    return found


def _exact(reading: Reading, value: str) -> list[Place]:
    """Where a text has the value letter for letter, white space and case aside, as whole words."""
    wanted = " ".join(read(value).text.split())
    if not wanted:
        return []
    spaced = re.compile(rf"[^\W{UNSPACED}]")
    left = r"(?<![\w/@.+-])" if spaced.match(wanted[0]) else r"(?<!\w)" if wanted[0] in "+-" else ""
    right = r"(?![\w/@+-]|\.\w)" if spaced.match(wanted[-1]) else r"(?![+-])"
    if wanted not in reading.text and " " not in wanted:
        return []
    pattern = left + re.escape(wanted).replace(r"\ ", r"\s+") + right
    return [(match.start(), match.end()) for match in re.finditer(pattern, reading.text)]
