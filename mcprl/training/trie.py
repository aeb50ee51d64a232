"""A step's rows as a token trie, laid out depth first: every shared prefix, at any depth, is stored once.

    rows    1 2 3 4      ids         1 2 | 3 4 | 5 | 6 7      a node is a segment of tokens between two branchings;
            1 2 5 6 7    positions   0 1 | 2 3 | 2 | 3 4      its descendants follow it without a gap
            1 2 5

A trajectory whose next prompt does not begin with the turn before makes a second row, which shares the common prefix
with the first like any other row.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mcprl.text import common_prefix

Ids = Sequence[int]


@dataclass(frozen=True)
class Node:
    """The segment `start:end` of the layout. The node and all its descendants are `start:stop`; `depth` is the position
    of its first token in its rows."""

    start: int
    end: int
    stop: int
    depth: int


@dataclass(frozen=True)
class Trie:
    """The layout of N tokens: `ids` and `positions` (N), and the nodes, parents before their children.

    `segments_B[row]` are the segments on the row's path, each as the (depth, place) of its first token.
    """

    ids: tuple[int, ...]
    positions: tuple[int, ...]
    nodes: tuple[Node, ...]
    segments_B: tuple[tuple[tuple[int, int], ...], ...]

    def __len__(self) -> int:
        return len(self.ids)

    def place(self, row: int, depth: int) -> int:
        """The index in the layout of a row's token number `depth`, counted from 0."""
        segments = self.segments_B[row]
        start, place = segments[bisect_right(segments, (depth, len(self.ids))) - 1]
        return place + depth - start


@dataclass
class _Segment:
    start: int
    depth: int
    length: int
    stop: int = 0


def build(ids_B: Sequence[Ids]) -> Trie:
    """The trie of rows, none of them empty, in their lexicographic order."""
    ids: list[int] = []
    segments: list[_Segment] = []
    path: list[_Segment] = []  # from the root to the end of the last row
    segments_B: list[tuple[tuple[int, int], ...]] = [()] * len(ids_B)
    last: Ids = ()
    for row in _sorted(ids_B):
        shared = common_prefix(last, ids_B[row])
        while path and path[-1].depth >= shared:
            path.pop().stop = len(ids)
        if path and path[-1].depth + path[-1].length > shared:  # the row branches off inside a segment: cut it in two
            upper = path[-1]
            upper_length = shared - upper.depth
            segments.append(_Segment(upper.start + upper_length, shared, upper.length - upper_length, len(ids)))
            upper.length = upper_length
        if len(ids_B[row]) > shared:
            path.append(_Segment(len(ids), shared, len(ids_B[row]) - shared))
            segments.append(path[-1])
            ids += ids_B[row][shared:]
        segments_B[row] = tuple((segment.depth, segment.start) for segment in path)
        last = ids_B[row]
    for segment in path:
        segment.stop = len(ids)
    segments.sort(key=lambda segment: segment.start)
    nodes = tuple(
        Node(segment.start, segment.start + segment.length, segment.stop, segment.depth) for segment in segments
    )
    positions = tuple(segment.depth + offset for segment in segments for offset in range(segment.length))
    return Trie(tuple(ids), positions, nodes, tuple(segments_B))


def unique_tokens(ids_B: Sequence[Ids]) -> int:
    """The number of tokens in the rows' trie."""
    ordered = [ids_B[row] for row in _sorted(ids_B)]
    return sum(map(len, ordered)) - sum(common_prefix(left, right) for left, right in pairwise(ordered))


def bins(ids_B: Sequence[Ids], max_tokens: int) -> list[list[int]]:
    """The rows' indices in bins whose trie has at most `max_tokens` tokens each; a longer row gets a bin of its own.

    The bins compute as few tokens twice as possible: a cut repeats the prefix that the rows on its two sides share.
    Optimal among cuts of the depth-first order, by dynamic programming over the cuts.
    """
    order = _sorted(ids_B)
    shared = [0, *(common_prefix(ids_B[left], ids_B[right]) for left, right in pairwise(order))]
    # The best bins of the first rows, for each number of rows: tokens repeated, bins, first row of the last bin.
    best: list[tuple[int, int, int]] = [(0, 0, 0)]
    for end in range(1, len(order) + 1):
        choices: list[tuple[int, int, int]] = []
        size = 0
        for first in range(end - 1, -1, -1):
            size += len(ids_B[order[first]]) - (shared[first + 1] if first + 1 < end else 0)
            if size > max_tokens and first < end - 1:
                break
            repeated, count, _ = best[first]
            choices.append((repeated + shared[first], count + 1, first))
        best.append(min(choices))
    result: list[list[int]] = []
    end = len(order)
    while end:
        first = best[end][2]
        result.append(sorted(order[first:end]))
        end = first
    return result[::-1]


def _sorted(ids_B: Iterable[Ids]) -> list[int]:
    """The rows' indices in lexicographic order of their ids."""
    rows = [tuple(ids) for ids in ids_B]
    return sorted(range(len(rows)), key=rows.__getitem__)
