from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("opera-house")

Voice = Literal["soprano", "mezzo", "contralto", "tenor", "baritone", "bass"]

# title: composer, director, conductor, premiere, nights, stage, language, minutes, top price, status, cast
PRODUCTIONS = {
    "Tosca": ["Giacomo Puccini", "Livia Brandt", "Aldo Ferri", "18 Apr", 9, "Main Stage", "Italian", 145, 168, "in rehearsal",
              {"Tosca": "S01", "Cavaradossi": "S07", "Scarpia": "S11", "Angelotti": None}],
    "Carmen": ["Georges Bizet", "Hugo Leclair", "Miriam Stahl", "28 Feb", 14, "Main Stage", "French", 170, 155, "running",
               {"Carmen": "S04", "Don Jose": "S08", "Escamillo": "S12", "Micaela": "S02"}],
    "The Magic Flute": ["Wolfgang Amadeus Mozart", "Petra Quist", "Jonas Ahl", "21 Mar", 12, "Main Stage", "German", 160, 140, "in rehearsal",
                        {"Tamino": "S09", "Pamina": "S03", "Queen of the Night": "S02", "Sarastro": "S14", "Papageno": "S13"}],
    "Peter Grimes": ["Benjamin Britten", "Owen Tully", "Miriam Stahl", "9 May", 6, "Main Stage", "English", 155, 132, "planned",
                     {"Peter Grimes": "S10", "Ellen Orford": None, "Balstrode": "S11"}],
    "Dido and Aeneas": ["Henry Purcell", "Petra Quist", "Lena Moor", "27 Mar", 7, "Chamber Hall", "English", 60, 58, "in rehearsal",
                        {"Dido": "S05", "Aeneas": "S13", "Sorceress": "S06"}],
    "Rusalka": ["Antonin Dvorak", "Livia Brandt", "Tomas Benes", "6 Jun", 8, "Main Stage", "Czech", 150, 149, "planned",
                {"Rusalka": "S01", "Prince": "S08", "Water Goblin": "S14", "Jezibaba": "S06"}],
    "La Cenerentola": ["Gioachino Rossini", "Hugo Leclair", "Aldo Ferri", "10 Jan", 10, "Chamber Hall", "Italian", 165, 96, "closed",
                       {"Angelina": "S04", "Don Ramiro": "S09", "Dandini": "S12"}],
    "Bluebeard's Castle": ["Bela Bartok", "Owen Tully", "Tomas Benes", "1 Mar", 5, "Chamber Hall", "Hungarian", 65, 72, "running",
                           {"Bluebeard": "S15", "Judith": "S05"}],
}

# id: name, voice, fee per night, lives in, agent, dressing room, contract until, status
SINGERS = {
    "S01": ["Irena Volk", "soprano", 4200, "Vienna", "Castell Artists", "2", "31 Jul", "available"],
    "S02": ["Maeve Corrigan", "soprano", 2900, "Dublin", "Northlight", "5", "30 Jun", "available"],
    "S03": ["Yuna Seo", "soprano", 2400, "Cologne", "Castell Artists", "6", "31 Jul", "available"],
    "S04": ["Beatriz Lamas", "mezzo", 3600, "Lisbon", "Ondaviva", "3", "30 Apr", "available"],
    "S05": ["Harriet Slade", "mezzo", 2100, "Leeds", "Northlight", "7", "31 May", "available"],
    "S06": ["Dagmar Ruzicka", "contralto", 2300, "Brno", "Opus Praha", "8", "30 Jun", "on leave"],
    "S07": ["Matteo Gallo", "tenor", 4500, "Parma", "Ondaviva", "1", "31 May", "available"],
    "S08": ["Stefan Dima", "tenor", 3300, "Bucharest", "Castell Artists", "4", "30 Jun", "sick"],
    "S09": ["Lukas Frey", "tenor", 2600, "Zurich", "Frey Management", "9", "30 Apr", "available"],
    "S10": ["Callum Reid", "tenor", 2800, "Glasgow", "Northlight", "10", "31 May", "available"],
    "S11": ["Viktor Sandor", "baritone", 3900, "Budapest", "Castell Artists", "11", "31 Jul", "available"],
    "S12": ["Thabo Nkosi", "baritone", 3100, "Durban", "Ondaviva", "12", "30 Apr", "available"],
    "S13": ["Emil Hauge", "baritone", 1900, "Bergen", "Northlight", "14", "31 Mar", "available"],
    "S14": ["Otto Brandauer", "bass", 3000, "Graz", "Frey Management", "15", "30 Jun", "available"],
    "S15": ["Ferenc Bako", "bass", 2700, "Szeged", "Opus Praha", "16", "31 Mar", "available"],
    "S16": ["Ada Lindqvist", "soprano", 1700, "Malmo", "Northlight", "17", "31 Jul", "available"],
    "S17": ["Rhys Pritchard", "bass", 1500, "Cardiff", "Northlight", "18", "30 Jun", "available"],
}

