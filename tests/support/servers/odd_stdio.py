"""A stdio MCP server written by hand, so that it can do what no SDK would: `python odd_stdio.py FAULT [ARGUMENT]`.

Without a fault it is a counter: `add` writes, the other tools are marked read-only.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

FAULT, ARGUMENT = (*sys.argv[1:], "", "")[:2]
READS, WRITES = {"readOnlyHint": True}, {"readOnlyHint": False, "destructiveHint": False}
BOMB = {"type": "object", "properties": {"x": {"type": "string", "pattern": "^(a+)+$"}}}
total = 0


def add(n: int = 1) -> Any:
    global total
    total += n
    return {"total": total}


def sleep(seconds: float) -> Any:
    time.sleep(seconds)
    return "slept"


def note(name: str) -> Any:
    with open(name, "w") as file:
        file.write("noted")
    return f"noted in {os.path.abspath(name)}"


TOOLS: dict[str, tuple[Callable[..., Any], Any]] = {
    "add": (add, WRITES),
    "value": (lambda: {"total": total}, READS),
    "pid": (lambda: {"pid": os.getpid()}, READS),
    "echo": (lambda **arguments: arguments, READS),
    "sleep": (sleep, READS),
    "crash": (lambda: os._exit(7), READS),
    "fail": (lambda: 1 / 0, READS),
    "big": (lambda n: "x" * n, READS),
    "where": (lambda: {"folder": os.getcwd(), "files": sorted(os.listdir())}, READS),
    "note": (note, WRITES),
    "environment": (lambda: dict(os.environ), READS),
    "bomb": (lambda: {"x": "a" * 40 + "!"}, READS),
    "wipe": (lambda: "wiped", {"destructiveHint": True}),
}


def listing(cursor: str | None) -> dict[str, Any]:
    tools: list[Any] = [
        {"name": name, "description": name, "inputSchema": {"type": "object"}, "annotations": hints}
        for name, (_, hints) in TOOLS.items()
    ]
    next(tool for tool in tools if tool["name"] == "bomb")["outputSchema"] = BOMB
    if FAULT == "malformed":
        tools[3:3] = [{"name": "broken", "inputSchema": "none"}, {"description": "nameless"}, 5]
        tools.append({"name": "list", "inputSchema": {"type": "object", "properties": []}})
    if FAULT == "half-listed":
        return {"tools": tools, "nextCursor": "more"}
    if FAULT == "scratch":
        tools[0]["description"] = f"Adds up in {os.getcwd()}."
    if FAULT == "same-cursor":
        return {"tools": tools, "nextCursor": "again"}
    if FAULT == "endless":
        return {"tools": tools if cursor is None else [], "nextCursor": f"{cursor}+"}
    return {"tools": tools}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        info = {"name": "counter", "version": "1"}
        reply = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
        told = {"instructions": ARGUMENT, "scratch": f"All paths are below {os.getcwd()}."}
        return reply | ({"instructions": told[FAULT]} if FAULT in told else {})
    if method == "tools/list":
        return listing(params.get("cursor"))
    try:
        value = TOOLS[params["name"]][0](**params.get("arguments", {}))
    except Exception as error:
        return {"content": [{"type": "text", "text": f"{type(error).__name__}: {error}"}], "isError": True}
    text = {"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}
    return {"content": [text]} | ({} if isinstance(value, str) else {"structuredContent": value})


if FAULT == "exit":
    sys.exit("cannot find my licence")
if FAULT in ("grandchild", "astray"):
    with open(ARGUMENT, "w") as file:
        file.write(str(subprocess.Popen(["sleep", "600"], start_new_session=FAULT == "astray").pid))
for line in sys.stdin:
    request = json.loads(line)
    if FAULT == "mute" or "id" not in request:
        continue
    if request["method"] == "tools/list" and (
        FAULT == "unlisted" or (FAULT == "half-listed" and request.get("params", {}).get("cursor"))
    ):
        continue
    if FAULT == "flood":
        sys.stdout.write("\n".join(f"{n} this is not JSON-RPC" for n in range(5_000)) + "\n")
    reply = {"jsonrpc": "2.0", "id": request["id"], "result": answer(request["method"], request.get("params", {}))}
    sys.stdout.write(json.dumps(reply) + "\n")
    sys.stdout.flush()
