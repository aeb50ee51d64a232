"""Model families (`families.toml`), and replies as messages: families write tool calls in different formats.

A parser is never guessed: it must read back a call that the model's own chat template has written.
"""

import json
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from mcprl.chat import forms, hermes, prompts
from mcprl.chat.prompts import Tokenizer
from mcprl.errors import ModelError
from mcprl.text import common_prefix, first_line
from mcprl.types import Call, CompletionRequest, Message, Tool

_FOLDER = Path(__file__).parent
ANY_FORM = "{%- set calls_in_any_form = true -%}"
"""What a chat template begins with if calls are read in any form (`chat.forms`): there it is saved with the model."""
_INCLUDE = re.compile(r'\{% include "(?P<path>[^"]+)" %\}\n?')
_PROBE = Tool(
    "probe_tool",
    "A tool.",
    {"type": "object", "properties": {"text": {"type": "string"}, "count": {"type": "integer"}}},
)
_CALLS = (Call("probe_tool", {"text": "one word", "count": 2}), Call("probe_tool", {"text": "two", "count": 30}))


class Family(BaseModel):
    """One `[[family]]` of the table, whose header describes the fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    pattern: str
    parser: str
    reasoning: str = ""
    think: str = ""
    lora_targets: str = "all-linear"
    template: str = ""
    min_vllm: str = ""
    note: str = ""
    thinking_note: str = ""

    def of_template(self, chat_template: str) -> "Family":
        """The family of a model with this template: some models of a family that reasons do not."""
        if self.reasoning and self.think in chat_template:
            return self.model_copy(update={"note": "; ".join(filter(None, (self.note, self.thinking_note)))})
        return self.model_copy(update={"reasoning": ""})

    @property
    def chat_template(self) -> str:
        """The text of our own template for the family; empty if the model's is used.

        An included template (a path below the package) stands in the text, since a model's template is one file.
        """
        text = (_FOLDER / "templates" / self.template).read_text() if self.template else ""
        return _INCLUDE.sub(lambda include: (_FOLDER.parent / include["path"]).read_text(), text)


class Parser(BaseModel):
    """One `[parser.NAME]`: `vllm` is vLLM's name for it, `call_id` the form of a call's id if the model writes ids."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    vllm: str = ""
    call_id: str = "call00{number:03}"
    response: dict[str, Any] | None = None


@dataclass(frozen=True)
class Dialect:
    """How a model writes calls: the parser that reads them, and whether one turn may hold several."""

    name: str
    parser: Parser
    parallel: bool

    @property
    def vllm(self) -> str:
        """The value of vLLM's --tool-call-parser."""
        return self.parser.vllm or self.name


@cache
def table() -> tuple[tuple[Family, ...], Mapping[str, Parser]]:
    """The families and the parsers, both in the order in which they are tested on a model."""
    tree = tomllib.loads((_FOLDER / "families.toml").read_text())
    parsers = {name: Parser.model_validate(parser) for name, parser in tree["parser"].items()}
    return tuple(Family.model_validate(family) for family in tree["family"]), parsers


def family(*names: str) -> Family | None:
    """The family of a model by its names, the most specific first: its own name, its config's model_type.

    `None` if no family's pattern matches.
    """
    matches = (entry for name in names for entry in table()[0] if re.search(entry.pattern, Path(name).name.lower()))
    return next(matches, None)


# --- which parser -----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=32)
def dialect(tokenizer: Tokenizer) -> Dialect:
    """The parser that reads what the tokenizer's chat template writes: its family's if that does, else the first of
    the table that does.

    Raises `ModelError` if none does.
    """
    model = str(getattr(tokenizer, "name_or_path", ""))
    known, parsers = family(model), table()[1]
    for name in sorted(parsers, key=lambda name: known is None or name != known.parser):  # the family's own first
        if _reads(tokenizer, name, _CALLS[:1]):
            return Dialect(name, parsers[name], _reads(tokenizer, name, _CALLS))
    try:
        written = repr(_rendered_calls(tokenizer, parsers["hermes"], _CALLS[:1])[:120])
    except Exception as error:  # whatever a template raises
        written = f"nothing: {first_line(error)}"
    raise ModelError(
        f"the chat template of {model!r} writes a tool call as {written}, which no parser "
        f"reads ({', '.join(parsers)}); use a model made for tool calling, or another chat_template.jinja"
    )


