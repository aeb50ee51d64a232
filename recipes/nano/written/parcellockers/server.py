import datetime
from typing import Literal, Optional
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("parcellockers")

STATIONS = {r[0]: dict(zip(("code", "name", "district", "address", "access", "caretaker", "helpline", "last_cleaned"), r)) for r in [
    ("HBG", "Harbour Gate", "Docks", "2 Quay Road", "24 h", "C11", "555-0121", "2025-02-27"),
    ("TRS", "South Station", "Southside", "Platform hall 1", "05:00-00:30", "C14", "555-0122", "2025-03-03"),
    ("MKT", "Old Market", "Centre", "9 Grain Lane", "24 h", "C12", "555-0123", "2025-03-05"),
    ("UNI", "University Library", "Centre", "40 Campus Avenue", "07:00-23:00", "C15", "555-0124", "2025-02-19"),
    ("PNM", "Pine Mall", "Eastfield", "Pine Mall, level 0", "09:00-21:00", "C12", "555-0125", "2025-03-01"),
    ("ELM", "Elm Street Garage", "Eastfield", "77 Elm Street", "06:00-22:00", "C16", "555-0126", "2025-02-24"),
    ("RVS", "Riverside Gym", "Southside", "15 Towpath", "06:30-23:00", "C14", "555-0127", "2025-03-06"),
    ("NRD", "Nordpark", "Northgate", "Nordpark 3", "24 h", "C13", "555-0128", "2025-02-11"),
]}

COURIERS = {r[0]: dict(zip(("badge", "name", "vehicle", "depot", "shift", "phone", "max_load_kg"), r)) for r in [
    ("C11", "Nils Bergman", "cargo bike", "Docks Depot", "early", "555-0151", 80),
    ("C12", "Amara Diallo", "e-van", "East Depot", "late", "555-0152", 600),
    ("C13", "Tobias Renk", "van", "North Depot", "early", "555-0153", 900),
    ("C14", "Yukiko Mori", "cargo bike", "Central Depot", "day", "555-0154", 90),
    ("C15", "Stefan Petrov", "e-van", "Central Depot", "early", "555-0155", 550),
    ("C16", "Lena Kowalski", "van", "East Depot", "day", "555-0156", 850),
]}

LOCKERS = {r[0]: dict(zip(("locker_id", "station", "size", "state", "battery_pct", "last_service", "contains"), r)) for r in [
    (101, "HBG", "S", "occupied", 81, "2025-01-20", "PX-4401"),
    (102, "HBG", "S", "free", 77, "2025-01-20", None),
    (103, "HBG", "M", "occupied", 34, "2024-11-06", "PX-4406"),
    (104, "HBG", "L", "free", 92, "2025-02-12", None),
    (111, "TRS", "S", "occupied", 58, "2024-12-15", "PX-4402"),
    (112, "TRS", "M", "out_of_order", 3, "2024-09-30", None),
    (113, "TRS", "M", "free", 66, "2024-12-15", None),
    (114, "TRS", "L", "occupied", 71, "2024-12-16", "PX-4409"),
    (121, "MKT", "S", "free", 49, "2025-01-08", None),
    (122, "MKT", "M", "occupied", 45, "2025-01-08", "PX-4404"),
    (123, "MKT", "XL", "occupied", 88, "2025-02-03", "PX-4415"),
    (131, "UNI", "S", "occupied", 27, "2024-10-22", "PX-4410"),
    (132, "UNI", "S", "free", 95, "2025-02-18", None),
    (133, "UNI", "M", "free", 62, "2024-12-02", None),
    (134, "UNI", "L", "out_of_order", 12, "2024-10-22", None),
    (141, "PNM", "M", "occupied", 83, "2025-01-29", "PX-4412"),
    (142, "PNM", "L", "free", 80, "2025-01-29", None),
    (143, "PNM", "XL", "free", 79, "2025-01-30", None),
    (151, "ELM", "S", "free", 53, "2024-12-11", None),
    (152, "ELM", "M", "occupied", 41, "2024-12-11", "PX-4418"),
    (161, "RVS", "S", "occupied", 99, "2025-03-06", "PX-4420"),
    (162, "RVS", "M", "free", 97, "2025-03-06", None),
    (163, "RVS", "L", "free", 98, "2025-03-06", None),
    (171, "NRD", "M", "occupied", 22, "2024-10-04", "PX-4423"),
    (172, "NRD", "L", "out_of_order", 0, "2024-10-04", None),
    (173, "NRD", "XL", "free", 64, "2024-12-19", None),
]}

