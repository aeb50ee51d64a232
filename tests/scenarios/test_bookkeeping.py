"""What serves a server's own bookkeeping makes no tasks; a shared state is reset, or nothing is written."""

import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from support.paths import ROOT, SERVERS

from mcprl.config import Config, ScenarioConfig, ServerConfig, ToolPolicy
from mcprl.judges.adversaries import Move, play
from mcprl.judges.verifier import Verifier
from mcprl.scenarios.generate import generate
from mcprl.scenarios.packs.pack import Pack
from mcprl.scenarios.probing.hints import read_hints
from mcprl.scenarios.probing.probe import is_deprecated, resets, without_ambient
from mcprl.scenarios.slots import Slot, slots
from mcprl.servers.server import connect
from mcprl.types import Tool

READS = {"find_member_id", "get_member_details", "get_loan_details"}
WRITES = {"update_loan_due_date", "update_member_postcode"}
HINTS = sorted((ROOT / "examples" / "hints").glob("*.toml"))


def tool(name: str, required: tuple[str, ...] = (), **optional: str) -> Tool:
    kinds = dict.fromkeys(required, "string") | optional
    properties = {key: {"type": kind} for key, kind in kinds.items()}
    return Tool(name, "", {"type": "object", "properties": properties, "required": list(required)})


async def lending(folder: Path, reset_tool: str = "") -> Pack:
    """A pack for the library, of whose members the operator names thirty."""
    values = folder / "values.txt"
    values.write_text("member_id = " + ", ".join(f"m_{7000 + 13 * n}" for n in range(30)))
    config = ScenarioConfig(
        train=48, val=4, test=8, test_forms=4, repeat_after_s=0.05, probe_calls=150, values=str(values)
    )
    target = ServerConfig(
        target=f"{sys.executable} {SERVERS / 'lending.py'} {folder / 'state.json'}", reset_tool=reset_tool
    )
    async with connect([target], ToolPolicy(allow_destructive=True, sandbox=True)) as server:
        pack = await generate(server, config)
        verifier = Verifier(server.tools)
        for scenario in pack.test:
            played = await play(server, scenario, Move(scenario.plan, scenario.answer))
            assert verifier.verify(scenario, played).success, scenario.request
    return pack


async def test_a_shared_state_is_reset_before_each_write_and_the_servers_own_tools_are_left_out(tmp_path: Path) -> None:
    pack = await lending(tmp_path, reset_tool="reset_state")
    assert {call.tool for scenario in pack for call in scenario.plan} == READS | WRITES
    assert "--reset-tool reset_state" in pack.left_out["reset_state"]
    assert "lists the calls" in pack.left_out["get_call_log"]
    assert not any("namespace" in call.arguments for scenario in pack for call in scenario.plan)
    assert any(scenario.kind == "write" for scenario in pack)


async def test_without_a_reset_nothing_is_written_and_the_reason_names_the_tool_that_resets(tmp_path: Path) -> None:
    pack = await lending(tmp_path)
    assert {call.tool for scenario in pack for call in scenario.plan} == READS
    for name in WRITES:
        assert "--reset-tool reset_state" in pack.left_out[name]


def test_an_optional_text_of_nearly_all_tools_is_no_slot_unless_the_user_names_it() -> None:
    tools = [tool(f"get_{n}", ("id",), namespace="string", limit="integer") for n in range(5)]
    tools.append(tool("find", ("name",), city="string"))
    every = {one.name: slots(one) for one in tools}

    def keys(found: dict[str, list[Slot]]) -> set[str]:
        return {slot.key for own in found.values() for slot in own}

    assert keys(without_ambient(every)) == {"id", "limit", "name", "city"}
    assert keys(without_ambient(every, {"namespace"})) == {"id", "limit", "name", "city", "namespace"}
    assert "namespace" in keys(without_ambient({name: every[name] for name in ("get_0", "get_1", "find")}))


@pytest.mark.parametrize(
    ("reset", "whole"),
    [
        (tool("reset_state", key="string"), True),
        (tool("resetDatabase"), True),
        (tool("reset_password", ("user",)), False),
        (tool("reset_password"), False),
        (tool("get_state"), False),
    ],
)
def test_a_tool_that_resets_the_whole_server_is_told_by_its_name(reset: Tool, whole: bool) -> None:
    assert resets(reset) is whole


@pytest.mark.parametrize("file", HINTS, ids=lambda file: file.stem)
def test_the_hints_that_are_given_as_examples_can_be_read_and_are_at_most_ten_lines(file: Path) -> None:
    told = tomllib.loads(file.read_text())
    scenarios = Config.model_validate(told).scenarios
    values = replace(read_hints("", scenarios.examples), values=read_hints(str(ROOT / scenarios.values)).values)
    assert values.calls()
    assert len(values.values) + len(scenarios.examples) + len(told["servers"]) <= 10


@pytest.mark.parametrize(
    ("description", "deprecated"),
    [
        ("Read a file as text. DEPRECATED: Use read_text_file instead.", True),
        ("Deprecated. Use search.", True),
        ("Reads a file. Deprecated: use read_text_file.", True),
        ("Lists models by status: ACTIVE, DEPRECATED or RETIRED.", False),
        ("Lists the deprecated packages of a project.", False),
        ("Read a file.", False),
    ],
)
def test_a_tool_that_is_deprecated_makes_no_tasks(description: str, deprecated: bool) -> None:
    assert is_deprecated(Tool("read", description, {})) == deprecated
