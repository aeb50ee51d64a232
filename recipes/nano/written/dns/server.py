from typing import Literal, Optional
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("zonedesk")

ZONES = {r[0]: dict(zip(("zone", "registrar", "admin", "expires", "serial", "autorenew", "lock"), r)) for r in [
    ("harborcafe.example", "NDK", "HK12", "2026-09-14", 2026022001, "on", "on"),
    ("brightlens.example", "NDK", "MO7", "2026-04-02", 2025120104, "off", "on"),
    ("oldmill-press.example", "REGO", "HK12", "2027-01-20", 2024081902, "on", "off"),
    ("tandemrides.example", "ZUL", "PS3", "2026-05-28", 2026030203, "off", "off"),
    ("finch-garden.example", "REGO", "AL21", "2026-12-11", 2025061701, "on", "on"),
    ("northpier.example", "ZUL", "PS3", "2028-02-29", 2026020805, "on", "on"),
    ("kilnworks.example", "QBN", "DV9", "2026-03-30", 2025101402, "off", "on"),
    ("papercrane.example", "QBN", "AL21", "2026-07-07", 2026011101, "on", "off"),
]}
RECORDS = {r[0]: dict(zip(("id", "zone", "name", "ttl", "type", "value", "by", "changed", "state"), r)) for r in [
    (101, "harborcafe.example", "@", 3600, "A", "192.0.2.10", "HK12", "2025-11-03", "on"),
    (102, "harborcafe.example", "www", 3600, "CNAME", "harborcafe.example.", "HK12", "2025-11-03", "on"),
    (103, "harborcafe.example", "@", 7200, "MX", "10 mx1.postbarn.example.", "MO7", "2026-01-15", "on"),
    (104, "harborcafe.example", "@", 3600, "TXT", '"v=spf1 include:postbarn.example -all"', "MO7", "2026-01-15", "on"),
    (105, "harborcafe.example", "menu", 900, "A", "192.0.2.44", "DV9", "2026-02-20", "on"),
    (106, "brightlens.example", "@", 3600, "A", "198.51.100.7", "MO7", "2025-05-09", "on"),
    (107, "brightlens.example", "www", 3600, "A", "198.51.100.7", "MO7", "2025-05-09", "on"),
    (108, "brightlens.example", "shop", 600, "CNAME", "stores.cartbay.example.", "PS3", "2025-12-01", "on"),
    (109, "brightlens.example", "@", 3600, "MX", "10 mail.brightlens.example.", "MO7", "2025-05-09", "on"),
    (110, "brightlens.example", "mail", 3600, "A", "198.51.100.25", "MO7", "2025-05-10", "on"),
    (111, "oldmill-press.example", "@", 86400, "A", "203.0.113.5", "HK12", "2024-08-19", "on"),
    (112, "oldmill-press.example", "ftp", 86400, "A", "203.0.113.6", "HK12", "2024-08-19", "off"),
    (113, "oldmill-press.example", "@", 86400, "AAAA", "2001:db8:5::5", "AL21", "2024-07-02", "on"),
    (114, "tandemrides.example", "@", 1800, "A", "192.0.2.80", "PS3", "2025-09-22", "on"),
    (115, "tandemrides.example", "api", 60, "A", "192.0.2.81", "DV9", "2026-03-02", "on"),
    (116, "tandemrides.example", "book", 1800, "CNAME", "rides.slotwise.example.", "PS3", "2025-09-23", "on"),
    (117, "tandemrides.example", "@", 3600, "MX", "20 mx2.postbarn.example.", "PS3", "2025-09-22", "on"),
    (118, "finch-garden.example", "@", 3600, "A", "203.0.113.40", "AL21", "2025-06-17", "on"),
    (119, "finch-garden.example", "www", 3600, "CNAME", "finch-garden.example.", "AL21", "2025-06-17", "on"),
    (120, "finch-garden.example", "@", 3600, "TXT", '"site-verify=8fk2q"', "HK12", "2025-06-12", "on"),
    (121, "northpier.example", "@", 3600, "A", "198.51.100.90", "PS3", "2025-02-01", "on"),
    (122, "northpier.example", "vpn", 300, "A", "198.51.100.91", "MO7", "2026-02-08", "on"),
    (123, "northpier.example", "@", 3600, "MX", "10 mx1.postbarn.example.", "PS3", "2025-02-01", "on"),
    (124, "northpier.example", "cams", 300, "A", "198.51.100.95", "DV9", "2025-10-30", "off"),
    (125, "kilnworks.example", "@", 3600, "A", "192.0.2.130", "DV9", "2025-10-14", "on"),
    (126, "kilnworks.example", "www", 3600, "CNAME", "kilnworks.example.", "DV9", "2025-10-14", "on"),
    (127, "kilnworks.example", "wiki", 3600, "A", "192.0.2.131", "HK12", "2025-10-12", "on"),
    (128, "papercrane.example", "@", 3600, "A", "203.0.113.77", "AL21", "2026-01-11", "on"),
    (129, "papercrane.example", "blog", 1200, "CNAME", "hosting.inkwell.example.", "AL21", "2026-01-10", "on"),
    (130, "papercrane.example", "@", 3600, "TXT", '"v=spf1 -all"', "MO7", "2025-12-19", "on"),
]}
REGISTRARS = {
    "NDK": ("Namedock Ltd", "555-0171", "14.50 EUR", "8.00 EUR", "TR40"),
    "REGO": ("Regolith Domains", "555-0172", "11.90 EUR", "5.50 EUR", "BN2"),
    "ZUL": ("Zulu Names", "555-0173", "18.00 EUR", "12.00 EUR", "IK5"),
    "QBN": ("Quaybound", "555-0174", "9.75 EUR", "9.75 EUR", "GM8"),
}
CONTACTS = {
    "HK12": ("Hanna Krol", "hanna.krol@weblodge.example", "555-0181", "Gdansk"),
    "MO7": ("Matteo Orsi", "m.orsi@brightlens.example", "555-0182", "Torino"),
    "PS3": ("Priya Sandhu", "priya@northpier.example", "555-0183", "Leeds"),
    "AL21": ("Anders Lund", "anders@finch-garden.example", "555-0184", "Aarhus"),
    "DV9": ("Dora Vass", "dora.vass@kilnworks.example", "555-0185", "Pecs"),
    "TR40": ("Tess Rowley", "t.rowley@namedock.example", "555-0191", "Bristol"),
    "BN2": ("Bo Nyberg", "bo@regolith.example", "555-0192", "Lund"),
    "IK5": ("Ilse Kamp", "ilse.kamp@zulunames.example", "555-0193", "Utrecht"),
    "GM8": ("Gil Moreau", "gil@quaybound.example", "555-0194", "Nantes"),
}
Type = Literal["A", "AAAA", "CNAME", "MX", "TXT"]
OnOff = Literal["on", "off"]


