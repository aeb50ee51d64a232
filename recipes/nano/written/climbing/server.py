from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("climbing")

CRAGS = {c[0]: dict(zip(("slug", "name", "rock", "faces", "parking", "walk_in", "warden", "access"), c)) for c in [
    ("raven-scar", "Raven Scar", "gritstone", "west", "lay-by on Mill Lane", "15 min", "moss", "closed 1 March to 30 June, peregrines"),
    ("hollow-quarry", "Hollow Quarry", "slate", "south", "quarry gate, 2 EUR", "5 min", "tildab", "open"),
    ("thornwick", "Thornwick Cliff", "limestone", "south-east", "church car park", "25 min", "okoro", "open"),
    ("the-pulpit", "The Pulpit", "sandstone", "north", "end of the forest track", "40 min", "lwen", "closed when wet, soft rock"),
    ("gannet-zawn", "Gannet Zawn", "granite", "west", "Cape Farm, 3 EUR", "20 min", "juno", "tidal, 2 hours either side of low water"),
    ("long-edge", "Long Edge", "gritstone", "south-west", "reservoir car park", "10 min", "pradeep", "open"),
    ("bramble-dell", "Bramble Dell", "sandstone", "east", "village hall", "8 min", "moss", "keep the farm gate shut"),
]}

CLIMBERS = {c[0]: dict(zip(("handle", "name", "phone", "email", "town", "hardest", "member_since", "drill_licence"), c)) for c in [
    ("moss", "Ellen Mossop", "555-0101", "ellen@scarclub.example", "Harrowby", "7b", 2009, "yes"),
    ("tildab", "Tilda Brandt", "555-0102", "tilda.brandt@slabmail.example", "Kelmarsh", "7c+", 2014, "yes"),
    ("okoro", "Ben Okoro", "555-0103", "ben.okoro@slabmail.example", "Ansty", "6c", 2011, "no"),
    ("lwen", "Li Wen", "555-0104", "liwen@fingerboard.example", "Harrowby", "8a", 2017, "yes"),
    ("juno", "Juno Hartley", "555-0105", "juno@seacliffs.example", "Port Sallow", "7a+", 2012, "no"),
    ("pradeep", "Pradeep Rao", "555-0106", "p.rao@slabmail.example", "Kelmarsh", "6b+", 2019, "yes"),
    ("fitz", "Gerald Fitzroy", "555-0107", "gerald@oldrope.example", "Ansty", "6a", 1998, "no"),
    ("mariak", "Maria Kovac", "555-0108", "maria.kovac@seacliffs.example", "Port Sallow", "7b+", 2020, "yes"),
    ("dex", "Dexter Lamb", "555-0109", "dex.lamb@fingerboard.example", "Harrowby", "6c+", 2022, "no"),
    ("sunniva", "Sunniva Dahl", "555-0110", "sunniva@fingerboard.example", "Kelmarsh", "8a+", 2016, "no"),
    ("owl", "Rhys Howell", "555-0111", "rhys@oldrope.example", "Ansty", "7a", 2005, "yes"),
    ("nadia", "Nadia Serrano", "555-0112", "nadia.s@seacliffs.example", "Port Sallow", "6b", 2023, "no"),
]}

ROUTES = {r[0]: dict(zip(("number", "name", "grade", "crag", "length_m", "style", "bolts", "stars", "first_ascent_by", "first_ascent_year"), r)) for r in [
    (101, "Feather Fall", "6a", "raven-scar", 18, "trad", 0, 2, "fitz", 1999),
    (102, "Carrion Call", "7a", "raven-scar", 22, "sport", 9, 3, "moss", 2011),
    (103, "Nest Egg", "5c", "raven-scar", 14, "trad", 0, 1, "owl", 2006),
    (104, "Black Wings", "7b+", "raven-scar", 24, "sport", 11, 3, "tildab", 2018),
    (105, "Dynamite Shed", "6b", "hollow-quarry", 20, "sport", 8, 2, "tildab", 2015),
    (106, "Slate of Grace", "7c", "hollow-quarry", 28, "sport", 12, 3, "lwen", 2019),
    (107, "Night Shift", "6a+", "hollow-quarry", 16, "sport", 6, 1, "dex", 2022),
    (108, "The Foreman", "6c", "hollow-quarry", 25, "sport", 10, 2, "owl", 2013),
    (109, "Choirboy", "5b", "thornwick", 15, "sport", 6, 1, "okoro", 2012),
    (110, "Bell Rope", "6c+", "thornwick", 30, "sport", 13, 3, "mariak", 2021),
    (111, "Vestry Traverse", "6a", "thornwick", 35, "sport", 14, 2, "okoro", 2014),
    (112, "Lime and Punishment", "8a", "thornwick", 26, "sport", 12, 3, "sunniva", 2020),
    (113, "Sermon", "6b+", "the-pulpit", 19, "sport", 7, 2, "lwen", 2018),
    (114, "Loud Amen", "7a+", "the-pulpit", 21, "sport", 8, 2, "sunniva", 2017),
    (115, "Kneeling Room", "5a", "the-pulpit", 11, "trad", 0, 0, "fitz", 2001),
    (116, "Salt Ladder", "5c", "gannet-zawn", 40, "trad", 0, 3, "juno", 2013),
    (117, "Guano Direct", "6b", "gannet-zawn", 38, "trad", 0, 1, "nadia", 2024),
    (118, "Spring Tide", "7a", "gannet-zawn", 32, "sport", 12, 3, "mariak", 2022),
    (119, "Ferryman", "6a+", "gannet-zawn", 36, "sport", 13, 2, "juno", 2016),
    (120, "Dam Busy", "6b", "long-edge", 12, "trad", 0, 1, "pradeep", 2020),
    (121, "Overflow", "7b", "long-edge", 15, "sport", 6, 2, "moss", 2010),
    (122, "Sluice Gate", "6c", "long-edge", 13, "sport", 5, 2, "owl", 2008),
    (123, "Thorn in My Side", "6a", "bramble-dell", 10, "sport", 4, 1, "pradeep", 2021),
    (124, "Jam Session", "6b+", "bramble-dell", 12, "trad", 0, 2, "dex", 2023),
]}

