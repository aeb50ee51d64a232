from typing import Literal

from mcp.server.mcpserver import MCPServer

server = MCPServer("site-office")

# code, kind, model, status, hours on the meter, day rate, owner, fuel litres, next service at hours, job
_M = "code kind model status engineHours dayRate hiredFrom fuelLitres serviceAt job".split()
MACHINES = {r[0]: dict(zip(_M, r)) for r in [
    ("EX-1", "excavator", "Cat 320", "working", 4812, "$640", "own", 210, 5000, 11),
    ("EX-2", "excavator", "Volvo EC140", "working", 2975, "$520", "Hartley Hire", 95, 3000, 14),
    ("EX-3", "excavator", "Kubota U27", "idle", 1330, "$230", "Hartley Hire", 28, 1500, None),
    ("CR-1", "crane", "Liebherr 85 EC", "working", 6120, "$1450", "Skylift", 0, 6500, 12),
    ("CR-2", "crane", "Grove RT540", "broken", 3887, "$980", "Skylift", 140, 4000, None),
    ("DZ-1", "dozer", "Komatsu D61", "idle", 5240, "$590", "own", 175, 5500, None),
    ("LO-1", "loader", "JCB 457", "working", 3410, "$410", "own", 120, 3750, 15),
    ("LO-2", "loader", "Bobcat S70", "idle", 980, "$185", "Hartley Hire", 22, 1000, None),
    ("RO-1", "roller", "Bomag BW213", "idle", 2205, "$330", "Pavemaster", 88, 2500, None),
    ("RO-2", "roller", "Hamm HD12", "broken", 1764, "$210", "Pavemaster", 15, 2000, None),
    ("MX-1", "mixer", "Fiori DB460", "working", 1590, "$375", "own", 64, 1750, 13),
    ("PU-1", "pump", "Putzmeister 36", "idle", 2830, "$860", "Skylift", 130, 3000, None),
]}

_C = "crew foreman phone size trade shift jobNo".split()
CREWS = {r[0]: dict(zip(_C, r)) for r in [
    ("Badgers", "Mick Doyle", "555-0141", 7, "groundworks", "06:30", 11),
    ("Ironsides", "Paula Reyes", "555-0186", 5, "steel fixing", "07:00", 12),
    ("Greys", "Stefan Kowal", "555-0122", 9, "concrete", "06:00", 13),
    ("Moles", "Abdul Karim", "555-0109", 6, "drainage", "07:00", 14),
    ("Carters", "Jen Whitlock", "555-0173", 4, "haulage", "06:30", 15),
    ("Sparks", "Louis Baptiste", "555-0155", 3, "electrical", "08:00", 18),
    ("Trowels", "Gwen Parry", "555-0197", 8, "brickwork", "07:30", 17),
]}

_J = "id title zone status percent start due crew budget".split()
JOBS = {r[0]: dict(zip(_J, r)) for r in [
    (11, "Basement dig", "A", "active", 70, "2026-10-05", "2026-12-04", "Badgers", "$84,000"),
    (12, "Lift shaft steel", "B", "active", 35, "2026-11-02", "2027-01-15", "Ironsides", "$126,500"),
    (13, "Ground slab", "B", "active", 55, "2026-10-26", "2026-12-11", "Greys", "$97,200"),
    (14, "Storm drain", "C", "active", 80, "2026-09-28", "2026-11-30", "Moles", "$41,750"),
    (15, "Spoil removal", "A", "active", 60, "2026-10-12", "2026-12-18", "Carters", "$38,000"),
    (16, "Car park surfacing", "D", "planned", 0, "2027-01-18", "2027-02-12", None, "$73,900"),
    (17, "Boundary wall", "D", "on hold", 25, "2026-10-19", "2026-12-23", "Trowels", "$29,400"),
    (18, "Site lighting", "C", "active", 90, "2026-11-09", "2026-11-27", "Sparks", "$12,600"),
    (19, "Retaining wall", "A", "planned", 0, "2026-12-07", "2027-01-29", None, "$58,300"),
    (20, "Site fencing", "D", "done", 100, "2026-09-01", "2026-09-11", "Carters", "$8,150"),
    (21, "Demolition of old shed", "C", "done", 100, "2026-09-07", "2026-09-18", "Badgers", "$15,700"),
    (22, "Roof trusses", "B", "planned", 0, "2027-02-01", "2027-03-05", None, "$112,000"),
]}


