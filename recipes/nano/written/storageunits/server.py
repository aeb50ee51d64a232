from typing import Literal, Optional
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("storebox")


def eur(x):
    return {"amount": f"{x:.2f}", "currency": "EUR"}


# unit: building, floor, sqm, rent, status, tenant, gate, lock
UNITS = {
    "A12": ["A", 0, 4.5, 68.0, "rented", 2001, "north", "padlock"],
    "A14": ["A", 0, 4.5, 68.0, "vacant", None, "north", "none"],
    "A21": ["A", 1, 7.0, 92.5, "rented", 2004, "north", "disc lock"],
    "A23": ["A", 1, 7.0, 92.5, "overlocked", 2007, "north", "red overlock"],
    "A30": ["A", 2, 10.0, 118.0, "rented", 2002, "north", "padlock"],
    "B03": ["B", 0, 12.0, 149.0, "rented", 2003, "dock", "keypad"],
    "B05": ["B", 0, 12.0, 149.0, "vacant", None, "dock", "none"],
    "B08": ["B", 0, 15.5, 184.0, "overlocked", 2009, "dock", "red overlock"],
    "B11": ["B", 1, 6.0, 81.0, "rented", 2005, "east", "padlock"],
    "B17": ["B", 1, 6.0, 81.0, "maintenance", None, "east", "none"],
    "B19": ["B", 1, 8.5, 104.0, "rented", 2008, "east", "disc lock"],
    "C02": ["C", 0, 20.0, 236.0, "rented", 2006, "dock", "keypad"],
    "C04": ["C", 0, 20.0, 236.0, "overlocked", 2010, "dock", "red overlock"],
    "C07": ["C", 0, 3.0, 45.0, "rented", 2011, "river", "padlock"],
    "C09": ["C", 0, 3.0, 45.0, "vacant", None, "river", "none"],
    "C15": ["C", 1, 9.0, 110.0, "rented", 2002, "river", "disc lock"],
}

# id: name, email, phone, movedIn, autopay, deposit
TENANTS = {
    2001: ["Dora Whitlock", "dora@whitlock.example", "555-0151", "2023-04-01", True, 68.0],
    2002: ["Anselm Krug", "krug@mail.example", "555-0152", "2021-09-15", False, 230.0],
    2003: ["Pinewood Theatre", "props@pinewood.example", "555-0153", "2020-02-01", True, 300.0],
    2004: ["Farida Nasser", "farida.n@mail.example", "555-0154", "2024-06-20", True, 92.5],
    2005: ["Leo Brannigan", "leo@brannigan.example", "555-0155", "2025-01-11", False, 81.0],
    2006: ["Castell Movers", "desk@castell.example", "555-0156", "2019-11-04", True, 500.0],
    2007: ["Hugo Tindall", "hugo.t@post.example", "555-0157", "2022-03-08", False, 92.5],
    2008: ["Vera Lomax", "vera@lomax.example", "555-0158", "2025-08-30", True, 104.0],
    2009: ["Stan Oyelaran", "stan.o@mail.example", "555-0159", "2022-10-10", False, 184.0],
    2010: ["Greenleaf Events", "kim@greenleaf.example", "555-0160", "2021-05-17", False, 472.0],
    2011: ["Maud Pickering", "maud@pickering.example", "555-0161", "2024-12-02", False, 45.0],
}

# gate: location, code, opens, closes, status, keeper
GATES = {
    "north": ["Mill Road", "4471", "06:00", "22:00", "working", "Olga Prinz"],
    "east": ["Canal Path", "9082", "07:00", "21:00", "working", "Dev Mistry"],
    "dock": ["Harbour Street", "3316", "05:00", "23:00", "stuck open", "Sam Horvat"],
    "river": ["Ferry Lane", "7750", "07:30", "20:00", "working", "Dev Mistry"],
}