PARCELS = {r[0]: dict(zip(("tracking", "recipient", "sender", "size", "weight_kg", "status", "locker_id", "courier", "pickup_by", "cod_eur"), r)) for r in [
    ("PX-4401", "Hanna Vogel", "Bookish", "S", 0.8, "in_locker", 101, "C11", "2025-03-14", 0),
    ("PX-4402", "Omar Said", "Teleshop", "S", 0.4, "in_locker", 111, "C14", "2025-03-12", 39.90),
    ("PX-4403", "Hanna Vogel", "Nordlicht Lamps", "L", 6.2, "in_transit", None, "C11", None, 0),
    ("PX-4404", "Ruth Adeyemi", "Garden & Co", "M", 3.5, "in_locker", 122, "C12", "2025-03-13", 0),
    ("PX-4405", "Jonas Feld", "Teleshop", "S", 0.6, "announced", None, "C15", None, 129.00),
    ("PX-4406", "Milan Horvat", "Runfast", "M", 1.9, "in_locker", 103, "C11", "2025-03-11", 74.50),
    ("PX-4407", "Ruth Adeyemi", "Bookish", "S", 1.1, "collected", None, "C12", "2025-03-04", 0),
    ("PX-4408", "Beatriz Lima", "Kitchenette", "L", 8.4, "in_transit", None, "C13", None, 212.00),
    ("PX-4409", "Omar Said", "Runfast", "L", 4.7, "in_locker", 114, "C14", "2025-03-15", 0),
    ("PX-4410", "Jonas Feld", "Bookish", "S", 0.9, "in_locker", 131, "C15", "2025-03-10", 0),
    ("PX-4411", "Greta Lund", "Garden & Co", "XL", 14.0, "in_transit", None, "C16", None, 0),
    ("PX-4412", "Greta Lund", "Teleshop", "M", 2.2, "in_locker", 141, "C12", "2025-03-16", 59.00),
    ("PX-4413", "Pavel Novak", "Kitchenette", "M", 3.1, "returned", None, "C13", "2025-02-25", 45.00),
    ("PX-4414", "Hanna Vogel", "Runfast", "M", 1.6, "collected", None, "C11", "2025-03-02", 0),
    ("PX-4415", "Sofia Marino", "Nordlicht Lamps", "XL", 11.5, "in_locker", 123, "C12", "2025-03-13", 0),
    ("PX-4416", "Omar Said", "Kitchenette", "M", 2.8, "in_transit", None, "C14", None, 18.75),
    ("PX-4417", "Dana Price", "Bookish", "S", 0.5, "announced", None, "C16", None, 0),
    ("PX-4418", "Dana Price", "Garden & Co", "M", 4.0, "in_locker", 152, "C16", "2025-03-12", 27.30),
    ("PX-4419", "Milan Horvat", "Teleshop", "S", 0.3, "returned", None, "C11", "2025-02-26", 0),
    ("PX-4420", "Elif Kaya", "Runfast", "S", 1.2, "in_locker", 161, "C14", "2025-03-17", 0),
    ("PX-4421", "Elif Kaya", "Nordlicht Lamps", "L", 5.9, "in_transit", None, "C14", None, 88.00),
    ("PX-4422", "Beatriz Lima", "Bookish", "S", 0.7, "collected", None, "C13", "2025-03-05", 0),
    ("PX-4423", "Ingrid Holm", "Kitchenette", "M", 3.3, "in_locker", 171, "C13", "2025-03-18", 64.20),
    ("PX-4424", "Ingrid Holm", "Garden & Co", "L", 7.6, "announced", None, "C13", None, 0),
]}


def _parcel(tracking):
    if tracking not in PARCELS:
        raise ToolError(f"Unknown tracking number {tracking}")
    return PARCELS[tracking]


def _locker(locker_id):
    if locker_id not in LOCKERS:
        raise ToolError(f"No locker with id {locker_id}")
    return LOCKERS[locker_id]


@server.tool()
def get_parcel(tracking: str) -> dict:
    "One parcel by tracking number (PX-nnnn): sender, size, weight, status, locker, courier badge, pickup deadline, cash on delivery."
    return _parcel(tracking)


