"""An MCP server over stdio without an SDK: `python raw.py TOOLS.json`, whose tools answer with their arguments, or with
what their `answers` are.

For inputs that no SDK would send: schemas that are none, a thousand tools.
"""

import json
import sys
from pathlib import Path
from typing import Any

TOOLS: list[dict[str, Any]] = json.loads(Path(sys.argv[1]).read_text())


def reply(method: str, params: dict[str, Any]) -> dict[str, object] | None:
    match method:
        case "initialize":
            version = params.get("protocolVersion")
            return {
                "protocolVersion": version,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "raw", "version": "1"},
            }
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            plain: dict[str, object] = {"content": [{"type": "text", "text": json.dumps(params.get("arguments"))}]}
            return next(
                (tool["answers"] for tool in TOOLS if tool["name"] == params["name"] and "answers" in tool), plain
            )
        case _:
            return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = reply(message["method"], message.get("params") or {})
        said = {"result": result} if result is not None else {"error": {"code": -32601, "message": "unknown method"}}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}) + "\n")
        sys.stdout.flush()
