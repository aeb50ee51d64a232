"""An HTTP server that is not quite MCP: `python odd_http.py FAULT`. Prints its port, then serves."""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

FAULT = sys.argv[1]
TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("echo", "die", "huge")]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.reply(405, "text/plain", b"no stream here")

    def do_DELETE(self) -> None:
        self.reply(200, "text/plain", b"")

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if FAULT == "page":
            return self.reply(200, "text/html", b"<h1>Welcome</h1>")
        if FAULT.isdigit():
            return self.reply(int(FAULT), "text/plain", b"no")
        if FAULT == "key" and self.headers["authorization"] != "Bearer sesame":
            return self.reply(401, "text/plain", b"who are you?")
        if "id" not in request:
            return self.reply(202, "text/plain", b"")
        if FAULT == "echo-200" or (FAULT.startswith("echo-") and request["method"] == "tools/call"):
            return self.echo(request["id"])
        reply = {"jsonrpc": "2.0", "id": request["id"], "result": self.answer(request)}
        return self.reply(200, "application/json", json.dumps(reply).encode())

    def echo(self, request_id: Any) -> None:
        """An error that holds the request's headers, with the status that the fault names."""
        message = f"no entry for {self.headers['authorization']} and {self.headers['x-tenant']}"
        error = {"jsonrpc": "2.0", "id": request_id, "error": {"code": -32603, "message": message}}
        body = json.dumps(error).encode() if FAULT != "echo-broken" else f"{{{message}".encode()
        self.reply(200 if FAULT == "echo-broken" else int(FAULT[5:]), "application/json", body)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["method"] == "initialize":
            info = {"name": "odd", "version": "1"}
            return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
        if request["method"] == "tools/list":
            return {"tools": TOOLS}
        if request["params"]["name"] == "die":
            os._exit(1)
        size = 20 * 2**20 if request["params"]["name"] == "huge" else 2
        return {"content": [{"type": "text", "text": "x" * size}]}

    def reply(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: Any = 0, size: Any = 0) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
sys.stdout.write(f"{server.server_port}\n")
sys.stdout.flush()
server.serve_forever()
