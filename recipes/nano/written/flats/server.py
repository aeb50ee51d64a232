"""Lindenhof building manager: flats, tenants, repairs."""
from typing import Literal, Optional

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("lindenhof")
TODAY = "2025-03-18"

# flat, floor, rooms, sqm, rent EUR, balcony, heating, tenant, vacant since, meter
FLATS = {
    r[0]: dict(zip(("flat", "floor", "rooms", "area_sqm", "rent_eur", "balcony", "heating", "tenant_id", "vacant_since", "meter_no"), r))
    for r in [
        ("1A", 1, 2, 54, 780, False, "gas", 301, None, "E-77310"),
        ("1B", 1, 3, 76, 1040, False, "gas", 302, None, "E-77311"),
        ("1C", 1, 1, 31, 520, False, "electric", 303, None, "E-77312"),
        ("1D", 1, 2, 58, 810, False, "gas", None, "2025-02-28", "E-77313"),
        ("2A", 2, 2, 54, 795, True, "gas", 304, None, "E-77320"),
        ("2B", 2, 3, 76, 1065, True, "gas", 305, None, "E-77321"),
        ("2C", 2, 1, 31, 535, False, "electric", 306, None, "E-77322"),
        ("2D", 2, 2, 58, 825, True, "gas", 307, None, "E-77323"),
        ("3A", 3, 2, 54, 810, True, "gas", 308, None, "E-77330"),
        ("3B", 3, 3, 76, 1090, True, "gas", None, "2025-01-31", "E-77331"),
        ("3C", 3, 1, 31, 550, False, "electric", 309, None, "E-77332"),
        ("3D", 3, 2, 58, 840, True, "gas", 310, None, "E-77333"),
        ("4A", 4, 4, 112, 1620, True, "heat pump", 311, None, "E-77340"),
        ("4B", 4, 3, 84, 1210, True, "heat pump", 312, None, "E-77341"),
    ]
}
TENANTS = {
    r[0]: dict(zip(("tenant_id", "name", "flat", "phone", "email", "moved_in", "lease_until", "deposit_eur", "owes_eur", "pets", "keys"), r))
    for r in [
        (301, "Amara Ode", "1A", "0151 2240 118", "amara.ode@posteo.example", "2021-05-01", "2026-04-30", 1560, 0, "none", 2),
        (302, "Lena Huber", "1B", "0160 771 3302", "lena.huber@mail.example", "2019-09-15", "2025-09-14", 2080, 1040, "one dog", 4),
        (303, "Piotr Zielinski", "1C", "0172 905 4471", "p.zielinski@mail.example", "2023-02-01", "2026-01-31", 1040, 0, "none", 1),
        (304, "Noor Haddad", "2A", "0157 330 9026", "noor.haddad@post.example", "2022-11-01", "2025-10-31", 1590, 95, "one cat", 2),
        (305, "Sabine Krol", "2B", "0151 618 7740", "krol.s@web.example", "2017-07-01", "2025-06-30", 2130, 0, "none", 3),
        (306, "Tomas Vega", "2C", "0176 443 2085", "tvega@mail.example", "2024-08-01", "2025-07-31", 1070, 535, "none", 1),
        (307, "Ingrid Falk", "2D", "030 884 2176", "ingrid.falk@web.example", "2009-04-01", "2027-03-31", 1200, 0, "two budgies", 3),
        (308, "Devon Marsh", "3A", "0159 217 6653", "devon@marsh.example", "2023-10-15", "2025-10-14", 1620, 270, "none", 2),
        (309, "Yuki Tanabe", "3C", "0170 556 8094", "yuki.tanabe@uni.example", "2024-10-01", "2025-09-30", 1100, 0, "none", 1),
        (310, "Paul Huber", "3D", "0163 902 1157", "paul.huber@post.example", "2020-01-01", "2025-12-31", 1680, 0, "one cat", 2),
        (311, "Christine Delacroix", "4A", "0151 700 4419", "c.delacroix@kanzlei.example", "2018-03-01", "2028-02-29", 4860, 0, "one dog", 5),
        (312, "Bram Oosterhuis", "4B", "0152 381 9960", "bram.o@mail.example", "2022-06-01", "2025-05-31", 2420, 2420, "none", 2),
    ]
}
REPAIRS = {
    r[0]: dict(zip(("repair_id", "flat", "problem", "urgency", "status", "reported", "contractor", "visit_date", "cost_eur"), r))
    for r in [
        ("R-1041", "2B", "kitchen tap drips", "low", "done", "2025-01-09", "Wolff Plumbing", "2025-01-15", 85),
        ("R-1042", "4A", "terrace door does not close", "normal", "done", "2025-01-14", "Meier Joinery", "2025-01-21", 140),
        ("R-1043", "1C", "radiator stays cold", "urgent", "done", "2025-01-16", "Thermo Brandt", "2025-01-17", 210),
        ("R-1044", "3D", "bathroom fan noisy", "low", "open", "2025-01-29", None, None, None),
        ("R-1045", "1A", "mould on bedroom wall", "urgent", "scheduled", "2025-02-03", "Drywell", "2025-03-20", None),
        ("R-1046", "2D", "living room blind jammed", "low", "done", "2025-02-05", "Meier Joinery", "2025-02-14", 65),
        ("R-1047", "4B", "intercom dead", "normal", "done", "2025-02-10", "Elektro Sander", "2025-02-18", 118),
        ("R-1048", "3A", "shower drain blocked", "urgent", "done", "2025-02-12", "Wolff Plumbing", "2025-02-13", 95),
        ("R-1049", "2A", "crack in window pane", "normal", "scheduled", "2025-02-19", "Glas Petri", "2025-03-24", None),
        ("R-1050", "3C", "hob only half works", "normal", "scheduled", "2025-02-24", "Elektro Sander", "2025-03-19", None),
        ("R-1051", "1B", "front door lock sticks", "normal", "open", "2025-02-27", None, None, None),
        ("R-1052", "2C", "no hot water in the morning", "urgent", "scheduled", "2025-03-03", "Thermo Brandt", "2025-03-19", None),
        ("R-1053", "4A", "roof terrace tiles loose", "normal", "open", "2025-03-05", None, None, None),
        ("R-1054", "2B", "boiler loses pressure", "urgent", "scheduled", "2025-03-07", "Thermo Brandt", "2025-03-21", None),
        ("R-1055", "3D", "ceiling lamp flickers", "low", "open", "2025-03-10", None, None, None),
        ("R-1056", "1A", "letterbox lid broken", "low", "open", "2025-03-11", None, None, None),
        ("R-1057", "3B", "repaint before new tenant", "normal", "scheduled", "2025-03-12", "Farbwerk", "2025-03-26", None),
        ("R-1058", "4B", "washing machine outlet leaks", "urgent", "open", "2025-03-16", None, None, None),
    ]
}


