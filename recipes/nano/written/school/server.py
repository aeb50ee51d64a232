import random
from typing import Literal, Optional

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("schoolbook")

# username: name, form, birthday, guardian, guardian phone, bus line, free lunch, allergies
PUPILS = {
    "amoreau": ["Alice Moreau", "8A", "2012-03-14", "Luc Moreau", "555-0131", "bus 4", "no", "none"],
    "bkaya": ["Berk Kaya", "8A", "2012-07-02", "Selin Kaya", "555-0162", "walks", "yes", "none"],
    "cdunne": ["Ciara Dunne", "8A", "2011-11-23", "Maeve Dunne", "555-0108", "bus 2", "no", "peanuts"],
    "dpark": ["Daniel Park", "8A", "2012-01-30", "Jisoo Park", "555-0175", "bus 4", "no", "none"],
    "eosei": ["Esther Osei", "8A", "2012-05-19", "Kwame Osei", "555-0149", "bus 7", "yes", "none"],
    "fweber": ["Finn Weber", "8A", "2012-02-08", "Anke Weber", "555-0116", "bike", "no", "bee stings"],
    "gsilva": ["Gabriela Silva", "8B", "2011-12-12", "Marcos Silva", "555-0187", "bus 2", "no", "none"],
    "hnguyen": ["Huy Nguyen", "8B", "2012-04-27", "Lan Nguyen", "555-0153", "walks", "yes", "shellfish"],
    "irossi": ["Irene Rossi", "8B", "2012-06-06", "Paolo Rossi", "555-0120", "bus 7", "no", "none"],
    "jbaker": ["Jamal Baker", "8B", "2011-10-17", "Denise Baker", "555-0194", "bus 4", "yes", "none"],
    "kpetersen": ["Karla Petersen", "8B", "2012-08-09", "Nils Petersen", "555-0139", "bike", "no", "none"],
    "lpark": ["Lucy Park", "9A", "2010-09-25", "Jisoo Park", "555-0175", "bus 4", "no", "none"],
    "mhassan": ["Malik Hassan", "9A", "2011-01-11", "Amina Hassan", "555-0102", "bus 2", "yes", "milk"],
    "nivanova": ["Nina Ivanova", "9A", "2010-12-03", "Olga Ivanova", "555-0168", "walks", "no", "none"],
    "owright": ["Oscar Wright", "9A", "2011-05-28", "Helen Wright", "555-0111", "bus 7", "no", "none"],
    "pfernandez": ["Paula Fernandez", "9A", "2011-03-07", "Rosa Fernandez", "555-0126", "bus 2", "no", "none"],
    "qli": ["Qing Li", "9B", "2010-11-14", "Wei Li", "555-0183", "bike", "no", "none"],
    "rsharma": ["Riya Sharma", "9B", "2011-02-20", "Anil Sharma", "555-0145", "bus 4", "no", "gluten"],
    "sjohansson": ["Sven Johansson", "9B", "2011-04-16", "Maja Johansson", "555-0157", "walks", "no", "none"],
    "tmbeki": ["Thandi Mbeki", "9B", "2010-10-31", "Sipho Mbeki", "555-0190", "bus 7", "yes", "none"],
}
# code: title, teacher, day and time, room, places, term
COURSES = {
    "MATH8": ["Mathematics 8", "Mr Halloran", "Mon 08:15", "B12", 28, "full year"],
    "ENGL8": ["English 8", "Ms Adeyinka", "Tue 10:00", "A04", 28, "full year"],
    "BIOL8": ["Biology 8", "Dr Castell", "Wed 09:05", "Lab 1", 20, "full year"],
    "HIST8": ["History 8", "Mr Varga", "Thu 11:10", "A11", 28, "full year"],
    "MATH9": ["Mathematics 9", "Mrs Lindholm", "Tue 08:15", "B14", 28, "full year"],
    "CHEM9": ["Chemistry 9", "Dr Castell", "Fri 09:05", "Lab 2", 18, "full year"],
    "FREN9": ["French 9", "Mme Laurent", "Thu 08:15", "A07", 24, "full year"],
    "ROBO": ["Robotics Club", "Mrs Lindholm", "Wed 14:30", "Lab 3", 8, "spring"],
    "CHOIR": ["Choir", "Ms Adeyinka", "Mon 14:30", "Aula", 40, "full year"],
    "POTT": ["Pottery", "Ms Ferris", "Fri 14:30", "Studio", 6, "autumn"],
    "CHESS": ["Chess", "Mr Varga", "Tue 14:30", "Library", 16, "spring"],
}
_rng = random.Random(41)
ROSTER = {code: [u for u, p in PUPILS.items() if code[-1] == p[1][0]] for code in COURSES}
for _code, _n in (("ROBO", 8), ("CHOIR", 9), ("POTT", 4), ("CHESS", 5)):
    ROSTER[_code] = sorted(_rng.sample(sorted(PUPILS), _n))
