"""What a field means to a person, inferred from its name, values, description and neighbours (`meaning.toml`)."""

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import cast, get_args

from mcprl.scenarios.english.labels import FLAGS, PREPOSITIONS, label_of, spelled_out, tables
from mcprl.scenarios.intents import Attribute
from mcprl.scenarios.parameters import HEADINGS, are_codes, are_headings
from mcprl.text import singular, words
from mcprl.types import Meaning, Scalar

_SHAPES: dict[Meaning, re.Pattern[str]] = {
    "email": re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+"),
    "url": re.compile(r"(?:https?|ftp|wss?|git|ssh)://\S+"),
    "datetime": re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*|[A-Z][a-z]{2},? [A-Z\d]\w* .*\d\d:\d\d:\d\d.*"),
    "date": re.compile(
        r"\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{4}|\d{1,2} [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d\d?, \d{4}"
    ),
    "time": re.compile(r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?: ?[ap]m)?", re.IGNORECASE),
    "phone": re.compile(r"\+?\d{0,3}[ -]?\(?\d{2,4}\)?(?:[ -]\d{2,5}){1,4}|\+\d{8,14}"),
    "percent": re.compile(r"[-+]?\d+(?:\.\d+)? ?(?:%|percent)"),
    "money": re.compile(r"[-+]?(?:[$€£¥] ?\d[\d,.]*|[A-Z]{3} \d[\d,.]*|\d[\d,.]* ?(?:[$€£]|EUR|USD|GBP|CHF))"),
    "path": re.compile(
        r"(?:~|\.{1,2})?/\S+|[\w.-]+/[\w./-]*\.\w+|[A-Z]:\\\S+"
        r"|[\w-]+\.(?:py|md|txt|json|ya?ml|toml|csv|js|ts|html|pdf|sh|cfg|log)"
    ),
    "duration": re.compile(
        r"P(?:\d+[YMWD])*(?:T(?:\d+[HMS])+)?(?<!P)"
        r"|\d+(?:\.\d+)? ?(?:hours?|hrs?|h|minutes?|mins?|days?|weeks?|months?|seconds?)"
    ),
    "identifier": re.compile(
        r"(?=.*\d)[A-Za-z]{1,8}[-_#]?\d+(?:-\d+)*|[0-9a-f]{8}-[0-9a-f-]{20,}|[0-9a-f]{7,64}"
        r"|[A-Za-z]{2,5}_[A-Za-z0-9]{6,}|#\d+|\d{1,4}[A-Z]{1,2}|v?\d+(?:\.\d+){2,}"
    ),
}  # fmt: skip
_MEASURED = re.compile(r"[-+]?\d+(?:\.\d+)? ?([A-Za-z°%/²]{1,5})")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_CURRENCIES = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}
_FILE_FIELDS = frozenset("permissions isFile is_file isDirectory is_directory mimeType mime_type mode mtime".split())
"""Fields that stand beside the size of a file."""
_VARIABLES = frozenset("PATH HOME USER SHELL LANG LANGUAGE PWD OLDPWD TERM EDITOR LOGNAME TMPDIR DISPLAY".split())
"""Variables of an environment whose names are one word; the capitals of a table's head are no names of such."""
_COUNTED = re.compile(r"\d+(?: ?(?:\(|of |/).*)?")
"""A number, and of how many: `18 (9 taken)`."""
_SHORT = ("km", "kg", "cm", "mm", "ml")
"""Units that are a whole name."""
_NUMERIC: tuple[Meaning, ...] = ("money", "count", "measure", "percent", "number", "year", "duration", "identifier")
_TEXTUAL: tuple[Meaning, ...] = (
    "person", "place", "category", "status", "identifier", "url", "phone", "path", "name", "text", "email", "date",
    "time",
)  # fmt: skip


