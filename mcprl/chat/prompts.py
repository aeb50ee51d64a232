"""Token in, token out: from messages to the ids that an engine reads.

Sampled ids are never tokenized again: the next prompt of a conversation is the last context plus the ids of the
messages since, separators included.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Any, Protocol

from mcprl.text import common_prefix
from mcprl.types import Message, Tool


class Tokenizer(Protocol):
    """The part of a transformers tokenizer that prompts need."""

    chat_template: Any

    def apply_chat_template(self, conversation: Any, /, **options: Any) -> Any: ...
    def encode(self, text: str, /, *, add_special_tokens: bool = True, verbose: bool = True) -> list[int]: ...
    def get_added_vocab(self) -> dict[str, int]: ...
    def decode(self, ids: Sequence[int], /, *, skip_special_tokens: bool = False) -> Any: ...
    def parse_response(self, response: str, /, **options: Any) -> Any: ...


# --- prompts ----------------------------------------------------------------------------------------------------------


def opening_messages(request: str, instructions: str = "") -> list[Message]:
    """The messages before the first model turn: the servers' instructions as a system message, if any, and the request.

    Without instructions there is no system message: an empty one would change the prompt.
    """
    return [*system_messages(instructions), {"role": "user", "content": request}]


def system_messages(instructions: str) -> list[Message]:
    """The servers' instructions as a system message, none without instructions."""
    return [{"role": "system", "content": instructions}] if instructions else []


def render(
    tokenizer: Tokenizer, messages: Sequence[Message], tools: Sequence[Tool] = (), generation_prompt: bool = True
) -> str:
    """The conversation as text in the model's own chat template.

    Control tokens in the texts of users, tools, instructions and schemas are broken up (`< |im_end|>`), so that no
    server can end a turn or forge one. No tools means `None`, not an empty list: templates treat the two differently
    (TRL 5379).
    """
    control = control_pattern(tokenizer)
    functions = [_break_up(tool.as_function(), control) for tool in tools] or None
    prepared = [_prepare(tokenizer, message, control) for message in messages]
    conversation = json.dumps([prepared, functions])
    return _apply_template(tokenizer, str(tokenizer.chat_template), conversation, generation_prompt)


@lru_cache(maxsize=256)
def _apply_template(tokenizer: Tokenizer, template: str, conversation: str, generation_prompt: bool) -> str:
    """Messages and functions, given as JSON, in the chat template.

    Cached, since the rollouts of a task begin alike and a template takes milliseconds. `template` is part of the key.
    """
    messages, functions = json.loads(conversation)
    options = {"tools": functions, "tokenize": False, "add_generation_prompt": generation_prompt}
    return str(tokenizer.apply_chat_template(messages, **options))


@lru_cache(maxsize=256)
def encode(tokenizer: Tokenizer, text: str) -> tuple[int, ...]:
    """The ids of the text, without added special tokens."""
    return tuple(tokenizer.encode(text, add_special_tokens=False, verbose=False))  # engines report too long prompts


def prompt_ids(
    tokenizer: Tokenizer, messages: Sequence[Message], tools: Sequence[Tool] = (), context_ids: Sequence[int] = ()
) -> tuple[int, ...]:
    """The ids of the next prompt. With `context_ids` (the last prompt and its completion) they extend it; without
    messages they are the prompt.

    Only the messages after the last assistant message are tokenized. They begin right behind that message's end-of-turn
    token, so the template's separator is kept (TRL 5317). If the template rewrites history (some strip `<think>`), the
    whole conversation is rendered instead and the trainer starts a new row.
    """
    if not messages:
        return tuple(context_ids)
    text = render(tokenizer, messages, tools)
    extension = _extension(tokenizer, text, messages, tools, context_ids) if context_ids else None
    if extension is None:
        return encode(tokenizer, text)
    return (*context_ids, *encode(tokenizer, extension))


