from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("rook-and-pawn")

# number: name, section, rating, joined, dues paid, phone
M = {
 3: ("Walter Gruenberg", "senior", 1874, "1998-02-11", True, "0171 220 145"),
 8: ("Odile Ferrand", "senior", 1652, "2004-09-30", True, "0171 220 388"),
 12: ("Karim Haddad", "adult", 2143, "2011-01-17", True, "0172 904 411"),
 15: ("Svetlana Orlova", "adult", 2231, "2013-05-06", True, "0172 904 570"),
 19: ("Ben Achterberg", "adult", 1790, "2015-10-22", False, "0173 615 209"),
 21: ("Nkechi Adeyemi", "adult", 1968, "2016-03-14", True, "0173 615 733"),
 24: ("Piet Vos", "senior", 1541, "2016-11-02", False, "0174 330 118"),
 27: ("Lucia Marchetti", "adult", 2015, "2018-04-19", True, "0174 330 902"),
 30: ("Jonas Brandt", "adult", 1723, "2019-08-27", True, "0175 481 066"),
 33: ("Aoife Kinsella", "junior", 1602, "2021-09-08", True, "0175 481 240"),
 34: ("Max Lindqvist", "junior", 1377, "2021-09-15", False, "0175 481 377"),
 38: ("Hana Sato", "junior", 1815, "2022-01-12", True, "0176 552 019"),
 41: ("Felipe Rojas", "adult", 1886, "2022-10-05", True, "0176 552 684"),
 44: ("Mira Patel", "junior", 1249, "2023-09-20", True, "0177 708 155"),
 46: ("Ruben Stein", "adult", 1455, "2024-02-07", False, "0177 708 461"),
 49: ("Theo Lindqvist", "junior", 1108, "2024-09-11", True, "0175 481 377"),
}
M = {k: dict(zip(["member_no", "name", "section", "rating", "joined", "dues_paid", "phone"], (k, *v))) for k, v in M.items()}

# slug: title, date, venue, rounds, time control, entry fee EUR, max players, arbiter, winner, entrants
TN = {
 "winter-blitz-2025": ["Winter Blitz", "2025-01-18", "Clubroom", 9, "3+2", 5, 20, "Odile Ferrand", "Svetlana Orlova", [12, 15, 19, 21, 27, 30, 38]],
 "spring-rapid-2025": ["Spring Rapid", "2025-04-12", "Town Library", 7, "15+10", 12, 24, "Walter Gruenberg", "Karim Haddad", [8, 12, 15, 21, 27, 38, 41]],
 "junior-cup-2025": ["Junior Cup", "2025-05-24", "St. Anne School", 5, "25+5", 4, 16, "Odile Ferrand", "Hana Sato", [33, 34, 38, 44, 49]],
 "club-championship-2025": ["Club Championship", "2025-09-20", "Clubroom", 6, "90+30", 20, 8, "Nkechi Adeyemi", None, [3, 12, 15, 27, 41, 30, 38]],
 "autumn-open-2025": ["Autumn Open", "2025-10-11", "Hotel Adler", 7, "60+15", 35, 60, "Walter Gruenberg", None, [12, 15, 21, 27, 33]],
 "seniors-cup-2025": ["Seniors Cup", "2025-11-08", "Cafe Remise", 5, "30+10", 8, 12, "Jonas Brandt", None, [3, 8]],
 "christmas-blitz-2025": ["Christmas Blitz", "2025-12-19", "Clubroom", 11, "3+2", 5, 30, "Odile Ferrand", None, []],
}

# id: tournament, round, white, black, date, result, moves, opening
G = {
 701: ("winter-blitz-2025", 1, 15, 19, "2025-01-18", "1-0", 34, "Sicilian Defence"),
 702: ("winter-blitz-2025", 1, 27, 12, "2025-01-18", "1/2-1/2", 51, "Queen's Gambit"),
 703: ("winter-blitz-2025", 8, 12, 15, "2025-01-18", "0-1", 62, "King's Indian"),
 704: ("winter-blitz-2025", 9, 38, 30, "2025-01-18", "1-0", 28, "Italian Game"),
 710: ("spring-rapid-2025", 1, 8, 41, "2025-04-12", "0-1", 40, "French Defence"),
 711: ("spring-rapid-2025", 3, 21, 27, "2025-04-12", "1-0", 37, "English Opening"),
 712: ("spring-rapid-2025", 6, 15, 12, "2025-04-12", "0-1", 58, "Nimzo-Indian"),
 713: ("spring-rapid-2025", 7, 38, 21, "2025-04-12", "1/2-1/2", 22, "Caro-Kann"),
 720: ("junior-cup-2025", 1, 49, 38, "2025-05-24", "0-1", 17, "Scotch Game"),
 721: ("junior-cup-2025", 2, 33, 34, "2025-05-24", "1-0", 45, "Italian Game"),
 722: ("junior-cup-2025", 4, 44, 49, "2025-05-24", "1-0", 66, "Pirc Defence"),
 723: ("junior-cup-2025", 5, 38, 33, "2025-05-24", "1-0", 39, "Ruy Lopez"),
 730: ("club-championship-2025", 1, 12, 3, "2025-09-20", None, None, None),
 731: ("club-championship-2025", 1, 15, 30, "2025-09-20", None, None, None),
 732: ("club-championship-2025", 1, 27, 41, "2025-09-20", None, None, None),
 733: ("club-championship-2025", 2, 3, 15, "2025-09-27", None, None, None),
 734: ("club-championship-2025", 2, 41, 12, "2025-09-27", None, None, None),
}
G = {k: dict(zip(["game_id", "tournament", "round", "white", "black", "date", "result", "moves", "opening"], (k, *v))) for k, v in G.items()}

