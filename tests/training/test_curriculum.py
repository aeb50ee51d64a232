"""Which scenarios a step takes."""

from collections import Counter

from mcprl.training.curriculum import draw
from mcprl.types import Scenario

TASKS = [Scenario(f"s{n}", f"Task {n}?", ()) for n in range(12)]


def play(steps: int, solved: dict[str, tuple[bool, ...]], seed: int = 0) -> list[list[str]]:
    """What is drawn, step after step, where each scenario's tries always come out as given."""
    outcomes: list[tuple[str, int, bool]] = []
    drawn: list[list[str]] = []
    for step in range(1, steps + 1):
        drawn.append([scenario.id for scenario in draw(TASKS, outcomes, step, 3, seed)])
        outcomes += [(name, step, success) for name in drawn[-1] for success in solved.get(name, (True, False))]
    return drawn


def test_every_scenario_is_seen_once_before_any_is_seen_twice() -> None:
    drawn = play(8, {})
    assert Counter(name for names in drawn[:4] for name in names) == Counter(scenario.id for scenario in TASKS)
    assert Counter(name for names in drawn for name in names) == Counter({scenario.id: 2 for scenario in TASKS})
    assert play(8, {}) == drawn
    assert play(8, {}, seed=1) != drawn


def test_what_is_always_or_never_solved_is_seen_less_and_less_often() -> None:
    counts = Counter(name for names in play(60, {"s0": (True, True), "s1": (False, False)}) for name in names)
    often = [counts[scenario.id] for scenario in TASKS[2:]]
    assert 2 <= counts["s0"] <= min(often) / 3
    assert 2 <= counts["s1"] <= min(often) / 3


def test_what_was_tied_and_is_no_longer_comes_back_into_turn() -> None:
    outcomes = [(scenario.id, step, success) for step in (1, 2) for scenario in TASKS for success in (True, False)]
    tied = [("s0", 3, True), ("s0", 3, True)]
    assert "s0" not in {scenario.id for step in (4, 5) for scenario in draw(TASKS, outcomes + tied, step, 3, 0)}
    again = [*outcomes, *tied, ("s0", 4, True), ("s0", 4, False)]
    rest = [(scenario.id, 5, success) for scenario in TASKS[1:] for success in (True, False)]
    assert "s0" in {scenario.id for scenario in draw(TASKS, again + rest, 6, 3, 0)}
