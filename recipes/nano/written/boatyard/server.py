from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("boatyard")

BoatType = Literal["sailboat", "motorboat", "fishing", "dinghy"]
JobStatus = Literal["queued", "in_progress", "waiting_for_part", "done", "cancelled"]

_owners = [
    (501, "Marta Quill", "555-0111", "marta.quill@sailmail.example", "Porthallow", True, 0),
    (502, "Anders Holm", "555-0112", "aholm@brightnet.example", "Kelsby", False, 320),
    (503, "Priya Nandan", "555-0113", "priya@nandan.example", "Porthallow", True, 0),
    (504, "Gus Farrow", "555-0114", "gus.farrow@tidebox.example", "Merrick", False, 1145.5),
    (505, "Lena Obuya", "555-0115", "lena.o@sailmail.example", "Staithe End", True, 75),
    (506, "Tomas Reyl", "555-0116", "treyl@brightnet.example", "Kelsby", False, 0),
    (507, "Beatrix Song", "555-0117", "b.song@tidebox.example", "Porthallow", True, 210),
    (508, "Colm Hagerty", "555-0118", "colm@hagertyfish.example", "Merrick", False, 560.25),
    (509, "Ida Verbeek", "555-0119", "ida@verbeek.example", "Staithe End", True, 0),
    (510, "Noor Aziz", "555-0120", "noor.aziz@tidebox.example", "Lowther Bay", False, 48),
    (511, "Petra Lund", "555-0121", "petra.lund@brightnet.example", "Lowther Bay", True, 0),
    (512, "Samir Dabo", "555-0122", "s.dabo@sailmail.example", "Kelsby", False, 895),
]
OWNERS = {o[0]: dict(zip(("ownerId", "fullName", "phone", "email", "town", "clubMember", "balanceDueEur"), o)) for o in _owners}

_boats = [
    ("BT-11", "Kittiwake", "sailboat", 8.2, 1994, "blue", 504, 14),
    ("BT-12", "Second Wind", "sailboat", 10.4, 2006, "white", 501, 3),
    ("BT-13", "Marigold", "motorboat", 6.8, 2015, "yellow", 509, 5),
    ("BT-14", "Old Gannet", "fishing", 11.9, 1978, "green", 508, 17),
    ("BT-15", "Peregrine", "sailboat", 9.6, 2001, "red", 503, 7),
    ("BT-16", "Little Auk", "dinghy", 4.1, 2019, "white", 501, 8),
    ("BT-17", "Saltmarsh", "motorboat", 7.5, 2011, "grey", 512, 11),
    ("BT-18", "Juniper", "sailboat", 7.9, 1989, "blue", 507, 12),
    ("BT-19", "Brass Monkey", "motorboat", 9.1, 2018, "black", 502, 20),
    ("BT-20", "Halcyon", "sailboat", 12.3, 2013, "white", 505, 19),
    ("BT-21", "Tern", "sailboat", 6.4, 1985, "red", 506, 2),
    ("BT-22", "Mudlark", "fishing", 8.8, 1991, "green", 510, 18),
    ("BT-23", "Windrush", "sailboat", 10.1, 2009, "blue", 511, 22),
    ("BT-24", "Pebble", "dinghy", 3.6, 2021, "yellow", 505, None),
    ("BT-25", "Cormorant", "fishing", 10.2, 1982, "black", 508, 23),
    ("BT-26", "Larkspur", "motorboat", 5.9, 2020, "blue", 503, 10),
]
BOATS = {b[0]: dict(zip(("boatId", "name", "type", "lengthM", "built", "hullColour", "ownerId", "berthNo"), b)) for b in _boats}