def _line(r):
    return f"{r['name']} {r['ttl']} IN {r['type']} {r['value']} ; id={r['id']}" + ("" if r["state"] == "on" else " OFF")


def _zone(name):
    return ZONES.get(name.rstrip(".").lower())


def _zone_text(z):
    return "\n".join([f"$ORIGIN {z['zone']}."] + [f"; {k} {z[k]}" for k in ("serial", "registrar", "admin", "expires", "autorenew", "lock")])


@server.tool(name="zone-list")
def zone_list(match: str = "", expires_before: str = "") -> str:
    "Our zones with expiry date, one per line. match: part of the name; expires_before: YYYY-MM-DD."
    rows = [z for z in ZONES.values() if match.lower() in z["zone"] and (not expires_before or z["expires"] < expires_before)]
    return "\n".join(f"{z['zone']}. expires {z['expires']}" for z in rows) or "; no zones"


@server.tool(name="zone-show")
def zone_show(zone: str) -> str:
    "Header of a zone: serial, registrar code, admin handle, expiry, autorenew, transfer lock."
    z = _zone(zone)
    return _zone_text(z) if z else f"; NXDOMAIN {zone}"


@server.tool(name="record-list")
def record_list(zone: str, type: Optional[Type] = None) -> str:
    "Records of a zone as zone file lines with their ids, optionally of one type."
    z = _zone(zone)
    if not z:
        return f"; NXDOMAIN {zone}"
    return "\n".join(_line(r) for r in RECORDS.values() if r["zone"] == z["zone"] and type in (None, r["type"])) or "; no records"


@server.tool(name="record-get")
def record_get(id: int) -> str:
    "One record by id, with its zone and who changed it last."
    r = RECORDS.get(id)
    if not r:
        return f"; no record {id}"
    return f"$ORIGIN {r['zone']}.\n{_line(r)}\n; changed {r['changed']} by {r['by']}"


@server.tool(name="registrar-show")
def registrar_show(code: str) -> str:
    "Registrar by code."
    if code not in REGISTRARS:
        return f"; no registrar {code}"
    name, phone, price, fee, manager = REGISTRARS[code]
    return f"registrar {code}\nname {name}\nsupport {phone}\nrenewal {price}/year\ntransfer {fee}\naccount-manager {manager}"


@server.tool(name="contact-show")
def contact_show(handle: str) -> str:
    "Contact by handle."
    if handle not in CONTACTS:
        return f"; no contact {handle}"
    name, mail, phone, city = CONTACTS[handle]
    return f"nic-hdl {handle}\nperson {name}\ne-mail {mail}\nphone {phone}\ncity {city}"


@server.tool(name="record-add")
def record_add(zone: str, name: str, type: Type, value: str, ttl: int = 3600) -> str:
    "Add a record. name is relative to the zone, @ for the zone itself."
    z = _zone(zone)
    if not z:
        raise ToolError(f"no such zone: {zone}")
    new = max(RECORDS) + 1
    RECORDS[new] = dict(id=new, zone=z["zone"], name=name, ttl=ttl, type=type, value=value, by="HK12", changed="2026-03-14", state="on")
    return f"added to {z['zone']}.\n{_line(RECORDS[new])}"


@server.tool(name="record-set")
def record_set(id: int, value: Optional[str] = None, ttl: Optional[int] = None, state: Optional[OnOff] = None) -> str:
    "Change value, ttl (seconds) or state of a record; state off takes it out of the published zone."
    if id not in RECORDS:
        raise ToolError(f"no such record: {id}")
    r = RECORDS[id]
    r.update({k: v for k, v in (("value", value), ("ttl", ttl), ("state", state)) if v is not None})
    return f"changed in {r['zone']}.\n{_line(r)}"


@server.tool(name="zone-set")
def zone_set(zone: str, admin: Optional[str] = None, autorenew: Optional[OnOff] = None, lock: Optional[OnOff] = None) -> str:
    "Change a zone's admin handle, autorenew or transfer lock."
    z = _zone(zone)
    if not z:
        raise ToolError(f"no such zone: {zone}")
    if admin and admin not in CONTACTS:
        raise ToolError(f"no such contact: {admin}")
    z.update({k: v for k, v in (("admin", admin), ("autorenew", autorenew), ("lock", lock)) if v is not None})
    return _zone_text(z)


if __name__ == "__main__":
    server.run()
