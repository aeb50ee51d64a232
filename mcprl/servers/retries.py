"""What is done again after a fault that may pass, and how long it waits before."""

from collections.abc import Awaitable, Callable
from itertools import count
from typing import TypeVar

import anyio

from mcprl.errors import SessionLost

_T = TypeVar("_T")
_MOST = 3
"""How often one call is repeated."""
_LONGEST_S = 30.0
"""Seconds. A server that asks for more is not waited for."""
_TOKENS, _PER_SUCCESS = 20.0, 0.3


class RetryBudget:
    """One budget for all calls of a server, so that one that fails all the time is not called ever more often.

    A failure takes a token, a success gives three tenths of one back, and nothing is repeated while half of them are
    gone (retry throttling, gRPC's proposal A6): a server may fail at each fifth call. `repeated` counts the repeats.
    """

    def __init__(self) -> None:
        self._tokens = _TOKENS
        self.repeated = 0

    def succeeded(self) -> None:
        self._tokens = min(_TOKENS, self._tokens + _PER_SUCCESS)

    async def wait(self, attempt: int, after_s: float = 0.0) -> bool:
        """Wait before another attempt, after `attempt` others, at least `after_s`; false at once if none may be."""
        self._tokens = max(0.0, self._tokens - 1)
        if attempt >= _MOST or after_s > _LONGEST_S or self._tokens < _TOKENS / 2:
            return False
        self.repeated += 1
        await anyio.sleep(max(0.1 * 4**attempt, after_s))
        return True


class Outage:
    """How long a server that was there once has been away. Connecting to it is repeated for `most_s` seconds."""

    def __init__(self, most_s: float) -> None:
        self._most_s = most_s
        self._began: float | None = None

    def over(self) -> None:
        self._began = None

    async def wait(self) -> bool:
        """Wait before connecting again; false at once if the server has been away for too long."""
        now = anyio.current_time()
        self._began = now if self._began is None else self._began
        away_s = now - self._began
        if away_s >= self._most_s:
            return False
        await anyio.sleep(min(0.1 + away_s / 2, 2.0, self._most_s))
        return True


async def again_if_lost(work: Callable[[], Awaitable[_T]], times: int = 2) -> _T:
    """What `work` returns, which opens a session of its own; it begins again if that is lost. Raises `SessionLost` if
    it is lost `times` times more, and at once any other error, as of a reset.
    """
    for attempt in count():
        try:
            return await work()
        except SessionLost:
            if attempt == times:
                raise
    raise AssertionError  # for the type checker: `count` does not end
