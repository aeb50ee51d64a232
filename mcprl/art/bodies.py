"""Trajectories as JSON: for training, and for a log."""

import math
from collections.abc import Sequence
from typing import Any

from mcprl.art.groups import ArtTrajectory, History
from mcprl.errors import ConfigError


def as_body(trajectory: ArtTrajectory) -> dict[str, Any]:
    """A trajectory as `/_train_model` and `/_train_sft` take it. Raises `ConfigError` if its reward is not finite."""
    if not math.isfinite(trajectory.reward):
        raise ConfigError(f"rewards must be finite numbers, got {trajectory.reward}")
    histories = [_history(each) for each in trajectory.additional_histories]
    return _history(trajectory) | {"reward": trajectory.reward, "additional_histories": histories}


def as_record(trajectory: ArtTrajectory) -> dict[str, Any]:
    """A trajectory as people read it, without token ids."""
    messages: Sequence[Any] = trajectory.messages()
    return {"messages": messages, **trajectory.model_dump(include={"reward", "metrics", "metadata", "logs"})}


def _history(history: History) -> dict[str, Any]:
    if history.rollout:
        return {"rollout": history.rollout}
    items = [item if isinstance(item, dict) else item.model_dump(mode="json") for item in history.messages_and_choices]
    return {"messages_and_choices": items, "tools": history.tools or []}
