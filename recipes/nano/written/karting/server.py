from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("kart-club")

Class = Literal["CADET", "JUNIOR", "SENIOR", "HEAVY"]
KartState = Literal["READY", "IN_REPAIR", "RESERVED", "SCRAPPED"]

_D = ["licence", "name", "class", "club", "weight_kg", "usual_kart", "coach", "points", "licence_expires"]
DRIVERS = {r[0]: dict(zip(_D, r)) for r in [
    ("K118", "Milo Vega", "CADET", "Ashdown Kart Club", 31, 4, "K301", 88, "2026-12-31"),
    ("K121", "Pia Lindqvist", "CADET", "Ashdown Kart Club", 29, 5, "K301", 112, "2026-09-30"),
    ("K127", "Arlo Benn", "CADET", "Saltmarsh Racers", 34, 6, "K322", 67, "2026-12-31"),
    ("K204", "Rosa Kimani", "JUNIOR", "Saltmarsh Racers", 47, 11, "K322", 141, "2027-03-31"),
    ("K209", "Finn Osterberg", "JUNIOR", "Ashdown Kart Club", 52, 12, "K305", 96, "2026-06-30"),
    ("K213", "Dana Popescu", "JUNIOR", "Tri-Town Karting", 45, 14, "K305", 120, "2026-12-31"),
    ("K216", "Jules Navarro", "JUNIOR", "Tri-Town Karting", 50, 15, "K322", 58, "2027-01-31"),
    ("K301", "Carla Whitmore", "SENIOR", "Ashdown Kart Club", 66, 21, None, 175, "2027-06-30"),
    ("K305", "Ben Achterberg", "SENIOR", "Tri-Town Karting", 71, 22, None, 160, "2026-11-30"),
    ("K311", "Noor Haddad", "SENIOR", "Saltmarsh Racers", 62, 23, "K301", 134, "2026-08-31"),
    ("K322", "Steve Mallory", "HEAVY", "Saltmarsh Racers", 96, 31, None, 149, "2027-02-28"),
    ("K325", "Otto Krantz", "HEAVY", "Ashdown Kart Club", 102, 32, "K305", 77, "2026-10-31"),
    ("K330", "Bill Tranter", "HEAVY", "Tri-Town Karting", 91, 34, "K322", 103, "2026-12-31"),
]}
_K = ["number", "chassis", "state", "engine_hours", "fuel_litres", "tyre_sets_left", "last_driver", "next_service", "bay"]
KARTS = {r[0]: dict(zip(_K, r)) for r in [
    (4, "Birel C28", "READY", 61, 3.5, 2, "K118", "2026-07-04", "A1"),
    (5, "Birel C28", "READY", 48, 2.0, 3, "K127", "2026-08-15", "A2"),
    (6, "Tony Rookie", "IN_REPAIR", 97, 0.5, 1, "K127", "2026-05-30", "A3"),
    (11, "Tony 401", "READY", 83, 5.0, 2, "K204", "2026-06-20", "B1"),
    (12, "Tony 401", "RESERVED", 75, 4.5, 2, "K213", "2026-07-11", "B2"),
    (14, "CRG Hero", "READY", 102, 3.0, 4, "K213", "2026-06-06", "B3"),
    (15, "CRG Hero", "IN_REPAIR", 118, 1.0, 0, "K209", "2026-05-23", "B4"),
    (21, "Kosmic Lynx", "READY", 54, 6.5, 3, "K301", "2026-09-12", "C1"),
    (22, "Kosmic Lynx", "READY", 69, 5.5, 2, "K311", "2026-08-01", "C2"),
    (23, "Sodi Sigma", "RESERVED", 91, 6.0, 1, "K311", "2026-06-27", "C3"),
    (31, "Sodi Sigma", "READY", 88, 7.0, 2, "K330", "2026-07-18", "D1"),
    (32, "Praga Dragon", "READY", 130, 4.0, 1, "K322", "2026-05-16", "D2"),
    (34, "Praga Dragon", "IN_REPAIR", 144, 0.0, 0, "K330", "2026-05-09", "D3"),
]}
_R = ["race", "date", "start", "track", "class", "laps", "entry_fee", "status", "marshal", "pole"]
RACES = {r[0]: dict(zip(_R, r)) for r in [
    ("R01", "2026-04-11", "10:00", "NORTH", "CADET", 8, 18, "FINISHED", "K322", "K121"),
    ("R02", "2026-04-11", "11:30", "FULL", "JUNIOR", 12, 24, "FINISHED", "K305", "K204"),
    ("R03", "2026-04-25", "14:00", "FULL", "SENIOR", 15, 35, "FINISHED", "K330", "K305"),
    ("R04", "2026-04-25", "15:45", "SOUTH", "HEAVY", 12, 35, "FINISHED", "K301", "K322"),
    ("R05", "2026-05-16", "10:00", "SOUTH", "CADET", 8, 18, "CLOSED", "K325", None),
    ("R06", "2026-05-16", "13:15", "NORTH", "JUNIOR", 12, 24, "OPEN", "K301", None),
    ("R07", "2026-05-30", "14:30", "FULL", "SENIOR", 18, 38, "OPEN", "K322", None),
    ("R08", "2026-06-13", "16:00", "FULL", "HEAVY", 14, 36, "OPEN", "K311", None),
]}
ENTRIES = {
    "R01": [("K121", 5, 1), ("K118", 4, 2), ("K127", 6, 3)],
    "R02": [("K213", 14, 1), ("K204", 11, 2), ("K209", 15, 3), ("K216", 12, 4)],
    "R03": [("K301", 21, 1), ("K305", 22, 2), ("K311", 23, 3)],
    "R04": [("K322", 31, 1), ("K330", 34, 2), ("K325", 32, 3)],
    "R05": [("K118", 4, None), ("K121", 5, None)],
    "R06": [("K204", 11, None), ("K213", 14, None)],
    "R07": [("K301", 21, None)],
    "R08": [],
}
ENTRIES = {r: [dict(zip(("driver", "kart", "place"), e)) | {"penalty_s": 0} for e in rows] for r, rows in ENTRIES.items()}
ENTRIES["R02"][3]["penalty_s"] = 5
ENTRIES["R04"][1]["penalty_s"] = 3
BEST = {
    ("R01", "K121"): [41.92, 41.30, 41.77], ("R01", "K118"): [42.64, 42.05, 42.11], ("R01", "K127"): [44.18, 43.59, 43.80],
    ("R02", "K213"): [58.47, 57.90, 58.02], ("R02", "K204"): [57.83, 58.36, 58.15], ("R02", "K209"): [59.44, 59.07, 59.61], ("R02", "K216"): [61.20, 60.38, 60.75],
    ("R03", "K301"): [53.25, 52.88, 53.01], ("R03", "K305"): [53.10, 53.36, 53.42], ("R03", "K311"): [54.60, 54.12, 54.33],
    ("R04", "K322"): [49.71, 49.28, 49.50], ("R04", "K330"): [50.06, 49.95, 50.41], ("R04", "K325"): [52.17, 51.84, 51.66],
}


