from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("quarry")

# no: stone, length, width, height (cm), tonnes, bench, lies at, job, grade, flaw
BLOCKS = {n: r for n, *r in [
    (402, "grey granite", 280, 160, 150, 17.8, "E1", "E1", None, "A", "none"),
    (405, "grey granite", 240, 150, 140, 13.4, "E1", "S1", "J-71", "A", "none"),
    (406, "grey granite", 190, 120, 110, 6.7, "E1", "E1", None, "C", "hairline crack"),
    (409, "grey granite", 300, 170, 160, 21.6, "E1", "T1", "J-71", "A", "none"),
    (411, "red granite", 260, 150, 130, 13.6, "E2", "E2", "J-74", "B", "dark vein"),
    (412, "red granite", 220, 140, 120, 9.9, "E2", "E2", None, "B", "none"),
    (415, "red granite", 310, 180, 150, 22.4, "E2", "S3", "J-74", "A", "none"),
    (418, "sandstone", 200, 130, 100, 6.0, "W1", "W1", "J-72", "B", "rust spots"),
    (419, "sandstone", 250, 140, 120, 9.7, "W1", "T2", "J-72", "A", "none"),
    (421, "sandstone", 180, 110, 90, 4.1, "W1", "W1", None, "C", "soft corner"),
    (423, "limestone", 270, 150, 140, 14.2, "W2", "S2", "J-73", "A", "none"),
    (424, "limestone", 230, 140, 130, 10.5, "W2", "W2", None, "B", "shell layer"),
    (426, "limestone", 290, 160, 150, 17.4, "W2", "W2", "J-75", "A", "none"),
    (428, "limestone", 210, 130, 110, 7.5, "W2", "T4", "J-73", "B", "none"),
    (430, "basalt", 170, 120, 100, 6.1, "N1", "N1", "J-76", "A", "none"),
    (431, "basalt", 220, 130, 120, 10.3, "N1", "S4", "J-76", "A", "none"),
    (433, "basalt", 150, 100, 90, 4.0, "N1", "N1", None, "B", "chipped edge"),
    (434, "basalt", 200, 140, 110, 9.2, "N1", "N1", None, "A", "none"),
]}
BENCHES = {  # name, level m, foreman, phone, stone, last blast
    "E1": ["Upper East", 312, "Lars Hoegh", "555-0141", "grey granite", "2025-04-03"],
    "E2": ["Lower East", 297, "Marta Silva", "555-0142", "red granite", "2025-04-11"],
    "W1": ["Old Face", 288, "Owen Price", "555-0143", "sandstone", "2025-02-26"],
    "W2": ["White Wall", 276, "Marta Silva", "555-0142", "limestone", "2025-03-19"],
    "N1": ["Black Hole", 251, "Jiri Kral", "555-0144", "basalt", "2025-04-08"],
}
MACHINES = {  # kind, name, person, phone, capacity, job/None, note
    "S1": ["saw", "Bertha", "Nils Aune", "555-0151", "max height 200 cm", "blade 3500 mm", "service 2025-05-12"],
    "S2": ["saw", "Old Tom", "Gwen Rees", "555-0152", "max height 160 cm", "blade 2700 mm", "service 2025-04-28"],
    "S3": ["saw", "the wire saw", "Paolo Brun", "555-0153", "max height 230 cm", "wire 32 m", "service 2025-06-02"],
    "S4": ["saw", "Little Ann", "Gwen Rees", "555-0152", "max height 130 cm", "blade 1600 mm", "service 2025-05-20"],
    "T1": ["truck", "the Volvo", "Hamid Azar", "555-0161", "max load 26 t", "plate QR-118", "leaves 2025-04-22 06:30"],
    "T2": ["truck", "the green MAN", "Sue Tanner", "555-0162", "max load 18 t", "plate QR-240", "leaves 2025-04-22 09:15"],
    "T3": ["truck", "the flatbed", "Ivo Maric", "555-0163", "max load 32 t", "plate QR-305", "leaves 2025-04-23 05:45"],
    "T4": ["truck", "the crane lorry", "Ella Frost", "555-0164", "max load 12 t", "plate QR-377", "leaves 2025-04-24 07:00"],
}
JOBS = {  # customer, town, phone, product, pieces, thickness mm, due, price, status, truck
    "J-71": ["Harbour Board", "Skarvik", "555-0171", "kerb stones", 140, 150, "2025-05-06", 18400, "cutting", "T1"],
    "J-72": ["Lindholm Church", "Lindholm", "555-0172", "floor slabs", 64, 40, "2025-04-25", 7350, "delivering", "T2"],
    "J-73": ["Castell Kitchens", "Porthmere", "555-0173", "worktops", 18, 30, "2025-05-02", 9960, "cutting", "T4"],
    "J-74": ["City of Arlen", "Arlen", "555-0174", "fountain steps", 22, 180, "2025-06-13", 26800, "cutting", "T3"],
    "J-75": ["Weber & Sons", "Dunfold", "555-0175", "window sills", 85, 50, "2025-05-20", 6120, "waiting", "T2"],
    "J-76": ["Mrs Adele Finch", "Moorby", "555-0176", "garden wall", 300, 90, "2025-04-30", 4480, "cutting", "T4"],
    "J-77": ["Tideway Hotel", "Skarvik", "555-0177", "bar counter", 3, 60, "2025-05-16", 3900, "waiting", None],
    "J-78": ["Brook School", "Moorby", "555-0178", "benches", 12, 120, "2025-05-28", 5240, "waiting", "T3"],
    "J-70": ["Arlen Cemetery", "Arlen", "555-0179", "headstones", 9, 100, "2025-04-10", 8100, "done", "T2"],
}


