from typing import Literal, Optional

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("mountainhuts")

# code, name, altitude, beds, opens, closes, price, member price, warden, showers, dogs
HUTS = {h[0]: h for h in [
    ("KAR", "Karsee Hut", 2140, 48, "2025-06-14", "2025-09-28", 38, 22, "lena.moser@huts.example", False, True),
    ("BLU", "Blauspitz Hut", 2387, 72, "2025-06-21", "2025-09-21", 42, 26, "jakob.thaler@huts.example", True, False),
    ("STE", "Steinkar Hut", 1985, 54, "2025-06-07", "2025-10-12", 36, 21, "resi.unterweger@huts.example", True, True),
    ("WIN", "Windeck Hut", 2610, 36, "2025-07-01", "2025-09-14", 45, 28, "piet.hollander@huts.example", False, False),
    ("GAM", "Gamsjoch Hut", 2255, 60, "2025-06-20", "2025-09-30", 40, 24, "vroni.egger@huts.example", True, False),
    ("ROS", "Rossfeld Hut", 1760, 90, "2025-05-24", "2025-10-26", 34, 19, "karl.anrain@huts.example", True, True),
    ("LAH", "Lahner Refuge", 2468, 24, "2025-07-05", "2025-09-07", 30, 18, "ines.falk@huts.example", False, True),
    ("ADL", "Adlerhorst Hut", 2893, 30, "2025-07-10", "2025-09-10", 48, 30, "tom.wieser@huts.example", False, False),
]}

# email, name, phone, village, languages, since, deputy
WARDENS = {w[0]: w for w in [
    ("lena.moser@huts.example", "Lena Moser", "+43 555-0121", "Obertal", "German and English", 2016, "karl.anrain@huts.example"),
    ("jakob.thaler@huts.example", "Jakob Thaler", "+43 555-0122", "Sankt Veitl", "German, Italian and English", 2009, "ines.falk@huts.example"),
    ("resi.unterweger@huts.example", "Resi Unterweger", "+43 555-0123", "Gries am Bach", "German", 1998, "lena.moser@huts.example"),
    ("piet.hollander@huts.example", "Piet Hollander", "+43 555-0124", "Obertal", "Dutch, German and English", 2021, "tom.wieser@huts.example"),
    ("vroni.egger@huts.example", "Vroni Egger", "+43 555-0125", "Mooswinkel", "German and French", 2013, "jakob.thaler@huts.example"),
    ("karl.anrain@huts.example", "Karl Anrain", "+43 555-0126", "Rossdorf", "German and Slovene", 2004, "resi.unterweger@huts.example"),
    ("ines.falk@huts.example", "Ines Falk", "+43 555-0127", "Mooswinkel", "German, English and Spanish", 2023, "vroni.egger@huts.example"),
    ("tom.wieser@huts.example", "Tom Wieser", "+43 555-0128", "Sankt Veitl", "German and English", 2018, "piet.hollander@huts.example"),
]}

BOOKINGS = {b[0]: dict(zip(("ref", "name", "hut", "arrival", "nights", "people", "half_board", "status"), b)) for b in [
    ("HB-2041", "Dorfler", "KAR", "2025-07-12", 1, 2, True, "requested"),
    ("HB-2042", "Imhasly", "GAM", "2025-07-12", 2, 5, True, "requested"),
    ("HB-2043", "Soderquist", "BLU", "2025-07-13", 1, 3, False, "confirmed"),
    ("HB-2044", "Tannhofer", "STE", "2025-07-13", 3, 7, True, "confirmed"),
    ("HB-2045", "Wakefield", "ROS", "2025-07-10", 1, 4, True, "confirmed"),
    ("HB-2046", "Nakagawa", "WIN", "2025-07-14", 2, 2, False, "confirmed"),
    ("HB-2047", "Pellegrini", "GAM", "2025-07-15", 1, 11, True, "confirmed"),
    ("HB-2048", "Lindqvist", "ADL", "2025-07-16", 1, 2, True, "cancelled"),
    ("HB-2049", "Abernathy", "KAR", "2025-07-18", 2, 6, False, "confirmed"),
    ("HB-2050", "Oberholzer", "STE", "2025-07-19", 2, 4, True, "confirmed"),
    ("HB-2051", "Castellane", "LAH", "2025-07-20", 1, 2, False, "confirmed"),
    ("HB-2052", "Zimmerli", "BLU", "2025-07-20", 2, 8, True, "requested"),
    ("HB-2053", "Okonjo", "ROS", "2025-07-21", 4, 3, False, "confirmed"),
    ("HB-2054", "Brandauer", "WIN", "2025-07-11", 1, 5, True, "requested"),
    ("HB-2055", "Trevelyan", "WIN", "2025-07-22", 1, 9, True, "confirmed"),
    ("HB-2056", "Haugland", "ADL", "2025-07-23", 1, 6, True, "confirmed"),
    ("HB-2057", "Ferreira", "LAH", "2025-07-12", 1, 4, False, "confirmed"),
    ("HB-2058", "Kowalczyk", "BLU", "2025-07-24", 2, 2, True, "confirmed"),
    ("HB-2059", "Tinnef", "ADL", "2025-07-25", 1, 1, False, "requested"),
    ("HB-2060", "Marchetti", "KAR", "2025-07-26", 1, 10, True, "confirmed"),
]}

