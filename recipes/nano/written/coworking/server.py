from typing import Literal, Optional
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("loft-coworking")

Kind = Literal["hot", "fixed", "booth", "meeting"]
Plan = Literal["Flex", "Team", "Resident"]
Slot = Literal["day", "morning", "afternoon"]

# slug, kind, floor, seats, price per day (GBP), monitor, standing, note
_D = [
    ("window-1", "hot", 1, 1, 18.00, True, False, "north light, by the bike racks"),
    ("window-2", "hot", 1, 1, 18.00, False, False, "radiator next to it"),
    ("window-3", "hot", 2, 1, 21.50, True, True, "view of the canal"),
    ("corner-a", "fixed", 2, 1, 26.00, True, True, "two drawers with key"),
    ("corner-b", "fixed", 3, 1, 28.50, True, False, "shelf included"),
    ("island-1", "hot", 1, 4, 15.00, False, False, "shared table"),
    ("island-2", "hot", 2, 6, 14.00, False, False, "shared table, near the kitchen"),
    ("quiet-1", "fixed", 3, 1, 30.00, True, True, "no phone calls"),
    ("quiet-2", "fixed", 3, 1, 29.00, False, True, "no phone calls"),
    ("booth-red", "booth", 1, 1, 12.00, False, False, "for calls, ventilated"),
    ("booth-blue", "booth", 2, 2, 16.00, True, False, "webcam and ring light"),
    ("maple", "meeting", 1, 6, 75.00, True, False, "whiteboard"),
    ("cedar", "meeting", 2, 10, 120.00, True, False, "projector and whiteboard"),
    ("willow", "meeting", 3, 4, 60.00, True, False, "sofa corner"),
]
DESKS = {d[0]: dict(zip("desk kind floor seats price monitor standing note".split(), d)) for d in _D}

_C = [
    ("7c1f9e", "Nordlicht Studio", "Team", "Anke Voss", "anke@nordlicht.studio.example", 9, 6, 140.00),
    ("b83d02", "Pixel & Pine", "Flex", "Marco Silva", "hello@pixelpine.example", 2, 3, 0.00),
    ("e0a95b", "Harper Legal", "Resident", "June Harper", "june@harperlegal.example", 4, 20, 512.50),
    ("41f6c8", "Bluefin Data", "Team", "Omar Haddad", "ops@bluefin.example", 11, 2, 86.00),
    ("9d27aa", "Tinker Toys Repair", "Flex", "Lotte Smit", "lotte@tinkertoys.example", 1, 1, 36.00),
    ("c5508e", "GreenRoute", "Resident", "Ade Bello", "ade@greenroute.example", 6, 15, 0.00),
    ("2be471", "Sunday Press", "Flex", "Ivy Chen", "ivy@sundaypress.example", 3, 8, 54.00),
    ("f16b3d", "Kestrel Robotics", "Team", "Viktor Dahl", "viktor@kestrel.example", 8, 11, 240.75),
    ("83ac90", "Marlow Translations", "Flex", "Sofia Marlow", "office@marlowtrans.example", 1, 4, 18.00),
    ("d97e15", "Orbit Podcasts", "Team", "Dev Anand", "dev@orbitpods.example", 5, 0, 96.00),
]
COMPANIES = {c[0]: dict(zip("id name plan contact email members day_credits balance_due".split(), c)) for c in _C}

_B = [
    ("bk-3e1a", "maple", "7c1f9e", "2025-05-12", "morning", "checked-in"),
    ("bk-52c7", "window-3", "b83d02", "2025-05-12", "day", "checked-in"),
    ("bk-60f9", "booth-blue", "d97e15", "2025-05-12", "afternoon", "confirmed"),
    ("bk-71d4", "quiet-1", "e0a95b", "2025-05-12", "day", "no-show"),
    ("bk-8a0b", "cedar", "41f6c8", "2025-05-13", "day", "confirmed"),
    ("bk-8f35", "window-1", "9d27aa", "2025-05-13", "day", "confirmed"),
    ("bk-91e4", "booth-red", "83ac90", "2025-05-13", "morning", "confirmed"),
    ("bk-a2b8", "island-1", "2be471", "2025-05-13", "afternoon", "confirmed"),
    ("bk-a9c0", "willow", "e0a95b", "2025-05-14", "morning", "confirmed"),
    ("bk-b617", "maple", "f16b3d", "2025-05-14", "day", "confirmed"),
    ("bk-c48e", "corner-a", "c5508e", "2025-05-14", "day", "cancelled"),
    ("bk-cd02", "booth-blue", "d97e15", "2025-05-15", "afternoon", "confirmed"),
    ("bk-d7f1", "cedar", "7c1f9e", "2025-05-15", "afternoon", "confirmed"),
    ("bk-e35d", "window-3", "83ac90", "2025-05-15", "morning", "confirmed"),
    ("bk-ef90", "quiet-2", "f16b3d", "2025-05-16", "day", "confirmed"),
    ("bk-f20c", "cedar", "f16b3d", "2025-05-16", "morning", "confirmed"),
]
BOOKINGS = {b[0]: dict(zip("booking desk company date slot status".split(), b)) for b in _B}


def _table(head, rows): return "\n".join([" | ".join(head), " | ".join("-" * len(h) for h in head)] + [" | ".join(map(str, r)) for r in rows])
def _yes(b): return "yes" if b else "no"
def _company(cid):
    if cid not in COMPANIES: raise ToolError(f"unknown company id '{cid}'")
    return COMPANIES[cid]
