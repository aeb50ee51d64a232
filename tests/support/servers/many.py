"""A stdio server of 200 tools: each looks up one property of one sort of thing, `get_ferry_price`."""

from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

BY_THE_SEA = "ferry harbour sailor lantern anchor buoy pilot crane barge island".split()
IN_TOWN = "museum garden theatre library bakery tunnel bridge station airport hotel".split()
PROPERTIES = "price owner colour height weight address keeper opening capacity rating".split()
NAMES = [f"get_{thing}_{part}" for thing in (*BY_THE_SEA, *IN_TOWN) for part in PROPERTIES]


def tool(name: str) -> types.Tool:
    _, thing, part = name.split("_")
    schema = {"type": "object", "properties": {f"{thing}_id": {"type": "string"}}, "required": [f"{thing}_id"]}
    about = f"Look up the {part} of a {thing} by its id."
    return types.Tool(
        name=name, description=about, input_schema=schema, annotations=types.ToolAnnotations(read_only_hint=True)
    )


async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[tool(name) for name in NAMES])


async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    text = f"{params.name.split('_')[2]} {len(params.name)} of {next(iter((params.arguments or {}).values()), '?')}"
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


async def main() -> None:
    server = Server("many", version="1.0.0", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
