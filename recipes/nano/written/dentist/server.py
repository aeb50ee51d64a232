from typing import Annotated, Literal
from pydantic import Field
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("bridge-street-dental")

DENTISTS = {
    "okafor": ("Dr Ngozi Okafor", "root canals", "Mon, Tue, Thu", "room 2", 11),
    "lindgren": ("Dr Per Lindgren", "general", "Mon to Fri", "room 1", 24),
    "sharma": ("Dr Anjali Sharma", "children and braces", "Tue, Wed, Fri", "room 3", 7),
    "weiss": ("Dr Eva Weiss", "implants and surgery", "Wed, Thu", "room 4", 15),
}
PATIENTS = {p[0]: dict(zip(("chart", "name", "born", "phone", "email", "insurer", "allergies", "dentist", "next_checkup", "owes"), p)) for p in [
    (301, "Agnes Corrigan", "1951-07-19", "0151 496 0102", "agnes.corrigan@mail.example", "Denplan", "penicillin", "lindgren", "2025-09-15", 0),
    (302, "Tom Whelan", "1988-01-30", "0151 496 0118", "tomw@inbox.example", "none", "none", "lindgren", "2025-06-02", 65),
    (307, "Zofia Krawczyk", "1994-11-08", "0151 496 0133", "zofia.k@post.example", "AXA", "latex", "okafor", "2025-08-21", 0),
    (310, "Leo Bannister", "2014-05-23", "0151 496 0147", "bannisters@home.example", "NHS", "none", "sharma", "2025-05-07", 0),
    (311, "Mia Bannister", "2017-09-02", "0151 496 0147", "bannisters@home.example", "NHS", "nuts", "sharma", "2025-05-07", 0),
    (315, "Hassan Aziz", "1975-03-12", "0151 496 0160", "h.aziz@work.example", "Bupa", "none", "weiss", "2025-10-30", 420),
    (318, "Doris Pemberton", "1943-12-01", "0151 496 0171", "-", "Denplan", "aspirin, latex", "lindgren", "2025-07-11", 0),
    (322, "Callum Frost", "2001-08-15", "0151 496 0189", "callum.frost@uni.example", "none", "none", "okafor", "2025-04-28", 130),
    (325, "Ines Duarte", "1982-02-27", "0151 496 0194", "ines.duarte@mail.example", "AXA", "lidocaine", "weiss", "2025-11-19", 0),
    (329, "Gareth Pugh", "1969-10-05", "0151 496 0206", "gpugh@farm.example", "none", "none", "lindgren", "2025-03-31", 48),
    (333, "Yuki Sato", "2010-04-11", "0151 496 0215", "sato.family@home.example", "Bupa", "none", "sharma", "2025-06-25", 0),
    (336, "Nora Whelan", "1990-06-17", "0151 496 0118", "norawhelan@inbox.example", "Bupa", "codeine", "lindgren", "2025-09-01", 0),
]}
VISITS = {v[0]: dict(zip(("visit", "chart", "dentist", "day", "time", "minutes", "treatment", "fee", "paid", "status", "note"), v)) for v in [
    ("v3a9", 301, "lindgren", "2025-03-10", "09:00", 30, "check-up", 48, True, "done", "lower left crown fine"),
    ("v3b2", 322, "okafor", "2025-03-10", "10:30", 60, "root canal", 390, False, "done", "second session needed"),
    ("v3c7", 329, "lindgren", "2025-03-10", "11:00", 30, "check-up", 48, False, "no-show", ""),
    ("v41d", 302, "lindgren", "2025-03-11", "08:30", 30, "filling", 95, False, "done", "upper right molar"),
    ("v42e", 310, "sharma", "2025-03-11", "15:30", 20, "check-up", 0, True, "done", "braces to be discussed"),
    ("v430", 311, "sharma", "2025-03-11", "15:50", 20, "check-up", 0, True, "done", ""),
    ("v4f1", 315, "weiss", "2025-03-12", "09:00", 90, "implant", 1850, False, "done", "stitches out in ten days"),
    ("v502", 333, "sharma", "2025-03-12", "16:00", 40, "braces", 220, True, "cancelled", "has the flu"),
    ("v517", 325, "weiss", "2025-03-13", "10:00", 45, "extraction", 140, False, "arrived", "no lidocaine"),
    ("v51a", 307, "okafor", "2025-03-13", "11:15", 60, "root canal", 390, False, "booked", "latex-free gloves"),
    ("v52c", 318, "lindgren", "2025-03-13", "14:00", 30, "dentures", 260, False, "booked", "bring the old plate"),
    ("v530", 336, "lindgren", "2025-03-13", "14:30", 30, "cleaning", 62, True, "booked", ""),
    ("v5a6", 333, "sharma", "2025-03-14", "08:45", 40, "braces", 220, True, "booked", "moved from Wednesday"),
    ("v5b8", 302, "lindgren", "2025-03-14", "10:00", 30, "cleaning", 62, False, "booked", ""),
    ("v60f", 322, "okafor", "2025-03-17", "09:30", 60, "root canal", 390, False, "booked", "second session"),
    ("v61b", 329, "lindgren", "2025-03-17", "13:00", 30, "check-up", 48, False, "booked", "new try after no-show"),
    ("v66d", 310, "sharma", "2025-03-18", "16:15", 40, "braces", 220, False, "booked", "first fitting"),
    ("v70c", 315, "weiss", "2025-03-20", "11:30", 15, "stitches out", 0, True, "booked", ""),
    ("v71e", 301, "lindgren", "2025-03-21", "09:15", 45, "crown", 540, False, "booked", "no penicillin"),
    ("v7d4", 325, "weiss", "2025-03-26", "14:15", 30, "follow-up", 35, False, "booked", ""),
]}
Status = Literal["booked", "arrived", "done", "cancelled", "no-show"]


