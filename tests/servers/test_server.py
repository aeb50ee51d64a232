"""Real server processes, good and odd, behind `servers.server`."""

import json
import os
import re
import shlex
import shutil
import sys
import time
import tomllib
from collections.abc import AsyncGenerator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    ExitStack,
    asynccontextmanager,
)
from pathlib import Path
from typing import Any

import anyio
import pytest
from click.testing import CliRunner
from support.loopback import free_port, http, odd_http, shop_over_http
from support.paths import NODE_BIN, ODD, SHOP, SHOP_SCRIPT

from mcprl.cli.commands import cli
from mcprl.config import ServerConfig, ToolPolicy
from mcprl.errors import ServerError, SessionLost
from mcprl.servers.backend import name_servers
from mcprl.servers.identity import identity
from mcprl.servers.scratch import inward
from mcprl.servers.server import Server, connect
from mcprl.types import Call, ToolServer

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("servers_start_as_ever")]
NEEDS_PROC = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are found in /proc")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def counter(fault: str = "", **config: Any) -> ServerConfig:
    return ServerConfig.model_validate({"target": f"{ODD} {fault}".strip(), "timeout_s": 20.0} | config)


def open_server(*configs: ServerConfig, log: Path | None = None, **policy: Any) -> AbstractAsyncContextManager[Server]:
    return connect(configs or [counter()], ToolPolicy(**policy), log=log)


async def call(
    server: ToolServer, tool: str, arguments: dict[str, Any] | None = None, setup: Sequence[Call] = ()
) -> Any:
    """The JSON result of one call in a session of its own."""
    async with server.session(setup) as session:
        result = await session.call(tool, arguments or {})
    assert not result.is_error, result.text
    return result.structured


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"


def environment_of(pid: int) -> dict[str, str]:
    variables = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return dict(variable.split("=", 1) for variable in variables if variable)


def folder_exists(path: str) -> bool:
    return os.path.isdir(path)


@asynccontextmanager
async def a_beating_loop(longest_s: float) -> AsyncGenerator[None]:
    """Fails where the event loop stood still for longer than that."""
    gaps: list[float] = []

    async def beat() -> None:
        while True:
            start = time.monotonic()
            await anyio.sleep(0.01)
            gaps.append(time.monotonic() - start)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(beat)
        yield
        await anyio.sleep(0.02)
        tasks.cancel_scope.cancel()
    assert max(gaps) < longest_s


# --- sessions ---------------------------------------------------------------------------------------------------------


async def test_a_session_sees_its_own_writes_and_no_other_session_does() -> None:
    async with open_server() as server, server.session() as one, server.session() as other:
        await one.call("add", {"n": 5})
        await other.call("add", {"n": 1})
        assert (await one.call("value", {})).structured == {"total": 5}
        assert (await other.call("value", {})).structured == {"total": 1}
        assert await call(server, "value") == {"total": 0}


async def test_sessions_that_only_read_share_one_process() -> None:
    async with open_server() as server, AsyncExitStack() as stack:
        sessions = [await stack.enter_async_context(server.session()) for _ in range(30)]
        pids = {(await session.call("pid", {})).structured["pid"] for session in sessions}
        assert len(pids) == 1


async def test_a_process_that_was_written_to_serves_no_other_session_and_is_ended() -> None:
    async with open_server(counter(processes=2)) as server:
        pids: set[int] = set()
        for _ in range(4):
            async with server.session() as session:
                await session.call("add", {})
                pids.add((await session.call("pid", {})).structured["pid"])
        assert len(pids) == 4
    assert not any(map(runs, pids))


async def test_a_setup_is_made_once_for_all_sessions_that_then_only_read() -> None:
    setup = [Call("add", {"n": 3}), Call("add", {"n": 4})]
    async with open_server(counter(processes=2)) as server:
        first = await call(server, "pid", setup=setup)
        assert await call(server, "value", setup=setup) == {"total": 7}
        assert await call(server, "pid", setup=setup) == first
        async with server.session(setup) as session:
            assert (await session.call("add", {"n": 1})).structured == {"total": 8}
        assert await call(server, "value", setup=setup) == {"total": 7}
        assert await call(server, "value") == {"total": 0}


