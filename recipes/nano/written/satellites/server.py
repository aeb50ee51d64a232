from typing import Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("satellites")

SC = {r[0]: list(r) for r in [
    # id, name, mode, batt %, alt km, inc, launch, propellant g, band, first ground station, flight director, last anomaly
    ("SC-11", "KESTREL-1", "NOM", 84, 551, 97.6, "2020-11-17", 980, "S", "SVB", "jvr", "A-203"),
    ("SC-12", "KESTREL-2", "NOM", 81, 548, 97.6, "2021-06-30", 1240, "S", "SVB", "jvr", "A-207"),
    ("SC-13", "KESTREL-3", "SAFE", 43, 545, 97.5, "2021-06-30", 615, "S", "NRV", "sak", "A-211"),
    ("SC-15", "TERN-A", "NOM", 92, 702, 52.0, "2019-03-22", 2310, "X", "PUN", "lmc", "-"),
    ("SC-16", "TERN-B", "ECL", 67, 698, 52.0, "2019-03-22", 2195, "X", "PUN", "lmc", "A-204"),
    ("SC-18", "HALO-3", "NOM", 88, 1210, 66.0, "2017-09-08", 4120, "X", "KRN", "wnd", "A-209"),
    ("SC-19", "HALO-4", "MNV", 79, 1198, 66.1, "2018-02-14", 3875, "X", "KRN", "wnd", "A-205"),
    ("SC-22", "MOTH", "NOM", 95, 486, 97.3, "2023-04-15", 240, "UHF", "ALF", "hok", "-"),
    ("SC-23", "GLOWWORM", "SAFE", 31, 472, 97.3, "2023-04-15", 190, "UHF", "OKS", "hok", "A-212"),
    ("SC-27", "PETREL", "NOM", 90, 610, 98.0, "2022-08-02", 1555, "S", "NRV", "sak", "A-208"),
    ("SC-30", "LANTERN", "COMM", 97, 575, 97.8, "2025-01-28", 2040, "X", "OKS", "tbe", "A-210"),
]}

GS = {r[0]: list(r) for r in [
    # code, site, band, dish m, state, duty operator, tel, next maintenance
    ("SVB", "Svalvik Bay", "S", 11.3, "UP", "kmo", "555-0131", "2025-05-20"),
    ("NRV", "Norrvatn", "S", 7.3, "UP", "sak", "555-0132", "2025-06-03"),
    ("PUN", "Punta Sur", "X", 9.1, "DEGR", "pdl", "555-0133", "2025-05-16"),
    ("KRN", "Karoo North", "X", 13.0, "UP", "wnd", "555-0134", "2025-07-11"),
    ("ALF", "Alice Flats", "UHF", 3.7, "UP", "hok", "555-0135", "2025-05-27"),
    ("OKS", "Oki South", "X", 5.4, "DOWN", "tbe", "555-0136", "2025-05-15"),
]}

OP = {r[0]: r for r in [
    ("jvr", "Joost van Rijn", "555-0141", "jvr@orbitdesk.example", "DAY", "L3", "2016-10-01"),
    ("kmo", "Katja Moen", "555-0142", "kmo@orbitdesk.example", "NIGHT", "L2", "2019-02-11"),
    ("pdl", "Paulo Delgado", "555-0143", "pdl@orbitdesk.example", "SWING", "L2", "2020-05-04"),
    ("sak", "Sunita Akhtar", "555-0144", "sak@orbitdesk.example", "DAY", "L3", "2017-01-16"),
    ("tbe", "Tariq Beshara", "555-0145", "tbe@orbitdesk.example", "NIGHT", "L1", "2024-03-25"),
    ("wnd", "Winifred Ndlovu", "555-0146", "wnd@orbitdesk.example", "SWING", "L3", "2015-08-03"),
    ("hok", "Haruto Okabe", "555-0147", "hok@orbitdesk.example", "DAY", "L1", "2023-09-18"),
    ("lmc", "Lorna McVey", "555-0148", "lmc@orbitdesk.example", "NIGHT", "L2", "2021-11-29"),
]}