GRADES = [[u, c, test, _rng.randint(41, 99), date] for c, tests in {
    "MATH8": [("fractions test", "2025-10-06"), ("equations test", "2026-01-19")],
    "ENGL8": [("book report", "2025-11-18")],
    "BIOL8": [("cell quiz", "2025-10-22")],
    "HIST8": [("essay Rome", "2025-12-04")],
    "MATH9": [("functions test", "2025-11-11"), ("geometry test", "2026-02-03")],
    "CHEM9": [("acids test", "2025-12-12")],
    "FREN9": [("vocabulary quiz", "2025-10-16"), ("oral exam", "2026-01-29")],
}.items() for test, date in tests for u in ROSTER[c]]
ABSENCES = {
    "amoreau": [("2026-01-14", "excused", "dentist")],
    "bkaya": [("2025-11-03", "unexcused", ""), ("2026-02-09", "excused", "flu")],
    "gsilva": [("2026-02-05", "excused", "family trip")],
    "jbaker": [("2025-12-01", "unexcused", ""), ("2026-01-12", "unexcused", ""), ("2026-02-10", "unexcused", "")],
    "owright": [("2026-01-26", "excused", "broken arm"), ("2026-01-27", "excused", "broken arm")],
    "tmbeki": [("2025-10-20", "excused", "funeral")],
}


def _pupil(username):
    if username not in PUPILS:
        raise ToolError(f"unknown pupil '{username}' (use find-pupils to get the username)")
    return PUPILS[username]


@server.tool("find-pupils")
def find_pupils(name: Optional[str] = None, form: Optional[Literal["8A", "8B", "9A", "9B"]] = None) -> str:
    "Find pupils by (part of) their name and/or by form. Returns a table of username, name and form."
    hits = [f"{u:<12}{p[0]:<18}{p[1]}" for u, p in PUPILS.items() if (not name or name.lower() in p[0].lower()) and form in (None, p[1])]
    if not name and not form:
        raise ToolError("name or form is required")
    return "username    name              form\n" + "\n".join(hits) if hits else "0 pupils found"


@server.tool("pupil-profile")
def pupil_profile(username: str) -> dict:
    "Personal data of a pupil: form, birthday, guardian and phone, way to school, free lunch, allergies, courses and absences."
    p = _pupil(username)
    return {"username": username, "name": p[0], "form": p[1], "birthday": p[2], "guardian": p[3], "guardian_phone": p[4], "transport": p[5],
            "free_lunch": p[6], "allergies": p[7], "courses": [c for c, r in ROSTER.items() if username in r],
            "absences": [" ".join(filter(None, a)) for a in ABSENCES.get(username, [])]}


