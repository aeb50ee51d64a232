"""Values in people's forms: 3 March 2026 for 2026-03-03, EUR 35.45, Oslo for Europe/Oslo."""

import random
import re
from datetime import date
from functools import cache
from zoneinfo import available_timezones

from babel.dates import get_timezone_location

from mcprl.scenarios.intents import Attribute, Value
from mcprl.scenarios.wording import grammar
from mcprl.scenarios.wording.template import BEGIN, END, data, mark
from mcprl.types import Scalar

_MONTHS = "January February March April May June July August September October November December".split()
_HOURS = "twelve one two three four five six seven eight nine ten eleven".split()
_SYMBOLS = {"EUR": "€", "USD": "$", "GBP": "£"}
_CURRENCY_WORDS = {"EUR": "euros", "USD": "dollars", "GBP": "pounds", "CHF": "francs", "JPY": "yen", "INR": "rupees"}
UNIT_WORDS = {
    "kg": "kilos", "g": "grams", "km": "kilometres", "m": "metres", "cm": "centimetres", "mm": "millimetres",
    "mi": "miles", "ft": "feet", "in": "inches", "l": "litres", "lb": "pounds", "oz": "ounces", "°C": "degrees",
    "°F": "degrees Fahrenheit", "ms": "milliseconds", "s": "seconds", "min": "minutes", "h": "hours",
}  # fmt: skip
STAGES = ("stage", "step", "phase")
_AT_WORK = re.compile(rf"^{BEGIN}?(?!waiting|pending|running|missing)[\w ]+ing{END}?$")
_WITH_ARTICLE = ("Netherlands", "Philippines", "Maldives", "Bahamas", "Gambia", "Seychelles", "Comoros", "Isle of Man")
_CITIES = {"Ho Chi Minh": "Ho Chi Minh City", "Tirane": "Tirana", "El Aaiun": "Laayoune", "Ndjamena": "N'Djamena"}
"""Cities that zones spell otherwise than people."""
_ZONE = re.compile(r"(?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific)/(?:[\w-]+/)?([\w-]+)")


def forms(value: Value) -> tuple[str, ...]:
    """The ways in which a request may spell a value, the most usual first. Each of them identifies the value."""
    meaning, unit, raw = _meant(value), value.attribute.unit, value.value
    if isinstance(raw, bool):
        return ("yes", "on", "true") if raw else ("no", "off", "false")
    text = plain(raw)
    if meaning in ("date", "datetime", "time", "text", "name", "place", "category", "status", "identifier"):
        spelled = _moments(text)
        if spelled:
            return spelled
    if meaning == "money" and not isinstance(raw, str):
        return _amounts(text, unit)
    if meaning in ("measure", "duration", "count", "percent", "number", "year") and not isinstance(raw, str):
        return _measures(text, unit)
    if is_zone(value) and (zone := _ZONE.fullmatch(text)):
        return (*_city(zone[1].replace("_", " "), text), *data("cities").get(text, ()), text)
    if meaning in ("category", "status"):
        folder = ("folder",) if text.lower() in ("dir", "directory") else ("file",) if text == "FILE" else ()
        return tuple(dict.fromkeys((*folder, _words(text), text, *status_words(value)[0])))
    return (text,)


def _meant(value: Value) -> str:
    """The meaning of a value; a text that is one of a few is a category: `basic economy` for `basic_economy`."""
    attribute = value.attribute
    return "category" if attribute.meaning == "text" and attribute.choices else attribute.meaning


def _city(city: str, zone: str) -> tuple[str, ...]:
    """The city of a zone and its country, only the latter if the zone is called after it, the Faroe Islands, or after
    one of its islands: Vanuatu."""
    city, country = _CITIES.get(city, city), country_of(zone)
    alone = country and (country[0].removeprefix("the ").startswith(city) or zone.startswith(("Pacific/", "Indian/")))
    return country if alone else (city, *country)


