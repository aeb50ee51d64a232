"""Numbers and times of day in words, as digits: "minus four" is -4, "half past two" is 2:30 o'clock."""

import re
from decimal import Decimal

_HOURS: tuple[str, ...] = tuple("one two three four five six seven eight nine ten eleven twelve noon midnight".split())
_MINUTES = {"five": 5, "ten": 10, "fifteen": 15, "quarter": 15, "twenty": 20, "twenty-five": 25, "half": 30}
_HOUR = rf"(?P<hour>{'|'.join(_HOURS)}|1[0-2]|[1-9])\b(?![.:,]?\d)"
_ENDS = r"(?=\s*(?:[.,;:!?)(]|$|o'clock|in the|at night|on|and|with|from|for|[ap]\.?m\b|sharp|today|tomorrow))"
_CLOCK = re.compile(
    rf"\b(?:an? )?(?:(?P<word>half|quarter|five|ten|fifteen|twenty[- ]five|twenty)|(?P<number>\d{{1,2}}))"
    rf"(?P<named> min(?:ute)?s?)? (?P<side>past|after|to|till|before) {_HOUR}{_ENDS}(?: o'clock)?",
    re.IGNORECASE,
)
_PAIR = re.compile(r"\b(1[0-2]|[1-9]) ([0-5]\d)(?=\s?(?:[ap]\.?m\b|o'clock|in the (?:morning|afternoon|evening)))")
_MINUS = re.compile(r"\b(?:minus|negative) (?=(?:[€$£]|[a-z]{3} )?\d)", re.IGNORECASE)
_SPELLED = (
    (r"\bhalf an hour\b", "0.5 hours"),
    (r"\ban hour and a half\b", "1.5 hours"),
    (r"\ba day and a half\b", "1.5 days"),
    (r"\btwo\b", "2"),
    (r"\bthree\b", "3"),
    (r"\bone and a half\b", "1.5"),
    (r"\b(\d+) and a half\b", r"\1.5"),
    (r"\b(?:a quarter of an hour)\b", "15 minutes"),
    (r"\b(?:an?) (hour|minute|day|week|year|month|dozen)\b", r"1 \1"),
    (r"\bone (hour|minute|second|day|week|year|month|dozen)\b", r"1 \1"),
    (r"\b(?:a )?half dozen\b|\bhalf a dozen\b", "6"),
    (
        r"\b(only|just|exactly|is|has|have|of|are|to|at|got|there's|it's) one\b(?! (?:of|that|which|who|moment))",
        r"\1 1",
    ),
    (r"(?<!not )\ba single (?=[a-z])", "1 "),
    (r"\bjust the one\b", "just 1"),
    (r"\b(\d+)\s?h\s?(\d{1,2})\s?(?:m|min)?\b(?![.:]\d)", r"\1 hours and \2 minutes"),
    (r"\b(\d+)\s?m\s?(\d{1,2})\s?s\b", r"\1 minutes and \2 seconds"),
    (r"\b(\d+) (euros?|dollars?|pounds?)(?: and)? (\d\d)\b(?: (?:cents|pence))?(?![\d.,:]\d)", r"\1.\3 \2"),
    (r"^one\b(?! (?:of|that|which|who|moment))", "1"),
)
_SCALES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_SCALED = re.compile(r"(?<![\w.,])(\d[\d,]*(?:\.\d+)?)\s(thousand|million|billion)\b", re.IGNORECASE)
_PATTERNS = tuple((re.compile(pattern, re.IGNORECASE), digits) for pattern, digits in _SPELLED)


def spelled_out(text: str) -> str:
    """The text with its numbers and times of day in digits (text2num)."""
    from text_to_num import alpha2digit

    text = _CLOCK.sub(_clock, _SCALED.sub(_scaled, text))
    text = "\n".join(alpha2digit(line, "en") if line.strip() else line for line in text.split("\n"))
    for pattern, digits in _PATTERNS:
        text = pattern.sub(digits, text)
    text = _PAIR.sub(r"\1:\2", text)
    return _MINUS.sub(_minus, text)


def _scaled(match: re.Match[str]) -> str:
    """The digits of a number with its scale: "1.25 million"."""
    value = Decimal(match[1].replace(",", "")) * _SCALES[match[2].lower()]
    return f"{value.normalize():f}"


def _clock(match: re.Match[str]) -> str:
    """`H:MM o'clock`, which leaves open which half of the day is meant."""
    exact = match["named"] or match["side"].lower() == "past"
    if match["number"] and not exact:
        return match[0]  # "3 to 1"
    named = match["hour"].lower()
    hour = {"noon": 12, "midnight": 0}.get(named) if named in ("noon", "midnight") else None
    if hour is None:
        hour = int(named) if named.isdigit() else _HOURS.index(named) + 1
    minute = int(match["number"] or _MINUTES[(match["word"] or "").lower().replace(" ", "-")])
    if minute > 59:
        return match[0]
    if match["side"].lower() not in ("past", "after"):
        hour, minute = (hour - 1 if hour > 1 else hour + 11), 60 - minute
    return f"{hour}:{minute:02d} o'clock"


def _minus(match: re.Match[str]) -> str:
    """A sign, unless a number stands before it in the same clause: "12 minus 4"."""
    clause = re.split(r"[.;:,(]\s|\n", match.string[: match.start()])[-1]
    return match[0] if re.search(r"\d", clause) else "-"
