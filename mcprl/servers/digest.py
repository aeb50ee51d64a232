"""A tool result as the text a model reads. Pure: a procedural server and a real one give results of the same shape.

JSON is written compactly because prompts dominate the cost of training. Errors that a server disguises as success (the
protocol's flag says success, the text says "Error: ...") are recognized here, once.
"""

import math
import re
import sys
from dataclasses import replace
from typing import Any

from mcprl.text import compact, parse_json, whole
from mcprl.types import Json, ToolResult

MAX_VALUES = 10_000
"""Values of one result, inner objects and lists included, that are kept as JSON: probing takes about 25 microseconds
for each, in which nothing else runs. Of more the model would read little: 4,000 bytes are a few hundred values."""
MAX_DEPTH = 60
"""Objects and lists within each other of one result that are kept as JSON."""
_CUT = "... [cut "
"""What begins the marker behind a text that was cut."""
_LARGEST = int(sys.float_info.max)
_ERROR_LINE = re.compile(
    r"\s*(?:\[?(?:mcp )?error\b|exception\b|traceback\b|failed to \w+|\w+(?:Error|Exception):"
    r"|(?:database|sql|query|syntax|runtime|internal|connection) error:)",
    re.IGNORECASE,
)


def digest(text: str, structured: Json = None, is_error: bool = False, max_bytes: int = 4_000) -> ToolResult:
    """The result of a call: `structured` (what the server sent as JSON) if there is some, else `text`.

    A wrapper around one value (`{"result": X}`, `{"content": "text"}`) is taken off. Text that spells a JSON object or
    list is treated as if the server had sent it as JSON. `max_bytes` caps the UTF-8 text; a marker says how much was
    cut. JSON of more than `MAX_VALUES`, or deeper than `MAX_DEPTH`, is kept as text alone.
    """
    value = _unwrap(structured)
    if value is None or value == {}:
        value = text
    if isinstance(value, str):
        text, value = value, parse_json(value)
    if value is not None:
        text = compact(value)
    text, cut = cap(text, max_bytes)
    failed = is_error or looks_like_error(text, value)
    return ToolResult(text, plain(value) if is_small(value) else None, failed, cut)


def as_read(result: ToolResult) -> ToolResult:
    """A result as a model reads it: the JSON of one whose text was cut ends where the text does."""
    if not result.cut_bytes or result.structured is None:
        return result
    return replace(result, structured=_shown(result.structured, result.text.rpartition(_CUT)[0]))


def _shown(value: Json, text: str) -> Json:
    """Of an object or a list the first entries, as far as the text that begins it has them. A list ends with its last
    whole entry, unless it has none."""
    if isinstance(value, list):
        items: list[Json] = []
        for item in value:
            if compact(item) not in text:
                part = _shown(item, text) if not items else None
                return [part] if part else items
            items.append(item)
        return items
    fields: dict[str, Json] = {}
    for key, item in value.items() if isinstance(value, dict) else ():
        if compact({key: item})[1:-1] not in text:
            part = _shown(item, text)
            return fields | {key: part} if part else fields
        fields[key] = item
    return fields


def is_small(value: Json) -> bool:
    """Whether a JSON value has at most `MAX_VALUES`, itself and inner ones counted, `MAX_DEPTH` deep."""
    waiting: list[tuple[Json, int]] = [(value, 1)]
    count = 1
    while waiting and count <= MAX_VALUES:
        inner, depth = waiting.pop()
        if depth > MAX_DEPTH:
            return False
        values: list[Json] = []
        if isinstance(inner, dict | list):
            values = list(inner.values() if isinstance(inner, dict) else inner)
        count += len(values)
        waiting += ((each, depth + 1) for each in values if isinstance(each, dict | list))
    return count <= MAX_VALUES


def plain(value: Json) -> Json:
    """The value as it can be written down and computed with: `whole` texts, no NaN and no infinity, and numbers that
    are larger than any float as texts."""
    match value:
        case dict():
            return {whole(str(key)): plain(item) for key, item in value.items()}
        case list():
            return [plain(item) for item in value]
        case str():
            return whole(value)
        case float() if not math.isfinite(value):
            return None
        case int() if abs(value) > _LARGEST:
            return str(value)
        case _:
            return value


def cap(text: str, max_bytes: int) -> tuple[str, int]:
    """`whole` text cut to `max_bytes` of UTF-8 between characters, marker excluded, and how many bytes were cut."""
    data = whole(text).encode()
    if len(data) <= max_bytes:
        return data.decode(), 0
    kept = data[:max_bytes].decode(errors="ignore")
    cut = len(data) - len(kept.encode())
    return f"{kept}{_CUT}{cut} bytes]", cut


def looks_like_error(text: str, value: Json = None) -> bool:
    """Whether a result that the server did not flag reads as a failure: its first line, or the shape of its JSON."""
    if isinstance(value, dict):
        fields: dict[str, Any] = value
        first = next(iter(fields), "")
        return bool(first == "error" and fields[first]) or fields.get("success") is False or fields.get("ok") is False
    return value is None and bool(_ERROR_LINE.match(text))


def _unwrap(value: Json) -> Json:
    if isinstance(value, dict) and len(value) == 1:
        fields: dict[str, Any] = value
        key, inner = next(iter(fields.items()))
        if key == "result" or (key == "content" and isinstance(inner, str)):
            return inner
    return value
