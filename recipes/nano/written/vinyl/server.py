from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("vinyl")

Grade = Literal["M", "NM", "VG+", "VG", "G", "P"]
Room = Literal["Green Room", "Booth 1", "Booth 2"]

ARTISTS = {a[0]: a for a in [
    ("AR-01", "The Tin Lanterns", "folk band", "Hull", 1968, "LB-1"),
    ("AR-02", "Cora Halloway", "soul singer", "Bristol", 1959, "LB-3"),
    ("AR-03", "Mbali Sithole Quartet", "jazz quartet", "Durban", 1974, "LB-3"),
    ("AR-04", "Nils Ekdahl", "jazz pianist", "Malmö", 1955, "LB-2"),
    ("AR-05", "Velvet Tramway", "rock band", "Leeds", 1979, "LB-4"),
    ("AR-06", "Orquesta Luz del Río", "salsa orchestra", "Cali", 1965, "LB-5"),
    ("AR-07", "Dot Pereira", "fado singer", "Porto", 1970, "LB-5"),
    ("AR-08", "Kiosk 9", "electronic duo", "Berlin", 1981, "LB-6"),
    ("AR-09", "Amos Birdsong", "blues guitarist", "Memphis", 1948, "LB-1"),
    ("AR-10", "Glass Harbour", "rock band", "Halifax", 1971, "LB-4"),
]}
LABELS = {l[0]: l for l in [
    ("LB-1", "Fennel Records", "London", 1957, "trading", "rights@fennel.example", "555-0161"),
    ("LB-2", "Nordlys", "Copenhagen", 1952, "trading", "post@nordlys.example", "555-0162"),
    ("LB-3", "Sungate", "Bristol", 1958, "closed since 1991", "sungate@heritage.example", "555-0163"),
    ("LB-4", "Paper Moth", "Manchester", 1970, "trading", "licensing@papermoth.example", "555-0164"),
    ("LB-5", "Discos Alba", "Bogotá", 1961, "trading", "alba@discosalba.example", "555-0165"),
    ("LB-6", "Turmwerk", "Berlin", 1980, "closed since 2003", "archiv@turmwerk.example", "555-0166"),
]}
PRESSINGS = {p[0]: p for p in [
    ("P-301", "LB-1", "FEN 104", 1969, "the UK", 2000, "black", "Roy Tallow"), ("P-302", "LB-1", "FEN 131", 1972, "the UK", 1200, "black", "Roy Tallow"),
    ("P-303", "LB-3", "SG 2210", 1962, "the UK", 5000, "black", "May Dunning"), ("P-304", "LB-3", "SG 2305", 1966, "the USA", 900, "black", "Hank Lowell"),
    ("P-305", "LB-3", "SG 4402", 1975, "South Africa", 700, "black", "Sipho Mole"), ("P-306", "LB-3", "SG 4410", 1977, "South Africa", 450, "blue", "Sipho Mole"),
    ("P-307", "LB-2", "NL 77", 1958, "Denmark", 1000, "black", "Inge Falk"), ("P-308", "LB-2", "NL 92", 1961, "Sweden", 600, "black", "Inge Falk"),
    ("P-309", "LB-4", "MOTH 12", 1981, "the UK", 3500, "black", "Pam Okell"), ("P-310", "LB-4", "MOTH 15", 1982, "France", 8000, "red", "Pam Okell"),
    ("P-311", "LB-5", "DA 540", 1968, "Colombia", 1100, "black", "Julio Mesa"), ("P-312", "LB-5", "DA 588", 1973, "Venezuela", 1600, "black", "Julio Mesa"),
    ("P-313", "LB-5", "DA 610", 1974, "Portugal", 800, "black", "Rui Faro"), ("P-314", "LB-5", "DA 622", 1976, "Portugal", 950, "clear", "Rui Faro"),
    ("P-315", "LB-6", "TW 03", 1983, "West Germany", 500, "white", "Ute Kranz"), ("P-316", "LB-6", "TW 07", 1984, "West Germany", 1500, "yellow", "Ute Kranz"),
    ("P-317", "LB-1", "FEN 011", 1958, "the USA", 300, "black", "Hank Lowell"), ("P-318", "LB-1", "FEN 019", 1960, "the USA", 650, "black", "Hank Lowell"),
    ("P-319", "LB-4", "MOTH 02", 1974, "Canada", 4000, "black", "Lou Pratt"), ("P-320", "LB-4", "MOTH 06", 1978, "Canada", 2500, "green", "Lou Pratt"),
]}
DISCS = {d[0]: dict(zip(("key", "title", "artist", "pressing", "format", "bay", "condition", "value", "on_loan_to"), d)) for d in [
    ("A-0187", "Coal Barge Ballads", "AR-01", "P-301", "LP", "4C", "VG+", 38, ""), ("A-0188", "Lamps at Low Tide", "AR-01", "P-302", "LP", "4C", "NM", 55, ""),
    ("A-0189", "Tell It to the Rain", "AR-02", "P-303", "single", "1A", "VG", 22, ""), ("A-0190", "Cora at the Apollo", "AR-02", "P-304", "LP", "1B", "NM", 120, "Radio Medway"),
    ("A-0191", "Durban Nights", "AR-03", "P-305", "LP", "2D", "VG+", 95, ""), ("A-0192", "Blue Kwela", "AR-03", "P-306", "LP", "2D", "NM", 210, ""),
    ("A-0193", "Vinterlys", "AR-04", "P-307", "LP", "2E", "VG", 64, ""), ("A-0194", "Four Hands, One Snowfall", "AR-04", "P-308", "EP", "2E", "NM", 48, ""),
    ("A-0195", "Last Tram Home", "AR-05", "P-309", "LP", "5A", "VG+", 30, ""), ("A-0196", "Signal Box", "AR-05", "P-310", "single", "5B", "G", 9, ""),
    ("A-0197", "Noche en Cali", "AR-06", "P-311", "LP", "3B", "VG+", 140, "Elsa Brink"), ("A-0198", "Río Arriba", "AR-06", "P-312", "LP", "3B", "VG", 85, ""),
    ("A-0199", "Saudade Street", "AR-07", "P-313", "LP", "3F", "NM", 70, ""), ("A-0200", "Small Blue Boats", "AR-07", "P-314", "EP", "3F", "VG+", 33, ""),
    ("A-0201", "Neonregen", "AR-08", "P-315", "LP", "6A", "M", 160, ""), ("A-0202", "Telefon", "AR-08", "P-316", "single", "6A", "NM", 26, ""),
    ("A-0203", "Porch Light Blues", "AR-09", "P-317", "LP", "1D", "VG", 310, ""), ("A-0204", "Long Freight", "AR-09", "P-318", "single", "1D", "G", 75, ""),
    ("A-0205", "Breakwater", "AR-10", "P-319", "LP", "5C", "VG+", 27, "City Library"), ("A-0206", "Fog Signal Suite", "AR-10", "P-320", "LP", "5C", "NM", 44, ""),
]}
SESSIONS = {s[0]: dict(zip(("number", "day", "time", "room", "disc", "guest", "status"), s)) for s in [
    (61, "2025-11-04", "14:00", "Green Room", "A-0192", "Priya Lakhani", "confirmed"), (62, "2025-11-04", "15:30", "Booth 1", "A-0203", "Otto Reims", "booked"),
    (63, "2025-11-05", "10:00", "Booth 2", "A-0193", "Elsa Brink", "confirmed"), (64, "2025-11-05", "11:30", "Green Room", "A-0188", "Hull Folk Club", "booked"),
    (65, "2025-11-06", "13:00", "Booth 1", "A-0201", "Jamal Oster", "booked"), (66, "2025-11-06", "16:00", "Booth 2", "A-0199", "Priya Lakhani", "confirmed"),
    (67, "2025-11-07", "09:30", "Green Room", "A-0198", "Marisol Vega", "booked"), (68, "2025-11-07", "14:00", "Booth 1", "A-0206", "Dennis Crow", "cancelled"),
    (69, "2025-11-10", "10:30", "Booth 2", "A-0187", "Hull Folk Club", "confirmed"), (70, "2025-11-11", "15:00", "Green Room", "A-0191", "Tobias Lind", "booked"),
    (71, "2025-11-12", "11:00", "Booth 1", "A-0204", "Otto Reims", "confirmed"), (72, "2025-11-13", "14:30", "Booth 2", "A-0194", "Elsa Brink", "booked"),
]}

