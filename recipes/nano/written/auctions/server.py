"""A country auction house: lots, sellers, bidders, bids and sale days."""
from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("auctions")

Status = Literal["open", "sold", "unsold", "withdrawn"]
Category = Literal["furniture", "clocks", "jewellery", "ceramics", "pictures", "toys", "textiles", "silver"]

SALE_DAYS = {
    21: ("2025-03-04", "10:00", "Hall A", "Petra Vance", "2025-03-03"),
    22: ("2025-03-18", "10:30", "Hall B", "Simon Achterberg", "2025-03-16"),
    23: ("2025-04-01", "11:00", "Hall A", "Petra Vance", "2025-03-30"),
    24: ("2025-04-15", "09:30", "Old Stables", "Lionel Mabry", "2025-04-13"),
}
SELLERS = {
    701: ("Harriet Coombe", "555-0111", "harriet.coombe@mail.example", "Ludlow", 12.5),
    702: ("Brennan Estate", "555-0112", "office@brennan-estate.example", "Hereford", 15.0),
    703: ("Yusuf Demir", "555-0113", "y.demir@post.example", "Worcester", 14.0),
    704: ("Margaret Tolley", "555-0114", "mtolley@mail.example", "Bewdley", 12.0),
    705: ("Parish of St Aldhelm", "555-0115", "warden@staldhelm.example", "Ledbury", 10.0),
    706: ("Oliver Pryce", "555-0116", "oliver@pryce.example", "Tenbury", 15.0),
    707: ("Castlegate Antiques", "555-0117", "trade@castlegate.example", "Shrewsbury", 9.5),
    708: ("Ines Carvalho", "555-0118", "ines.c@post.example", "Malvern", 14.0),
    709: ("Fenwick & Daughters", "555-0119", "hello@fenwick.example", "Leominster", 11.0),
}
BIDDERS = {
    201: ("Agnes Lorimer", "555-0131", "UK", 1000, True),
    202: ("Beatrix Holm", "555-0132", "DK", 2500, True),
    203: ("Carl Ostrander", "555-0133", "UK", 1500, True),
    204: ("Dmitri Vale", "555-0134", "UK", 5000, True),
    205: ("Eleanor Whitby", "555-0135", "UK", 400, True),
    206: ("Farid Nassar", "555-0136", "FR", 800, False),
    207: ("Gwen Parfitt", "555-0137", "UK", 900, True),
    208: ("Hugo Lindqvist", "555-0138", "SE", 2000, True),
    209: ("Imogen Slade", "555-0139", "UK", 1200, False),
    210: ("Jasper Quill", "555-0140", "UK", 6000, True),
    211: ("Katya Brandt", "555-0141", "DE", 600, True),
    212: ("Leopold Finch", "555-0142", "UK", 3000, True),
}
COLUMNS = ("title", "category", "estimateLow", "estimateHigh", "reserve", "status", "sellerId", "saleDayId", "location")
LOTS = {n: dict(zip(COLUMNS, row)) for n, row in {
    40: ("Walnut bureau bookcase", "furniture", 800, 1200, 700, "open", 701, 22, "B4"),
    41: ("Pair of silver candlesticks", "silver", 60, 90, 50, "sold", 702, 21, "A1"),
    42: ("Longcase clock by Thos. Weir", "clocks", 1500, 2000, 1300, "sold", 704, 21, "C2"),
    43: ("Victorian sapphire ring", "jewellery", 400, 600, 350, "open", 708, 22, "Safe 1"),
    44: ("Blue and white Delft charger", "ceramics", 250, 350, 200, "open", 703, 22, "A6"),
    45: ("Oak coffer, carved front", "furniture", 300, 500, 250, "unsold", 705, 21, "D1"),
    46: ("Carriage clock, repeating", "clocks", 350, 450, 300, "open", 707, 22, "C3"),
    47: ("Oil painting, Harbour at Dusk", "pictures", 900, 1400, 800, "open", 706, 22, "W2"),
    48: ("Box of toy trains", "toys", 120, 180, 100, "open", 702, 22, "E5"),
    49: ("Persian runner rug", "textiles", 200, 300, 150, "withdrawn", 703, 22, "F1"),
    50: ("Silver teapot, Sheffield 1911", "silver", 280, 360, 240, "open", 701, 23, "Safe 2"),
    51: ("Set of six Windsor chairs", "furniture", 450, 650, 400, "open", 704, 23, "D3"),
    52: ("Art deco mantel clock", "clocks", 150, 220, 120, "open", 709, 23, "C1"),
    53: ("Watercolour, Mill at Arley", "pictures", 180, 260, 150, "open", 706, 23, "W4"),
    54: ("Pearl necklace, two strand", "jewellery", 500, 700, 450, "open", 708, 23, "Safe 1"),
    55: ("Majolica jardiniere", "ceramics", 220, 320, 180, "open", 707, 23, "A2"),
    56: ("Rocking horse, dapple grey", "toys", 600, 800, 500, "open", 705, 23, "E1"),
    57: ("Welsh patchwork quilt", "textiles", 140, 200, 100, "open", 709, 23, "F3"),
    58: ("Mahogany dining table", "furniture", 700, 1000, 600, "open", 702, 24, "D5"),
    59: ("Gold half hunter watch", "jewellery", 1100, 1500, 1000, "open", 701, 24, "Safe 2"),
    60: ("Meissen figure of a shepherd", "ceramics", 650, 850, 550, "open", 703, 24, "A4"),
    61: ("Portrait of a Naval Officer", "pictures", 2000, 3000, 1800, "open", 707, 24, "W1"),
    62: ("Tinplate steam launch", "toys", 300, 400, 250, "open", 706, 24, "E3"),
    63: ("Georgian silver salver", "silver", 420, 560, 380, "withdrawn", 704, 24, "Safe 2"),
    64: ("Flemish tapestry panel", "textiles", 1200, 1800, 1000, "open", 705, 24, "F2"),
    65: ("Regency card table", "furniture", 350, 480, 300, "sold", 709, 21, "D2"),
    66: ("Diamond bar brooch", "jewellery", 260, 340, 220, "sold", 708, 21, "Safe 1"),
    67: ("Staffordshire dog pair", "ceramics", 90, 140, 80, "unsold", 703, 21, "A3"),
}.items()}
BIDS: list[dict] = []
for _lot, _bidder, _amount in [
    (41, 205, 55), (41, 201, 70), (42, 210, 1350), (65, 206, 310), (66, 202, 230), (42, 204, 1500), (65, 209, 340),
    (66, 212, 255), (42, 210, 1650), (40, 203, 720), (43, 202, 360), (44, 206, 210), (46, 211, 310), (47, 204, 820),
    (40, 207, 760), (46, 205, 330), (47, 209, 900), (43, 208, 410), (47, 204, 950), (50, 207, 250), (56, 201, 520),
    (40, 203, 800), (46, 211, 345), (47, 212, 1010), (54, 208, 460), (56, 203, 560), (54, 202, 480), (59, 204, 1020),
    (61, 210, 1850), (59, 212, 1060),
]:
    BIDS.append({"bidId": 9001 + len(BIDS), "lotId": _lot, "bidderId": _bidder, "amount": _amount})