def end_tokens(tokenizer: Tokenizer, style: Dialect) -> set[str]:
    """The control tokens with which the template ends an answer and a tool call. In some they differ (GPT-OSS)."""
    end_of_call = prompts.final_control(tokenizer, _rendered_calls(tokenizer, style.parser, _CALLS[:1]))
    return {end for end in (end_of_call, prompts.end_of_turn(tokenizer)) if end}


def _reads(tokenizer: Tokenizer, name: str, calls: Sequence[Call]) -> bool:
    """Whether the parser reads the calls back from the text that the template writes for them."""
    parser = table()[1][name]
    try:
        message, malformed = _parse(tokenizer, parser, _rendered_calls(tokenizer, parser, calls), [_PROBE], 0)
    except Exception:  # whatever a template raises
        return False
    functions = [call["function"] for call in message.get("tool_calls", ())]
    parsed = [(function["name"], json.loads(function["arguments"])) for function in functions]
    return not malformed and parsed == [(call.tool, call.arguments) for call in calls]


def _rendered_calls(tokenizer: Tokenizer, parser: Parser, calls: Sequence[Call]) -> str:
    """The text that the template writes for an assistant's calls, without what a generation prompt already holds."""
    question: Message = {"role": "user", "content": "probe"}
    tool_calls = [_call(call, parser.call_id.format(name=call.tool, number=n)) for n, call in enumerate(calls)]
    turn: Message = {"role": "assistant", "content": "", "tool_calls": tool_calls}
    before = prompts.render(tokenizer, [question], [_PROBE])
    after = prompts.render(tokenizer, [question, turn], [_PROBE], generation_prompt=False)
    return after.removeprefix(before) if after.startswith(before) else after[common_prefix(before, after) :]


def _call(call: Call, call_id: str) -> dict[str, Any]:
    """The call in OpenAI's format."""
    arguments = json.dumps(call.arguments, ensure_ascii=False, allow_nan=False)
    return {"id": call_id, "type": "function", "function": {"name": call.tool, "arguments": arguments}}


# --- replies ----------------------------------------------------------------------------------------------------------


def reply(
    tokenizer: Tokenizer, ids: Sequence[int], end_ids: Sequence[int], request: CompletionRequest
) -> tuple[Message, tuple[str, ...]]:
    """The sampled ids as a message in OpenAI's format, and the problem of each call that cannot be read.

    The model's reasoning goes into a field of its own (`reasoning_content`, or the template's name for it), so that it
    is not part of the answer. If the template takes one call a turn, only the first call is kept. Where no tool is
    offered, what looks like a call is text.
    """
    if request.schema:  # the whole turn is the value, whatever it holds
        said = ids[:-1] if ids[-1] in end_ids else ids
        return {"role": "assistant", "content": str(tokenizer.decode(said, skip_special_tokens=False))}, ()
    style = dialect(tokenizer)
    cut = style.parser.response is None and ids[-1] in end_ids  # a response template needs the end token
    text = str(tokenizer.decode(ids[:-1] if cut else ids, skip_special_tokens=False))
    turn = sum(message["role"] == "assistant" for message in request.messages)
    message, malformed = _parse(tokenizer, style.parser, text, request.tools, turn)
    if not request.offered and (malformed or message.get("tool_calls")):  # nothing can be called: it is text
        said = ids[:-1] if ids[-1] in end_ids else ids
        text = str(tokenizer.decode(said, skip_special_tokens=False))
        return {"role": "assistant", "content": text}, ()
    if reads_any_form(tokenizer) and not message.get("tool_calls"):
        content = str(message.get("content") or "")
        if block := forms.find(content, request.offered):
            message = message | {"content": content[: block.start].strip(), "tool_calls": _written(block, turn)}
            malformed = ()
    if not style.parallel and message.get("tool_calls"):
        message["tool_calls"] = message["tool_calls"][:1]
    if not message.get("tool_calls"):
        message.pop("tool_calls", None)
    return message, malformed


