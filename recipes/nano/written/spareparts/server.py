from typing import Literal, Optional

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("spareparts")

PARTS = {r[0]: dict(zip(("code", "name", "category", "stock", "min_stock", "bin", "unit_price_eur", "supplier_id", "last_counted"), r)) for r in [
    ("BRG-6204", "Ball bearing 6204", "bearings", 24, 10, "A-03-2", 6.40, "SUP-11", "2025-03-28"),
    ("BRG-6306", "Ball bearing 6306", "bearings", 5, 8, "A-03-4", 14.90, "SUP-11", "2025-03-28"),
    ("BRG-32008", "Tapered roller bearing 32008", "bearings", 12, 6, "A-04-1", 22.50, "SUP-11", "2025-02-14"),
    ("BRG-UCP205", "Pillow block bearing UCP205", "bearings", 3, 4, "A-04-3", 27.80, "SUP-14", "2025-04-03"),
    ("BLT-A55", "V-belt A55", "belts", 16, 10, "B-01-1", 9.20, "SUP-12", "2025-04-11"),
    ("BLT-SPZ1250", "Narrow V-belt SPZ 1250", "belts", 7, 6, "B-01-3", 11.60, "SUP-12", "2025-04-11"),
    ("BLT-HTD5M", "Timing belt HTD 5M", "belts", 2, 4, "B-02-1", 31.00, "SUP-12", "2025-01-30"),
    ("SEA-3552", "Shaft seal 35x52x7", "seals", 40, 20, "C-01-2", 3.10, "SUP-13", "2025-04-22"),
    ("SEA-5072", "Shaft seal 50x72x8", "seals", 18, 15, "C-01-3", 4.75, "SUP-13", "2025-04-22"),
    ("SEA-ORK", "O-ring kit NBR", "seals", 6, 3, "C-02-1", 38.00, "SUP-13", "2024-12-09"),
    ("HYD-F10", "Hydraulic filter 10 micron", "hydraulics", 9, 6, "D-01-1", 46.50, "SUP-15", "2025-03-05"),
    ("HYD-H12", "Hydraulic hose 1/2 inch", "hydraulics", 14, 8, "D-01-4", 19.90, "SUP-15", "2025-03-05"),
    ("HYD-PV3", "Proportional valve", "hydraulics", 1, 1, "D-02-2", 412.00, "SUP-15", "2025-02-27"),
    ("ELE-PX18", "Proximity sensor M18", "electrical", 11, 5, "E-01-1", 34.20, "SUP-16", "2025-04-15"),
    ("ELE-CT25", "Contactor 25 A", "electrical", 8, 4, "E-01-3", 42.00, "SUP-16", "2025-04-15"),
    ("ELE-ES1", "Emergency stop button", "electrical", 10, 4, "E-02-1", 17.50, "SUP-16", "2025-01-17"),
    ("ELE-LC40", "Light curtain 400 mm", "electrical", 0, 1, "E-02-3", 389.00, "SUP-16", "2025-04-15"),
    ("CHN-08B", "Roller chain 08B", "drives", 4, 3, "B-03-1", 29.50, "SUP-14", "2025-04-03"),
    ("CPL-24", "Jaw coupling size 24", "drives", 6, 2, "B-03-2", 24.60, "SUP-14", "2025-04-03"),
]}
SUPPLIERS = {r[0]: dict(zip(("supplier_id", "name", "contact", "phone", "email", "lead_time_days", "free_shipping_from_eur"), r)) for r in [
    ("SUP-11", "Nordkugel Bearings", "Ilse Brandt", "555-0111", "orders@nordkugel.example", 3, 150),
    ("SUP-12", "Rimm Belting", "Pavel Oros", "555-0124", "sales@rimm.example", 5, 100),
    ("SUP-13", "Dichtwerk Lutz", "Hanna Lutz", "555-0132", "lutz@dichtwerk.example", 4, 80),
    ("SUP-14", "Varga Drives", "Tamas Varga", "555-0147", "office@vargadrives.example", 10, 250),
    ("SUP-15", "Hydroline", "Chloe Marsh", "555-0155", "parts@hydroline.example", 7, 300),
    ("SUP-16", "Elektra Supply", "Ravi Menon", "555-0168", "ravi@elektra-supply.example", 2, 120),
]}
MACHINES = [dict(zip(("machine_id", "name", "hall", "status", "technician", "last_service", "next_service", "wear_part"), r)) for r in [
    ("M-01", "CNC lathe", "Hall 1", "running", "Deniz Kaya", "2025-03-12", "2025-09-12", "BRG-32008"),
    ("M-02", "CNC mill", "Hall 1", "running", "Deniz Kaya", "2025-01-20", "2025-07-21", "CPL-24"),
    ("M-03", "Press brake", "Hall 2", "stopped", "Marta Silva", "2024-11-05", "2025-05-08", "HYD-PV3"),
    ("M-04", "Hydraulic press 200 t", "Hall 2", "running", "Marta Silva", "2025-02-18", "2025-05-20", "HYD-F10"),
    ("M-05", "Conveyor line A", "Hall 3", "running", "Jonas Falk", "2025-04-01", "2025-07-01", "BLT-A55"),
    ("M-06", "Conveyor line B", "Hall 3", "in service", "Jonas Falk", "2025-01-08", "2025-06-02", "CHN-08B"),
    ("M-07", "Packing robot", "Hall 3", "running", "Aisha Noor", "2025-03-26", "2025-06-25", "BLT-HTD5M"),
    ("M-08", "Compressor", "Utility room", "running", "Tom Reyes", "2025-02-03", "2025-08-04", "BLT-SPZ1250"),
    ("M-09", "Injection moulder", "Hall 2", "running", "Aisha Noor", "2025-04-10", "2025-10-10", "SEA-3552"),
]]
RESERVATIONS = {r[0]: dict(zip(("reservation_id", "part_code", "quantity", "machine_id", "status", "needed_by", "requested_by"), r)) for r in [
    ("R-501", "BRG-6204", 2, "M-05", "open", "2025-05-06", "Jonas Falk"),
    ("R-502", "BLT-A55", 4, "M-05", "open", "2025-05-06", "Jonas Falk"),
    ("R-503", "HYD-F10", 1, "M-04", "issued", "2025-05-09", "Marta Silva"),
    ("R-504", "SEA-5072", 2, "M-04", "open", "2025-05-09", "Lena Hoff"),
    ("R-505", "ELE-PX18", 3, "M-07", "open", "2025-05-12", "Aisha Noor"),
    ("R-506", "BLT-HTD5M", 1, "M-07", "open", "2025-05-13", "Luc Martin"),
    ("R-507", "CHN-08B", 1, "M-06", "issued", "2025-05-02", "Jonas Falk"),
    ("R-508", "BRG-UCP205", 2, "M-06", "open", "2025-05-15", "Luc Martin"),
    ("R-509", "BRG-32008", 2, "M-01", "cancelled", "2025-05-20", "Deniz Kaya"),
    ("R-510", "ELE-ES1", 1, "M-03", "open", "2025-05-08", "Marta Silva"),
    ("R-511", "BLT-SPZ1250", 2, "M-08", "open", "2025-05-19", "Tom Reyes"),
    ("R-512", "SEA-3552", 6, "M-09", "open", "2025-05-22", "Lena Hoff"),
    ("R-513", "HYD-H12", 2, "M-09", "open", "2025-05-23", "Luc Martin"),
    ("R-514", "BRG-6204", 4, "M-02", "open", "2025-05-26", "Deniz Kaya"),
    ("R-515", "CPL-24", 1, "M-02", "open", "2025-05-28", "Omar Zidan"),
]}


