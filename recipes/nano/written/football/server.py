from typing import Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("sunday-league")

CLUBS = {c[0]: dict(zip(("code", "name", "manager", "phone", "colours", "founded", "points", "home_ground", "captain"), c)) for c in [
    ("ASH", "Ashdown Rovers", "Colm Reddy", "01632 555-0111", "green and white", 1921, 19, 2, 1003),
    ("BIR", "Birkholt Bridge", "Tessa Lindqvist", "01632 555-0124", "amber and black", 1974, 11, 1, 1009),
    ("COL", "Colliers Athletic", "Marek Dubois", "01632 555-0137", "red", 1908, 22, 4, 1011),
    ("DUN", "Dunmere Town", "Patrice Okello", "01632 555-0142", "sky blue", 1956, 14, 3, 1020),
    ("HAL", "Hallow Park", "Wendy Castellan", "01632 555-0158", "maroon", 1989, 7, 1, 1022),
    ("WEX", "Wexcombe United", "Ivor Thackery", "01632 555-0163", "yellow and navy", 1933, 16, 5, 1028),
]}
PLAYERS = {p[0]: dict(zip(("reg", "name", "club", "position", "goals", "yellow_cards", "status", "born"), p)) for p in [
    (1001, "Owen Pardoe", "ASH", "goalkeeper", 0, 0, "available", "1994-02-17"),
    (1002, "Luca Brandt", "ASH", "defender", 1, 3, "available", "1999-08-30"),
    (1003, "Dele Adigun", "ASH", "midfielder", 4, 2, "available", "1992-11-05"),
    (1004, "Finn Harrower", "ASH", "forward", 9, 1, "injured", "2001-04-12"),
    (1005, "Samir Qureshi", "ASH", "forward", 6, 0, "available", "2003-01-23"),
    (1006, "Gus Pettifer", "BIR", "goalkeeper", 0, 1, "available", "1988-06-09"),
    (1007, "Joel Nakamura", "BIR", "defender", 0, 5, "suspended", "1997-03-14"),
    (1008, "Rafe Elliston", "BIR", "midfielder", 3, 1, "available", "2000-12-01"),
    (1009, "Tomas Vrba", "BIR", "midfielder", 2, 2, "available", "1991-07-27"),
    (1010, "Kit Semple", "BIR", "forward", 5, 0, "available", "2004-10-18"),
    (1011, "Bram Oosterlee", "COL", "defender", 2, 4, "available", "1990-05-21"),
    (1012, "Niall Garrity", "COL", "goalkeeper", 0, 0, "available", "1996-09-02"),
    (1013, "Ezra Whitlow", "COL", "midfielder", 7, 1, "available", "1998-01-11"),
    (1014, "Paulo Tavira", "COL", "forward", 11, 2, "available", "1995-12-29"),
    (1015, "Denny Marsh", "COL", "forward", 3, 0, "injured", "2005-02-06"),
    (1016, "Cal Rooksby", "DUN", "goalkeeper", 0, 0, "available", "2002-08-15"),
    (1017, "Hugo Ferrand", "DUN", "defender", 1, 2, "available", "1993-04-04"),
    (1018, "Matti Koskela", "DUN", "midfielder", 2, 3, "available", "1996-06-25"),
    (1019, "Jamie Obuya", "DUN", "forward", 8, 1, "available", "2000-03-08"),
    (1020, "Stan Wycherley", "DUN", "defender", 0, 1, "available", "1987-10-31"),
    (1021, "Piers Halloran", "HAL", "goalkeeper", 0, 1, "injured", "1999-11-19"),
    (1022, "Andre Loxton", "HAL", "midfielder", 2, 6, "suspended", "1989-01-28"),
    (1023, "Youssef Amrani", "HAL", "forward", 4, 2, "available", "2002-05-16"),
    (1024, "Rory Dimmock", "HAL", "defender", 0, 3, "available", "1998-07-07"),
    (1025, "Theo Blanchet", "HAL", "forward", 1, 0, "available", "2006-09-13"),
    (1026, "Vic Sorrell", "WEX", "goalkeeper", 0, 0, "available", "1991-02-22"),
    (1027, "Ashok Menon", "WEX", "defender", 1, 1, "available", "1994-10-10"),
    (1028, "Leif Torgersen", "WEX", "forward", 7, 3, "available", "1997-12-17"),
    (1029, "Connor Bly", "WEX", "midfielder", 5, 4, "available", "2001-06-03"),
    (1030, "Jude Abernathy", "WEX", "forward", 2, 0, "injured", "2003-03-30"),
]}
GROUNDS = {g[0]: dict(zip(("id", "name", "address", "surface", "capacity", "floodlights", "hire_fee", "caretaker_phone"), g)) for g in [
    (1, "Mill Lane Recreation Ground", "Mill Lane, Birkholt", "grass", 250, False, "£35.00", "01632 555-0171"),
    (2, "Rover Field", "18 Quarry Road, Ashdown", "grass", 400, True, "£52.00", "01632 555-0175"),
    (3, "Dunmere Sports Centre", "Harbour Way, Dunmere", "artificial", 600, True, "£78.50", "01632 555-0179"),
    (4, "The Pithead", "1 Colliery Row, Netherby", "grass", 850, True, "£60.00", "01632 555-0182"),
    (5, "Wexcombe Common", "Church Street, Wexcombe", "grass", 150, False, "£20.00", "01632 555-0186"),
]}
REFEREES = {r[0]: dict(zip(("id", "name", "phone", "email", "grade", "match_fee", "lives_in"), r)) for r in [
    ("R1", "Hilary Stroud", "01632 555-0190", "h.stroud@refs.example", 5, "£38.00", "Netherby"),
    ("R2", "Babak Noori", "01632 555-0191", "b.noori@refs.example", 6, "£32.00", "Dunmere"),
    ("R3", "Glenda Fosse", "01632 555-0192", "g.fosse@refs.example", 4, "£45.00", "Ashdown"),
    ("R4", "Eamon Treacy", "01632 555-0193", "e.treacy@refs.example", 6, "£32.00", "Wexcombe"),
    ("R5", "Sunniva Dahl", "01632 555-0194", "s.dahl@refs.example", 7, "£28.50", "Birkholt"),
]}
FIXTURES = {f[0]: dict(zip(("id", "date", "kickoff", "home", "away", "status", "score", "ground", "referee"), f)) for f in [
    ("F01", "2025-10-05", "10:30", "ASH", "BIR", "played", "3-1", 2, "R3"),
    ("F02", "2025-10-05", "10:30", "COL", "HAL", "played", "5-0", 4, "R1"),
    ("F03", "2025-10-05", "14:00", "DUN", "WEX", "played", "2-2", 3, "R4"),
    ("F04", "2025-10-12", "10:30", "BIR", "COL", "played", "0-2", 1, "R2"),
    ("F05", "2025-10-12", "11:00", "HAL", "DUN", "played", "1-3", 1, "R5"),
    ("F06", "2025-10-12", "14:00", "WEX", "ASH", "played", "2-4", 5, "R1"),
    ("F07", "2025-10-19", "10:30", "ASH", "COL", "played", "1-1", 2, "R4"),
    ("F08", "2025-10-19", "10:30", "DUN", "BIR", "postponed", None, 3, "R3"),
    ("F09", "2025-10-19", "14:30", "WEX", "HAL", "played", "3-2", 5, "R2"),
    ("F10", "2025-10-26", "10:30", "BIR", "WEX", "scheduled", None, 1, "R3"),
    ("F11", "2025-10-26", "11:00", "COL", "DUN", "scheduled", None, 4, "R5"),
    ("F12", "2025-10-26", "13:30", "HAL", "ASH", "scheduled", None, 1, "R2"),
    ("F13", "2025-11-02", "10:30", "ASH", "DUN", "scheduled", None, 2, "R1"),
    ("F14", "2025-11-02", "14:00", "WEX", "COL", "scheduled", None, 5, None),
    ("F15", "2025-11-02", "10:30", "BIR", "HAL", "scheduled", None, 3, "R4"),
    ("F16", "2025-11-09", "10:30", "COL", "BIR", "scheduled", None, 4, "R3"),
    ("F17", "2025-11-09", "12:00", "DUN", "HAL", "scheduled", None, 3, None),
    ("F18", "2025-11-09", "14:00", "ASH", "WEX", "scheduled", None, 4, "R2"),
]}


