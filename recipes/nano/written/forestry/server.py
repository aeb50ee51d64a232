from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("forestry")

Species = Literal["spruce", "pine", "beech", "oak", "douglas_fir", "larch", "alder", "birch"]
LotStatus = Literal["standing", "felled", "at_roadside", "sold", "hauled"]

STANDS = {}
for sid, name, district, species, ha, age, stock, slope, thinned, access, ranger, contract in [
    ("ST01", "Kettle Hill", "north", "spruce", 14.2, 82, 415, 12, 2016, "truck road", "Imke Tholen", "FC-11"),
    ("ST02", "Alder Bottom", "east", "alder", 5.6, 45, 190, 2, 2019, "tractor track", "Per Sandgren", None),
    ("ST03", "Long Ride", "north", "pine", 22.8, 96, 310, 5, 2011, "truck road", "Imke Tholen", "FC-12"),
    ("ST04", "Badger Bank", "west", "beech", 9.4, 118, 380, 28, 2014, "none", "Della Quist", "FC-13"),
    ("ST05", "Mill Slope", "south", "spruce", 7.9, 41, 240, 31, 2021, "tractor track", "Rolf Amsel", "FC-14"),
    ("ST06", "Gallows Oak", "east", "oak", 11.3, 164, 345, 8, 2009, "truck road", "Per Sandgren", "FC-15"),
    ("ST07", "Foxholes", "south", "pine", 16.5, 58, 225, 6, 2020, "truck road", "Rolf Amsel", None),
    ("ST08", "Upper Combe", "west", "douglas_fir", 12.7, 67, 455, 24, 2018, "truck road", "Della Quist", "FC-16"),
    ("ST09", "Lower Combe", "west", "douglas_fir", 8.1, 35, 265, 19, None, "tractor track", "Della Quist", "FC-19"),
    ("ST10", "Charcoal Flat", "north", "beech", 18.6, 131, 360, 9, 2012, "truck road", "Jory Pender", "FC-17"),
    ("ST11", "Heron Marsh", "east", "birch", 6.3, 52, 160, 1, None, "none", "Per Sandgren", None),
    ("ST12", "Quarry Edge", "south", "larch", 10.0, 73, 335, 22, 2017, "truck road", "Rolf Amsel", "FC-18"),
]:
    STANDS[sid] = {"stand_id": sid, "name": name, "district": district, "main_species": species,
        "area": {"value": ha, "unit": "ha"}, "age_years": age, "growing_stock": {"value": stock, "unit": "m3/ha"},
        "slope_percent": slope, "last_thinned": thinned, "access": access, "ranger": ranger, "contract_no": contract}

LOTS = {}
for lid, sid, species, assortment, volume, price, status, contract, landing, buyer in [
    ("L-101", "ST01", "spruce", "sawlog", 240.5, 92, "at_roadside", "FC-11", "Kettle gate", None),
    ("L-102", "ST01", "spruce", "pulpwood", 88.0, 38.5, "at_roadside", "FC-11", "Kettle gate", None),
    ("L-103", "ST03", "pine", "sawlog", 312.0, 74, "standing", "FC-12", "Long Ride turn", None),
    ("L-104", "ST03", "pine", "pallet", 120.4, 51, "standing", "FC-12", "Long Ride turn", None),
    ("L-105", "ST04", "beech", "firewood", 65.2, 62, "felled", "FC-13", "Bank top", None),
    ("L-106", "ST04", "beech", "veneer", 14.8, 185, "felled", "FC-13", "Bank top", None),
    ("L-107", "ST05", "spruce", "pulpwood", 134.0, 37, "hauled", "FC-14", "Mill yard", "Palmroth Paper"),
    ("L-108", "ST06", "oak", "veneer", 9.6, 740, "sold", "FC-15", "Oak lay-by", "Vesterby Veneers"),
    ("L-109", "ST06", "oak", "sawlog", 41.3, 260, "at_roadside", "FC-15", "Oak lay-by", None),
    ("L-110", "ST07", "pine", "pallet", 178.9, 49.5, "standing", None, "Foxholes cross", None),
    ("L-111", "ST08", "douglas_fir", "sawlog", 405.0, 118, "felled", "FC-16", "Combe bend", None),
    ("L-112", "ST08", "douglas_fir", "pulpwood", 96.7, 40, "felled", "FC-16", "Combe bend", None),
    ("L-113", "ST10", "beech", "sawlog", 150.0, 98, "standing", "FC-17", "Charcoal ring", None),
    ("L-114", "ST10", "beech", "firewood", 210.5, 60, "standing", "FC-17", "Charcoal ring", None),
    ("L-115", "ST12", "larch", "sawlog", 187.2, 109, "sold", "FC-18", "Quarry ramp", "Ostermann Sawmill"),
    ("L-116", "ST12", "larch", "pallet", 73.5, 55, "hauled", "FC-18", "Quarry ramp", "Boxwell Pallets"),
    ("L-117", "ST02", "alder", "firewood", 48.0, 44, "standing", None, "Alder bridge", None),
    ("L-118", "ST11", "birch", "firewood", 39.4, 58, "standing", None, "Marsh track", None),
]:
    LOTS[lid] = {"lot_id": lid, "stand_id": sid, "species": species, "assortment": assortment,
        "volume": {"value": volume, "unit": "m3"}, "price": {"amount": price, "currency": "EUR", "per": "m3"},
        "status": status, "contract_no": contract, "landing": landing, "buyer": buyer}

