from typing import Literal, Optional

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("pharmacy")

Form = Literal["tablet", "capsule", "cream", "syrup", "inhaler", "injection"]
Status = Literal["received", "preparing", "ready", "collected", "cancelled"]

_M = ["sku", "name", "strength", "form", "price", "stock", "reorder_level", "supplier", "shelf", "prescription_only", "expires"]
MEDICINES = {r[0]: dict(zip(_M, r)) for r in [
    ("AMX500", "Amoxicillin", "500 mg", "capsule", "6.20 EUR", 84, 30, "Medrex", "B3", True, "2027-08"),
    ("ATO20", "Atorvastatin", "20 mg", "tablet", "4.20 EUR", 75, 40, "Norvia", "C5", True, "2028-03"),
    ("CET10", "Cetirizine", "10 mg", "tablet", "4.30 EUR", 118, 40, "Norvia", "A2", False, "2028-01"),
    ("CLO01", "Clotrimazole", "1 %", "cream", "5.60 EUR", 14, 12, "Brevent", "E1", False, "2027-05"),
    ("COD15", "Codeine linctus", "15 mg/5 ml", "syrup", "6.75 EUR", 9, 10, "Medrex", "L2", True, "2027-02"),
    ("DOX100", "Doxycycline", "100 mg", "capsule", "7.80 EUR", 40, 20, "Alcura", "B4", True, "2027-10"),
    ("HYD01", "Hydrocortisone", "1 %", "cream", "4.95 EUR", 27, 10, "Brevent", "E2", False, "2027-07"),
    ("IBU400", "Ibuprofen", "400 mg", "tablet", "3.95 EUR", 212, 60, "Alcura", "A1", False, "2028-02"),
    ("INS100", "Insulin glargine", "100 units/ml", "injection", "38.50 EUR", 12, 8, "Solvida", "F1", True, "2027-01"),
    ("LAC300", "Lactulose", "3.3 g/5 ml", "syrup", "4.60 EUR", 23, 10, "Alcura", "L1", False, "2027-12"),
    ("LEV50", "Levothyroxine", "50 mcg", "tablet", "3.60 EUR", 18, 30, "Norvia", "C3", True, "2027-04"),
    ("LIS10", "Lisinopril", "10 mg", "tablet", "5.40 EUR", 22, 25, "Medrex", "C1", True, "2027-06"),
    ("MET850", "Metformin", "850 mg", "tablet", "4.75 EUR", 96, 50, "Norvia", "C2", True, "2027-11"),
    ("NAP250", "Naproxen", "250 mg", "tablet", "5.05 EUR", 16, 20, "Alcura", "A3", True, "2028-04"),
    ("OMP20", "Omeprazole", "20 mg", "capsule", "5.85 EUR", 67, 30, "Medrex", "B1", True, "2027-09"),
    ("PAR500", "Paracetamol", "500 mg", "tablet", "2.10 EUR", 340, 100, "Alcura", "A1", False, "2028-05"),
    ("SAL100", "Salbutamol", "100 mcg", "inhaler", "8.90 EUR", 31, 15, "Brevent", "D1", True, "2027-03"),
    ("SER50", "Sertraline", "50 mg", "tablet", "7.15 EUR", 53, 20, "Solvida", "C4", True, "2028-06"),
    ("WAR03", "Warfarin", "3 mg", "tablet", "3.90 EUR", 36, 15, "Solvida", "C6", True, "2027-08"),
]}