def _fixture(fixture_id: str) -> dict:
    f = FIXTURES.get(fixture_id.upper())
    if f is None:
        raise ToolError(f"fixture {fixture_id} not found")
    return f


@server.tool()
def get_club(club: str) -> dict:
    """One club, by its three-letter code or by (part of) its name."""
    for c in CLUBS.values():
        if club.upper() == c["code"] or club.lower() in c["name"].lower():
            return c
    raise ToolError(f"no club matches '{club}'")


@server.tool()
def search_players(name: str = "", club_code: str = "", position: Literal["", "goalkeeper", "defender", "midfielder", "forward"] = "") -> dict:
    """Find registered players by name, club code and/or position. At most 12 are returned, so give at least one filter."""
    rows = [{k: p[k] for k in ("reg", "name", "club", "position", "goals")} for p in PLAYERS.values()
            if name.lower() in p["name"].lower() and club_code.upper() in ("", p["club"]) and position in ("", p["position"])]
    return {"count": len(rows), "players": rows[:12]}


@server.tool()
def get_player(reg: int) -> dict:
    """A player's full record by registration number."""
    if reg not in PLAYERS:
        raise ToolError(f"player {reg} is not registered")
    return PLAYERS[reg]


@server.tool()
def list_fixtures(club_code: str = "", date: str = "", status: Literal["", "scheduled", "played", "postponed", "cancelled"] = "") -> dict:
    """Fixtures in order of date, filtered by club code (home or away), date (YYYY-MM-DD, season 2025) or status."""
    rows = [{k: f[k] for k in ("id", "date", "home", "away", "status", "score")} for f in sorted(FIXTURES.values(), key=lambda f: f["date"])
            if club_code.upper() in ("", f["home"], f["away"]) and date in ("", f["date"]) and status in ("", f["status"])]
    return {"fixtures": rows[:12], "more": max(0, len(rows) - 12)}


