"""Little MCP servers whose shapes people met, over stdio without an SDK: `python cases.py add`.

`add`: the first server of a tutorial. `convert`: its results repeat the arguments. `sql`: one tool for all of SQL,
whose rows have no names, and whose errors are ordinary text. `shown`: a search that finds more than it shows, with its
options in its description, placeholders, and a flag that never differs. `pair`: a write of a pair of numbers. `asks`:
calls in which the server asks its client back. `book`: a write about a thing that a read lists.
"""

import json
import sqlite3
import sys
from typing import Any

READS = {"readOnlyHint": True}
UNITS = {"meter": 1.0, "foot": 0.3048, "inch": 0.0254, "mile": 1609.344, "yard": 0.9144}
TREES = {
    f"{side} {name}": {
        "height": (i * 37 + j * 11) % 40 + 3,
        "age": (i * 13 + j * 29) % 190 + 5,
        "girth": (i * 7 + j) % 80 + 20 if (i + j) % 9 else "?",
    }
    for j, name in enumerate("Ash Birch Cedar Elm Fir Hazel Holly Larch Linden Maple Oak Pine".split())
    for i, side in enumerate(("North", "South"))
}
ROOMS = {f"R{n}": {"room": f"R{n}", "seats": 4 + n * 3 % 11, "window": [8, 17]} for n in range(1, 13)}
BOOKINGS: list[dict[str, Any]] = []
SHIPS = sqlite3.connect(":memory:")
SHIPS.executescript(
    "create table ships(id integer primary key, name text, capacity integer, home_port text);"
    "create table tickets(id integer primary key, ship_id integer, passenger text, price real);"
)
PORTS = ("Bergen", "Bergen", "Larvik", "Bergen", "Hirtshals", "Larvik", "Hirtshals", "Bergen")
for n, ship in enumerate("Aurora Nordlys Havfrue Kittiwake Lodestar Marigold Petrel Saltire".split()):
    SHIPS.execute("insert into ships values (?, ?, ?, ?)", (n + 1, ship, 140 + 61 * n % 400, PORTS[n]))
for n in range(40):
    who = ("Ida Holm", "Tor Vik", "Rosa Lind", "Emil Berg")[n % 4]
    SHIPS.execute("insert into tickets values (?, ?, ?, ?)", (n + 1, n % 8 + 1, who, 19 + n * 3.5))


def schema(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties]}


NUMBERS = schema({"a": {"type": "integer"}, "b": {"type": "integer"}})
TOOLS: dict[str, list[dict[str, Any]]] = {
    "add": [
        {"name": "add", "description": "Add two numbers", "inputSchema": NUMBERS},
        {"name": "subtract", "description": "Subtract b from a", "inputSchema": NUMBERS},
    ],
    "convert": [
        {
            "name": "convert_length",
            "description": "Convert length between units.",
            "inputSchema": schema(
                {
                    "value": {"type": "number"},
                    "from_unit": {"type": "string", "enum": [*UNITS]},
                    "to_unit": {"type": "string", "enum": [*UNITS]},
                }
            ),
        }
    ],
    "sql": [
        {
            "name": "query",
            "description": "Execute a query on the database",
            "inputSchema": schema({"query": {"type": "string", "description": "SQL query to execute"}}),
        }
    ],
    "shown": [
        {
            "name": "search_trees",
            "description": "Find trees by a measure",
            "annotations": READS,
            "inputSchema": schema({"measure": {"type": "string", "description": "Measure: 'height', 'girth'"}}),
        },
        {
            "name": "get_tree",
            "description": "A tree by its name",
            "annotations": READS,
            "inputSchema": schema({"name": {"type": "string"}}),
        },
    ],
    "asks": [
        {"name": "list_rooms", "description": "All rooms", "annotations": READS, "inputSchema": schema({})},
        {
            "name": "get_room",
            "description": "A room by its number",
            "annotations": READS,
            "inputSchema": schema({"room": {"type": "string"}}),
        },
        {
            "name": "book_room",
            "description": "Books a room, after asking for how many people",
            "annotations": {"readOnlyHint": False, "destructiveHint": False},
            "inputSchema": schema({"room": {"type": "string"}}),
        },
        {
            "name": "describe_room",
            "description": "A room in words of the client's model",
            "annotations": READS,
            "inputSchema": schema({"room": {"type": "string"}}),
        },
    ],
    "book": [
        {"name": "list_rooms", "description": "All rooms", "annotations": READS, "inputSchema": schema({})},
        {"name": "list_bookings", "description": "All bookings", "annotations": READS, "inputSchema": schema({})},
        {
            "name": "book_room",
            "description": "Books a room",
            "annotations": {"readOnlyHint": False, "destructiveHint": False},
            "inputSchema": schema({"room": {"type": "string"}, "guest": {"type": "string"}}),
        },
    ],
    "pair": [
        {
            "name": "list_rooms",
            "description": "All rooms",
            "annotations": READS,
            "inputSchema": schema({}),
        },
        {
            "name": "set_window",
            "description": "Sets the hours in which a room may be used",
            "annotations": {"readOnlyHint": False, "destructiveHint": False},
            "inputSchema": schema(
                {
                    "room": {"type": "string"},
                    "window": {
                        "type": "array",
                        "prefixItems": [{"type": "integer", "maximum": 23}, {"type": "integer", "maximum": 24}],
                        "items": False,
                        "minItems": 2,
                    },
                }
            ),
        },
    ],
}


