from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("museum-collection")

Status = Literal["on_display", "in_storage", "on_loan", "conservation"]
Condition = Literal["excellent", "good", "fair", "poor"]

_F = ("accessionNo", "title", "maker", "made", "material", "room", "status", "condition", "insuredValue", "donor", "acquired")
OBJECTS = {r[0]: dict(zip(_F, r)) for r in [
    ("1911.3", "Harbour at Dusk", "Lene Aagaard", "1874", "oil on canvas", "Blue Gallery", "on_display", "good", 48000, "Rasmussen family", 1911),
    ("1911.7", "Portrait of a Ropemaker", "Otto Brandt", "1869", "oil on panel", "Blue Gallery", "on_display", "fair", 22500, "Rasmussen family", 1911),
    ("1924.12", "Girl with a Goose", "Lene Aagaard", "1881", "oil on canvas", None, "on_loan", "good", 61000, "Town of Elmsund", 1924),
    ("1932.14", "Amber Necklace", "unknown", "c. 900", "amber, silver", "Treasury", "on_display", "excellent", 135000, "Dr. I. Holm", 1932),
    ("1932.15", "Bog Sword", "unknown", "c. 350", "iron", "Treasury", "on_display", "poor", 90000, "Dr. I. Holm", 1932),
    ("1938.2", "Ship's Bell of the Falken", "Voss & Sons", "1798", "bronze", "Ship Hall", "on_display", "good", 14000, "Harbour Board", 1938),
    ("1938.5", "Figurehead 'Cassandra'", "Nils Tofte", "1822", "painted oak", "Ship Hall", "conservation", "poor", 37000, "Harbour Board", 1938),
    ("1947.21", "Brass Sextant", "J. Ramsden", "1785", "brass, glass", "Ship Hall", "on_display", "excellent", 18500, "Captain A. Lund", 1947),
    ("1947.22", "Captain Lund's Logbook", "A. Lund", "1891", "paper, leather", None, "in_storage", "fair", 5200, "Captain A. Lund", 1947),
    ("1955.1", "Delft Tulip Vase", "De Metaale Pot", "1695", "tin-glazed earthenware", "Porcelain Room", "on_display", "excellent", 74000, "Mrs. E. Vandam", 1955),
    ("1955.4", "Willow Teapot", "Spode", "1810", "porcelain", "Porcelain Room", "on_display", "good", 1800, "Mrs. E. Vandam", 1955),
    ("1955.9", "Monkey Orchestra", "Meissen", "1765", "porcelain", None, "on_loan", "excellent", 112000, "Mrs. E. Vandam", 1955),
    ("1963.8", "Winter Loom", "Marit Solheim", "1958", "wool tapestry", "Textile Attic", "on_display", "good", 16000, "the artist", 1963),
    ("1963.9", "Sunday Bonnet", "unknown", "c. 1840", "silk, lace", None, "in_storage", "fair", 900, "Parish of St. Olave", 1963),
    ("1971.30", "Standing Horse", "Pavel Drozd", "1936", "bronze", "Sculpture Court", "on_display", "excellent", 83000, "purchased", 1971),
    ("1971.31", "Two Swimmers", "Pavel Drozd", "1941", "limestone", "Sculpture Court", "on_display", "good", 69000, "purchased", 1971),
    ("1984.6", "Fisherman's Chest", "unknown", "1733", "pine, iron", "Ship Hall", "on_display", "fair", 3400, "G. Petersen", 1984),
    ("1990.11", "Red Telephone", "Ericsson", "1962", "bakelite", None, "in_storage", "good", 250, "Post Museum", 1990),
    ("1998.17", "Map of the Sound", "Joris Blaeu", "1662", "hand-coloured engraving", None, "on_loan", "good", 29000, "purchased", 1998),
    ("2003.2", "Night Ferry", "Ana Quiroga", "2001", "acrylic on canvas", "Blue Gallery", "on_display", "excellent", 27000, "purchased", 2003),
    ("2009.5", "Glass Tide", "Hiro Tanabe", "2008", "blown glass", None, "on_loan", "excellent", 41000, "Friends of the Museum", 2009),
    ("2016.40", "Lighthouse Lens", "Barbier & Fenestre", "1877", "glass, brass", "Sculpture Court", "on_display", "good", 56000, "Harbour Board", 2016),
    ("2021.1", "Quilt of Names", "Elmsund Sewing Circle", "2020", "cotton", "Textile Attic", "on_display", "excellent", 4000, "Elmsund Sewing Circle", 2021),
    ("2021.6", "Mermaid Weathervane", "unknown", "c. 1790", "copper", None, "conservation", "poor", 7600, "G. Petersen", 2021),
]}
ROOMS = {r["name"]: r for r in [
    dict(name="Blue Gallery", floor=2, theme="Painting", temperatureC=20.5, humidityPct=50, capacity=60, open=True, keeper="Femi Adeyemi"),
    dict(name="Treasury", floor=0, theme="Archaeology", temperatureC=18.0, humidityPct=38, capacity=25, open=True, keeper="Ingrid Moe"),
    dict(name="Ship Hall", floor=0, theme="Seafaring", temperatureC=19.0, humidityPct=47, capacity=120, open=True, keeper="Tom Garvey"),
    dict(name="Porcelain Room", floor=1, theme="Ceramics", temperatureC=21.0, humidityPct=45, capacity=20, open=True, keeper="Ingrid Moe"),
    dict(name="Textile Attic", floor=3, theme="Textiles", temperatureC=18.5, humidityPct=52, capacity=30, open=False, keeper="Rosa Lindqvist"),
    dict(name="Sculpture Court", floor=0, theme="Sculpture", temperatureC=17.0, humidityPct=55, capacity=150, open=True, keeper="Femi Adeyemi"),
]}
LOANS = {r["loanId"]: r for r in [
    dict(loanId="LN-31", accessionNo="1971.30", borrower="Kunsthalle Bremen", start="2024-02-01", due="2024-08-31", fee=2500, courier="ArtMove", state="returned"),
    dict(loanId="LN-34", accessionNo="1924.12", borrower="Nationalmuseum Oslo", start="2025-09-15", due="2026-03-15", fee=1800, courier="Hansen Transport", state="active"),
    dict(loanId="LN-35", accessionNo="1932.14", borrower="British Museum", start="2024-11-10", due="2025-05-10", fee=6000, courier="ArtMove", state="returned"),
    dict(loanId="LN-37", accessionNo="1955.9", borrower="Zwinger Dresden", start="2025-10-01", due="2026-01-31", fee=4200, courier="ArtMove", state="active"),
    dict(loanId="LN-38", accessionNo="1998.17", borrower="Maritime Museum Rotterdam", start="2025-06-20", due="2025-12-20", fee=950, courier="Hansen Transport", state="active"),
    dict(loanId="LN-40", accessionNo="2009.5", borrower="Corning Glass Museum", start="2025-11-01", due="2026-10-31", fee=3300, courier="SkyCrate", state="active"),
    dict(loanId="LN-41", accessionNo="1947.21", borrower="Maritime Museum Rotterdam", start="2026-05-01", due="2026-09-30", fee=700, courier="Hansen Transport", state="planned"),
    dict(loanId="LN-42", accessionNo="1963.8", borrower="Textile Centre Haslach", start="2026-06-15", due="2026-12-15", fee=0, courier="SkyCrate", state="planned"),
]}


