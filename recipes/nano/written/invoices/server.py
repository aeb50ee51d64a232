from typing import Any, Literal, Optional

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("invoices")
TODAY = "2025-04-22"

_clients = [
    (1001, "Lindner Bakery", "Graz", "Petra Lindner", "petra@lindner.example", "555-0101", 14, "email", None),
    (1002, "Quarz Software", "Vienna", "Ivo Hahn", "ivo@quarz.example", "555-0112", 30, "email", None),
    (1003, "Studio Bea", "Linz", "Bea Moser", "bea@studiobea.example", "555-0123", 14, "email", None),
    (1004, "Alpenhof Hotel", "Schladming", "Karin Egger", "office@alpenhof.example", "555-0134", 30, "post", None),
    (1005, "Steinmann Tools", "Wels", "Rolf Steinmann", "rolf@steinmann.example", "555-0145", 30, "post", None),
    (1006, "Kranz Fitness", "Graz", "Lea Kranz", "lea@kranzfit.example", "555-0156", 14, "email", None),
    (1007, "Tavola North", "Salzburg", "Marco Ricci", "north@tavola.example", "555-0167", 14, "email", 1010),
    (1008, "Huber Plumbing", "Leoben", "Toni Huber", "toni@huber.example", "555-0178", 14, "post", None),
    (1009, "Gruenkern Organics", "Villach", "Dora Pfeil", "dora@gruenkern.example", "555-0189", 30, "email", None),
    (1010, "Tavola Holding", "Vienna", "Sofia Conti", "sofia@tavola.example", "555-0190", 30, "email", None),
    (1011, "Tavola South", "Klagenfurt", "Enzo Bianchi", "south@tavola.example", "555-0193", 14, "email", 1010),
    (1012, "Ada Winkler", "Graz", "Ada Winkler", "ada@winkler.example", "555-0196", 30, "email", None),
]
CLIENTS = {c[0]: dict(zip(("clientId", "name", "city", "contactPerson", "email", "phone", "paymentTermsDays", "sendInvoicesBy", "parentClientId"), c)) for c in _clients}

# no, client, subject, issued, due, total
_invoices = [
    ("2025-001", 1001, "Shop sign", "2025-01-10", "2025-01-24", 480.00),
    ("2025-002", 1002, "Website maintenance Q1", "2025-01-15", "2025-02-14", 900.00),
    ("2025-003", 1003, "Flyer design", "2025-01-22", "2025-02-05", 350.00),
    ("2025-004", 1004, "Photo shoot", "2025-01-29", "2025-02-28", 1250.00),
    ("2025-005", 1001, "Menu boards", "2025-02-06", "2025-02-20", 260.00),
    ("2025-006", 1005, "Trade fair booth", "2025-02-11", "2025-03-13", 3400.00),
    ("2025-007", 1006, "Logo redesign", "2025-02-18", "2025-03-04", 1100.00),
    ("2025-008", 1007, "Newsletter setup", "2025-02-25", "2025-03-11", 420.00),
    ("2025-009", 1002, "Hosting 2025", "2025-03-03", "2025-04-02", 216.00),
    ("2025-010", 1008, "Vehicle lettering", "2025-03-07", "2025-03-21", 780.00),
    ("2025-011", 1003, "Business cards", "2025-03-12", "2025-03-26", 145.50),
    ("2025-012", 1009, "Packaging design", "2025-03-19", "2025-04-18", 2150.00),
    ("2025-013", 1006, "Style guide", "2025-03-25", "2025-04-08", 640.00),
    ("2025-014", 1010, "Image film", "2025-03-31", "2025-04-30", 4800.00),
    ("2025-015", 1004, "Photo retouching", "2025-04-02", "2025-05-02", 310.00),
    ("2025-016", 1007, "Poster series", "2025-04-07", "2025-04-21", 560.00),
    ("2025-017", 1001, "Window stickers", "2025-04-09", "2025-04-23", 195.00),
    ("2025-018", 1005, "Banner printing", "2025-04-11", "2025-05-11", 720.00),
    ("2025-019", 1011, "Social media April", "2025-04-14", "2025-04-28", 390.00),
    ("2025-020", 1008, "Brochure", "2025-04-16", "2025-04-30", 870.00),
    ("2025-021", 1012, "Wedding stationery", "2025-04-17", "2025-05-17", 240.00),
    ("2025-022", 1009, "Label print", "2025-04-18", "2025-05-18", 1330.00),
]
INVOICES = {i[0]: dict(zip(("invoiceNo", "clientId", "subject", "issued", "due", "total"), i)) for i in _invoices}

