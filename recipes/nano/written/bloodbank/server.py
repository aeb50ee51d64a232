from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("bloodbank")

BloodType = Literal["O+", "O-", "A+", "A-", "B+", "B-", "AB+", "AB-"]
Component = Literal["red_cells", "platelets", "plasma"]

DONORS = {r[0]: dict(zip(("donor_id", "name", "blood_type", "born", "phone", "last_donation", "donations", "hemoglobin", "deferred_until", "deferral_reason"), r)) for r in [
    (3107, "Nadia Petrov", "O-", "1984-05-17", "020 7946 0311", "2025-08-04", 22, 13.9, None, None),
    (3112, "Samuel Okoye", "B+", "1991-11-02", "020 7946 0478", "2025-09-19", 6, 15.2, None, None),
    (3118, "Grace Whitfield", "A+", "1969-01-30", "020 7946 0120", "2025-03-11", 54, 12.6, "2026-02-01", "iron deficiency"),
    (3125, "Tomasz Zielinski", "O+", "1978-07-08", "020 7946 0839", "2025-09-30", 31, 14.8, None, None),
    (3131, "Leila Haddad", "AB-", "1996-09-24", "020 7946 0265", "2025-07-22", 9, 13.1, None, None),
    (3136, "Patrick Dunne", "O-", "1959-12-12", "020 7946 0702", "2025-06-02", 87, 14.1, None, None),
    (3140, "Mei Lin", "B-", "1988-03-03", "020 7946 0557", "2025-09-08", 14, 12.9, None, None),
    (3144, "Carl Whitfield", "A-", "1967-06-19", "020 7946 0121", "2025-08-27", 40, 15.5, None, None),
    (3149, "Ruth Abebe", "A+", "2001-04-28", "020 7946 0916", "2025-05-15", 3, 13.4, "2025-12-10", "new tattoo"),
    (3153, "Viktor Lindgren", "O+", "1973-10-21", "020 7946 0684", "2025-09-25", 48, 16.0, None, None),
    (3158, "Priya Menon", "AB+", "1993-02-14", "020 7946 0333", "2025-09-02", 11, 13.7, None, None),
    (3160, "Joao Santos", "O+", "1999-08-09", "020 7946 0790", "2025-01-29", 2, 14.4, "2026-05-20", "travel to malaria area"),
]}
UNITS = {r[0]: dict(zip(("unit", "blood_type", "component", "volume_ml", "donor_id", "collected", "expires", "fridge", "status", "reserved_for"), r)) for r in [
    ("U7Q-201", "O-", "red_cells", 280, 3107, "2025-08-04", "2025-09-15", "F1", "expired", None),
    ("U7Q-204", "O-", "red_cells", 275, 3136, "2025-09-29", "2025-11-10", "F1", "available", None),
    ("U7Q-207", "B+", "red_cells", 290, 3112, "2025-09-19", "2025-10-31", "F2", "available", None),
    ("U7Q-208", "B+", "plasma", 210, 3112, "2025-09-19", "2026-09-19", "Z1", "available", None),
    ("U7Q-211", "AB-", "plasma", 205, 3131, "2025-07-22", "2026-07-22", "Z1", "available", None),
    ("U7Q-213", "B-", "red_cells", 270, 3140, "2025-09-08", "2025-10-20", "F2", "reserved", 871),
    ("U7Q-216", "A-", "red_cells", 285, 3144, "2025-08-27", "2025-10-08", "F3", "available", None),
    ("U7Q-219", "O+", "red_cells", 295, 3125, "2025-09-30", "2025-11-11", "F1", "available", None),
    ("U7Q-220", "O+", "platelets", 250, 3125, "2025-09-30", "2025-10-05", "P1", "available", None),
    ("U7Q-222", "O+", "red_cells", 288, 3153, "2025-09-25", "2025-11-06", "F1", "quarantined", None),
    ("U7Q-223", "O+", "platelets", 245, 3153, "2025-09-25", "2025-09-30", "P1", "expired", None),
    ("U7Q-225", "AB+", "plasma", 215, 3158, "2025-09-02", "2026-09-02", "Z2", "reserved", 874),
    ("U7Q-226", "AB+", "red_cells", 282, 3158, "2025-09-02", "2025-10-14", "F3", "available", None),
    ("U7Q-228", "A-", "plasma", 200, 3144, "2025-08-27", "2026-08-27", "Z2", "available", None),
    ("U7Q-230", "A+", "red_cells", 278, 3149, "2025-05-15", "2025-06-26", "F3", "discarded", None),
    ("U7Q-231", "AB-", "platelets", 240, 3131, "2025-09-29", "2025-10-04", "P1", "quarantined", None),
]}
REQUESTS = {r[0]: dict(zip(("request_id", "hospital", "ward", "blood_type", "component", "units_needed", "units_reserved", "needed_by", "urgent", "requested_by"), r)) for r in [
    (868, "St. Brigid's", "Maternity", "O-", "red_cells", 2, 0, "2025-10-02", True, "Dr. Farrow"),
    (871, "Kingsmead General", "Haematology", "B-", "red_cells", 1, 1, "2025-10-06", False, "Dr. Anand"),
    (872, "Kingsmead General", "Trauma", "O+", "red_cells", 4, 0, "2025-10-01", True, "Dr. Lowell"),
    (874, "Northgate Children's", "Burns", "AB+", "plasma", 2, 1, "2025-10-03", True, "Dr. Sato"),
    (875, "St. Brigid's", "Oncology", "O+", "platelets", 1, 0, "2025-10-04", False, "Sister Mbeki"),
    (877, "Elmhurst Clinic", "Day Surgery", "A-", "red_cells", 1, 0, "2025-10-07", False, "Dr. Crane"),
    (878, "Northgate Children's", "Cardiac", "B+", "red_cells", 1, 0, "2025-10-09", False, "Dr. Yilmaz"),
    (880, "Kingsmead General", "Intensive Care", "A-", "plasma", 3, 0, "2025-10-05", True, "Dr. Anand"),
]}


