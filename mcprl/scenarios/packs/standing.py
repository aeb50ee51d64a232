"""Whether tasks that were made before still hold on their server, whose data may have changed since."""

from collections.abc import Sequence
from functools import partial

import anyio

from mcprl.errors import SessionLost
from mcprl.events import Emit, Note
from mcprl.judges.adversaries import Move, play
from mcprl.judges.verifier import Verifier
from mcprl.servers.effects import writes
from mcprl.servers.retries import again_if_lost
from mcprl.servers.server import Server
from mcprl.text import counted, shortened
from mcprl.types import Scenario

_PLAYED = 12
"""Tasks that are played: if a third of all do not hold, one of these shows it in 99 of 100 packs."""
_MOST_S = 60.0
"""Seconds after which no further task is played."""


async def standing(server: Server, scenarios: Sequence[Scenario], emit: Emit) -> float | None:
    """The share of tasks whose own plan and answer still pass their checks, with a note if it is not all.

    At most `_PLAYED`, evenly spread, are played one after another. Those that write are only if the state is reset, as
    they would change what the others ask about; none is where calls are limited, asked for or only repeated. Those
    whose calls the server did not answer do not count. `None` if no task does. Raises `ServerError` if a reset fails.
    """
    playable = [scenario for scenario in scenarios if _may_be_played(server, scenario)]
    count = min(_PLAYED, len(playable))
    verifier = Verifier(server.tools)
    fallen: list[tuple[Scenario, str]] = []
    played = 0
    with anyio.move_on_after(_MOST_S):
        for scenario in (playable[number * len(playable) // count] for number in range(count)):
            move = Move(scenario.plan, scenario.answer)
            try:
                trajectory = await again_if_lost(partial(play, server, scenario, move))
            except SessionLost:
                continue
            results = [record.result for record in trajectory.calls]
            if any(result.unanswered for result in (*trajectory.before, *results, *trajectory.state)):
                continue
            score = verifier.verify(scenario, trajectory)
            played += 1
            fallen += [] if score.success else [(scenario, score.explanation)]
    if fallen:
        scenario, why = fallen[0]
        emit(
            Note(
                f"{len(fallen)} of {counted(played, 'task')} made before did not pass with their own plan and answer, "
                f"such as {shortened(repr(scenario.request), 100)} ({shortened(why, 200)}): the server's data or "
                "settings are not what they were made with; bring those back, or make new tasks"
            )
        )
    return 1 - len(fallen) / played if played else None


def _may_be_played(server: Server, scenario: Scenario) -> bool:
    policy = server.policy
    spared = policy.max_calls_per_tool or policy.max_rate or policy.approve or server.repeats
    checked = scenario.checks and not scenario.reward_check
    whole = scenario.plan and scenario.answer and checked and not scenario.injection
    return bool(whole) and not spared and (server.resets or not writes(scenario, server.tools))
