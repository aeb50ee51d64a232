from typing import Literal, Optional
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("dispatch-desk")

CALLS = {r[0]: dict(zip(("call_id", "received", "address", "complaint", "priority", "caller", "caller_phone", "patient_age", "status", "unit", "hospital"), r)) for r in [
    (2201, "06:12", "18 Orchard Lane", "chest pain", "P1", "Ruth Amsel", "555-0111", 71, "transporting", "A-03", "STM"),
    (2202, "06:40", "Central Station, platform 4", "fall, hip injury", "P2", "Jan Dekker", "555-0112", 66, "on_scene", "A-07", None),
    (2203, "06:55", "7 Mill Street", "asthma attack", "P1", "Carla Stone", "555-0113", 9, "transporting", "A-01", "CHD"),
    (2204, "07:05", "Harbour Road gym", "collapsed, unconscious", "P1", "Dario Penn", "555-0114", 34, "en_route", "M-2", None),
    (2205, "07:20", "52 Elm Court", "dizziness", "P3", "Edith Moll", "555-0115", 80, "waiting", None, None),
    (2206, "07:31", "Lindgren Primary School", "broken arm", "P3", "Ms Farrow", "555-0116", 8, "waiting", None, None),
    (2207, "07:44", "A12 exit 9", "traffic accident, two cars", "P1", "Ben Ostrow", "555-0117", 41, "on_scene", "M-1", None),
    (2208, "07:50", "3 Bishop Square", "back pain", "P4", "Leon Pratt", "555-0118", 55, "waiting", None, None),
    (2209, "05:10", "90 Canal Walk", "nosebleed", "P4", "Gwen Hurst", "555-0119", 62, "closed", "A-05", "NRT"),
    (2210, "05:35", "Hotel Meridian, room 312", "allergic reaction", "P2", "hotel reception", "555-0120", 29, "closed", "A-04", "STM"),
    (2211, "08:02", "11 Tanner Row", "diabetic, low sugar", "P2", "Mia Kessel", "555-0121", 47, "en_route", "A-05", None),
    (2212, "08:09", "Oakfield Care Home", "shortness of breath", "P2", "Nurse Abel", "555-0122", 88, "waiting", None, None),
    (2213, "08:15", "26 Station Approach", "child swallowed coin", "P3", "Tina Wolfe", "555-0123", 4, "waiting", None, None),
    (2214, "04:48", "Quarry site 2", "crushed hand", "P2", "foreman Rudd", "555-0124", 38, "closed", "A-07", "LKE"),
]}
VEHICLES = {r[0]: dict(zip(("unit", "kind", "plate", "status", "fuel_pct", "odometer_km", "crew_id", "base", "service_due"), r)) for r in [
    ("A-01", "basic", "KX-1104", "busy", 64, 88210, "C-12", "North depot", "2026-04-02"),
    ("A-02", "basic", "KX-1105", "available", 91, 45120, "C-15", "North depot", "2026-06-11"),
    ("A-03", "advanced", "KX-1121", "busy", 38, 102450, "C-11", "Town hall garage", "2026-03-27"),
    ("A-04", "advanced", "KX-1122", "available", 77, 67008, "C-17", "Town hall garage", "2026-05-19"),
    ("A-05", "basic", "KX-1130", "busy", 52, 120333, "C-14", "River depot", "2026-04-15"),
    ("A-06", "basic", "KX-1131", "maintenance", 20, 151900, None, "River depot", "2026-03-16"),
    ("A-07", "basic", "KX-1132", "busy", 45, 73400, "C-16", "North depot", "2026-07-01"),
    ("M-1", "mobile_icu", "KX-2001", "busy", 70, 39850, "C-18", "Town hall garage", "2026-08-08"),
    ("M-2", "mobile_icu", "KX-2002", "busy", 83, 41200, "C-13", "River depot", "2026-08-22"),
    ("T-1", "transfer", "KX-3001", "available", 15, 98760, "C-19", "North depot", "2026-04-30"),
    ("T-2", "transfer", "KX-3002", "available", 88, 20415, None, "River depot", "2026-10-05"),
]}
CREWS = {r[0]: dict(zip(("crew_id", "leader", "driver", "radio_channel", "phone", "shift_ends", "meal_break_taken"), r)) for r in [
    ("C-11", "Ines Holloway", "Tom Veith", 4, "555-0141", "14:00", False),
    ("C-12", "Piet Marlowe", "Asha Renner", 5, "555-0142", "14:00", True),
    ("C-13", "Lena Quist", "Omar Faye", 2, "555-0143", "18:00", False),
    ("C-14", "Bruno Sandell", "Kit Ashworth", 7, "555-0144", "12:00", True),
    ("C-15", "Mara Oduya", "Jon Pell", 6, "555-0145", "18:00", False),
    ("C-16", "Sven Hartog", "Lila Crane", 3, "555-0146", "12:30", True),
    ("C-17", "Nadia Brook", "Hal Winter", 8, "555-0147", "20:00", False),
    ("C-18", "Felix Arden", "Rosa Timm", 1, "555-0148", "16:00", False),
    ("C-19", "Greta Nolan", "Will Sorley", 9, "555-0149", "15:00", True),
]}
HOSPITALS = {r[0]: dict(zip(("code", "name", "address", "beds_free", "er_phone", "duty_doctor", "trauma_center", "diverting"), r)) for r in [
    ("STM", "St Mary's Hospital", "40 Chapel Hill", 6, "555-0161", "Dr Ellis Vaughn", True, False),
    ("CHD", "Dale Children's Hospital", "2 Fern Avenue", 11, "555-0162", "Dr Yuki Sorensen", False, False),
    ("NRT", "Northgate General", "115 Northgate", 0, "555-0163", "Dr Paul Iverson", False, True),
    ("LKE", "Lakeside Clinic", "8 Shore Drive", 3, "555-0164", "Dr Amina Castell", False, False),
    ("UNI", "University Hospital", "1 Campus Ring", 19, "555-0165", "Dr Oskar Lindqvist", True, False),
]}

