from datetime import date as _date
from typing import Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("auditions")


def _rows(fields, *rows):
    return {r[0]: dict(zip(fields.split(), r)) for r in rows}


PRODUCTIONS = _rows("slug title director casting_lead venue rehearsals_from premiere budget_gbp status",
    ("salt-road", "The Salt Road", "Ingrid Maas", "Paula Renshaw", "Corn Exchange", "2026-10-05", "2026-11-20", 84000, "casting"),
    ("nine-lanterns", "Nine Lanterns", "Babak Sohrabi", "Kit Osei", "Little Globe", "2026-09-28", "2026-11-06", 41000, "casting"),
    ("widow-macklin", "Widow Macklin", "Fiona Tulloch", "Paula Renshaw", "Harbour Theatre", "2026-08-31", "2026-10-09", 52500, "rehearsing"),
    ("paper-crown", "Paper Crown", "Ezra Whitcombe", "Kit Osei", "Corn Exchange", "2026-11-02", "2026-12-12", 97000, "casting"),
    ("low-tide", "Low Tide", "Marguerite Voss", "Neil Barraclough", "Studio Annex", "2026-06-01", "2026-07-17", 23000, "closed"))
ROLES = _rows("role_id character production age_range lines sings weekly_fee_gbp actor_id understudy_id status",
    ("R-11", "Captain Ruud", "salt-road", "50-65", 312, False, 780, 304, 309, "cast"),
    ("R-12", "Wilhelmina", "salt-road", "25-35", 287, True, 740, None, None, "open"),
    ("R-13", "The Salt Thief", "salt-road", "18-25", 141, True, 560, None, None, "open"),
    ("R-14", "Brother Anselm", "salt-road", "40-60", 96, False, 480, 311, None, "cast"),
    ("R-21", "Lamplighter", "nine-lanterns", "30-45", 204, True, 620, None, None, "open"),
    ("R-22", "Mei", "nine-lanterns", "20-30", 233, True, 650, 306, 313, "cast"),
    ("R-23", "Landlord Puck", "nine-lanterns", "45-70", 88, False, 430, None, None, "open"),
    ("R-31", "Widow Macklin", "widow-macklin", "55-70", 401, False, 890, 302, 308, "cast"),
    ("R-32", "Young Dougal", "widow-macklin", "18-28", 176, False, 540, 305, 310, "cast"),
    ("R-33", "The Bailiff", "widow-macklin", "35-60", 119, False, 500, 309, 304, "cast"),
    ("R-41", "King Osric", "paper-crown", "40-60", 355, False, 820, None, None, "open"),
    ("R-42", "The Fool", "paper-crown", "20-50", 268, True, 700, 312, None, "cast"),
    ("R-43", "Queen Hester", "paper-crown", "35-50", 244, False, 760, None, None, "open"),
    ("R-44", "Page Boy", "paper-crown", "12-16", 37, True, 310, None, None, "open"),
    ("R-51", "Fishwife Nan", "low-tide", "40-60", 190, False, 510, 308, None, "cast"))
ACTORS = _rows("actor_id name age voice height_cm city agent agent_phone day_rate_gbp has_driving_licence",
    (301, "Leontyne Graves", 29, "mezzo", 168, "Bristol", "Marlow & Pike", "0117 555-0131", 180, True),
    (302, "Dorothea Kinnear", 64, "alto", 161, "Glasgow", "Rowan Talent", "0141 555-0132", 260, True),
    (303, "Femi Adeyemo", 33, "baritone", 184, "London", "Rowan Talent", "0141 555-0132", 210, False),
    (304, "Gerard Loxley", 58, "bass", 179, "Leeds", "Marlow & Pike", "0117 555-0131", 240, True),
    (305, "Rory Cathcart", 23, "tenor", 181, "Glasgow", "Blue Door", "020 555-0133", 150, False),
    (306, "Sunhee Park", 26, "soprano", 163, "London", "Blue Door", "020 555-0133", 190, False),
    (307, "Matilda Ashworth", 31, "soprano", 172, "Leeds", "Stage Left", "0113 555-0134", 175, True),
    (308, "Philippa Norrish", 49, "alto", 166, "Bristol", "Stage Left", "0113 555-0134", 200, True),
    (309, "Conrad Teale", 52, "baritone", 187, "York", "Marlow & Pike", "0117 555-0131", 220, True),
    (310, "Jamie Threlfall", 21, "tenor", 174, "York", "Blue Door", "020 555-0133", 130, False),
    (311, "Augustin Bell", 55, "bass", 176, "London", "Rowan Talent", "0141 555-0132", 205, False),
    (312, "Tilly Marchetti", 37, "mezzo", 158, "Cardiff", "Stage Left", "0113 555-0134", 230, True),
    (313, "Noor Hashemi", 24, "soprano", 165, "Cardiff", "Blue Door", "020 555-0133", 145, True),
    (314, "Oskar Winfield", 14, "treble", 152, "Bath", "Little Stars", "01225 555-0135", 90, False))
