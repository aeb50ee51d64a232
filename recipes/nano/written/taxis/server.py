from typing import Literal, Optional

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("taxis")

ZONES = {z["id"]: z for z in [
    {"id": 1, "name": "Old Town", "minimum_fare": 6.75, "per_km": 2.15, "night_surcharge": 3, "stand": "Market Square"},
    {"id": 2, "name": "Harbour", "minimum_fare": 7, "per_km": 2.25, "night_surcharge": 3, "stand": "Pier 3"},
    {"id": 3, "name": "Airport", "minimum_fare": 14, "per_km": 2.45, "night_surcharge": 5, "stand": "Terminal 1 arrivals"},
    {"id": 4, "name": "Northgate", "minimum_fare": 6, "per_km": 1.95, "night_surcharge": 2.75, "stand": "Northgate Station"},
    {"id": 5, "name": "University", "minimum_fare": 5.75, "per_km": 1.85, "night_surcharge": 2.75, "stand": "Library steps"},
    {"id": 6, "name": "Hospital", "minimum_fare": 5.75, "per_km": 1.85, "night_surcharge": 0, "stand": "Main entrance"},
    {"id": 7, "name": "Westfield", "minimum_fare": 6, "per_km": 1.95, "night_surcharge": 2.75, "stand": "Retail park, car park B"},
    {"id": 8, "name": "Lakeside", "minimum_fare": 8, "per_km": 2.35, "night_surcharge": 3.75, "stand": "Lido"},
]}

CABS = {c["id"]: c for c in [
    {"id": 101, "plate": "TX 418 KL", "model": "Skoda Superb", "colour": "black", "seats": 4, "wheelchair": False, "base_zone_id": 1, "inspection_due": "2026-05-18", "odometer_km": 142310},
    {"id": 102, "plate": "TX 552 MR", "model": "Toyota Prius", "colour": "white", "seats": 4, "wheelchair": False, "base_zone_id": 4, "inspection_due": "2026-04-02", "odometer_km": 201875},
    {"id": 103, "plate": "TX 209 BD", "model": "Ford Tourneo", "colour": "silver", "seats": 8, "wheelchair": True, "base_zone_id": 3, "inspection_due": "2026-07-30", "odometer_km": 88940},
    {"id": 104, "plate": "TX 731 HN", "model": "Mercedes E 220", "colour": "black", "seats": 4, "wheelchair": False, "base_zone_id": 2, "inspection_due": "2026-03-27", "odometer_km": 176220},
    {"id": 105, "plate": "TX 640 PS", "model": "VW Caddy Maxi", "colour": "blue", "seats": 5, "wheelchair": True, "base_zone_id": 6, "inspection_due": "2026-09-11", "odometer_km": 64105},
    {"id": 106, "plate": "TX 118 VA", "model": "Kia e-Niro", "colour": "green", "seats": 4, "wheelchair": False, "base_zone_id": 5, "inspection_due": "2026-11-06", "odometer_km": 39780},
    {"id": 107, "plate": "TX 877 JC", "model": "Skoda Octavia", "colour": "white", "seats": 4, "wheelchair": False, "base_zone_id": 7, "inspection_due": "2026-06-15", "odometer_km": 159430},
    {"id": 108, "plate": "TX 305 EF", "model": "Peugeot Traveller", "colour": "grey", "seats": 8, "wheelchair": False, "base_zone_id": 8, "inspection_due": "2026-08-21", "odometer_km": 97650},
    {"id": 109, "plate": "TX 466 ZT", "model": "Tesla Model 3", "colour": "red", "seats": 4, "wheelchair": False, "base_zone_id": 3, "inspection_due": "2027-01-14", "odometer_km": 51200},
    {"id": 110, "plate": "TX 923 GW", "model": "Dacia Jogger", "colour": "blue", "seats": 6, "wheelchair": False, "base_zone_id": 2, "inspection_due": "2026-10-03", "odometer_km": 73340},
]}

