from typing import Literal, Optional
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("ip-docket")

Status = Literal["FILED", "PUBLISHED", "EXAMINATION", "GRANTED", "LAPSED", "WITHDRAWN"]

APPLICATIONS = {}
for no, title, applicant, status, filed, priority, parent, lead, others, attorney, ipc, claims, country in [
    ("EP3912044", "Foldable heat exchanger for heat pumps", "Thermia Nord", "EXAMINATION", "2019-05-14", "2018-05-16", None, 301, [304], "KLM", "F28D 9/00", 14, "EP"),
    ("EP3958217", "Valve for a foldable heat exchanger", "Thermia Nord", "FILED", "2023-08-02", "2018-05-16", "EP3912044", 304, [], "KLM", "F16K 11/06", 9, "EP"),
    ("EP4010388", "Self-locking bicycle pannier", "Velomuse", "GRANTED", "2020-11-23", "2019-11-25", None, 302, [], "ROS", "B62J 9/20", 11, "EP"),
    ("EP4021765", "Oat-based foam concentrate", "Haverly Foods", "PUBLISHED", "2021-06-30", "2020-07-01", None, 303, [306], "TDV", "A23L 9/20", 18, "EP"),
    ("EP4033902", "Acoustic leak finder", "Pipewise", "EXAMINATION", "2021-10-11", "2020-10-13", None, 305, [], "ROS", "G01M 3/24", 16, "EP"),
    ("EP4047120", "Pipe robot with acoustic sensor", "Pipewise", "PUBLISHED", "2022-12-05", "2020-10-13", "EP4033902", 305, [307], "ROS", "F16L 55/32", 21, "EP"),
    ("US11820455", "Leak finding by sound pattern", "Pipewise", "GRANTED", "2021-10-12", "2020-10-13", "EP4033902", 305, [], "BNH", "G01M 3/24", 20, "US"),
    ("EP4055631", "Needle-free vaccine patch", "Dermavect", "EXAMINATION", "2022-03-18", "2021-03-19", None, 308, [309], "AQS", "A61M 37/00", 25, "EP"),
    ("US11907732", "Patch applicator with pressure ring", "Dermavect", "FILED", "2023-04-27", "2021-03-19", "EP4055631", 309, [], "BNH", "A61M 37/00", 13, "US"),
    ("EP3874906", "Rain gauge without moving parts", "Skyle Instruments", "LAPSED", "2017-09-08", "2016-09-09", None, 310, [], "TDV", "G01W 1/14", 7, "EP"),
    ("EP4066349", "Blind rivet for wood", "Holt Fasteners", "WITHDRAWN", "2022-07-21", "2021-07-22", None, 311, [], "KLM", "F16B 19/10", 6, "EP"),
    ("EP4071583", "Hydrogen-tight gasket", "Holt Fasteners", "PUBLISHED", "2023-01-30", "2022-01-31", None, 311, [301], "AQS", "F16J 15/10", 12, "EP"),
]:
    APPLICATIONS[no] = {"applicationNo": no, "title": title, "applicant": applicant, "status": status, "filingDate": filed,
        "priorityDate": priority, "parentNo": parent, "leadInventorId": lead, "coInventorIds": others, "attorneyCode": attorney,
        "ipcClass": ipc, "claimCount": claims, "office": country}

INVENTORS = {i: {"inventorId": i, "fullName": n, "email": e, "city": c, "employer": f, "sharePercent": s, "formerEmployee": x}
    for i, n, e, c, f, s, x in [
    (301, "Aino Rautala", "aino.rautala@thermia.example", "Oulu", "Thermia Nord", 60, False),
    (302, "Gilles Montfort", "gilles@velomuse.example", "Nantes", "Velomuse", 100, False),
    (303, "Philippa Drewe", "p.drewe@haverly.example", "Norwich", "Haverly Foods", 70, False),
    (304, "Mikkel Thorup", "m.thorup@mailbox.example", "Aarhus", "Thermia Nord", 40, True),
    (305, "Zsofia Balint", "balint@pipewise.example", "Győr", "Pipewise", 85, False),
    (306, "Kwabena Asare", "k.asare@haverly.example", "Ipswich", "Haverly Foods", 30, False),
    (307, "Torben Iversen", "iversen@robolab.example", "Odense", "Robolab", 15, False),
    (308, "Sunita Prabhu", "sunita@dermavect.example", "Leiden", "Dermavect", 55, False),
    (309, "Elliot Crane", "e.crane@dermavect.example", "Boston", "Dermavect", 45, True),
    (310, "Brona Keeley", "brona@skyle.example", "Galway", "Skyle Instruments", 100, False),
    (311, "Viktor Hollan", "v.hollan@holt.example", "Sheffield", "Holt Fasteners", 80, False),
]}

