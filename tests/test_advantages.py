"""Scores of a group become advantages."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcprl.advantages import advantages


def test_advantages_are_scores_less_the_groups_mean():
    assert advantages([1.0, 0.0, 0.5, 0.5]) == [0.5, -0.5, 0.0, 0.0]


def test_the_spread_is_kept_unless_asked_to_divide_by_it():
    assert advantages([0.9, 1.0]) == pytest.approx([-0.05, 0.05])
    assert advantages([0.9, 1.0], normalize_std=True) == pytest.approx([-1.0, 1.0])


@pytest.mark.parametrize("scores", [[], [0.7], [0.3, 0.3, 0.3], [0.3, 0.3005]])
def test_a_group_whose_scores_agree_within_the_tolerance_has_no_signal(scores: list[float]):
    assert advantages(scores, normalize_std=True, tolerance=1e-3) is None


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_score_that_is_no_number_is_refused(bad: float):
    with pytest.raises(ValueError, match="finite"):
        advantages([0.0, bad])


@given(st.lists(st.floats(0, 1), min_size=2, max_size=16), st.booleans())
def test_advantages_sum_to_zero_and_keep_the_order_of_the_scores(scores: list[float], normalize: bool):
    found = advantages(scores, normalize)
    if found is not None:
        assert sum(found) == pytest.approx(0, abs=1e-9 if not normalize else 1e-6)
        by_score = sorted(range(len(scores)), key=lambda i: scores[i])
        assert all(found[a] <= found[b] for a, b in itertools.pairwise(by_score))
