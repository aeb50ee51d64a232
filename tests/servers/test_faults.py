"""Faults that pass cost a call or a rollout and never the run: while probing, executing plans, and in setups."""

import json
import sys
import urllib.request
from contextlib import AbstractContextManager
from typing import Any

import pytest
from support.loopback import http
from support.paths import SERVERS

from mcprl.config import ScenarioConfig, ServerConfig
from mcprl.errors import ServerError, SessionLost
from mcprl.scenarios.generate import generate
from mcprl.servers.retries import RetryBudget, again_if_lost
from mcprl.servers.server import connect
from mcprl.types import Call

SMALL = ScenarioConfig(train=8, val=4, test=6, test_forms=2, probe_calls=80, repeat_after_s=0.0)


def flaky(fault: str, every: int) -> AbstractContextManager[str]:
    return http([sys.executable, SERVERS / "flaky.py", fault, every])


def executed(url: str) -> list[list[Any]]:
    """The calls that the server executed, in order."""
    with urllib.request.urlopen(url.replace("/mcp", "/log")) as reply:
        return json.load(reply)


@pytest.mark.parametrize("fault", ["drop", "503", "401", "expire"])
async def test_faults_in_the_middle_of_generation_cost_calls_and_not_the_pack(fault: str) -> None:
    with flaky(fault, 7) as url:
        async with connect([ServerConfig(target=url, timeout_s=10.0)]) as server:
            pack = await generate(server, SMALL)
    assert len(pack.train) >= 4
    assert len(pack.test) >= 4
    used = {call.tool for scenario in pack for call in scenario.plan}
    assert used == {"list_items", "get_item", "set_price"}


@pytest.mark.parametrize("fault", ["drop", "503", "401", "429", "expire"])
async def test_a_read_is_repeated_and_a_write_is_not(fault: str) -> None:
    with flaky(fault, 3) as url:
        async with connect([ServerConfig(target=url, timeout_s=10.0)]) as server:
            for _ in range(12):
                async with server.session() as session:
                    assert not (await session.call("get_item", {"item_id": "IT-12"})).is_error
            failed = 0
            for price in range(100, 112):
                async with server.session() as session:
                    try:
                        failed += (await session.call("set_price", {"item_id": "IT-12", "price": price})).is_error
                    except SessionLost:
                        failed += 1
        prices = [arguments["price"] for name, arguments in executed(url) if name == "set_price"]
    assert 3 <= failed <= 9
    assert len(prices) == len(set(prices)) == 12 - failed


async def test_a_write_whose_answer_was_lost_is_not_made_again() -> None:
    with flaky("drop-late", 1) as url:
        async with connect([ServerConfig(target=url, timeout_s=10.0)]) as server:
            async with server.session() as session:
                with pytest.raises(SessionLost):
                    await session.call("set_price", {"item_id": "IT-12", "price": 1})
            async with server.session([Call("set_price", {"item_id": "IT-12", "price": 2})]) as session:
                with pytest.raises(SessionLost):
                    await session.call("get_item", {"item_id": "IT-12"})
        assert [call[1]["price"] for call in executed(url)] == [1, 2]


async def test_a_setup_that_fails_once_is_made_anew_in_a_fresh_session() -> None:
    async def price() -> int:
        async with server.session([Call("set_price", {"item_id": "IT-12", "price": 77})]) as session:
            return json.loads((await session.call("get_item", {"item_id": "IT-12"})).text)["price"]

    with flaky("drop", 4) as url:
        async with connect([ServerConfig(target=url, timeout_s=10.0)]) as server:
            assert [await again_if_lost(price) for _ in range(6)] == [77] * 6


async def test_what_is_lost_every_time_raises_in_the_end() -> None:
    tried = 0

    async def work() -> None:
        nonlocal tried
        tried += 1
        raise SessionLost("gone")

    with pytest.raises(ServerError, match="gone"):
        await again_if_lost(work)
    assert tried == 3


async def test_a_tool_that_always_fails_uses_the_budget_up_and_successes_fill_it() -> None:
    budget = RetryBudget()
    assert [await budget.wait(0) for _ in range(12)].count(True) == 10
    for _ in range(40):
        budget.succeeded()
    assert await budget.wait(0)
    assert not await budget.wait(3)
