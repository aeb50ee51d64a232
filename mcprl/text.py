"""Text and JSON helpers that many modules share."""

import json
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from mcprl.types import Json

_AROUND_DATA = re.compile(r"</?[a-zA-Z_][\w-]*>|```[ \t]*\w*")


def compact(value: Json) -> str:
    """JSON without spaces, keys in their given order, letters unescaped."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def parse_json(text: str) -> Json:
    """The JSON object or list that `text` spells, else `None`: a bare number or string counts as text."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def find_json(text: str) -> Json:
    """The first JSON object inside a text, such as a reply with prose or a fence around it; `None` if there is none."""
    start = text.find("{")
    if start < 0:
        return None
    try:
        return json.JSONDecoder().raw_decode(text, start)[0]
    except (ValueError, RecursionError):
        return None


def only_data(text: str) -> bool:
    """Whether a text is JSON of objects and lists and nothing else, but for tags and a fence around them."""
    rest, decoder = _AROUND_DATA.sub(" ", text).strip(), json.JSONDecoder()
    found = bool(rest)
    while rest and found:
        try:
            found, end = rest[0] in "{[", decoder.raw_decode(rest)[1]
        except (ValueError, RecursionError):
            return False
        rest = rest[end:].lstrip()
    return found


def whole(text: str) -> str:
    """The text with question marks for lone surrogates, which JSON can spell but no tokenizer and no database takes."""
    return text.encode(errors="replace").decode()


def common_prefix(one: Sequence[object], other: Sequence[object]) -> int:
    """How many items two sequences share at their start. Found by bisection, since slices compare at C speed."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def shortened(text: str, most: int) -> str:
    """The text, of which the middle is left out if it has more than `most` characters."""
    left_out = len(text) - most
    half = most // 2
    return text if left_out <= 0 else f"{text[:half]} ... [{left_out} characters left out] ... {text[-half:]}"


def visible(text: str) -> str:
    """The text with question marks for control and other invisible characters, for a terminal."""
    return "".join("?" if char != " " and unicodedata.category(char)[0] in "CZ" else char for char in text)


def inert(value: Any) -> str:
    """Compact JSON in which markup characters (`<`, `>`, `&`) and invisible ones are escaped."""
    text = compact(value)
    return "".join(_escaped(char) if _needs_escape(char) else char for char in text)


def _needs_escape(char: str) -> bool:
    selector = "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"
    return char in "<>&" or (char != " " and unicodedata.category(char)[0] in "CZ") or selector


def _escaped(char: str) -> str:
    return json.dumps(char)[1:-1] if ord(char) > 0x7E else f"\\u{ord(char):04x}"


def first_line(error: BaseException) -> str:
    """The first line of an error's message, its class name if the message is empty."""
    return next(iter(str(error).splitlines()), type(error).__name__)


def counted(number: int, noun: str, plural: str = "") -> str:
    """The number with its noun, for a person: `1 task`, `1,200 tasks`. `plural` is the noun's, if not with an s."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def fill_template(template: str, **values: str) -> str:
    """The template with each `{name}` replaced by the value of that name."""
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", value)
    return template


_IRREGULAR = {
    "people": "person",
    "children": "child",
    "indices": "index",
    "series": "series",
    "species": "species",
    "status": "status",
    "lens": "lens",
    "gas": "gas",
    "news": "news",
}


@lru_cache(maxsize=65_536)
def words(name: str) -> tuple[str, ...]:
    """The words of a name: `getOrderItems`, `get_order-items` and `get.order items` are `("get", "order", "items")`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return tuple("".join(char if char.isalnum() or _is_mark(char) else " " for char in spaced).lower().split())


def _is_mark(char: str) -> bool:
    """Whether a character is an accent or a vowel sign, which belongs to the letter before it."""
    return unicodedata.category(char)[0] == "M"


@lru_cache(maxsize=65_536)
def stems(name: str) -> tuple[str, ...]:
    """The words of a name in the singular, for comparing names."""
    return tuple(singular(word) for word in words(name))


def singular(word: str) -> str:
    """A plural without its ending, roughly: enough to see that `companies` and `company` are one word."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 2:
        return word[:-1]
    return word


def as_folder_name(name: str) -> str:
    """The name. Raises `ValueError` for one that no folder below another can have."""
    if len(name) > 100 or not name.isprintable() or name in (".", "..") or {"/", "\\"} & {*name}:
        raise ValueError("give a name of at most 100 characters, without slashes and invisible characters")
    return name


def seconds_between(rate: str) -> float:
    """The seconds between two calls at a rate such as `5/s`, `30/min` or `200/h`. Raises `ValueError` for others."""
    match = re.fullmatch(r"(\d*\.?\d+)/(s|min|h)", rate)
    if not match or float(match[1]) == 0:
        raise ValueError("is no rate; give one such as 5/s, 30/min or 200/h")
    return {"s": 1, "min": 60, "h": 3600}[match[2]] / float(match[1])