async def test_writers_wait_their_turn_for_at_most_as_many_processes_as_configured() -> None:
    busy, most = 0, 0
    async with open_server(counter(processes=2, timeout_s=5.0)) as server:

        async def rollout(n: int) -> None:
            nonlocal busy, most
            async with server.session([Call("add", {"n": n})]) as session:
                assert (await session.call("add", {"n": 1})).structured == {"total": n + 1}
                busy += 1
                most = max(most, busy)
                await session.call("sleep", {"seconds": 0.05})
                busy -= 1

        async with anyio.create_task_group() as tasks:
            for n in range(8):
                tasks.start_soon(rollout, n)
    assert most <= 2


async def test_more_states_than_processes_take_turns_and_each_is_set_up_once() -> None:
    pids: dict[int, set[int]] = {}
    async with open_server(counter(processes=2)) as server:

        async def rollout(n: int) -> None:
            async with server.session([Call("add", {"n": n})]) as session:
                for _ in range(4):
                    assert (await session.call("value", {})).structured == {"total": n}
                    pids.setdefault(n, set()).add((await session.call("pid", {})).structured["pid"])

        async with anyio.create_task_group() as tasks:
            for n in (1, 2, 3, 4) * 3:
                tasks.start_soon(rollout, n)
    assert [len(pids[n]) for n in (1, 2, 3, 4)] == [1, 1, 1, 1]


async def test_parallel_calls_of_one_session_see_one_state() -> None:
    async with open_server() as server, server.session() as session:
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(session.call, "add", {})
        assert (await session.call("value", {})).structured == {"total": 5}


async def test_a_setup_that_fails_is_a_lost_session_that_says_which_call() -> None:
    async with open_server() as server:
        with pytest.raises(SessionLost, match="setup call fail failed: ZeroDivisionError"):
            await call(server, "value", setup=[Call("fail")])


async def test_a_scratch_folder_is_fresh_reads_the_same_in_every_session_and_is_removed() -> None:
    async with open_server(counter("scratch {scratch}")) as server:
        async with server.session() as session:
            assert (await session.call("note", {"name": "/scratch/a.txt"})).text == "noted in /scratch/a.txt"
            assert (await session.call("where", {})).structured == {"folder": "/scratch", "files": ["a.txt"]}
            pid = (await session.call("pid", {})).structured["pid"]
            real = os.readlink(f"/proc/{pid}/cwd")
            assert "mcprl-" in real
        assert await call(server, "where") == {"folder": "/scratch", "files": []}
    assert not folder_exists(real)


async def test_a_server_that_names_its_scratch_folder_is_listed_alike_by_each_process() -> None:
    async with open_server(counter("scratch {scratch}")) as server:
        assert server.instructions == "All paths are below /scratch."
        assert server.tools[0].description == "Adds up in /scratch."
    script = {"script": ["cd q\n/scratch/x", "cat\t/scratch", "/scratch-not", "/a/scratch"]}
    assert inward(script, "/tmp/1") == {"script": ["cd q\n/tmp/1/x", "cat\t/tmp/1", "/scratch-not", "/a/scratch"]}


async def test_sessions_that_write_on_two_servers_do_not_wait_for_each_other() -> None:
    async def write(server: Server, first: str, second: str) -> None:
        async with server.session() as session:
            for name in (first, second):
                assert not (await session.call(f"{name}__add", {})).is_error

    async with open_server(*(counter(name=name, processes=1) for name in ("a", "b"))) as server:
        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                for _ in range(2):
                    tasks.start_soon(write, server, "a", "b")
                    tasks.start_soon(write, server, "b", "a")