def blk(no):
    if no not in BLOCKS: raise ToolError(f"Block {no} is not in the yard book.")
    return BLOCKS[no]

def table(head, rows):
    rows = [head] + [[str(c) for c in r] for r in rows]
    w = [max(len(r[i]) for r in rows) for i in range(len(head))]
    return "\n".join("  ".join(c.ljust(w[i]) for i, c in enumerate(r)).rstrip() for r in rows)


@server.tool(name="list-blocks")
def list_blocks(stone: Literal["grey granite", "red granite", "sandstone", "limestone", "basalt"] | None = None,
                at: str | None = None, free_only: bool = False) -> str:
    "Table of blocks. at = bench, saw or truck where they lie now (E2, S1, T4); free_only = not reserved for a job."
    rows = [(n, r[0], f"{r[1]}x{r[2]}x{r[3]} cm", f"{r[4]} t", r[6], r[7] or "free") for n, r in BLOCKS.items()
            if stone in (None, r[0]) and at in (None, r[6]) and not (free_only and r[7])]
    return table(["BLOCK", "STONE", "SIZE", "WEIGHT", "AT", "JOB"], rows) if rows else "No blocks."


@server.tool(name="show-block")
def show_block(no: int) -> str:
    "Sheet of one block."
    r = blk(no)
    return (f"Block {no}\nStone    {r[0]}, grade {r[8]}\nSize     {r[1]} x {r[2]} x {r[3]} cm\nWeight   {r[4]} t\nFlaw     {r[9]}\n"
            f"Bench    {r[5]}\nLies at  {r[6]}\nJob      {r[7] or 'free'}")


@server.tool(name="show-bench")
def show_bench(code: str) -> str:
    "A bench of the quarry: E1, E2, W1, W2, N1."
    if code not in BENCHES: return f"There is no bench {code}."
    b = BENCHES[code]
    return f"Bench {code}, {b[0]}\nLevel       {b[1]} m\nForeman     {b[2]}, {b[3]}\nStone       {b[4]}\nLast blast  {b[5]}"


@server.tool(name="show-machine")
def show_machine(code: str) -> str:
    "A saw (S1-S4) or a truck (T1-T4), its operator or driver, and the blocks on it."
    if code not in MACHINES: return f"There is no machine {code}."
    m = MACHINES[code]
    on = ", ".join(str(n) for n, r in BLOCKS.items() if r[6] == code) or "nothing"
    who = "Operator" if m[0] == "saw" else "Driver  "
    return f"{code}, {m[0]}, called {m[1]}\n{who}  {m[2]}, {m[3]}\nLimit     {m[4]}\nDetails   {m[5]}\nNext      {m[6]}\nOn it     {on}"


@server.tool(name="list-jobs")
def list_jobs(status: Literal["waiting", "cutting", "delivering", "done"] | None = None) -> str:
    "Table of the customers' jobs."
    return table(["JOB", "CUSTOMER", "PRODUCT", "DUE", "STATUS"], [(j, r[0], r[3], r[6], r[8]) for j, r in JOBS.items() if status in (None, r[8])])


@server.tool(name="show-job")
def show_job(job: str) -> str:
    "One job with its measures, price and delivery, e.g. J-71."
    if job not in JOBS: return f"There is no job {job}."
    r = JOBS[job]
    return (f"Job {job}: {r[3]} for {r[0]}, {r[1]} (tel. {r[2]})\nPieces     {r[4]}\nThickness  {r[5]} mm\nDue        {r[6]}\n"
            f"Price      EUR {r[7]}\nStatus     {r[8]}\nTruck      {r[9] or 'not planned'}")


@server.tool(name="move-block")
def move_block(no: int, to: str) -> str:
    "Move a block to a bench, onto a saw or onto a truck."
    r = blk(no)
    if to not in BENCHES and to not in MACHINES: raise ToolError(f"Unknown place {to}.")
    old, r[6] = r[6], to
    return f"Block {no} ({r[4]} t) moved from {old} to {to}."


@server.tool(name="reserve-block")
def reserve_block(no: int, job: str | None = None) -> str:
    "Reserve a block for a job; without a job the block becomes free again."
    r = blk(no)
    if job is not None and job not in JOBS: raise ToolError(f"There is no job {job}.")
    if job and r[7]: raise ToolError(f"Block {no} is already reserved for {r[7]}.")
    old, r[7] = r[7], job
    return f"Block {no} reserved for {job}." if job else f"Block {no} is free again (was {old})."


@server.tool(name="change-job")
def change_job(job: str, status: Literal["waiting", "cutting", "delivering", "done"] | None = None, due: str | None = None,
               pieces: int | None = None, thickness_mm: int | None = None, truck: str | None = None) -> str:
    "Change status, due date (YYYY-MM-DD), number of pieces, thickness or truck of a job."
    if job not in JOBS: raise ToolError(f"There is no job {job}.")
    r, out = JOBS[job], []
    for i, name, v in ((8, "status", status), (6, "due", due), (4, "pieces", pieces), (5, "thickness_mm", thickness_mm), (9, "truck", truck)):
        if v is not None:
            out.append(f"{name} {r[i]} -> {v}"); r[i] = v
    if not out: raise ToolError("Nothing to change.")
    return f"Job {job}: " + "; ".join(out)


if __name__ == "__main__":
    server.run()
