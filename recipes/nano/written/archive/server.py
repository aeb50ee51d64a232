"""The reading room of a small letters archive: boxes, letters, correspondents, shelves and loans to readers."""
from datetime import date

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("letters-archive")

# code: room, keeper, phone, free cm, humidity
SHELVES = {
    "R1-A": {"room": "Cellar North", "keeper": "Ines Falk", "phone": "555-0111", "free_cm": 40, "humidity_pct": 46},
    "R1-B": {"room": "Cellar North", "keeper": "Ines Falk", "phone": "555-0111", "free_cm": 12, "humidity_pct": 48},
    "R2-A": {"room": "Cellar South", "keeper": "Tobias Wren", "phone": "555-0124", "free_cm": 0, "humidity_pct": 57},
    "R2-C": {"room": "Cellar South", "keeper": "Tobias Wren", "phone": "555-0124", "free_cm": 65, "humidity_pct": 55},
    "R3-D": {"room": "Tower Loft", "keeper": "Odile Mbeki", "phone": "555-0139", "free_cm": 28, "humidity_pct": 39},
}
# box: title, years, shelf, condition, width cm, lent_to, due
BOXES = {k: dict(zip(("title", "years", "shelf", "condition", "width_cm", "lent_to", "due"), v)) for k, v in {
    "BX-01": ("Roth family papers", "1841-1869", "R1-A", "good", 12, None, None),
    "BX-02": ("Harbour office correspondence", "1872-1880", "R1-A", "fragile", 18, "RC-311", "2025-03-14"),
    "BX-03": ("Botanical exchange", "1850-1877", "R1-B", "good", 10, None, None),
    "BX-04": ("Lindqvist travel letters", "1866-1871", "R2-A", "good", 9, "RC-207", "2025-04-02"),
    "BX-05": ("Glassworks order books", "1880-1902", "R2-A", "mould", 22, None, None),
    "BX-06": ("Theatre playbills and notes", "1888-1895", "R2-C", "good", 15, "RC-118", "2025-02-28"),
    "BX-07": ("Petitions to the mayor", "1845-1852", "R2-C", "fragile", 14, None, None),
    "BX-08": ("Observatory notebooks", "1861-1890", "R3-D", "good", 20, "RC-311", "2025-05-20"),
    "BX-09": ("Widow Dahl's receipts", "1879-1883", "R3-D", "torn", 7, None, None),
    "BX-10": ("Seminary letters", "1858-1864", "R1-B", "good", 11, "RC-342", "2025-03-30"),
    "BX-11": ("Railway dispute", "1874-1876", "R2-C", "good", 13, None, None),
}.items()}
PEOPLE = {k: dict(zip(("name", "job", "born", "town", "died"), v)) for k, v in {
    "amalie-roth": ("Amalie Roth", "botanist", 1821, "Graz", 1890),
    "joseph-roth": ("Joseph Roth", "wine merchant", 1815, "Graz", 1869),
    "nils-lindqvist": ("Nils Lindqvist", "surveyor", 1838, "Uppsala", 1911),
    "hedda-dahl": ("Hedda Dahl", "innkeeper", 1844, "Bergen", 1907),
    "c-whitmore": ("Clement Whitmore", "astronomer", 1829, "Whitby", 1894),
    "father-anselm": ("Father Anselm Kerr", "seminary teacher", 1802, "Armagh", 1866),
    "rosa-bellini": ("Rosa Bellini", "actress", 1863, "Parma", 1931),
    "otto-brandt": ("Otto Brandt", "glassmaker", 1851, "Jena", 1919),
    "edwin-pryce": ("Edwin Pryce", "harbour master", 1833, "Swansea", 1888),
}.items()}
LETTERS = {k: dict(zip(("date", "from", "to", "box", "language", "pages", "about"), v)) for k, v in {
    "L101": ("1843-05-02", "joseph-roth", "amalie-roth", "BX-01", "German", 3, "a house for sale in the Herrengasse"),
    "L102": ("1852-09-17", "amalie-roth", "c-whitmore", "BX-03", "German", 6, "seeds of alpine poppies"),
    "L103": ("1853-01-08", "c-whitmore", "amalie-roth", "BX-03", "English", 4, "thanks for the poppies, two have flowered"),
    "L104": ("1859-11-23", "father-anselm", "c-whitmore", "BX-10", "Latin", 2, "a comet seen over the chapel"),
    "L105": ("1862-03-30", "c-whitmore", "father-anselm", "BX-08", "English", 5, "the price of a new lens"),
    "L106": ("1867-06-14", "nils-lindqvist", "amalie-roth", "BX-04", "Swedish", 8, "mosses gathered near Tromso"),
    "L107": ("1870-08-01", "nils-lindqvist", "hedda-dahl", "BX-04", "Swedish", 2, "three weeks at her inn, and an unpaid bill"),
    "L108": ("1873-02-19", "edwin-pryce", "nils-lindqvist", "BX-02", "English", 7, "the survey of the east pier"),
    "L109": ("1878-10-05", "edwin-pryce", "c-whitmore", "BX-02", "English", 3, "tide tables and a broken clock"),
    "L110": ("1880-12-11", "hedda-dahl", "edwin-pryce", "BX-09", "Norwegian", 1, "herring that arrived spoiled"),
    "L111": ("1889-04-27", "rosa-bellini", "otto-brandt", "BX-06", "Italian", 4, "a chandelier for the second act"),
    "L112": ("1891-07-15", "otto-brandt", "rosa-bellini", "BX-05", "German", 2, "the chandelier, which is late"),
    "L113": ("1875-05-09", "nils-lindqvist", "edwin-pryce", "BX-11", "English", 9, "where the railway may cross the common"),
}.items()}
READERS = {k: dict(zip(("name", "from", "mail", "phone", "fees"), v)) for k, v in {
    "RC-118": ("Paula Stein", "Theatre Museum Linz", "p.stein@tmlinz.example", "555-0150", "4.50 EUR"),
    "RC-207": ("Sven Aho", "University of Turku", "saho@turku-hist.example", "555-0163", "0.00 EUR"),
    "RC-311": ("Gwen Maddox", "Coastal History Trust", "gwen@coasttrust.example", "555-0178", "12.00 EUR"),
    "RC-342": ("Liam Orr", "private researcher", "liam.orr@post.example", "555-0181", "2.00 EUR"),
    "RC-360": ("Dina Kovac", "Botanical Garden Graz", "dkovac@botgraz.example", "555-0192", "0.00 EUR"),
}.items()}