@cache
def country_of(zone: str) -> tuple[str, ...]:
    """The country of a zone that is the only one of its country, as people say it; else empty."""
    name = get_timezone_location(zone, locale="en").removesuffix(" Time")
    if re.search(r"[(&-]|SAR|^St\.|^Georgia$", name):  # the country or the state
        return ()
    joint = "the " if re.match(r"United|.* (?:Republic|Islands|Territories)$", name) or name in _WITH_ARTICLE else ""
    return (f"{joint}{name}",)


def is_zone(value: Value) -> bool:
    """Whether a value is the name of a time zone, and no region such as `Asia/Pacific`."""
    text = plain(value.value)
    return text in _known_zones() and bool(re.fullmatch(r"[A-Z][A-Za-z]+/[A-Za-z_/-]+|UTC|GMT", text))


@cache
def _known_zones() -> set[str]:
    return available_timezones()


def status_words(value: Value) -> tuple[list[str], list[str]]:
    """Other words for a status, and events that tell it, without those that another choice of the field shares."""
    table = data("thesaurus")["status"]
    entry = table.get(_status_key(value.value))
    if entry is None or value.attribute.meaning != "status":
        return [], []
    others = [_status_key(choice) for choice in value.attribute.choices if choice != value.value]
    taken = {word for other in others for word in (other, *table.get(other, {}).get("words", []))}
    told = {event for other in others for event in table.get(other, {}).get("events", [])}
    words = [word for word in entry["words"] if word not in taken]
    return words, [event for event in entry["events"] if event not in told]


def status_told(value: Value) -> list[str]:
    """Sentences about {it} that tell a status, without those that tell another choice of the field, too."""
    table = data("told")["status"]
    others = {_status_key(choice) for choice in value.attribute.choices if choice != value.value}
    taken = {sentence for other in others for sentence in table.get(other, {}).get("told", [])}
    entry = table.get(_status_key(value.value), {}) if value.attribute.meaning == "status" else {}
    return [sentence for sentence in entry.get("told", []) if sentence not in taken]


def _status_key(value: Scalar) -> str:
    return plain(value).lower().replace("_", " ").replace("-", " ")


def at_work(attribute: Attribute, text: str) -> str:
    """`at the cutting stage` for a stage that is called by what is done in it; empty for others: it is waiting."""
    last = attribute.label.split()[-1]
    return f"at the {text} {last}" if last in STAGES and _AT_WORK.search(text) else ""


