from datetime import date
from typing import Literal, Optional
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("optician")

Status = Literal["ordered", "at the lab", "ready", "collected", "cancelled"]
Lens = Literal["single vision", "reading", "varifocal"]
Coating = Literal["none", "anti-reflex", "blue filter"]

OPTOMETRISTS = {
    "hk": {"code": "hk", "name": "Henrike Kolb", "room": 2, "days": "Mon, Tue, Thu", "speciality": "contact lenses"},
    "ob": {"code": "ob", "name": "Osman Baydar", "room": 1, "days": "Mon, Wed, Fri", "speciality": "children"},
    "tv": {"code": "tv", "name": "Thessa Vink", "room": 3, "days": "Tue, Wed, Sat", "speciality": "low vision"},
}

PATIENTS = {}
for i, name, born, phone, opt, rx, exam in [
    (1041, "Agnes Pohl", "1951-03-14", "555-0111", "hk", "RX-731", "2025-11-04"),
    (1042, "Bilal Sarwar", "1987-09-02", "555-0112", "ob", "RX-740", "2026-08-19"),
    (1043, "Corinne Maas", "1999-12-21", "555-0113", "tv", "RX-745", "2026-03-10"),
    (1044, "Dietmar Pohl", "1949-07-30", "555-0111", "hk", "RX-702", "2025-10-28"),
    (1045, "Elif Tuncer", "2014-05-05", "555-0115", "ob", "RX-751", "2026-04-08"),
    (1046, "Fergus Lindqvist", "1973-01-19", "555-0116", "tv", "RX-733", "2026-06-23"),
    (1047, "Gianna Rossetti", "1966-10-08", "555-0117", "hk", "RX-748", "2026-09-14"),
    (1048, "Hung Tran", "1990-04-27", "555-0118", "tv", "RX-752", "2026-09-30"),
    (1049, "Ines Calder", "2009-08-16", "555-0119", "ob", "RX-744", "2026-02-25"),
    (1050, "Jonas Weidlich", "1982-06-11", "555-0120", "hk", "RX-729", "2026-05-12"),
    (1051, "Katya Morozova", "1958-02-23", "555-0122", "tv", "RX-755", "2025-12-09"),
    (1052, "Leon Abiodun", "1995-11-30", "555-0123", "ob", "RX-747", "2026-09-07"),
    (1053, "Marthe Vandamme", "1944-09-17", "555-0124", "tv", "RX-718", "2025-11-19"),
    (1054, "Noor Haddad", "2001-03-03", "555-0125", "hk", "RX-756", "2026-10-06"),
]:
    mail = name.lower().replace(" ", ".") + "@post.example"
    PATIENTS[i] = {"patient_id": i, "name": name, "born": born, "phone": phone, "email": mail, "optometrist": opt,
                   "current_rx": rx, "next_exam": exam}

PRESCRIPTIONS = {}
for rx, pid, issued, expires, rs, rc, ls, lc, add, pd, by in [
    ("RX-702", 1044, "2024-10-22", "2026-10-22", "+1.75", "0.00", "+2.00", "-0.25", "+2.50", 64, "hk"),
    ("RX-718", 1053, "2024-11-20", "2025-11-20", "+3.25", "-0.75", "+3.00", "-1.00", "+2.75", 60, "hk"),
    ("RX-729", 1050, "2025-05-06", "2027-05-06", "-4.50", "-0.50", "-4.25", "0.00", None, 66, "tv"),
    ("RX-731", 1041, "2025-05-15", "2027-05-15", "+0.75", "-0.25", "+1.00", "-0.25", "+2.25", 61, "hk"),
    ("RX-733", 1046, "2025-06-17", "2027-06-17", "-1.25", "-1.50", "-1.75", "-1.25", "+1.75", 67, "ob"),
    ("RX-740", 1042, "2025-08-13", "2027-08-13", "-2.75", "0.00", "-3.00", "-0.50", None, 63, "ob"),
    ("RX-744", 1049, "2025-08-25", "2026-08-25", "-0.75", "0.00", "-1.00", "0.00", None, 57, "ob"),
    ("RX-745", 1043, "2025-09-02", "2027-09-02", "-5.25", "-0.25", "-5.50", "-0.50", None, 59, "tv"),
    ("RX-747", 1052, "2025-09-05", "2027-09-05", "-1.50", "-0.75", "-1.50", "-0.50", None, 65, "ob"),
    ("RX-748", 1047, "2025-09-09", "2027-09-09", "+2.25", "0.00", "+2.50", "0.00", "+2.00", 62, "hk"),
    ("RX-751", 1045, "2025-10-01", "2026-04-01", "+1.50", "-0.50", "+1.25", "-0.50", None, 52, "tv"),
    ("RX-752", 1048, "2025-10-07", "2027-10-07", "-6.00", "-1.00", "-5.75", "-1.25", None, 68, "tv"),
    ("RX-755", 1051, "2025-10-09", "2026-10-09", "-0.50", "-0.25", "0.00", "-0.75", "+2.50", 58, "tv"),
    ("RX-756", 1054, "2025-10-14", "2027-10-14", "-3.50", "0.00", "-3.25", "0.00", None, 61, "hk"),
]:
    PRESCRIPTIONS[rx] = {"rx_no": rx, "patient_id": pid, "issued": issued, "expires": expires, "right_sphere": rs,
                         "right_cylinder": rc, "left_sphere": ls, "left_cylinder": lc, "near_addition": add, "pd_mm": pd, "written_by": by}

