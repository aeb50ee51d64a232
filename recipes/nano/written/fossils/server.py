from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("fossil-collection")
Status = Literal["unprepared", "in preparation", "prepared", "on loan"]


def table(fields, rows):
    return {r[0]: dict(zip(fields, r)) for r in rows}


SPECIMENS = table(("catalogue no", "taxon", "element", "length", "mass", "site", "tray", "preparator", "status", "prep hours", "loan"), [
    ("PV-2201", "Nodosaur", "osteoderm", "14.6 cm", "1.2 kg", "red-gully", "4C-12", "TKO", "prepared", 22.5, "-"),
    ("PV-2204", "Hadrosaur", "left femur", "91.0 cm", "18.4 kg", "red-gully", "5F-01", "RBA", "in preparation", 64.0, "-"),
    ("PV-2207", "Hadrosaur", "tail vertebra", "11.8 cm", "2.1 kg", "red-gully", "4C-12", "RBA", "prepared", 17.5, "-"),
    ("PV-2210", "Mosasaur", "lower jaw", "62.3 cm", "7.9 kg", "chalk-steps", "5F-01", "JLM", "on loan", 110.0, "L25-04"),
    ("PV-2212", "Mosasaur", "tooth", "5.4 cm", "0.09 kg", "chalk-steps", "2A-03", "JLM", "prepared", 4.0, "-"),
    ("PV-2215", "Ammonite", "shell", "23.7 cm", "3.6 kg", "coldwater-cut", "2A-04", "ENW", "prepared", 9.5, "-"),
    ("PV-2216", "Ammonite", "shell", "31.2 cm", "5.8 kg", "coldwater-cut", "2A-04", "ENW", "on loan", 14.0, "L25-07"),
    ("PV-2219", "Ichthyosaur", "paddle", "38.5 cm", "6.4 kg", "hollow-quarry", "4C-13", "TKO", "in preparation", 41.0, "-"),
    ("PV-2220", "Ichthyosaur", "skull", "74.9 cm", "15.3 kg", "hollow-quarry", "5F-02", "TKO", "on loan", 186.5, "L25-05"),
    ("PV-2223", "Stegosaur", "dorsal plate", "48.0 cm", "8.7 kg", "saltpan-3", "5F-02", "RBA", "in preparation", 52.0, "-"),
    ("PV-2224", "Stegosaur", "tail spike", "36.1 cm", "4.9 kg", "saltpan-3", "4C-13", "RBA", "prepared", 28.0, "-"),
    ("PV-2228", "Pterosaur", "wing bone", "44.2 cm", "0.7 kg", "saltpan-3", "1B-20", "JLM", "in preparation", 73.5, "-"),
    ("PV-2231", "Crocodile", "skull", "29.8 cm", "3.1 kg", "hollow-quarry", "1B-20", "-", "unprepared", 0.0, "-"),
    ("PV-2233", "Sea urchin", "test", "6.2 cm", "0.3 kg", "chalk-steps", "2A-03", "ENW", "prepared", 2.5, "-"),
    ("PV-2236", "Turtle", "carapace", "55.6 cm", "9.2 kg", "coldwater-cut", "5F-02", "-", "unprepared", 0.0, "-"),
    ("PV-2238", "Fish", "complete slab", "47.3 cm", "6.6 kg", "coldwater-cut", "4C-13", "ENW", "in preparation", 33.0, "-"),
    ("PV-2240", "Hadrosaur", "egg", "18.9 cm", "2.8 kg", "red-gully", "1B-20", "-", "unprepared", 0.0, "-"),
    ("PV-2241", "Theropod", "claw", "9.7 cm", "0.4 kg", "saltpan-3", "2A-03", "JLM", "on loan", 12.0, "L24-31"),
])
SITES = table(("site", "name", "formation", "age", "elevation", "leader", "landowner", "landowner phone"), [
    ("red-gully", "Red Gully", "Tarn Marl", "72 Ma", "840 m", "Imke Sorro", "Peder Hauge", "555-0181"),
    ("coldwater-cut", "Coldwater Cut", "Pell Shale", "94 Ma", "310 m", "Luis Ferran", "County Roads", "555-0182"),
    ("saltpan-3", "Saltpan 3", "Arda Sandstone", "150 Ma", "1120 m", "Imke Sorro", "Arda Land Trust", "555-0183"),
    ("chalk-steps", "Chalk Steps", "Wold Chalk", "83 Ma", "65 m", "Bryn Tallis", "Mrs Oakes", "555-0184"),
    ("hollow-quarry", "Hollow Quarry", "Kern Limestone", "168 Ma", "205 m", "Luis Ferran", "Kern Stone Ltd", "555-0185"),
])
TRAYS = table(("tray", "room", "inside", "max load", "humidity", "foam lined"), [
    ("1B-20", "Store 1", "50 x 40 x 20 cm", "8 kg", "40 %", "no"),
    ("2A-03", "Store 2", "40 x 30 x 8 cm", "4 kg", "42 %", "yes"),
    ("2A-04", "Store 2", "40 x 35 x 15 cm", "14 kg", "42 %", "yes"),
    ("4C-12", "Store 4", "60 x 45 x 20 cm", "12 kg", "45 %", "yes"),
    ("4C-13", "Store 4", "60 x 50 x 20 cm", "20 kg", "45 %", "no"),
    ("5F-01", "Oversize Hall", "120 x 80 x 40 cm", "60 kg", "48 %", "no"),
    ("5F-02", "Oversize Hall", "110 x 80 x 40 cm", "55 kg", "48 %", "yes"),
])
PREPARATORS = table(("initials", "name", "bench", "email", "technique", "hours per week"), [
    ("TKO", "Tuuli Koski", 3, "tuuli@bonelab.example", "air scribe", 24),
    ("RBA", "Rashid Bawa", 1, "rashid@bonelab.example", "sandblasting", 38),
    ("JLM", "Jo Lemaire", 4, "jo@bonelab.example", "acid bath", 30),
    ("ENW", "Edwin Nwosu", 2, "edwin@bonelab.example", "needle work", 16),
])
LOANS = table(("loan no", "specimen", "borrower", "contact", "contact email", "sent", "due", "insured value"), [
    ("L24-31", "PV-2241", "Port Ellery Museum", "Samir Decker", "sdecker@ellery.example", "2024-11-18", "2025-05-18", "EUR 2500"),
    ("L25-04", "PV-2210", "University of Ashmere", "Hanne Vik", "hvik@ashmere.example", "2025-02-03", "2025-08-03", "EUR 12000"),
    ("L25-05", "PV-2220", "Tarsk Science Centre", "Olu Brandt", "olu@tarsk.example", "2025-02-20", "2025-06-20", "EUR 48000"),
    ("L25-07", "PV-2216", "Shell House Gallery", "Pia Moreau", "pia@shellhouse.example", "2025-03-10", "2025-09-10", "EUR 1800"),
])


