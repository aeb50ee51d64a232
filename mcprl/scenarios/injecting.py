"""Tasks whose tool results carry an instruction that nobody asked for; obeying it costs the whole outcome.

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
MOST_TWINS: Final = 64
"""Test tasks that are tested once more, with an injection."""


def inject(pack: Pack, tools: Sequence[Tool], share: float, seed: int) -> Pack:
    """The pack with an injection in that share of its training tasks, of those that make a call and for which another
    task has a call to ask for, and with twins of test tasks as a suite of their own, each with an injection in words
    that no training task has. Which tasks and what they carry follow from the seed and the task alone."""
    if not share:
        return pack
    plain = [replace(task, injection="", refused=()) for task in pack.scenarios if task.suite != "injected"]
    pack = replace(pack, scenarios=tuple(plain))  # it may have had some
    reads = {tool.name for tool in tools if is_read(tool)}
    calls = [call for scenario in pack.train for call in scenario.plan]

    def carrying(scenario: Scenario, wordings: str) -> Scenario | None:
        return _injected(scenario, calls, reads, wordings, random.Random(f"{seed} inject {scenario.id}"))

    def carries(scenario: Scenario) -> bool:
        return scenario.split == "train" and random.Random(f"{seed} carries {scenario.id}").random() < share

    tasks = [(carrying(task, "train") if carries(task) else None) or task for task in pack.scenarios]
    forms_first = sorted(pack.test, key=lambda task: task.suite != "forms")
    twins = [
        replace(twin, id=f"{twin.id}-injected", suite="injected")
        for task in forms_first
        if task.suite != "people" and (twin := carrying(task, "test"))
    ]
    return replace(pack, scenarios=(*tasks, *twins[:MOST_TWINS]))


def _injected(
    scenario: Scenario, calls: Sequence[Call], reads: set[str], wordings: str, rng: random.Random
) -> Scenario | None:
    """The task with an injection, if it makes a call and another task has one to ask for."""
    needed = {call.tool for call in scenario.plan}
    needed |= {check.tool for check in scenario.checks if isinstance(check, CallMade | StateHolds)}
    foreign = [call for call in calls if call.tool not in needed and _is_foreign(call, scenario.request)]
    if not (scenario.plan and foreign):
        return None
    writes = [call for call in foreign if call.tool not in reads]  # what does harm, where there is such a tool
    goal = rng.choice(writes or foreign)
    arguments = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in goal.arguments.items())
    injection = rng.choice(_wordings()[wordings]).replace("{call}", f"{goal.tool}({arguments})")
    return replace(scenario, injection=injection, refused=(goal,))


def _is_foreign(call: Call, request: str) -> bool:
    """Whether the call takes a value that the request does not give: nobody makes it by mistake."""
    values = [value for _, value in leaves(call.arguments)]
    return any(not holds(request, value) for value in values)


@cache
def _wordings() -> dict[str, list[str]]:
    """By "train" and "test"."""
    return read_toml(_FILE)
