from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("depot-east")
Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

# fleet no: plate, model, fuel, seats, km, state, bay, next inspection
BUS_COLS = ("plate", "model", "fuel", "seats", "km", "state", "bay", "inspection due")
BUSES = {n: dict(zip(BUS_COLS, r)) for n, *r in [
    (101, "KD-E 4101", "Citaro", "diesel", 38, 412880, "in service", "A1", "2026-05-12"),
    (102, "KD-E 4102", "Citaro", "diesel", 38, 398215, "workshop", "W2", "2026-04-03"),
    (103, "KD-E 4103", "Citaro G", "diesel", 52, 455030, "in service", "A3", "2026-06-19"),
    (107, "KD-E 4107", "Lion's City", "hybrid", 41, 231460, "in service", "A7", "2026-07-08"),
    (108, "KD-E 4108", "Lion's City", "hybrid", 41, 227905, "spare", "B1", "2026-04-21"),
    (112, "KD-E 4112", "Lion's City G", "hybrid", 55, 198340, "in service", "B4", "2026-09-15"),
    (201, "KD-X 201E", "eCitaro", "electric", 36, 88120, "in service", "C1", "2026-10-02"),
    (202, "KD-X 202E", "eCitaro", "electric", 36, 91475, "in service", "C2", "2026-10-09"),
    (203, "KD-X 203E", "eCitaro", "electric", 36, 79640, "workshop", "W1", "2026-11-13"),
    (204, "KD-X 204E", "Urbino 18", "electric", 50, 45210, "in service", "C4", "2027-01-22"),
    (205, "KD-X 205E", "Urbino 18", "electric", 50, 43985, "spare", "C5", "2027-01-29"),
    (301, "KD-M 3010", "Sprinter City", "diesel", 14, 167350, "in service", "D1", "2026-04-28"),
    (302, "KD-M 3020", "Sprinter City", "diesel", 14, 172800, "retired", "D9", "2026-03-30"),
]}
# badge: name, phone, licence until, hours this week, team, years
DRIVER_COLS = ("name", "phone", "licence valid until", "hours this week", "team", "joined")
DRIVERS = {b: dict(zip(DRIVER_COLS, r)) for b, *r in [
    ("D03", "Hilde Marschall", "7703", "2028-02-14", 31.5, "early", 2004),
    ("D08", "Yusuf Aydin", "7708", "2027-09-30", 36.0, "early", 2011),
    ("D11", "Tomasz Wilk", "7711", "2026-06-05", 28.0, "late", 2013),
    ("D14", "Carla Benedetti", "7714", "2029-01-18", 38.5, "late", 2015),
    ("D17", "Samuel Okonjo", "7717", "2027-03-22", 24.0, "night", 2018),
    ("D21", "Renate Fuchs", "7721", "2026-04-11", 33.0, "early", 2019),
    ("D22", "Piet Jansma", "7722", "2030-08-01", 19.5, "late", 2022),
    ("D26", "Lena Horvat", "7726", "2029-11-27", 35.0, "night", 2023),
    ("D29", "Abel Mensah", "7729", "2030-12-16", 12.0, "relief", 2025),
]}
# duty: day, line, start, end, badge, fleet no
DUTIES = {d: dict(zip(("day", "line", "start", "end", "driver", "bus"), r)) for d, *r in [
    ("M1", "mon", "4", "04:50", "12:35", "D03", 101),
    ("M2", "mon", "4", "12:20", "20:10", "D14", 101),
    ("M3", "mon", "17", "05:15", "13:00", "D08", 201),
    ("M4", "mon", "17", "13:00", "21:30", "D11", 202),
    ("T1", "tue", "4", "04:50", "12:35", "D21", 103),
    ("T2", "tue", "4", "12:20", "20:10", None, 103),
    ("T3", "tue", "17", "05:15", "13:00", "D08", 204),
    ("T4", "tue", "N9", "22:40", "05:20", "D17", 107),
    ("W1", "wed", "4", "04:50", "12:35", "D03", 112),
    ("W2", "wed", "52", "06:30", "14:15", "D21", 301),
    ("W3", "wed", "52", "14:10", "21:00", "D22", 301),
    ("W4", "wed", "N9", "22:40", "05:20", "D26", 107),
    ("H1", "thu", "17", "05:15", "13:00", "D03", 202),
    ("H2", "thu", "17", "13:00", "21:30", "D14", 202),
    ("H3", "thu", "52", "06:30", "14:15", None, 301),
    ("F1", "fri", "4", "04:50", "12:35", "D08", 101),
    ("F2", "fri", "4", "12:20", "20:10", "D11", 112),
    ("F3", "fri", "N9", "22:40", "05:20", "D26", None),
    ("S1", "sat", "4", "07:00", "15:30", "D29", 204),
    ("S2", "sat", "N9", "22:40", "06:00", None, 107),
    ("U1", "sun", "4", "08:00", "16:00", "D22", 103),
]}

def duty_line(code):
    d = DUTIES[code]
    who = f"{d['driver']} {DRIVERS[d['driver']]['name']}" if d["driver"] else "NO DRIVER"
    return f"{code}  {d['day']}  line {d['line']}  {d['start']}-{d['end']}  {who}  " + (f"bus {d['bus']}" if d["bus"] else "NO BUS")

