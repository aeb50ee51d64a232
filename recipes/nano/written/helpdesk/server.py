from typing import Literal, Optional
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("helpdesk")

Status = Literal["new", "in progress", "waiting", "resolved", "closed"]
Priority = Literal["low", "normal", "high", "urgent"]

_T = """4101|Outlook keeps asking for password|Priya Nair|LT-0231|in progress|normal|mhanley|2025-03-03|2025-03-06|Cleared cached credentials, watching it
4102|Laptop battery drains in an hour|Tom Becker|LT-0244|waiting|low|dkowal|2025-03-03|2025-03-12|Replacement battery ordered from Lenovo
4103|Cannot connect to VPN from home|Sofia Marin|LT-0256|new|high||2025-03-04|2025-03-05|
4104|Printer on 3rd floor jams|Alan Whitmore|PR-0017|in progress|normal|rosei|2025-03-04|2025-03-10|Feed rollers worn, cleaning did not help
4105|New starter needs accounts|Grace Obi||new|normal||2025-03-04|2025-03-14|
4106|Screen flickers after docking|Priya Nair|MN-0302|waiting|low|dkowal|2025-03-05|2025-03-17|Asked user to try another cable
4107|Finance shared drive not visible|Helen Strand|DT-0119|resolved|high|tnguyen|2025-03-05|2025-03-06|Group membership restored
4108|Clicked a phishing mail|Marcus Lee|LT-0260|in progress|urgent|jbrandt|2025-03-06|2025-03-06|Laptop isolated, full scan running
4109|Install Adobe Acrobat Pro|Olu Adeyemi|LT-0262|closed|low|mhanley|2025-03-06|2025-03-13|Licence 88 assigned and installed
4110|Teams camera not detected|Ines Duarte|LT-0267|resolved|normal|dkowal|2025-03-07|2025-03-11|Privacy setting was off
4111|Password reset for payroll system|Helen Strand||closed|normal|tnguyen|2025-03-07|2025-03-10|Reset by phone
4112|Wi-Fi drops in meeting room B|Alan Whitmore||in progress|high|jbrandt|2025-03-07|2025-03-11|New access point to be mounted on Thursday
4113|Keyboard keys sticking|Tom Becker||new|low||2025-03-10|2025-03-21|
4114|Blue screen on startup|Yusuf Demir|DT-0124|in progress|urgent|smehta|2025-03-10|2025-03-10|Memory module 2 faulty
4115|Needs a second monitor|Grace Obi||waiting|low|dkowal|2025-03-10|2025-03-24|Waiting for manager approval
4116|Laptop very slow|Karin Holm|LT-0270|new|normal||2025-03-11|2025-03-14|
4117|Mailbox full|Marcus Lee||resolved|low|mhanley|2025-03-11|2025-03-18|Archive switched on
4118|Lost MFA token|Ines Duarte||new|urgent||2025-03-12|2025-03-12|
4119|Label printer offline in warehouse|Beata Nowak|PR-0021|waiting|high|rosei|2025-03-12|2025-03-13|Spare network cable on its way
4120|Projector lamp dead in room A|Sam Carver||closed|normal|dkowal|2025-03-12|2025-03-18|Lamp replaced"""
_K = ["ticket_id", "subject", "requester", "asset_tag", "status", "priority", "assignee", "opened", "due", "last_note"]
TICKETS = {}
for _l in _T.splitlines():
    _r = dict(zip(_K, [v or None for v in _l.split("|")]))
    _r["ticket_id"] = int(_r["ticket_id"])
    TICKETS[_r["ticket_id"]] = _r

_D = """LT-0231|laptop|Dell Latitude 7440|Priya Nair|5CG2X91|Windows 11|2023-09-14|2026-09-14|Leeds, 2nd floor|in use
LT-0244|laptop|Lenovo ThinkPad T14|Tom Becker|PF3K8ZQ7|Windows 11|2021-05-20|2024-05-20|Leeds, 1st floor|in use
LT-0256|laptop|MacBook Air M2|Sofia Marin|C02HX4KLQ6|macOS 14|2023-11-02|2026-11-02|Remote|in use
LT-0260|laptop|HP EliteBook 840|Marcus Lee|8CG1140TRV|Windows 11|2022-08-30|2025-08-30|York, ground floor|in use
LT-0262|laptop|Dell Latitude 5430|Olu Adeyemi|7HJ5WM3|Windows 10|2022-02-11|2025-02-11|Leeds, 1st floor|in use
LT-0267|laptop|MacBook Pro 14|Ines Duarte|FVFGT2Q0L4|macOS 14|2024-01-22|2027-01-22|York, 1st floor|in use
LT-0270|laptop|Lenovo ThinkPad X1|Karin Holm|R90TXB51|Windows 11|2020-10-05|2023-10-05|Leeds, 2nd floor|in use
LT-0281|laptop|Dell Latitude 7440||5CG2Y07|Windows 11|2024-06-03|2027-06-03|Store room|spare
LT-0282|laptop|HP EliteBook 840||8CG1140TSB|Windows 11|2022-08-30|2025-08-30|HP service centre|in repair
MN-0302|monitor|Dell U2723QE|Priya Nair|CN0K7V14||2023-09-14|2026-09-14|Leeds, 2nd floor|in use
MN-0311|monitor|LG 27UP850||204NTQD6||2024-02-19|2027-02-19|Store room|spare
DT-0119|desktop|HP ProDesk 600|Helen Strand|CZC0428LKM|Windows 10|2019-12-09|2022-12-09|York, 1st floor|in use
DT-0124|desktop|Dell OptiPlex 7010|Yusuf Demir|GX81PN3|Windows 11|2023-04-17|2026-04-17|Leeds, ground floor|in use
PR-0017|printer|Ricoh IM C3000||3109R510|firmware 1.14|2021-03-01|2026-03-01|Leeds, 3rd floor|in use
PR-0021|printer|Zebra ZD421||D2J21470|firmware 84.20|2022-11-15|2025-11-15|Warehouse|in use
PR-0009|printer|HP LaserJet 400||VNB3R91||2014-07-08|2017-07-08|Store room|retired"""
_K = ["asset_tag", "type", "model", "owner", "serial", "os", "purchased", "warranty_until", "location", "state"]
DEVICES = {l.split("|")[0]: dict(zip(_K, [v or None for v in l.split("|")])) for l in _D.splitlines()}