_payments = [
    (8801, "2025-001", 480.00, "2025-01-22", "bank transfer", "Carla"),
    (8802, "2025-002", 900.00, "2025-02-10", "bank transfer", "Nils"),
    (8803, "2025-003", 350.00, "2025-02-03", "card", "Carla"),
    (8804, "2025-004", 500.00, "2025-02-27", "bank transfer", "Nils"),
    (8805, "2025-005", 260.00, "2025-02-19", "cash", "Carla"),
    (8806, "2025-006", 1400.00, "2025-03-10", "bank transfer", "Carla"),
    (8807, "2025-004", 250.00, "2025-03-27", "bank transfer", "Nils"),
    (8808, "2025-008", 420.00, "2025-03-12", "direct debit", "Nils"),
    (8809, "2025-011", 145.50, "2025-03-24", "card", "Carla"),
    (8810, "2025-016", 560.00, "2025-04-15", "direct debit", "Nils"),
    (8811, "2025-021", 240.00, "2025-04-17", "card", "Carla"),
]
PAYMENTS = {p[0]: dict(zip(("paymentId", "invoiceNo", "amount", "receivedOn", "method", "bookedBy"), p)) for p in _payments}

_reminders = [
    ("REM-31", "2025-007", 1, "2025-03-11", "email", 0.00),
    ("REM-32", "2025-010", 1, "2025-03-28", "post", 5.00),
    ("REM-33", "2025-009", 1, "2025-04-09", "email", 0.00),
    ("REM-34", "2025-007", 2, "2025-04-01", "post", 15.00),
    ("REM-35", "2025-012", 1, "2025-04-22", "email", 0.00),
    ("REM-36", "2025-004", 1, "2025-03-10", "post", 5.00),
]
REMINDERS = {r[0]: dict(zip(("reminderId", "invoiceNo", "level", "sentOn", "channel", "fee"), r)) for r in _reminders}


def eur(x): return f"{x:.2f} EUR"


def open_amount(no): return INVOICES[no]["total"] - sum(p["amount"] for p in PAYMENTS.values() if p["invoiceNo"] == no)


def status_of(no):
    i, rest = INVOICES[no], open_amount(no)
    return "paid" if rest <= 0 else "partly paid" if rest < i["total"] else "overdue" if i["due"] < TODAY else "open"


def need(no):
    if no not in INVOICES:
        raise ToolError(f"Invoice {no} does not exist")
    return INVOICES[no]


@server.tool()
def findClients(query: str) -> list[dict[str, Any]]:
    "Find clients by part of their name or by city. Returns id, name and city."
    q = query.lower()
    return [{k: c[k] for k in ("clientId", "name", "city")} for c in CLIENTS.values() if q in c["name"].lower() or q in c["city"].lower()]


@server.tool()
def getClient(clientId: int) -> dict[str, Any]:
    "Contact data and payment terms of a client. parentClientId is the id of the head office, if there is one."
    return CLIENTS.get(clientId) or {"error": f"no client {clientId}"}