_berths = [
    (1, "A", 7, False, 140), (2, "A", 7, False, 140), (3, "A", 11, True, 230), (4, "A", 9, True, 190),
    (5, "A", 7.5, True, 165), (6, "A", 6, False, 120), (7, "A", 10, True, 210), (8, "A", 5, False, 95),
    (9, "B", 8, True, 175), (10, "B", 6.5, False, 125), (11, "B", 8, True, 175), (12, "B", 8.5, True, 180),
    (13, "B", 10, False, 195), (14, "B", 9, True, 190), (15, "B", 12, True, 260), (16, "B", 6, False, 120),
    (17, "C", 13, True, 285), (18, "C", 9.5, False, 185), (19, "C", 13, True, 285), (20, "C", 10, True, 210),
    (21, "C", 9, False, 180), (22, "C", 11, True, 230), (23, "C", 11, False, 215), (24, "C", 14, True, 310),
]
BERTHS = {b[0]: dict(zip(("berthNo", "dock", "maxLengthM", "shorePower", "monthlyFeeEur"), b)) | {"boatId": None} for b in _berths}
for _b in BOATS.values():
    if _b["berthNo"]:
        BERTHS[_b["berthNo"]]["boatId"] = _b["boatId"]

_parts = [
    ("IMP-22", "impeller, 6 blades", 9, 18.40, "S2-4", "Hallam Marine"),
    ("ZNC-08", "zinc anode", 31, 11.50, "S1-1", "Norrkust Supply"),
    ("PRP-14", "folding propeller 14 in", 1, 648, "R1", "Hallam Marine"),
    ("RIG-05", "forestay wire 12 m", 2, 139.90, "R3", "Tauwerk Brandt"),
    ("BAT-90", "battery 90 Ah", 4, 164, "S4-2", "Voltline"),
    ("FLT-03", "fuel filter", 17, 9.75, "S2-1", "Hallam Marine"),
    ("SEA-40", "seacock 40 mm", 3, 52.30, "S3-3", "Norrkust Supply"),
    ("BLT-11", "alternator belt", 12, 14.20, "S2-2", "Voltline"),
    ("EPX-01", "epoxy kit 1 kg", 6, 37.80, "S5-1", "Resinwerk"),
    ("WNC-30", "self-tailing winch", 0, 412, "R2", "Tauwerk Brandt"),
    ("PMP-12", "bilge pump 12 V", 5, 68.50, "S3-1", "Voltline"),
    ("GSK-07", "head gasket", 2, 43.60, "S2-6", "Hallam Marine"),
]
PARTS = {p[0]: dict(zip(("partNo", "description", "inStock", "unitPriceEur", "shelf", "supplier"), p)) for p in _parts}

_jobs = [
    ("J301", "BT-14", "rebuild bilge pump system", "Orla", "in_progress", "2025-06-12", 310, "PMP-12"),
    ("J302", "BT-12", "replace forestay", "Wim", "waiting_for_part", "2025-06-20", 480, "RIG-05"),
    ("J303", "BT-19", "engine overheating", "Orla", "in_progress", "2025-06-10", 150, "IMP-22"),
    ("J304", "BT-20", "fit new winch", "Wim", "waiting_for_part", "2025-07-04", 690, "WNC-30"),
    ("J305", "BT-11", "osmosis repair on hull", "Dacey", "queued", "2025-06-27", 1250, "EPX-01"),
    ("J306", "BT-18", "replace batteries", "Dacey", "done", "2025-05-30", 395, "BAT-90"),
    ("J307", "BT-22", "leaking seacock", "Orla", "queued", "2025-06-18", 120, "SEA-40"),
    ("J308", "BT-15", "antifouling", "Pim", "queued", "2025-06-16", 540, None),
    ("J309", "BT-17", "alternator not charging", "Orla", "done", "2025-05-28", 95, "BLT-11"),
    ("J310", "BT-25", "change head gasket", "Dacey", "waiting_for_part", "2025-06-30", 870, "GSK-07"),
    ("J311", "BT-23", "new anodes", "Pim", "in_progress", "2025-06-11", 85, "ZNC-08"),
    ("J312", "BT-13", "fuel service", "Pim", "done", "2025-06-02", 60, "FLT-03"),
    ("J313", "BT-21", "fit folding propeller", "Wim", "queued", "2025-07-01", 910, "PRP-14"),
    ("J314", "BT-20", "polish topsides", "Pim", "cancelled", "2025-06-05", 380, None),
]
JOBS = {j[0]: dict(zip(("jobId", "boatId", "work", "mechanic", "status", "promisedFor", "quoteEur", "partNo"), j)) for j in _jobs}