_P = ["patient_id", "name", "born", "phone", "address", "allergies", "doctor", "home_delivery"]
PATIENTS = {r[0]: dict(zip(_P, r)) for r in [
    (301, "Greta Falk", "1948-03-11", "0331 555 201", "Lindenweg 4", ["penicillin"], "Dr Amsel", True),
    (302, "Tomas Riedl", "1985-09-30", "0331 555 874", "Hafenstr. 19", [], "Dr Okoye", False),
    (303, "Nadia Benali", "1992-01-17", "0331 555 413", "Am Markt 2", ["aspirin", "latex"], "Dr Okoye", False),
    (304, "Oskar Wiese", "1939-12-05", "0331 555 060", "Lindenweg 22", ["sulfa drugs"], "Dr Amsel", True),
    (305, "Ines Carvalho", "1977-06-23", "0331 555 739", "Ringstr. 81", [], "Dr Petrov", False),
    (306, "Bruno Falk", "1946-07-02", "0331 555 201", "Lindenweg 4", [], "Dr Amsel", True),
    (307, "Hanna Quist", "2001-10-14", "0331 555 328", "Schulgasse 7", ["codeine"], "Dr Petrov", False),
    (308, "Deniz Aydin", "1969-04-08", "0331 555 592", "Hafenstr. 3", ["penicillin"], "Dr Okoye", False),
    (309, "Lotte Maurer", "1955-02-28", "0331 555 117", "Birkenallee 10", [], "Dr Amsel", True),
    (310, "Samuel Adeyemi", "1988-11-19", "0331 555 646", "Ringstr. 12", ["ibuprofen"], "Dr Petrov", False),
    (311, "Carla Winter", "2012-05-06", "0331 555 905", "Am Markt 15", [], "Dr Sommer", False),
    (312, "Pavel Hruska", "1961-08-21", "0331 555 254", "Schulgasse 30", [], "Dr Okoye", True),
]}

_R = ["rx_number", "patient_id", "sku", "packs", "dosage", "issued", "collect_by", "status", "repeats_left"]
PRESCRIPTIONS = {r[0]: dict(zip(_R, r)) for r in [
    ("RX-7702", 301, "LIS10", 2, "1 tablet in the morning", "2026-11-02", "2026-11-30", "ready", 3),
    ("RX-7705", 304, "WAR03", 1, "1 tablet at 6 pm", "2026-11-03", "2026-12-01", "collected", 2),
    ("RX-7708", 302, "DOX100", 1, "1 capsule twice a day for 7 days", "2026-11-05", "2026-11-19", "cancelled", 0),
    ("RX-7711", 309, "LEV50", 3, "1 tablet before breakfast", "2026-11-09", "2026-12-07", "preparing", 5),
    ("RX-7714", 308, "MET850", 2, "1 tablet twice a day with meals", "2026-11-10", "2026-12-08", "ready", 4),
    ("RX-7717", 311, "AMX500", 1, "1 capsule three times a day for 5 days", "2026-11-12", "2026-11-26", "collected", 0),
    ("RX-7720", 307, "SER50", 1, "1 tablet in the evening", "2026-11-12", "2026-12-10", "received", 2),
    ("RX-7723", 312, "INS100", 4, "14 units at bedtime", "2026-11-13", "2026-12-11", "preparing", 6),
    ("RX-7726", 306, "ATO20", 2, "1 tablet at night", "2026-11-16", "2026-12-14", "received", 3),
    ("RX-7729", 304, "OMP20", 1, "1 capsule before breakfast", "2026-11-16", "2026-12-14", "ready", 1),
    ("RX-7732", 303, "SAL100", 1, "2 puffs when needed", "2026-11-17", "2026-12-15", "ready", 1),
    ("RX-7735", 310, "COD15", 1, "5 ml every 6 hours, 3 days at most", "2026-11-18", "2026-12-02", "received", 0),
    ("RX-7738", 305, "NAP250", 1, "1 tablet twice a day after food", "2026-11-18", "2026-12-16", "ready", 0),
    ("RX-7741", 301, "MET850", 3, "1 tablet with dinner", "2026-11-20", "2026-12-18", "received", 2),
    ("RX-7744", 312, "LIS10", 1, "half a tablet in the morning", "2026-11-20", "2026-12-18", "received", 4),
    ("RX-7747", 302, "OMP20", 2, "1 capsule in the evening", "2026-11-23", "2026-12-21", "preparing", 0),
]}


def _row(r):
    m = MEDICINES[r["sku"]]
    return {"rx_number": r["rx_number"], "patient": PATIENTS[r["patient_id"]]["name"], "medicine": f"{m['name']} {m['strength']}",
            "status": r["status"], "collect_by": r["collect_by"]}


