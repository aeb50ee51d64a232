"""The seam for trackers, which log a run besides its journal: `files` always, others by name.

A configured tracker must start. Once it has, a failure of its own does not stop the run.
"""

import json
import logging
import socket
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from mcprl.config import Config
from mcprl.errors import ConfigError, McprlError
from mcprl.runs.journal import Journal
from mcprl.runs.records import SavedAdapter, given_turns
from mcprl.text import first_line
from mcprl.types import Group, Json, Message, Score, Trajectory

Metrics = Mapping[str, float | int | str | None]
METRICS_FILE: Final = "metrics.jsonl"
KNOWN: Final = ("files", "wandb", "trackio", "tensorboard", "otel", "langfuse")

_log = logging.getLogger(__name__)
_MOST_CHARACTERS = 600
_REACH_S = 5.0
COLUMNS: Final = ("scenario", "request", "rollout", "score", "success", "stop", "explanation", "dialogue")
"""The columns of a step's groups as a table, whose rows `rows` makes."""
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
    """Several trackers as one. A tracker's first error is logged; no error reaches the run or the other trackers.

    `logged` has the (step, names of its metrics) of what a resumed run has logged already, which is not logged again.
    """

    def __init__(self, trackers: Mapping[str, Tracker], logged: Collection[tuple[int, frozenset[str]]] = ()) -> None:
        self._trackers, self._logged = dict(trackers), frozenset(logged)
        self._failed: set[str] = set()

    def log_step(self, step: int, metrics: Metrics) -> None:
        if (step, frozenset(metrics)) not in self._logged:
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


def require_trackers(names: Sequence[str]) -> None:
    """Raise `ConfigError` for a name that is no tracker's and for an address without an answer, `MissingExtra` for a
    tracker whose package is not installed: all that can be known before there is a run."""
    if unknown := sorted(set(names) - set(KNOWN)):
        raise ConfigError(f"unknown tracker {unknown[0]!r}; known are: {', '.join(KNOWN)}")
    for name in dict.fromkeys(names):
        _module(name).require()


def open_trackers(names: Sequence[str], folder: str | Path, config: Config) -> Trackers:
    """`files` and the named trackers for the run in `folder`, as one.

    Raises what `require_trackers` raises, and `ConfigError` for a tracker that cannot start.
    """
    require_trackers(names)
    opened: dict[str, Tracker] = {}
    for name in dict.fromkeys(("files", *names)):
        try:
            opened[name] = _module(name).open_tracker(Path(folder), config)
        except McprlError:
            raise
        except Exception as error:  # what wandb and trackio raise has no base of its own
            advice = f"mend that, or go on without it: --resume {Path(folder).name} --tracker files"
            raise ConfigError(f"the tracker {name} cannot start: {first_line(error)}; {advice}") from error
    return Trackers(opened, logged(Path(folder)))


def reach(name: str, url: str, advice: str) -> None:
    """Raise `ConfigError` if nothing accepts connections at a tracker's address."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or {"http": 80}.get(parts.scheme, 443)
    try:
        socket.create_connection((host, port), _REACH_S).close()
    except OSError as error:
        cause = error.strerror or error
        raise ConfigError(f"the tracker {name} cannot reach {host}:{port}: {cause}; {advice}") from None


def logged(folder: Path) -> set[tuple[int, frozenset[str]]]:
    """The (step, names of its metrics) of the lines in the run's metrics.jsonl."""
    path = folder / METRICS_FILE
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return {(line.pop("step"), frozenset(line)) for line in map(json.loads, lines)}


def rows(groups: Sequence[Group], scores: Sequence[Score]) -> list[list[Any]]:
    """A row of `COLUMNS` for each rollout, with its score matched by id."""
    by_id = {score.trajectory_id: score for score in scores}
    made: list[list[Any]] = []
    for group in groups:
        for trajectory in group.trajectories:
            score = by_id.get(trajectory.id)
            judged = (score.value, score.success) if score else (None, None)
            why = score.explanation if score else trajectory.error
            task = (group.scenario.id, group.scenario.request)
            made.append([*task, trajectory.id, *judged, trajectory.stop, why, dialogue_of(trajectory)])
    return made


def final_adapter(folder: Path) -> SavedAdapter | None:
    """The run's best adapter, else its newest, else that of the warm start."""
    with Journal.open(folder) as journal:
        saved = journal.adapters("best") or journal.adapters("train") or journal.adapters("warm")
    return saved[-1] if saved and Path(saved[-1].adapter.path).is_dir() else None


def dialogue_of(trajectory: Trajectory) -> str:
    """`dialogue`, in which calls that were made for the policy are `given:` lines."""
    return dialogue(trajectory.messages, given_turns(trajectory))


def dialogue(messages: Sequence[Message], given_turns: int = 0) -> str:
    """A conversation as readable text: `user:`, `call:`, `result:` and `answer:` lines, long ones cut."""
    lines: list[str] = []
    turn = 0
    for message in messages:
        role, content = message["role"], str(message.get("content") or "")
        calls = message.get("tool_calls") or []
        if role == "system":
            continue
        if content or not calls:
            lines.append(f"{_ROLES[role]}{_cut(content)}")
        turn += role == "assistant"
        word = "given:  " if turn <= given_turns else "call:   "
        lines += [_cut(f"{word}{call['function']['name']}({call['function']['arguments']})") for call in calls]
    return "\n".join(lines)


def _module(name: str) -> Any:
    return import_module(f"mcprl.runs.trackers.{name}")


def _cut(text: str) -> str:
    kept = text[:_MOST_CHARACTERS]
    return kept if kept == text else f"{kept}... ({len(text) - len(kept)} characters more)"
