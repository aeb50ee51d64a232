"""Hermes tool calls, parsed from the text of a model's turn, and the turn as a message.

Arguments are kept as the sampled text. A call that cannot be parsed stays in the turn's text, and the model gets a
message with what is wrong with it.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from mcprl.types import Call, Message


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
_SPACE = re.compile(r"[ \t\n\r]*")


@dataclass(frozen=True)
class ParsedCall:
    """A call: `arguments` is the JSON text exactly as sampled, `call` the parsed call."""

    id: str
    call: Call
    arguments: str


@dataclass(frozen=True)
class Reply:
    """A parsed model turn. `content` is the text without the parsed calls; calls that could not be parsed stay in it,
    and `malformed` has the problem of each, worded for the model.
    """

    content: str
    calls: tuple[ParsedCall, ...] = ()
    malformed: tuple[str, ...] = ()


def parse_reply(text: str, turn: int = 0) -> Reply:
    """Parse Hermes calls, `<tool_call>{"name": ..., "arguments": {...}}</tool_call>`.

    There may be several, the last may be unclosed, and arguments may be an object or JSON in a string. `turn` makes the
    calls' ids unique in a conversation; they have nine letters and digits, as Mistral's templates require.
    """
    kept: list[str] = []
    calls: list[ParsedCall] = []
    malformed: list[str] = []
    at = 0
    while (start := text.find(_OPEN, at)) >= 0:
        kept.append(text[at:start])
        try:
            name, arguments, at = _read_call(text, start + len(_OPEN))
        except ValueError as error:
            at = _block_end(text, start + len(_OPEN))
            kept.append(text[start:at])
            malformed.append(f"the tool call could not be read: {error}")
        else:
            call = Call(name, json.loads(arguments))
            calls.append(ParsedCall(f"call{turn:02}{len(calls):03}", call, arguments))
    return Reply("".join((*kept, text[at:])).strip(), tuple(calls), tuple(malformed))


def as_message(reply: Reply) -> Message:
    """A reply in OpenAI's format. `arguments` is the sampled text; calls that could not be parsed stay in `content`."""
    message: Message = {"role": "assistant", "content": reply.content}
    if reply.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.call.tool, "arguments": call.arguments}}
            for call in reply.calls
        ]
    return message


def _read_call(text: str, at: int) -> tuple[str, str, int]:
    """The name, the arguments' JSON text and the position behind the call that begins at `at`. Raises `ValueError`."""
    found, at = members(text, at)
    name, _ = found.get("name", (None, ""))
    if not isinstance(name, str) or not name:
        raise ValueError('it has no "name"')
    arguments, raw = found.get("arguments", ({}, "{}"))
    if isinstance(arguments, str):
        raw = arguments
        arguments, at_end = _decode(raw, skip(raw, 0))
        if skip(raw, at_end) != len(raw):
            raise ValueError('its "arguments" are not one JSON object')
    if not isinstance(arguments, dict):
        raise ValueError('its "arguments" are not a JSON object')
    json.dumps(arguments, ensure_ascii=False).encode()  # half a surrogate pair could not be sent: a ValueError
    at = skip(text, at)
    if text.startswith(_CLOSE, at):
        return name, raw, at + len(_CLOSE)
    if at == len(text) or text.startswith(_OPEN, at):
        return name, raw, at
    raise ValueError(f"expected {_CLOSE} after the JSON, found {text[at : at + 20]!r}")


def members(text: str, at: int) -> tuple[dict[str, tuple[Any, str]], int]:
    """The members of the JSON object at `at`, each with its own text, and the position behind the object. Raises
    `ValueError`."""
    at = skip(text, at)
    if not text.startswith("{", at):
        raise ValueError("expected a JSON object with name and arguments")
    found: dict[str, tuple[Any, str]] = {}
    at = skip(text, at + 1)
    while not text.startswith("}", at):
        key, at = _decode(text, at)
        at = skip(text, at)
        if not isinstance(key, str) or not text.startswith(":", at):
            raise ValueError('expected "key": value in its JSON')
        start = skip(text, at + 1)
        value, at = _decode(text, start)
        found[key] = value, text[start:at]
        at = skip(text, at)
        if text.startswith(",", at):
            at = skip(text, at + 1)
        elif not text.startswith("}", at):
            raise ValueError("its JSON is not closed" if at == len(text) else "expected , or } in its JSON")
    return found, at + 1


def _decode(text: str, at: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise ValueError(f"its JSON is broken: {error.msg}") from None
    except RecursionError:
        raise ValueError("its JSON is nested too deeply") from None


def skip(text: str, at: int) -> int:
    """The position behind the white space at `at`."""
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _block_end(text: str, at: int) -> int:
    close, reopen = text.find(_CLOSE, at), text.find(_OPEN, at)
    ends = [close + len(_CLOSE)] * (close >= 0) + [reopen] * (reopen >= 0)
    return min(ends, default=len(text))
