"""What results hold: values that stand in text, paths that a listing names, records whose values belong together."""

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from mcprl.judges.checks import leaves
from mcprl.scenarios.fields import record_of
from mcprl.scenarios.parameters import READING
from mcprl.scenarios.probing.sources import Source, place
from mcprl.scenarios.probing.values import known_format
from mcprl.scenarios.slots import Slot
from mcprl.text import words
from mcprl.types import Json, Scalar, ToolResult

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


# --- paths ------------------------------------------------------------------------------------------------------------

_MOST_PATHS = 40
_NAME = re.compile(r"[\w.@+()-](?:[\w .@+()-]{0,60}[\w.@+()-])?")


def takes_path(slot: Slot) -> bool:
    """Whether the slot takes the path of a file or folder."""
    return slot.kind == "string" and known_format(slot) in ("path", "folder")


def inner_paths(picked: Mapping[Slot, Any], result: ToolResult) -> list[str]:
    """The paths of the things that a listing of a folder names; empty if the call has no path or its result is no
    listing.

    Names that do not exist are among them, since a listing has other words too.
    """
    folders = [str(value) for slot, (_, value) in picked.items() if takes_path(slot)]
    if len(folders) != 1 or not re.search(r"/|^\.$", folders[0]):
        return []
    if any({*words(slot.tool)} & READING for slot in picked):
        return []  # what a file holds are no files
    if result.structured is not None:
        names = [
            str(leaf) for path, leaf in leaves(record_of(result)) if path[-1:] in (("name",), ("path",), ("file",))
        ]
    else:
        names = short_lines(result.text)
    names = [re.sub(r"\s{2,}.*$", "", name) for name in names]
    folder = "" if folders[0] == "." else folders[0].rstrip("/") + "/"
    return [folder + name for name in dict.fromkeys(names) if _NAME.fullmatch(name)][:_MOST_PATHS]


def joined(folder: str, name: str) -> str:
    """A new path inside a folder."""
    return f"{folder.rstrip('/')}/{name}"


def folder_of(path: object) -> str:
    """The folder that a path is in; `.` if it names none."""
    return str(path).rpartition("/")[0] or "."


# --- records ----------------------------------------------------------------------------------------------------------

Record = dict[Source, list[Scalar]]
_MOST_RECORDS = 3_000
_MOST_LEAVES = 300


class Records:
    """The records of a server's results: each the values of one row, or of one call and its result."""

    def __init__(self) -> None:
        self._records: list[Record] = []
        self._words: list[frozenset[str]] = []
        self._holding: dict[Scalar, list[int]] = {}

    def add(self, tool: str, arguments: Mapping[str, Any], result: Json) -> None:
        """Keep the rows of a result, and the result as a whole with its call's arguments."""
        for path, row in _rows(result, ()):
            self._keep({place(tool, path + inner): [leaf] for inner, leaf in leaves(row)})
        whole: Record = {}
        for path, leaf in (*leaves(dict(arguments)), *leaves(result)):
            whole.setdefault(place(tool, path), []).append(leaf)
        self._keep(whole)

    def add_values(self, tool: str, arguments: Mapping[str, Any], values: Mapping[Source, Iterable[Scalar]]) -> None:
        """Keep values found in a result's text, by place, with its call's arguments."""
        record: Record = {source: list(own) for source, own in values.items()}
        for path, leaf in leaves(dict(arguments)):
            record.setdefault(place(tool, path), []).append(leaf)
        self._keep(record)

    def _keep(self, record: Record) -> None:
        """Keep a record without its blank texts, which name nothing."""
        record = {source: kept for source, own in record.items() if (kept := [v for v in own if str(v).strip()])}
        values = [value for own in record.values() for value in own if not isinstance(value, bool)]
        if not 1 < len(values) <= _MOST_LEAVES or len(self._records) >= _MOST_RECORDS:
            return
        for value in dict.fromkeys(values):
            self._holding.setdefault(value, []).append(len(self._records))
        self._records.append(record)
        self._words.append(
            frozenset(v.casefold() for v in values if isinstance(v, str) and v.isalpha() and len(v) < 20)
        )

    def holding(self, value: Scalar) -> Iterator[Record]:
        """The records with a value, the newest first."""
        return (self._records[index] for index in reversed(self._holding.get(value, ())[-40:]))

    def tells(self, value: Scalar, words: Container[str]) -> bool:
        """Whether a record with the value has one of the words as a value."""
        indices = self._holding.get(value, ())[-40:]
        return any(word in words for index in indices for word in self._words[index])

    def since(self, count: int) -> list[Record]:
        """The records that were kept after the first `count`."""
        return self._records[count:]

    def lists_with(self, value: Scalar) -> list[tuple[Source, list[Scalar]]]:
        """The places of one result that hold a value beside others, each with all its values."""
        held = (self._records[index] for index in self._holding.get(value, ())[-40:])
        return [(source, own) for record in held for source, own in record.items() if len({*own}) > 1 and value in own]

    def together(self, places: Sequence[Collection[Source]], several: bool = False) -> list[tuple[Scalar, ...]]:
        """A value of each of several places, all of one record, for every record that has one of each: only one of
        each, or with `several` more of one of them."""
        found: dict[tuple[Scalar, ...], None] = {}
        for record in self._records:
            held = [[record[place] for place in some if place in record] for some in places]
            if not all(held):
                continue
            single = [next((values[:1] for values in some if len({*values}) == 1), []) for some in held]
            if several and single.count([]) == 1:
                single = [own or some[0] for own, some in zip(single, held, strict=True)]
            found |= dict.fromkeys(product(*single))
        return list(found)

    def beside(self, source: Source, values: Iterable[Scalar]) -> list[Scalar]:
        """The values of a place in records that hold one of `values`, else in records that share a value with those."""
        direct = [record for value in values for record in self.holding(value)]
        direct.sort(key=len)
        if near := _at(source, direct):
            return near
        shared = [value for record in direct[:20] for own in record.values() for value in own[:8] if _is_key(value)]
        return _at(source, [record for value in dict.fromkeys(shared) for record in self.holding(value)])


def _at(source: Source, records: Iterable[Record]) -> list[Scalar]:
    return list(dict.fromkeys(value for record in records for value in record.get(source, ())))


def _is_key(value: Scalar) -> bool:
    """Whether the value may name a thing: a text with a digit, or a large number."""
    return any(map(str.isdigit, value)) if isinstance(value, str) else isinstance(value, int) and value > 99


def _rows(value: Json, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Json]]:
    """The objects inside lists, each with its path."""
    if isinstance(value, list):
        for item in value:  # pyright: ignore[reportUnknownVariableType]
            if isinstance(item, dict):
                yield path, item
            yield from _rows(item, path)
    elif isinstance(value, dict):
        for key, item in value.items():  # pyright: ignore[reportUnknownVariableType]
            yield from _rows(item, (*path, str(key)))  # pyright: ignore[reportUnknownArgumentType]
