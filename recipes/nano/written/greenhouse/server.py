from typing import Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("glasshouse-ops")
TODAY = "2026-05-18"

HOUSES = {
    "north": {"caretaker": "Ewa Lis", "area": "420 m2", "target temperature": "19 C", "humidity now": "64 %", "vents": "half", "shade screen": "off", "heating": "oil"},
    "palm": {"caretaker": "Joaquim Reis", "area": "260 m2", "target temperature": "26 C", "humidity now": "82 %", "vents": "closed", "shade screen": "on", "heating": "wood chips"},
    "nursery": {"caretaker": "Ewa Lis", "area": "95 m2", "target temperature": "22 C", "humidity now": "71 %", "vents": "closed", "shade screen": "off", "heating": "electric"},
    "south": {"caretaker": "Bill Amadi", "area": "510 m2", "target temperature": "18 C", "humidity now": "58 %", "vents": "open", "shade screen": "on", "heating": "oil"},
}
# bed: house, crop, variety, plants, planted, harvest, gardener, every (days), litres, soil moisture %
BEDS = {
    "N1": ["north", "tomato", "Roma", 48, "2026-03-09", "2026-06-20", "Sasha", 2, 60, 41],
    "N2": ["north", "tomato", "Black Krim", 36, "2026-03-12", "2026-07-01", "Sasha", 2, 50, 38],
    "N3": ["north", "cucumber", "Marketmore", 30, "2026-03-30", "2026-06-05", "Idris", 1, 45, 55],
    "N4": ["north", "pepper", "Corno Rosso", 52, "2026-03-16", "2026-07-10", "Idris", 3, 40, 33],
    "N5": ["north", "basil", "Genovese", 120, "2026-04-20", "2026-05-25", "Sasha", 1, 20, 47],
    "P1": ["palm", "banana", "Dwarf Cavendish", 6, "2023-05-02", "2026-09-15", "Tove", 2, 90, 62],
    "P2": ["palm", "ginger", "Common", 40, "2026-02-18", "2026-11-30", "Tove", 3, 35, 58],
    "P3": ["palm", "papaya", "Solo", 9, "2024-04-11", "2026-08-20", "Tove", 3, 70, 49],
    "P4": ["palm", "vanilla", "Bourbon", 14, "2022-10-05", "2026-12-10", "Marek", 4, 25, 66],
    "G1": ["nursery", "leek", "Musselburgh", 400, "2026-04-27", "2026-06-01", "Anouk", 1, 15, 52],
    "G2": ["nursery", "lettuce", "Little Gem", 350, "2026-05-04", "2026-05-28", "Anouk", 1, 15, 29],
    "G3": ["nursery", "kale", "Nero", 280, "2026-05-01", "2026-06-08", "Anouk", 2, 18, 44],
    "S1": ["south", "strawberry", "Gariguette", 210, "2025-09-01", "2026-05-22", "Marek", 2, 55, 36],
    "S2": ["south", "strawberry", "Mara des Bois", 190, "2025-09-03", "2026-06-02", "Marek", 2, 55, 40],
    "S3": ["south", "melon", "Charentais", 28, "2026-04-15", "2026-07-25", "Idris", 3, 65, 31],
    "S4": ["south", "aubergine", "Violetta", 44, "2026-04-02", "2026-07-15", "Idris", 3, 50, 27],
}
# sensor: kind, house, bed, reading, unit, battery %, last calibrated
SENSORS = {
    2201: ["air temperature", "north", "-", 20.3, "C", 81, "2026-01-15"],
    2202: ["humidity", "north", "-", 64, "%", 77, "2026-01-15"],
    2203: ["soil temperature", "north", "N1", 17.8, "C", 12, "2025-11-20"],
    2204: ["co2", "north", "-", 612, "ppm", 54, "2025-12-02"],
    2210: ["air temperature", "palm", "-", 27.1, "C", 90, "2026-02-01"],
    2211: ["humidity", "palm", "-", 82, "%", 43, "2026-02-01"],
    2212: ["soil temperature", "palm", "P1", 23.6, "C", 66, "2025-10-08"],
    2220: ["air temperature", "nursery", "-", 21.7, "C", 35, "2026-03-03"],
    2221: ["light", "nursery", "G2", 18400, "lux", 8, "2025-09-30"],
    2230: ["air temperature", "south", "-", 24.9, "C", 59, "2026-01-22"],
    2231: ["humidity", "south", "-", 58, "%", 71, "2026-01-22"],
    2232: ["soil temperature", "south", "S3", 19.2, "C", 95, "2026-04-14"],
}
LOG = [
    ["2026-05-15", "N1", 60, "Sasha"], ["2026-05-15", "S1", 55, "Marek"], ["2026-05-15", "P3", 70, "Tove"], ["2026-05-16", "N2", 50, "Sasha"],
    ["2026-05-16", "N3", 45, "Idris"], ["2026-05-16", "P1", 95, "Tove"], ["2026-05-16", "S4", 50, "Idris"], ["2026-05-16", "G3", 18, "Anouk"],
    ["2026-05-17", "N1", 62, "Idris"], ["2026-05-17", "N3", 45, "Idris"], ["2026-05-17", "G1", 15, "Anouk"], ["2026-05-17", "G2", 12, "Marek"],
    ["2026-05-17", "S1", 58, "Marek"], ["2026-05-17", "P4", 25, "Marek"], ["2026-05-18", "N5", 20, "Sasha"], ["2026-05-18", "G1", 15, "Anouk"],
    ["2026-05-18", "P2", 35, "Tove"],
]
House = Literal["north", "palm", "nursery", "south"]


