from typing import Literal
from mcp.server.mcpserver import MCPServer

server = MCPServer("smart-home")

ROOMS = {
    "Kitchen": dict(floor=0, temperature=21.4, target=21.0, humidity=48, window="closed", last_motion="07:52"),
    "Living room": dict(floor=0, temperature=20.6, target=21.5, humidity=44, window="closed", last_motion="22:17"),
    "Bedroom": dict(floor=1, temperature=17.9, target=18.0, humidity=53, window="open", last_motion="06:41"),
    "Nursery": dict(floor=1, temperature=20.1, target=20.0, humidity=51, window="closed", last_motion="08:05"),
    "Bathroom": dict(floor=1, temperature=23.2, target=23.0, humidity=67, window="closed", last_motion="07:20"),
    "Office": dict(floor=1, temperature=19.3, target=20.5, humidity=41, window="closed", last_motion="08:31"),
    "Hallway": dict(floor=0, temperature=18.8, target=18.5, humidity=46, window="none", last_motion="08:33"),
    "Garage": dict(floor=-1, temperature=9.7, target=8.0, humidity=71, window="closed", last_motion="18:56"),
}

# name, room, type, state, level %, battery %, brand, firmware, watts now, online, installed
_D = [
    ("Kitchen ceiling light", "Kitchen", "light", "on", 80, None, "Philips Hue", "1.108.7", 12.4, True, "2022-03-12"),
    ("Counter strip", "Kitchen", "light", "off", 0, None, "Govee", "2.04.1", 0.3, True, "2023-11-02"),
    ("Coffee machine", "Kitchen", "plug", "on", None, None, "Shelly", "1.4.2", 1180.0, True, "2023-01-20"),
    ("Dishwasher", "Kitchen", "plug", "off", None, None, "Bosch", "3.9.0", 1.1, True, "2021-08-30"),
    ("Leak sensor", "Kitchen", "sensor", "dry", None, 34, "Aqara", "0.9.6", None, True, "2022-10-05"),
    ("Floor lamp", "Living room", "light", "on", 35, None, "IKEA", "2.3.095", 6.8, True, "2021-12-24"),
    ("TV backlight", "Living room", "light", "on", 50, None, "Govee", "2.04.3", 9.5, True, "2023-11-02"),
    ("Living room blinds", "Living room", "blind", "open", 100, 62, "IKEA", "24.4.11", None, True, "2022-06-18"),
    ("Robot vacuum", "Living room", "plug", "off", None, 91, "Roborock", "4.1.8", 4.2, True, "2024-02-09"),
    ("Reading lamp", "Bedroom", "light", "off", 0, None, "Philips Hue", "1.108.7", 0.2, True, "2022-03-12"),
    ("Bedroom blinds", "Bedroom", "blind", "closed", 0, 18, "IKEA", "24.4.5", None, True, "2022-06-18"),
    ("Electric blanket", "Bedroom", "plug", "off", None, None, "Shelly", "1.4.2", 0.4, True, "2023-12-01"),
    ("Night light", "Nursery", "light", "on", 10, None, "IKEA", "2.3.095", 0.9, True, "2024-05-14"),
    ("Baby camera", "Nursery", "camera", "on", None, None, "Reolink", "3.1.0.956", 5.1, True, "2024-05-14"),
    ("Humidifier", "Nursery", "plug", "on", None, None, "Levoit", "1.0.27", 24.0, True, "2024-06-03"),
    ("Mirror light", "Bathroom", "light", "off", 0, None, "Paulmann", "1.2.0", 0.3, True, "2020-09-17"),
    ("Towel heater", "Bathroom", "plug", "on", None, None, "Shelly", "1.3.9", 298.5, True, "2023-12-01"),
    ("Desk lamp", "Office", "light", "on", 90, None, "BenQ", "1.0.3", 11.0, True, "2022-01-08"),
    ("Printer", "Office", "plug", "off", None, None, "TP-Link", "1.1.6", 0.0, False, "2021-05-21"),
    ("Office fan", "Office", "plug", "off", None, None, "TP-Link", "1.1.6", 0.5, True, "2023-07-11"),
    ("Front door", "Hallway", "lock", "locked", None, 57, "Nuki", "3.8.4", None, True, "2022-09-01"),
    ("Doorbell", "Hallway", "camera", "on", None, 73, "Ring", "5.20.11", None, True, "2022-09-01"),
    ("Hallway light", "Hallway", "light", "off", 0, None, "Philips Hue", "1.104.2", 0.2, True, "2022-03-12"),
    ("Garage door", "Garage", "lock", "unlocked", None, 22, "Yale", "2.6.1", None, True, "2023-04-15"),
    ("Car charger", "Garage", "plug", "on", None, None, "go-e", "56.8", 7360.0, True, "2024-08-22"),
    ("Freezer plug", "Garage", "plug", "on", None, None, "Shelly", "1.4.2", 86.3, True, "2023-01-20"),
]
_K = ["name", "room", "type", "state", "level", "battery", "brand", "firmware", "watts", "online", "installed"]
DEVICES = {d[0].casefold(): dict(zip(_K, d)) for d in _D}