async def test_after_a_restart_over_http_one_call_does_not_meet_each_forgotten_session_in_turn() -> None:
    port = free_port()
    command = [sys.executable, SHOP_SCRIPT, "--http", port]
    with ExitStack() as first, anyio.fail_after(60):
        url = first.enter_context(http(command, port))
        async with open_server(ServerConfig(target=url)) as server:
            async with AsyncExitStack() as opened:
                for session in [await opened.enter_async_context(server.session()) for _ in range(8)]:
                    assert not (await session.call("list_customers", {"city": "Oslo"})).is_error
            first.close()
            with http(command, port):
                for _ in range(8):
                    async with server.session() as session:
                        assert not (await session.call("list_customers", {"city": "Oslo"})).is_error


async def test_a_scratch_folder_can_be_a_copy_and_the_template_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "seed" / "deep").mkdir(parents=True)
    (tmp_path / "seed" / "deep" / "a.txt").write_text("hello")
    config = counter(f"scratch {{rollout:{tmp_path / 'seed'}}}", env={"HOME": "{rollout}/deep"})
    async with open_server(config) as server:
        for _ in range(2):
            async with server.session() as session:
                assert (await session.call("where", {})).structured["files"] == ["deep"]
                await session.call("note", {"name": "b.txt"})
                assert (await session.call("where", {})).structured["files"] == ["b.txt", "deep"]
                assert (await session.call("environment", {})).structured["HOME"] == "/scratch/deep"
    assert [path.name for path in (tmp_path / "seed").iterdir()] == ["deep"]
    with pytest.raises(ServerError, match=r"cannot copy 'no/such' for \{scratch:no/such\}: No such file"):
        async with open_server(counter("scratch {scratch:no/such}")):
            pass


async def test_a_crash_loses_the_session_and_the_next_one_works() -> None:
    async with open_server() as server:
        for tool in ("crash", "add"):
            async with server.session() as session:
                if tool == "add":
                    await session.call("add", {})
                with pytest.raises(SessionLost, match="exited with status 7"):
                    await session.call("crash", {})
        assert await call(server, "value") == {"total": 0}


async def test_the_last_line_of_a_crash_at_the_start_is_told_however_long_the_traceback(tmp_path: Path) -> None:
    script = tmp_path / "a-folder-with-a-rather-long-name-as-people-have-them" / "server.py"
    script.parent.mkdir()
    script.write_text(
        "def begin_with_settings_that_are_read_from_the_environment():\n"
        "    raise AttributeError(\"'Server' object has no attribute 'list_tools'\")\n"
        "begin_with_settings_that_are_read_from_the_environment()\n"
    )
    with pytest.raises(ServerError) as failed:
        async with open_server(ServerConfig(target=f"{sys.executable} {script}")):
            pass
    said = str(failed.value)
    assert said.endswith("AttributeError: 'Server' object has no attribute 'list_tools'")
    assert "exited with status 1: ..." in said
    assert "^" not in said


async def test_a_call_that_takes_too_long_is_an_error_result_and_the_next_session_is_not_held_up() -> None:
    async with open_server(counter(timeout_s=1.0)) as server:
        async with server.session() as session:
            result = await session.call("sleep", {"seconds": 30})
            assert result.is_error
            assert result.text == "Error: no answer within 1 s"
            assert result.unanswered
            assert 1.0 <= result.latency_s < 3.0
        assert await call(server, "value") == {"total": 0}


async def test_an_error_in_the_body_comes_out_as_itself() -> None:
    with pytest.raises(LookupError, match="nothing left to do"):
        async with open_server() as server, server.session() as session:
            await session.call("add", {})
            raise LookupError("nothing left to do")


