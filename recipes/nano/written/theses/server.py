from datetime import date
from typing import Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("thesis-office")

STUDENTS = {
    r[0]: dict(zip(("matriculation_no", "name", "programme", "semester", "email", "thesis_no"), r))
    for r in [
        (4810237, "Nadia Ferreira", "Computer Science", 9, "n.ferreira@stud.example", "TH-2401"),
        (4810944, "Jonas Weidner", "Computer Science", 7, "j.weidner@stud.example", "TH-2402"),
        (4811302, "Amara Osei", "Data Science", 4, "a.osei@stud.example", "TH-2403"),
        (4811518, "Lukas Brandt", "Mechanical Engineering", 8, "l.brandt@stud.example", "TH-2404"),
        (4811777, "Lena Brandt", "Data Science", 3, "lena.brandt@stud.example", None),
        (4812060, "Mehmet Aydin", "Mechanical Engineering", 6, "m.aydin@stud.example", "TH-2405"),
        (4812399, "Sofia Lindqvist", "Architecture", 10, "s.lindqvist@stud.example", "TH-2406"),
        (4812650, "Tomasz Kowal", "Computer Science", 11, "t.kowal@stud.example", "TH-2407"),
        (4812871, "Priya Raman", "Data Science", 5, "p.raman@stud.example", "TH-2408"),
        (4813005, "Felix Haug", "Architecture", 7, "f.haug@stud.example", "TH-2409"),
        (4813246, "Clara Moretti", "Mechanical Engineering", 9, "c.moretti@stud.example", "TH-2410"),
        (4813490, "Daniel Okafor", "Computer Science", 6, "d.okafor@stud.example", "TH-2411"),
        (4813733, "Yuki Tanabe", "Architecture", 8, "y.tanabe@stud.example", "TH-2412"),
        (4813958, "Greta Solberg", "Data Science", 4, "g.solberg@stud.example", "TH-2413"),
    ]
}

THESES = {
    r[0]: dict(zip(("thesis_no", "title", "level", "matriculation_no", "first_examiner", "second_examiner",
                    "language", "registered_on", "due_on", "status", "grade"), r))
    for r in [
        ("TH-2401", "Scheduling Batch Jobs on Shared Clusters", "master", 4810237, "KRO", "DVS", "English", "2025-01-13", "2025-07-14", "registered", None),
        ("TH-2402", "A Type Checker for Spreadsheet Formulas", "bachelor", 4810944, "DVS", None, "English", "2025-03-03", "2025-06-02", "registered", None),
        ("TH-2403", "Forecasting Bicycle Traffic from Weather Data", "master", 4811302, "NAK", "KRO", "English", "2024-11-18", "2025-05-19", "submitted", None),
        ("TH-2404", "Fatigue of Welded Joints in Crane Booms", "master", 4811518, "HOL", "PET", "German", "2024-10-07", "2025-04-07", "under_review", None),
        ("TH-2405", "Noise Reduction in Small Heat Pumps", "bachelor", 4812060, "PET", "HOL", "German", "2025-02-10", "2025-05-12", "registered", None),
        ("TH-2406", "Reusing Grain Silos as Student Housing", "master", 4812399, "BEL", "MAR", "German", "2024-09-30", "2025-03-31", "graded", 1.3),
        ("TH-2407", "Detecting Duplicate Bug Reports", "master", 4812650, "KRO", "NAK", "English", "2024-08-12", "2025-02-12", "withdrawn", None),
        ("TH-2408", "Fairness of Loan Scoring Models", "master", 4812871, "NAK", None, "English", "2025-02-24", "2025-08-25", "registered", None),
        ("TH-2409", "Daylight in Basement Apartments", "bachelor", 4813005, "MAR", "BEL", "German", "2025-01-20", "2025-04-22", "submitted", None),
        ("TH-2410", "Cooling Channels for 3D-Printed Moulds", "master", 4813246, "HOL", "PET", "English", "2024-12-02", "2025-06-02", "registered", None),
        ("TH-2411", "Offline Maps for Mountain Rescue", "bachelor", 4813490, "DVS", "KRO", "German", "2024-11-04", "2025-02-03", "graded", 2.0),
        ("TH-2412", "Timber Roofs for Earthquake Zones", "master", 4813733, "BEL", "HOL", "English", "2024-10-21", "2025-04-21", "under_review", None),
        ("TH-2413", "Predicting Hospital Bed Demand", "master", 4813958, "NAK", "DVS", "English", "2024-09-09", "2025-03-10", "graded", 1.7),
    ]
}

