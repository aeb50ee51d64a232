"""Token in, token out: from messages to the ids an engine sees, from what it sampled to the rows a trainer trains on.

Nothing that was sampled is ever tokenized again: the next prompt of a conversation is the last context plus the ids of
what was said since, separators included, and a training row is made of the engine's ids alone.
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
    """What is needed of a transformers tokenizer."""

    chat_template: Any

    def apply_chat_template(self, conversation: Any, /, **options: Any) -> Any: ...
    def encode(self, text: str, /, *, add_special_tokens: bool = True, verbose: bool = True) -> list[int]: ...
    def get_added_vocab(self) -> dict[str, int]: ...
    def decode(self, ids: Sequence[int], /, *, skip_special_tokens: bool = False) -> Any: ...
    def parse_response(self, response: str, /, **options: Any) -> Any: ...


# --- prompts ----------------------------------------------------------------------------------------------------------


def render(
    tokenizer: Tokenizer, messages: Sequence[Message], tools: Sequence[Tool] = (), generation_prompt: bool = True
) -> str:
    """The conversation as text in the model's own chat template.

    Control tokens that stand in what users, tools and schemas say are broken up (`< |im_end|>`), so that no server can
    end a turn or forge one. No tools means `None`, not an empty list: templates tell them apart (TRL 5379).
    """
    control = control_tokens(tokenizer)
    functions = [_inert(tool.as_function(), control) for tool in tools] or None
    said = [_message(tokenizer, message, control) for message in messages]
    return _rendered(tokenizer, str(tokenizer.chat_template), json.dumps([said, functions]), generation_prompt)


@lru_cache(maxsize=256)
def _rendered(tokenizer: Tokenizer, template: str, conversation: str, generation_prompt: bool) -> str:
    """Messages and functions, given as JSON, in the chat template. Kept, since the tries of a task begin alike and a
    template takes milliseconds."""
    said, functions = json.loads(conversation)
    options = {"tools": functions, "tokenize": False, "add_generation_prompt": generation_prompt}
    return str(tokenizer.apply_chat_template(said, **options))


@lru_cache(maxsize=256)
def encode(tokenizer: Tokenizer, text: str) -> tuple[int, ...]:
    return tuple(tokenizer.encode(text, add_special_tokens=False, verbose=False))  # engines tell of too long ones


def prompt_ids(
    tokenizer: Tokenizer, messages: Sequence[Message], tools: Sequence[Tool] = (), context_ids: Sequence[int] = ()
) -> tuple[int, ...]:
    """The ids of the next prompt. With `context_ids` (the last prompt and its completion) they extend it.

    Only what was said after the last assistant message is tokenized; it begins right behind that message's end-of-turn
    token, so the template's separator is kept (TRL 5317). Where the template rewrites history (some strip `<think>`),
    the whole conversation is rendered instead and the trainer starts a new row.
    """
    text = render(tokenizer, messages, tools)
    extension = _extension(tokenizer, text, messages, tools, context_ids) if context_ids else None
    if extension is None:
        return encode(tokenizer, text)
    return (*context_ids, *encode(tokenizer, extension))


def head_ids(tokenizer: Tokenizer, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> tuple[int, ...]:
    """The ids that open every conversation with these tools and these leading system messages, whatever follows."""
    system = list(takewhile(lambda message: message["role"] == "system", messages))
    one, other = (render(tokenizer, [*system, {"role": "user", "content": said}], tools) for said in ("a", "b"))
    return encode(tokenizer, one[: common_prefix(one, other)])


def end_of_turn(tokenizer: Tokenizer) -> str | None:
    """The control token with which the template ends a turn, `None` where it has none."""
    said = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    return last_control(tokenizer, render(tokenizer, said, generation_prompt=False))


def last_control(tokenizer: Tokenizer, text: str) -> str | None:
    """The control token that ends `text`, white space aside."""
    end = _last_control(tokenizer, text)
    return end.group() if end else None


def inert(tokenizer: Tokenizer, text: str) -> str:
    """The text with its control tokens broken up."""
    return _inert(text, control_tokens(tokenizer))


def _last_control(tokenizer: Tokenizer, text: str) -> re.Match[str] | None:
    *_, end = (None, *control_tokens(tokenizer).finditer(text))
    return end if end and not text[end.end() :].strip() else None


def _extension(
    tokenizer: Tokenizer, text: str, messages: Sequence[Message], tools: Sequence[Tool], context_ids: Sequence[int]
) -> str | None:
    """What `text` adds to the context, or `None` where it does not extend it."""
    said = max((n for n, message in enumerate(messages) if message["role"] == "assistant"), default=None)
    if said is None:
        return None
    before = render(tokenizer, messages[: said + 1], tools, generation_prompt=False)
    end = _last_control(tokenizer, before)
    if end is None or not text.startswith(before):
        return None
    ended = context_ids[-1] == tokenizer.get_added_vocab()[end.group()]  # not where it was cut at the limit
    return text[end.end() if ended else end.start() :]


def _message(tokenizer: Tokenizer, message: Message, control: re.Pattern[str]) -> Message:
    if message["role"] != "assistant":
        return message | {"content": _inert(message.get("content") or "", control)}
    message = message | {"content": message.get("content") or ""}  # some templates look for words in it
    if not message.get("tool_calls") or _keeps_arguments(tokenizer):
        return message
    calls: list[dict[str, Any]] = message["tool_calls"]
    parsed = [call | {"function": call["function"] | {"arguments": _parsed(call)}} for call in calls]
    return message | {"tool_calls": parsed}


def _parsed(call: Mapping[str, Any]) -> Any:
    arguments = call["function"]["arguments"]
    return json.loads(arguments) if isinstance(arguments, str) else arguments


@lru_cache(maxsize=16)
def _keeps_arguments(tokenizer: Tokenizer) -> bool:
    """Whether the template writes arguments that are JSON text as they are; others quote it twice (Qwen2.5)."""
    call = {"id": "call_0", "type": "function", "function": {"name": "probe", "arguments": '{"probe": 1}'}}
    talk = [{"role": "user", "content": "probe"}, {"role": "assistant", "content": "", "tool_calls": [call]}]
    try:
        return '{"probe": 1}' in str(tokenizer.apply_chat_template(talk, tokenize=False))
    except Exception:  # a template may iterate over the mapping: whatever it raises, it does not take text
        return False


def control_tokens(tokenizer: Tokenizer) -> re.Pattern[str]:
    """What matches any of the tokenizer's control tokens, the longest first."""
    return _pattern(tuple(tokenizer.get_added_vocab()))


@lru_cache(maxsize=16)
def _pattern(tokens: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(filter(str.strip, tokens), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")


def _inert(value: Any, control: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return control.sub(lambda found: f"{found.group()[0]} {found.group()[1:]}", value)
    if isinstance(value, Mapping):
        return {_inert(key, control): _inert(item, control) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_inert(item, control) for item in value]
    return value


# --- rows -------------------------------------------------------------------------------------------------------------
