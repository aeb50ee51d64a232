"""Servers that try to fill the memory or to stop the event loop: a process of its own meets each and is measured."""

import random

import pytest
from support.hostile_table import BEHAVIOURS, ENDLESS, outcome, visit

from mcprl.scenarios.probing.values import matching


@pytest.mark.slow
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_no_behaviour_fills_the_memory_or_the_log_or_stops_the_loop(behaviour: str) -> None:
    met = visit(behaviour)
    assert met["grew_mib"] <= 256, met
    assert met["log_kib"] <= 1024, met
    assert met["stood_still_s"] < 2, met  # a quarter of a second where the core is not shared with other tests
    assert met["took_s"] < 45, met
    assert outcome(met), met
    assert "\n" not in met.get("error", ""), met
    if behaviour in ENDLESS:
        assert met.get("is_error") or met.get("error"), met


def test_a_pattern_that_asks_for_a_long_text_gets_none() -> None:
    rng = random.Random(1)
    assert matching("((([ab]{99}){99}){99}){99}", rng) == ""
    assert matching("((([ab]+)+)*|c)+", rng) == ""
    assert matching("(" * 3_000 + ")" * 3_000, rng) == ""
    assert len(matching("[a-z]{3}-[0-9]{4}", rng)) == 8
