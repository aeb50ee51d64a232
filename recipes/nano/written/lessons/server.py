"""Weekly timetable of a small music school."""
from typing import Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("cadenza")

Day = Literal["Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

TEACHERS = {
    "Irene Kovac": {"instruments": ["piano", "harpsichord"], "rate": 38, "days": ["Mon", "Wed", "Fri"], "room": "Room 1", "phone": "555-0141", "languages": "English, Croatian"},
    "Samuel Boateng": {"instruments": ["drums", "percussion"], "rate": 32, "days": ["Tue", "Thu", "Sat"], "room": "Basement", "phone": "555-0187", "languages": "English, Twi"},
    "Lucia Ferrara": {"instruments": ["violin", "viola"], "rate": 42, "days": ["Mon", "Tue", "Thu"], "room": "Room 3", "phone": "555-0112", "languages": "English, Italian"},
    "Owen Pritchard": {"instruments": ["guitar", "ukulele"], "rate": 30, "days": ["Wed", "Thu", "Fri", "Sat"], "room": "Room 2", "phone": "555-0169", "languages": "English, Welsh"},
    "Mei Tanaka": {"instruments": ["cello"], "rate": 45, "days": ["Tue", "Fri"], "room": "Room 3", "phone": "555-0125", "languages": "English, Japanese"},
    "Paul Whitaker": {"instruments": ["saxophone", "clarinet", "flute"], "rate": 36, "days": ["Mon", "Thu"], "room": "Room 4", "phone": "555-0150", "languages": "English"},
    "Nadia Haddad": {"instruments": ["voice"], "rate": 40, "days": ["Wed", "Sat"], "room": "Room 1", "phone": "555-0178", "languages": "English, Arabic, French"},
}

# email: name, age, instrument, level, balance owed, parent, joined
STUDENTS = {
    "amy.lund@post.example": ["Amy Lund", 9, "piano", "beginner", 0.0, "Kirsten Lund", "2024-09-02"],
    "b.ortega@mail.example": ["Bruno Ortega", 34, "guitar", "intermediate", 60.0, None, "2023-01-16"],
    "chloe.mbeki@mail.example": ["Chloe Mbeki", 15, "violin", "advanced", 42.0, "Thandi Mbeki", "2019-09-09"],
    "dov@katz.example": ["Dov Katz", 61, "clarinet", "beginner", 108.0, None, "2025-02-03"],
    "ella.r@post.example": ["Ella Reyes", 12, "drums", "intermediate", 0.0, "Marco Reyes", "2022-10-04"],
    "leo.r@post.example": ["Leo Reyes", 10, "guitar", "beginner", 30.0, "Marco Reyes", "2024-01-10"],
    "finn.gallagher@mail.example": ["Finn Gallagher", 17, "saxophone", "advanced", 0.0, "Aoife Gallagher", "2018-09-03"],
    "greta.s@post.example": ["Greta Solberg", 28, "voice", "intermediate", 80.0, None, "2023-11-22"],
    "hassan.y@mail.example": ["Hassan Yilmaz", 14, "cello", "intermediate", 22.5, "Deniz Yilmaz", "2021-09-07"],
    "ivy.chen@post.example": ["Ivy Chen", 8, "violin", "beginner", 21.0, "Wei Chen", "2025-01-14"],
    "jonas.w@mail.example": ["Jonas Weber", 45, "piano", "intermediate", 0.0, None, "2022-03-28"],
    "kavya.n@post.example": ["Kavya Nair", 16, "piano", "advanced", 57.0, "Suresh Nair", "2017-09-11"],
    "m.dubois@mail.example": ["Manon Dubois", 23, "flute", "beginner", 18.0, None, "2025-03-06"],
    "noah.p@post.example": ["Noah Park", 11, "drums", "beginner", 32.0, "Jin Park", "2024-09-05"],
}

# id: teacher, student, day, time, minutes
LESSONS = {
    "a3f": ["Irene Kovac", "amy.lund@post.example", "Mon", "15:30", 30],
    "b71": ["Irene Kovac", "kavya.n@post.example", "Wed", "17:00", 60],
    "c09": ["Irene Kovac", "jonas.w@mail.example", "Fri", "18:30", 45],
    "d52": ["Samuel Boateng", "ella.r@post.example", "Tue", "16:00", 45],
    "e8b": ["Samuel Boateng", "noah.p@post.example", "Thu", "15:45", 30],
    "f14": ["Lucia Ferrara", "chloe.mbeki@mail.example", "Mon", "17:15", 60],
    "0a6": ["Lucia Ferrara", "ivy.chen@post.example", "Tue", "15:00", 30],
    "1c3": ["Lucia Ferrara", "chloe.mbeki@mail.example", "Thu", "17:15", 45],
    "2d9": ["Owen Pritchard", "b.ortega@mail.example", "Thu", "19:00", 45],
    "37e": ["Owen Pritchard", "leo.r@post.example", "Wed", "16:30", 30],
    "4b0": ["Mei Tanaka", "hassan.y@mail.example", "Fri", "16:15", 45],
    "58d": ["Paul Whitaker", "finn.gallagher@mail.example", "Mon", "18:00", 60],
    "6e2": ["Paul Whitaker", "dov@katz.example", "Thu", "11:00", 45],
    "7f5": ["Paul Whitaker", "m.dubois@mail.example", "Thu", "12:30", 30],
    "8a1": ["Nadia Haddad", "greta.s@post.example", "Sat", "10:30", 60],
}


def price(teacher, minutes):
    return TEACHERS[teacher]["rate"] * minutes / 60


def clash(teacher, day, time, minutes, skip=None):
    start = int(time[:2]) * 60 + int(time[3:])
    for i, (t, _, d, at, m) in LESSONS.items():
        other = int(at[:2]) * 60 + int(at[3:])
        if i != skip and (t, d) == (teacher, day) and start < other + m and other < start + minutes:
            raise ToolError(f"{teacher} already teaches lesson {i} at that time ({d} {at}, {m} min)")


@server.tool(name="list-teachers")
def list_teachers(instrument: str | None = None) -> str:
    """Teachers, all or those for an instrument"""
    rows = [f"{n} | {', '.join(t['instruments'])} | {'/'.join(t['days'])} | ${t['rate']}/h" for n, t in TEACHERS.items() if not instrument or instrument.lower() in t["instruments"]]
    return "teacher | teaches | days | rate\n" + "\n".join(rows) if rows else f"Nobody here teaches {instrument}."


@server.tool(name="teacher-info")
def teacher_info(teacher: str) -> str:
    """About a teacher (full name): instruments, hourly rate, days, room, phone, languages"""
    t = TEACHERS.get(teacher)
    if not t:
        return f"We have no teacher called {teacher}."
    return (f"{teacher} teaches {' and '.join(t['instruments'])} in {t['room']} on {', '.join(t['days'])} for ${t['rate']} an hour. "
            f"Phone {t['phone']}. Speaks {t['languages']}.")


@server.tool(name="find-student")
def find_student(name: str) -> str:
    """Find a student's e-mail by name or part of it; the name of a parent works too"""
    hits = [f"{s[0]} <{e}>, {s[2]}" for e, s in STUDENTS.items() if name.lower() in s[0].lower() or (s[5] and name.lower() in s[5].lower())]
    return "\n".join(hits) if hits else f"no student matches '{name}'"


@server.tool(name="student-info")
def student_info(email: str) -> dict:
    """A student's record, by e-mail"""
    if email not in STUDENTS:
        raise ToolError(f"no student with the e-mail {email}")
    name, age, instrument, level, owed, parent, joined = STUDENTS[email]
    return {"name": name, "email": email, "age": age, "instrument": instrument, "level": level, "owes": f"${owed:.2f}", "parent": parent, "joined": joined}


@server.tool(name="timetable")
def timetable(day: Day | None = None, teacher: str | None = None, student_email: str | None = None) -> str:
    """The weekly lessons on a day, of a teacher (full name) or of a student"""
    if not (day or teacher or student_email):
        raise ToolError("choose a day, a teacher or a student")
    rows = sorted(((DAYS.index(l[2]), l[3], i, l) for i, l in LESSONS.items() if (not day or l[2] == day) and (not teacher or l[0] == teacher) and (not student_email or l[1] == student_email)))
    if not rows:
        return "no lessons"
    return "id  | when      | min | student | teacher\n" + "\n".join(f"{i} | {l[2]} {l[3]} | {l[4]} | {STUDENTS[l[1]][0]} | {l[0]}" for _, _, i, l in rows)


@server.tool(name="lesson-details")
def lesson_details(lesson_id: str) -> dict:
    """One lesson by its id, with room and price"""
    if lesson_id not in LESSONS:
        raise ToolError(f"no lesson {lesson_id}")
    t, e, d, at, m = LESSONS[lesson_id]
    return {"id": lesson_id, "teacher": t, "student": STUDENTS[e][0], "day": d, "time": at, "minutes": m, "room": TEACHERS[t]["room"], "price": f"${price(t, m):.2f}"}


@server.tool(name="book-lesson")
def book_lesson(teacher: str, student_email: str, day: Day, time: str, minutes: Literal[30, 45, 60] = 30) -> str:
    """Book a weekly lesson; time as HH:MM"""
    if teacher not in TEACHERS:
        return f"We have no teacher called {teacher}."
    if student_email not in STUDENTS:
        raise ToolError(f"no student with the e-mail {student_email}")
    if day not in TEACHERS[teacher]["days"]:
        raise ToolError(f"{teacher} does not work on {day}")
    clash(teacher, day, time, minutes)
    i = f"9{len(LESSONS):02x}"
    LESSONS[i] = [teacher, student_email, day, time, minutes]
    return f"Booked lesson {i}: {STUDENTS[student_email][0]} with {teacher}, {day} {time}, {minutes} min, ${price(teacher, minutes):.2f}."


@server.tool(name="change-lesson")
def change_lesson(lesson_id: str, action: Literal["move", "cancel"], day: Day | None = None, time: str | None = None) -> str:
    """Move a lesson to another day and/or time, or cancel it for good"""
    if lesson_id not in LESSONS:
        raise ToolError(f"no lesson {lesson_id}")
    l = LESSONS[lesson_id]
    who = f"{STUDENTS[l[1]][0]} with {l[0]}"
    if action == "cancel":
        del LESSONS[lesson_id]
        return f"Cancelled lesson {lesson_id}: {who}, {l[2]} {l[3]}."
    new_day, new_time = day or l[2], time or l[3]
    if new_day not in TEACHERS[l[0]]["days"]:
        raise ToolError(f"{l[0]} does not work on {new_day}")
    clash(l[0], new_day, new_time, l[4], lesson_id)
    old = f"{l[2]} {l[3]}"
    l[2], l[3] = new_day, new_time
    return f"Moved lesson {lesson_id}: {who}, from {old} to {new_day} {new_time}."


@server.tool(name="record-payment")
def record_payment(student_email: str, amount: float) -> str:
    """Note that a student paid"""
    if student_email not in STUDENTS:
        raise ToolError(f"no student with the e-mail {student_email}")
    if amount <= 0:
        raise ToolError("the amount must be above zero")
    s = STUDENTS[student_email]
    s[4] -= amount
    return f"{s[0]} paid ${amount:.2f}, " + (f"still owes ${s[4]:.2f}." if s[4] > 0 else f"has a credit of ${-s[4]:.2f}." if s[4] < 0 else "owes nothing now.")


if __name__ == "__main__":
    server.run()
