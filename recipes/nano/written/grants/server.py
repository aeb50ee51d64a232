from typing import Any, Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("grants")

Status = Literal["submitted", "in_review", "shortlisted", "approved", "rejected", "withdrawn"]
Programme = Literal["arts", "environment", "social", "education"]

_applicants = [
    (210, "Harbour Youth Orchestra", "Ines Caldwell", "555-0140", "ines@harbouryouth.example", "Brenmouth", "charity"),
    (211, "Greenway Allotments", "Tom Astley", "555-0141", "tom.astley@greenway.example", "Felstead", "association"),
    (212, "Northside Food Bank", "Ruth Adeyemi", "555-0142", "ruth@northsidefood.example", "Brenmouth", "charity"),
    (213, "Stillwater Museum", "Henrik Voss", "555-0143", "h.voss@stillwatermuseum.example", "Stillwater", "public body"),
    (214, "Moorland Rescue", "Kay Trent", "555-0144", "kay@moorlandrescue.example", "High Moor", "charity"),
    (215, "Lantern Theatre", "Paolo Ricci", "555-0145", "paolo@lanterntheatre.example", "Felstead", "company"),
    (216, "Second Page Books", "Aisha Noor", "555-0146", "aisha@secondpage.example", "Brenmouth", "cooperative"),
    (217, "River Watch Trust", "Dylan Price", "555-0147", "dylan.price@riverwatch.example", "Stillwater", "trust"),
    (218, "Copper Lane School", "Mona Fischer", "555-0148", "m.fischer@copperlane.example", "Felstead", "public body"),
    (219, "Open Door Shelter", "Gwen Parry", "555-0149", "gwen@opendoor.example", "High Moor", "charity"),
    (220, "Saltwind Sailing", "Leo Marsh", "555-0150", "leo@saltwind.example", "Brenmouth", "association"),
    (221, "Bee Line Growers", "Saskia Blom", "555-0151", "saskia@beeline.example", "Stillwater", "cooperative"),
]
APPLICANTS = {a[0]: dict(zip(("applicantId", "organisation", "contactPerson", "phone", "email", "city", "legalForm"), a)) for a in _applicants}

_reviewers = [
    ("REV1", "Anneke Douma", "arts", "anneke.douma@panel.example", 1, None),
    ("REV2", "Joseph Mbeki", "social", "j.mbeki@panel.example", 3, None),
    ("REV3", "Clara Winslow", "environment", "clara.winslow@panel.example", 2, "2025-10-19"),
    ("REV4", "Felix Brandt", "education", "felix.brandt@panel.example", 0, None),
    ("REV5", "Usha Patel", "social", "usha.patel@panel.example", 4, "2025-10-08"),
]
REVIEWERS = {r[0]: dict(zip(("reviewerId", "fullName", "field", "email", "openSlots", "awayUntil"), r)) for r in _reviewers}

