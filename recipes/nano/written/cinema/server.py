from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("cinema")
Day = Literal["fri", "sat", "sun", "mon", "tue", "wed", "thu"]
AT = "@lumen.example"

SCREENS = {n: dict(number=n, name=a, seats=s, sound=d, wheelchairSpaces=w, technician=t + AT) for n, a, s, d, w, t in [
    (1, "Aurora", 212, "Dolby Atmos", 6, "pavel"), (2, "Borealis", 148, "Dolby 7.1", 4, "ilse"), (3, "Comet", 96, "Dolby 7.1", 3, "otto"),
    (4, "Dusk", 74, "stereo", 2, "otto"), (5, "Ember", 58, "Dolby 5.1", 2, "pavel"), (6, "Fern", 40, "stereo", 1, "ilse")]}
FILMS = {s: dict(slug=s, title=t, director=d, minutes=m, certificate=c, language=l, distributor=x) for s, t, d, m, c, l, x in [
    ("salt-road", "The Salt Road", "Mira Okafor", 128, "15", "English", "Northlight"),
    ("paper-foxes", "Paper Foxes", "Jonas Weil", 94, "U", "English", "Kite Pictures"),
    ("lantern-keeper", "The Lantern Keeper", "Anneli Roos", 141, "12A", "Finnish", "Northlight"),
    ("midnight-ferry", "Midnight Ferry", "Callum Reith", 107, "18", "English", "Redbrick"),
    ("dos-hermanas", "Dos Hermanas y un Perro", "Lucia Prado", 99, "PG", "Spanish", "Sur Films"),
    ("iron-orchard", "Iron Orchard", "Hedvig Stahl", 152, "15", "German", "Redbrick"),
    ("beekeepers-waltz", "The Beekeeper's Waltz", "Noor Jansen", 112, "PG", "Dutch", "Kite Pictures"),
    ("zero-gravity-hotel", "Zero Gravity Hotel", "Tad Finley", 118, "12A", "English", "Northlight")]}
STAFF = {u + AT: dict(email=u + AT, name=n, role=r, phone=p, hourlyRate=h, reportsTo=b + AT if b else None) for u, n, r, p, h, b in [
    ("greta", "Greta Noll", "general manager", "030 555-0101", "€31.00", ""), ("rosa", "Rosa Tamm", "front of house manager", "030 555-0102", "€22.40", "greta"),
    ("pavel", "Pavel Sic", "chief technician", "030 555-0103", "€24.10", "greta"), ("ilse", "Ilse Brandt", "projectionist", "030 555-0104", "€18.70", "pavel"),
    ("otto", "Otto Lind", "projectionist", "030 555-0105", "€18.20", "pavel"), ("jun", "Jun Park", "box office", "030 555-0106", "€15.30", "rosa"),
    ("hana", "Hana Kral", "usher", "030 555-0107", "€14.60", "rosa"), ("devi", "Devi Rao", "usher", "030 555-0108", "€14.90", "rosa"),
    ("femi", "Femi Adu", "bar", "030 555-0109", "€15.00", "rosa"), ("colm", "Colm Burke", "cleaner", "030 555-0110", "€14.25", "rosa")]}