PASS = {r[0]: list(r) for r in [
    # id, spacecraft, station, aos, los, max elevation, state, controller, planned downlink MB
    ("P4471", "SC-12", "SVB", "2025-05-14T09:12Z", "09:23Z", 64, "BKD", "jvr", 820),
    ("P4472", "SC-11", "SVB", "2025-05-14T10:41Z", "10:52Z", 38, "BKD", "kmo", 410),
    ("P4473", "SC-15", "PUN", "2025-05-14T11:05Z", "11:13Z", 22, "REQ", "-", 1500),
    ("P4474", "SC-16", "PUN", "2025-05-14T12:37Z", "12:49Z", 71, "BKD", "pdl", 2750),
    ("P4475", "SC-13", "NRV", "2025-05-14T13:20Z", "13:29Z", 19, "BKD", "sak", 60),
    ("P4476", "SC-18", "KRN", "2025-05-14T15:02Z", "15:21Z", 83, "DONE", "wnd", 3900),
    ("P4477", "SC-19", "KRN", "2025-05-14T16:44Z", "17:01Z", 57, "REQ", "-", 2200),
    ("P4478", "SC-22", "ALF", "2025-05-14T18:10Z", "18:17Z", 33, "MISS", "hok", 12),
    ("P4480", "SC-23", "OKS", "2025-05-14T20:55Z", "21:02Z", 27, "BKD", "tbe", 8),
    ("P4481", "SC-12", "NRV", "2025-05-15T08:48Z", "08:58Z", 41, "REQ", "-", 640),
    ("P4482", "SC-27", "NRV", "2025-05-15T09:36Z", "09:47Z", 68, "BKD", "sak", 905),
    ("P4483", "SC-30", "OKS", "2025-05-15T10:15Z", "10:25Z", 49, "BKD", "tbe", 1830),
    ("P4484", "SC-11", "SVB", "2025-05-15T10:19Z", "10:29Z", 29, "CNX", "kmo", 300),
    ("P4485", "SC-16", "PUN", "2025-05-15T12:11Z", "12:22Z", 55, "BKD", "lmc", 2400),
    ("P4486", "SC-18", "KRN", "2025-05-15T14:40Z", "15:00Z", 88, "BKD", "wnd", 4100),
    ("P4487", "SC-22", "ALF", "2025-05-15T17:46Z", "17:53Z", 45, "BKD", "hok", 14),
    ("P4489", "SC-13", "SVB", "2025-05-16T07:31Z", "07:42Z", 76, "REQ", "-", 95),
    ("P4490", "SC-30", "KRN", "2025-05-16T09:58Z", "10:10Z", 61, "BKD", "wnd", 2015),
    ("P4491", "SC-23", "ALF", "2025-05-16T19:22Z", "19:30Z", 52, "BKD", "hok", 9),
]}

ANOM = {r[0]: list(r) for r in [
    # id, spacecraft, severity 1-5, subsystem, raised, state, assignee, text
    ("A-203", "SC-11", 4, "THERM", "2025-03-02", "CLSD", "kmo", "heater 2 stuck on"),
    ("A-204", "SC-16", 3, "EPS", "2025-03-19", "FIXED", "lmc", "solar array string 5 lost"),
    ("A-205", "SC-19", 2, "PROP", "2025-04-04", "INV", "wnd", "thruster 1B underperforms"),
    ("A-207", "SC-12", 2, "ADCS", "2025-04-21", "INV", "pdl", "reaction wheel 3 friction"),
    ("A-208", "SC-27", 4, "COMMS", "2025-04-26", "OPEN", "-", "S-band carrier drift 4 kHz"),
    ("A-209", "SC-18", 5, "OBC", "2025-04-30", "OPEN", "hok", "clock skew 90 ms per day"),
    ("A-210", "SC-30", 3, "PAYLD", "2025-05-06", "OPEN", "tbe", "camera shutter slow"),
    ("A-211", "SC-13", 1, "EPS", "2025-05-09", "INV", "sak", "battery undervoltage, safe mode"),
    ("A-212", "SC-23", 2, "COMMS", "2025-05-12", "OPEN", "-", "beacon weak since eclipse"),
]}


def _pass(p):
    return f"{p[0]} {p[1]}@{p[2]} AOS={p[3]} LOS={p[4]} ELMAX={p[5]} ST={p[6]} CTL={p[7]} DL_MB={p[8]}"


def _anom(a):
    return f"{a[0]} SCID={a[1]} SEV={a[2]} SUBSYS={a[3]} RAISED={a[4]} ST={a[5]} ASG={a[6]} TXT=\"{a[7]}\""