FRAMES = {}
for sku, brand, model, colour, price, stock, supplier in [
    ("LUN-04", "Lunetta", "Piccola", "tortoise", 129, 6, "Optivia"),
    ("LUN-09", "Lunetta", "Grande", "black", 149, 4, "Optivia"),
    ("NRD-11", "Nordik", "Fjell", "graphite", 189, 2, "Brillehus"),
    ("NRD-12", "Nordik", "Vidde", "navy", 175, 5, "Brillehus"),
    ("KID-02", "Bumble", "Hopper", "red", 69, 9, "Kinderblick"),
    ("KID-05", "Bumble", "Skipper", "green", 72, 7, "Kinderblick"),
    ("TIT-20", "Aerolite", "Feather", "silver", 245, 3, "Titanworks"),
    ("TIT-21", "Aerolite", "Swift", "rose gold", 259, 1, "Titanworks"),
]:
    FRAMES[sku] = {"sku": sku, "brand": brand, "model": model, "colour": colour, "price_eur": price, "in_stock": stock, "supplier": supplier}

LENS_PRICE = {"single vision": 75, "reading": 50, "varifocal": 250}
COATING_PRICE = {"none": 0, "anti-reflex": 40, "blue filter": 50}
ORDERS = {}
for no, rx, frame, lens, coating, on, due, status, deposit in [
    ("G2207", "RX-731", "LUN-04", "varifocal", "anti-reflex", "2025-10-01", "2025-10-22", "at the lab", 120),
    ("G2208", "RX-740", "NRD-11", "single vision", "none", "2025-10-02", "2025-10-16", "ready", 90),
    ("G2209", "RX-751", "KID-02", "single vision", "none", "2025-10-03", "2025-10-17", "ready", 0),
    ("G2210", "RX-733", "TIT-20", "varifocal", "blue filter", "2025-10-06", "2025-10-27", "at the lab", 200),
    ("G2211", "RX-748", "LUN-09", "reading", "anti-reflex", "2025-10-07", "2025-10-21", "at the lab", 60),
    ("G2212", "RX-752", "NRD-12", "single vision", "blue filter", "2025-10-08", "2025-10-23", "ordered", 100),
    ("G2213", "RX-729", "NRD-11", "single vision", "anti-reflex", "2025-10-08", "2025-10-24", "at the lab", 75),
    ("G2214", "RX-702", "LUN-04", "reading", "none", "2025-09-12", "2025-09-26", "collected", 179),
    ("G2215", "RX-755", "TIT-21", "varifocal", "anti-reflex", "2025-10-10", "2025-10-31", "ordered", 150),
    ("G2216", "RX-744", "KID-05", "single vision", "none", "2025-09-18", "2025-10-02", "collected", 147),
    ("G2217", "RX-747", "NRD-12", "single vision", "none", "2025-10-13", "2025-10-28", "ordered", 0),
    ("G2218", "RX-718", "TIT-20", "varifocal", "none", "2025-09-22", "2025-10-13", "cancelled", 40),
    ("G2219", "RX-752", "TIT-21", "single vision", "anti-reflex", "2025-10-14", "2025-10-30", "ordered", 110),
    ("G2220", "RX-748", "LUN-04", "varifocal", "anti-reflex", "2025-10-15", "2025-11-05", "ordered", 105),
    ("G2221", "RX-731", "NRD-12", "reading", "none", "2025-10-16", "2025-10-29", "ordered", 50),
]:
    ORDERS[no] = {"order_no": no, "rx_no": rx, "frame": frame, "lens": lens, "coating": coating, "ordered_on": on, "due_on": due,
                  "status": status, "total_eur": FRAMES[frame]["price_eur"] + LENS_PRICE[lens] + COATING_PRICE[coating], "deposit_eur": deposit}