@pytest.mark.parametrize("kind", ["grandchild", pytest.param("astray", marks=NEEDS_PROC)])
async def test_leaving_in_the_middle_of_a_call_ends_the_server_and_its_children(tmp_path: Path, kind: str) -> None:
    note, pid = tmp_path / "grandchild", 0
    with anyio.move_on_after(1.0) as scope:
        async with open_server(counter(f"{kind} {note}")) as server, server.session() as session:
            pid = (await session.call("pid", {})).structured["pid"]
            await session.call("sleep", {"seconds": 30})
    assert scope.cancelled_caught
    assert pid
    assert not runs(pid)
    assert not runs(int(note.read_text()))


# --- tools ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "allowed", "tool", "reason"),
    [
        ({}, {"add", "value", "note"}, "wipe", "marked destructive"),
        ({"allow_destructive": True}, {"wipe", "value"}, "", ""),
        ({"allow": ["wipe", "value"]}, {"wipe", "value"}, "add", "not among --allow-tool"),
        ({"allow": ["w*"]}, {"where"}, "wipe", "marked destructive"),
        ({"read_only": True}, {"value", "pid"}, "add", "not marked read-only"),
        ({"deny": ["*a*"]}, {"pid"}, "value", "denied by --deny-tool"),
    ],
)
async def test_the_policy_says_which_tools_are_left_out_and_why(
    policy: dict[str, Any], allowed: set[str], tool: str, reason: str
) -> None:
    async with open_server(**policy) as server:
        assert allowed <= {tool.name for tool in server.tools}
        reasons = {status.name: status.reason for status in server.listing if not status.allowed}
        if tool:
            assert reasons[tool].startswith(reason)
            async with server.session() as session:
                result = await session.call(tool, {})
            assert result.is_error
            assert result.text.startswith(f"Error: there is no tool '{tool}'. The tools are: ")


async def test_tools_of_several_servers_are_qualified_and_reach_their_own_server() -> None:
    async with open_server(counter(name="left"), counter(name="right")) as server:
        assert {"left__add", "right__add"} <= {tool.name for tool in server.tools}
        async with server.session([Call("left__add", {"n": 5})]) as session:
            await session.call("right__add", {"n": 2})
            assert (await session.call("left__value", {})).structured == {"total": 5}
            assert (await session.call("right__value", {})).structured == {"total": 2}


async def test_a_malformed_tool_is_named_and_left_out_and_the_others_stay() -> None:
    async with open_server(counter("malformed")) as server:
        malformed = {status.name: status.reason for status in server.listing if status.tool is None}
        assert set(malformed) == {"broken", "(no name)", "list"}
        assert malformed["broken"].startswith("malformed: inputSchema")
        assert await call(server, "value") == {"total": 0}


@pytest.mark.parametrize(
    ("fault", "note"),
    [("same-cursor", "came back to its cursor"), ("endless", "did not end"), ("half-listed", "stopped after 1 page")],
)
async def test_a_listing_without_an_end_is_cut_and_noted(fault: str, note: str) -> None:
    async with open_server(counter(fault, timeout_s=2.0 if fault == "half-listed" else 20.0)) as server:
        assert len({tool.name for tool in server.tools}) == len(server.tools) == 12
        assert note in server.describe()[0].notes[0]


@pytest.mark.parametrize(
    ("limit", "expected"),
    [(2_000, "Orders before customers."), (6, "Orders... [cut 18 bytes]"), (0, "")],
)
async def test_the_servers_instructions_are_for_the_model_and_capped(limit: int, expected: str) -> None:
    teacher = counter("instructions ' Orders before customers. '")
    async with open_server(teacher, max_instruction_bytes=limit) as server:
        assert server.instructions == expected
        assert server.describe()[0].instructions == "Orders before customers."


async def test_instructions_of_several_servers_bear_their_names() -> None:
    left, right = (counter(f"instructions 'Ask {name}.'", name=name) for name in ("left", "right"))
    async with open_server(left, counter(name="silent"), right) as server:
        assert server.instructions == "left: Ask left.\n\nright: Ask right."
    async with open_server() as server:
        assert server.instructions == ""