TRAILS = {t[0]: dict(zip(("number", "from", "to", "km", "hours", "grade", "status"), t)) for t in [
    (401, "Obertal", "KAR", 7.4, 3.0, "easy", "open"),
    (402, "KAR", "BLU", 9.1, 4.5, "medium", "open"),
    (403, "BLU", "WIN", 6.3, 4.0, "hard", "caution"),
    (404, "WIN", "ADL", 5.2, 4.5, "hard", "open"),
    (405, "Rossdorf", "ROS", 4.8, 2.0, "easy", "open"),
    (406, "ROS", "STE", 8.8, 3.5, "medium", "open"),
    (407, "STE", "KAR", 11.6, 5.0, "medium", "open"),
    (408, "Mooswinkel", "GAM", 10.2, 4.0, "medium", "open"),
    (409, "GAM", "LAH", 6.9, 3.5, "medium", "open"),
    (410, "LAH", "ADL", 7.7, 5.5, "hard", "closed"),
    (411, "KAR", "GAM", 12.3, 5.5, "medium", "closed"),
    (412, "Sankt Veitl", "BLU", 8.5, 4.0, "medium", "caution"),
    (413, "STE", "GAM", 9.9, 4.5, "hard", "closed"),
]}

FLIGHTS = {f[0]: dict(zip(("flight", "date", "hut", "pilot", "max_kg", "load"), f)) for f in [
    ("F1", "2025-07-02", "WIN", "Rauch", 700, {"gas": 120, "flour": 80, "beer": 240}),
    ("F2", "2025-07-02", "KAR", "Rauch", 700, {"firewood": 300, "noodles": 60}),
    ("F3", "2025-07-04", "BLU", "Siller", 850, {"beer": 400, "gas": 90, "blankets": 45}),
    ("F4", "2025-07-08", "ADL", "Siller", 600, {"water": 350, "gas": 60}),
    ("F5", "2025-07-08", "LAH", "Rauch", 700, {"firewood": 420, "cheese": 35}),
    ("F6", "2025-07-09", "GAM", "Novak", 850, {"solar panels": 180, "flour": 100}),
]}


def _hut(key):
    k = key.strip().lower()
    for h in HUTS.values():
        if k == h[0].lower() or k in h[1].lower():
            return h
    raise ToolError(f"I know no hut called {key}. Huts: " + ", ".join(h[1] for h in HUTS.values()))


def _booking(ref):
    if ref not in BOOKINGS:
        raise ToolError(f"There is no booking {ref}.")
    return BOOKINGS[ref]


@server.tool()
def hutInfo(hut: str) -> str:
    "Describes a hut (name or three-letter code): altitude, beds, season, prices, warden, showers, dogs."
    c, name, alt, beds, opens, closes, price, member, warden, showers, dogs = _hut(hut)
    return (f"{name} ({c}) stands at {alt} m and has {beds} beds. It opens on {opens} and closes on {closes}. A night costs {price} EUR, "
            f"for members {member} EUR. The warden is {warden}. It has {'showers' if showers else 'no showers'}, and dogs are {'welcome' if dogs else 'not allowed'}.")