def last_watered(bed: str) -> str:
    days = [d for d, b, *_ in LOG if b == bed]
    return max(days) if days else "not in the log"


@server.tool(name="bed-info")
def bed_info(bed: str) -> str:
    "Details of one bed, e.g. N3"
    if bed not in BEDS:
        return f"Unknown bed {bed}."
    house, crop, variety, plants, planted, harvest, gardener, every, litres, moisture = BEDS[bed]
    return (f"bed: {bed}\nhouse: {house}\ncrop: {crop}\nvariety: {variety}\nplants: {plants}\nplanted: {planted}\nexpected harvest: {harvest}\ngardener: {gardener}\n"
            f"watering: every {every} days, {litres} l\nsoil moisture: {moisture} %\nlast watered: {last_watered(bed)}")


@server.tool(name="find-beds")
def find_beds(crop: str | None = None, house: House | None = None, gardener: str | None = None) -> str:
    "Beds by crop, house and/or gardener. Columns: bed | house | crop | variety | plants | gardener | harvest | moisture"
    if not (crop or house or gardener):
        raise ToolError("Please filter by crop, house or gardener.")
    rows = [f"{k} | {b[0]} | {b[1]} | {b[2]} | {b[3]} | {b[6]} | {b[5]} | {b[9]} %" for k, b in BEDS.items()
            if (not crop or crop.lower() in b[1]) and (not house or b[0] == house) and (not gardener or gardener.lower() == b[6].lower())]
    return "\n".join(["bed | house | crop | variety | plants | gardener | harvest | moisture", *rows]) if rows else "No beds match."


@server.tool(name="house-status")
def house_status(house: House) -> str:
    "Climate settings and caretaker of a greenhouse"
    return f"house: {house}\n" + "\n".join(f"{k}: {v}" for k, v in HOUSES[house].items())


@server.tool(name="set-climate")
def set_climate(house: House, target_c: int | None = None, vents: Literal["open", "half", "closed"] | None = None, shade: bool | None = None) -> str:
    "Change target temperature (whole degrees C), vents or the shade screen of a house"
    done = []
    if target_c is not None:
        if not 5 <= target_c <= 32:
            raise ToolError("target_c must be between 5 and 32")
        HOUSES[house]["target temperature"] = f"{target_c} C"
        done.append(f"target temperature {target_c} C")
    if vents is not None:
        HOUSES[house]["vents"] = vents
        done.append(f"vents {vents}")
    if shade is not None:
        HOUSES[house]["shade screen"] = "on" if shade else "off"
        done.append(f"shade screen {'on' if shade else 'off'}")
    return f"{house}: " + (", ".join(done) or "nothing changed")


@server.tool(name="list-sensors")
def list_sensors(house: House) -> str:
    "Sensors in a house with id, kind, bed and battery (readings: see read-sensor)"
    return "\n".join(f"{k}  {s[0]}  bed {s[2]}  battery {s[5]} %" for k, s in SENSORS.items() if s[1] == house)


@server.tool(name="read-sensor")
def read_sensor(sensor_id: int) -> str:
    "Current reading of a sensor"
    if sensor_id not in SENSORS:
        raise ToolError(f"sensor {sensor_id} not found")
    kind, house, bed, value, unit, battery, calibrated = SENSORS[sensor_id]
    return f"Sensor {sensor_id} ({kind}, {house}{'' if bed == '-' else ', bed ' + bed}) reads {value} {unit}; battery {battery} %, calibrated {calibrated}."


@server.tool(name="watering-log")
def watering_log(bed: str | None = None, date: str | None = None, by: str | None = None) -> str:
    "Waterings by bed, date (YYYY-MM-DD) or person, oldest first; log keeps the last days only"
    if not (bed or date or by):
        raise ToolError("Please filter by bed, date or person.")
    rows = [f"{d}  {b}  {l} l  by {w}" for d, b, l, w in LOG if (not bed or b == bed) and (not date or d == date) and (not by or w.lower() == by.lower())]
    return "\n".join(rows) or "Nothing logged."


@server.tool(name="log-watering")
def log_watering(bed: str, litres: int, by: str, date: str = TODAY) -> str:
    "Write a watering into the log; date defaults to today"
    if bed not in BEDS:
        return f"Unknown bed {bed}."
    LOG.append([date, bed, litres, by])
    return f"Logged: {date}, bed {bed}, {litres} l by {by}"


@server.tool(name="update-bed")
def update_bed(bed: str, gardener: str | None = None, plants: int | None = None, harvest: str | None = None, every_days: int | None = None, litres: int | None = None) -> str:
    "Change gardener, number of plants, expected harvest date or watering plan of a bed"
    if bed not in BEDS:
        return f"Unknown bed {bed}."
    b, out = BEDS[bed], []
    for i, label, value in ((6, "gardener", gardener), (3, "plants", plants), (5, "expected harvest", harvest), (7, "watering interval", every_days), (8, "litres", litres)):
        if value is not None:
            out.append(f"{label}: {b[i]} -> {value}")
            b[i] = value
    return f"bed {bed} ({b[1]})\n" + "\n".join(out or ["no change"])


if __name__ == "__main__":
    server.run()
