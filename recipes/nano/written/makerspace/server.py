import json
from typing import Literal, Optional

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("makerspace")

# slug: name, room, state, hourly fee, keeper, usual material, note
MACHINES = {
    "laser-big": ["Trotec laser cutter", "Light room", "ok", 9.0, "M-011", "ply-4", "max 1300 x 900 mm"],
    "laser-small": ["K40 laser", "Light room", "broken", 4.0, "M-011", "acr-3", "mirror 2 cracked"],
    "lathe-metal": ["Myford lathe", "Metal bay", "ok", 6.0, "M-004", "alu-rod", "no cast iron"],
    "lathe-wood": ["Record wood lathe", "Wood shop", "ok", 3.0, "M-019", "ash-blk", "chuck key on the hook"],
    "mill": ["Bridgeport mill", "Metal bay", "service", 8.0, "M-004", "alu-bar", "spindle bearings on order"],
    "tablesaw": ["SawStop table saw", "Wood shop", "ok", 5.0, "M-023", "ply-12", "spare cartridge in drawer 4"],
    "bandsaw": ["Startrite bandsaw", "Wood shop", "ok", 3.0, "M-023", "ash-blk", "new blade 14 Feb"],
    "prusa-1": ["Prusa MK4 left", "Print corner", "ok", 1.5, "M-031", "pla-blk", "0.4 nozzle"],
    "prusa-2": ["Prusa MK4 right", "Print corner", "ok", 1.5, "M-031", "petg-clr", "0.6 nozzle"],
    "resin": ["Formlabs resin printer", "Print corner", "service", 5.0, "M-027", "res-gry", "tank being replaced"],
    "sewing": ["Juki sewing machine", "Textile loft", "ok", 2.0, "M-038", "canvas", "needle size 16"],
    "overlock": ["Bernina overlocker", "Textile loft", "ok", 2.0, "M-038", "canvas", "four threads"],
    "kiln": ["Rohde kiln", "Yard shed", "ok", 7.5, "M-019", "stone-clay", "max 1280 C"],
    "welder": ["MIG welder", "Metal bay", "ok", 6.5, "M-015", "mig-wire", "gas bottle half full"],
}

# code: name, unit, stock, price per unit, rack, supplier, reorder level
MATERIALS = {
    "ply-4": ["Birch plywood 4 mm", "sheets", 22, 11.50, "A1", "Holz Maier", 10],
    "ply-12": ["Birch plywood 12 mm", "sheets", 6, 27.00, "A2", "Holz Maier", 8],
    "acr-3": ["Clear acrylic 3 mm", "sheets", 9, 18.20, "A4", "Plexiwelt", 5],
    "alu-rod": ["Aluminium rod 20 mm", "metres", 14, 8.40, "C1", "Metallhof", 6],
    "alu-bar": ["Aluminium flat bar 40 x 10", "metres", 3, 12.90, "C2", "Metallhof", 5],
    "ash-blk": ["Ash blanks", "pieces", 31, 4.75, "B3", "Sawmill Reuter", 12],
    "pla-blk": ["Black PLA", "spools", 7, 19.90, "D1", "Filamento", 4],
    "petg-clr": ["Clear PETG", "spools", 2, 23.50, "D1", "Filamento", 3],
    "res-gry": ["Grey resin", "litres", 4, 64.00, "D5", "Filamento", 2],
    "canvas": ["Cotton canvas", "metres", 38, 7.30, "E2", "Stoffkontor", 15],
    "stone-clay": ["Stoneware clay", "bags", 11, 14.60, "F1", "Tonhaus", 6],
    "mig-wire": ["MIG wire 0.8 mm", "spools", 5, 32.00, "C5", "Metallhof", 3],
}

