"""What tests make once and share: what probing found out about a server, and sessions of plans that only read."""

from collections.abc import Generator, Iterable
from copy import deepcopy
from typing import Any

import pytest

from mcprl.events import Emit, ignore
from mcprl.scenarios.packs.pack import tool_hash
from mcprl.scenarios.probing.hints import Hints
from mcprl.scenarios.probing.knowledge import Knowledge
from mcprl.scenarios.probing.probe import probe
from mcprl.servers.effects import writes
from mcprl.servers.server import Server
from mcprl.types import Scenario, Trajectory
from support.trajectories import replay_in

_KNOWN: dict[str, Knowledge] = {}


async def _probe(
    server: Any, seed: int, budget: int = 400, emit: Emit = ignore, hints: Hints | None = None
) -> Knowledge:
    """As `probe`; a second call for the same tools gets a copy of what the first found out."""
    key = repr((tool_hash(server.tools), [tool.name for tool in server.tools], seed, budget, hints))
    if key not in _KNOWN:
        _KNOWN[key] = await probe(server, seed, budget, emit, hints)
    return deepcopy(_KNOWN[key])


def remembered_probes() -> Generator[None]:
    """Lets `generate` probe equal servers once and play the adversaries on one task only: for tests of what comes after
    the probing and before the pack's quality."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mcprl.scenarios.generate.probe", _probe)
        patch.setattr("mcprl.scenarios.generate._PLAYED", 1)
        yield


async def replayed(server: Server, scenarios: Iterable[Scenario]) -> list[Trajectory]:
    """Each scenario's plan and answer as a trajectory: those that write in a session each, the others in one."""
    made: list[Trajectory] = []
    async with server.session() as reading:
        for scenario in scenarios:
            if scenario.setup or writes(scenario, server.tools):
                async with server.session(scenario.setup) as own:
                    made.append(await replay_in(own, scenario))
            else:
                made.append(await replay_in(reading, scenario))
    return made
