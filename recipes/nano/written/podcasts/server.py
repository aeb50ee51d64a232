from typing import Literal, Optional

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("podcasts")

SHOWS = {s[0]: dict(zip(("slug", "title", "topic", "host", "host_email", "release_day", "subscribers", "explicit"), s)) for s in [
    ("night-shift", "Night Shift", "people who work at night", "Marta Quell", "marta@earbox.example", "Tuesday", 18400, False),
    ("dirt-and-roots", "Dirt & Roots", "gardening", "Tobi Anders", "tobi@earbox.example", "Thursday", 9750, False),
    ("cold-ledger", "Cold Ledger", "financial crime", "Priya Nand", "priya@earbox.example", "Friday", 31200, True),
    ("small-engines", "Small Engines", "repairing motors", "Joost Wexel", "joost@earbox.example", "Wednesday", 5130, True),
    ("second-serve", "Second Serve", "amateur tennis", "Kira Bloem", "kira@earbox.example", "Thursday", 7020, False),
]}

EPISODES = {e[0]: dict(zip(("episode_id", "show", "number", "title", "status", "release_date", "duration_min", "downloads", "guest_id", "sponsor_id"), e)) for e in [
    (201, "night-shift", 31, "The Bakery at 3 a.m.", "published", "2025-04-01", 42, 6210, "G-01", "SP-2"),
    (202, "night-shift", 32, "Lighthouse Keeper's Daughter", "published", "2025-04-08", 51, 7855, "G-02", "SP-2"),
    (203, "night-shift", 33, "Ambulance 14", "published", "2025-04-15", 38, 9120, "G-03", "SP-4"),
    (204, "night-shift", 34, "Who Cleans the Metro", "edited", "2025-06-10", 44, 0, "G-04", "SP-4"),
    (205, "night-shift", 35, "Truck Stop Choir", "recorded", "2025-06-17", 47, 0, "G-05", None),
    (206, "night-shift", 36, "Night Porter", "booked", "2025-06-24", None, 0, "G-06", "SP-1"),
    (301, "dirt-and-roots", 12, "Slugs: a Truce", "published", "2025-03-20", 29, 4410, "G-07", "SP-3"),
    (302, "dirt-and-roots", 13, "Compost Wars", "published", "2025-04-03", 33, 5230, "G-07", "SP-3"),
    (303, "dirt-and-roots", 14, "The Rose Thief", "published", "2025-04-17", 31, 3985, "G-08", "SP-5"),
    (304, "dirt-and-roots", 15, "Balcony Potatoes", "edited", "2025-06-05", 27, 0, "G-09", "SP-3"),
    (305, "dirt-and-roots", 16, "Moss Is Fine", "booked", "2025-06-19", None, 0, "G-08", None),
    (401, "cold-ledger", 7, "The Missing Vineyard", "published", "2025-02-14", 58, 12040, "G-10", "SP-6"),
    (402, "cold-ledger", 8, "Eleven Empty Containers", "published", "2025-03-14", 63, 14770, "G-11", "SP-6"),
    (403, "cold-ledger", 9, "A Very Small Bank", "published", "2025-04-11", 55, 13390, "G-10", "SP-1"),
    (404, "cold-ledger", 10, "Paper Cattle", "recorded", "2025-06-13", 61, 0, "G-12", "SP-6"),
    (405, "cold-ledger", 11, "The Auditor's Holiday", "booked", "2025-07-11", None, 0, "G-11", "SP-7"),
    (501, "small-engines", 21, "Two-Stroke Blues", "published", "2025-03-05", 36, 2140, "G-05", "SP-4"),
    (502, "small-engines", 22, "The Mower Whisperer", "published", "2025-04-02", 40, 2665, "G-09", None),
    (503, "small-engines", 23, "Carburettor Clinic", "edited", "2025-06-04", 34, 0, "G-13", "SP-5"),
    (504, "small-engines", 24, "Outboards", "booked", "2025-07-02", None, 0, "G-13", None),
    (601, "second-serve", 3, "Doubles Trouble", "published", "2025-03-27", 45, 3320, "G-14", "SP-7"),
    (602, "second-serve", 4, "Clay in Your Socks", "published", "2025-04-24", 41, 3675, "G-14", "SP-7"),
    (603, "second-serve", 5, "Grip Tape", "recorded", "2025-06-12", 39, 0, "G-15", "SP-2"),
    (604, "second-serve", 6, "The Line Judge", "booked", "2025-06-26", None, 0, "G-15", "SP-1"),
]}