MEMBERS = {m["number"]: m for m in [
    {"number": "M-004", "name": "Ingrid Vos", "email": "ingrid@voswerk.example", "phone": "555-0104", "plan": "full", "joined": "2017-05-02", "locker": 3, "mentor": None, "inductions": ["lathe-metal", "mill", "welder"]},
    {"number": "M-011", "name": "Dev Chandra", "email": "dev.c@lumen.example", "phone": "555-0111", "plan": "full", "joined": "2018-09-14", "locker": 12, "mentor": "M-004", "inductions": ["laser-big", "laser-small", "prusa-1"]},
    {"number": "M-015", "name": "Marek Dusek", "email": "marek@sparks.example", "phone": "555-0115", "plan": "evening", "joined": "2019-01-21", "locker": 7, "mentor": "M-004", "inductions": ["welder", "lathe-metal"]},
    {"number": "M-019", "name": "Fiona Tully", "email": "fiona@tullypots.example", "phone": "555-0119", "plan": "full", "joined": "2019-11-08", "locker": 21, "mentor": "M-011", "inductions": ["kiln", "lathe-wood", "bandsaw"]},
    {"number": "M-023", "name": "Abel Tesfaye-Lund", "email": "abel@joinery.example", "phone": "555-0123", "plan": "full", "joined": "2020-06-30", "locker": 9, "mentor": "M-019", "inductions": ["tablesaw", "bandsaw", "lathe-wood"]},
    {"number": "M-027", "name": "Noor Bakker", "email": "noor@tinyparts.example", "phone": "555-0127", "plan": "evening", "joined": "2021-03-17", "locker": None, "mentor": "M-031", "inductions": ["resin", "prusa-1", "prusa-2"]},
    {"number": "M-031", "name": "Gus Ferrante", "email": "gus@layers.example", "phone": "555-0131", "plan": "full", "joined": "2021-10-05", "locker": 16, "mentor": "M-011", "inductions": ["prusa-1", "prusa-2", "laser-big"]},
    {"number": "M-038", "name": "Salome Hirsch", "email": "salome@hemline.example", "phone": "555-0138", "plan": "full", "joined": "2022-08-22", "locker": 18, "mentor": "M-019", "inductions": ["sewing", "overlock"]},
    {"number": "M-044", "name": "Timo Aalto", "email": "timo@aalto.example", "phone": "555-0144", "plan": "weekend", "joined": "2024-02-10", "locker": None, "mentor": "M-023", "inductions": ["bandsaw"]},
    {"number": "M-046", "name": "Petra Nowak", "email": "petra.n@mailbox.example", "phone": "555-0146", "plan": "evening", "joined": "2024-04-19", "locker": 5, "mentor": "M-038", "inductions": ["sewing", "laser-big"]},
    {"number": "M-050", "name": "Jamal Osei", "email": "jamal@oseibikes.example", "phone": "555-0150", "plan": "full", "joined": "2024-09-01", "locker": 24, "mentor": "M-015", "inductions": ["welder"]},
    {"number": "M-053", "name": "Lotte Brandt", "email": "lotte@brandt.example", "phone": "555-0153", "plan": "weekend", "joined": "2025-01-25", "locker": None, "mentor": "M-027", "inductions": ["prusa-1"]},
    {"number": "M-057", "name": "Hugo Quist", "email": "hugo@quist.example", "phone": "555-0157", "plan": "evening", "joined": "2025-07-12", "locker": 2, "mentor": "M-023", "inductions": []},
]}

BOOKINGS = {}
for _row in [
    ("b701", "laser-big", "M-046", "2026-04-07", "10:00", 2), ("b702", "tablesaw", "M-023", "2026-04-07", "09:00", 3),
    ("b703", "prusa-1", "M-053", "2026-04-07", "13:00", 6), ("b704", "welder", "M-050", "2026-04-07", "18:00", 2),
    ("b705", "laser-big", "M-031", "2026-04-08", "14:00", 3), ("b706", "kiln", "M-019", "2026-04-08", "08:00", 10),
    ("b707", "bandsaw", "M-044", "2026-04-08", "16:00", 1), ("b708", "lathe-metal", "M-015", "2026-04-08", "19:00", 2),
    ("b709", "sewing", "M-046", "2026-04-09", "18:30", 2), ("b710", "prusa-2", "M-027", "2026-04-09", "17:00", 4),
    ("b711", "laser-big", "M-011", "2026-04-09", "09:00", 1), ("b712", "welder", "M-015", "2026-04-10", "18:00", 3),
    ("b713", "tablesaw", "M-023", "2026-04-10", "10:00", 2), ("b714", "overlock", "M-038", "2026-04-10", "11:00", 4),
    ("b715", "prusa-1", "M-031", "2026-04-11", "09:00", 8), ("b716", "lathe-wood", "M-019", "2026-04-11", "12:00", 2),
    ("b717", "bandsaw", "M-044", "2026-04-11", "10:00", 2),
]:
    BOOKINGS[_row[0]] = dict(zip(["ref", "machine", "member", "day", "start", "hours"], _row))


