from typing import Literal, Optional
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("freight-yard")
Status = Literal["empty", "loaded", "reserved", "repair"]
Kind = Literal["hopper", "tank", "flat", "box", "container"]

WAGONS = {r[0]: dict(zip(("wagon_no", "type", "tare_t", "max_load_t", "status", "siding", "load_id", "train_no", "next_inspection"), r)) for r in [
    ("FR-101", "hopper", 22.5, 66, "loaded", "S1", 7001, 4410, "2025-09-12"),
    ("FR-102", "hopper", 22.5, 66, "loaded", "S1", 7002, 4410, "2025-11-03"),
    ("FR-104", "hopper", 23.1, 65, "empty", "S2", None, None, "2025-06-30"),
    ("FR-107", "tank", 24.8, 63, "loaded", "S4", 7003, 4415, "2026-01-15"),
    ("FR-108", "tank", 24.8, 63, "repair", "S6", None, None, "2025-05-28"),
    ("FR-111", "tank", 25.2, 62, "loaded", "S4", 7004, 4415, "2025-08-19"),
    ("FR-115", "flat", 20.4, 69, "loaded", "S3", 7005, 4422, "2025-10-07"),
    ("FR-118", "flat", 20.4, 69, "empty", "S3", None, None, "2025-12-01"),
    ("FR-119", "flat", 20.9, 68, "loaded", "S3", 7006, 4422, "2026-02-10"),
    ("FR-123", "flat", 20.4, 69, "reserved", "S2", None, 4430, "2025-07-22"),
    ("FR-126", "box", 26.0, 54, "loaded", "S1", 7007, 4418, "2025-09-30"),
    ("FR-127", "box", 26.0, 54, "empty", "S5", None, None, "2026-03-05"),
    ("FR-130", "box", 26.3, 53, "repair", "S6", None, None, "2025-06-11"),
    ("FR-134", "box", 26.0, 54, "loaded", "S5", 7008, 4418, "2025-08-02"),
    ("FR-140", "container", 19.7, 70, "loaded", "S5", 7009, 4427, "2025-12-18"),
    ("FR-141", "container", 19.7, 70, "loaded", "S5", 7010, 4427, "2026-01-29"),
    ("FR-145", "container", 19.9, 70, "empty", "S2", None, None, "2025-11-20"),
    ("FR-149", "container", 19.7, 70, "loaded", "S4", 7011, None, "2025-10-25"),
    ("FR-152", "hopper", 22.5, 66, "loaded", "S1", 7012, None, "2025-07-04"),
    ("FR-155", "flat", 21.0, 68, "loaded", "S3", 7013, 4430, "2026-02-26"),
]}
LOADS = {r[0]: dict(zip(("load_id", "commodity", "weight_t", "consignor_id", "destination", "hazardous", "charge_eur", "deliver_by"), r)) for r in [
    (7001, "gravel", 58.4, "brannock-quarry", "Ostby", False, "1240.00", "2025-05-21"),
    (7002, "gravel", 61.0, "brannock-quarry", "Ostby", False, "1295.00", "2025-05-21"),
    (7003, "diesel", 52.7, "norda-fuels", "Kestrel Port", True, "2380.00", "2025-05-20"),
    (7004, "bitumen", 49.3, "norda-fuels", "Kestrel Port", True, "2115.00", "2025-05-22"),
    (7005, "steel coils", 63.8, "tilden-steel", "Varhaven", False, "1870.00", "2025-05-23"),
    (7006, "spruce logs", 47.5, "halden-timber", "Varhaven", False, "1105.00", "2025-05-24"),
    (7007, "malt", 38.2, "okell-maltings", "Lindow", False, "980.50", "2025-05-22"),
    (7008, "paper reels", 41.6, "suvanto-paper", "Lindow", False, "1322.00", "2025-05-23"),
    (7009, "white goods", 18.9, "corvo-logistics", "Kestrel Port", False, "1460.00", "2025-05-25"),
    (7010, "coffee", 22.4, "corvo-logistics", "Kestrel Port", False, "1515.00", "2025-05-25"),
    (7011, "batteries", 27.3, "corvo-logistics", "Varhaven", True, "2240.00", "2025-05-27"),
    (7012, "road salt", 60.2, "brannock-quarry", "Lindow", False, "1180.00", "2025-05-29"),
    (7013, "sawn timber", 44.0, "halden-timber", "Ostby", False, "1065.00", "2025-05-26"),
]}
TRAINS = {r[0]: dict(zip(("train_no", "destination", "departs", "locomotive", "driver", "siding", "status"), r)) for r in [
    (4410, "Ostby", "2025-05-20 05:40", "D217", "Ines Vold", "S1", "made up"),
    (4415, "Kestrel Port", "2025-05-20 11:15", "D204", "Rolf Adeyi", "S4", "scheduled"),
    (4418, "Lindow", "2025-05-21 06:25", "E331", "Mara Tielens", "S5", "scheduled"),
    (4422, "Varhaven", "2025-05-21 14:50", "E338", "Pavel Kuusk", "S3", "delayed"),
    (4427, "Kestrel Port", "2025-05-22 04:55", "E340", "Joan Brandt", "S5", "scheduled"),
    (4430, "Ostby", "2025-05-23 09:30", "D211", "Ines Vold", "S2", "scheduled"),
    (4433, "Marren", "2025-05-24 13:05", "D204", "Rolf Adeyi", "S4", "scheduled"),
    (4436, "Varhaven", "2025-05-26 07:45", "E338", "Tomas Eklo", "S3", "cancelled"),
]}
CONSIGNORS = [dict(zip(("consignor_id", "name", "contact", "phone", "email", "payment_days", "account_no"), r)) for r in [
    ("brannock-quarry", "Brannock Quarry", "Lotte Brannock", "555-0141", "yard@brannock.example", 30, "20-118"),
    ("norda-fuels", "Norda Fuels", "Emil Sachs", "555-0142", "dispatch@norda.example", 14, "20-131"),
    ("tilden-steel", "Tilden Steel", "Grace Obi", "555-0143", "shipping@tilden.example", 45, "20-140"),
    ("halden-timber", "Halden Timber", "Arvid Moen", "555-0144", "office@halden.example", 30, "20-152"),
    ("okell-maltings", "Okell Maltings", "Nessa Quayle", "555-0145", "malt@okell.example", 21, "20-167"),
    ("suvanto-paper", "Suvanto Paper", "Kirsi Laine", "555-0146", "freight@suvanto.example", 60, "20-173"),
    ("corvo-logistics", "Corvo Logistics", "Dario Fenn", "555-0147", "desk@corvo.example", 14, "20-188"),
]]
SIDINGS = {r[0]: dict(zip(("siding", "name", "length_m", "electrified", "shunter", "radio_channel", "capacity_wagons"), r)) for r in [
    ("S1", "North Road", 420, False, "Bea Hollis", 3, 24),
    ("S2", "Reception", 380, True, "Owen Strand", 4, 22),
    ("S3", "Timber Loop", 310, True, "Bea Hollis", 5, 18),
    ("S4", "Tank Spur", 260, False, "Nadia Perk", 7, 14),
    ("S5", "Container Pad", 450, True, "Owen Strand", 8, 26),
    ("S6", "Works Pit", 90, False, "Gil Amaro", 11, 5),
]}