GUESTS = {g[0]: dict(zip(("guest_id", "name", "occupation", "city", "email", "phone", "fee_eur", "joins", "diet"), g)) for g in [
    ("G-01", "Anselm Brodt", "baker", "Leipzig", "anselm.brodt@mail.example", "+49 555-0101", 0, "studio", "none"),
    ("G-02", "Ishbel Cairn", "archivist", "Oban", "ishbel@cairn.example", "+44 555-0102", 120, "remote", "none"),
    ("G-03", "Rafael Omondi", "paramedic", "Utrecht", "r.omondi@mail.example", "+31 555-0103", 0, "studio", "halal"),
    ("G-04", "Sunniva Lade", "cleaning supervisor", "Oslo", "sunniva.lade@mail.example", "+47 555-0104", 80, "remote", "none"),
    ("G-05", "Hank Dubicki", "truck driver", "Gdansk", "hank@dubicki.example", "+48 555-0105", 0, "remote", "none"),
    ("G-06", "Leopold Farr", "hotel porter", "Vienna", "leopold.farr@mail.example", "+43 555-0106", 60, "studio", "vegetarian"),
    ("G-07", "Wilma Ostrander", "gardener", "Zwolle", "wilma@ostrander.example", "+31 555-0107", 150, "studio", "none"),
    ("G-08", "Noor Haddadi", "botanist", "Ghent", "noor.haddadi@uni.example", "+32 555-0108", 200, "studio", "no nuts"),
    ("G-09", "Pim Aldous", "allotment keeper", "Bristol", "pim.aldous@mail.example", "+44 555-0109", 40, "remote", "vegan"),
    ("G-10", "Celeste Vidry", "journalist", "Lyon", "celeste@vidry.example", "+33 555-0110", 300, "remote", "none"),
    ("G-11", "Okke Terhorst", "forensic accountant", "Groningen", "okke@terhorst.example", "+31 555-0111", 450, "studio", "none"),
    ("G-12", "Bridie Malloy", "vet", "Sligo", "bridie.malloy@mail.example", "+353 555-0112", 100, "remote", "gluten-free"),
    ("G-13", "Gunnar Skeid", "mechanic", "Bergen", "gunnar@skeid.example", "+47 555-0113", 90, "studio", "none"),
    ("G-14", "Tamsin Rook", "tennis coach", "Exeter", "tamsin.rook@club.example", "+44 555-0114", 175, "remote", "none"),
    ("G-15", "Jarek Wolny", "umpire", "Krakow", "jarek.wolny@mail.example", "+48 555-0115", 130, "studio", "lactose-free"),
]}

SPONSORS = {s[0]: dict(zip(("sponsor_id", "company", "contact", "email", "rate_eur_per_episode", "placement", "promo_code", "contract_until"), s)) for s in [
    ("SP-1", "Halden Mattress", "Lotte Brandt", "lotte@halden.example", 620, "mid-roll", "SLEEP15", "2025-12-31"),
    ("SP-2", "Kettle & Crane Coffee", "Amir Zand", "amir@kettlecrane.example", 380, "pre-roll", "NIGHT10", "2025-09-30"),
    ("SP-3", "Greenhand Tools", "Sofie Maes", "sofie@greenhand.example", 275, "mid-roll", "DIG20", "2025-08-31"),
    ("SP-4", "Volta Batteries", "Ken Orchard", "ken@volta.example", 410, "pre-roll", "CHARGE5", "2025-07-15"),
    ("SP-5", "Otterly Boots", "Fenna Dijk", "fenna@otterly.example", 330, "post-roll", "MUD12", "2025-10-31"),
    ("SP-6", "Ledgerly Accounting", "Paul Ibsen", "paul@ledgerly.example", 890, "mid-roll", "BOOKS25", "2026-02-28"),
    ("SP-7", "String Theory Rackets", "Ana Belmonte", "ana@stringtheory.example", 240, "pre-roll", "ACE8", "2025-06-30"),
]}

SLOTS = {s[0]: dict(zip(("slot_id", "date", "start", "studio", "engineer", "episode_id"), s)) for s in [
    ("S11", "2025-06-02", "09:00", "Red Room", "Dov", 206),
    ("S12", "2025-06-02", "13:00", "Red Room", "Dov", None),
    ("S13", "2025-06-02", "13:00", "Blue Room", "Mika", 305),
    ("S14", "2025-06-03", "10:00", "Blue Room", "Mika", None),
    ("S15", "2025-06-03", "15:00", "Red Room", "Dov", 405),
    ("S16", "2025-06-04", "09:00", "Red Room", "Dov", None),
    ("S17", "2025-06-04", "11:00", "Blue Room", "Yara", 504),
    ("S18", "2025-06-04", "16:00", "Blue Room", "Yara", None),
    ("S19", "2025-06-05", "10:00", "Red Room", "Mika", 604),
    ("S20", "2025-06-05", "14:00", "Attic", "Yara", None),
    ("S21", "2025-06-06", "09:30", "Attic", "Dov", None),
    ("S22", "2025-06-06", "13:30", "Blue Room", "Mika", None),
]}

Status = Literal["booked", "recorded", "edited", "published"]


