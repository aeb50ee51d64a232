from datetime import date
from typing import Literal
from mcp.server.mcpserver import MCPServer

server = MCPServer("harbour-office")

BOATS = {b[0]: dict(zip(("registration", "name", "type", "length", "draught", "flag", "owner", "phone", "home"), b)) for b in [
    ("SK-104", "Grey Heron", "sailing yacht", 11.2, 1.9, "NO", "Ingrid Solheim", "+47 555 0142", "Bergen"),
    ("SK-117", "Patience", "motor boat", 8.4, 0.8, "UK", "Alan Pryce", "+44 555 0198", "Whitby"),
    ("SK-123", "Marlin II", "motor boat", 14.6, 1.2, "DK", "Jens Bak", "+45 555 0110", "Esbjerg"),
    ("SK-131", "Tern", "sailing yacht", 9.1, 1.6, "NL", "Mieke Jansen", "+31 555 0171", "Harlingen"),
    ("SK-138", "Cutty Wren", "fishing boat", 16.8, 2.4, "UK", "Donald Muir", "+44 555 0123", "Wick"),
    ("SK-146", "Aurora", "catamaran", 12.3, 1.1, "SE", "Lena Ek", "+46 555 0135", "Marstrand"),
    ("SK-152", "Sea Thrift", "sailing yacht", 10.4, 1.8, "UK", "Ruth Callan", "+44 555 0166", "Oban"),
    ("SK-159", "Bonnie Jean", "fishing boat", 13.9, 2.1, "UK", "Callum Reid", "+44 555 0187", "Buckie"),
    ("SK-163", "Aurora", "motor boat", 7.2, 0.7, "UK", "Tom Hale", "+44 555 0104", "Amble"),
    ("SK-170", "Windsbraut", "sailing yacht", 13.1, 2.2, "DE", "Karin Voss", "+49 555 0159", "Cuxhaven"),
    ("SK-178", "Puffin", "dinghy", 4.8, 0.5, "UK", "Ruth Callan", "+44 555 0166", "Oban"),
    ("SK-185", "Étoile", "sailing yacht", 15.5, 2.5, "FR", "Luc Morvan", "+33 555 0148", "Brest"),
    ("SK-191", "Old Sorrow", "motor boat", 10.9, 1.0, "IE", "Niamh Daly", "+353 555 0129", "Howth"),
]}
BERTHS = {b[0]: dict(zip(("berth", "pier", "max length", "depth", "power", "water", "rate"), b)) for b in [
    ("A1", "North Pier", 8, 1.5, "no", "yes", 18), ("A2", "North Pier", 8, 1.5, "no", "yes", 18), ("A3", "North Pier", 10, 2.0, "yes", "yes", 24),
    ("A4", "North Pier", 10, 2.0, "yes", "yes", 24), ("B1", "Long Quay", 12, 2.5, "yes", "yes", 31), ("B2", "Long Quay", 12, 2.5, "yes", "yes", 31),
    ("B3", "Long Quay", 14, 2.8, "yes", "no", 36), ("B4", "Long Quay", 14, 2.8, "yes", "yes", 38), ("C1", "Fish Quay", 18, 3.5, "yes", "yes", 45),
    ("C2", "Fish Quay", 18, 3.5, "no", "yes", 40), ("C3", "Fish Quay", 20, 4.0, "yes", "yes", 52), ("D1", "Swinging Mooring", 15, 5.0, "no", "no", 15),
]}
VISITS = {v[0]: dict(zip(("visit", "boat", "berth", "arrival", "nights", "status", "paid", "crew", "remark"), v)) for v in [
    (881, "SK-104", "B1", "2025-07-08", 5, "moored", "yes", 4, "-"),
    (882, "SK-138", "C1", "2025-07-06", 9, "moored", "no", 6, "engine repair by Lowrie's yard"),
    (883, "SK-117", "A3", "2025-07-03", 4, "departed", "yes", 2, "-"),
    (884, "SK-170", "B4", "2025-07-09", 3, "moored", "no", 5, "wants shore power"),
    (885, "SK-146", "C3", "2025-07-11", 2, "expected", "no", 3, "arrives after dark"),
    (886, "SK-163", "A1", "2025-07-10", 7, "moored", "yes", 2, "-"),
    (887, "SK-191", "B2", "2025-07-11", 1, "expected", "yes", 2, "-"),
    (888, "SK-185", "C2", "2025-07-12", 4, "expected", "no", 7, "birthday party on board"),
    (889, "SK-131", "A4", "2025-07-05", 3, "departed", "no", 2, "left without paying"),
    (890, "SK-152", "B3", "2025-07-10", 6, "moored", "no", 3, "dog on board"),
    (891, "SK-123", "C2", "2025-07-02", 2, "cancelled", "no", 4, "bad weather"),
    (892, "SK-178", "A2", "2025-07-13", 2, "expected", "no", 1, "tender of SK-152"),
    (893, "SK-159", "C1", "2025-07-16", 3, "expected", "no", 5, "landing crab"),
]}

def _visit_line(v, name=True):
    boat = f"{BOATS[v['boat']]['name']} ({v['boat']})" if name else v["boat"]
    return f"#{v['visit']} {boat} berth {v['berth']}, from {v['arrival']}, {v['nights']} nights, {v['status']}, paid: {v['paid']}"

