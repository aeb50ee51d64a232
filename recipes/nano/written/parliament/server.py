from typing import Literal, Optional
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("parliament")
Stage = Literal["introduced", "committee", "second reading", "third reading", "passed", "withdrawn"]
Code = Literal["FIN", "HLT", "TRN", "AGR", "JUS", "EDU"]

MEMBERS = {r[0]: r for r in [
    (3, "Amara Venn", "Reform", "Eastmoor", "212", 2016, "FIN"), (5, "Bertil Osk", "Centre", "Kelby", "118", 2009, "TRN"),
    (7, "Celia Drummond", "Labour", "North Quay", "304", 2021, "HLT"), (8, "Dagny Holm", "Green", "Fjordside", "109", 2018, "AGR"),
    (11, "Emeka Balogun", "Labour", "Millgate", "305", 2013, "JUS"), (12, "Freya Lund", "Centre", "Saltmarsh", "120", 2021, "EDU"),
    (14, "Gustav Iwai", "Reform", "Westerley", "214", 2005, "FIN"), (17, "Hortense Pike", "Labour", "Old Town", "301", 2016, "EDU"),
    (19, "Idris Kemal", "Green", "Larkhill", "111", 2023, "TRN"), (20, "Jolanta Brzyk", "Centre", "Pinewood", "122", 2018, "HLT"),
    (22, "Kaspar Rood", "Reform", "Stonebridge", "216", 2013, "AGR"), (23, "Leonie Amsel", "Independent", "Isle of Marr", "401", 2023, "JUS"),
    (26, "Mattias Okoro", "Labour", "Highfield", "306", 2009, "FIN"), (28, "Nuria Falcone", "Green", "Riverbend", "113", 2021, "TRN"),
    (30, "Oskar Thiel", "Independent", "Deepdale", "402", 2005, "JUS"), (31, "Petra Vaughn", "Centre", "Cobbler's End", "124", 2016, "AGR")]}
COMMITTEES = {  # name, chair's seat, clerk, clerk's e-mail, room, meets, budget
    "FIN": ("Finance", 14, "Ruth Adeyemi", "r.adeyemi@assembly.example", "C1", "Tuesdays 10:00", "84,000 crowns"),
    "HLT": ("Health", 20, "Simon Taft", "s.taft@assembly.example", "C4", "Wednesdays 09:30", "61,500 crowns"),
    "TRN": ("Transport", 5, "Wilma Grieg", "w.grieg@assembly.example", "C2", "Thursdays 14:00", "72,000 crowns"),
    "AGR": ("Agriculture", 31, "Ned Farrow", "n.farrow@assembly.example", "C5", "Mondays 11:00", "48,200 crowns"),
    "JUS": ("Justice", 30, "Ottilie Crane", "o.crane@assembly.example", "C3", "Tuesdays 14:30", "55,000 crowns"),
    "EDU": ("Education", 17, "Yusuf Brandt", "y.brandt@assembly.example", "C6", "Wednesdays 13:00", "66,300 crowns")}
BILLS = {n: dict(title=t, sponsor=s, committee=c, stage=g, introduced=d, clauses=k, vote=v) for n, t, s, c, g, d, k, v in [
    ("HB-21", "Harbour Dues Bill", 5, "TRN", "committee", "2024-11-05", 18, "V-101"), ("HB-22", "School Meals Bill", 17, "EDU", "second reading", "2024-11-12", 9, "V-103"),
    ("HB-23", "Clean Rivers Bill", 28, "AGR", "committee", "2024-11-19", 27, "V-102"), ("HB-24", "Hospital Parking Charges Bill", 7, "HLT", "third reading", "2024-12-03", 6, "V-106"),
    ("HB-25", "Night Trains Bill", 19, "TRN", "introduced", "2024-12-10", 14, ""), ("HB-26", "Small Brewers Tax Relief Bill", 3, "FIN", "second reading", "2024-12-17", 11, "V-104"),
    ("HB-27", "Court Interpreters Bill", 11, "JUS", "third reading", "2025-01-14", 22, "V-107"), ("HB-28", "Hedgerow Protection Bill", 8, "AGR", "committee", "2025-01-14", 16, "V-105"),
    ("HB-29", "Rural Pharmacies Bill", 20, "HLT", "introduced", "2025-01-21", 8, ""), ("HB-30", "Public Pensions Amendment Bill", 26, "FIN", "committee", "2025-01-28", 41, "V-108"),
    ("HB-31", "Bail Reform Bill", 23, "JUS", "introduced", "2025-02-04", 33, ""), ("HB-32", "Seed Potatoes Bill", 22, "AGR", "passed", "2024-10-15", 5, "V-110"),
    ("HB-33", "Library Hours Bill", 12, "EDU", "withdrawn", "2024-10-22", 4, "V-109"), ("HB-34", "Bicycle Lanes Bill", 19, "TRN", "second reading", "2025-02-11", 12, "V-111")]}
