from datetime import date
from typing import Literal, Optional

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("campsite")

Area = Literal["meadow", "riverside", "forest"]
PitchStatus = Literal["free", "reserved", "occupied", "closed"]
StayStatus = Literal["booked", "checked_in", "checked_out", "cancelled"]
Day = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

PITCHES = {p[0]: dict(zip(("pitch", "area", "kind", "size_m2", "electric", "nightly_eur", "status", "stay_id"), p)) for p in [
    ("M01", "meadow", "tent", 80, False, 24.0, "occupied", "S-1041"),
    ("M02", "meadow", "tent", 75, False, 23.0, "reserved", "S-1052"),
    ("M03", "meadow", "motorhome", 95, True, 31.5, "occupied", "S-1042"),
    ("M04", "meadow", "caravan", 100, True, 33.0, "reserved", "S-1049"),
    ("M05", "meadow", "tent", 110, False, 26.0, "free", None),
    ("M06", "meadow", "caravan", 105, True, 33.0, "occupied", "S-1047"),
    ("M07", "meadow", "tent", 70, True, 27.5, "closed", None),
    ("M08", "meadow", "motorhome", 90, True, 30.0, "free", None),
    ("R01", "riverside", "tent", 85, False, 29.0, "reserved", "S-1051"),
    ("R02", "riverside", "caravan", 120, True, 38.5, "occupied", "S-1043"),
    ("R03", "riverside", "tent", 90, True, 34.0, "free", None),
    ("R04", "riverside", "motorhome", 88, True, 36.0, "occupied", "S-1044"),
    ("R05", "riverside", "tent", 65, False, 27.0, "free", None),
    ("R06", "riverside", "caravan", 115, True, 39.0, "occupied", "S-1048"),
    ("F01", "forest", "pod", 30, True, 58.0, "reserved", "S-1050"),
    ("F02", "forest", "pod", 34, True, 62.0, "occupied", "S-1045"),
    ("F03", "forest", "tent", 60, False, 21.0, "free", None),
    ("F04", "forest", "tent", 78, False, 22.5, "reserved", "S-1053"),
    ("F05", "forest", "tent", 82, False, 22.5, "occupied", "S-1046"),
    ("F06", "forest", "motorhome", 96, True, 32.0, "occupied", "S-1055"),
]}
GUESTS = {g[0]: dict(zip(("guest_id", "name", "town", "phone", "email", "number_plate", "dog", "stay_id"), g)) for g in [
    (301, "Marta Lindqvist", "Uppsala", "555-0111", "marta.l@lindqvist.example", "UPA 214", True, "S-1041"),
    (302, "Colin Dray", "Exeter", "555-0112", "colin@dray.example", "WX19 KLO", False, "S-1042"),
    (303, "Ife Balogun", "Rotterdam", "555-0113", "ife.b@mailbox.example", "RT-884-K", False, "S-1043"),
    (304, "Tom Brakel", "Zwolle", "555-0114", "tbrakel@post.example", "ZK-210-F", False, "S-1044"),
    (305, "Yuki Arden", "Bristol", "555-0115", "yuki@arden.example", "BR21 PTT", True, "S-1045"),
    (306, "Rosa Pinheiro", "Braga", "555-0116", "rosap@correio.example", "41-QT-09", False, "S-1046"),
    (307, "Hugh Mallory", "Cork", "555-0117", "hugh@mallory.example", "191-C-3302", True, "S-1047"),
    (308, "Annelie Voss", "Kassel", "555-0118", "a.voss@brief.example", "KS-AV 77", True, "S-1048"),
    (309, "Petr Havlik", "Brno", "555-0119", "havlik@posta.example", "5B2 7781", False, "S-1049"),
    (310, "Nadia Ferrand", "Lyon", "555-0120", "nadia.f@courriel.example", "FE-302-ND", False, "S-1050"),
    (311, "Gwen Dray", "Swansea", "555-0121", "gwen.dray@mailbox.example", "CP70 HHE", True, "S-1051"),
    (312, "Oskar Timm", "Kiel", "555-0122", "oskar@timm.example", "KI-OT 15", True, "S-1052"),
    (313, "Lena Strobl", "Graz", "555-0123", "lena.s@brief.example", "G-441 LS", False, "S-1053"),
    (314, "Bram de Wit", "Breda", "555-0124", "bram@dewit.example", "XP-118-B", False, "S-1054"),
    (315, "Sunita Rao", "Leicester", "555-0125", "sunita@rao.example", "LE20 SRA", False, "S-1055"),
    (316, "Jack Corrigan", "Galway", "555-0126", "jackc@post.example", "182-G-940", False, "S-1056"),
]}
STAYS = {s[0]: dict(zip(("stay_id", "guest_id", "pitch", "arrival", "departure", "status", "adults", "children", "extras", "activities", "balance_eur"), s)) for s in [
    ("S-1041", 301, "M01", "2025-07-04", "2025-07-12", "checked_in", 2, 2, {"firewood": 2}, ["A3"], 86.0),
    ("S-1042", 302, "M03", "2025-07-06", "2025-07-09", "checked_in", 2, 0, {}, [], 0.0),
    ("S-1043", 303, "R02", "2025-07-05", "2025-07-13", "checked_in", 2, 3, {"bike": 3, "breakfast": 4}, ["A1", "A5"], 142.5),
    ("S-1044", 304, "R04", "2025-07-07", "2025-07-10", "checked_in", 1, 0, {"laundry": 1}, [], 12.0),
    ("S-1045", 305, "F02", "2025-07-02", "2025-07-16", "checked_in", 2, 1, {"cot": 1}, ["A4"], 210.0),
    ("S-1046", 306, "F05", "2025-07-08", "2025-07-11", "checked_in", 4, 0, {"bbq": 1, "firewood": 4}, [], 31.0),
    ("S-1047", 307, "M06", "2025-07-08", "2025-07-15", "checked_in", 2, 0, {}, ["A1"], 64.0),
    ("S-1048", 308, "R06", "2025-07-06", "2025-07-20", "checked_in", 1, 0, {"breakfast": 6}, ["A3", "A9"], 177.5),
    ("S-1049", 309, "M04", "2025-07-10", "2025-07-14", "booked", 2, 1, {}, [], 132.0),
    ("S-1050", 310, "F01", "2025-07-10", "2025-07-17", "booked", 2, 0, {"breakfast": 2}, [], 424.0),
    ("S-1051", 311, "R01", "2025-07-11", "2025-07-13", "booked", 1, 1, {}, [], 58.0),
    ("S-1052", 312, "M02", "2025-07-12", "2025-07-19", "booked", 2, 2, {}, ["A2"], 161.0),
    ("S-1053", 313, "F04", "2025-07-12", "2025-07-14", "booked", 3, 0, {}, [], 45.0),
    ("S-1054", 314, "R05", "2025-06-28", "2025-07-05", "checked_out", 2, 0, {}, [], 24.5),
    ("S-1055", 315, "F06", "2025-07-01", "2025-07-08", "checked_in", 2, 2, {"bike": 2}, ["A7"], 0.0),
    ("S-1056", 316, "M08", "2025-07-09", "2025-07-12", "cancelled", 2, 0, {}, [], 0.0),
]}
ACTIVITIES = {a[0]: dict(zip(("code", "title", "day", "time", "meets_at", "led_by_guest", "places_left", "price_eur"), a)) for a in [
    ("A1", "Canoe trip", "saturday", "09:30", "R01", 307, 4, 18.0),
    ("A2", "Kids' treasure hunt", "friday", "14:00", "M05", 303, 0, 3.0),
    ("A3", "Night hike", "thursday", "21:30", "F03", 308, 6, 5.0),
    ("A4", "Stargazing", "friday", "22:15", "M08", 305, 7, 0.0),
    ("A5", "Raft building", "saturday", "11:00", "R03", 301, 3, 8.0),
    ("A6", "Bread baking", "wednesday", "16:00", "F05", 306, 5, 6.5),
    ("A7", "Morning yoga", "thursday", "07:45", "M05", 315, 9, 4.0),
    ("A8", "Bat walk", "tuesday", "21:00", "F06", 304, 2, 5.0),
    ("A9", "Whittling", "sunday", "15:00", "F03", 308, 1, 7.5),
]}
EXTRAS = {e[0]: dict(zip(("item", "price_eur", "per"), e)) for e in [
    ("firewood", 6.5, "bundle"), ("breakfast", 9.0, "person"), ("bike", 14.0, "day"),
    ("bbq", 11.0, "evening"), ("laundry", 4.0, "token"), ("cot", 5.0, "night"),
]}


