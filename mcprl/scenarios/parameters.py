"""What parameters and values are for, by their names and shapes: paging, searching, hashes, whole lists."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from mimetypes import guess_type
from pathlib import PurePosixPath
from typing import Any, Literal

from mcprl.scenarios.slots import Slot
from mcprl.text import singular, stems, words
from mcprl.types import Json, Scalar, Tool

_PAGING = frozenset(
    "limit page offset cursor max maximum size head tail top skip start results per count depth indent".split()
)
End = Literal["over", "under"]
_ENDS: dict[str, End] = {
    "max": "under",
    "maximum": "under",
    "below": "under",
    "min": "over",
    "minimum": "over",
    "above": "over",
}
_SIZED = frozenset("length num number char byte token word line".split())
"""What is counted of a result, and not of a thing in it."""


REPORTING = frozenset("total count page pages limit offset more next has cursor size per truncated status ok".split())
"""Words of the fields in which a list tells how long it is."""


def is_hash(value: object) -> bool:
    """Whether a value is a long hexadecimal hash, of which a person says the beginning."""
    return isinstance(value, str) and bool(_HASH.fullmatch(value))


def shortened_hash(value: str) -> str:
    """The beginning of a hash."""
    return value[:8]


def are_headings(values: Sequence[Scalar]) -> bool:
    """Whether texts are titles: short lines, no two alike."""
    texts = [str(value) for value in values]
    return len({*texts}) == len(texts) and all(0 < len(text) <= 72 and "\n" not in text for text in texts)


def are_codes(values: Sequence[Scalar]) -> bool:
    """Whether all values are whole numbers."""
    return all(isinstance(value, int) and not isinstance(value, bool) for value in values)


def is_search(slot: Slot) -> bool:
    """Whether a parameter takes words to search for."""
    return slot.kind == "string" and bool(_SEARCH & {*words(slot.key)})


def is_paging(slot: Slot) -> bool:
    """Whether a parameter says how much of a result to return and not what it is about: a person leaves it out."""
    named = {*words(slot.key)}
    counts = slot.kind in ("integer", "number") and bool(named & _PAGING) and bound(slot) is None
    return counts or "cursor" in named


def bound(slot: Slot) -> tuple[End, frozenset[str]] | None:
    """Whether things are kept `over` or `under` a parameter's value, with the words for what it bounds: the price in
    `max_price`. `None` if it bounds nothing, or the number of results: `max_results`."""
    named = words(slot.key)
    ends: list[End] = [_ENDS[word] for word in named if word in _ENDS]
    bounded = frozenset(word for word in named if word not in _ENDS)
    counts = bounded & (_PAGING | _SIZED) or any(singular(word) != word for word in bounded)
    if slot.kind not in ("integer", "number") or len(ends) != 1 or not bounded or counts:
        return None
    return ends[0], frozenset(stems(" ".join(sorted(bounded))))


def is_complete(slots: Iterable[Slot], arguments: Mapping[str, Any], record: Json, rows: Sequence[Any]) -> bool:
    """Whether a list result holds all rows, so that counting them proves something.

    A result that says how many there are, or whether there are more, is believed; what it counts may be the page alone,
    so all that it says must agree. A tool without a paging parameter returns all. Otherwise there must be fewer rows
    than the default (or given) limit.
    """
    said = [_says_all(name, value, len(rows)) for name, value in _about_list(record)]
    if False in said or True in said:
        return False not in said
    limits = [slot for slot in slots if is_paging(slot)]
    known = [arguments.get(slot.key, slot.schema.get("default")) for slot in limits]
    bounds = [bound for bound in known if isinstance(bound, int) and bound > 0]
    if not limits:
        return True
    return bool(bounds) and len(rows) < min(bounds)


def _about_list(record: Json) -> Iterator[tuple[frozenset[str], Json]]:
    """What an object says beside its rows, and in an object that is about them, by the words of its names."""
    for name, value in record.items() if isinstance(record, dict) else ():  # pyright: ignore[reportUnknownVariableType]
        named = frozenset(words(str(name)))  # pyright: ignore[reportUnknownArgumentType]
        yield named, value  # pyright: ignore[reportUnknownVariableType]
        if named & _ABOUT_LISTS:
            yield from _about_list(value)  # pyright: ignore[reportUnknownArgumentType]


def _says_all(named: frozenset[str], value: Json, rows: int) -> bool | None:
    """Whether what a result says under a name means that these rows are all; `None` if it says nothing of that."""
    if named & {"more", "truncated", "next", "cursor"}:
        return False if value else None
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    if {"pages"} <= named:
        return value <= 1
    return value == rows if named & {"total", "count"} else None


_ABOUT_LISTS = frozenset("meta metadata pagination paging page info".split())
_HASH = re.compile(r"(?=.*\d)(?=.*[a-f])[0-9a-f]{32,64}")


HEADINGS = (("message",), ("subject",), ("title",), ("headline",), ("summary",))


_SEARCH = frozenset(("query", "search", "q", "keyword", "keywords", "term", "pattern"))


FOLDERS = frozenset("directory directories folder folders dir tree".split())


READING = frozenset("read open view cat".split())
"""Verbs of tools that give what is in a document."""
AGAINST = frozenset("target base against reference baseline since from to".split())
"""Words of parameters that name what something is compared with, not what it is about."""


_WAITS = frozenset("duration seconds timeout delay wait sleep".split())


def is_wait(slot: Slot) -> bool:
    """Whether a number says how long the call takes."""
    return slot.kind in ("integer", "number") and bool(_WAITS & {*words(slot.key)})


_MEDIA = frozenset("media image images picture pictures photo photos audio sound video videos".split())


def opens(tool: Tool, path: Scalar) -> bool:
    """Whether somebody would open a file with a tool: one for pictures and sound is no way to read a text."""
    said = f"{tool.name} {tool.description.partition('.')[0]}"
    if not {*words(said)} & _MEDIA or not PurePosixPath(str(path)).suffix:
        return True
    kind, _ = guess_type(str(path))
    return bool(kind) and kind.partition("/")[0] in ("image", "audio", "video")


_OLD = frozenset(("old", "current", "previous", "find", "search", "before"))
_NEW = frozenset(("new", "replacement", "replace", "after"))


def is_replaced(old: str, new: str) -> bool:
    """Whether two names are for an old value and for the new one in its place: `oldText` and `newText`."""
    sides = {*words(old)}, {*words(new)}
    paired = bool(sides[0] & _OLD) and bool(sides[1] & _NEW)
    return paired and sides[0] - _OLD - _NEW == sides[1] - _OLD - _NEW
