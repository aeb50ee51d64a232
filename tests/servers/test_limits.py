"""How fast tools are called, and reads that are made once."""

import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from support.command_line import mcprl
from support.configs import small
from support.listed import READS, Listed, listed
from support.paths import ODD

from mcprl.config import ServerConfig, ToolPolicy
from mcprl.rollout import Sampler
from mcprl.servers.limits import Pace
from mcprl.servers.server import connect
from mcprl.types import Call, Completion, CompletionRequest, Message, Scenario, ToolServer

COUNTER = [ServerConfig(target=ODD)]


class Calls:
    """An engine whose policy calls one tool in its first turns, and then answers."""

    def __init__(self, tool: str, times: int = 100) -> None:
        self._tool, self._times = tool, times

    async def ready(self) -> None:
        pass

    async def complete(self, request: CompletionRequest) -> Completion:
        await anyio.lowlevel.checkpoint()
        message: Message = {"role": "assistant", "content": "done"}
        if sum(message["role"] == "tool" for message in request.messages) < self._times:
            call = {"name": self._tool, "arguments": "{}"}
            message |= {"tool_calls": [{"id": "c", "type": "function", "function": call}]}
        return Completion(message, (1,), (2,), (-0.1,), "stop")


async def together(server: ToolServer, sessions: int, calls: Sequence[tuple[str, dict[str, Any]]]) -> list[str]:
    """The results of calls that each of several sessions makes at the same time."""
    told: list[str] = []

    async def visit() -> None:
        async with server.session() as session:
            told.extend([(await session.call(*call)).text for call in calls])

    async with anyio.create_task_group() as tasks:
        for _ in range(sessions):
            tasks.start_soon(visit)
    return told


async def test_calls_of_a_tool_wait_for_their_turn_and_other_tools_do_not() -> None:
    async with connect(COUNTER, ToolPolicy(max_rate={"v*": "10/s", "value": "5/s"})) as server:
        began = time.monotonic()
        assert await together(server, 3, [("value", {})] * 2) == ['{"total":0}'] * 6
        assert time.monotonic() - began >= 5 / 5  # the exact name's rate: six calls, five waits
        began = time.monotonic()
        await together(server, 1, [("echo", {})] * 50)
        assert time.monotonic() - began < 1


async def test_setup_calls_wait_as_well() -> None:
    async with connect(COUNTER, ToolPolicy(max_rate={"add": "5/s"})) as server:
        began = time.monotonic()
        async with server.session([Call("add", {})] * 4) as session:
            assert (await session.call("add", {})).text == '{"total":5}'
        assert time.monotonic() - began >= 4 / 5


async def test_who_is_cancelled_while_waiting_takes_no_turn() -> None:
    pace = Pace(0.5)
    await pace.wait()
    with anyio.move_on_after(0.05) as scope:
        await pace.wait()
    assert scope.cancelled_caught
    began = anyio.current_time()
    await pace.wait()
    assert anyio.current_time() - began < 0.5


@pytest.mark.parametrize("rate", ["fast", "5", "0/s", "5/day", "-1/s"])
def test_a_rate_that_is_none_is_an_error_of_one_line(rate: str) -> None:
    result = mcprl("inspect", "--server", ODD, "--max-rate", f"value={rate}")
    assert result.code == 2
    assert re.search("is no rate; give one such as 5/s", result.err)
    assert "matches no tool" in mcprl("inspect", "--server", ODD, "--max-rate", "no_such=5/s").err


async def test_a_wait_ends_with_the_rollouts_deadline(tmp_path: Path) -> None:
    config = small(tmp_path, tmp_path, rollout={"deadline_s": 1.0, "max_turns": 5})
    policy = ToolPolicy(max_rate={"value": "2/min"})
    async with connect(COUNTER, policy) as server:
        sampler = Sampler(config, server, cast(Any, Calls("value")))
        began = time.monotonic()
        (group,) = await sampler.groups("eval", 0, [Scenario("a", "b", ())], 2, None)
    assert time.monotonic() - began < 5
    assert {trajectory.stop for trajectory in group.trajectories} == {"deadline"}
    assert sum(len(trajectory.calls) for trajectory in group.trajectories) == 1


# --- reads that are made once -----------------------------------------------------------------------------------------


async def test_identical_reads_of_sessions_that_have_not_written_are_made_once(tmp_path: Path) -> None:
    writes = {"destructiveHint": False}
    tools = [listed("get_price", "", READS, sku="string"), listed("set_price", "", writes, sku="string")]
    listing = Listed(tmp_path, tools)
    async with connect([ServerConfig(target=listing.command)]) as server:
        caching = server.caching_reads()
        assert await together(caching, 5, [("get_price", {"sku": "A"}), ("get_price", {"sku": "B"})]) == ["done"] * 10
        assert listing.calls() == ["get_price"] * 2
        await together(caching, 1, [("set_price", {"sku": "A"}), ("get_price", {"sku": "A"})])
        assert listing.calls() == ["get_price"] * 2 + ["set_price", "get_price"]  # what is written is read again
        async with caching.session([Call("set_price", {"sku": "A"})]) as session:
            await session.call("get_price", {"sku": "A"})
        assert listing.calls()[4:] == ["set_price", "get_price"]  # nor is another state's answer taken
        await together(server.caching_reads(), 2, [("get_price", {"sku": "A"})])
        assert listing.calls()[6:] == ["get_price"]  # the next step asks anew
        await together(server, 2, [("get_price", {"sku": "A"})])
        assert listing.calls()[7:] == ["get_price"] * 2


async def test_an_error_is_not_kept(tmp_path: Path) -> None:
    async with connect(COUNTER) as server:
        caching = server.caching_reads()
        results = await together(caching, 2, [("fail", {})])
        assert len(results) == 2
        pids = await together(caching, 3, [("pid", {})])
    assert len({*pids}) == 1


@pytest.mark.parametrize(("asked", "calls"), [(True, 1), (False, 3)])
async def test_a_steps_rollouts_share_their_reads_if_that_is_asked_for(tmp_path: Path, asked: bool, calls: int) -> None:
    config = small(tmp_path, tmp_path, tools={"cache_reads": asked}, rollout={"max_turns": 2})
    listing = Listed(tmp_path, [listed("get_price", "", READS)])
    async with connect([ServerConfig(target=listing.command)], config.tools) as server:
        sampler = Sampler(config, server, cast(Any, Calls("get_price", 1)))
        await sampler.groups("train", 1, [Scenario("a", "b", ())], 3, None)
        assert len(listing.calls()) == calls
        await sampler.groups("train", 2, [Scenario("a", "b", ())], 3, None)
        assert len(listing.calls()) == 2 * calls
