from typing import Literal, Optional

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("roster")

# e-mail: name, role, team, phone, weekly hours, manager
EMPLOYEES = {
    "mira@lakeside.example": ("Mira Sandoval", "nurse", "Ward A", "555-0102", 38, "greta@lakeside.example"),
    "paul@lakeside.example": ("Paul Okafor", "nurse", "Ward A", "555-0113", 30, "greta@lakeside.example"),
    "yuki@lakeside.example": ("Yuki Tanabe", "care assistant", "Ward A", "555-0127", 20, "greta@lakeside.example"),
    "greta@lakeside.example": ("Greta Holm", "ward manager", "Ward A", "555-0131", 40, "victor@lakeside.example"),
    "dario@lakeside.example": ("Dario Conte", "nurse", "Ward B", "555-0140", 38, "selma@lakeside.example"),
    "ines@lakeside.example": ("Ines Duarte", "care assistant", "Ward B", "555-0149", 25, "selma@lakeside.example"),
    "tobias@lakeside.example": ("Tobias Wren", "nurse", "Ward B", "555-0153", 32, "selma@lakeside.example"),
    "selma@lakeside.example": ("Selma Aydin", "ward manager", "Ward B", "555-0160", 40, "victor@lakeside.example"),
    "hugo@lakeside.example": ("Hugo Petit", "cook", "Kitchen", "555-0166", 35, "olga@lakeside.example"),
    "nadia@lakeside.example": ("Nadia Frost", "kitchen helper", "Kitchen", "555-0171", 18, "olga@lakeside.example"),
    "olga@lakeside.example": ("Olga Brandt", "head cook", "Kitchen", "555-0177", 40, "victor@lakeside.example"),
    "victor@lakeside.example": ("Victor Lang", "director", "Office", "555-0185", 40, None),
}
# id: date, start, end, place, employee, note
SHIFTS = {
    201: ["2025-06-02", "06:00", "14:00", "Ward A", "mira@lakeside.example", "medication round"],
    202: ["2025-06-02", "14:00", "22:00", "Ward A", "paul@lakeside.example", "none"],
    203: ["2025-06-02", "06:00", "14:00", "Ward B", "dario@lakeside.example", "medication round"],
    204: ["2025-06-02", "07:00", "13:00", "Kitchen", "hugo@lakeside.example", "breakfast and lunch"],
    205: ["2025-06-03", "06:00", "14:00", "Ward A", "yuki@lakeside.example", "bathing day"],
    206: ["2025-06-03", "14:00", "22:00", "Ward B", "tobias@lakeside.example", "none"],
    207: ["2025-06-03", "22:00", "06:00", "Ward A", "paul@lakeside.example", "night watch"],
    208: ["2025-06-03", "07:00", "13:00", "Kitchen", "olga@lakeside.example", "food delivery at 8"],
    209: ["2025-06-04", "06:00", "14:00", "Ward B", "ines@lakeside.example", "doctor's visit at 10"],
    210: ["2025-06-04", "14:00", "22:00", "Ward A", None, "none"],
    211: ["2025-06-04", "11:00", "17:00", "Kitchen", "nadia@lakeside.example", "birthday cake for 20"],
    212: ["2025-06-05", "06:00", "14:00", "Ward A", "mira@lakeside.example", "new resident arrives"],
    213: ["2025-06-05", "14:00", "22:00", "Ward B", "dario@lakeside.example", "family evening"],
    214: ["2025-06-05", "07:00", "13:00", "Kitchen", "hugo@lakeside.example", "none"],
    215: ["2025-06-06", "06:00", "14:00", "Ward B", "tobias@lakeside.example", "fire drill at 9"],
    216: ["2025-06-06", "14:00", "22:00", "Ward A", None, "none"],
    217: ["2025-06-06", "22:00", "06:00", "Ward B", "dario@lakeside.example", "night watch"],
    218: ["2025-06-07", "06:00", "14:00", "Ward A", "paul@lakeside.example", "weekend, one nurse only"],
    219: ["2025-06-07", "07:00", "15:00", "Kitchen", "olga@lakeside.example", "brunch"],
    220: ["2025-06-08", "06:00", "14:00", "Ward B", None, "weekend"],
}
# id: shift, wanted by, with, state, reason
SWAPS = {
    "sw-11": [203, "dario@lakeside.example", "tobias@lakeside.example", "pending", "dentist"],
    "sw-12": [205, "yuki@lakeside.example", "ines@lakeside.example", "approved", "school party"],
    "sw-13": [212, "mira@lakeside.example", "paul@lakeside.example", "pending", "driving test"],
    "sw-14": [214, "hugo@lakeside.example", "olga@lakeside.example", "rejected", "concert"],
    "sw-15": [209, "ines@lakeside.example", "dario@lakeside.example", "pending", "moving house"],
    "sw-16": [219, "olga@lakeside.example", "hugo@lakeside.example", "pending", "wedding"],
}
# code: title, trainer, valid months, {holder: valid until}
QUALS = {
    "MED": ("Medication handling", "greta@lakeside.example", 24, {"mira@lakeside.example": "2026-03-31", "paul@lakeside.example": "2025-07-15", "dario@lakeside.example": "2026-01-20", "tobias@lakeside.example": "2025-11-30"}),
    "FIRST-AID": ("First aid", "selma@lakeside.example", 12, {"mira@lakeside.example": "2025-09-01", "yuki@lakeside.example": "2025-06-20", "ines@lakeside.example": "2026-02-10", "hugo@lakeside.example": "2025-12-05", "victor@lakeside.example": "2025-08-08"}),
    "FIRE": ("Fire warden", "victor@lakeside.example", 36, {"tobias@lakeside.example": "2027-04-30", "olga@lakeside.example": "2026-10-12"}),
    "HYGIENE": ("Kitchen hygiene", "olga@lakeside.example", 12, {"hugo@lakeside.example": "2026-04-02", "nadia@lakeside.example": "2025-06-30"}),
    "LIFT": ("Patient lift", "paul@lakeside.example", 18, {"yuki@lakeside.example": "2026-05-05", "dario@lakeside.example": "2025-10-17", "ines@lakeside.example": "2025-12-24"}),
}