ALLOWED = {"light": ("on", "off"), "plug": ("on", "off"), "camera": ("on", "off"), "lock": ("locked", "unlocked"),
           "blind": ("open", "closed"), "sensor": ()}

# id, device, action, time, days, enabled, created_by
_S = [
    (1, "Coffee machine", "on", "06:30", ["Mon", "Tue", "Wed", "Thu", "Fri"], True, "Ines"),
    (2, "Coffee machine", "off", "09:00", ["Mon", "Tue", "Wed", "Thu", "Fri"], True, "Ines"),
    (3, "Living room blinds", "open", "07:15", ["Mon", "Tue", "Wed", "Thu", "Fri"], True, "Tom"),
    (4, "Living room blinds", "closed", "20:45", ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], True, "Tom"),
    (5, "Bedroom blinds", "open", "08:40", ["Sat", "Sun"], False, "Tom"),
    (6, "Robot vacuum", "on", "10:30", ["Tue", "Fri"], True, "Ines"),
    (7, "Towel heater", "on", "06:10", ["Mon", "Tue", "Wed", "Thu", "Fri"], True, "Ines"),
    (8, "Night light", "on", "19:00", ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], True, "Grandma"),
    (9, "Night light", "off", "06:55", ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], True, "Grandma"),
    (10, "Car charger", "on", "23:30", ["Sun", "Wed"], True, "Tom"),
    (11, "Electric blanket", "on", "21:50", ["Fri", "Sat"], False, "Ines"),
    (12, "Front door", "locked", "22:00", ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], True, "Tom"),
    (13, "Humidifier", "on", "18:20", ["Mon", "Thu"], False, "Grandma"),
    (14, "Hallway light", "on", "17:05", ["Mon", "Tue", "Wed", "Thu", "Fri"], True, "Tom"),
]
SCHEDULES = {s[0]: dict(id=s[0], device=s[1], action=s[2], time=s[3], days=s[4], enabled=s[5], createdBy=s[6]) for s in _S}

