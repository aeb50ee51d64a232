"""What was recorded of a server is repeated without it: the same answers, the nearest ones, and clear misses."""

import sqlite3
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.command_line import mcprl
from support.configs import small
from support.listed import READS, Listed, listed
from support.paths import ODD, SERVERS, SHOP

from mcprl import secrets
from mcprl.art.own import train_adapter
from mcprl.config import ServerConfig, ToolPolicy
from mcprl.errors import SessionLost
from mcprl.events import Event, Note, ignore
from mcprl.runs.journal import Journal
from mcprl.runs.records import dump_scenario, dump_trajectory
from mcprl.servers.exchanges import FILE
from mcprl.servers.server import Server, connect
from mcprl.types import Call


def counter(fault: str = "") -> ServerConfig:
    return ServerConfig(target=f"{ODD} {fault}".strip())


def replayed(folder: Path, emit: Any = ignore, **policy: Any) -> AbstractAsyncContextManager[Server]:
    return connect([ServerConfig(target=f"replay:{folder}")], ToolPolicy(**policy), emit=emit)


class Notes:
    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, event: Event) -> None:
        assert isinstance(event, Note)
        self.texts.append(event.text)


async def texts(server: Server, *calls: tuple[str, dict[str, Any]], setup: tuple[Call, ...] = ()) -> list[str]:
    async with server.session(setup) as session:
        return [(await session.call(tool, arguments)).text for tool, arguments in calls]


TWICE = (("value", {}), ("add", {"n": 2}), ("value", {}), ("add", {"n": 2}), ("value", {}), ("fail", {}))


async def test_the_same_session_gets_the_same_answers_without_a_process(tmp_path: Path) -> None:
    setup = (Call("add", {"n": 40}),)
    async with connect([counter()]) as server:
        with server.recorded(tmp_path):
            told = await texts(server, *TWICE)
            told_after_setup = await texts(server, *TWICE, setup=setup)
            (pid,) = await texts(server, ("pid", {}))
        tools, facts = server.tools, server.describe()[0]
    assert told[2] == '{"total":2}'
    assert told_after_setup[4] == '{"total":44}'
    notes = Notes()
    async with replayed(tmp_path, notes) as server:
        assert server.tools == tools
        for _ in range(2):
            assert await texts(server, *TWICE) == told
            assert await texts(server, *TWICE, setup=setup) == told_after_setup
        assert await texts(server, ("pid", {})) == [pid]
        (repeated,) = server.describe()
    assert notes.texts == []
    assert (repeated.title, repeated.instructions) == (facts.title, facts.instructions)
    assert f"replay of {tmp_path}, 13 calls in 3 sessions over stdio" == repeated.transport


async def test_the_k_th_call_of_a_session_gets_the_k_th_recorded_answer_in_any_order(
    tmp_path: Path,
) -> None:
    server = Listed(tmp_path / "server", [listed("ticket", "Take a ticket.", READS)])
    program = tmp_path / "tickets.py"
    program.write_text((SERVERS / "listed.py").read_text().replace('return "done"', "return str(next(NUMBERS))"))
    program.write_text(
        program.read_text().replace("ROWS = ", "import itertools\nNUMBERS = itertools.count(1)\nROWS = ")
    )
    command = server.command.replace(str(SERVERS / "listed.py"), str(program))
    async with connect([ServerConfig(target=command)]) as live:
        with live.recorded(tmp_path):
            assert await texts(live, *[("ticket", {})] * 3) == ["1", "2", "3"]
            assert await texts(live, ("ticket", {})) == ["4"]
    async with replayed(tmp_path) as again, again.session() as one, again.session() as other:
        assert (await one.call("ticket", {})).text == "1"
        assert (await other.call("ticket", {})).text == "1"
        assert (await one.call("ticket", {})).text == "2"
        assert [(await other.call("ticket", {})).text for _ in range(4)] == ["2", "3", "3", "3"]