def _m(no):
    if no not in M: raise ToolError(f"member number {no} not found")
    return M[no]
def _t(slug):
    if slug not in TN: raise ToolError(f"no tournament '{slug}'")
    return TN[slug]
def _row(g): return {"game_id": g["game_id"], "round": g["round"], "white": M[g["white"]]["name"], "black": M[g["black"]]["name"], "date": g["date"], "result": g["result"] or "not played"}

@server.tool()
def members(name: str | None = None, section: Literal["junior", "adult", "senior"] | None = None) -> list[dict] | str:
    "Members by first name, surname or part of it and/or by section, strongest first: number, name, section, rating."
    if name is None and section is None: raise ToolError("give a name or a section")
    rows = sorted((m for m in M.values() if (name is None or name.lower() in m["name"].lower()) and (section is None or m["section"] == section)), key=lambda m: -m["rating"])
    return [{k: m[k] for k in ("member_no", "name", "section", "rating")} for m in rows] or f"Nobody called '{name}' in the club."

@server.tool()
def get_member(member_no: int) -> dict:
    "Membership card: rating, section, joining date, phone, whether this year's dues are paid."
    return _m(member_no)

@server.tool()
def list_tournaments(upcoming_only: bool = False) -> str:
    "The club's tournaments this year, with the short name by which other tools know them."
    return "\n".join(f"{s} | {t[0]} | {t[1]} | {t[2]} | winner: {t[8] or '-'}" for s, t in TN.items() if not (upcoming_only and t[8]))

@server.tool()
def tournament_info(tournament: str) -> str:
    "Details and entrants of a tournament. Takes its short name, e.g. spring-rapid-2025."
    t = _t(tournament)
    return (f"{t[0]}\ndate: {t[1]}\nvenue: {t[2]}\nrounds: {t[3]}\ntime control: {t[4]}\nentry fee: {t[5]} EUR\nplaces: {len(t[9])} of {t[6]} taken\n"
            f"arbiter: {t[7]}\nwinner: {t[8] or 'not decided'}\nentrants: {', '.join(M[n]['name'] for n in t[9]) or 'none yet'}")

@server.tool()
def games(tournament: str | None = None, member_no: int | None = None) -> list[dict]:
    "Games of a tournament, of a member, or of a member in a tournament."
    if tournament is None and member_no is None: raise ToolError("give a tournament or a member_no")
    if tournament is not None: _t(tournament)
    if member_no is not None: _m(member_no)
    return [_row(g) for g in G.values() if (tournament is None or g["tournament"] == tournament) and (member_no is None or member_no in (g["white"], g["black"]))]

@server.tool()
def get_game(game_id: int) -> dict:
    "One game with opening and number of moves."
    if game_id not in G: raise ToolError(f"game {game_id} not found")
    g = G[game_id]
    return {**_row(g), "tournament": g["tournament"], "moves": g["moves"], "opening": g["opening"]}

@server.tool()
def record_result(game_id: int, result: Literal["1-0", "0-1", "1/2-1/2"]) -> str:
    "Enter or correct the result of a game; 1-0 means White won."
    if game_id not in G: raise ToolError(f"game {game_id} not found")
    G[game_id]["result"] = result; r = _row(G[game_id])
    return f"Game {game_id}, {r['white']} - {r['black']}: {result} recorded."

@server.tool()
def enter_player(tournament: str, member_no: int) -> str:
    "Enter a member in a tournament."
    t, m = _t(tournament), _m(member_no)
    if member_no in t[9]: return f"{m['name']} is already entered in the {t[0]}."
    if len(t[9]) >= t[6]: return f"The {t[0]} is full."
    t[9].append(member_no)
    return f"{m['name']} entered in the {t[0]} ({len(t[9])} of {t[6]} places taken)."

@server.tool()
def update_member(member_no: int, rating: int | None = None, dues_paid: bool | None = None, phone: str | None = None) -> dict:
    "Change rating, dues or phone number of a member."
    m = _m(member_no); new = {k: v for k, v in dict(rating=rating, dues_paid=dues_paid, phone=phone).items() if v is not None}
    m.update(new)
    return {"member_no": member_no, "name": m["name"], **new}

if __name__ == "__main__":
    server.run()