def _text(d):
    return "\n".join(f"{k}: {'-' if v is None else v}" for k, v in d.items())


@server.tool()
def machineInfo(code: str) -> str:
    """Data sheet of a machine. code is e.g. EX-1."""
    m = MACHINES.get(code)
    return _text(m) if m else f"No machine {code} on this site."


@server.tool()
def machineList(kind: Literal["excavator", "crane", "dozer", "loader", "roller", "mixer", "pump"] | None = None,
                status: Literal["working", "idle", "broken"] | None = None) -> str:
    """Machines on site, one per line: code, model, status, day rate, job."""
    rows = [m for m in MACHINES.values() if kind in (None, m["kind"]) and status in (None, m["status"])]
    return "\n".join(f"{m['code']} {m['model']} | {m['status']} | {m['dayRate']} a day | job {m['job'] or '-'}" for m in rows) or "No machines match."


@server.tool()
def machineUpdate(code: str, status: Literal["working", "idle", "broken"] | None = None, engineHours: int | None = None, fuelLitres: int | None = None) -> str:
    """Record a machine's status, hour meter reading or fuel level."""
    m = MACHINES.get(code)
    if not m:
        return f"No machine {code} on this site."
    new = {k: v for k, v in (("status", status), ("engineHours", engineHours), ("fuelLitres", fuelLitres)) if v is not None}
    if not new:
        return "Nothing given to update."
    if "engineHours" in new and new["engineHours"] < m["engineHours"]:
        return f"Rejected: the meter already shows {m['engineHours']} h."
    m.update(new)
    if status in ("idle", "broken"):
        m["job"] = None
    return f"{code} updated: " + ", ".join(f"{k} = {v}" for k, v in new.items())


@server.tool()
def sendMachine(code: str, jobId: int) -> str:
    """Send a machine to a job. Its status becomes working."""
    m, j = MACHINES.get(code), JOBS.get(jobId)
    if not m:
        return f"No machine {code} on this site."
    if not j:
        return f"There is no job {jobId}."
    if m["status"] == "broken":
        return f"{code} is broken and cannot be sent."
    m["job"], m["status"] = jobId, "working"
    return f"{code} ({m['model']}) now on job {jobId} ({j['title']})."


@server.tool()
def crewInfo(crew: str) -> str:
    """Foreman, phone, head count, trade, shift start and current job of a crew, by crew name."""
    c = CREWS.get(crew.strip().title())
    return _text(c) if c else f"No crew called {crew}. Crews: {', '.join(CREWS)}."


@server.tool()
def jobFind(text: str | None = None, zone: Literal["A", "B", "C", "D"] | None = None, status: Literal["planned", "active", "on hold", "done"] | None = None) -> str:
    """Find jobs by words of the title, zone or status. Lines: id, title, zone, status, percent done, due date."""
    rows = [j for j in JOBS.values() if (not text or text.lower() in j["title"].lower()) and zone in (None, j["zone"]) and status in (None, j["status"])]
    return "\n".join(f"#{j['id']} {j['title']} | zone {j['zone']} | {j['status']} | {j['percent']}% | due {j['due']}" for j in rows) or "No jobs match."


@server.tool()
def jobInfo(jobId: int) -> str:
    """Everything about one job."""
    j = JOBS.get(jobId)
    return _text(j) if j else f"There is no job {jobId}."


@server.tool()
def jobUpdate(jobId: int, status: Literal["planned", "active", "on hold", "done"] | None = None, percent: int | None = None, due: str | None = None, crew: str | None = None) -> str:
    """Change a job's status, percent done, due date (YYYY-MM-DD) or crew (name)."""
    j = JOBS.get(jobId)
    if not j:
        return f"There is no job {jobId}."
    if crew is not None:
        if crew.strip().title() not in CREWS:
            return f"No crew called {crew}."
        crew = crew.strip().title()
    if percent is not None and not 0 <= percent <= 100:
        return "percent must be from 0 to 100."
    new = {k: v for k, v in (("status", status), ("percent", percent), ("due", due), ("crew", crew)) if v is not None}
    if not new:
        return "Nothing given to update."
    j.update(new)
    return f"Job {jobId} ({j['title']}) updated: " + ", ".join(f"{k} = {v}" for k, v in new.items())


if __name__ == "__main__":
    server.run()
