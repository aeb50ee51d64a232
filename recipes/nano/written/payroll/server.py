from typing import Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("payroll")

_E = ["employeeNo", "firstName", "lastName", "email", "hiredOn", "annualSalary", "positionId", "managerNo", "leaveDaysLeft", "status"]
EMPLOYEES = {r[0]: dict(zip(_E, r)) for r in [
    (2001, "Ingrid", "Solheim", "i.solheim@brightwell.example", "2011-02-01", 128000, "CEO", None, 21.0, "active"),
    (2004, "Marcus", "Abara", "m.abara@brightwell.example", "2013-06-17", 91500, "FIN-HEAD", 2001, 14.5, "active"),
    (2007, "Leila", "Ghorbani", "l.ghorbani@brightwell.example", "2015-09-01", 88200, "ENG-HEAD", 2001, 9.0, "active"),
    (2009, "Owen", "Pritchard", "o.pritchard@brightwell.example", "2016-01-11", 79900, "SAL-HEAD", 2001, 17.0, "active"),
    (2012, "Yuki", "Tanabe", "y.tanabe@brightwell.example", "2017-04-03", 54300, "ACC-SR", 2004, 6.5, "active"),
    (2015, "Dario", "Conti", "d.conti@brightwell.example", "2018-08-20", 46800, "ACC-JR", 2012, 12.0, "active"),
    (2018, "Amelie", "Roux", "a.roux@brightwell.example", "2018-11-05", 72400, "DEV-SR", 2007, 3.0, "active"),
    (2021, "Kofi", "Mensah", "k.mensah@brightwell.example", "2019-03-18", 69750, "DEV-SR", 2007, 18.0, "parental leave"),
    (2023, "Sanne", "de Wit", "s.dewit@brightwell.example", "2020-02-03", 51200, "DEV-JR", 2018, 11.5, "active"),
    (2026, "Rafael", "Ortega", "r.ortega@brightwell.example", "2020-10-12", 43500, "SAL-REP", 2009, 8.0, "active"),
    (2028, "Grace", "Whitlock", "g.whitlock@brightwell.example", "2021-01-25", 44100, "SAL-REP", 2009, 20.0, "active"),
    (2031, "Piotr", "Zielak", "p.zielak@brightwell.example", "2021-07-01", 38600, "WHS-OP", 2040, 13.0, "active"),
    (2033, "Nomsa", "Dube", "n.dube@brightwell.example", "2022-03-14", 37900, "WHS-OP", 2040, 5.5, "active"),
    (2036, "Elif", "Aksoy", "e.aksoy@brightwell.example", "2022-09-05", 58800, "HR-GEN", 2001, 16.0, "active"),
    (2040, "Tobias", "Lenz", "t.lenz@brightwell.example", "2014-05-19", 61300, "WHS-LEAD", 2001, 10.0, "active"),
    (2044, "Chloe", "Barnaby", "c.barnaby@brightwell.example", "2023-05-02", 49600, "DEV-JR", 2018, 22.0, "probation"),
    (2047, "Hamid", "Rezai", "h.rezai@brightwell.example", "2024-01-08", 36200, "WHS-OP", 2040, 19.5, "probation"),
]}

_P = ["positionId", "title", "grade", "payBand", "weeklyHours", "deptCode"]
POSITIONS = {r[0]: dict(zip(_P, r)) for r in [
    ("CEO", "Managing Director", 12, "110000-150000", 40, "MGT"),
    ("FIN-HEAD", "Head of Finance", 10, "80000-100000", 40, "FIN"),
    ("ACC-SR", "Senior Accountant", 7, "50000-62000", 38, "FIN"),
    ("ACC-JR", "Junior Accountant", 5, "40000-50000", 38, "FIN"),
    ("ENG-HEAD", "Head of Engineering", 10, "82000-104000", 40, "ENG"),
    ("DEV-SR", "Senior Developer", 8, "64000-80000", 39, "ENG"),
    ("DEV-JR", "Junior Developer", 6, "46000-58000", 39, "ENG"),
    ("SAL-HEAD", "Head of Sales", 9, "74000-92000", 40, "SAL"),
    ("SAL-REP", "Sales Representative", 5, "38000-48000", 37, "SAL"),
    ("HR-GEN", "HR Generalist", 7, "52000-64000", 36, "HR"),
    ("WHS-LEAD", "Warehouse Lead", 7, "54000-66000", 40, "WHS"),
    ("WHS-OP", "Warehouse Operative", 3, "34000-41000", 42, "WHS"),
]}

