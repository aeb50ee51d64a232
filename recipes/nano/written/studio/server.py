"""Back office of Tall Tree Audio, a podcast studio."""
import datetime
from typing import Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("tall-tree-audio")

Show = Literal["Night Shift", "Small Machines", "The Long Table"]
Status = Literal["idea", "planned", "recorded", "editing", "scheduled", "published"]
Room = Literal["Oak", "Pine", "Booth"]

GUESTS = {g[0]: dict(zip(["guest_id", "name", "occupation", "city", "email", "fee_eur", "release_signed"], g)) for g in [
    ["g_4e1b", "Omar Haddad", "baker", "Marseille", "omar@fournil-haddad.example", 150, True],
    ["g_90c2", "Ingrid Sol", "lighthouse keeper", "Bodø", "ingrid.sol@kyst.example", 0, True],
    ["g_17fa", "Theo Blanc", "engineer", "Lyon", "theo@blanc-tech.example", 200, False],
    ["g_b36d", "Maya Tan", "salt farmer", "Penang", "maya.tan@saltpan.example", 180, True],
    ["g_5d08", "Nadia Okoye", "emergency doctor", "Leeds", "n.okoye@stluke.example", 0, True],
    ["g_e721", "Hansruedi Frey", "clockmaker", "Biel", "frey@uhren-frey.example", 120, True],
    ["g_2ac9", "Yuki Arai", "chef", "Osaka", "yuki@kojiroom.example", 250, True],
    ["g_f410", "Paul Novak", "tram driver", "Brno", "p.novak@tram.example", 80, True],
    ["g_63b7", "Carmen Vidal", "restorer", "Girona", "carmen@tecla.example", 140, True],
    ["g_c85e", "Rita Moss", "street sweeper", "Glasgow", "ritamoss@post.example", 80, False],
    ["g_0d94", "Lena Fors", "beekeeper", "Uppsala", "lena@forsbin.example", 100, False],
    ["g_7a3f", "Bruno Keller", "cheesemaker", "Chur", "bruno.keller@kaeserei.example", 160, False],
]}
EPISODES = {e[0]: dict(zip(["number", "title", "show", "status", "guest_id", "editor", "length_min", "publish_date", "downloads", "sponsor"], e)) for e in [
    [101, "The Baker's Hour", "The Long Table", "published", "g_4e1b", "Lise", 52, "2025-11-04", 8420, "Krume Flour"],
    [102, "Lighthouse Duty", "Night Shift", "published", "g_90c2", "Pawel", 47, "2025-11-11", 12930, None],
    [103, "Repairing Radios", "Small Machines", "published", "g_17fa", "Lise", 61, "2025-11-25", 5310, "VoltWerk"],
    [104, "Salt", "The Long Table", "published", "g_b36d", "Pawel", 39, "2025-12-09", 9975, "Krume Flour"],
    [105, "Emergency Room, 3 a.m.", "Night Shift", "published", "g_5d08", "Kim", 58, "2025-12-16", 15240, None],
    [106, "Clockmakers", "Small Machines", "published", "g_e721", "Lise", 44, "2026-01-13", 4688, "VoltWerk"],
    [107, "Fermented Everything", "The Long Table", "published", "g_2ac9", "Kim", 55, "2026-01-27", 11020, "Brinehouse"],
    [108, "The Last Tram", "Night Shift", "published", "g_f410", "Pawel", 41, "2026-02-10", 7745, None],
    [109, "Typewriter Clinic", "Small Machines", "scheduled", "g_63b7", "Lise", 50, "2026-03-24", 0, "VoltWerk"],
    [110, "Soup for Forty", "The Long Table", "scheduled", "g_4e1b", "Kim", 48, "2026-03-31", 0, "Brinehouse"],
    [111, "Street Sweepers", "Night Shift", "editing", "g_c85e", "Pawel", 63, None, 0, None],
    [112, "A Drone for the Vineyard", "Small Machines", "editing", "g_17fa", "Kim", 57, None, 0, "VoltWerk"],
    [113, "Honey", "The Long Table", "recorded", "g_0d94", None, 72, None, 0, None],
    [114, "Radio Operator", "Night Shift", "recorded", "g_90c2", None, 66, None, 0, None],
    [115, "The Sewing Machine", "Small Machines", "planned", "g_63b7", None, None, None, 0, None],
    [116, "Cheese Caves", "The Long Table", "planned", "g_7a3f", None, None, None, 0, None],
    [117, "Night Nurse", "Night Shift", "planned", "g_5d08", None, None, None, 0, None],
    [118, "Toy Trains", "Small Machines", "planned", "g_e721", None, None, None, 0, None],
    [119, "Bread Without Borders", "The Long Table", "idea", None, None, None, None, 0, None],
]}
RECORDINGS = {r[0]: dict(zip(["recording_id", "episode", "room", "date", "start", "minutes", "engineer", "state"], r)) for r in [
    ["9f2c41", 111, "Oak", "2026-02-24", "10:00", 120, "Dana", "done"],
    ["b07e13", 112, "Booth", "2026-02-26", "14:00", 90, "Dana", "done"],
    ["44d8aa", 113, "Pine", "2026-03-03", "09:30", 120, "Milo", "done"],
    ["c1905f", 114, "Oak", "2026-03-05", "16:00", 90, "Milo", "done"],
    ["07be62", 115, "Oak", "2026-03-10", "10:00", 90, "Dana", "booked"],
    ["d3a7f8", 116, "Pine", "2026-03-11", "13:00", 120, "Milo", "booked"],
    ["6e51c0", 117, "Booth", "2026-03-12", "20:30", 60, "Dana", "booked"],
    ["a82b94", 118, "Oak", "2026-03-17", "11:00", 90, "Milo", "booked"],
    ["f5c037", 115, "Booth", "2026-03-19", "15:00", 45, "Dana", "booked"],
    ["2b9d6e", 116, "Pine", "2026-03-20", "09:00", 60, "Milo", "cancelled"],
]}