_applications = [
    ("G25-001", "Strings for Beginners", 210, "arts", 12000, 10000, "2025-01-14", "2025-03-15", "approved", "REV1", [8001, 8002]),
    ("G25-002", "Winter Parcels", 212, "social", 25000, 25000, "2025-01-20", "2025-03-15", "approved", "REV2", [8003, 8004]),
    ("G25-003", "Rainwater Tanks", 211, "environment", 4800, 4200, "2025-02-03", "2025-04-10", "approved", "REV3", [8005]),
    ("G25-004", "Local History Vans", 213, "education", 31000, None, "2025-02-10", "2025-04-10", "rejected", "REV4", []),
    ("G25-005", "Night Beds", 219, "social", 40000, 35000, "2025-02-21", "2025-04-24", "approved", "REV5", [8006, 8007, 8008]),
    ("G25-006", "Stage Door Access Ramp", 215, "arts", 18500, 15000, "2025-03-02", "2025-05-02", "approved", "REV1", [8009, 8010]),
    ("G25-007", "Otter Survey", 217, "environment", 9600, 9600, "2025-03-11", "2025-05-12", "approved", "REV3", [8011]),
    ("G25-008", "Reading Corner", 218, "education", 3200, 3200, "2025-03-19", "2025-05-20", "approved", "REV4", [8012]),
    ("G25-009", "New Rescue Sledges", 214, "social", 14750, None, "2025-06-04", "2025-10-22", "shortlisted", "REV2", []),
    ("G25-010", "Poetry Bus", 216, "arts", 7300, None, "2025-06-11", "2025-10-29", "in_review", "REV1", []),
    ("G25-011", "Learn to Sail", 220, "education", 11200, None, "2025-06-27", "2025-11-05", "in_review", "REV4", []),
    ("G25-012", "Hedgerow Nursery", 221, "environment", 6450, None, "2025-07-08", "2025-11-12", "shortlisted", "REV3", []),
    ("G25-013", "Summer Opera", 215, "arts", 52000, None, "2025-07-15", "2025-09-15", "rejected", "REV1", []),
    ("G25-014", "Hot Lunch Club", 212, "social", 16800, None, "2025-08-01", "2025-11-19", "in_review", "REV5", []),
    ("G25-015", "Riverbank Clean-up", 217, "environment", 2900, None, "2025-08-12", "2025-11-26", "submitted", None, []),
    ("G25-016", "Tool Library", 211, "social", 3650, None, "2025-08-20", "2025-12-03", "submitted", None, []),
    ("G25-017", "Archive Digitisation", 213, "arts", 22400, None, "2025-08-29", "2025-12-03", "in_review", "REV1", []),
    ("G25-018", "Bee Hotel Workshops", 221, "education", 1850, None, "2025-09-02", "2025-12-10", "submitted", None, []),
    ("G25-019", "Youth Choir Tour", 210, "arts", 9900, None, "2025-09-09", "2025-12-10", "withdrawn", None, []),
    ("G25-020", "Family Room", 219, "social", 28300, None, "2025-09-16", "2025-12-17", "submitted", None, []),
]
APPLICATIONS = {a[0]: dict(zip(("applicationId", "title", "applicantId", "programme", "amountRequestedEur", "amountAwardedEur",
    "submittedOn", "decisionDueOn", "status", "reviewerId", "paymentIds"), a)) for a in _applications}

_payments = [
    (8001, "G25-001", 1, 6000, "2025-04-01", "paid", None), (8002, "G25-001", 2, 4000, "2025-11-03", "scheduled", None),
    (8003, "G25-002", 1, 15000, "2025-04-10", "paid", None), (8004, "G25-002", 2, 10000, "2025-10-20", "held", "interim report missing"),
    (8005, "G25-003", 1, 4200, "2025-05-05", "paid", None), (8006, "G25-005", 1, 15000, "2025-05-12", "paid", None),
    (8007, "G25-005", 2, 12000, "2025-10-13", "scheduled", None), (8008, "G25-005", 3, 8000, "2026-02-02", "scheduled", None),
    (8009, "G25-006", 1, 9000, "2025-05-20", "paid", None), (8010, "G25-006", 2, 6000, "2025-10-27", "held", "building permit outstanding"),
    (8011, "G25-007", 1, 9600, "2025-06-02", "paid", None), (8012, "G25-008", 1, 3200, "2025-06-16", "paid", None),
]
PAYMENTS = {p[0]: dict(zip(("paymentId", "applicationId", "instalment", "amountEur", "dueDate", "status", "holdReason"), p)) for p in _payments}

_reports = [
    ("R-31", "G25-001", "interim", "2025-09-30", "2025-09-26"), ("R-32", "G25-001", "final", "2026-04-30", None),
    ("R-33", "G25-002", "interim", "2025-09-15", None), ("R-34", "G25-002", "final", "2026-05-15", None),
    ("R-35", "G25-003", "final", "2025-10-31", None), ("R-36", "G25-005", "interim", "2025-10-06", None),
    ("R-37", "G25-005", "final", "2026-06-30", None), ("R-38", "G25-006", "interim", "2025-10-10", None),
    ("R-39", "G25-006", "final", "2026-03-31", None), ("R-40", "G25-007", "final", "2025-12-15", None),
    ("R-41", "G25-008", "final", "2025-09-01", "2025-09-04"),
]
REPORTS = {r[0]: dict(zip(("reportId", "applicationId", "type", "dueOn", "receivedOn"), r)) for r in _reports}

def _change(record, given, key):
    given = {k: v for k, v in given.items() if v is not None}
    if not given: raise ToolError("INVALID_REQUEST: no field to change was given")
    record.update(given)
    return {key: record[key], "changed": given}

