"""When a text holds a value, and when two calls are the same call. The verifier and the generator share these rules.

`holds` is for results, which spell values as the server does. What people say is for `facts.misses`, `says_missing`,
`asks_for`, `declines` and `polarity`, of which the last four are here by name.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from mcprl.judges.missing import says_missing
from mcprl.judges.phrases import asks_for, declines, polarity
from mcprl.judges.scripts import UNSPACED, whole
from mcprl.servers.arguments import leaves, same_arguments
from mcprl.types import Json, Scalar, StateHolds, ToolResult

__all__ = [
    "asks_for",
    "declines",
    "holds",
    "is_empty",
    "leaves",
    "polarity",
    "same_arguments",
    "says_missing",
    "shows",
    "squash",
]

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_NUMBER = re.compile(rf"(?<![^\W{UNSPACED}])(?<!\.)[-+]?\d[\d,]*(?:\.\d+)?(?![^\W{UNSPACED}])")


def squash(text: str) -> str:
    """`text` in lower case and in one encoding (NFC), with every run of white space made one space."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def holds(text: str, value: Scalar) -> bool:
    """Whether `text` states `value`: numbers by value, words by their letters, whole words only.

    `12` is not in `129`, `12.50` is in `$12.5`, `true` is also `yes`, `2026-11-28` is in `2026-11-28T04:00Z`.
    """
    if isinstance(value, bool):
        return bool(re.search(r"\b(?:true|yes)\b" if value else r"\b(?:false|no|not)\b", text, re.IGNORECASE))
    if isinstance(value, int | float):
        return any(_number(match) == float(value) for match in _NUMBER.findall(text))
    wanted = squash(value)
    if not wanted:
        return False
    text = squash(text)
    return re.search(whole(wanted), text) is not None or (_DATE.fullmatch(wanted) is not None and f"{wanted}t" in text)


def shows(result: ToolResult, check: StateHolds) -> bool:
    """Whether a read shows what it must show after a write, and nothing that must be gone. The tool's own error shows
    nothing, so that it can stand for what was removed."""
    if result.is_error:
        return not (check.values or result.unanswered) and bool(check.gone)
    shown = all(holds(result.text, value) for value in check.values)
    together = not check.together or any(_has_all(row, check.values) for row in _rows(result.structured))
    return shown and together and not any(holds(result.text, value) for value in check.gone)


def _rows(node: Json) -> Iterator[Mapping[str, Json]]:
    """The objects anywhere in JSON that hold no other object."""
    inner = list(node.values()) if isinstance(node, Mapping) else node if isinstance(node, list) else []  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType, reportUnknownMemberType]
    found = [row for part in inner for row in _rows(part)]  # pyright: ignore[reportUnknownVariableType]
    yield from found
    if isinstance(node, Mapping) and not found:
        yield node  # pyright: ignore[reportUnknownVariableType]


def _has_all(row: Mapping[str, Json], values: Sequence[Scalar]) -> bool:
    return all(any(squash(str(leaf)) == squash(str(value)) for _, leaf in leaves(row)) for value in values)


def is_empty(value: Json, text: str) -> bool:
    """Whether a result that is no error is empty: no text, null, or JSON whose leaves are all "", 0 or false."""
    if value is None:
        return not text.strip() or squash(text) in ("null", "none", "[]", "{}")
    return not any(leaf not in ("", 0, False) for _, leaf in leaves(value))


def _number(text: str) -> float:
    return float(text.replace(",", "").rstrip("."))