@server.tool()
def getInvoice(invoiceNo: str) -> dict[str, Any]:
    "One invoice (number like 2025-001) with the ids of its payments and reminders."
    if invoiceNo not in INVOICES:
        return {"error": f"no invoice {invoiceNo}"}
    i = INVOICES[invoiceNo]
    return {**i, "total": eur(i["total"]), "openAmount": eur(open_amount(invoiceNo)), "status": status_of(invoiceNo),
            "payments": [p["paymentId"] for p in PAYMENTS.values() if p["invoiceNo"] == invoiceNo],
            "reminders": [r["reminderId"] for r in REMINDERS.values() if r["invoiceNo"] == invoiceNo]}


@server.tool()
def listInvoices(clientId: Optional[int] = None, status: Optional[Literal["open", "partly paid", "overdue", "paid"]] = None) -> list[dict[str, Any]]:
    "List invoices of a client and/or with a status. Give at least one filter. 'open' means unpaid and not yet due, 'overdue' unpaid and late."
    if clientId is None and status is None:
        raise ToolError("Give a clientId or a status")
    return [{"invoiceNo": n, "clientId": i["clientId"], "subject": i["subject"], "due": i["due"], "total": eur(i["total"]), "openAmount": eur(open_amount(n)), "status": status_of(n)}
            for n, i in INVOICES.items() if clientId in (None, i["clientId"]) and status in (None, status_of(n))]


@server.tool()
def getPayment(paymentId: int) -> dict[str, Any]:
    "One received payment."
    p = PAYMENTS.get(paymentId)
    return {**p, "amount": eur(p["amount"])} if p else {"error": f"no payment {paymentId}"}


@server.tool()
def getReminder(reminderId: str) -> dict[str, Any]:
    "One reminder, id like REM-31."
    r = REMINDERS.get(reminderId)
    return {**r, "fee": eur(r["fee"])} if r else {"error": f"no reminder {reminderId}"}


@server.tool()
def recordPayment(invoiceNo: str, amount: float, method: Literal["bank transfer", "card", "cash", "direct debit"] = "bank transfer") -> dict[str, Any]:
    "Book a payment in EUR on an invoice, received today."
    need(invoiceNo)
    if amount <= 0 or amount > open_amount(invoiceNo):
        raise ToolError(f"Amount must be between 0 and the open {eur(open_amount(invoiceNo))}")
    pid = max(PAYMENTS) + 1
    PAYMENTS[pid] = {"paymentId": pid, "invoiceNo": invoiceNo, "amount": amount, "receivedOn": TODAY, "method": method, "bookedBy": "assistant"}
    return {"paymentId": pid, "invoiceNo": invoiceNo, "amount": eur(amount), "method": method, "openAmount": eur(open_amount(invoiceNo)), "status": status_of(invoiceNo)}


@server.tool()
def sendReminder(invoiceNo: str, channel: Literal["email", "post"] = "email") -> dict[str, Any]:
    "Send the next payment reminder (level 1 to 3) for an unpaid invoice."
    need(invoiceNo)
    if status_of(invoiceNo) == "paid":
        raise ToolError(f"Invoice {invoiceNo} is already paid")
    level = 1 + sum(r["invoiceNo"] == invoiceNo for r in REMINDERS.values())
    if level > 3:
        raise ToolError("All three reminders were already sent")
    rid = f"REM-{31 + len(REMINDERS)}"
    fee = {1: 0.0, 2: 10.0, 3: 20.0}[level] + (5.0 if channel == "post" else 0.0)
    REMINDERS[rid] = {"reminderId": rid, "invoiceNo": invoiceNo, "level": level, "sentOn": TODAY, "channel": channel, "fee": fee}
    return {**REMINDERS[rid], "fee": eur(fee)}


@server.tool()
def setDueDate(invoiceNo: str, due: str) -> dict[str, Any]:
    "Change the due date of an invoice (YYYY-MM-DD)."
    i = need(invoiceNo)
    if status_of(invoiceNo) == "paid":
        raise ToolError(f"Invoice {invoiceNo} is already paid")
    old, i["due"] = i["due"], due
    return {"invoiceNo": invoiceNo, "oldDue": old, "due": due, "status": status_of(invoiceNo)}


if __name__ == "__main__":
    server.run()
