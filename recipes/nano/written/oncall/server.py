from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("oncall")

ENGINEERS = {  # name, team, phone, city, timezone, backup
    "mlind": ["Maja Lindqvist", "Payments", "+46 555-0111", "Malmo", "UTC+1", "tokafor"],
    "tokafor": ["Tobe Okafor", "Payments", "+44 555-0112", "Leeds", "UTC+0", "mlind"],
    "sgrant": ["Sheila Grant", "Identity", "+1 555-0113", "Boston", "UTC-5", "cwells"],
    "yito": ["Yuki Ito", "Discovery", "+81 555-0114", "Osaka", "UTC+9", "efossum"],
    "dkovac": ["Dario Kovac", "Messaging", "+385 555-0115", "Split", "UTC+1", "pnair"],
    "pnair": ["Priya Nair", "Media", "+91 555-0116", "Pune", "UTC+5:30", "rferro"],
    "jbraun": ["Jonas Braun", "Frontend", "+49 555-0117", "Kassel", "UTC+1", "sgrant"],
    "rferro": ["Rosa Ferro", "Media", "+39 555-0118", "Turin", "UTC+1", "pnair"],
    "hsaleh": ["Hana Saleh", "Data", "+20 555-0119", "Cairo", "UTC+2", "efossum"],
    "efossum": ["Erik Fossum", "Data", "+47 555-0120", "Bergen", "UTC+1", "hsaleh"],
    "cwells": ["Callum Wells", "Incident Mgmt", "+1 555-0121", "Denver", "UTC-7", "jbraun"],
}
SERVICES = {  # tier, team, owner, runbook, region, slo, repo language
    "checkout-api": [1, "Payments", "mlind", "RB-11", "eu-west", "99.95%"],
    "payments-gateway": [1, "Payments", "tokafor", "RB-12", "eu-west", "99.99%"],
    "auth": [1, "Identity", "sgrant", "RB-13", "us-east", "99.99%"],
    "search-index": [2, "Discovery", "yito", "RB-14", "ap-north", "99.5%"],
    "email-sender": [3, "Messaging", "dkovac", "RB-15", "eu-south", "99.0%"],
    "image-resizer": [3, "Media", "pnair", "RB-16", "ap-south", "98.0%"],
    "billing-worker": [2, "Payments", "mlind", "RB-17", "eu-west", "99.7%"],
    "webapp": [1, "Frontend", "jbraun", "RB-18", "us-east", "99.9%"],
    "cdn-edge": [1, "Media", "rferro", "RB-19", "global", "99.95%"],
    "inventory-db": [1, "Data", "hsaleh", "RB-20", "eu-south", "99.9%"],
    "push-notify": [3, "Messaging", "dkovac", "RB-15", "us-east", "98.5%"],
    "report-builder": [3, "Data", "efossum", "RB-21", "eu-south", "97.0%"],
}
RUNBOOKS = {  # title, author, reviewed, steps, first step, rollback command
    "RB-11": ["Checkout latency", "mlind", "2024-11-04", 7, "Compare p95 with the last deploy time", "shipit rollback checkout-api"],
    "RB-12": ["Card provider down", "tokafor", "2025-01-20", 9, "Check the provider status page", "shipit flag card-failover on"],
    "RB-13": ["Login failures", "cwells", "2024-08-15", 6, "Look at the token signing key age", "shipit rollback auth"],
    "RB-14": ["Stale search results", "yito", "2025-02-11", 5, "Read the index lag gauge", "indexctl restore last-good"],
    "RB-15": ["Message queue backlog", "pnair", "2024-06-30", 8, "Count messages older than 10 minutes", "queuectl drain --to spare"],
    "RB-16": ["Resizer out of memory", "pnair", "2025-02-27", 4, "List the five largest uploads", "shipit scale image-resizer 6"],
    "RB-17": ["Invoice run stuck", "tokafor", "2024-12-09", 10, "Find the oldest locked invoice", "billctl unlock --all"],
    "RB-18": ["Blank page after deploy", "jbraun", "2025-03-01", 3, "Purge the asset manifest", "shipit rollback webapp"],
    "RB-19": ["Edge certificate problems", "sgrant", "2024-10-22", 6, "Check certificate expiry per region", "edgectl cert pin previous"],
    "RB-20": ["Replica lag", "efossum", "2025-01-08", 11, "Stop the nightly export", "dbctl promote replica-2"],
    "RB-21": ["Reports missing", "hsaleh", "2024-09-17", 5, "Rerun the failed partition", "reportctl reset"],
}
#  id: opened, sev, svc, status, assignee, summary, customers affected, ack time, closed time, cause
INCIDENTS = {
    2031: ["2025-03-02T02:14Z", 2, "checkout-api", "resolved", "mlind", "timeouts on the card form", 1240, "02:19Z", "03:05Z", "connection pool too small"],
    2032: ["2025-03-03T11:40Z", 3, "email-sender", "resolved", "dkovac", "receipts arrive an hour late", 380, "11:58Z", "14:20Z", "queue consumer crashed"],
    2033: ["2025-03-04T22:51Z", 1, "auth", "resolved", "sgrant", "nobody can log in", 18400, "22:53Z", "23:47Z", "expired signing key"],
    2034: ["2025-03-06T08:05Z", 3, "report-builder", "resolved", "efossum", "weekly sales report is empty", 45, "08:31Z", "09:12Z", "partition skipped"],
    2035: ["2025-03-07T16:22Z", 2, "search-index", "resolved", "yito", "search shows sold-out items", 2100, "16:30Z", "19:44Z", "index lag of 6 hours"],
    2036: ["2025-03-08T05:37Z", 1, "payments-gateway", "resolved", "tokafor", "all card payments declined", 9600, "05:39Z", "06:58Z", "provider outage"],
    2037: ["2025-03-10T13:03Z", 4, "image-resizer", "resolved", "rferro", "thumbnails blurred", 70, "13:45Z", "15:10Z", "wrong quality default"],
    2038: ["2025-03-11T19:28Z", 2, "inventory-db", "resolved", "efossum", "stock counts frozen", 3300, "19:33Z", "21:02Z", "replica lag"],
    2039: ["2025-03-12T07:16Z", 1, "cdn-edge", "resolved", "rferro", "certificate warnings in Asia", 12750, "07:18Z", "08:40Z", "certificate not renewed"],
    2040: ["2025-03-13T10:55Z", 3, "webapp", "resolved", "jbraun", "blank page on old phones", 610, "11:07Z", "12:30Z", "bad polyfill"],
    2041: ["2025-03-14T21:09Z", 3, "push-notify", "mitigated", "pnair", "double notifications", 5200, "21:25Z", "", ""],
    2042: ["2025-03-15T03:32Z", 2, "billing-worker", "mitigated", "tokafor", "invoice run stuck at 40 percent", 890, "03:41Z", "", ""],
    2043: ["2025-03-16T12:48Z", 4, "report-builder", "open", "", "PDF footer shows wrong year", 12, "", "", ""],
    2044: ["2025-03-17T06:20Z", 2, "checkout-api", "acknowledged", "tokafor", "coupon codes rejected", 1475, "06:26Z", "", ""],
    2045: ["2025-03-17T18:11Z", 3, "search-index", "open", "", "autocomplete slow", 260, "", "", ""],
    2046: ["2025-03-18T09:02Z", 3, "email-sender", "acknowledged", "pnair", "password mails land in spam", 430, "09:20Z", "", ""],
    2047: ["2025-03-18T22:45Z", 2, "inventory-db", "open", "", "warehouse sync fails every hour", 150, "", "", ""],
    2048: ["2025-03-19T01:27Z", 1, "webapp", "mitigated", "sgrant", "basket empties itself", 7050, "01:29Z", "", ""],
    2049: ["2025-03-19T14:50Z", 4, "image-resizer", "open", "", "animated pictures stand still", 33, "", "", ""],
    2050: ["2025-03-20T04:06Z", 2, "cdn-edge", "acknowledged", "cwells", "slow pages in Brazil", 2890, "04:15Z", "", ""],
}
SHIFTS = {f"03-{d}": [p, s] for d, p, s in [
    (17, "tokafor", "mlind"), (18, "yito", "efossum"), (19, "sgrant", "jbraun"), (20, "cwells", "rferro"), (21, "hsaleh", "efossum"),
    (22, "dkovac", "pnair"), (23, "mlind", "tokafor"), (24, "jbraun", "sgrant"), (25, "rferro", "pnair"), (26, "efossum", "yito"),
    (27, "pnair", "dkovac"), (28, "mlind", "hsaleh")]}