async def test_a_near_call_is_answered_counted_and_noted_once_and_another_is_a_miss(tmp_path: Path) -> None:
    search: dict[str, Any] = listed("search", "Search.", READS, query="string") | {
        "rows": [{"query": "oak shelf", "hits": 3}]
    }
    search["inputSchema"]["properties"] |= {"page": {"type": "integer", "default": 1}, "sort": {"type": "string"}}
    server = Listed(tmp_path / "server", [search])
    async with connect([ServerConfig(target=server.command)]) as live:
        with live.recorded(tmp_path):
            (told,) = await texts(live, ("search", {"query": "oak shelf"}))
    notes = Notes()
    async with replayed(tmp_path, notes) as again, again.session() as session:
        assert (await session.call("search", {"query": "oak shelf", "page": 1})).text == told  # 1 is the default
        assert notes.texts == []
        assert (await session.call("search", {"query": " Oak  shelf", "sort": "price"})).text == told
        assert (await session.call("search", {"query": "OAK SHELF"})).text == told
        missed = await session.call("search", {"query": "elm shelf"})
        assert missed.is_error
        assert missed.text == 'Error: nothing was recorded for search {"query":"elm shelf"}; 1 other calls of it were'
        assert (await session.call("search", {"query": "ash"})).is_error
    near, miss, total = notes.texts
    assert '"sort":"price"} was not recorded in this state, and is answered by the nearest' in near
    assert "elm shelf" in miss
    assert total.endswith("calls answered as recorded: 1, by the nearest recorded call: 2, not recorded: 2")
    assert server.calls() == ["search"]


async def test_after_other_writes_a_read_is_near_and_a_write_that_misses_changes_nothing(tmp_path: Path) -> None:
    async with connect([counter()]) as live:
        with live.recorded(tmp_path):
            await texts(live, ("add", {"n": 1}), ("value", {}), ("add", {"n": 2}), ("value", {}))
            await texts(live, ("add", {"n": 7}), ("value", {}))
    async with replayed(tmp_path) as again:
        assert await texts(again, ("add", {"n": 7}), ("value", {}), ("add", {"n": 2}), ("value", {})) == [
            '{"total":7}',
            '{"total":7}',
            '{"total":3}',  # the nearest `add {"n": 2}`, and the session goes on where that was recorded
            '{"total":3}',
        ]
        missed, value = await texts(again, ("add", {"n": 99}), ("value", {}))
        assert missed.startswith("Error: nothing was recorded")
        assert value == '{"total":1}'  # nothing was read before a write: the nearest


async def test_errors_and_lost_sessions_are_repeated(tmp_path: Path) -> None:
    async with connect([counter()]) as live:
        with live.recorded(tmp_path):
            async with live.session() as session:
                failed = await session.call("fail", {})
                await session.call("add", {})  # a read would be repeated in a fresh process
                with pytest.raises(SessionLost, match="exited with status 7"):
                    await session.call("crash", {})
    async with replayed(tmp_path) as again, again.session() as session:
        assert replace(await session.call("fail", {}), latency_s=0.0) == replace(failed, latency_s=0.0)
        await session.call("add", {})
        with pytest.raises(SessionLost, match="exited with status 7"):
            await session.call("crash", {})


async def test_a_call_without_an_answer_stays_one_unless_it_was_answered_once(tmp_path: Path) -> None:
    sleeps: dict[str, Any] = {"seconds": 1.5}
    for timeout_s, unanswered in ((1.0, True), (60.0, False)):
        async with connect([counter().model_copy(update={"timeout_s": timeout_s})]) as live:
            with live.recorded(tmp_path):
                async with live.session() as session:
                    assert (await session.call("sleep", sleeps)).unanswered == unanswered
        async with replayed(tmp_path) as again, again.session() as session:
            assert (await session.call("sleep", sleeps)).unanswered == unanswered
            assert (await session.call("value", {})).unanswered, "nothing was recorded"


async def test_secrets_stay_out_and_calls_with_them_are_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY", "canary-8471-zeta")
    config = ServerConfig(target=ODD, env={"API_TOKEN": "$CANARY"})
    calls = [
        ("echo", {"token": "canary-8471-zeta", "page": 1}),
        ("echo", {"key": "sk-live-0123456789abcdef0123"}),
    ]
    async with connect([config]) as live:
        with live.recorded(tmp_path):
            told = await texts(live, *calls)
    stored = (tmp_path / FILE).read_bytes()
    assert b"canary-8471" not in stored
    assert b"0123456789abcdef" not in stored
    monkeypatch.setattr(secrets, "_KNOWN", secrets._Known())  # a replay is not given the server's settings
    async with replayed(tmp_path) as again:
        assert await texts(again, *calls) == told
        assert (await texts(again, ("echo", {"token": "canary-8471-zeta", "page": 2})))[0].startswith("Error")
    assert told[0] == '{"token":"***","page":1}'


async def test_a_run_that_is_resumed_goes_on_with_its_recording(tmp_path: Path) -> None:
    for n in (1, 2):
        async with connect([counter()]) as live:
            with live.recorded(tmp_path):
                await texts(live, ("add", {"n": n}))
    async with replayed(tmp_path) as again:
        assert [await texts(again, ("add", {"n": n})) for n in (1, 2)] == [['{"total":1}'], ['{"total":2}']]
        assert "2 calls in 2 sessions" in again.describe()[0].transport


