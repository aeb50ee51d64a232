from typing import Literal, Optional
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("fishmarket")
Day = Literal["mon", "tue", "wed", "thu", "fri"]
Species = Literal["cod", "haddock", "hake", "monkfish", "mackerel", "brown crab", "lobster", "halibut", "saithe", "herring"]

# day: date, hall, auctioneer, start, commission %, state
AUCTIONS = {
    "mon": ["2025-03-10", "Hall A", "Britt Sande", "06:00", "4.0", "closed"],
    "tue": ["2025-03-11", "Hall A", "Jonas Wick", "06:30", "4.0", "closed"],
    "wed": ["2025-03-12", "Hall B", "Britt Sande", "06:00", "4.5", "closed"],
    "thu": ["2025-03-13", "Hall A", "Fatima Lund", "07:00", "4.0", "closed"],
    "fri": ["2025-03-14", "Hall B", "Jonas Wick", "05:45", "5.0", "running"],
}
# registration: name, skipper, harbour, gear, length m, last landing
BOATS = {
    "KR-12": ["Morning Tide", "Ansgar Holt", "Kirkvik", "longline", 14, "2025-03-13"],
    "KR-31": ["Silver Petrel", "Oona Reyes", "Kirkvik", "trawl", 22, "2025-03-12"],
    "KR-47": ["Two Sisters", "Bram Tulley", "Sandhaven", "gillnet", 11, "2025-03-14"],
    "SH-05": ["Ebb and Flow", "Noor Vinter", "Sandhaven", "pots", 9, "2025-03-13"],
    "SH-18": ["Grey Gannet", "Pavel Strand", "Sandhaven", "trawl", 24, "2025-03-14"],
    "SH-22": ["Little Auk", "Hedda Moe", "Sandhaven", "handline", 8, "2025-03-13"],
    "LU-03": ["Northern Dawn", "Gil Marchetti", "Lunde", "purse seine", 31, "2025-03-14"],
    "LU-09": ["Kittiwake", "Ingrid Fossum", "Lunde", "gillnet", 12, "2025-03-13"],
    "LU-14": ["Salt Widow", "Kofi Mensah", "Lunde", "pots", 10, "2025-03-12"],
    "RV-77": ["Cormorant", "Eamon Daly", "Ravnes", "trawl", 19, "2025-03-14"],
}
# account: name, contact, e-mail, phone, credit limit, bay, guarantor
BUYERS = {
    "K-101": ["Harbour Grill", "Lena Osei", "orders@harbourgrill.example", "555-0131", 4000, "bay 3", None],
    "K-102": ["Fjordfisk Export", "Tor Alme", "desk@fjordfisk.example", "555-0132", 25000, "bay 1", None],
    "K-103": ["Smokehouse Nine", "Della Ruiz", "della@smokehouse9.example", "555-0133", 6000, "bay 5", None],
    "K-104": ["Bellmann Wholesale", "Udo Bellmann", "buying@bellmann.example", "555-0134", 18000, "bay 2", None],
    "K-105": ["Cafe Anchor", "Priya Nair", "hello@cafeanchor.example", "555-0135", 1500, "bay 6", "K-101"],
    "K-106": ["Osprey Sushi", "Kenji Mori", "kenji@ospreysushi.example", "555-0136", 5000, "bay 4", "K-104"],
    "K-107": ["Village Fish Van", "Mags Corrie", "mags@fishvan.example", "555-0137", 2200, "bay 7", "K-103"],
    "K-108": ["Hotel Meridian", "Sofie Lang", "kitchen@meridian.example", "555-0138", 7500, "bay 8", None],
    "K-109": ["Polar Canning", "Aron Steen", "intake@polarcanning.example", "555-0139", 30000, "bay 9", None],
}
RESERVE = {"cod": 3.5, "haddock": 2.5, "hake": 5.0, "monkfish": 7.5, "mackerel": 1.5, "brown crab": 4.5, "lobster": 20.0, "halibut": 11.0, "saithe": 1.5, "herring": 0.7}
# lot: day, boat, species, boxes, kg, EUR/kg, buyer, status
LOTS = {n: list(r) for n, r in enumerate([
    ("mon", "KR-31", "cod", 12, 480, 4.20, "K-102", "sold"),
    ("mon", "KR-31", "haddock", 8, 320, 3.10, "K-104", "sold"),
    ("mon", "SH-05", "brown crab", 6, 90, 5.80, "K-101", "sold"),
    ("mon", "LU-03", "herring", 60, 2400, 0.85, "K-109", "sold"),
    ("mon", "LU-09", "hake", 5, 150, 6.40, "K-108", "sold"),
    ("mon", "SH-22", "mackerel", 4, 100, 2.60, "K-107", "sold"),
    ("tue", "RV-77", "monkfish", 3, 75, 9.10, "K-106", "sold"),
    ("tue", "RV-77", "cod", 10, 400, 4.45, "K-104", "sold"),
    ("tue", "KR-47", "saithe", 9, 360, 1.95, "K-109", "sold"),
    ("tue", "LU-14", "lobster", 2, 30, 24.50, "K-108", "sold"),
    ("tue", "LU-14", "brown crab", 5, 75, 5.60, "K-105", "sold"),
    ("tue", "KR-12", "halibut", 2, 64, 13.80, "K-106", "sold"),
    ("tue", "SH-18", "haddock", 14, 560, 2.95, "K-102", "sold"),
    ("wed", "SH-18", "cod", 15, 600, 4.05, "K-102", "sold"),
    ("wed", "LU-03", "mackerel", 50, 2000, 1.75, "K-109", "sold"),
    ("wed", "SH-05", "lobster", 1, 16, 25.00, "K-101", "sold"),
    ("wed", "KR-12", "halibut", 3, 102, 12.90, "K-108", "sold"),
    ("wed", "KR-47", "cod", 6, 240, 4.30, "K-103", "sold"),
    ("wed", "LU-09", "hake", 7, 210, 6.10, "K-106", "sold"),
    ("thu", "KR-31", "cod", 11, 440, 4.60, "K-104", "sold"),
    ("thu", "KR-31", "monkfish", 4, 100, 8.75, "K-108", "sold"),
    ("thu", "SH-22", "mackerel", 5, 125, 2.40, "K-107", "sold"),
    ("thu", "RV-77", "haddock", 9, 360, None, None, "withdrawn"),
    ("thu", "LU-14", "brown crab", 8, 120, 5.45, "K-101", "sold"),
    ("thu", "SH-18", "saithe", 12, 480, 1.80, "K-109", "sold"),
    ("thu", "KR-12", "cod", 5, 200, 4.75, "K-103", "sold"),
    ("fri", "LU-09", "hake", 6, 180, None, None, "open"),
    ("fri", "KR-47", "cod", 7, 280, None, None, "open"),
    ("fri", "SH-05", "lobster", 2, 28, None, None, "open"),
    ("fri", "LU-03", "herring", 55, 2200, None, None, "open"),
    ("fri", "RV-77", "monkfish", 5, 125, 9.40, "K-106", "sold"),
    ("fri", "SH-18", "haddock", 13, 520, 3.05, "K-102", "sold"),
    ("fri", "SH-22", "mackerel", 3, 75, None, None, "open"),
    ("fri", "KR-12", "halibut", 2, 58, None, None, "open"),
], 3301)}


