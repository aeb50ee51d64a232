from typing import Literal, Optional
from mcp.server.mcpserver import MCPServer

server = MCPServer("cerro-blanco-observatory")

TELESCOPES = {t["name"]: t for t in [dict(zip(("name", "aperture", "dome", "instrument", "state", "operator", "last_mirror_wash"), r)) for r in [
    ("Halley", "2.2 m", "Dome 1", "EchoSpec spectrograph", "operational", "Marta Quiroga", "2026-01-19"),
    ("Leavitt", "1.5 m", "Dome 2", "WideCam 4k", "operational", "Iain Roper", "2025-11-03"),
    ("Cannon", "1.0 m", "Dome 3", "TriFilter photometer", "maintenance", "Sunniva Dahl", "2026-02-08"),
    ("Tombaugh", "0.8 m", "Dome 4", "WideCam 2k", "operational", "Iain Roper", "2025-09-27"),
    ("Rubin Jr", "0.6 m", "Dome 5", "polarimeter", "closed", "Felix Obi", "2025-06-14"),
    ("Payne", "3.6 m", "Dome 6", "Kestrel infrared camera", "operational", "Marta Quiroga", "2026-02-21"),
]]}
TARGETS = {t["catalog_id"]: t for t in [dict(zip(("catalog_id", "common_name", "type", "constellation", "magnitude", "ra", "dec", "priority", "requested_by"), r)) for r in [
    ("M31", "Andromeda Galaxy", "galaxy", "Andromeda", 3.4, "00h42m", "+41 16", 3, "N. Osei"),
    ("M42", "Orion Nebula", "nebula", "Orion", 4.0, "05h35m", "-05 23", 2, "L. Brandt"),
    ("M57", "Ring Nebula", "planetary nebula", "Lyra", 8.8, "18h53m", "+33 01", 4, "L. Brandt"),
    ("M87", "Virgo A", "galaxy", "Virgo", 8.6, "12h30m", "+12 23", 1, "P. Ferreira"),
    ("M104", "Sombrero Galaxy", "galaxy", "Virgo", 8.0, "12h39m", "-11 37", 3, "P. Ferreira"),
    ("NGC 253", "Sculptor Galaxy", "galaxy", "Sculptor", 8.0, "00h47m", "-25 17", 4, "N. Osei"),
    ("NGC 5139", "Omega Centauri", "globular cluster", "Centaurus", 3.9, "13h26m", "-47 28", 2, "A. Kuznets"),
    ("NGC 104", "47 Tucanae", "globular cluster", "Tucana", 4.1, "00h24m", "-72 04", 3, "A. Kuznets"),
    ("NGC 7293", "Helix Nebula", "planetary nebula", "Aquarius", 7.6, "22h29m", "-20 50", 5, "L. Brandt"),
    ("HD 189733", "", "exoplanet host", "Vulpecula", 7.7, "20h00m", "+22 42", 1, "T. Yamane"),
    ("HD 209458", "Osiris host", "exoplanet host", "Pegasus", 7.6, "22h03m", "+18 53", 2, "T. Yamane"),
    ("WASP-12", "", "exoplanet host", "Auriga", 11.6, "06h30m", "+29 40", 3, "T. Yamane"),
    ("T CrB", "Blaze Star", "recurrent nova", "Corona Borealis", 10.2, "15h59m", "+25 55", 1, "R. Whitcombe"),
    ("Mira", "Omicron Ceti", "variable star", "Cetus", 6.5, "02h19m", "-02 58", 4, "R. Whitcombe"),
    ("3C 273", "", "quasar", "Virgo", 12.9, "12h29m", "+02 03", 2, "P. Ferreira"),
    ("1P", "Halley's Comet", "comet", "Hydra", 25.9, "08h17m", "+02 21", 5, "G. Santoro"),
    ("C/2025 K1", "Comet ATLAS", "comet", "Leo", 9.9, "10h51m", "+14 08", 2, "G. Santoro"),
]]}
RUNS = {r["run"]: r for r in [dict(zip(("run", "night", "telescope", "target", "observer", "start", "hours", "status", "frames", "seeing"), r)) for r in [
    (2041, "2026-03-02", "Halley", "HD 189733", "Yamane", "22:00", 3.0, "done", 48, "0.8"),
    (2042, "2026-03-02", "Payne", "M87", "Ferreira", "23:30", 4.0, "done", 112, "0.7"),
    (2043, "2026-03-03", "Leavitt", "M31", "Osei", "19:45", 2.0, "lost", 0, "-"),
    (2044, "2026-03-03", "Halley", "T CrB", "Whitcombe", "02:15", 1.5, "done", 20, "1.1"),
    (2045, "2026-03-05", "Payne", "3C 273", "Ferreira", "00:30", 3.5, "done", 87, "0.9"),
    (2046, "2026-03-06", "Tombaugh", "C/2025 K1", "Santoro", "21:00", 2.5, "done", 65, "1.4"),
    (2047, "2026-03-09", "Leavitt", "NGC 5139", "Kuznets", "01:00", 3.0, "lost", 0, "-"),
    (2048, "2026-03-11", "Tombaugh", "M42", "Brandt", "20:00", 1.5, "done", 36, "1.2"),
    (2049, "2026-03-14", "Halley", "HD 209458", "Yamane", "03:40", 2.0, "planned", 0, "-"),
    (2050, "2026-03-14", "Payne", "M104", "Ferreira", "23:00", 4.5, "planned", 0, "-"),
    (2051, "2026-03-14", "Leavitt", "M57", "Brandt", "02:30", 2.0, "on hold", 0, "-"),
    (2052, "2026-03-16", "Halley", "WASP-12", "Yamane", "20:30", 3.5, "planned", 0, "-"),
    (2053, "2026-03-17", "Tombaugh", "C/2025 K1", "Santoro", "21:15", 2.0, "planned", 0, "-"),
    (2054, "2026-03-18", "Payne", "T CrB", "Whitcombe", "02:00", 1.0, "planned", 0, "-"),
    (2055, "2026-03-20", "Leavitt", "NGC 5139", "Kuznets", "00:45", 3.0, "planned", 0, "-"),
    (2056, "2026-03-21", "Leavitt", "NGC 104", "Kuznets", "20:15", 2.5, "on hold", 0, "-"),
    (2057, "2026-03-23", "Payne", "M87", "Ferreira", "22:45", 5.0, "planned", 0, "-"),
    (2058, "2026-03-24", "Cannon", "Mira", "Whitcombe", "19:30", 1.0, "cancelled", 0, "-"),
]]}