_D = ["code", "name", "building", "headNo", "headcountLimit", "costCentre"]
DEPARTMENTS = {r[0]: dict(zip(_D, r)) for r in [
    ("MGT", "Management", "Quay House, 4th floor", 2001, 2, "4000"),
    ("FIN", "Finance", "Quay House, 2nd floor", 2004, 5, "4100"),
    ("ENG", "Engineering", "Mill Lane 7", 2007, 8, "4200"),
    ("SAL", "Sales", "Quay House, 1st floor", 2009, 6, "4300"),
    ("HR", "People", "Quay House, 3rd floor", 2036, 2, "4050"),
    ("WHS", "Warehouse", "Dock Road 22", 2040, 7, "4500"),
]}

_C = ["costCentre", "label", "yearBudget", "spentToDate", "currency", "approverNo"]
COST_CENTRES = {r[0]: dict(zip(_C, r)) for r in [
    ("4000", "General management", 210000, 97400, "EUR", 2001),
    ("4050", "People & training", 140000, 61850, "EUR", 2001),
    ("4100", "Finance & audit", 295000, 133200, "EUR", 2004),
    ("4200", "Product engineering", 640000, 318900, "EUR", 2007),
    ("4300", "Sales & travel", 330000, 201750, "EUR", 2004),
    ("4500", "Logistics", 365000, 158300, "EUR", 2036),
]}

_S = ["slipId", "employeeNo", "month", "gross", "bonus", "tax", "net", "paidOn", "state"]
PAYSLIPS = {r[0]: dict(zip(_S, r)) for r in [
    ("PS-7101", 2012, "2025-04", 4525.00, 0.00, 1131.25, 3393.75, "2025-04-28", "paid"),
    ("PS-7102", 2015, "2025-04", 3900.00, 0.00, 897.00, 3003.00, "2025-04-28", "paid"),
    ("PS-7103", 2018, "2025-04", 6033.33, 500.00, 1829.33, 4704.00, "2025-04-28", "paid"),
    ("PS-7104", 2023, "2025-04", 4266.67, 0.00, 1024.00, 3242.67, "2025-04-28", "paid"),
    ("PS-7105", 2026, "2025-04", 3625.00, 840.00, 1116.25, 3348.75, "2025-04-28", "paid"),
    ("PS-7106", 2028, "2025-04", 3675.00, 1210.00, 1221.25, 3663.75, "2025-04-28", "paid"),
    ("PS-7107", 2031, "2025-04", 3216.67, 0.00, 675.50, 2541.17, "2025-04-28", "paid"),
    ("PS-7108", 2033, "2025-04", 3158.33, 120.00, 688.45, 2589.88, "2025-04-29", "paid"),
    ("PS-7201", 2012, "2025-05", 4525.00, 250.00, 1193.75, 3581.25, None, "draft"),
    ("PS-7202", 2015, "2025-05", 3900.00, 0.00, 897.00, 3003.00, None, "draft"),
    ("PS-7203", 2018, "2025-05", 6033.33, 0.00, 1689.33, 4344.00, "2025-05-27", "paid"),
    ("PS-7204", 2023, "2025-05", 4266.67, 0.00, 1024.00, 3242.67, None, "on hold"),
    ("PS-7205", 2026, "2025-05", 3625.00, 310.00, 983.75, 2951.25, None, "draft"),
    ("PS-7206", 2028, "2025-05", 3675.00, 975.00, 1162.50, 3487.50, None, "approved"),
    ("PS-7207", 2031, "2025-05", 3216.67, 0.00, 675.50, 2541.17, None, "draft"),
    ("PS-7208", 2033, "2025-05", 3158.33, 0.00, 663.25, 2495.08, None, "approved"),
    ("PS-7209", 2047, "2025-05", 3016.67, 0.00, 603.33, 2413.34, None, "on hold"),
]}


def _employee(no):
    if no not in EMPLOYEES:
        raise ToolError(f"EMPLOYEE_NOT_FOUND: {no}")
    return EMPLOYEES[no]


