"""Harbour Lights film festival: films, screenings, reservations. Everything is answered as text."""
from typing import Literal, Optional

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("harbour-lights")
Day = Literal["thu", "fri", "sat", "sun"]
Venue = Literal["Rex", "Odeon", "Boathouse"]

# title: director, country, year, minutes, language, section, age
FILMS = {
    "The Salt Road": ("Mirela Dobre", "Romania", 2024, 112, "Romanian", "Competition", "12"),
    "Low Tide": ("Owen Pryce", "UK", 2025, 94, "English", "Competition", "15"),
    "Paper Moons": ("Aiko Sera", "Japan", 2024, 128, "Japanese", "Competition", "PG"),
    "Eleven Windows": ("Rafael Couto", "Portugal", 2023, 101, "Portuguese", "Competition", "12"),
    "Nobody's Orchard": ("Leyla Aydin", "Turkey", 2025, 137, "Turkish", "Competition", "15"),
    "Kettle": ("Siobhan Rourke", "Ireland", 2024, 88, "English", "Competition", "PG"),
    "The Bee Inspector": ("Hanne Lund", "Norway", 2024, 76, "Norwegian", "Documentary", "U"),
    "Concrete Lullaby": ("Marek Vrba", "Czechia", 2023, 83, "Czech", "Documentary", "12"),
    "Ferrymen": ("Ade Balogun", "Nigeria", 2025, 97, "Yoruba", "Documentary", "PG"),
    "After the Mill": ("Jo Hartley", "UK", 2024, 69, "English", "Documentary", "U"),
    "Captain Radish": ("Lucie Perrin", "France", 2024, 72, "French", "Family", "U"),
    "Milo and the Moth": ("Daan de Wit", "Netherlands", 2023, 81, "Dutch", "Family", "U"),
    "Night Bus 44": ("Cho Min-ji", "South Korea", 2025, 109, "Korean", "Late Night", "18"),
    "Teeth of the Lake": ("Erik Sand", "Sweden", 2024, 91, "Swedish", "Late Night", "18"),
    "The Lamplighter": ("Edith Crane", "UK", 1948, 103, "English", "Classics", "U"),
    "Rue Sans Nom": ("Henri Valois", "France", 1961, 118, "French", "Classics", "PG"),
}
# id: film, day, time, venue, price, free seats, guest
SCREENINGS = {
    "T1": ["The Salt Road", "thu", "19:30", "Rex", 12, 41, "Mirela Dobre"],
    "T2": ["The Bee Inspector", "thu", "17:00", "Boathouse", 8, 22, None],
    "T3": ["The Lamplighter", "thu", "15:00", "Odeon", 7, 63, None],
    "T4": ["Night Bus 44", "thu", "22:45", "Odeon", 10, 0, None],
    "F1": ["Low Tide", "fri", "20:00", "Rex", 12, 8, "Owen Pryce"],
    "F2": ["Paper Moons", "fri", "17:15", "Rex", 12, 35, None],
    "F3": ["Ferrymen", "fri", "18:00", "Boathouse", 8, 17, "Ade Balogun"],
    "F4": ["Eleven Windows", "fri", "20:30", "Odeon", 11, 52, None],
    "F5": ["Teeth of the Lake", "fri", "23:00", "Odeon", 10, 29, None],
    "S1": ["Captain Radish", "sat", "10:30", "Rex", 6, 74, "Lucie Perrin"],
    "S2": ["Concrete Lullaby", "sat", "14:00", "Boathouse", 8, 26, None],
    "S3": ["Nobody's Orchard", "sat", "18:30", "Rex", 12, 3, "Leyla Aydin"],
    "S4": ["Kettle", "sat", "16:00", "Odeon", 11, 47, None],
    "S5": ["Rue Sans Nom", "sat", "19:00", "Odeon", 7, 58, None],
    "S6": ["Night Bus 44", "sat", "23:15", "Odeon", 10, 14, "Cho Min-ji"],
    "U1": ["Milo and the Moth", "sun", "10:30", "Rex", 6, 66, None],
    "U2": ["After the Mill", "sun", "13:00", "Boathouse", 8, 0, "Jo Hartley"],
    "U3": ["The Salt Road", "sun", "15:30", "Odeon", 11, 31, None],
    "U4": ["Low Tide", "sun", "18:00", "Odeon", 11, 20, None],
    "U5": ["Kettle", "sun", "20:00", "Rex", 14, 90, "Siobhan Rourke"],
}
# code: name, screening, seats, collected
RESERVATIONS = {
    "7f3a": ["Beatrix Moll", "F1", 2, False],
    "c81e": ["Gideon Achterberg", "T1", 4, True],
    "09bd": ["Priya Nair", "S3", 2, False],
    "e4a2": ["Priya Nair", "U5", 3, False],
    "51fc": ["Colm Dunne", "S4", 1, False],
    "ab60": ["Walter Siddall", "T3", 2, True],
    "2d97": ["Fatou Ndiaye", "F3", 5, False],
    "f018": ["Marguerite Roux", "S1", 4, False],
    "6be5": ["Jonas Eklund", "S6", 1, False],
    "90c4": ["Tilda Brook", "U1", 3, False],
    "d37a": ["Colm Dunne", "F5", 2, False],
    "1ee8": ["Samir Haq", "U3", 2, False],
    "b5f2": ["Harriet Ovens", "F4", 6, False],
    "48d1": ["Leo Castell", "S5", 2, False],
}
NEW_CODES = ["aa17", "bb28", "cc39"]