@server.tool()
def find_parcels(recipient: Optional[str] = None, sender: Optional[str] = None, courier: Optional[str] = None,
                 status: Optional[Literal["announced", "in_transit", "in_locker", "collected", "returned"]] = None) -> list[dict]:
    "Search parcels by recipient name, sender, courier badge and/or status. At least one filter is needed."
    if not any((recipient, sender, courier, status)):
        raise ToolError("Give at least one of recipient, sender, courier, status")
    hits = [p for p in PARCELS.values()
            if (not recipient or recipient.lower() in p["recipient"].lower())
            and (not sender or sender.lower() in p["sender"].lower())
            and (not courier or courier == p["courier"]) and (not status or status == p["status"])]
    return [{k: p[k] for k in ("tracking", "recipient", "sender", "status", "weight_kg")} for p in hits]


@server.tool()
def get_locker(locker_id: int) -> dict:
    "A single locker: station code, size, state, lock battery, last service and the parcel inside."
    return _locker(locker_id)


@server.tool()
def list_lockers(station: str, size: Optional[Literal["S", "M", "L", "XL"]] = None,
                 state: Optional[Literal["free", "occupied", "out_of_order"]] = None) -> list[dict]:
    "Lockers of one station (by its three-letter code), optionally only one size or state."
    if station not in STATIONS:
        raise ToolError(f"No station {station}")
    return [{k: l[k] for k in ("locker_id", "size", "state", "battery_pct")} for l in LOCKERS.values()
            if l["station"] == station and (not size or l["size"] == size) and (not state or l["state"] == state)]


@server.tool()
def find_stations(name: Optional[str] = None, district: Optional[str] = None) -> list[dict]:
    "Find stations by part of the name or by district; without filter all of them."
    return [{k: s[k] for k in ("code", "name", "district")} for s in STATIONS.values()
            if (not name or name.lower() in s["name"].lower()) and (not district or district.lower() == s["district"].lower())]


@server.tool()
def get_station(code: str) -> dict:
    "Station details by three-letter code: address, access hours, caretaker (courier badge), helpline, last cleaning."
    if code not in STATIONS:
        raise ToolError(f"No station {code}")
    return STATIONS[code]


@server.tool()
def get_courier(badge: str) -> dict:
    "Courier by badge (C11, C12, ...)."
    if badge not in COURIERS:
        raise ToolError(f"No courier has badge {badge}")
    return COURIERS[badge]


@server.tool()
def update_parcel(tracking: str, status: Optional[Literal["announced", "in_transit", "in_locker", "collected", "returned"]] = None,
                  locker_id: Optional[int] = None, pickup_by: Optional[str] = None, courier: Optional[str] = None) -> dict:
    "Change a parcel: its status, its locker (sets in_locker by itself), its pickup deadline (YYYY-MM-DD) or its courier. Collected and returned free the locker."
    p = _parcel(tracking)
    if pickup_by:
        try:
            datetime.date.fromisoformat(pickup_by)
        except ValueError:
            raise ToolError("pickup_by must be YYYY-MM-DD")
    if courier and courier not in COURIERS:
        raise ToolError(f"No courier has badge {courier}")
    if locker_id is not None:
        l = _locker(locker_id)
        if l["state"] != "free":
            raise ToolError(f"Locker {locker_id} is {l['state']}")
    changed = {"tracking": tracking}
    if locker_id is not None or status in ("collected", "returned"):
        if p["locker_id"]:
            LOCKERS[p["locker_id"]].update(state="free", contains=None)
        p["locker_id"] = None
    if locker_id is not None:
        l.update(state="occupied", contains=tracking)
        p.update(locker_id=locker_id, status="in_locker")
        changed.update(locker_id=locker_id, status="in_locker")
    if status:
        p["status"] = changed["status"] = status
    if pickup_by:
        p["pickup_by"] = changed["pickup_by"] = pickup_by
    if courier:
        p["courier"] = changed["courier"] = courier
    return changed


@server.tool()
def set_locker_state(locker_id: int, state: Literal["free", "out_of_order"]) -> dict:
    "Take a locker out of order or put it back into use."
    l = _locker(locker_id)
    if l["contains"]:
        raise ToolError(f"Locker {locker_id} still holds {l['contains']}")
    l["state"] = state
    return {"locker_id": locker_id, "station": l["station"], "state": state}


if __name__ == "__main__":
    server.run()
