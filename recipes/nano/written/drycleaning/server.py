from typing import Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("dry-cleaning-counter")

Status = Literal["received", "cleaning", "ready", "collected"]
Service = Literal["dry clean", "launder", "press only", "leather care"]

_C = [  # id, name, phone, starch, credit, member, bill_to
    (101, "Beatrix Lund", "555-0111", "light", "$12.50", True, None),
    (102, "Omar Haddad", "555-0112", "heavy", "$0.00", False, None),
    (103, "Tilda Lund", "555-0113", "none", "$0.00", False, 101),
    (104, "Jun Watanabe", "555-0114", "light", "$40.00", True, None),
    (105, "Rosa Pimentel", "555-0115", "none", "$5.00", True, None),
    (106, "Greg Sallow", "555-0116", "heavy", "$0.00", False, 109),
    (107, "Priya Nandakumar", "555-0117", "none", "$8.25", True, None),
    (108, "Cormac Daly", "555-0118", "light", "$0.00", False, None),
    (109, "Hotel Meridian", "555-0119", "heavy", "$150.00", True, None),
    (110, "Ines Faber", "555-0120", "none", "$3.00", False, 104),
    (111, "Wendell Okafor", "555-0121", "heavy", "$22.00", True, None),
    (112, "Marta Daly", "555-0122", "light", "$0.00", False, 108),
]
CUSTOMERS = {r[0]: dict(zip(("customer_id", "name", "phone", "starch", "credit", "member", "bill_to"), r)) for r in _C}

_T = [  # ticket, customer, dropped off, due, status, express, paid, clerk
    (5201, 101, "2026-03-02", "2026-03-05", "collected", False, True, "Nell"),
    (5202, 104, "2026-03-03", "2026-03-07", "ready", False, True, "Nell"),
    (5203, 102, "2026-03-03", "2026-03-06", "ready", False, False, "Abe"),
    (5204, 109, "2026-03-04", "2026-03-06", "ready", True, False, "Abe"),
    (5205, 105, "2026-03-04", "2026-03-09", "cleaning", False, True, "Suri"),
    (5206, 107, "2026-03-05", "2026-03-10", "cleaning", False, False, "Nell"),
    (5207, 103, "2026-03-05", "2026-03-10", "cleaning", False, False, "Suri"),
    (5208, 111, "2026-03-05", "2026-03-07", "ready", True, True, "Abe"),
    (5209, 106, "2026-03-06", "2026-03-11", "cleaning", False, False, "Suri"),
    (5210, 110, "2026-03-06", "2026-03-12", "received", False, True, "Nell"),
    (5211, 108, "2026-03-06", "2026-03-09", "cleaning", True, False, "Abe"),
    (5212, 112, "2026-03-07", "2026-03-13", "received", False, False, "Suri"),
    (5213, 105, "2026-03-07", "2026-03-12", "received", False, False, "Nell"),
    (5214, 101, "2026-03-07", "2026-03-13", "received", False, False, "Abe"),
    (5215, 109, "2026-03-08", "2026-03-10", "received", True, False, "Suri"),
    (5216, 104, "2026-03-08", "2026-03-14", "received", False, False, "Nell"),
    (5217, 111, "2026-03-01", "2026-03-04", "collected", False, True, "Nell"),
    (5218, 107, "2026-03-02", "2026-03-05", "ready", False, True, "Suri"),
]
TICKETS = {r[0]: dict(zip(("ticket_no", "customer_id", "dropped_off", "due", "status", "express", "paid", "clerk"), r)) for r in _T}

