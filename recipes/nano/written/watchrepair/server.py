from typing import Literal, Optional

from mcp.server.mcpserver import MCPServer

server = MCPServer("watch-repair")

State = Literal["waiting", "quoted", "in progress", "finished", "collected"]

WATCHES = {  # serial: movement, maker, model, year, owner, e-mail, battery or mainspring
    "K7731": ("automatic", "Orlen", "Marine", 1968, "Petra Voss", "petra@voss.example", "MS-20"),
    "A0912": ("quartz", "Tavaro", "Slim", 2004, "Leon Brandt", "leon@brandt.example", "BAT-377"),
    "H5540": ("hand-wound", "Halvor", "Pilot", 1951, "Sunniva Aas", "sunniva@aas.example", "MS-14"),
    "C2208": ("quartz", "Kestrel", "Chrono", 1987, "Idris Bello", "idris@bello.example", "BAT-394"),
    "M3319": ("hand-wound", "Minuet", "Petite", 1932, "Agnes Thorpe", "agnes@thorpe.example", "MS-08"),
    "K7802": ("automatic", "Orlen", "Regatta", 1975, "Tom Ferris", "tom@ferris.example", "MS-20"),
    "A1147": ("quartz", "Tavaro", "Sport", 2016, "Petra Voss", "petra@voss.example", "BAT-395"),
    "D6061": ("quartz", "Duval", "Square", 1998, "Mina Kobayashi", "mina@koba.example", "BAT-364"),
    "H5602": ("automatic", "Halvor", "Navigator", 1963, "Carlo Renzi", "carlo@renzi.example", "MS-17"),
    "C2290": ("quartz", "Kestrel", "Diver", 2011, "Leon Brandt", "leon@brandt.example", "BAT-394"),
    "M3401": ("hand-wound", "Minuet", "Rose", 1947, "Hedda Falk", "hedda@falk.example", "MS-08"),
    "D6110": ("quartz", "Duval", "Moon", 1989, "Oskar Linde", "oskar@linde.example", "BAT-364"),
    "P4415": ("automatic", "Perrin", "Alpine", 1971, "Yara Mendes", "yara@mendes.example", "MS-17"),
    "P4500": ("quartz", "Perrin", "Dress", 2009, "Agnes Thorpe", "agnes@thorpe.example", "BAT-377"),
}

PARTS = {  # code: [name, price, stock, drawer, supplier, substitute]
    "BAT-377": ["battery 377", "3.50", 24, 2, "Uhrmat", "BAT-376"],
    "BAT-376": ["battery 376", "4.20", 6, 2, "Uhrmat", None],
    "BAT-394": ["battery 394", "4.80", 0, 2, "Celmo", "BAT-380"],
    "BAT-380": ["battery 380", "5.10", 9, 3, "Celmo", None],
    "BAT-395": ["battery 395", "3.90", 15, 3, "Uhrmat", "BAT-399"],
    "BAT-399": ["battery 399", "4.40", 3, 3, "Celmo", None],
    "BAT-364": ["battery 364", "3.20", 31, 1, "Uhrmat", None],
    "MS-20": ["mainspring 20 mm", "38.00", 2, 7, "Ressort & Fils", None],
    "MS-17": ["mainspring 17 mm", "34.00", 0, 7, "Ressort & Fils", "MS-18"],
    "MS-18": ["mainspring 18 mm", "36.50", 1, 8, "Ressort & Fils", None],
    "MS-14": ["mainspring 14 mm", "41.00", 3, 8, "Ressort & Fils", None],
    "MS-08": ["mainspring 8 mm", "52.00", 4, 9, "Old Stock London", None],
    "CRN-5": ["steel crown 5 mm", "12.00", 7, 11, "Celmo", None],
    "CRY-31": ["sapphire crystal 31 mm", "19.50", 4, 12, "Glasco", "CRY-31M"],
    "CRY-31M": ["mineral crystal 31 mm", "14.00", 8, 13, "Glasco", None],
    "GSK-28": ["gasket 28 mm", "2.60", 40, 14, "Celmo", None],
    "STR-18": ["leather strap 18 mm", "25.00", 5, 15, "Bandwerk", None],
}

