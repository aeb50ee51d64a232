"""A server whose sessions share their state: writers run alone, after a reset; readers together."""

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from support.paths import ROOT

from mcprl import secrets
from mcprl.config import Config, ServerConfig, ToolPolicy
from mcprl.errors import ServerError
from mcprl.runs.settings import redacted
from mcprl.scenarios.probing.probe import probe
from mcprl.servers.reset import Turns, reset_call, run_command
from mcprl.servers.server import connect


def notes(file: Path, **settings: Any) -> ServerConfig:
    program = ROOT / "tests" / "support" / "servers" / "shared_notes.py"
    return ServerConfig(target=f"{sys.executable} {program} {file}", **settings)


async def test_writers_run_one_after_another_and_readers_together() -> None:
    events: list[str] = []
    both = anyio.Event()

    async def reset() -> None:
        events.append("reset")

    async def write(turns: Turns, name: str) -> None:
        async with turns.take(writes=True):
            events.append(f"{name} begins")
            await anyio.lowlevel.checkpoint()
            events.append(f"{name} ends")

    async def read(turns: Turns, name: str) -> None:
        async with turns.take(writes=False):
            events.append(f"{name} reads")
            if len([event for event in events if event.endswith("reads")]) == 2:
                both.set()
            await both.wait()  # ends only if the other one reads at the same time

    turns = Turns(reset)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            for name in ("a", "b"):
                tasks.start_soon(write, turns, name)
        async with anyio.create_task_group() as tasks:
            for name in ("c", "d"):
                tasks.start_soon(read, turns, name)
    writes = events[:6]
    assert writes[0] == writes[3] == "reset"
    assert [event.split()[1] for event in writes if event != "reset"] == ["begins", "ends"] * 2
    assert events[6] == "reset"
    assert sorted(events[7:]) == ["c reads", "d reads"]


async def test_without_a_reset_nobody_waits() -> None:
    turns = Turns(None)
    async with turns.take(writes=True), turns.take(writes=True):
        assert not turns.active


async def test_a_failed_reset_leaves_the_next_turn_free() -> None:
    answers = iter([True, False])

    async def reset() -> None:
        if next(answers):
            raise ServerError("no")

    turns = Turns(reset)
    with pytest.raises(ServerError):
        async with turns.take(writes=True):
            pass
    with anyio.fail_after(1):
        async with turns.take(writes=True):
            pass


async def test_after_a_reset_that_failed_half_way_readers_have_one_of_their_own() -> None:
    events: list[str] = []

    async def reset() -> None:
        events.append("reset")
        if len(events) == 2:
            raise ServerError("the tables are gone")

    turns = Turns(reset)
    async with turns.take(writes=False):
        pass
    with pytest.raises(ServerError):
        async with turns.take(writes=True):
            pass
    async with turns.take(writes=False):
        assert events == ["reset"] * 3


async def test_a_reset_command_that_takes_too_long_is_stopped_with_its_children(tmp_path: Path) -> None:
    late = tmp_path / "late"
    with pytest.raises(ServerError, match="took longer than"):
        await run_command(f"sh -c \"sh -c 'sleep 5; touch {late}' | cat\"", 0.5)
    await anyio.sleep(5)
    assert not late.exists()


async def test_a_reset_command_may_leave_a_server_running(tmp_path: Path) -> None:
    began = tmp_path / "began"
    with anyio.fail_after(30):
        await run_command(f"sh -c '(sleep 4; touch {began}) & exit 0'", 20)
        assert not began.exists()
        while not began.exists():  # noqa: ASYNC110
            await anyio.sleep(0.05)


@pytest.mark.parametrize("kind", ["tool", "command"])
async def test_a_tool_or_a_command_brings_the_state_back(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "notes.json"
    file.write_text(json.dumps({"left": "over", "kept": "yes"}))
    script = tmp_path / "reset.py"
    script.write_text(f"open({str(file)!r}, 'w').write('{{\"kept\": \"yes\"}}')")
    hooks = {"tool": {"reset_tool": 'clear_notes {"keep": "kept"}'}, "command": {"reset_command": f"python {script}"}}
    policy = ToolPolicy(deny=("clear_notes",))
    async with connect([notes(file, **hooks[kind])], policy) as server:
        assert server.resets
        async with server.turn(writes=True), server.session() as session:
            assert (await session.call("get_note", {"name": "left"})).text == "(empty)"
            await session.call("set_note", {"name": "new", "text": "x"})
        async with server.turn(writes=False), server.session() as session:
            assert (await session.call("get_note", {"name": "new"})).text == "(empty)"
            assert (await session.call("get_note", {"name": "kept"})).text == "yes"


async def test_probing_begins_with_the_first_state(tmp_path: Path) -> None:
    file = tmp_path / "notes.json"
    file.write_text(json.dumps({"left": "over"}))
    reads = ToolPolicy(deny=("clear_notes", "set_note"))
    async with connect([notes(file, reset_tool="clear_notes")], reads) as server:
        await probe(server, seed=0, budget=5)
    assert json.loads(file.read_text()) == {}


@pytest.mark.parametrize(
    ("hooks", "message"),
    [
        ({"reset_tool": "no_such_tool"}, "the reset call no_such_tool failed"),
        ({"reset_command": "python -c 'print(5); exit(3)'"}, "exited with status 3: 5"),
        ({"reset_command": "no-such-program"}, "no such command"),
    ],
)
async def test_a_reset_that_fails_is_an_error_of_one_line(tmp_path: Path, hooks: dict[str, str], message: str) -> None:
    async with connect([notes(tmp_path / "n.json", **hooks)]) as server:
        with pytest.raises(ServerError, match=message) as caught:
            async with server.turn(writes=True):
                pass
    assert "\n" not in str(caught.value)


async def test_a_reset_call_that_cannot_be_read_is_told_when_connecting(tmp_path: Path) -> None:
    with pytest.raises(ServerError, match="cannot read --reset-tool"):
        async with connect([notes(tmp_path / "n.json", reset_tool="clear_notes {keep}")]):
            pass
    assert reset_call("clear").arguments == {}


async def test_what_a_failed_reset_command_says_is_shown_without_secrets() -> None:
    secrets.learn_values(["canary-r3set"])
    told = "reset: cannot log in as admin:canary-r3set"
    with pytest.raises(ServerError, match=r"exited with status 3: reset: cannot log in as admin:\*\*\*"):
        await run_command(f"sh -c 'echo {told.replace('canary', '$(echo canary)')}; exit 3'", 10)


def test_secrets_of_reset_commands_are_not_written_down() -> None:
    config = Config(servers=(ServerConfig(target="x", reset_command="psql --password hunter2 -f seed.sql"),))
    assert "hunter2" not in json.dumps(redacted(config))
