from typing import Literal, Optional

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("front-desk")

_R = ["number", "type", "floor", "rate_eur", "view", "balcony", "housekeeping", "attendant", "note"]
ROOMS = {row[0]: dict(zip(_R, row)) for row in [
    (101, "single", 1, 79.0, "courtyard", False, "clean", "Marta", None),
    (102, "single", 1, 79.0, "courtyard", False, "dirty", "Marta", None),
    (103, "double", 1, 112.0, "street", False, "inspected", "Marta", None),
    (104, "twin", 1, 108.0, "street", False, "dirty", "Marta", None),
    (105, "double", 1, 112.0, "garden", True, "clean", "Joel", None),
    (106, "family", 1, 164.0, "garden", True, "out_of_order", None, "shower leaking, plumber called"),
    (201, "single", 2, 85.0, "courtyard", False, "clean", "Joel", None),
    (202, "double", 2, 119.0, "street", False, "dirty", "Joel", None),
    (203, "double", 2, 124.0, "garden", True, "inspected", "Joel", None),
    (204, "twin", 2, 115.0, "street", False, "dirty", "Ines", None),
    (205, "family", 2, 172.0, "garden", True, "clean", "Ines", "cot is in the wardrobe"),
    (206, "suite", 2, 238.0, "sea", True, "dirty", "Ines", None),
    (301, "single", 3, 89.0, "courtyard", False, "inspected", None, None),
    (302, "double", 3, 135.0, "sea", True, "dirty", None, None),
    (303, "double", 3, 138.0, "sea", True, "clean", "Ines", None),
    (304, "twin", 3, 121.0, "street", False, "dirty", None, "second key card missing"),
    (305, "suite", 3, 259.0, "sea", True, "inspected", "Joel", "minibar key at reception"),
    (306, "suite", 3, 245.0, "sea", True, "out_of_order", None, "air conditioning being replaced until 2026-06-20"),
]}

_V = ["code", "guest", "room", "arrival", "departure", "adults", "children", "breakfast", "balance_eur", "phone", "special_request", "status"]
RES = {row[0]: dict(zip(_V, row)) for row in [
    ("R-3092", "Nadia Petrov", 103, "2026-06-08", "2026-06-12", 2, 0, True, 0.0, "+359 88 412 0073", None, "checked_out"),
    ("R-3095", "Graham Tull", 305, "2026-06-06", "2026-06-11", 2, 0, True, 37.8, "+44 7700 900412", None, "checked_out"),
    ("R-3098", "Sofia Marchetti", 201, "2026-06-09", "2026-06-13", 1, 0, False, 0.0, "+39 347 555 0192", None, "checked_out"),
    ("R-3101", "Henrik Solberg", 102, "2026-06-11", "2026-06-15", 1, 0, True, 94.5, "+47 912 44 018", "late check-out at 13:00", "in_house"),
    ("R-3104", "Amara Okafor", 104, "2026-06-12", "2026-06-16", 2, 0, False, 432.0, "+234 803 555 0147", None, "in_house"),
    ("R-3106", "Yuki Tanabe", 202, "2026-06-13", "2026-06-15", 2, 0, True, 238.0, "+81 90 5550 1188", "feather-free pillows", "in_house"),
    ("R-3109", "Luca Ferrante", 204, "2026-06-10", "2026-06-14", 2, 0, True, 0.0, "+39 333 555 0168", None, "in_house"),
    ("R-3110", "Dorothea Klein", 206, "2026-06-12", "2026-06-19", 2, 1, True, 1190.0, "+49 171 555 0920", "nut allergy", "in_house"),
    ("R-3113", "Samuel Adeyemi", 302, "2026-06-13", "2026-06-17", 1, 0, False, 270.0, "+44 7700 900781", "quiet room", "in_house"),
    ("R-3115", "Grace Whitlock", 304, "2026-06-14", "2026-06-16", 2, 0, False, 121.0, "+44 7700 900236", None, "in_house"),
    ("R-3116", "Petra Novotna", 303, "2026-06-12", "2026-06-14", 2, 0, True, 61.2, "+420 601 555 083", "champagne on arrival", "in_house"),
    ("R-3118", "Ingrid Bauer", 105, "2026-06-14", "2026-06-18", 2, 0, True, 448.0, "+43 660 555 0711", "extra towels", "expected"),
    ("R-3119", "Tomás Rivera", 205, "2026-06-14", "2026-06-21", 2, 3, True, 1204.0, "+34 612 555 094", "cot for the baby", "expected"),
    ("R-3120", "Kofi Mensah", 205, "2026-06-14", "2026-06-16", 2, 2, False, 0.0, "+233 24 555 0136", None, "cancelled"),
    ("R-3121", "Mei Lin Zhao", 305, "2026-06-14", "2026-06-17", 2, 0, False, 777.0, "+65 8555 0129", "arrives around 23:30", "expected"),
    ("R-3122", "Oliver Bauer", 201, "2026-06-15", "2026-06-16", 1, 0, False, 85.0, "+49 160 555 0344", None, "expected"),
    ("R-3123", "Brigitte Arnaud", 306, "2026-06-13", "2026-06-15", 2, 0, True, 0.0, "+33 6 55 50 12 77", None, "cancelled"),
    ("R-3124", "Fatima Haddad", 203, "2026-06-15", "2026-06-20", 2, 0, True, 620.0, "+971 50 555 0186", "prayer mat", "expected"),
    ("R-3126", "Colin Prescott", 101, "2026-06-16", "2026-06-18", 1, 0, True, 158.0, "+44 7700 900655", None, "expected"),
    ("R-3128", "Elif Demir", 103, "2026-06-17", "2026-06-19", 2, 0, False, 224.0, "+90 532 555 0141", "vegan breakfast menu", "expected"),
    ("R-3129", "Jonas Lindqvist", 301, "2026-06-18", "2026-06-22", 1, 0, True, 356.0, "+46 70 555 0198", None, "expected"),
]}


