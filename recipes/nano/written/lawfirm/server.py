from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("hartmann-legal")

Area = Literal["employment", "family", "tenancy", "criminal", "commercial", "inheritance"]
Status = Literal["intake", "open", "on hold", "settled", "closed"]

# initials: name, role, area, rate, phone, office, admitted, languages
LAWYERS = {
    "MH": ["Marianne Hartmann", "partner", "commercial", 420, "ext. 10", "4.01", 1998, "German, English"],
    "JKO": ["Jude Okonjo", "partner", "criminal", 390, "ext. 12", "4.04", 2003, "English, Yoruba"],
    "LP": ["Lucia Pavan", "senior associate", "family", 310, "ext. 21", "3.11", 2011, "Italian, German"],
    "RST": ["Robert Steiner", "senior associate", "tenancy", 295, "ext. 23", "3.07", 2009, "German, French"],
    "AB": ["Aylin Bozkurt", "associate", "employment", 240, "ext. 31", "2.15", 2018, "Turkish, German"],
    "CW": ["Colin Weaver", "associate", "criminal", 225, "ext. 33", "2.16", 2020, "English"],
    "SN": ["Sofie Nygaard", "associate", "inheritance", 235, "ext. 34", "2.02", 2017, "Danish, English"],
    "DT": ["Daniel Tremp", "trainee", "tenancy", 120, "ext. 45", "1.20", 2024, "German"],
}

# case: client, opponent, area, lead, status, opened, budget, hours, court
CASES = {
    "24-0113": ["Elena Rossi", "Bergbahn AG", "employment", "AB", "open", "2024-02-06", 18000, 41.5, "Labour Court"],
    "24-0127": ["Nordwind Logistics", "Hafen Trans GmbH", "commercial", "MH", "open", "2024-02-29", 85000, 132.0, "Commercial Court"],
    "24-0140": ["Peter Aebi", "Ruth Aebi", "family", "LP", "on hold", "2024-04-15", 12500, 22.0, "Family Court"],
    "24-0158": ["Samir Haddad", "State", "criminal", "JKO", "open", "2024-06-03", 27000, 58.5, "District Court"],
    "24-0171": ["Greta Lindner", "Immopark AG", "tenancy", "RST", "settled", "2024-07-19", 6400, 19.0, "Rent Tribunal"],
    "24-0189": ["Heirs Vogel", "Canton", "inheritance", "SN", "open", "2024-09-02", 15500, 27.5, "Probate Court"],
    "24-0196": ["Tom Whitfield", "State", "criminal", "CW", "closed", "2024-09-30", 9000, 33.0, "District Court"],
    "25-0004": ["Bakery Zopf", "Immopark AG", "tenancy", "RST", "open", "2025-01-09", 7800, 12.5, "Rent Tribunal"],
    "25-0011": ["Ana Duarte", "Carlos Duarte", "family", "LP", "open", "2025-01-27", 14000, 17.0, "Family Court"],
    "25-0019": ["Kestrel Software", "Nimbus Ltd", "commercial", "MH", "open", "2025-02-13", 64000, 46.0, "Commercial Court"],
    "25-0026": ["Yusuf Demir", "Cleanpro GmbH", "employment", "AB", "intake", "2025-03-03", 5200, 2.5, "Labour Court"],
    "25-0030": ["Olga Petrenko", "Swisslet GmbH", "tenancy", "DT", "open", "2025-03-17", 3100, 6.0, "Rent Tribunal"],
    "25-0035": ["Jonas Keller", "State", "criminal", "CW", "intake", "2025-04-01", 8300, 1.5, "District Court"],
}

# id: case, date, time, court, room, kind, judge
HEARINGS = {
    "H-71": ["24-0113", "2025-05-06", "09:15", "Labour Court", "Room 3", "witness hearing", "Judge Fankhauser"],
    "H-72": ["24-0127", "2025-05-06", "13:30", "Commercial Court", "Room A", "main hearing", "Judge Oberli"],
    "H-73": ["24-0158", "2025-05-08", "08:30", "District Court", "Room 12", "main hearing", "Judge Mercier"],
    "H-74": ["25-0004", "2025-05-12", "10:00", "Rent Tribunal", "Room 2", "conciliation", "Judge Tanner"],
    "H-75": ["25-0011", "2025-05-13", "14:45", "Family Court", "Room 7", "conciliation", "Judge Lüscher"],
    "H-76": ["24-0189", "2025-05-15", "11:00", "Probate Court", "Room 1", "main hearing", "Judge Amsler"],
    "H-77": ["24-0113", "2025-05-20", "09:15", "Labour Court", "Room 5", "main hearing", "Judge Fankhauser"],
    "H-78": ["25-0030", "2025-05-21", "15:20", "Rent Tribunal", "Room 2", "conciliation", "Judge Tanner"],
    "H-79": ["25-0019", "2025-05-27", "10:30", "Commercial Court", "Room B", "preliminary hearing", "Judge Oberli"],
    "H-80": ["24-0158", "2025-06-03", "08:30", "District Court", "Room 12", "sentencing", "Judge Mercier"],
    "H-81": ["24-0140", "2025-06-11", "16:00", "Family Court", "Room 4", "main hearing", "Judge Lüscher"],
}


