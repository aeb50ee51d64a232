"""Tasks are played again before they are kept: in other sessions, and in another order than they were made in.

A task whose facts change is dropped, and so is one whose own answer fails its checks or whose plan needs what another
task wrote.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field

from mcprl.errors import ServerError
from mcprl.judges.adversaries import Move, play_in
from mcprl.judges.checks import holds
from mcprl.judges.verifier import Verifier
from mcprl.scenarios.fields import usable
from mcprl.scenarios.probing.knowledge import Knowledge, State
from mcprl.scenarios.probing.sessions import Renewed, key_of
from mcprl.scenarios.probing.writing import without_moments
from mcprl.servers.digest import as_read
from mcprl.servers.live import refreshed
from mcprl.types import Call, CallRecord, Fact, Scenario, Session, ToolResult, ToolServer, Trajectory

Fresh = Callable[[], AbstractAsyncContextManager[Session]]
"""Opens a session in which nothing was written yet."""


@dataclass
class Replays:
    """Plays the tasks of one server again. It adds the fields that changed to `known.volatile`. `played` has the calls
    of each task with their results."""

    server: ToolServer
    known: Knowledge
    played: dict[str, tuple[CallRecord, ...]] = field(default_factory=dict[str, tuple[CallRecord, ...]])
    _verifier: Verifier = field(init=False)

    def __post_init__(self) -> None:
        self._verifier = Verifier(tuple(self.server.tools))

    async def steady(self, state: State, scenarios: Sequence[Scenario]) -> list[Scenario]:
        """The tasks that read whose plan gives the same facts in another session, and whose answer passes their checks.

        Facts that changed are added to `known.volatile`: no later task asks for them.
        """
        async with Renewed(self.server, state.setup, kept={}) as session:
            return [scenario for scenario in scenarios if await self._is_steady(session, state, scenario)]

    async def _is_steady(self, session: Session, state: State, scenario: Scenario) -> bool:
        results = [as_read(await session.call(call.tool, call.arguments)) for call in scenario.plan]
        facts = [c for c in scenario.checks if isinstance(c, Fact) and not c.derived and not c.live]
        worked_out = any(isinstance(check, Fact) and check.derived for check in scenario.checks)
        if worked_out and not all(
            _is_as_before(state, call, result) for call, result in zip(scenario.plan, results, strict=True)
        ):
            return False
        changed = {f.name for f in facts if not any(holds(result.text, f.value) for result in results)}
        if changed and usable(results[-1]):
            self.known.volatile |= {(scenario.plan[-1].tool, name) for name in changed}
            return False
        calls = [
            CallRecord(turn, call.tool, call.arguments, result)
            for turn, (call, result) in enumerate(zip(scenario.plan, results, strict=True))
        ]
        self.played[scenario.id] = tuple(calls)
        messages = ({"role": "assistant", "content": refreshed(scenario, calls)},)
        trajectory = Trajectory(scenario.id, scenario.id, messages, (), tuple(calls))
        return bool(self._verifier.verify(scenario, trajectory).success)

    async def independent(self, fresh: Fresh, scenarios: Sequence[Scenario]) -> list[Scenario]:
        """The tasks that write whose plan needs nothing that another of them wrote: a branch, or what is staged.

        They are played from the last to the first, so that what a task needs is not there yet. One that fails may only
        have come too late, and is played once more in a `fresh` session.
        """
        kept: list[Scenario] = []
        left = list(scenarios)
        while left:
            count = len(left)
            with suppress(ServerError):  # a reset may have failed, or the session was lost
                async with fresh() as session:
                    while left and await self._passes(session, left[-1]):
                        kept.append(left.pop())
            if len(left) == count:
                left.pop()
        return kept[::-1]

    async def _passes(self, session: Session, scenario: Scenario) -> bool:
        played = await play_in(session, scenario, Move(scenario.plan, scenario.answer))
        self.played[scenario.id] = played.calls
        return bool(self._verifier.verify(scenario, played).success)


def _is_as_before(state: State, call: Call, result: ToolResult) -> bool:
    """Whether a call gives what it gave when the task was made, the time aside."""
    before = state.results.get(key_of(call))
    return before is None or without_moments(before.text) == without_moments(result.text)
