"""What a row is computed of, and rows in bins of similar length, for those that are computed whole."""

from collections.abc import Sequence

from mcprl.types import Row


def context(row: Row) -> tuple[int, ...]:
    """The tokens that predict a row's trained ones: all before the last trained one."""
    return row.ids[: trained_places(row)[-1]]


def trained_places(row: Row) -> list[int]:
    """The places of a row's trained tokens."""
    return [t for t, trained in enumerate(row.mask) if trained]


def by_length(ids_B: Sequence[Sequence[int]], max_tokens: int) -> list[list[int]]:
    """Row indices in bins of similar length, longest first. A bin has at most `max_tokens` tokens, padding included;
    padding is at most a quarter of a row's length."""
    bins: list[list[int]] = []
    for row in sorted(range(len(ids_B)), key=lambda b: -len(ids_B[b])):
        longest = len(ids_B[bins[-1][0]]) if bins else 0
        if not bins or longest * (len(bins[-1]) + 1) > max_tokens or len(ids_B[row]) < 0.8 * longest:
            bins.append([])
        bins[-1].append(row)
    return bins


def padded_tokens(ids_B: Sequence[Sequence[int]]) -> int:
    """The tokens of rows, each padded to the longest."""
    return len(ids_B) * max(map(len, ids_B))
