"""Which scenarios a step draws. The draw depends on the journal's outcomes alone, so a resumed run repeats it."""

import random
from collections.abc import Iterable, Sequence
from itertools import takewhile

from mcprl.types import Scenario


def draw(
    scenarios: Sequence[Scenario], outcomes: Iterable[tuple[str, int, bool | None]], step: int, count: int, seed: int
) -> list[Scenario]:
    """The `count` scenarios of a step: those drawn longest ago first, ties in random order.

    `outcomes` holds each rollout's scenario id, step and success; a success of `None` means that no judge could decide.
    A scenario is tied if all rollouts of its last step succeeded, or all failed: it had nothing to teach. It waits one
    further epoch, and twice as long each time that it is tied again. A scenario without rollouts counts as tied once if
    its difficulty was measured beforehand as always or never solved.
    """
    successes: dict[str, dict[int, set[bool | None]]] = {}  # by scenario and step
    for scenario_id, rollout_step, success in outcomes:
        if rollout_step < step:
            successes.setdefault(scenario_id, {}).setdefault(rollout_step, set()).add(success)

    def due(scenario: Scenario) -> float:
        by_step = successes.get(scenario.id, {})
        if not by_step:
            ties = int(scenario.difficulty in (0.0, 1.0))
        else:
            latest_first = sorted(by_step, reverse=True)
            ties = sum(1 for _ in takewhile(lambda drawn: by_step[drawn] in ({True}, {False}), latest_first))
        return max(by_step, default=0) + (2**ties - 1) * len(scenarios) / count

    order = list(scenarios)
    random.Random(f"{seed} draw {step}").shuffle(order)
    return sorted(order, key=due)[:count]