CLOCK = "2025-03-20T09:00Z"


def inc(id):
    n = id.upper().removeprefix("INC-")
    if not n.isdigit() or int(n) not in INCIDENTS:
        raise ToolError(f"ERROR incident {id} not found")
    return int(n), INCIDENTS[int(n)]


@server.tool()
def incident_show(id: str) -> str:
    "Full log of one incident, e.g. INC-2031."
    n, r = inc(id)
    day = r[0][:11]
    out = [f'{r[0]} INC-{n} OPENED sev{r[1]} svc={r[2]} "{r[5]}"']
    if r[7]: out.append(f"{day}{r[7]} INC-{n} ACK by={r[4]}")
    if r[8]: out.append(f'{day}{r[8]} INC-{n} RESOLVED cause="{r[9]}"')
    out.append(f"INC-{n} status={r[3]} assignee={r[4] or '-'} affected={r[6]}")
    return "\n".join(out)


@server.tool()
def incidents_tail(service: str | None = None, status: Literal["open", "acknowledged", "mitigated", "resolved"] | None = None,
                   severity: int | None = None) -> str:
    "Incidents, newest first (at most 12 lines). Filter by service, status or severity (1 is worst, 4 is minor)."
    rows = [f'{r[0]} INC-{n} sev{r[1]} {r[3]} svc={r[2]} "{r[5]}"' for n, r in sorted(INCIDENTS.items(), reverse=True)
            if service in (None, r[2]) and status in (None, r[3]) and severity in (None, r[1])]
    return "\n".join(rows[:12]) or "(no incidents)"


