from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("foodbank-rota")

SITES = {
    "Riverside": dict(site="Riverside", address="14 Quay Road", phone="555-0140", manager="Helen Tarr", open="Mon-Fri 09:00-16:00", parking="yard behind the church", cold_room=True, door_code="4471#", families_per_week=210),
    "Mill Street": dict(site="Mill Street", address="88 Mill Street", phone="555-0155", manager="Oscar Bello", open="Tue-Sat 10:00-18:00", parking="none", cold_room=False, door_code="9020", families_per_week=135),
    "Northgate": dict(site="Northgate", address="3 Northgate Arcade", phone="555-0162", manager="Priya Nair", open="Wed 12:00-19:00", parking="level 2 of the arcade", cold_room=False, door_code="1186", families_per_week=64),
    "Warehouse": dict(site="Warehouse", address="Unit 7, Harrow Estate", phone="555-0119", manager="Dougie Laird", open="Mon-Sat 06:30-14:30", parking="loading bay", cold_room=True, door_code="7753*", families_per_week=0),
    "St Anne's": dict(site="St Anne's", address="21 Chapel Lane", phone="555-0178", manager="Sister Bernadette", open="Thu 08:30-12:30", parking="street only", cold_room=False, door_code="3308", families_per_week=47),
}

_P = [
    # id, name, role, phone, home site, since, hours 2025, languages, licence, first aid until, status, emergency contact
    ("V-01", "Ruth Okafor", "driver", "555-2210", "Warehouse", "2019-04-02", 142.5, "English, Igbo", "truck", "2026-03-31", "active", "Ben Okafor 555-2211"),
    ("V-02", "Leo Brandt", "sorter", "555-2387", "Warehouse", "2022-09-12", 61.0, "English, German", "none", None, "active", "Uta Brandt 555-2390"),
    ("V-03", "Carmen Ibarra", "front desk", "555-2418", "Riverside", "2020-01-20", 118.0, "English, Spanish", "van", "2025-12-15", "active", "Luis Ibarra 555-2419"),
    ("V-04", "Graham Pell", "driver", "555-2033", "Riverside", "2018-06-11", 97.5, "English", "van", "2024-08-30", "on leave", "Moira Pell 555-2034"),
    ("V-05", "Aisha Rahman", "team lead", "555-2571", "Mill Street", "2017-11-05", 203.0, "English, Bengali, Urdu", "van", "2027-01-18", "active", "Tariq Rahman 555-2572"),
    ("V-06", "Noel Stubbs", "sorter", "555-2642", "Warehouse", "2024-02-27", 33.5, "English", "none", None, "active", "Joan Stubbs 555-2600"),
    ("V-07", "Mei Tanaka", "cook", "555-2709", "Northgate", "2021-08-16", 76.0, "English, Japanese", "none", "2026-05-22", "active", "Ken Tanaka 555-2710"),
    ("V-08", "Patrick Doyle", "front desk", "555-2855", "St Anne's", "2016-03-14", 88.5, "English, Irish", "van", "2025-11-09", "active", "Father Quinn 555-2801"),
    ("V-09", "Zofia Nowak", "sorter", "555-2930", "Mill Street", "2023-05-08", 54.0, "English, Polish", "none", None, "active", "Adam Nowak 555-2931"),
    ("V-10", "Terrence Gill", "driver", "555-3012", "Warehouse", "2021-10-01", 129.0, "English, Punjabi", "truck", "2026-09-04", "active", "Simran Gill 555-3013"),
    ("V-11", "Beatriz Lobo", "cook", "555-3144", "Northgate", "2023-01-30", 45.5, "English, Portuguese", "none", "2025-10-28", "active", "Rui Lobo 555-3145"),
    ("V-12", "Hugh Mallory", "sorter", "555-3206", "Riverside", "2015-09-21", 12.0, "English, Welsh", "van", None, "left", "Anna Mallory 555-3207"),
    ("V-13", "Samira Haddad", "team lead", "555-3377", "Riverside", "2019-12-09", 171.5, "English, Arabic, French", "van", "2026-11-30", "active", "Karim Haddad 555-3378"),
    ("V-14", "Ollie Frost", "sorter", "555-3490", "Warehouse", "2025-03-03", 28.0, "English", "none", None, "active", "Dee Frost 555-3491"),
    ("V-15", "Wanda Kirk", "front desk", "555-3518", "Mill Street", "2020-07-27", 104.0, "English, British Sign Language", "none", "2025-12-01", "active", "Stan Kirk 555-3519"),
    ("V-16", "Imran Sheikh", "driver", "555-3661", "Mill Street", "2022-04-18", 83.0, "English, Urdu", "van", "2027-02-10", "active", "Nadia Sheikh 555-3662"),
    ("V-17", "Elsie Crane", "cook", "555-3725", "St Anne's", "2014-10-06", 66.5, "English", "none", "2025-10-20", "active", "Rose Crane 555-3726"),
    ("V-18", "Jamal Frost", "sorter", "555-3804", "Northgate", "2024-11-18", 37.0, "English, French", "van", None, "on leave", "Dee Frost 555-3491"),
    ("V-19", "Petra Holm", "team lead", "555-3959", "Warehouse", "2018-02-12", 190.0, "English, Danish", "truck", "2026-07-07", "active", "Nils Holm 555-3960"),
    ("V-20", "Cyril Banks", "front desk", "555-4021", "Riverside", "2024-06-24", 41.0, "English", "none", None, "active", "Gwen Banks 555-4022"),
]
_PK = ["id", "name", "role", "phone", "home site", "since", "hours 2025", "languages", "licence", "first aid until", "status", "emergency contact"]
PEOPLE = {r[0]: dict(zip(_PK, r)) for r in _P}

