"""What changes while it is asked for: live facts, and sessions that outlive a lost server."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mcprl.errors import SessionLost
from mcprl.judges.verifier import Verifier
from mcprl.scenarios.clock import classified
from mcprl.scenarios.probing.sessions import Renewed
from mcprl.servers.live import refreshed
from mcprl.types import Call, CallRecord, Fact, Scenario, ToolResult, Trajectory

PLAN = Call("get_time", {"zone": "Europe/Oslo"})


def _trajectory(answer: str, shown: Mapping[str, Any], arguments: Mapping[str, Any] = PLAN.arguments) -> Trajectory:
    result = ToolResult(str(shown), {"result": dict(shown)})
    record = CallRecord(0, "get_time", dict(arguments), result)
    return Trajectory("t", "s", ({"role": "assistant", "content": answer},), (), (record,))


def _scenario(fact: Fact, answer: str) -> Scenario:
    return Scenario("s", "what time is it in Oslo?", (fact,), (PLAN,), answer)


@pytest.fixture
def moment() -> datetime:
    return datetime.now(UTC).replace(hour=9, minute=4, second=0, microsecond=0) + timedelta(days=400)


def test_a_live_fact_is_what_the_trajectory_was_shown(moment: datetime) -> None:
    scenario = _scenario(Fact("06:52", "time", "time", live=("datetime",)), "The time is 06:52.")
    shown = {"datetime": moment.isoformat(), "day": "Sunday"}
    verify = Verifier().verify
    assert verify(scenario, _trajectory("It is 09:04.", shown)).success
    assert verify(scenario, _trajectory("It's 9:04 am there.", shown)).success
    assert not verify(scenario, _trajectory("It is 06:52.", shown)).success
    assert not verify(scenario, _trajectory("It is 09:05.", shown)).success
    elsewhere = _trajectory("It is 09:04.", shown, {"zone": "Asia/Tokyo"})
    assert not verify(scenario, elsewhere).success
    assert verify(scenario, _trajectory(refreshed(scenario, _trajectory("", shown).calls), shown)).success


@pytest.mark.parametrize(
    ("zone", "right"), [("Europe/Berlin", True), ("Europe/Londn", False), ("Europe/London", False)]
)
def test_a_zone_with_the_same_clock_tells_the_same_time(zone: str, right: bool, moment: datetime) -> None:
    scenario = _scenario(Fact("06:52", "time", "time", live=("datetime",)), "The time is 06:52.")
    told = _trajectory("It is 09:04.", {"datetime": moment.isoformat()}, {"zone": zone})
    assert Verifier().verify(scenario, told).success == right


def test_the_time_now_may_be_told_a_minute_later() -> None:
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    scenario = _scenario(Fact("06:52", "time", "time", live=("datetime",)), "The time is 06:52.")
    shown = {"datetime": now.isoformat()}
    later = now + timedelta(minutes=1)
    assert Verifier().verify(scenario, _trajectory(f"It is {later:%H:%M}.", shown)).success
    much_later = now + timedelta(minutes=3)
    assert not Verifier().verify(scenario, _trajectory(f"It is {much_later:%H:%M}.", shown)).success


def test_a_live_weekday() -> None:
    scenario = _scenario(Fact("Sunday", "day of week", live=("day",)), "The day of week is Sunday.")
    shown = {"datetime": "2027-01-05T10:00", "day": "Tuesday"}
    assert Verifier().verify(scenario, _trajectory("It's Tuesday.", shown)).success
    assert not Verifier().verify(scenario, _trajectory("It's Sunday.", shown)).success


def test_what_is_computed_of_a_given_time_is_live_without_what_is_true_of_today() -> None:
    today = datetime.now(UTC)
    pairs = [(("at",), today.isoformat()), (("difference",), "+8.0h"), (("day",), "Sunday"), (("is_dst",), False)]
    given = classified(Call("convert", {"time": "14:00"}), pairs)
    assert {path[0]: live for path, _, live in given} == {"at": True, "difference": True}
    now = classified(Call("now", {"zone": "UTC"}), pairs)
    assert {path[0]: live for path, _, live in now} == {"at": True, "difference": True, "day": True}
    steady = classified(Call("get", {"id": "7"}), pairs[1:])
    assert [live for _, _, live in steady] == [False, False, False]


class _Mortal:
    """A server whose first session dies at its second call."""

    tools: Sequence[Any] = ()
    instructions = ""

    def __init__(self) -> None:
        self.opened = 0

    @asynccontextmanager
    async def session(self, setup: Sequence[Call] = ()) -> AsyncGenerator["_Mortal"]:
        self.opened += 1
        yield self

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        if tool == "kill":
            raise SessionLost("exited with status 1")
        return ToolResult(f"session {self.opened}")


def test_a_file_of_today_has_facts_that_hold_tomorrow() -> None:
    now = datetime.now(UTC).isoformat()
    info = [(("size",), 120), (("modified",), now)]
    assert list(classified(Call("get_file_info", {"path": "a.txt"}), info)) == [(("size",), 120, False)]


async def test_a_lost_session_is_opened_again_and_its_call_has_failed() -> None:
    async with Renewed(_Mortal()) as session:  # pyright: ignore[reportArgumentType]
        assert (await session.call("get", {})).text == "session 1"
        lost = await session.call("kill", {})
        assert lost.is_error
        assert "status 1" in lost.text
        assert (await session.call("get", {})).text == "session 2"