def _check(table, key, what):
    if key not in table:
        raise ToolError(f"{what} {key} does not exist")
    return table[key]


@server.tool(name="find-drivers")
def find_drivers(name: str | None = None, driver_class: Class | None = None) -> list[dict]:
    "Drivers whose name contains `name` and/or of a class. Licence, name and class only."
    return [{k: d[k] for k in ("licence", "name", "class")} for d in DRIVERS.values()
            if (not name or name.lower() in d["name"].lower()) and driver_class in (None, d["class"])]


@server.tool(name="get-drivers")
def get_drivers(licences: list[str]) -> list[dict]:
    "Full cards of one or more drivers by licence (e.g. K118): club, weight, usual kart, coach's licence, championship points, licence expiry."
    return [_check(DRIVERS, x, "licence") for x in licences]


@server.tool(name="list-races")
def list_races(status: Literal["OPEN", "CLOSED", "FINISHED"] | None = None, race_class: Class | None = None) -> list[dict]:
    "The calendar, optionally by status or class."
    return [{k: r[k] for k in ("race", "date", "start", "track", "class", "status")} for r in RACES.values()
            if status in (None, r["status"]) and race_class in (None, r["class"])]


@server.tool(name="get-race")
def get_race(race: str) -> list[dict]:
    "One race (e.g. R03): laps, entry fee in EUR, marshal and pole (licences), entries with kart numbers, places and penalties."
    return [_check(RACES, race, "race") | {"entries": ENTRIES[race]}]


@server.tool(name="lap-times")
def lap_times(race: str, licence: str) -> list[dict]:
    "The last three laps of a driver in a finished race, in seconds."
    _check(RACES, race, "race")
    if (race, licence) not in BEST:
        return [{"message": f"no lap times for {licence} in {race}"}]
    n = RACES[race]["laps"] - 2
    return [{"lap": n + i, "seconds": s} for i, s in enumerate(BEST[race, licence])]


@server.tool(name="karts")
def karts(number: int | None = None, state: KartState | None = None) -> list[dict]:
    "With a number: that kart with engine hours, fuel, tyres, last driver, next service and bay. Else all karts in short, optionally by state."
    if number is not None:
        return [_check(KARTS, number, "kart")]
    return [{k: x[k] for k in ("number", "chassis", "state", "engine_hours")} for x in KARTS.values() if state in (None, x["state"])]


@server.tool(name="update-kart")
def update_kart(number: int, state: KartState | None = None, fuel_litres: float | None = None, tyre_sets_left: int | None = None, next_service: str | None = None) -> list[dict]:
    "Change state, fuel, tyre sets or the service date (YYYY-MM-DD) of a kart. Only what is given changes."
    k = _check(KARTS, number, "kart")
    new = {f: v for f, v in (("state", state), ("fuel_litres", fuel_litres), ("tyre_sets_left", tyre_sets_left), ("next_service", next_service)) if v is not None}
    out = [{"kart": number, "field": f, "old": k[f], "new": v} for f, v in new.items()]
    k.update(new)
    return out


@server.tool(name="enter-race")
def enter_race(race: str, licence: str, kart: int) -> list[dict]:
    "Enter a driver for an open race in a given kart."
    r, d = _check(RACES, race, "race"), _check(DRIVERS, licence, "licence")
    _check(KARTS, kart, "kart")
    if r["status"] != "OPEN":
        raise ToolError(f"race {race} is {r['status']}")
    if r["class"] != d["class"]:
        raise ToolError(f"{licence} drives {d['class']}, {race} is {r['class']}")
    ENTRIES[race].append({"driver": licence, "kart": kart, "place": None, "penalty_s": 0})
    return [{"race": race, "driver": licence, "name": d["name"], "kart": kart, "entry_fee": r["entry_fee"]}]


@server.tool(name="set-penalty")
def set_penalty(race: str, licence: str, seconds: int) -> list[dict]:
    "Set a driver's time penalty in a race (0 removes it)."
    _check(RACES, race, "race")
    for e in ENTRIES[race]:
        if e["driver"] == licence:
            old, e["penalty_s"] = e["penalty_s"], seconds
            return [{"race": race, "driver": licence, "old_penalty_s": old, "penalty_s": seconds}]
    raise ToolError(f"{licence} is not entered in {race}")


if __name__ == "__main__":
    server.run()