SCREENINGS = {i: dict(id=i, day=d, start=t, film=f, screen=s, price=p, seatsFree=n, host=h + AT) for i, d, t, f, s, p, n, h in [
    (301, "fri", "14:00", "paper-foxes", 3, "€8.00", 41, "hana"), (302, "fri", "17:30", "salt-road", 1, "€11.50", 96, "devi"),
    (303, "fri", "20:15", "lantern-keeper", 1, "€13.00", 12, "hana"), (304, "fri", "22:45", "midnight-ferry", 4, "€11.50", 33, "devi"),
    (305, "sat", "11:00", "paper-foxes", 2, "€8.00", 67, "jun"), (306, "sat", "15:00", "beekeepers-waltz", 5, "€9.50", 22, "hana"),
    (307, "sat", "18:00", "iron-orchard", 1, "€13.00", 154, "devi"), (308, "sat", "20:45", "salt-road", 2, "€13.00", 0, "hana"),
    (309, "sat", "23:00", "midnight-ferry", 4, "€11.50", 51, "devi"), (310, "sun", "11:30", "zero-gravity-hotel", 3, "€9.50", 28, "jun"),
    (311, "sun", "14:30", "dos-hermanas", 6, "€9.50", 17, "hana"), (312, "sun", "17:00", "beekeepers-waltz", 5, "€9.50", 9, "hana"),
    (313, "sun", "19:30", "lantern-keeper", 1, "€13.00", 73, "devi"), (314, "mon", "18:15", "dos-hermanas", 6, "€7.00", 31, "jun"),
    (315, "mon", "20:00", "iron-orchard", 2, "€7.00", 120, "jun"), (316, "tue", "19:00", "salt-road", 3, "€9.50", 64, "hana"),
    (317, "wed", "10:30", "zero-gravity-hotel", 4, "€6.00", 4, "jun"), (318, "thu", "20:30", "lantern-keeper", 2, "€11.50", 88, "devi")]}
SHIFTS = {c: dict(code=c, day=d, start=a, end=b, post=p, staff=s + AT) for c, d, a, b, p, s in [
    ("SH-11", "fri", "13:00", "18:00", "box office", "jun"), ("SH-12", "fri", "17:00", "23:30", "doors", "hana"), ("SH-13", "fri", "18:00", "00:30", "bar", "femi"),
    ("SH-14", "fri", "16:30", "00:45", "projection", "ilse"), ("SH-15", "sat", "10:00", "16:00", "box office", "jun"), ("SH-16", "sat", "14:00", "22:00", "doors", "devi"),
    ("SH-17", "sat", "17:00", "00:30", "bar", "femi"), ("SH-18", "sat", "10:30", "19:00", "projection", "otto"), ("SH-19", "sat", "19:00", "01:00", "projection", "ilse"),
    ("SH-20", "sun", "10:30", "15:30", "doors", "jun"), ("SH-21", "sun", "14:00", "21:30", "doors", "hana"), ("SH-22", "sun", "09:00", "12:00", "cleaning", "colm"),
    ("SH-23", "sun", "15:00", "22:00", "bar", "femi"), ("SH-24", "mon", "17:00", "22:30", "box office", "jun"), ("SH-25", "mon", "17:30", "23:00", "projection", "otto"),
    ("SH-26", "tue", "18:00", "22:00", "doors", "hana"), ("SH-27", "wed", "09:30", "13:00", "box office", "devi"), ("SH-28", "thu", "18:00", "23:30", "doors", "devi")]}
BOOKINGS = {r: dict(ref=r, screening=s, name=n, row=w, tickets=t, status=x) for r, s, n, w, t, x in [
    ("7QX2", 303, "Marlene Voss", "H", 2, "paid"), ("K4D9", 303, "Tariq Osei", "C", 4, "reserved"), ("M8R1", 308, "Bea Lindqvist", "E", 2, "collected"),
    ("P3W6", 307, "Ugo Ferri", "F", 5, "reserved"), ("T5B8", 305, "Nora Quill", "B", 6, "paid"), ("V2L7", 311, "Samir Haddad", "A", 3, "paid"),
    ("X9C4", 313, "Edda Storm", "J", 2, "reserved"), ("A6N3", 302, "Joao Pires", "D", 1, "paid"), ("C1H5", 309, "Kit Mallory", "G", 2, "reserved"),
    ("D8F2", 312, "Agnes Bloom", "C", 4, "paid"), ("F3Z9", 315, "Leif Arnesen", "K", 3, "reserved"), ("G7Y4", 316, "Priya Nand", "E", 2, "paid"),
    ("H2S6", 317, "Olga Petrenko", "B", 1, "reserved"), ("J5V8", 318, "Dario Conti", "F", 7, "paid"), ("L9K1", 303, "Wanda Skye", "M", 3, "paid"),
    ("N4T7", 310, "Bram Visser", "D", 4, "cancelled")]}


