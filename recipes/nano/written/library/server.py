from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("library")
TODAY = "2025-03-12"

Genre = Literal["sci-fi", "fantasy", "classic", "crime", "biography", "history", "fiction", "children", "cooking"]

_B = [
    ("B-101", "Dune", "Frank Herbert", 1965, "sci-fi", 612, "English", "S-04", 2, "£14.50"),
    ("B-102", "Pride and Prejudice", "Jane Austen", 1813, "classic", 432, "English", "C-01", 3, "£8.00"),
    ("B-103", "The Hobbit", "J.R.R. Tolkien", 1937, "fantasy", 310, "English", "F-11", 2, "£12.00"),
    ("B-104", "Educated", "Tara Westover", 2018, "biography", 334, "English", "N-02", 1, "£11.90"),
    ("B-105", "Sapiens", "Yuval Noah Harari", 2011, "history", 443, "English", "N-07", 2, "£16.00"),
    ("B-106", "Gone Girl", "Gillian Flynn", 2012, "crime", 419, "English", "K-03", 1, "£9.50"),
    ("B-107", "Der Vorleser", "Bernhard Schlink", 1995, "fiction", 207, "German", "G-01", 1, "£10.20"),
    ("B-108", "The Left Hand of Darkness", "Ursula K. Le Guin", 1969, "sci-fi", 286, "English", "S-06", 1, "£10.90"),
    ("B-109", "A Wizard of Earthsea", "Ursula K. Le Guin", 1968, "fantasy", 205, "English", "F-08", 2, "£9.00"),
    ("B-110", "Matilda", "Roald Dahl", 1988, "children", 240, "English", "J-05", 3, "£7.50"),
    ("B-111", "The Gruffalo", "Julia Donaldson", 1999, "children", 32, "English", "J-06", 4, "£6.00"),
    ("B-112", "Becoming", "Michelle Obama", 2018, "biography", 448, "English", "N-03", 1, "£18.00"),
    ("B-113", "The Guns of August", "Barbara Tuchman", 1962, "history", 511, "English", "N-09", 1, "£15.40"),
    ("B-114", "L'Étranger", "Albert Camus", 1942, "classic", 159, "French", "G-02", 1, "£7.80"),
    ("B-115", "And Then There Were None", "Agatha Christie", 1939, "crime", 272, "English", "K-01", 2, "£8.50"),
    ("B-116", "Murder on the Orient Express", "Agatha Christie", 1934, "crime", 256, "English", "K-01", 2, "£8.50"),
    ("B-117", "Beloved", "Toni Morrison", 1987, "fiction", 324, "English", "L-12", 1, "£10.00"),
    ("B-118", "Normal People", "Sally Rooney", 2018, "fiction", 266, "English", "L-15", 2, "£9.90"),
    ("B-119", "The Martian", "Andy Weir", 2011, "sci-fi", 384, "English", "S-12", 1, "£11.00"),
    ("B-120", "Project Hail Mary", "Andy Weir", 2021, "sci-fi", 476, "English", "S-12", 2, "£13.30"),
    ("B-121", "Salt Fat Acid Heat", "Samin Nosrat", 2017, "cooking", 480, "English", "H-02", 1, "£26.00"),
    ("B-122", "The BFG", "Roald Dahl", 1982, "children", 208, "English", "J-05", 2, "£7.20"),
    ("B-123", "Piranesi", "Susanna Clarke", 2020, "fantasy", 272, "English", "F-03", 1, "£12.40"),
    ("B-124", "Jerusalem", "Yotam Ottolenghi", 2012, "cooking", 320, "English", "H-03", 1, "£27.50"),
]
BOOKS = {r[0]: dict(zip(("id", "title", "author", "year", "genre", "pages", "language", "shelf", "copies", "replacement_cost"), r)) for r in _B}

