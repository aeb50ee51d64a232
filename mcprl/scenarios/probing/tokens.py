"""Values that stand in text: paths, hashes, codes, numbers, dates, addresses, and the words of short lines."""

import re
from collections.abc import Container, Iterator, Mapping
from typing import Any

from mcprl.judges.checks import leaves
from mcprl.types import Json

_KINDS = (
    ("url", r"\bhttps?://[^\s'\"<>)\]]+"),
    ("email", r"\b[\w.+-]+@[\w-]+\.[\w.-]*\w"),
    ("path", r"(?<![\w/.:<])(?:~|\.{1,2})?(?:/[\w.@+-]+)+/?"),
    ("date", r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?)?"),
    ("file", r"(?<![\w/.@-])[\w.-]*\w(?:/[\w.-]+)*\.[A-Za-z]\w{0,4}(?![\w/@])"),
    # not the blobs of a diff, "index 3f2a9c1..d2861432", which name no commits
    ("hash", r"(?<!\.\.)\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b(?!\.\.)"),
    ("code", r"(?<![\w-])#?[A-Z]{1,6}-?\d[\w-]*|(?<!\w)#\d+|\b[a-z]+(?:_[a-z]+)*_\d+\b|\b[a-z]{1,12}-\d[\w-]*"),
    ("number", r"(?<![\w.:/-])\d{1,9}(?![\w/-]|[.:]\d)"),
)
_PATTERN = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _KINDS))
_MOST = 200
_LONGEST_LINE = 40


def tokens(text: str) -> Iterator[tuple[str, str]]:
    """The values in a text, each with its kind as a name: at most 200, long texts cut."""
    for number, match in enumerate(_PATTERN.finditer(text[:20_000])):
        if number >= _MOST:
            return
        yield str(match.lastgroup), match[0].rstrip(".,;:")


def short_lines(text: str) -> list[str]:
    """The lines of a listing without their marks (`* main`, `[FILE] report.txt`, `- tea`).

    Empty unless all but headings are at most 40 characters long.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.rstrip().endswith(":")]
    bare = [re.sub(r"^(?:\[\w+\]|[-*+>]|\d+[.)])\s+", "", line).strip("'\"` ") for line in lines]
    return bare if 0 < len(bare) <= 400 and all(0 < len(line) <= _LONGEST_LINE for line in bare) else []


def as_rows(value: Json) -> Json:
    """The value with each map from ids to things as a list of rows: `{"P-1": {"price": 3}, ...}` is
    `[{"key": "P-1", "price": 3}, ...]`.
    """
    if isinstance(value, list):
        return [as_rows(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(value, Mapping):
        return value
    inner: dict[str, Any] = {str(key): as_rows(item) for key, item in value.items()}  # pyright: ignore
    if _is_map(inner):
        return [{"key": key} | (item if isinstance(item, dict) else {"value": item}) for key, item in inner.items()]
    return inner


def without_logs(value: Json, tools: Container[str]) -> Json:
    """The value without the items of lists that tell of calls: what they hold was sent and not found."""
    if isinstance(value, Mapping):
        return {key: without_logs(item, tools) for key, item in value.items()}  # pyright: ignore
    if not isinstance(value, list):
        return value
    return [without_logs(item, tools) for item in value if not _tells_of_call(item, tools)]  # pyright: ignore


def _tells_of_call(item: Json, tools: Container[str]) -> bool:
    """Whether an item of a list has the name of a tool somewhere in it."""
    return isinstance(item, Mapping) and any(isinstance(leaf, str) and leaf in tools for _, leaf in leaves(item))


def _is_map(value: Mapping[str, Any]) -> bool:
    """Whether the keys are values: ids of alike things, or names of alike codes."""
    items = list(value.values())
    if len(items) >= 2 and all(isinstance(item, dict) and item for item in items):
        keys = [frozenset(item) for item in items]
        alike = len(keys[0]) > 1 and sum(other == keys[0] for other in keys) >= len(keys) * 0.7
        return alike and any(re.search(r"\d|[^a-z_]", key) for key in value)
    if len(items) < 4 or not all(isinstance(item, str) for item in items):
        return False
    shapes = {re.sub(r"\d+", "0", item) for item in items}
    return len(shapes) == 1 and any(map(str.isdigit, items[0]))
