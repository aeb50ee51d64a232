"""Chat logs as people have them."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from mcprl.config import ServerConfig
from mcprl.scenarios.packs.imports import Imported, import_tasks
from mcprl.servers.server import connect
from mcprl.serving.bodies import FunctionCalled
from mcprl.types import Fact

RAW = Path(__file__).with_name("raw.py")
ROOM = json.dumps({"room": "R3", "seats": 13, "floor": 3, "host": "Cleo"})


def asked(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def called(name: str, arguments: str, number: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": number, "type": "function", "function": function}],
    }


def returned(number: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": number, "content": text}


async def imported(folder: Path, *logs: list[dict[str, Any]]) -> Imported:
    file = folder / "log.jsonl"
    file.write_text("".join(json.dumps({"messages": log}) + "\n" for log in logs))
    return await import_tasks(file, None, 0)


async def test_a_legacy_function_call_is_a_call(tmp_path: Path) -> None:
    legacy = {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "get_room", "arguments": '{"room": "R3"}'},
    }
    result = {"role": "function", "name": "get_room", "content": ROOM}
    made = await imported(tmp_path, [asked("How many seats has R3?"), legacy, result, said("R3 has 13 seats.")])
    (task,) = made.pack.scenarios
    assert [(call.tool, call.arguments) for call in task.plan] == [("get_room", {"room": "R3"})]
    assert [(check.name, check.value) for check in task.checks if isinstance(check, Fact)] == [("seats", 13)]


async def test_a_call_whose_arguments_are_no_json_costs_its_line_and_not_the_file(tmp_path: Path) -> None:
    broken = [asked("Seats of R3?"), called("get_room", '{"room": "R3', "a"), returned("a", "error: bad JSON")]
    good = [asked("Host of R3?"), called("get_room", '{"room": "R3"}', "b"), returned("b", ROOM), said("It's Cleo.")]
    made = await imported(tmp_path, [*broken, said("I could not read it.")], good)
    assert [task.request for task in made.pack.scenarios] == ["Host of R3?"]
    ((place, reason),) = made.left_out
    assert reason == 'has a call of get_room whose arguments are no JSON: {"room": "R3'
    assert place == "line 1"


async def test_an_answer_that_lists_more_than_six_values_is_checked_for_all(tmp_path: Path) -> None:
    hosts = "Ana Ben Cleo Dov Eli Fay Gus Hal Ivy Jan Kim Leo".split()
    rooms = [{"room": f"R{n}", "host": host} for n, host in enumerate(hosts, 1)]
    listed = {"name": "list_rooms", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
    answers = {"content": [{"type": "text", "text": json.dumps(rooms)}]}
    (tmp_path / "tools.json").write_text(json.dumps([listed | {"answers": answers}]))
    log = [asked("List the rooms' hosts, please"), called("list_rooms", "", "y"), returned("y", "[]")]
    file = tmp_path / "log.jsonl"
    file.write_text(json.dumps({"messages": [*log, said(f"{', '.join(hosts[:-1])} and Leo.")]}) + "\n")
    target = f"{sys.executable} {RAW} {tmp_path / 'tools.json'}"
    async with connect([ServerConfig(target=target)]) as server:
        made = await import_tasks(file, server, 0, repeat_after_s=0.1)
    (task,) = made.pack.scenarios
    assert {check.value for check in task.checks if isinstance(check, Fact)} == {*hosts}


def test_the_server_reads_a_call_without_arguments_as_an_import_does() -> None:
    assert FunctionCalled(name="list_rooms", arguments="").arguments == "{}"
    assert FunctionCalled(name="list_rooms", arguments="{}").arguments == "{}"
    with pytest.raises(ValidationError, match="expected the text of a JSON object"):
        FunctionCalled(name="list_rooms", arguments="[]")