def _get(table, key, what):
    if key not in table:
        raise ToolError(f"{what} {key} not found")
    return table[key]


@server.tool()
def get_wagon(wagon_no: str) -> dict:
    """One wagon by its number, e.g. FR-101: type, weights, status, siding, load and train."""
    return _get(WAGONS, wagon_no, "Wagon")


@server.tool()
def list_wagons(status: Optional[Status] = None, type: Optional[Kind] = None, siding: Optional[str] = None) -> list[dict]:
    """Wagons in the yard. At least one filter is needed."""
    if not (status or type or siding):
        raise ToolError("Give at least one of status, type, siding")
    return [{k: w[k] for k in ("wagon_no", "type", "status", "siding")} for w in WAGONS.values()
            if (not status or w["status"] == status) and (not type or w["type"] == type) and (not siding or w["siding"] == siding)]


@server.tool()
def get_load(load_id: int) -> dict:
    """Waybill of a load: commodity, tonnes, consignor, charge."""
    return _get(LOADS, load_id, "Load")


@server.tool()
def list_trains(destination: Optional[str] = None, date: Optional[str] = None) -> list[dict]:
    """Outgoing trains, optionally of one destination and/or one day (YYYY-MM-DD)."""
    return [{k: t[k] for k in ("train_no", "destination", "departs", "status")} for t in TRAINS.values()
            if (not destination or t["destination"].lower() == destination.lower()) and (not date or t["departs"].startswith(date))]


@server.tool()
def get_train(train_no: int) -> dict:
    """One outgoing train with locomotive, driver, departure siding."""
    return _get(TRAINS, train_no, "Train")


@server.tool()
def find_consignor(query: str) -> list[dict]:
    """Find consignors (customers) by id or by part of the name."""
    q = query.lower()
    return [c for c in CONSIGNORS if q == c["consignor_id"] or q in c["name"].lower()]


@server.tool()
def get_siding(siding: str) -> dict:
    """A siding of the yard by its code, S1 to S6."""
    return _get(SIDINGS, siding, "Siding")


@server.tool()
def update_wagon(wagon_no: str, status: Optional[Status] = None, siding: Optional[str] = None, train_no: Optional[int] = None) -> dict:
    """Change a wagon: set its status, move it to a siding, or couple it to a train. Only the given fields change."""
    w = _get(WAGONS, wagon_no, "Wagon")
    changed = {}
    if siding is not None:
        _get(SIDINGS, siding, "Siding"); changed["siding"] = siding
    if train_no is not None:
        _get(TRAINS, train_no, "Train"); changed["train_no"] = train_no
    if status is not None:
        changed["status"] = status
        if status == "empty":
            changed["load_id"] = None
    if not changed:
        raise ToolError("Nothing to change")
    w.update(changed)
    return {"wagon_no": wagon_no, "changed": changed}


@server.tool()
def reschedule_train(train_no: int, departs: str) -> dict:
    """Set a new departure, 'YYYY-MM-DD HH:MM'."""
    t = _get(TRAINS, train_no, "Train")
    if len(departs) != 16:
        raise ToolError("departs must look like 2025-05-20 05:40")
    old, t["departs"] = t["departs"], departs
    return {"train_no": train_no, "old_departs": old, "departs": departs}


if __name__ == "__main__":
    server.run()