def card(record):
    return "\n".join(f"{k}: {v}" for k, v in record.items())


@server.tool()
def specimenLookup(catalogueNo: str) -> str:
    """Catalogue card of a specimen. Numbers look like PV-2201."""
    if catalogueNo not in SPECIMENS:
        raise ToolError(f"catalogue number {catalogueNo} unknown")
    return card(SPECIMENS[catalogueNo])


@server.tool()
def findSpecimens(text: str = "", site: str = "", status: Status | None = None) -> str:
    """Search the catalogue by a word in taxon or element, by site slug, by preparation status. Needs at least one of them."""
    if not (text or site or status):
        raise ToolError("no criteria given")
    hits = [s for s in SPECIMENS.values() if text.lower() in f"{s['taxon']} {s['element']}".lower()
            and (not site or s["site"] == site) and (not status or s["status"] == status)]
    return "\n".join(f"{s['catalogue no']}: {s['taxon']} {s['element']}, {s['length']}, {s['status']}" for s in hits) or "nothing found"


@server.tool()
def siteLookup(site: str) -> str:
    """Dig site by slug: red-gully, coldwater-cut, saltpan-3, chalk-steps, hollow-quarry."""
    return card(SITES[site]) if site in SITES else f"no such site: {site}"


@server.tool()
def trayLookup(tray: str) -> str:
    """Storage tray, e.g. 4C-12."""
    return card(TRAYS[tray]) if tray in TRAYS else f"no such tray: {tray}"


@server.tool()
def preparatorLookup(initials: str) -> str:
    """Preparator by three-letter initials."""
    return card(PREPARATORS[initials]) if initials in PREPARATORS else f"no preparator {initials}"


@server.tool()
def loanLookup(loanNo: str) -> str:
    """Loan by number, e.g. L25-04: borrower, contact, dates, insurance."""
    if loanNo not in LOANS:
        raise ToolError(f"loan {loanNo} unknown")
    return card(LOANS[loanNo])


@server.tool()
def moveSpecimen(catalogueNo: str, tray: str) -> str:
    """Store a specimen in another tray."""
    if catalogueNo not in SPECIMENS:
        raise ToolError(f"catalogue number {catalogueNo} unknown")
    if tray not in TRAYS:
        raise ToolError(f"no such tray: {tray}")
    old, SPECIMENS[catalogueNo]["tray"] = SPECIMENS[catalogueNo]["tray"], tray
    return f"catalogue no: {catalogueNo}\nold tray: {old}\nnew tray: {tray}"


@server.tool()
def updatePreparation(catalogueNo: str, status: Status | None = None, preparator: str | None = None, totalHours: float | None = None) -> str:
    """Change the preparation record: status, preparator (initials) or the total of hours worked."""
    if catalogueNo not in SPECIMENS:
        raise ToolError(f"catalogue number {catalogueNo} unknown")
    if preparator is not None and preparator not in PREPARATORS:
        raise ToolError(f"no preparator {preparator}")
    new = {k: v for k, v in (("status", status), ("preparator", preparator), ("prep hours", totalHours)) if v is not None}
    if not new:
        raise ToolError("nothing to update")
    SPECIMENS[catalogueNo].update(new)
    return card({"updated": catalogueNo, **new})


@server.tool()
def extendLoan(loanNo: str, newDueDate: str) -> str:
    """Give a loan a later due date (YYYY-MM-DD)."""
    if loanNo not in LOANS:
        raise ToolError(f"loan {loanNo} unknown")
    if newDueDate <= LOANS[loanNo]["due"]:
        return f"not extended: the loan already runs until {LOANS[loanNo]['due']}"
    old, LOANS[loanNo]["due"] = LOANS[loanNo]["due"], newDueDate
    return f"loan no: {loanNo}\nold due: {old}\nnew due: {newDueDate}"


if __name__ == "__main__":
    server.run()