@server.tool()
def get_fixture(fixture_id: str) -> dict:
    """One fixture with kick-off time, ground id and referee id."""
    return _fixture(fixture_id)


@server.tool()
def get_ground(ground_id: int) -> dict:
    """A ground by its id."""
    if ground_id not in GROUNDS:
        raise ToolError(f"ground {ground_id} not found")
    return GROUNDS[ground_id]


@server.tool()
def get_referee(referee_id: str) -> dict:
    """A referee by id, e.g. R2."""
    if referee_id.upper() not in REFEREES:
        raise ToolError(f"referee {referee_id} not found")
    return REFEREES[referee_id.upper()]


@server.tool()
def update_fixture(fixture_id: str, status: Literal["scheduled", "played", "postponed", "cancelled"] | None = None, score: str | None = None,
                   date: str | None = None, kickoff: str | None = None, ground: int | None = None, referee: str | None = None) -> dict:
    """Change a fixture; give only what changes. A score ("2-1", home goals first) marks it as played by itself. Dates YYYY-MM-DD, kick-off HH:MM, ground and referee by id."""
    f = _fixture(fixture_id)
    if ground is not None and ground not in GROUNDS:
        raise ToolError(f"ground {ground} not found")
    if referee is not None and referee not in REFEREES:
        raise ToolError(f"referee {referee} not found")
    if score is not None:
        status = "played"
    changed = {k: v for k, v in dict(status=status, score=score, date=date, kickoff=kickoff, ground=ground, referee=referee).items() if v is not None}
    f.update(changed)
    return {"id": f["id"], "home": f["home"], "away": f["away"], "changed": changed}


@server.tool()
def update_player(reg: int, status: Literal["available", "injured", "suspended"] | None = None, goals: int | None = None,
                  yellow_cards: int | None = None, club: str | None = None) -> dict:
    """Change a player's availability, season totals (new total, not the difference) or club (three-letter code)."""
    if reg not in PLAYERS:
        raise ToolError(f"player {reg} is not registered")
    if club is not None and club not in CLUBS:
        raise ToolError(f"no club with code {club}")
    changed = {k: v for k, v in dict(status=status, goals=goals, yellow_cards=yellow_cards, club=club).items() if v is not None}
    PLAYERS[reg].update(changed)
    return {"reg": reg, "name": PLAYERS[reg]["name"], "changed": changed}


if __name__ == "__main__":
    server.run()
