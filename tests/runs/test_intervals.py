"""Intervals that mean what they say: coverage on simulated data, and agreement with scipy where it has the same."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from mcprl.runs.intervals import (
    clustered_rate,
    paired_difference,
    student,
    widest_difference,
    widest_rate,
    wilson,
)


@pytest.mark.parametrize(("successes", "n"), [(0, 1), (1, 1), (0, 60), (1, 60), (30, 60), (60, 60), (77, 96)])
def test_wilson_equals_scipy(successes, n):
    expected = scipy_stats.binomtest(successes, n).proportion_ci(method="wilson")
    assert wilson(successes, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_wilson_without_tasks_knows_nothing_and_impossible_counts_are_refused():
    assert wilson(0, 0) == (0.0, 1.0)
    with pytest.raises(ValueError, match=r"0\.\.n, got 3 of 2"):
        wilson(3, 2)


def test_the_quantile_of_student_is_good_to_a_tenth_of_a_percent():
    for degrees in (1, 2, 3, 4, 5, 10, 30, 97):
        assert student(degrees) == pytest.approx(scipy_stats.t.ppf(0.975, degrees), rel=2e-3)


@pytest.mark.parametrize(
    ("base", "gained", "lost", "n"),
    [(0.3, 0.3, 0.05, 60), (0.2, 0.6, 0.1, 96), (0.9, 0.08, 0.01, 60), (0.5, 0.05, 0.05, 96)],
)
def test_the_interval_of_a_gain_covers_the_truth_at_least_as_often_as_it_says(base, gained, lost, n):
    truth, hits, runs = (1 - base) * gained - base * lost, 0, 150
    rng = np.random.default_rng(5)
    for seed in range(runs):
        before = rng.random(n) < base
        after = np.where(before, rng.random(n) >= lost, rng.random(n) < gained)
        _, low, high = paired_difference(before.astype(float), after.astype(float), seed=seed)
        hits += low <= truth <= high
    assert hits / runs >= 0.95 - 2 * np.sqrt(0.95 * 0.05 / runs)


def test_on_many_tasks_the_interval_is_that_of_scipys_bootstrap():
    rng = np.random.default_rng(2)
    before, after = rng.random(800), rng.random(800) + 0.1
    mean, low, high = paired_difference(before, after)
    theirs = scipy_stats.bootstrap(
        (after - before,), np.mean, n_resamples=5000, method="BCa", rng=1
    ).confidence_interval
    assert mean == pytest.approx(np.mean(after - before))
    assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=4e-3)


def test_no_change_on_any_task_gives_an_interval_around_zero_that_is_not_empty():
    mean, low, high = paired_difference([1.0, 0.0] * 48, [1.0, 0.0] * 48)
    assert mean == 0
    assert -0.05 < low < 0 < high < 0.05


def test_a_change_on_every_task_keeps_the_mean_inside():
    mean, low, high = paired_difference([0.0] * 60, [1.0] * 60)
    assert mean == high == 1
    assert 0.85 < low < 1


def test_the_same_seed_gives_the_same_interval():
    before, after = [0.0, 1.0, 0.5] * 20, [1.0, 1.0, 0.5] * 20
    assert paired_difference(before, after, seed=3) == paired_difference(before, after, seed=3)


def test_tasks_that_share_a_cluster_count_once():
    rng = np.random.default_rng(0)
    before, after = (rng.random(40) < 0.3).astype(float), (rng.random(40) < 0.6).astype(float)
    _, low, high = paired_difference(before, after)
    mean, low_3, high_3 = paired_difference(np.tile(before, 3), np.tile(after, 3), clusters=list(range(40)) * 3)
    _, low_no, high_no = paired_difference(np.tile(before, 3), np.tile(after, 3))
    assert mean == pytest.approx(np.mean(after - before))
    assert (low_3, high_3) == pytest.approx((low, high), abs=0.02)
    assert high_no - low_no < 0.7 * (high_3 - low_3)


def test_series_of_different_length_or_without_pairs_are_refused():
    with pytest.raises(ValueError, match="one length, got 1 and 2"):
        paired_difference([0.0], [0.0, 1.0])
    with pytest.raises(ValueError, match="no pairs"):
        paired_difference([], [])


@pytest.mark.parametrize("count", [3, 5, 8, 24])
@pytest.mark.parametrize("likeness", [0.02, 0.6])
def test_intervals_of_few_clusters_whose_tasks_are_alike_still_cover_the_truth(count, likeness):
    rng, scale, runs = np.random.default_rng(1), 1 / likeness - 1, 120
    gains, rates = 0, 0
    for seed in range(runs):
        gained, lost = rng.beta(0.35 * scale, 0.65 * scale, count), rng.beta(0.08 * scale, 0.92 * scale, count)
        keys = np.repeat(np.arange(count), rng.integers(4, 13, count))
        solved = rng.random(len(keys)) < gained[keys]
        failed = ~solved & (rng.random(len(keys)) < lost[keys])
        change = solved.astype(float) - failed
        _, low, high = paired_difference(0 * change, change, list(keys), seed, 2_000)
        gains += low <= 0.35 - 0.65 * 0.08 <= high
        low, high = clustered_rate(solved.astype(float), list(keys))
        rates += low <= 0.35 <= high
    assert min(gains, rates) / runs >= 0.95 - 2 * np.sqrt(0.95 * 0.05 / runs)


def test_independent_tasks_in_clusters_have_nearly_wilsons_interval_and_equal_ones_that_of_the_clusters():
    rng = np.random.default_rng(3)
    success = (rng.random(400) < 0.4).astype(float)
    plain = wilson(success.sum(), 400)
    assert clustered_rate(success, [n % 40 for n in range(400)]) == pytest.approx(plain, abs=0.02)
    equal = [float(n < 16) for n in range(40) for _ in range(10)]
    low, high = clustered_rate(equal, [n // 10 for n in range(400)])
    assert (low, high) == pytest.approx(wilson(16, 40), abs=0.01)
    assert clustered_rate([0.0] * 60, [n % 6 for n in range(60)]) == wilson(0, 6)


def test_a_single_cluster_says_nothing_about_others():
    assert clustered_rate([1.0] * 9, ["a"] * 9) == (0.0, 1.0)
    assert paired_difference([0.0] * 9, [1.0] * 9, ["a"] * 9) == (1.0, -1.0, 1.0)


def test_the_widest_clustering_is_taken():
    before, after = [0.0] * 60, [float(n % 12 < 6) for n in range(60)]
    clusterings = {"task": list(range(60)), "form": [n % 12 for n in range(60)], "entity": [n // 5 for n in range(60)]}
    *interval, name = widest_difference(before, after, clusterings)
    assert name == "form"
    assert tuple(interval) == paired_difference(before, after, clusterings["form"])
    assert widest_rate(after, clusterings) == (*clustered_rate(after, clusterings["form"]), "form")
