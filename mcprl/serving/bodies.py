"""The bodies of requests, checked strictly: what is not supported is refused by name, and never ignored.

A parameter of OpenAI's whose neutral value alone is supported may be given that value. `null` means left out.
"""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from mcprl.serving.refusals import UNSUPPORTED
from mcprl.serving.strict import schema
from mcprl.types import Message, Tool

MAX_CHOICES = 64
MAX_STOPS = 16


class Body(BaseModel):
    """A strict body. Raises for a field that it does not have."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {name: item for name, item in value.items() if item is not None}


def _text(value: Any) -> Any:
    """OpenAI's list of text parts as one text."""
    if not isinstance(value, list):
        return value
    for part in value:
        if not isinstance(part, Mapping) or part.get("type") != "text" or not isinstance(part.get("text"), str):
            kind = part.get("type") if isinstance(part, Mapping) else part
            raise ValueError(f"holds a part of type {str(kind)[:40]!r}; only text is supported")
    return "".join(part["text"] for part in value)


def _object(value: Any) -> Any:
    """JSON text, if it is an object that can be sent on. Some clients write no arguments as an empty text."""
    if isinstance(value, str) and not value.strip():
        return "{}"
    try:
        known = json.loads(value)
        json.dumps(known, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        raise ValueError("expected the text of a JSON object") from None
    if not isinstance(known, dict):
        raise ValueError("expected the text of a JSON object")
    return value


def _sendable(value: Any) -> Any:
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        raise ValueError("expected JSON without half characters, NaN or endless nesting") from None
    return value


class FunctionCalled(Body):
    """A call's function, as the model called it."""

    name: str
    arguments: Annotated[str, BeforeValidator(_object)]


class ToolCalled(Body):
    """A call in an assistant's message."""

    id: str
    function: FunctionCalled
    type: Literal["function"] = "function"


class ChatMessage(Body):
    """One message of a conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: Annotated[str, BeforeValidator(_text)] = ""
    name: str = ""
    tool_calls: list[ToolCalled] = []
    tool_call_id: str = ""
    reasoning_content: str = ""
    reasoning: str = ""
    thinking: str = ""
    annotations: list[Any] = Field(default=[], max_length=0)

    @model_validator(mode="after")
    def _belongs(self) -> "ChatMessage":
        if self.tool_calls and self.role != "assistant":
            raise ValueError(f"tool_calls belong to the role 'assistant', not to {self.role!r}")
        if self.role == "tool" and not self.tool_call_id:
            raise ValueError("a message of the role 'tool' needs a tool_call_id")
        return self

    def message(self) -> Message:
        """The message as engines take it."""
        given = self.model_dump(exclude_unset=True, exclude={"annotations"})
        role = "system" if self.role == "developer" else self.role
        return given | {"role": role, "content": self.content}


class FunctionOffered(Body):
    """A function that the model may call."""

    name: Annotated[str, Field(pattern=r"^[\w.:/-]{1,128}$")]
    description: str = ""
    parameters: Annotated[dict[str, Any], BeforeValidator(_sendable)] = {"type": "object", "properties": {}}
    strict: bool = False
    """Calls whose arguments do not meet the schema are handed on as text."""

    @model_validator(mode="after")
    def _checkable(self) -> "FunctionOffered":
        if self.strict:
            schema(self.parameters)
        return self


class ToolOffered(Body):
    """A tool that the model may call."""

    type: Literal["function"]
    function: FunctionOffered

    def tool(self) -> Tool:
        """The tool as engines take it."""
        return Tool(self.function.name, self.function.description, self.function.parameters)


class StreamOptions(Body):
    """What a stream has besides the text."""

    include_usage: bool = False


def _unforced(value: Any) -> Any:
    """OpenAI's `tool_choice`, if it forces no call."""
    if value == "required" or isinstance(value, Mapping):
        raise PydanticCustomError(
            UNSUPPORTED,
            "a call cannot be forced: replies can be held to a JSON Schema (response_format), and not to the form of a "
            "call; leave tool_choice out (or 'auto', 'none'), offer one tool and say in a message that it must be used",
        )
    return value


_ANY = {"type": ["object", "array", "string", "number", "boolean", "null"]}
"""What a schema without conditions allows. Engines take an empty one for none."""


class ReplySchema(Body):
    """A JSON Schema for replies, as OpenAI wraps it. It is always strict."""

    name: str
    description: str = ""
    content: Annotated[dict[str, Any], BeforeValidator(_sendable), Field(alias="schema")] = {"type": "object"}
    strict: bool = True

    @model_validator(mode="after")
    def _checkable(self) -> "ReplySchema":
        schema(self.content)
        return self


class ReplyFormat(Body):
    """What replies are held to while they are sampled."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: ReplySchema | None = None

    @model_validator(mode="after")
    def _belongs(self) -> "ReplyFormat":
        if (self.type == "json_schema") != bool(self.json_schema):
            raise ValueError("a json_schema belongs to the type 'json_schema', and to no other")
        return self

    @property
    def reply_schema(self) -> dict[str, Any] | None:
        """The schema of the whole reply, `None` for free text."""
        if self.json_schema:
            return self.json_schema.content or _ANY
        return {"type": "object"} if self.type == "json_object" else None


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


_Stop = Annotated[str, Field(min_length=1, max_length=200)]


class SamplingBody(Body):
    """What chat and plain completions share."""

    model: str
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] = 1.0
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    n: Annotated[int, Field(ge=1, le=MAX_CHOICES)] = 1
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = None
    stop: Annotated[list[_Stop], Field(max_length=MAX_STOPS), BeforeValidator(_listed)] = []
    stream: bool = False
    stream_options: StreamOptions | None = None
    return_token_ids: bool = False
    """As vLLM has it: each choice carries `prompt_token_ids` and `token_ids`."""
    user: str = ""
    frequency_penalty: Annotated[float, Field(ge=0, le=0)] = 0
    presence_penalty: Annotated[float, Field(ge=0, le=0)] = 0
    logit_bias: Annotated[dict[str, float], Field(max_length=0)] = {}


class ChatBody(SamplingBody):
    """The body of `/v1/chat/completions`."""

    messages: Annotated[list[ChatMessage], Field(min_length=1)]
    tools: list[ToolOffered] = []
    tool_choice: Annotated[Literal["auto", "none"], BeforeValidator(_unforced)] = "auto"
    parallel_tool_calls: Literal[True] = True
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    logprobs: bool = False
    top_logprobs: Annotated[int, Field(ge=0, le=0)] = 0
    response_format: ReplyFormat | None = None

    @model_validator(mode="after")
    def _distinct(self) -> "ChatBody":
        names = [tool.function.name for tool in self.tools]
        if len({*names}) < len(names):
            raise ValueError("tools holds two functions of one name")
        return self


_Token = Annotated[int, Field(ge=0)]


class CompletionsBody(SamplingBody):
    """The body of `/v1/completions`: one prompt, as text or as token ids."""

    prompt: Annotated[str, Field(min_length=1)] | Annotated[list[_Token], Field(min_length=1)]
    logprobs: Annotated[int, Field(ge=0, le=0)] | None = None
    """0: of each sampled token, without likelier ones."""
    echo: Literal[False] = False
    best_of: Annotated[int, Field(ge=1, le=1)] = 1