def box_row(box_id):
    if box_id not in BOXES:
        raise ToolError(f"box {box_id} is not in the inventory")
    b = BOXES[box_id]
    return {"box": box_id, **b, "letters": [k for k, l in LETTERS.items() if l["box"] == box_id]}


def day(text):
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ToolError(f"'{text}' is not a date, use YYYY-MM-DD")


@server.tool()
def get_box(box_id: str) -> dict:
    "Inventory entry of one box (BX-nn): title, years, shelf, condition, who has it on loan, letters inside."
    return box_row(box_id)


@server.tool()
def find_boxes(words: str = "", lent_only: bool = False) -> list[dict]:
    "Boxes whose title contains the words; with lent_only just those that are out on loan."
    return [{"box": k, "title": b["title"], "years": b["years"], "due": b["due"]} for k, b in BOXES.items()
            if words.lower() in b["title"].lower() and (b["lent_to"] or not lent_only)]


@server.tool()
def read_letter(letter_id: str) -> dict:
    "Catalogue card of a letter (Lnnn). Sender and recipient are given by their slug in the register of persons."
    if letter_id not in LETTERS:
        raise ToolError(f"no letter {letter_id}")
    return {"letter": letter_id, **LETTERS[letter_id]}


@server.tool()
def who_is(person: str) -> str:
    "Who a correspondent was, and which letters they wrote. Takes the slug or a part of the name."
    hits = [k for k, p in PEOPLE.items() if person == k or person.lower() in p["name"].lower()]
    if not hits:
        return f"Nobody called '{person}' is in the register."
    if len(hits) > 1:
        return "Several persons match: " + ", ".join(f"{PEOPLE[k]['name']} ({k})" for k in hits) + "."
    p, wrote = PEOPLE[hits[0]], [k for k, l in LETTERS.items() if l["from"] == hits[0]]
    return (f"{p['name']} ({hits[0]}), {p['job']}, was born in {p['town']} in {p['born']} and died in {p['died']}. "
            f"Wrote {', '.join(wrote) or 'no letter that we hold'}.")


@server.tool()
def shelf_info(shelf: str) -> str:
    "Room, keeper, free space and climate of a shelf, e.g. R2-C."
    if shelf not in SHELVES:
        raise ToolError(f"unknown shelf {shelf}; shelves are {', '.join(SHELVES)}")
    lines = [f"shelf: {shelf}"] + [f"{k}: {v}" for k, v in SHELVES[shelf].items()]
    return "\n".join(lines + ["boxes: " + ", ".join(k for k, b in BOXES.items() if b["shelf"] == shelf)])


@server.tool()
def reader_card(card: str) -> str:
    "Holder of a reader card (RC-nnn), how to reach them, and fees."
    if card not in READERS:
        return f"Card {card} was never issued."
    r = READERS[card]
    return f"Card {card} belongs to {r['name']} ({r['from']}), mail {r['mail']}, phone {r['phone']}; open fees {r['fees']}."


@server.tool()
def lend_box(box_id: str, card: str, due: str) -> str:
    "Lend a box to the holder of a reader card until the due date (YYYY-MM-DD)."
    b = box_row(box_id)
    if card not in READERS:
        raise ToolError(f"card {card} was never issued")
    if b["lent_to"]:
        raise ToolError(f"{box_id} is already out on card {b['lent_to']} until {b['due']}")
    BOXES[box_id].update(lent_to=card, due=day(due))
    return f"{box_id} '{b['title']}' lent to {READERS[card]['name']} ({card}) until {due}."


@server.tool()
def take_back(box_id: str) -> str:
    "Book a lent box in again."
    b = box_row(box_id)
    if not b["lent_to"]:
        raise ToolError(f"{box_id} is not on loan")
    BOXES[box_id].update(lent_to=None, due=None)
    return f"{box_id} '{b['title']}' is back from {READERS[b['lent_to']]['name']}; it goes to shelf {b['shelf']}."


@server.tool()
def update_box(box_id: str, shelf: str | None = None, condition: str | None = None, due: str | None = None) -> dict:
    "Change what is given: the shelf of a box, its condition (good, fragile, torn, mould, in repair), or the due date of its loan."
    box_row(box_id)
    if shelf is not None and shelf not in SHELVES:
        raise ToolError(f"unknown shelf {shelf}; shelves are {', '.join(SHELVES)}")
    if condition is not None and condition not in ("good", "fragile", "torn", "mould", "in repair"):
        raise ToolError("condition must be one of good, fragile, torn, mould, in repair")
    if due is not None and not BOXES[box_id]["lent_to"]:
        raise ToolError(f"{box_id} is not on loan")
    changed = {k: v for k, v in {"shelf": shelf, "condition": condition, "due": due and day(due)}.items() if v is not None}
    BOXES[box_id].update(changed)
    return {"box": box_id, "changed": changed}


if __name__ == "__main__":
    server.run()
