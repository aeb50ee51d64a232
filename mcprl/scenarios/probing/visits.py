"""Calls while probing: bounded in number and in the time that the server takes, reported, on sessions that are renewed
when they are lost.

The time of everything else does not count, so that the same seed gives the same tasks on a busy machine.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any, Self

from mcprl.events import Emit, Probing
from mcprl.scenarios.probing.knowledge import Knowledge
from mcprl.scenarios.probing.renewed import Renewed
from mcprl.types import ToolResult, ToolServer

CALL_S = 6.0
"""Seconds after which a probing call is given up."""
_REPORT_EVERY = 20


class Budget:
    """How many calls probing may still make, and for how many seconds it may wait for the server. `spend` reports to
    `emit` every 20 calls."""

    def __init__(self, known: Knowledge, calls: int, seconds: float, emit: Emit) -> None:
        self._known, self._emit = known, emit
        self._total = self.left = calls
        self.left_s = seconds

    @property
    def over(self) -> bool:
        return self.left <= 0 or self.left_s <= 0

    def late(self, share: float) -> Callable[[], bool]:
        """Whether a share of the seconds that are left now will have passed, or all calls are made."""
        end_s = (1 - share) * self.left_s
        return lambda: self.left_s <= end_s or self.left <= 0

    def spend(self) -> None:
        self.left -= 1
        done = self._total - self.left
        if done % _REPORT_EVERY == 0:
            working = sum(1 for count in self._known.working.values() if count)
            self._emit(Probing(done, self._total, working, len(self._known.tools)))

    def part(self, share: float) -> int:
        """A share of the calls that are left."""
        return max(0, int(self.left * share))


class Visit:
    """A session for probing; a context manager. A lost session is replaced by a fresh one, a call that takes longer
    than `CALL_S` is an error result. `renewed` counts the replacements.
    """

    def __init__(self, server: ToolServer, budget: Budget) -> None:
        self._budget = budget
        self._session = Renewed(server, call_s=CALL_S)

    async def __aenter__(self) -> Self:
        await self._session.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._session.__aexit__(*error)

    @property
    def renewed(self) -> int:
        return self._session.renewed

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        self._budget.spend()
        began = time.monotonic()
        try:
            return await self._session.call(tool, arguments)
        finally:
            self._budget.left_s -= time.monotonic() - began