ATTORNEYS = {c: {"code": c, "name": n, "phone": p, "email": e, "office": o, "hourlyRate": {"amount": r, "currency": "EUR"}, "deputyCode": d, "absentUntil": a}
    for c, n, p, e, o, r, d, a in [
    ("KLM", "Katrin L. Maas", "+49 555-0102", "maas@maasros.example", "Munich", 340, "ROS", None),
    ("ROS", "Renata Oswin", "+49 555-0103", "oswin@maasros.example", "Munich", 320, "TDV", "2025-04-22"),
    ("TDV", "Thibault Devos", "+32 555-0104", "devos@maasros.example", "Ghent", 295, "KLM", None),
    ("AQS", "Anselm Quist", "+46 555-0105", "quist@maasros.example", "Malmö", 310, "TDV", "2025-05-02"),
    ("BNH", "Bettina N. Hale", "+1 555-0106", "hale@haleip.example", "Chicago", 415, "AQS", None),
]}

DEADLINES = {d: {"deadlineId": d, "applicationNo": a, "type": t, "due": u, "status": s, "attorneyCode": w, "extendable": x}
    for d, a, t, u, s, w, x in [
    (7001, "EP3912044", "reply to examination report", "2025-04-30", "OPEN", "KLM", True),
    (7002, "EP3958217", "file translation", "2025-05-12", "OPEN", "TDV", False),
    (7003, "EP4021765", "request examination", "2025-06-30", "OPEN", "TDV", False),
    (7004, "EP4033902", "reply to examination report", "2025-04-17", "OPEN", "ROS", True),
    (7005, "EP4047120", "reply to search opinion", "2025-05-26", "OPEN", "ROS", True),
    (7006, "EP4055631", "oral proceedings", "2025-07-08", "OPEN", "AQS", False),
    (7007, "US11907732", "information disclosure", "2025-04-25", "OPEN", "BNH", True),
    (7008, "EP4010388", "validate in France", "2025-03-03", "DONE", "ROS", False),
    (7009, "EP4071583", "reply to search opinion", "2025-06-16", "OPEN", "AQS", True),
    (7010, "EP3874906", "further processing", "2025-01-20", "MISSED", "TDV", False),
    (7011, "EP4010388", "validate in Spain", "2025-03-03", "DONE", "TDV", False),
]}

FEES = {f: {"feeId": f, "applicationNo": a, "kind": k, "amount": m, "currency": c, "due": d, "status": s, "paidOn": p}
    for f, a, k, m, c, d, s, p in [
    ("F-2201", "EP3912044", "renewal year 7", 1255, "EUR", "2025-05-31", "UNPAID", None),
    ("F-2202", "EP3958217", "designation", 660, "EUR", "2025-04-15", "UNPAID", None),
    ("F-2203", "EP4010388", "renewal year 6", 1125, "EUR", "2025-11-30", "UNPAID", None),
    ("F-2204", "EP4021765", "examination", 1840, "EUR", "2025-06-30", "UNPAID", None),
    ("F-2205", "EP4033902", "renewal year 5", 880, "EUR", "2025-10-31", "UNPAID", None),
    ("F-2206", "EP4047120", "renewal year 4", 690, "EUR", "2024-12-31", "PAID", "2024-12-19"),
    ("F-2207", "US11820455", "maintenance 3.5 years", 2000, "USD", "2025-06-12", "UNPAID", None),
    ("F-2208", "EP4055631", "renewal year 4", 690, "EUR", "2025-03-31", "PAID", "2025-03-11"),
    ("F-2209", "EP4071583", "renewal year 3", 530, "EUR", "2025-01-31", "PAID", "2025-01-27"),
    ("F-2210", "EP4066349", "refund of search", 1460, "EUR", "2025-04-10", "WAIVED", None),
    ("F-2211", "US11907732", "extra claims", 200, "USD", "2025-04-25", "UNPAID", None),
    ("F-2212", "EP4055631", "oral proceedings interpreter", 975, "EUR", "2025-06-20", "UNPAID", None),
]}


@server.tool()
def getApplication(applicationNo: str) -> dict:
    "Bibliographic record of an application or patent (e.g. EP4010388): title, applicant, status, dates, parent, inventors, attorney, class, claims."
    if applicationNo not in APPLICATIONS:
        raise ToolError(f"APPLICATION_NOT_FOUND {applicationNo}")
    return APPLICATIONS[applicationNo]