def _lot_or_fail(lot_id: int) -> dict:
    if lot_id not in LOTS:
        raise ToolError(f"Lot {lot_id} not found")
    return LOTS[lot_id]


@server.tool()
def getLot(lot_id: int) -> dict:
    "Full catalogue entry of one lot: title, estimate, reserve (GBP), status, seller, sale day, storage location."
    return {"lotId": lot_id, **_lot_or_fail(lot_id), "currency": "GBP"}


@server.tool()
def searchLots(text: str = "", sale_day_id: int = 0, status: Status | None = None, category: Category | None = None) -> dict:
    "Search lots by words of the title, sale day, status or category. All filters are optional; returns at most 12 short rows."
    rows = [{"lotId": n, "title": l["title"], "estimateHigh": l["estimateHigh"], "status": l["status"]} for n, l in LOTS.items()
            if text.casefold() in l["title"].casefold() and (not sale_day_id or l["saleDayId"] == sale_day_id)
            and (status is None or l["status"] == status) and (category is None or l["category"] == category)]
    return {"count": len(rows), "lots": rows[:12]}


@server.tool()
def getSeller(seller_id: int) -> dict:
    "Contact data and commission of a seller (consignor)."
    if seller_id not in SELLERS:
        raise ToolError(f"Seller {seller_id} not found")
    return {"sellerId": seller_id, **dict(zip(("name", "phone", "email", "town", "commissionPct"), SELLERS[seller_id]))}