DRIVERS = {d["id"]: d for d in [
    {"id": 21, "name": "Marta Lindqvist", "phone": "555-0121", "cab_id": 104, "status": "available", "shift": "day", "licence_expires": "2027-02-28", "rating": 4.8},
    {"id": 22, "name": "Joe Adeyemi", "phone": "555-0122", "cab_id": 101, "status": "on_trip", "shift": "day", "licence_expires": "2026-06-30", "rating": 4.6},
    {"id": 23, "name": "Pavel Novotny", "phone": "555-0123", "cab_id": 103, "status": "available", "shift": "day", "licence_expires": "2028-10-12", "rating": 4.4},
    {"id": 24, "name": "Samira Haddad", "phone": "555-0124", "cab_id": 109, "status": "on_trip", "shift": "day", "licence_expires": "2026-12-01", "rating": 4.9},
    {"id": 25, "name": "Colm Byrne", "phone": "555-0125", "cab_id": 102, "status": "off_duty", "shift": "night", "licence_expires": "2026-04-15", "rating": 4.1},
    {"id": 26, "name": "Rosa Ferreira", "phone": "555-0126", "cab_id": 105, "status": "available", "shift": "day", "licence_expires": "2029-01-20", "rating": 4.7},
    {"id": 27, "name": "Dinesh Rao", "phone": "555-0127", "cab_id": 106, "status": "break", "shift": "day", "licence_expires": "2027-08-08", "rating": 4.5},
    {"id": 28, "name": "Hanna Wieczorek", "phone": "555-0128", "cab_id": 108, "status": "off_duty", "shift": "night", "licence_expires": "2027-05-05", "rating": 4.3},
    {"id": 29, "name": "Tom Okafor", "phone": "555-0129", "cab_id": 107, "status": "sick", "shift": "day", "licence_expires": "2026-09-19", "rating": 4.2},
    {"id": 30, "name": "Lucie Maret", "phone": "555-0130", "cab_id": 110, "status": "on_trip", "shift": "day", "licence_expires": "2028-03-31", "rating": 4.6},
    {"id": 31, "name": "Viktor Balan", "phone": "555-0131", "cab_id": 107, "status": "off_duty", "shift": "night", "licence_expires": "2026-07-22", "rating": 3.9},
    {"id": 32, "name": "Aisha Mbeki", "phone": "555-0132", "cab_id": 101, "status": "off_duty", "shift": "night", "licence_expires": "2027-11-16", "rating": 4.7},
]}

ACCOUNTS = {a["id"]: a for a in [
    {"id": 301, "company": "Harbour View Hotel", "contact": "Greta Sund", "email": "frontdesk@harbourview.example", "balance_due": 412.65, "credit_limit": 1500, "blocked": False, "preferred_driver_id": 21},
    {"id": 302, "company": "St Brigid's Hospital", "contact": "Owen Pryce", "email": "transport@stbrigids.example", "balance_due": 1288, "credit_limit": 3000, "blocked": False, "preferred_driver_id": 26},
    {"id": 303, "company": "Lindner Shipping", "contact": "Paul Lindner", "email": "office@lindnership.example", "balance_due": 96.45, "credit_limit": 800, "blocked": False, "preferred_driver_id": 30},
    {"id": 304, "company": "Brightwell Insurance", "contact": "Naomi Castle", "email": "travel@brightwell.example", "balance_due": 0, "credit_limit": 1000, "blocked": False, "preferred_driver_id": 24},
    {"id": 305, "company": "Opera House", "contact": "Leonie Varga", "email": "artists@operahouse.example", "balance_due": 734.25, "credit_limit": 700, "blocked": True, "preferred_driver_id": 32},
    {"id": 306, "company": "Kestrel Software", "contact": "Ben Ashdown", "email": "ops@kestrel.example", "balance_due": 251.75, "credit_limit": 600, "blocked": False, "preferred_driver_id": 27},
    {"id": 307, "company": "Lakeside Care Home", "contact": "Ruth Abara", "email": "office@lakesidecare.example", "balance_due": 183.75, "credit_limit": 900, "blocked": False, "preferred_driver_id": 26},
]}