@server.tool()
def searchApplications(titleWords: Optional[str] = None, applicant: Optional[str] = None, status: Optional[Status] = None, attorneyCode: Optional[str] = None) -> dict:
    "Search applications by words of the title, applicant, status and/or attorney code. Returns number, title and status."
    hits = [{"applicationNo": a["applicationNo"], "title": a["title"], "status": a["status"]} for a in APPLICATIONS.values()
            if (not titleWords or all(w in a["title"].lower() for w in titleWords.lower().split()))
            and (not applicant or applicant.lower() in a["applicant"].lower())
            and (not status or a["status"] == status) and (not attorneyCode or a["attorneyCode"] == attorneyCode)]
    return {"count": len(hits), "hits": hits}


@server.tool()
def getInventor(inventorId: int) -> dict:
    "Inventor by number."
    if inventorId not in INVENTORS:
        raise ToolError(f"INVENTOR_NOT_FOUND {inventorId}")
    return INVENTORS[inventorId]


@server.tool()
def getAttorney(attorney: str) -> dict:
    "Attorney by three-letter code (KLM) or full name: phone, e-mail, office, hourly rate, deputy, absence."
    for a in ATTORNEYS.values():
        if attorney.upper() == a["code"] or attorney.lower() == a["name"].lower():
            return a
    raise ToolError(f"ATTORNEY_NOT_FOUND {attorney}")


@server.tool()
def getDeadline(deadlineId: int) -> dict:
    "One docketed deadline by number."
    if deadlineId not in DEADLINES:
        raise ToolError(f"DEADLINE_NOT_FOUND {deadlineId}")
    return DEADLINES[deadlineId]


@server.tool()
def listDeadlines(applicationNo: Optional[str] = None, attorneyCode: Optional[str] = None,
                  status: Optional[Literal["OPEN", "DONE", "MISSED"]] = None, dueBefore: Optional[str] = None) -> dict:
    "Deadlines by application, attorney code, status and/or due before a date (YYYY-MM-DD), earliest first."
    hits = [{k: d[k] for k in ("deadlineId", "applicationNo", "type", "due", "status")} for d in sorted(DEADLINES.values(), key=lambda d: d["due"])
            if (not applicationNo or d["applicationNo"] == applicationNo) and (not attorneyCode or d["attorneyCode"] == attorneyCode)
            and (not status or d["status"] == status) and (not dueBefore or d["due"] < dueBefore)]
    return {"count": len(hits), "deadlines": hits}


@server.tool()
def findFees(feeId: Optional[str] = None, applicationNo: Optional[str] = None, status: Optional[Literal["UNPAID", "PAID", "WAIVED"]] = None) -> dict:
    "Official fees by fee id (F-nnnn), application or status."
    hits = [f for f in FEES.values() if (not feeId or f["feeId"] == feeId) and (not applicationNo or f["applicationNo"] == applicationNo)
            and (not status or f["status"] == status)]
    return {"count": len(hits), "fees": hits}


@server.tool()
def updateDeadline(deadlineId: int, due: Optional[str] = None, status: Optional[Literal["OPEN", "DONE", "MISSED"]] = None, attorneyCode: Optional[str] = None) -> dict:
    "Change the due date (YYYY-MM-DD), the status or the responsible attorney of a deadline."
    if deadlineId not in DEADLINES:
        raise ToolError(f"DEADLINE_NOT_FOUND {deadlineId}")
    d = DEADLINES[deadlineId]
    if attorneyCode and attorneyCode not in ATTORNEYS:
        raise ToolError(f"ATTORNEY_NOT_FOUND {attorneyCode}")
    if due and due > d["due"] and not d["extendable"]:
        raise ToolError(f"DEADLINE_NOT_EXTENDABLE {deadlineId}")
    changes = {k: v for k, v in (("due", due), ("status", status), ("attorneyCode", attorneyCode)) if v}
    d.update(changes)
    return {"updated": True, "deadlineId": deadlineId, "changes": changes}


@server.tool()
def setFeeStatus(feeId: str, status: Literal["UNPAID", "PAID", "WAIVED"], paidOn: Optional[str] = None) -> dict:
    "Record that a fee was paid (optionally with the date, YYYY-MM-DD), waived or is unpaid again. Makes no payment."
    if feeId not in FEES:
        raise ToolError(f"FEE_NOT_FOUND {feeId}")
    f = FEES[feeId]; f["status"] = status; f["paidOn"] = paidOn
    return {"updated": True, "feeId": feeId, "applicationNo": f["applicationNo"], "status": status, "paidOn": paidOn}


if __name__ == "__main__":
    server.run()
