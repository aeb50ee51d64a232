"""Servers that try to fill the memory or to stop the event loop: a process of its own meets each and is measured."""

import json
import random
import subprocess
import sys
from typing import Any

import pytest
from support.loopback import http
from support.paths import SERVERS, TESTS

from mcprl.scenarios.probing.patterns import matching

ENDLESS = """
    json capital-json event event-lines comments events error error-json error-events redirect redirect-events gzip
    gzip-events
""".split()
HUGE = ["bomb", "empty-blocks", "text-blocks", "deep", "huge-number", "huge-structured"]
LISTINGS = ["many-tools", "many-nothings", "many-properties"]
SCHEMAS = """
    deep-schema recursive-schema laughs remote-ref self-ref regex long-regex deep-regex odd-schema
""".split()


def visit(body: str) -> dict[str, Any]:
    """What a process met at a server with such a body."""
    with http([sys.executable, SERVERS / "hostile.py", body]) as url:
        command = [sys.executable, TESTS / "support" / "visit_hostile.py", url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=True)
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("body", [*ENDLESS, *HUGE, *LISTINGS, *SCHEMAS])
def test_no_reply_fills_the_memory_or_stops_the_loop(body: str) -> None:
    met = visit(body)
    assert met["grew_mib"] <= 256, met
    assert met["stood_still_s"] < 4, met  # on a core that is shared with others
    assert met["took_s"] < 45, met
    if body in ENDLESS:
        assert met.get("is_error") or met.get("error"), met


def test_a_pattern_that_asks_for_a_long_text_gets_none() -> None:
    rng = random.Random(1)
    assert matching("((([ab]{99}){99}){99}){99}", rng) == ""
    assert matching("((([ab]+)+)*|c)+", rng) == ""
    assert matching("(" * 3_000 + ")" * 3_000, rng) == ""
    assert len(matching("[a-z]{3}-[0-9]{4}", rng)) == 8
