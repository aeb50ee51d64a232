"""Signs of a training that goes wrong: each is noted when it appears, once, and not when it just does not."""

import math
import re
from typing import Any

import pytest

from mcprl.cli.options import flags
from mcprl.training import symptoms
from mcprl.training.symptoms import (
    BEHAVIOUR_RISE,
    COLLAPSE,
    CUT,
    GAP,
    GAP_RISE,
    LENGTH_RATIO,
    NO_SIGNAL_STEPS,
    ONE_BEHAVIOUR,
    QUIET,
    TIED,
    WINDOW,
    collapse,
    learns_nothing,
    levelled,
    notes,
)

HEALTHY = {
    "groups": 8,
    "dropped_groups": 2,
    "score": 0.5,
    "success": 0.5,
    "skipped": 0.0,
    "halvings": 0,
    "bin_tokens": 8192,
    "sampler_gap_mean": 0.003,
    "cut_off": 0.02,
    "rollout_tokens": 50.0,
    "rollout_entropy": 8.0,
    "calling": 0.5,
    "same_tool": 0.4,
}
LONG = 4 * WINDOW


def steps(count: int, **changes: Any) -> list[dict[str, float]]:
    return [HEALTHY | changes for _ in range(count)]


def noted(run: list[dict[str, float]]) -> dict[int, list[str]]:
    """The notes of a run, by the step after which they are emitted."""
    return {count: found for count in range(1, len(run) + 1) if (found := notes(run[:count]))}


JUST: dict[str, tuple[list[dict[str, float]], list[dict[str, float]], str]] = {
    # What shows the symptom, what just does not, and the words of the note.
    "skipped": (
        [*steps(4), *steps(1, skipped=1.0, sampler_gap_mean=math.nan)],
        steps(5, sampler_gap_mean=math.nan),
        r"the update of step 5 was left out.*Three in a row end the training.*--learning-rate",
    ),
    "out of memory": (
        [*steps(4), *steps(1, halvings=2, bin_tokens=2048)],
        steps(5, bin_tokens=2048),
        r"ran out of memory and goes on in bins of 2048 tokens; --bin-tokens 2048",
    ),
    "no signal, too hard": (
        [*steps(4, success=0.1), *steps(NO_SIGNAL_STEPS, dropped_groups=8, score=0.0, success=0.0)],
        [*steps(4), *steps(NO_SIGNAL_STEPS - 1, dropped_groups=8), *steps(1, dropped_groups=7)],
        r"no group of the last 3 steps had a signal.*every rollout in them scored 0\.00.*--warm-start-steps",
    ),
    "no signal, a judge that ties": (
        steps(NO_SIGNAL_STEPS, dropped_groups=8, score=0.5, success=0.1, judge_ties=TIED),
        steps(NO_SIGNAL_STEPS, dropped_groups=7, score=0.5, success=0.1, judge_ties=TIED),
        r"the same score, whatever they did: take another --judge-model",
    ),
    "no signal, too easy": (
        steps(NO_SIGNAL_STEPS, dropped_groups=8, score=1.0, success=1.0),
        steps(NO_SIGNAL_STEPS - 1, dropped_groups=8, score=1.0, success=1.0),
        r"harder tasks, or an end to the training",
    ),
    "drift": (
        [*steps(WINDOW), *steps(WINDOW, sampler_gap_mean=GAP + 0.001)],
        [*steps(WINDOW), *steps(WINDOW, sampler_gap_mean=GAP - 0.001)],
        r"sampler and trainer drift apart: 0\.003 nats per token at first, 0\.051 now",
    ),
    "drift from a gap that was wide": (
        [*steps(WINDOW, sampler_gap_mean=0.04), *steps(WINDOW, sampler_gap_mean=0.04 * GAP_RISE + 0.01)],
        [*steps(WINDOW, sampler_gap_mean=0.04), *steps(WINDOW, sampler_gap_mean=0.04 * GAP_RISE - 0.01)],
        r"drift apart",
    ),
    "entropy": (
        [*steps(3), *steps(WINDOW, rollout_entropy=0.69)],
        [*steps(3), *steps(WINDOW, rollout_entropy=0.70)],
        r"hardly varies: 0\.69 nats of entropy a rollout, at a success of 50%.*--entropy-coef",
    ),
    "entropy of one who cannot do it": (
        steps(WINDOW, rollout_entropy=0.1, success=0.89),
        steps(WINDOW, rollout_entropy=0.1, success=0.9),
        r"hardly varies",
    ),
    "shorter": (
        [*steps(WINDOW), *steps(WINDOW, rollout_tokens=50 / LENGTH_RATIO - 1)],
        [*steps(WINDOW), *steps(WINDOW, rollout_tokens=50 / LENGTH_RATIO + 1)],
        r"rollouts become shorter: it may give up early \(50 tokens at first, 16 now\)",
    ),
    "longer": (
        [*steps(WINDOW), *steps(WINDOW, rollout_tokens=50 * LENGTH_RATIO + 1)],
        [*steps(WINDOW), *steps(WINDOW, rollout_tokens=50 * LENGTH_RATIO - 1)],
        r"rollouts become longer",
    ),
    "cut": (
        [*steps(3), *steps(NO_SIGNAL_STEPS, cut_off=CUT + 0.01)],
        [*steps(3), *steps(NO_SIGNAL_STEPS, cut_off=CUT - 0.01)],
        r"26% of the rollouts .* were cut off.*--max-tokens",
    ),
}


