from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("ringing-station")

BIRDS = {b[0]: dict(zip(("ring", "species", "sex", "age_at_ringing", "ringed_on", "ringed_by", "status", "colour_mark"), b)) for b in [
    ("AX4401", "robin", "unknown", "juvenile", "2024-08-19", "h.lind@station.example", "alive", None),
    ("AX4402", "blue tit", "female", "adult", "2024-08-19", "h.lind@station.example", "alive", None),
    ("AX4407", "great tit", "male", "adult", "2024-09-02", "o.bakke@station.example", "alive", "red over white"),
    ("AX4411", "robin", "male", "adult", "2024-09-14", "o.bakke@station.example", "found dead", None),
    ("AX4415", "wren", "unknown", "juvenile", "2024-09-15", "s.petit@station.example", "alive", None),
    ("AX4420", "chiffchaff", "unknown", "juvenile", "2025-04-03", "s.petit@station.example", "alive", None),
    ("AX4423", "blackcap", "male", "adult", "2025-04-11", "h.lind@station.example", "alive", None),
    ("AX4424", "blackcap", "female", "adult", "2025-04-11", "h.lind@station.example", "alive", "yellow"),
    ("AX4430", "willow warbler", "unknown", "adult", "2025-04-22", "j.acheson@station.example", "alive", None),
    ("AX4433", "great tit", "female", "juvenile", "2025-06-07", "j.acheson@station.example", "alive", None),
    ("KP0912", "song thrush", "unknown", "adult", "2023-10-08", "o.bakke@station.example", "alive", None),
    ("KP0915", "blackbird", "male", "adult", "2024-03-30", "h.lind@station.example", "alive", "blue over green"),
    ("KP0918", "blackbird", "female", "juvenile", "2025-06-21", "m.duarte@station.example", "alive", None),
    ("KP0920", "redwing", "unknown", "adult", "2024-10-27", "m.duarte@station.example", "ring removed", None),
    ("TR7750", "sparrowhawk", "female", "juvenile", "2025-08-16", "o.bakke@station.example", "alive", None),
]}
CAPTURES = {c[0]: dict(zip(("capture_id", "ring", "date", "time", "net", "weight_g", "wing_mm", "fat_score", "moult", "observer", "remarks"), c)) for c in [
    (2001, "AX4401", "2025-08-30", "06:20", "N1", 16.4, 72, 1, False, "h.lind@station.example", ""),
    (2002, "AX4402", "2025-08-30", "06:20", "N1", 10.9, 64, 0, True, "h.lind@station.example", "tick on left eyelid"),
    (2003, "KP0915", "2025-08-30", "07:00", "N3", 97.5, 131, 2, True, "s.petit@station.example", ""),
    (2004, "AX4407", "2025-08-31", "06:40", "N2", 18.2, 76, 1, True, "o.bakke@station.example", "bit the ringer twice"),
    (2005, "AX4424", "2025-08-31", "07:20", "N4", 19.8, 74, 3, False, "o.bakke@station.example", ""),
    (2006, "AX4415", "2025-08-31", "08:00", "N4", 9.1, 48, 1, False, "s.petit@station.example", ""),
    (2007, "TR7750", "2025-09-01", "09:10", "N3", 252.0, 238, 0, False, "o.bakke@station.example", "chasing a great tit into the net"),
    (2008, "AX4423", "2025-09-01", "06:30", "N1", 21.6, 75, 5, False, "j.acheson@station.example", "very fat, ready to go"),
    (2009, "AX4430", "2025-09-01", "06:30", "N2", 8.8, 67, 2, False, "j.acheson@station.example", ""),
    (2010, "KP0918", "2025-09-02", "07:40", "N3", 89.3, 126, 1, True, "m.duarte@station.example", ""),
    (2011, "AX4401", "2025-09-02", "08:20", "N1", 17.3, 72, 2, False, "m.duarte@station.example", ""),
    (2012, "KP0912", "2025-09-02", "10:00", "N5", 71.0, 117, 2, False, "h.lind@station.example", "old scar on right leg"),
    (2013, "AX4433", "2025-09-03", "06:50", "N2", 17.1, 73, 0, True, "s.petit@station.example", ""),
    (2014, "AX4420", "2025-09-03", "07:30", "N5", 7.4, 58, 3, False, "s.petit@station.example", ""),
    (2015, "AX4424", "2025-09-03", "07:30", "N4", 22.1, 74, 5, False, "h.lind@station.example", ""),
]}
OBSERVERS = {o[0]: dict(zip(("email", "name", "role", "licence", "licence_until", "phone", "trained_in"), o)) for o in [
    ("h.lind@station.example", "Hanna Lind", "station leader", "A", "2027-03-31", "555-3010", 2009),
    ("o.bakke@station.example", "Odd Bakke", "ringer", "A", "2025-12-31", "555-3022", 2014),
    ("s.petit@station.example", "Sylvie Petit", "ringer", "C", "2026-06-30", "555-3037", 2021),
    ("j.acheson@station.example", "Joan Acheson", "ringer", "C", "2025-10-15", "555-3041", 2019),
    ("m.duarte@station.example", "Miguel Duarte", "trainee", "T", "2026-02-28", "555-3058", 2025),
    ("k.lind@station.example", "Kaspar Lind", "net helper", "none", None, "555-3063", 2024),
]}

