from typing import Literal, Optional
from mcp.server.mcpserver import MCPServer

server = MCPServer("ballet-company")

# name: rank, joined, phone, shoe size, dressing room, coach, condition
DANCERS = {
    "Marit Solheim": ["principal", 2014, "555-0131", 38, 3, "Pavel Dorn", "fit"],
    "Nele Fischer": ["soloist", 2019, "555-0132", 37, 5, "Pavel Dorn", "fit"],
    "Yuki Arai": ["principal", 2016, "555-0133", 36, 3, "Lucie Marchand", "fit"],
    "Tomas Velde": ["principal", 2013, "555-0134", 43, 1, "Ernesto Bay", "fit"],
    "Luca Ferri": ["soloist", 2018, "555-0135", 42, 2, "Ernesto Bay", "injured"],
    "Oskar Lind": ["first soloist", 2015, "555-0136", 44, 1, "Pavel Dorn", "fit"],
    "Clara Nunez": ["soloist", 2020, "555-0137", 37, 5, "Lucie Marchand", "resting"],
    "Ivy Brandon": ["corps", 2023, "555-0138", 39, 8, "Hana Weiss", "fit"],
    "Sofia Kallas": ["corps", 2022, "555-0139", 38, 8, "Hana Weiss", "fit"],
    "Daniel Osei": ["soloist", 2021, "555-0140", 45, 2, "Ernesto Bay", "fit"],
    "Mina Petrov": ["first soloist", 2017, "555-0141", 36, 4, "Lucie Marchand", "fit"],
    "Ruben Haas": ["corps", 2024, "555-0142", 43, 9, "Hana Weiss", "fit"],
    "Greta Holm": ["first soloist", 2012, "555-0143", 40, 4, "Pavel Dorn", "injured"],
    "Jonah Pike": ["corps", 2021, "555-0144", 41, 9, "Ernesto Bay", "fit"],
}

# title: choreographer, opening, theatre, minutes, conductor, stage manager
PRODUCTIONS = {
    "Swan Lake": ["Irina Belova", "2026-10-03", "Grand Theatre", 165, "Arvo Lepik", "Ida Kraus"],
    "Giselle": ["Marcus Thorne", "2026-11-14", "Grand Theatre", 120, "Celia Roth", "Ben Aldous"],
    "The Nutcracker": ["Irina Belova", "2026-12-05", "Harbour Opera", 110, "Arvo Lepik", "Ida Kraus"],
    "Coppelia": ["Anouk Dessler", "2027-02-20", "Lantern Stage", 130, "Felix Orr", "Wanda Sims"],
    "Firebird": ["Anouk Dessler", "2027-04-10", "Harbour Opera", 50, "Celia Roth", "Ben Aldous"],
}

# role: production, dancer, understudy, costume, solo minutes
ROLES = {
    "Odette": ["Swan Lake", "Marit Solheim", "Nele Fischer", "W-14", 11],
    "Siegfried": ["Swan Lake", "Tomas Velde", "Oskar Lind", "M-03", 7],
    "Rothbart": ["Swan Lake", "Oskar Lind", "Daniel Osei", "M-08", 4],
    "Giselle": ["Giselle", "Yuki Arai", "Mina Petrov", "W-21", 13],
    "Albrecht": ["Giselle", "Luca Ferri", "Tomas Velde", "M-11", 9],
    "Myrtha": ["Giselle", "Greta Holm", "Clara Nunez", "W-22", 6],
    "Hilarion": ["Giselle", "Daniel Osei", None, "M-12", 3],
    "Clara": ["The Nutcracker", "Ivy Brandon", "Sofia Kallas", "W-30", 5],
    "Sugar Plum": ["The Nutcracker", "Mina Petrov", "Marit Solheim", "W-31", 8],
    "Drosselmeyer": ["The Nutcracker", "Jonah Pike", "Ruben Haas", "M-17", 2],
    "Swanilda": ["Coppelia", "Clara Nunez", "Ivy Brandon", "W-36", 10],
    "Franz": ["Coppelia", "Daniel Osei", "Ruben Haas", "M-20", 6],
    "Firebird": ["Firebird", "Nele Fischer", "Yuki Arai", "W-40", 12],
    "Ivan": ["Firebird", "Oskar Lind", None, "M-24", 5],
}

# number: role, date, start, minutes, studio, led by
REHEARSALS = {
    1: ["Odette", "2026-09-07", "10:00", 90, "Studio A", "Irina Belova"],
    2: ["Siegfried", "2026-09-07", "12:00", 60, "Studio A", "Ernesto Bay"],
    3: ["Giselle", "2026-09-07", "14:30", 120, "Studio B", "Marcus Thorne"],
    4: ["Rothbart", "2026-09-08", "09:30", 45, "Studio C", "Pavel Dorn"],
    5: ["Albrecht", "2026-09-08", "11:00", 75, "Studio B", "Marcus Thorne"],
    6: ["Clara", "2026-09-09", "10:15", 60, "Studio C", "Hana Weiss"],
    7: ["Sugar Plum", "2026-09-09", "13:00", 90, "Studio A", "Lucie Marchand"],
    8: ["Myrtha", "2026-09-10", "15:00", 80, "Studio B", "Pavel Dorn"],
    9: ["Swanilda", "2026-09-10", "09:00", 60, "Studio C", "Anouk Dessler"],
    10: ["Firebird", "2026-09-11", "16:30", 100, "Studio A", "Anouk Dessler"],
    11: ["Drosselmeyer", "2026-09-11", "10:00", 40, "Studio C", "Hana Weiss"],
    12: ["Ivan", "2026-09-12", "11:30", 50, "Studio A", "Ernesto Bay"],
}