async def test_several_servers_are_repeated_under_their_names_with_what_they_offer_besides(tmp_path: Path) -> None:
    servers = [ServerConfig(target=ODD, name="one"), ServerConfig(target=f"{ODD} instructed", name="two")]
    async with connect(servers) as live:
        with live.recorded(tmp_path):
            await texts(live, ("one__add", {"n": 1}), ("two__add", {"n": 5}), ("one__value", {}))
            known, resources = await live.known_values(), await live.resources()
    async with replayed(tmp_path) as again:
        assert await texts(again, ("one__add", {"n": 1}), ("two__add", {"n": 5}), ("one__value", {})) == [
            '{"total":1}',
            '{"total":5}',
            '{"total":1}',
        ]
        assert (await again.known_values(), await again.resources()) == (known, resources)
        assert [tool.name for tool in again.tools] == [tool.name for tool in live.tools]


def test_a_folder_without_a_recording_and_a_damaged_one_are_errors_of_one_line(tmp_path: Path) -> None:
    result = mcprl("inspect", "--server", f"replay:{tmp_path}")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "holds no recording" in result.err
    (tmp_path / FILE).write_bytes(b"not a database at all" * 100)
    assert mcprl("inspect", "--server", f"replay:{tmp_path}").code == 2
    (tmp_path / FILE).unlink()
    with sqlite3.connect(tmp_path / FILE) as other:
        other.execute("create table x (y)")
    other.close()
    result = mcprl("inspect", "--server", f"replay:{tmp_path}")
    assert (result.code, result.err.count("\n")) == (2, 1)


# --- whole runs -------------------------------------------------------------------------------------------------------


def records(folder: Path) -> dict[Any, Any]:
    """All that a run made, but for the seconds that its rollouts took."""
    made: dict[Any, Any] = {}
    with Journal.open(folder) as journal:
        for phase in ("test:base", "difficulty", "val", "train", "test:warm", "test:trained"):
            for trajectory in journal.trajectories(phase):
                made[phase, trajectory.id] = dump_trajectory(replace(trajectory, seconds=0.0))
            for score in journal.scores(phase):
                made[phase, score.trajectory_id, "score"] = score
        made["tasks"] = [dump_scenario(scenario) for scenario in journal.scenarios()]
        adapters = [Path(saved.adapter.path) / "adapter_model.safetensors" for saved in journal.adapters()]
        made["adapters"] = [path.read_bytes() for path in adapters if path.exists()]
    return made


@pytest.mark.slow
async def test_the_same_seed_makes_the_same_run_of_a_recording_to_the_byte(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: dict[str, Any] = {"tools": {}, "engine": {"max_batch": 1}}
    await train_adapter(small(tiny_model, tmp_path, record=True, **settings))
    target = f"replay:{tmp_path / 'small'}"
    monkeypatch.setenv("PATH", "/nowhere")  # no server can be started
    runs = []
    for name in ("one", "two"):
        config = small(tiny_model, tmp_path / name, servers=[{"target": target}], **settings)
        await train_adapter(config)
        runs.append(records(tmp_path / name / "small"))
    assert len(runs[0]) > 40
    assert runs[0] == runs[1]


@pytest.mark.slow
def test_every_command_works_on_a_recording(tmp_path: Path, tiny_model: Path) -> None:
    run = ["--runs-dir", str(tmp_path), "--name", "rec", "--model", str(tiny_model), "--small-pack", "--read-only"]
    sizes = [
        "--train-tasks",
        "4",
        "--val-tasks",
        "2",
        "--test-tasks",
        "3",
        "--test-forms",
        "0",
        "--repeat-after-s",
        "0.1",
    ]
    made = mcprl("train", "--server", SHOP, "--record", "--steps", "0", *run, *sizes)
    assert made.code == 0, made.err
    replay = ["--server", f"replay:{tmp_path / 'rec'}", "--read-only"]
    shown = mcprl("inspect", *replay)
    assert "replay of" in shown.out, shown.err
    assert "get_order" in shown.out
    pack = mcprl("scenarios", *replay, *sizes, "--small-pack", "--out", str(tmp_path / "pack"))
    assert pack.code == 0, pack.err
    here = ("--runs-dir", str(tmp_path))
    tested = mcprl("eval", *replay, "--pack", str(tmp_path / "pack"), "--model", str(tiny_model), *here)
    assert tested.code == 0, tested.err