def kv(d): return "\n".join(f"{k}: {'-' if v == '' else v}" for k, v in d.items())
def row(r): return f"run {r['run']} | {r['night']} {r['start']} | {r['telescope']} | {r['target']} | {r['observer']} | {r['hours']} h | {r['status']}"

@server.tool()
def findTarget(text: str) -> str:
    "Search the target catalogue by common name, catalogue id, object type or constellation (part of it is enough)."
    t = text.casefold()
    hits = [x for x in TARGETS.values() if any(t in str(x[k]).casefold() for k in ("catalog_id", "common_name", "type", "constellation"))]
    return "\n".join(f"{x['catalog_id']} | {x['common_name'] or '-'} | {x['type']} | {x['constellation']} | mag {x['magnitude']} | priority {x['priority']}" for x in hits[:15]) or f"Nothing in the catalogue matches '{text}'."

@server.tool()
def targetDetails(catalog_id: str) -> str:
    "Coordinates, magnitude, priority and requester of one target, by catalogue id such as 'M31' or 'NGC 253'."
    x = TARGETS.get(catalog_id)
    return kv(x) if x else f"Unknown target {catalog_id}."

@server.tool()
def listTelescopes(state: Optional[Literal["operational", "maintenance", "closed"]] = None) -> str:
    "All telescopes on the mountain, optionally only those in one state."
    return "\n".join(f"{t['name']} | {t['aperture']} | {t['dome']} | {t['state']}" for t in TELESCOPES.values() if state in (None, t["state"]))

@server.tool()
def telescopeInfo(name: str) -> str:
    "Aperture, dome, instrument, state, operator and last mirror wash of a telescope."
    t = TELESCOPES.get(name)
    return kv(t) if t else f"There is no telescope called {name}."

@server.tool()
def listRuns(night: Optional[str] = None, telescope: Optional[str] = None, observer: Optional[str] = None, target: Optional[str] = None,
             status: Optional[Literal["planned", "on hold", "done", "lost", "cancelled"]] = None) -> str:
    "Observing runs, filtered by night (YYYY-MM-DD, the season is 2026), telescope name, observer's surname, target catalogue id, status. Give at least one filter."
    want = {"night": night, "telescope": telescope, "observer": observer, "target": target, "status": status}
    want = {k: v for k, v in want.items() if v is not None}
    if not want: return "Too many runs: give at least one filter."
    return "\n".join(row(r) for r in RUNS.values() if all(str(r[k]).casefold() == v.casefold() for k, v in want.items())) or "No runs match."

@server.tool()
def runDetails(run: int) -> str:
    "Everything about one observing run, by its number."
    r = RUNS.get(run)
    return kv(r) if r else f"Run {run} does not exist."

@server.tool()
def planRun(night: str, telescope: str, target: str, observer: str, start: str, hours: float = 2.0) -> str:
    "Put a new run on the schedule. night: YYYY-MM-DD (season 2026); target: catalogue id; observer: surname; start: HH:MM, 24 h clock."
    if telescope not in TELESCOPES: return f"There is no telescope called {telescope}."
    if TELESCOPES[telescope]["state"] != "operational": return f"{telescope} cannot be booked, it is in state '{TELESCOPES[telescope]['state']}'."
    if target not in TARGETS: return f"Unknown target {target}."
    n = max(RUNS) + 1
    RUNS[n] = dict(run=n, night=night, telescope=telescope, target=target, observer=observer, start=start, hours=hours, status="planned", frames=0, seeing="-")
    return "planned " + row(RUNS[n])

@server.tool()
def changeRun(run: int, night: Optional[str] = None, start: Optional[str] = None, hours: Optional[float] = None,
              status: Optional[Literal["planned", "on hold", "done", "lost", "cancelled"]] = None) -> str:
    "Change a run: night (YYYY-MM-DD), start (HH:MM), hours or status. 'lost' is for nights lost to weather or a fault. Only the fields given are changed."
    r = RUNS.get(run)
    if not r: return f"Run {run} does not exist."
    new = {k: v for k, v in dict(night=night, start=start, hours=hours, status=status).items() if v is not None}
    if not new: return "Nothing to change."
    out = [f"{k}: {r[k]} -> {v}" for k, v in new.items()]
    r.update(new)
    return f"run {run} updated\n" + "\n".join(out)

@server.tool()
def setPriority(catalog_id: str, priority: int) -> str:
    "Set a target's priority, 1 (highest) to 5 (lowest)."
    x = TARGETS.get(catalog_id)
    if not x: return f"Unknown target {catalog_id}."
    if not 1 <= priority <= 5: return "Priority must be 1 to 5."
    old, x["priority"] = x["priority"], priority
    return f"{catalog_id}: priority {old} -> {priority}"

if __name__ == "__main__":
    server.run()
