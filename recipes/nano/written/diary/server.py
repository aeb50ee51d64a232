from datetime import date as Date, datetime
from typing import Literal

from mcp.server.mcpserver import MCPServer

server = MCPServer("diary")

PLACES = {
    "oakdental": ("Oak Street Dental", "41 Oak Street", "opens 08:00, closes 17:30", "555-0120", "paid parking behind the building"),
    "cityhall": ("City Hall, registry office", "2 Market Square", "opens 09:00, closes 16:00", "555-0121", "no parking, tram 4"),
    "lumen": ("Café Lumen", "7 Ferry Lane", "opens 07:30, closes 19:00", "555-0122", "bike racks only"),
    "studio9": ("Studio 9 (choir room)", "90 Canal Road, 3rd floor", "opens 16:00, closes 22:30", "555-0123", "free parking in the yard"),
    "elmschool": ("Elm Primary School", "15 Elm Walk", "opens 07:45, closes 17:00", "555-0124", "drop-off zone, 10 minutes"),
    "garage": ("Fenwick Motors", "Unit 6, Tanner Estate", "opens 08:30, closes 18:00", "555-0125", "free parking"),
    "hq": ("Head office, room 4.12", "300 Station Parade", "opens 07:00, closes 20:00", "555-0126", "visitor bays, ask reception"),
    "grandma": ("Grandma's flat", "22b Linden Court", "always", "555-0127", "street parking"),
    "vetclinic": ("Paws & Co. vet", "58 Mill Street", "opens 09:00, closes 18:30", "555-0128", "two spaces in front"),
}
PEOPLE = {
    "ruth": ("Ruth Kessler", "sister", "555-0131", "ruth.k@mail.example", "1986-07-19", "grandma"),
    "omar": ("Omar Benali", "boss", "555-0132", "o.benali@brightwell.example", "1975-01-30", "hq"),
    "priya": ("Priya Raman", "colleague", "555-0133", "p.raman@brightwell.example", "1990-12-08", "hq"),
    "drlow": ("Dr. Fiona Low", "dentist", "555-0134", "reception@oakdental.example", "", "oakdental"),
    "jonas": ("Jonas Weil", "son", "555-0135", "jonas.weil@mail.example", "2017-05-02", "elmschool"),
    "mskeane": ("Ms. Ailis Keane", "Jonas's teacher", "555-0136", "a.keane@elmschool.example", "", "elmschool"),
    "bert": ("Bert Fenwick", "mechanic", "555-0137", "bert@fenwick.example", "", "garage"),
    "noor": ("Noor Haddad", "choir leader", "555-0138", "noor@choir9.example", "1982-03-27", "studio9"),
    "gran": ("Edith Weil", "grandmother", "555-0139", "", "1938-03-21", "grandma"),
    "tove": ("Tove Lind", "friend", "555-0140", "tove.lind@mail.example", "1988-11-14", "lumen"),
    "drsato": ("Dr. Ken Sato", "vet", "555-0141", "sato@pawsco.example", "", "vetclinic"),
}
EVENTS = {e[0]: dict(zip(("id", "title", "start", "end", "place", "with", "status", "reminder", "note"), e)) for e in [
    (101, "Budget review", "2026-03-02 09:30", "2026-03-02 11:00", "hq", ["omar", "priya"], "confirmed", 15, "bring the Q1 sheet"),
    (102, "Choir rehearsal", "2026-03-03 19:00", "2026-03-03 21:00", "studio9", ["noor"], "confirmed", 60, ""),
    (103, "Dentist check-up", "2026-03-04 08:15", "2026-03-04 09:00", "oakdental", ["drlow"], "confirmed", 120, "insurance card"),
    (104, "Coffee with Tove", "2026-03-05 16:00", "2026-03-05 17:00", "lumen", ["tove"], "tentative", None, ""),
    (105, "Winter tyres off", "2026-03-06 08:45", "2026-03-06 09:30", "garage", ["bert"], "tentative", 30, "tyres are in the cellar"),
    (106, "Parents' evening", "2026-03-10 18:00", "2026-03-10 19:00", "elmschool", ["mskeane"], "confirmed", None, "ask about the maths group"),
    (107, "Choir rehearsal", "2026-03-10 19:30", "2026-03-10 21:00", "studio9", ["noor"], "tentative", 60, "new scores"),
    (108, "One-to-one", "2026-03-11 14:00", "2026-03-11 14:45", "hq", ["omar"], "confirmed", 10, "holiday request"),
    (109, "Passport renewal", "2026-03-12 10:20", "2026-03-12 10:40", "cityhall", ["jonas"], "confirmed", 90, "two photos, old passport"),
    (110, "Cat vaccination", "2026-03-13 17:30", "2026-03-13 17:50", "vetclinic", ["drsato"], "confirmed", 45, "booster for Biscuit"),
    (111, "Supplier pitch", "2026-03-16 13:00", "2026-03-16 14:30", "hq", ["priya"], "tentative", 15, ""),
    (112, "Choir rehearsal", "2026-03-17 19:00", "2026-03-17 21:00", "studio9", ["noor"], "cancelled", None, "Noor away"),
    (113, "School play", "2026-03-19 15:30", "2026-03-19 17:00", "elmschool", ["jonas", "ruth"], "confirmed", 60, "Jonas is a badger"),
    (114, "Gran's birthday lunch", "2026-03-21 12:30", "2026-03-21 15:30", "grandma", ["gran", "ruth"], "confirmed", 180, "pick up the cake first"),
    (115, "Car inspection", "2026-03-24 09:00", "2026-03-24 10:30", "garage", ["bert"], "confirmed", 60, "log book"),
    (116, "Spring concert", "2026-03-28 19:30", "2026-03-28 21:30", "cityhall", ["noor", "tove"], "confirmed", 240, "black clothes"),
    (117, "Breakfast with Ruth", "2026-03-29 09:30", "2026-03-29 11:00", "lumen", ["ruth"], "tentative", None, ""),
]}
TODOS = {t[0]: dict(zip(("number", "text", "due", "done", "for", "event"), t)) for t in [
    (1, "Finish Q1 sheet", "2026-03-01", True, "omar", 101),
    (2, "Order birthday cake", "2026-03-18", False, "gran", 114),
    (3, "Get passport photos taken", "2026-03-10", False, "jonas", 109),
    (4, "Carry winter tyres up from the cellar", "2026-03-05", False, "bert", 105),
    (5, "Print new scores", "2026-03-09", False, "noor", 107),
    (6, "Write holiday request", "2026-03-11", False, "omar", 108),
    (7, "Sew badger tail", "2026-03-17", False, "jonas", 113),
    (8, "Find car log book", "2026-03-23", False, "bert", 115),
    (9, "Comment on supplier slides", "2026-03-13", True, "priya", 111),
    (10, "Wash concert blouse", "2026-03-27", False, None, 116),
    (11, "Return Tove's drill", "2026-03-05", False, "tove", None),
    (12, "Pay school trip, 34.50 EUR", "2026-03-20", False, "mskeane", None),
    (13, "Buy cat carrier", "2026-03-12", True, "drsato", 110),
    (14, "Renew library card", "2026-03-31", False, None, None),
    (15, "Send cake photo to Ruth", "2026-03-22", False, "ruth", None),
]}


