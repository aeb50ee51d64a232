"""Programme desk of a three-day developer conference."""
from typing import Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("conference-desk")

TALK_FIELDS = ("talkId", "title", "speakerId", "roomCode", "day", "startTime", "lengthMinutes", "track", "level", "status", "slidesReceived", "seatsReserved")
TALKS = {r[0]: dict(zip(TALK_FIELDS, r)) for r in [
    ("T-101", "Opening: Ten Years of Boring Software", "spk_01", "AUD", "2026-05-12", "09:00", 50, "keynote", "beginner", "confirmed", True, 412),
    ("T-102", "Keeping Postgres Calm at Night", "spk_03", "A1", "2026-05-12", "10:15", 45, "data", "intermediate", "confirmed", True, 118),
    ("T-103", "Colour Contrast Without Tears", "spk_05", "B2", "2026-05-12", "10:15", 30, "frontend", "beginner", "provisional", False, 64),
    ("T-104", "Queues All the Way Down", "spk_02", "A2", "2026-05-12", "11:30", 45, "backend", "advanced", "confirmed", False, 87),
    ("T-105", "The Pager and I", "spk_07", "A1", "2026-05-12", "14:00", 30, "people", "beginner", "confirmed", True, 73),
    ("T-106", "Parsing Timetables in Rust", "spk_09", "B2", "2026-05-12", "15:30", 60, "backend", "advanced", "confirmed", True, 59),
    ("T-107", "Embeddings for Small Libraries", "spk_04", "AUD", "2026-05-13", "09:00", 50, "data", "intermediate", "confirmed", False, 241),
    ("T-108", "Forms People Actually Finish", "spk_05", "A2", "2026-05-13", "10:15", 45, "frontend", "intermediate", "confirmed", True, 96),
    ("T-109", "Caching Is a Promise", "spk_02", "A1", "2026-05-13", "11:30", 40, "backend", "intermediate", "provisional", True, 105),
    ("T-110", "Hiring Without Whiteboards", "spk_08", "LOFT", "2026-05-13", "11:30", 30, "people", "beginner", "confirmed", False, 38),
    ("T-111", "Maps on a Slow Phone", "spk_10", "B2", "2026-05-13", "14:00", 45, "frontend", "advanced", "cancelled", False, 51),
    ("T-112", "Duplicate Customers and Other Ghosts", "spk_11", "A2", "2026-05-13", "15:30", 60, "data", "beginner", "confirmed", True, 83),
    ("T-113", "Migrating a Tax Office", "spk_06", "AUD", "2026-05-14", "09:00", 50, "backend", "intermediate", "confirmed", True, 198),
    ("T-114", "Design Tokens for the Impatient", "spk_12", "B2", "2026-05-14", "10:15", 30, "frontend", "beginner", "provisional", True, 47),
    ("T-115", "A Warehouse in Your Pocket", "spk_03", "A1", "2026-05-14", "11:30", 45, "data", "advanced", "confirmed", False, 92),
    ("T-116", "Mentoring by Accident", "spk_07", "LOFT", "2026-05-14", "13:30", 40, "people", "beginner", "provisional", False, 29),
    ("T-117", "Closing: What We Broke on Purpose", "spk_06", "AUD", "2026-05-14", "16:00", 45, "keynote", "beginner", "confirmed", False, 365),
]}
SPEAKER_FIELDS = ("speakerId", "name", "company", "email", "phone", "arrivalDate", "hotel", "feeEur", "travelPaidBy")
SPEAKERS = {r[0]: dict(zip(SPEAKER_FIELDS, r)) for r in [
    ("spk_01", "Ragna Tveit", "Fjordline Software", "ragna@fjordline.example", "+47 555-0111", "2026-05-11", "Hotel Linde", 2400, "quayside-cloud"),
    ("spk_02", "Oluwaseun Bakare", "Parcelwise", "seun.bakare@parcelwise.example", "+44 555-0112", "2026-05-11", "Station Inn", 900, "tallow-bank"),
    ("spk_03", "Irina Costea", "Nightdesk", "icostea@nightdesk.example", "+40 555-0113", "2026-05-12", "Hotel Linde", 1100, "quayside-cloud"),
    ("spk_04", "Haruto Minase", "Kawa Research", "minase@kawa.example", "+81 555-0114", "2026-05-10", "Grand Merkur", 1800, "pebble-ai"),
    ("spk_05", "Clodagh Rafferty", "Plainpage", "clodagh@plainpage.example", "+353 555-0115", "2026-05-11", "Station Inn", 1250, "hazel-and-finch"),
    ("spk_06", "Dieter Ankerbrand", "Finanzamt Digital", "d.ankerbrand@fadigital.example", "+49 555-0116", "2026-05-13", "Grand Merkur", 2000, "tallow-bank"),
    ("spk_07", "Yasmin Oduya", "Redlamp", "yasmin@redlamp.example", "+31 555-0117", "2026-05-12", "Station Inn", 700, "opsbarn"),
    ("spk_08", "Pieter Vanhoute", "Talentloket", "pieter@talentloket.example", "+32 555-0118", "2026-05-13", "Hotel Linde", 0, "rookery-jobs"),
    ("spk_09", "Mila Zorić", "Voz Labs", "mila@vozlabs.example", "+385 555-0119", "2026-05-11", "Hotel Linde", 850, "opsbarn"),
    ("spk_10", "Temesgen Abay", "Geoleaf", "t.abay@geoleaf.example", "+251 555-0120", "2026-05-12", "Station Inn", 950, "hazel-and-finch"),
    ("spk_11", "Lucinda Farrow", "Cleanrow", "lucinda@cleanrow.example", "+1 555-0121", "2026-05-12", "Grand Merkur", 1500, "pebble-ai"),
    ("spk_12", "Kofi Lindqvist", "Tintwell", "kofi@tintwell.example", "+46 555-0122", "2026-05-13", "Station Inn", 600, "rookery-jobs"),
]}
ROOM_FIELDS = ("roomCode", "name", "floor", "seats", "recording", "steward", "sponsoredBy")
ROOMS = {r[0]: dict(zip(ROOM_FIELDS, r)) for r in [
    ("AUD", "Auditorium", 0, 450, True, "Bertil Nyman", "quayside-cloud"),
    ("A1", "Beacon Room", 1, 140, True, "Sunniva Holt", "tallow-bank"),
    ("A2", "Harbour Room", 1, 110, True, "Jonas Abel", "pebble-ai"),
    ("B2", "Glass Room", 2, 70, False, "Edda Krist", "hazel-and-finch"),
    ("LOFT", "Loft", 4, 40, False, "Marco Silveira", "rookery-jobs"),
    ("YARD", "Courtyard Tent", 0, 90, False, "Ines Pohl", "opsbarn"),
]}
SPONSOR_FIELDS = ("sponsorKey", "name", "tier", "amountEur", "paid", "contactName", "contactEmail", "boothNumber", "receptionRoom")
SPONSORS = {r[0]: dict(zip(SPONSOR_FIELDS, r)) for r in [
    ("quayside-cloud", "Quayside Cloud", "gold", 18000, True, "Birgit Sand", "birgit@quayside.example", 1, "AUD"),
    ("tallow-bank", "Tallow Bank", "gold", 15000, False, "Rupert Glass", "events@tallow.example", 2, "YARD"),
    ("pebble-ai", "Pebble AI", "silver", 9000, True, "Anouk Meyer", "anouk@pebble.example", 5, "LOFT"),
    ("hazel-and-finch", "Hazel & Finch", "silver", 7500, True, "Tom Hazel", "tom@hazelfinch.example", 6, "B2"),
    ("opsbarn", "Opsbarn", "silver", 8000, False, "Greta Lund", "greta@opsbarn.example", 7, "YARD"),
    ("rookery-jobs", "Rookery Jobs", "bronze", 3000, True, "Sal Moretti", "sal@rookery.example", 11, "LOFT"),
    ("inkpot-print", "Inkpot Print", "bronze", 2500, False, "Dora Wells", "dora@inkpot.example", 12, "A2"),
]}


