"""Which scenarios a step takes. Follows from what the journal holds, so a resumed run draws the same."""

import random
from collections.abc import Iterable, Sequence
from itertools import takewhile

from mcprl.types import Scenario


def draw(
    scenarios: Sequence[Scenario], outcomes: Iterable[tuple[str, int, bool]], step: int, count: int, seed: int
) -> list[Scenario]:
    """The `count` scenarios for a step: those not seen for longest, of equals any.

    `outcomes` are scenario, step and success of each try so far. A scenario of which all tries succeeded, or none, had
    nothing to teach: it is put off by an epoch, and by twice as much each time that it happens again.
    """
    seen: dict[str, dict[int, set[bool]]] = {}
    for scenario_id, when, success in outcomes:
        if when < step:
            seen.setdefault(scenario_id, {}).setdefault(when, set()).add(success)

    def due(scenario: Scenario) -> float:
        own = seen.get(scenario.id, {})
        ties = sum(1 for _ in takewhile(lambda when: len(own[when]) == 1, sorted(own, reverse=True)))
        return max(own, default=0) + (2**ties - 1) * len(scenarios) / count

    order = list(scenarios)
    random.Random(f"{seed} draw {step}").shuffle(order)
    return sorted(order, key=due)[:count]