@server.tool("pupil-grades")
def pupil_grades(username: str, course: Optional[str] = None) -> str:
    "All marks (0-100) of one pupil, or those in one course (course code)."
    p = _pupil(username)
    rows = [f"{c} | {t} | {d} | {m}" for u, c, t, m, d in GRADES if u == username and course in (None, c)]
    return "\n".join([f"Marks of {p[0]}", "course | work | date | mark", *rows]) if rows else f"No marks for {p[0]} there yet."


@server.tool("list-courses")
def list_courses(day: Optional[Literal["Mon", "Tue", "Wed", "Thu", "Fri"]] = None, teacher: Optional[str] = None) -> str:
    "The courses with their codes; can be narrowed to a weekday or a teacher."
    rows = [f"{c}: {v[0]}, {v[1]}, {v[2]}" for c, v in COURSES.items() if (not day or v[2].startswith(day)) and (not teacher or teacher.lower() in v[1].lower())]
    return "\n".join(rows) or "no courses"


@server.tool("course-details")
def course_details(code: str) -> str:
    "One course by its code: teacher, time, room, term, places and who is enrolled (usernames)."
    v = COURSES.get(code)
    if not v:
        return f"No course has the code {code}."
    return (f"{code} - {v[0]}\nteacher: {v[1]}\ntime: {v[2]}\nroom: {v[3]}\nterm: {v[5]}\nplaces: {v[4]} ({len(ROSTER[code])} taken)\n"
            f"enrolled: {', '.join(ROSTER[code])}")


@server.tool("course-marks")
def course_marks(code: str, work: str) -> str:
    "The marks of everybody in a course for one piece of work, e.g. 'cell quiz'"
    rows = [f"{PUPILS[u][0]}: {m}" for u, c, t, m, d in GRADES if c == code and t == work]
    return "\n".join(rows) if rows else f"No marks for '{work}' in {code}."


@server.tool("enter-mark")
def enter_mark(username: str, course: str, work: str, mark: int) -> str:
    "Enter a mark from 0 to 100 for a pupil, or replace it if the work already has one. course is the course code."
    p = _pupil(username)
    if course not in COURSES:
        return f"No course has the code {course}."
    if username not in ROSTER[course]:
        raise ToolError(f"{p[0]} is not enrolled in {course}")
    for g in GRADES:
        if g[:3] == [username, course, work]:
            old, g[3] = g[3], mark
            return f"{p[0]}, {course}, {work}: changed from {old} to {mark}"
    GRADES.append([username, course, work, mark, "today"])
    return f"{p[0]}, {course}, {work}: {mark} entered"


@server.tool("set-enrolment")
def set_enrolment(username: str, course: str, action: Literal["enrol", "withdraw"]) -> str:
    "Enrol a pupil in a course or withdraw him or her from it."
    p = _pupil(username)
    if course not in COURSES:
        return f"No course has the code {course}."
    r = ROSTER[course]
    if action == "enrol":
        if username in r:
            raise ToolError(f"{p[0]} is already in {course}")
        if len(r) >= COURSES[course][4]:
            raise ToolError(f"{course} is full")
        r.append(username)
        return f"{p[0]} enrolled in {course} ({len(r)} of {COURSES[course][4]} places taken)"
    if username not in r:
        raise ToolError(f"{p[0]} is not enrolled in {course}")
    r.remove(username)
    return f"{p[0]} withdrawn from {course} ({len(r)} of {COURSES[course][4]} places taken)"


@server.tool("record-absence")
def record_absence(username: str, date: str, excused: bool = False, reason: str = "") -> str:
    "Record that a pupil is or was absent on a date (YYYY-MM-DD). excused is true when the guardian or a doctor has given a reason."
    p = _pupil(username)
    ABSENCES.setdefault(username, []).append((date, "excused" if excused else "unexcused", reason))
    return f"Absence of {p[0]} on {date} recorded as {'excused' if excused else 'unexcused'}" + (f" ({reason})" if reason else "") + f". Absences this year: {len(ABSENCES[username])}"


if __name__ == "__main__":
    server.run()
