"""The office of a small cemetery: graves, plots, families, upkeep jobs and masons. Everything is answered in plain text."""
import datetime
from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("cemetery")
TODAY = datetime.date(2025, 4, 28)
JobStatus = Literal["planned", "in progress", "on hold", "done"]
SECTIONS = {"A": "Yew Walk", "B": "Chapel Lawn", "C": "Wall Side"}

families = {
    "F-01": ("Abernathy", "Ruth Abernathy", "555-0121", "ruth@abernathy.example", 0),
    "F-02": ("Marlow", "Joan Marlow", "555-0122", "joan.marlow@post.example", 96),
    "F-03": ("Okafor", "Chidi Okafor", "555-0123", "chidi.okafor@mail.example", 0),
    "F-04": ("Pellegrini", "Sandro Pellegrini", "555-0124", "sandro@pellegrini.example", 44),
    "F-05": ("Thackray", "Miles Thackray", "555-0125", "mthackray@mail.example", 144),
    "F-06": ("Lund", "Kirsten Lund", "555-0126", "kirsten.lund@post.example", 0),
    "F-07": ("Dacosta", "Rafael Dacosta", "555-0127", "rafael@dacosta.example", 22),
    "F-08": ("Whitlock", "Enid Whitlock", "555-0128", "enid.w@mail.example", 48),
    "F-09": ("Szabo", "Ilona Szabo", "555-0129", "ilona.szabo@post.example", 0),
    "F-10": ("Greaves", "Peter Greaves", "555-0130", "peter.greaves@mail.example", 66),
}
# plot: kind, state, family, lease end, yearly fee
plots = {
    "A-1": ["single", "occupied", "F-01", "2033-08-31", 36], "A-2": ["double", "occupied", "F-05", "2038-03-31", 48],
    "A-3": ["single", "occupied", "F-08", "2029-11-30", 36], "A-4": ["double", "free", "", "", 48],
    "A-5": ["single", "reserved", "F-03", "2049-06-30", 36], "A-6": ["single", "occupied", "F-10", "2031-02-28", 36],
    "B-1": ["double", "occupied", "F-03", "2044-01-31", 54], "B-2": ["single", "occupied", "F-04", "2036-09-30", 40],
    "B-3": ["double", "occupied", "F-02", "2041-05-31", 54], "B-4": ["single", "free", "", "", 40],
    "B-5": ["double", "reserved", "F-06", "2050-03-31", 54], "B-6": ["single", "occupied", "F-09", "2027-12-31", 40],
    "B-7": ["single", "occupied", "F-07", "2035-07-31", 40], "C-1": ["urn", "occupied", "F-06", "2030-04-30", 22],
    "C-2": ["urn", "occupied", "F-04", "2032-10-31", 22], "C-3": ["urn", "free", "", "", 22],
    "C-4": ["urn", "occupied", "F-10", "2034-05-31", 22], "C-5": ["urn", "reserved", "F-08", "2048-08-31", 22],
    "C-6": ["urn", "free", "", "", 22], "C-7": ["urn", "occupied", "F-01", "2028-01-31", 22],
}
graves = {
    101: ("Samuel Abernathy", "1921-1983", "1983-09-06", "A-1", "granite", "hartley"),
    102: ("Walter Thackray", "1908-1972", "1972-02-18", "A-2", "sandstone", "bowden"),
    103: ("Dorothy Thackray", "1912-1990", "1990-06-29", "A-2", "sandstone", "bowden"),
    104: ("Edith Marlow", "1902-1979", "1979-03-12", "B-3", "slate", "hartley"),
    105: ("George Marlow", "1899-1968", "1968-11-04", "B-3", "slate", "ruiz"),
    106: ("Norman Whitlock", "1930-2004", "2004-12-08", "A-3", "limestone", "ruiz"),
    107: ("Adaeze Okafor", "1944-2014", "2014-02-07", "B-1", "marble", "oyelaran"),
    108: ("Emeka Okafor", "1940-2019", "2019-01-25", "B-1", "marble", "oyelaran"),
    109: ("Lucia Pellegrini", "1926-2006", "2006-10-13", "B-2", "marble", "ruiz"),
    110: ("Bruno Pellegrini", "1951-2012", "2012-11-02", "C-2", "granite", "bowden"),
    111: ("Terez Szabo", "1919-1997", "1998-01-05", "B-6", "limestone", "hartley"),
    112: ("Manuel Dacosta", "1933-2010", "2010-08-03", "B-7", "granite", "oyelaran"),
    113: ("Henrik Lund", "1938-2005", "2005-05-20", "C-1", "slate", "hartley"),
    114: ("Clara Greaves", "1915-1996", "1996-03-15", "A-6", "sandstone", "bowden"),
    115: ("Alfred Greaves", "1947-2009", "2009-06-12", "C-4", "granite", "ruiz"),
    116: ("Beryl Abernathy", "1925-2003", "2003-02-10", "C-7", "slate", "bowden"),
}
masons = {
    "hartley": ("Tom Hartley", "Hartley & Sons", "555-0141", 180, "Mon-Thu"),
    "bowden": ("Grace Bowden", "Bowden Stonework", "555-0142", 165, "Tue-Fri"),
    "ruiz": ("Elena Ruiz", "Ruiz Memorials", "555-0143", 195, "Mon-Fri"),
    "oyelaran": ("Tunde Oyelaran", "Oyelaran Stone and Letter", "555-0144", 210, "Wed-Sat"),
}
# job: plot, work, mason, due, status, quote
jobs = {
    "J-31": ["B-3", "reset leaning headstone", "hartley", "2025-05-12", "planned", 240],
    "J-32": ["A-2", "re-cut lettering", "bowden", "2025-05-20", "in progress", 310],
    "J-33": ["C-1", "clean slate plaque", "hartley", "2025-04-24", "done", 60],
    "J-34": ["B-1", "replace kerb stones", "oyelaran", "2025-06-03", "planned", 420],
    "J-35": ["A-6", "remove moss from stone", "bowden", "2025-05-06", "planned", 75],
    "J-36": ["B-7", "level sunken ground", "", "2025-05-15", "on hold", 130],
    "J-37": ["B-2", "repair cracked base", "ruiz", "2025-05-08", "in progress", 275],
    "J-38": ["C-4", "re-gild lettering", "ruiz", "2025-05-28", "planned", 155],
    "J-39": ["A-1", "reset leaning headstone", "hartley", "2025-04-17", "done", 220],
    "J-40": ["B-6", "clean limestone cross", "ruiz", "2025-06-10", "planned", 95],
    "J-41": ["C-7", "fix loose plaque", "bowden", "2025-05-02", "planned", 45],
    "J-42": ["A-3", "trim yew over grave", "", "2025-05-09", "planned", 80],
    "J-43": ["C-2", "straighten plaque", "oyelaran", "2025-05-22", "on hold", 160],
    "J-44": ["A-5", "lay foundation", "oyelaran", "2025-06-17", "planned", 380],
}