def _medicine(sku):
    if sku not in MEDICINES:
        raise ToolError(f"No medicine with SKU '{sku}'.")
    return MEDICINES[sku]


def _patient(patient_id):
    if patient_id not in PATIENTS:
        raise ToolError(f"Patient {patient_id} is not on file.")
    return PATIENTS[patient_id]


def _rx(rx_number):
    if rx_number not in PRESCRIPTIONS:
        raise ToolError(f"Unknown prescription {rx_number}.")
    return PRESCRIPTIONS[rx_number]


@server.tool()
def search_medicines(name: Optional[str] = None, form: Optional[Form] = None, below_reorder_level: bool = False) -> list[dict]:
    """Search the medicines we stock by (part of) the name and/or form. Set below_reorder_level to see only what has to be reordered. Returns SKU, strength, price and packs in stock."""
    rows = [m for m in MEDICINES.values() if (not name or name.lower() in m["name"].lower()) and (not form or m["form"] == form)
            and (not below_reorder_level or m["stock"] < m["reorder_level"])]
    return [{k: m[k] for k in ("sku", "name", "strength", "form", "price", "stock")} for m in rows][:12]


@server.tool()
def get_medicine(sku: str) -> dict:
    """All details of one medicine: supplier, shelf, expiry month, reorder level, whether it is prescription-only. SKUs look like IBU400."""
    return _medicine(sku)


@server.tool()
def set_stock(sku: str, packs: int) -> dict:
    """Set the number of packs on the shelf for a medicine (the new total, not the difference)."""
    m = _medicine(sku)
    if packs < 0:
        raise ToolError("packs must not be negative.")
    old, m["stock"] = m["stock"], packs
    return {"sku": sku, "name": m["name"], "old_stock": old, "stock": packs}


@server.tool()
def find_patients(name: str) -> list[dict]:
    """Find patients by full or part of the name. Gives patient id, date of birth and phone."""
    return [{k: p[k] for k in ("patient_id", "name", "born", "phone")} for p in PATIENTS.values() if name.lower() in p["name"].lower()]


@server.tool()
def get_patient(patient_id: int) -> dict:
    """One patient's file: contact, allergies, family doctor, home delivery."""
    return _patient(patient_id)


@server.tool()
def update_patient(patient_id: int, phone: Optional[str] = None, address: Optional[str] = None, home_delivery: Optional[bool] = None) -> dict:
    """Change a patient's phone, address or home delivery. Only the given fields change."""
    p = _patient(patient_id)
    new = {k: v for k, v in (("phone", phone), ("address", address), ("home_delivery", home_delivery)) if v is not None}
    if not new:
        raise ToolError("Nothing to change.")
    p.update(new)
    return {"patient_id": patient_id, "name": p["name"], **new}


@server.tool()
def list_prescriptions(patient_id: Optional[int] = None, status: Optional[Status] = None, sku: Optional[str] = None) -> list[dict]:
    """List prescriptions, filtered by patient, status or medicine. At least one filter is needed."""
    if patient_id is None and status is None and sku is None:
        raise ToolError("Give at least one of patient_id, status, sku.")
    if patient_id is not None:
        _patient(patient_id)
    return [_row(r) for r in PRESCRIPTIONS.values() if (patient_id is None or r["patient_id"] == patient_id)
            and (status is None or r["status"] == status) and (sku is None or r["sku"] == sku)]


@server.tool()
def get_prescription(rx_number: str) -> dict:
    """Full details of a prescription, e.g. RX-7702: patient, packs, dosage, dates, status, repeats left."""
    r = _rx(rx_number)
    return {**_row(r), "patient_id": r["patient_id"], "sku": r["sku"], "packs": r["packs"], "dosage": r["dosage"], "issued": r["issued"],
            "repeats_left": r["repeats_left"]}


@server.tool()
def set_prescription_status(rx_number: str, status: Status) -> dict:
    """Move a prescription to another status."""
    r = _rx(rx_number)
    old, r["status"] = r["status"], status
    return {"rx_number": rx_number, "patient": PATIENTS[r["patient_id"]]["name"], "old_status": old, "status": status}


if __name__ == "__main__":
    server.run()
