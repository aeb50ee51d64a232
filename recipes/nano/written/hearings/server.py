from typing import Literal, Optional

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("hearings")

# code: name, title, division, chambers, clerk, clerk phone
JUDGES = {
    "HOL": ["Agnes Holm", "Presiding Judge", "Civil", "2.14", "R. Tamm", "555-0161"],
    "KRA": ["Stefan Krall", "Judge", "Civil", "2.09", "J. Obi", "555-0162"],
    "MEN": ["Lucia Mendes", "Judge", "Family", "1.22", "P. Karlsen", "555-0163"],
    "OKO": ["Daniel Okonedo", "Judge", "Employment", "3.05", "S. Weir", "555-0164"],
    "SZA": ["Ilona Szabo", "Deputy Judge", "Family", "1.24", "P. Karlsen", "555-0163"],
    "TRE": ["Hugh Trevane", "Judge", "Land", "3.11", "L. Moreau", "555-0165"],
}

# room: floor, seats, video link, usher, usher phone
ROOMS = {
    "1A": ["1", 40, "yes", "Bert Falk", "555-0171"],
    "1B": ["1", 12, "no", "Bert Falk", "555-0171"],
    "2C": ["2", 60, "yes", "Mina Roth", "555-0172"],
    "2D": ["2", 24, "no", "Mina Roth", "555-0172"],
    "3E": ["3", 30, "yes", "Carl Udo", "555-0173"],
}

# id: name, kind, counsel, phone, e-mail
PARTIES = {
    "P301": ["Elin Marsh", "person", "Nadia Fenn", "555-0101", "elin.marsh@post.example"],
    "P302": ["Corvo Builders Ltd", "company", "Ralph Stone", "555-0102", "legal@corvo.example"],
    "P303": ["Theo Lang", "person", "none", "555-0103", "theo.lang@post.example"],
    "P304": ["Amara Lang", "person", "Judith Kemp", "555-0104", "amara@lang.example"],
    "P305": ["Tallow & Sons", "company", "Ralph Stone", "555-0105", "office@tallow.example"],
    "P306": ["Piotr Zielak", "person", "Nadia Fenn", "555-0106", "p.zielak@post.example"],
    "P307": ["Mereside Council", "authority", "Ivo Hartmann", "555-0107", "claims@mereside.example"],
    "P308": ["Orla Devane", "person", "none", "555-0108", "orla.devane@post.example"],
    "P309": ["Northline Freight", "company", "Gwen Abbot", "555-0109", "hr@northline.example"],
    "P310": ["Samuel Brook", "person", "Judith Kemp", "555-0110", "sbrook@post.example"],
    "P311": ["Rita Brook", "person", "Nadia Fenn", "555-0111", "rita.brook@post.example"],
    "P312": ["Greenacre Farms", "company", "Ivo Hartmann", "555-0112", "estate@greenacre.example"],
    "P313": ["Yusuf Kaan", "person", "Gwen Abbot", "555-0113", "y.kaan@post.example"],
    "P314": ["Halden Motors", "company", "Judith Kemp", "555-0114", "legal@halden.example"],
}

# case: subject, applicant, respondent, judge, status, filed on, amount claimed (EUR), related case
CASES = {
    "3/2025-C": ["Unpaid building work", "P302", "P301", "HOL", "open", "2025-01-20", 48200, "14/2026-C"],
    "41/2025-F": ["Custody of two children", "P304", "P303", "MEN", "open", "2025-06-11", 0, ""],
    "58/2025-E": ["Unfair dismissal", "P306", "P309", "OKO", "open", "2025-09-02", 21500, "7/2026-E"],
    "63/2025-L": ["Right of way over a farm track", "P308", "P312", "TRE", "stayed", "2025-10-15", 0, "22/2026-L"],
    "77/2025-C": ["Defective gearbox", "P313", "P314", "KRA", "decided", "2025-11-28", 6900, ""],
    "2/2026-F": ["Division of property", "P311", "P310", "SZA", "open", "2026-01-08", 132000, ""],
    "7/2026-E": ["Unpaid overtime", "P313", "P309", "OKO", "open", "2026-01-19", 9340, "58/2025-E"],
    "9/2026-C": ["Supply of timber", "P305", "P302", "KRA", "open", "2026-01-23", 17750, ""],
    "14/2026-C": ["Leaking roof", "P301", "P302", "HOL", "open", "2026-02-03", 26400, "3/2025-C"],
    "18/2026-L": ["Boundary hedge", "P308", "P307", "TRE", "open", "2026-02-12", 0, ""],
    "22/2026-L": ["Drainage of the lower field", "P312", "P307", "TRE", "open", "2026-02-20", 54000, "63/2025-L"],
    "25/2026-F": ["Maintenance", "P304", "P303", "SZA", "open", "2026-02-27", 8400, "41/2025-F"],
    "31/2026-C": ["Damaged van", "P309", "P314", "KRA", "withdrawn", "2026-03-04", 12100, ""],
}