# number: production, date, start, minutes, room, kind, status
REHEARSALS = {
    301: ["The Magic Flute", "9 Mar", "10:00", 180, "Studio 1", "staging", "confirmed"],
    302: ["The Magic Flute", "10 Mar", "14:00", 150, "Orchestra Pit", "orchestra", "confirmed"],
    303: ["Dido and Aeneas", "10 Mar", "10:30", 120, "Studio 2", "staging", "confirmed"],
    304: ["Bluebeard's Castle", "11 Mar", "18:00", 90, "Chamber Hall", "music", "confirmed"],
    305: ["Tosca", "11 Mar", "11:00", 150, "Studio 1", "music", "planned"],
    306: ["Tosca", "12 Mar", "15:30", 210, "Studio 1", "staging", "planned"],
    307: ["Dido and Aeneas", "12 Mar", "09:30", 60, "Choir Room", "chorus", "confirmed"],
    308: ["The Magic Flute", "13 Mar", "10:00", 240, "Main Stage", "staging", "confirmed"],
    309: ["Carmen", "13 Mar", "16:00", 45, "Choir Room", "chorus", "planned"],
    310: ["Tosca", "16 Mar", "10:00", 120, "Choir Room", "chorus", "planned"],
    311: ["Dido and Aeneas", "17 Mar", "13:00", 135, "Chamber Hall", "orchestra", "planned"],
    312: ["The Magic Flute", "19 Mar", "18:30", 200, "Main Stage", "dress", "confirmed"],
    313: ["Tosca", "20 Mar", "14:30", 165, "Studio 2", "staging", "cancelled"],
    314: ["Dido and Aeneas", "25 Mar", "19:00", 75, "Chamber Hall", "dress", "planned"],
    315: ["Tosca", "26 Mar", "17:00", 190, "Orchestra Pit", "orchestra", "planned"],
}


def _title(text):
    hits = [t for t in PRODUCTIONS if text.strip().lower() in t.lower()]
    return hits[0] if len(hits) == 1 else None


def _line(n):
    p, d, s, m, room, kind, status = REHEARSALS[n]
    return f"#{n}  {d} {s}, {m} min, {p} ({kind}), {room}, {status}"


@server.tool()
def list_productions(status: Literal["planned", "in rehearsal", "running", "closed"] | None = None, stage: str = "") -> str:
    "Table of this season's productions, optionally by status or stage (Main Stage, Chamber Hall)."
    rows = [f"{t} | {p[0]} | premiere {p[3]} | {p[4]} nights | {p[5]} | top price {p[8]} EUR | {p[9]}" for t, p in PRODUCTIONS.items()
            if (not status or p[9] == status) and stage.lower() in p[5].lower()]
    return "\n".join(rows) or "No productions."


