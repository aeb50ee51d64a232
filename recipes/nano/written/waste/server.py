from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("town-waste")

# bin number: street, house, kind, litres, route, state, last emptied
BINS = {
 101: ["Mill Lane", "2", "residual", 120, "MON-A", "ok", "2025-09-01"],
 102: ["Mill Lane", "2", "paper", 240, "TUE-P", "ok", "2025-08-26"],
 103: ["Mill Lane", "9", "residual", 80, "MON-A", "damaged", "2025-09-01"],
 117: ["Mill Lane", "14b", "organic", 60, "WED-O", "ok", "2025-09-03"],
 122: ["Station Road", "31", "residual", 240, "MON-A", "ok", "2025-08-25"],
 123: ["Station Road", "31", "glass", 120, "FRI-G", "ok", "2025-08-29"],
 130: ["Station Road", "40", "paper", 1100, "TUE-P", "ok", "2025-08-26"],
 138: ["Church Square", "1", "residual", 1100, "THU-B", "ok", "2025-09-04"],
 139: ["Church Square", "1", "organic", 240, "WED-O", "missing", "2025-08-27"],
 144: ["Church Square", "5", "glass", 1100, "FRI-G", "ok", "2025-09-05"],
 151: ["Orchard Close", "3", "residual", 120, "THU-B", "ok", "2025-09-04"],
 152: ["Orchard Close", "3", "organic", 120, "WED-O", "ok", "2025-09-03"],
 158: ["Orchard Close", "11", "paper", 240, "TUE-P", "damaged", "2025-08-26"],
 163: ["Canal Street", "77", "residual", 240, "THU-B", "ok", "2025-08-28"],
 164: ["Canal Street", "77", "paper", 240, "TUE-P", "ok", "2025-08-12"],
 170: ["Canal Street", "80", "organic", 120, "WED-O", "ok", "2025-09-03"],
 175: ["Canal Street", "92", "residual", 120, "THU-B", "locked", "2025-08-21"],
 181: ["Fern Hill", "6", "residual", 80, "SAT-R", "ok", "2025-08-30"],
 182: ["Fern Hill", "6", "paper", 120, "SAT-R", "ok", "2025-08-30"],
 186: ["Fern Hill", "18", "organic", 60, "SAT-R", "ok", "2025-08-30"],
 190: ["Baker Row", "4", "glass", 240, "FRI-G", "damaged", "2025-08-22"],
 191: ["Baker Row", "4", "residual", 1100, "MON-A", "ok", "2025-09-01"],
}
# code: name, weekday, start, lorry, driver, every weeks, stops
ROUTES = {
 "MON-A": ["Residual North", "Monday", "06:00", "WT-07", "Gareth Pugh", 1, 212],
 "THU-B": ["Residual South", "Thursday", "06:00", "WT-07", "Denise Achebe", 1, 188],
 "TUE-P": ["Paper round", "Tuesday", "06:30", "WT-03", "Colin Marsh", 2, 264],
 "WED-O": ["Organic round", "Wednesday", "05:30", "WT-11", "Ivana Petrik", 1, 151],
 "FRI-G": ["Glass banks", "Friday", "08:00", "WT-05", "Gareth Pugh", 1, 37],
 "SAT-R": ["Rural mixed", "Saturday", "07:15", "WT-03", "Yusuf Demir", 2, 64],
}
# number: bin, caller, date, kind, text, status, phone
COMPLAINTS = {
 5001: [103, "Mrs Alder", "2025-08-18", "damaged bin", "lid torn off", "open", "555-0142"],
 5002: [122, "R. Chowdhury", "2025-08-19", "not emptied", "skipped two weeks running", "closed", "555-0177"],
 5003: [139, "Parish Office", "2025-08-28", "missing bin", "gone since the fair", "open", "555-0120"],
 5004: [164, "Tom Hatch", "2025-08-27", "not emptied", "paper overflowing", "in progress", "555-0163"],
 5005: [130, "Station Kiosk", "2025-08-21", "noise", "lorry at half past five", "closed", "555-0108"],
 5006: [158, "Beatrix Lowe", "2025-08-29", "damaged bin", "wheel broken", "in progress", "555-0191"],
 5007: [175, "Mr Okonjo", "2025-08-30", "not emptied", "lock is jammed", "open", "555-0135"],
 5008: [190, "Baker Row Deli", "2025-09-01", "damaged bin", "crack in the side, glass falls out", "open", "555-0116"],
 5009: [144, "Sister Maureen", "2025-09-02", "spillage", "broken glass on the steps", "closed", "555-0129"],
 5010: [186, "Jill Farrow", "2025-09-02", "smell", "not cleaned all summer", "open", "555-0158"],
 5011: [163, "Tom Hatch", "2025-09-05", "not emptied", "Thursday round drove past", "open", "555-0163"],
 5012: [191, "Baker Row Deli", "2025-09-05", "spillage", "bags left on the pavement", "in progress", "555-0116"],
 5013: [117, "A. Quigley", "2025-09-06", "smell", "maggots", "open", "555-0184"],
}

