from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("claims")

STAFF = {  # username: name, title, department, manager, office, monthly limit, bank account ending, since
    "jnovak": ("Jana Novak", "Account Manager", "Sales", "dferreira", "Prague", 1500, "4471", "2019-03-01"),
    "tbauer": ("Tobias Bauer", "Sales Engineer", "Sales", "dferreira", "Munich", 1200, "0923", "2021-10-15"),
    "aosei": ("Abena Osei", "Account Manager", "Sales", "dferreira", "London", 1500, "7718", "2022-06-07"),
    "dferreira": ("Duarte Ferreira", "Head of Sales", "Sales", "cwhitlock", "Lisbon", 4000, "3350", "2016-01-11"),
    "mlindqvist": ("Maja Lindqvist", "Developer", "Engineering", "rpatel", "Stockholm", 800, "6104", "2020-08-17"),
    "skim": ("Seo-yeon Kim", "Developer", "Engineering", "rpatel", "London", 800, "5529", "2023-02-01"),
    "gruiz": ("Gonzalo Ruiz", "Test Lead", "Engineering", "rpatel", "Lisbon", 900, "8846", "2018-05-21"),
    "rpatel": ("Rohan Patel", "Engineering Director", "Engineering", "cwhitlock", "London", 3000, "1297", "2017-09-04"),
    "lmoreau": ("Lucie Moreau", "Event Planner", "Marketing", "bschmidt", "Munich", 2500, "9035", "2021-01-18"),
    "ktanaka": ("Kenji Tanaka", "Designer", "Marketing", "bschmidt", "London", 700, "2261", "2024-04-02"),
    "bschmidt": ("Birgit Schmidt", "Head of Marketing", "Marketing", "cwhitlock", "Munich", 3000, "4812", "2015-11-30"),
    "cwhitlock": ("Carol Whitlock", "Managing Director", "Board", "", "London", 8000, "7003", "2012-02-06"),
}
KEYS = ("id", "user", "category", "amount", "spent_on", "description", "status", "approver", "receipt", "project")
CLAIMS = {r[0]: dict(zip(KEYS, r)) for r in [
    ("EXP-2041", "jnovak", "travel", 318.40, "2025-02-03", "Train and tram, Vienna trade fair", "paid", "dferreira", "yes", "FAIR25"),
    ("EXP-2042", "jnovak", "meals", 86.20, "2025-02-04", "Dinner with Kessler AG", "approved", "dferreira", "yes", "FAIR25"),
    ("EXP-2043", "tbauer", "hotel", 427.00, "2025-02-05", "Three nights, Vienna", "submitted", "dferreira", "yes", "FAIR25"),
    ("EXP-2044", "skim", "equipment", 149.99, "2025-02-10", "Mechanical keyboard", "rejected", "rpatel", "yes", "-"),
    ("EXP-2045", "lmoreau", "travel", 212.75, "2025-02-11", "Flight to Lisbon, venue visit", "paid", "bschmidt", "yes", "SUMMIT"),
    ("EXP-2046", "lmoreau", "hotel", 264.00, "2025-02-12", "Two nights, Lisbon", "paid", "bschmidt", "yes", "SUMMIT"),
    ("EXP-2047", "gruiz", "training", 690.00, "2025-02-17", "ISTQB advanced course", "approved", "rpatel", "yes", "-"),
    ("EXP-2048", "aosei", "travel", 54.30, "2025-02-18", "Taxi to Heathrow", "submitted", "dferreira", "no", "NORTH"),
    ("EXP-2049", "aosei", "travel", 389.10, "2025-02-18", "Flight to Oslo", "submitted", "dferreira", "yes", "NORTH"),
    ("EXP-2050", "ktanaka", "equipment", 612.00, "2025-02-20", "Drawing tablet", "submitted", "bschmidt", "yes", "-"),
    ("EXP-2051", "mlindqvist", "training", 240.00, "2025-02-24", "Rust workshop", "submitted", "rpatel", "no", "-"),
    ("EXP-2052", "dferreira", "meals", 335.50, "2025-02-25", "Team dinner after quarter close", "submitted", "cwhitlock", "yes", "-"),
    ("EXP-2053", "rpatel", "travel", 1280.00, "2025-03-01", "Flight to Bangalore", "approved", "cwhitlock", "yes", "OFFSHORE"),
    ("EXP-2054", "bschmidt", "meals", 47.80, "2025-03-03", "Lunch with print agency", "paid", "cwhitlock", "yes", "-"),
    ("EXP-2055", "tbauer", "meals", 31.60, "2025-03-04", "Lunch on the road", "draft", "dferreira", "no", "-"),
    ("EXP-2056", "lmoreau", "other", 1150.00, "2025-03-05", "Deposit for conference hall", "submitted", "bschmidt", "yes", "SUMMIT"),
    ("EXP-2057", "skim", "travel", 97.45, "2025-03-06", "Return ticket to Leeds", "paid", "rpatel", "yes", "-"),
    ("EXP-2058", "gruiz", "other", 22.90, "2025-03-07", "Courier, test devices", "draft", "rpatel", "yes", "-"),
    ("EXP-2059", "jnovak", "hotel", 178.00, "2025-03-10", "One night, Brno", "submitted", "dferreira", "yes", "-"),
    ("EXP-2060", "mlindqvist", "equipment", 75.00, "2025-03-11", "Headset", "approved", "rpatel", "yes", "-"),
    ("EXP-2061", "ktanaka", "meals", 18.25, "2025-03-12", "Lunch at photo shoot", "rejected", "bschmidt", "no", "SUMMIT"),
    ("EXP-2062", "rpatel", "hotel", 940.00, "2025-03-13", "Five nights, Bangalore", "submitted", "cwhitlock", "yes", "OFFSHORE"),
]}
LOG = {
    "EXP-2041": ["2025-02-07 dferreira approve", "2025-02-14 payroll paid"],
    "EXP-2042": ["2025-02-07 dferreira send_back: who else was at the table?", "2025-02-12 dferreira approve"],
    "EXP-2044": ["2025-02-13 rpatel reject: not on the equipment list"],
    "EXP-2045": ["2025-02-13 bschmidt approve", "2025-02-21 payroll paid"],
    "EXP-2046": ["2025-02-13 bschmidt approve", "2025-02-21 payroll paid"],
    "EXP-2047": ["2025-02-19 rpatel approve: agreed in the yearly review"],
    "EXP-2053": ["2025-03-04 cwhitlock approve"],
    "EXP-2054": ["2025-03-04 cwhitlock approve", "2025-03-07 payroll paid"],
    "EXP-2057": ["2025-03-08 rpatel approve", "2025-03-14 payroll paid"],
    "EXP-2060": ["2025-03-12 rpatel approve"],
    "EXP-2061": ["2025-03-13 bschmidt reject: no receipt"],
}
Category = Literal["travel", "hotel", "meals", "equipment", "training", "other"]