ASCENTS = [
    (501, "2025-09-13", "mariak", 118, "redpoint"), (502, "2025-09-12", "nadia", 116, "onsight"),
    (503, "2025-09-11", "dex", 122, "attempt"), (504, "2025-09-07", "tildab", 106, "redpoint"),
    (505, "2025-09-07", "lwen", 112, "attempt"), (506, "2025-09-06", "okoro", 111, "flash"),
    (507, "2025-08-31", "dex", 108, "redpoint"), (508, "2025-08-30", "sunniva", 112, "redpoint"),
    (509, "2025-08-28", "moss", 121, "onsight"), (510, "2025-08-24", "owl", 110, "attempt"),
    (511, "2025-08-23", "pradeep", 105, "flash"), (512, "2025-08-17", "juno", 119, "onsight"),
    (513, "2025-08-16", "nadia", 109, "attempt"), (514, "2025-08-10", "mariak", 110, "onsight"),
    (515, "2025-08-09", "dex", 105, "attempt"), (516, "2025-08-02", "fitz", 109, "flash"),
    (517, "2025-07-27", "tildab", 104, "redpoint"), (518, "2025-07-26", "moss", 102, "flash"),
    (519, "2025-07-20", "pradeep", 122, "redpoint"), (520, "2025-07-19", "lwen", 106, "onsight"),
    (521, "2025-07-13", "owl", 108, "onsight"), (522, "2025-07-12", "sunniva", 114, "flash"),
]

JOBS = {j[0]: dict(zip(("job", "route", "place", "fault", "urgency", "status", "assigned_to", "due", "bolts_needed"), j)) for j in [
    ("K-11", 102, "bolt 3", "spinning hanger", "soon", "open", "moss", "2025-10-04", 1),
    ("K-12", 105, "lower-off", "worn ring", "urgent", "open", "nobody", "2025-09-20", 2),
    ("K-13", 106, "bolt 7", "rusted", "soon", "parts ordered", "lwen", "2025-10-11", 1),
    ("K-14", 108, "bolts 1-4", "corroded, not stainless", "soon", "open", "owl", "2025-11-01", 4),
    ("K-15", 110, "bolt 10", "hit by rockfall", "urgent", "parts ordered", "mariak", "2025-09-21", 1),
    ("K-16", 111, "lower-off", "single bolt only", "low", "open", "nobody", "2026-03-01", 2),
    ("K-17", 113, "bolt 2", "loose in soft rock", "urgent", "open", "lwen", "2025-09-18", 1),
    ("K-18", 118, "bolts 5-6", "sea corrosion", "urgent", "open", "mariak", "2025-09-27", 2),
    ("K-19", 119, "all bolts", "sea corrosion", "soon", "parts ordered", "owl", "2025-10-18", 13),
    ("K-20", 121, "bolt 1", "placed too low", "low", "done", "pradeep", "2025-08-15", 1),
    ("K-21", 122, "lower-off", "missing maillon", "soon", "open", "pradeep", "2025-10-02", 1),
    ("K-22", 123, "bolt 4", "spinning hanger", "low", "done", "pradeep", "2025-07-30", 1),
    ("K-23", 114, "bolt 6", "cracked hanger", "urgent", "done", "tildab", "2025-08-22", 1),
    ("K-24", 109, "bolt 1", "rusted", "low", "open", "nobody", "2025-12-13", 1),
]}

def _kv(d): return "\n".join(f"{k}: {v}" for k, v in d.items())

def _table(heads, rows):
    rows = [[str(x) for x in r] for r in rows]
    widths = [max(len(r[i]) for r in [list(heads)] + rows) for i in range(len(heads))]
    return "\n".join(" | ".join(x.ljust(w) for x, w in zip(r, widths)).rstrip() for r in [list(heads)] + rows)

