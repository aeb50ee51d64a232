from typing import Literal, Optional

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("streetlights")
TODAY = "2025-03-12"

_LAMP_FIELDS = ("code", "street", "position", "type", "watts", "height_m", "installed", "dim_percent", "cabinet", "status")
LAMPS = {row[0]: dict(zip(_LAMP_FIELDS, row)) for row in [
    ("L-2031", "Mill Lane", "outside 4", "LED", 38, 6, "2021-06-14", 100, "K-3", "working"),
    ("L-2032", "Mill Lane", "outside 12", "LED", 38, 6, "2021-06-14", 100, "K-3", "working"),
    ("L-2033", "Mill Lane", "opposite the bakery", "sodium", 70, 7, "2009-10-02", 100, "K-3", "out"),
    ("L-2034", "Mill Lane", "at the footbridge", "sodium", 70, 5, "2009-10-05", 100, "K-3", "flickering"),
    ("L-2041", "Station Road", "taxi rank", "LED", 62, 8, "2022-03-08", 100, "K-1", "working"),
    ("L-2042", "Station Road", "outside 17", "LED", 62, 8, "2022-03-08", 80, "K-1", "out"),
    ("L-2043", "Station Road", "bus stop B", "LED", 55, 6, "2023-01-19", 80, "K-1", "working"),
    ("L-2044", "Station Road", "level crossing", "metal halide", 150, 10, "2012-05-21", 100, "K-1", "working"),
    ("L-2057", "Harbour Walk", "slipway", "LED", 45, 5, "2020-09-30", 75, "K-4", "working"),
    ("L-2058", "Harbour Walk", "lifeboat house", "LED", 45, 5, "2020-09-30", 75, "K-4", "out"),
    ("L-2059", "Harbour Walk", "fish market", "metal halide", 150, 9, "2011-04-12", 100, "K-4", "working"),
    ("L-2060", "Harbour Walk", "last bench", "LED", 30, 4, "2024-02-06", 50, "K-4", "working"),
    ("L-2071", "Church Street", "lychgate", "heritage LED", 28, 4, "2019-11-25", 60, "K-2", "working"),
    ("L-2072", "Church Street", "outside 9", "sodium", 50, 6, "2006-08-17", 100, "K-2", "working"),
    ("L-2073", "Church Street", "primary school gate", "LED", 38, 6, "2023-08-29", 90, "K-2", "flickering"),
    ("L-2080", "Orchard Close", "outside 2", "LED", 24, 5, "2022-10-11", 70, "K-3", "working"),
    ("L-2081", "Orchard Close", "turning circle", "LED", 24, 5, "2022-10-11", 70, "K-3", "out"),
    ("L-2082", "Orchard Close", "garages", "sodium", 35, 5, "2003-05-15", 100, "K-2", "working"),
    ("L-2090", "Park Avenue", "north gate", "LED", 55, 6, "2021-04-22", 60, "K-5", "working"),
    ("L-2091", "Park Avenue", "tennis courts", "LED", 80, 9, "2024-06-03", 90, "K-5", "working"),
    ("L-2092", "Park Avenue", "outside 31", "sodium", 70, 7, "2010-12-01", 100, "K-5", "down"),
    ("L-2093", "Park Avenue", "duck pond", "LED", 30, 4, "2021-04-23", 50, "K-5", "out"),
    ("L-2104", "Ferry Road", "outside 5", "sodium", 70, 7, "2008-02-27", 100, "K-4", "working"),
    ("L-2105", "Ferry Road", "petrol station", "LED", 62, 8, "2022-07-13", 85, "K-4", "working"),
    ("L-2106", "Ferry Road", "roundabout", "LED", 90, 10, "2023-11-16", 100, "K-1", "working"),
]}