def _day(start: str) -> str:
    return datetime.strptime(start, "%Y-%m-%d %H:%M").strftime("%a ") + start


def _todo_line(t: dict) -> str:
    return f"[{'x' if t['done'] else ' '}] {t['number']}. {t['text']}; due {t['due']}; for {t['for'] or '-'}; event {t['event'] or '-'}"


@server.tool()
def find_events(text: str = "", date: str = "", person: str = "", status: Literal["any", "confirmed", "tentative", "cancelled"] = "any") -> str:
    """Search the diary (it covers March 2026). text: part of the title; date: a day as YYYY-MM-DD; person: a handle such as ruth. Lists id, start and title."""
    rows = [f"{e['id']}  {_day(e['start'])}  {e['title']}" for e in sorted(EVENTS.values(), key=lambda e: e["start"])
            if text.lower() in e["title"].lower() and e["start"].startswith(date) and (not person or person in e["with"]) and status in ("any", e["status"])]
    return "\n".join(rows) or "No events found."


@server.tool()
def show_event(id: int) -> str:
    """Everything about one event: times, place key, handles of the people, status, reminder, note."""
    e = EVENTS.get(id)
    if not e:
        return f"There is no event {id}."
    return "\n".join([f"event {id}: {e['title']}", f"start: {_day(e['start'])}", f"end: {_day(e['end'])}", f"place: {e['place']}", f"with: {', '.join(e['with']) or 'nobody'}",
                      f"status: {e['status']}", "reminder: " + (f"{e['reminder']} minutes before" if e["reminder"] else "none"), f"note: {e['note'] or '-'}"])


