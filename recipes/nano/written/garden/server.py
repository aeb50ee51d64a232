from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("elm-street-garden")

Size = Literal["small", "medium", "large"]

# email: name, phone, joined, work hours done, has shed key, emergency contact
PEOPLE = {
    "aisha.karim@mailbox.example": ["Aisha Karim", "555-0142", "2017-04-02", 11, True, "Yusuf Karim"],
    "bob.tennant@postnet.example": ["Bob Tennant", "555-0117", "2009-03-14", 4, True, "Sheila Tennant"],
    "carla.reyes@mailbox.example": ["Carla Reyes", "555-0188", "2021-05-20", 9, False, "Luis Reyes"],
    "dmitri.sokol@inbox.example": ["Dmitri Sokol", "555-0103", "2015-02-28", 16, True, "Olga Sokol"],
    "ellen.frost@postnet.example": ["Ellen Frost", "555-0165", "2023-03-11", 0, False, "Mark Frost"],
    "fumiko.ito@inbox.example": ["Fumiko Ito", "555-0129", "2019-09-07", 13, True, "Ken Ito"],
    "greg.tennant@postnet.example": ["Greg Tennant", "555-0118", "2022-04-16", 2, False, "Bob Tennant"],
    "hannah.blum@mailbox.example": ["Hannah Blum", "555-0171", "2018-06-30", 8, True, "Jonas Blum"],
    "ivo.marek@inbox.example": ["Ivo Marek", "555-0156", "2024-03-23", 6, False, "Petra Marek"],
    "joyce.obi@mailbox.example": ["Joyce Obi", "555-0110", "2012-10-05", 20, True, "Daniel Obi"],
    "kit.langley@postnet.example": ["Kit Langley", "555-0194", "2025-04-12", 3, False, "Robin Langley"],
    "liam.doyle@inbox.example": ["Liam Doyle", "555-0137", "2020-07-18", 7, True, "Nora Doyle"],
}
# plot: size, m2, rent, holder email, rent still owed, soil, nearest tap, last inspection, crop
PLOTS = {
    "A1": ["small", 12, 30, "ellen.frost@postnet.example", 30, "loam", "north gate", "2025-09-06", "herbs"],
    "A2": ["small", 12, 30, "kit.langley@postnet.example", 0, "loam", "north gate", "2025-09-06", "radishes"],
    "A3": ["small", 14, 32, None, 0, "sandy loam", "north gate", "2025-06-14", "nothing"],
    "A4": ["small", 12, 30, "greg.tennant@postnet.example", 15, "sandy loam", "tool shed", "2025-09-06", "strawberries"],
    "A5": ["small", 13, 31, "ivo.marek@inbox.example", 0, "loam", "tool shed", "2025-09-13", "dahlias"],
    "B1": ["medium", 25, 55, "aisha.karim@mailbox.example", 0, "clay", "pond", "2025-09-13", "aubergines"],
    "B2": ["medium", 24, 54, "carla.reyes@mailbox.example", 54, "clay", "pond", "2025-08-30", "chillies and maize"],
    "B3": ["medium", 25, 55, "hannah.blum@mailbox.example", 0, "clay", "pond", "2025-09-13", "potatoes"],
    "B4": ["medium", 28, 60, None, 0, "loam", "compost yard", "2025-05-03", "weeds"],
    "B5": ["medium", 26, 57, "liam.doyle@inbox.example", 20, "loam", "compost yard", "2025-08-30", "leeks"],
    "C1": ["large", 48, 95, "dmitri.sokol@inbox.example", 0, "silt", "south gate", "2025-09-20", "tomatoes"],
    "C2": ["large", 50, 98, "joyce.obi@mailbox.example", 0, "silt", "south gate", "2025-09-20", "pumpkins"],
    "C3": ["large", 45, 90, "bob.tennant@postnet.example", 90, "peat", "south gate", "2025-07-19", "brambles"],
    "C4": ["large", 52, 102, "fumiko.ito@inbox.example", 0, "peat", "pond", "2025-09-20", "daikon"],
    "C5": ["large", 46, 92, None, 0, "silt", "pond", "2025-06-14", "clover"],
}
# number: name, phone, since, size wanted
WAITING = {
    41: ["Priya Nair", "555-0211", "2024-01-09", "small"],
    44: ["Owen Castle", "555-0236", "2024-04-22", "large"],
    45: ["Marta Silva", "555-0202", "2024-06-01", "medium"],
    47: ["The Okafor family", "555-0259", "2024-11-17", "large"],
    48: ["Jess Pruitt", "555-0224", "2025-02-03", "small"],
    50: ["Henk de Boer", "555-0263", "2025-05-28", "medium"],
    51: ["Lucy Chan", "555-0207", "2025-08-15", "small"],
}


