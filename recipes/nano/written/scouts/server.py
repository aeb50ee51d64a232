from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("scout-group")

# id: name, born, troop, joined, guardian, phone, owing, badges
_M = ["id", "name", "born", "troop", "joined", "guardian", "phone", "dues_owing", "badges"]
MEMBERS = {r[0]: dict(zip(_M, r)) for r in [
    (101, "Tilda Marsh", "2017-03-14", 2, "2024-09-06", "Joan Marsh", "555-0111", 0, [31, 34]),
    (102, "Oskar Brandt", "2014-11-02", 3, "2023-01-11", "Henrik Brandt", "555-0112", 18, [31, 33, 38]),
    (103, "Priya Nandakumar", "2013-06-27", 3, "2022-04-20", "Meera Nandakumar", "555-0113", 0, [32, 35, 38, 40]),
    (104, "Callum Reese", "2019-08-05", 1, "2025-09-10", "Gail Reese", "555-0114", 12, []),
    (105, "Ines Duarte", "2011-01-19", 5, "2020-02-05", "Paulo Duarte", "555-0115", 0, [31, 32, 36, 39, 41]),
    (106, "Wilf Haddow", "2016-12-30", 2, "2024-01-17", "Moira Haddow", "555-0116", 24, [34]),
    (107, "Zainab Yusuf", "2013-09-08", 4, "2022-09-14", "Halima Yusuf", "555-0117", 0, [33, 37]),
    (108, "Freddie Lomax", "2014-05-21", 4, "2023-09-13", "Craig Lomax", "555-0118", 36, [31]),
    (109, "Greta Sorensen", "2018-10-11", 1, "2025-01-15", "Liv Sorensen", "555-0119", 0, [34]),
    (110, "Teo Marchetti", "2012-07-03", 3, "2021-05-12", "Dario Marchetti", "555-0120", 15, [31, 32, 35]),
    (111, "Beth Ollerton", "2010-02-16", 5, "2018-09-05", "Ruth Ollerton", "555-0121", 30, [32, 33, 37, 41]),
    (112, "Kofi Asante", "2016-04-09", 2, "2023-11-22", "Ama Asante", "555-0122", 0, [31, 34, 42]),
    (113, "Maisie Trent", "2013-12-01", 4, "2022-10-19", "Nick Trent", "555-0123", 9, [36, 38]),
    (114, "Lars Pettersen", "2012-03-25", 3, "2021-09-08", "Anne Pettersen", "555-0124", 0, [33, 40]),
    (115, "Orla Marsh", "2014-08-18", 4, "2023-02-01", "Joan Marsh", "555-0111", 21, [35]),
    (116, "Hugo Vance", "2019-02-07", 1, "2025-04-30", "Tess Vance", "555-0125", 12, []),
    (117, "Sunniva Clay", "2010-11-23", 5, "2019-01-16", "Peter Clay", "555-0126", 0, [31, 36, 37, 39]),
    (118, "Dexter Pryce", "2017-06-12", 2, "2025-03-05", "Lowri Pryce", "555-0127", 0, []),
]}
TROOPS = {r[0]: dict(zip(["id", "name", "section", "meets", "hall", "leader", "founded"], r)) for r in [
    (1, "Otters", "beavers", "Monday 17:15", "St Anne's Hall", 504, 1996),
    (2, "Kestrels", "cubs", "Wednesday 18:00", "Mill Lane Hut", 501, 1974),
    (3, "Red Foxes", "scouts", "Thursday 19:00", "Mill Lane Hut", 503, 1958),
    (4, "Grey Wolves", "scouts", "Tuesday 19:00", "Boathouse", 502, 1981),
    (5, "Pathfinders", "explorers", "Friday 19:30", "Boathouse", 506, 2009),
]}
LEADERS = {r[0]: dict(zip(["id", "name", "phone", "email", "first_aid_until", "role"], r)) for r in [
    (501, "Margaret Quill", "555-0131", "quill@firstmillbrook.example", "2027-02-28", "Akela"),
    (502, "Dan Okafor", "555-0132", "okafor@firstmillbrook.example", "2026-06-30", "scout leader"),
    (503, "Stella Brightman", "555-0133", "brightman@firstmillbrook.example", "2028-01-31", "scout leader"),
    (504, "Neil Farrow", "555-0134", "farrow@firstmillbrook.example", "2026-09-30", "beaver leader"),
    (505, "Yvonne Tasker", "555-0135", "tasker@firstmillbrook.example", "2027-11-30", "quartermaster"),
    (506, "Rhys Calder", "555-0136", "calder@firstmillbrook.example", "2026-04-30", "explorer leader"),
]}
BADGES = {r[0]: dict(zip(["id", "name", "category", "patch", "in_stock", "examiner"], r)) for r in [
    (31, "Firelighter", "outdoor", 1.20, 14, 503),
    (32, "Navigator", "outdoor", 1.50, 6, 506),
    (33, "First Aid", "community", 1.40, 9, 502),
    (34, "Knots", "skills", 0.90, 22, 501),
    (35, "Camp Cook", "skills", 1.20, 3, 505),
    (36, "Canoe", "water", 1.80, 5, 506),
    (37, "Lifesaver", "water", 2.10, 2, 502),
    (38, "Wood Carver", "skills", 1.60, 8, 505),
    (39, "Night Hike", "outdoor", 1.50, 4, 503),
    (40, "Recycler", "community", 0.90, 11, 504),
    (41, "Sailing", "water", 2.40, 7, 506),
    (42, "Storyteller", "community", 1.10, 10, 501),
]}
CAMPS = {r[0]: dict(zip(["id", "name", "site", "start", "end", "fee", "places", "chief", "booked"], r)) for r in [
    (11, "Whitsun Weekend", "Harrow Wood", "2026-05-22", "2026-05-25", 48, 8, 503, [102, 103, 110, 114, 115]),
    (12, "Cub Sleepover", "Mill Lane Hut", "2026-06-13", "2026-06-14", 15, 6, 501, [101, 106, 112]),
    (13, "Lake Week", "Tarn Side", "2026-07-25", "2026-08-01", 165, 4, 506, [105, 107, 111, 117]),
    (14, "Summer Camp", "Bracken Farm", "2026-08-08", "2026-08-15", 140, 12, 502, [103, 107, 108, 113]),
    (15, "Night Hike Camp", "Scar Top", "2026-09-18", "2026-09-20", 32, 8, 503, [105, 117]),
    (16, "Frost Camp", "Harrow Wood", "2026-12-04", "2026-12-06", 40, 10, 505, []),
]}