@server.tool()
def getBidder(bidder_id: int) -> dict:
    "A registered bidder. The bidder id is the number on the paddle."
    if bidder_id not in BIDDERS:
        raise ToolError(f"Bidder {bidder_id} not found")
    return {"bidderId": bidder_id, **dict(zip(("name", "phone", "country", "creditLimit", "depositPaid"), BIDDERS[bidder_id])), "currency": "GBP"}


@server.tool()
def findPerson(name: str) -> dict:
    "Find sellers and bidders by (part of) their name; gives their role and id."
    hits = [{"role": role, "id": n, "name": row[0]} for role, table in (("seller", SELLERS), ("bidder", BIDDERS))
            for n, row in table.items() if name.casefold() in row[0].casefold()]
    return {"matches": hits}


@server.tool()
def listBids(lot_id: int) -> dict:
    "All bids on a lot, oldest first."
    _lot_or_fail(lot_id)
    return {"lotId": lot_id, "currency": "GBP", "bids": [{k: b[k] for k in ("bidId", "bidderId", "amount")} for b in BIDS if b["lotId"] == lot_id]}


@server.tool()
def getSaleDay(sale_day_id: int) -> dict:
    "Date, start, room, auctioneer and viewing date of a sale day."
    if sale_day_id not in SALE_DAYS:
        raise ToolError(f"Sale day {sale_day_id} not found")
    return {"saleDayId": sale_day_id, **dict(zip(("date", "startsAt", "room", "auctioneer", "viewingDate"), SALE_DAYS[sale_day_id]))}


@server.tool()
def placeBid(lot_id: int, bidder_id: int, amount: int) -> dict:
    "Record a bid in whole GBP. It must beat the highest bid so far, and the lot must be open."
    lot = _lot_or_fail(lot_id)
    if bidder_id not in BIDDERS:
        raise ToolError(f"Bidder {bidder_id} not found")
    if lot["status"] != "open":
        raise ToolError(f"Lot {lot_id} is {lot['status']}, no bids taken")
    high = max((b["amount"] for b in BIDS if b["lotId"] == lot_id), default=0)
    if amount <= high:
        raise ToolError(f"Bid must be above {high} GBP")
    if amount > BIDDERS[bidder_id][3]:
        raise ToolError(f"Over the credit limit of bidder {bidder_id} ({BIDDERS[bidder_id][3]} GBP)")
    bid = {"bidId": 9001 + len(BIDS), "lotId": lot_id, "bidderId": bidder_id, "amount": amount}
    BIDS.append(bid)
    return {**bid, "previousHigh": high, "currency": "GBP"}


@server.tool()
def updateLot(lot_id: int, status: Status | None = None, reserve: int | None = None, sale_day_id: int | None = None, location: str | None = None) -> dict:
    "Change a lot: its status, reserve (GBP), sale day or storage location. Give only what changes."
    lot = _lot_or_fail(lot_id)
    if sale_day_id is not None and sale_day_id not in SALE_DAYS:
        raise ToolError(f"Sale day {sale_day_id} not found")
    changed = {}
    for key, value in (("status", status), ("reserve", reserve), ("saleDayId", sale_day_id), ("location", location)):
        if value is not None:
            changed[key] = {"from": lot[key], "to": value}
            lot[key] = value
    if not changed:
        raise ToolError("Nothing to change")
    return {"lotId": lot_id, "title": lot["title"], "changed": changed}


if __name__ == "__main__":
    server.run()