@server.tool()
def find_grave(query: str) -> str:
    "Find a grave by its number or by (part of) the name of the deceased."
    hits = [n for n, g in graves.items() if query.strip() == str(n) or (not query.strip().isdigit() and query.strip().casefold() in g[0].casefold())]
    if not hits:
        return f"No grave found for '{query}'."
    if len(hits) == 1:
        name, years, buried, plot, stone, mason = graves[hits[0]]
        return f"Grave {hits[0]}: {name}, {years}, buried on {buried} in plot {plot}. Headstone of {stone}, made by mason {mason}."
    return "\n".join(["grave  name                 years      buried"] + [f"{n:<6} {graves[n][0]:<20} {graves[n][1]:<10} {graves[n][2]}" for n in hits])


@server.tool()
def plot_info(plot: str) -> str:
    "Say what a plot is (e.g. B-3), whether it is free, which family holds it and until when."
    if plot not in plots:
        return f"There is no plot {plot} on the map."
    kind, state, family, until, fee = plots[plot]
    where = f"Plot {plot} ({kind}, section {SECTIONS[plot[0]]}) is {state}"
    return f"{where}; yearly fee £{fee}.00." if state == "free" else f"{where}, held by family {family} until {until}; yearly fee £{fee}.00."


@server.tool()
def family_info(family: str) -> str:
    "Contact person and open account of a family, by family code (F-02) or surname."
    for code, (surname, contact, phone, email, owes) in families.items():
        if family.casefold() in (code.casefold(), surname.casefold()):
            return f"Family {code} ({surname}): contact {contact}, phone {phone}, e-mail {email}. " + (f"Owes £{owes}.00." if owes else "Nothing owed.")
    return f"No family '{family}' in the register."