def _money(x):
    return f"£{x:.2f}"


def _kv(d):
    return "\n".join(f"{k}: {v}" for k, v in d.items())


def _get(table, what, key):
    if key not in table:
        raise ToolError(f"unknown {what} {key}")
    return table[key]


@server.tool()
def find_member(name: str) -> str:
    "Look up members by name or part of a name. Gives member id and troop id."
    hits = [m for m in MEMBERS.values() if name.lower() in m["name"].lower()]
    if not hits:
        return f"No member matches '{name}'."
    return "\n\n".join(_kv({k: m[k] for k in ("id", "name", "troop")}) for m in hits)


@server.tool()
def get_member(member_id: int) -> str:
    "The membership card: birth date, troop id, guardian and phone, dues still owing, badge ids."
    m = dict(_get(MEMBERS, "member", member_id))
    m["dues_owing"] = _money(m["dues_owing"])
    m["badges"] = ", ".join(map(str, m["badges"])) or "none"
    return _kv(m)


@server.tool()
def get_troop(troop_id: int) -> str:
    "A troop with section, meeting time, hall, leader id and its members."
    t = dict(_get(TROOPS, "troop", troop_id))
    t["members"] = "; ".join(f"{m['id']} {m['name']}" for m in MEMBERS.values() if m["troop"] == troop_id)
    return _kv(t)


@server.tool()
def get_leader(leader_id: int) -> str:
    "An adult leader: contact details, role, first aid certificate."
    return _kv(_get(LEADERS, "leader", leader_id))


@server.tool()
def list_badges(category: Literal["outdoor", "skills", "water", "community"] | None = None) -> str:
    "All badges (or one category): price of the patch, patches in stock, id of the leader who examines it."
    rows = [b for b in BADGES.values() if category in (None, b["category"])]
    return "\n".join(", ".join(f"{k}: {_money(v) if k == 'patch' else v}" for k, v in b.items()) for b in rows)


@server.tool()
def camps(camp_id: int | None = None) -> str:
    "Without an id: all camps in short. With an id: everything about that camp (site, dates, fee, camp chief's leader id, booked member ids)."
    if camp_id is None:
        return "\n".join(f"id: {c['id']}, name: {c['name']}, start: {c['start']}, places_left: {c['places'] - len(c['booked'])}" for c in CAMPS.values())
    c = dict(_get(CAMPS, "camp", camp_id))
    c["fee"] = _money(c["fee"])
    c["places_left"] = c["places"] - len(c["booked"])
    c["booked"] = ", ".join(map(str, c["booked"])) or "nobody yet"
    return _kv(c)


@server.tool()
def award_badge(member_id: int, badge_id: int) -> str:
    "Give a badge to a member; takes one patch from the stock."
    m, b = _get(MEMBERS, "member", member_id), _get(BADGES, "badge", badge_id)
    if badge_id in m["badges"]:
        raise ToolError(f"member {member_id} already has badge {badge_id}")
    if b["in_stock"] < 1:
        raise ToolError(f"no patches of badge {badge_id} in stock")
    m["badges"].append(badge_id)
    b["in_stock"] -= 1
    return _kv({"member": m["id"], "name": m["name"], "badge": b["name"], "badges": ", ".join(map(str, m["badges"])), "patches_left": b["in_stock"]})


@server.tool()
def book_camp(member_id: int, camp_id: int) -> str:
    "Put a member on the list of a camp."
    m, c = _get(MEMBERS, "member", member_id), _get(CAMPS, "camp", camp_id)
    if member_id in c["booked"]:
        return f"{m['name']} is already booked on {c['name']}."
    if len(c["booked"]) >= c["places"]:
        return f"{c['name']} is full."
    c["booked"].append(member_id)
    return _kv({"booked": m["name"], "camp": c["name"], "fee": _money(c["fee"]), "places_left": c["places"] - len(c["booked"])})


@server.tool()
def set_patch_stock(badge_id: int, in_stock: int) -> str:
    "Set how many patches of a badge are in the cupboard."
    b = _get(BADGES, "badge", badge_id)
    old, b["in_stock"] = b["in_stock"], in_stock
    return _kv({"badge": b["id"], "name": b["name"], "was": old, "in_stock": in_stock})


if __name__ == "__main__":
    server.run()