@server.tool()
def sc_ls(name: str | None = None, mode: Literal["NOM", "SAFE", "ECL", "MNV", "COMM"] | None = None) -> str:
    "list spacecraft, opt. by part of name or mode (NOM nominal, SAFE, ECL eclipse, MNV manoeuvre, COMM commissioning)"
    rows = [f"{s[0]} {s[1]} {s[2]} BATT_PC={s[3]} LNCH={s[6]}" for s in SC.values() if (not name or name.upper().replace(" ", "-") in s[1]) and (not mode or s[2] == mode)]
    return "\n".join(rows) or "NIL"


@server.tool()
def sc_get(scid: str) -> str:
    "spacecraft state by id (SC-nn)"
    if scid not in SC:
        return f"?NOSC {scid}"
    s = SC[scid]
    return (f"{s[0]} {s[1]} MODE={s[2]}\nBATT_PC={s[3]} ALT_KM={s[4]} INCL={s[5]} PROP_G={s[7]}\nLNCH={s[6]} TLM_BND={s[8]}\n"
            f"GS0={s[9]} FDIR={s[10]} LASTANOM={s[11]}")


@server.tool()
def gs_get(gs: str) -> str:
    "ground station by 3-letter code: site, band, dish, state, duty operator, tel, next maintenance"
    if gs not in GS:
        return f"?NOGS {gs}"
    g = GS[gs]
    return f"{g[0]} {g[1]}\nBND={g[2]} DISH_M={g[3]} ST={g[4]}\nDUTY={g[5]} TEL={g[6]} NXT_MAINT={g[7]}"


@server.tool()
def op_get(who: str) -> str:
    "operator by initials (jvr) or name"
    for o in OP.values():
        if who.lower() == o[0] or who.lower() in o[1].lower():
            return f"{o[0]} {o[1]} | TEL {o[2]} | MAIL {o[3]} | SHFT {o[4]} | CERT {o[5]} | SINCE {o[6]}"
    return f"?NOOP {who}"


@server.tool()
def pass_ls(scid: str | None = None, gs: str | None = None, day: str | None = None, st: Literal["REQ", "BKD", "CNX", "DONE", "MISS"] | None = None) -> str:
    "list passes by spacecraft, station, day (YYYY-MM-DD) and/or state; id, spacecraft, station, AOS, planned MB, state"
    if not (scid or gs or day or st):
        raise ToolError("ENOARG: at least one of scid, gs, day, st")
    rows = [f"{p[0]} {p[1]} {p[2]} {p[3]} DL_MB={p[8]} {p[6]}" for p in PASS.values() if (not scid or p[1] == scid) and (not gs or p[2] == gs)
            and (not day or p[3].startswith(day)) and (not st or p[6] == st)]
    return "\n".join(rows) or "NIL"


@server.tool()
def pass_get(pid: str) -> str:
    "one pass (Pnnnn): AOS, LOS, max elevation, state, controller, planned downlink"
    return _pass(PASS[pid]) if pid in PASS else f"?NOPASS {pid}"


@server.tool()
def pass_set(pid: str, st: Literal["REQ", "BKD", "CNX", "DONE", "MISS"] | None = None, ctl: str | None = None, gs: str | None = None) -> str:
    "change a pass: state (REQ requested, BKD booked, CNX cancelled, DONE flown, MISS missed), controller (initials), station"
    if pid not in PASS:
        return f"?NOPASS {pid}"
    if ctl and ctl not in OP:
        raise ToolError(f"EOP: {ctl} unknown")
    if gs and gs not in GS:
        raise ToolError(f"EGS: {gs} unknown")
    p = PASS[pid]
    if st: p[6] = st
    if ctl: p[7] = ctl
    if gs: p[2] = gs
    return "OK " + _pass(p)


@server.tool()
def anom_get(aid: str) -> str:
    "anomaly report (A-nnn)"
    return _anom(ANOM[aid]) if aid in ANOM else f"?NOANOM {aid}"


@server.tool()
def anom_set(aid: str, st: Literal["OPEN", "INV", "FIXED", "CLSD"] | None = None, asg: str | None = None, sev: int | None = None) -> str:
    "change an anomaly: state (INV under investigation, CLSD closed), assignee (initials), severity 1 (worst) to 5"
    if aid not in ANOM:
        return f"?NOANOM {aid}"
    if asg and asg not in OP:
        raise ToolError(f"EOP: {asg} unknown")
    a = ANOM[aid]
    if st: a[5] = st
    if asg: a[6] = asg
    if sev: a[2] = sev
    return "OK " + _anom(a)


if __name__ == "__main__":
    server.run()
