"""Trajectories as JSON: for training, and for a log."""

import math
from collections.abc import Sequence
from typing import Any

from mcprl.art.groups import ArtTrajectory, History, as_message
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
    return {"messages_and_choices": list(map(_item, history.messages_and_choices)), "tools": history.tools or []}


def _item(item: Any) -> dict[str, Any]:
    """A message, or a choice with its message, of OpenAI's client or of litellm's."""
    if isinstance(item, dict):
        return item
    message = as_message(item)
    return item.model_dump(mode="json") | {"message": message} if hasattr(item, "message") else message
