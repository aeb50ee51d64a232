"""Whether tasks that were made before still hold on their server, whose data may have changed since."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial

import anyio

from mcprl.errors import ServerError
from mcprl.events import Emit, Note
from mcprl.judges.adversaries import Move, play
from mcprl.judges.verifier import Verifier
from mcprl.servers.retries import again_if_lost
from mcprl.text import counted, shortened
from mcprl.types import Scenario, ToolServer

_PLAYED = 12
"""Tasks that are played: if a third of all do not hold, one of these shows it in 99 of 100 packs."""


async def standing(server: ToolServer, scenarios: Sequence[Scenario], emit: Emit) -> float | None:
    """The share of tasks whose own plan and answer still pass their checks, with a note if it is not all.

    At most `_PLAYED`, evenly spread, are played together, each in a session of its own. Tasks without a plan, an answer
    or checks are not, and those whose calls the server did not answer do not count. `None` if no task does.
    """
    playable = [scenario for scenario in scenarios if scenario.plan and scenario.answer and scenario.checks]
    count = min(_PLAYED, len(playable))
    verifier = Verifier(server.tools)
    passed: dict[str, bool] = {}

    async def check(scenario: Scenario) -> None:
        with suppress(ServerError):
            move = Move(scenario.plan, scenario.answer)
            trajectory = await again_if_lost(partial(play, server, scenario, move))
            if not any(record.result.unanswered for record in trajectory.calls):
                passed[scenario.request] = bool(verifier.verify(scenario, trajectory).success)

    async with anyio.create_task_group() as tasks:
        for number in range(count):
            tasks.start_soon(check, playable[number * len(playable) // count])
    if fallen := [request for request, holds in passed.items() if not holds]:
        emit(
            Note(
                f"{len(fallen)} of {counted(len(passed), 'task')} made before did not pass with their own plan and "
                f"answer, such as {shortened(repr(fallen[0]), 100)}: the server's data have changed since; bring them "
                "back, or make new tasks"
            )
        )
    return 1 - len(fallen) / len(passed) if passed else None