# hearing: case, date, time, room, minutes, kind, status
HEARINGS = {
    "H-801": ["3/2025-C", "2026-04-20", "09:30", "2C", 120, "trial", "listed"],
    "H-802": ["41/2025-F", "2026-04-20", "10:00", "1B", 60, "review", "listed"],
    "H-803": ["58/2025-E", "2026-04-20", "13:30", "3E", 90, "preliminary", "adjourned"],
    "H-804": ["14/2026-C", "2026-04-21", "09:00", "2C", 45, "directions", "listed"],
    "H-805": ["9/2026-C", "2026-04-21", "11:00", "2D", 30, "directions", "listed"],
    "H-806": ["2/2026-F", "2026-04-21", "14:00", "1B", 90, "mediation", "listed"],
    "H-807": ["18/2026-L", "2026-04-22", "09:30", "3E", 60, "site view", "listed"],
    "H-808": ["22/2026-L", "2026-04-22", "11:30", "3E", 45, "directions", "listed"],
    "H-809": ["25/2026-F", "2026-04-22", "15:00", "1B", 30, "directions", "vacated"],
    "H-810": ["7/2026-E", "2026-04-23", "10:00", "2D", 75, "preliminary", "listed"],
    "H-811": ["41/2025-F", "2026-05-04", "09:30", "1A", 180, "trial", "listed"],
    "H-812": ["58/2025-E", "2026-05-05", "10:30", "3E", 150, "trial", "listed"],
    "H-813": ["9/2026-C", "2026-05-07", "13:00", "2C", 120, "trial", "listed"],
    "H-814": ["77/2025-C", "2026-03-17", "10:00", "2D", 60, "judgment", "heard"],
}

# document: case, title, filed by, date, pages
DOCUMENTS = {
    "D-1": ["3/2025-C", "Statement of claim", "P302", "2025-01-20", 18],
    "D-2": ["3/2025-C", "Defence", "P301", "2025-02-24", 11],
    "D-3": ["3/2025-C", "Expert report on the roof", "P301", "2025-11-06", 46],
    "D-4": ["14/2026-C", "Statement of claim", "P301", "2026-02-03", 14],
    "D-5": ["14/2026-C", "Photographs of the loft", "P301", "2026-02-17", 22],
    "D-6": ["41/2025-F", "Application", "P304", "2025-06-11", 9],
    "D-7": ["41/2025-F", "Welfare report", "P304", "2025-12-15", 31],
    "D-8": ["58/2025-E", "Claim form", "P306", "2025-09-02", 7],
    "D-9": ["58/2025-E", "Response", "P309", "2025-10-01", 16],
    "D-10": ["9/2026-C", "Statement of claim", "P305", "2026-01-23", 12],
    "D-11": ["22/2026-L", "Survey plan", "P312", "2026-03-02", 5],
    "D-12": ["18/2026-L", "Letter to the court", "P308", "2026-02-12", 2],
    "D-13": ["7/2026-E", "Time sheets", "P313", "2026-02-09", 64],
    "D-14": ["2/2026-F", "List of assets", "P311", "2026-01-30", 13],
}


def _table(head: list, rows: list) -> str:
    return "\n".join(["| " + " | ".join(map(str, r)) + " |" for r in [head, ["---"] * len(head), *rows]])


def _sheet(pairs: list) -> str:
    return _table(["Field", "Value"], pairs)


@server.tool()
def find_cases(text: Optional[str] = None, judge: Optional[str] = None, status: Optional[Literal["open", "stayed", "decided", "withdrawn"]] = None) -> str:
    """Search the register. `text` matches the subject or the name of a party; `judge` is the three-letter code.
    Gives a table of case number, subject, judge, status and filing date."""
    rows = []
    for no, c in CASES.items():
        names = " ".join([c[0], PARTIES[c[1]][0], PARTIES[c[2]][0]]).lower()
        if (not text or text.lower() in names) and (not judge or c[3] == judge) and (not status or c[4] == status):
            rows.append([no, c[0], c[3], c[4], c[5]])
    return _table(["Case", "Subject", "Judge", "Status", "Filed"], rows) if rows else "No cases found."


