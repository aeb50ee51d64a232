"""A store with integer ids that answers in plain lines: `python text_store.py [--shared FILE]`.

Failures have a wording of their own and no error flag. With `--shared` all sessions write to one file.
"""

import argparse
import json
from pathlib import Path

from mcp.server.mcpserver import MCPServer

PARTS = {
    4: ("bolt M6", "bins", 1204, 0.12),
    7: ("hinge", "bins", 88, 2.4),
    12: ("door panel", "yard", 9, 61.0),
    15: ("handle", "bins", 240, 3.75),
    23: ("window frame", "yard", 14, 88.5),
    31: ("sealant", "cold room", 57, 6.2),
}
JOBS = {
    301: ("Mara Lund", "2026-02-03", "waiting", [4, 7]),
    304: ("Tom Okafor", "2026-02-11", "cutting", [12]),
    309: ("Ines Roy", "2026-03-01", "waiting", [15, 23]),
    312: ("Mara Lund", "2026-03-09", "done", [31, 4]),
}
arguments = argparse.ArgumentParser()
arguments.add_argument("--shared", default="")
SHARED = arguments.parse_args().shared
notes: list[str] = []
server = MCPServer("workshop")


def stages() -> dict[int, str]:
    changed = json.loads(Path(SHARED).read_text()) if SHARED and Path(SHARED).exists() else own
    return {number: changed.get(str(number), stage) for number, (_, _, stage, _) in JOBS.items()}


own: dict[str, str] = {}


@server.tool()
def parts_overview() -> str:
    """List all parts in the workshop."""
    return "\n".join(f"no. {number}: {name} ({place})" for number, (name, place, _, _) in PARTS.items())


@server.tool()
def part_details(part_no: int) -> str:
    """Get the stock and price of a part."""
    if part_no not in PARTS:
        return f"We carry nothing under {part_no}."
    name, place, stock, price = PARTS[part_no]
    return f"{name}\nshelf: {place}\nin stock: {stock}\nprice: {price:.2f} EUR"


@server.tool()
def open_work(stage: str) -> str:
    """List the jobs in a stage. The stage is one of: waiting, cutting, done."""
    found = [f"job {number} for {JOBS[number][0]}" for number, now in stages().items() if now == stage]
    return "\n".join(found) or f"Nobody waits in {stage!r}."


@server.tool()
def job_sheet(job: int) -> str:
    """Read the sheet of one job."""
    if job not in JOBS:
        return f"Job {job}? Never heard of it."
    who, due, _, parts = JOBS[job]
    return f"customer: {who}\ndue: {due}\nstage: {stages()[job]}\nparts: {', '.join(map(str, parts))}"


@server.tool()
def jobs_due_between(first_day: str, last_day: str) -> str:
    """List the jobs due in a range of days (YYYY-MM-DD)."""
    if first_day > last_day:
        return "That range ends before it begins."
    found = [f"job {number}: {due}" for number, (_, due, _, _) in JOBS.items() if first_day <= due <= last_day]
    return "\n".join(found) or "Nothing is due then."


@server.tool()
def customer_jobs(customer: str) -> str:
    """Find the jobs of a customer by the full name."""
    found = [f"job {number}, due {due}" for number, (who, due, _, _) in JOBS.items() if who == customer]
    return "\n".join(found) or f"{customer} has never been here."


@server.tool()
def set_stage(job: int, stage: str) -> str:
    """Move a job to another stage: waiting, cutting or done."""
    if job not in JOBS or stage not in ("waiting", "cutting", "done"):
        raise ValueError("cannot do that")
    changed = {str(number): now for number, now in stages().items()} | {str(job): stage}
    own.update(changed)
    if SHARED:
        Path(SHARED).write_text(json.dumps(changed))
    return f"job {job} is now {stage}"


@server.tool()
def add_note(text: str) -> str:
    """Add a note to the workshop's book."""
    notes.append(text)
    return f"noted: {text}"


if __name__ == "__main__":
    server.run()
