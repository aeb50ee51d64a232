"""Updates of a served model, followed to their end."""

import warnings
from typing import Any
from uuid import uuid4

from mcprl.art.backends import ModelConnection
from mcprl.errors import TrainingError


class NothingTrained(UserWarning):
    """A call of `train` changed nothing; the text says why."""


def nothing_trained(why: str, frames: int = 3) -> None:
    """Warn the caller of `train`, which is so many frames up."""
    warnings.warn(f"train() changed nothing: {why}", NothingTrained, stacklevel=frames)


async def updated(connection: ModelConnection, path: str, body: dict[str, Any]) -> dict[str, float]:
    """Begin an update at a route and follow it. Returns its metrics. Raises `TrainingError` if it fails."""
    metrics: dict[str, float] = {}
    async for event in connection.lines(path, body, uuid4().hex):
        match event["type"]:
            case "job":
                metrics = {name: float(value) for name, value in event.items() if name not in ("type", "job")}
            case "adapter":
                metrics |= event["metrics"]
            case "unchanged":
                nothing_trained(event["why"], 4)
            case "note":
                warnings.warn(event["text"], stacklevel=2)
            case "error":
                raise TrainingError(event["error"]["message"])
            case _:
                pass
    return metrics
