from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("kesselberg-ski-resort")
HutSlug = Literal["marmot-hut", "cloud-inn", "ravens-rest", "lakeside", "old-dairy"]

LIFTS = {i: {"liftId": i, "name": n, "type": t, "status": s, "ridersPerHour": cap, "lastRide": last, "waitMinutes": w, "topAltitudeM": top, "topHut": hut, "chief": chief, "phone": ph}
         for i, n, t, s, cap, last, w, top, hut, chief, ph in [
    ("A", "Village Carpet", "magic carpet", "open", 900, "16:00", 2, 1180, "marmot-hut", "Resi Thaler", "555-0141"),
    ("B", "Sunnbahn", "chairlift", "open", 1800, "16:15", 8, 1540, "old-dairy", "Marco Zanetti", "555-0142"),
    ("C", "Kessel Gondola", "gondola", "open", 2400, "16:30", 14, 2210, "cloud-inn", "Ingrid Moser", "555-0143"),
    ("D", "Ridge Chair", "chairlift", "onHold", 1500, "15:45", 0, 2360, "cloud-inn", "Pavel Horak", "555-0144"),
    ("E", "Raven T-bar", "T-bar", "open", 800, "15:30", 5, 2480, "ravens-rest", "Nina Falk", "555-0145"),
    ("F", "Lake Chair", "chairlift", "open", 1650, "16:10", 11, 1710, "lakeside", "Owen Pryce", "555-0146"),
    ("G", "Glacier Gondola", "gondola", "closed", 2000, "15:15", 0, 2890, "ravens-rest", "Astrid Lund", "555-0147"),
]}

SLOPES = {n: {"slopeNumber": n, "name": name, "difficulty": d, "lengthM": length, "status": s, "groomedAt": g, "liftId": lift, "nearestHut": hut, "snowDepthCm": snow}
          for n, name, d, length, s, g, lift, hut, snow in [
    (1, "Village Run", "blue", 2400, "open", "05:40", "C", "marmot-hut", 48),
    (2, "Sunny Side", "blue", 1800, "open", "04:55", "B", "old-dairy", 62),
    (3, "First Steps", "blue", 350, "open", "06:10", "A", "marmot-hut", 40),
    (4, "Larch Alley", "blue", 3100, "closed", "03:30", "F", "lakeside", 35),
    (5, "Milk Churn", "red", 2250, "open", "04:20", "B", "old-dairy", 71),
    (6, "Fox Trail", "red", 1950, "open", "02:45", "F", "lakeside", 66),
    (7, "Ridge Express", "red", 2700, "closed", "23:50", "D", "cloud-inn", 118),
    (8, "Old Smuggler", "red", 3600, "open", "01:15", "C", "cloud-inn", 104),
    (9, "Bellwether", "blue", 2900, "open", "05:05", "C", "old-dairy", 90),
    (10, "Kessel Descent", "red", 4850, "open", "00:30", "C", "marmot-hut", 97),
    (11, "Stonefall", "black", 1400, "closed", "22:40", "E", "ravens-rest", 142),
    (12, "Raven's Beak", "black", 1650, "open", "23:10", "E", "ravens-rest", 151),
    (14, "Cold Shoulder", "black", 2050, "closed", "21:55", "G", "ravens-rest", 187),
    (15, "Ptarmigan", "red", 3300, "closed", "22:15", "G", "cloud-inn", 176),
    (16, "Lake Track", "blue", 2650, "open", "03:50", "F", "lakeside", 58),
]}