# invoice: unit, tenant, issued, due, total, paid, lateFee, status
INVOICES = {
    "INV-7001": ["A12", 2001, "2026-06-01", "2026-06-15", 68.0, 68.0, 0.0, "paid"],
    "INV-7002": ["A23", 2007, "2026-04-01", "2026-04-15", 92.5, 0.0, 15.0, "overdue"],
    "INV-7003": ["A23", 2007, "2026-05-01", "2026-05-15", 92.5, 0.0, 15.0, "overdue"],
    "INV-7004": ["B08", 2009, "2026-03-01", "2026-03-15", 184.0, 50.0, 25.0, "overdue"],
    "INV-7005": ["B11", 2005, "2026-06-01", "2026-06-15", 81.0, 0.0, 0.0, "due"],
    "INV-7006": ["C04", 2010, "2026-02-01", "2026-02-15", 236.0, 0.0, 30.0, "overdue"],
    "INV-7007": ["C07", 2011, "2026-06-03", "2026-06-17", 45.0, 0.0, 0.0, "due"],
    "INV-7008": ["A30", 2002, "2026-06-05", "2026-06-19", 118.0, 0.0, 0.0, "due"],
    "INV-7009": ["C15", 2002, "2026-06-05", "2026-06-19", 110.0, 60.0, 0.0, "due"],
    "INV-7010": ["C02", 2006, "2026-06-01", "2026-06-15", 236.0, 236.0, 0.0, "paid"],
    "INV-7011": ["B19", 2008, "2026-06-01", "2026-06-15", 104.0, 104.0, 0.0, "paid"],
    "INV-7012": ["C04", 2010, "2026-03-01", "2026-03-15", 236.0, 0.0, 30.0, "overdue"],
}

# lot: unit, contents, date, minimum, top bid, bids, auctioneer, status
LOTS = {
    41: ["A23", "bicycles, camping gear", "2026-07-08", 120.0, 165.0, 4, "Rae Colley", "announced"],
    42: ["B08", "piano, furniture", "2026-07-08", 400.0, 380.0, 2, "Rae Colley", "announced"],
    43: ["C04", "marquee tents, glassware", "2026-07-15", 650.0, 910.0, 7, "Bert Ansah", "announced"],
    44: ["B17", "tools, paint", "2026-05-20", 80.0, 145.0, 6, "Bert Ansah", "sold"],
    45: ["C09", "books", "2026-05-20", 30.0, 0.0, 0, "Rae Colley", "withdrawn"],
    46: ["A14", "clothing racks", "2026-04-29", 60.0, 75.0, 3, "Ilse Toma", "sold"],
}


def unit_json(u):
    b, f, s, r, st, t, g, lock = UNITS[u]
    return {"unitNo": u, "building": b, "floor": f, "sizeSqm": s, "monthlyRent": eur(r), "status": st, "tenantId": t, "gate": g, "lock": lock}


def lot_json(k):
    u, c, d, m, top, n, a, st = LOTS[k]
    return {"lotNo": k, "unitNo": u, "contents": c, "date": d, "minimumBid": eur(m), "topBid": eur(top), "bids": n, "auctioneer": a, "status": st}


@server.tool()
def unitDetails(unitNo: str) -> dict:
    "One unit (letter and two digits, such as A12) with rent, tenant id and gate."
    if unitNo not in UNITS:
        raise ToolError(f"UNIT_UNKNOWN: {unitNo}")
    return unit_json(unitNo)


@server.tool()
def searchUnits(building: Optional[Literal["A", "B", "C"]] = None, status: Optional[Literal["vacant", "rented", "overlocked", "maintenance"]] = None,
                tenantId: Optional[int] = None, minSizeSqm: Optional[float] = None) -> dict:
    "Search units; all filters are optional but one is required."
    if building is None and status is None and tenantId is None and minSizeSqm is None:
        raise ToolError("FILTER_REQUIRED: give building, status, tenantId or minSizeSqm")
    hits = [u for u, v in UNITS.items() if (not building or v[0] == building) and (not status or v[4] == status)
            and (tenantId is None or v[5] == tenantId) and (minSizeSqm is None or v[2] >= minSizeSqm)]
    return {"count": len(hits), "units": [{"unitNo": u, "sizeSqm": UNITS[u][2], "monthlyRent": eur(UNITS[u][3]), "status": UNITS[u][4]} for u in hits]}


@server.tool()
def tenantLookup(tenantId: Optional[int] = None, name: Optional[str] = None) -> dict:
    "A tenant by id (e.g. 2001) or by name: contact, move-in date, autopay and deposit."
    for k, v in TENANTS.items():
        if k == tenantId or (name and name.lower() in v[0].lower()):
            return {"tenantId": k, "name": v[0], "email": v[1], "phone": v[2], "movedIn": v[3], "autopay": v[4], "deposit": eur(v[5])}
    raise ToolError(f"TENANT_UNKNOWN: {tenantId or name}")