def _claim(claim_id):
    if claim_id not in CLAIMS:
        raise ToolError(f"claim not found: {claim_id}")
    return CLAIMS[claim_id]


@server.tool()
def search_claims(username: str = "", status: Literal["any", "draft", "submitted", "approved", "rejected", "paid"] = "any", category: Category | Literal["any"] = "any", approver: str = "") -> str:
    "Table of expense claims. Give at least one filter. username and approver are login names."
    if not username and not approver and status == "any" and category == "any":
        raise ToolError("give at least one filter")
    rows = [c for c in CLAIMS.values() if (not username or c["user"] == username) and (status == "any" or c["status"] == status)
            and (category == "any" or c["category"] == category) and (not approver or c["approver"] == approver)]
    if not rows:
        return "No claims match."
    return "id | user | category | amount | date | status\n" + "\n".join(
        f"{c['id']} | {c['user']} | {c['category']} | {c['amount']:.2f} EUR | {c['spent_on']} | {c['status']}" for c in rows)


@server.tool()
def show_claim(claim_id: str) -> str:
    "All fields of one claim (id like EXP-2041)"
    c = _claim(claim_id)
    return "\n".join(f"{k}: {c[k]:.2f} EUR" if k == "amount" else f"{k}: {c[k]}" for k in KEYS)