_P = """mhanley|Moira Hanley|software|2214|early|Leeds
dkowal|Dawid Kowal|hardware|2217|late|Leeds
rosei|Rita Osei|printers|2230|early|Leeds
tnguyen|Thu Nguyen|accounts|2241|early|York
jbrandt|Jonas Brandt|network|2250|late|York
smehta|Sunil Mehta|hardware|2263|night|Leeds"""
TECHS = {}
for _l in _P.splitlines():
    u, n, s, x, sh, site = _l.split("|")
    TECHS[u] = {"username": u, "full_name": n, "skill": s, "extension": int(x), "shift": sh, "site": site, "on_call": u == "jbrandt"}


def _ticket(i):
    if i not in TICKETS:
        raise ToolError(f"Ticket {i} does not exist")
    return TICKETS[i]


def _tech(u):
    if u not in TECHS:
        raise ToolError(f"Unknown technician '{u}'")
    return TECHS[u]


@server.tool()
def get_ticket(ticket_id: int) -> dict:
    """Everything about one support ticket: subject, requester, device, status, priority, assignee, dates, last note."""
    return _ticket(ticket_id)


@server.tool()
def search_tickets(text: Optional[str] = None, status: Optional[Status] = None, priority: Optional[Priority] = None,
                   assignee: Optional[str] = None) -> list[dict]:
    """Find tickets. `text` is looked for in the subject and in the requester's name; `assignee` is a technician's username. At most 10 rows."""
    out = []
    for t in TICKETS.values():
        if text and text.lower() not in (t["subject"] + " " + t["requester"]).lower():
            continue
        if status and t["status"] != status or priority and t["priority"] != priority or assignee and t["assignee"] != assignee:
            continue
        out.append({k: t[k] for k in ("ticket_id", "subject", "requester", "status", "priority", "assignee", "opened")})
    return out[:10]


@server.tool()
def create_ticket(requester: str, subject: str, priority: Priority = "normal", asset_tag: Optional[str] = None) -> dict:
    """Open a new ticket for a person. The device's asset tag is optional."""
    if asset_tag and asset_tag not in DEVICES:
        raise ToolError(f"No device with asset tag {asset_tag}")
    i = max(TICKETS) + 1
    TICKETS[i] = {"ticket_id": i, "subject": subject, "requester": requester, "asset_tag": asset_tag, "status": "new", "priority": priority,
                  "assignee": None, "opened": "2025-03-13", "due": None, "last_note": None}
    return {k: TICKETS[i][k] for k in ("ticket_id", "subject", "requester", "asset_tag", "status", "priority")}


@server.tool()
def update_ticket(ticket_id: int, status: Optional[Status] = None, priority: Optional[Priority] = None) -> dict:
    """Change the status and/or the priority of a ticket."""
    t = _ticket(ticket_id)
    if status is None and priority is None:
        raise ToolError("Nothing to change: give status or priority")
    t["status"], t["priority"] = status or t["status"], priority or t["priority"]
    return {k: t[k] for k in ("ticket_id", "subject", "status", "priority")}


@server.tool()
def assign_ticket(ticket_id: int, username: str) -> dict:
    """Give a ticket to a technician (by username)."""
    t, p = _ticket(ticket_id), _tech(username)
    t["assignee"] = username
    return {"ticket_id": ticket_id, "subject": t["subject"], "assignee": username, "assignee_name": p["full_name"]}


@server.tool()
def get_device(asset_tag: str) -> dict:
    """Details of one device, by asset tag such as LT-0231."""
    if asset_tag not in DEVICES:
        raise ToolError(f"No device with asset tag {asset_tag}")
    return DEVICES[asset_tag]


@server.tool()
def list_devices(owner: Optional[str] = None, type: Optional[Literal["laptop", "desktop", "monitor", "printer"]] = None,
                 state: Optional[Literal["in use", "spare", "in repair", "retired"]] = None) -> list[dict]:
    """List devices by owner (part of the name is enough), type or state. At most 10 rows; use get_device for the details."""
    out = [d for d in DEVICES.values() if (not owner or owner.lower() in (d["owner"] or "").lower())
           and (not type or d["type"] == type) and (not state or d["state"] == state)]
    return [{k: d[k] for k in ("asset_tag", "type", "model", "owner", "state")} for d in out[:10]]


@server.tool()
def list_technicians(skill: Optional[Literal["software", "hardware", "printers", "accounts", "network"]] = None) -> list[dict]:
    """The technicians with username, name and skill."""
    return [{k: p[k] for k in ("username", "full_name", "skill")} for p in TECHS.values() if not skill or p["skill"] == skill]


@server.tool()
def get_technician(username: str) -> dict:
    """A technician's extension, shift, site and whether they are on call."""
    return _tech(username)


if __name__ == "__main__":
    server.run()