def part(code):
    if code not in PARTS:
        raise ToolError(f"unknown part code '{code}'")
    return PARTS[code]


@server.tool()
def search_parts(query: str = "", category: Optional[Literal["bearings", "belts", "seals", "hydraulics", "electrical", "drives"]] = None, below_minimum: bool = False) -> list[dict]:
    "Search the store for parts. All filters are optional: words of the name, a category, only parts whose stock is below the minimum."
    words = query.lower().split()
    return [{k: p[k] for k in ("code", "name", "stock", "min_stock", "unit_price_eur")} for p in PARTS.values()
            if all(w in (p["name"] + " " + p["code"]).lower() for w in words)
            and (category is None or p["category"] == category) and (not below_minimum or p["stock"] < p["min_stock"])][:15]


@server.tool()
def get_part(code: str) -> dict:
    "Full record of a part by its code, e.g. BRG-6204: stock, bin, price, supplier id."
    return part(code)


@server.tool()
def get_supplier(supplier_id: str) -> dict:
    "Supplier by id (SUP-nn)."
    if supplier_id not in SUPPLIERS:
        raise ToolError(f"unknown supplier '{supplier_id}'")
    return SUPPLIERS[supplier_id]


@server.tool()
def find_machine(query: str) -> list[dict]:
    "Machines whose id, name or hall contains the query."
    q = query.lower()
    found = [m for m in MACHINES if q in m["machine_id"].lower() or q in m["name"].lower() or q in m["hall"].lower()]
    if not found:
        raise ToolError(f"no machine matches '{query}'")
    return found