def day(date: str) -> str:
    try:
        return datetime.date.fromisoformat(date).strftime("%a")
    except ValueError:
        raise ToolError(f"bad date '{date}', use YYYY-MM-DD")


def shown(r: dict) -> dict:
    return {**r, "weekday": day(r["date"])}


def episode(number: int) -> dict:
    if number not in EPISODES:
        raise ToolError(f"episode {number} does not exist")
    return EPISODES[number]


@server.tool()
def get_episode(number: int) -> dict:
    "Everything about one episode by its number."
    return episode(number)


@server.tool()
def search_episodes(title: str | None = None, show: Show | None = None, status: Status | None = None, guest_id: str | None = None) -> list[dict]:
    "Search episodes by part of the title, show, status or guest. At least one filter is needed. Use get_episode for editor, length and sponsor."
    if not (title or show or status or guest_id):
        raise ToolError("give at least one filter")
    return [{k: e[k] for k in ("number", "title", "show", "status", "publish_date", "downloads")} for e in EPISODES.values()
            if (not title or title.lower() in e["title"].lower()) and (not show or e["show"] == show)
            and (not status or e["status"] == status) and (not guest_id or e["guest_id"] == guest_id)]


@server.tool()
def find_guest(name: str) -> list[dict]:
    "Find guests by full or partial name; gives guest ids."
    return [{"guest_id": g["guest_id"], "name": g["name"]} for g in GUESTS.values() if name.lower() in g["name"].lower()]


@server.tool()
def get_guest(guest_id: str) -> dict:
    "Guest card: occupation, city, email, fee, release form."
    if guest_id not in GUESTS:
        raise ToolError(f"guest {guest_id} does not exist")
    return GUESTS[guest_id]


@server.tool()
def list_recordings(episode: int | None = None, date: str | None = None, room: Room | None = None, engineer: str | None = None) -> list[dict]:
    "Studio recording sessions in date order, filtered by episode number, date (YYYY-MM-DD), room or engineer."
    rows = [r for r in RECORDINGS.values() if (not episode or r["episode"] == episode) and (not date or r["date"] == date)
            and (not room or r["room"] == room) and (not engineer or r["engineer"].lower() == engineer.lower())]
    return [shown(r) for r in sorted(rows, key=lambda r: (r["date"], r["start"]))]


@server.tool()
def book_recording(episode_number: int, room: Room, date: str, start: str, minutes: int = 90) -> dict:
    "Book a studio room for an episode. date YYYY-MM-DD, start HH:MM."
    episode(episode_number), day(date)
    for r in RECORDINGS.values():
        if r["room"] == room and r["date"] == date and r["state"] == "booked" and r["start"] == start:
            raise ToolError(f"{room} is taken on {date} at {start} ({r['recording_id']})")
    new = {"recording_id": "e8%04x" % (4097 * len(RECORDINGS)), "episode": episode_number, "room": room, "date": date, "start": start,
           "minutes": minutes, "engineer": "Dana", "state": "booked"}
    RECORDINGS[new["recording_id"]] = new
    return shown(new)


@server.tool()
def change_recording(recording_id: str, date: str | None = None, start: str | None = None, room: Room | None = None,
                     minutes: int | None = None, engineer: str | None = None, state: Literal["booked", "done", "cancelled"] | None = None) -> dict:
    "Move, reassign, cancel or complete a recording session. Only what is given changes."
    if recording_id not in RECORDINGS:
        raise ToolError(f"recording {recording_id} does not exist")
    r = RECORDINGS[recording_id]
    if date:
        day(date)
    r.update({k: v for k, v in dict(date=date, start=start, room=room, minutes=minutes, engineer=engineer, state=state).items() if v is not None})
    return shown(r)


@server.tool()
def update_episode(number: int, title: str | None = None, status: Status | None = None, editor: str | None = None,
                   publish_date: str | None = None, sponsor: str | None = None, guest_id: str | None = None) -> dict:
    "Change fields of an episode. Only what is given changes."
    e = episode(number)
    if publish_date:
        day(publish_date)
    if guest_id and guest_id not in GUESTS:
        raise ToolError(f"guest {guest_id} does not exist")
    new = {k: v for k, v in dict(title=title, status=status, editor=editor, publish_date=publish_date, sponsor=sponsor, guest_id=guest_id).items() if v is not None}
    e.update(new)
    return {"number": number, "title": e["title"], "updated": new}


@server.tool()
def update_guest(guest_id: str, email: str | None = None, city: str | None = None, fee_eur: int | None = None, release_signed: bool | None = None) -> dict:
    "Change a guest's contact data, fee (EUR) or release form."
    g = get_guest(guest_id)
    new = {k: v for k, v in dict(email=email, city=city, fee_eur=fee_eur, release_signed=release_signed).items() if v is not None}
    g.update(new)
    return {"guest_id": guest_id, "name": g["name"], "updated": new}


if __name__ == "__main__":
    server.run()
