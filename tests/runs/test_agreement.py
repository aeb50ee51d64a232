"""How a judge agrees with the checks: kappa and order against values that can be worked out by hand."""

import random
from collections.abc import Callable
from itertools import product

import pytest
from support.journals import some

from mcprl.runs.agreement import (
    BOUND,
    ENOUGH,
    GroupAgreement,
    agreement,
    compare_group,
    described,
    is_unfit,
    kappa,
    order,
)


def group(scores: list[float], passed: list[bool], scenario: str = "s") -> GroupAgreement:
    return compare_group(scenario, zip(scores, passed, strict=True), 0.5)


def test_kappa_is_cohens_of_the_pooled_table() -> None:
    """His example of two readers: 20 yes, 5 and 10 of one alone, 15 no; of 50, agreement 0.7, by chance 0.5."""
    table = {"both": 20, "judge": 5, "checks": 10, "neither": 15}
    halves = [
        GroupAgreement("s", **{k: v // 5 * share for k, v in table.items()}, right=0, wrong=0, tied=0)
        for share in (2, 3)
    ]
    assert kappa(halves) == pytest.approx(0.4)
    assert agreement(halves).rollouts == 50


def test_where_judge_and_checks_call_all_alike_kappa_is_unknown_and_one_dissent_is_chance() -> None:
    assert kappa([group([0.9, 0.8], [True, True])]) is None
    assert kappa([group([0.1, 0.2], [False, False])]) is None
    assert kappa([group([0.9, 0.2], [False, False])]) == 0.0
    assert kappa([group([0.9, 0.2], [False, True])]) == -1.0


def test_the_order_counts_only_pairs_that_the_checks_tell_apart() -> None:
    found = group([0.9, 0.6, 0.6, 0.2, 0.7], [True, True, False, False, False])
    assert (found.right, found.wrong, found.tied, found.pairs) == (4, 1, 1, 6)
    assert order([found]) == pytest.approx(3 / 6)
    assert (found.both, found.judge, found.checks, found.neither) == (2, 2, 0, 1)


@pytest.mark.parametrize("passed", [True, False])
def test_a_group_in_which_all_checks_agree_says_nothing_about_the_order(passed: bool) -> None:
    alike = group([0.1, 0.5, 0.9], [passed] * 3)
    assert (alike.pairs, order([alike])) == (0, None)
    mixed = group([0.9, 0.1], [True, False])
    assert order([alike, mixed, alike]) == 1.0
    found = agreement([alike, mixed, alike])
    assert (found.groups, found.rollouts) == (1, 8)


def test_the_order_is_kappa_of_the_choice_between_the_two() -> None:
    """Pairs as decisions: which of two is better, asked both ways round, so that each answer is right half the time."""
    rng = random.Random(0)
    scores = [rng.random() for _ in range(12)]
    passed = [n % 3 == 0 for n in range(12)]
    decisions = [
        (float(a > b), better)
        for (a, better), (b, other) in product(zip(scores, passed, strict=True), repeat=2)
        if better is not other
    ]
    assert order([group(scores, passed)]) == pytest.approx(some(kappa([compare_group("s", decisions, 0.5)])))


def test_scores_that_are_all_too_high_order_well_and_have_a_low_kappa() -> None:
    generous = [group([0.9, 0.8, 0.6, 0.7], [True, True, False, False], f"s{n}") for n in range(30)]
    found = agreement(generous)
    assert (found.order, found.kappa) == (1.0, 0.0)
    assert not is_unfit(found)


JUDGES: dict[str, Callable[[random.Random, bool], float]] = {
    "reads well": lambda rng, passed: 0.5 + (0.35 if passed else -0.35) + rng.gauss(0, 0.2),
    "constant": lambda rng, passed: 0.7,
    "random": lambda rng, passed: rng.random(),
    "reversed": lambda rng, passed: 0.2 if passed else 0.8,
}


@pytest.mark.parametrize("name", JUDGES)
def test_a_judge_is_unfit_if_it_is_constant_random_or_reversed_and_its_interval_holds_the_truth(name: str) -> None:
    rng = random.Random(4)
    groups: list[GroupAgreement] = []
    for n in range(60):
        passed = [rng.random() < 0.5 for _ in range(8)]
        groups.append(group([JUDGES[name](rng, each) for each in passed], passed, f"task {n % 20}"))
    found = agreement(groups)
    low, high = some(found.order_ci95)
    truth = {"reads well": 0.987, "constant": 0.0, "random": 0.0, "reversed": -1.0}[name]
    assert low <= truth <= high
    assert is_unfit(found) is (name != "reads well")
    assert f"order within a group {some(found.order):+.2f}" in described(found)
    assert not is_unfit(agreement([each for each in groups if each.pairs][: ENOUGH - 1]))


def test_with_as_many_groups_as_a_finding_needs_a_guess_is_found_and_a_fair_judge_is_not() -> None:
    """A judge that guesses is below the bound in most findings; one that orders seven of ten pairs right in few."""

    def unfit(noise: float, runs: int = 200) -> float:
        found = 0
        for seed in range(runs):
            rng = random.Random(seed)
            groups: list[GroupAgreement] = []
            while len(groups) < ENOUGH:
                passed = [rng.random() < 0.5 for _ in range(8)]
                made = group([rng.gauss(float(each) if noise else 0.0, noise or 1.0) for each in passed], passed)
                groups += [made] if made.pairs else []
            found += some(order(groups)) < BOUND
        return found / runs

    assert unfit(0.0) > 0.9
    assert unfit(1.35) < 0.1  # an order of 0.4


def test_without_anything_to_compare_the_phrase_says_so() -> None:
    assert described(agreement([group([0.9], [True])])) == "nothing to compare: all was alike"
