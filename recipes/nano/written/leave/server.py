import datetime as dt
from typing import Annotated, Literal
from pydantic import Field
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("staff-leave")

_E = """Amara Okafor|Payroll Clerk|Finance|Lund|2019-02-01|37.5|27|19
Ben Castell|Accountant|Finance|Lund|2016-08-15|40|30|12
Chiara Fonti|Head of Finance|Finance|Lund|2011-04-04|40|32|21
Dieter Voss|Warehouse Lead|Logistics|Malmö|2014-11-10|40|30|8
Elin Sandberg|Forklift Driver|Logistics|Malmö|2022-06-20|30|25|14
Farid Mansour|Dispatcher|Logistics|Malmö|2020-01-13|40|25|25
Greta Lindqvist|Head of Logistics|Logistics|Malmö|2009-09-01|40|33|10
Hugo Pereira|Support Agent|Customer Care|Lund|2023-03-06|20|25|6
Isla McBride|Support Agent|Customer Care|Lund|2021-10-18|37.5|26|17
Jun Takeda|Head of Customer Care|Customer Care|Lund|2017-05-22|40|29|11
Katya Sorokina|Copywriter|Marketing|Copenhagen|2022-01-10|32|25|9
Lars Mikkelsen|Head of Marketing|Marketing|Copenhagen|2013-03-18|40|31|16
Maja Holt|Photographer|Marketing|Copenhagen|2024-08-01|24|25|2
Nils Aberg|Developer|IT|Lund|2018-06-11|40|28|20
Olga Brandt|Head of IT|IT|Lund|2015-10-05|40|30|15
Pavel Dvorak|System Administrator|IT|Lund|2020-09-14|40|26|5"""
STAFF = {}
for _l in _E.splitlines():
    n, title, dep, site, hired, hours, days, used = _l.split("|")
    mail = (n.split()[0][0] + "." + n.split()[1]).lower() + "@nordholm.example"
    STAFF[mail] = {"name": n, "title": title, "department": dep, "site": site, "hired": hired, "hours": hours, "days": int(days), "used": int(used)}

DEPARTMENTS = {
    "Finance": ("Chiara Fonti", "Lund", "building C", 2, "410"), "Logistics": ("Greta Lindqvist", "Malmö", "gate 3", 3, "520"),
    "Customer Care": ("Jun Takeda", "Lund", "building A", 2, "400"), "Marketing": ("Lars Mikkelsen", "Copenhagen", "2nd floor", 1, "630"),
    "IT": ("Olga Brandt", "Lund", "building B", 1, "444"),
}

_L = """L-501|a.okafor|vacation|2025-07-07|2025-07-18|approved|2025-02-10|family visit
L-502|b.castell|vacation|2025-06-23|2025-06-27|pending|2025-05-05|
L-503|d.voss|vacation|2025-08-04|2025-08-22|pending|2025-04-28|sailing trip
L-504|e.sandberg|parental|2025-09-01|2025-10-31|approved|2025-03-17|
L-505|f.mansour|sick|2025-05-12|2025-05-14|approved|2025-05-12|flu
L-506|h.pereira|vacation|2025-06-05|2025-06-06|rejected|2025-05-02|too few agents that week
L-507|i.mcbride|vacation|2025-07-14|2025-07-25|pending|2025-05-06|wedding
L-508|k.sorokina|unpaid|2025-11-03|2025-11-28|pending|2025-05-07|language course
L-509|l.mikkelsen|vacation|2025-07-01|2025-07-11|approved|2025-03-03|
L-510|m.holt|sick|2025-05-08|2025-05-09|approved|2025-05-08|
L-511|n.aberg|vacation|2025-07-21|2025-08-01|approved|2025-04-01|
L-512|o.brandt|vacation|2025-05-30|2025-05-30|pending|2025-05-09|long weekend
L-513|p.dvorak|vacation|2025-07-28|2025-08-08|rejected|2025-04-14|Nils is away then
L-514|j.takeda|vacation|2025-06-16|2025-06-20|approved|2025-04-22|
L-515|g.lindqvist|vacation|2025-12-22|2025-12-31|approved|2025-05-01|
L-516|i.mcbride|sick|2025-03-10|2025-03-11|approved|2025-03-10|
L-517|a.okafor|vacation|2025-10-06|2025-10-10|cancelled|2025-02-10|"""
LEAVE = {}
for _l in _L.splitlines():
    i, who, kind, first, last, status, asked, remark = _l.split("|")
    LEAVE[i] = {"who": who + "@nordholm.example", "kind": kind, "first": first, "last": last, "status": status, "asked": asked, "remark": remark}


def _day(text):
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        raise ToolError(f"'{text}' is not a date, use YYYY-MM-DD")


def _show(text):
    return dt.date.fromisoformat(text).strftime("%d %b %Y").lstrip("0")


def _days(first, last):
    a, b = dt.date.fromisoformat(first), dt.date.fromisoformat(last)
    return sum((a + dt.timedelta(n)).weekday() < 5 for n in range((b - a).days + 1))


def _staff(email):
    if email not in STAFF:
        raise ToolError(f"Nobody has the address {email}")
    return STAFF[email]


Mail = Annotated[str, Field(description="Work e-mail address")]
Day = Annotated[str, Field(description="YYYY-MM-DD; all planning is for the year 2025")]
Request = Annotated[str, Field(description="Number of a leave request, like L-501")]


@server.tool()
def findEmployee(name: str) -> str:
    """Search people by first or last name; gives their e-mail address, job and department."""
    hits = [f"{e['name']} <{m}> - {e['title']}, {e['department']}" for m, e in STAFF.items() if name.lower() in e["name"].lower()]
    return "\n".join(hits) or f"No employee matches '{name}'."