def key(table, text):
    hits = [k for k in table if k.lower() == text.strip().lower()] or [k for k in table if text.strip().lower() in k.lower()]
    return hits[0] if len(hits) == 1 else None


def line(n):
    role, date, start, minutes, studio, lead = REHEARSALS[n]
    return f"Rehearsal {n} is for the role {role} on {date} at {start} in {studio}, {minutes} minutes, led by {lead}."


@server.tool()
def about_dancer(name: str) -> str:
    "Tells about one dancer: rank, year of joining, phone, shoe size, dressing room, coach and condition. A first or last name is enough."
    k = key(DANCERS, name)
    if not k:
        return f"Nobody called {name} dances in this company."
    rank, joined, phone, shoe, room, coach, cond = DANCERS[k]
    return f"{k} is a {rank} dancer who joined in {joined}, has shoe size {shoe}, uses dressing room {room} and is coached by {coach}. Phone: {phone}. Condition: {cond}."


@server.tool()
def about_role(role: str) -> str:
    "Tells who dances a role, in which production, the understudy, the costume number and the length of the solo."
    k = key(ROLES, role)
    if not k:
        return f"There is no role named {role}."
    prod, dancer, under, costume, solo = ROLES[k]
    u = f"the understudy is {under}" if under else "there is no understudy"
    return f"{k} in {prod} is danced by {dancer}; {u}. The costume is {costume} and the solo lasts {solo} minutes."


@server.tool()
def about_production(title: str) -> str:
    "Tells about a production: choreographer, opening night, theatre, length, conductor and stage manager."
    k = key(PRODUCTIONS, title)
    if not k:
        return f"{title} is not in the repertoire."
    ch, opening, theatre, minutes, cond, sm = PRODUCTIONS[k]
    return f"{k}, choreographed by {ch}, opens on {opening} at the {theatre} and lasts {minutes} minutes. {cond} conducts; the stage manager is {sm}."


@server.tool()
def about_rehearsal(number: int) -> str:
    "Tells which role a rehearsal is for, when, where and who leads it."
    return line(number) if number in REHEARSALS else f"No rehearsal has the number {number}."


@server.tool()
def rehearsal_plan(date: Optional[str] = None, role: Optional[str] = None, studio: Optional[Literal["Studio A", "Studio B", "Studio C"]] = None) -> str:
    "All rehearsals of a day (YYYY-MM-DD), of a role or in a studio; at least one of the three."
    if not (date or role or studio):
        return "Please name a date, a role or a studio."
    rows = [line(n) for n, r in REHEARSALS.items() if (not date or r[1] == date) and (not role or r[0].lower() == role.lower()) and (not studio or r[4] == studio)]
    return "\n".join(rows) or "No rehearsals are planned."


@server.tool()
def roles_in(production: str) -> str:
    "Lists the roles of a production with the dancers of the first cast."
    k = key(PRODUCTIONS, production)
    if not k:
        return f"{production} is not in the repertoire."
    return "\n".join(f"{r} is danced by {v[1]}." for r, v in ROLES.items() if v[0] == k)


@server.tool()
def recast(role: str, dancer: str, place: Literal["first cast", "understudy"] = "understudy") -> str:
    "Gives a role to a dancer (full name), as understudy or in the first cast."
    k, d = key(ROLES, role), key(DANCERS, dancer)
    if not k:
        return f"There is no role named {role}."
    if not d:
        return f"Nobody called {dancer} dances in this company."
    ROLES[k][1 if place == "first cast" else 2] = d
    return f"{d} now dances {k} in {ROLES[k][0]}." if place == "first cast" else f"{d} is now the understudy for {k} in {ROLES[k][0]}."


@server.tool()
def move_rehearsal(number: int, date: Optional[str] = None, start: Optional[str] = None, studio: Optional[Literal["Studio A", "Studio B", "Studio C"]] = None,
                   minutes: Optional[int] = None) -> str:
    "Changes the date, the start (HH:MM), the studio or the length of a rehearsal. Leave out what stays."
    if number not in REHEARSALS:
        return f"No rehearsal has the number {number}."
    r = REHEARSALS[number]
    for i, x in ((1, date), (2, start), (3, minutes), (4, studio)):
        if x is not None:
            r[i] = x
    return line(number)


@server.tool()
def set_condition(dancer: str, condition: Literal["fit", "resting", "injured"]) -> str:
    "Notes whether a dancer (full name) is fit, resting or injured."
    d = key(DANCERS, dancer)
    if not d:
        return f"Nobody called {dancer} dances in this company."
    old, DANCERS[d][6] = DANCERS[d][6], condition
    return f"{d} was {old} and is now {condition}."


if __name__ == "__main__":
    server.run()
