"""Text and JSON, in the small ways that many parts need."""

import json
import unicodedata
from collections.abc import Sequence
from typing import Any

from mcprl.types import Json


def compact(value: Json) -> str:
    """JSON without spaces, in the server's order of keys and with its own letters."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def parse_json(text: str) -> Json:
    """The object or list that `text` spells, else `None`: a bare number or string is text, not structure."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def whole(text: str) -> str:
    """The text with question marks for lone surrogates, which JSON can spell but no tokenizer and no database takes."""
    return text.encode(errors="replace").decode()


def common_prefix(one: Sequence[object], other: Sequence[object]) -> int:
    """How many items two sequences have in common at their start, by bisection: slices compare at C speed."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def inert(value: Any) -> str:
    """JSON that holds no mark and nothing that does not show."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return "".join(_escaped(char) if _hidden(char) else char for char in text)


def _hidden(char: str) -> bool:
    selector = "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"
    return char in "<>&" or (char != " " and unicodedata.category(char)[0] in "CZ") or selector


def _escaped(char: str) -> str:
    return json.dumps(char)[1:-1] if ord(char) > 0x7E else f"\\u{ord(char):04x}"


def first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def fill_template(template: str, **values: str) -> str:
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", value)
    return template