@server.tool()
def service_info(name: str) -> str:
    "Tier, team, owner, runbook, region and SLO of a service."
    if name not in SERVICES: return f"unknown service: {name}"
    t, team, owner, rb, region, slo = SERVICES[name]
    return f"svc={name} tier={t} team={team} owner={owner} runbook={rb} region={region} slo={slo}"


@server.tool()
def whois(who: str) -> str:
    "Look up an engineer by handle or by (part of) the name: contact details, team, backup."
    hits = [h for h in ENGINEERS if h == who.lower()] or [h for h, e in ENGINEERS.items() if who.lower() in e[0].lower()]
    if not hits: return f"nobody matches '{who}'"
    return "\n".join("handle={} name=\"{}\" team=\"{}\" phone=\"{}\" mail={}@ops.example city={} tz={} backup={}".format(
        h, *ENGINEERS[h][:3], h, *ENGINEERS[h][3:]) for h in hits)


@server.tool()
def runbook(id: str) -> str:
    "Show a runbook, e.g. RB-11."
    if id.upper() not in RUNBOOKS: raise ToolError(f"ERROR runbook {id} not found")
    t, a, d, n, f, b = RUNBOOKS[id.upper()]
    return f"# {id.upper()} {t}\nauthor={a} reviewed={d} steps={n}\nstep 1: {f}\nrollback: {b}"


@server.tool()
def oncall_at(day: str) -> str:
    "Who has the shift on a day (MM-DD). Shifts start at 08:00Z."
    if day not in SHIFTS: return f"{day} no shift planned"
    return f"{day}T08:00Z primary={SHIFTS[day][0]} secondary={SHIFTS[day][1]}"


@server.tool()
def incident_assign(id: str, handle: str) -> str:
    "Give an incident to an engineer (by handle)."
    n, r = inc(id)
    if handle not in ENGINEERS: raise ToolError(f"ERROR unknown handle {handle}")
    old, r[4] = r[4], handle
    return f"{CLOCK} INC-{n} ASSIGN {old or '-'} -> {handle}"


@server.tool()
def incident_update(id: str, status: Literal["open", "acknowledged", "mitigated", "resolved"] | None = None, severity: int | None = None) -> str:
    "Change the status and/or the severity (1-4) of an incident."
    n, r = inc(id)
    if status is None and severity is None: raise ToolError("ERROR nothing to change")
    out = []
    if status:
        out.append(f"{CLOCK} INC-{n} STATUS {r[3]} -> {status}"); r[3] = status
    if severity is not None:
        if not 1 <= severity <= 4: raise ToolError("ERROR severity must be 1-4")
        out.append(f"{CLOCK} INC-{n} SEVERITY sev{r[1]} -> sev{severity}"); r[1] = severity
    return "\n".join(out)


@server.tool()
def shift_cover(day: str, slot: Literal["primary", "secondary"], handle: str) -> str:
    "Put another engineer (by handle) on a shift slot of a day (MM-DD)."
    if day not in SHIFTS: raise ToolError(f"ERROR no shift planned on {day}")
    if handle not in ENGINEERS: raise ToolError(f"ERROR unknown handle {handle}")
    i = 0 if slot == "primary" else 1
    old, SHIFTS[day][i] = SHIFTS[day][i], handle
    return f"{CLOCK} SHIFT {day} {slot} {old} -> {handle}"


if __name__ == "__main__":
    server.run()