@server.tool()
def auctionDay(day: Day) -> str:
    "Sheet of this week's auction on a day: date, hall, auctioneer, start, commission."
    date, hall, who, start, fee, state = AUCTIONS[day]
    return f"date: {date}\nhall: {hall}\nauctioneer: {who}\nstart: {start}\ncommission: {fee} %\nstate: {state}"


@server.tool()
def listLots(day: Optional[Day] = None, species: Optional[Species] = None, boat: Optional[str] = None, buyer: Optional[str] = None, status: Optional[Literal["open", "sold", "withdrawn"]] = None) -> str:
    "Table of this week's lots. Filters: day, species, boat (registration), buyer (account), status; at least one."
    if not (day or species or boat or buyer or status):
        raise ToolError("listLots needs at least one filter")
    rows = [f"{n} | {l[0]} | {l[2]} | {l[4]} | {'-' if l[5] is None else format(l[5], '.2f')} | {l[7]}" for n, l in LOTS.items()
            if (not day or l[0] == day) and (not species or l[2] == species) and (not boat or l[1] == boat) and (not buyer or l[6] == buyer) and (not status or l[7] == status)]
    if not rows:
        return "no lots"
    rest = len(rows) - 15
    return "\n".join(["lot | day | species | kg | EUR/kg | status", *rows[:15]] + ([f"({rest} more, narrow it down)"] if rest > 0 else []))


