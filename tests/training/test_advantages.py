"""Scores of a group become advantages."""

import itertools
import math
from statistics import pvariance

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcprl.training.advantages import advantages, most_varied


def test_advantages_are_scores_less_the_groups_mean():
    assert advantages([1.0, 0.0, 0.5, 0.5]) == [0.5, -0.5, 0.0, 0.0]


def test_the_spread_is_kept_unless_asked_to_divide_by_it():
    assert advantages([0.9, 1.0]) == pytest.approx([-0.05, 0.05])
    assert advantages([0.9, 1.0], "std") == pytest.approx([-1.0, 1.0])


def test_divided_by_the_mean_a_rare_success_weighs_as_much_as_its_rarity():
    assert advantages([1.0, 0.0, 0.0, 0.0], "mean") == pytest.approx([3.0, -1.0, -1.0, -1.0])
    assert advantages([1.0, 1.0, 1.0, 0.0], "mean") == pytest.approx([1 / 3, 1 / 3, 1 / 3, -1.0])
    near = advantages([0.02, 0.0, 0.0, 0.0], "mean")  # but hardly any success is not blown up to a whole one
    assert near == pytest.approx([0.06, -0.02, -0.02, -0.02])


def test_with_rejection_only_the_best_is_imitated():
    assert advantages([0.95, 0.25, 0.0, 0.9499], "best") == [1.0, 0.0, 0.0, 1.0]
    assert advantages([0.5, 0.5], "best") is None


@pytest.mark.parametrize("scores", [[], [0.7], [0.3, 0.3, 0.3], [0.3, 0.3005]])
def test_a_group_whose_scores_agree_within_the_tolerance_has_no_signal(scores: list[float]):
    assert advantages(scores, "std", tolerance=1e-3) is None


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_score_that_is_no_number_is_refused(bad: float):
    with pytest.raises(ValueError, match="finite"):
        advantages([0.0, bad])


@given(st.lists(st.floats(0, 1), min_size=2, max_size=16), st.sampled_from(["none", "std", "mean"]))
def test_advantages_sum_to_zero_and_keep_the_order_of_the_scores(scores: list[float], scale: str):
    found = advantages(scores, scale)
    if found is not None:
        assert sum(found) == pytest.approx(0, abs=1e-9 if scale == "none" else 1e-6)
        by_score = sorted(range(len(scores)), key=lambda i: scores[i])
        assert all(found[a] <= found[b] for a, b in itertools.pairwise(by_score))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=7), st.integers(1, 7))
def test_no_other_part_of_a_group_varies_more_than_the_chosen_one(scores: list[float], count: int):
    chosen = most_varied(scores, count)
    assert chosen == sorted(set(chosen))
    assert len(chosen) == min(count, len(scores))
    parts = itertools.combinations(scores, min(count, len(scores)))
    assert pvariance([scores[place] for place in chosen]) >= max(map(pvariance, parts)) - 1e-9
