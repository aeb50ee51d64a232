from typing import Literal, Optional
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("solar-fleet")

# site_id: address, town, panels, kWp, tilt, commissioned, last month kWh, owner, inverter
_S = [
    ("PV-101", "4 Mill Lane", "Ashby", 24, 9.6, 32, "2019-05-14", 812, 11, "SN4471"),
    ("PV-102", "18 Church Street", "Ashby", 18, 7.2, 35, "2020-03-02", 590, 12, "SN4480"),
    ("PV-103", "Dairy Barn, Hollow Farm", "Norwell", 96, 38.4, 15, "2018-09-21", 3120, 13, "SN5102"),
    ("PV-104", "Primary School, 2 School Road", "Norwell", 60, 24.0, 20, "2021-07-30", 1985, 14, "SN5119"),
    ("PV-105", "7 Quay Street", "Pentre", 16, 6.4, 40, "2022-04-11", 548, 15, "SN6003"),
    ("PV-106", "31 Quay Street", "Pentre", 20, 8.0, 38, "2022-06-08", 641, 16, "SN6010"),
    ("PV-107", "Machine Shed, Hollow Farm", "Norwell", 72, 28.8, 12, "2020-10-05", 2210, 13, "SN5104"),
    ("PV-108", "55 Station Road", "Ashby", 22, 8.8, 30, "2023-02-17", 705, 17, "SN7215"),
    ("PV-109", "Sports Hall, 9 Arena Way", "Kirkby", 120, 51.6, 10, "2023-08-24", 4302, 18, "SN7301"),
    ("PV-110", "Bakery, 3 Market Place", "Kirkby", 34, 13.6, 25, "2021-11-12", 1050, 19, "SN5530"),
    ("PV-111", "12 Orchard Close", "Pentre", 14, 5.6, 45, "2017-06-19", 402, 20, "SN3308"),
    ("PV-112", "Fire Station, 1 Brook Road", "Ashby", 48, 20.6, 18, "2024-03-27", 1633, 14, "SN7990"),
    ("PV-113", "26 Orchard Close", "Pentre", 15, 6.0, 42, "2019-08-01", 466, 21, "SN4519"),
    ("PV-114", "Warehouse C, Dock Road", "Kirkby", 210, 90.3, 8, "2024-09-10", 7380, 22, "SN8120"),
    ("PV-115", "8 Mill Lane", "Ashby", 20, 8.2, 33, "2021-05-03", 668, 23, "SN5541"),
    ("PV-116", "Village Hall, 40 High Street", "Norwell", 30, 12.0, 28, "2018-04-16", 955, 24, "SN4102"),
]
SITES = {s[0]: dict(zip(("site_id", "address", "town", "panels", "kwp", "tilt", "commissioned", "last_month", "owner_id", "inverter"), s)) for s in _S}

# serial: model, rated kW, firmware, temperature, efficiency, warranty
_I = {
    "SN4471": ("Helion H10", 10.0, "2.8.1", 41, 97.1, "2029-05-14"),
    "SN4480": ("Helion H8", 8.0, "2.8.1", 39, 96.8, "2030-03-02"),
    "SN5102": ("Kestra K40", 40.0, "5.0.3", 52, 97.9, "2028-09-21"),
    "SN5119": ("Kestra K25", 25.0, "5.1.0", 47, 97.6, "2031-07-30"),
    "SN6003": ("Sunvolt S6", 6.0, "1.14", 63, 95.2, "2027-04-11"),
    "SN6010": ("Sunvolt S8", 8.0, "1.16", 44, 95.9, "2027-06-08"),
    "SN5104": ("Kestra K30", 30.0, "4.9.7", 49, 97.4, "2030-10-05"),
    "SN7215": ("Helion H10", 10.0, "3.0.2", 38, 97.3, "2033-02-17"),
    "SN7301": ("Kestra K50", 50.0, "5.2.0", 55, 98.1, "2035-08-24"),
    "SN5530": ("Helion H15", 15.0, "2.9.4", 58, 96.5, "2031-11-12"),
    "SN3308": ("Sunvolt S5", 5.0, "1.09", 46, 93.7, "2022-06-19"),
    "SN7990": ("Kestra K20", 20.0, "5.2.0", 43, 97.8, "2034-03-27"),
    "SN4519": ("Sunvolt S6", 6.0, "1.12", 42, 94.8, "2024-08-01"),
    "SN8120": ("Kestra K100", 100.0, "5.2.1", 51, 98.3, "2036-09-10"),
    "SN5541": ("Helion H8", 8.0, "2.9.0", 40, 96.9, "2031-05-03"),
    "SN4102": ("Helion H12", 12.0, "2.7.5", 45, 96.2, "2028-04-16"),
}

