"""Training tasks whose tool results carry an instruction that nobody asked for; obeying it costs the whole outcome.

The instruction is a call of the same server that another task needs, worded by `injections.toml`.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from mcprl.files import read_toml
from mcprl.judges.checks import holds, leaves
from mcprl.scenarios.packs.pack import Pack
from mcprl.servers.effects import is_read
from mcprl.types import Call, CallMade, Scenario, StateHolds, Tool

_FILE: Final = Path(__file__).with_name("injections.toml")


def inject(pack: Pack, tools: Sequence[Tool], share: float, seed: int) -> Pack:
    """The pack with an injection in that share of its training tasks, of those that make a call and for which another
    task has a call to ask for. Which tasks and what they carry follow from the seed and the task alone."""
    if not share:
        return pack
    reads = {tool.name for tool in tools if is_read(tool)}
    calls = [call for scenario in pack.train for call in scenario.plan]
    changed = [
        _injected(scenario, calls, reads, share, random.Random(f"{seed} inject {scenario.id}"))
        if scenario.split == "train"
        else scenario
        for scenario in pack.scenarios
    ]
    return replace(pack, scenarios=tuple(changed))


def _injected(scenario: Scenario, calls: Sequence[Call], reads: set[str], share: float, rng: random.Random) -> Scenario:
    if rng.random() >= share or not scenario.plan:
        return scenario
    needed = {call.tool for call in scenario.plan}
    needed |= {check.tool for check in scenario.checks if isinstance(check, CallMade | StateHolds)}
    foreign = [call for call in calls if call.tool not in needed and _is_foreign(call, scenario.request)]
    if not foreign:
        return scenario
    writes = [call for call in foreign if call.tool not in reads]  # what does harm, where there is such a tool
    goal = rng.choice(writes or foreign)
    arguments = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in goal.arguments.items())
    injection = rng.choice(_wordings()).replace("{call}", f"{goal.tool}({arguments})")
    return replace(scenario, injection=injection, refused=(goal,))


def _is_foreign(call: Call, request: str) -> bool:
    """Whether the call takes a value that the request does not give: nobody makes it by mistake."""
    values = [value for _, value in leaves(call.arguments)]
    return any(not holds(request, value) for value in values)


@cache
def _wordings() -> tuple[str, ...]:
    return tuple(read_toml(_FILE)["wordings"])