_M = [
    (4017, "Grace Ode", "grace.ode@postbox.example", "0161 555 2017", "senior", "2009-04-02", "2026-04-02", 0.0, False),
    (4022, "Tomas Varga", "t.varga@mailhub.example", "0161 555 8841", "adult", "2018-11-20", "2025-11-20", 2.40, False),
    (4029, "Ingrid Solheim", "ingrid.s@fjordmail.example", "0161 555 3390", "adult", "2021-06-14", "2025-06-14", 0.0, False),
    (4031, "Marcus Bell", "marcusbell@postbox.example", "0161 555 7712", "student", "2023-09-28", "2025-09-28", 14.75, True),
    (4038, "Priya Nair", "priya.nair@mailhub.example", "0161 555 1064", "adult", "2016-02-09", "2026-02-09", 0.60, False),
    (4040, "Henry Whitlock", "hwhitlock@oldmail.example", "0161 555 9903", "senior", "1998-07-30", "2025-07-30", 5.20, False),
    (4046, "Leila Haddad", "leila.h@mailhub.example", "0161 555 4471", "student", "2024-01-16", "2026-01-16", 0.0, False),
    (4052, "Daniel Osei", "d.osei@workmail.example", "0161 555 6258", "adult", "2020-10-05", "2025-10-05", 22.10, True),
    (4055, "Ruth Abrams", "ruth.abrams@oldmail.example", "0161 555 3125", "senior", "2003-12-11", "2025-12-11", 0.0, False),
    (4061, "Noah Kim", "kimfamily@postbox.example", "0161 555 8080", "child", "2022-05-19", "2026-05-19", 1.00, False),
    (4063, "Sofia Kim", "kimfamily@postbox.example", "0161 555 8080", "child", "2022-05-19", "2026-05-19", 0.0, False),
    (4070, "Walter Pym", "wpym@oldmail.example", "0161 555 0416", "adult", "2012-08-23", "2025-02-28", 0.0, True),
]
MEMBERS = {r[0]: dict(zip(("card_no", "name", "email", "phone", "type", "joined", "expires", "fines", "blocked"), r)) for r in _M}

_L = [
    ("L-501", "B-101", 4017, "2025-03-01", "2025-03-22", 0), ("L-502", "B-101", 4046, "2025-02-10", "2025-03-24", 1),
    ("L-503", "B-112", 4022, "2025-02-12", "2025-03-05", 0), ("L-504", "B-123", 4029, "2025-03-04", "2025-03-25", 0),
    ("L-505", "B-106", 4031, "2025-01-20", "2025-02-10", 0), ("L-506", "B-110", 4061, "2025-03-08", "2025-03-29", 0),
    ("L-507", "B-122", 4063, "2025-03-08", "2025-03-29", 0), ("L-508", "B-113", 4040, "2025-01-28", "2025-03-11", 1),
    ("L-509", "B-121", 4038, "2025-02-25", "2025-03-18", 0), ("L-510", "B-120", 4046, "2025-03-03", "2025-03-24", 0),
    ("L-511", "B-105", 4052, "2024-12-30", "2025-01-20", 0), ("L-512", "B-116", 4055, "2025-01-22", "2025-03-26", 2),
    ("L-513", "B-111", 4061, "2025-02-20", "2025-03-13", 0), ("L-514", "B-102", 4017, "2025-02-22", "2025-03-15", 0),
    ("L-515", "B-119", 4022, "2025-03-06", "2025-03-27", 0), ("L-516", "B-117", 4055, "2025-02-28", "2025-03-21", 0),
]
LOANS = {r[0]: dict(zip(("loan_id", "book_id", "card_no", "checked_out", "due", "renewals"), r)) for r in _L}
_next = 517


def _available(book_id):
    return BOOKS[book_id]["copies"] - sum(l["book_id"] == book_id for l in LOANS.values())


def _book(book_id):
    if book_id not in BOOKS:
        raise ToolError(f"No book with id {book_id}")
    return BOOKS[book_id]


def _member(card_no):
    if card_no not in MEMBERS:
        raise ToolError(f"Card {card_no} is not registered")
    return MEMBERS[card_no]


def _loan(loan_id):
    if loan_id not in LOANS:
        raise ToolError(f"Loan {loan_id} not found")
    return LOANS[loan_id]


