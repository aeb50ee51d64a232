from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("pulse-gym")

Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
Plan = Literal["basic", "plus", "premium"]
FEE = {"basic": "29.90 EUR", "plus": "44.90 EUR", "premium": "69.00 EUR"}

# email: name, plan, since, phone, birthday, locker, frozen, visits this month
MEMBERS = {
    "anja.krol@inbox.example": ["Anja Krol", "plus", "2022-03-01", "+49 151 2200341", "1990-07-12", "17", False, 9],
    "ben.achterberg@gmx.example": ["Ben Achterberg", "basic", "2024-09-15", "+49 151 2200876", "2001-01-30", "none", False, 3],
    "carla.mota@inbox.example": ["Carla Mota", "premium", "2019-11-04", "+49 160 7719020", "1984-05-23", "4", False, 14],
    "dmitri.l@fastmail.example": ["Dmitri Lapin", "plus", "2023-06-20", "+49 170 3344120", "1978-10-02", "22", True, 0],
    "elif.demir@inbox.example": ["Elif Demir", "premium", "2021-01-11", "+49 176 9051177", "1995-03-17", "9", False, 11],
    "fred.nyland@gmx.example": ["Fred Nyland", "basic", "2025-01-02", "+49 151 6612009", "1969-12-08", "none", False, 5],
    "gosia.w@fastmail.example": ["Gosia Wilk", "plus", "2020-08-27", "+49 160 4420913", "1988-09-19", "31", False, 7],
    "hassan.b@inbox.example": ["Hassan Bakri", "basic", "2024-04-08", "+49 170 8830455", "1999-06-06", "none", False, 12],
    "ines.moreau@gmx.example": ["Ines Moreau", "premium", "2018-02-19", "+49 176 1093382", "1973-11-25", "1", False, 16],
    "jonas.hecht@inbox.example": ["Jonas Hecht", "plus", "2023-10-30", "+49 151 7754016", "1992-02-14", "28", False, 2],
    "kim.tran@fastmail.example": ["Kim Tran", "basic", "2022-12-05", "+49 160 5528871", "1997-08-01", "none", True, 0],
    "lotte.hecht@inbox.example": ["Lotte Hecht", "plus", "2023-10-30", "+49 151 7754017", "1993-04-09", "29", False, 6],
}

# slug: title, day, time, minutes, room, trainer, level, capacity, booked (e-mails), others booked
CLASSES = {
    "power-yoga-mon": ["Power Yoga", "mon", "07:00", 60, "Studio A", "Nadia Roth", "intermediate", 14, ["anja.krol@inbox.example", "ines.moreau@gmx.example"], 7],
    "spin-mon": ["Spinning", "mon", "18:30", 45, "Bike Room", "Marco Silva", "all levels", 16, ["hassan.b@inbox.example", "carla.mota@inbox.example"], 11],
    "bodypump-tue": ["Body Pump", "tue", "17:45", 55, "Studio B", "Tess Okafor", "intermediate", 20, ["elif.demir@inbox.example"], 12],
    "pilates-tue": ["Pilates", "tue", "09:15", 50, "Studio A", "Nadia Roth", "beginner", 12, ["gosia.w@fastmail.example", "lotte.hecht@inbox.example"], 10],
    "boxing-wed": ["Boxing Basics", "wed", "19:00", 75, "Ring", "Viktor Hahn", "beginner", 10, ["ben.achterberg@gmx.example", "hassan.b@inbox.example"], 4],
    "aqua-wed": ["Aqua Fit", "wed", "10:00", 40, "Pool", "Petra Lang", "all levels", 18, ["fred.nyland@gmx.example"], 6],
    "zumba-thu": ["Zumba", "thu", "18:00", 60, "Studio B", "Luz Herrera", "all levels", 24, ["carla.mota@inbox.example", "lotte.hecht@inbox.example"], 15],
    "hiit-thu": ["HIIT", "thu", "06:30", 30, "Functional Area", "Tess Okafor", "advanced", 12, ["elif.demir@inbox.example", "hassan.b@inbox.example"], 5],
    "back-care-fri": ["Back Care", "fri", "11:00", 45, "Studio A", "Petra Lang", "beginner", 15, ["fred.nyland@gmx.example", "ines.moreau@gmx.example"], 8],
    "spin-fri": ["Spinning", "fri", "17:00", 45, "Bike Room", "Marco Silva", "advanced", 16, ["jonas.hecht@inbox.example"], 9],
    "trx-sat": ["TRX", "sat", "10:30", 45, "Functional Area", "Viktor Hahn", "intermediate", 8, ["anja.krol@inbox.example", "gosia.w@fastmail.example"], 3],
    "yin-yoga-sun": ["Yin Yoga", "sun", "18:15", 90, "Studio A", "Nadia Roth", "all levels", 14, ["ines.moreau@gmx.example"], 8],
}

# name: specialties, languages, EUR per personal session, days, phone
TRAINERS = {
    "Nadia Roth": ["yoga, pilates", "German, English", 55, "Mon Tue Sun", "ext. 211"],
    "Marco Silva": ["spinning, endurance", "Portuguese, English", 48, "Mon Wed Fri", "ext. 214"],
    "Tess Okafor": ["strength, HIIT", "English", 60, "Tue Thu Sat", "ext. 215"],
    "Viktor Hahn": ["boxing, TRX", "German, Russian", 52, "Wed Thu Sat", "ext. 218"],
    "Petra Lang": ["rehab, aqua", "German", 65, "Wed Fri", "ext. 220"],
    "Luz Herrera": ["dance, mobility", "Spanish, German", 45, "Tue Thu", "ext. 223"],
}