def _bird(ring):
    if ring.upper() not in BIRDS: raise ToolError(f"Ring {ring} is not in the station's books.")
    return BIRDS[ring.upper()]

@server.tool(name="get-bird")
def get_bird(ring: str) -> dict:
    """Ringing record of a bird by its ring number, e.g. AX4401."""
    return _bird(ring)

@server.tool(name="find-birds")
def find_birds(species: str | None = None, status: Literal["alive", "found dead", "ring removed"] | None = None, colour_marked: bool | None = None) -> list[dict]:
    """Find birds by English species name (singular), status, or whether they carry a colour mark."""
    return [{k: b[k] for k in ("ring", "species", "sex", "status")} for b in BIRDS.values() if (not species or b["species"] == species.lower())
            and (status is None or b["status"] == status) and (colour_marked is None or bool(b["colour_mark"]) == colour_marked)]

@server.tool(name="list-captures")
def list_captures(ring: str | None = None, date: str | None = None, net: Literal["N1", "N2", "N3", "N4", "N5"] | None = None, observer: str | None = None) -> list[str]:
    """One line per capture. At least one filter; date as YYYY-MM-DD, observer as e-mail."""
    if not (ring or date or net or observer): raise ToolError("Please filter by ring, date, net or observer.")
    return [f"{c['capture_id']}: {c['ring']} {BIRDS[c['ring']]['species']}, {c['date']} {c['time']}, net {c['net']}, {c['weight_g']} g" for c in CAPTURES.values()
            if (not ring or c["ring"] == ring.upper()) and (not date or c["date"] == date) and (not net or c["net"] == net)
            and (not observer or c["observer"] == observer)]

@server.tool(name="get-capture")
def get_capture(capture_id: int) -> dict:
    """All measurements of one capture."""
    if capture_id not in CAPTURES: raise ToolError(f"capture {capture_id} does not exist")
    return CAPTURES[capture_id]

@server.tool(name="log-capture")
def log_capture(ring: str, date: str, net: Literal["N1", "N2", "N3", "N4", "N5"], weight_g: float, observer: str, wing_mm: int | None = None) -> dict:
    """Enter a recapture of a bird that already has a ring. observer is an e-mail address."""
    b = _bird(ring)
    if observer not in OBSERVERS: raise ToolError(f"no observer {observer}")
    n = max(CAPTURES) + 1
    CAPTURES[n] = dict(capture_id=n, ring=b["ring"], date=date, time=None, net=net, weight_g=weight_g, wing_mm=wing_mm, fat_score=None, moult=None, observer=observer, remarks="")
    return {k: CAPTURES[n][k] for k in ("capture_id", "ring", "date", "net", "weight_g", "wing_mm", "observer")} | {"species": b["species"]}

@server.tool(name="correct-capture")
def correct_capture(capture_id: int, field: Literal["weight_g", "wing_mm", "fat_score", "net", "remarks"], value: str) -> str:
    """Correct one field of a capture; the value is given as text."""
    c = get_capture(capture_id); old = c[field]
    c[field] = float(value) if field == "weight_g" else int(value) if field in ("wing_mm", "fat_score") else value
    return f"Capture {capture_id}: {field} changed from {old!r} to {c[field]!r}."

@server.tool(name="set-bird-status")
def set_bird_status(ring: str, status: Literal["alive", "found dead", "ring removed"]) -> str:
    """Record what became of a bird."""
    b = _bird(ring); old = b["status"]; b["status"] = status
    return f"{b['ring']} ({b['species']}): {old} -> {status}"

@server.tool(name="find-observer")
def find_observer(name: str) -> list[dict] | str:
    """Observers whose name or e-mail contains the text: role, licence, phone, e-mail."""
    hits = [o for o in OBSERVERS.values() if name.lower() in o["name"].lower() or name.lower() == o["email"]]
    return hits or f"Nobody called {name} on the list."

@server.tool(name="renew-licence")
def renew_licence(email: str, until: str, licence: Literal["A", "C", "T"] | None = None) -> str:
    """Extend an observer's ringing licence to a date (YYYY-MM-DD), optionally with a new class."""
    o = OBSERVERS.get(email)
    if not o: return f"no observer with address {email}"
    o["licence_until"] = until
    if licence: o["licence"] = licence
    return f"{o['name']}: licence {o['licence']} valid until {until}"

if __name__ == "__main__":
    server.run()