@server.tool()
def wardenInfo(email: str) -> str:
    "Describes a warden by e-mail address."
    if email not in WARDENS:
        return f"Nobody with the address {email} is a warden."
    e, name, phone, village, languages, since, deputy = WARDENS[email]
    return f"{name}, phone {phone}, lives in {village} and speaks {languages}. Warden since {since}. The deputy is {deputy}."


@server.tool()
def bookingInfo(ref: str) -> str:
    "Describes a booking, e.g. HB-2041."
    b = _booking(ref)
    return (f"Booking {ref} is for {b['name']}: {b['people']} people at {b['hut']}, arriving {b['arrival']} for {b['nights']} night(s), "
            f"{'with' if b['half_board'] else 'without'} half board. Status: {b['status']}.")


@server.tool()
def findBookings(name: Optional[str] = None, hut: Optional[str] = None, arrival: Optional[str] = None) -> list[dict]:
    "Finds bookings by family name, by hut and/or by arrival date (YYYY-MM-DD, season 2025), sorted by arrival."
    code = _hut(hut)[0] if hut else None
    if not (name or hut or arrival):
        raise ToolError("Please give a name, a hut or an arrival date.")
    rows = [b for b in BOOKINGS.values() if (not name or name.lower() in b["name"].lower()) and (not code or b["hut"] == code)
            and (not arrival or b["arrival"] == arrival)]
    return [{k: b[k] for k in ("ref", "name", "arrival")} for b in sorted(rows, key=lambda b: b["arrival"])]


@server.tool()
def trails(number: Optional[int] = None, hut: Optional[str] = None, status: Optional[Literal["open", "caution", "closed"]] = None) -> list[dict]:
    "Trails by number, by hut (those that start or end there) or by status. Give at least one."
    if not (number or hut or status):
        raise ToolError("Give a trail number, a hut or a status.")
    code = _hut(hut)[0] if hut else None
    return [t for t in TRAILS.values() if (not number or t["number"] == number) and (not code or code in (t["from"], t["to"]))
            and (not status or t["status"] == status)]


@server.tool()
def setTrailStatus(number: int, status: Literal["open", "caution", "closed"]) -> str:
    "Opens or closes a trail or marks it for caution."
    if number not in TRAILS:
        raise ToolError(f"There is no trail {number}.")
    was, TRAILS[number]["status"] = TRAILS[number]["status"], status
    return f"Trail {number} is now {status} (it was {was})."


@server.tool()
def supplyFlights(flight: Optional[str] = None, hut: Optional[str] = None, date: Optional[str] = None) -> list[dict]:
    "Helicopter supply flights of July 2025 with their load in kg, by flight (F3), hut or date (YYYY-MM-DD)."
    code = _hut(hut)[0] if hut else None
    return [f for f in FLIGHTS.values() if (not flight or f["flight"] == flight) and (not code or f["hut"] == code) and (not date or f["date"] == date)]


@server.tool()
def loadFlight(flight: str, item: str, kg: int) -> str:
    "Adds so many kilograms of an item to a supply flight."
    if flight not in FLIGHTS:
        raise ToolError(f"There is no flight {flight}.")
    f = FLIGHTS[flight]
    if sum(f["load"].values()) + kg > f["max_kg"]:
        raise ToolError(f"Flight {flight} can take only {f['max_kg'] - sum(f['load'].values())} kg more.")
    f["load"][item] = f["load"].get(item, 0) + kg
    return f"Flight {flight} to {f['hut']} now carries {f['load'][item]} kg of {item}, {sum(f['load'].values())} kg of {f['max_kg']} kg in all."


@server.tool()
def changeBooking(ref: str, status: Optional[Literal["requested", "confirmed", "arrived", "cancelled"]] = None, arrival: Optional[str] = None,
                  nights: Optional[int] = None, people: Optional[int] = None) -> str:
    "Changes a booking: its status, arrival date, number of nights and/or number of people."
    b = _booking(ref)
    change = {k: v for k, v in (("status", status), ("arrival", arrival), ("nights", nights), ("people", people)) if v is not None}
    if not change:
        return "Nothing was changed."
    b.update(change)
    return f"Booking {ref} ({b['name']}) changed: " + ", ".join(f"{k} is now {v}" for k, v in change.items()) + "."


if __name__ == "__main__":
    server.run()