_S = [
    # id, date, start, end, site, task, needed, lead, assigned
    ("a41f", "2025-10-06", "06:30", "10:30", "Warehouse", "unload supermarket pallets", 4, "V-19", ["V-02", "V-06", "V-10", "V-14"]),
    ("b07c", "2025-10-06", "09:00", "12:30", "Riverside", "hand out parcels", 3, "V-13", ["V-03", "V-20"]),
    ("c93e", "2025-10-07", "10:00", "14:00", "Mill Street", "hand out parcels", 3, "V-05", ["V-09", "V-15"]),
    ("d5a2", "2025-10-07", "07:00", "11:00", "Warehouse", "van round east", 2, "V-19", ["V-01"]),
    ("e118", "2025-10-08", "11:00", "15:30", "Northgate", "cook community lunch", 3, "V-13", ["V-07", "V-11"]),
    ("f6d0", "2025-10-08", "15:30", "19:00", "Northgate", "evening hand-out", 2, "V-05", ["V-16"]),
    ("0b8e", "2025-10-09", "08:30", "12:30", "St Anne's", "breakfast club", 3, "V-13", ["V-08", "V-17"]),
    ("17cc", "2025-10-09", "13:00", "16:00", "Warehouse", "check use-by dates", 2, "V-19", ["V-02", "V-14"]),
    ("2f39", "2025-10-10", "09:00", "13:00", "Riverside", "hand out parcels", 4, "V-13", ["V-03"]),
    ("3da7", "2025-10-10", "14:00", "18:00", "Mill Street", "pack student boxes", 3, "V-05", ["V-09", "V-15", "V-16"]),
    ("4e60", "2025-10-11", "07:30", "12:00", "Warehouse", "harvest festival collection", 5, "V-19", ["V-01", "V-06"]),
    ("58b1", "2025-10-11", "10:00", "13:30", "Mill Street", "baby bank", 2, "V-05", ["V-15"]),
    ("6c2d", "2025-10-13", "06:30", "10:30", "Warehouse", "unload supermarket pallets", 4, "V-19", ["V-02", "V-10"]),
    ("79f4", "2025-10-14", "10:00", "14:00", "Mill Street", "hand out parcels", 3, "V-05", ["V-09"]),
    ("8a05", "2025-10-15", "11:00", "15:30", "Northgate", "cook community lunch", 3, "V-13", ["V-11"]),
    ("9e7b", "2025-10-16", "08:30", "12:30", "St Anne's", "breakfast club", 3, "V-13", ["V-08", "V-17", "V-20"]),
]
_SK = ["id", "date", "start", "end", "site", "task", "needed", "lead", "assigned"]
SHIFTS = {r[0]: dict(zip(_SK, r)) for r in _S}


def _site(name):
    return next((s for s in SITES if s.lower() == name.strip().lower()), None)


def _person(volunteer_id):
    p = PEOPLE.get(volunteer_id.strip().upper())
    if not p:
        raise ToolError(f"Unknown volunteer id {volunteer_id}")
    return p


def _shift(shift_id):
    s = SHIFTS.get(shift_id.strip().lower())
    if not s:
        raise ToolError(f"Unknown shift {shift_id}")
    return s


@server.tool(name="find-volunteer")
def find_volunteer(name: str) -> str:
    "Volunteers by name or part of it, with their ids."
    hits = [p for p in PEOPLE.values() if name.strip().lower() in p["name"].lower()]
    return "\n".join(f"{p['id']}  {p['name']} ({p['role']}, {p['home site']})" for p in hits) or "Nobody found."