@server.tool(name="bus")
def bus(fleet_no: int) -> str:
    "Show one bus"
    b = BUSES.get(fleet_no)
    if not b: return f"no bus {fleet_no} in this depot"
    return f"Bus {fleet_no} ({b['plate']}) is {'an' if b['fuel'] == 'electric' else 'a'} {b['fuel']} {b['model']} with {b['seats']} seats and {b['km']} km. State: {b['state']}, parked in bay {b['bay']}. Inspection due {b['inspection due']}."

@server.tool(name="list-buses")
def list_buses(state: Literal["in service", "spare", "workshop", "retired"] | None = None, fuel: Literal["diesel", "hybrid", "electric"] | None = None) -> str:
    "Table of buses, by state and/or fuel"
    rows = [(n, b) for n, b in BUSES.items() if state in (None, b["state"]) and fuel in (None, b["fuel"])]
    if not rows: return "none"
    return "no   model          seats  km      state       bay  inspection\n" + "\n".join(f"{n}  {b['model']:<14} {b['seats']:<6} {b['km']:<7} {b['state']:<11} {b['bay']:<4} {b['inspection due']}" for n, b in rows)

@server.tool(name="find-driver")
def find_driver(name: str) -> str:
    "Badge numbers of drivers whose name contains the text"
    hits = [f"{k} {d['name']} ({d['team']} team)" for k, d in DRIVERS.items() if name.casefold() in d["name"].casefold()]
    return "\n".join(hits) or f"no driver named {name}"

@server.tool(name="driver")
def driver(badge: str) -> str:
    "Show one driver by badge (Dnn)"
    d = DRIVERS.get(badge)
    if not d: raise ToolError(f"unknown badge {badge}")
    return f"badge: {badge}\n" + "\n".join(f"{k}: {v}" for k, v in d.items())

@server.tool(name="duties")
def duties(day: Day | None = None, line: str | None = None, badge: str | None = None, fleet_no: int | None = None, open_only: bool = False) -> str:
    "This week's duties, one a line. Filter by day, bus line (4, 17, 52, N9), driver's badge, bus, or only those without a driver. At least one filter is required."
    if not (day or line or badge or fleet_no or open_only): raise ToolError("give at least one filter")
    if badge and badge not in DRIVERS: raise ToolError(f"unknown badge {badge}")
    codes = [c for c, d in DUTIES.items() if day in (None, d["day"]) and line in (None, d["line"]) and badge in (None, d["driver"]) and fleet_no in (None, d["bus"]) and not (open_only and d["driver"])]
    return "\n".join(map(duty_line, codes)) or "no duties"

@server.tool(name="show-duty")
def show_duty(duty: str) -> str:
    "Show one duty by its code, e.g. M1"
    if duty not in DUTIES: raise ToolError(f"unknown duty {duty}")
    return duty_line(duty)

@server.tool(name="edit-duty")
def edit_duty(duty: str, badge: str | None = None, fleet_no: int | None = None, start: str | None = None, end: str | None = None, clear_driver: bool = False) -> str:
    "Put a driver (badge) or bus (fleet_no) on a duty, change its start/end (HH:MM), or take the driver off (clear_driver)"
    if duty not in DUTIES: raise ToolError(f"unknown duty {duty}")
    if badge and badge not in DRIVERS: raise ToolError(f"unknown badge {badge}")
    if fleet_no and fleet_no not in BUSES: raise ToolError(f"no bus {fleet_no} in this depot")
    if fleet_no and BUSES[fleet_no]["state"] in ("workshop", "retired"): raise ToolError(f"bus {fleet_no} is {BUSES[fleet_no]['state']}")
    d = DUTIES[duty]
    d.update({k: v for k, v in dict(driver=badge, bus=fleet_no, start=start, end=end).items() if v})
    if clear_driver: d["driver"] = None
    return "OK " + duty_line(duty)

@server.tool(name="set-bus")
def set_bus(fleet_no: int, state: Literal["in service", "spare", "workshop", "retired"] | None = None, bay: str | None = None, km: int | None = None, inspection_due: str | None = None) -> str:
    "Update a bus: state, bay, odometer in km, next inspection (YYYY-MM-DD)"
    if fleet_no not in BUSES: return f"no bus {fleet_no} in this depot"
    b = BUSES[fleet_no]
    if km is not None and km < b["km"]: return f"refused: odometer already at {b['km']}"
    new = {k: v for k, v in {"state": state, "bay": bay, "km": km, "inspection due": inspection_due}.items() if v is not None}
    b.update(new)
    return f"OK bus {fleet_no}: " + ", ".join(f"{k} = {v}" for k, v in new.items())

@server.tool(name="set-driver")
def set_driver(badge: str, phone: str | None = None, hours: float | None = None, team: Literal["early", "late", "night", "relief"] | None = None, licence_until: str | None = None) -> str:
    "Update a driver: phone extension, hours this week, team, licence date (YYYY-MM-DD)"
    if badge not in DRIVERS: raise ToolError(f"unknown badge {badge}")
    new = {k: v for k, v in {"phone": phone, "hours this week": hours, "team": team, "licence valid until": licence_until}.items() if v is not None}
    DRIVERS[badge].update(new)
    return f"OK {badge} {DRIVERS[badge]['name']}: " + ", ".join(f"{k} = {v}" for k, v in new.items())

if __name__ == "__main__":
    server.run()