# name, phone, email, tariff ct/kWh, service plan, customer since
OWNERS = {
    11: ("Tamsin Ord", "555-0111", "tamsin@ord.example", 8.2, "basic", 2019),
    12: ("Harvey Blunt", "555-0112", "h.blunt@post.example", 7.9, "full", 2020),
    13: ("Hollow Farm Partnership", "555-0113", "office@hollowfarm.example", 6.4, "full", 2018),
    14: ("Ashwell District Council", "555-0114", "estates@ashwell.example", 6.9, "full", 2021),
    15: ("Ines Caldwell", "555-0115", "ines.c@mail.example", 7.4, "basic", 2022),
    16: ("Rufus Penn", "555-0116", "rufus@penn.example", 7.4, "none", 2022),
    17: ("Mei Lund", "555-0117", "mei.lund@mail.example", 7.1, "full", 2023),
    18: ("Kirkby Leisure Trust", "555-0118", "hall@kirkbyleisure.example", 6.1, "full", 2023),
    19: ("Okoro Bakery", "555-0119", "flour@okoro.example", 6.8, "basic", 2021),
    20: ("Edwin Maybury", "555-0120", "edwin@maybury.example", 11.5, "none", 2017),
    21: ("Sela Trant", "555-0121", "sela.trant@mail.example", 8.2, "basic", 2019),
    22: ("Dockside Logistics", "555-0122", "facilities@dockside.example", 5.7, "full", 2024),
    23: ("Gil Farrow", "555-0123", "gil@farrow.example", 7.6, "basic", 2021),
    24: ("Norwell Parish", "555-0124", "clerk@norwell.example", 9.0, "basic", 2018),
}

# site, description, severity, reported, status, lost kWh
FAULTS = {
    "F-501": ["PV-105", "Inverter overheating, fan blocked", "high", "2026-05-02", "open", 74],
    "F-502": ["PV-110", "Earth leakage trip", "critical", "2026-05-04", "acknowledged", 133],
    "F-503": ["PV-111", "Two cracked panels", "medium", "2026-04-19", "open", 38],
    "F-504": ["PV-103", "String 4 without current", "high", "2026-05-06", "open", 210],
    "F-505": ["PV-116", "No data from meter", "low", "2026-04-27", "acknowledged", 0],
    "F-506": ["PV-109", "Pigeon nest under row C", "low", "2026-03-30", "resolved", 12],
    "F-507": ["PV-114", "Isolator burnt", "critical", "2026-05-07", "open", 640],
    "F-508": ["PV-101", "Loose cable clip", "low", "2026-05-05", "open", 3],
    "F-509": ["PV-104", "Wi-Fi stick offline", "low", "2026-05-01", "open", 0],
    "F-510": ["PV-107", "Optimiser failed on panel 31", "medium", "2026-04-22", "acknowledged", 29],
    "F-511": ["PV-113", "Firmware update hung", "medium", "2026-05-03", "open", 51],
    "F-512": ["PV-102", "Surge protector spent", "medium", "2026-02-11", "resolved", 20],
}

# site, fault, technician, date, arrival, status
VISITS = {
    301: ["PV-105", "F-501", "Jonas Reed", "2026-05-12", "08:30", "planned"],
    302: ["PV-110", "F-502", "Amira Sol", "2026-05-11", "07:45", "planned"],
    303: ["PV-111", "F-503", "Pete Vance", "2026-05-14", "13:00", "planned"],
    304: ["PV-103", "F-504", "Amira Sol", "2026-05-13", "09:15", "planned"],
    305: ["PV-114", "F-507", "Jonas Reed", "2026-05-11", "10:00", "planned"],
    306: ["PV-116", "F-505", "Pete Vance", "2026-05-12", "15:30", "planned"],
    307: ["PV-107", "F-510", "Amira Sol", "2026-05-13", "11:45", "planned"],
    308: ["PV-109", "F-506", "Pete Vance", "2026-04-08", "09:00", "done"],
    309: ["PV-112", None, "Jonas Reed", "2026-05-19", "14:00", "planned"],
    310: ["PV-108", None, "Pete Vance", "2026-05-20", "10:30", "planned"],
    311: ["PV-102", "F-512", "Amira Sol", "2026-02-18", "08:00", "done"],
    312: ["PV-113", "F-511", "Jonas Reed", "2026-05-15", "16:00", "cancelled"],
}


def q(value, unit):
    return {"value": value, "unit": unit}


def visit_row(k):
    v = VISITS[k]
    return {"visit_id": k, "site_id": v[0], "fault_id": v[1], "technician": v[2], "date": v[3], "arrival": v[4], "status": v[5]}


def fault_row(k):
    f = FAULTS[k]
    return {"fault_id": k, "site_id": f[0], "description": f[1], "severity": f[2], "reported": f[3], "status": f[4]}


