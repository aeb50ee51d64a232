from typing import Literal, Optional

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("firewall")

CONTACTS = {c[0]: c for c in [
    # handle, name, team, phone, mail, on call
    ("hjort", "Ada Hjort", "Core Network", "+47 555-0131", "ada.hjort@nordfisk.example", "yes"),
    ("mbeki", "Simon Mbeki", "Security", "+47 555-0132", "simon.mbeki@nordfisk.example", "no"),
    ("tsand", "Turid Sand", "Branch Offices", "+47 555-0133", "turid.sand@nordfisk.example", "no"),
    ("rquist", "Ruben Quist", "Wireless", "+47 555-0134", "ruben.quist@nordfisk.example", "yes"),
    ("dpark", "Dana Park", "Storage", "+47 555-0135", "dana.park@nordfisk.example", "no"),
    ("vlahos", "Nikos Vlahos", "Facilities", "+47 555-0136", "nikos.vlahos@nordfisk.example", "no"),
    ("ebsen", "Lill Ebsen", "Finance IT", "+47 555-0137", "lill.ebsen@nordfisk.example", "yes"),
]}

# host, model, site, rack, mgmt, os, serial, owner, uptime, support
DEVICES = {d[0]: d for d in [
    ("fw-osl-01", "Norda F400", "oslo", "A-03", "10.0.99.11", "nos 7.2.4", "NF4-88213", "mbeki", 212, "2027-03-31"),
    ("fw-osl-02", "Norda F400", "oslo", "B-03", "10.0.99.12", "nos 7.2.1", "NF4-88240", "mbeki", 96, "2026-11-30"),
    ("fw-brg-01", "Norda F120", "bergen", "BG-1", "10.8.99.11", "nos 6.9.8", "NF1-40177", "tsand", 431, "2025-10-15"),
    ("sw-osl-a1", "Norda S48", "oslo", "A-07", "10.0.99.21", "sos 4.1", "NS48-1105", "hjort", 158, "2028-01-31"),
    ("sw-osl-a2", "Norda S48", "oslo", "A-08", "10.0.99.22", "sos 4.1", "NS48-1106", "hjort", 157, "2028-01-31"),
    ("sw-osl-b1", "Norda S24", "oslo", "B-05", "10.0.99.23", "sos 3.8", "NS24-0932", "vlahos", 603, "2025-08-31"),
    ("sw-brg-a1", "Norda S24", "bergen", "BG-1", "10.8.99.21", "sos 4.0", "NS24-0977", "tsand", 74, "2026-06-30"),
    ("sw-brg-b1", "Norda S24", "bergen", "BG-2", "10.8.99.22", "sos 3.9", "NS24-0978", "tsand", 19, "2026-06-30"),
    ("rt-edge-01", "Pinto R9", "oslo", "A-01", "10.0.99.1", "pos 12.3", "PR9-5561", "hjort", 344, "2026-12-31"),
    ("rt-edge-02", "Pinto R7", "bergen", "BG-3", "10.8.99.1", "pos 12.1", "PR7-2034", "rquist", 288, "2026-02-28"),
    ("wlc-osl-01", "Airo W50", "oslo", "A-09", "10.0.99.41", "aos 9.0.2", "AW5-7719", "rquist", 41, "2027-07-31"),
]}

# id, name, subnet, gateway device, owner, dhcp
VLANS = {v[0]: v for v in [
    (10, "servers", "10.0.10.0/24", "fw-osl-01", "hjort", "off"),
    (20, "office", "10.0.20.0/23", "fw-osl-02", "vlahos", "on"),
    (30, "printers", "10.0.30.0/25", "fw-osl-02", "ebsen", "on"),
    (40, "guest-wifi", "10.0.40.0/22", "wlc-osl-01", "rquist", "on"),
    (50, "cameras", "10.0.50.0/26", "sw-osl-a1", "vlahos", "off"),
    (60, "backup", "10.0.60.0/24", "fw-osl-01", "dpark", "off"),
    (99, "management", "10.0.99.0/24", "rt-edge-01", "mbeki", "off"),
    (110, "brg-office", "10.8.10.0/24", "fw-brg-01", "tsand", "on"),
    (120, "brg-lab", "10.8.20.0/25", "rt-edge-02", "dpark", "on"),
]}