# --- what the SDK does not guard against ------------------------------------------------------------------------------


async def test_a_pattern_that_explodes_does_not_stop_the_loop() -> None:
    async with open_server() as server, a_beating_loop(longest_s=2.0):
        assert await call(server, "bomb") == {"x": "a" * 40 + "!"}


async def test_a_long_reply_is_cut_with_a_marker_and_a_huge_one_is_refused() -> None:
    async with open_server(max_result_bytes=1000) as server, server.session() as session:
        long = await session.call("big", {"n": 50_000})
        assert long.text == "x" * 1000 + "... [cut 49000 bytes]"
        assert long.cut_bytes == 49_000
        async with a_beating_loop(longest_s=2.0):
            huge = await session.call("big", {"n": 100 * 2**20})
        assert huge.is_error
        assert "longer than 2097152 bytes" in huge.text
        assert (await session.call("value", {})).structured == {"total": 0}


async def test_what_a_server_prints_goes_to_the_log_in_a_few_lines(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with open_server(counter("flood"), log=tmp_path / "server.log") as server:
        assert await call(server, "value") == {"total": 0}
    with pytest.raises(ServerError):
        async with open_server(counter("exit"), log=tmp_path / "server.log"):
            pass
    log = (tmp_path / "server.log").read_text()
    assert log.count("this is not JSON-RPC") == 3
    assert "cannot find my licence" in log
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("target", "cause"),
    [
        (f"{ODD} mute", "no answer within 2 s"),
        (f"{ODD} unlisted", "listing its tools failed: no answer within 2 s"),
        (f"{ODD} exit", "exited with status 1"),
        ("no-such-program --at-all", "'no-such-program': no such command"),
        ("python 'unclosed", "No closing quotation"),
        ("http://127.0.0.1:1/mcp", "cannot connect"),
        ("localhost:8000/mcp", "a URL starts with http://"),
    ],
)
async def test_a_server_that_cannot_be_used_is_one_line_in_time(
    target: str, cause: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with anyio.fail_after(8), pytest.raises(ServerError) as caught:
        async with open_server(ServerConfig(target=target, timeout_s=2.0)):
            pass
    assert cause in str(caught.value)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        ("page", "Unexpected content type: text/html"),
        ("401", "refused with HTTP 401; give credentials with --header"),
        ("404", "HTTP 404, not an MCP endpoint; check the path"),
        ("500", "failed with HTTP 500"),
    ],
)
async def test_a_url_that_is_not_an_open_mcp_endpoint_is_one_line(fault: str, cause: str) -> None:
    with odd_http(fault) as url, anyio.fail_after(10), pytest.raises(ServerError) as caught:
        async with open_server(ServerConfig(target=url, timeout_s=5.0)):
            pass
    assert cause in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_an_http_server_that_dies_in_a_call_loses_the_session_and_nothing_hangs() -> None:
    with odd_http("none") as url, anyio.fail_after(20):
        async with open_server(ServerConfig(target=url, timeout_s=5.0), sandbox=True) as server:
            async with server.session() as session:
                assert (await session.call("echo", {})).text == "xx"
                with pytest.raises(SessionLost):
                    await session.call("die", {})
                with pytest.raises(SessionLost):
                    await session.call("echo", {})
            async with server.session() as session:
                with pytest.raises(SessionLost, match="cannot connect"):
                    await session.call("echo", {})


async def test_a_huge_reply_over_http_is_an_error_result() -> None:
    with odd_http("none") as url:
        async with open_server(ServerConfig(target=url), sandbox=True) as server, server.session() as session:
            result = await session.call("huge", {})
            assert result.is_error
            assert "longer than 2097152 bytes" in result.text
            assert (await session.call("echo", {})).text == "xx"


