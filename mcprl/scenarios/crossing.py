"""New rows that link two things which rows of the same kind link to others: who else works on the other project."""

from collections.abc import Callable, Collection, Sequence

from mcprl.types import Scalar

Row = tuple[Scalar, ...]
_SURE = 3
"""Rows without a second one to a thing, which show that there is none."""


def crossed(
    rows: Sequence[Row], at: int, kinds: Collection[int], are_kin: Callable[[Scalar, Scalar], bool]
) -> list[Row]:
    """New rows, each with the name at `at` of another row that has the same `kinds`.

    Where each thing has only one row of a kind, as people sit in one office, a further one would contradict it: such a
    row is made for things of the same sort that have none. Where only one links to each thing, as projects have one
    manager, no other does.
    """
    given = [n for n in range(len(rows[0])) if n != at and n not in kinds] if rows else []
    new: dict[Row, None] = {}
    for other in rows:
        alike = [row for row in rows if all(row[n] == other[n] for n in kinds)]
        named = [row[given[0]] for row in alike] if len(given) == 1 else []
        ends = [row[at] for row in alike] if named else []
        if len({*ends}) == len(ends) >= _SURE:
            continue
        if len({*named}) == len(named) > 1:
            names = {row[n]: None for row in rows for n in (given[0], at)}
            fronts = [name for name in names if name not in named and all(are_kin(name, one) for one in named)]
            made = [
                tuple({given[0]: name, at: other[at]}.get(n, other[n]) for n in range(len(other))) for name in fronts
            ]
        else:
            made = [(*row[:at], other[at], *row[at + 1 :]) for row in alike if other[at] not in row]
        new |= dict.fromkeys(row for row in made if row not in rows)
    return list(new)
