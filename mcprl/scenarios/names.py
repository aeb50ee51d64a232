"""Names as English words: what a tool does, what it is about, how alike two names are.

Probing compares the names of slots and results with it; `scenarios.wording` makes requests of it.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from mcprl.types import Tool

_WRITES = frozenset(
    (
        "add append archive assign book cancel change clear close configure copy create delete disable edit enable "
        "insert invite link lock log mark merge modify move patch place post publish put record "
        "register remove rename replace reserve reset restore save schedule send set start stop store submit tag "
        "toggle trigger unlink update upload upsert write "
    ).split()
)
_VERBS = _WRITES | frozenset(
    (
        "browse calc calculate check compare compute convert count describe do estimate explore fetch filter find "
        "format get give inspect list load look lookup measure peek print query read retrieve return run scan "
        "search see show tell view "
    ).split()
)
_VAGUE = frozenset(
    ("a all an any available current details every info information many multiple of several the ").split()
)
_IRREGULAR = {
    "people": "person",
    "children": "child",
    "indices": "index",
    "series": "series",
    "status": "status",
    "news": "news",
}


@lru_cache(maxsize=65_536)
def words(name: str) -> tuple[str, ...]:
    """The words of a name: `getOrderItems`, `get_order-items` and `get.order items` are `("get", "order", "items")`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+", " ", name)
    return tuple(spaced.lower().split())


def spoken(name: str) -> str:
    """A name as a person says it: `customer_id` is `customer id`."""
    return " ".join(words(name)) or name


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


def doing(tool: Tool) -> str:
    """A tool's name from its first verb on: `hr_get_order` is `get order`."""
    parts = words(tool.name)
    start = next((i for i, word in enumerate(parts) if word in _VERBS), 0)
    return " ".join(parts[start:])


def noun(tool: Tool) -> str:
    """What a tool is about: its name without prefix, verbs and vague words (`hr_get_order_by_id`: `order`)."""
    rest = [word for word in doing(tool).split() if word not in _VERBS and word not in _VAGUE]
    ends = (i for i, word in enumerate(rest) if i and word in ("by", "for", "from", "with", "in", "of", "to"))
    return " ".join(rest[: next(ends, len(rest))] or words(tool.name))


def is_read(tool: Tool) -> bool:
    """Whether the tool may be called freely while probing.

    The server's hint decides if there is one. Otherwise the tool must not be marked destructive and its name must have
    no writing verb. If the name has no reading verb either, its title and description must not begin with a writing one
    (`open_issue`: "Creates an issue").
    """
    if tool.read_only is not None:
        return tool.read_only
    verbs = {*words(tool.name)}
    if not verbs & (_VERBS - _WRITES):
        verbs |= {head for text in (tool.title or "", tool.description) for head in stems(text)[:1]}
    return not tool.destructive and not verbs & _WRITES


def related(a: Sequence[str], b: Sequence[str]) -> float:
    """How alike two stemmed names are: 1 if the same, at least 0.5 if they end alike, 0 if they share no word."""
    if not a or not b:
        return 0.0
    if a == b:
        return 1.0
    shared = len({*a} & {*b})
    if not shared:
        return 0.0
    return (0.5 if a[-1] == b[-1] else 0.2) + 0.3 * shared / len({*a, *b})