@server.tool()
def case_sheet(case_no: str) -> str:
    "Front sheet of a case. Case numbers look like 14/2026-C (C civil, F family, E employment, L land)."
    if case_no not in CASES:
        raise ToolError(f"No case {case_no} in the register")
    s, a, r, j, st, filed, amount, rel = CASES[case_no]
    return _sheet([["Case", case_no], ["Subject", s], ["Applicant", a], ["Respondent", r], ["Judge", j], ["Status", st],
                   ["Filed", filed], ["Amount claimed (EUR)", amount or "-"], ["Related case", rel or "-"]])


@server.tool()
def party(party_id: str) -> str:
    "Name, counsel and contact of a party (P301 ...)."
    if party_id not in PARTIES:
        raise ToolError(f"No party {party_id}")
    n, k, c, p, e = PARTIES[party_id]
    return _sheet([["Party", party_id], ["Name", n], ["Kind", k], ["Counsel", c], ["Phone", p], ["E-mail", e]])


@server.tool()
def judge(code: str) -> str:
    "A judge by three-letter code (HOL)."
    if code not in JUDGES:
        return f"There is no judge with the code {code}."
    n, t, d, ch, cl, ph = JUDGES[code]
    return _sheet([["Code", code], ["Name", n], ["Title", t], ["Division", d], ["Chambers", ch], ["Clerk", cl], ["Clerk's phone", ph]])


@server.tool()
def courtroom(room: str) -> str:
    "A courtroom: floor, seats, video link, usher."
    if room not in ROOMS:
        return f"There is no courtroom {room}."
    f, s, v, u, p = ROOMS[room]
    return _sheet([["Room", room], ["Floor", f], ["Seats", s], ["Video link", v], ["Usher", u], ["Usher's phone", p]])


@server.tool()
def hearings(case_no: Optional[str] = None, date: Optional[str] = None, room: Optional[str] = None, hearing_id: Optional[str] = None) -> str:
    "Hearings by case, date (YYYY-MM-DD), room or hearing number (H-801); at least one of them."
    if not (case_no or date or room or hearing_id):
        raise ToolError("Give a case, a date, a room or a hearing number")
    rows = [[h, *x] for h, x in HEARINGS.items() if (not case_no or x[0] == case_no) and (not date or x[1] == date)
            and (not room or x[3] == room) and (not hearing_id or h == hearing_id)]
    return _table(["Hearing", "Case", "Date", "Time", "Room", "Minutes", "Kind", "Status"], rows) if rows else "No hearings found."


@server.tool()
def documents(case_no: str) -> str:
    "Documents on the file of a case."
    rows = [[d, *x[1:]] for d, x in DOCUMENTS.items() if x[0] == case_no]
    return _table(["Document", "Title", "Filed by", "Date", "Pages"], rows) if rows else f"No documents on file for {case_no}."


@server.tool()
def update_hearing(hearing_id: str, status: Optional[Literal["listed", "adjourned", "vacated", "heard"]] = None, date: Optional[str] = None,
                   time: Optional[str] = None, room: Optional[str] = None) -> str:
    """Change a hearing: status, date (YYYY-MM-DD), time (HH:MM) or room. Only what is given is changed.
    adjourned = put off to a later day; vacated = taken out of the list, will not take place."""
    if hearing_id not in HEARINGS:
        raise ToolError(f"No hearing {hearing_id}")
    if room and room not in ROOMS:
        raise ToolError(f"No courtroom {room}")
    h, rows = HEARINGS[hearing_id], []
    for index, label, new in [(6, "Status", status), (1, "Date", date), (2, "Time", time), (3, "Room", room)]:
        if new:
            rows.append([hearing_id, label, h[index], new])
            h[index] = new
    if not rows:
        raise ToolError("Nothing to change")
    return _table(["Hearing", "Changed", "From", "To"], rows)


@server.tool()
def lodge_document(case_no: str, title: str, filed_by: str, pages: int = 1) -> str:
    "Put a document on the file of a case. `filed_by` is a party number."
    if case_no not in CASES:
        raise ToolError(f"No case {case_no} in the register")
    if filed_by not in CASES[case_no][1:3]:
        raise ToolError(f"{filed_by} is not a party to {case_no}")
    number = f"D-{len(DOCUMENTS) + 1}"
    DOCUMENTS[number] = [case_no, title, filed_by, "2026-04-17", pages]
    return _table(["Document", "Case", "Title", "Filed by", "Date", "Pages"], [[number, case_no, title, filed_by, "2026-04-17", pages]])


if __name__ == "__main__":
    server.run()