def _flat(flat):
    if flat not in FLATS:
        raise ToolError(f"No flat {flat!r} in the building. Flats run from 1A to 4B.")
    return FLATS[flat]


def _tenant(tenant_id):
    if tenant_id not in TENANTS:
        raise ToolError(f"Unknown tenant_id {tenant_id}.")
    return TENANTS[tenant_id]


def _repair(repair_id):
    if repair_id not in REPAIRS:
        raise ToolError(f"Repair {repair_id} not found.")
    return REPAIRS[repair_id]


@server.tool()
def list_flats(vacant_only: bool = False, min_rooms: int = 1) -> list[dict]:
    "List flats with rooms, rent and whether somebody lives there. Optionally only vacant ones, or those with at least min_rooms."
    return [{"flat": f["flat"], "rooms": f["rooms"], "rent_eur": f["rent_eur"], "vacant": f["tenant_id"] is None}
            for f in FLATS.values() if f["rooms"] >= min_rooms and (not vacant_only or f["tenant_id"] is None)]


@server.tool()
def get_flat(flat: str) -> dict:
    "Everything about one flat, e.g. flat='2B': floor, rooms, size, monthly rent, balcony, heating, meter number, tenant."
    f = dict(_flat(flat))
    f["tenant"] = TENANTS[f["tenant_id"]]["name"] if f["tenant_id"] else None
    return f


@server.tool()
def find_tenant(name: str) -> list[dict]:
    "Find tenants by first name, last name or part of it. Returns tenant_id, name and flat."
    hits = [{"tenant_id": t["tenant_id"], "name": t["name"], "flat": t["flat"]} for t in TENANTS.values() if name.lower() in t["name"].lower()]
    if not hits:
        raise ToolError(f"No tenant matches {name!r}.")
    return hits


@server.tool()
def get_tenant(tenant_id: int) -> dict:
    "Contact, lease, deposit, arrears, pets and number of keys of a tenant."
    return dict(_tenant(tenant_id))


@server.tool()
def list_repairs(flat: Optional[str] = None, status: Optional[Literal["open", "scheduled", "done"]] = None) -> list[dict]:
    "List repairs of a flat and/or with a status. At least one of the two is needed."
    if flat is None and status is None:
        raise ToolError("Give a flat or a status.")
    if flat is not None:
        _flat(flat)
    return [{k: r[k] for k in ("repair_id", "flat", "problem", "urgency", "status", "reported")} for r in REPAIRS.values()
            if (flat is None or r["flat"] == flat) and (status is None or r["status"] == status)]


@server.tool()
def get_repair(repair_id: str) -> dict:
    "One repair in full by its id (R-1234): contractor, visit date, cost."
    return dict(_repair(repair_id))


@server.tool()
def report_repair(flat: str, problem: str, urgency: Literal["low", "normal", "urgent"] = "normal") -> dict:
    "Open a new repair for a flat."
    _flat(flat)
    new = f"R-{1041 + len(REPAIRS)}"
    REPAIRS[new] = {"repair_id": new, "flat": flat, "problem": problem, "urgency": urgency, "status": "open", "reported": TODAY,
                    "contractor": None, "visit_date": None, "cost_eur": None}
    return dict(REPAIRS[new])


@server.tool()
def update_repair(repair_id: str, status: Optional[Literal["open", "scheduled", "done"]] = None, contractor: Optional[str] = None,
                  visit_date: Optional[str] = None, cost_eur: Optional[float] = None) -> dict:
    "Change a repair. Give only what changes; visit_date as YYYY-MM-DD."
    r = _repair(repair_id)
    for key, value in (("status", status), ("contractor", contractor), ("visit_date", visit_date), ("cost_eur", cost_eur)):
        if value is not None:
            r[key] = value
    return dict(r)


@server.tool()
def record_payment(tenant_id: int, amount_eur: float) -> dict:
    "Book a payment from a tenant; lowers what the tenant owes."
    t = _tenant(tenant_id)
    if amount_eur <= 0:
        raise ToolError("amount_eur must be positive.")
    t["owes_eur"] = t["owes_eur"] - amount_eur
    return {"tenant_id": tenant_id, "name": t["name"], "paid_eur": amount_eur, "owes_eur": t["owes_eur"]}


if __name__ == "__main__":
    server.run()