def infer(
    name: str, values: Sequence[Scalar], description: str = "", neighbours: Mapping[str, Scalar] | None = None
) -> Attribute:
    """The attribute that a field stands for. `neighbours` are other fields of one record: a currency gives a unit."""
    parts = spelled_out(name)
    per = next((n for n, part in enumerate(parts[:-1]) if n and part == "per"), len(parts))
    parts, rest = parts[:per], parts[per:]  # what a price is for: `price_per_kg`
    if rest and tables()["units"].get(rest[-1], [""])[0] == "money":  # `price_per_head_chf`
        parts, rest = [*parts, rest[-1]], rest[:-1]
    shown = [value for value in values if value is not None and value != ""]
    meaning, unit = _meaning(parts, shown, description)
    if meaning == "status" and parts[-1] == "state" and _is_region(shown, neighbours or {}):
        meaning = "place"
    if not unit:
        unit = _unit(meaning, shown, description, neighbours or {})
    if not unit and parts[-1] == "size" and meaning == "measure" and _FILE_FIELDS & {*(neighbours or {})}:
        unit = "bytes"
    if rest and meaning in ("measure", "duration"):  # kilometres an hour
        meaning, unit = "number", ""
    label = " ".join([*parts, *rest] if rest and meaning == "number" else [label_of(parts, meaning, shown), *rest])
    return Attribute(name, label, meaning, unit, _choices(meaning, shown))


def refined(attribute: Attribute, values: Sequence[Scalar], nouns: Container[str]) -> Attribute:
    """The attribute of a result's field by all its values: headings are names, and the whole numbers of a field with
    the name of what the server's tools take (one of `nouns`) are identifiers: `job`, not `rating`.
    """
    if attribute.meaning == "text" and words(attribute.key)[-1:] in HEADINGS and are_headings(values):
        attribute = replace(attribute, meaning="name")
    measured = "number" in tables()["heads"].get(attribute.label, ())
    numbered = attribute.meaning in ("number", "identifier") and not measured and are_codes(values)
    if numbered and attribute.label in nouns:
        attribute = replace(attribute, meaning="identifier", label=f"{attribute.label} number")
    if attribute.key in _VARIABLES:
        # said as it is written
        meaning = "text" if attribute.meaning == "path" else attribute.meaning
        attribute = replace(attribute, label=attribute.key, meaning=meaning)
    return attribute


def _meaning(parts: Sequence[str], values: list[Scalar], description: str) -> tuple[Meaning, str]:
    units = tables()["units"]
    if values and all(isinstance(value, bool) or str(value).lower() in ("yes", "no") for value in values):
        return "flag", ""
    if parts[0] in FLAGS and len(parts) > 1 and not _are_numbers(values):
        return "flag", ""
    shape = _shape(values)
    if shape in ("email", "url", "datetime", "date", "money", "percent"):
        return shape, ""
    if _is_event(parts, values):
        return _event_meaning(values, shape), ""
    suffix = units.get(parts[-1]) or units.get(singular(parts[-1]))
    if suffix and (not values or _are_numbers(values)) and _is_unit(parts, values):
        return cast(Meaning, suffix[0]), suffix[1]
    if _are_numbers(values):
        return _of_numbers(parts, values, description), ""
    return _of_texts(parts, values, shape, description), ""


def _is_unit(parts: Sequence[str], values: list[Scalar]) -> bool:
    """Whether the last word of a name that ends like a unit is one: not the year of `exp_year`, nor `day` alone."""
    if singular(parts[-1]) == "year":
        return not any(1800 < float(value) < 2200 for value in values)
    return len(parts) > 1 or parts[0] in _SHORT or (len(parts[0]) > 3 and singular(parts[0]) not in ("week", "month"))


def _event_meaning(values: list[Scalar], shape: Meaning | None) -> Meaning:
    if shape in ("time", "year"):
        return shape
    if _are_numbers(values) and values and all(1000 < float(value) < 2200 for value in values):
        return "year"
    return "datetime" if values and _are_numbers(values) else "date"


