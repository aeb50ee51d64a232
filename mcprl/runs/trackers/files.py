"""metrics.jsonl and groups.jsonl in the run folder: one line for each step, one for each group, without token ids."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from mcprl.config import Config
from mcprl.errors import JournalError
from mcprl.files import write_whole
from mcprl.runs.journal import Journal
from mcprl.runs.trackers import Metrics, Tracker
from mcprl.types import Group, Json, Score


class Files:
    """Appends to two files. A run that goes on after it was stopped forgets the lines of the steps that it will do
    again.
    """

    def __init__(self, folder: Path, last_step: int | None) -> None:
        self._metrics, self._groups = folder / "metrics.jsonl", folder / "groups.jsonl"
        for path in (self._metrics, self._groups):
            _keep(path, last_step or 0)

    def log_step(self, step: int, metrics: Metrics) -> None:
        _append(self._metrics, [{"step": step, **metrics}])

    def log_groups(self, step: int, groups: Sequence[Group], scores: Sequence[Score]) -> None:
        by_id = {score.trajectory_id: score for score in scores}
        _append(self._groups, [_readable(step, group, by_id) for group in groups])

    def close(self, report: Mapping[str, Json] | None = None) -> None:
        """Nothing is held open."""


def open_tracker(folder: Path, config: Config) -> Tracker:
    """Raises nothing for a folder without a run: there is then nothing to forget."""
    try:
        with Journal.open(folder) as journal:
            return Files(folder, journal.last_step())
    except JournalError:
        return Files(folder, None)


def _readable(step: int, group: Group, scores: Mapping[str, Score]) -> Json:
    tries = [
        {
            "id": tried.id,
            "score": asdict(score) if (score := scores.get(tried.id)) else None,
            "stop": tried.stop,
            "error": tried.error,
            "seconds": tried.seconds,
            "messages": tried.messages,
        }
        for tried in group.trajectories
    ]
    return {"step": step, "scenario": group.scenario.id, "request": group.scenario.request, "tries": tries}


def _append(path: Path, lines: Sequence[Json]) -> None:
    with path.open("a", encoding="utf-8", errors="replace") as file:
        file.write("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


def _keep(path: Path, last_step: int) -> None:
    """Only whole lines, of complete steps."""
    if path.exists():
        whole = [line for line in path.read_text(encoding="utf-8").splitlines(keepends=True) if line.endswith("\n")]
        write_whole(path, "".join(line for line in whole if json.loads(line)["step"] <= last_step).encode())