def _stay(stay_id: str) -> dict:
    if stay_id not in STAYS:
        raise ToolError(f"No stay with id {stay_id}.")
    return STAYS[stay_id]


@server.tool()
def getPitch(pitch: str) -> dict:
    "One pitch by its code, e.g. M04 (meadow), R02 (riverside) or F01 (forest)."
    if pitch not in PITCHES:
        raise ToolError(f"There is no pitch {pitch}.")
    return PITCHES[pitch]


@server.tool()
def listPitches(area: Area, status: Optional[PitchStatus] = None) -> list[dict]:
    "Pitches of an area, optionally only those with a given status."
    keys = ("pitch", "status", "electric", "nightly_eur")
    return [{k: p[k] for k in keys} for p in PITCHES.values() if p["area"] == area and status in (None, p["status"])]


@server.tool()
def searchGuests(name: str) -> list[dict]:
    "Find guests by a part of their name; gives the guest ids."
    hits = [{"guest_id": g["guest_id"], "name": g["name"], "town": g["town"]} for g in GUESTS.values() if name.lower() in g["name"].lower()]
    if not hits:
        raise ToolError(f"No guest matches '{name}'.")
    return hits


@server.tool()
def getGuest(guest_id: int) -> dict:
    "Contact details of a guest and the id of their stay."
    if guest_id not in GUESTS:
        raise ToolError(f"No guest {guest_id}.")
    return GUESTS[guest_id]