def _visit(v):
    if v not in VISITS:
        raise ToolError(f"visit {v!r} not found")
    return VISITS[v]


def _free(dentist, day, time, but=None):
    for v in VISITS.values():
        if v["visit"] != but and (v["dentist"], v["day"], v["time"]) == (dentist, day, time) and v["status"] != "cancelled":
            raise ToolError(f"{DENTISTS[dentist][0]} is taken on {day} at {time}")


@server.tool(name="find-patient", description="Find patients by first or last name. Returns chart numbers.")
def find_patient(name: str) -> list[dict]:
    return [{k: p[k] for k in ("chart", "name", "born")} for p in PATIENTS.values() if name.lower() in p["name"].lower()]


@server.tool(name="patient-card", description="Contact details, insurer, allergies, regular dentist, next check-up and what the patient owes (in pounds).")
def patient_card(chart: Annotated[int, Field(description="chart number")]) -> dict | str:
    return PATIENTS.get(chart) or f"There is no chart {chart}."


@server.tool(name="diary", description="Visits of a day, a dentist or a patient, at most 12. Give at least one of them.")
def diary(day: Annotated[str, Field(description="YYYY-MM-DD")] = "", dentist: Annotated[str, Field(description="short name, e.g. weiss")] = "",
          chart: int = 0, status: Status | None = None) -> list[dict] | str:
    if not (day or dentist or chart):
        raise ToolError("give a day, a dentist or a chart number")
    rows = [{"visit": v["visit"], "when": f"{v['day']} {v['time']}", "patient": PATIENTS[v["chart"]]["name"], "dentist": v["dentist"], "treatment": v["treatment"], "status": v["status"]}
            for v in VISITS.values() if (not day or v["day"] == day) and (not dentist or v["dentist"] == dentist) and (not chart or v["chart"] == chart) and (not status or v["status"] == status)]
    return rows[:12] or "Nothing in the diary."


@server.tool(name="visit-details", description="One visit by its code: fee, whether it is paid, length, note ...")
def visit_details(visit: str) -> dict:
    v = _visit(visit)
    return {**v, "patient": PATIENTS[v["chart"]]["name"], "fee": f"£{v['fee']}"}


@server.tool(name="our-dentists", description="All dentists with short name, field, working days, room and years with us.")
def our_dentists() -> str:
    return "\n".join(f"{k}: {n} - {f} - works {d} - {r} - {y} years with us" for k, (n, f, d, r, y) in DENTISTS.items())


@server.tool(name="book-visit", description="Book a new visit.")
def book_visit(chart: int, dentist: str, day: str, time: Annotated[str, Field(description="HH:MM")], treatment: str = "check-up", minutes: int = 30) -> str:
    if chart not in PATIENTS:
        raise ToolError(f"There is no chart {chart}.")
    if dentist not in DENTISTS:
        raise ToolError(f"no dentist {dentist!r}, use one of {', '.join(DENTISTS)}")
    _free(dentist, day, time)
    code = f"v8{len(VISITS):02x}"
    VISITS[code] = dict(visit=code, chart=chart, dentist=dentist, day=day, time=time, minutes=minutes, treatment=treatment, fee=0, paid=False, status="booked", note="")
    return f"Booked {PATIENTS[chart]['name']} with {DENTISTS[dentist][0]} on {day} at {time} for {treatment} ({minutes} min). Visit code {code}."


@server.tool(name="move-visit", description="Move a visit to another day and time, same dentist.")
def move_visit(visit: str, day: str, time: str) -> str:
    v = _visit(visit)
    if v["status"] in ("done", "cancelled"):
        raise ToolError(f"visit {visit} is {v['status']} and cannot be moved")
    _free(v["dentist"], day, time, visit)
    old = f"{v['day']} {v['time']}"
    v.update(day=day, time=time, status="booked")
    return f"{PATIENTS[v['chart']]['name']}'s visit {visit} moved from {old} to {day} {time}."


@server.tool(name="update-visit", description="Change the status, payment, note, fee or length of a visit.")
def update_visit(visit: str, status: Status | None = None, paid: bool | None = None, note: str | None = None, fee: int | None = None, minutes: int | None = None) -> dict:
    v = _visit(visit)
    changed = {k: x for k, x in dict(status=status, paid=paid, note=note, fee=fee, minutes=minutes).items() if x is not None}
    v.update(changed)
    return {"visit": visit, "patient": PATIENTS[v["chart"]]["name"], "changed": changed}


@server.tool(name="edit-patient", description="Change a patient's phone, email, insurer, allergies or regular dentist.")
def edit_patient(chart: int, phone: str | None = None, email: str | None = None, insurer: str | None = None, allergies: str | None = None, dentist: str | None = None) -> str:
    if chart not in PATIENTS:
        raise ToolError(f"There is no chart {chart}.")
    changed = {k: x for k, x in dict(phone=phone, email=email, insurer=insurer, allergies=allergies, dentist=dentist).items() if x is not None}
    PATIENTS[chart].update(changed)
    return f"Chart {chart} ({PATIENTS[chart]['name']}): " + ", ".join(f"{k} is now {x}" for k, x in changed.items())


if __name__ == "__main__":
    server.run()
