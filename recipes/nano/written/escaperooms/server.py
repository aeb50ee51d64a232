from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("locked-in-escape-rooms")

_R = ["slug", "title", "difficulty", "minPlayers", "maxPlayers", "minutes", "pricePerPlayer", "floor", "leadGameMaster", "recordMinutes", "recordTeam"]
ROOMS = {r[0]: dict(zip(_R, r)) for r in [
    ("crypt", "The Crypt", "hard", 3, 6, 75, 29, "cellar", "GM2", 58, "T-14"),
    ("orbit-9", "Orbit 9", "medium", 2, 5, 60, 26, "first", "GM5", 44, "T-09"),
    ("bakers-attic", "The Baker's Attic", "easy", 2, 6, 60, 22, "second", "GM1", 37, "T-03"),
    ("submarine", "Submarine U-77", "hard", 4, 8, 90, 32, "cellar", "GM4", 81, "T-14"),
    ("pirate-bay", "Pirate Bay", "easy", 2, 7, 50, 20, "ground", "GM3", 33, "T-11"),
    ("night-museum", "Night at the Museum", "medium", 3, 6, 70, 27, "ground", "GM5", 55, "T-06"),
    ("casino", "Casino Heist", "medium", 2, 6, 60, 28, "first", "GM1", 49, "T-02"),
]}
_T = ["id", "name", "captain", "email", "phone", "visits", "wins", "favouriteRoom"]
TEAMS = {r[0]: dict(zip(_T, r)) for r in [
    ("T-02", "Lockpick Ladies", "Frieda Storm", "frieda@lockpick.example", "555-0141", 9, 7, "casino"),
    ("T-03", "Dough Boys", "Marek Pilar", "marek@doughboys.example", "555-0142", 4, 3, "bakers-attic"),
    ("T-05", "The Unhinged", "Salma Idris", "salma@unhinged.example", "555-0143", 2, 0, "pirate-bay"),
    ("T-06", "Dusty Relics", "Gordon Ames", "gordon@relics.example", "555-0144", 6, 4, "night-museum"),
    ("T-08", "Key Largo", "Nina Castell", "nina@keylargo.example", "555-0145", 5, 2, "submarine"),
    ("T-09", "Zero Gravity", "Tomas Lind", "tomas@zerog.example", "555-0146", 8, 8, "orbit-9"),
    ("T-11", "Barnacles", "Ivy Poole", "ivy@barnacles.example", "555-0147", 3, 3, "crypt"),
    ("T-12", "Accounts Payable", "Ravi Menon", "ravi@tilburyltd.example", "555-0148", 1, 0, "orbit-9"),
    ("T-14", "Grave Concerns", "Hedda Wolff", "hedda@graves.example", "555-0149", 12, 11, "submarine"),
    ("T-15", "Puzzle Panic", "Leo Abara", "leo@panic.example", "555-0150", 2, 1, "pirate-bay"),
]}
_G = ["id", "name", "phone", "hourlyRate", "dayOff", "startedOn", "locker"]
GMS = {r[0]: dict(zip(_G, r)) for r in [
    ("GM1", "Petra Havel", "555-0161", 15.5, "Monday", "2021-03-01", 12),
    ("GM2", "Ossian Reid", "555-0162", 16.0, "Tuesday", "2019-10-14", 4),
    ("GM3", "Lucia Ferro", "555-0163", 14.0, "Wednesday", "2024-06-20", 9),
    ("GM4", "Bram de Witt", "555-0164", 17.25, "Sunday", "2018-05-07", 1),
    ("GM5", "Jun Takeda", "555-0165", 15.0, "Thursday", "2022-11-28", 7),
]}
_B = ["code", "room", "team", "date", "time", "players", "deposit", "gameMaster", "status"]
BOOKINGS = {r[0]: dict(zip(_B, r)) for r in [
    ("B2041", "crypt", "T-14", "2026-05-08", "18:00", 5, 50, "GM2", "confirmed"),
    ("B2042", "pirate-bay", "T-05", "2026-05-08", "16:30", 4, 20, "GM3", "confirmed"),
    ("B2043", "orbit-9", "T-12", "2026-05-08", "19:30", 5, 40, "GM5", "pending"),
    ("B2044", "bakers-attic", "T-03", "2026-05-09", "11:00", 3, 20, "GM1", "confirmed"),
    ("B2045", "submarine", "T-08", "2026-05-09", "14:00", 6, 60, "GM4", "confirmed"),
    ("B2046", "casino", "T-02", "2026-05-09", "17:00", 4, 30, "GM1", "confirmed"),
    ("B2047", "night-museum", "T-06", "2026-05-09", "20:00", 5, 30, "GM5", "pending"),
    ("B2048", "pirate-bay", "T-15", "2026-05-10", "10:30", 6, 20, "GM1", "confirmed"),
    ("B2049", "crypt", "T-11", "2026-05-10", "15:00", 3, 50, "GM2", "pending"),
    ("B2050", "submarine", "T-14", "2026-05-10", "18:30", 8, 60, "GM3", "confirmed"),
    ("B2051", "orbit-9", "T-09", "2026-05-11", "17:30", 2, 40, "GM4", "confirmed"),
    ("B2052", "casino", "T-12", "2026-05-11", "20:00", 6, 30, "GM4", "pending"),
    ("B2053", "pirate-bay", "T-11", "2026-05-12", "16:00", 5, 20, "GM3", "cancelled"),
    ("B2054", "crypt", "T-08", "2026-05-12", "19:00", 4, 50, "GM5", "confirmed"),
]}