@server.tool()
def getStay(stay_id: str) -> dict:
    "A stay (booking) by its id, e.g. S-1041: who, which pitch, dates, people, extras, balance still to pay."
    return _stay(stay_id)


@server.tool()
def updateStay(stay_id: str, status: Optional[StayStatus] = None, departure: Optional[str] = None, pitch: Optional[str] = None) -> dict:
    "Change a stay: its status, its departure date (YYYY-MM-DD) or its pitch. Give only what changes."
    stay = _stay(stay_id)
    changed = {}
    if departure is not None:
        try:
            ok = date.fromisoformat(departure) > date.fromisoformat(stay["arrival"])
        except ValueError:
            raise ToolError("departure must be YYYY-MM-DD")
        if not ok:
            raise ToolError("departure must be after arrival")
        changed["departure"] = departure
    if pitch is not None:
        if pitch not in PITCHES:
            raise ToolError(f"There is no pitch {pitch}.")
        if PITCHES[pitch]["status"] != "free":
            raise ToolError(f"Pitch {pitch} is {PITCHES[pitch]['status']}.")
        PITCHES[pitch].update(status=PITCHES[stay["pitch"]]["status"], stay_id=stay_id)
        PITCHES[stay["pitch"]].update(status="free", stay_id=None)
        changed["pitch"] = pitch
    if status is not None:
        changed["status"] = status
        if status in ("cancelled", "checked_out"):
            PITCHES[changed.get("pitch", stay["pitch"])].update(status="free", stay_id=None)
        elif status == "checked_in":
            PITCHES[changed.get("pitch", stay["pitch"])].update(status="occupied", stay_id=stay_id)
    if not changed:
        raise ToolError("Nothing to change.")
    stay.update(changed)
    return {"stay_id": stay_id, "changed": changed}


@server.tool()
def listActivities(day: Optional[Day] = None) -> list[dict]:
    "The week's activities with their codes, the pitch where they meet, the guest who leads them and places left."
    return [a for a in ACTIVITIES.values() if day in (None, a["day"])]


@server.tool()
def listExtras() -> list[dict]:
    "Price list of the extras."
    return list(EXTRAS.values())


@server.tool()
def addToStay(stay_id: str, item: str, quantity: int = 1) -> dict:
    "Put an extra or an activity on a stay's bill. item: firewood, breakfast, bike, bbq, laundry, cot, or an activity code (from listActivities); quantity: how many, or how many people."
    stay = _stay(stay_id)
    if item in EXTRAS:
        cost = EXTRAS[item]["price_eur"] * quantity
        stay["extras"][item] = stay["extras"].get(item, 0) + quantity
    elif item in ACTIVITIES:
        a = ACTIVITIES[item]
        if a["places_left"] < quantity:
            raise ToolError(f"{a['title']} has {a['places_left']} places left.")
        a["places_left"] -= quantity
        cost = a["price_eur"] * quantity
        stay["activities"].append(item)
    else:
        raise ToolError(f"Unknown extra or activity '{item}'.")
    stay["balance_eur"] += cost
    return {"stay_id": stay_id, "added": item, "quantity": quantity, "cost_eur": cost, "balance_eur": stay["balance_eur"]}


if __name__ == "__main__":
    server.run()