def _line(i):
    film, day, time, venue, price, free, guest = SCREENINGS[i]
    return f"{i}  {day} {time}  {venue}  {film}  EUR {price}  " + (f"{free} seats left" if free else "SOLD OUT")


def _screening(screeningId):
    if screeningId not in SCREENINGS:
        raise ToolError(f"There is no screening {screeningId}")
    return SCREENINGS[screeningId]


def _booked(code):
    name, i, seats, collected = RESERVATIONS[code]
    s = SCREENINGS[i]
    return (f"Reservation {code}\nname: {name}\nscreening: {i} ({s[0]}, {s[1]} {s[2]}, {s[3]})\nseats: {seats}\n"
            f"to pay: EUR {seats * s[4]}\ncollected: {'yes' if collected else 'no'}")


@server.tool()
def filmInfo(title: str) -> str:
    "Details of a film by its full title: director, country, year, length, language, section, age rating."
    for t, (director, country, year, minutes, language, section, age) in FILMS.items():
        if t.lower() == title.lower():
            return (f"title: {t}\ndirector: {director}\ncountry: {country}\nyear: {year}\nlength: {minutes} min\n"
                    f"language: {language}\nsection: {section}\nage rating: {age}")
    return f'No film called "{title}" in the programme.'


@server.tool()
def searchFilms(section: Optional[Literal["Competition", "Documentary", "Family", "Late Night", "Classics"]] = None,
                director: Optional[str] = None, country: Optional[str] = None) -> str:
    "Films by section, director (part of the name is enough) or country. Give at least one."
    if not (section or director or country):
        raise ToolError("Narrow the search: section, director or country")
    hits = [f"{t} ({f[0]}, {f[1]} {f[2]}, {f[3]} min)" for t, f in FILMS.items()
            if (not section or f[5] == section) and (not director or director.lower() in f[0].lower()) and (not country or f[1].lower() == country.lower())]
    return "\n".join(hits) or "Nothing found."


@server.tool()
def screenings(day: Optional[Day] = None, venue: Optional[Venue] = None, film: Optional[str] = None) -> str:
    "The timetable, filtered by day, venue and/or film title: id, time, venue, film, ticket price, seats left."
    if not (day or venue or film):
        raise ToolError("Choose a day, a venue or a film")
    hits = [_line(i) for i, s in SCREENINGS.items() if (not day or s[1] == day) and (not venue or s[3] == venue) and (not film or film.lower() == s[0].lower())]
    return "\n".join(hits) or "No screenings."


@server.tool()
def screeningInfo(screeningId: str) -> str:
    "One screening by its id such as T1 or S4, with the guest who comes for a talk."
    s = _screening(screeningId)
    return _line(screeningId) + f"\nguest: {s[6] or 'none'}"


@server.tool()
def findBookings(name: str) -> str:
    "Reservation codes under a visitor's name (or part of it)."
    hits = [f"{c}  {r[0]}  screening {r[1]}" for c, r in RESERVATIONS.items() if name.lower() in r[0].lower()]
    return "\n".join(hits) or f"No reservations for {name}."


@server.tool()
def getBooking(code: str) -> str:
    "A reservation by its four-character code (lower case)."
    return _booked(code) if code in RESERVATIONS else f"Code {code} is not known."


@server.tool()
def reserveTickets(screeningId: str, name: str, seats: int = 1) -> str:
    "Reserve seats at a screening in somebody's name."
    s = _screening(screeningId)
    if s[5] < seats:
        raise ToolError(f"Only {s[5]} seats left for {screeningId}" if s[5] else f"{screeningId} is sold out")
    code = next(c for c in NEW_CODES if c not in RESERVATIONS)
    s[5] -= seats
    RESERVATIONS[code] = [name, screeningId, seats, False]
    return _booked(code)


@server.tool()
def changeSeats(code: str, seats: Optional[int] = None, collected: Optional[bool] = None) -> str:
    "Change the number of seats of a reservation, or mark its tickets as collected."
    if code not in RESERVATIONS:
        return f"Code {code} is not known."
    r = RESERVATIONS[code]
    if seats is not None:
        s = SCREENINGS[r[1]]
        if seats - r[2] > s[5]:
            raise ToolError(f"Only {s[5]} seats left for {r[1]}")
        s[5] -= seats - r[2]
        r[2] = seats
    if collected is not None:
        r[3] = collected
    return _booked(code)


@server.tool()
def cancelSeats(code: str) -> str:
    "Cancel a reservation and free its seats."
    if code not in RESERVATIONS:
        return f"Code {code} is not known."
    name, i, seats, _ = RESERVATIONS.pop(code)
    SCREENINGS[i][5] += seats
    return f"Cancelled {code}: {seats} seats for {SCREENINGS[i][0]} ({i}), {name}."


if __name__ == "__main__":
    server.run()
