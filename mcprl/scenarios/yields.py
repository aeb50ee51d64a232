"""Which kinds of tasks a tool never yields, so that they are not drawn for ever: every draw costs a call."""

from collections.abc import Collection, Iterable

_MOST = 30
"""Draws without a task in one split after which a kind is drawn with a tool no more there."""
_MOST_IN_ALL = 90
"""The same for all splits: a split may own none of the few things that a tool finds."""


class Yields:
    """Counts the draws of a kind of task with a tool, until one makes a task."""

    def __init__(self) -> None:
        self._failed: dict[tuple[object, str], dict[str, int]] = {}
        self._fruitful: set[tuple[object, str]] = set()

    def tell(self, kind: object, tools: Iterable[str], split: str, made: bool) -> None:
        """Count a draw of a kind with these tools in a split."""
        for tool in tools:
            if made:
                self._fruitful.add((kind, tool))
            failed = self._failed.setdefault((kind, tool), {})
            failed[split] = failed.get(split, 0) + 1

    def barren(self, kind: object, split: str) -> Collection[str]:
        """The tools with which many draws made no task of a kind."""
        return {
            tool
            for (other, tool), failed in self._failed.items()
            if other is kind
            and (kind, tool) not in self._fruitful
            and (failed.get(split, 0) >= _MOST or sum(failed.values()) >= _MOST_IN_ALL)
        }