CONTRACTS = {}
for no, who, sid, machine, work, start, end, rate, status in [
    ("FC-11", "brandt-forst", "ST01", "HV-1", "final felling", "2025-01-13", "2025-02-28", 19.5, "active"),
    ("FC-12", "tamm-son", "ST03", "HV-2", "thinning", "2025-04-07", "2025-05-16", 23, "planned"),
    ("FC-13", "steilhang", "ST04", "CY-1", "final felling", "2025-02-03", "2025-03-21", 41, "active"),
    ("FC-14", "brandt-forst", "ST05", "HV-3", "thinning", "2024-10-14", "2024-11-22", 24.5, "completed"),
    ("FC-15", "lind-horses", "ST06", "SK-1", "selection cut", "2024-12-02", "2025-01-31", 36, "completed"),
    ("FC-16", "combe-timber", "ST08", "HV-4", "thinning", "2025-02-10", "2025-04-04", 22, "active"),
    ("FC-17", "tamm-son", "ST10", "FW-2", "selection cut", "2025-09-01", "2025-10-17", 33, "planned"),
    ("FC-18", "combe-timber", "ST12", "FW-1", "thinning", "2024-11-04", "2024-12-13", 21.5, "completed"),
    ("FC-19", "greenaxe", "ST09", None, "thinning", "2025-06-02", "2025-07-11", 26, "planned"),
]:
    CONTRACTS[no] = {"contract_no": no, "contractor": who, "stand_id": sid, "machine_id": machine, "work": work,
        "start": start, "end": end, "rate": {"amount": rate, "currency": "EUR", "per": "m3"}, "status": status}

CONTRACTORS = {s: {"slug": s, "company": c, "contact": p, "phone": t, "email": e, "crew_size": n, "base": b, "insured_until": i}
    for s, c, p, t, e, n, b, i in [
    ("brandt-forst", "Brandt Forst", "Uwe Brandt", "+49 555-0112", "uwe@brandtforst.example", 6, "Altenhain", "2025-12-31"),
    ("tamm-son", "Tamm & Son", "Kaia Tamm", "+372 555-0127", "office@tammson.example", 4, "Rapla Road", "2025-08-15"),
    ("steilhang", "Steilhang Cable Crew", "Veit Moser", "+43 555-0139", "moser@steilhang.example", 5, "Oberau", "2026-03-31"),
    ("lind-horses", "Lind Horse Logging", "Signe Lind", "+46 555-0143", "signe@lindhorses.example", 2, "Norrby", "2025-06-30"),
    ("combe-timber", "Combe Timber", "Gareth Pugh-Moss", "+44 555-0158", "yard@combetimber.example", 8, "Combe St Mary", "2025-11-30"),
    ("greenaxe", "Greenaxe", "Nadine Okoro", "+44 555-0164", "nadine@greenaxe.example", 3, "Thornley", "2026-01-31"),
]}

MACHINES = {}
for mid, kind, model, owner, at, tonnes, fuel, reach, hours, service, operator in [
    ("HV-1", "harvester", "Torvik H8", "brandt-forst", "ST01", 21.4, 14.5, 10.2, 6120, "2025-03-10", "Lutz Färber"),
    ("HV-2", "harvester", "Torvik H6", "tamm-son", "ST03", 17.8, 12.0, 9.5, 3480, "2025-05-02", "Madis Kuusk"),
    ("HV-3", "harvester", "Torvik H8", "brandt-forst", "ST07", 21.4, 15.1, 10.2, 8905, "2025-02-24", "Anke Dorn"),
    ("HV-4", "harvester", "Lumbra 220", "combe-timber", "ST08", 23.9, 16.8, 11.0, 2215, "2025-06-18", "Dilys Hopkin"),
    ("HV-5", "harvester", "Lumbra 160", "greenaxe", "ST02", 15.2, 10.4, 8.6, 980, "2025-07-01", "Femi Adeyo"),
    ("FW-1", "forwarder", "Carrow 12", "combe-timber", "ST12", 16.5, 9.8, 8.0, 4410, "2025-04-22", "Bryn Tully"),
    ("FW-2", "forwarder", "Carrow 14", "brandt-forst", "ST05", 18.1, 10.6, 8.5, 5230, "2025-03-28", "Lutz Färber"),
    ("SK-1", "skidder", "Drax 7", "lind-horses", "ST06", 9.7, 7.2, 6.0, 11040, "2025-02-17", "Signe Lind"),
    ("CY-1", "cable yarder", "Alpina K3", "steilhang", "ST04", 12.3, 8.9, 350, 2790, "2025-05-20", "Veit Moser"),
]:
    MACHINES[mid] = {"machine_id": mid, "type": kind, "model": model, "owner": owner, "parked_at_stand": at,
        "weight": {"value": tonnes, "unit": "t"}, "fuel_use": {"value": fuel, "unit": "l/h"}, "reach": {"value": reach, "unit": "m"},
        "engine_hours": hours, "next_service": service, "operator": operator}