TRIPS = {}
for row in [
    (5001, "Mr Falk", "2026-03-11 07:15", 2, 3, 21, 301, 31.25, "completed"),
    (5002, "Ines Calder", "2026-03-11 08:40", 5, 6, 27, None, 9.85, "completed"),
    (5003, "Mrs Pettersen", "2026-03-11 09:05", 8, 6, 26, 307, 18.45, "completed"),
    (5004, "Paul Lindner", "2026-03-11 10:30", 2, 1, 30, 303, 11.75, "completed"),
    (5005, "Dr Amin", "2026-03-11 13:20", 6, 4, 22, 302, 14.95, "completed"),
    (5006, "Kit Morrow", "2026-03-11 18:00", 7, 1, 29, None, 12.35, "no_show"),
    (5007, "Bella Rossi", "2026-03-11 22:45", 1, 8, 32, 305, 27.65, "completed"),
    (5008, "Naomi Castle", "2026-03-12 06:30", 4, 3, 24, 304, 36, "completed"),
    (5009, "Mr and Mrs Teale", "2026-03-12 08:10", 3, 2, 23, 301, 33.75, "completed"),
    (5010, "Ben Ashdown", "2026-03-12 09:00", 5, 1, 27, 306, 10.25, "cancelled"),
    (5011, "Mrs Pettersen", "2026-03-12 09:30", 6, 8, 26, 307, 18.45, "completed"),
    (5012, "Jonas Wirth", "2026-03-12 11:15", 1, 7, 22, None, 13.75, "under_way"),
    (5013, "Ms Delacroix", "2026-03-12 11:20", 3, 1, 24, 305, 29.95, "under_way"),
    (5014, "Lindner crew", "2026-03-12 11:30", 3, 2, 30, 303, 34.85, "under_way"),
    (5015, "Mr Falk", "2026-03-12 13:00", 3, 2, 21, 301, 32.15, "assigned"),
    (5016, "Sister Agnes", "2026-03-12 13:45", 6, 4, 26, 302, 15.25, "assigned"),
    (5017, "Wei Tan", "2026-03-12 14:30", 5, 3, None, 306, 38.45, "booked"),
    (5018, "Football club", "2026-03-12 15:15", 4, 8, 23, None, 41, "assigned"),
    (5019, "Mrs Oyelaran", "2026-03-12 16:00", 7, 6, None, 302, 12.65, "booked"),
    (5020, "Greta Sund", "2026-03-12 17:10", 2, 4, None, 301, 16.75, "booked"),
    (5021, "Bella Rossi", "2026-03-12 22:30", 1, 8, 32, 305, 27.65, "assigned"),
    (5022, "Naomi Castle", "2026-03-13 07:00", 3, 4, None, 304, 36, "booked"),
    (5023, "Dr Amin", "2026-03-13 08:20", 4, 6, None, 302, 14.95, "booked"),
    (5024, "Elsa Grün", "2026-03-13 12:00", 8, 3, 28, None, 44.75, "assigned"),
]:
    TRIPS[row[0]] = dict(zip(["id", "passenger", "pickup_at", "from_zone_id", "to_zone_id", "driver_id", "account_id", "fare_eur", "status"], row))

TripStatus = Literal["booked", "assigned", "under_way", "completed", "cancelled", "no_show"]
DriverStatus = Literal["available", "on_trip", "break", "off_duty", "sick"]


def _need(table: dict, key: int, kind: str) -> dict:
    if key not in table:
        raise ToolError(f"{kind} {key} not found")
    return table[key]


