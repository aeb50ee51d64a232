"""Reading a server's replies without trust: its listing tool by tool, content blocks as text, errors as one line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio.lowlevel
import mcp_types
from mcp.shared.dispatcher import CallOptions
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext
from pydantic import ValidationError

from mcprl.secrets import hide_in_json
from mcprl.text import compact, visible
from mcprl.types import Json, Tool

MAX_BLOCKS = 1_000
"""Content blocks of one result that are read."""
MAX_TOOL_CHARACTERS = 2**16
"""Of one tool's description and schemas: sixteen thousand tokens, in every prompt."""


@dataclass(frozen=True)
class Malformed:
    """A listed tool that cannot be read, and why."""

    name: str
    reason: str


def listed_differently(listed: Sequence[Tool | Malformed]) -> set[str]:
    """The names under which a server lists several tools that differ: nobody knows which of them a call reaches."""
    first = {tool.name: tool for tool in reversed(listed)}
    return {tool.name for tool in listed if tool != first[tool.name]}


class Dispatcher(JSONRPCDispatcher[TransportContext]):
    """The SDK's dispatcher, except that secrets in replies are hidden, and listings of tools are kept here: the SDK
    would refuse all of a listing for one malformed tool.
    """

    _page: dict[str, Any]

    async def last_page(self, most: int) -> tuple[list[Tool | Malformed], str]:
        """Up to `most` tools of the last listed page, each read by itself, and the next page's cursor or nothing."""
        listed, cursor = self._page.get("tools"), self._page.get("nextCursor")
        tools: list[Tool | Malformed] = []
        for tool in listed[:most] if isinstance(listed, list) else ():
            tools.append(_tool(tool))
            await anyio.lowlevel.checkpoint()  # other tasks go on
        return tools, cursor if isinstance(cursor, str) else ""

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
    """The reply without the blocks of a result past `MAX_BLOCKS`: validating an odd one takes kilobytes."""
    content = reply.get("content")
    if method != "tools/call" or not isinstance(content, list) or len(content) <= MAX_BLOCKS:
        return reply
    left_out = {"type": "text", "text": f"[{len(content) - MAX_BLOCKS} blocks left out]"}
    return reply | {"content": [*content[:MAX_BLOCKS], left_out]}


def _tool(raw: Json) -> Tool | Malformed:
    try:
        tool = mcp_types.Tool.model_validate(raw, by_name=False)
    except (ValidationError, RecursionError) as error:
        fields: dict[str, Any] = raw if isinstance(raw, dict) else {}
        reason = first_problem(error) if isinstance(error, ValidationError) else "nested too deeply"
        return Malformed(str(fields.get("name") or "(no name)")[:80], reason)
    properties = tool.input_schema.get("properties", {})
    if not tool.name or not isinstance(properties, dict) or not isinstance(tool.input_schema.get("required", []), list):
        return Malformed(tool.name, "inputSchema: `properties` must be an object and `required` a list")
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


def first_problem(error: ValidationError) -> str:
    """The first problem of a validation error, and its place."""
    item = error.errors(include_url=False, include_input=False)[0]
    return one_line(f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}")
