"""OpenAI's `Choice` with the token ids of the turn: how trajectories of ART's shape keep what was sampled."""

from typing import Any

from mcprl.errors import MissingExtra
from mcprl.types import Completion

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
