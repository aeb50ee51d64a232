"""From a request's body to turns of the engine, and from turns to choices in OpenAI's shape."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from mcprl.chat import prompts
from mcprl.serving.bodies import ChatBody, CompletionsBody, SamplingBody
from mcprl.serving.model import ServedModel
from mcprl.serving.refusals import Refusal
from mcprl.serving.rollouts import SampledTurn
from mcprl.serving.strict import Schemas, checked, schema
from mcprl.serving.text import before_stop, stopped
from mcprl.text import first_line
from mcprl.types import Adapter, Completion, CompletionRequest, Message

ROLLOUT = "X-Mcprl-Rollout"
"""The header that names the rollout which a request's turn belongs to."""
EXACT = "X-Mcprl-Exact"
"""The header that asks for the token ids and log-probabilities of every choice."""
MAX_TURNS = 1_000
_SEED_BITS = 48
_SEED_STRIDE = 1_000_003
"""Between the seeds of a request's choices: turns of a rollout have seeds that are next to each other."""


@dataclass(frozen=True)
class SamplingRequest:
    """A checked request: its body, the adapter that it names and what the engine is asked for each choice."""

    body: SamplingBody
    adapter: Adapter | None
    rollout: str
    requests: list[CompletionRequest]

    @property
    def strict(self) -> Schemas:
        """The schemas of its strict tools."""
        offered = self.body.tools if isinstance(self.body, ChatBody) else ()
        return {each.function.name: schema(each.function.parameters) for each in offered if each.function.strict}

    @property
    def is_held(self) -> bool:
        """Whether its turns are held to a schema."""
        return self.requests[0].schema is not None

    @property
    def is_chat(self) -> bool:
        return isinstance(self.body, ChatBody)


def ask_chat(model: ServedModel, body: ChatBody, rollout: str) -> SamplingRequest:
    """A conversation as it is asked of the engine. Raises `Refusal`, also if the chat template does."""
    messages = tuple(message.message() for message in body.messages)
    tools = tuple(tool.tool() for tool in body.tools) if body.tool_choice == "auto" else ()
    try:
        prompts.render(model.tokenizer, messages, tools)
    except Exception as error:  # a template raises whatever it likes
        refused = f"the model's chat template does not take these messages: {first_line(error)}"
        raise Refusal(400, refused, "messages", "invalid_value") from None
    most = body.max_completion_tokens or body.max_tokens or model.rollout.max_tokens
    if len(model.rollouts.turns(rollout)) >= MAX_TURNS:
        raise Refusal(400, f"the rollout {rollout!r} has {MAX_TURNS} turns; begin another", ROLLOUT, "invalid_value")
    schema = body.response_format.reply_schema if body.response_format else None
    if schema is not None and tools:
        either = "holds the whole reply to JSON, so that no tool can be called; leave tools out, or tool_choice 'none'"
        raise Refusal(400, f"response_format: {either}", "response_format", "invalid_value")
    context = model.rollouts.context(rollout, messages, tools)
    return _asked(model, body, rollout, CompletionRequest(messages, tools, context, most, schema=schema))


def ask_plain(model: ServedModel, body: CompletionsBody) -> SamplingRequest:
    """A prompt as it is asked of the engine. Raises `Refusal`."""
    ids = prompts.encode(model.tokenizer, body.prompt) if isinstance(body.prompt, str) else tuple(body.prompt)
    if unknown := [token for token in ids if token >= len(model.tokenizer)]:
        known = f"the model has the tokens 0 to {len(model.tokenizer) - 1}"
        raise Refusal(400, f"prompt holds the token {unknown[0]}; {known}", "prompt", "invalid_value")
    return _asked(model, body, "", CompletionRequest((), (), ids, body.max_tokens or model.rollout.max_tokens))


def _asked(model: ServedModel, body: SamplingBody, rollout: str, request: CompletionRequest) -> SamplingRequest:
    adapter = model.find(body.model)
    seed = random.getrandbits(_SEED_BITS) if body.seed is None else body.seed
    alike = replace(request, temperature=body.temperature, top_p=body.top_p)
    return SamplingRequest(
        body, adapter, rollout, [replace(alike, seed=seed + number * _SEED_STRIDE) for number in range(body.n)]
    )


async def sample(model: ServedModel, asked: SamplingRequest, request: CompletionRequest) -> Completion:
    """Sample one choice and record it. Raises `EngineError`."""
    completion = await model.complete(request, asked.adapter)
    completion = stopped(model.tokenizer, model.end_ids, completion, asked.body.stop, request)
    completion = checked(model.tokenizer, model.end_ids, completion, asked.strict)
    if asked.is_chat:
        turn = SampledTurn(request.messages, completion, request.temperature, request.top_p, request.schema is not None)
        model.rollouts.record(asked.rollout, turn, request.tools)
    return completion


def usage(completions: Sequence[Completion]) -> dict[str, int]:
    """The tokens of a request: its prompt once, and all that was sampled."""
    read, sampled = len(completions[0].prompt_ids), sum(len(each.completion_ids) for each in completions)
    return {"prompt_tokens": read, "completion_tokens": sampled, "total_tokens": read + sampled}


def message_of(completion: Completion) -> Message:
    """The turn's message as clients take it: without text, `content` is null beside calls."""
    message = completion.message
    return message | {"content": message.get("content") or (None if message.get("tool_calls") else "")}


def plain_text(model: ServedModel, completion: Completion, stops: Sequence[str]) -> str:
    """The text of a turn that was no chat."""
    ids = [token for token in completion.completion_ids if token not in model.end_ids]
    return before_stop(str(model.tokenizer.decode(ids, skip_special_tokens=False)), stops)


def details(model: ServedModel, asked: SamplingRequest, completion: Completion) -> dict[str, Any]:
    """What a choice has besides its text: why it ended, its log-probabilities and ids where they are asked for, the
    training step that sampled it, and what is wrong with calls that cannot be read."""
    body = asked.body
    reason = completion.finish_reason if asked.is_chat or completion.finish_reason == "length" else "stop"
    more: dict[str, Any] = {"finish_reason": reason, "logprobs": None, "policy_step": completion.policy_step}
    if completion.malformed:
        more["malformed"] = list(completion.malformed)
    if isinstance(body, ChatBody) and body.logprobs:
        more["logprobs"] = {"content": _chat_logprobs(model, completion), "refusal": None}
    if isinstance(body, CompletionsBody) and body.logprobs is not None:
        more["logprobs"] = _plain_logprobs(model, completion)
    if body.return_token_ids:
        ids = {"prompt_token_ids": list(completion.prompt_ids), "token_ids": list(completion.completion_ids)}
        more |= ids | {"temperature": body.temperature, "top_p": body.top_p, "held_to_schema": asked.is_held}
    return more


def _chat_logprobs(model: ServedModel, completion: Completion) -> list[dict[str, Any]]:
    return [
        {"token": text, "logprob": logprob, "bytes": list(text.encode()), "top_logprobs": []}
        for text, logprob in zip(_texts(model, completion), completion.logprobs, strict=True)
    ]


def _plain_logprobs(model: ServedModel, completion: Completion) -> dict[str, Any]:
    texts = _texts(model, completion)
    offsets = [sum(map(len, texts[:n])) for n in range(len(texts))]
    logprobs = list(completion.logprobs)
    return {"tokens": texts, "token_logprobs": logprobs, "top_logprobs": None, "text_offset": offsets}


def _texts(model: ServedModel, completion: Completion) -> list[str]:
    return [str(model.tokenizer.decode([token], skip_special_tokens=False)) for token in completion.completion_ids]
