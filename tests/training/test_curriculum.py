"""Which scenarios a step takes."""

from collections import Counter
from dataclasses import replace

from mcprl.training.curriculum import draw
from mcprl.types import Call, Scenario

TASKS = [Scenario(f"s{n}", f"Task {n}?", ()) for n in range(12)]


def play(steps: int, solved: dict[str, tuple[bool, ...]], seed: int = 0) -> list[list[str]]:
    """What is drawn, step after step, where each scenario's tries always come out as given."""
    outcomes: list[tuple[str, int, bool]] = []
    drawn: list[list[str]] = []
    for step in range(1, steps + 1):
        drawn.append([each.scenario.id for each in draw(TASKS, outcomes, step, 3, seed)])
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
    assert "s0" not in {each.scenario.id for step in (4, 5) for each in draw(TASKS, outcomes + tied, step, 3, 0)}
    again = [*outcomes, *tied, ("s0", 4, True), ("s0", 4, False)]
    rest = [(scenario.id, 5, success) for scenario in TASKS[1:] for success in (True, False)]
    assert "s0" in {each.scenario.id for each in draw(TASKS, again + rest, 6, 3, 0)}


PLANNED = [replace(task, plan=(Call("find"), Call("get"))) for task in TASKS]


def drawn_with_given(count: int, *steps: dict[str, bool]) -> list[tuple[str, int]]:
    """What is drawn after steps in which all rollouts of these scenarios came out alike."""
    outcomes = [(name, step, solved) for step, alike in enumerate(steps, 1) for name, solved in alike.items()]
    drawn = draw(PLANNED, outcomes * 2, len(steps) + 1, count, 0, most_given=2)
    return [(each.scenario.id, each.given_calls) for each in drawn]


def test_what_no_rollout_solved_comes_again_at_once_with_one_call_more_made_for_it() -> None:
    assert drawn_with_given(2, {"s0": False})[0] == ("s0", 1)
    assert drawn_with_given(2, {"s0": False}, {"s0": False})[0] == ("s0", 2)
    never = [{"s0": False}] * 3  # with its whole plan made it is not solved: it waits
    assert "s0" not in dict(drawn_with_given(2, *never))
    assert dict(drawn_with_given(12, *never))["s0"] == 2


def test_what_all_rollouts_solved_gets_one_call_less_when_its_turn_comes() -> None:
    steps = {"s0": False}, {"s0": False}, {"s0": True}
    assert "s0" not in dict(drawn_with_given(2, *steps))
    assert dict(drawn_with_given(12, *steps))["s0"] == 1
    assert dict(drawn_with_given(12, *steps, {"s0": True}))["s0"] == 0


def test_what_gets_help_is_half_of_a_step_at_most_and_the_rest_follows() -> None:
    never = {task.id: False for task in PLANNED[:5]}
    first = drawn_with_given(4, never)
    assert [given for _, given in first] == [1, 1, 0, 0]
    assert not {name for name, _ in first[2:]} & never.keys()
    second = drawn_with_given(4, never, dict.fromkeys(dict(first), True))
    assert [given for _, given in second] == [1, 1, 0, 0]
    assert not dict(first).keys() & dict(second[:2]).keys()


def test_without_a_plan_or_where_none_are_allowed_there_are_no_given() -> None:
    outcomes = [(task.id, 1, False) for task in TASKS]
    assert {each.given_calls for each in draw(TASKS, outcomes, 2, 12, 0, most_given=2)} == {0}
    assert {each.given_calls for each in draw(PLANNED, outcomes, 2, 12, 0, most_given=0)} == {0}


def test_a_task_may_be_tied_thousands_of_times() -> None:
    outcomes = [("s0", step, False) for step in range(1, 3_000)]
    assert len(draw(TASKS[:2], outcomes, 3_000, 2, 0)) == 2


def test_kinds_whose_groups_have_a_signal_are_drawn_more_often_and_fill_half_of_a_step_at_most() -> None:
    hard = [Scenario(f"hard{n}", "?", (), plan=(Call("join"),)) for n in range(40)]
    mixed = [Scenario(f"mixed{n}", "?", (), plan=(Call("find"),)) for n in range(40)]
    other = [Scenario(f"other{n}", "?", (), plan=(Call("sum"),)) for n in range(40)]
    results = {"hard": (False, False), "mixed": (True, False), "other": (True, False)}
    outcomes: list[tuple[str, int, bool]] = []
    for step in range(1, 31):
        drawn = [each.scenario.id for each in draw([*hard, *mixed, *other], outcomes, step, 4, 0)]
        kinds = Counter(name.rstrip("0123456789") for name in drawn)
        assert max(kinds.values()) <= 2
        outcomes += [(name, step, success) for name in drawn for success in results[name.rstrip("0123456789")]]
    often = Counter(name.rstrip("0123456789") for name, *_ in outcomes)
    assert 0 < 5 * often["hard"] < often["mixed"]