@server.tool()
def mason_info(mason: str) -> str:
    "Firm, phone, day rate and working days of a mason, by the mason's short name (lower case surname)."
    if mason not in masons:
        return f"No mason called '{mason}'. Known: {', '.join(masons)}."
    name, firm, phone, rate, days = masons[mason]
    return f"{name} of {firm}, phone {phone}, charges £{rate}.00 a day, works {days}."


@server.tool()
def list_jobs(status: JobStatus | None = None, plot: str = "", mason: str = "") -> str:
    "Table of upkeep jobs, optionally only those of one status, plot or mason."
    rows = [f"{n:<5} {j[0]:<5} {j[1]:<26} {j[4]:<12} {j[3]}" for n, j in jobs.items()
            if (status is None or j[4] == status) and (not plot or j[0] == plot) and (not mason or j[2] == mason)]
    return "\n".join(["job   plot  work                       status       due"] + rows) if rows else "No such jobs."


@server.tool()
def job_info(job: str) -> str:
    "One upkeep job (e.g. J-31): plot, work, mason, due date, status and quoted price."
    if job not in jobs:
        return f"No job {job}."
    plot, work, mason, due, status, quote = jobs[job]
    return f"Job {job}: {work} on plot {plot}, {'mason ' + mason if mason else 'no mason yet'}, due {due}, status {status}, quoted at £{quote}.00."


@server.tool()
def add_job(plot: str, work: str, due: str, mason: str = "") -> str:
    "Add an upkeep job for a plot. due is YYYY-MM-DD; the mason may be left out."
    if plot not in plots:
        raise ToolError(f"There is no plot {plot} on the map.")
    if mason and mason not in masons:
        raise ToolError(f"No mason called '{mason}'.")
    number = f"J-{31 + len(jobs)}"
    jobs[number] = [plot, work, mason, due, "planned", 0]
    return f"Added job {number}: {work} on plot {plot}, due {due}, {'mason ' + mason if mason else 'no mason yet'}."


@server.tool()
def update_job(job: str, status: JobStatus | None = None, mason: str | None = None, due: str | None = None) -> str:
    "Change the status, the mason or the due date (YYYY-MM-DD) of a job."
    if job not in jobs:
        raise ToolError(f"No job {job}.")
    if mason and mason not in masons:
        raise ToolError(f"No mason called '{mason}'.")
    said = []
    for name, place, value in (("status", 4, status), ("mason", 2, mason), ("due", 3, due)):
        if value is not None:
            said.append(f"{name} {jobs[job][place] or 'nobody'} -> {value}")
            jobs[job][place] = value
    if not said:
        raise ToolError("Give a status, a mason or a due date.")
    return f"Job {job} ({jobs[job][1]}, plot {jobs[job][0]}): " + ", ".join(said) + "."


@server.tool()
def assign_plot(plot: str, family_code: str, years: int = 25) -> str:
    "Reserve a free plot for a family (code such as F-02) for a number of years from today."
    if plot not in plots:
        raise ToolError(f"There is no plot {plot} on the map.")
    if family_code not in families:
        raise ToolError(f"Unknown family code {family_code}.")
    if plots[plot][1] != "free":
        raise ToolError(f"Plot {plot} is not free, it is {plots[plot][1]}.")
    until = TODAY.replace(year=TODAY.year + years).isoformat()
    plots[plot][1:4] = ["reserved", family_code, until]
    return f"Plot {plot} is now reserved for family {family_code} ({families[family_code][0]}) until {until}."


if __name__ == "__main__":
    server.run()
