from typing import Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("hollow-ridge-scada")

# name: state, power kW, wind m/s, limit kW, model, row, last service, hours
TURBINES = {
    "WTG01": ["running", 2140, 11.2, 3000, "Vestas V112", "north", "2025-02-11", 41230],
    "WTG02": ["running", 2085, 11.0, 3000, "Vestas V112", "north", "2025-02-12", 40877],
    "WTG03": ["stopped", 0, 10.9, 3000, "Vestas V112", "north", "2024-11-05", 39410],
    "WTG04": ["running", 1760, 10.1, 3000, "Vestas V112", "north", "2025-03-18", 40115],
    "WTG05": ["curtailed", 1500, 11.6, 1500, "Vestas V112", "north", "2025-01-27", 40698],
    "WTG06": ["running", 1320, 9.4, 2300, "Enercon E-82", "south", "2024-12-09", 52904],
    "WTG07": ["maintenance", 0, 9.1, 2300, "Enercon E-82", "south", "2024-10-22", 53317],
    "WTG08": ["running", 1405, 9.6, 2300, "Enercon E-82", "south", "2025-03-04", 52660],
    "WTG09": ["stopped", 0, 8.8, 2300, "Enercon E-82", "south", "2025-01-15", 51988],
    "WTG10": ["running", 1190, 8.9, 2300, "Enercon E-82", "south", "2024-11-28", 52411],
    "WTG11": ["running", 2610, 12.3, 3600, "Siemens SWT-3.6", "ridge", "2025-04-02", 18750],
    "WTG12": ["curtailed", 2000, 12.7, 2000, "Siemens SWT-3.6", "ridge", "2025-04-03", 18522],
}

FAULTS = {
    r[0]: dict(zip(("turbine", "part", "severity", "reported", "status", "crew", "note"), r[1:]))
    for r in [
        (3301, "WTG03", "gearbox", "high", "2025-05-06", "open", None, "oil temperature above 85 C"),
        (3302, "WTG07", "pitch motor", "high", "2025-05-02", "assigned", "Kestrel", "blade 2 does not feather"),
        (3303, "WTG06", "anemometer", "low", "2025-04-28", "assigned", "Plover", "readings drift by 0.6 m/s"),
        (3304, "WTG09", "converter", "high", "2025-05-08", "open", None, "IGBT overcurrent trip"),
        (3305, "WTG05", "yaw drive", "medium", "2025-04-30", "assigned", "Kestrel", "grinding noise when turning west"),
        (3306, "WTG12", "transformer", "medium", "2025-05-05", "open", None, "humming, oil level low"),
        (3307, "WTG02", "hatch", "low", "2025-04-19", "closed", "Heron", "seal replaced"),
        (3308, "WTG10", "blade", "medium", "2025-05-07", "assigned", "Swift", "leading edge erosion on blade 1"),
        (3309, "WTG01", "obstruction light", "low", "2025-05-09", "open", None, "one of two lamps dark"),
        (3310, "WTG08", "hydraulic unit", "medium", "2025-04-22", "closed", "Plover", "pump swapped"),
        (3311, "WTG03", "ladder", "low", "2025-04-12", "closed", "Heron", "fall arrest rail tightened"),
        (3312, "WTG10", "lift", "low", "2025-05-03", "open", None, "door switch sticks"),
    ]
}

CREWS = {
    "Heron": ["Marta Lindgren", "07700 900412", 3, "Van 2", "mechanical", "on site"],
    "Kestrel": ["Dewi Morgan", "07700 900587", 4, "Van 1", "hydraulics", "on site"],
    "Plover": ["Aoife Brennan", "07700 900233", 2, "Van 4", "electrical", "standby"],
    "Swift": ["Karim Haddad", "07700 900768", 3, "Van 3", "rope access", "on site"],
    "Osprey": ["Joan Petrie", "07700 900149", 4, "Van 5", "electrical", "off duty"],
}


def _line(no, f):
    return f"#{no} {f['turbine']} {f['part']}, {f['severity']}, {f['status']}" + (f" ({f['crew']})" if f["crew"] else "") + f", reported {f['reported']}"


