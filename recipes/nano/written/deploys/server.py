from typing import Literal
from mcp.server.mcpserver import MCPServer

server = MCPServer("opsdesk")

SERVICES = {r[0]: dict(zip(("name", "team", "tier", "language", "production", "staging", "oncall", "port"), r)) for r in [
    ("checkout-api", "Orders", 1, "Go", "3.18.2", "3.19.0", "Leila Haddad", 8080),
    ("payments-worker", "Orders", 1, "Kotlin", "2.7.0", "2.7.1", "Leila Haddad", 8091),
    ("search-api", "Discovery", 2, "Rust", "1.44.5", "1.45.0", "Piotr Zielinski", 8200),
    ("user-profile", "Accounts", 2, "Python", "5.2.1", "5.2.1", "Naomi Fisher", 8110),
    ("auth-gateway", "Accounts", 1, "Go", "4.0.9", "4.1.0-rc2", "Naomi Fisher", 8443),
    ("mail-sender", "Messaging", 3, "Python", "0.98.0", "0.99.0", "Bram de Wit", 2525),
    ("push-notifier", "Messaging", 3, "TypeScript", "1.6.3", "1.6.4", "Bram de Wit", 8301),
    ("image-resizer", "Discovery", 3, "Rust", "2.0.4", "2.0.4", "Piotr Zielinski", 8220),
    ("web-frontend", "Storefront", 1, "TypeScript", "118.0", "119.0", "Carmen Ruiz", 3000),
    ("inventory-sync", "Supply", 2, "Java", "7.3.0", "7.4.0", "Oskar Lind", 8500),
    ("report-builder", "Supply", 3, "Python", "1.12.0", "1.13.0", "Oskar Lind", 8510),
]}

DEPLOYS = {r[0]: dict(zip(("id", "service", "version", "env", "status", "by", "started", "took"), r)) for r in [
    ("a91f3c", "checkout-api", "3.18.2", "production", "succeeded", "leila", "2025-05-12 09:14", "6m 20s"),
    ("7be204", "checkout-api", "3.19.0", "staging", "succeeded", "samir", "2025-05-13 15:40", "5m 02s"),
    ("c05d7e", "payments-worker", "2.7.0", "production", "succeeded", "leila", "2025-05-08 11:05", "8m 47s"),
    ("e83b11", "payments-worker", "2.7.1", "staging", "failed", "samir", "2025-05-13 16:22", "1m 13s"),
    ("40ac9d", "search-api", "1.44.5", "production", "succeeded", "piotr", "2025-05-09 10:31", "4m 55s"),
    ("d2f6b8", "search-api", "1.45.0", "staging", "running", "piotr", "2025-05-14 08:58", "-"),
    ("18c7e5", "user-profile", "5.2.1", "production", "succeeded", "naomi", "2025-05-06 13:20", "3m 38s"),
    ("f40e62", "auth-gateway", "4.1.0-rc2", "staging", "succeeded", "naomi", "2025-05-12 17:03", "7m 11s"),
    ("93bd0a", "auth-gateway", "4.1.0-rc1", "production", "rolled back", "naomi", "2025-05-11 12:45", "9m 30s"),
    ("5e1a7f", "mail-sender", "0.98.0", "production", "succeeded", "bram", "2025-05-02 09:50", "2m 41s"),
    ("b67c34", "mail-sender", "0.99.0", "staging", "succeeded", "bram", "2025-05-13 10:12", "2m 36s"),
    ("2d9e80", "push-notifier", "1.6.4", "production", "failed", "ivana", "2025-05-13 18:27", "0m 49s"),
    ("ac51f9", "push-notifier", "1.6.4", "staging", "succeeded", "ivana", "2025-05-13 14:05", "2m 08s"),
    ("6f08d3", "image-resizer", "2.0.4", "production", "succeeded", "piotr", "2025-04-28 16:16", "3m 59s"),
    ("0b7e9c", "web-frontend", "118.0", "production", "succeeded", "carmen", "2025-05-13 07:30", "11m 25s"),
    ("cc42a6", "web-frontend", "119.0", "staging", "running", "theo", "2025-05-14 09:02", "-"),
    ("e91d5b", "inventory-sync", "7.3.0", "production", "succeeded", "oskar", "2025-05-07 06:45", "12m 03s"),
    ("37f8a2", "inventory-sync", "7.4.0", "staging", "waiting", "oskar", "2025-05-14 09:10", "-"),
    ("8a60ed", "report-builder", "1.12.0", "production", "succeeded", "theo", "2025-04-30 14:44", "2m 52s"),
    ("d5b39f", "report-builder", "1.13.0", "staging", "failed", "theo", "2025-05-12 11:18", "0m 37s"),
]}