@server.tool()
def search_books(title: str = "", author: str = "", genre: Genre | None = None) -> list[dict]:
    "Search the catalogue by part of the title, part of the author's name and/or genre. Give at least one. Returns ids, shelf and copies available now."
    if not (title or author or genre):
        raise ToolError("Give a title, an author or a genre")
    return [{"id": b["id"], "title": b["title"], "author": b["author"], "shelf": b["shelf"], "available": _available(b["id"])}
            for b in BOOKS.values()
            if title.lower() in b["title"].lower() and author.lower() in b["author"].lower() and genre in (None, b["genre"])]


@server.tool()
def get_book(book_id: str) -> dict:
    "Full catalogue record of one book (year, genre, pages, language, copies, replacement cost) by its id, e.g. B-117."
    return {**_book(book_id), "available": _available(book_id)}


@server.tool()
def find_member(name: str) -> list[dict]:
    "Find members by name or part of a name; gives their card number and phone."
    return [{"card_no": m["card_no"], "name": m["name"], "phone": m["phone"]} for m in MEMBERS.values() if name.lower() in m["name"].lower()]


@server.tool()
def get_member(card_no: int) -> dict:
    "A member's record by card number: contact, type, dates, unpaid fines, whether blocked."
    m = _member(card_no)
    return {**m, "fines": f"£{m['fines']:.2f}"}


@server.tool()
def list_loans(card_no: int | None = None, book_id: str | None = None, overdue_only: bool = False) -> list[dict]:
    "Current loans of one member or of one book, or all overdue ones. Needs at least one filter."
    if card_no is None and book_id is None and not overdue_only:
        raise ToolError("Too many loans: filter by card_no, book_id or overdue_only")
    if card_no is not None: _member(card_no)
    if book_id is not None: _book(book_id)
    return [{"loan_id": l["loan_id"], "title": BOOKS[l["book_id"]]["title"], "borrower": MEMBERS[l["card_no"]]["name"], "card_no": l["card_no"],
             "checked_out": l["checked_out"], "due": l["due"], "renewals": l["renewals"]}
            for l in LOANS.values()
            if card_no in (None, l["card_no"]) and book_id in (None, l["book_id"]) and (not overdue_only or l["due"] < TODAY)]


@server.tool()
def checkout_book(book_id: str, card_no: int) -> dict:
    "Lend a book to a member for three weeks."
    global _next
    b, m = _book(book_id), _member(card_no)
    if m["blocked"]:
        raise ToolError(f"Card {card_no} is blocked")
    if _available(book_id) < 1:
        raise ToolError(f"All copies of '{b['title']}' are on loan")
    loan_id = f"L-{_next}"; _next += 1
    LOANS[loan_id] = {"loan_id": loan_id, "book_id": book_id, "card_no": card_no, "checked_out": TODAY, "due": "2025-04-02", "renewals": 0}
    return {"loan_id": loan_id, "title": b["title"], "borrower": m["name"], "due": "2025-04-02"}


@server.tool()
def return_book(loan_id: str) -> dict:
    "Close a loan when the book comes back."
    l = _loan(loan_id)
    del LOANS[loan_id]
    return {"loan_id": loan_id, "title": BOOKS[l["book_id"]]["title"], "borrower": MEMBERS[l["card_no"]]["name"], "status": "returned", "was_overdue": l["due"] < TODAY}


@server.tool()
def renew_loan(loan_id: str) -> dict:
    "Extend a loan by 21 days from today. At most two renewals per loan."
    l = _loan(loan_id)
    if l["renewals"] >= 2:
        raise ToolError(f"{loan_id} has already been renewed twice")
    l["renewals"] += 1
    l["due"] = "2025-04-02"
    return {"loan_id": loan_id, "title": BOOKS[l["book_id"]]["title"], "renewals": l["renewals"], "due": l["due"]}


@server.tool()
def pay_fine(card_no: int, amount: float) -> dict:
    "Record a payment in pounds towards a member's fines."
    m = _member(card_no)
    if amount > m["fines"] + 0.001:
        raise ToolError(f"{m['name']} owes only £{m['fines']:.2f}")
    m["fines"] = round(m["fines"] - amount, 2)
    return {"card_no": card_no, "name": m["name"], "paid": f"£{amount:.2f}", "remaining": f"£{m['fines']:.2f}"}


if __name__ == "__main__":
    server.run()