@server.tool()
def turbineStatus(turbine: str) -> str:
    """Live readings and master data of one turbine, e.g. WTG04."""
    t = TURBINES.get(turbine)
    if t is None:
        return f"Unknown turbine {turbine}"
    return (f"Turbine: {turbine}\nModel: {t[4]}\nRow: {t[5]}\nState: {t[0]}\nPower: {t[1]} kW\nWind: {t[2]} m/s\n"
            f"Output limit: {t[3]} kW\nLast service: {t[6]}\nOperating hours: {t[7]} h")


@server.tool()
def listTurbines(row: Literal["north", "south", "ridge"] | None = None,
                 state: Literal["running", "stopped", "curtailed", "maintenance"] | None = None) -> str:
    """One line per turbine: name, state, present power, wind, last service. Filter by row and/or state."""
    lines = [f"{n}  {t[0]}  {t[1]} kW  {t[2]} m/s  serviced {t[6]}" for n, t in TURBINES.items()
             if (not row or t[5] == row) and (not state or t[0] == state)]
    return "\n".join(lines) or "No turbines."


@server.tool()
def listFaults(turbine: str | None = None, severity: Literal["low", "medium", "high"] | None = None,
               status: Literal["open", "assigned", "closed"] | None = None, crew: str | None = None) -> str:
    """Fault log, one line per fault. "open" means nobody has been assigned yet."""
    lines = [_line(no, f) for no, f in FAULTS.items()
             if (not turbine or f["turbine"] == turbine) and (not severity or f["severity"] == severity)
             and (not status or f["status"] == status) and (not crew or f["crew"] == crew)]
    return "\n".join(lines) or "No faults."


@server.tool()
def faultDetails(faultNo: int) -> str:
    """Everything about one fault, with the technician's note."""
    f = FAULTS.get(faultNo)
    if f is None:
        return f"There is no fault {faultNo}."
    return (f"Fault: {faultNo}\nTurbine: {f['turbine']}\nPart: {f['part']}\nSeverity: {f['severity']}\nReported: {f['reported']}\n"
            f"Status: {f['status']}\nCrew: {f['crew'] or '-'}\nNote: {f['note']}")


@server.tool()
def crewInfo(name: str) -> str:
    """Lead, phone, headcount, van, trade and duty of a crew by its name."""
    c = CREWS.get(name)
    if c is None:
        raise ToolError(f"no crew called {name}; crews are {', '.join(CREWS)}")
    return f"Crew {name}: lead {c[0]}, phone {c[1]}, {c[2]} people, {c[3]}, trade {c[4]}, {c[5]}."


@server.tool()
def reportFault(turbine: str, part: str, severity: Literal["low", "medium", "high"], note: str = "") -> str:
    """Log a new fault on a turbine. It starts as open."""
    if turbine not in TURBINES:
        return f"Unknown turbine {turbine}"
    no = max(FAULTS) + 1
    FAULTS[no] = dict(turbine=turbine, part=part, severity=severity, reported="2025-05-10", status="open", crew=None, note=note)
    return "Logged " + _line(no, FAULTS[no])


@server.tool()
def assignCrew(faultNo: int, crew: str) -> str:
    """Send a crew to a fault; replaces the crew that had it."""
    if faultNo not in FAULTS:
        return f"There is no fault {faultNo}."
    if crew not in CREWS:
        raise ToolError(f"no crew called {crew}; crews are {', '.join(CREWS)}")
    FAULTS[faultNo].update(crew=crew, status="assigned")
    return "Assigned: " + _line(faultNo, FAULTS[faultNo])


@server.tool()
def closeFault(faultNo: int) -> str:
    """Mark a fault as repaired."""
    f = FAULTS.get(faultNo)
    if f is None:
        return f"There is no fault {faultNo}."
    if f["status"] == "closed":
        raise ToolError(f"fault {faultNo} is closed already")
    f["status"] = "closed"
    return "Closed: " + _line(faultNo, f)


@server.tool()
def setOutputLimit(turbine: str, limitKw: int) -> str:
    """Limit the power output of a turbine, in kW."""
    if turbine not in TURBINES:
        return f"Unknown turbine {turbine}"
    old, TURBINES[turbine][3] = TURBINES[turbine][3], limitKw
    return f"{turbine}: output limit {old} kW -> {limitKw} kW"


if __name__ == "__main__":
    server.run()