@server.tool()
def get_production(title: str) -> str:
    "Everything about one production (title or part of it): composer, director, conductor, premiere, language, running time, prices and the cast (role: singer number and name)."
    t = _title(title)
    if not t:
        return f"There is no production called {title}."
    p = PRODUCTIONS[t]
    names = ["composer", "director", "conductor", "premiere", "nights", "stage", "language", "running time", "top price", "status"]
    vals = p[:7] + [f"{p[7]} min", f"{p[8]} EUR", p[9]]
    out = [f"title: {t}"] + [f"{a}: {b}" for a, b in zip(names, vals)] + ["cast:"]
    out += [f"  {r}: {s} {SINGERS[s][0]}" if s else f"  {r}: (not cast)" for r, s in p[10].items()]
    return "\n".join(out)


@server.tool()
def find_singers(name: str = "", voice: Voice | None = None) -> str:
    "Finds singers by part of the name and/or voice; gives number, name, voice and status."
    rows = [f"{k} {s[0]}, {s[1]}, {s[7]}" for k, s in SINGERS.items() if name.lower() in s[0].lower() and (not voice or s[1] == voice)]
    return "\n".join(rows) or "No singer found."


@server.tool()
def get_singer(singer: str) -> str:
    "One singer's card by number (S01 ...): fee per night, home, agent, dressing room, end of contract, status."
    s = SINGERS.get(singer)
    if not s:
        return f"No singer {singer} on the books."
    names = ["name", "voice", "fee per night", "lives in", "agent", "dressing room", "contract until", "status"]
    return f"number: {singer}\n" + "\n".join(f"{a}: {b}" for a, b in zip(names, s[:2] + [f"{s[2]} EUR"] + s[3:]))


@server.tool()
def list_rehearsals(production: str = "", date: str = "", room: str = "") -> str:
    "Rehearsals by production title, date (like '9 Mar') and/or room."
    if not (production or date or room):
        raise ToolError("give a production, a date or a room")
    rows = [_line(n) for n, r in REHEARSALS.items() if production.lower() in r[0].lower()
            and (not date or r[1].lower() == date.lower()) and (not room or r[4].lower() == room.lower())]
    return "\n".join(rows) or "No rehearsals."


@server.tool()
def schedule_rehearsal(production: str, date: str, start: str, room: str, minutes: int = 120,
                       kind: Literal["staging", "music", "chorus", "orchestra", "dress"] = "staging") -> str:
    "Puts a new rehearsal in the plan (date like '9 Mar', start like '14:00')."
    t = _title(production)
    if not t:
        return f"There is no production called {production}."
    n = max(REHEARSALS) + 1
    REHEARSALS[n] = [t, date, start, minutes, room, kind, "planned"]
    return "Scheduled: " + _line(n)


@server.tool()
def update_rehearsal(number: int, date: str | None = None, start: str | None = None, minutes: int | None = None,
                     room: str | None = None, status: Literal["planned", "confirmed", "cancelled"] | None = None) -> str:
    "Changes a rehearsal: only the fields given are changed."
    if number not in REHEARSALS:
        return f"No rehearsal number {number}."
    for i, v in ((1, date), (2, start), (3, minutes), (4, room), (6, status)):
        if v is not None:
            REHEARSALS[number][i] = v
    return "Changed: " + _line(number)


@server.tool()
def cast_role(production: str, role: str, singer: str) -> str:
    "Gives a role to a singer (singer number)."
    t = _title(production)
    if not t:
        return f"There is no production called {production}."
    if role not in PRODUCTIONS[t][10]:
        return f"{t} has no role {role}. Roles: {', '.join(PRODUCTIONS[t][10])}"
    if singer not in SINGERS:
        return f"No singer {singer} on the books."
    old = PRODUCTIONS[t][10][role]
    PRODUCTIONS[t][10][role] = singer
    return f"{role} in {t} is now sung by {SINGERS[singer][0]} ({singer}); before: {SINGERS[old][0] if old else 'nobody'}."


@server.tool()
def set_availability(singer: str, status: Literal["available", "sick", "on leave"]) -> str:
    "Marks a singer as available, sick or on leave."
    if singer not in SINGERS:
        return f"No singer {singer} on the books."
    SINGERS[singer][7] = status
    return f"{singer} {SINGERS[singer][0]}: {status}"


if __name__ == "__main__":
    server.run()
