import random
from typing import Literal, Optional
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("weather-stations")

Region = Literal["coast", "lowlands", "city", "mountains", "lakes"]
Status = Literal["online", "maintenance", "offline"]
Level = Literal["yellow", "orange", "red"]

_COLS = "id name region elevationM status intervalMin contact installed lastCalibration".split()
_ROWS = [
    (60101, "Harbour Point", "coast", 6, "online", 10, "Ines Bakker", "2011-04-12", "2025-02-11"),
    (60104, "Gannet Head", "coast", 41, "online", 15, "Ines Bakker", "2008-09-30", "2024-11-05"),
    (60107, "Saltmarsh", "coast", 3, "maintenance", 30, "Tom Reilly", "2019-06-03", "2024-08-19"),
    (60112, "Mill Lane", "lowlands", 88, "online", 20, "Petra Lind", "2015-03-27", "2025-01-22"),
    (60115, "Kirkby Airfield", "lowlands", 61, "online", 5, "Owen Marsh", "1998-10-14", "2025-02-27"),
    (60119, "Orchard Farm", "lowlands", 104, "offline", 60, "Petra Lind", "2021-05-18", "2024-05-30"),
    (60123, "Eastgate School", "city", 72, "online", 30, "Farah Aziz", "2022-09-01", "2024-09-12"),
    (60126, "Old Observatory", "city", 131, "online", 10, "Farah Aziz", "1987-06-21", "2025-03-03"),
    (60130, "Tram Depot", "city", 67, "maintenance", 20, "Tom Reilly", "2017-11-08", "2024-07-24"),
    (60134, "Ravens Pass", "mountains", 1420, "online", 15, "Jonas Weil", "2005-08-16", "2024-10-02"),
    (60138, "Cold Ridge", "mountains", 1875, "online", 30, "Jonas Weil", "2013-07-09", "2024-09-28"),
    (60141, "Larch Hut", "mountains", 1236, "offline", 60, "Mira Costa", "2016-06-25", "2024-06-14"),
    (60145, "Lake Vern", "lakes", 310, "online", 20, "Mira Costa", "2010-05-05", "2025-01-09"),
    (60149, "Dunmore Dam", "lakes", 342, "online", 10, "Owen Marsh", "2002-12-03", "2024-12-17"),
]
STATIONS = {r[0]: dict(zip(_COLS, r)) for r in _ROWS}

_BASE = {"coast": 9.0, "lowlands": 10.5, "city": 11.5, "mountains": -2.0, "lakes": 7.5}
_rng = random.Random(31)
DAYS = ["2025-03-10", "2025-03-11", "2025-03-12", "2025-03-13"]
SUMMARIES, CURRENT = {}, {}
for _s in STATIONS.values():
    for _d in DAYS:
        _hi = round(_BASE[_s["region"]] + _rng.uniform(-2.5, 3.5), 1)
        SUMMARIES[_s["id"], _d] = {
            "station": _s["name"], "date": _d, "maxTempC": _hi, "minTempC": round(_hi - _rng.uniform(3, 8), 1),
            "rainMm": round(max(0.0, _rng.uniform(-6, 22)), 1), "maxGustKmh": _rng.randint(18, 96), "sunshineHours": round(_rng.uniform(0, 8), 1)}
    CURRENT[_s["id"]] = {
        "station": _s["name"], "observedAt": f"2025-03-14T{_rng.choice(['08', '09'])}:{_rng.choice(['00', '10', '20', '30', '40'])}",
        "tempC": round(_BASE[_s["region"]] - 3 + _rng.uniform(-1.5, 2), 1), "humidityPct": _rng.randint(48, 97),
        "windKmh": _rng.randint(4, 62), "windDir": _rng.choice(["N", "NE", "E", "SE", "S", "SW", "W", "NW"]), "pressureHpa": _rng.randint(988, 1026)}

WARNINGS = {w["warningId"]: w for w in [
    {"warningId": 31, "region": "coast", "hazard": "gale", "level": "orange", "validUntil": "2025-03-15", "active": True, "issuedBy": "Dana Pohl"},
    {"warningId": 32, "region": "mountains", "hazard": "avalanche", "level": "red", "validUntil": "2025-03-17", "active": True, "issuedBy": "Kofi Mensah"},
    {"warningId": 33, "region": "lowlands", "hazard": "frost", "level": "yellow", "validUntil": "2025-03-14", "active": True, "issuedBy": "Dana Pohl"},
    {"warningId": 34, "region": "lakes", "hazard": "flood", "level": "yellow", "validUntil": "2025-03-18", "active": True, "issuedBy": "Rhea Santos"},
    {"warningId": 35, "region": "city", "hazard": "fog", "level": "yellow", "validUntil": "2025-03-13", "active": False, "issuedBy": "Kofi Mensah"},
    {"warningId": 36, "region": "mountains", "hazard": "snow", "level": "orange", "validUntil": "2025-03-16", "active": True, "issuedBy": "Rhea Santos"},
    {"warningId": 37, "region": "coast", "hazard": "high tide", "level": "yellow", "validUntil": "2025-03-19", "active": True, "issuedBy": "Dana Pohl"},
]}