def _unit(code):
    if code not in UNITS:
        raise ToolError(f"UNIT_NOT_FOUND: {code}")
    return UNITS[code]


@server.tool(name="get-donor")
def get_donor(donor_id: int) -> dict:
    """donor record"""
    if donor_id not in DONORS:
        raise ToolError(f"DONOR_NOT_FOUND: {donor_id}")
    return dict(DONORS[donor_id])

@server.tool(name="search-donors")
def search_donors(name: str = "", blood_type: BloodType | None = None) -> list[dict]:
    """search donors by (part of) name and/or blood type; returns id, name, type and whether they may donate"""
    return [{"donor_id": d["donor_id"], "name": d["name"], "blood_type": d["blood_type"], "eligible": d["deferred_until"] is None}
            for d in DONORS.values() if name.lower() in d["name"].lower() and blood_type in (None, d["blood_type"])]

@server.tool(name="defer-donor")
def defer_donor(donor_id: int, until: str, reason: str) -> dict:
    """block a donor from donating until a date (YYYY-MM-DD)"""
    if donor_id not in DONORS:
        raise ToolError(f"DONOR_NOT_FOUND: {donor_id}")
    d = DONORS[donor_id]
    d["deferred_until"], d["deferral_reason"] = until, reason
    return {"donor_id": donor_id, "name": d["name"], "deferred_until": until, "deferral_reason": reason}

@server.tool(name="get-unit")
def get_unit(unit: str) -> dict:
    """details of one blood unit, e.g. U7Q-204"""
    return dict(_unit(unit))

@server.tool(name="list-units")
def list_units(blood_type: BloodType | None = None, component: Component | None = None, status: Literal["available", "reserved", "quarantined", "expired", "discarded"] | None = None) -> list[dict] | str:
    """units in stock; at least one filter is needed"""
    if not (blood_type or component or status):
        raise ToolError("FILTER_REQUIRED")
    hits = [u for u in UNITS.values() if blood_type in (None, u["blood_type"]) and component in (None, u["component"]) and status in (None, u["status"])]
    return [{k: u[k] for k in ("unit", "blood_type", "component", "expires", "status")} for u in hits] or "no units match"

@server.tool(name="set-unit-status")
def set_unit_status(unit: str, status: Literal["available", "quarantined", "discarded"]) -> dict:
    """change a unit's status; releases any reservation"""
    u = _unit(unit)
    old = u["status"]
    if u["reserved_for"]:
        REQUESTS[u["reserved_for"]]["units_reserved"] -= 1
    u["status"], u["reserved_for"] = status, None
    return {"unit": unit, "old_status": old, "status": status}

@server.tool(name="reserve-unit")
def reserve_unit(unit: str, request_id: int) -> dict:
    """reserve an available unit for a hospital request"""
    u = _unit(unit)
    if request_id not in REQUESTS:
        raise ToolError(f"REQUEST_NOT_FOUND: {request_id}")
    if u["status"] != "available":
        raise ToolError(f"UNIT_UNAVAILABLE: {unit} is {u['status']}")
    q = REQUESTS[request_id]
    if q["component"] != u["component"]:
        raise ToolError(f"COMPONENT_MISMATCH: request {request_id} needs {q['component']}")
    u["status"], u["reserved_for"] = "reserved", request_id
    q["units_reserved"] += 1
    return {"unit": unit, "status": "reserved", "request_id": request_id, "hospital": q["hospital"], "units_reserved": q["units_reserved"], "units_needed": q["units_needed"]}

@server.tool(name="get-request")
def get_request(request_id: int) -> dict:
    """full hospital request"""
    if request_id not in REQUESTS:
        raise ToolError(f"REQUEST_NOT_FOUND: {request_id}")
    return dict(REQUESTS[request_id])

@server.tool(name="list-requests")
def list_requests(hospital: str = "", urgent_only: bool = False) -> list[dict] | str:
    """hospital requests, optionally for one hospital or only the urgent ones"""
    hits = [q for q in REQUESTS.values() if hospital.lower() in q["hospital"].lower() and (q["urgent"] or not urgent_only)]
    return [{k: q[k] for k in ("request_id", "hospital", "ward", "blood_type", "component", "needed_by")} for q in hits] or "no requests"


if __name__ == "__main__":
    server.run()
