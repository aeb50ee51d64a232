"""Random actions of a policy on every server that the tests have: what reaches a server is what the operator allows.

A pipe before each server writes down what arrives there, so that neither the server nor this program is believed.
"""

import json
import random
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.listed import DANGEROUS, HOTEL, Listed, listed
from support.paths import NODE_BIN, ODD, SERVERS, SHOP
from support.policies import HINTS, allowed, near, random_policy

from mcprl.config import ServerConfig, ToolPolicy
from mcprl.errors import SessionLost
from mcprl.servers.server import Server, connect

pytestmark = [pytest.mark.anyio, pytest.mark.torture, pytest.mark.timeout(1800)]
ACTIONS, POLICIES = 10_000, 3
SLOW = ("sleep", "trigger-long-running-operation", "big", "crash", "simulate-research-query")
"""Tools that wait, flood or end their server: they are always denied, so a call of one is a call outside the policy."""


def commands(folder: Path) -> dict[str, str]:
    """All servers by name, as commands."""
    own = {
        "lending": folder / "lending.json",
        "shared_notes": folder / "notes.json",
        "canary": "http://127.0.0.1:9",
        **dict.fromkeys(("many", "text_store", "leaky", "changing"), ""),
    }
    found = {"shop": SHOP, "odd": ODD} | {
        name: f"{sys.executable} {SERVERS / name}.py {argument}" for name, argument in own.items()
    }
    if time := shutil.which("mcp-server-time", path=str(Path(sys.executable).parent)):
        found["time"] = f"{time} --local-timezone UTC"
    for name, arguments in {"everything": "stdio", "filesystem": str(folder), "memory": ""}.items():
        if (program := NODE_BIN / f"mcp-server-{name}").exists():
            found[name] = f"{program} {arguments}"
    rng = random.Random(5)
    names = [each["name"] for tools in DANGEROUS.values() for each in tools]
    for number in range(3):
        lying = [listed(name, "", rng.choice(HINTS)) for name in names]
        found[f"lying {number}"] = Listed(folder / f"lying{number}", [*HOTEL, *lying]).command
    return found


MARKS: dict[str, dict[str, bool]] = {
    "unmarked": {},
    "read-only": {"readOnlyHint": True},
    "writes": {"readOnlyHint": False, "destructiveHint": False},
    "destructive": {"destructiveHint": True},
}
"""What a server says of its tools, as it may say it."""


def arrived(log: Path) -> set[str]:
    """The tools whose calls got to the server."""
    lines = (json.loads(line) for line in log.read_text().splitlines())
    return {line["params"]["name"] for line in lines if line.get("method") == "tools/call"}


async def act(server: Server, names: list[str], actions: int, rng: random.Random) -> None:
    """Call tools at random, rightly and wrongly spelled, in a new session if one is lost."""
    done = 0
    while done < actions:
        try:
            async with server.session() as session:
                while done < actions:
                    done += 1
                    name = near(rng.choice(names), rng)
                    await session.call(name, rng.choice([{}, {"id": "x"}, {"path": "a"}, {"a": 1, "b": 2}]))
        except SessionLost:
            pass


async def test_ten_thousand_random_actions_on_all_servers_reach_only_what_is_allowed(
    tmp_path: Path, count: Callable[..., None]
) -> None:
    rng = random.Random(14)
    servers = commands(tmp_path)
    each = -(-ACTIONS // (len(servers) * POLICIES))
    outside, reached, sent = [], 0, 0
    for label, command in servers.items():
        async with connect([ServerConfig(target=command)], ToolPolicy(sandbox=True)) as server:
            shown = [
                status for status in server.listing if status.tool and not status.reason.startswith("listed twice")
            ]
        tools = [listed(status.name, "", MARKS[status.marked]) for status in shown]
        names = [tool["name"] for tool in tools]
        for number in range(POLICIES):
            log = tmp_path / f"{label} {number}.log"
            watched = f"sh -c {shlex.quote(f'tee -a {shlex.quote(str(log))} | {command}')}"
            policy = random_policy(rng, names)
            policy["deny"] = [*policy.get("deny", []), *{*SLOW} & {*names}]
            may = {tool["name"] for tool in tools if allowed(tool, policy)}
            async with connect([ServerConfig(target=watched, timeout_s=20)], ToolPolicy(**policy)) as server:
                assert {tool.name for tool in server.tools} == may, (label, policy)
                await act(server, names, each, rng)
            sent += each
            got = arrived(log)
            reached += len(got)
            outside += [f"{label}: {name}" for name in got - may]
    count("random actions", servers=len(servers), sent=sent, tools_reached=reached, outside=len(outside))
    assert not outside
    assert sent >= ACTIONS
    assert reached > 100