HUTS = {s: {"hut": s, "name": n, "keeper": k, "phone": p, "altitudeM": alt, "closesAt": c, "seats": seats, "dishOfTheDay": dish, "takesCards": cards}
        for s, n, k, p, alt, c, seats, dish, cards in [
    ("marmot-hut", "Marmot Hut", "Vroni Pichler", "555-0151", 1190, "22:00", 120, "barley soup", True),
    ("cloud-inn", "Cloud Inn", "Stefan Egger", "555-0152", 2220, "16:45", 180, "spinach dumplings", True),
    ("ravens-rest", "Raven's Rest", "Judith Amort", "555-0153", 2470, "15:45", 45, "goulash", False),
    ("lakeside", "Lakeside", "Ben Adeyemi", "555-0154", 1700, "18:00", 90, "fried trout", True),
    ("old-dairy", "Old Dairy", "Lotte Brunner", "555-0155", 1530, "17:30", 64, "cheese fondue", False),
]}

PASSES = {n: {"passNumber": n, "holder": h, "kind": k, "validUntil": v, "priceEur": p, "blocked": b, "phone": ph, "ridesToday": r, "lastLift": lift}
          for n, h, k, v, p, b, ph, r, lift in [
    (40217, "Carla Nowak", "adult", "2026-02-20", 312.0, False, "555-0161", 7, "C"),
    (40218, "Piotr Nowak", "adult", "2026-02-20", 312.0, False, "555-0161", 4, "F"),
    (40231, "Maximilian Roth", "season", "2026-04-12", 689.0, False, "555-0162", 12, "E"),
    (40244, "Sophie Laurent", "youth", "2026-02-17", 148.5, False, "555-0163", 9, "B"),
    (40260, "Gerald Finch", "senior", "2026-02-18", 171.0, True, "555-0164", 0, "A"),
    (40275, "Amelie Thorsen", "child", "2026-02-19", 96.0, False, "555-0165", 5, "A"),
    (40288, "David Okoro", "adult", "2026-02-16", 64.0, False, "555-0166", 3, "C"),
    (40302, "Lena Fischbach", "season", "2026-04-12", 689.0, True, "555-0167", 2, "D"),
    (40319, "Harriet Dunne", "adult", "2026-02-22", 348.0, False, "555-0168", 6, "F"),
    (40333, "Tobias Grell", "youth", "2026-02-21", 182.0, False, "555-0169", 10, "E"),
    (40350, "Mei Tan", "adult", "2026-02-17", 124.0, False, "555-0170", 8, "B"),
    (40366, "Bruno Keller", "senior", "2026-02-23", 229.0, False, "555-0171", 1, "C"),
]}

INCIDENTS = {i: {"incidentId": i, "reportedAt": at, "slopeNumber": s, "passNumber": p, "injury": inj, "status": st, "patroller": who}
             for i, at, s, p, inj, st, who in [
    ("INC-061", "2026-02-14T10:25", 5, 40244, "wrist", "closed", "Kai Brandauer"),
    ("INC-062", "2026-02-14T14:50", 12, 40333, "knee", "transported", "Livia Costa"),
    ("INC-063", "2026-02-15T09:40", 10, 40288, "concussion", "transported", "Kai Brandauer"),
    ("INC-064", "2026-02-15T11:15", 16, 40319, "ankle", "open", "Rune Dahl"),
    ("INC-065", "2026-02-15T11:55", 8, 40231, "shoulder", "open", "Livia Costa"),
    ("INC-066", "2026-02-15T13:05", 3, 40275, "bruises", "open", None),
    ("INC-067", "2026-02-15T13:20", 6, 40218, "knee", "open", None),
]}


@server.tool()
def liftInfo(liftId: str) -> dict:
    """Status, queue, last ride, top hut (slug) and chief of a lift. Lifts have letters A to G."""
    if liftId not in LIFTS:
        raise ToolError(f"LIFT_NOT_FOUND: {liftId}")
    return LIFTS[liftId]


@server.tool()
def slopeInfo(slopeNumber: int) -> dict:
    """Everything about one slope, with the lift (letter) that serves it and the nearest hut (slug)."""
    return SLOPES.get(slopeNumber) or {"message": f"There is no slope {slopeNumber}."}