def call(name: str, given: dict[str, Any]) -> Any:
    match name:
        case "add":
            return {"result": given["a"] + given["b"]}
        case "subtract":
            return {"result": given["a"] - given["b"]}
        case "convert_length":
            value = given["value"] * UNITS[given["from_unit"]] / UNITS[given["to_unit"]]
            return {
                "original_value": float(given["value"]),
                "original_unit": given["from_unit"],
                "converted_value": value,
                "converted_unit": given["to_unit"],
                "conversion_type": "length",
            }
        case "query":
            try:
                return str(SHIPS.execute(given["query"]).fetchall())
            except sqlite3.Error as error:
                return f"Database error: {error}"
        case "search_trees":
            rows = [(tree, TREES[tree]) for tree in [*TREES][:10]]
            shown = [f"height:{of['height']} age:{of['age']} girth:{of['girth']}" for _, of in rows]
            listed = "\n".join(f"- **{tree}** - {told}" for (tree, _), told in zip(rows, shown, strict=True))
            return (
                f"## Search results ({len(TREES)} found, showing top 10)\n\n**Filter:** {given['measure']}\n\n{listed}"
            )
        case "get_tree":
            tree = TREES.get(given["name"])
            if tree is None:
                return f"Tree '{given['name']}' not found."
            return {"success": True, "name": given["name"], **tree, "detail_level": "names"}
        case "list_rooms":
            return list(ROOMS.values())
        case "get_room":
            return ROOMS[given["room"]]
        case "list_bookings":
            return BOOKINGS
        case "book_room" if sys.argv[1] == "book":
            BOOKINGS.append(
                {"room": ROOMS[given["room"]]["room"], "guest": given["guest"], "nights": len(BOOKINGS) + 1}
            )
            return BOOKINGS[-1]
        case "book_room":
            return ask("elicitation/create", ROOMS[given["room"]])
        case "describe_room":
            return ask("sampling/createMessage", ROOMS[given["room"]])
        case _:
            ROOMS[given["room"]]["window"] = given["window"]
            return ROOMS[given["room"]]


def ask(method: str, room: dict[str, Any]) -> str:
    """What the client answers while it waits for a call's result. Raises `RuntimeError` with what it refuses."""
    people = {"type": "object", "properties": {"people": {"type": "integer"}}}
    text = {"type": "text", "text": f"Describe {room}"}
    params: dict[str, Any] = {
        "elicitation/create": {"message": "How many people?", "requestedSchema": people},
        "sampling/createMessage": {"messages": [{"role": "user", "content": text}], "maxTokens": 9},
    }[method]
    send({"id": "asked", "method": method, "params": params})
    while (answer := json.loads(sys.stdin.readline())).get("id") != "asked":
        pass
    if "error" in answer:
        raise RuntimeError(answer["error"]["message"])
    return json.dumps(answer["result"])


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def reply(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    match method:
        case "initialize":
            server = {"name": "case", "version": "1"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": server}
        case "tools/list":
            return {"tools": TOOLS[sys.argv[1]]}
        case "tools/call":
            try:
                result = call(params["name"], params.get("arguments") or {})
            except Exception as error:
                return {"content": [{"type": "text", "text": f"Error: {error!r}"}], "isError": True}
            text = result if isinstance(result, str) else json.dumps(result)
            return {"content": [{"type": "text", "text": text}], "isError": False}
        case _:
            return None


for line in iter(sys.stdin.readline, ""):
    message = json.loads(line)
    if "id" in message:
        result = reply(message["method"], message.get("params") or {})
        said = {"result": result} if result is not None else {"error": {"code": -32601, "message": "unknown method"}}
        send({"id": message["id"], **said})