@server.tool()
def employeeGet(employeeNo: int) -> dict:
    "Personnel record (contact, hire date, annual salary in EUR, position id, manager, leave)."
    return _employee(employeeNo)


@server.tool()
def employeeSearch(name: str | None = None, positionId: str | None = None, status: Literal["active", "probation", "parental leave"] | None = None) -> list[dict]:
    "Find employees by part of their name, by position id or by status. Returns number, name and hire date."
    if not (name or positionId or status):
        raise ToolError("FILTER_REQUIRED: give name, positionId or status")
    return [{"employeeNo": e["employeeNo"], "name": f'{e["firstName"]} {e["lastName"]}', "hiredOn": e["hiredOn"]} for e in EMPLOYEES.values()
            if (not name or name.lower() in f'{e["firstName"]} {e["lastName"]}'.lower()) and (not positionId or e["positionId"] == positionId)
            and (not status or e["status"] == status)]


@server.tool()
def positionGet(positionId: str) -> dict:
    "Title, grade, pay band, weekly hours and department of a position."
    if positionId not in POSITIONS:
        raise ToolError(f"POSITION_NOT_FOUND: {positionId}")
    return POSITIONS[positionId]


@server.tool()
def departmentGet(code: Literal["MGT", "FIN", "ENG", "SAL", "HR", "WHS"]) -> dict:
    "A department: building, head (employee number), headcount limit, cost centre."
    return DEPARTMENTS[code]


@server.tool()
def costCentreGet(costCentre: str) -> dict:
    "Budget, spending and approver of a cost centre (four digits)."
    if costCentre not in COST_CENTRES:
        raise ToolError(f"COST_CENTRE_NOT_FOUND: {costCentre}")
    return COST_CENTRES[costCentre]


@server.tool()
def payslipGet(slipId: str) -> dict:
    "One payslip by its id, e.g. PS-7101. Amounts in EUR."
    if slipId not in PAYSLIPS:
        raise ToolError(f"PAYSLIP_NOT_FOUND: {slipId}")
    return PAYSLIPS[slipId]


@server.tool()
def payslipList(employeeNo: int | None = None, month: str | None = None, state: Literal["draft", "approved", "paid", "on hold"] | None = None) -> list[dict]:
    "Payslips of an employee, a month (YYYY-MM) and/or in a state; short rows with the net amount in EUR."
    if employeeNo is None and not month and not state:
        raise ToolError("FILTER_REQUIRED: give employeeNo, month or state")
    if employeeNo is not None:
        _employee(employeeNo)
    return [{k: s[k] for k in ("slipId", "employeeNo", "month", "net", "state")} for s in PAYSLIPS.values()
            if (employeeNo is None or s["employeeNo"] == employeeNo) and (not month or s["month"] == month) and (not state or s["state"] == state)]


@server.tool()
def payslipUpdate(slipId: str, state: Literal["draft", "approved", "on hold"] | None = None, bonus: float | None = None) -> dict:
    "Approve, hold or reopen a payslip, or set its bonus (EUR). Paid payslips are locked."
    slip = payslipGet(slipId)
    if slip["state"] == "paid":
        raise ToolError(f"LOCKED: {slipId} is paid")
    if state:
        slip["state"] = state
    if bonus is not None:
        slip["net"] = round(slip["net"] + (bonus - slip["bonus"]) * 0.75, 2)
        slip["bonus"] = bonus
    return {k: slip[k] for k in ("slipId", "employeeNo", "bonus", "net", "state")}


@server.tool()
def employeeUpdate(employeeNo: int, annualSalary: int | None = None, positionId: str | None = None, managerNo: int | None = None,
                   status: Literal["active", "probation", "parental leave", "left"] | None = None) -> dict:
    "Change an employee's salary (EUR per year), position, manager or status."
    e = _employee(employeeNo)
    changed = {}
    for k, v in (("annualSalary", annualSalary), ("positionId", positionId), ("managerNo", managerNo), ("status", status)):
        if v is not None:
            changed[k] = {"old": e[k], "new": v}
            e[k] = v
    return {"employeeNo": employeeNo, "name": f'{e["firstName"]} {e["lastName"]}', "changed": changed}


if __name__ == "__main__":
    server.run()