@pytest.mark.parametrize("name", JUST)
def test_a_symptom_is_noted_when_it_shows_and_not_when_it_just_does_not(name: str) -> None:
    shown, healthy, words = JUST[name]
    found = noted(shown)
    assert [len(sentences) for sentences in found.values()] == [1]
    assert max(found) <= len(shown)
    assert re.search(words, found[max(found)][0])
    assert noted(healthy) == {}


@pytest.mark.parametrize("name", JUST)
def test_what_lasts_is_noted_once_and_again_after_it_was_gone(name: str) -> None:
    shown, _, words = JUST[name]

    def count(run: list[dict[str, float]]) -> int:
        return len(re.findall(words, "\n".join(sentence for found in noted(run).values() for sentence in found)))

    lasting = [*shown, *[shown[-1]] * LONG]
    recovered = [*lasting, *steps(QUIET + LONG)]
    assert (count(lasting), count(recovered)) == (1, 1)
    if name.startswith(("no", "cut")):
        assert count([*recovered, *shown]) == 2


@pytest.mark.parametrize(
    ("last", "which"),
    [
        ({"calling": ONE_BEHAVIOUR}, "90% of the turns are calls (50% at first)"),
        ({"calling": 0.04}, "96% of the turns are texts without a call (50% at first)"),
        ({"same_tool": 0.97}, "97% of the rollouts call the same tool first (40% at first)"),
        ({"rollout_entropy": 0.5}, "a rollout has 0.50 nats of entropy"),
    ],
)
def test_a_collapse_is_told_with_the_behaviour_that_is_left(last: dict[str, float], which: str) -> None:
    run = [*steps(2 * WINDOW, success=0.6), *steps(WINDOW, success=0.29, **last)]
    assert f"success has fallen from 60% to 29%, and {which}: the policy has collapsed" in collapse(run, [(0, 0.5)])
    assert not any(collapse(run[:count], []) for count in range(len(run)))


def test_validation_that_falls_by_half_is_a_collapse() -> None:
    told = collapse(steps(20), [(0, 0.4), (10, 0.6), (20, 0.29)])
    assert told.startswith("success in validation has fallen from 60% to 29%: the policy has collapsed")
    assert not collapse(steps(20), [(0, 0.4), (10, 0.6), (20, 0.31)])
    assert not collapse(steps(20), [(0, 0.15), (10, 0.01)])  # it never did much


