"""Whether a session starts from what another wrote: found out by writing, and said by `inspect` and `train`."""

import json
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from support.command_line import mcprl
from support.paths import NODE_BIN, SERVERS

from mcprl.config import ScenarioConfig, ServerConfig
from mcprl.events import Event, Note
from mcprl.scenarios.generate import generate
from mcprl.servers.server import connect

NOTES = f"{sys.executable} {SERVERS / 'shared_notes.py'}"
SMALL = ScenarioConfig(train=4, val=2, test=2, test_forms=0, probe_calls=120, repeat_after_s=0.1, floor=False)


class _Told(Exception):
    """What was waited for has been said."""


async def notes_of(server: ServerConfig) -> list[str]:
    """What making tasks says to the user about sessions; no task is made after that."""
    told: list[str] = []

    def keep(event: Event) -> None:
        if isinstance(event, Note) and "start alike" in event.text:
            told.append(event.text)
            raise _Told

    async with connect([server]) as connected:
        with suppress(_Told):
            await generate(connected, SMALL, 0, keep)
    return told


def values(folder: Path, **notes: str) -> Path:
    file = folder / "notes.json"
    file.write_text(json.dumps(notes))
    return file


async def test_tasks_say_that_rollouts_do_not_start_alike_and_what_helps(tmp_path: Path) -> None:
    file = values(tmp_path, first="one", second="two")
    (told,) = await notes_of(ServerConfig(target=f"{NOTES} {file}"))
    assert "get_note told in one session what set_note had written in another; no task writes, unless" in told
    assert "--reset-command brings the state back or {scratch} keeps it apart" in told
    (told,) = await notes_of(ServerConfig(target=f"{NOTES} {file}", reset_command="true"))
    assert told.endswith("; the state is reset before each that writes")


@pytest.mark.parametrize(
    ("server", "verdict"),
    [
        (f"{NOTES} {{file}}", "sessions share their state: get_note told in one session what set_note had written"),
        (f"{NOTES} {{scratch}}/notes.json", "sessions: no session saw what another had written, with 1 writing tool"),
        ("{shop}", "sessions: no session saw what another had written"),
    ],
)
def test_inspect_checks_the_sessions_if_that_is_asked_for(
    server: str, verdict: str, tmp_path: Path, shop: ServerConfig
) -> None:
    target = server.replace("{file}", str(values(tmp_path))).replace("{shop}", shop.target)
    assert verdict in mcprl("inspect", "--server", target, "--check-sessions").out.splitlines()[-1]
    if target == shop.target:
        assert verdict not in mcprl("inspect", "--server", target).out


def test_inspect_says_that_without_writes_nothing_is_known(shop: ServerConfig) -> None:
    result = mcprl("inspect", "--server", shop.target, "--read-only", "--check-sessions")
    assert result.out.splitlines()[-1].endswith("is unknown: no tool that writes may be called")


@pytest.mark.npm
@pytest.mark.parametrize(("file", "shared"), [("{folder}/memory.json", True), ("{rollout}/memory.json", False)])
def test_the_memory_server_shares_its_file_unless_each_session_has_its_own(
    file: str, shared: bool, tmp_path: Path
) -> None:
    program = NODE_BIN / "mcp-server-memory"
    if not program.exists():
        pytest.skip("mcp-server-memory is not installed: npm ci")
    path = file.replace("{folder}", str(tmp_path))
    result = mcprl("inspect", "--server", str(program), "--env", f"MEMORY_FILE_PATH={path}", "--check-sessions")
    assert ("sessions share their state" in result.out) is shared
    assert ("no session saw what another had written" in result.out) is not shared
