from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("train-ops")

Depot = Literal["NOR", "HAF", "OST", "WAL"]
Status = Literal["in_service", "spare", "workshop"]

TYPES = {
    "T442": ("Kestrel", "Halden Works", "electric", 236, 160),
    "T250": ("Bunting", "Morava Rail", "diesel", 142, 120),
    "T610": ("Heron", "Halden Works", "electric", 388, 200),
    "T090": ("Wren", "Lumen Traction", "battery", 96, 100),
}
DEPOTS = {
    "NOR": ("Norrgate", "4 Foundry Lane", "555-0131", 12, 118),
    "HAF": ("Hafen Yard", "21 Quay Street", "555-0132", 8, 124),
    "OST": ("Osterby", "7 Mill Road", "555-0133", 9, 131),
    "WAL": ("Waldkamp", "2 Station Close", "555-0134", 5, 137),
}
UNITS = {u[0]: list(u[1:]) for u in [
    (4401, "T442", "NOR", "in_service", 812400, "2025-09-18"),
    (4402, "T442", "NOR", "workshop", 790115, "2025-09-03"),
    (4403, "T442", "HAF", "in_service", 655020, "2025-10-11"),
    (4404, "T442", "HAF", "spare", 640233, "2025-11-02"),
    (4405, "T442", "OST", "in_service", 702918, "2025-09-27"),
    (2501, "T250", "OST", "in_service", 1120560, "2025-09-09"),
    (2502, "T250", "OST", "workshop", 1098744, "2025-09-01"),
    (2503, "T250", "WAL", "spare", 987310, "2025-10-23"),
    (2504, "T250", "WAL", "in_service", 1004872, "2025-12-04"),
    (6101, "T610", "NOR", "in_service", 488200, "2025-10-02"),
    (6102, "T610", "NOR", "spare", 501377, "2025-09-21"),
    (6103, "T610", "HAF", "in_service", 476950, "2025-11-19"),
    (9001, "T090", "WAL", "in_service", 84310, "2026-01-15"),
    (9002, "T090", "WAL", "in_service", 79805, "2026-01-29"),
    (9003, "T090", "OST", "spare", 61220, "2026-02-10"),
]}
DRIVERS = {
    118: ("Hedda Frost", "NOR", "555-0141", "T442,T610"),
    119: ("Idris Cole", "NOR", "555-0142", "T442"),
    121: ("Yara Linde", "NOR", "555-0143", "T610"),
    124: ("Bruno Saks", "HAF", "555-0144", "T442,T610"),
    125: ("Mei Tan", "HAF", "555-0145", "T442"),
    127: ("Oskar Vane", "HAF", "555-0146", "T610"),
    131: ("Leila Marsh", "OST", "555-0147", "T250,T442"),
    132: ("Pavel Dunn", "OST", "555-0148", "T250"),
    134: ("Grace Oduya", "OST", "555-0149", "T442,T250"),
    137: ("Tilda Roe", "WAL", "555-0150", "T250,T090"),
    138: ("Finn Arkell", "WAL", "555-0151", "T090"),
    139: ("Sunil Bose", "WAL", "555-0152", "T250"),
}
DUTIES = {d[0]: list(d[1:]) for d in [
    ("D-201", "2025-09-08", "05:12", "12:40", "Norrgate", "Lindmoor", 4401, 119),
    ("D-202", "2025-09-08", "06:30", "14:05", "Hafen", "Norrgate", 6103, 127),
    ("D-203", "2025-09-08", "13:20", "20:50", "Osterby", "Castle Halt", 2501, 132),
    ("D-204", "2025-09-08", "15:00", "22:10", "Waldkamp", "Osterby", 9001, 138),
    ("D-205", "2025-09-09", "04:55", "12:15", "Norrgate", "Hafen", 6101, 121),
    ("D-206", "2025-09-09", "07:10", "15:00", "Hafen", "Lindmoor", 4403, 125),
    ("D-207", "2025-09-09", "12:45", "20:05", "Waldkamp", "Castle Halt", 2504, 139),
    ("D-208", "2025-09-09", "14:30", "22:00", "Osterby", "Norrgate", 4405, None),
    ("D-209", "2025-09-10", "05:40", "13:00", "Osterby", "Waldkamp", 2501, 131),
    ("D-210", "2025-09-10", "06:05", "13:55", "Norrgate", "Lindmoor", 4401, 118),
    ("D-211", "2025-09-10", "11:15", "19:00", "Hafen", "Norrgate", 6103, 124),
    ("D-212", "2025-09-10", "16:20", "23:30", "Waldkamp", "Lindmoor", 9002, None),
    ("D-213", "2025-09-11", "05:12", "12:40", "Norrgate", "Lindmoor", 4401, 119),
    ("D-214", "2025-09-11", "09:00", "16:45", "Osterby", "Castle Halt", 4405, 134),
]}


