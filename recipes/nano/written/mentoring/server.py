from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from typing import Literal

server = MCPServer("mentoring")

def rows(keys, data): return [dict(zip(keys.split(), r)) for r in data]

MENTORS = rows("mentorId name company city phone topics maxMentees", [
    (101, "Ruth Adeyemi", "Northlight Bank", "Cardiff", "029 555-0131", ["negotiation", "leadership"], 2),
    (102, "Pavel Horak", "Zelta Software", "Brno", "054 555-0132", ["coding-careers", "interviews"], 3),
    (103, "Carmen Ruiz", "Hospital del Mar", "Valencia", "096 555-0133", ["leadership", "returning-parents"], 1),
    (104, "Greg Thornton", "Thornton & Daughters", "Bristol", "0117 555-0134", ["own-business", "negotiation"], 2),
    (105, "Aiko Mori", "Kite Games", "Lisbon", "021 555-0135", ["coding-careers"], 2),
    (106, "Sanne de Wit", "Polder Energy", "Utrecht", "030 555-0136", ["returning-parents", "interviews"], 2),
    (107, "Idris Bello", "Open Ledger", "Dublin", "01 555-0137", ["own-business", "public-speaking"], 1),
    (108, "Helga Brandt", "Stadtwerke Jena", "Jena", "0364 555-0138", ["public-speaking", "leadership"], 3),
    (109, "Matteo Gallo", "Gallo Foods", "Parma", "0521 555-0139", ["own-business"], 1),
])
MENTEES = rows("email name job goal joined pairId", [
    ("lina.park@mail.example", "Lina Park", "junior analyst", "first team lead role", "2024-09-12", "P-31"),
    ("tom.osei@mail.example", "Tom Osei", "teacher", "move into software", "2024-10-02", "P-32"),
    ("fay.dunn@mail.example", "Fay Dunn", "nurse", "ward manager", "2024-08-20", "P-33"),
    ("karim.nasser@mail.example", "Karim Nasser", "baker", "open a second shop", "2025-01-15", "P-34"),
    ("olga.petrova@mail.example", "Olga Petrova", "tester", "become a game developer", "2024-11-23", "P-35"),
    ("beth.quinn@mail.example", "Beth Quinn", "on parental leave", "return part-time", "2025-02-03", "P-36"),
    ("dev.sharma@mail.example", "Dev Sharma", "sales assistant", "ask for a raise", "2024-12-18", "P-37"),
    ("ines.faria@mail.example", "Ines Faria", "student", "survive job interviews", "2025-02-19", "P-38"),
    ("noah.weber@mail.example", "Noah Weber", "engineer", "give talks without fear", "2024-07-30", "P-39"),
    ("mia.larsen@mail.example", "Mia Larsen", "potter", "sell online", "2025-01-27", "P-40"),
    ("joel.abbott@mail.example", "Joel Abbott", "driver", "start a courier firm", "2025-03-05", None),
    ("zoe.lambert@mail.example", "Zoe Lambert", "graphic artist", "freelance prices", "2025-03-11", None),
    ("sami.haddad@mail.example", "Sami Haddad", "web developer", "senior position", "2025-03-18", None),
])
PAIRS = rows("pairId mentorId menteeEmail started rhythm status", [
    ("P-31", 101, "lina.park@mail.example", "2024-10-01", "monthly", "active"),
    ("P-32", 102, "tom.osei@mail.example", "2024-10-14", "every two weeks", "active"),
    ("P-33", 103, "fay.dunn@mail.example", "2024-09-05", "monthly", "active"),
    ("P-34", 109, "karim.nasser@mail.example", "2025-01-28", "every three weeks", "active"),
    ("P-35", 105, "olga.petrova@mail.example", "2024-12-04", "monthly", "paused"),
    ("P-36", 106, "beth.quinn@mail.example", "2025-02-10", "weekly", "active"),
    ("P-37", 104, "dev.sharma@mail.example", "2025-01-07", "monthly", "active"),
    ("P-38", 102, "ines.faria@mail.example", "2025-02-26", "weekly", "active"),
    ("P-39", 108, "noah.weber@mail.example", "2024-08-16", "every six weeks", "active"),
    ("P-40", 107, "mia.larsen@mail.example", "2025-02-01", "monthly", "active"),
])
TOPICS = rows("slug title leadMentorId reading minutes", [
    ("negotiation", "Talking about money", 104, "Ask Calmly", 60),
    ("leadership", "Leading your first team", 108, "The Quiet Captain", 75),
    ("coding-careers", "Careers in code", 105, "From Zero to Merge", 45),
    ("interviews", "Job interviews", 106, "Forty Questions", 50),
    ("own-business", "Starting a business", 107, "Ledger and Lantern", 90),
    ("public-speaking", "Speaking in public", 108, "Shaky Knees", 40),
    ("returning-parents", "Back to work", 103, "Second Wind", 55),
])
MEETINGS = rows("meetingId pairId date time place topic status", [
    (501, "P-31", "2025-03-04", "17:00", "Cardiff library", "leadership", "held"),
    (502, "P-32", "2025-03-05", "18:30", "online", "coding-careers", "held"),
    (503, "P-36", "2025-03-06", "10:00", "online", "returning-parents", "missed"),
    (504, "P-38", "2025-03-07", "16:15", "online", "interviews", "held"),
    (505, "P-34", "2025-03-11", "14:00", "Gallo Foods office", "own-business", "held"),
    (506, "P-37", "2025-03-12", "12:30", "Cafe Ostrich", "negotiation", "cancelled"),
    (507, "P-36", "2025-03-13", "10:00", "online", "returning-parents", "held"),
    (508, "P-33", "2025-03-14", "19:00", "hospital canteen", "leadership", "missed"),
    (509, "P-32", "2025-03-19", "18:30", "online", "interviews", "held"),
    (510, "P-40", "2025-03-20", "11:00", "Dublin hub, room 2", "own-business", "held"),
    (511, "P-39", "2025-03-25", "15:45", "Volkshaus Jena", "public-speaking", "planned"),
    (512, "P-38", "2025-03-26", "16:15", "online", "interviews", "planned"),
    (513, "P-36", "2025-03-27", "10:00", "Cafe Molen", "interviews", "planned"),
    (514, "P-31", "2025-04-01", "17:00", "Cardiff library", "negotiation", "planned"),
    (515, "P-34", "2025-04-01", "14:00", "online", "own-business", "planned"),
    (516, "P-32", "2025-04-02", "18:30", "online", "coding-careers", "planned"),
    (517, "P-37", "2025-04-09", "12:30", "Cafe Ostrich", "negotiation", "planned"),
    (518, "P-33", "2025-04-11", "19:00", "hospital canteen", "returning-parents", "planned"),
])


