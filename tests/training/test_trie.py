"""The trie of a step's rows: every distinct token once, ancestors exact, cuts where they cost least."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcprl.training import trie

# Few different tokens, so that rows share prefixes, end inside one another and repeat.
ROWS = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=9).map(tuple), min_size=1, max_size=9)


def prefixes(ids_B: list[tuple[int, ...]]) -> set[tuple[int, ...]]:
    return {ids[: t + 1] for ids in ids_B for t in range(len(ids))}


def ancestors(layout: trie.Trie, place: int) -> tuple[int, ...]:
    """The tokens that `place` attends to: those up to it in the nodes that it lies in or below."""
    seen = [at for node in layout.nodes if node.start <= place < node.stop for at in range(node.start, node.end)]
    return tuple(layout.ids[at] for at in seen if at <= place)


@given(ROWS)
@settings(max_examples=300, deadline=None)
def test_every_distinct_prefix_stands_in_the_layout_once_and_sees_exactly_itself(ids_B: list[tuple[int, ...]]) -> None:
    layout = trie.build(ids_B)
    assert sorted(ancestors(layout, place) for place in range(len(layout))) == sorted(prefixes(ids_B))
    for row, ids in enumerate(ids_B):
        for depth in range(len(ids)):
            place = layout.place(row, depth)
            assert ancestors(layout, place) == ids[: depth + 1]
            assert layout.positions[place] == depth


@given(ROWS)
@settings(max_examples=100, deadline=None)
def test_nodes_cover_the_layout_without_overlap_and_parents_come_first(ids_B: list[tuple[int, ...]]) -> None:
    layout = trie.build(ids_B)
    assert [at for node in layout.nodes for at in range(node.start, node.end)] == list(range(len(layout)))
    assert all(node.end <= node.stop for node in layout.nodes)
    for upper, lower in combinations(layout.nodes, 2):
        assert lower.start >= upper.stop or lower.stop <= upper.stop


@given(ROWS)
@settings(max_examples=100, deadline=None)
def test_the_number_of_unique_tokens_is_the_size_of_the_trie(ids_B: list[tuple[int, ...]]) -> None:
    assert trie.unique_tokens(ids_B) == len(trie.build(ids_B)) == len(prefixes(ids_B))


@given(ROWS, st.integers(1, 30))
@settings(max_examples=200, deadline=None)
def test_bins_hold_every_row_once_within_their_size_and_repeat_as_little_as_possible(
    ids_B: list[tuple[int, ...]], max_tokens: int
) -> None:
    found = trie.bins(ids_B, max_tokens)
    assert sorted(row for rows in found for row in rows) == list(range(len(ids_B)))
    sizes = [trie.unique_tokens([ids_B[row] for row in rows]) for rows in found]
    assert all(size <= max_tokens or len(rows) == 1 for size, rows in zip(sizes, found, strict=True))
    assert sum(sizes) == min(_costs(sorted(ids_B), max_tokens))


def _costs(ordered: list[tuple[int, ...]], max_tokens: int) -> list[int]:
    """The tokens that each way to cut the ordered rows computes."""
    costs: list[int] = []
    for count in range(len(ordered)):
        for cuts in combinations(range(1, len(ordered)), count):
            parts = [ordered[a:b] for a, b in zip((0, *cuts), (*cuts, len(ordered)), strict=True)]
            sizes = [len(prefixes(part)) for part in parts]
            if all(size <= max_tokens or len(part) == 1 for size, part in zip(sizes, parts, strict=True)):
                costs.append(sum(sizes))
    return costs


@pytest.mark.parametrize("ids_B", [[(1, 2, 3, 4), (1, 2, 5, 6, 7), (1, 2, 5)]])
def test_the_example_of_the_docstring(ids_B: list[tuple[int, ...]]) -> None:
    layout = trie.build(ids_B)
    assert layout.ids == (1, 2, 3, 4, 5, 6, 7)
    assert layout.positions == (0, 1, 2, 3, 2, 3, 4)
    assert [(node.start, node.end, node.stop) for node in layout.nodes] == [(0, 2, 7), (2, 4, 4), (4, 5, 7), (5, 7, 7)]
