from datetime import date
from typing import Literal, Optional
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("pawnshop")

CUSTOMERS = {k: dict(zip(("name", "phone", "document", "since", "referred by", "standing"), v)) for k, v in {
    "K01": ("Ruta Blom", "555-0131", "driving licence", "2018", "-", "good"),
    "K02": ("Casimir Dunne", "555-0132", "passport", "2021", "K01", "good"),
    "K03": ("Opal Whitlock", "555-0133", "driving licence", "2015", "-", "good"),
    "K04": ("Teodor Grabski", "555-0134", "residence permit", "2023", "K02", "on watch"),
    "K05": ("Lorna Macfie", "555-0135", "passport", "2019", "K03", "good"),
    "K06": ("Emeka Okoro", "555-0136", "driving licence", "2022", "-", "good"),
    "K07": ("Yvette Saulnier", "555-0137", "passport", "2020", "K05", "late payer"),
    "K08": ("Hank Brubaker", "555-0138", "driving licence", "2011", "-", "good"),
    "K09": ("Priya Nandakumar", "555-0139", "residence permit", "2024", "K06", "good"),
    "K10": ("Stellan Roos", "555-0140", "passport", "2017", "-", "banned"),
    "K11": ("Josie Whitlock", "555-0141", "driving licence", "2022", "K03", "on watch"),
    "K12": ("Abel Quintero", "555-0142", "passport", "2016", "K08", "good"),
}.items()}

ITEMS = {k: dict(zip(("description", "category", "place", "valued", "appraiser", "state", "asking", "buyer"), v)) for k, v in {
    "I-301": ("gold wedding ring 14k", "jewellery", "safe A", 260, "Dorota", "pledged", None, None),
    "I-302": ("Fender Telecaster guitar", "music", "rack 2", 650, "Miles", "pledged", None, None),
    "I-303": ("Canon EOS 80D camera", "electronics", "shelf C4", 420, "Miles", "pledged", None, None),
    "I-304": ("Makita cordless drill set", "tools", "shelf E1", 140, "Stan", "for sale", 165, None),
    "I-305": ("Omega Seamaster watch", "watches", "safe B", 2100, "Dorota", "pledged", None, None),
    "I-306": ("pearl necklace", "jewellery", "safe A", 480, "Dorota", "for sale", 560, None),
    "I-307": ("Yamaha alto saxophone", "music", "rack 1", 700, "Miles", "pledged", None, None),
    "I-308": ("Nintendo Switch console", "electronics", "shelf C2", 160, "Miles", "for sale", 190, None),
    "I-309": ("Seiko diver watch", "watches", "safe B", 230, "Dorota", "sold", 270, "K12"),
    "I-310": ("silver tea set", "household", "shelf D3", 390, "Dorota", "pledged", None, None),
    "I-311": ("Stihl chainsaw", "tools", "shelf E2", 310, "Stan", "pledged", None, None),
    "I-312": ("MacBook Air 2020", "electronics", "shelf C1", 520, "Miles", "pledged", None, None),
    "I-313": ("violin with bow", "music", "rack 1", 880, "Miles", "for sale", 990, None),
    "I-314": ("emerald ring", "jewellery", "safe A", 1250, "Dorota", "pledged", None, None),
    "I-315": ("Bosch rotary hammer", "tools", "shelf E3", 180, "Stan", "for sale", 210, None),
    "I-316": ("Tissot pocket watch", "watches", "safe B", 340, "Dorota", "for sale", 395, None),
    "I-317": ("piano accordion", "music", "rack 3", 450, "Stan", "sold", 520, "K08"),
    "I-318": ("gold bracelet", "jewellery", "safe A", 610, "Dorota", "pledged", None, None),
    "I-319": ("DJI Mini 2 drone", "electronics", "shelf C3", 250, "Miles", "pledged", None, None),
    "I-320": ("brass trumpet", "music", "rack 2", 275, "Stan", "for sale", 315, None),
    "I-321": ("electric bass", "music", "-", 300, "Miles", "returned", None, None),
}.items()}

LOANS = {k: dict(zip(("customer", "item", "lent", "rate", "opened", "due", "status"), v)) for k, v in {
    40109: ("K08", "I-321", 180, 3.5, "2024-09-15", "2024-12-15", "redeemed"),
    40112: ("K01", "I-301", 150, 4, "2025-02-03", "2025-05-03", "active"),
    40115: ("K02", "I-302", 400, 3.5, "2025-02-10", "2025-05-10", "active"),
    40118: ("K03", "I-303", 250, 4, "2025-02-14", "2025-05-14", "active"),
    40121: ("K04", "I-304", 80, 5, "2024-10-20", "2025-01-20", "forfeited"),
    40124: ("K05", "I-305", 1300, 3, "2025-02-21", "2025-06-21", "active"),
    40127: ("K06", "I-307", 420, 3.5, "2025-02-28", "2025-05-28", "active"),
    40130: ("K07", "I-306", 300, 4, "2024-11-05", "2025-02-05", "forfeited"),
    40133: ("K08", "I-310", 220, 4, "2025-03-04", "2025-06-04", "active"),
    40136: ("K12", "I-311", 190, 4.5, "2025-03-07", "2025-06-07", "active"),
    40139: ("K09", "I-312", 330, 4, "2025-03-11", "2025-05-11", "active"),
    40142: ("K05", "I-314", 800, 3, "2025-03-13", "2025-07-13", "active"),
    40145: ("K11", "I-318", 360, 3.5, "2025-03-17", "2025-06-17", "active"),
    40148: ("K06", "I-319", 140, 4.5, "2025-03-20", "2025-05-20", "active"),
    40151: ("K07", "I-316", 200, 4, "2024-12-01", "2025-03-01", "forfeited"),
    40154: ("K03", "I-308", 90, 5, "2024-12-10", "2025-03-10", "forfeited"),
}.items()}