def _crag(text):
    t = text.strip().casefold()
    for c in CRAGS.values():
        if t in (c["slug"], c["name"].casefold()): return c
    return None

@server.tool()
def crag_info(crag: str) -> str:
    "Rock, aspect, parking, walk-in, access and warden (a climber's handle) of a crag, given by slug or name."
    c = _crag(crag)
    return _kv(c) if c else f"No crag called {crag}."

@server.tool()
def route_info(number: int) -> str:
    "Everything in the guidebook about one route, by its number."
    return _kv(ROUTES[number]) if number in ROUTES else f"There is no route {number} in the book."

@server.tool()
def search_routes(words: str = "", crag: str = "", grade: str = "", style: Literal["sport", "trad", "any"] = "any") -> str:
    "Table of routes. words: part of the route's name; crag: slug or name; grade: French, such as 6b+. Give at least one."
    if not (words or crag or grade): return "Give words, a crag or a grade."
    c = _crag(crag) if crag else None
    if crag and not c: return f"No crag called {crag}."
    rows = [(r["number"], r["name"], r["grade"], r["crag"]) for r in ROUTES.values()
            if words.casefold() in r["name"].casefold() and (not c or r["crag"] == c["slug"])
            and (not grade or r["grade"] == grade.lower()) and style in ("any", r["style"])]
    return _table(("number", "name", "grade", "crag"), rows) if rows else "No routes match."

@server.tool()
def climber_info(who: str) -> str:
    "A member's contact details, hardest grade and whether they hold a drill licence. who: handle or full name."
    for c in CLIMBERS.values():
        if who.strip().casefold() in (c["handle"], c["name"].casefold()): return _kv(c)
    return f"Nobody called {who} in the club."

@server.tool()
def logbook(climber: str = "", route: int = 0) -> str:
    "Ascents, newest first, of one climber (handle) or on one route (number)."
    if not (climber or route): return "Give a climber or a route."
    if climber and climber not in CLIMBERS: raise ToolError(f"unknown climber handle '{climber}'")
    rows = [a for a in ASCENTS if (not climber or a[2] == climber) and (not route or a[3] == route)]
    return _table(("ascent", "date", "climber", "route", "style"), rows[:15]) if rows else "Nothing logged."

@server.tool()
def bolt_job(job: str) -> str:
    "One rebolting job, such as K-14."
    return _kv(JOBS[job]) if job in JOBS else f"No job {job}."

@server.tool()
def bolts_to_replace(crag: str = "", urgency: Literal["low", "soon", "urgent", "any"] = "any", include_done: bool = False) -> str:
    "Table of rebolting jobs, by default those that are not done, of all crags or one (slug or name)."
    c = _crag(crag) if crag else None
    if crag and not c: return f"No crag called {crag}."
    rows = [(j["job"], j["route"], j["place"], j["urgency"], j["status"]) for j in JOBS.values()
            if (include_done or j["status"] != "done") and urgency in ("any", j["urgency"])
            and (not c or ROUTES[j["route"]]["crag"] == c["slug"])]
    return _table(("job", "route", "place", "urgency", "status"), rows) if rows else "Nothing to replace."

@server.tool()
def log_ascent(climber: str, route: int, style: Literal["onsight", "flash", "redpoint", "attempt"], date: str = "2025-09-14") -> str:
    "Write an ascent into the logbook. climber: handle; route: number; date: YYYY-MM-DD, today (2025-09-14) if left out."
    if climber not in CLIMBERS: raise ToolError(f"unknown climber handle '{climber}'")
    if route not in ROUTES: raise ToolError(f"unknown route {route}")
    number = max(a[0] for a in ASCENTS) + 1
    ASCENTS.insert(0, (number, date, climber, route, style))
    return f"logged\nascent: {number}\ndate: {date}\nclimber: {climber}\nroute: {route} {ROUTES[route]['name']}\nstyle: {style}"

@server.tool()
def update_bolt_job(job: str, status: Literal["open", "parts ordered", "done"] | None = None, assigned_to: str | None = None,
                    due: str | None = None, bolts_needed: int | None = None) -> str:
    "Change a rebolting job; only what is given changes. assigned_to: handle of a member with a drill licence; due: YYYY-MM-DD."
    if job not in JOBS: raise ToolError(f"no job {job}")
    if assigned_to is not None:
        if assigned_to not in CLIMBERS: raise ToolError(f"unknown climber handle '{assigned_to}'")
        if CLIMBERS[assigned_to]["drill_licence"] == "no": raise ToolError(f"{assigned_to} has no drill licence")
    given = {k: v for k, v in dict(status=status, assigned_to=assigned_to, due=due, bolts_needed=bolts_needed).items() if v is not None}
    if not given: raise ToolError("nothing to change")
    lines = [f"{k}: {JOBS[job][k]} -> {v}" for k, v in given.items()]
    JOBS[job].update(given)
    return f"{job} changed\n" + "\n".join(lines)

if __name__ == "__main__":
    server.run()