@server.tool()
def get_driver(driver_id: int) -> dict:
    "One driver: phone, cab, shift, status, licence expiry, rating."
    return _need(DRIVERS, driver_id, "driver")


@server.tool()
def find_drivers(name: Optional[str] = None, status: Optional[DriverStatus] = None, shift: Optional[Literal["day", "night"]] = None) -> list[dict]:
    "Drivers by part of the name, by status and/or by shift. Returns id, name, status and rating only."
    return [{k: d[k] for k in ("id", "name", "status", "rating")} for d in DRIVERS.values()
            if (not name or name.lower() in d["name"].lower()) and (not status or d["status"] == status) and (not shift or d["shift"] == shift)]


@server.tool()
def get_cab(cab_id: int) -> dict:
    "One cab by its fleet number (101-110)."
    return _need(CABS, cab_id, "cab")


@server.tool()
def get_zone(zone_id: int) -> dict:
    "Name, tariff (EUR) and taxi stand of a zone."
    return _need(ZONES, zone_id, "zone")


@server.tool()
def find_account(account_id: Optional[int] = None, company: Optional[str] = None) -> list[dict]:
    "Business customers by account id or by part of the company name. Amounts in EUR."
    if account_id is None and not company:
        raise ToolError("give account_id or company")
    return [a for a in ACCOUNTS.values() if (account_id is None or a["id"] == account_id) and (not company or company.lower() in a["company"].lower())]


@server.tool()
def get_trip(trip_id: int) -> dict:
    "Everything about one trip."
    return _need(TRIPS, trip_id, "trip")


@server.tool()
def list_trips(date: Optional[str] = None, status: Optional[TripStatus] = None, driver_id: Optional[int] = None,
               account_id: Optional[int] = None, passenger: Optional[str] = None) -> list[dict]:
    "Trips that match all given filters, in order of pickup. At least one filter is needed; date is YYYY-MM-DD, passenger is part of the name."
    if not (date or status or driver_id or account_id or passenger):
        raise ToolError("at least one filter is needed")
    rows = [t for t in TRIPS.values()
            if (not date or t["pickup_at"].startswith(date)) and (not status or t["status"] == status)
            and (not driver_id or t["driver_id"] == driver_id) and (not account_id or t["account_id"] == account_id)
            and (not passenger or passenger.lower() in t["passenger"].lower())]
    return [{k: t[k] for k in ("id", "passenger", "pickup_at", "status", "fare_eur")} for t in rows[:15]]


@server.tool()
def update_trip(trip_id: int, status: Optional[TripStatus] = None, driver_id: Optional[int] = None, pickup_time: Optional[str] = None) -> dict:
    """Change a trip: its status, its driver (a booked trip becomes assigned) or its pickup time (HH:MM, same day).

    Completed and cancelled trips can no longer be changed."""
    trip = _need(TRIPS, trip_id, "trip")
    if trip["status"] in ("completed", "cancelled"):
        raise ToolError(f"trip {trip_id} is {trip['status']} and cannot be changed")
    changed = {"id": trip_id}
    if driver_id is not None:
        _need(DRIVERS, driver_id, "driver")
        trip["driver_id"] = changed["driver_id"] = driver_id
        if trip["status"] == "booked":
            trip["status"] = changed["status"] = "assigned"
    if pickup_time:
        trip["pickup_at"] = changed["pickup_at"] = trip["pickup_at"][:11] + pickup_time
    if status:
        trip["status"] = changed["status"] = status
    if len(changed) == 1:
        raise ToolError("nothing to change")
    return changed


@server.tool()
def set_driver_status(driver_id: int, status: DriverStatus) -> dict:
    "Set what a driver is doing now."
    driver = _need(DRIVERS, driver_id, "driver")
    before, driver["status"] = driver["status"], status
    return {"id": driver_id, "name": driver["name"], "status": status, "was": before}


if __name__ == "__main__":
    server.run()
