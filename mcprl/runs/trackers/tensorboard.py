"""TensorBoard: metrics as scalars and every step's rollouts as text, in the run's folder.

`tensorboard --logdir runs` shows all runs below it.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from mcprl.config import Config
from mcprl.errors import MissingExtra
from mcprl.runs.settings import dump_config
from mcprl.runs.trackers import Metrics, Tracker, dialogue_of
from mcprl.types import Group, Json, Score

FOLDER: Final = "tensorboard"


class TensorBoard:
    """Event files of one run; `writer` is torch's `SummaryWriter`."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def log_step(self, step: int, metrics: Metrics) -> None:
        for name, value in metrics.items():
            section = name if "/" in name else f"train/{name}"  # TensorBoard shows what is before the slash as one
            if isinstance(value, int | float):
                self._writer.add_scalar(section, value, step)
            elif value is not None:
                self._writer.add_text(section, value, step)
        self._writer.flush()

    def log_groups(self, step: int, groups: Sequence[Group], scores: Sequence[Score]) -> None:
        by_id = {score.trajectory_id: score for score in scores}
        lines: list[str] = []
        for group in groups:
            lines.append(f"### {_inert(group.scenario.request)}")
            for trajectory in group.trajectories:
                score = by_id.get(trajectory.id)
                judged = f"{score.value:.2f}, {score.explanation}" if score else f"no score, {trajectory.error}"
                lines += [f"**{_inert(judged)}** ({trajectory.stop})", _inert(dialogue_of(trajectory))]
        self._writer.add_text("groups", "\n\n".join(lines), step)
        self._writer.flush()

    def close(self, report: Mapping[str, Json] | None = None) -> None:
        self._writer.close()


def require() -> Any:
    """torch's `SummaryWriter`. Raises `MissingExtra` if tensorboard is not installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise MissingExtra("tensorboard", "tensorboard") from None
    return SummaryWriter


def open_tracker(folder: Path, config: Config) -> Tracker:
    """Write a new file of events beside those of earlier starts of the run; TensorBoard joins them."""
    writer = require()(str(folder / FOLDER))
    settings = [line for line in dump_config(config).splitlines() if not line.startswith("#")]
    writer.add_text("config", "\n".join(f"    {line}" for line in settings), 0)
    return TensorBoard(writer)


def _inert(text: str) -> str:
    """Text of others in Markdown: shown as it is, with its lines."""
    return re.sub(r"([\\`*_{}\[\]<>#+!|&-])", r"\\\1", text).replace("\n", "<br>")