def _is_event(parts: Sequence[str], values: list[Scalar]) -> bool:
    """Whether a name is that of a moment: `placed_on`, `created`, `due_date`."""
    events = tables()["events"]
    if len(parts) > 1 and parts[-1] in PREPOSITIONS:
        return parts[-2] in events or parts[-2].endswith("ed")
    if parts[-1] not in ("created", "updated", "modified", "expires", "due", "ordered", "shipped", "placed", "born"):
        return False
    return len(parts) == 1 or not _are_numbers(values) or _are_epochs(values)


def _are_epochs(values: Sequence[Scalar]) -> bool:
    """Whether all values are seconds or milliseconds since 1970, of 1990 to 2065."""
    numbers = [float(value) for value in values] if _are_numbers(values) else []
    return bool(numbers) and (
        all(6.3e8 < number < 3e9 for number in numbers) or all(6.3e11 < number < 3e12 for number in numbers)
    )


def _are_numbers(values: Sequence[Scalar]) -> bool:
    return bool(values) and all(
        not isinstance(value, bool) and (isinstance(value, int | float) or _NUMBER.fullmatch(value)) for value in values
    )


def _shape(values: Sequence[Scalar]) -> Meaning | None:
    """The meaning that the form of every value proves."""
    texts = [value for value in values if isinstance(value, str)]
    if not texts or len(texts) < len(values):
        return None
    return next((meaning for meaning, shape in _SHAPES.items() if all(shape.fullmatch(text) for text in texts)), None)


def _listed(parts: Sequence[str], among: Sequence[Meaning], description: str) -> Meaning | None:
    """The meaning that the last word of a name has by `meaning.toml`, else another word of it or of the description."""
    heads = tables()["heads"]
    described = words(description)[:6]
    for word in [*reversed(parts), *(described if len(described) <= 6 else [])]:
        for meaning in heads.get(word, heads.get(singular(word), ())):
            if meaning in among:
                return meaning
    return None


def _is_region(values: Sequence[Scalar], neighbours: Mapping[str, Scalar]) -> bool:
    """Whether a state is a part of a country: it stands beside a city, or its values are abbreviations."""
    places = {"city", "town", "country", "zip", "zipcode", "postcode", "street"}
    beside = any(places & {*words(name)} for name in neighbours)
    return beside or (bool(values) and all(re.fullmatch(r"[A-Z]{2}", str(value)) for value in values))


def _are_codes(values: Sequence[Scalar]) -> bool:
    """Whether values are digits that count nothing: texts of one length, four digits or more."""
    texts = [value for value in values if isinstance(value, str) and value.isdigit()]
    return len(texts) == len(values) > 1 and len({len(text) for text in texts}) == 1 and len(texts[0]) > 3


def _of_numbers(parts: Sequence[str], values: list[Scalar], description: str) -> Meaning:
    whole = all(isinstance(value, int) or (isinstance(value, str) and value.lstrip("-+").isdigit()) for value in values)
    numbers = [float(value) for value in values]
    if "year" in parts or (parts[-1] in ("since", "founded", "established", "vintage") and min(numbers) > 1000):
        return "year"
    if parts[-1] in ("permissions", "permission", "mode"):
        return "text"
    if parts[-1] == "timestamp":
        return "datetime"
    if [*parts[:2]] == ["number", "of"] or parts[0] in ("n", "nb") or parts[-1] == "count":
        return "count"
    if parts[0] == "number" and len(parts) > 1 and singular(parts[-1]) != parts[-1]:
        return "count"
    meaning = _listed(parts, _NUMERIC, description)
    if _are_codes(values) and meaning in (None, "number", "count", "measure"):
        return "identifier"
    if parts[-1] == "rate" and {"hourly", "daily", "nightly", "weekly", "monthly", "room", "day", "hour"} & {*parts}:
        return "money"
    if _are_epochs(values) and meaning in (None, "number", "duration", "year"):
        return "datetime"
    if any(isinstance(value, str) and re.match(r"0\d", value) for value in values):
        return "identifier"
    if parts[-1] == "number" and len(parts) > 1 and whole:
        return "identifier"
    if meaning == "identifier" and not whole:
        meaning = "number"
    if meaning == "count" and not whole:
        meaning = "measure"
    if meaning is None and all(isinstance(value, str) for value in values):
        return _listed(parts, ("phone", *_TEXTUAL), description) or "number"
    if meaning is None and whole and any(singular(word) != word for word in parts):
        return "count"
    return meaning or "number"


