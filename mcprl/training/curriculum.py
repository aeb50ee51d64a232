"""Which scenarios a step draws, and how many calls of their plans are made for the policy. Both depend on the journal's
outcomes alone, so a resumed run repeats them."""

import random
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from mcprl.types import Scenario

_NEVER, _ALWAYS = {False}, {True}
_NEWEST = 8
"""The latest groups of a kind of task that say how often it has something to teach: the policy changes."""


@dataclass(frozen=True)
class Drawn:
    """A scenario of a step. The first `given_calls` calls of its plan are made for the policy."""

    scenario: Scenario
    given_calls: int


def draw(
    scenarios: Sequence[Scenario],
    outcomes: Iterable[tuple[str, int, bool | None]],
    step: int,
    count: int,
    seed: int,
    most_given: int = 0,
) -> list[Drawn]:
    """The `count` scenarios of a step. A kind of task is drawn the oftener the more of its latest groups had both
    successes and failures, at most for half of the step; of a kind those drawn longest ago come first, ties in random
    order. So tasks of more calls come when the policy begins to solve some.

    `outcomes` holds each rollout's scenario id, step and success; a success of `None` means that no judge could decide.
    A scenario that no rollout of its last step solved comes again at once with one call more of its plan made for it,
    up to `most_given`; such ones are half of a step at most. One that all solved has one call less the next time.
    A scenario is tied if all rollouts of its last step succeeded, or all failed: it had nothing to teach. It waits one
    further epoch, and twice as long each time that it is tied again. A scenario without rollouts counts as tied once if
    its difficulty was measured beforehand as always or never solved.
    """
    successes: dict[str, dict[int, set[bool | None]]] = {}  # by scenario and step, in the order of the steps
    for scenario_id, rollout_step, success in sorted(outcomes, key=lambda outcome: outcome[1]):
        if rollout_step < step:
            successes.setdefault(scenario_id, {}).setdefault(rollout_step, set()).add(success)
    order = list(scenarios)
    random.Random(f"{seed} draw {step}").shuffle(order)
    given = {each.id: _given(each, successes.get(each.id, {}), most_given) for each in scenarios}
    eager = [each for each in order if given[each.id].more]
    eager = sorted(eager, key=lambda scenario: max(successes[scenario.id]))[: count // 2]
    taken = {scenario.id for scenario in eager}
    rest = [scenario for scenario in order if scenario.id not in taken]
    due = {each.id: _due(each, successes.get(each.id, {}), len(scenarios) / count) for each in rest}
    rest.sort(key=lambda scenario: due[scenario.id])
    ready, later = [each for each in rest if due[each.id] <= step], [each for each in rest if due[each.id] > step]
    shares = _shares(scenarios, successes)
    chosen = _by_signal(ready, count - len(eager), shares, random.Random(f"{seed} kind {step}"))
    return [Drawn(scenario, given[scenario.id].count) for scenario in (*eager, *chosen, *later)[:count]]


def kind(scenario: Scenario) -> Hashable:
    """What makes tasks alike for learning: the tools of the plan in order, and what is checked. Of a task that the
    server scores, whose plan is but one way, its own kind."""
    if scenario.reward_check:
        return scenario.kind
    return tuple(call.tool for call in scenario.plan), tuple(sorted({check.kind for check in scenario.checks}))


def _shares(
    scenarios: Sequence[Scenario], successes: Mapping[str, Mapping[int, set[bool | None]]]
) -> dict[Hashable, float]:
    """Of each kind the expected share of groups with a signal, a half before its first group (Laplace's rule of
    succession)."""
    signals: defaultdict[Hashable, list[tuple[int, bool]]] = defaultdict(list)
    for scenario in scenarios:
        solved_by_step = successes.get(scenario.id, {}).items()
        signals[kind(scenario)] += [(step, {True, False} <= solved) for step, solved in solved_by_step]
    newest = {name: [signal for _, signal in sorted(found)[-_NEWEST:]] for name, found in signals.items()}
    return {name: (sum(found) + 1) / (len(found) + 2) for name, found in newest.items()}


def _by_signal(
    scenarios: Sequence[Scenario], count: int, shares: Mapping[Hashable, float], chance: random.Random
) -> list[Scenario]:
    """The first scenarios of kinds that are drawn by their size and their share of groups with a signal."""
    waiting: defaultdict[Hashable, list[Scenario]] = defaultdict(list)
    for scenario in scenarios:
        waiting[kind(scenario)].append(scenario)
    weights = {name: len(tasks) * shares[name] for name, tasks in waiting.items()}
    chosen: list[Scenario] = []
    taken: Counter[Hashable] = Counter()
    while len(chosen) < count and (left := [name for name, tasks in waiting.items() if tasks]):
        allowed = [name for name in left if taken[name] < (count + 1) // 2] or left
        drawn = chance.choices(allowed, [weights[name] for name in allowed])[0]
        chosen.append(waiting[drawn].pop(0))
        taken[drawn] += 1
    return chosen


@dataclass(frozen=True)
class _Given:
    """`more` says whether there are more of them than the last time."""

    count: int
    more: bool


def _given(scenario: Scenario, by_step: Mapping[int, set[bool | None]], most: int) -> _Given:
    most = min(most, len(scenario.plan))
    count = last = 0
    for solved in by_step.values():
        last = count
        count = min(count + 1, most) if solved == _NEVER else max(count - 1, 0) if solved == _ALWAYS else count
    return _Given(count, count > last)


def _due(scenario: Scenario, by_step: Mapping[int, set[bool | None]], epoch: float) -> float:
    """The step at which a scenario is to come again; `epoch` is the number of steps of an epoch."""
    if not by_step:
        ties = int(scenario.difficulty in (0.0, 1.0))
    else:
        latest_first = sorted(by_step, reverse=True)
        ties = sum(1 for _ in takewhile(lambda drawn: by_step[drawn] in (_ALWAYS, _NEVER), latest_first))
    return max(by_step, default=0) + (2.0 ** min(ties, 60) - 1) * epoch