def head_ids(tokenizer: Tokenizer, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> tuple[int, ...]:
    """The ids that every conversation with these tools and these leading system messages begins with."""
    system = list(takewhile(lambda message: message["role"] == "system", messages))
    one, other = (render(tokenizer, [*system, {"role": "user", "content": text}], tools) for text in ("a", "b"))
    return encode(tokenizer, one[: common_prefix(one, other)])


def _extension(
    tokenizer: Tokenizer, text: str, messages: Sequence[Message], tools: Sequence[Tool], context_ids: Sequence[int]
) -> str | None:
    """What `text` adds to the context, `None` if it does not extend the context."""
    last_turn = max((n for n, message in enumerate(messages) if message["role"] == "assistant"), default=None)
    if last_turn is None:
        return None
    before = render(tokenizer, messages[: last_turn + 1], tools, generation_prompt=False)
    end = _final_control_match(tokenizer, before)
    if end is None or not text.startswith(before):
        return None
    ended = context_ids[-1] == tokenizer.get_added_vocab()[end.group()]  # false if the turn was cut at the limit
    return text[end.end() if ended else end.start() :]


# --- control tokens ---------------------------------------------------------------------------------------------------


def end_of_turn(tokenizer: Tokenizer) -> str | None:
    """The control token with which the template ends a turn, `None` if it has none."""
    conversation = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    return final_control(tokenizer, render(tokenizer, conversation, generation_prompt=False))


def final_control(tokenizer: Tokenizer, text: str) -> str | None:
    """The control token that ends `text`, trailing white space aside; `None` if none does."""
    end = _final_control_match(tokenizer, text)
    return end.group() if end else None


def break_control_tokens(tokenizer: Tokenizer, text: str) -> str:
    """The text with a space inside each control token, so that it is tokenized as ordinary text."""
    return _break_up(text, control_pattern(tokenizer))


def control_pattern(tokenizer: Tokenizer) -> re.Pattern[str]:
    """A pattern that matches any of the tokenizer's control tokens, the longest first."""
    return _pattern(tuple(tokenizer.get_added_vocab()))


@lru_cache(maxsize=16)
def _pattern(tokens: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(filter(str.strip, tokens), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")


def _final_control_match(tokenizer: Tokenizer, text: str) -> re.Match[str] | None:
    *_, end = (None, *control_pattern(tokenizer).finditer(text))
    return end if end and not text[end.end() :].strip() else None


def _break_up(value: Any, control: re.Pattern[str]) -> Any:
    """The JSON value with the control tokens in its strings broken up."""
    if isinstance(value, str):
        return control.sub(lambda token: f"{token.group()[0]} {token.group()[1:]}", value)
    if isinstance(value, Mapping):
        return {_break_up(key, control): _break_up(item, control) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_break_up(item, control) for item in value]
    return value


# --- messages as templates take them ----------------------------------------------------------------------------------


def _prepare(tokenizer: Tokenizer, message: Message, control: re.Pattern[str]) -> Message:
    """The message for the template: control tokens broken up, except in the policy's own turns, and calls' arguments
    as text or parsed, as the template expects them."""
    if message["role"] != "assistant":
        return message | {"content": _break_up(message.get("content") or "", control)}
    message = message | {"content": message.get("content") or ""}  # some templates search in it
    if not message.get("tool_calls") or _takes_json_text(tokenizer):
        return message
    calls: list[dict[str, Any]] = message["tool_calls"]
    parsed = [call | {"function": call["function"] | {"arguments": _parsed_arguments(call)}} for call in calls]
    return message | {"tool_calls": parsed}


def _parsed_arguments(call: Mapping[str, Any]) -> Any:
    arguments = call["function"]["arguments"]
    return json.loads(arguments) if isinstance(arguments, str) else arguments


@lru_cache(maxsize=16)
def _takes_json_text(tokenizer: Tokenizer) -> bool:
    """Whether the template writes arguments given as JSON text unchanged; others quote it twice (Qwen2.5)."""
    call = {"id": "call_0", "type": "function", "function": {"name": "probe", "arguments": '{"probe": 1}'}}
    talk = [{"role": "user", "content": "probe"}, {"role": "assistant", "content": "", "tool_calls": [call]}]
    try:
        return '{"probe": 1}' in str(tokenizer.apply_chat_template(talk, tokenize=False))
    except Exception:  # a template may iterate over the mapping: whatever it raises, it does not take text
        return False