@server.tool()
def getApplication(applicationId: str) -> dict[str, Any]:
    "Get one grant application by id, e.g. G25-007. Amounts are in EUR."
    if applicationId not in APPLICATIONS: raise ToolError(f"NOT_FOUND: application {applicationId}")
    return APPLICATIONS[applicationId]

@server.tool()
def listApplications(status: Status | None = None, programme: Programme | None = None, search: str | None = None) -> dict[str, Any]:
    "List applications (short form). search matches part of the title or of the organisation's name. At least one filter is required."
    if not (status or programme or search): raise ToolError("INVALID_REQUEST: at least one filter is required")
    found = [a for a in APPLICATIONS.values() if status in (None, a["status"]) and programme in (None, a["programme"])
             and (not search or search.casefold() in a["title"].casefold() or search.casefold() in APPLICANTS[a["applicantId"]]["organisation"].casefold())]
    return {"count": len(found), "applications": [{k: a[k] for k in ("applicationId", "title", "amountRequestedEur", "status")} for a in found]}

@server.tool()
def getApplicant(applicantId: int) -> dict[str, Any]:
    "Get an applicant organisation and its contact person."
    if applicantId not in APPLICANTS: raise ToolError(f"NOT_FOUND: applicant {applicantId}")
    return APPLICANTS[applicantId]

@server.tool()
def getReviewer(reviewer: str) -> dict[str, Any]:
    "Get a panel reviewer by id (REV1) or full name. openSlots is the number of further applications they can take."
    for r in REVIEWERS.values():
        if reviewer.casefold() in (r["reviewerId"].casefold(), r["fullName"].casefold()): return r
    raise ToolError(f"NOT_FOUND: reviewer {reviewer}")

@server.tool()
def getPayment(paymentId: int) -> dict[str, Any]:
    "Get one payment (an instalment of an approved grant)."
    if paymentId not in PAYMENTS: raise ToolError(f"NOT_FOUND: payment {paymentId}")
    return PAYMENTS[paymentId]

@server.tool()
def listReportsDue(applicationId: str | None = None, dueBefore: str | None = None) -> list[dict[str, Any]]:
    "Reports that have not been received yet, earliest first. dueBefore: YYYY-MM-DD."
    found = [r for r in REPORTS.values() if r["receivedOn"] is None and applicationId in (None, r["applicationId"]) and (not dueBefore or r["dueOn"] < dueBefore)]
    return [{k: r[k] for k in ("reportId", "applicationId", "type", "dueOn")} for r in sorted(found, key=lambda r: r["dueOn"])]

@server.tool()
def updateApplication(applicationId: str, status: Status | None = None, reviewerId: str | None = None, amountAwardedEur: int | None = None) -> dict[str, Any]:
    "Change status, reviewer or awarded amount of an application. Returns the changed fields."
    if applicationId not in APPLICATIONS: raise ToolError(f"NOT_FOUND: application {applicationId}")
    if reviewerId is not None and reviewerId not in REVIEWERS: raise ToolError(f"NOT_FOUND: reviewer {reviewerId}")
    return _change(APPLICATIONS[applicationId], {"status": status, "reviewerId": reviewerId, "amountAwardedEur": amountAwardedEur}, "applicationId")

@server.tool()
def updatePayment(paymentId: int, status: Literal["scheduled", "held", "paid"] | None = None, dueDate: str | None = None, amountEur: int | None = None) -> dict[str, Any]:
    "Change a payment that is not paid yet. dueDate: YYYY-MM-DD. Returns the changed fields."
    if paymentId not in PAYMENTS: raise ToolError(f"NOT_FOUND: payment {paymentId}")
    if PAYMENTS[paymentId]["status"] == "paid": raise ToolError(f"CONFLICT: payment {paymentId} is already paid")
    return _change(PAYMENTS[paymentId], {"status": status, "dueDate": dueDate, "amountEur": amountEur}, "paymentId")

@server.tool()
def recordReport(reportId: str, receivedOn: str) -> dict[str, Any]:
    "Record that a report came in. receivedOn: YYYY-MM-DD."
    if reportId not in REPORTS: raise ToolError(f"NOT_FOUND: report {reportId}")
    if REPORTS[reportId]["receivedOn"]: raise ToolError(f"CONFLICT: report {reportId} was received on {REPORTS[reportId]['receivedOn']}")
    return _change(REPORTS[reportId], {"receivedOn": receivedOn}, "reportId")

if __name__ == "__main__":
    server.run()