def _station(sid):
    if sid not in STATIONS:
        raise ToolError(f"No station with id {sid}.")
    return STATIONS[sid]


@server.tool()
def listStations(nameContains: Optional[str] = None, region: Optional[Region] = None, status: Optional[Status] = None) -> list[dict]:
    "Find stations by part of the name, by region or by status (all filters optional). Gives id, name, region, elevation and status."
    rows = [s for s in STATIONS.values()
            if (nameContains is None or nameContains.lower() in s["name"].lower())
            and (region is None or s["region"] == region) and (status is None or s["status"] == status)]
    if not rows:
        raise ToolError("No station matches.")
    return [{k: s[k] for k in ("id", "name", "region", "elevationM", "status")} for s in rows]


@server.tool()
def getStation(stationId: int) -> dict:
    "Everything on file about one station: elevation, status, reporting interval in minutes, contact person, installation and last calibration date."
    return dict(_station(stationId))


@server.tool()
def currentConditions(stationId: int) -> dict:
    "The latest observation of a station: temperature, humidity, wind, pressure."
    s = _station(stationId)
    if s["status"] != "online":
        raise ToolError(f"Station {stationId} ({s['name']}) is {s['status']}; there is no current observation.")
    return CURRENT[stationId]


@server.tool()
def dailySummary(stationId: int, date: str) -> dict:
    "Highs, lows, rain, gusts and sunshine of one day at a station. Date as YYYY-MM-DD; the archive holds 2025-03-10 to 2025-03-13."
    _station(stationId)
    if (stationId, date) not in SUMMARIES:
        raise ToolError(f"No summary for {date}.")
    return SUMMARIES[stationId, date]


@server.tool()
def listWarnings(region: Optional[Region] = None, level: Optional[Level] = None, includeInactive: bool = False) -> list[dict]:
    "Weather warnings in force, optionally of one region or level. Cancelled and expired ones only with includeInactive."
    rows = [w for w in WARNINGS.values() if (region is None or w["region"] == region)
            and (level is None or w["level"] == level) and (includeInactive or w["active"])]
    if not rows:
        raise ToolError("No such warnings.")
    return [{k: w[k] for k in ("warningId", "region", "hazard", "level", "validUntil")} for w in rows]


@server.tool()
def getWarning(warningId: int) -> dict:
    "One warning in full."
    if warningId not in WARNINGS:
        raise ToolError(f"No warning with id {warningId}.")
    return dict(WARNINGS[warningId])


@server.tool()
def issueWarning(region: Region, hazard: str, level: Level, validUntil: str) -> dict:
    "Issue a new warning for a region. validUntil is the last day, YYYY-MM-DD."
    n = max(WARNINGS) + 1
    WARNINGS[n] = {"warningId": n, "region": region, "hazard": hazard, "level": level, "validUntil": validUntil, "active": True, "issuedBy": "duty desk"}
    return dict(WARNINGS[n])


@server.tool()
def changeWarning(warningId: int, level: Optional[Level] = None, validUntil: Optional[str] = None, cancel: bool = False) -> dict:
    "Raise or lower a warning, move its last day (YYYY-MM-DD), or cancel it."
    if warningId not in WARNINGS:
        raise ToolError(f"No warning with id {warningId}.")
    w = WARNINGS[warningId]
    if level: w["level"] = level
    if validUntil: w["validUntil"] = validUntil
    if cancel: w["active"] = False
    return {k: w[k] for k in ("warningId", "hazard", "region", "level", "validUntil", "active")}


@server.tool()
def updateStation(stationId: int, status: Optional[Status] = None, intervalMin: Optional[int] = None,
                  contact: Optional[str] = None, lastCalibration: Optional[str] = None) -> dict:
    "Change a station's status, reporting interval (minutes), contact person or last calibration date (YYYY-MM-DD). Give only what changes."
    s = _station(stationId)
    changed = {k: v for k, v in dict(status=status, intervalMin=intervalMin, contact=contact, lastCalibration=lastCalibration).items() if v is not None}
    s.update(changed)
    return {"id": stationId, "name": s["name"], **changed}


if __name__ == "__main__":
    server.run()