def _of_texts(parts: Sequence[str], values: list[Scalar], shape: Meaning | None, description: str) -> Meaning:
    if parts[-1] == "name" and len(parts) > 1:
        return _named(parts)
    if "mime" in parts:
        return "text"
    if {"phone", "mobile", "fax"} & {*parts}:
        return "phone"
    meaning = _listed(parts, get_args(Meaning) if not values else _TEXTUAL, description)
    if meaning == "place" and values and all(_COUNTED.fullmatch(str(value)) for value in values):
        meaning = None  # 18 places are none to be at
    if meaning == "person" and len(parts) > 1 and not _listed(parts[-1:], ("person",), ""):
        meaning = None  # a guest's network is no guest
    if shape in ("identifier", "time", "phone", "path", "duration") and meaning in (None, "name", "text", "category"):
        return shape
    if shape == "time" or (shape == "duration" and meaning != "text"):
        return shape
    if meaning is None and values and all(_is_measured(value) for value in values):
        return "measure"
    texts = [value for value in values if isinstance(value, str)]
    if meaning in (None, "text") and _are_tokens(texts):
        return "category"
    if meaning is not None:
        return meaning
    if len(texts) > 3 and len({*texts}) * 2 <= len(texts) and all(len(text.split()) <= 2 for text in texts):
        return "category"
    if texts and all(text[:1].isupper() and len(text.split()) <= 4 and not text.endswith(".") for text in texts):
        return "name"
    return "text"


def _is_measured(value: Scalar) -> bool:
    match = _MEASURED.fullmatch(value) if isinstance(value, str) else None
    return bool(match and match[1].lower() in tables()["units"])


def _are_tokens(texts: Sequence[str]) -> bool:
    """Whether texts are the words of an enumeration, of which some recur: `on_hold`, `DONE`."""
    return len({*texts}) < len(texts) and all(re.fullmatch(r"[a-z]+(?:[_-][a-z]+)*|[A-Z_]{3,}", text) for text in texts)


def _named(parts: Sequence[str]) -> Meaning:
    """The meaning of `NOUN_name`: a person's name, a place's or another thing's."""
    before = _listed(parts[-2:-1], ("person", "place"), "")
    if parts[-2] in ("first", "last", "full", "middle", "family", "given"):
        return "name"
    return before or "name"


def _unit(meaning: Meaning, values: list[Scalar], description: str, neighbours: Mapping[str, Scalar]) -> str:
    if meaning not in ("money", "measure", "duration", "percent"):
        return ""
    if meaning == "money":
        for value in values:
            if isinstance(value, str) and (mark := re.search(r"[$€£¥]|[A-Z]{3}", value)):
                return _CURRENCIES.get(mark[0], mark[0])
        for name, value in neighbours.items():
            if "currency" in words(name) and isinstance(value, str) and re.fullmatch(r"[A-Za-z]{3}", value):
                return value.upper()
    for value in values:
        if isinstance(value, str) and (measured := _MEASURED.fullmatch(value)):
            return measured[1]
    for name, value in neighbours.items():
        if spelled_out(name)[-1] in ("unit", "units", "uom") and isinstance(value, str) and meaning != "money":
            return value
    table = tables()["described"]
    for word in re.findall(r"[\w°$%]+", description.lower()):
        if word in table:
            return table[word]
    percent = (("%" in v) if isinstance(v, str) else v > 1 for v in values)  # and no share such as 0.25
    return "%" if meaning == "percent" and any(percent) else ""


def _choices(meaning: Meaning, values: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """The possible values of a category, a status or a flag, if a few of them recur."""
    if meaning not in ("category", "status"):
        return ()
    different = tuple(dict.fromkeys(values))
    return different if 1 < len(different) <= 8 else ()