def _object(no):
    if no not in OBJECTS:
        raise ToolError(f"No object with accession number {no}")
    return OBJECTS[no]

def _room(name):
    for r in ROOMS.values():
        if r["name"].lower() == name.strip().lower():
            return r
    raise ToolError(f"Unknown room '{name}'")

def _loan(loan_id):
    if loan_id not in LOANS:
        raise ToolError(f"Loan {loan_id} not found")
    return LOANS[loan_id]


@server.tool()
def getObject(accessionNo: str) -> dict:
    """Full catalogue record of one object, by accession number (e.g. "1911.3"). Values are in EUR."""
    return dict(_object(accessionNo))

@server.tool()
def searchObjects(text: str = "", room: str | None = None, status: Status | None = None) -> list[dict]:
    """Search the collection by words in the title or the maker's name, and/or by room or status. Returns short records."""
    if not (text or room or status):
        raise ToolError("Give at least one of text, room, status")
    hits = [o for o in OBJECTS.values()
            if text.lower() in f"{o['title']} {o['maker']}".lower()
            and (room is None or (o["room"] or "").lower() == room.lower())
            and (status is None or o["status"] == status)]
    return [{k: o[k] for k in ("accessionNo", "title", "maker", "room")} for o in hits[:15]]

@server.tool()
def getRoom(name: str) -> dict:
    """Floor, theme, climate, capacity, opening state and keeper of an exhibition room."""
    return dict(_room(name))

@server.tool()
def getLoan(loanId: str) -> dict:
    """One outgoing loan, e.g. LN-34. Fee in EUR."""
    return dict(_loan(loanId))

@server.tool()
def listLoans(borrower: str | None = None, accessionNo: str | None = None, state: Literal["planned", "active", "returned"] | None = None) -> list[dict]:
    """Outgoing loans, optionally filtered by borrower (part of the name), object or state."""
    return [{"loanId": l["loanId"], "title": OBJECTS[l["accessionNo"]]["title"], "borrower": l["borrower"], "due": l["due"], "state": l["state"]}
            for l in LOANS.values()
            if (borrower is None or borrower.lower() in l["borrower"].lower())
            and (accessionNo is None or l["accessionNo"] == accessionNo)
            and (state is None or l["state"] == state)]

@server.tool()
def moveObject(accessionNo: str, room: str) -> dict:
    """Put an object on display in a room."""
    o, r = _object(accessionNo), _room(room)
    if o["status"] == "on_loan":
        raise ToolError(f"{accessionNo} is on loan and cannot be moved")
    before = o["room"]
    o.update(room=r["name"], status="on_display")
    return {"accessionNo": accessionNo, "title": o["title"], "from": before, "to": r["name"], "status": o["status"]}

@server.tool()
def setCondition(accessionNo: str, condition: Condition) -> dict:
    """Record the condition of an object after a check."""
    o = _object(accessionNo)
    old, o["condition"] = o["condition"], condition
    return {"accessionNo": accessionNo, "title": o["title"], "oldCondition": old, "condition": condition}

@server.tool()
def extendLoan(loanId: str, newDue: str) -> dict:
    """Set a later due date (YYYY-MM-DD) on a loan."""
    l = _loan(loanId)
    if l["state"] == "returned":
        raise ToolError(f"Loan {loanId} is already returned")
    if newDue <= l["due"]:
        raise ToolError(f"New date must be after {l['due']}")
    old, l["due"] = l["due"], newDue
    return {"loanId": loanId, "borrower": l["borrower"], "oldDue": old, "due": newDue}

@server.tool()
def closeLoan(loanId: str) -> dict:
    """Mark an active loan as returned; the object goes into storage."""
    l = _loan(loanId)
    if l["state"] != "active":
        raise ToolError(f"Loan {loanId} is {l['state']}, not active")
    l["state"] = "returned"
    o = OBJECTS[l["accessionNo"]]
    o.update(status="in_storage", room=None)
    return {"loanId": loanId, "state": "returned", "accessionNo": o["accessionNo"], "title": o["title"], "objectStatus": o["status"]}


if __name__ == "__main__":
    server.run()
