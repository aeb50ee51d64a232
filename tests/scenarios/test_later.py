"""Tasks about the time hold on another day: the gold plan passes its own checks hours and half a year later."""

import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.once import replayed
from support.paths import TESTS

from mcprl.config import ScenarioConfig, ServerConfig, ToolPolicy
from mcprl.judges.verifier import Verifier
from mcprl.scenarios.clock import is_of_today
from mcprl.scenarios.generate import generate
from mcprl.scenarios.packs.pack import Pack
from mcprl.servers.live import refreshed
from mcprl.servers.server import connect
from mcprl.types import Group

NOW = f"{Path(sys.executable).with_name('mcp-server-time')} --local-timezone UTC"
LATER = f"{sys.executable} {TESTS / 'support' / 'servers' / 'later_time.py'}"
SIZES = ScenarioConfig(train=60, val=10, test=40, test_forms=0, probe_calls=150, repeat_after_s=0.1)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def pack(anyio_backend: str) -> AsyncIterator[Pack]:
    async with connect([ServerConfig(target=NOW)], ToolPolicy()) as server:
        yield await generate(server, SIZES)


@pytest.mark.parametrize("hours", [2, 26, 24 * 182])
async def test_gold_plans_pass_later(pack: Pack, hours: int) -> None:
    failed: list[str] = []
    changed = 0
    async with connect([ServerConfig(target=f"{LATER} {hours}")], ToolPolicy()) as server:
        verifier = Verifier(server.tools)
        for scenario, gold in zip(pack.scenarios, await replayed(server, pack.scenarios), strict=True):
            said = {"role": "assistant", "content": refreshed(scenario, gold.calls)}
            gold = replace(gold, messages=(gold.messages[0], said))
            changed += said["content"] != scenario.answer
            (score,) = await verifier.score(Group(scenario, (gold,)))
            if not score.success:
                failed.append(f"{scenario.request!r} -> {said['content']!r}: {score}")
    assert not failed, "\n".join(failed)
    assert changed


def test_a_number_of_too_many_digits_is_no_time_of_today() -> None:
    assert not is_of_today(10**400)
    assert not is_of_today(-(10**400))
    assert is_of_today(int(datetime.now(UTC).timestamp() * 1000))