def _fits(boat, berth):
    if boat["length"] > berth["max length"]: return f"{boat['name']} ({boat['length']} m) is too long for {berth['berth']} (max {berth['max length']} m)."
    if boat["draught"] > berth["depth"]: return f"{boat['name']} draws {boat['draught']} m, {berth['berth']} is only {berth['depth']} m deep."
    return ""

@server.tool()
def boatLookup(registration: str) -> str:
    """Boat by registration (SK-nnn)."""
    b = BOATS.get(registration.upper())
    if not b: return f"No boat registered as {registration}."
    return "\n".join(f"{k}: {v}{' m' if k in ('length', 'draught') else ''}" for k, v in b.items())

@server.tool()
def searchBoats(query: str) -> str:
    """Boats whose name, owner, type or home port contains the query."""
    q = query.casefold()
    hits = [b for b in BOATS.values() if any(q in b[k].casefold() for k in ("name", "owner", "type", "home"))]
    return "\n".join(f"{b['registration']}  {b['name']}  {b['type']}  {b['length']} m  owner {b['owner']}" for b in hits) or f"Nothing found for '{query}'."

@server.tool()
def berthInfo(berth: str) -> str:
    """Berth details: pier, size, depth, power, water, nightly rate and who lies there now."""
    b = BERTHS.get(berth.upper())
    if not b: return f"There is no berth {berth}."
    now = next((v for v in VISITS.values() if v["berth"] == b["berth"] and v["status"] == "moored"), None)
    return (f"Berth {b['berth']} ({b['pier']})\nmax length: {b['max length']} m\ndepth: {b['depth']} m\nshore power: {b['power']}\nwater: {b['water']}\n"
            f"rate: £{b['rate']} per night\noccupied by: " + (f"{BOATS[now['boat']]['name']} (visit {now['visit']})" if now else "nobody"))

@server.tool()
def freeBerths(minLength: float = 0, powerNeeded: bool = False) -> str:
    """Berths where nobody is moored now, optionally long enough for a boat of minLength metres and with shore power."""
    taken = {v["berth"] for v in VISITS.values() if v["status"] == "moored"}
    rows = [b for b in BERTHS.values() if b["berth"] not in taken and b["max length"] >= minLength and (not powerNeeded or b["power"] == "yes")]
    if not rows: return "No free berth."
    return "berth | max | depth | power | rate\n" + "\n".join(f"{b['berth']} | {b['max length']} m | {b['depth']} m | {b['power']} | £{b['rate']}" for b in rows)

@server.tool()
def listVisits(status: Literal["expected", "moored", "departed", "cancelled"] | None = None, boat: str = "", berth: str = "", arrivalDate: str = "") -> str:
    """Visits, filtered by status, boat (registration), berth or arrival date (YYYY-MM-DD)."""
    rows = [v for v in VISITS.values() if (status is None or v["status"] == status) and (not boat or v["boat"] == boat.upper())
            and (not berth or v["berth"] == berth.upper()) and (not arrivalDate or v["arrival"] == arrivalDate)]
    return "\n".join(_visit_line(v, name=False) for v in rows) or "No visits match."

@server.tool()
def visitDetails(visitId: int) -> str:
    """One visit with crew, fee and remark."""
    v = VISITS.get(visitId)
    if not v: return f"Visit {visitId} not found."
    fee = v["nights"] * BERTHS[v["berth"]]["rate"]
    return _visit_line(v) + f"\ncrew: {v['crew']}\nfee: £{fee}\nremark: {v['remark']}"

@server.tool()
def bookVisit(registration: str, berth: str, arrivalDate: str, nights: int = 1, crew: int = 1) -> str:
    """Book a berth for a boat. arrivalDate is YYYY-MM-DD."""
    b, p = BOATS.get(registration.upper()), BERTHS.get(berth.upper())
    if not b: return f"No boat registered as {registration}."
    if not p: return f"There is no berth {berth}."
    try: date.fromisoformat(arrivalDate)
    except ValueError: return "arrivalDate must be YYYY-MM-DD."
    if _fits(b, p): return "Not booked: " + _fits(b, p)
    n = max(VISITS) + 1
    VISITS[n] = dict(visit=n, boat=b["registration"], berth=p["berth"], arrival=arrivalDate, nights=nights, status="expected", paid="no", crew=crew, remark="-")
    return f"Booked. {_visit_line(VISITS[n])}, fee £{nights * p['rate']}"

@server.tool()
def updateVisit(visitId: int, status: Literal["expected", "moored", "departed", "cancelled"] | None = None, berth: str | None = None,
                paid: bool | None = None, nights: int | None = None) -> str:
    """Change a visit: its status, berth (to move the boat), payment or number of nights. Only give what changes."""
    v = VISITS.get(visitId)
    if not v: return f"Visit {visitId} not found."
    if berth is not None:
        if berth.upper() not in BERTHS: return f"There is no berth {berth}."
        problem = _fits(BOATS[v["boat"]], BERTHS[berth.upper()])
        if problem: return "Not changed: " + problem
        v["berth"] = berth.upper()
    if status is not None: v["status"] = status
    if paid is not None: v["paid"] = "yes" if paid else "no"
    if nights is not None: v["nights"] = nights
    return "Updated: " + _visit_line(v)

if __name__ == "__main__":
    server.run()