def _case(c):
    if c not in CASES:
        raise ToolError(f"Unknown case {c}")
    return CASES[c]


def _hearing(h):
    return {"hearing": h} | dict(zip(["case", "date", "time", "court", "room", "kind", "judge"], HEARINGS[h]))


def _row(c):
    k = CASES[c]
    return {"case": c, "client": k[0], "opponent": k[1], "area": k[2], "lead": k[3], "status": k[4]}


@server.tool(name="find-cases")
def find_cases(party: str | None = None, area: Area | None = None, lead: str | None = None, status: Status | None = None) -> list[dict] | str:
    "Find cases by a party (client or opponent, part of the name), area of law, lead lawyer's initials or status."
    rows = [_row(c) for c, k in CASES.items() if (not party or party.lower() in (k[0] + " / " + k[1]).lower()) and (not area or k[2] == area)
            and (not lead or k[3] == lead.upper()) and (not status or k[4] == status)]
    return rows or "No cases found."


@server.tool(name="case-details")
def case_details(case: str) -> dict:
    "Full record of a case: parties, lead, status, date opened, budget, hours worked, court."
    k = _case(case)
    return _row(case) | {"opened": k[5], "budget": f"CHF {k[6]}", "hours_worked": k[7], "court": k[8]}


@server.tool(name="search-lawyers")
def search_lawyers(name: str | None = None, area: Area | None = None) -> str:
    "Lawyers of the firm by part of the name or area of law; one line each with initials, role and area."
    rows = [f"{i}: {w[0]}, {w[1]}, {w[2]}" for i, w in LAWYERS.items() if (not name or name.lower() in w[0].lower()) and (not area or w[2] == area)]
    return "\n".join(rows) or "No lawyer matches."


@server.tool(name="lawyer-info")
def lawyer_info(initials: str) -> str:
    "A lawyer's hourly rate, phone, office, year of admission and languages, by initials."
    w = LAWYERS.get(initials.upper())
    if not w:
        return f"Nobody here has the initials {initials}."
    return f"{w[0]} ({w[1]}, {w[2]})\nRate: CHF {w[3]} per hour\nPhone: {w[4]}\nOffice: {w[5]}\nAdmitted: {w[6]}\nLanguages: {w[7]}"


@server.tool(name="list-hearings")
def list_hearings(case: str | None = None, from_date: str | None = None, to_date: str | None = None, court: str | None = None) -> list[dict] | str:
    "Hearings of a case, in a period (YYYY-MM-DD, both days included) or at a court."
    if case:
        _case(case)
    rows = [_hearing(h) for h, x in sorted(HEARINGS.items(), key=lambda y: (y[1][1], y[1][2])) if (not case or x[0] == case)
            and (not from_date or x[1] >= from_date) and (not to_date or x[1] <= to_date) and (not court or court.lower() == x[3].lower())]
    return rows or "No hearings."


@server.tool(name="add-hearing")
def add_hearing(case: str, date: str, time: str, room: str | None = None,
                kind: Literal["conciliation", "preliminary hearing", "witness hearing", "main hearing", "sentencing"] = "main hearing") -> dict:
    "Enter a new hearing for a case; it takes place at the court of the case."
    k = _case(case)
    h = f"H-{max(int(x[2:]) for x in HEARINGS) + 1}"
    HEARINGS[h] = [case, date, time, k[8], room, kind, None]
    return _hearing(h)


@server.tool(name="change-hearing")
def change_hearing(hearing: str, date: str | None = None, time: str | None = None, room: str | None = None, cancel: bool = False) -> dict | str:
    "Move a hearing to another date, time or room, or cancel it (cancel=true takes it off the calendar)."
    if hearing not in HEARINGS:
        raise ToolError(f"No hearing {hearing} in the calendar")
    if cancel:
        x = HEARINGS.pop(hearing)
        return f"Hearing {hearing} (case {x[0]}, {x[1]} {x[2]}) cancelled."
    for i, v in ((1, date), (2, time), (4, room)):
        if v:
            HEARINGS[hearing][i] = v
    return _hearing(hearing)


@server.tool(name="update-case")
def update_case(case: str, status: Status | None = None, lead: str | None = None, budget: int | None = None) -> dict:
    "Change a case's status, lead lawyer (initials) or budget in CHF."
    k = _case(case)
    if lead and lead not in LAWYERS:
        raise ToolError(f"No lawyer {lead}")
    k[3], k[4], k[6] = lead or k[3], status or k[4], budget or k[6]
    return {"case": case, "client": k[0], "status": k[4], "lead": k[3], "budget": f"CHF {k[6]}"}


@server.tool(name="log-hours")
def log_hours(case: str, initials: str, hours: float) -> str:
    "Record hours a lawyer has worked on a case."
    k = _case(case)
    if initials not in LAWYERS:
        return f"Nobody here has the initials {initials}."
    k[7] += hours
    return f"{hours} h by {LAWYERS[initials][0]} recorded on {case}; total now {k[7]} h."


if __name__ == "__main__":
    server.run()
