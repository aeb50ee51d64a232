"""Which scenarios a step takes. Follows from what the journal holds, so a resumed run draws the same."""

import random
from collections.abc import Iterable, Sequence
from itertools import takewhile

from mcprl.types import Scenario


def draw(
    scenarios: Sequence[Scenario], outcomes: Iterable[tuple[str, int, bool | None]], step: int, count: int, seed: int
) -> list[Scenario]:
    """The `count` scenarios for a step: those not seen for longest, of equals any.

    `outcomes` are scenario, step and success of each try so far. A scenario of which all tries succeeded, or none, had
    nothing to teach: it is put off by an epoch, and by twice as much each time that it happens again; so is one that
    was measured beforehand as always or never done. Where success is `None`, nobody could tell.
    """
    seen: dict[str, dict[int, set[bool | None]]] = {}
    for scenario_id, when, success in outcomes:
        if when < step:
            seen.setdefault(scenario_id, {}).setdefault(when, set()).add(success)

    def due(scenario: Scenario) -> float:
        own = seen.get(scenario.id, {})
        tied = takewhile(lambda when: own[when] in ({True}, {False}), sorted(own, reverse=True))
        ties = sum(1 for _ in tied) + (not own and scenario.difficulty in (0.0, 1.0))
        return max(own, default=0) + (2**ties - 1) * len(scenarios) / count

    order = list(scenarios)
    random.Random(f"{seed} draw {step}").shuffle(order)
    return sorted(order, key=due)[:count]