# device, port, admin, link, vlan, speed, description
PORTS = [list(p) for p in [
    ("sw-osl-a1", "gi0/1", "up", "up", 10, "10G", "esx host 1"),
    ("sw-osl-a1", "gi0/2", "up", "up", 20, "1G", "desk row 1"),
    ("sw-osl-a1", "gi0/3", "up", "up", 20, "1G", "desk row 2"),
    ("sw-osl-a1", "gi0/4", "up", "up", 30, "100M", "printer copy corner"),
    ("sw-osl-a1", "gi0/5", "up", "down", 20, "1G", "meeting room Skrei"),
    ("sw-osl-a1", "gi0/7", "up", "down", 50, "100M", "cam stairs"),
    ("sw-osl-a2", "gi0/1", "up", "up", 60, "10G", "tape library"),
    ("sw-osl-a2", "gi0/2", "up", "up", 20, "1G", "printer reception"),
    ("sw-osl-a2", "gi0/3", "up", "up", 40, "1G", "ap canteen"),
    ("sw-osl-a2", "gi0/4", "up", "up", 20, "1G", "desk row 5"),
    ("sw-osl-b1", "gi0/1", "up", "up", 99, "1G", "uplink a1"),
    ("sw-osl-b1", "gi0/2", "up", "up", 30, "100M", "label printer dock"),
    ("sw-osl-b1", "gi0/6", "up", "up", 50, "100M", "spare"),
    ("sw-brg-a1", "gi0/1", "up", "up", 110, "1G", "desk row north"),
    ("sw-brg-a1", "gi0/3", "up", "down", 110, "1G", "old fax"),
    ("sw-brg-a1", "gi0/8", "down", "down", 110, "1G", "spare"),
    ("sw-brg-b1", "gi0/1", "up", "up", 110, "1G", "bench 1"),
    ("sw-brg-b1", "gi0/2", "up", "up", 110, "1G", "bench 2"),
    ("sw-brg-b1", "gi0/5", "up", "down", 120, "1G", "oscilloscope"),
    ("fw-osl-01", "xe1", "up", "up", 10, "10G", "to a1"),
    ("fw-osl-02", "xe1", "up", "up", 20, "10G", "to a2"),
    ("fw-brg-01", "xe1", "up", "up", 110, "1G", "to brg-a1"),
]]

# id, device, action, source vlan, destination, service, state, hits, requester, ticket, expires, comment
RULES = {r[0]: list(r) for r in [
    (1001, "fw-osl-01", "permit", 20, "10.0.10.15", "tcp/443", "enabled", 88120, "ebsen", "CHG-3301", "2025-12-31", "intranet"),
    (1002, "fw-osl-01", "permit", 60, "10.0.10.0/24", "tcp/10000", "enabled", 40233, "dpark", "CHG-3317", "2026-06-30", "backup agents"),
    (1003, "fw-osl-01", "permit", 20, "10.0.10.22", "tcp/3389", "enabled", 512, "vlahos", "CHG-3340", "2025-07-31", "building control"),
    (1004, "fw-osl-01", "deny", 40, "10.0.0.0/8", "any", "enabled", 190441, "rquist", "CHG-3102", "never", "guests stay out"),
    (1005, "fw-osl-02", "permit", 30, "10.0.10.31", "tcp/445", "enabled", 7044, "ebsen", "CHG-3355", "2025-11-30", "scan to share"),
    (1006, "fw-osl-01", "permit", 20, "10.0.10.40", "tcp/22", "enabled", 96, "mbeki", "CHG-3398", "2025-06-30", "contractor ssh"),
    (1007, "fw-osl-02", "permit", 20, "198.51.100.7", "tcp/8443", "enabled", 6120, "ebsen", "CHG-3402", "2025-09-30", "bank portal"),
    (1008, "fw-brg-01", "permit", 110, "10.0.10.15", "tcp/443", "enabled", 15302, "ebsen", "CHG-3410", "2026-01-31", "intranet bergen"),
    (1009, "fw-osl-01", "permit", 50, "10.0.10.60", "udp/554", "disabled", 0, "vlahos", "CHG-3421", "2025-08-15", "camera recorder"),
    (1010, "fw-brg-01", "permit", 120, "203.0.113.9", "tcp/22", "enabled", 311, "dpark", "CHG-3433", "2025-07-15", "lab vendor"),
    (1011, "fw-osl-02", "permit", 60, "192.0.2.80", "tcp/443", "enabled", 2277, "dpark", "CHG-3440", "2025-06-20", "backup to cloud"),
    (1012, "fw-osl-02", "permit", 20, "198.51.100.44", "udp/4500", "enabled", 901, "mbeki", "CHG-3447", "2025-08-01", "partner vpn"),
    (1013, "fw-brg-01", "deny", 110, "10.0.99.0/24", "any", "enabled", 64, "hjort", "CHG-3120", "never", "no mgmt from branch"),
    (1014, "fw-brg-01", "permit", 120, "10.8.10.50", "tcp/23", "enabled", 18, "tsand", "CHG-3290", "2025-12-31", "telnet to plotter"),
    (1015, "fw-osl-01", "permit", 10, "192.0.2.25", "tcp/25", "disabled", 3, "hjort", "CHG-3455", "2025-10-31", "old mail relay"),
]}


def _table(head, rows):
    rows = [tuple(str(c) for c in r) for r in [head, *rows]]
    width = [max(len(r[i]) for r in rows) for i in range(len(head))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(r, width)).rstrip() for r in rows)


