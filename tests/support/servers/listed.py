"""A server written by hand with the tools that a file lists: `python listed.py TOOLS LOG [--http]`.

TOOLS holds the tools as JSON, as `tools/list` gives them. The name of every tool that is called is appended to LOG. A
tool with a list of `rows` gives them all, or those with the arguments' values; another one answers "done". With
`--http` it prints its port and serves there.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

TOOLS: list[dict[str, Any]] = json.loads(Path(sys.argv[1]).read_text())
LOG = Path(sys.argv[2])
ROWS = {tool["name"]: tool.pop("rows") for tool in TOOLS if "rows" in tool}


def called(name: str, arguments: dict[str, Any]) -> Any:
    with LOG.open("a") as log:
        log.write(name + "\n")
    if name not in ROWS:
        return "done"
    rows = [row for row in ROWS[name] if all(row.get(key) == value for key, value in arguments.items())]
    return rows if not arguments else rows[0] if rows else {"error": "not found"}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    if request["method"] == "initialize":
        info = {"name": "listed", "version": "1"}
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    if request["method"] == "tools/list":
        return {"tools": TOOLS}
    value = called(request["params"]["name"], request["params"].get("arguments") or {})
    return {"content": [{"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}]}


def reply(request: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": answer(request)}).encode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.send(200, reply(request)) if "id" in request else self.send(202, b"")

    def do_GET(self) -> None:
        self.send(405, b"")

    def do_DELETE(self) -> None:
        self.send(200, b"")

    def send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: Any = 0, size: Any = 0) -> None:
        pass


if "--http" in sys.argv:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        sys.stdout.write(reply(message).decode() + "\n")
        sys.stdout.flush()