@server.tool()
def gateInfo(gate: Literal["north", "east", "dock", "river"]) -> dict:
    "Opening hours, entry code, condition and keeper of a gate."
    loc, code, o, c, st, keeper = GATES[gate]
    return {"gate": gate, "location": loc, "entryCode": code, "opens": o, "closes": c, "condition": st, "keeper": keeper}


@server.tool()
def invoices(invoiceNo: Optional[str] = None, tenantId: Optional[int] = None, unitNo: Optional[str] = None,
             status: Optional[Literal["due", "overdue", "paid"]] = None) -> list[dict]:
    "Invoices by number (INV-7001), tenant, unit or status; give at least one. 'paid' is what has been received so far."
    if not (invoiceNo or tenantId or unitNo or status):
        raise ToolError("FILTER_REQUIRED: give invoiceNo, tenantId, unitNo or status")
    return [{"invoiceNo": k, "unitNo": v[0], "tenantId": v[1], "dueDate": v[3], "total": eur(v[4]), "paid": eur(v[5]), "lateFee": eur(v[6]), "status": v[7]}
            for k, v in INVOICES.items() if (not invoiceNo or k == invoiceNo) and (tenantId is None or v[1] == tenantId)
            and (not unitNo or v[0] == unitNo) and (not status or v[7] == status)]


@server.tool()
def auctionLots(lotNo: Optional[int] = None, unitNo: Optional[str] = None, date: Optional[str] = None, status: Optional[Literal["announced", "sold", "withdrawn"]] = None) -> list[dict]:
    "Auctions of the contents of abandoned units, by lot number, unit, date or status."
    return [lot_json(k) for k, v in LOTS.items() if (lotNo is None or k == lotNo) and (not unitNo or v[0] == unitNo) and (not date or v[2] == date) and (not status or v[7] == status)]


@server.tool()
def recordPayment(invoiceNo: str, amount: float) -> dict:
    "Book money received (in EUR) on an invoice."
    if invoiceNo not in INVOICES:
        raise ToolError(f"INVOICE_UNKNOWN: {invoiceNo}")
    v = INVOICES[invoiceNo]
    v[5] += amount
    left = max(0.0, v[4] + v[6] - v[5])
    if left == 0:
        v[7] = "paid"
    return {"invoiceNo": invoiceNo, "received": eur(amount), "stillOwed": eur(left), "status": v[7]}


@server.tool()
def updateUnit(unitNo: str, status: Optional[Literal["vacant", "rented", "overlocked", "maintenance"]] = None, tenantId: Optional[int] = None,
               monthlyRent: Optional[float] = None) -> dict:
    "Change a unit's status, tenant or monthly rent in EUR. Give the tenant id together with status rented when somebody moves in; vacant removes the tenant."
    if unitNo not in UNITS:
        raise ToolError(f"UNIT_UNKNOWN: {unitNo}")
    v = UNITS[unitNo]
    if status:
        v[4] = status
        if status == "vacant":
            v[5] = None
    if tenantId is not None:
        if tenantId not in TENANTS:
            raise ToolError(f"TENANT_UNKNOWN: {tenantId}")
        v[5] = tenantId
    if monthlyRent is not None:
        v[3] = monthlyRent
    return {"unitNo": unitNo, "status": v[4], "tenantId": v[5], "monthlyRent": eur(v[3])}


@server.tool()
def changeLot(lotNo: int, date: Optional[str] = None, minimumBid: Optional[float] = None, status: Optional[Literal["announced", "sold", "withdrawn"]] = None) -> dict:
    "Reschedule an auction (YYYY-MM-DD), change its minimum bid or set it sold / withdrawn."
    if lotNo not in LOTS:
        raise ToolError(f"LOT_UNKNOWN: {lotNo}")
    v = LOTS[lotNo]
    if date:
        v[2] = date
    if minimumBid is not None:
        v[3] = minimumBid
    if status:
        v[7] = status
    return {"lotNo": lotNo, "date": v[2], "minimumBid": eur(v[3]), "status": v[7]}


if __name__ == "__main__":
    server.run()
