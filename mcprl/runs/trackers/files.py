"""metrics.jsonl and groups.jsonl in the run folder: one line for each step, one for each group, without token ids."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from mcprl.config import Config
from mcprl.errors import JournalError
from mcprl.files import write_whole
from mcprl.runs.journal import Journal
from mcprl.runs.trackers import METRICS_FILE, Metrics, Tracker
from mcprl.types import Group, Json, Score

WARM = "val:warm/"
"""How the warm start's metrics begin, whose steps are counted from 1 too."""


class Files:
    """Appends to two files. Lines of RL's steps after `last_step` are deleted first: a resumed run does those again."""

    def __init__(self, folder: Path, last_step: int) -> None:
        self._metrics = folder / METRICS_FILE
        self._groups = folder / "groups.jsonl"
        for path in (self._metrics, self._groups):
            _truncate(path, last_step)

    def log_step(self, step: int, metrics: Metrics) -> None:
        _append(self._metrics, [{"step": step, **metrics}])

    def log_groups(self, step: int, groups: Sequence[Group], scores: Sequence[Score]) -> None:
        by_id = {score.trajectory_id: score for score in scores}
        _append(self._groups, [_readable(step, group, by_id) for group in groups])

    def close(self, report: Mapping[str, Json] | None = None) -> None:
        """Nothing to do: the files are not held open."""


def require() -> None:
    """Nothing is needed."""


def open_tracker(folder: Path, config: Config) -> Tracker:
    """The tracker for the run in `folder`. A folder without a journal has no complete step."""
    try:
        with Journal.open(folder) as journal:
            return Files(folder, journal.last_step() or 0)
    except JournalError:
        return Files(folder, 0)


def _readable(step: int, group: Group, scores: Mapping[str, Score]) -> Json:
    rollouts = [
        {
            "id": trajectory.id,
            "score": asdict(score) if (score := scores.get(trajectory.id)) else None,
            "stop": trajectory.stop,
            "error": trajectory.error,
            "seconds": trajectory.seconds,
            "messages": trajectory.messages,
        }
        for trajectory in group.trajectories
    ]
    return {"step": step, "scenario": group.scenario.id, "request": group.scenario.request, "rollouts": rollouts}


def _append(path: Path, lines: Sequence[Json]) -> None:
    with path.open("a", encoding="utf-8", errors="replace") as file:
        file.write("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


def _truncate(path: Path, last_step: int) -> None:
    """Keep only whole lines: those of RL's steps up to `last_step`, and of the warm start, which come before."""
    if path.exists():
        read = [(line, json.loads(line)) for line in path.read_bytes().split(b"\n")[:-1]]  # the last may be torn
        kept = [line for line, told in read if told["step"] <= last_step or any(key.startswith(WARM) for key in told)]
        write_whole(path, b"".join(line + b"\n" for line in kept))