def plain(value: Scalar) -> str:
    """A value as text: truth values in lower case, whole floats without a fraction, others as short as they are."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def shown(value: Value, rng: random.Random) -> str:
    """A value as this request spells it, marked."""
    ways = forms(value)
    if len(ways) > 1 and value.attribute.meaning in ("date", "datetime"):
        return mark(rng.choice(ways))
    if is_zone(value) and _ZONE.fullmatch(plain(value.value)):
        return mark(rng.choice(ways[:-1] or ways))
    if value.attribute.meaning == "time":
        return mark(rng.choice(ways))
    if len(ways) > 1 and _meant(value) not in ("category", "status"):
        return mark(next(iter(ways)) if rng.random() < 0.5 else rng.choice(ways))
    return mark(next(iter(ways)))


def quoted(value: Value, rng: random.Random) -> str:
    """Free text in quotation marks, unless it has some; other values as `shown`."""
    text = plain(value.value)
    if value.attribute.meaning not in ("text", "name") or '"' in text or " " not in text:
        return shown(value, rng)
    return mark(f'"{text}"')


def _words(text: str) -> str:
    """`in_transit` as `in transit`, `IN_PROGRESS` as `in progress`; other texts as they are."""
    if re.fullmatch(r"[A-Za-z]+(?:[_-][A-Za-z]+)+", text) or re.fullmatch(r"[A-Z]{5,}", text):
        return re.sub(r"[_-]", " ", text).lower()
    return text


def _amounts(text: str, unit: str) -> tuple[str, ...]:
    if not unit:
        return (text,)
    if unit == "cents":
        return (f"{text} cents",)
    ways = [f"{unit} {text}", f"{text} {unit}"]
    if unit in _CURRENCY_WORDS:
        ways.append(f"{text} {_CURRENCY_WORDS[unit]}")
    if unit in _SYMBOLS and not text.startswith("-"):
        ways.append(f"{_SYMBOLS[unit]}{text}")
    return tuple(ways)


def _measures(text: str, unit: str) -> tuple[str, ...]:
    if not unit:
        return (text,)
    if unit == "%":
        return (f"{text}%", f"{text} percent")
    if text == "1" and unit.endswith("s") and len(unit) > 3:
        return (f"1 {unit[:-1]}",)
    ways = [f"{text} {unit}"]
    if unit in UNIT_WORDS and text != "1":
        ways.append(f"{text} {UNIT_WORDS[unit]}")
    return tuple(ways)


def _moments(text: str) -> tuple[str, ...]:
    """The forms of an ISO date, an ISO date and time to the minute, or a clock time."""
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return (*_dates(text), text)
    moment = re.fullmatch(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::00(?:\.0+)?)?(Z|\+00:00)?", text)
    if moment and (days := _dates(moment[1])):
        zone = " UTC" if moment[3] else ""
        return (f"{days[0]} at {moment[2]}{zone}", f"{days[2]} at {moment[2]}{zone}", text)
    if re.fullmatch(r"[012]\d:[0-5]\d", text):
        return _clock(text)
    return ()


def _clock(text: str) -> tuple[str, ...]:
    hour, minute = int(text[:2]), int(text[3:])
    if text in ("12:00", "00:00"):
        return (text, "noon" if hour else "midnight")
    if not 0 < hour < 24 or hour == 12:
        return (text,)
    half = "am" if hour < 12 else "pm"
    short = f"{hour if hour < 12 else hour - 12}" + (f":{minute:02}" if minute else "")
    return (text, f"{short} {half}", f"{short}{half}", *_spoken_clock(hour, minute))


def _spoken_clock(hour: int, minute: int) -> tuple[str, ...]:
    """A full hour, a half or a quarter as people say it: `half past seven in the evening`."""
    if minute not in (0, 15, 30, 45) or (hour, minute) == (11, 45):  # quarter to twelve in the morning
        return ()
    named = _HOURS[(hour + (minute == 45)) % 12]
    front = {0: "", 15: "quarter past ", 30: "half past ", 45: "quarter to "}[minute]
    part = "in the morning" if hour < 12 else "in the afternoon" if hour < 18 else "in the evening"
    return (f"{front}{named} {part if hour < 21 else 'at night'}",)


def _dates(text: str) -> tuple[str, ...]:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return ()
    month = _MONTHS[day.month - 1]
    ending = "th" if 10 < day.day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    return (
        f"{day.day} {month} {day.year}",
        f"{month} {day.day}{ending}, {day.year}",
        f"{month} {day.day}, {day.year}",
        f"{day.day} {month[:3]} {day.year}",
    )


def moment_text(value: Scalar) -> str:
    """A date or a date and time for an answer: `3 March 2026`, `3 March 2026 at 14:05` by the clock of the place where
    it was written down, else the value as it is."""
    text = re.sub(r"(?<=[T ]\d\d:\d\d)(?::00)? ?(?!\+00)[+-]\d\d:?\d\d$", "", plain(value))
    ways = _moments(text) if isinstance(value, str) else ()
    if ways:
        return ways[0]
    return text


def called(name: str) -> str:
    """A name, with an article if it ends in a common noun: the Staging server, but Orchard and Jute sacks."""
    *front, last = name.split()
    common = front and name[:1].isupper() and last.islower() and last.isalpha() and not grammar.is_plural(last)
    return f"the {mark(name)}" if common and len(front) < 3 else mark(name)