@server.tool()
def find_sites(town: Optional[str] = None, address: Optional[str] = None) -> list[dict]:
    "Search installations by town and/or part of the address. Returns site ids with size; use get_site for the details."
    hits = [s for s in SITES.values() if (not town or s["town"].lower() == town.lower()) and (not address or address.lower() in s["address"].lower())]
    if not (town or address):
        raise ToolError("Give a town or part of an address.")
    return [{"site_id": s["site_id"], "address": s["address"], "town": s["town"], "capacity_kwp": s["kwp"]} for s in hits]


@server.tool()
def get_site(site_id: str) -> dict:
    "One installation (id like PV-101): place, panels, capacity, yield, owner id and inverter serial."
    s = SITES.get(site_id)
    if not s:
        raise ToolError(f"site {site_id} not found")
    return {"site_id": site_id, "address": s["address"], "town": s["town"], "panels": s["panels"], "capacity": q(s["kwp"], "kWp"), "tilt": q(s["tilt"], "deg"),
            "commissioned": s["commissioned"], "yield_last_month": q(s["last_month"], "kWh"), "owner_id": s["owner_id"], "inverter_serial": s["inverter"]}


@server.tool()
def get_inverter(serial: str) -> dict:
    "Inverter data by serial number (SN and four digits)."
    if serial not in _I:
        raise ToolError(f"no inverter with serial {serial}")
    m, kw, fw, t, eff, w = _I[serial]
    return {"serial": serial, "model": m, "rated_power": q(kw, "kW"), "firmware": fw, "temperature": q(t, "°C"), "efficiency": q(eff, "%"),
            "warranty_until": w, "site_id": next(s["site_id"] for s in SITES.values() if s["inverter"] == serial)}


@server.tool()
def get_owner(owner_id: int) -> dict:
    "Contact and contract of an owner."
    if owner_id not in OWNERS:
        raise ToolError(f"owner {owner_id} not found")
    n, p, e, t, plan, since = OWNERS[owner_id]
    return {"owner_id": owner_id, "name": n, "phone": p, "email": e, "feed_in_tariff": q(t, "ct/kWh"), "service_plan": plan, "customer_since": since}


@server.tool()
def get_fault(fault_id: str) -> dict:
    "Full record of a fault report, e.g. F-501, with the energy lost so far."
    if fault_id not in FAULTS:
        raise ToolError(f"fault {fault_id} not found")
    return {**fault_row(fault_id), "energy_lost": q(FAULTS[fault_id][5], "kWh")}


@server.tool()
def list_faults(site_id: Optional[str] = None, severity: Optional[Literal["low", "medium", "high", "critical"]] = None,
                status: Optional[Literal["open", "acknowledged", "resolved"]] = None) -> list[dict]:
    "Fault reports, filtered by site, severity or status."
    return [fault_row(k) for k, f in FAULTS.items() if (not site_id or f[0] == site_id) and (not severity or f[2] == severity) and (not status or f[4] == status)]


@server.tool()
def list_visits(visit_id: Optional[int] = None, site_id: Optional[str] = None, technician: Optional[str] = None, date: Optional[str] = None) -> list[dict]:
    "Technicians' visits. Filter by visit number, site, technician (first name is enough) or date (YYYY-MM-DD)."
    return [visit_row(k) for k, v in VISITS.items() if (visit_id is None or k == visit_id) and (not site_id or v[0] == site_id)
            and (not technician or technician.lower() in v[2].lower()) and (not date or v[3] == date)]


@server.tool()
def set_fault_status(fault_id: str, status: Literal["open", "acknowledged", "resolved"]) -> dict:
    "Change the status of a fault: resolved when repaired, acknowledged when somebody is on it."
    if fault_id not in FAULTS:
        raise ToolError(f"fault {fault_id} not found")
    old, FAULTS[fault_id][4] = FAULTS[fault_id][4], status
    return {"fault_id": fault_id, "status": status, "previous_status": old}


@server.tool()
def update_visit(visit_id: int, date: Optional[str] = None, technician: Optional[Literal["Jonas Reed", "Amira Sol", "Pete Vance"]] = None,
                 arrival: Optional[str] = None, status: Optional[Literal["planned", "done", "cancelled"]] = None) -> dict:
    "Change a visit: new date (YYYY-MM-DD), arrival time (HH:MM), technician or status. Only what is given changes."
    if visit_id not in VISITS:
        raise ToolError(f"visit {visit_id} not found")
    v = VISITS[visit_id]
    for i, x in ((2, technician), (3, date), (4, arrival), (5, status)):
        if x is not None:
            v[i] = x
    return visit_row(visit_id)


if __name__ == "__main__":
    server.run()