@server.tool()
def get_reservation(reservation_id: str) -> dict:
    "One reservation with the person who requested it. Ids look like R-501."
    if reservation_id not in RESERVATIONS:
        raise ToolError(f"reservation {reservation_id} not found")
    return RESERVATIONS[reservation_id]


@server.tool()
def list_reservations(part_code: Optional[str] = None, machine_id: Optional[str] = None, status: Optional[Literal["open", "issued", "cancelled"]] = None) -> list[dict]:
    "List reservations, filtered by part, machine and/or status."
    return [{k: v for k, v in r.items() if k != "requested_by"} for r in RESERVATIONS.values()
            if part_code in (None, r["part_code"]) and machine_id in (None, r["machine_id"]) and status in (None, r["status"])]


@server.tool()
def reserve_part(part_code: str, machine_id: str, quantity: int = 1, needed_by: Optional[str] = None) -> dict:
    "Reserve pieces of a part for a machine. needed_by is YYYY-MM-DD."
    p = part(part_code)
    if machine_id not in [m["machine_id"] for m in MACHINES]:
        raise ToolError(f"unknown machine '{machine_id}'")
    if quantity < 1 or quantity > p["stock"]:
        raise ToolError(f"cannot reserve {quantity}: only {p['stock']} of {part_code} in stock")
    rid = f"R-{501 + len(RESERVATIONS)}"
    RESERVATIONS[rid] = {"reservation_id": rid, "part_code": part_code, "quantity": quantity, "machine_id": machine_id, "status": "open", "needed_by": needed_by, "requested_by": None}
    return RESERVATIONS[rid]


@server.tool()
def close_reservation(reservation_id: str, outcome: Literal["issued", "cancelled"]) -> dict:
    "Close an open reservation: 'issued' when the parts were handed out (stock goes down), 'cancelled' when they are not needed."
    if reservation_id not in RESERVATIONS:
        raise ToolError(f"reservation {reservation_id} not found")
    r = RESERVATIONS[reservation_id]
    if r["status"] != "open":
        raise ToolError(f"{reservation_id} is already {r['status']}")
    r["status"] = outcome
    p = PARTS[r["part_code"]]
    if outcome == "issued":
        p["stock"] -= r["quantity"]
    return {"reservation_id": reservation_id, "status": outcome, "part_code": p["code"], "quantity": r["quantity"], "stock_now": p["stock"]}


@server.tool()
def set_stock(part_code: str, quantity: int) -> dict:
    "Correct the counted stock of a part to the given number."
    p = part(part_code)
    old, p["stock"] = p["stock"], quantity
    return {"part_code": part_code, "old_stock": old, "new_stock": quantity}


if __name__ == "__main__":
    server.run()
