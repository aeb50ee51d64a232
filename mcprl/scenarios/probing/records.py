"""Which values belong together: the records that results hold. A call whose arguments come from one record is about one
thing.
"""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from mcprl.judges.checks import leaves
from mcprl.scenarios.probing.sources import Source, place
from mcprl.types import Json, Scalar

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

    def kin(self, one: Scalar, other: Scalar) -> bool:
        """Whether the rows of two values have a word in common, such as their type: both are of persons."""
        found = [min(self._holding.get(value, ()), key=self._size, default=None) for value in (one, other)]
        words = [self._words[index] for index in found if index is not None]
        return len(words) == 2 and bool(words[0] & words[1])

    def _size(self, index: int) -> int:
        return sum(map(len, self._records[index].values()))

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
