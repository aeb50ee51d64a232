"""The calls that wait on one connection, behind one that may hang."""

import math
from collections.abc import Generator
from contextlib import contextmanager

import anyio

from mcprl.errors import Unavailable


class WaitingLine:
    """Calls of one connection in the order of sending.

    A server may answer one by one, so that one hung call keeps it from all others. A call that is not the first
    therefore leaves the line if nothing is answered for `patience_s` seconds, to be made on another connection.
    """

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._scopes: list[anyio.CancelScope] = []

    @contextmanager
    def waiting(self, name: str) -> Generator[None]:
        """Wait in line for the answer of the server `name`. Raises `Unavailable` when the call leaves the line."""
        scope = anyio.CancelScope(deadline=self._deadline() if self._scopes else math.inf)
        with scope:
            self._scopes.append(scope)
            try:
                yield
            finally:
                self._scopes.remove(scope)
                for place, other in enumerate(self._scopes):
                    other.deadline = self._deadline() if place else math.inf
        if scope.cancelled_caught:
            raise Unavailable(f"{name}: an earlier call gets no answer")

    def _deadline(self) -> float:
        return anyio.current_time() + self._patience_s