def _need(table, key, what):
    if key not in table:
        raise ToolError(f"{what} {key} not found")
    return table[key]


@server.tool()
def getBerth(berthNo: int) -> dict:
    """Berth details: dock, maximum boat length, shore power, monthly fee and the boat lying there (boatId, null when free)."""
    return _need(BERTHS, berthNo, "Berth")


@server.tool()
def findBoats(name: str | None = None, type: BoatType | None = None, hullColour: str | None = None) -> list[dict]:
    """Find boats by (part of) the name, type or hull colour. Returns short rows; use getBoat for the rest."""
    if not (name or type or hullColour):
        raise ToolError("Give at least one of name, type, hullColour")
    return [{k: b[k] for k in ("boatId", "name", "type", "hullColour")} for b in BOATS.values()
            if (not name or name.casefold() in b["name"].casefold())
            and (not type or b["type"] == type)
            and (not hullColour or b["hullColour"] == hullColour.casefold())]


@server.tool()
def getBoat(boatId: str) -> dict:
    """One boat by id (BT-nn), with ownerId and berthNo (null = on the hardstand)."""
    return _need(BOATS, boatId, "Boat")


@server.tool()
def getOwner(ownerId: int) -> dict:
    """Contact details, membership and open balance of a boat owner."""
    return _need(OWNERS, ownerId, "Owner")


@server.tool()
def getPart(partNo: str) -> dict:
    """Spare part by part number."""
    return _need(PARTS, partNo, "Part")


@server.tool()
def listRepairJobs(status: JobStatus | None = None, mechanic: str | None = None, boatId: str | None = None) -> list[dict]:
    """List repair jobs, filtered by status, mechanic (first name) or boat."""
    return [{k: j[k] for k in ("jobId", "boatId", "work", "status", "promisedFor")} for j in JOBS.values()
            if (not status or j["status"] == status)
            and (not mechanic or j["mechanic"].casefold() == mechanic.casefold())
            and (not boatId or j["boatId"] == boatId)]


@server.tool()
def getRepairJob(jobId: str) -> dict:
    """Full repair job (Jnnn): boat, mechanic, status, promised date, quote, part."""
    return _need(JOBS, jobId, "Repair job")


@server.tool()
def updateRepairJob(jobId: str, status: JobStatus | None = None, mechanic: str | None = None,
                    promisedFor: str | None = None, quoteEur: float | None = None) -> dict:
    """Change a repair job. Only the given fields are changed; promisedFor is YYYY-MM-DD."""
    job = _need(JOBS, jobId, "Repair job")
    changes = {k: v for k, v in dict(status=status, mechanic=mechanic, promisedFor=promisedFor, quoteEur=quoteEur).items() if v is not None}
    if not changes:
        raise ToolError("Nothing to change")
    before = {k: job[k] for k in changes}
    job.update(changes)
    return {"jobId": jobId, "before": before, "after": changes}


@server.tool()
def moveBoat(boatId: str, berthNo: int) -> dict:
    """Move a boat to a free berth that is long enough."""
    boat, berth = _need(BOATS, boatId, "Boat"), _need(BERTHS, berthNo, "Berth")
    if berth["boatId"]:
        raise ToolError(f"Berth {berthNo} is taken by {berth['boatId']}")
    if boat["lengthM"] > berth["maxLengthM"]:
        raise ToolError(f"{boat['name']} ({boat['lengthM']} m) is too long for berth {berthNo} (max {berth['maxLengthM']} m)")
    old = boat["berthNo"]
    if old:
        BERTHS[old]["boatId"] = None
    berth["boatId"], boat["berthNo"] = boatId, berthNo
    return {"moved": True, "boatId": boatId, "name": boat["name"], "fromBerthNo": old, "toBerthNo": berthNo}


if __name__ == "__main__":
    server.run()
