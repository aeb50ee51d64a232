"""When a text holds a value, and when two calls are the same call. The verifier and the generator share these rules.

`holds` is for results, which spell values as the server does. What people say is for `states`, `says_missing`,
`asks_for`, `declines` and `polarity`, which are here by name.
"""

import re

from mcprl.judges.missing import says_missing
from mcprl.judges.phrases import asks_for, declines, polarity
from mcprl.judges.roles import states
from mcprl.servers.arguments import leaves, same_arguments
from mcprl.types import Json, Scalar

__all__ = [
    "asks_for",
    "declines",
    "holds",
    "is_empty",
    "leaves",
    "polarity",
    "same_arguments",
    "says_missing",
    "squash",
    "states",
]

_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?!\w)")


def squash(text: str) -> str:
    """`text` in lower case with every run of white space made one space."""
    return " ".join(text.casefold().split())


def holds(text: str, value: Scalar) -> bool:
    """Whether `text` states `value`: numbers by value, words by their letters, whole words only.

    `12` is not in `129`, `12.50` is in `$12.5`, `true` is also `yes`.
    """
    if isinstance(value, bool):
        return bool(re.search(r"\b(?:true|yes)\b" if value else r"\b(?:false|no|not)\b", text, re.IGNORECASE))
    if isinstance(value, int | float):
        return any(_number(match) == float(value) for match in _NUMBER.findall(text))
    wanted = squash(value)
    if not wanted:
        return False
    left = r"(?<!\w)" if wanted[0].isalnum() else ""
    right = r"(?!\w)" if wanted[-1].isalnum() else ""
    return re.search(left + re.escape(wanted) + right, squash(text)) is not None


def is_empty(value: Json, text: str) -> bool:
    """Whether a result that is no error is empty: no text, null, or JSON whose leaves are all "", 0 or false."""
    if value is None:
        return not text.strip() or squash(text) in ("null", "none", "[]", "{}")
    return not any(leaf not in ("", 0, False) for _, leaf in leaves(value))


def _number(text: str) -> float:
    return float(text.replace(",", "").rstrip("."))