@server.tool()
def slopeList(difficulty: Literal["blue", "red", "black"] | None = None, status: Literal["open", "closed"] | None = None,
              liftId: str | None = None, nameContains: str | None = None) -> list[dict]:
    """Slopes matching the filters (number, name, difficulty, status, length)."""
    return [{k: s[k] for k in ("slopeNumber", "name", "difficulty", "status", "lengthM")} for s in SLOPES.values()
            if difficulty in (None, s["difficulty"]) and status in (None, s["status"]) and liftId in (None, s["liftId"])
            and (nameContains or "").lower() in s["name"].lower()]


@server.tool()
def hutInfo(hut: HutSlug) -> dict:
    """Keeper, phone, closing time, seats and dish of the day of a mountain hut."""
    return HUTS[hut]


@server.tool()
def passInfo(passNumber: int | None = None, holder: str | None = None) -> dict:
    """A ski pass by its number or by the holder's full name."""
    for p in PASSES.values():
        if p["passNumber"] == passNumber or (holder and p["holder"].lower() == holder.lower()):
            return p
    raise ToolError(f"PASS_NOT_FOUND: {passNumber or holder}")


@server.tool()
def incidentLog(incidentId: str | None = None, status: Literal["open", "transported", "closed"] | None = None, slopeNumber: int | None = None) -> list[dict]:
    """Ski patrol incidents, oldest first; one by its id (INC-061) or several by status or slope."""
    return [i for i in INCIDENTS.values() if incidentId in (None, i["incidentId"]) and status in (None, i["status"]) and slopeNumber in (None, i["slopeNumber"])]


@server.tool()
def setStatus(target: Literal["lift", "slope"], id: str, status: Literal["open", "onHold", "closed"]) -> dict:
    """Open, hold or close a lift (id = letter) or a slope (id = number). Slopes cannot be onHold."""
    table = LIFTS if target == "lift" else SLOPES
    key = int(id) if target == "slope" and id.isdigit() else id
    if key not in table:
        raise ToolError(f"{target.upper()}_NOT_FOUND: {id}")
    if target == "slope" and status == "onHold":
        raise ToolError("INVALID_STATUS: a slope is open or closed")
    old, table[key]["status"] = table[key]["status"], status
    return {target: id, "name": table[key]["name"], "oldStatus": old, "newStatus": status}


@server.tool()
def passUpdate(passNumber: int, validUntil: str | None = None, blocked: bool | None = None) -> dict:
    """Change the last day (YYYY-MM-DD) of a pass, or block or unblock it."""
    if passNumber not in PASSES:
        raise ToolError(f"PASS_NOT_FOUND: {passNumber}")
    p = PASSES[passNumber]
    if validUntil is not None:
        p["validUntil"] = validUntil
    if blocked is not None:
        p["blocked"] = blocked
    return {k: p[k] for k in ("passNumber", "holder", "validUntil", "blocked")}


@server.tool()
def incidentSave(incidentId: str | None = None, slopeNumber: int | None = None, injury: str | None = None,
                 status: Literal["open", "transported", "closed"] | None = None, patroller: str | None = None) -> dict:
    """Change an incident (incidentId given) or report a new one (without incidentId; slopeNumber and injury needed)."""
    if incidentId is None:
        if slopeNumber not in SLOPES or not injury:
            raise ToolError("INVALID_INCIDENT: a new incident needs an existing slopeNumber and an injury")
        incidentId = f"INC-{61 + len(INCIDENTS):03}"
        INCIDENTS[incidentId] = {"incidentId": incidentId, "reportedAt": "2026-02-15T13:40", "slopeNumber": slopeNumber, "passNumber": None, "injury": injury, "status": "open", "patroller": None}
    if incidentId not in INCIDENTS:
        raise ToolError(f"INCIDENT_NOT_FOUND: {incidentId}")
    for key, value in {"slopeNumber": slopeNumber, "injury": injury, "status": status, "patroller": patroller}.items():
        if value is not None:
            INCIDENTS[incidentId][key] = value
    return INCIDENTS[incidentId]


if __name__ == "__main__":
    server.run()
