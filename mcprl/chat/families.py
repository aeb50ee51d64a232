"""Model families (`models/families.toml`), and the replies of models that write tool calls each in its own way.

A parser is never guessed: it is the one that reads back a call which the model's own chat template has written.
"""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from mcprl.chat import hermes, prompts
from mcprl.chat.prompts import Tokenizer
from mcprl.errors import ModelError
from mcprl.text import common_prefix, first_line
from mcprl.types import Call, CompletionRequest, Message, Tool

_FOLDER = Path(__file__).parent
_PROBE = Tool(
    "probe_tool",
    "A tool.",
    {"type": "object", "properties": {"text": {"type": "string"}, "count": {"type": "integer"}}},
)
_CALLS = (Call("probe_tool", {"text": "one word", "count": 2}), Call("probe_tool", {"text": "two", "count": 30}))


class Family(BaseModel):
    """One `[[family]]` of the table; its head says what the fields mean."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    pattern: str
    parser: str
    reasoning: str = ""
    lora_targets: str = "all-linear"
    template: str = ""
    min_vllm: str = ""
    note: str = ""

    @property
    def chat_template(self) -> str:
        """The text of our own template for the family; empty where the model's is used."""
        return (_FOLDER / "templates" / self.template).read_text() if self.template else ""


class Parser(BaseModel):
    """One `[parser.NAME]`: `vllm` is its name there, `call_id` the form of a call's id where the model writes it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    vllm: str = ""
    call_id: str = "call00{number:03}"
    response: dict[str, Any] | None = None


@dataclass(frozen=True)
class Dialect:
    """How a model writes calls: the parser that reads them, and whether a turn may hold several."""

    name: str
    parser: Parser
    parallel: bool

    @property
    def vllm(self) -> str:
        """vLLM's --tool-call-parser for it."""
        return self.parser.vllm or self.name


@cache
def table() -> tuple[tuple[Family, ...], Mapping[str, Parser]]:
    """The families in the order in which they are looked for, and the parsers in the order in which they are tried."""
    read = tomllib.loads((_FOLDER / "families.toml").read_text())
    parsers = {name: Parser.model_validate(parser) for name, parser in read["parser"].items()}
    return tuple(Family.model_validate(family) for family in read["family"]), parsers


def family(*names: str) -> Family | None:
    """The family of a model, by its name or its config's model_type: what tells more comes first."""
    found = (known for name in names for known in table()[0] if re.search(known.pattern, Path(name).name.lower()))
    return next(found, None)


# --- which parser -----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=32)
def dialect(tokenizer: Tokenizer) -> Dialect:
    """The parser that reads what the tokenizer's chat template writes: its family's if it does, else the first of the
    table that does. Raises `ModelError` where none does."""
    model = str(getattr(tokenizer, "name_or_path", ""))
    known, parsers = family(model), table()[1]
    for name in sorted(parsers, key=lambda name: known is None or name != known.parser):
        if _reads(tokenizer, name, _CALLS[:1]):
            return Dialect(name, parsers[name], _reads(tokenizer, name, _CALLS))
    try:
        written = repr(_written(tokenizer, parsers["hermes"], _CALLS[:1])[:120])
    except Exception as error:  # whatever a template raises
        written = f"nothing: {first_line(error)}"
    raise ModelError(
        f"the chat template of {model!r} writes a tool call as {written}, which no parser "
        f"reads ({', '.join(parsers)}); use a model made for tool calling, or another chat_template.jinja"
    )


def end_tokens(tokenizer: Tokenizer, style: Dialect) -> set[str]:
    """The control tokens with which the template ends an answer and a tool call: they differ with some (GPT-OSS)."""
    called = prompts.last_control(tokenizer, _written(tokenizer, style.parser, _CALLS[:1]))
    return {end for end in (called, prompts.end_of_turn(tokenizer)) if end}


def _reads(tokenizer: Tokenizer, name: str, calls: Sequence[Call]) -> bool:
    parser = table()[1][name]
    try:
        read, malformed = _read(tokenizer, parser, _written(tokenizer, parser, calls), [_PROBE], 0)
    except Exception:  # what a template raises
        return False
    made = [call["function"] for call in read.get("tool_calls", ())]
    found = [(function["name"], json.loads(function["arguments"])) for function in made]
    return not malformed and found == [(call.tool, call.arguments) for call in calls]