def _show(key: str) -> dict:
    for s in SHOWS.values():
        if key.strip().lower() in (s["slug"], s["title"].lower()):
            return s
    raise ToolError(f"Unknown show '{key}'. Shows: " + ", ".join(SHOWS))


def _episode(episode_id: int) -> dict:
    if episode_id not in EPISODES:
        raise ToolError(f"Episode {episode_id} does not exist.")
    return EPISODES[episode_id]


@server.tool()
def get_show(show: str) -> dict:
    "One show with its host, release day and audience. Takes the slug or the full title."
    return _show(show)


@server.tool()
def list_episodes(show: Optional[str] = None, status: Optional[Status] = None, title: Optional[str] = None) -> list[dict]:
    "Episodes in short form, oldest first. Filter by show (slug or title), status or part of the title; at least one filter is needed."
    if not (show or status or title):
        raise ToolError("Give a show, a status or part of a title.")
    slug = _show(show)["slug"] if show else None
    rows = [e for e in EPISODES.values() if (not slug or e["show"] == slug) and (not status or e["status"] == status)
            and (not title or title.lower() in e["title"].lower())]
    rows.sort(key=lambda e: e["release_date"])
    return [{k: e[k] for k in ("episode_id", "title", "status", "release_date", "downloads")} for e in rows[:14]]


@server.tool()
def get_episode(episode_id: int) -> dict:
    "Full record of one episode (guest and sponsor as ids, show as slug)."
    return _episode(episode_id)


@server.tool()
def get_guest(guest: str) -> dict:
    "Guest record by guest id (G-07) or by name, with the ids of the guest's episodes."
    key = guest.strip().lower()
    hits = [g for g in GUESTS.values() if g["guest_id"].lower() == key] or [g for g in GUESTS.values() if key in g["name"].lower()]
    if not hits:
        raise ToolError(f"No guest matches '{guest}'.")
    if len(hits) > 1:
        raise ToolError("Several guests match: " + ", ".join(f"{g['guest_id']} {g['name']}" for g in hits))
    return hits[0] | {"episode_ids": [e["episode_id"] for e in EPISODES.values() if e["guest_id"] == hits[0]["guest_id"]]}


@server.tool()
def get_sponsor(sponsor_id: str) -> dict:
    "Sponsor by id (SP-3): contact, rate, ad placement, promo code, contract."
    if sponsor_id not in SPONSORS:
        raise ToolError(f"No sponsor with id {sponsor_id}.")
    return SPONSORS[sponsor_id]


@server.tool()
def find_slots(slot_id: Optional[str] = None, date: Optional[str] = None, episode_id: Optional[int] = None, free_only: bool = False) -> list[dict]:
    "Recording slots of the current week (June 2025), by slot id (S14), date (2025-06-03) or the episode that is booked in. episode_id is null if a slot is free."
    return [s for s in SLOTS.values() if (not slot_id or s["slot_id"] == slot_id) and (not date or s["date"] == date)
            and (not episode_id or s["episode_id"] == episode_id) and (not free_only or s["episode_id"] is None)]


@server.tool()
def book_slot(slot_id: str, episode_id: int) -> dict:
    "Book a free recording slot for an episode."
    if slot_id not in SLOTS:
        raise ToolError(f"No slot {slot_id}.")
    _episode(episode_id)
    if SLOTS[slot_id]["episode_id"]:
        raise ToolError(f"{slot_id} is taken by episode {SLOTS[slot_id]['episode_id']}.")
    SLOTS[slot_id]["episode_id"] = episode_id
    return SLOTS[slot_id]


@server.tool()
def release_slot(slot_id: str) -> dict:
    "Free a booked recording slot."
    if slot_id not in SLOTS:
        raise ToolError(f"No slot {slot_id}.")
    if SLOTS[slot_id]["episode_id"] is None:
        raise ToolError(f"{slot_id} is not booked.")
    was, SLOTS[slot_id]["episode_id"] = SLOTS[slot_id]["episode_id"], None
    return {"slot_id": slot_id, "released": True, "was_episode_id": was}


@server.tool()
def update_episode(episode_id: int, status: Optional[Status] = None, release_date: Optional[str] = None, sponsor_id: Optional[str] = None) -> dict:
    "Change the status, the release date (YYYY-MM-DD) and/or the sponsor of an episode."
    e = _episode(episode_id)
    if sponsor_id and sponsor_id not in SPONSORS:
        raise ToolError(f"No sponsor with id {sponsor_id}.")
    change = {k: v for k, v in (("status", status), ("release_date", release_date), ("sponsor_id", sponsor_id)) if v}
    if not change:
        raise ToolError("Nothing to change.")
    e.update(change)
    return {"episode_id": episode_id, "title": e["title"], "changed": change}


if __name__ == "__main__":
    server.run()