VOTES = {  # bill, date, ayes, noes, abstentions, result, teller's seat
    "V-101": ("HB-21", "2025-01-16", 88, 41, 6, "carried", 26), "V-102": ("HB-23", "2025-01-23", 70, 62, 9, "carried", 12), "V-103": ("HB-22", "2025-01-30", 97, 30, 4, "carried", 8),
    "V-104": ("HB-26", "2025-02-06", 66, 64, 11, "carried", 22), "V-105": ("HB-28", "2025-02-13", 81, 52, 3, "carried", 28), "V-106": ("HB-24", "2025-03-04", 103, 22, 10, "carried", 3),
    "V-107": ("HB-27", "2025-03-04", 75, 58, 7, "carried", 30), "V-108": ("HB-30", "2025-03-06", 59, 77, 2, "lost", 14), "V-109": ("HB-33", "2024-12-12", 38, 91, 8, "lost", 17),
    "V-110": ("HB-32", "2025-02-20", 119, 4, 12, "carried", 31), "V-111": ("HB-34", "2025-03-06", 72, 61, 5, "carried", 7)}
SITTINGS = {d: dict(opens=o, presiding=p, agenda=a.split(), status=s) for d, o, p, a, s in [
    ("2025-03-04", "14:00", 30, "HB-24 HB-27", "held"), ("2025-03-06", "10:00", 17, "HB-30 HB-34", "held"), ("2025-03-11", "14:00", 26, "HB-22", "scheduled"),
    ("2025-03-13", "10:00", 12, "HB-26 HB-34", "scheduled"), ("2025-03-18", "14:00", 30, "HB-24", "scheduled"), ("2025-03-20", "10:00", 31, "", "cancelled"),
    ("2025-03-25", "14:00", 17, "HB-27", "scheduled"), ("2025-03-27", "09:30", 8, "", "scheduled")]}

def bill_text(n):
    b = BILLS[n]
    return (f"## {n} {b['title']}\n- **Stage:** {b['stage']}\n- **Sponsor:** seat {b['sponsor']}\n- **Committee:** {b['committee']}\n"
            f"- **Introduced:** {b['introduced']}\n- **Clauses:** {b['clauses']}\n- **Last vote:** {b['vote'] or 'none'}")

def sitting_text(d):
    s = SITTINGS[d]
    return f"Sitting of {d}\nStatus: {s['status']}\nOpens: {s['opens']}\nPresiding: seat {s['presiding']}\nAgenda: {', '.join(s['agenda']) or '(empty)'}"

@server.tool("get-bill")
def get_bill(number: str) -> str:
    "One bill by its number, e.g. HB-21."
    return bill_text(number) if number in BILLS else f"No such bill: {number}"

@server.tool("list-bills")
def list_bills(title: Optional[str] = None, stage: Optional[Stage] = None, committee: Optional[Code] = None, sponsor: Optional[int] = None) -> str:
    "Table of bills (number, title, stage, date of introduction). Filter by words of the title, stage, committee code or the sponsor's seat number."
    rows = [f"| {n} | {b['title']} | {b['stage']} | {b['introduced']} |" for n, b in BILLS.items() if (title or "").lower() in b["title"].lower()
            and stage in (None, b["stage"]) and committee in (None, b["committee"]) and sponsor in (None, b["sponsor"])]
    return "\n".join(["| Bill | Title | Stage | Introduced |", "|---|---|---|---|", *rows]) if rows else "No bills found."