Day = Literal["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


def _room(name):
    return next((r for r in ROOMS if r.casefold() == name.strip().casefold()), None)


@server.tool()
def getDevice(name: str) -> dict:
    "Everything known about one device: state, level (percent), battery (percent), brand, firmware, power draw in watts, online, install date. Takes the device's name, e.g. 'Floor lamp'."
    d = DEVICES.get(name.strip().casefold())
    if not d:
        return {"error": f"no device named '{name}'"}
    return {k: v for k, v in d.items() if v is not None}


@server.tool()
def listDevices(room: str | None = None, type: Literal["light", "plug", "blind", "lock", "camera", "sensor"] | None = None,
                state: str | None = None) -> str:
    "One line per device (name, room, state). Give a room, a type or a state; they can be combined."
    if room is None and type is None and state is None:
        return "Please give a room, a type or a state."
    if room is not None and not _room(room):
        return f"No room called {room}. Rooms: {', '.join(ROOMS)}"
    rows = [d for d in DEVICES.values() if (room is None or d["room"] == _room(room)) and (type is None or d["type"] == type)
            and (state is None or d["state"] == state.lower())]
    return "\n".join(f"{d['name']} | {d['room']} | {d['state']}" for d in rows) or "No devices match."


@server.tool()
def roomClimate(room: str) -> str:
    "Climate and presence of a room: floor, temperature now and target, humidity, window, last motion."
    r = _room(room)
    if not r:
        return f"No room called {room}. Rooms: {', '.join(ROOMS)}"
    c = ROOMS[r]
    return (f"room: {r}\nfloor: {c['floor']}\ntemperature: {c['temperature']} °C\ntarget: {c['target']} °C\n"
            f"humidity: {c['humidity']}%\nwindow: {c['window']}\nlast motion: {c['last_motion']}")


@server.tool()
def setDevice(name: str, state: Literal["on", "off", "open", "closed", "locked", "unlocked"], level: int | None = None) -> str:
    "Switch a light, plug or camera (on/off), move a blind (open/closed) or turn a lock (locked/unlocked). level: brightness or blind position 0-100, optional."
    d = DEVICES.get(name.strip().casefold())
    if not d:
        return f"No device named '{name}'."
    if state not in ALLOWED[d["type"]]:
        return f"{d['name']} is a {d['type']} and cannot be set to {state}."
    if not d["online"]:
        return f"{d['name']} is offline, nothing changed."
    if level is not None and not 0 <= level <= 100:
        return "level must be 0 to 100."
    d["state"] = state
    if d["level"] is not None:
        d["level"] = level if level is not None else (100 if state in ("on", "open") else 0)
        return f"OK: {d['name']} {state}, level {d['level']}%"
    return f"OK: {d['name']} {state}"


@server.tool()
def setTargetTemperature(room: str, celsius: float) -> dict:
    "Set the heating target of a room, 5 to 28 degrees Celsius."
    r = _room(room)
    if not r:
        return {"error": f"no room called {room}"}
    if not 5 <= celsius <= 28:
        return {"error": "celsius must be between 5 and 28"}
    old, ROOMS[r]["target"] = ROOMS[r]["target"], celsius
    return {"room": r, "oldTarget": old, "newTarget": celsius}


@server.tool()
def listSchedules(device: str | None = None, day: Day | None = None, enabled: bool | None = None) -> list[dict]:
    "Schedules, optionally only those of a device, of a weekday, or only the enabled / disabled ones."
    return [{"id": s["id"], "device": s["device"], "action": s["action"], "time": s["time"]} for s in SCHEDULES.values()
            if (device is None or s["device"].casefold() == device.strip().casefold()) and (day is None or day in s["days"])
            and (enabled is None or s["enabled"] == enabled)]


@server.tool()
def getSchedule(id: int) -> dict:
    "One schedule by number: device, action, time, days, whether it is enabled, who made it."
    return SCHEDULES.get(id) or {"error": f"schedule {id} does not exist"}


@server.tool()
def enableSchedule(id: int, enabled: bool) -> dict:
    "Turn a schedule on (true) or off (false)."
    s = SCHEDULES.get(id)
    if not s:
        return {"error": f"schedule {id} does not exist"}
    s["enabled"] = enabled
    return {"id": id, "device": s["device"], "time": s["time"], "enabled": enabled}


@server.tool()
def addSchedule(device: str, action: Literal["on", "off", "open", "closed", "locked", "unlocked"], time: str, days: list[Day]) -> dict:
    "Make a new schedule for a device. time is HH:MM (24 hours)."
    d = DEVICES.get(device.strip().casefold())
    if not d:
        return {"error": f"no device named '{device}'"}
    if action not in ALLOWED[d["type"]]:
        return {"error": f"{d['name']} cannot be set to {action}"}
    n = max(SCHEDULES) + 1
    SCHEDULES[n] = dict(id=n, device=d["name"], action=action, time=time, days=days, enabled=True, createdBy="assistant")
    return SCHEDULES[n]


if __name__ == "__main__":
    server.run()