def _a(format): return ("an " if format in ("LP", "EP") else "a ") + format
def _session(s): return f"No. {s['number']}: {s['disc']} on {s['day']} at {s['time']} in {s['room']}, for {s['guest']} ({s['status']})."
def _disc(key):
    if key not in DISCS: raise ToolError(f"There is no disc {key} in the archive.")
    return DISCS[key]
def _pick(table, text):
    for row in table.values():
        if text.strip().casefold() in (row[0].casefold(), row[1].casefold()): return row

@server.tool()
def disc(key: str) -> str:
    "Tells where a disc stands, what it is worth, its condition, artist and pressing. Keys look like A-0192."
    d = _disc(key)
    where = f"on loan to {d['on_loan_to']}" if d["on_loan_to"] else "in the archive"
    return (f"{key} is \"{d['title']}\", {_a(d['format'])} by artist {d['artist']}, pressing {d['pressing']}. Its place is bay {d['bay']}; "
            f"condition {d['condition']}, valued at {d['value']} EUR. It is {where}.")

@server.tool(name="find-discs")
def find_discs(title: str = "", artist: str = "", format: Literal["LP", "EP", "single", "any"] = "any", on_loan: bool = False) -> str:
    "Lists discs by part of the title, by artist (code or full name), by format, or only those on loan."
    if not (title or artist or on_loan) and format == "any": return "Please give at least one thing to look for."
    who = _pick(ARTISTS, artist) if artist else None
    if artist and not who: return f"No artist called {artist}."
    found = [d for d in DISCS.values() if title.casefold() in d["title"].casefold() and (not who or d["artist"] == who[0])
             and format in ("any", d["format"]) and (not on_loan or d["on_loan_to"])]
    return "\n".join(f"- {d['key']} {d['title']} ({d['format']}, {d['value']} EUR)" for d in found[:15]) or "No disc like that."