def _free(c):
    return c[7] - len(c[8]) - c[9]


@server.tool()
def searchMembers(name: str = "", plan: Plan | None = None) -> str:
    "Lists members (name <email>, plan) whose name contains the text and/or who are on a plan."
    rows = [f"{m[0]} <{e}>, {m[1]}" for e, m in MEMBERS.items() if name.lower() in m[0].lower() and plan in (None, m[1])]
    return "\n".join(rows) or "No members match."


@server.tool()
def memberInfo(email: str) -> str:
    "Member file."
    m = MEMBERS.get(email)
    if not m:
        return f"No member with e-mail {email}"
    return (f"Name: {m[0]}\nPlan: {m[1]}\nMonthly fee: {FEE[m[1]]}\nMember since: {m[2]}\nPhone: {m[3]}\nBirthday: {m[4]}\n"
            f"Locker: {m[5]}\nFrozen: {'yes' if m[6] else 'no'}\nVisits this month: {m[7]}\n"
            f"Booked classes: {', '.join(s for s, c in CLASSES.items() if email in c[8]) or 'none'}")


@server.tool()
def classTimetable(day: Day | None = None, title: str = "", trainer: str = "") -> str:
    "Weekly timetable, optionally only one day, one kind of class or one trainer. Columns: class id, title, day, start, trainer, free places."
    rows = [f"{s} | {c[0]} | {c[1]} | {c[2]} | {c[5]} | {_free(c)}" for s, c in CLASSES.items()
            if day in (None, c[1]) and title.lower() in c[0].lower() and trainer.lower() in c[5].lower()]
    return "id | title | day | start | trainer | free\n" + "\n".join(rows) if rows else "Nothing on the timetable for that."


@server.tool()
def classDetails(classId: str) -> str:
    "Room, length, level, capacity and places of a class, by its id such as spin-mon."
    c = CLASSES.get(classId)
    if not c:
        return f"Unknown class: {classId}"
    return (f"Class: {c[0]}\nWhen: {c[1]} {c[2]}\nDuration: {c[3]} min\nRoom: {c[4]}\nTrainer: {c[5]}\nLevel: {c[6]}\n"
            f"Capacity: {c[7]}\nBooked: {c[7] - _free(c)}\nFree: {_free(c)}")


@server.tool()
def findTrainers(name: str = "", specialty: str = "") -> str:
    "Trainers by name and/or specialty (all if both are empty): what they do, languages, price of a personal session, days, phone extension."
    rows = [f"{n} does {t[0]}; speaks {t[1]}; {t[2]} EUR per session; works {t[3]}; {t[4]}" for n, t in TRAINERS.items()
            if name.lower() in n.lower() and specialty.lower() in t[0].lower()]
    return "\n".join(rows) or "No such trainer."


@server.tool()
def bookClass(classId: str, email: str) -> str:
    "Puts a member on the list of a class."
    c, m = CLASSES.get(classId), MEMBERS.get(email)
    if not c: raise ToolError(f"Unknown class: {classId}")
    if not m: raise ToolError(f"No member with e-mail {email}")
    if m[6]: raise ToolError(f"The membership of {m[0]} is frozen")
    if email in c[8]: raise ToolError(f"{m[0]} is already booked on {classId}")
    if _free(c) < 1: raise ToolError(f"{classId} is full")
    c[8].append(email)
    return f"{m[0]} is booked on {c[0]}, {c[1]} {c[2]}. {_free(c)} places left."


@server.tool()
def cancelBooking(classId: str, email: str) -> str:
    "Takes a member off the list of a class."
    c, m = CLASSES.get(classId), MEMBERS.get(email)
    if not c: raise ToolError(f"Unknown class: {classId}")
    if not m: raise ToolError(f"No member with e-mail {email}")
    if email not in c[8]: raise ToolError(f"{m[0]} has no booking on {classId}")
    c[8].remove(email)
    return f"{m[0]} no longer has a place in {c[0]}, {c[1]} {c[2]}. {_free(c)} places left."


@server.tool()
def updateMember(email: str, plan: Plan | None = None, frozen: bool | None = None, phone: str | None = None) -> str:
    "Changes a member's plan, freezes or unfreezes the membership, or sets a new phone number. Only what is given is changed."
    m = MEMBERS.get(email)
    if not m: raise ToolError(f"No member with e-mail {email}")
    done = []
    if plan: m[1] = plan; done.append(f"plan = {plan} ({FEE[plan]} a month)")
    if frozen is not None: m[6] = frozen; done.append(f"frozen = {'yes' if frozen else 'no'}")
    if phone: m[3] = phone; done.append(f"phone = {phone}")
    if not done: raise ToolError("Nothing to change")
    return f"Updated {m[0]}: " + ", ".join(done)


@server.tool()
def assignTrainer(classId: str, trainer: str) -> str:
    "Gives a class to another trainer (full name)."
    c = CLASSES.get(classId)
    if not c: raise ToolError(f"Unknown class: {classId}")
    if trainer not in TRAINERS: raise ToolError(f"No trainer named {trainer}")
    old, c[5] = c[5], trainer
    return f"{c[0]} ({classId}): trainer changed from {old} to {trainer}"


if __name__ == "__main__":
    server.run()