_FAULT_FIELDS = ("fault_no", "lamp", "problem", "reported_on", "reported_by", "priority", "status", "crew", "cost_eur")
FAULTS = {row[0]: dict(zip(_FAULT_FIELDS, row)) for row in [
    (301, "L-2033", "lamp out", "2025-02-03", "Mrs Adeyemi", "high", "assigned", "heron", 145.0),
    (302, "L-2034", "flickering", "2025-02-05", "Tom Birch", "low", "open", None, 60.0),
    (303, "L-2042", "lamp out", "2025-02-11", "Station Cafe", "high", "assigned", "magpie", 180.0),
    (304, "L-2072", "damaged cover", "2025-02-12", "Reverend Pell", "low", "fixed", "swift", 45.5),
    (305, "L-2058", "lamp out", "2025-02-14", "harbour office", "urgent", "assigned", "kestrel", 320.0),
    (306, "L-2073", "flickering", "2025-02-17", "Ms Quist", "high", "assigned", "swift", 75.0),
    (307, "L-2092", "pole down", "2025-02-19", "police", "urgent", "assigned", "kestrel", 1450.0),
    (308, "L-2081", "lamp out", "2025-02-20", "Joan Ferrer", "normal", "open", None, 95.0),
    (309, "L-2106", "on by day", "2025-02-22", "bus driver", "low", "open", None, 40.0),
    (310, "L-2044", "on by day", "2025-02-24", "signal box", "normal", "fixed", "magpie", 55.0),
    (311, "L-2104", "cable exposed", "2025-02-25", "Mr Lindqvist", "urgent", "assigned", "heron", 410.0),
    (312, "L-2059", "damaged cover", "2025-02-27", "market warden", "normal", "assigned", "kestrel", 85.0),
    (313, "L-2090", "flickering", "2025-03-01", "parks team", "low", "fixed", "swift", 60.0),
    (314, "L-2031", "damaged cover", "2025-03-04", "Mrs Adeyemi", "low", "open", None, 50.0),
    (315, "L-2093", "lamp out", "2025-03-06", "Dina Roth", "normal", "assigned", "heron", 110.0),
    (316, "L-2043", "flickering", "2025-03-09", "Tom Birch", "normal", "open", None, 65.0),
    (317, "L-2032", "on by day", "2025-03-10", "Hal Petersen", "low", "open", None, 42.0),
]}

CREWS = {
    "heron": ("Tadeusz Bielak", "555-0111", "V-12", "nights", "12 m", "58.00 EUR"),
    "magpie": ("Rosa Ndiaye", "555-0124", "V-07", "days", "10 m", "52.50 EUR"),
    "swift": ("Callum Weir", "555-0138", "V-15", "days", "9 m", "49.00 EUR"),
    "kestrel": ("Birgit Holm", "555-0142", "V-03", "nights", "16 m", "64.00 EUR"),
    "osprey": ("Yannick Moreau", "555-0150", "V-19", "weekends", "11 m", "61.00 EUR"),
}

CABINETS = {
    "K-1": ("2 Station Road beside the ticket office", 40, "2024-09-18", "magpie"),
    "K-2": ("the vestry wall in Church Street", 20, "2023-10-27", "swift"),
    "K-3": ("18 Mill Lane behind the bus shelter", 32, "2024-11-06", "heron"),
    "K-4": ("the harbour office yard", 50, "2025-01-15", "kestrel"),
    "K-5": ("the park keeper's hut on Park Avenue", 25, "2024-05-30", "osprey"),
}


def _lamp(code):
    if code not in LAMPS:
        raise ToolError(f"No lamp with code {code}.")
    return LAMPS[code]


def _fault(fault_no):
    if fault_no not in FAULTS:
        raise ToolError(f"Fault {fault_no} is not in the register.")
    return FAULTS[fault_no]


@server.tool()
def get_lamp(code: str) -> dict:
    "One street lamp by its code (L-2041 and the like): street, type, watts, height, installation date, dimming, feeder cabinet, status."
    return dict(_lamp(code))


@server.tool()
def find_lamps(street: Optional[str] = None, status: Optional[Literal["working", "out", "flickering", "down"]] = None) -> list[dict]:
    "Lamps of a street and/or with a status. Give at least one of the two."
    if street is None and status is None:
        raise ToolError("Give a street or a status.")
    rows = [l for l in LAMPS.values() if (street is None or l["street"].lower() == street.lower()) and (status is None or l["status"] == status)]
    return [{k: l[k] for k in ("code", "street", "position", "watts", "status")} for l in rows[:15]]