def _usd(x):
    return f"${x:.0f}" if x == int(x) else f"${x:.2f}"

def _plot(plot):
    if plot not in PLOTS:
        raise ToolError(f"there is no plot {plot}")
    return PLOTS[plot]


@server.tool()
def find_gardener(name: str) -> str:
    """Finds gardeners by name or part of a name; gives their e-mail address and plot."""
    lines = []
    for mail, p in PEOPLE.items():
        if name.lower() in p[0].lower():
            plots = [k for k, v in PLOTS.items() if v[3] == mail]
            lines.append(f"{p[0]} <{mail}>, plot {', '.join(plots) or 'none'}")
    return "\n".join(lines) or f"Nobody called {name} gardens here."

@server.tool()
def gardener_info(email: str) -> str:
    """Details of one gardener: phone, joining date, work hours this year, shed key, emergency contact."""
    p = PEOPLE.get(email.lower())
    if not p:
        return f"No gardener with the address {email}."
    return (f"Name: {p[0]}\nPhone: {p[1]}\nMember since: {p[2]}\nWork hours this year: {p[3]} of 10\n"
            f"Shed key: {'yes' if p[4] else 'no'}\nEmergency contact: {p[5]}")

@server.tool()
def show_plot(plot: str) -> str:
    """Everything about one plot (A1 to C5)."""
    s = _plot(plot)
    holder = f"{PEOPLE[s[3]][0]} <{s[3]}>" if s[3] else "vacant"
    return (f"Plot {plot} ({s[0]}, {s[1]} m2)\nHolder: {holder}\nRent: ${s[2]} a year\nOwed: {_usd(s[4])}\nSoil: {s[5]}\n"
            f"Nearest tap: {s[6]}\nLast inspection: {s[7]}\nGrowing: {s[8]}")

@server.tool()
def list_plots(only: Literal["all", "vacant", "owing"] = "all", size: Size | None = None) -> str:
    """Table of plots. `only` narrows it to vacant plots or to those with rent outstanding."""
    rows = ["plot | size   | m2 | rent | owed | holder"]
    for k, s in PLOTS.items():
        if (only == "vacant" and s[3]) or (only == "owing" and not s[4]) or (size and s[0] != size):
            continue
        rows.append(f"{k:4} | {s[0]:6} | {s[1]} | ${s[2]} | {_usd(s[4])} | {PEOPLE[s[3]][0] if s[3] else '-'}")
    return "\n".join(rows) if len(rows) > 1 else "No such plots."

@server.tool()
def waiting_list(size: Size | None = None) -> str:
    """People waiting for a plot, longest wait first."""
    rows = [f"#{n} {w[0]}, {w[1]}, since {w[2]}, wants {w[3]}" for n, w in sorted(WAITING.items(), key=lambda x: x[1][2]) if size in (None, w[3])]
    return "\n".join(rows) or "Nobody is waiting."

@server.tool()
def add_to_waiting_list(name: str, phone: str, size: Size) -> str:
    """Adds a person to the end of the waiting list."""
    n = max(WAITING) + 1 if WAITING else 1
    WAITING[n] = [name, phone, "2025-10-01", size]
    return f"Added as #{n}: {name}, {phone}, wants {size}."

@server.tool()
def drop_from_waiting_list(number: int) -> str:
    """Takes an entry off the waiting list by its number."""
    if number not in WAITING:
        return f"No entry #{number} on the waiting list."
    w = WAITING.pop(number)
    return f"Removed #{number} {w[0]}. {len(WAITING)} still waiting."

@server.tool()
def assign_plot(plot: str, email: str) -> str:
    """Gives a vacant plot to a gardener. The first year's rent becomes due."""
    s = _plot(plot)
    if email not in PEOPLE:
        raise ToolError(f"no gardener with the address {email}")
    if s[3]:
        raise ToolError(f"plot {plot} is taken by {PEOPLE[s[3]][0]}")
    s[3], s[4] = email, s[2]
    return f"Plot {plot} now belongs to {PEOPLE[email][0]}; ${s[2]} rent due."

@server.tool()
def record_payment(plot: str, amount: float) -> str:
    """Books a rent payment (dollars) for a plot."""
    s = _plot(plot)
    if amount <= 0 or amount > s[4]:
        raise ToolError(f"plot {plot} owes {_usd(s[4])}")
    s[4] = round(s[4] - amount, 2)
    return f"Received {_usd(amount)} for plot {plot}. Still owed: {_usd(s[4])}."


if __name__ == "__main__":
    server.run()
