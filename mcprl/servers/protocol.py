"""Reading a server's replies without trust: its listing tool by tool, content blocks as text, errors as one line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio.lowlevel
import mcp_types
from mcp.shared.dispatcher import CallOptions, OnRequest
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext
from pydantic import ValidationError

from mcprl.secrets import hide_in_json
from mcprl.text import compact, shortened, visible
from mcprl.types import Json, Tool

MAX_BLOCKS = 1_000
"""Content blocks of one result that are read."""
MAX_TOOL_CHARACTERS = 2**16
"""Of one tool's description and schemas: sixteen thousand tokens, in every prompt."""

_TYPES = ("text", "image", "audio", "resource", "resource_link")


@dataclass(frozen=True)
class Malformed:
    """A listed tool that cannot be read, and why."""

    name: str
    reason: str


def listed_differently(listed: Sequence[Tool | Malformed]) -> set[str]:
    """The names under which a server lists several tools that differ: nobody knows which of them a call reaches."""
    first = {tool.name: tool for tool in reversed(listed)}
    return {tool.name for tool in listed if tool != first[tool.name]}


SAMPLING = "sampling/createMessage"
ASKED_BACK = {
    "elicitation/create": "it asked its client for a confirmation (elicitation), which rollouts cannot give",
    SAMPLING: "it asked its client for a language model (sampling), which --sampling base lends it",
    "roots/list": "it asked its client for folders (roots), which rollouts do not have",
}
"""What a server may ask its client for in a call, with what is said of it. It is refused, but for lent models."""


class Dispatcher(JSONRPCDispatcher[TransportContext]):
    """The SDK's dispatcher, except that secrets in replies are hidden, that listings of tools are kept here, since the
    SDK would refuse all of a listing for one malformed tool, and that it counts in `asked` what the server asked back.
    """

    _page: dict[str, Any]

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.asked: list[str] = []

    async def run(self, on_request: OnRequest, *args: Any, **settings: Any) -> None:
        async def noted(context: Any, method: str, params: Mapping[str, Any] | None) -> dict[str, Any]:
            if method in ASKED_BACK:
                self.asked.append(method)
            return await on_request(context, method, params)

        await super().run(noted, *args, **settings)

    async def last_page(self, most: int) -> tuple[list[Tool | Malformed], str | None]:
        """Up to `most` tools of the last listed page, each read by itself, and the next page's cursor, which may be
        empty; `None` at the end."""
        listed, cursor = self._page.get("tools"), self._page.get("nextCursor")
        tools: list[Tool | Malformed] = []
        for tool in listed[:most] if isinstance(listed, list) else ():
            tools.append(_tool(tool))
            await anyio.lowlevel.checkpoint()  # other tasks go on
        return tools, cursor if isinstance(cursor, str) else None

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        opts: CallOptions | None = None,
        *,
        _related_request_id: mcp_types.RequestId | None = None,
    ) -> dict[str, Any]:
        reply = await super().send_raw_request(method, params, opts, _related_request_id=_related_request_id)
        raw: dict[str, Any] = hide_in_json(_bounded(method, reply))
        await anyio.lowlevel.checkpoint()  # other tasks go on before it is validated
        if method == "tools/list":
            self._page = raw
            return {key: value for key, value in raw.items() if key != "nextCursor"} | {"tools": []}
        return raw


def _bounded(method: str, reply: dict[str, Any]) -> dict[str, Any]:
    """The reply without the blocks of a result past `MAX_BLOCKS`: validating an odd one takes kilobytes. A block of a
    type that the SDK does not know, for which it would refuse the whole result, is named instead. A result may have
    structured content alone."""
    content = reply.get("content")
    if method != "tools/call":
        return reply
    if content is None and isinstance(reply.get("structuredContent"), dict):
        return reply | {"content": []}
    if not isinstance(content, list):
        return reply
    blocks = [_known(block) for block in content[:MAX_BLOCKS]]
    if len(content) > MAX_BLOCKS:
        blocks.append({"type": "text", "text": f"[{len(content) - MAX_BLOCKS} blocks left out]"})
    return reply | {"content": blocks}


