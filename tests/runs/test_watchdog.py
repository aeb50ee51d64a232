"""The watchdog: where a run stands that makes no progress."""

import time
from pathlib import Path

import anyio
import pytest
from support.events import Recorder
from support.paths import ODD

from mcprl.config import Config, ServerConfig, ToolPolicy
from mcprl.events import Note
from mcprl.runs.journal import Journal
from mcprl.runs.watchdog import FILE, watching
from mcprl.servers.server import connect


async def until_noted(emitted: Recorder) -> str:
    with anyio.fail_after(20):
        while not emitted.notes:  # noqa: ASYNC110 - the watchdog is a thread
            await anyio.sleep(0.05)
    return emitted.notes[0]


async def test_a_run_without_progress_gets_one_note_and_a_log_of_its_tasks_and_open_calls(tmp_path: Path) -> None:
    emitted, note = Recorder(), ""
    with Journal.create(tmp_path / "run", Config()) as journal:
        policy = ToolPolicy(read_only=True)
        async with connect([ServerConfig(target=ODD)], policy) as server, anyio.create_task_group() as tasks:

            async def hang() -> None:
                async with server.session() as session:
                    await session.call("sleep", {"seconds": 600})

            with watching(journal, 0.4, emitted):
                tasks.start_soon(hang, name="a rollout")
                note = await until_noted(emitted)
                await anyio.sleep(1.0)
            tasks.cancel_scope.cancel()
    log = (tmp_path / "run" / FILE).read_text()
    assert len(emitted.notes) == 1
    assert str(tmp_path / "run" / FILE) in note
    assert 'open calls of tools: 1\n  sleep {"seconds": 600' in log
    assert "task a rollout:" in log
    assert "connection.py" in log
    assert "Thread 0x" in log


async def test_a_blocked_event_loop_is_noticed_and_its_place_is_in_the_log(tmp_path: Path) -> None:
    emitted = Recorder()

    def catastrophe() -> None:
        time.sleep(1.0)

    with Journal.create(tmp_path / "run", Config()) as journal, watching(journal, 0.3, emitted):
        catastrophe()
    assert len(emitted.notes) == 1
    assert "in catastrophe" in (tmp_path / "run" / FILE).read_text()


@pytest.mark.parametrize("sign", ["event", "record"])
async def test_progress_keeps_it_quiet(sign: str, tmp_path: Path) -> None:
    emitted = Recorder()
    with Journal.create(tmp_path / "run", Config()) as journal, watching(journal, 0.6, emitted) as emit:
        for step in range(12):
            await anyio.sleep(0.1)
            if sign == "event":
                emit(Note("on it"))
            else:
                journal.write_step(step, {})
    assert set(emitted.notes) <= {"on it"}
    assert not (tmp_path / "run" / FILE).exists()


async def test_it_can_be_left_out(tmp_path: Path) -> None:
    emitted = Recorder()
    with Journal.create(tmp_path / "run", Config()) as journal, watching(journal, 0.0, emitted):
        await anyio.sleep(0.2)
    assert not emitted.events