@server.tool("find-members")
def find_members(name: Optional[str] = None, party: Optional[Literal["Reform", "Centre", "Labour", "Green", "Independent"]] = None, district: Optional[str] = None) -> str:
    "Find members of parliament and their seat numbers by name, party or district."
    rows = [f"Seat {m[0]}: {m[1]} ({m[2]}), {m[3]}" for m in MEMBERS.values() if (name or "").lower() in m[1].lower() and party in (None, m[2]) and (district or "").lower() in m[3].lower()]
    return "\n".join(rows) or "No member found."

@server.tool("get-member")
def get_member(seat: int) -> str:
    "Details of the member who has this seat number."
    if seat not in MEMBERS: return f"Nobody sits on seat {seat}."
    _, name, party, district, room, year, com = MEMBERS[seat]
    return f"### {name}\nSeat: {seat}\nParty: {party}\nDistrict: {district}\nOffice: room {room}\nPhone: 01 555-01{seat:02}\nFirst elected: {year}\nCommittee: {com}"

@server.tool("get-committee")
def get_committee(code: Code) -> str:
    "A committee: FIN Finance, HLT Health, TRN Transport, AGR Agriculture, JUS Justice, EDU Education."
    name, chair, clerk, mail, room, meets, budget = COMMITTEES[code]
    return f"**{name} Committee ({code})**\nChair: seat {chair}\nClerk: {clerk} <{mail}>\nRoom: {room}\nMeets: {meets}\nBudget: {budget}"

@server.tool("get-vote")
def get_vote(vote: str) -> str:
    "Outcome of a recorded vote, e.g. V-101."
    if vote not in VOTES: raise ToolError(f"There is no vote {vote}.")
    b, d, a, n, x, r, t = VOTES[vote]
    return f"{vote} on {b}, taken {d}: {a} ayes, {n} noes, {x} abstentions; {r}. Teller: seat {t}."

@server.tool("get-sitting")
def get_sitting(date: Optional[str] = None) -> str:
    "The sitting on a date (YYYY-MM-DD). Without a date: one line for each sitting."
    if date is None: return "\n".join(f"{d}, {s['opens']}, {s['status']}" for d, s in SITTINGS.items())
    return sitting_text(date) if date in SITTINGS else f"There is no sitting on {date}."

@server.tool("update-bill")
def update_bill(number: str, stage: Optional[Stage] = None, committee: Optional[Code] = None, sponsor: Optional[int] = None) -> str:
    "Change the stage, the committee or the sponsor (seat number) of a bill."
    if number not in BILLS: raise ToolError(f"No such bill: {number}")
    if sponsor is not None and sponsor not in MEMBERS: raise ToolError(f"Nobody sits on seat {sponsor}.")
    BILLS[number].update({k: v for k, v in dict(stage=stage, committee=committee, sponsor=sponsor).items() if v is not None})
    return "Updated.\n" + bill_text(number)

@server.tool("update-sitting")
def update_sitting(date: str, opens: Optional[str] = None, status: Optional[Literal["scheduled", "held", "cancelled"]] = None,
                   presiding: Optional[int] = None, add_bill: Optional[str] = None) -> str:
    "Change a sitting (date as YYYY-MM-DD): opening time HH:MM, status, presiding member's seat, or add a bill to its agenda."
    if date not in SITTINGS: raise ToolError(f"There is no sitting on {date}.")
    if add_bill is not None:
        if add_bill not in BILLS: raise ToolError(f"No such bill: {add_bill}")
        SITTINGS[date]["agenda"].append(add_bill)
    SITTINGS[date].update({k: v for k, v in dict(opens=opens, status=status, presiding=presiding).items() if v is not None})
    return "Updated.\n" + sitting_text(date)

if __name__ == "__main__":
    server.run()