def _written(tokenizer: Tokenizer, parser: Parser, calls: Sequence[Call]) -> str:
    """What the template makes of an assistant's calls, without the opening that a generation prompt holds."""
    asked: Message = {"role": "user", "content": "probe"}
    made = [_call(call, parser.call_id.format(name=call.tool, number=n)) for n, call in enumerate(calls)]
    said: Message = {"role": "assistant", "content": "", "tool_calls": made}
    before = prompts.render(tokenizer, [asked], [_PROBE])
    after = prompts.render(tokenizer, [asked, said], [_PROBE], generation_prompt=False)
    return after.removeprefix(before) if after.startswith(before) else after[common_prefix(before, after) :]


def _call(call: Call, name: str) -> dict[str, Any]:
    arguments = json.dumps(call.arguments, ensure_ascii=False, allow_nan=False)
    return {"id": name, "type": "function", "function": {"name": call.tool, "arguments": arguments}}


# --- replies ----------------------------------------------------------------------------------------------------------


def reply(
    tokenizer: Tokenizer, ids: Sequence[int], end_ids: Sequence[int], request: CompletionRequest
) -> tuple[Message, tuple[str, ...]]:
    """The sampled ids as a message in OpenAI's shape, and what is wrong with each call that cannot be read.

    What the model thought aloud stands in a field of its own (`reasoning_content`, or what its template calls it), so
    that it is no part of the answer. Where the template takes one call a turn, the first is it.
    """
    style = dialect(tokenizer)
    cut = style.parser.response is None and ids[-1] in end_ids  # a response template looks for the end token
    text = str(tokenizer.decode(ids[:-1] if cut else ids, skip_special_tokens=False))
    turn = sum(message["role"] == "assistant" for message in request.messages)
    message, malformed = _read(tokenizer, style.parser, text, request.tools, turn)
    if not style.parallel and message.get("tool_calls"):
        message["tool_calls"] = message["tool_calls"][:1]
    if not message.get("tool_calls"):
        message.pop("tool_calls", None)
    return message, malformed


def _read(
    tokenizer: Tokenizer, parser: Parser, text: str, tools: Sequence[Tool], turn: int
) -> tuple[Message, tuple[str, ...]]:
    if parser.response is None:
        thought, closed, said = text.rpartition("</think>")
        found = hermes.parse_reply(said.lstrip("\n") if closed else text, turn)
        message = {"tool_calls": []} | hermes.as_message(found)
        if closed:
            message["reasoning_content"] = thought.strip().removeprefix("<think>").strip()
        return message, found.malformed
    try:
        prefix = _prefix(tokenizer)
        functions = [tool.as_function() for tool in tools]
        parsed = tokenizer.parse_response(text, schema=parser.response, prefix=prefix, tools=functions)
        calls = [_checked(call, f"call{turn:02}{n:03}") for n, call in enumerate(parsed.get("tool_calls") or [])]
    except Exception as error:  # a response template raises whatever its parts raise at what a model makes up
        problem = first_line(error)
        said = prompts.inert(tokenizer, text)  # else what was left open would stand in the next prompt as it is
        return {"role": "assistant", "content": said}, (f"the tool call could not be read: {problem}",)
    return {"role": "assistant", "content": "", **parsed, "tool_calls": calls}, ()


@lru_cache(maxsize=32)
def _prefix(tokenizer: Tokenizer) -> str:
    """What the generation prompt has already said of a turn: `<think>`, with some."""
    asked: Message = {"role": "user", "content": "probe"}
    said = prompts.render(tokenizer, [asked], generation_prompt=False)
    return prompts.render(tokenizer, [asked]).removeprefix(said)


def _checked(call: Mapping[str, Any], name: str) -> dict[str, Any]:
    function = call["function"]
    if not isinstance(function["name"], str) or not isinstance(function["arguments"], dict):
        raise ValueError("it has no name, or its arguments are not an object")
    made = _call(Call(function["name"], function["arguments"]), str(call.get("id") or name))
    made["function"]["arguments"].encode()  # half a surrogate pair could not be sent
    return made