@server.tool()
def employeeRecord(email: Mail) -> str:
    """Job, department, site, hiring date, weekly hours and vacation days of one employee."""
    e = _staff(email)
    return (f"Name: {e['name']}\nJob title: {e['title']}\nDepartment: {e['department']}\nSite: {e['site']}\nHired: {_show(e['hired'])}\n"
            f"Weekly hours: {e['hours']}\nVacation days per year: {e['days']}\nUsed: {e['used']}\nRemaining: {e['days'] - e['used']}")


@server.tool()
def listLeaveRequests(email: Annotated[str | None, Field(description="Only this person's requests")] = None,
                      department: Literal["Finance", "Logistics", "Customer Care", "Marketing", "IT"] | None = None,
                      status: Literal["pending", "approved", "rejected", "cancelled"] | None = None,
                      kind: Literal["vacation", "sick", "parental", "unpaid"] | None = None) -> str:
    """Table of leave requests (number, who, kind, first and last day, working days, status). Give at least one filter."""
    if not (email or department or status or kind):
        raise ToolError("Give at least one of email, department, status, kind")
    if email:
        _staff(email)
    rows = [f"{i} | {STAFF[r['who']]['name']} | {r['kind']} | {_show(r['first'])} | {_show(r['last'])} | {_days(r['first'], r['last'])} | {r['status']}"
            for i, r in LEAVE.items() if (not email or r["who"] == email) and (not department or STAFF[r["who"]]["department"] == department)
            and (not status or r["status"] == status) and (not kind or r["kind"] == kind)]
    return "\n".join(["No. | Name | Kind | From | To | Days | Status", *rows]) if rows else "No leave requests found."


@server.tool()
def leaveRequestDetails(request_no: Request) -> str:
    """One leave request in full, with the date it was handed in and the remark."""
    if request_no not in LEAVE:
        return f"There is no request {request_no}."
    r = LEAVE[request_no]
    return (f"Request: {request_no}\nEmployee: {STAFF[r['who']]['name']} <{r['who']}>\nKind: {r['kind']}\nFirst day: {_show(r['first'])}\n"
            f"Last day: {_show(r['last'])}\nWorking days: {_days(r['first'], r['last'])}\nStatus: {r['status']}\nHanded in: {_show(r['asked'])}\nRemark: {r['remark'] or '-'}")


@server.tool()
def requestLeave(email: Mail, first_day: Day, last_day: Day, kind: Literal["vacation", "sick", "parental", "unpaid"] = "vacation") -> str:
    """Hand in leave for an employee. Sick leave is approved at once, everything else waits for a decision."""
    e = _staff(email)
    if _day(last_day) < _day(first_day):
        raise ToolError("The last day is before the first day")
    n = _days(first_day, last_day)
    if kind == "vacation" and n > e["days"] - e["used"]:
        raise ToolError(f"{e['name']} has only {e['days'] - e['used']} vacation days left, {n} are needed")
    i = f"L-{501 + len(LEAVE)}"
    status = "approved" if kind == "sick" else "pending"
    LEAVE[i] = {"who": email, "kind": kind, "first": first_day, "last": last_day, "status": status, "asked": "2025-05-12", "remark": ""}
    return f"Request {i} saved: {e['name']}, {kind}, {_show(first_day)} to {_show(last_day)}, {n} working day{'s' * (n != 1)}, {status}."


@server.tool()
def decideLeaveRequest(request_no: Request, decision: Literal["approved", "rejected"]) -> str:
    """Approve or reject a pending leave request."""
    if request_no not in LEAVE:
        return f"There is no request {request_no}."
    r = LEAVE[request_no]
    if r["status"] != "pending":
        raise ToolError(f"{request_no} is not pending, it is {r['status']}")
    r["status"] = decision
    return f"{request_no} ({STAFF[r['who']]['name']}, {r['kind']}, {_show(r['first'])} to {_show(r['last'])}) is now {decision}."


@server.tool()
def cancelLeave(request_no: Request) -> str:
    """Withdraw a pending or approved leave request."""
    if request_no not in LEAVE:
        return f"There is no request {request_no}."
    r = LEAVE[request_no]
    if r["status"] in ("cancelled", "rejected"):
        raise ToolError(f"{request_no} is already {r['status']}")
    r["status"] = "cancelled"
    return f"{request_no} of {STAFF[r['who']]['name']} ({r['kind']}, {_show(r['first'])} to {_show(r['last'])}) has been cancelled."


@server.tool()
def whoIsAway(day: Day) -> str:
    """Who has approved leave on a day."""
    d = _day(day).isoformat()
    rows = [f"{STAFF[r['who']]['name']} ({STAFF[r['who']]['department']}): {r['kind']} until {_show(r['last'])}"
            for r in LEAVE.values() if r["status"] == "approved" and r["first"] <= d <= r["last"]]
    return "\n".join(rows) or f"Nobody is away on {_show(d)}."


@server.tool()
def departmentInfo(department: Literal["Finance", "Logistics", "Customer Care", "Marketing", "IT"]) -> str:
    """Head, headcount, place, phone extension and minimum staffing of a department."""
    head, site, where, least, phone = DEPARTMENTS[department]
    count = sum(e["department"] == department for e in STAFF.values())
    return f"{department} in {site} ({where}) has {count} people and is led by {head}. At least {least} must be present. Extension {phone}."


if __name__ == "__main__":
    server.run()