SLOTS = _rows("slot date time studio actor_id role_id result",
    ("S401", "2026-09-07", "10:00", "Studio 1", 301, "R-12", "callback"),
    ("S402", "2026-09-07", "10:30", "Studio 1", 307, "R-12", "pending"),
    ("S403", "2026-09-07", "11:15", "Studio 2", 303, "R-21", "pending"),
    ("S404", "2026-09-07", "14:00", "Studio 1", 310, "R-13", "rejected"),
    ("S405", "2026-09-08", "09:45", "Studio 2", 309, "R-41", "callback"),
    ("S406", "2026-09-08", "10:30", "Studio 2", 311, "R-41", "pending"),
    ("S407", "2026-09-08", "11:30", "Studio 1", 313, "R-13", "pending"),
    ("S408", "2026-09-08", "15:00", "Studio 1", 308, "R-43", "callback"),
    ("S409", "2026-09-09", "10:00", "Studio 2", 312, "R-43", "rejected"),
    ("S410", "2026-09-09", "10:45", "Studio 2", 314, "R-44", "pending"),
    ("S411", "2026-09-09", "13:30", "Studio 1", 304, "R-23", "pending"),
    ("S412", "2026-09-09", "16:15", "Studio 1", 303, "R-41", "rejected"),
    ("S413", "2026-09-10", "09:30", "Studio 2", 305, "R-13", "callback"),
    ("S414", "2026-09-10", "11:00", "Studio 2", 306, "R-12", "pending"),
    ("S415", "2026-09-10", "14:45", "Studio 1", 311, "R-23", "pending"),
    ("S416", "2026-09-11", "10:15", "Studio 1", 309, "R-21", "pending"))


def _get(table, keys, what):
    unknown = [str(k) for k in keys if k not in table]
    if unknown:
        raise ToolError(f"{what} not found: {', '.join(unknown)}")
    return [table[k] for k in keys]


@server.tool()
def list_productions(status: Literal["casting", "rehearsing", "closed"] | None = None) -> list[dict]:
    """Slug, title, premiere and status of our productions."""
    return [{k: p[k] for k in ("slug", "title", "premiere", "status")} for p in PRODUCTIONS.values() if status in (None, p["status"])]


@server.tool()
def get_productions(slugs: list[str]) -> list[dict]:
    """Full records of one or more productions by slug (the title in lower case without 'The', hyphens for blanks: salt-road)."""
    return _get(PRODUCTIONS, slugs, "production")


@server.tool()
def list_roles(production: str, status: Literal["open", "cast"] | None = None) -> list[dict]:
    """Roles of a production (slug), all or only open / cast ones."""
    _get(PRODUCTIONS, [production], "production")
    return [{k: r[k] for k in ("role_id", "character", "lines", "weekly_fee_gbp", "status")} for r in ROLES.values()
            if r["production"] == production and status in (None, r["status"])]


@server.tool()
def get_roles(role_ids: list[str]) -> list[dict]:
    """Full records of roles by id (R-12): production, age range, singing, fee, actor and understudy."""
    return _get(ROLES, role_ids, "role")


@server.tool()
def search_actors(name: str | None = None, voice: str | None = None, city: str | None = None) -> list[dict]:
    """Find actors by part of the name, voice (soprano, mezzo, alto, treble, tenor, baritone, bass) or city. Returns id, name and age."""
    if not (name or voice or city):
        raise ToolError("name, voice or city is required")
    return [{"actor_id": a["actor_id"], "name": a["name"], "age": a["age"]} for a in ACTORS.values() if (not name or name.lower() in a["name"].lower())
            and (not voice or a["voice"] == voice.lower()) and (not city or a["city"].lower() == city.lower())]


@server.tool()
def get_actors(actor_ids: list[int]) -> list[dict]:
    """Full records of one or more actors by number."""
    return _get(ACTORS, actor_ids, "actor")


@server.tool()
def list_slots(slot: str | None = None, date: str | None = None, role_id: str | None = None, actor_id: int | None = None) -> list[dict]:
    """Audition slots of the autumn 2026 round by slot code (S401), date (YYYY-MM-DD), role or actor; at least one of these."""
    if not (slot or date or role_id or actor_id):
        raise ToolError("give slot, date, role_id or actor_id")
    return [s for s in SLOTS.values() if slot in (None, s["slot"]) and date in (None, s["date"]) and role_id in (None, s["role_id"]) and actor_id in (None, s["actor_id"])]


@server.tool()
def book_slot(actor_id: int, role_id: str, date: str, time: str, studio: Literal["Studio 1", "Studio 2"] = "Studio 1") -> list[dict]:
    """Book an audition of an actor for a role."""
    _get(ACTORS, [actor_id], "actor"), _get(ROLES, [role_id], "role"), _date.fromisoformat(date)
    if any((s["date"], s["time"], s["studio"]) == (date, time, studio) for s in SLOTS.values()):
        raise ToolError(f"{studio} is taken on {date} at {time}")
    new = f"S{401 + len(SLOTS)}"
    SLOTS[new] = {"slot": new, "date": date, "time": time, "studio": studio, "actor_id": actor_id, "role_id": role_id, "result": "pending"}
    return [SLOTS[new]]


@server.tool()
def update_slot(slot: str, date: str | None = None, time: str | None = None, studio: Literal["Studio 1", "Studio 2"] | None = None,
                result: Literal["pending", "callback", "rejected", "withdrawn"] | None = None) -> list[dict]:
    """Move an audition of the autumn 2026 round (date as YYYY-MM-DD) or note its result. Only the given fields change."""
    s = _get(SLOTS, [slot], "slot")[0]
    s.update({k: v for k, v in (("date", date), ("time", time), ("studio", studio), ("result", result)) if v})
    return [s]


if __name__ == "__main__":
    server.run()