EXAMINERS = {
    r[0]: dict(zip(("code", "name", "chair", "room", "phone", "office_hour", "max_theses", "on_leave"), r))
    for r in [
        ("KRO", "Prof. Helga Kronberg", "Distributed Systems", "E 214", "4471", "Tuesday 14:00", 6, False),
        ("DVS", "Dr. Ian Davies", "Software Engineering", "E 118", "4420", "Thursday 10:00", 4, False),
        ("NAK", "Prof. Rui Nakamura", "Machine Learning", "F 302", "4533", "Monday 13:00", 5, False),
        ("HOL", "Prof. Anders Holm", "Structural Mechanics", "B 021", "4207", "Wednesday 09:30", 5, False),
        ("PET", "Dr. Vesna Petrovic", "Thermodynamics", "B 117", "4219", "Friday 11:00", 3, True),
        ("BEL", "Prof. Odile Bellamy", "Building Design", "A 405", "4105", "Tuesday 10:30", 4, False),
        ("MAR", "Dr. Stefan Marek", "Urban Planning", "A 412", "4118", "Monday 15:00", 3, False),
        ("QUI", "Dr. Teresa Quintana", "Machine Learning", "F 309", "4540", "Thursday 15:30", 4, False),
    ]
}


def _thesis(thesis_no: str) -> dict:
    if thesis_no not in THESES:
        raise ToolError(f"Thesis {thesis_no} not found")
    return THESES[thesis_no]


def _load(code: str) -> int:
    return sum(code in (t["first_examiner"], t["second_examiner"]) and t["status"] not in ("graded", "withdrawn")
               for t in THESES.values())


@server.tool()
def find_student(name: str) -> list[dict]:
    """Find students by full or partial name. Returns matriculation number, name and programme."""
    hits = [s for s in STUDENTS.values() if name.lower() in s["name"].lower()]
    if not hits:
        raise ToolError(f"No student matches '{name}'")
    return [{k: s[k] for k in ("matriculation_no", "name", "programme")} for s in hits]


@server.tool()
def get_student(matriculation_no: int) -> dict:
    """Full student record: programme, semester, e-mail address and the number of the thesis, if one is registered."""
    if matriculation_no not in STUDENTS:
        raise ToolError(f"Unknown matriculation number {matriculation_no}")
    return STUDENTS[matriculation_no]


@server.tool()
def get_thesis(thesis_no: str) -> dict:
    """Details of one thesis by its number, e.g. TH-2399: title, level, student, examiners, dates, status and grade."""
    return _thesis(thesis_no)


@server.tool()
def search_theses(title_contains: str | None = None,
                  status: Literal["registered", "submitted", "under_review", "graded", "withdrawn"] | None = None,
                  level: Literal["bachelor", "master"] | None = None,
                  examiner: str | None = None) -> list[dict]:
    """Search theses. All filters are optional and combine; examiner is an examiner code and matches first or second examiner."""
    rows = []
    for t in THESES.values():
        if title_contains and title_contains.lower() not in t["title"].lower():
            continue
        if status and t["status"] != status or level and t["level"] != level:
            continue
        if examiner and examiner not in (t["first_examiner"], t["second_examiner"]):
            continue
        rows.append({k: t[k] for k in ("thesis_no", "title", "status", "due_on")})
    return rows


@server.tool()
def list_examiners(chair: str | None = None) -> list[dict]:
    """List examiners with their code, name, chair, open theses and maximum, optionally of one chair."""
    return [{"code": e["code"], "name": e["name"], "chair": e["chair"], "open_theses": _load(e["code"]), "max_theses": e["max_theses"]}
            for e in EXAMINERS.values() if not chair or e["chair"].lower() == chair.lower()]


@server.tool()
def get_examiner(code: str) -> dict:
    """Contact card of an examiner by three-letter code: room, phone extension, office hour, capacity, leave."""
    if code not in EXAMINERS:
        raise ToolError(f"No examiner with code {code}")
    return EXAMINERS[code]


@server.tool()
def assign_examiner(thesis_no: str, role: Literal["first", "second"], examiner: str) -> dict:
    """Set the first or second examiner of a thesis, replacing the present one."""
    thesis = _thesis(thesis_no)
    if examiner not in EXAMINERS:
        raise ToolError(f"No examiner with code {examiner}")
    thesis[f"{role}_examiner"] = examiner
    return {k: thesis[k] for k in ("thesis_no", "title", "first_examiner", "second_examiner")}


@server.tool()
def change_deadline(thesis_no: str, due_on: date) -> dict:
    """Move the submission deadline of a thesis that has not been handed in yet (YYYY-MM-DD)."""
    thesis = _thesis(thesis_no)
    if thesis["status"] != "registered":
        raise ToolError(f"Deadline of {thesis_no} cannot be changed: thesis is {thesis['status']}")
    old, thesis["due_on"] = thesis["due_on"], due_on.isoformat()
    return {"thesis_no": thesis_no, "old_due_on": old, "due_on": thesis["due_on"]}


@server.tool()
def update_status(thesis_no: str, status: Literal["registered", "submitted", "under_review", "graded", "withdrawn"],
                  grade: float | None = None) -> dict:
    """Change the status of a thesis. A grade from 1.0 to 5.0 is required with status graded and not allowed otherwise."""
    thesis = _thesis(thesis_no)
    if (status == "graded") != (grade is not None):
        raise ToolError("grade is required with status graded, and only then")
    thesis.update(status=status, grade=grade)
    return {k: thesis[k] for k in ("thesis_no", "title", "status", "grade")}


if __name__ == "__main__":
    server.run()