def shift_line(n):
    d, a, b, place, who, _ = SHIFTS[n]
    return f"#{n} {d} {a}-{b} {place}: {who or 'UNFILLED'}"


def swap_line(s):
    n, who, other, state, _ = SWAPS[s]
    return f"{s} shift #{n} {who} -> {other} [{state}]"


@server.tool(name="find-employee")
def find_employee(text: str) -> str:
    "Search employees by name, role or team; one line each with the e-mail address that the other tools need."
    t = text.lower()
    lines = [f"{v[0]} <{k}>, {v[1]}" for k, v in EMPLOYEES.items() if t in v[0].lower() or t in v[1] or t in v[2].lower()]
    return "\n".join(lines) or f"Nobody found for '{text}'."


@server.tool(name="show-employee")
def show_employee(email: str) -> str:
    "Show an employee's card"
    if email not in EMPLOYEES:
        return f"No employee has the address {email}."
    n, role, team, phone, hours, boss = EMPLOYEES[email]
    return f"name: {n}\nrole: {role}\nteam: {team}\nphone: {phone}\nweekly hours: {hours}\nmanager: {boss or '-'}"


@server.tool(name="list-shifts")
def list_shifts(date: Optional[str] = None, employee: Optional[str] = None, place: Optional[Literal["Ward A", "Ward B", "Kitchen"]] = None, unfilled_only: bool = False) -> str:
    "List shifts by date (YYYY-MM-DD), employee e-mail, place or only the unfilled ones. At least one filter."
    if not (date or employee or place or unfilled_only):
        raise ToolError("at least one filter is needed")
    lines = [shift_line(n) for n, s in SHIFTS.items() if date in (None, s[0]) and employee in (None, s[4]) and place in (None, s[3]) and not (unfilled_only and s[4])]
    return "\n".join(lines) or "No shifts."


@server.tool(name="show-shift")
def show_shift(shift: int) -> str:
    "Details of one shift, with its note"
    if shift not in SHIFTS:
        return f"There is no shift #{shift}."
    return shift_line(shift) + f"\nnote: {SHIFTS[shift][5]}"


@server.tool(name="assign-shift")
def assign_shift(shift: int, employee: Optional[str] = None) -> str:
    "Give a shift to an employee (e-mail). Leave employee out to make the shift unfilled."
    if shift not in SHIFTS:
        raise ToolError(f"no shift #{shift}")
    if employee is not None and employee not in EMPLOYEES:
        raise ToolError(f"no employee {employee}")
    old, SHIFTS[shift][4] = SHIFTS[shift][4], employee
    return f"Shift #{shift}: {old or 'UNFILLED'} -> {employee or 'UNFILLED'}"


@server.tool(name="list-swaps")
def list_swaps(state: Optional[Literal["pending", "approved", "rejected"]] = None) -> str:
    "List swap requests"
    return "\n".join(swap_line(s) for s, v in SWAPS.items() if state in (None, v[3])) or "No swap requests."


@server.tool(name="show-swap")
def show_swap(swap: str) -> str:
    "Show one swap request (sw-nn) with its reason"
    if swap not in SWAPS:
        return f"Unknown swap request {swap}."
    return swap_line(swap) + f"\nreason: {SWAPS[swap][4]}"


@server.tool(name="decide-swap")
def decide_swap(swap: str, decision: Literal["approved", "rejected"]) -> str:
    "Approve or reject a pending swap request. An approved swap gives the shift to the other employee."
    if swap not in SWAPS:
        raise ToolError(f"unknown swap request {swap}")
    s = SWAPS[swap]
    if s[3] != "pending":
        raise ToolError(f"{swap} was already {s[3]}")
    s[3] = decision
    if decision == "approved":
        SHIFTS[s[0]][4] = s[2]
    return swap_line(swap) + "\n" + shift_line(s[0])


@server.tool(name="show-qualification")
def show_qualification(code: Literal["MED", "FIRST-AID", "FIRE", "HYGIENE", "LIFT"]) -> str:
    "Who holds a qualification and until when, who trains it. MED = medication, LIFT = patient lift, FIRE = fire warden."
    title, trainer, months, holders = QUALS[code]
    return f"{title} (valid {months} months)\ntrainer: {trainer}\n" + "\n".join(f"{k} until {v}" for k, v in holders.items())


if __name__ == "__main__":
    server.run()
