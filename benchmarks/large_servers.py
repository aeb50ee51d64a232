"""Seconds that mcprl takes on servers of many tools or large results, and the longest wait without a line of progress.

    python benchmarks/large_servers.py                 all commands on all servers, as one table
    python benchmarks/large_servers.py --only many500  one of them

Nothing else should run beside it. The servers speak MCP over stdio without an SDK: `long` has 54 tools with names of 93
characters, half of them lists of twelve things and half of them their details; `rows` has twelve rooms, each with a
history of 2,000 rows of 240 characters (500 KB a result); `many200` to `many1000` have so many tools that find nothing.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

NAMES = "Ana Ben Cleo Dov Eli Fay Gus Hal Ivy Jan Kim Leo".split()
THINGS = {f"R{n}": {"id": f"R{n}", "seats": 4 + n * 3 % 11, "host": name} for n, name in enumerate(NAMES, 1)}
COMMANDS = {
    "inspect": ("inspect",),
    "scenarios": ("scenarios",),
    "train --dry-run": ("train", "--dry-run", "--read-only"),
}
SHAPES = {
    "long": tuple(COMMANDS),
    "rows": tuple(COMMANDS),
    "many200": ("inspect",),
    "many500": ("inspect",),
    "many1000": ("inspect",),
}


def tool(name: str, description: str, *parameters: str) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {one: {"type": "string"} for one in parameters},
        "required": [*parameters],
    }
    hints = {"readOnlyHint": True}
    return {"name": name, "description": description, "inputSchema": schema, "annotations": hints}


def tools(shape: str) -> list[dict[str, Any]]:
    if shape == "long":
        listed = [tool(f"list_halls_of_house_{n}".ljust(93, "_"), f"The halls of house {n}.") for n in range(27)]
        return listed + [
            tool(f"get_hall_of_house_{n}".ljust(93, "_"), f"A hall of house {n}.", "id") for n in range(27)
        ]
    if shape == "rows":
        return [tool("list_rooms", "All rooms."), tool("room_history", "The history of a room.", "id")]
    return [tool(f"fetch_thing_{n}", f"Get thing {n} of the archive.", "id") for n in range(int(shape[4:]))]


def answer(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a call, as MCP has it."""
    found: object = [*THINGS.values()]
    if not name.startswith("list"):
        thing = THINGS.get(str(arguments.get("id"))) if not name.startswith("fetch") else None
        if thing is None:
            return {"content": [{"type": "text", "text": f"nothing has the id {arguments.get('id')}"}], "isError": True}
        found = thing
        if name == "room_history":
            found = thing | {"events": [{"n": row, "text": "door opened " * 20} for row in range(2_000)]}
    return {"content": [{"type": "text", "text": json.dumps(found)}]}


def serve(shape: str) -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        given = message.get("params") or {}
        match message["method"]:
            case "initialize":
                about = {"name": shape, "version": "1"}
                result = {
                    "protocolVersion": given["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": about,
                }
            case "tools/list":
                result = {"tools": tools(shape)}
            case "tools/call":
                result = answer(given["name"], given.get("arguments") or {})
            case _:
                result = {}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)


def timed(command: tuple[str, ...], shape: str) -> tuple[float, float, str]:
    """(seconds, seconds of the longest wait without a line, what it said last)."""
    server = f"{sys.executable} {Path(__file__).resolve()} --serve {shape}"
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [str(Path(sys.executable).with_name("mcprl")), *command, "--server", server],
            cwd=folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        began = last = time.perf_counter()
        longest, said = 0.0, ""
        for line in process.stdout or ():
            longest, last = max(longest, time.perf_counter() - last), time.perf_counter()
            said = line.strip() or said
        process.wait()
    return time.perf_counter() - began, max(longest, time.perf_counter() - last), said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=SHAPES, nargs="*", default=[*SHAPES], help="these servers")
    parser.add_argument("--serve", choices=SHAPES, help="be this server, on stdio")
    given = parser.parse_args()
    if given.serve:
        serve(given.serve)
        return
    print(f"{'server':10} {'command':16} {'seconds':>8} {'longest wait':>13}  last line")
    for shape in given.only:
        for name in SHAPES[shape]:
            seconds, longest, said = timed(COMMANDS[name], shape)
            print(f"{shape:10} {name:16} {seconds:8.1f} {longest:13.1f}  {said[:100]}", flush=True)


if __name__ == "__main__":
    main()