@server.tool()
def artist(artist: str) -> str:
    "Who an artist is, by code (AR-07) or full name."
    a = _pick(ARTISTS, artist)
    return f"{a[0]} is {a[1]}, {a[2]} from {a[3]}, recording since {a[4]}, signed to label {a[5]}." if a else f"No artist called {artist}."

@server.tool()
def pressing(number: str) -> str:
    "When, where and in how many copies a pressing (P-306) was made, and for which label."
    p = PRESSINGS.get(number)
    if not p: raise ToolError(f"Unknown pressing {number}.")
    return f"Pressing {p[0]} was made in {p[3]} in {p[4]} for label {p[1]} as {p[2]}: {p[5]} copies on {p[6]} vinyl, cut by {p[7]}."

@server.tool()
def label(label: str) -> str:
    "A record label's town, founding year, whether it still trades, and contact. By code (LB-2) or name."
    l = _pick(LABELS, label)
    return f"{l[0]} is {l[1]} of {l[2]}, founded in {l[3]}, {l[4]}. Contact: {l[5]}, {l[6]}." if l else f"No label called {label}."

@server.tool()
def sessions(number: int = 0, day: str = "", guest: str = "", disc: str = "") -> str:
    "Listening sessions by number, by day (YYYY-MM-DD), by guest (full name) or by disc key."
    if not (number or day or guest or disc): return "Please give a number, a day, a guest or a disc."
    found = [s for s in SESSIONS.values() if number in (0, s["number"]) and day in ("", s["day"])
             and guest.casefold() in ("", s["guest"].casefold()) and disc in ("", s["disc"])]
    return "\n".join(_session(s) for s in found) or "No such session."

@server.tool(name="book-session")
def book_session(disc: str, day: str, time: str, room: Room, guest: str) -> str:
    "Books a listening session. day: YYYY-MM-DD, time: HH:MM."
    d = _disc(disc)
    if d["on_loan_to"]: raise ToolError(f"{disc} is on loan to {d['on_loan_to']}.")
    for s in SESSIONS.values():
        if (s["day"], s["time"], s["room"]) == (day, time, room) and s["status"] != "cancelled": raise ToolError(f"{room} is taken by session {s['number']}.")
    n = max(SESSIONS) + 1
    SESSIONS[n] = dict(number=n, day=day, time=time, room=room, disc=disc, guest=guest, status="booked")
    return "Booked. " + _session(SESSIONS[n])

@server.tool(name="change-session")
def change_session(number: int, day: str = "", time: str = "", room: Room | None = None, status: Literal["booked", "confirmed", "cancelled", "done"] | None = None) -> str:
    "Changes day (YYYY-MM-DD), time (HH:MM), room or status of a listening session."
    if number not in SESSIONS: raise ToolError(f"No session {number}.")
    SESSIONS[number].update({k: v for k, v in dict(day=day, time=time, room=room, status=status).items() if v})
    return "Changed. " + _session(SESSIONS[number])

@server.tool(name="edit-disc")
def edit_disc(key: str, bay: str = "", condition: Grade | None = None, value: int | None = None, loan_to: str = "") -> str:
    "Changes a disc's bay, condition (Goldmine grade), value in EUR, or who has it. loan_to: the borrower, or 'archive' when it is back."
    d = _disc(key)
    said = []
    if bay: d["bay"] = bay; said.append(f"stands in bay {bay}")
    if condition: d["condition"] = condition; said.append(f"is graded {condition}")
    if value is not None: d["value"] = value; said.append(f"is valued at {value} EUR")
    if loan_to == "archive": d["on_loan_to"] = ""; said.append("is back in the archive")
    elif loan_to: d["on_loan_to"] = loan_to; said.append(f"is on loan to {loan_to}")
    if not said: raise ToolError("Nothing to change.")
    return f"Done: {key} " + " and ".join(said) + "."

if __name__ == "__main__":
    server.run()