@server.tool()
def screenings(id: int | None = None, day: Day | None = None, film: str | None = None, screen: int | None = None) -> list[dict]:
    "Screenings of this week's programme by id (301 ...), day, film slug and/or screen number. At least one filter."
    if id is None and day is None and film is None and screen is None: raise ToolError("give id, day, film or screen")
    return [s for s in SCREENINGS.values() if id in (None, s["id"]) and day in (None, s["day"]) and film in (None, s["film"]) and screen in (None, s["screen"])]

@server.tool()
def films(slug: str | None = None, title: str | None = None, certificate: Literal["U", "PG", "12A", "15", "18"] | None = None) -> list[dict]:
    "Films by slug, by (part of the) title or by age certificate."
    if not (slug or title or certificate): raise ToolError("give slug, title or certificate")
    return [f for f in FILMS.values() if slug in (None, f["slug"]) and (title or "").lower() in f["title"].lower() and certificate in (None, f["certificate"])]

@server.tool()
def screens(number: int) -> list[dict]:
    "The screen (auditorium) with this number, 1 to 6."
    return [SCREENS[number]] if number in SCREENS else []

@server.tool()
def staff(email: str | None = None, name: str | None = None) -> list[dict]:
    "Staff by e-mail address or by (part of the) name."
    if not (email or name): raise ToolError("give email or name")
    return [p for p in STAFF.values() if email in (None, p["email"]) and (name or "").lower() in p["name"].lower()]

@server.tool()
def shifts(code: str | None = None, day: Day | None = None, staff: str | None = None) -> list[dict]:
    "Shifts by code (SH-12), day and/or the staff member's e-mail address."
    if not (code or day or staff): raise ToolError("give code, day or staff")
    return [s for s in SHIFTS.values() if code in (None, s["code"]) and day in (None, s["day"]) and staff in (None, s["staff"])]

@server.tool()
def bookings(ref: str | None = None, screening: int | None = None, name: str | None = None) -> list[dict]:
    "Seat bookings by reference (four capitals/digits, e.g. K4D9), screening id or (part of the) customer's name."
    if not (ref or screening or name): raise ToolError("give ref, screening or name")
    return [b for b in BOOKINGS.values() if ref in (None, b["ref"]) and screening in (None, b["screening"]) and (name or "").lower() in b["name"].lower()]

@server.tool()
def bookSeats(screening: int, name: str, tickets: int = 1, row: str = "any") -> list[dict]:
    "Reserve tickets for a screening in a customer's name."
    if screening not in SCREENINGS: raise ToolError(f"no screening {screening}")
    s = SCREENINGS[screening]
    if s["seatsFree"] < tickets: raise ToolError(f"only {s['seatsFree']} seats free in screening {screening}")
    s["seatsFree"] -= tickets
    ref = f"Z{len(BOOKINGS) - 9}R{len(name) % 10}"
    BOOKINGS[ref] = dict(ref=ref, screening=screening, name=name, row=row, tickets=tickets, status="reserved")
    return [BOOKINGS[ref]]

@server.tool()
def changeBooking(ref: str, status: Literal["reserved", "paid", "collected", "cancelled"] | None = None, tickets: int | None = None, row: str | None = None) -> list[dict]:
    "Change a booking's status, number of tickets or row."
    if ref not in BOOKINGS: raise ToolError(f"no booking with reference {ref}")
    b = BOOKINGS[ref]
    b.update({k: v for k, v in dict(status=status, tickets=tickets, row=row).items() if v is not None})
    return [b]

@server.tool()
def changeShift(code: str, staff: str | None = None, start: str | None = None, end: str | None = None) -> list[dict]:
    "Give a shift to somebody else (staff: e-mail address) or change its times (HH:MM)."
    if code not in SHIFTS: raise ToolError(f"no shift {code}")
    if staff and staff not in STAFF: raise ToolError(f"nobody on the staff has the address {staff}")
    SHIFTS[code].update({k: v for k, v in dict(staff=staff, start=start, end=end).items() if v})
    return [SHIFTS[code]]

if __name__ == "__main__":
    server.run()