CallStatus = Literal["waiting", "en_route", "on_scene", "transporting", "closed", "cancelled"]
Priority = Literal["P1", "P2", "P3", "P4"]
VehicleStatus = Literal["available", "busy", "maintenance"]


def _get(table, key, what):
    if key not in table:
        raise ToolError(f"{what} {key} not found")
    return table[key]


@server.tool()
def get_call(call_id: int) -> dict:
    "Full record of one emergency call: address, complaint, caller, patient, status, assigned unit and destination hospital code."
    return _get(CALLS, call_id, "call")


@server.tool()
def list_calls(status: Optional[CallStatus] = None, priority: Optional[Priority] = None, text: Optional[str] = None) -> list[dict]:
    "Today's calls in short form. Filter by status, by priority, or by text that occurs in the address or the complaint."
    rows = [c for c in CALLS.values() if (not status or c["status"] == status) and (not priority or c["priority"] == priority)
            and (not text or text.lower() in (c["address"] + " " + c["complaint"]).lower())]
    return [{k: c[k] for k in ("call_id", "received", "address", "complaint", "priority", "status")} for c in rows]


@server.tool()
def get_vehicle(unit: str) -> dict:
    "One vehicle by its unit code, e.g. A-03: plate, status, fuel, odometer, crew on board, base, next service."
    return _get(VEHICLES, unit, "vehicle")


@server.tool()
def list_vehicles(status: Optional[VehicleStatus] = None, kind: Optional[Literal["basic", "advanced", "mobile_icu", "transfer"]] = None) -> list[dict]:
    "The fleet in short form, optionally by status or kind."
    return [{k: v[k] for k in ("unit", "kind", "status", "fuel_pct", "base")} for v in VEHICLES.values()
            if (not status or v["status"] == status) and (not kind or v["kind"] == kind)]


@server.tool()
def get_crew(crew_id: str) -> dict:
    "Crew on shift (C-nn): leader, driver, radio channel, phone, end of shift, meal break."
    return _get(CREWS, crew_id, "crew")


@server.tool()
def find_hospital(name: str) -> list[dict]:
    "Look up hospital codes by a part of the name."
    return [{"code": h["code"], "name": h["name"]} for h in HOSPITALS.values() if name.lower() in h["name"].lower()]


@server.tool()
def get_hospital(code: str) -> dict:
    "Hospital by its three-letter code: free emergency beds, ER phone, doctor on duty, trauma center or not, whether it diverts ambulances."
    return _get(HOSPITALS, code, "hospital")


@server.tool()
def update_call(call_id: int, status: Optional[CallStatus] = None, priority: Optional[Priority] = None, unit: Optional[str] = None, hospital: Optional[str] = None) -> dict:
    "Change a call. Giving a unit dispatches that vehicle (it must be available); giving a hospital code sets the destination."
    call = _get(CALLS, call_id, "call")
    changed = {}
    if unit:
        vehicle = _get(VEHICLES, unit, "vehicle")
        if vehicle["status"] != "available":
            raise ToolError(f"vehicle {unit} is {vehicle['status']}")
        vehicle["status"] = "busy"
        changed["unit"] = unit
        status = status or "en_route"
    if hospital:
        changed["hospital"] = _get(HOSPITALS, hospital, "hospital")["code"]
    if priority:
        changed["priority"] = priority
    if status:
        changed["status"] = status
    if not changed:
        raise ToolError("nothing to change")
    call.update(changed)
    return {"call_id": call_id, "address": call["address"], "changed": changed}


@server.tool()
def update_vehicle(unit: str, status: Optional[VehicleStatus] = None, fuel_pct: Optional[int] = None, odometer_km: Optional[int] = None, crew_id: Optional[str] = None) -> dict:
    "Change a vehicle's status, fuel level (percent), odometer reading or crew."
    vehicle = _get(VEHICLES, unit, "vehicle")
    if crew_id:
        _get(CREWS, crew_id, "crew")
    if odometer_km is not None and odometer_km < vehicle["odometer_km"]:
        raise ToolError("odometer cannot go backwards")
    changed = {k: v for k, v in (("status", status), ("fuel_pct", fuel_pct), ("odometer_km", odometer_km), ("crew_id", crew_id)) if v is not None}
    if not changed:
        raise ToolError("nothing to change")
    vehicle.update(changed)
    return {"unit": unit, "changed": changed}


if __name__ == "__main__":
    server.run()