@server.tool(name="show-bin")
def show_bin(bin_no: int) -> str:
    "Everything known about one bin."
    if bin_no not in BINS: return f"Bin {bin_no} is not registered."
    s, h, k, l, r, st, d = BINS[bin_no]
    return f"Bin: {bin_no}\nAddress: {h} {s}\nType: {k}\nSize: {l} litres\nRoute: {r}\nCondition: {st}\nLast emptied: {d}"

@server.tool(name="bins-in-street")
def bins_in_street(street: str, kind: Literal["residual", "paper", "organic", "glass"] | None = None) -> str:
    "Table of the bins in a street, optionally of one type only."
    rows = [(n, b) for n, b in BINS.items() if b[0].lower() == street.lower() and (kind is None or b[2] == kind)]
    if not rows: return f"No bins found in {street}."
    return "bin | house | type | litres | condition\n" + "\n".join(f"{n} | {b[1]} | {b[2]} | {b[3]} | {b[5]}" for n, b in rows)

@server.tool(name="route-card")
def route_card(route: str) -> str:
    "Details of a collection route by its code, e.g. MON-A."
    if route not in ROUTES: raise ToolError(f"unknown route code: {route}")
    n, w, t, l, d, e, s = ROUTES[route]
    return f"Route: {route} ({n})\nDay: {w}\nStart: {t}\nLorry: {l}\nDriver: {d}\nEvery: {e} week(s)\nStops: {s}"

@server.tool(name="all-routes")
def all_routes() -> str:
    "One line per route: code, name, day, driver, stops."
    return "\n".join(f"{c}: {r[0]}, {r[1]}, driver {r[4]}, {r[6]} stops" for c, r in ROUTES.items())

@server.tool(name="complaints")
def complaints(status: Literal["open", "in progress", "closed"] = "open", caller: str | None = None) -> str:
    "Complaints of a given status (default: open), optionally of one caller."
    rows = [f"#{n} {c[2]} bin {c[0]} {c[3]} ({c[1]})" for n, c in COMPLAINTS.items() if c[5] == status and (caller is None or caller.lower() in c[1].lower())]
    return "\n".join(rows) or "No complaints match."

@server.tool(name="read-complaint")
def read_complaint(number: int) -> str:
    "Full text of a complaint."
    if number not in COMPLAINTS: return f"There is no complaint {number}."
    b, w, d, k, t, s, p = COMPLAINTS[number]
    return f"Complaint {number} ({s})\nReceived: {d}\nFrom: {w}, phone {p}\nBin: {b}\nAbout: {k}\nText: {t}"

@server.tool(name="log-complaint")
def log_complaint(bin_no: int, caller: str, kind: Literal["not emptied", "damaged bin", "missing bin", "spillage", "smell", "noise"], text: str = "") -> str:
    "Register a new complaint about a bin."
    if bin_no not in BINS: return f"Bin {bin_no} is not registered."
    n = max(COMPLAINTS) + 1
    COMPLAINTS[n] = [bin_no, caller, "2025-09-08", kind, text, "open", "-"]
    return f"Complaint {n} logged: bin {bin_no}, {kind}, from {caller}."

@server.tool(name="set-complaint-status")
def set_complaint_status(number: int, status: Literal["open", "in progress", "closed"]) -> str:
    "Change the status of a complaint."
    if number not in COMPLAINTS: return f"There is no complaint {number}."
    old = COMPLAINTS[number][5]; COMPLAINTS[number][5] = status
    return f"Complaint {number}: {old} -> {status}"

@server.tool(name="change-bin")
def change_bin(bin_no: int, condition: Literal["ok", "damaged", "missing", "locked"] | None = None, litres: Literal[60, 80, 120, 240, 1100] | None = None, route: str | None = None) -> str:
    "Change the condition, the size or the route of a bin; leave out what stays the same."
    if bin_no not in BINS: return f"Bin {bin_no} is not registered."
    if route is not None and route not in ROUTES: raise ToolError(f"unknown route code: {route}")
    done = []
    for i, name, v in ((5, "condition", condition), (3, "litres", litres), (4, "route", route)):
        if v is not None: done.append(f"{name} {BINS[bin_no][i]} -> {v}"); BINS[bin_no][i] = v
    return f"Bin {bin_no}: " + ("; ".join(done) or "nothing changed")

if __name__ == "__main__":
    server.run()