_G = [  # tag, ticket, item, colour, service, price, rack, note
    (801, 5201, "blouse", "white", "launder", 6.50, None, ""),
    (802, 5202, "suit jacket", "navy", "dry clean", 14, "C4", ""),
    (803, 5202, "trousers", "navy", "dry clean", 9, "C4", ""),
    (804, 5203, "overcoat", "camel", "dry clean", 24, "D1", "button missing"),
    (805, 5204, "tablecloth", "white", "launder", 11, "A2", ""),
    (806, 5204, "tablecloth", "ivory", "launder", 11, "A2", ""),
    (807, 5204, "waiter jacket", "black", "dry clean", 13, "A3", ""),
    (808, 5205, "wedding dress", "ivory", "dry clean", 120, None, "beading, hand finish"),
    (809, 5206, "sari", "red", "dry clean", 32, None, "gold thread"),
    (810, 5206, "shawl", "green", "dry clean", 18, None, ""),
    (811, 5207, "silk dress", "blue", "dry clean", 21, None, "wine stain on hem"),
    (812, 5208, "shirt", "white", "launder", 4.50, "B7", ""),
    (813, 5208, "shirt", "striped", "launder", 4.50, "B7", ""),
    (814, 5208, "tie", "burgundy", "dry clean", 7, "B8", ""),
    (815, 5209, "chef coat", "white", "launder", 8, None, "grease on cuffs"),
    (816, 5209, "apron", "black", "launder", 5, None, ""),
    (817, 5210, "curtains", "grey", "dry clean", 46, None, ""),
    (818, 5211, "tuxedo", "black", "dry clean", 28, None, "for a gala"),
    (819, 5211, "shirt", "white", "launder", 4.50, None, ""),
    (820, 5212, "cardigan", "yellow", "dry clean", 10, None, "moth hole left elbow"),
    (821, 5212, "skirt", "plaid", "press only", 5.50, None, ""),
    (822, 5213, "leather jacket", "brown", "leather care", 55, None, "scuffed collar"),
    (823, 5214, "duvet", "white", "launder", 27, None, ""),
    (824, 5214, "blouse", "pink", "launder", 6.50, None, "ink on pocket"),
    (825, 5215, "bathrobe", "white", "launder", 9, None, ""),
    (826, 5215, "bathrobe", "white", "launder", 9, None, ""),
    (827, 5215, "uniform", "grey", "dry clean", 13, None, ""),
    (828, 5216, "suit jacket", "charcoal", "dry clean", 14, None, "coffee on lapel"),
    (829, 5216, "trousers", "charcoal", "dry clean", 9, None, ""),
    (830, 5216, "waistcoat", "charcoal", "dry clean", 8.50, None, ""),
    (831, 5217, "raincoat", "beige", "dry clean", 19, None, ""),
    (832, 5218, "kurta", "cream", "launder", 7.50, "E2", ""),
    (833, 5218, "scarf", "teal", "dry clean", 8, "E2", ""),
    (834, 5213, "gloves", "tan", "leather care", 12, None, ""),
]
GARMENTS = {r[0]: dict(zip(("tag", "ticket_no", "item", "colour", "service", "price", "rack", "note"), r[:5] + (f"${r[5]:.2f}",) + r[6:])) for r in _G}


def _ticket(no: int) -> dict:
    if no not in TICKETS:
        raise ToolError(f"ticket {no} not found")
    return TICKETS[no]


@server.tool()
def ticket_show(ticket_no: int) -> dict:
    """One ticket: customer, dates, status, express, paid, clerk."""
    return _ticket(ticket_no)


@server.tool()
def ticket_list(customer_id: int | None = None, status: Status | None = None, due: str | None = None) -> list[dict]:
    """Tickets, filtered by customer, status and/or due date (YYYY-MM-DD)."""
    rows = [t for t in TICKETS.values()
            if (customer_id is None or t["customer_id"] == customer_id)
            and (status is None or t["status"] == status) and (due is None or t["due"] == due)]
    return [{k: t[k] for k in ("ticket_no", "customer_id", "status", "due")} for t in rows[:15]]


@server.tool()
def ticket_set_status(ticket_no: int, status: Status) -> dict:
    """Change where a ticket stands."""
    t = _ticket(ticket_no)
    before, t["status"] = t["status"], status
    return {"ticket_no": ticket_no, "previous_status": before, "status": status}


@server.tool()
def ticket_reschedule(ticket_no: int, due: str) -> dict:
    """Give a ticket a new due date (YYYY-MM-DD)."""
    t = _ticket(ticket_no)
    t["due"] = due
    return {"ticket_no": ticket_no, "due": due, "status": t["status"]}


@server.tool()
def garment_show(tag: int) -> dict:
    """One garment by the number on its tag."""
    if tag not in GARMENTS:
        raise ToolError(f"no garment with tag {tag}")
    return GARMENTS[tag]


@server.tool()
def garment_list(ticket_no: int | None = None, item: str | None = None) -> list[dict]:
    """Garments on a ticket, or all whose item name contains some text."""
    if ticket_no is None and not item:
        raise ToolError("give ticket_no or item")
    if ticket_no is not None:
        _ticket(ticket_no)
    rows = [g for g in GARMENTS.values()
            if (ticket_no is None or g["ticket_no"] == ticket_no) and (not item or item.lower() in g["item"])]
    return [{k: g[k] for k in ("tag", "ticket_no", "item", "price")} for g in rows[:15]]


@server.tool()
def garment_add(ticket_no: int, item: str, colour: str, service: Service, price: float) -> dict:
    """Put another garment on a ticket; price in dollars."""
    _ticket(ticket_no)
    tag = max(GARMENTS) + 1
    GARMENTS[tag] = {"tag": tag, "ticket_no": ticket_no, "item": item, "colour": colour, "service": service,
                     "price": f"${price:.2f}", "rack": None, "note": ""}
    return GARMENTS[tag]


@server.tool()
def customer_show(customer_id: int) -> dict:
    """One customer: phone, starch, credit, member, and whose account is billed (bill_to)."""
    if customer_id not in CUSTOMERS:
        raise ToolError(f"customer {customer_id} not found")
    return CUSTOMERS[customer_id]


@server.tool()
def customer_search(name: str) -> list[dict]:
    """Find customers by name or part of it."""
    return [{"customer_id": c["customer_id"], "name": c["name"]} for c in CUSTOMERS.values() if name.lower() in c["name"].lower()]


if __name__ == "__main__":
    server.run()
