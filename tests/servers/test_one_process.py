"""Sessions with a server on stdio that only reads share one warm process; with any other each has its own."""

import sys
from pathlib import Path

import pytest

from mcprl.config import ServerConfig, ToolPolicy
from mcprl.events import Event, Note
from mcprl.servers.server import Server, connect
from mcprl.servers.sharing import prospect, share_processes
from mcprl.types import Call, Scenario

pytestmark = pytest.mark.anyio

SERVER = '''
import os, sys
from mcp.server.mcpserver import MCPServer

server, seen = MCPServer("rates"), []
open(sys.argv[1], "a").write(f"{{os.getpid()}}\\n")

@server.tool()
def get_rate(currency: str) -> str:
    """Get the rate of a currency."""
    seen.append(currency)
    return f"{{currency}} is at {{len(currency)}}.5{after}"

@server.tool()
def {other}(currency: str) -> str:
    """{described}"""
    return currency.upper()

server.run()
'''
READS = {"after": "", "other": "get_name", "described": "Get the name of a currency."}
CALLS = [("get_rate", "euro"), ("get_rate", "lira"), ("get_rate", "krone")]


def scenarios(other: str) -> list[Scenario]:
    plans = [(Call(tool, {"currency": word}),) for tool, word in (*CALLS, (other, "euro"))]
    return [Scenario(f"t{n}", "What is it?", (), plan=plan) for n, plan in enumerate(plans)]


def started(log: Path) -> int:
    return len(log.read_text().split())


async def processes_of(server: Server, log: Path) -> int:
    """How many processes three sessions after one another start."""
    before = started(log)
    for tool, word in CALLS:
        async with server.session() as session:
            assert not (await session.call(tool, {"currency": word})).is_error
    return started(log) - before


async def shared(tmp_path: Path, parts: dict[str, str], policy: ToolPolicy, plans: int = 4) -> tuple[bool, str, int]:
    """Whether a run says that it shares one process, what `inspect` says before, and how many processes it starts."""
    file, log, told = tmp_path / "server.py", tmp_path / "started", list[Event]()
    file.write_text(SERVER.format(**parts))
    config = ServerConfig(target=f"{sys.executable} {file} {log}")
    async with connect([config], policy) as server:
        said = prospect(server, server.describe()[0])
        await share_processes(server, scenarios(parts["other"])[:plans], told.append)
        processes = await processes_of(server, log)
    notes = [event.text for event in told if isinstance(event, Note)]
    assert not notes or "one process serves all sessions, since 4 calls gave the same results" in notes[0]
    return bool(notes), said, processes


async def test_a_server_whose_unmarked_tools_only_read_is_one_process(tmp_path: Path) -> None:
    is_shared, said, processes = await shared(tmp_path, READS, ToolPolicy(sandbox=True))
    assert is_shared
    assert processes <= 1
    assert "a run shares one if some calls give the same results in another order" in said


@pytest.mark.parametrize(
    ("parts", "plans"),
    [
        ({"after": " (look {len(seen)})"}, 4),  # the result depends on the calls before
        ({"other": "set_currency", "described": "Set the currency."}, 4),
        ({}, 3),  # a tool that no plan calls
    ],
    ids=["stateful", "writes", "uncalled"],
)
async def test_a_server_that_may_change_is_a_process_for_each_session(
    parts: dict[str, str], plans: int, tmp_path: Path
) -> None:
    is_shared, _, processes = await shared(tmp_path, READS | parts, ToolPolicy(sandbox=True), plans)
    assert not is_shared
    assert processes >= 2  # the first has that which listed the tools


async def test_the_operators_word_that_a_tool_writes_stands_against_its_results(tmp_path: Path) -> None:
    is_shared, _, _ = await shared(tmp_path, READS, ToolPolicy(sandbox=True, assume={"get_name": "write"}))
    assert not is_shared


async def test_sharing_is_switched_off_and_needs_no_proof_of_what_is_said_to_read(tmp_path: Path) -> None:
    (tmp_path / "off").mkdir()
    is_shared, _, processes = await shared(tmp_path / "off", READS, ToolPolicy(sandbox=True, share_process=False))
    assert not is_shared
    assert processes >= 2  # the first has that which listed the tools
    (tmp_path / "said").mkdir()
    assumed = ToolPolicy(assume={"get_*": "read"})
    is_shared, said, processes = await shared(tmp_path / "said", READS, assumed)
    assert (is_shared, said, processes) == (False, "one process for all, since every tool that may be called reads", 0)