def _lines(**kv) -> str:
    return "\n".join(f"{k.replace('_', ' ')}: {v}" for k, v in kv.items() if v is not None)


def _date(text):
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ToolError(f"'{text}' is no date, use YYYY-MM-DD")


@server.tool(structured_output=False)
def loanInfo(ticket: int) -> str:
    """Shows a loan."""
    l = LOANS.get(ticket)
    if not l:
        return f"No loan with ticket {ticket} on the books."
    return _lines(ticket=ticket, customer=l["customer"], item=l["item"], lent=f"${l['lent']}", interest=f"{l['rate']} % a month",
                  opened=l["opened"], due=l["due"], status=l["status"])


@server.tool(structured_output=False)
def itemInfo(item: str) -> str:
    """Shows an item (I-nnn): what it is, where it lies, what it is valued at, who appraised it."""
    i = ITEMS.get(item)
    if not i:
        return f"No item {item}."
    return _lines(item=item, description=i["description"], category=i["category"], place=i["place"], valued=f"${i['valued']}", appraised_by=i["appraiser"],
                  state=i["state"], asking_price=f"${i['asking']}" if i["asking"] else None, buyer=i["buyer"])


@server.tool(structured_output=False)
def customerInfo(customer: str) -> str:
    """Shows a customer by number (K plus two digits)."""
    c = CUSTOMERS.get(customer)
    if not c:
        return f"No customer {customer}."
    return _lines(customer=customer, **c)


@server.tool(structured_output=False)
def searchCustomers(name: str) -> str:
    """Customer numbers by name or part of a name."""
    found = [f"{k}: {c['name']}" for k, c in CUSTOMERS.items() if name.lower() in c["name"].lower()]
    return "\n".join(found) or f"Nobody called {name}."


@server.tool(structured_output=False)
def searchItems(text: str = "", category: Optional[Literal["jewellery", "watches", "music", "electronics", "tools", "household"]] = None,
                state: Optional[Literal["pledged", "for sale", "sold", "returned"]] = None) -> str:
    """Items by a word of the description, category and/or state. At least one is needed."""
    if not (text or category or state):
        raise ToolError("Give a text, a category or a state.")
    found = [f"{k}: {i['description']}, {i['state']}" + (f", ${i['asking']}" if i["asking"] else "") for k, i in ITEMS.items()
             if text.lower() in i["description"].lower() and category in (None, i["category"]) and state in (None, i["state"])]
    return "\n".join(found) or "Nothing found."


@server.tool(structured_output=False)
def listLoans(customer: Optional[str] = None, status: Optional[Literal["active", "redeemed", "forfeited"]] = None, dueBefore: Optional[str] = None) -> str:
    """Lists loans as 'ticket: item, amount, due date, status'. Filters: customer number, status, due before a date (YYYY-MM-DD)."""
    if dueBefore:
        dueBefore = _date(dueBefore)
    found = [f"{k}: {l['item']}, ${l['lent']}, due {l['due']}, {l['status']}" for k, l in LOANS.items()
             if customer in (None, l["customer"]) and status in (None, l["status"]) and (not dueBefore or l["due"] < dueBefore)]
    return "\n".join(found) or "No loans."


@server.tool(structured_output=False)
def extendLoan(ticket: int, newDue: str) -> str:
    """Gives an active loan a new due date (YYYY-MM-DD)."""
    l = LOANS.get(ticket)
    if not l:
        return f"No loan with ticket {ticket} on the books."
    if l["status"] != "active":
        raise ToolError(f"Loan {ticket} is {l['status']}, only active loans can be extended.")
    old, l["due"] = l["due"], _date(newDue)
    return _lines(ticket=ticket, old_due=old, new_due=l["due"])


@server.tool(structured_output=False)
def closeLoan(ticket: int, how: Literal["redeemed", "forfeited"]) -> str:
    """Closes an active loan: redeemed (paid back, the item goes home) or forfeited (the item becomes ours)."""
    l = LOANS.get(ticket)
    if not l:
        return f"No loan with ticket {ticket} on the books."
    if l["status"] != "active":
        raise ToolError(f"Loan {ticket} is already {l['status']}.")
    l["status"] = how
    i = ITEMS[l["item"]]
    i["state"] = "returned" if how == "redeemed" else "for sale"
    return _lines(ticket=ticket, status=how, item=l["item"], item_state=i["state"])


@server.tool(structured_output=False)
def setAskingPrice(item: str, price: int) -> str:
    """Sets the asking price in dollars of an item that is for sale."""
    i = ITEMS.get(item)
    if not i:
        return f"No item {item}."
    if i["state"] != "for sale":
        raise ToolError(f"{item} is {i['state']}, not for sale.")
    old, i["asking"] = i["asking"], price
    return _lines(item=item, old_price=f"${old}" if old else "-", asking_price=f"${price}")


if __name__ == "__main__":
    server.run()
