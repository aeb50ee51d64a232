"""A stdio server whose processes share their state, a JSON file: `shared_notes.py FILE`."""

import json
import sys
from pathlib import Path

from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

NOTES = Path(sys.argv[1])
server = MCPServer("notes", log_level="WARNING")


def notes() -> dict[str, str]:
    return json.loads(NOTES.read_text()) if NOTES.exists() else {}


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def get_note(name: str) -> str:
    """Read a note."""
    return notes().get(name, "(empty)")


@server.tool(annotations=ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True))
def set_note(name: str, text: str) -> str:
    """Write a note."""
    NOTES.write_text(json.dumps(notes() | {name: text}))
    return "ok"


@server.tool(annotations=ToolAnnotations(read_only_hint=False))
def clear_notes(keep: str = "") -> str:
    """Remove all notes but one."""
    NOTES.write_text(json.dumps({name: text for name, text in notes().items() if name == keep}))
    return "ok"


if __name__ == "__main__":
    server.run("stdio")