@server.tool()
def listRooms(difficulty: Literal["easy", "medium", "hard"] | None = None) -> list[dict]:
    "Rooms in short: slug, title, difficulty, minutes, price per player (EUR)."
    return [{k: r[k] for k in ("slug", "title", "difficulty", "minutes", "pricePerPlayer")} for r in ROOMS.values() if difficulty in (None, r["difficulty"])]


@server.tool()
def getRoom(slug: str) -> dict:
    "One room with player limits, floor, lead game master and the record with the team that holds it."
    if slug not in ROOMS:
        raise ToolError(f"No room with slug '{slug}'")
    return ROOMS[slug]


@server.tool()
def getBooking(code: str) -> dict:
    "A booking by its code (like B2041): room slug, team id, date, time, players, deposit (EUR), game master, status."
    if code not in BOOKINGS:
        raise ToolError(f"Booking {code} not found")
    return BOOKINGS[code]


@server.tool()
def listBookings(date: str | None = None, room: str | None = None, team: str | None = None) -> list[dict]:
    "Bookings of a date (YYYY-MM-DD), a room slug and/or a team id. At least one filter."
    if not (date or room or team):
        raise ToolError("Give a date, a room or a team")
    keep = ("code", "room", "team", "date", "time", "players", "status")
    return [{k: b[k] for k in keep} for b in BOOKINGS.values() if date in (None, b["date"]) and room in (None, b["room"]) and team in (None, b["team"])]


@server.tool()
def findTeam(query: str) -> list[dict]:
    "Teams by id (T-14), team name or captain; parts of a name are enough."
    q = query.lower()
    return [t for t in TEAMS.values() if q == t["id"].lower() or q in t["name"].lower() or q in t["captain"].lower()]


@server.tool()
def getGameMaster(id: str) -> dict:
    "A game master's phone, hourly rate (EUR), day off, start date and locker."
    if id not in GMS:
        raise ToolError(f"Unknown game master {id}")
    return GMS[id]


@server.tool()
def createBooking(room: str, team: str, date: str, time: str, players: int) -> dict:
    "Book a room (slug) for a team (id) on a date (YYYY-MM-DD) at a time (HH:MM)."
    if room not in ROOMS or team not in TEAMS:
        raise ToolError("Unknown room or team")
    r = ROOMS[room]
    if not r["minPlayers"] <= players <= r["maxPlayers"]:
        raise ToolError(f"{r['title']} takes {r['minPlayers']} to {r['maxPlayers']} players")
    code = f"B{max(int(c[1:]) for c in BOOKINGS) + 1}"
    BOOKINGS[code] = dict(zip(_B, (code, room, team, date, time, players, 0, r["leadGameMaster"], "pending")))
    return BOOKINGS[code]


@server.tool()
def changeBooking(code: str, date: str | None = None, time: str | None = None, players: int | None = None, gameMaster: str | None = None) -> dict:
    "Change date, time, number of players or game master of a booking; leave out what stays."
    b = getBooking(code)
    if gameMaster is not None:
        getGameMaster(gameMaster)
    changes = {k: v for k, v in (("date", date), ("time", time), ("players", players), ("gameMaster", gameMaster)) if v is not None}
    b.update(changes)
    return {"code": code, "changed": changes}


@server.tool()
def setBookingStatus(code: str, status: Literal["pending", "confirmed", "checked_in", "no_show", "cancelled"]) -> dict:
    "Set the status of a booking."
    b = getBooking(code)
    old, b["status"] = b["status"], status
    return {"code": code, "from": old, "status": status}


if __name__ == "__main__":
    server.run()
