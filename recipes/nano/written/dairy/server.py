"""Herd book of a small dairy farm. Cows are known by the number on their ear tag."""
import random
from typing import Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("herdbook")

Group = Literal["high", "low", "dry", "heifers", "hospital"]
Status = Literal["milking", "dry", "in calf", "sick", "sold", "dead"]

# tag: name, breed, born, lactation, status, group, last calving, due, sire
HERD = {
    112: ["Bella", "Holstein", "2018-03-14", 5, "milking", "high", "2025-01-20", None, "Goldwyn"],
    118: ["Rosie", "Jersey", "2018-09-02", 4, "milking", "low", "2024-09-11", "2025-10-03", "Valentino"],
    121: ["Duchess", "Holstein", "2019-01-27", 4, "dry", "dry", "2024-05-30", "2025-06-18", "Goldwyn"],
    127: ["Clover", "Ayrshire", "2019-04-08", 4, "milking", "high", "2025-02-15", None, "Redcoat"],
    130: ["Myrtle", "Holstein", "2019-06-21", 3, "milking", "low", "2024-08-19", "2025-09-12", "Shottle"],
    134: ["Pansy", "Brown Swiss", "2019-11-05", 3, "sick", "hospital", "2025-03-02", None, "Vigor"],
    139: ["Daisy", "Jersey", "2020-02-17", 3, "milking", "high", "2025-03-28", None, "Valentino"],
    141: ["Daisy May", "Holstein", "2020-03-30", 3, "dry", "dry", "2024-06-07", "2025-06-25", "Shottle"],
    146: ["Hazel", "Ayrshire", "2020-07-12", 3, "milking", "low", "2024-10-01", "2025-11-20", "Redcoat"],
    150: ["Tulip", "Holstein", "2020-10-19", 2, "milking", "high", "2025-01-06", None, "Goldwyn"],
    153: ["Bramble", "Brown Swiss", "2021-01-23", 2, "milking", "low", "2024-11-14", "2026-01-09", "Vigor"],
    158: ["Queenie", "Holstein", "2021-05-04", 2, "milking", "high", "2025-04-03", None, "Shottle"],
    163: ["Nettle", "Jersey", "2021-08-28", 2, "sick", "hospital", "2025-02-22", None, "Tequila"],
    167: ["Olive", "Holstein", "2022-02-09", 1, "milking", "high", "2025-02-27", None, "Mogul"],
    171: ["Poppy", "Holstein", "2022-06-16", 1, "milking", "low", "2024-12-12", "2026-02-01", "Mogul"],
    174: ["Willow", "Ayrshire", "2022-09-25", 1, "milking", "high", "2025-03-17", None, "Redcoat"],
    180: ["Juniper", "Holstein", "2023-03-11", 0, "in calf", "heifers", None, "2025-07-08", "Mogul"],
    182: ["Sorrel", "Jersey", "2023-05-20", 0, "in calf", "heifers", None, "2025-08-15", "Tequila"],
    185: ["Fern", "Brown Swiss", "2023-08-07", 0, "in calf", "heifers", None, "2025-09-30", "Vigor"],
    98: ["Old Peg", "Ayrshire", "2014-04-01", 8, "dry", "dry", "2024-04-22", None, "Heligo"],
}
DATES = ["2025-05-12", "2025-05-13", "2025-05-14", "2025-05-15"]
rng = random.Random(41)
MILK = {}  # (tag, date) -> [am, pm]
for tag, row in HERD.items():
    if row[4] == "milking":
        base = {"high": 17.5, "low": 10.5}[row[5]] * (0.78 if row[1] == "Jersey" else 1)
        base += rng.uniform(-2, 2)
        for day in DATES:
            MILK[tag, day] = [round(base + rng.uniform(-1, 1), 1), round(base * 0.82 + rng.uniform(-1, 1), 1)]

# no, cow, date, complaint, drug, dose, by, milk withheld until
TREATMENTS = [
    [31, 118, "2025-03-04", "lameness, left hind", "hoof trim and block", "-", "Marek", None],
    [32, 134, "2025-05-11", "mastitis, right front", "Ubrolexin", "2 tubes", "Dr Ahlgren", "2025-05-18"],
    [33, 150, "2025-04-02", "retained placenta", "Metricure", "1 syringe", "Dr Ahlgren", "2025-04-02"],
    [34, 163, "2025-05-13", "pneumonia", "Draxxin", "14 ml", "Dr Ahlgren", "2025-06-04"],
    [35, 112, "2025-01-21", "milk fever", "Calcium borogluconate", "400 ml", "Marek", None],
    [36, 134, "2025-03-03", "ketosis", "Propylene glycol", "300 ml", "Jo", None],
    [37, 146, "2025-02-18", "mastitis, left rear", "Synulox", "3 tubes", "Jo", "2025-02-24"],
    [38, 121, "2025-04-28", "drying off", "Orbeseal", "4 tubes", "Marek", None],
    [39, 98, "2025-05-09", "arthritis", "Metacam", "20 ml", "Dr Ahlgren", "2025-05-14"],
]


def missing(cow):
    return f"No cow with tag {cow} in this herd."