@server.tool(name="volunteer-card")
def volunteer_card(volunteer_id: str) -> str:
    "Full card of a volunteer, by id (V-03)."
    return "\n".join(f"{k}: {v if v is not None else '-'}" for k, v in _person(volunteer_id).items())


@server.tool(name="site-info")
def site_info(site: str) -> dict:
    "Address, phone, manager, opening times, parking, cold room, door code and families per week of a site."
    s = _site(site)
    return SITES[s] if s else {"error": "no such site", "sites": list(SITES)}


@server.tool(name="list-shifts")
def list_shifts(date: str | None = None, site: str | None = None, volunteer_id: str | None = None, open_only: bool = False) -> str:
    "Rota for October 2025: id, date, hours, site, places taken/needed. Filter by date (2025-10-09), site or volunteer id; open_only leaves out full shifts."
    if not (date or site or volunteer_id or open_only):
        return "Too many shifts, please filter."
    if site and not _site(site):
        return f"No such site: {site}"
    if volunteer_id:
        _person(volunteer_id)
    rows = [s for s in SHIFTS.values() if (not date or s["date"] == date) and (not site or s["site"] == _site(site))
            and (not volunteer_id or volunteer_id.strip().upper() in s["assigned"]) and (not open_only or len(s["assigned"]) < s["needed"])]
    return "\n".join(f"{s['id']} | {s['date']} | {s['start']}-{s['end']} | {s['site']} | {s['task']} | {len(s['assigned'])}/{s['needed']}" for s in rows) or "No shifts."


@server.tool(name="shift-details")
def shift_details(shift_id: str) -> str:
    "What a shift is, who leads it and who is on it."
    s = _shift(shift_id)
    who = ", ".join(f"{PEOPLE[v]['name']} ({v})" for v in s["assigned"]) or "nobody yet"
    return (f"Shift {s['id']}: {s['task']} at {s['site']} on {s['date']}, {s['start']} to {s['end']}. Lead: {PEOPLE[s['lead']]['name']} ({s['lead']}). "
            f"Needs {s['needed']} people, has {len(s['assigned'])}: {who}.")


@server.tool(name="assign-volunteer")
def assign_volunteer(shift_id: str, volunteer_id: str) -> str:
    "Put a volunteer on a shift."
    s, p = _shift(shift_id), _person(volunteer_id)
    if p["status"] != "active":
        return f"{p['name']} is {p['status']} and cannot be assigned."
    if p["id"] in s["assigned"]:
        return f"{p['name']} is already on shift {s['id']}."
    if len(s["assigned"]) >= s["needed"]:
        return f"Shift {s['id']} is full ({s['needed']}/{s['needed']})."
    s["assigned"].append(p["id"])
    return f"{p['name']} ({p['id']}) is on shift {s['id']}, {s['date']} {s['start']}, {s['site']}. Places {len(s['assigned'])}/{s['needed']}."


@server.tool(name="remove-volunteer")
def remove_volunteer(shift_id: str, volunteer_id: str) -> str:
    "Take a volunteer off a shift."
    s, p = _shift(shift_id), _person(volunteer_id)
    if p["id"] not in s["assigned"]:
        return f"{p['name']} is not on shift {s['id']}."
    s["assigned"].remove(p["id"])
    return f"{p['name']} ({p['id']}) is off shift {s['id']}, {s['date']} {s['start']}, {s['site']}. Places {len(s['assigned'])}/{s['needed']}."


@server.tool(name="log-hours")
def log_hours(volunteer_id: str, hours: float) -> str:
    "Add worked hours to a volunteer's total for 2025."
    p = _person(volunteer_id)
    if hours <= 0 or hours > 14:
        raise ToolError("hours must be more than 0 and at most 14")
    p["hours 2025"] += hours
    return f"{p['name']}: +{hours} h, total 2025 now {p['hours 2025']} h"


@server.tool(name="update-volunteer")
def update_volunteer(volunteer_id: str, phone: str | None = None, home_site: str | None = None,
                     role: Literal["driver", "sorter", "cook", "front desk", "team lead"] | None = None,
                     status: Literal["active", "on leave", "left"] | None = None) -> str:
    "Change phone, home site, role or status of a volunteer."
    p = _person(volunteer_id)
    if home_site and not _site(home_site):
        return f"No such site: {home_site}"
    new = {k: v for k, v in (("phone", phone), ("home site", home_site and _site(home_site)), ("role", role), ("status", status)) if v}
    if not new:
        return "Nothing to change."
    out = "; ".join(f"{k}: {p[k]} -> {v}" for k, v in new.items())
    p.update(new)
    return f"{p['id']} {p['name']}: {out}"


if __name__ == "__main__":
    server.run()