def one(table, key, value, what):
    for r in table:
        if r[key] == value: return r
    raise ToolError(f"{what} {value} does not exist")

def load(m): return sum(p["mentorId"] == m for p in (x for x in PAIRS if x["status"] != "ended"))


@server.tool()
def listMentors(topic: str | None = None, city: str | None = None, hasRoom: bool = False) -> list[dict]:
    "Mentors in short form. topic is a slug such as 'negotiation'; hasRoom=true leaves only mentors who can take another mentee."
    return [{"mentorId": m["mentorId"], "name": m["name"], "city": m["city"], "mentees": load(m["mentorId"]), "maxMentees": m["maxMentees"]}
            for m in MENTORS if (topic is None or topic in m["topics"]) and (city is None or city.lower() == m["city"].lower())
            and (not hasRoom or load(m["mentorId"]) < m["maxMentees"])]


@server.tool()
def getMentor(mentorId: int) -> dict:
    "One mentor with company, phone and topics."
    return one(MENTORS, "mentorId", mentorId, "Mentor")


@server.tool()
def findMentee(query: str) -> list[dict]:
    "Find mentees by e-mail or (part of) the name."
    q = query.lower()
    return [m for m in MENTEES if q in m["name"].lower() or q == m["email"]]


@server.tool()
def getPair(pairId: str) -> dict:
    "One mentor-mentee pair, e.g. P-31."
    return one(PAIRS, "pairId", pairId.upper(), "Pair")


@server.tool()
def listMeetings(meetingId: int | None = None, pairId: str | None = None, date: str | None = None,
                 status: Literal["planned", "held", "missed", "cancelled"] | None = None) -> list[dict]:
    "Meetings that fit all given filters (give at least one). Dates are YYYY-MM-DD."
    if meetingId is None and pairId is None and date is None and status is None: raise ToolError("Give at least one filter")
    return [m for m in MEETINGS if meetingId in (None, m["meetingId"]) and pairId in (None, m["pairId"]) and date in (None, m["date"]) and status in (None, m["status"])]


@server.tool()
def getTopic(slug: str) -> dict:
    "A topic: title, lead mentor, recommended reading, usual length in minutes. Slugs: negotiation, leadership, coding-careers, interviews, own-business, public-speaking, returning-parents."
    return one(TOPICS, "slug", slug, "Topic")


@server.tool()
def bookMeeting(pairId: str, date: str, time: str, topic: str, place: str = "online") -> dict:
    "Plan a new meeting of a pair (date YYYY-MM-DD, time HH:MM, topic slug)."
    one(PAIRS, "pairId", pairId, "Pair"); one(TOPICS, "slug", topic, "Topic")
    m = dict(meetingId=MEETINGS[-1]["meetingId"] + 1, pairId=pairId, date=date, time=time, place=place, topic=topic, status="planned")
    MEETINGS.append(m)
    return m


@server.tool()
def updateMeeting(meetingId: int, status: Literal["planned", "held", "missed", "cancelled"] | None = None, date: str | None = None,
                  time: str | None = None, place: str | None = None) -> dict:
    "Change the status, date, time or place of a meeting. Returns the meeting as it is now."
    m = one(MEETINGS, "meetingId", meetingId, "Meeting")
    for k, v in dict(status=status, date=date, time=time, place=place).items():
        if v is not None: m[k] = v
    return m


@server.tool()
def createPair(mentorId: int, menteeEmail: str, rhythm: str = "monthly") -> dict:
    "Match a mentee with a mentor."
    m = one(MENTORS, "mentorId", mentorId, "Mentor"); e = one(MENTEES, "email", menteeEmail, "Mentee")
    if e["pairId"]: raise ToolError(f"{menteeEmail} is already in {e['pairId']}")
    if load(mentorId) >= m["maxMentees"]: raise ToolError(f"Mentor {mentorId} is full ({m['maxMentees']} of {m['maxMentees']})")
    p = dict(pairId=f"P-{31 + len(PAIRS)}", mentorId=mentorId, menteeEmail=menteeEmail, started="2025-03-24", rhythm=rhythm, status="active")
    PAIRS.append(p); e["pairId"] = p["pairId"]
    return p


if __name__ == "__main__":
    server.run()