@pytest.mark.parametrize(
    ("first", "last"),
    [
        (steps(2 * WINDOW, success=0.6), steps(2 * WINDOW, success=0.1)),  # harder tasks are drawn as it learns
        (steps(2 * WINDOW, success=0.6), steps(WINDOW, success=0.6 * COLLAPSE + 0.01, calling=ONE_BEHAVIOUR)),
        (
            steps(2 * WINDOW, success=0.6, same_tool=ONE_BEHAVIOUR - BEHAVIOUR_RISE + 0.01),
            steps(WINDOW, success=0.2, same_tool=ONE_BEHAVIOUR),  # it was nearly so from the first
        ),
    ],
)
def test_what_just_does_not_collapse_goes_on(first: list[dict[str, float]], last: list[dict[str, float]]) -> None:
    assert not any(collapse([*first, *last][:count], [(0, 0.3)]) for count in range(len(first) + len(last) + 1))


def test_a_third_of_the_steps_without_a_rise_is_nothing_learnt() -> None:
    flat = [HEALTHY | {"success": 0.4 if n % 2 else 0.5} for n in range(30)]
    rising = [HEALTHY | {"success": 0.2 + 0.02 * n + (0.05 if n % 2 else 0.0)} for n in range(30)]
    assert [learns_nothing(flat[:n], [(0, 0.3)], 60) for n in (19, 20, 30)] == [False, True, True]
    assert not any(learns_nothing(rising[:n], [], 60) for n in range(31))
    assert not learns_nothing(steps(30, success=0.95), [], 60)  # there is little left to learn


def test_where_validation_rises_something_is_learnt_though_harder_tasks_keep_training_level() -> None:
    flat = [HEALTHY | {"success": 0.4 if n % 2 else 0.5} for n in range(45)]
    validated = [(0, 0.29), (20, 0.31), (40, 0.44)]
    assert not learns_nothing(flat[:45], validated, 60)
    assert learns_nothing(flat[:25], [(0, 0.31), (20, 0.31)], 60)
    assert learns_nothing(flat[:39], [(0, 0.31), (20, 0.29)], 60)


def test_what_is_learnt_of_a_kind_of_task_is_seen_though_the_mix_of_kinds_hides_it() -> None:
    """Qwen2.5-Coder-1.5B on the shop (docs/results.md, run 3): tasks of one call went from 13 of 32 to 23 of 24 while
    those of several calls, which it never solved, were drawn more often."""
    drawn = [(32, 32), (24, 40), (40, 24), (16, 48), (32, 32), (24, 40), (40, 24), (8, 56), (24, 40), (16, 48)]
    rising = [0.40, 0.45, 0.50, 0.55, 0.60, 0.70, 0.75, 0.80, 0.90, 0.95]
    rollouts = [
        (step, kind, number < solved * count)
        for step, ((easy, hard), solved_easy) in enumerate(zip(drawn, rising, strict=True), start=1)
        for kind, count, solved in (("one call", easy, solved_easy), ("several", hard, 0.0))
        for number in range(count)
    ]
    run = [
        HEALTHY | {"success": sum(success for at, _, success in rollouts if at == step) / 64} for step in range(1, 11)
    ]
    assert learns_nothing(run, [], 10)
    assert not learns_nothing(levelled(run, rollouts), [], 10)


def test_levelled_success_is_success_where_all_steps_draw_one_kind() -> None:
    rollouts = [(step, "one", number < step) for step in (1, 2, 3) for number in range(4)]
    assert [step["success"] for step in levelled(steps(3), rollouts)] == pytest.approx([0.25, 0.5, 0.75])
    assert levelled(steps(2), []) == steps(2)


def test_a_metric_that_flickers_about_its_threshold_is_noted_once() -> None:
    flickering = [*steps(WINDOW), *[HEALTHY | {"rollout_entropy": 0.6 if n % 2 else 0.75} for n in range(LONG)]]
    assert len(noted(flickering)) == 1


def test_a_healthy_run_and_a_run_without_updates_yet_have_no_notes() -> None:
    assert noted(steps(60)) == {}
    assert notes([]) == []
    assert notes([{"loss": 1.0, "skipped": 0.0}]) == []  # a step of the warm start


def test_every_flag_that_a_note_names_exists() -> None:
    sentences = [sentence for shown, _, _ in JUST.values() for found in noted(shown).values() for sentence in found]
    named = {flag for sentence in sentences for flag in re.findall(r"--([a-z][a-z-]+)", sentence)}
    assert len(named) > 5
    assert named <= set(flags())
    assert len(symptoms.SYMPTOMS) <= len(JUST)