@server.tool()
def who_is(name: str) -> str:
    "Look an employee up by name, part of a name, or login name."
    hits = [u for u, s in STAFF.items() if name.lower() in s[0].lower() or name.lower() == u]
    if not hits:
        return f"Nobody called {name} works here."
    if len(hits) > 1:
        return "Several people match: " + ", ".join(f"{STAFF[u][0]} ({u})" for u in hits)
    n, title, dept, boss, office, limit, bank, since = STAFF[hits[0]]
    return f"username: {hits[0]}\nname: {n}\ntitle: {title}\ndepartment: {dept}\nmanager: {boss or '-'}\noffice: {office}\nmonthly_limit: {limit} EUR\nbank_account: ****{bank}\nemployed_since: {since}"


@server.tool()
def list_staff(department: Literal["Sales", "Engineering", "Marketing", "Board"]) -> str:
    "Employees of a department with login, office and monthly limit."
    return "\n".join(f"{u}: {s[0]}, {s[1]}, {s[4]}, limit {s[5]} EUR" for u, s in STAFF.items() if s[2] == department)


@server.tool()
def approval_log(claim_id: str) -> str:
    "Who decided what on a claim, and when"
    _claim(claim_id)
    return "\n".join(LOG.get(claim_id, [])) or f"No decisions on {claim_id} yet."


@server.tool()
def new_claim(username: str, category: Category, amount: float, spent_on: str, description: str, project: str = "-") -> str:
    "File a claim for an employee. amount in EUR, spent_on as YYYY-MM-DD. Goes to the employee's manager."
    if username not in STAFF:
        raise ToolError(f"no such user: {username}")
    cid = f"EXP-{max(int(k[4:]) for k in CLAIMS) + 1}"
    CLAIMS[cid] = dict(zip(KEYS, (cid, username, category, amount, spent_on, description, "submitted", STAFF[username][3], "no", project)))
    return f"Created {cid}: {category}, {amount:.2f} EUR, {spent_on}, waiting for {STAFF[username][3]}."


@server.tool()
def amend_claim(claim_id: str, amount: float | None = None, category: Category | None = None, description: str | None = None,
                project: str | None = None, receipt: Literal["yes", "no"] | None = None) -> str:
    "Correct fields of a claim that has not been paid yet."
    c = _claim(claim_id)
    if c["status"] == "paid":
        raise ToolError(f"{claim_id} is already paid and locked")
    new = {k: v for k, v in dict(amount=amount, category=category, description=description, project=project, receipt=receipt).items() if v is not None}
    if not new:
        raise ToolError("nothing to amend")
    lines = [f"{k}: {c[k]} -> {v}" for k, v in new.items()]
    c.update(new)
    return f"{claim_id} amended\n" + "\n".join(lines)


@server.tool()
def decide_claim(claim_id: str, decision: Literal["approve", "reject", "send_back"], comment: str = "") -> str:
    "Decide on a submitted claim. send_back returns it to the employee as a draft."
    c = _claim(claim_id)
    if c["status"] != "submitted":
        raise ToolError(f"{claim_id} is {c['status']}; only submitted claims can be decided")
    c["status"] = {"approve": "approved", "reject": "rejected", "send_back": "draft"}[decision]
    LOG.setdefault(claim_id, []).append(f"today {c['approver']} {decision}" + (f": {comment}" if comment else ""))
    return f"{claim_id} ({STAFF[c['user']][0]}, {c['amount']:.2f} EUR) is now {c['status']}." + (f" Comment: {comment}" if comment else "")


@server.tool()
def reassign_approver(claim_id: str, approver: str) -> str:
    "Hand a claim to another approver (login name)."
    c = _claim(claim_id)
    if approver not in STAFF:
        raise ToolError(f"no such user: {approver}")
    old, c["approver"] = c["approver"], approver
    return f"{claim_id}: approver changed from {old} to {approver}"


if __name__ == "__main__":
    server.run()