def _get(table: dict, key: str, what: str) -> dict:
    if key not in table:
        raise ToolError(f"{what} '{key}' does not exist")
    return table[key]


@server.tool()
def get_stand(stand_id: str) -> dict:
    "Full record of a forest stand, by its id such as ST07: area, age, growing stock, slope, access, ranger and its current contract."
    return _get(STANDS, stand_id, "stand")


@server.tool()
def find_stands(name: str | None = None, species: Species | None = None, district: Literal["north", "east", "south", "west"] | None = None) -> list[dict]:
    "Find stands by (part of) the name, main species and/or district. Short rows only; use get_stand for the rest."
    return [{"stand_id": s["stand_id"], "name": s["name"], "species": s["main_species"], "age_years": s["age_years"], "area_ha": s["area"]["value"]}
            for s in STANDS.values() if (not name or name.lower() in s["name"].lower())
            and (not species or s["main_species"] == species) and (not district or s["district"] == district)]


@server.tool()
def get_lot(lot_id: str) -> dict:
    "One timber lot (e.g. L-104): species, assortment, volume, price, status, landing, buyer, the stand it comes from and its felling contract."
    return _get(LOTS, lot_id, "lot")


@server.tool()
def list_lots(status: LotStatus | None = None, species: Species | None = None,
              assortment: Literal["sawlog", "pulpwood", "pallet", "firewood", "veneer"] | None = None) -> list[dict]:
    "List timber lots. At least one filter is required."
    if not (status or species or assortment):
        raise ToolError("give at least one of status, species, assortment")
    return [{"lot_id": l["lot_id"], "species": l["species"], "assortment": l["assortment"], "volume_m3": l["volume"]["value"], "status": l["status"]}
            for l in LOTS.values() if (not status or l["status"] == status) and (not species or l["species"] == species)
            and (not assortment or l["assortment"] == assortment)]


@server.tool()
def get_contract(contract_no: str) -> dict:
    "Felling contract by number (FC-nn): contractor, machine, stand, dates, rate per m3, status."
    return _get(CONTRACTS, contract_no, "contract")


@server.tool()
def get_contractor(contractor: str) -> dict:
    "Contact card of a contractor. Takes the slug (combe-timber) or the company name."
    for c in CONTRACTORS.values():
        if contractor.lower() in (c["slug"], c["company"].lower()):
            return c
    raise ToolError(f"contractor '{contractor}' does not exist")


@server.tool()
def get_machine(machine_id: str) -> dict:
    "Machine data by id, e.g. HV-2: model, owner, where it is parked, weight, fuel use, hours, next service, operator."
    return _get(MACHINES, machine_id, "machine")


@server.tool()
def update_lot(lot_id: str, status: LotStatus | None = None, volume_m3: float | None = None,
               price_eur_per_m3: float | None = None, buyer: str | None = None) -> dict:
    "Change a lot's status, measured volume, price or buyer. Only the given fields change."
    lot = _get(LOTS, lot_id, "lot")
    changed = {"lot_id": lot_id}
    if status: lot["status"] = changed["status"] = status
    if volume_m3 is not None: lot["volume"]["value"] = volume_m3; changed["volume"] = lot["volume"]
    if price_eur_per_m3 is not None: lot["price"]["amount"] = price_eur_per_m3; changed["price"] = lot["price"]
    if buyer: lot["buyer"] = changed["buyer"] = buyer
    if len(changed) == 1: raise ToolError("nothing to change")
    return changed


@server.tool()
def update_contract(contract_no: str, status: Literal["planned", "active", "paused", "completed", "cancelled"] | None = None,
                    start: str | None = None, end: str | None = None, machine_id: str | None = None) -> dict:
    "Change status, start, end (YYYY-MM-DD) or machine of a felling contract. Only the given fields change."
    contract = _get(CONTRACTS, contract_no, "contract")
    if machine_id: _get(MACHINES, machine_id, "machine")
    changed = {k: v for k, v in (("status", status), ("start", start), ("end", end), ("machine_id", machine_id)) if v}
    if not changed: raise ToolError("nothing to change")
    contract.update(changed)
    return {"contract_no": contract_no, **changed}


if __name__ == "__main__":
    server.run()
