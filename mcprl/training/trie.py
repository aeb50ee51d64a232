"""Rows of a step as a token trie laid out depth first: what rows have in common stands there once, at any depth.

    rows    1 2 3 4      layout      1 2 | 3 4 | 5 | 6 7      nodes are runs of tokens between branchings;
            1 2 5 6 7    positions   0 1 | 2 3 | 2 | 3 4      what lies below a node follows it without a gap
            1 2 5

A row that breaks off and goes on elsewhere (a turn whose prompt does not begin with the one before) is simply another
row: it shares what it shares.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mcprl.text import common_prefix

Ids = Sequence[int]


@dataclass(frozen=True)
class Node:
    """A run of tokens `start..end` of the layout, with all that lies below it `start..stop`; `depth` is the position of
    its first token."""

    start: int
    end: int
    stop: int
    depth: int


@dataclass(frozen=True)
class Tree:
    """The layout: `ids` and `positions` (N), the nodes with parents before their children, and for each row the runs
    that it follows, as (depth, place)."""

    ids: tuple[int, ...]
    positions: tuple[int, ...]
    nodes: tuple[Node, ...]
    runs_B: tuple[tuple[tuple[int, int], ...], ...]

    def __len__(self) -> int:
        return len(self.ids)

    def place(self, row: int, depth: int) -> int:
        """Where in the layout the token of a row stands that is `depth` tokens after its first."""
        runs = self.runs_B[row]
        start, place = runs[bisect_right(runs, (depth, len(self.ids))) - 1]
        return place + depth - start


@dataclass
class _Run:
    start: int
    depth: int
    length: int
    stop: int = 0


def build(ids_B: Sequence[Ids]) -> Tree:
    """The trie of rows that are not empty, in their lexicographic order."""
    ids: list[int] = []
    runs: list[_Run] = []
    path: list[_Run] = []  # from the root to where the last row ended
    runs_B: list[tuple[tuple[int, int], ...]] = [()] * len(ids_B)
    last: Ids = ()
    for row in _sorted(ids_B):
        shared = common_prefix(last, ids_B[row])
        while path and path[-1].depth >= shared:
            path.pop().stop = len(ids)
        if path and path[-1].depth + path[-1].length > shared:  # the row branches off inside a run: cut it in two
            upper = path[-1]
            kept = shared - upper.depth
            runs.append(_Run(upper.start + kept, shared, upper.length - kept, len(ids)))
            upper.length = kept
        if len(ids_B[row]) > shared:
            path.append(_Run(len(ids), shared, len(ids_B[row]) - shared))
            runs.append(path[-1])
            ids += ids_B[row][shared:]
        runs_B[row] = tuple((run.depth, run.start) for run in path)
        last = ids_B[row]
    for run in path:
        run.stop = len(ids)
    runs.sort(key=lambda run: run.start)
    nodes = tuple(Node(run.start, run.start + run.length, run.stop, run.depth) for run in runs)
    positions = tuple(run.depth + offset for run in runs for offset in range(run.length))
    return Tree(tuple(ids), positions, nodes, tuple(runs_B))


def unique_tokens(ids_B: Sequence[Ids]) -> int:
    """The size of the rows' trie."""
    ordered = [ids_B[row] for row in _sorted(ids_B)]
    return sum(map(len, ordered)) - sum(common_prefix(one, other) for one, other in pairwise(ordered))


def bins(ids_B: Sequence[Ids], max_tokens: int) -> list[list[int]]:
    """Rows in bins whose tries have at most `max_tokens` (a longer row has its own), so that the fewest tokens are
    computed twice: each cut repeats what the rows on its two sides share.

    Exact among cuts of the depth-first order, by dynamic programming over the cuts.
    """
    order = _sorted(ids_B)
    shared = [0, *(common_prefix(ids_B[one], ids_B[other]) for one, other in pairwise(order))]
    best: list[tuple[int, int, int]] = [(0, 0, 0)]  # up to each row: tokens repeated, bins, where the last bin begins
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
    found: list[list[int]] = []
    end = len(order)
    while end:
        first = best[end][2]
        found.append(sorted(order[first:end]))
        end = first
    return found[::-1]


def _sorted(ids_B: Iterable[Ids]) -> list[int]:
    rows = [tuple(ids) for ids in ids_B]
    return sorted(range(len(rows)), key=rows.__getitem__)