def _talk(talkId):
    if talkId not in TALKS:
        raise ToolError(f"No talk with id {talkId!r} in the 2026 programme")
    return TALKS[talkId]


@server.tool()
def getTalk(talkId: str) -> dict:
    """Full record of one talk. talkId looks like T-101."""
    return _talk(talkId)


@server.tool()
def searchTalks(text: str | None = None, day: str | None = None, track: Literal["keynote", "backend", "frontend", "data", "people"] | None = None,
                speakerId: str | None = None, roomCode: str | None = None) -> dict:
    """Search the programme. Give at least one filter: words of the title, a day (2026-05-12, 2026-05-13 or 2026-05-14), a track, a speaker id or a room code. Returns short rows."""
    if not (text or day or track or speakerId or roomCode):
        raise ToolError("Give at least one filter")
    hits = [t for t in TALKS.values() if (not text or text.lower() in t["title"].lower()) and (not day or t["day"] == day) and (not track or t["track"] == track)
            and (not speakerId or t["speakerId"] == speakerId) and (not roomCode or t["roomCode"] == roomCode)]
    return {"count": len(hits), "talks": [{k: t[k] for k in ("talkId", "title", "day", "startTime", "lengthMinutes", "seatsReserved", "status")} for t in hits]}


@server.tool()
def findSpeaker(name: str) -> dict:
    """Find the ids of speakers by a part of their name."""
    return {"matches": [{"speakerId": s["speakerId"], "name": s["name"], "company": s["company"]} for s in SPEAKERS.values() if name.lower() in s["name"].lower()]}