def _pairs(names, values):
    return "\n".join(f"{n:<14}: {v}" for n, v in zip(names, values))


@server.tool(name="show-devices")
def show_devices(site: Optional[Literal["oslo", "bergen"]] = None, owner: Optional[str] = None) -> str:
    "List devices, optionally of one site or one owner (handle)"
    rows = [(d[0], d[1], d[2], d[8]) for d in DEVICES.values() if (not site or d[2] == site) and (not owner or d[7] == owner)]
    return _table(("HOSTNAME", "MODEL", "SITE", "UPTIME(DAYS)"), rows) if rows else "% No devices match"


@server.tool(name="show-device")
def show_device(hostname: str) -> str:
    "Details of one device"
    if hostname not in DEVICES:
        return f"% Unknown device '{hostname}'"
    return _pairs(("hostname", "model", "site", "rack", "mgmt address", "os version", "serial", "owner", "uptime days", "support until"), DEVICES[hostname])


@server.tool(name="show-interfaces")
def show_interfaces(hostname: str, port: Optional[str] = None) -> str:
    "Ports of a device: all, or one such as gi0/3"
    if hostname not in DEVICES:
        return f"% Unknown device '{hostname}'"
    rows = [p[1:] for p in PORTS if p[0] == hostname and (not port or p[1] == port)]
    return _table(("PORT", "ADMIN", "LINK", "VLAN", "SPEED", "DESCRIPTION"), rows) if rows else "% Invalid interface"


@server.tool(name="show-vlan")
def show_vlan(vlan_id: int) -> str:
    "Details of one VLAN"
    if vlan_id not in VLANS:
        return f"% VLAN {vlan_id} not found in database"
    return _pairs(("vlan", "name", "subnet", "gateway device", "owner", "dhcp"), VLANS[vlan_id])


@server.tool(name="show-rules")
def show_rules(hostname: str, action: Optional[Literal["permit", "deny"]] = None, state: Optional[Literal["enabled", "disabled"]] = None) -> str:
    "Rule table of one firewall, optionally only one action or state"
    if hostname not in DEVICES:
        return f"% Unknown device '{hostname}'"
    rows = [(r[0], r[2], f"vlan{r[3]}", r[4], r[5], r[6], r[11]) for r in RULES.values()
            if r[1] == hostname and (not action or r[2] == action) and (not state or r[6] == state)]
    return _table(("ID", "ACTION", "SOURCE", "DESTINATION", "SERVICE", "STATE", "COMMENT"), rows) if rows else "% No rules"


@server.tool(name="show-rule")
def show_rule(rule_id: int) -> str:
    "One rule with hit counter, requester, change ticket and expiry"
    if rule_id not in RULES:
        raise ToolError(f"% Rule {rule_id} does not exist")
    return _pairs(("rule", "device", "action", "source vlan", "destination", "service", "state", "hit count", "requester", "ticket", "expires", "comment"), RULES[rule_id])


@server.tool(name="show-contact")
def show_contact(handle: str) -> str:
    "Who is behind a handle: name, team, phone, mail, on call or not"
    if handle not in CONTACTS:
        return f"% No such contact: {handle}"
    return _pairs(("handle", "name", "team", "phone", "mail", "on call"), CONTACTS[handle])


@server.tool(name="set-port")
def set_port(hostname: str, port: str, admin: Optional[Literal["up", "down"]] = None, vlan: Optional[int] = None, description: Optional[str] = None) -> str:
    "Configure a port: admin state, access VLAN and/or description"
    for p in PORTS:
        if p[0] == hostname and p[1] == port:
            if vlan is not None and vlan not in VLANS:
                raise ToolError(f"% VLAN {vlan} not found in database")
            out = []
            for i, (name, value) in {2: ("admin", admin), 4: ("vlan", vlan), 6: ("description", description)}.items():
                if value is not None:
                    out.append(f"  {name}: {p[i]} -> {value}")
                    p[i] = value
            return f"{hostname} {port}\n" + "\n".join(out) + "\ncommit complete" if out else "% Nothing to configure"
    raise ToolError(f"% Invalid interface {hostname} {port}")


@server.tool(name="set-rule")
def set_rule(rule_id: int, state: Optional[Literal["enabled", "disabled"]] = None, expires: Optional[str] = None) -> str:
    "Enable or disable a rule and/or set its expiry date (YYYY-MM-DD)"
    if rule_id not in RULES:
        raise ToolError(f"% Rule {rule_id} does not exist")
    r, out = RULES[rule_id], []
    for i, (name, value) in {6: ("state", state), 10: ("expires", expires)}.items():
        if value is not None:
            out.append(f"  {name}: {r[i]} -> {value}")
            r[i] = value
    return f"rule {rule_id} on {r[1]}\n" + "\n".join(out) + "\ncommit complete" if out else "% Nothing to configure"


if __name__ == "__main__":
    server.run()
