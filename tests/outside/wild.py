"""A stdio MCP server that does one thing which servers really do: `python wild.py QUIRK`.

Each quirk is the shape of a public report; docs/outside.md names the reports.
"""

import json
import sys
from typing import Any

QUIRK = sys.argv[1]
READS = {"readOnlyHint": True}
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
SCHEMAS: dict[str, Any] = {
    "bare": {"type": "object"},
    "empty": {},
    "named": {"$schema": "http://json-schema.org/draft-07/schema#"},
    "none": None,
    "union": {"anyOf": [NAME, CITY]},
    "list": {"type": "object", "properties": {"names": {"type": "array"}}},
    "nested": {
        "type": "object",
        "properties": {"part": {"$ref": "#/$defs/Part"}},
        "required": ["part"],
        "$defs": {"Part": {"type": "object", "properties": {"of": {"items": {"$ref": "#/$defs/Part"}}}}},
    },
}
ROOM = {"seats": 12}
RESULTS: dict[str, dict[str, Any]] = {
    "other_shape": {"content": [{"type": "text", "text": json.dumps(ROOM)}], "structuredContent": {"chairs": "many"}},
    "no_structure": {"content": [{"type": "text", "text": json.dumps(ROOM)}]},
    "error_with_structure": {
        "content": [{"type": "text", "text": "no such room"}],
        "structuredContent": {"error": "no such room"},
        "isError": True,
    },
    "structure_alone": {"structuredContent": ROOM},
    "content_null": {"content": None, "structuredContent": ROOM},
    "content_text": {"content": "12 seats"},
    "content_object": {"content": {"type": "text", "text": "12 seats"}},
    "legacy": {"toolResult": ROOM},
}
OUTPUT = {"type": "object", "properties": {"seats": {"type": "integer"}}, "required": ["seats"]}


def listed(name: str, schema: Any = None, **more: Any) -> dict[str, Any]:
    given = {"type": "object"} if schema is None and QUIRK != "schemas" else schema
    return {"name": name, "description": "Get the room.", "annotations": READS, "inputSchema": given, **more}


def listing(cursor: Any) -> dict[str, Any]:
    match QUIRK:
        case "schemas":
            missing = {"name": "missing", "annotations": READS}
            return {"tools": [*(listed(name, schema) for name, schema in SCHEMAS.items()), missing]}
        case "results":
            return {"tools": [listed(name, outputSchema=OUTPUT) for name in RESULTS]}
        case "names":
            odd = ("get.room", "get/room", "get room", "récupérer", "g" * 93, "get_room")
            return {"tools": [listed(name) for name in odd]}
        case "empty_cursor":
            return {"tools": [listed("second")]} if cursor == "" else {"tools": [listed("first")], "nextCursor": ""}
        case "same_cursor" | "ends_empty":
            return {"tools": [listed("only")], "nextCursor": "8" if QUIRK == "same_cursor" else ""}
        case _:
            return {"tools": [listed("room")]}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        version = "2031-01-01" if QUIRK == "future" else params["protocolVersion"]
        capabilities: dict[str, Any] = {} if QUIRK == "no_capability" else {"tools": {}}
        return {
            "protocolVersion": version,
            "capabilities": capabilities,
            "serverInfo": {"name": "wild", "version": "1"},
        }
    if method == "tools/list":
        return listing(params.get("cursor"))
    plain = {"content": [{"type": "text", "text": json.dumps(ROOM)}]}
    return RESULTS.get(params.get("name", ""), plain) if QUIRK == "results" else plain


def write(line: str) -> None:
    end = "\r\n" if QUIRK == "crlf" else "\n"
    sys.stdout.buffer.write((line + end).encode("utf-8-sig" if QUIRK == "bom" else "utf-8"))
    sys.stdout.buffer.flush()


if QUIRK == "noise":
    for line in (
        "Shop MCP server v1.0 started",
        "Shops: [",
        "  {",
        "[]",
        '{"level":"info"}',
        "3",
        '"ready"',
        "null",
        "",
    ):
        write(line)
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    number: Any = request["id"]
    if QUIRK == "text_id":
        number = str(number)
    if QUIRK == "zero_id" and request["method"] != "initialize":
        number = -1
    if QUIRK == "logs":
        write(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "loud"}}))
        write(json.dumps({"jsonrpc": "2.0", "method": "notifications/progress"}))
        write(json.dumps({"method": "log", "text": "no version"}))
    body = {"jsonrpc": "2.0", "id": number, "result": answer(request["method"], request.get("params") or {})}
    if QUIRK == "null_error":
        body["error"] = None
    if QUIRK == "batch":
        write(json.dumps([body]))
    else:
        write(json.dumps(body, indent=None))