@server.tool()
def get_fault(fault_no: int) -> dict:
    "Full record of a reported fault: lamp, problem, who reported it and when, priority, status, crew, cost."
    return dict(_fault(fault_no))


@server.tool()
def list_faults(lamp: Optional[str] = None, crew: Optional[str] = None, status: Optional[Literal["open", "assigned", "fixed"]] = None) -> str:
    "Faults filtered by lamp code, crew name or status ('open' means no crew has it yet). One line per fault."
    rows = [f for f in FAULTS.values() if (lamp is None or f["lamp"] == lamp) and (crew is None or f["crew"] == crew) and (status is None or f["status"] == status)]
    if not rows:
        return "No faults match."
    return "\n".join(f"{f['fault_no']} | {f['lamp']} | {f['problem']} | reported {f['reported_on']} | {f['status']} | {f['cost_eur']:.2f} EUR" for f in rows[:17])


@server.tool()
def get_crew(name: str) -> str:
    "Details of a repair crew, by crew name (e.g. 'heron'): lead, phone, van, shift, lift reach, hourly rate."
    if name not in CREWS:
        return f"No such crew: {name}"
    return f"crew: {name}\n" + "\n".join(f"{k}: {v}" for k, v in zip(("lead", "phone", "van", "shift", "lift reach", "hourly rate"), CREWS[name]))


@server.tool()
def get_cabinet(cabinet: str) -> str:
    "Where a feeder cabinet stands, its fuse, last inspection and the crew in charge. Cabinets are K-1, K-2, ..."
    if cabinet not in CABINETS:
        raise ToolError(f"Unknown cabinet {cabinet}.")
    place, fuse, seen, crew = CABINETS[cabinet]
    return f"Cabinet {cabinet} stands at {place}, takes a {fuse} A fuse, was last inspected on {seen} and is looked after by crew {crew}."


@server.tool()
def report_fault(lamp: str, problem: Literal["lamp out", "flickering", "damaged cover", "on by day", "cable exposed", "pole down"],
                 reported_by: str, priority: Literal["low", "normal", "high", "urgent"] = "normal") -> dict:
    "Register a new fault on a lamp."
    _lamp(lamp)
    number = max(FAULTS) + 1
    FAULTS[number] = dict(zip(_FAULT_FIELDS, (number, lamp, problem, TODAY, reported_by, priority, "open", None, 0.0)))
    return {"fault_no": number, "lamp": lamp, "problem": problem, "reported_by": reported_by, "priority": priority, "status": "open"}


@server.tool()
def update_fault(fault_no: int, crew: Optional[str] = None, status: Optional[Literal["open", "assigned", "fixed"]] = None,
                 priority: Optional[Literal["low", "normal", "high", "urgent"]] = None) -> dict:
    "Change a fault: hand it to a crew (it then counts as assigned), set its status, or set its priority. Leave out what stays as it is."
    fault = _fault(fault_no)
    if crew is not None:
        if crew not in CREWS:
            raise ToolError(f"There is no crew called {crew}.")
        fault["crew"] = crew
        if fault["status"] == "open":
            fault["status"] = "assigned"
    if status is not None:
        fault["status"] = status
    if priority is not None:
        fault["priority"] = priority
    return {k: fault[k] for k in ("fault_no", "lamp", "status", "priority", "crew")}


@server.tool()
def set_dim_level(lamp: str, percent: int) -> str:
    "Set the night brightness of a lamp, 10 to 100 percent."
    record = _lamp(lamp)
    if not 10 <= percent <= 100:
        raise ToolError("percent must be between 10 and 100")
    before, record["dim_percent"] = record["dim_percent"], percent
    return f"{lamp}: brightness changed from {before}% to {percent}%"


if __name__ == "__main__":
    server.run()
