"""Names as English words: what a tool does, what it is about, how alike two names are.

Probing compares the names of slots and results with it; `writers.plain` makes requests of it.
"""

from collections.abc import Sequence

from mcprl.servers.effects import VERBS
from mcprl.text import singular, words
from mcprl.types import Tool

_VAGUE = frozenset(
    (
        "a about all an any available current detail details every info information many multiple of "
        "overview several summary the what where which who whois "
    ).split()
)

_RECORDS = frozenset("card record profile sheet dossier".split())
"""Words for what is known of a thing."""
_JOINTS = ("by", "for", "from", "with", "in", "of", "to")
NO_NOUNS = frozenset(
    "name title path type kind status line text value result date time message show query uri url "
    "from to source target base destination revision ref reference".split()
)
"""Words that name a field and no kind of thing."""
NAME_PARTS = frozenset("first last given family full middle display".split())
STATES = {"diff": "changed", "change": "changed", "status": "changed", "difference": "changed"}
"""What a word of a tool's name says about the things that it lists."""
CONTAINERS = frozenset(
    ("result", "data", "item", "row", "record", "entry", "value", "list", "response", "content", "output")
)


def doing(tool: Tool) -> str:
    """A tool's name from its first verb on: `hr_get_order` is `get order`."""
    parts = words(tool.name)
    start = next((i for i, word in enumerate(parts) if word in VERBS), 0)
    return " ".join(parts[start:])


def noun(tool: Tool) -> str:
    """What a tool is about: its name without prefix, verbs and vague words (`hr_get_order_by_id`: `order`)."""
    rest = [word for word in doing(tool).split() if word not in VERBS and word not in _VAGUE]
    if rest[:1] and rest[0] in _JOINTS and doing(tool).endswith(" list"):
        return " ".join((*rest[1:], "list entry"))  # what is dropped from a waiting list
    if not rest:  # `accessionGet`: the verb stands last
        rest = [word for word in words(tool.name) if word not in VERBS and word not in _VAGUE]
    ends = (i for i, word in enumerate(rest) if i and word in _JOINTS)
    rest = rest[: next(ends, len(rest))]
    taken = [words(name) for name in tool.input_schema.get("properties", {})]
    if rest[-1:] and rest[-1] in _RECORDS and any(rest[:-1] == [*name[: len(rest) - 1]] for name in taken):
        rest = rest[:-1] or rest  # the vendor's card, by the vendor: the vendor
    return " ".join(rest or words(tool.name)[1:] or words(tool.name))  # `find_place`: a place, though it is a verb, too


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


def lists_things(named: Sequence[str]) -> bool:
    """Whether the words that say what a tool is about end in the plural of a thing: its rows are such things."""
    last = named[-1] if named else ""
    return singular(last) != last and singular(last) not in (*CONTAINERS, *STATES)


def kind_of(value: str) -> str:
    """What a thing of this type is called: `FILE` a file, `dir` a folder."""
    return "folder" if value.lower() in ("dir", "directory") else value.lower()