def _machine(slug: str) -> list:
    if slug not in MACHINES:
        raise ToolError(f"unknown machine '{slug}' (see listMachines)")
    return MACHINES[slug]


@server.tool()
def machineInfo(machine: str) -> str:
    "Sheet of a machine, by its slug, e.g. laser-big."
    name, room, state, fee, keeper, material, note = _machine(machine)
    return f"machine: {machine}\nname: {name}\nroom: {room}\nstate: {state}\nfee: {fee:.2f} EUR/h\nkeeper: {keeper}\nusual material: {material}\nnote: {note}"


@server.tool()
def listMachines(room: Optional[str] = None, state: Optional[Literal["ok", "service", "broken"]] = None) -> str:
    "One line per machine: slug - name - room - state. Rooms: Light room, Metal bay, Wood shop, Print corner, Textile loft, Yard shed."
    rows = [f"{s} - {m[0]} - {m[1]} - {m[2]}" for s, m in MACHINES.items()
            if (not room or m[1].lower() == room.lower()) and (not state or m[2] == state)]
    return "\n".join(rows) or "no machines"


@server.tool()
def member(who: str) -> dict:
    "A member's card, found by member number (M-004) or by name or part of the name."
    hits = [m for m in MEMBERS.values() if who.upper() == m["number"] or who.lower() in m["name"].lower()]
    if not hits:
        raise ToolError(f"no member matches '{who}'")
    if len(hits) > 1:
        raise ToolError("several members match: " + ", ".join(f"{m['number']} {m['name']}" for m in hits))
    return hits[0]


@server.tool()
def material(code: Optional[str] = None, supplier: Optional[str] = None) -> str:
    "Stock sheet of a material by code; without a code a short list (code, name, stock), of one supplier if given."
    if code:
        if code not in MATERIALS:
            return f"No material has the code {code}."
        name, unit, stock, price, rack, sup, reorder = MATERIALS[code]
        return f"{code}: {name}\nin stock: {stock} {unit}\nprice: {price:.2f} EUR per unit\nrack: {rack}\nsupplier: {sup}\nreorder below: {reorder}"
    rows = [f"{c}: {m[0]}, {m[2]} {m[1]}" for c, m in MATERIALS.items() if not supplier or supplier.lower() in m[5].lower()]
    return "\n".join(rows) or "No materials found."


@server.tool()
def bookings(ref: Optional[str] = None, day: Optional[str] = None, machine: Optional[str] = None, member: Optional[str] = None) -> str:
    "Bookings as JSON. Filter by reference (b701), day (YYYY-MM-DD), machine slug or member number."
    rows = [b for b in BOOKINGS.values() if (not ref or b["ref"] == ref) and (not day or b["day"] == day)
            and (not machine or b["machine"] == machine) and (not member or b["member"] == member)]
    return json.dumps(rows[:10]) if rows else "no bookings"


@server.tool()
def cancelBooking(ref: str) -> str:
    "Cancel a booking."
    if ref not in BOOKINGS:
        return f"There is no booking {ref}."
    b = BOOKINGS.pop(ref)
    return f"Booking {ref} cancelled: {b['machine']} on {b['day']} at {b['start']} for {b['member']}."


@server.tool()
def setMachineState(machine: str, state: Literal["ok", "service", "broken"], note: Optional[str] = None) -> str:
    "Put a machine in or out of use. note replaces the note on its sheet (optional)."
    m = _machine(machine)
    old, m[2] = m[2], state
    if note:
        m[6] = note
    return f"{machine}: {old} -> {state}" + (f" (note: {note})" if note else "")


@server.tool()
def setStock(code: str, quantity: int) -> str:
    "Set the counted stock of a material to a new total."
    if code not in MATERIALS:
        return f"No material has the code {code}."
    if quantity < 0:
        raise ToolError("quantity must not be negative")
    m = MATERIALS[code]
    old, m[2] = m[2], quantity
    return f"{code} stock set to {quantity} {m[1]} (was {old})"


@server.tool()
def logInduction(member_number: str, machine: str) -> dict:
    "Record that a member has passed the induction for a machine."
    _machine(machine)
    m = MEMBERS.get(member_number)
    if not m:
        raise ToolError(f"no member {member_number}")
    if machine in m["inductions"]:
        raise ToolError(f"{member_number} is already inducted on {machine}")
    m["inductions"].append(machine)
    return {"number": member_number, "name": m["name"], "inductions": m["inductions"]}


if __name__ == "__main__":
    server.run()
