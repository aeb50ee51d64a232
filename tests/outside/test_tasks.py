"""Tasks for servers as people have them: what a tool does is found by calling it, and what it returns is read."""

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from mcprl.config import ScenarioConfig, ServerConfig, ToolPolicy
from mcprl.scenarios.generate import generate
from mcprl.scenarios.packs.pack import Pack
from mcprl.scenarios.probing.probe import probe
from mcprl.servers.server import connect
from mcprl.types import Fact, Scenario, Tool

CASES = Path(__file__).with_name("cases.py")


async def tasks(case: str, train: int = 24) -> tuple[Pack, tuple[Tool, ...]]:
    settings = ScenarioConfig(train=train, val=2, test=8, test_forms=0, repeat_after_s=0)
    async with connect([ServerConfig(target=f"{sys.executable} {CASES} {case}")], ToolPolicy(sandbox=True)) as server:
        return await generate(server, settings), tuple(server.tools)


def facts(scenarios: Sequence[Scenario]) -> list[Fact]:
    return [check for scenario in scenarios for check in scenario.checks if isinstance(check, Fact)]


async def test_two_numbers_and_add_are_a_computation() -> None:
    pack, _ = await tasks("add")
    worked = [scenario for scenario in pack if scenario.kind == "compute"]
    assert len(worked) > len(pack.scenarios) / 2
    for scenario in worked:
        (call,) = scenario.plan
        a, b = call.arguments["a"], call.arguments["b"]
        assert scenario.answer == f"{a + b if call.tool == 'add' else a - b}."
        named = re.search(rf"add two numbers, {a} and {b}|subtract b from a with a {a} and b {b}", scenario.request)
        assert named, scenario.request
    assert {scenario.plan[0].tool for scenario in worked} == {"add", "subtract"}


async def test_what_repeats_an_argument_is_no_fact() -> None:
    pack, _ = await tasks("convert")
    asked = facts(pack.scenarios)
    assert asked
    assert {fact.name for fact in asked} == {"converted value"}
    assert all(len(str(scenario.plan[0].arguments["value"])) < 8 for scenario in pack if scenario.plan)


async def test_one_sql_tool_is_asked_for_what_is_in_its_tables() -> None:
    pack, _ = await tasks("sql")
    queries = [call.arguments["query"] for scenario in pack for call in scenario.plan]
    assert len(queries) > 20
    assert any("JOIN" in query for query in queries)
    assert any("COUNT" in query for query in queries)
    assert all(query.startswith("SELECT ") for query in queries), "its description names no write"
    assert not any("no such table" in scenario.answer for scenario in pack)


async def test_more_was_found_than_is_shown_a_placeholder_and_a_flag_that_never_differs_are_no_facts() -> None:
    pack, _ = await tasks("shown")
    assert not [scenario for scenario in pack if scenario.kind in ("count", "total", "listing")]
    assert {fact.name for fact in facts(pack.scenarios)} <= {"height", "age", "girth", "name", "item"}
    assert not [fact for fact in facts(pack.scenarios) if fact.value == "?"]
    measures = {call.arguments["measure"] for scenario in pack for call in scenario.plan if "measure" in call.arguments}
    assert measures <= {"height", "girth"}


async def test_a_plan_meets_the_schemas_of_its_tools_and_a_tool_without_a_task_has_its_line() -> None:
    pack, tools = await tasks("pair")
    schemas: dict[str, Any] = {tool.name: tool.input_schema for tool in tools}
    calls = [call for scenario in pack for call in scenario.plan]
    assert calls
    for call in calls:
        assert Draft202012Validator(schemas[call.tool]).is_valid(call.arguments), json.dumps(call.arguments)
    used = {call.tool for call in calls}
    assert {"list_rooms", "set_window"} == used | {*pack.left_out}


async def test_a_tool_that_asks_its_client_back_has_no_task_and_says_what_it_asked_for() -> None:
    pack, _ = await tasks("asks")
    assert {call.tool for scenario in pack for call in scenario.plan} == {"list_rooms", "get_room"}
    assert "asked its client for a confirmation (elicitation)" in pack.left_out["book_room"]
    assert "asked its client for a language model (sampling)" in pack.left_out["describe_room"]


async def test_what_is_booked_is_a_room_that_a_read_lists() -> None:
    async with connect([ServerConfig(target=f"{sys.executable} {CASES} book")], ToolPolicy(sandbox=True)) as server:
        known = await probe(server, seed=0)
    assert known.working["book_room"]
    assert ("from", "list_rooms", "room") in known.sources["book_room", ("room",)]
    assert [(trip.write, trip.read) for trip in known.round_trips] == [("book_room", "list_bookings")]