def _room(number):
    if number not in ROOMS:
        raise ToolError(f"There is no room {number}.")
    return ROOMS[number]


def _res(code):
    if code not in RES:
        raise ToolError(f"Reservation {code} not found.")
    return RES[code]


@server.tool()
def get_room(number: int) -> dict:
    "Everything about one room: type, rate per night, view, housekeeping state, attendant, and the reservation of whoever is staying in it."
    room = dict(_room(number))
    room["current_reservation"] = next((r["code"] for r in RES.values() if r["room"] == number and r["status"] == "in_house"), None)
    return room


@server.tool()
def list_rooms(type: Optional[Literal["single", "double", "twin", "family", "suite"]] = None,
               housekeeping: Optional[Literal["dirty", "clean", "inspected", "out_of_order"]] = None,
               floor: Optional[int] = None) -> list[dict]:
    "List rooms. Give at least one filter."
    if type is None and housekeeping is None and floor is None:
        raise ToolError("Give at least one of type, housekeeping, floor.")
    return [{k: r[k] for k in ("number", "type", "rate_eur", "view", "housekeeping", "attendant")} for r in ROOMS.values()
            if type in (None, r["type"]) and housekeeping in (None, r["housekeeping"]) and floor in (None, r["floor"])]


@server.tool()
def search_guests(name: str) -> list[dict]:
    "Find reservations by a guest's name or a part of it."
    return [{k: r[k] for k in ("code", "guest", "room", "status")} for r in RES.values() if name.lower() in r["guest"].lower()]


@server.tool()
def get_reservation(code: str) -> dict:
    "One reservation by its code (like R-3101): guest, room, dates, party, breakfast, open balance, phone, special request, status."
    return _res(code)


@server.tool()
def list_reservations(status: Optional[Literal["expected", "in_house", "checked_out", "cancelled"]] = None,
                      arrival: Optional[str] = None, departure: Optional[str] = None) -> list[dict]:
    "Reservations by status, arrival date or departure date (YYYY-MM-DD). Needs at least one filter."
    if not (status or arrival or departure):
        raise ToolError("Give status, arrival or departure.")
    return [{k: r[k] for k in ("code", "guest", "room", "arrival", "departure", "balance_eur", "status")} for r in RES.values()
            if status in (None, r["status"]) and arrival in (None, r["arrival"]) and departure in (None, r["departure"])]


@server.tool()
def check_in(code: str) -> dict:
    "Check in an expected reservation."
    r = _res(code)
    if r["status"] != "expected":
        raise ToolError(f"{code} cannot be checked in: status is {r['status']}.")
    r["status"] = "in_house"
    return {"code": code, "guest": r["guest"], "room": r["room"], "status": "in_house"}


@server.tool()
def check_out(code: str) -> dict:
    "Check out a guest who is in house. The room becomes dirty."
    r = _res(code)
    if r["status"] != "in_house":
        raise ToolError(f"{code} cannot be checked out: status is {r['status']}.")
    r["status"] = "checked_out"
    ROOMS[r["room"]]["housekeeping"] = "dirty"
    return {"code": code, "guest": r["guest"], "room": r["room"], "status": "checked_out", "balance_due_eur": r["balance_eur"]}


@server.tool()
def update_housekeeping(room: int, status: Optional[Literal["dirty", "clean", "inspected", "out_of_order"]] = None,
                        attendant: Optional[str] = None) -> dict:
    "Change a room's housekeeping status and/or the attendant (first name) who does it."
    r = _room(room)
    if status:
        r["housekeeping"] = status
    if attendant:
        r["attendant"] = attendant
    return {"number": room, "housekeeping": r["housekeeping"], "attendant": r["attendant"]}


@server.tool()
def post_charge(code: str, item: str, amount_eur: float) -> dict:
    "Put a charge (minibar, parking, laundry ...) on a reservation's bill."
    r = _res(code)
    if r["status"] in ("checked_out", "cancelled"):
        raise ToolError(f"{code} is {r['status']}; no charges possible.")
    r["balance_eur"] = round(r["balance_eur"] + amount_eur, 2)
    return {"code": code, "guest": r["guest"], "item": item, "amount_eur": amount_eur, "new_balance_eur": r["balance_eur"]}


if __name__ == "__main__":
    server.run()
