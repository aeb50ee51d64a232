"""Whether a person's text gives a value, in one of the forms in which people write values."""

import calendar
import re
import unicodedata
from datetime import date, datetime, time

from mcprl.types import Scalar

_PLAIN = str.maketrans("‘’“”–—−\u00a0", "''\"\"--- ")
_SPELLED = ((r"\bhalf a dozen\b|\ba half dozen\b", "6"), (r"\ba dozen\b", "12"), (r"\ba couple of\b", "2"))
_NUMBER = re.compile(r"(?<![\w.])-?(?:\d{1,3}(?:[,' ]\d{3})+|\d+)(?:\.\d+)?(k\b|(?:st|nd|rd|th)\b)?(?![\w]|\.\d)")
_FORMULA = re.compile(r"(?=.*(?:\d\)*\s*[+*^]\s*[\d(.]|\d\)*\s+[-/]\s+[\d(.]))[\d\s.+*/^()-]+")
"""Numbers with signs between them. `2026-11-28` and `555-0123` are none."""
_IDENTIFIER = re.compile(r"[a-z]{1,5}[-_# ]?(\d{3,})")


def derivable(value: Scalar, text: str) -> bool:
    """Whether a reader of `text` can tell `value`.

    Case, accents and the marks between the parts of a name do not matter. A number may stand in words ("a dozen"), a
    date as "3 March" or "3/3/2026" with or without its year, a time as "3 pm", an identifier without its prefix
    ("order 2046" for O-2046). The marks of a formula do matter. A truth value can always be told.
    """
    if isinstance(value, bool):
        return True
    text = _plain(text)
    if isinstance(value, int | float):
        return float(value) in _numbers(text)
    wanted = _plain(value)
    if _FORMULA.fullmatch(wanted):
        return _without_spaces(wanted) in _without_spaces(text)
    if not wanted or _stands(wanted, text):
        return True
    if moment := _moment(value.strip()):
        return all(_day(part, text) if isinstance(part, date) else _clock(part, text) for part in moment)
    try:
        return float(wanted) in _numbers(text)
    except ValueError:
        identifier = _IDENTIFIER.fullmatch(wanted)
        return identifier is not None and re.search(rf"(?<!\d){identifier[1]}(?!\d)", text) is not None


def _without_spaces(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _plain(text: str) -> str:
    """The text in lower case with plain quotes, hyphens, letters and spaces."""
    text = unicodedata.normalize("NFKD", text.translate(_PLAIN).casefold())
    return " ".join("".join(char for char in text if not unicodedata.combining(char)).split())


def _stands(wanted: str, text: str) -> bool:
    """Whether the words and numbers of `wanted` stand in `text` in their order, with any marks between them."""
    pieces = re.findall(r"[^\W\d_]+|\d+", wanted)
    if not pieces:
        return wanted in text
    between = r"[\W_]*".join(map(re.escape, pieces))
    return re.search(rf"(?<![^\W_]){between}(?![^\W_])", text) is not None


def _numbers(text: str) -> set[float]:
    """The numbers of a text, those in words too."""
    from text_to_num import alpha2digit

    for pattern, digits in _SPELLED:
        text = re.sub(pattern, digits, text)
    numbers: set[float] = set()
    for spelled in (text, alpha2digit(text, "en") if text else ""):
        for match in _NUMBER.finditer(spelled):
            digits = re.sub(r"[^\d.-]", "", match[0])
            numbers.add(float(digits) * (1000 if match[1] == "k" else 1))
    return numbers


def _moment(value: str) -> tuple[date | time, ...]:
    """The date and the time that a value in ISO form names; none for another value."""
    if re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        return _parsed(f"{value}T00:00")[:1]
    if re.fullmatch(r"\d\d?:\d\d(?::\d\d)?", value):
        return _parsed(f"2000-01-01T{value.zfill(5 if value.count(':') == 1 else 8)}")[1:]
    if re.match(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d", value):
        return _parsed(value)
    return ()


def _parsed(value: str) -> tuple[date | time, ...]:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return ()
    return moment.date(), moment.time()


def _day(day: date | time, text: str) -> bool:
    """Whether the text names the date, with its year or none."""
    if not isinstance(day, date):
        return False
    name = calendar.month_name[day.month].lower()
    month = rf"(?:{name}|{name[:3]}t?\.?)"
    number = rf"0?{day.day}(?:st|nd|rd|th)?"
    year = rf"(?:,?[ /.-]+(?:{day.year}|'?{day.year % 100:02})\b(?!:)|(?![\w]|,?[ /.-]+\d{{2,4}}\b(?!:)))"
    forms = (
        rf"{number}(?: of|\.)?[ -]{month}{year}",
        rf"{month} (?:the )?{number}{year}",
        rf"{day.year}[-/.]0?{day.month}[-/.]0?{day.day}(?!\d)",
        rf"0?{day.day}(?P<a>[./-])0?{day.month}(?:(?P=a)(?:{day.year}|{day.year % 100:02}))?(?!\d|[./-]\d)",
        rf"0?{day.month}/0?{day.day}(?:/(?:{day.year}|{day.year % 100:02}))?(?!\d|[./-]\d)",
    )
    return any(re.search(rf"(?<![\w./-]){form}", text) for form in forms)


def _clock(clock: date | time, text: str) -> bool:
    """Whether the text names the time of day, on 24 or on 12 hours. Midnight without a word is no time."""
    if not isinstance(clock, time):
        return False
    half = "a" if clock.hour < 12 else "p"
    hour = clock.hour % 12 or 12
    minutes = rf"[:.]{clock.minute:02}" if clock.minute else r"(?:[:.]00)?"
    forms = [rf"{hour}{minutes} ?{half}\.?m\b", rf"0?{clock.hour}[:.h]?{clock.minute:02}(?::{clock.second:02})?(?!\d)"]
    if not clock.minute:
        forms.append(rf"{hour} o'?clock")
        forms += [word for at, word in ((12, "noon"), (0, "midnight")) if clock.hour == at]
    return any(re.search(rf"(?<![\w:.]){form}", text) for form in forms)