async def test_secrets_come_from_the_environment_and_are_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    with odd_http("key") as url:
        config = ServerConfig(target=url, headers={"Authorization": "Bearer $SHOP_KEY"})
        with pytest.raises(ServerError, match=r"the header Authorization wants \$SHOP_KEY"):
            async with open_server(config):
                pass
        monkeypatch.setenv("SHOP_KEY", "sesame")
        async with open_server(config.model_copy(update={"target": f"{url}?key=hidden"})) as server:
            assert "sesame" not in repr(server.describe())
            assert "hidden" not in repr(server.describe())


@pytest.mark.parametrize("fault", ["echo-200", "echo-401", "echo-500", "echo-broken"])
async def test_a_server_that_echoes_credentials_in_an_error_does_not_get_them_shown(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_KEY", "sesame-street")
    headers = {"Authorization": "Bearer $SHOP_KEY", "X-Tenant": "tenant-4711"}
    texts: list[str] = []
    with odd_http(fault) as url:
        try:
            config = ServerConfig(target=url, headers=headers)
            async with open_server(config, log=tmp_path / "server.log", sandbox=True) as server:
                async with server.session() as session:
                    texts.append((await session.call("echo", {})).text)
                async with server.session([Call("echo")]) as session:
                    await session.call("echo", {})
        except ServerError as error:
            texts.append(str(error))
    assert len(texts) == (1 if fault == "echo-200" else 2)
    texts.append((tmp_path / "server.log").read_text())
    assert not [text for text in texts if re.search("street|4711", text)]  # pydantic shows their beginnings and ends
    assert all("no entry for Bearer *** and ***" in text for text in texts[:-1]) or fault == "echo-broken"


async def test_a_secret_in_the_command_is_no_part_of_what_is_shown() -> None:
    config = ServerConfig(target=f"{ODD} --api-key sk-verysecret")
    async with open_server(config, config) as server:
        assert "sk-verysecret" not in repr((server.describe(), server.listing))
        async with server.session() as session:
            with pytest.raises(SessionLost) as lost:
                await session.call(server.tools[0].name.replace("add", "crash"), {})
        assert str(lost.value).endswith("odd_stdio.py --api-key *** exited with status 7")
    for target in ("TOKEN=sk-verysecret serve", "serve 'unclosed --token sk-verysecret", "serve --token sk-verysecret"):
        with pytest.raises(ServerError) as refused:
            async with open_server(ServerConfig(target=target)):
                pass
        assert "sk-verysecret" not in str(refused.value)


async def test_the_advised_header_is_one_that_the_command_line_takes() -> None:
    with odd_http("401") as url, pytest.raises(ServerError) as caught:
        async with open_server(ServerConfig(target=url, timeout_s=5.0)):
            pass
    advised = re.search(r"--header '[^']+'", str(caught.value))
    assert advised
    command = ["inspect", "--server", "http://h/mcp", *shlex.split(advised.group()), "--print-config"]
    result = CliRunner().invoke(cli, command)
    assert result.exit_code == 0, result.output
    assert set(tomllib.loads(result.output)["servers"][0]["headers"]) == {"Authorization"}


async def test_a_stdio_server_gets_the_given_environment_and_nothing_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_SECRET", "sesame")
    monkeypatch.setenv("THEIR_KEY", "for them")
    async with open_server(counter(env={"KEY": "$THEIR_KEY"}), max_result_bytes=100_000) as server:
        pid = (await call(server, "pid"))["pid"]
        environment = environment_of(pid)
        assert (await call(server, "environment"))["KEY"] == "***"
    assert environment["KEY"] == "for them"
    assert not {"OUR_SECRET", "THEIR_KEY"} & set(environment)


# --- real servers -----------------------------------------------------------------------------------------------------


async def use_the_shop(server: Server) -> None:
    order = await call(server, "get_order", {"order_id": "O-2001"})
    wanted = "open" if order["status"] != "open" else "paid"
    async with server.session() as session:
        assert not (await session.call("set_order_status", {"order_id": "O-2001", "status": wanted})).is_error
        assert (await session.call("get_order", {"order_id": "O-2001"})).structured["status"] == wanted
        assert await call(server, "get_order", {"order_id": "O-2001"}) == order
        missing = await session.call("get_order", {"order_id": "O-999"})
    assert missing.is_error
    assert missing.text.endswith("No order O-999")


async def test_the_example_shop_keeps_its_sessions_apart_on_stdio() -> None:
    async with open_server(ServerConfig(target=SHOP)) as server:
        assert len(server.tools) == 8
        assert (server.describe()[0].name, server.describe()[0].transport) == ("shop", "stdio")
        assert await call(server, "list_customers", {"city": "nowhere"}) == []
        await use_the_shop(server)


async def test_the_example_shop_keeps_its_sessions_apart_over_http() -> None:
    with shop_over_http() as url:
        async with open_server(ServerConfig(target=url)) as server:
            assert server.describe()[0].sessions == "apart: a session id each"
            await use_the_shop(server)


def node(name: str) -> str:
    program = NODE_BIN / name
    if not program.exists() or shutil.which("node") is None:
        pytest.skip(f"{name} is not installed: run npm install here, or set MCPRL_NODE_BIN to a node_modules/.bin")
    return str(program)


async def test_the_time_server_answers() -> None:
    if shutil.which("mcp-server-time", path=str(Path(sys.executable).parent)) is None:
        pytest.skip("mcp-server-time is not installed: pip install mcp-server-time")
    async with open_server(ServerConfig(target="mcp-server-time --local-timezone UTC")) as server:
        result = await call(server, "get_current_time", {"timezone": "Europe/Paris"})
        assert result["timezone"] == "Europe/Paris"


@pytest.mark.npm
async def test_the_memory_server_starts_empty_for_each_session() -> None:
    config = ServerConfig(target=node("mcp-server-memory"), env={"MEMORY_FILE_PATH": "{scratch}/memory.json"})
    ada = Call("create_entities", {"entities": [{"name": "Ada", "entityType": "person", "observations": ["codes"]}]})
    async with open_server(config) as server:
        assert [entity["name"] for entity in (await call(server, "read_graph", setup=[ada]))["entities"]] == ["Ada"]
        assert (await call(server, "read_graph"))["entities"] == []
        assert not {"delete_entities", "delete_relations"} & {tool.name for tool in server.tools}


@pytest.mark.parametrize(
    "config",
    [
        ServerConfig(target=SHOP, env={"FILE": "***"}),
        ServerConfig(target="http://127.0.0.1:9/mcp", headers={"X-Key": "***"}),
    ],
    ids=["env", "header"],
)
async def test_what_stands_for_a_secret_in_a_run_s_configuration_is_no_value(config: ServerConfig) -> None:
    with pytest.raises(ServerError, match=r"(variable FILE|header X-Key) is \*\*\*, which stands for"):
        async with open_server(config):
            pass


@pytest.mark.npm
async def test_the_filesystem_server_gets_a_scratch_folder_for_each_session() -> None:
    config = ServerConfig(target=f"{node('mcp-server-filesystem')} {{scratch}}")
    write = Call("write_file", {"path": "a.txt", "content": "hello"})
    async with open_server(config, allow_destructive=True) as server:
        async with server.session([write]) as session:
            assert (await session.call("read_text_file", {"path": "/scratch/a.txt"})).text == "hello"
            assert (await session.call("list_allowed_directories", {})).text.endswith("/scratch")
        async with server.session() as session:
            assert (await session.call("read_text_file", {"path": "a.txt"})).is_error


@pytest.mark.npm
async def test_the_memory_and_the_filesystem_server_start_from_a_template_each_time(tmp_path: Path) -> None:
    seed = {"type": "entity", "name": "Ada", "entityType": "person", "observations": []}
    (tmp_path / "memory.jsonl").write_text(json.dumps(seed) + "\n")
    servers = [
        ServerConfig(
            name="memory",
            target=node("mcp-server-memory"),
            env={"MEMORY_FILE_PATH": f"{{rollout:{tmp_path}}}/memory.jsonl"},
        ),
        ServerConfig(name="files", target=f"{node('mcp-server-filesystem')} {{rollout:{tmp_path}}}"),
    ]
    bob = {"name": "Bob", "entityType": "person", "observations": []}
    async with open_server(*servers, allow_destructive=True) as server:
        for _ in range(2):
            async with server.session() as session:
                graph = (await session.call("memory__read_graph", {})).structured
                assert [entity["name"] for entity in graph["entities"]] == ["Ada"]
                await session.call("memory__create_entities", {"entities": [bob]})
                listing = await session.call("files__list_directory", {"path": "/scratch"})
                assert listing.text == "[FILE] memory.jsonl"
                await session.call("files__write_file", {"path": "/scratch/new.txt", "content": "x"})
    assert os.listdir(tmp_path) == ["memory.jsonl"]
    assert "Bob" not in (tmp_path / "memory.jsonl").read_text()


@pytest.mark.npm
@pytest.mark.parametrize(("transport", "path"), [("streamableHttp", "mcp"), ("sse", "sse")])
async def test_the_everything_server_answers_over_http(
    transport: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    monkeypatch.setenv("PORT", str(port))
    with http([node("mcp-server-everything"), transport], port, path) as url:
        async with open_server(ServerConfig(target=url)) as server:
            async with server.session() as session:
                assert "12" in (await session.call("get-sum", {"a": 5, "b": 7})).text
                assert "[image image/png, " in (await session.call("get-tiny-image", {})).text
                assert "[resource " in (await session.call("get-resource-links", {"count": 2})).text
            assert server.describe()[0].sessions.startswith("apart")
            assert len(await server.resources()) > 0


async def test_a_module_is_not_taken_for_the_folder_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "odd_one"
    package.mkdir()
    shutil.copy(ODD.split()[1], package / "__main__.py")
    monkeypatch.chdir(tmp_path)
    async with open_server(counter(target=f"env PYTHONPATH={tmp_path} {sys.executable} -m odd_one")) as server:
        assert await call(server, "value") == {"total": 0}
    in_scratch = f"env PYTHONPATH={tmp_path} FOLDER={{scratch}} {sys.executable} -m odd_one"
    async with open_server(counter(target=in_scratch)) as server:
        assert await call(server, "value") == {"total": 0}


def test_servers_of_like_names_are_all_there() -> None:
    configs = [ServerConfig(target=f"python {name}.py") for name in ("shop2", "shop", "shop", "shop2")]
    assert [name for _, name in name_servers(configs)] == ["shop2", "shop", "shop3", "shop22"]
    assert [config for config, _ in name_servers(configs)] == configs


def test_servers_that_only_secrets_variables_or_folders_tell_apart_are_different_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "server.py").touch()
    plain = ServerConfig(target="http://127.0.0.1:8000/mcp")
    assert identity(plain) == plain.target
    monkeypatch.setenv("MCPRL_TEST_DB", "staging")
    servers = [
        plain,
        *(ServerConfig(target=f"{plain.target}?project={name}") for name in ("staging", "production")),
        ServerConfig(target=plain.target, headers={"X-Tenant": "a"}),
        ServerConfig(target="python server.py"),
        *(ServerConfig(target="python server.py", env={"DB": value}) for value in ("production", "$MCPRL_TEST_DB")),
    ]
    known = [identity(server) for server in servers]
    assert known == [identity(server) for server in servers]
    monkeypatch.setenv("MCPRL_TEST_DB", "another")
    monkeypatch.chdir(tmp_path)
    assert identity(servers[-1]) != known[-1]
    assert identity(servers[4]) != known[4]
    assert len({*known}) == len(servers)
    assert "staging" not in " ".join(known)