_KEYS = ("watch", "fault", "watchmaker", "state", "promised", "quote", "part")
JOBS = {k: dict(zip(_KEYS, v)) for k, v in {
    "WR-401": ("K7731", "runs slow", "Bruno", "in progress", "12 May 2026", 140, "MS-20"),
    "WR-402": ("A0912", "stopped", "Lotte", "finished", "4 May 2026", 18, "BAT-377"),
    "WR-403": ("H5540", "broken mainspring", "Bruno", "waiting", "20 May 2026", 165, "MS-14"),
    "WR-404": ("C2208", "chrono hand stuck", "Emre", "in progress", "15 May 2026", 95, "BAT-394"),
    "WR-405": ("M3319", "full service", "Bruno", "quoted", "29 May 2026", 280, "MS-08"),
    "WR-406": ("K7802", "loose crown", "Lotte", "finished", "6 May 2026", 45, "CRN-5"),
    "WR-407": ("A1147", "water inside", "Emre", "in progress", "18 May 2026", 60, "GSK-28"),
    "WR-408": ("D6061", "cracked crystal", "Lotte", "waiting", "14 May 2026", 52, "CRY-31"),
    "WR-409": ("H5602", "stops overnight", "Bruno", "waiting", "2 June 2026", 150, "MS-17"),
    "WR-410": ("C2290", "pressure test", "Emre", "finished", "5 May 2026", 35, "GSK-28"),
    "WR-411": ("M3401", "new strap", "Lotte", "collected", "29 April 2026", 40, "STR-18"),
    "WR-412": ("D6110", "moon phase frozen", "Emre", "quoted", "26 May 2026", 120, "BAT-364"),
    "WR-413": ("P4415", "runs fast", "Bruno", "quoted", "8 June 2026", 135, "MS-17"),
    "WR-414": ("P4500", "battery change", "Lotte", "waiting", "11 May 2026", 16, "BAT-377"),
    "WR-415": ("K7731", "scratched crystal", "Lotte", "waiting", "16 May 2026", 55, "CRY-31"),
    "WR-416": ("M3319", "worn strap", "Lotte", "collected", "22 April 2026", 38, "STR-18"),
}.items()}


@server.tool(description="Tells where a repair job stands. Job numbers look like WR-401.")
def jobStatus(job: str) -> str:
    if job not in JOBS:
        return f"There is no job {job} in the book."
    j = JOBS[job]
    return (f"Job {job} on watch {j['watch']} ({j['fault']}) is {j['state']}; {j['watchmaker']} has it, promised for "
            f"{j['promised']}, quoted at {j['quote']} euros, part needed: {j['part']}.")


@server.tool(description="Lists repair jobs; narrow down by watchmaker (first name), state or watch serial. At least one is needed.")
def listJobs(watchmaker: Optional[str] = None, state: Optional[State] = None, serial: Optional[str] = None) -> str:
    if not (watchmaker or state or serial):
        return "Please give a watchmaker, a state or a serial."
    rows = [f"{k} on watch {j['watch']} ({j['state']}, quote {j['quote']} euros)" for k, j in JOBS.items()
            if (not watchmaker or j["watchmaker"].lower() == watchmaker.lower())
            and (not state or j["state"] == state) and (not serial or j["watch"] == serial)]
    return "The jobs are " + "; ".join(rows) + "." if rows else "No job fits that."


@server.tool(description="Describes a watch by its serial, with its owner and the battery or mainspring it takes.")
def watchInfo(serial: str) -> str:
    if serial not in WATCHES:
        return f"No watch with serial {serial} has ever been here."
    movement, maker, model, year, owner, mail, part = WATCHES[serial]
    article = "an" if movement[0] == "a" else "a"
    return f"Watch {serial} is {article} {movement} {maker} {model} from {year}, owned by {owner} ({mail}); it takes part {part}."


@server.tool(description="Finds watches by a word from the owner's name, the maker or the model.")
def findWatches(text: str) -> str:
    hits = [f"{s} ({w[1]} {w[2]} of {w[4]})" for s, w in WATCHES.items() if text.lower() in f"{w[1]} {w[2]} {w[4]}".lower()]
    return "Matching watches are " + "; ".join(hits) + "." if hits else f"No watch matches '{text}'."


@server.tool(description="Price, stock, drawer, supplier and substitute of a spare part.")
def partInfo(code: str) -> str:
    if code not in PARTS:
        return f"Part {code} is unknown."
    name, price, stock, drawer, supplier, sub = PARTS[code]
    tail = f"Its substitute is {sub}." if sub else "It has no substitute."
    return f"Part {code}, {name}, costs {price} euros; {stock} in stock in drawer {drawer}, supplied by {supplier}. {tail}"


@server.tool(description="Finds spare parts by a word of their name, with prices.")
def findParts(text: str) -> str:
    hits = [f"{c} {p[0]} at {p[1]} euros" for c, p in PARTS.items() if text.lower() in p[0]]
    return "We know " + ", ".join(hits) + "." if hits else f"No part is called anything like '{text}'."


@server.tool(description="Moves a job to another state.")
def setJobState(job: str, state: State) -> str:
    if job not in JOBS:
        return f"There is no job {job} in the book."
    old, JOBS[job]["state"] = JOBS[job]["state"], state
    return f"Job {job} went from {old} to {state}."


@server.tool(description="Changes the quoted price of a job, in whole euros.")
def setQuote(job: str, euros: int) -> str:
    if job not in JOBS:
        return f"There is no job {job} in the book."
    old, JOBS[job]["quote"] = JOBS[job]["quote"], euros
    return f"The quote of job {job} was changed from {old} to {euros} euros."


@server.tool(description="Records how many pieces of a part are in stock (the new count, not the difference).")
def setStock(code: str, pieces: int) -> str:
    if code not in PARTS:
        return f"Part {code} is unknown."
    PARTS[code][2] = pieces
    return f"Stock of {code} is now {pieces}."


if __name__ == "__main__":
    server.run()