def _table(head, rows):
    rows = [head, *[["-" if v is None else str(v) for v in r] for r in rows]]
    widths = [max(len(r[i]) for r in rows) for i in range(len(head))]
    return "\n".join("  ".join(v.ljust(w) for v, w in zip(r, widths)).rstrip() for r in rows)


@server.tool(name="list-units")
def list_units(depot: Depot | None = None, status: Status | None = None, type: str | None = None) -> str:
    """Units by home depot, status and/or stock type code."""
    rows = [(u, v[0], v[1], v[2]) for u, v in UNITS.items()
            if (not depot or v[1] == depot) and (not status or v[2] == status) and (not type or v[0] == type)]
    return _table(["UNIT", "TYPE", "DEPOT", "STATUS"], rows) if rows else "no units"


@server.tool(name="unit-card")
def unit_card(unit: int) -> str:
    """Type, depot, status, mileage and next check of one unit."""
    if unit not in UNITS:
        raise ToolError(f"unit {unit}: unknown")
    return _table(["UNIT", "TYPE", "DEPOT", "STATUS", "KM", "NEXT_CHECK"], [(unit, *UNITS[unit])])


@server.tool(name="stock-type")
def stock_type(code: str) -> str:
    """Rolling stock type, e.g. T442."""
    if code not in TYPES:
        raise ToolError(f"stock type {code}: unknown")
    return _table(["CODE", "NAME", "BUILDER", "TRACTION", "SEATS", "VMAX_KMH"], [(code, *TYPES[code])])


@server.tool(name="drivers")
def drivers(number: int | None = None, name: str | None = None, depot: Depot | None = None) -> str:
    """Drivers by staff number, (part of a) name or depot. TYPES = stock the driver is licensed for."""
    rows = [(n, *d) for n, d in DRIVERS.items()
            if (number is None or n == number) and (not name or name.casefold() in d[0].casefold()) and (not depot or d[1] == depot)]
    return _table(["NO", "NAME", "DEPOT", "PHONE", "TYPES"], rows) if rows else "no such driver"


@server.tool(name="depot-info")
def depot_info(code: Depot) -> str:
    """Depot data; MANAGER is a staff number."""
    return _table(["CODE", "NAME", "ADDRESS", "PHONE", "TRACKS", "MANAGER"], [(code, *DEPOTS[code])])


@server.tool(name="list-duties")
def list_duties(date: str | None = None, driver: int | None = None, unit: int | None = None) -> str:
    """Duties of a date (YYYY-MM-DD), a driver (staff number) and/or a unit."""
    rows = [(k, *v[:5]) for k, v in DUTIES.items()
            if (not date or v[0] == date) and (driver is None or v[6] == driver) and (unit is None or v[5] == unit)]
    return _table(["DUTY", "DATE", "START", "END", "FROM", "TO"], rows) if rows else "no duties"


@server.tool(name="duty-sheet")
def duty_sheet(duty: str) -> str:
    """One duty with its unit and driver (staff number, - if nobody is assigned)."""
    if duty not in DUTIES:
        raise ToolError(f"duty {duty}: unknown")
    return _table(["DUTY", "DATE", "START", "END", "FROM", "TO", "UNIT", "DRIVER"], [(duty, *DUTIES[duty])])


@server.tool(name="change-duty")
def change_duty(duty: str, driver: int | None = None, unit: int | None = None, start: str | None = None, end: str | None = None) -> str:
    """Change driver, unit, start or end (HH:MM) of a duty."""
    if duty not in DUTIES:
        raise ToolError(f"duty {duty}: unknown")
    if driver is not None and driver not in DRIVERS:
        raise ToolError(f"driver {driver}: unknown")
    if unit is not None and unit not in UNITS:
        raise ToolError(f"unit {unit}: unknown")
    rows, row = [], DUTIES[duty]
    for field, i, value in (("driver", 6, driver), ("unit", 5, unit), ("start", 1, start), ("end", 2, end)):
        if value is not None:
            rows.append((duty, field, row[i], value))
            row[i] = value
    if not rows:
        raise ToolError("no change given")
    return _table(["DUTY", "FIELD", "OLD", "NEW"], rows)


@server.tool(name="set-unit")
def set_unit(unit: int, status: Status | None = None, depot: Depot | None = None, next_check: str | None = None) -> str:
    """Change status, home depot or date of the next check (YYYY-MM-DD) of a unit."""
    if unit not in UNITS:
        raise ToolError(f"unit {unit}: unknown")
    rows, row = [], UNITS[unit]
    for field, i, value in (("depot", 1, depot), ("status", 2, status), ("next_check", 4, next_check)):
        if value is not None:
            rows.append((unit, field, row[i], value))
            row[i] = value
    if not rows:
        raise ToolError("no change given")
    return _table(["UNIT", "FIELD", "OLD", "NEW"], rows)


if __name__ == "__main__":
    server.run()