@server.tool()
def getCow(cow: int) -> str:
    """The herd book page of one cow, by ear tag number."""
    if cow not in HERD:
        return missing(cow)
    name, breed, born, lactation, status, group, calved, due, sire = HERD[cow]
    return (f"tag: {cow}\nname: {name}\nbreed: {breed}\nborn: {born}\nlactation: {lactation}\nstatus: {status}\ngroup: {group}\n"
            f"last calved: {calved or '-'}\ndue: {due or '-'}\nsire: {sire}")


@server.tool()
def findCows(name: str | None = None, group: Group | None = None, status: Status | None = None, breed: str | None = None) -> str:
    """Look for cows by (part of) the name, by group, status or breed. Gives tag, name and a few words for each."""
    if not (name or group or status or breed):
        raise ToolError("Give at least one of name, group, status, breed.")
    lines = []
    for tag, row in sorted(HERD.items()):
        if ((not name or name.lower() in row[0].lower()) and (not group or row[5] == group)
                and (not status or row[4] == status) and (not breed or row[1].lower() == breed.lower())):
            lines.append(f"{tag} {row[0]}, {row[1]}, {row[4]}, group {row[5]}" + (f", due {row[7]}" if row[7] else ""))
    return "\n".join(lines[:15]) if lines else "No cows match."


@server.tool()
def milkOfCow(cow: int, date: str | None = None) -> str:
    """Litres a cow gave, morning and evening, on one date (YYYY-MM-DD) or on all recorded days."""
    if cow not in HERD:
        return missing(cow)
    days = sorted(d for t, d in MILK if t == cow and (date is None or d == date))
    if not days:
        return f"No milk recorded for {cow} {HERD[cow][0]}" + (f" on {date}." if date else ".")
    out = [f"{cow} {HERD[cow][0]}", "date        morning  evening"]
    for day in days:
        am, pm = MILK[cow, day]
        out.append(f"{day}  {am if am is not None else '-':>7}  {pm if pm is not None else '-':>7}")
    return "\n".join(out)


@server.tool()
def tankOfDay(date: str) -> str:
    """What the whole herd gave on a day (YYYY-MM-DD)."""
    rows = [v for (t, d), v in MILK.items() if d == date]
    if not rows:
        raise ToolError(f"nothing was recorded on {date}; there is milk from {DATES[0]} to {DATES[-1]}")
    am, pm = (sum(r[i] or 0 for r in rows) for i in (0, 1))
    return f"On {date} {len(rows)} cows gave {am + pm:.1f} litres: {am:.1f} in the morning, {pm:.1f} in the evening."


@server.tool()
def treatments(cow: int | None = None, since: str | None = None) -> str:
    """Treatments, newest first, of one cow and/or since a date (YYYY-MM-DD)."""
    if cow is not None and cow not in HERD:
        return missing(cow)
    rows = sorted((t for t in TREATMENTS if cow in (None, t[1]) and (since is None or t[2] >= since)), key=lambda t: t[2], reverse=True)
    if not rows:
        return "No treatments."
    return "\n".join(f"#{n} {d} cow {c} {HERD[c][0]}: {why}; {drug}, {dose}; by {by}; "
                     + (f"milk withheld until {until}" if until else "no withholding") for n, c, d, why, drug, dose, by, until in rows[:12])


@server.tool()
def recordMilk(cow: int, date: str, milking: Literal["morning", "evening"], litres: float) -> str:
    """Enter (or correct) one milking."""
    if cow not in HERD:
        return missing(cow)
    if not 0 <= litres <= 45:
        raise ToolError(f"{litres} litres in one milking cannot be right")
    entry = MILK.setdefault((cow, date), [None, None])
    i = 0 if milking == "morning" else 1
    old, entry[i] = entry[i], litres
    return f"{cow} {HERD[cow][0]}, {date} {milking}: {litres} litres" + (f" (was {old})" if old is not None else "")


@server.tool()
def addTreatment(cow: int, date: str, complaint: str, drug: str, milk_withheld_until: str | None = None) -> str:
    """Write a treatment into the book."""
    if cow not in HERD:
        return missing(cow)
    n = max(t[0] for t in TREATMENTS) + 1
    TREATMENTS.append([n, cow, date, complaint, drug, "-", "-", milk_withheld_until])
    return f"Treatment #{n} entered: {cow} {HERD[cow][0]}, {date}, {complaint}, {drug}" + (f", milk withheld until {milk_withheld_until}" if milk_withheld_until else "")


@server.tool()
def moveCow(cow: int, group: Group) -> str:
    """Put a cow into another group."""
    if cow not in HERD:
        return missing(cow)
    old = HERD[cow][5]
    if old == group:
        raise ToolError(f"{cow} {HERD[cow][0]} is in group {group} already")
    HERD[cow][5] = group
    return f"{cow} {HERD[cow][0]} moved from {old} to {group}."


@server.tool()
def setStatus(cow: int, status: Status) -> str:
    """Change the status of a cow. Does not move her to another group."""
    if cow not in HERD:
        return missing(cow)
    old, HERD[cow][4] = HERD[cow][4], status
    return f"{cow} {HERD[cow][0]}: status {old} -> {status}"


if __name__ == "__main__":
    server.run()