def _known(block: Json) -> Json:
    if not isinstance(block, dict) or block.get("type") in _TYPES:
        return block
    kind = shortened(str(block.get("type") or "no type"), 40)
    return {"type": "text", "text": f"[a block of type {kind!r}, {len(compact(block))} bytes, is not read]"}


def _tool(raw: Json) -> Tool | Malformed:
    try:
        tool = mcp_types.Tool.model_validate(raw, by_name=False)
        fault = "" if tool.name else "it has no name"
        fault = fault or _fault(tool.input_schema, "inputSchema")
        if not fault and not isinstance(tool.input_schema.get("required", []), list):
            fault = "inputSchema: `required` must be a list"
    except (ValidationError, RecursionError) as error:
        fields: dict[str, Any] = raw if isinstance(raw, dict) else {}
        reason = first_problem(error) if isinstance(error, ValidationError) else "nested too deeply"
        return Malformed(str(fields.get("name") or "(no name)")[:80], reason)
    if fault:
        return Malformed(tool.name[:80], fault)
    if len(tool.description or "") + _length(tool.input_schema) + _length(tool.output_schema) > MAX_TOOL_CHARACTERS:
        return Malformed(tool.name[:80], f"its description and schemas have more than {MAX_TOOL_CHARACTERS} characters")
    hints = tool.annotations or mcp_types.ToolAnnotations()
    return Tool(
        name=tool.name,
        description=tool.description or "",
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        title=tool.title or hints.title,
        read_only=hints.read_only_hint,
        destructive=hints.destructive_hint,
        idempotent=hints.idempotent_hint,
    )


def _fault(schema: Json, place: str) -> str:
    """What makes a schema none that templates, validators and probing can read; empty if they can. A property's own
    `required: true` and unknown types, which servers have, do no harm."""
    if isinstance(schema, bool):
        return ""
    if not isinstance(schema, dict):
        return f"{place}: {shortened(repr(schema), 40)} is no schema"
    wanted = {"type": (str, list), "enum": list, "required": (list, bool), "properties": dict}
    for key, kinds in wanted.items():
        if key in schema and not isinstance(schema[key], kinds):
            return f"{place}: `{key}` is {shortened(repr(schema[key]), 40)}"
    if isinstance(kinds := schema.get("type"), list) and not all(isinstance(kind, str) for kind in kinds):
        return f"{place}: `type` is {shortened(repr(kinds), 40)}"
    inner = [(f"{place}.{name}", part) for name, part in schema.get("properties", {}).items()]
    inner += [(f"{place}[]", schema["items"])] if isinstance(schema.get("items"), dict) else []
    for key in ("anyOf", "oneOf", "allOf"):
        inner += [(place, part) for part in schema.get(key) or ()] if isinstance(schema.get(key), list) else []
    return next((fault for where, part in inner if (fault := _fault(part, where))), "")


def _length(schema: Json) -> int:
    return len(compact(schema)) if schema else 0


def block_text(block: mcp_types.ContentBlock) -> str:
    """A block of a tool's result as text; other content is named with its type and size."""
    match block:
        case mcp_types.TextContent():
            return block.text
        case mcp_types.ImageContent() | mcp_types.AudioContent():
            return f"[{block.type} {block.mime_type}, {len(block.data) * 3 // 4} bytes]"
        case mcp_types.ResourceLink():
            return f"[resource {block.name} {block.uri}]"
        case mcp_types.EmbeddedResource(resource=mcp_types.TextResourceContents() as resource):
            return resource.text
        case mcp_types.EmbeddedResource(resource=resource):
            return f"[resource {resource.mime_type or 'blob'} {resource.uri}]"


def one_line(text: str) -> str:
    """The text on one line, cut to 300 characters, for an error on a terminal."""
    return visible(" ".join(text.split()))[:300]


def last_of(text: str) -> str:
    """The end of a process's words on one line of 300 characters: its last line says why it ended."""
    line = visible(" ".join(text.split()))
    return line if len(line) <= 300 else f"...{line[-297:]}"


def first_problem(error: ValidationError) -> str:
    """The first problem of a validation error, and its place."""
    item = error.errors(include_url=False, include_input=False)[0]
    return one_line(f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}")
