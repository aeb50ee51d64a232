"""The log of a model's trajectories: a file of lines for each split, and what it says of the training steps."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable
from pathlib import Path
from statistics import fmean
from typing import Any

from mcprl.art.bodies import as_record
from mcprl.art.groups import ArtTrajectory
from mcprl.errors import ConfigError


def append(path: Path, step: int, trajectories: Iterable[ArtTrajectory]) -> None:
    """Append trajectories that were sampled at a training step."""
    lines = [json.dumps({"step": step} | as_record(each)) + "\n" for each in trajectories]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.writelines(lines)


def measured(trajectories: Iterable[ArtTrajectory]) -> dict[str, list[float]]:
    """The rewards, and the values of each metric."""
    values: defaultdict[str, list[float]] = defaultdict(list)
    for each in trajectories:
        for name, value in ({"reward": each.reward} | each.metrics).items():
            values[name].append(float(value))
    return dict(values)


def best_step(folder: Path, metric: str, steps: Collection[int]) -> int | None:
    """The step among `steps` with the highest mean of the metric (`SPLIT/NAME`) in the log, `None` if it has none.
    Raises `ConfigError` for a metric that names no split."""
    split, slash, name = metric.partition("/")
    if not slash or not name:
        raise ConfigError(f"the metric {metric!r} names no split; expected one such as 'val/reward'")
    if not (path := folder / f"{split}.jsonl").is_file():
        return None
    values: defaultdict[int, list[float]] = defaultdict(list)
    with path.open() as file:
        for line in file:
            record: dict[str, Any] = json.loads(line)
            value = record["reward"] if name == "reward" else record["metrics"].get(name)
            if value is not None and record["step"] in steps:
                values[record["step"]].append(float(value))
    return max(values, key=lambda step: fmean(values[step]), default=None)
