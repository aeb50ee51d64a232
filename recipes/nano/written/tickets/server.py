from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("works-desk")
Kind = Literal["pothole", "lamp", "drain", "sign", "tree"]
Status = Literal["open", "scheduled", "done", "rejected"]
Priority = Literal["low", "normal", "high", "urgent"]

# number: [kind, street, status, priority, reported, by, lamp, visit, note]
TICKETS = {
    3001: ["pothole", "Mill Lane", "scheduled", "high", "2025-03-18", "Mrs Abara", "", "V-61", "by the bakery, about 15 cm deep"],
    3002: ["lamp", "Quince Street", "scheduled", "normal", "2025-03-19", "Mr Lund", "L-1043", "V-62", "flickers all night"],
    3003: ["lamp", "Harbour Road", "open", "low", "2025-03-20", "R. Petty", "L-2207", "", "cover hanging loose"],
    3004: ["drain", "Old Tannery Row", "scheduled", "urgent", "2025-03-20", "Ms Ferreira", "", "V-63", "water in two cellars"],
    3005: ["pothole", "Station Approach", "open", "normal", "2025-03-21", "bus drivers' desk", "", "", "at stop B"],
    3006: ["sign", "Cobden Avenue", "done", "low", "2025-03-11", "Mr Osei", "", "V-55", "turned the wrong way"],
    3007: ["tree", "Bishop's Walk", "scheduled", "high", "2025-03-22", "Rev. Hale", "", "V-64", "split trunk"],
    3008: ["lamp", "Fennel Close", "scheduled", "high", "2025-03-23", "Ms Tan", "L-3310", "V-65", "dark since Friday"],
    3009: ["pothole", "Ferry Lane", "open", "low", "2025-03-24", "Mr Lund", "", "", "small, at the kerb"],
    3010: ["drain", "Harbour Road", "open", "normal", "2025-03-24", "Quay Cafe", "", "", "smells, slow"],
    3011: ["pothole", "Cobden Avenue", "scheduled", "normal", "2025-03-25", "Ms Brook", "", "V-66", "left lane"],
    3012: ["lamp", "Station Approach", "done", "normal", "2025-03-09", "M. Iqbal", "L-4105", "V-54", "out"],
    3013: ["sign", "Ferry Lane", "open", "normal", "2025-03-26", "PC Dalton", "", "", "stop sign bent"],
    3014: ["pothole", "Quince Street", "rejected", "low", "2025-03-12", "Mr Grimm", "", "", "below 2 cm"],
    3015: ["tree", "Mill Lane", "open", "low", "2025-03-27", "Mrs Abara", "", "", "roots lift the path"],
    3016: ["lamp", "Cobden Avenue", "scheduled", "urgent", "2025-03-26", "school office", "L-4418", "V-67", "sparks"],
    3017: ["drain", "Fennel Close", "done", "high", "2025-03-14", "Ms Tan", "", "V-56", "blocked"],
    3018: ["pothole", "Harbour Road", "scheduled", "urgent", "2025-03-28", "ferry office", "", "V-68", "across both lanes"],
}
# visit: [ticket, crew, when, material, estimate]
VISITS = {
    "V-54": [3012, "C3", "2025-03-16 08:30", "lamp driver", 64],
    "V-55": [3006, "C5", "2025-03-18 10:00", "bolts and clamp", 38],
    "V-56": [3017, "C4", "2025-03-20 13:00", "jetting hose", 120],
    "V-61": [3001, "C1", "2025-04-01 07:30", "8 bags of cold asphalt", 210],
    "V-62": [3002, "C3", "2025-04-01 20:00", "LED module", 95],
    "V-63": [3004, "C4", "2025-03-31 06:30", "pump truck", 340],
    "V-64": [3007, "C6", "2025-04-03 09:00", "chipper and lift", 275],
    "V-65": [3008, "C3", "2025-04-02 20:30", "photocell", 48],
    "V-66": [3011, "C2", "2025-04-04 11:00", "5 bags of cold asphalt", 130],
    "V-67": [3016, "C3", "2025-03-31 19:00", "cable joint", 155],
    "V-68": [3018, "C2", "2025-04-01 06:00", "12 bags of cold asphalt", 300],
}
CREWS = {
    "C1": "C1 Potholes North | foreman Dan Oyelaran | phone 555-0151 | van WD-21 | 4 people | depot Quarry Yard",
    "C2": "C2 Potholes South | foreman Petra Simm | phone 555-0152 | van WD-24 | 5 people | depot Gasworks",
    "C3": "C3 Lighting | foreman Yusuf Arden | phone 555-0153 | van WD-30 | 2 people | depot Gasworks",
    "C4": "C4 Drains | foreman Moira Keane | phone 555-0154 | van WD-33 | 3 people | depot Quarry Yard",
    "C5": "C5 Signs | foreman Ted Valk | phone 555-0155 | van WD-37 | 2 people | depot Town Hall",
    "C6": "C6 Trees | foreman Ana Lisboa | phone 555-0156 | van WD-41 | 4 people | depot Park Lodge",
}
STREETS = {
    "Mill Lane": "Northgate ward | asphalt | 640 m | limit 30 km/h | inspector Edda Marsh, 555-0171",
    "Harbour Road": "Quayside ward | concrete | 1820 m | limit 50 km/h | inspector Leo Standish, 555-0172",
    "Quince Street": "Northgate ward | setts | 310 m | limit 30 km/h | inspector Edda Marsh, 555-0171",
    "Station Approach": "Central ward | asphalt | 450 m | limit 30 km/h | inspector Vera Holm, 555-0173",
    "Old Tannery Row": "Quayside ward | cobbles | 205 m | limit 20 km/h | inspector Leo Standish, 555-0172",
    "Bishop's Walk": "Central ward | gravel | 380 m | limit 10 km/h | inspector Vera Holm, 555-0173",
    "Fennel Close": "Eastfield ward | asphalt | 160 m | limit 20 km/h | inspector Kofi Raine, 555-0174",
    "Cobden Avenue": "Eastfield ward | asphalt | 1240 m | limit 50 km/h | inspector Kofi Raine, 555-0174",
    "Ferry Lane": "Quayside ward | asphalt | 720 m | limit 30 km/h | inspector Leo Standish, 555-0172",
}
LAMPS = {
    "L-1043": "Quince Street | LED 42 W | pole 6 m | fitted 2019-04-11 | cabinet CB-3",
    "L-1050": "Quince Street | sodium 70 W | pole 6 m | fitted 2003-10-20 | cabinet CB-3",
    "L-2207": "Harbour Road | sodium 150 W | pole 10 m | fitted 2004-09-02 | cabinet CB-7",
    "L-2208": "Harbour Road | LED 70 W | pole 10 m | fitted 2021-05-06 | cabinet CB-7",
    "L-3310": "Fennel Close | LED 28 W | pole 5 m | fitted 2022-06-17 | cabinet CB-9",
    "L-4105": "Station Approach | LED 56 W | pole 8 m | fitted 2018-11-30 | cabinet CB-4",
    "L-4418": "Cobden Avenue | sodium 250 W | pole 12 m | fitted 1998-03-25 | cabinet CB-9",
    "L-5120": "Ferry Lane | LED 42 W | pole 7 m | fitted 2020-08-14 | cabinet CB-8",
}