INCIDENTS = {r[0]: dict(zip(("id", "title", "service", "severity", "state", "opened", "lead", "users", "cause"), r)) for r in [
    ("INC-311", "Card payments time out", "payments-worker", "SEV1", "resolved", "2025-05-07 20:11", "Leila Haddad", 2140, "connection pool exhausted"),
    ("INC-312", "Search returns stale prices", "search-api", "SEV3", "resolved", "2025-05-08 09:37", "Piotr Zielinski", 310, "index lag"),
    ("INC-313", "Logins fail on mobile", "auth-gateway", "SEV1", "resolved", "2025-05-11 12:58", "Naomi Fisher", 5600, "bad token format in 4.1.0-rc1"),
    ("INC-314", "Order mails delayed", "mail-sender", "SEV3", "mitigated", "2025-05-12 08:20", "Bram de Wit", 870, "provider throttling"),
    ("INC-315", "Product images missing", "image-resizer", "SEV2", "resolved", "2025-05-12 13:49", "Carmen Ruiz", 1200, "full disk on node 4"),
    ("INC-316", "Checkout slow at peak", "checkout-api", "SEV2", "mitigated", "2025-05-13 12:06", "Samir Khoury", 940, "missing database index"),
    ("INC-317", "Push messages sent twice", "push-notifier", "SEV2", "open", "2025-05-13 18:41", "Ivana Petrov", 430, "unknown"),
    ("INC-318", "Stock counts out of date", "inventory-sync", "SEV2", "open", "2025-05-14 06:15", "Oskar Lind", 75, "supplier feed down"),
    ("INC-319", "Profile pictures cannot be changed", "user-profile", "SEV3", "open", "2025-05-14 07:52", "nobody", 28, "unknown"),
    ("INC-320", "Home page shows error 502", "web-frontend", "SEV1", "open", "2025-05-14 09:05", "Carmen Ruiz", 3300, "unknown"),
]}


@server.tool(name="list-services")
def list_services(team: str = "") -> str:
    """Services, one a line"""
    rows = [s for s in SERVICES.values() if not team or s["team"].lower() == team.lower()]
    return "\n".join(f"{s['name']} (team {s['team']}, tier {s['tier']})" for s in rows) or f"no services for team {team}"


@server.tool(name="service-info")
def service_info(service: str) -> str:
    """Versions, team, on-call, port of a service"""
    s = SERVICES.get(service)
    if not s:
        return f"unknown service: {service}"
    return (f"service: {s['name']}\nteam: {s['team']}\ntier: {s['tier']}\nlanguage: {s['language']}\nproduction version: {s['production']}\n"
            f"staging version: {s['staging']}\non call: {s['oncall']}\nport: {s['port']}")


@server.tool(name="list-deployments")
def list_deployments(service: str = "", environment: Literal["", "staging", "production"] = "",
                     status: Literal["", "succeeded", "failed", "running", "waiting", "rolled back"] = "") -> str:
    """Deployments, newest first, max 10"""
    rows = [d for d in DEPLOYS.values() if (not service or d["service"] == service) and (not environment or d["env"] == environment)
            and (not status or d["status"] == status)]
    rows.sort(key=lambda d: d["started"], reverse=True)
    return "\n".join(f"{d['id']}  {d['started']}  {d['service']} {d['version']} -> {d['env']}  {d['status']}" for d in rows[:10]) or "no deployments found"


@server.tool(name="show-deployment")
def show_deployment(id: str) -> str:
    """One deployment by its 6-digit hex id"""
    d = DEPLOYS.get(id)
    if not d:
        return f"no deployment with id {id}"
    return (f"id: {d['id']}\nservice: {d['service']}\nversion: {d['version']}\nenvironment: {d['env']}\nstatus: {d['status']}\n"
            f"started by: {d['by']}\nstarted at: {d['started']}\nduration: {d['took']}")


@server.tool()
def deploy(service: str, version: str, environment: Literal["staging", "production"] = "staging") -> str:
    """Start a deployment"""
    if service not in SERVICES:
        return f"unknown service: {service}"
    i = f"{0xf1a000 + len(DEPLOYS):x}"
    DEPLOYS[i] = {"id": i, "service": service, "version": version, "env": environment, "status": "running", "by": "assistant",
                  "started": "2025-05-14 09:30", "took": "-"}
    return f"started deployment {i}: {service} {version} -> {environment}"


@server.tool()
def rollback(id: str) -> str:
    """Roll a deployment back to the version before it"""
    d = DEPLOYS.get(id)
    if not d:
        return f"no deployment with id {id}"
    if d["status"] == "rolled back":
        return f"deployment {id} is already rolled back"
    d["status"] = "rolled back"
    return f"deployment {id} ({d['service']} {d['version']} on {d['env']}) rolled back"


@server.tool(name="list-incidents")
def list_incidents(state: Literal["", "open", "mitigated", "resolved"] = "", severity: Literal["", "SEV1", "SEV2", "SEV3"] = "", service: str = "") -> str:
    """Incidents, filtered"""
    rows = [i for i in INCIDENTS.values() if (not state or i["state"] == state) and (not severity or i["severity"] == severity)
            and (not service or i["service"] == service)]
    return "\n".join(f"{i['id']} [{i['severity']}, {i['state']}] {i['title']} ({i['service']}), users affected: {i['users']}" for i in rows) or "no incidents match"


@server.tool(name="show-incident")
def show_incident(incident: str) -> str:
    """One incident, e.g. INC-311"""
    i = INCIDENTS.get(incident)
    if not i:
        return f"incident {incident} not found"
    return (f"{i['id']}: {i['title']}\nservice: {i['service']}\nseverity: {i['severity']}\nstate: {i['state']}\nopened: {i['opened']}\n"
            f"lead: {i['lead']}\nusers affected: {i['users']}\ncause: {i['cause']}")


@server.tool(name="update-incident")
def update_incident(incident: str, state: Literal["", "open", "mitigated", "resolved"] = "", severity: Literal["", "SEV1", "SEV2", "SEV3"] = "",
                    lead: str = "") -> str:
    """Change state, severity or lead of an incident"""
    i = INCIDENTS.get(incident)
    if not i:
        return f"incident {incident} not found"
    changed = []
    for k, v in (("state", state), ("severity", severity), ("lead", lead)):
        if v:
            changed.append(f"{k}: {i[k]} -> {v}")
            i[k] = v
    return f"{incident} updated\n" + "\n".join(changed) if changed else "nothing to change"


if __name__ == "__main__":
    server.run()
