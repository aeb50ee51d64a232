"""OpenAI's `Choice` with the token ids of the turn: how trajectories of ART's shape keep what was sampled."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from mcprl.art.groups import ArtTrajectory, as_message
from mcprl.errors import ConfigError, MissingExtra
from mcprl.types import Completion, Message, Trajectory

try:
    from openai.types.chat import ChatCompletionMessage
    from openai.types.chat.chat_completion import Choice, ChoiceLogprobs
    from openai.types.chat.chat_completion_token_logprob import ChatCompletionTokenLogprob
except ImportError:
    raise MissingExtra("openai", "llm") from None


def as_choice(completion: Completion, temperature: float) -> Choice:
    """A turn as a `Choice`. The ids have vLLM's names: `prompt_token_ids` and `token_ids`."""
    tokens = zip(completion.completion_ids, completion.logprobs, strict=True)
    content = [ChatCompletionTokenLogprob(token=f"token_id:{t}", logprob=p, top_logprobs=[]) for t, p in tokens]
    more: dict[str, Any] = {
        "prompt_token_ids": list(completion.prompt_ids),
        "token_ids": list(completion.completion_ids),
        "policy_step": completion.policy_step,
        "temperature": temperature,
    }
    return Choice(
        index=0,
        finish_reason=completion.finish_reason,
        message=ChatCompletionMessage.model_validate(completion.message),
        logprobs=ChoiceLogprobs(content=content),
        **more,
    )


def as_trajectory(trajectory: ArtTrajectory, name: str) -> Trajectory:
    """A trajectory of choices as the trainer takes it, with the id `name`. Raises `ConfigError` without token ids."""
    turns = tuple(_turn(choice) for choice in _choices(trajectory))
    if not turns:
        raise ConfigError("a trajectory holds no Choice, so it has no sampled turn; keep the Choice objects in it")
    return Trajectory(name, name, tuple(trajectory.messages()), turns)


def temperatures(trajectory: ArtTrajectory) -> set[float]:
    """The temperatures at which the trajectory's turns were sampled."""
    return {float(getattr(choice, "temperature", 1.0)) for choice in _choices(trajectory)}


def conversation_key(messages: Sequence[Message], tools: Sequence[dict[str, Any]] | None) -> str:
    """A fingerprint of a conversation: its messages, calls, results and tools."""
    parts = [
        [
            message["role"],
            message.get("content") or "",
            [[call["function"]["name"], call["function"]["arguments"]] for call in message.get("tool_calls") or ()],
        ]
        for message in messages
    ]
    return hashlib.sha256(json.dumps([parts, list(tools or ())], default=str).encode()).hexdigest()


def _choices(trajectory: ArtTrajectory) -> list[Any]:
    return [item for item in trajectory.messages_and_choices if not isinstance(item, dict)]


def _turn(choice: Any) -> Completion:
    prompt, ids = getattr(choice, "prompt_token_ids", None), getattr(choice, "token_ids", None)
    content = getattr(getattr(choice, "logprobs", None), "content", None)
    if not prompt or not ids or not content or len(content) != len(ids):
        raise ConfigError(
            "a Choice has no token ids, so it cannot be trained on as it was sampled; sample it with "
            "model.rollout(...) or model.openai_client() of the model that is trained"
        )
    logprobs = tuple(entry.logprob for entry in content)
    return Completion(as_message(choice), tuple(prompt), tuple(ids), logprobs, choice.finish_reason)