@server.tool(name="show-ticket")
def show_ticket(number: int) -> str:
    """Full line of one ticket."""
    if number not in TICKETS:
        return f"No ticket {number}."
    kind, street, status, priority, day, by, lamp, visit, note = TICKETS[number]
    return (f"#{number} {kind} | {street} | {status} | priority {priority} | reported {day} by {by}"
            + (f" | lamp {lamp}" if lamp else "") + (f" | visit {visit}" if visit else " | no visit") + f" | {note}")


@server.tool(name="list-tickets")
def list_tickets(status: Status | None = None, kind: Kind | None = None, street: str | None = None) -> str:
    """Tickets, one a line, narrowed by any of status, kind, street."""
    if not (status or kind or street):
        return "Too many tickets, please give a status, kind or street."
    lines = [f"#{n} {t[0]} | {t[1]} | {t[2]} | reported {t[4]}" for n, t in TICKETS.items()
             if (not status or t[2] == status) and (not kind or t[0] == kind) and (not street or t[1].lower() == street.lower())]
    return "\n".join(lines) or "No tickets match."


@server.tool(name="show-visit")
def show_visit(visit: str) -> str:
    """A planned or past visit, e.g. V-61: crew, time, material, cost estimate."""
    if visit not in VISITS:
        return f"No visit {visit}."
    ticket, crew, when, material, cost = VISITS[visit]
    return f"{visit} | ticket #{ticket} | crew {crew} | {when} | {material} | estimate EUR {cost}"


@server.tool(name="show-crew")
def show_crew(crew: str) -> str:
    """Crew by code (C1-C6)."""
    return CREWS.get(crew, f"No crew {crew}.")


@server.tool(name="show-street")
def show_street(street: str) -> str:
    """Street by full name: ward, surface, length, limit, inspector."""
    for name, line in STREETS.items():
        if name.lower() == street.lower():
            return f"{name} | {line}"
    return f"No street called {street}."


@server.tool(name="show-lamp")
def show_lamp(lamp: str) -> str:
    """Street lamp by its plate, e.g. L-1043."""
    return f"{lamp} | {LAMPS[lamp]}" if lamp in LAMPS else f"No lamp {lamp}."


@server.tool(name="report-problem")
def report_problem(kind: Kind, street: str, note: str = "") -> str:
    """Open a new ticket. The note says where exactly or what is wrong."""
    if street not in STREETS:
        raise ToolError(f"Unknown street: {street}")
    number = max(TICKETS) + 1
    TICKETS[number] = [kind, street, "open", "normal", "2025-03-29", "desk", "", "", note]
    return f"New ticket #{number}: {kind}, {street}, open, priority normal" + (f", {note}" if note else "")


@server.tool(name="set-ticket")
def set_ticket(number: int, status: Status | None = None, priority: Priority | None = None) -> str:
    """Change status and/or priority of a ticket."""
    if number not in TICKETS:
        return f"No ticket {number}."
    t, said = TICKETS[number], []
    if status:
        said.append(f"status {t[2]} -> {status}"); t[2] = status
    if priority:
        said.append(f"priority {t[3]} -> {priority}"); t[3] = priority
    return f"#{number} {t[0]}, {t[1]}: " + (", ".join(said) or "nothing changed")


@server.tool(name="move-visit")
def move_visit(visit: str, when: str) -> str:
    """Give a visit a new time, as 'YYYY-MM-DD HH:MM'."""
    if visit not in VISITS:
        raise ToolError(f"No visit {visit}.")
    old, VISITS[visit][2] = VISITS[visit][2], when
    return f"{visit} moved from {old} to {when}"


if __name__ == "__main__":
    server.run()
