"""The seam for trackers, which log a run besides its journal: `files` always, others by name.

A tracker that fails does not stop the run.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final, Protocol

from mcprl.config import Config
from mcprl.errors import ConfigError, McprlError
from mcprl.types import Group, Json, Message, Score

Metrics = Mapping[str, float | int | str | None]
KNOWN: Final = ("files", "wandb")

_log = logging.getLogger(__name__)
_MOST_CHARACTERS = 600
_ROLES = {"user": "user:   ", "tool": "result: ", "assistant": "answer: "}


class Tracker(Protocol):
    """Logs a run. A step may be logged several times with different metrics. Calls may block for a moment."""

    def log_step(self, step: int, metrics: Metrics) -> None:
        """A step's metrics; `None` for a number that does not exist."""
        ...

    def log_groups(self, step: int, groups: Sequence[Group], scores: Sequence[Score]) -> None:
        """A step's groups and the scores of their trajectories, matched by trajectory id."""
        ...

    def close(self, report: Mapping[str, Json] | None = None) -> None:
        """The last call, when the run has ended; `report` is the content of its report.json, if it has one."""
        ...


class Trackers:
    """Several trackers as one. A tracker's first error is logged; no error reaches the run or the other trackers."""

    def __init__(self, trackers: Mapping[str, Tracker]) -> None:
        self._trackers = dict(trackers)
        self._failed: set[str] = set()

    def log_step(self, step: int, metrics: Metrics) -> None:
        self._each(lambda tracker: tracker.log_step(step, metrics))

    def log_groups(self, step: int, groups: Sequence[Group], scores: Sequence[Score]) -> None:
        self._each(lambda tracker: tracker.log_groups(step, groups, scores))

    def close(self, report: Mapping[str, Json] | None = None) -> None:
        self._each(lambda tracker: tracker.close(report))

    def _each(self, call: Callable[[Tracker], None]) -> None:
        for name, tracker in self._trackers.items():
            try:
                call(tracker)
            except Exception as error:  # a tracking service may raise anything; the run must go on
                if name not in self._failed:
                    self._failed.add(name)
                    _log.warning("the tracker %s failed and may miss data: %s", name, error)
                    _log.debug("where it failed", exc_info=error)  # a warning without a handler reaches the screen


def require_known(names: Sequence[str]) -> None:
    """Raise `ConfigError` for a name that is no tracker's."""
    if unknown := sorted(set(names) - set(KNOWN)):
        raise ConfigError(f"unknown tracker {unknown[0]!r}; known are: {', '.join(KNOWN)}")


def open_trackers(names: Sequence[str], folder: str | Path, config: Config) -> Trackers:
    """`files` and the named trackers for the run in `folder`, as one.

    Raises `ConfigError` for an unknown name and `MissingExtra` if its package is not installed: the user can mend both
    before the run begins. A tracker that cannot start for another reason is left out with a warning.
    """
    require_known(names)
    opened: dict[str, Tracker] = {}
    for name in dict.fromkeys(("files", *names)):
        try:
            opened[name] = import_module(f"mcprl.runs.trackers.{name}").open_tracker(Path(folder), config)
        except McprlError:
            raise
        except Exception as error:
            _log.warning("the tracker %s could not start and is left out: %s", name, error, exc_info=error)
    return Trackers(opened)


def dialogue(messages: Sequence[Message]) -> str:
    """A conversation as readable text: `user:`, `call:`, `result:` and `answer:` lines, long ones cut."""
    lines: list[str] = []
    for message in messages:
        role, content = message["role"], str(message.get("content") or "")
        calls = message.get("tool_calls") or []
        if role == "system":
            continue
        if content or not calls:
            lines.append(f"{_ROLES[role]}{_cut(content)}")
        lines += [_cut(f"call:   {call['function']['name']}({call['function']['arguments']})") for call in calls]
    return "\n".join(lines)


def _cut(text: str) -> str:
    kept = text[:_MOST_CHARACTERS]
    return kept if kept == text else f"{kept}... ({len(text) - len(kept)} characters more)"
