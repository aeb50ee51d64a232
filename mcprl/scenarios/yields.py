"""Which kinds of tasks a tool never yields, so that they are not drawn for ever: every draw costs a call."""

from collections.abc import Collection, Iterable

_MOST = 30
"""Draws without a task after which a kind is drawn with a tool no more."""


class Yields:
    """Counts the draws of a kind of task with a tool, until one makes a task."""

    def __init__(self) -> None:
        self._failed: dict[tuple[object, str], int] = {}
        self._fruitful: set[tuple[object, str]] = set()

    def tell(self, kind: object, tools: Iterable[str], made: bool) -> None:
        """Count a draw of a kind with these tools."""
        for tool in tools:
            if made:
                self._fruitful.add((kind, tool))
            self._failed[kind, tool] = self._failed.get((kind, tool), 0) + 1

    def barren(self, kind: object) -> Collection[str]:
        """The tools with which many draws made no task of a kind."""
        return {
            tool
            for (other, tool), failed in self._failed.items()
            if other is kind and failed >= _MOST and (kind, tool) not in self._fruitful
        }