def reads_any_form(tokenizer: Tokenizer) -> bool:
    """Whether calls are read in other forms than the template's, too."""
    return ANY_FORM in str(tokenizer.chat_template)


def ends_turn(tokenizer: Tokenizer, ids: Sequence[int], offered: Collection[str]) -> bool:
    """Whether the sampled ids end with a complete fence around a call, where the turn ends: what a model writes behind
    it is a result that it makes up."""
    text = str(tokenizer.decode(ids, skip_special_tokens=False))
    if dialect(tokenizer).parser.response is not None:
        return False
    if _thinks(tokenizer, text):
        _, closed, text = text.partition("</think>")
        if not closed:
            return False
    return text.rstrip().endswith(forms.FENCE) and bool((block := forms.find(text, offered)) and block.closed)


def form(tokenizer: Tokenizer, ids: Sequence[int], request: CompletionRequest) -> str:
    """How the turn writes its calls: `template`, or a form of `chat.forms`; empty if it makes none."""
    text = str(tokenizer.decode(ids, skip_special_tokens=True)).rpartition("</think>")[2]
    block = forms.find(text, request.offered)
    style = dialect(tokenizer).parser
    if _parse(tokenizer, style, text, request.tools, 0)[0].get("tool_calls"):
        return "template"
    return block.form if block else ""


def _written(block: forms.FoundCalls, turn: int) -> list[dict[str, Any]]:
    """The block's calls in OpenAI's format, the arguments as they were sampled."""
    return [
        {"id": f"call{turn:02}{n:03}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for n, (name, arguments) in enumerate(block.calls)
    ]


def _parse(
    tokenizer: Tokenizer, parser: Parser, text: str, tools: Sequence[Tool], turn: int
) -> tuple[Message, tuple[str, ...]]:
    """A turn's text as a message, and the problem of each call that cannot be read."""
    if parser.response is None:
        thinks = _thinks(tokenizer, text)
        reasoning, closed, rest = text.partition("</think>") if thinks else ("", "", text)
        parsed_reply = hermes.parse_reply(rest.lstrip("\n") if closed else rest, turn)
        message = {"tool_calls": []} | hermes.as_message(parsed_reply)
        if thinks:  # what it thinks is never a call, also if it does not end
            message["reasoning_content"] = reasoning.strip().removeprefix("<think>").strip()
        return message, parsed_reply.malformed
    try:
        prefix = _generation_prefix(tokenizer)
        functions = [tool.as_function() for tool in tools]
        parsed = tokenizer.parse_response(text, schema=parser.response, prefix=prefix, tools=functions)
        calls = [_checked(call, f"call{turn:02}{n:03}") for n, call in enumerate(parsed.get("tool_calls") or [])]
    except Exception as error:  # a response template raises whatever its parts raise at a model's text
        problem = first_line(error)
        content = prompts.break_control_tokens(tokenizer, text)  # else an unclosed call would stand in the next prompt
        return {"role": "assistant", "content": content}, (f"the tool call could not be read: {problem}",)
    return {"role": "assistant", "content": "", **parsed, "tool_calls": calls}, ()


def _thinks(tokenizer: Tokenizer, text: str) -> bool:
    """Whether a turn's text begins with a thought."""
    return text.lstrip().startswith("<think>") or _generation_prefix(tokenizer).rstrip().endswith("<think>")


@lru_cache(maxsize=32)
def _generation_prefix(tokenizer: Tokenizer) -> str:
    """The part of a turn that the generation prompt already holds: `<think>` in some templates."""
    question: Message = {"role": "user", "content": "probe"}
    without = prompts.render(tokenizer, [question], generation_prompt=False)
    return prompts.render(tokenizer, [question]).removeprefix(without)


def _checked(call: Mapping[str, Any], default_id: str) -> dict[str, Any]:
    """A parsed call in OpenAI's format. Raises `ValueError` if it has no name, or its arguments are no object."""
    function = call["function"]
    if not isinstance(function["name"], str) or not isinstance(function["arguments"], dict):
        raise ValueError("it has no name, or its arguments are not an object")
    checked = _call(Call(function["name"], function["arguments"]), str(call.get("id") or default_id))
    checked["function"]["arguments"].encode()  # half a surrogate pair could not be sent: a ValueError
    return checked
