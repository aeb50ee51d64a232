"""The eight APIs with a state of BFCL, the Berkeley Function Calling Leaderboard, as one MCP server: made by others.

    mcprl setup bench bfcl                                      # once
    python examples/servers/bfcl.py                             # stdio
    python examples/servers/bfcl.py --http 8001                 # streamable HTTP at http://127.0.0.1:8001/mcp
    python examples/servers/bfcl.py --api TravelAPI --api TicketAPI
    python examples/servers/bfcl.py --task multi_turn_base_48   # the APIs and the first state of that task

Every MCP session has instances of its own, in memory. Without `--task` each API starts in the fullest of the first
states that the tasks of multi_turn_base give it. The APIs have no marks for what reads and what writes: mcprl takes
them with `--sandbox`.
"""

import argparse
from functools import lru_cache
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from mcprl.benches import bfcl, bfcl_apis


def make_server(apis: tuple[str, ...], initial: dict[str, Any]) -> Server:
    """A server of these APIs, whose sessions begin in `initial`."""

    @lru_cache(maxsize=1024)
    def instances(session: str) -> bfcl_apis.Apis:
        return bfcl_apis.Apis(apis, initial)

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        tools = [tool for api in apis for tool in bfcl.tools_of(api)]
        listed = [
            types.Tool(name=each.name, description=each.description, input_schema=each.input_schema) for each in tools
        ]
        return types.ListToolsResult(tools=listed)

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        session = (getattr(context.request, "headers", None) or {}).get("mcp-session-id", "")
        result = instances(session).call(params.name, params.arguments or {})
        content: list[Any] = [types.TextContent(type="text", text=result.text)]
        return types.CallToolResult(content=content, is_error=result.is_error)

    return Server("bfcl", version="1.0.0", on_list_tools=list_tools, on_call_tool=call_tool)


async def serve_stdio(server: Server) -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="BFCL's eight APIs as an MCP server.")
    parser.add_argument("--http", type=int, metavar="PORT", help="serve streamable HTTP on 127.0.0.1 instead of stdio")
    parser.add_argument("--api", action="append", choices=bfcl_apis.CLASSES, help="only this API; may be repeated")
    parser.add_argument("--task", help="the APIs and the first state of this task of multi_turn_base")
    options = parser.parse_args()
    states = bfcl.Bfcl().states(options.task)
    chosen = tuple(options.api or (states if options.task else bfcl_apis.CLASSES))
    server = make_server(chosen, states)
    if options.http is None:
        anyio.run(serve_stdio, server)
    else:
        uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=options.http, log_level="warning")
