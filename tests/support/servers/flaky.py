"""An HTTP MCP server that fails now and then: `python flaky.py FAULT EVERY`. Prints its port, then serves.

Every EVERY-th request of a tool, a resource or a session meets the fault: `drop` closes the connection, `drop-late`
does so after the work is done, `expire` forgets the session, a number is an HTTP status. `GET /log` lists the calls
that were executed.
"""

import json
import socket
import sys
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

FAULT, EVERY = sys.argv[1], int(sys.argv[2])
NAMES = "axe bolt clamp drill easel file gouge hammer iron jack knife lathe mallet nail oiler plane".split()
READS, WRITES = {"readOnlyHint": True}, {"readOnlyHint": False, "destructiveHint": False}
ITEM = {"type": "object", "properties": {"item_id": {"type": "string"}}, "required": ["item_id"]}
PRICED = {
    "type": "object",
    "properties": {"item_id": {"type": "string"}, "price": {"type": "integer"}},
    "required": ["item_id", "price"],
}
TOOLS = [
    {"name": "list_items", "description": "List all items.", "inputSchema": {"type": "object"}, "annotations": READS},
    {"name": "get_item", "description": "Get one item.", "inputSchema": ITEM, "annotations": READS},
    {"name": "set_price", "description": "Set an item's price.", "inputSchema": PRICED, "annotations": WRITES},
]
sessions: dict[str, dict[str, dict[str, Any]]] = {}
seen = Counter[str]()
executed: list[list[Any]] = []


def shelf() -> dict[str, dict[str, Any]]:
    return {
        f"IT-{n}": {"item_id": f"IT-{n}", "name": name, "price": 3 + n % 9, "weight": 100 + 7 * n}
        for n, name in enumerate(NAMES, 11)
    }


def call(items: dict[str, dict[str, Any]], name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    executed.append([name, arguments])
    item = items.get(str(arguments.get("item_id")))
    if name != "list_items" and item is None:
        return {"content": [{"type": "text", "text": "Error: no such item"}], "isError": True}
    if name == "set_price" and item is not None:
        item["price"] = arguments["price"]
    value: Any = list(items.values()) if name == "list_items" else item
    return {"content": [{"type": "text", "text": json.dumps(value)}]}


class FlakyHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.reply(200 if self.path == "/log" else 405, executed)

    def do_DELETE(self) -> None:
        self.reply(200, {})

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        method, session = request["method"], self.headers.get("mcp-session-id", "")
        if "id" not in request:
            return self.reply(202, {})
        if method == "initialize":
            session = uuid4().hex
            sessions[session] = shelf()
        elif session not in sessions:
            return self.forget(request)
        kind = "open" if method == "initialize" else "serve"
        seen[kind] += method != "tools/list"
        fails = method != "tools/list" and seen[kind] % EVERY == 0
        if fails and FAULT == "expire" and kind == "serve":
            del sessions[session]
            return self.forget(request)
        if fails and FAULT == "drop":
            return self.drop()
        if fails and FAULT.isdigit():
            return self.reply(int(FAULT), {"detail": "not now"})
        result = self.answer(method, request.get("params", {}), sessions[session])
        if fails and FAULT == "drop-late" and kind == "serve":
            return self.drop()
        return self.reply(200, {"jsonrpc": "2.0", "id": request["id"], "result": result}, session)

    def forget(self, request: dict[str, Any]) -> None:
        error = {"code": -32600, "message": "Session not found"}
        self.reply(404, {"jsonrpc": "2.0", "id": request["id"], "error": error})

    def answer(self, method: str, params: dict[str, Any], items: dict[str, dict[str, Any]]) -> dict[str, Any]:
        if method == "initialize":
            info = {"name": "flaky", "version": "1"}
            can = {"tools": {}, "resources": {}}
            return {"protocolVersion": "2025-06-18", "capabilities": can, "serverInfo": info}
        if method == "tools/list":
            return {"tools": TOOLS}
        if method == "resources/list":
            return {"resources": [{"uri": "file:///a", "name": "a"}, {"uri": "file:///b", "name": "b"}]}
        if method == "resources/read":
            return {"contents": [{"uri": params["uri"], "text": "item IT-12"}]}
        return call(items, params["name"], params.get("arguments", {}))

    def drop(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def reply(self, status: int, value: Any, session: str = "") -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        if session:
            self.send_header("mcp-session-id", session)
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: Any = 0, size: Any = 0) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), FlakyHandler)
sys.stdout.write(f"{server.server_port}\n")
sys.stdout.flush()
server.serve_forever()
