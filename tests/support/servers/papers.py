"""A small office's papers over stdio: files that are listed, searched for, read, and edited by replacing a text. What
one process edits no other sees."""

from fnmatch import fnmatch
from typing import Annotated

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

READS = ToolAnnotations(read_only_hint=True)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False)

FIRMS = ("Alder Works", "Birch Studio", "Cedar Mills", "Dogwood Ltd", "Elm Partners", "Fir Foods", "Gorse Group")
STREETS = ("Harbour Lane", "Mill Road", "North Square", "Quay Street", "Tower Hill")
FILES = {
    **{
        f"quotes/Q-{2101 + n}-{firm.lower().replace(' ', '-')}.txt": f"Quote Q-{2101 + n}\nFirm: {firm}\n"
        f"Valid until: 2026-0{n + 1}-15\nTotal: {310 + 45 * n}.00 EUR\nStatus: {('open', 'accepted')[n % 2]}\n"
        for n, firm in enumerate(FIRMS)
    },
    **{
        f"leases/{street.lower().replace(' ', '-')}.txt": f"Lease, {street}\n\nTenant: {FIRMS[n]}\n"
        f"Monthly rent: {900 + 110 * n} EUR\nNotice period: {n + 2} months\n"
        for n, street in enumerate(STREETS)
    },
    "lists/colleagues.csv": "name,room,phone\n"
    + "".join(
        f"{name},room {n + 3},555-01{n}{n + 1}\n"
        for n, name in enumerate(("Ada", "Ben", "Cleo", "Dirk", "Ezra", "Fay"))
    ),
    "lists/supplies.csv": "article,shelf,quantity\n"
    + "".join(
        f"{name},shelf {n % 4 + 1},{12 + 7 * n}\n" for n, name in enumerate(("Toner", "Envelopes", "Binders", "Chalk"))
    ),
    "notes/moving-checklist.md": "# Moving\n\n[x] order the boxes\n[ ] rent a van\n[ ] label the shelves\n",
    "notes/workshop-ideas.md": "# Ideas\n\n1. Paint the fence\n2. Borrow a projector\n3. Print the badges\n",
}

app = MCPServer("papers")


@app.tool(annotations=READS)
def list_folder(path: Annotated[str, Field(description="A folder")]) -> str:
    """List what is in a folder; `.` is the whole."""
    if path == ".":
        return "\n".join(f"[DIR] {name}" for name in dict.fromkeys(name.partition("/")[0] for name in FILES))
    found = [name.rpartition("/")[2] for name in FILES if name.startswith(f"{path.strip('/')}/")]
    if not found:
        raise ToolError(f"no folder {path}")
    return "\n".join(f"[FILE] {name}" for name in found)


@app.tool(annotations=READS)
def find_files(pattern: Annotated[str, Field(description="Part of a path; * stands for anything")]) -> str:
    """Search for files by their paths."""
    found = [name for name in FILES if fnmatch(name, pattern)]
    return "\n".join(found) or "No matches found"


@app.tool(annotations=READS)
def read_file(path: Annotated[str, Field(description="Path of the file")]) -> str:
    """Read a file."""
    if path not in FILES:
        raise ToolError(f"no such file: {path}")
    return FILES[path]


@app.tool(annotations=WRITES)
def replace_text(path: str, old_text: str, new_text: str) -> str:
    """Replace a text in a file by another."""
    if path not in FILES:
        raise ToolError(f"no such file: {path}")
    if FILES[path].count(old_text) != 1:
        raise ToolError("the old text does not stand in the file once")
    FILES[path] = FILES[path].replace(old_text, new_text)
    return "replaced"


app.run()