@server.tool()
def lotSheet(lot: int) -> str:
    "All about one lot by its number."
    if lot not in LOTS:
        return f"Lot {lot} is not in the book."
    day, boat, species, boxes, kg, price, buyer, status = LOTS[lot]
    return (f"lot: {lot}\nday: {day}\nboat: {boat}\nspecies: {species}\nboxes: {boxes}\nweight: {kg} kg\nreserve: {RESERVE[species]:.2f} EUR/kg\n"
            f"price: {'-' if price is None else f'{price:.2f} EUR/kg'}\nbuyer: {buyer or '-'}\nstatus: {status}")


@server.tool()
def boatCard(registration: str) -> str:
    "A boat by its registration, e.g. KR-12."
    if registration not in BOATS:
        return f"No boat registered as {registration}."
    name, skipper, harbour, gear, length, last = BOATS[registration]
    return f"registration: {registration}\nname: {name}\nskipper: {skipper}\nhome harbour: {harbour}\ngear: {gear}\nlength: {length} m\nlast landing: {last}"


@server.tool()
def buyerCard(account: str) -> str:
    "A buyer by account, e.g. K-104: contact, credit limit, loading bay, guarantor (account)."
    if account not in BUYERS:
        return f"No account {account}."
    name, contact, email, phone, limit, bay, guarantor = BUYERS[account]
    return f"account: {account}\nname: {name}\ncontact: {contact}\ne-mail: {email}\nphone: {phone}\ncredit limit: {limit} EUR\nloads at: {bay}\nguarantor: {guarantor or 'none'}"


@server.tool()
def findByName(name: str) -> str:
    "Registration of a boat or account of a buyer, from the name of the boat, firm, skipper or contact person."
    hits = [f"boat {k} {b[0]}" for k, b in BOATS.items() if name.lower() in f"{b[0]}|{b[1]}".lower()]
    hits += [f"buyer {k} {b[0]}" for k, b in BUYERS.items() if name.lower() in f"{b[0]}|{b[1]}".lower()]
    return "\n".join(hits) or f"Nothing called '{name}'."


@server.tool()
def sellLot(lot: int, buyer: str, pricePerKg: float) -> str:
    "Knock an open lot down to a buyer (account) at a price in EUR per kg."
    if lot not in LOTS:
        raise ToolError(f"lot {lot} unknown")
    if buyer not in BUYERS:
        raise ToolError(f"account {buyer} unknown")
    l = LOTS[lot]
    if l[7] != "open":
        raise ToolError(f"lot {lot} is {l[7]}")
    if pricePerKg < RESERVE[l[2]]:
        raise ToolError(f"below reserve ({RESERVE[l[2]]:.2f} EUR/kg)")
    l[5:] = [pricePerKg, buyer, "sold"]
    return f"lot {lot} ({l[2]}, {l[4]} kg) sold to {buyer} at {pricePerKg:.2f} EUR/kg"


@server.tool()
def withdrawLot(lot: int) -> str:
    "Take an open lot out of the auction."
    if lot not in LOTS:
        raise ToolError(f"lot {lot} unknown")
    l = LOTS[lot]
    if l[7] != "open":
        raise ToolError(f"lot {lot} is {l[7]}")
    l[7] = "withdrawn"
    return f"lot {lot} ({l[2]}, {l[4]} kg) withdrawn"


@server.tool()
def setCreditLimit(account: str, limit: int) -> str:
    "New credit limit of a buyer in EUR."
    if account not in BUYERS:
        raise ToolError(f"account {account} unknown")
    old, BUYERS[account][4] = BUYERS[account][4], limit
    return f"{account}: credit limit {old} EUR -> {limit} EUR"


if __name__ == "__main__":
    server.run()