@server.tool()
def show_person(who: str) -> str:
    """A contact, by handle (ruth, drlow) or by part of the name."""
    for handle, (name, role, phone, email, born, place) in PEOPLE.items():
        if who.lower() == handle or who.lower() in name.lower():
            return "\n".join([f"{name} ({handle})", f"relation: {role}", f"phone: {phone}", f"email: {email or '-'}", f"born: {born or '-'}", f"usually at: {place}"])
    return f"Nobody called '{who}' in the contacts."


@server.tool()
def show_place(key: str) -> str:
    """Address, opening hours, phone and parking of a place, by its key."""
    if key not in PLACES:
        return f"Unknown place '{key}'."
    name, address, hours, phone, parking = PLACES[key]
    return "\n".join([name, f"address: {address}", f"hours: {hours}", f"phone: {phone}", f"parking: {parking}"])


@server.tool()
def todos(number: int | None = None, text: str = "", state: Literal["open", "done", "all"] = "open") -> str:
    """The to-do list: one item by its number (open or done), or those whose text contains something, by state."""
    if number is not None:
        return _todo_line(TODOS[number]) if number in TODOS else f"No to-do number {number}."
    rows = [_todo_line(t) for t in sorted(TODOS.values(), key=lambda t: t["due"])
            if text.lower() in t["text"].lower() and (state == "all" or t["done"] == (state == "done"))]
    return "\n".join(rows) or "Nothing on the list."


@server.tool()
def add_event(title: str, start: str, end: str, place: str | None = None) -> str:
    """Put a new event in the diary. start and end as 'YYYY-MM-DD HH:MM' (March 2026); place is a place key."""
    if place and place not in PLACES:
        return f"Unknown place '{place}'."
    id = max(EVENTS) + 1
    EVENTS[id] = {"id": id, "title": title, "start": start, "end": end, "place": place, "with": [], "status": "confirmed", "reminder": None, "note": ""}
    return f"Added event {id}: {title}, {_day(start)} to {end[-5:]}, place {place or '-'}."


@server.tool()
def change_event(id: int, start: str | None = None, end: str | None = None, place: str | None = None,
                 status: Literal["confirmed", "tentative", "cancelled"] | None = None, reminder_minutes: int | None = None) -> str:
    """Change an event: give only what changes. A new start ('YYYY-MM-DD HH:MM') keeps the length unless end is given too. reminder_minutes: minutes before the start."""
    e = EVENTS.get(id)
    if not e:
        return f"There is no event {id}."
    if place and place not in PLACES:
        return f"Unknown place '{place}'."
    said = []
    if start:
        fmt = "%Y-%m-%d %H:%M"
        length = datetime.strptime(e["end"], fmt) - datetime.strptime(e["start"], fmt)
        e["start"], e["end"] = start, end or (datetime.strptime(start, fmt) + length).strftime(fmt)
        said.append(f"now {_day(e['start'])} to {e['end'][-5:]}")
    elif end:
        e["end"] = end
        said.append(f"now ends {end}")
    if place:
        e["place"] = place
        said.append(f"place {place}")
    if status:
        e["status"] = status
        said.append(f"status {status}")
    if reminder_minutes is not None:
        e["reminder"] = reminder_minutes
        said.append(f"reminder {reminder_minutes} minutes before")
    return f"Event {id} ({e['title']}): {', '.join(said) or 'nothing changed'}."


@server.tool()
def add_todo(text: str, due: str, event: int | None = None) -> str:
    """Add a to-do with its due date (YYYY-MM-DD, 2026) and, if it belongs to one, the event id."""
    if event is not None and event not in EVENTS:
        return f"There is no event {event}."
    number = max(TODOS) + 1
    TODOS[number] = {"number": number, "text": text, "due": due, "done": False, "for": None, "event": event}
    return "Added: " + _todo_line(TODOS[number])


@server.tool()
def set_todo(number: int, done: bool | None = None, due: str | None = None) -> str:
    """Tick a to-do off (done=true), untick it, or give it another due date (YYYY-MM-DD)."""
    t = TODOS.get(number)
    if not t:
        return f"No to-do number {number}."
    if done is not None:
        t["done"] = done
    if due:
        t["due"] = Date.fromisoformat(due).isoformat()
    return _todo_line(t)


if __name__ == "__main__":
    server.run()