def _desk(slug):
    if slug not in DESKS: raise ToolError(f"unknown desk '{slug}'")
    return DESKS[slug]
def _booking(bid):
    if bid not in BOOKINGS: raise ToolError(f"unknown booking '{bid}'")
    return BOOKINGS[bid]


@server.tool(name="list-desks")
def list_desks(kind: Optional[Kind] = None, floor: Optional[int] = None, max_price: Optional[float] = None) -> str:
    "Table of desks, booths and meeting rooms with seats and day price in GBP."
    rows = [d for d in DESKS.values() if (kind is None or d["kind"] == kind) and (floor is None or d["floor"] == floor) and (max_price is None or d["price"] <= max_price)]
    if not rows: return "Nothing matches."
    return _table(["desk", "kind", "floor", "seats", "price/day"], [(d["desk"], d["kind"], d["floor"], d["seats"], f"{d['price']:.2f}") for d in rows])


@server.tool(name="desk-info")
def desk_info(desk: str) -> str:
    "Equipment and price of one desk or room, by its slug, e.g. window-2 or maple."
    d = _desk(desk)
    return f"desk: {d['desk']}\nkind: {d['kind']}\nfloor: {d['floor']}\nseats: {d['seats']}\nprice per day: £{d['price']:.2f}\nmonitor: {_yes(d['monitor'])}\nstanding desk: {_yes(d['standing'])}\nnote: {d['note']}"


@server.tool(name="company-lookup")
def company_lookup(name: str) -> str:
    "Company id for a company name or a contact person's name (part is enough)."
    hits = [c for c in COMPANIES.values() if name.lower() in c["name"].lower() or name.lower() in c["contact"].lower()]
    return "\n".join(f"{c['name']} (contact {c['contact']}) has the id {c['id']}." for c in hits) or f"No company or contact like '{name}'."


@server.tool(name="company-info")
def company_info(company_id: str) -> dict:
    "Plan, contact, members, day credits left and balance due (GBP) of a company."
    c = _company(company_id)
    return {**c, "balance_due": f"{c['balance_due']:.2f} GBP"}


@server.tool(name="list-bookings")
def list_bookings(date: Optional[str] = None, company_id: Optional[str] = None, desk: Optional[str] = None) -> str:
    "Table of bookings for a date (YYYY-MM-DD), a company and/or a desk."
    if company_id: _company(company_id)
    if desk: _desk(desk)
    if not (date or company_id or desk): raise ToolError("give a date, a company id or a desk")
    rows = [b for b in BOOKINGS.values() if (date is None or b["date"] == date) and (company_id is None or b["company"] == company_id) and (desk is None or b["desk"] == desk)]
    if not rows: return "No bookings."
    return _table(["booking", "date", "slot", "desk", "company", "status"], [(b["booking"], b["date"], b["slot"], b["desk"], COMPANIES[b["company"]]["name"], b["status"]) for b in rows])


@server.tool(name="booking-info")
def booking_info(booking: str) -> str:
    "One booking by its code, e.g. bk-3e1a."
    b = _booking(booking)
    return f"{b['booking']}: {b['desk']} on {b['date']} ({b['slot']}) for {COMPANIES[b['company']]['name']} [{b['company']}], {b['status']}."


@server.tool(name="book-desk")
def book_desk(desk: str, company_id: str, date: str, slot: Slot = "day") -> str:
    "Book a desk or room for a company. Whole day unless a slot is given."
    _desk(desk); c = _company(company_id)
    for b in BOOKINGS.values():
        if b["desk"] == desk and b["date"] == date and b["status"] in ("confirmed", "checked-in") and "day" in (slot, b["slot"], "day" if slot == b["slot"] else ""):
            raise ToolError(f"{desk} is taken on {date} ({b['slot']}) by {COMPANIES[b['company']]['name']}")
    bid = f"bk-n{len(BOOKINGS) + 1:03d}"
    BOOKINGS[bid] = dict(booking=bid, desk=desk, company=company_id, date=date, slot=slot, status="confirmed")
    return f"Booked {desk} for {c['name']} on {date} ({slot}), booking {bid}."


@server.tool(name="update-booking")
def update_booking(booking: str, date: Optional[str] = None, slot: Optional[Slot] = None, desk: Optional[str] = None,
                   status: Optional[Literal["confirmed", "checked-in", "cancelled", "no-show"]] = None) -> str:
    "Move a booking to another date (YYYY-MM-DD), slot or desk, or set its status."
    b = _booking(booking)
    if desk: _desk(desk)
    b.update({k: v for k, v in dict(date=date, slot=slot, desk=desk, status=status).items() if v})
    return f"Updated. {booking}: {b['desk']} on {b['date']} ({b['slot']}), {b['status']}."


@server.tool(name="update-company")
def update_company(company_id: str, plan: Optional[Plan] = None, members: Optional[int] = None, day_credits: Optional[int] = None,
                   contact: Optional[str] = None, email: Optional[str] = None) -> dict:
    "Set a company's plan, number of members, day credits, contact or e-mail (new values, not differences)."
    c = _company(company_id)
    new = {k: v for k, v in dict(plan=plan, members=members, day_credits=day_credits, contact=contact, email=email).items() if v is not None}
    c.update(new)
    return {"updated": c["name"], **new}


if __name__ == "__main__":
    server.run()