@server.tool()
def getSpeaker(speakerId: str) -> dict:
    """Speaker card: contact, arrival, hotel, fee and the sponsor who pays the travel."""
    if speakerId not in SPEAKERS:
        raise ToolError(f"Speaker {speakerId} does not exist")
    return SPEAKERS[speakerId]


@server.tool()
def roomInfo(roomCode: str) -> dict:
    """Room by its code (AUD, A1, A2, B2, LOFT, YARD)."""
    if roomCode not in ROOMS:
        raise ToolError(f"Unknown room {roomCode}. Known rooms: {', '.join(ROOMS)}")
    return ROOMS[roomCode]


@server.tool()
def getSponsor(sponsorKey: str) -> dict:
    """One sponsor's contract and contact. The key is the name in lower case with hyphens, e.g. quayside-cloud."""
    if sponsorKey not in SPONSORS:
        raise ToolError(f"No sponsor with key {sponsorKey}")
    return SPONSORS[sponsorKey]


@server.tool()
def listSponsors(tier: Literal["gold", "silver", "bronze"] | None = None) -> dict:
    """All sponsors, or those of one tier."""
    return {"sponsors": [{k: s[k] for k in ("sponsorKey", "name", "tier", "amountEur", "paid")} for s in SPONSORS.values() if not tier or s["tier"] == tier]}


@server.tool()
def rescheduleTalk(talkId: str, day: str | None = None, startTime: str | None = None, roomCode: str | None = None) -> dict:
    """Change the day (2026-05-12 to 2026-05-14), start (HH:MM) or room of a talk. Leave out what stays the same."""
    t = _talk(talkId)
    if roomCode and roomCode not in ROOMS:
        raise ToolError(f"Unknown room {roomCode}. Known rooms: {', '.join(ROOMS)}")
    new = {"day": day or t["day"], "startTime": startTime or t["startTime"], "roomCode": roomCode or t["roomCode"]}
    for o in TALKS.values():
        if o is not t and o["status"] != "cancelled" and all(o[k] == v for k, v in new.items()):
            raise ToolError(f"{new['roomCode']} is taken by {o['talkId']} at {new['startTime']} on {new['day']}")
    t.update(new)
    return {"updated": talkId, **new}


@server.tool()
def setTalkStatus(talkId: str, status: Literal["provisional", "confirmed", "cancelled"]) -> dict:
    """Set the status of a talk."""
    t = _talk(talkId)
    was, t["status"] = t["status"], status
    return {"updated": talkId, "title": t["title"], "oldStatus": was, "newStatus": status}


if __name__ == "__main__":
    server.run()