def _get(table, key, what):
    if key not in table:
        raise ToolError(f"{what} {key} not found")
    return table[key]


@server.tool()
def find_patients(name: str = "", optometrist: Optional[Literal["hk", "ob", "tv"]] = None) -> list[dict]:
    """Find patients by (part of) their name and/or by the code of their optometrist. Returns id, name and date of birth."""
    return [{k: p[k] for k in ("patient_id", "name", "born")} for p in PATIENTS.values()
            if name.lower() in p["name"].lower() and optometrist in (None, p["optometrist"])]


@server.tool()
def get_patient(patient_id: int) -> dict:
    """Patient card: contact data, optometrist code, current prescription number, next exam."""
    return _get(PATIENTS, patient_id, "Patient")


@server.tool()
def get_prescription(rx_no: str) -> dict:
    """One prescription by its number, e.g. RX-702."""
    return _get(PRESCRIPTIONS, rx_no, "Prescription")


@server.tool()
def glasses_order(order_no: str) -> dict:
    """One order of glasses by its number, e.g. G2200."""
    return _get(ORDERS, order_no, "Order")


@server.tool()
def glasses_orders(patient_id: Optional[int] = None, status: Optional[Status] = None) -> list[dict]:
    """Orders of glasses, optionally only those of one patient or with one status."""
    return [{k: o[k] for k in ("order_no", "rx_no", "status", "due_on", "total_eur")} for o in ORDERS.values()
            if status in (None, o["status"]) and patient_id in (None, PRESCRIPTIONS[o["rx_no"]]["patient_id"])]


@server.tool()
def get_frame(sku: str) -> dict:
    """A spectacle frame from the catalogue by SKU (like KID-01): price, stock, supplier."""
    return _get(FRAMES, sku, "Frame")


@server.tool()
def get_optometrist(code: Literal["hk", "ob", "tv"]) -> dict:
    """An optometrist by code."""
    return _get(OPTOMETRISTS, code, "Optometrist")


@server.tool()
def place_order(rx_no: str, frame: str, lens: Lens, coating: Coating = "none") -> dict:
    """Order glasses for a prescription in a given frame (SKU)."""
    _get(PRESCRIPTIONS, rx_no, "Prescription")
    f = _get(FRAMES, frame, "Frame")
    if not f["in_stock"]:
        raise ToolError(f"Frame {frame} is out of stock")
    f["in_stock"] -= 1
    no = f"G{2207 + len(ORDERS)}"
    ORDERS[no] = {"order_no": no, "rx_no": rx_no, "frame": frame, "lens": lens, "coating": coating, "ordered_on": "2025-10-20",
                  "due_on": "2025-11-10", "status": "ordered",
                  "total_eur": f["price_eur"] + LENS_PRICE[lens] + COATING_PRICE[coating], "deposit_eur": 0}
    return ORDERS[no]


@server.tool()
def update_order(order_no: str, status: Optional[Status] = None, due_on: Optional[str] = None) -> dict:
    """Change the status and/or the due date (YYYY-MM-DD) of an order. "ready" means waiting for the patient in the shop."""
    o = _get(ORDERS, order_no, "Order")
    if status is None and due_on is None:
        raise ToolError("Nothing to change")
    if due_on:
        try:
            date.fromisoformat(due_on)
        except ValueError:
            raise ToolError("due_on must be YYYY-MM-DD")
        o["due_on"] = due_on
    if status:
        o["status"] = status
    return {"updated": True, "order_no": order_no, "status": o["status"], "due_on": o["due_on"]}


if __name__ == "__main__":
    server.run()
