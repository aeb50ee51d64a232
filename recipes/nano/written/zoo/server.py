from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("zoo")

A = ["animal_id", "name", "species", "sex", "born", "weight_kg", "enclosure", "last_vet_note"]
ANIMALS = {r[0]: dict(zip(A, r)) for r in [
    (101, "Baraka", "Lion", "m", "2014-05-03", 188.5, "SAV-1", "V-31"),
    (102, "Zuri", "Lion", "f", "2016-08-19", 131.0, "SAV-1", "V-24"),
    (103, "Kito", "Giraffe", "m", "2012-02-11", 1105.0, "SAV-2", "V-29"),
    (104, "Amina", "Giraffe", "f", "2015-09-30", 780.0, "SAV-2", None),
    (105, "Tembo", "Plains zebra", "m", "2018-04-17", 296.0, "SAV-2", "V-22"),
    (106, "Binti", "Plains zebra", "f", "2019-10-05", 268.0, "SAV-2", None),
    (108, "Otto", "Red panda", "m", "2019-06-25", 5.4, "ASIA-1", "V-33"),
    (109, "Mei", "Red panda", "f", "2020-07-02", 4.9, "ASIA-1", "V-26"),
    (112, "Raja", "Sumatran tiger", "m", "2013-11-08", 118.0, "ASIA-2", "V-27"),
    (113, "Siska", "Sumatran tiger", "f", "2017-03-21", 92.5, "ASIA-3", "V-34"),
    (117, "Pim", "Humboldt penguin", "m", "2018-05-09", 4.3, "AQ-1", None),
    (118, "Olga", "Humboldt penguin", "f", "2015-04-28", 4.0, "AQ-1", "V-25"),
    (119, "Waddles", "Humboldt penguin", "m", "2021-06-14", 3.7, "AQ-1", "V-30"),
    (120, "Frieda", "Humboldt penguin", "f", "2020-05-22", 3.9, "AQ-1", None),
    (123, "Brook", "Asian small-clawed otter", "f", "2020-01-16", 3.1, "AQ-2", "V-28"),
    (124, "Rusty", "Asian small-clawed otter", "m", "2019-12-03", 3.6, "AQ-2", None),
    (130, "Coco", "Scarlet macaw", "f", "2005-07-30", 1.1, "BIRD-1", "V-23"),
    (131, "Pepe", "Scarlet macaw", "m", "2009-03-12", 1.0, "BIRD-1", None),
    (133, "Twiggy", "Toco toucan", "f", "2017-08-08", 0.6, "BIRD-1", "V-32"),
    (140, "Boris", "Aldabra giant tortoise", "m", "1948-01-01", 212.0, "REP-1", "V-21"),
    (141, "Slinky", "Boa constrictor", "f", "2011-09-19", 14.2, "REP-1", None),
    (142, "Gizmo", "Green iguana", "m", "2016-02-27", 4.6, "QUA", "V-35"),
]}

E = ["code", "name", "zone", "capacity", "temperature_c", "last_cleaned", "open_to_visitors", "keeper_id"]
ENCLOSURES = {r[0]: dict(zip(E, r)) for r in [
    ("SAV-1", "Lion Rock", "savanna", 4, 18, "2025-03-10", True, "kp-2"),
    ("SAV-2", "Giraffe House", "savanna", 6, 20, "2025-03-12", True, "kp-5"),
    ("ASIA-1", "Bamboo Walk", "asia", 3, 14, "2025-03-11", True, "kp-3"),
    ("ASIA-2", "Tiger Ravine", "asia", 1, 17, "2025-03-08", True, "kp-8"),
    ("ASIA-3", "Tiger Annex", "asia", 2, 19, "2025-03-09", False, "kp-8"),
    ("AQ-1", "Penguin Beach", "water", 8, 12, "2025-03-13", True, "kp-1"),
    ("AQ-2", "Otter Creek", "water", 4, 16, "2025-03-07", True, "kp-1"),
    ("BIRD-1", "Rainforest Aviary", "tropics", 10, 26, "2025-03-12", True, "kp-6"),
    ("REP-1", "Reptile House", "tropics", 6, 29, "2025-03-05", True, "kp-4"),
    ("QUA", "Quarantine", "backstage", 4, 22, "2025-03-14", False, "kp-7"),
]}

S = ["staff_id", "name", "role", "phone", "email", "shift", "day_off"]
STAFF = {r[0]: dict(zip(S, r)) for r in [
    ("kp-1", "Hanna Lindqvist", "keeper", "555-0111", "hanna@wildpark.example", "early", "Monday"),
    ("kp-2", "Tomasz Wrona", "keeper", "555-0112", "tomasz@wildpark.example", "early", "Wednesday"),
    ("kp-3", "Priya Nair", "keeper", "555-0113", "priya@wildpark.example", "late", "Sunday"),
    ("kp-4", "Gil Santos", "keeper", "555-0114", "gil@wildpark.example", "late", "Tuesday"),
    ("kp-5", "Mwende Kariuki", "keeper", "555-0115", "mwende@wildpark.example", "early", "Friday"),
    ("kp-6", "Eloise Fabre", "keeper", "555-0116", "eloise@wildpark.example", "early", "Thursday"),
    ("kp-7", "Stefan Ilic", "keeper", "555-0117", "stefan@wildpark.example", "night", "Saturday"),
    ("kp-8", "Nadia Haddad", "keeper", "555-0118", "nadia@wildpark.example", "late", "Monday"),
    ("vet-1", "Ruth Adeyemi", "vet", "555-0121", "ruth@wildpark.example", "early", "Sunday"),
    ("vet-2", "Jonas Falk", "vet", "555-0122", "jonas@wildpark.example", "late", "Wednesday"),
]}

F = ["feeding_id", "animal_id", "time", "food", "grams", "keeper_id", "done"]
FEEDINGS = {r[0]: dict(zip(F, r)) for r in [
    (501, 101, "09:00", "beef", 6000, "kp-2", True),
    (502, 102, "09:15", "beef", 4500, "kp-2", True),
    (503, 103, "08:00", "acacia leaves", 22000, "kp-5", True),
    (504, 104, "08:10", "acacia leaves", 18000, "kp-5", False),
    (505, 105, "10:30", "hay", 7000, "kp-5", False),
    (506, 108, "11:00", "bamboo", 1200, "kp-3", True),
    (507, 108, "16:00", "apple slices", 150, "kp-8", False),
    (508, 109, "11:10", "bamboo", 1100, "kp-3", True),
    (509, 112, "17:00", "horse meat", 5200, "kp-8", False),
    (510, 113, "17:20", "chicken", 3800, "kp-8", False),
    (511, 117, "10:00", "herring", 400, "kp-1", True),
    (512, 118, "10:00", "herring", 380, "kp-1", True),
    (513, 119, "10:05", "sprats", 350, "kp-1", False),
    (514, 119, "15:30", "sprats", 300, "kp-6", False),
    (515, 123, "12:00", "crayfish", 260, "kp-1", False),
    (516, 124, "12:00", "trout", 310, "kp-1", False),
    (517, 130, "07:45", "mixed nuts", 90, "kp-6", True),
    (518, 133, "07:50", "papaya", 110, "kp-6", False),
    (519, 140, "13:00", "cabbage", 2500, "kp-4", True),
    (520, 141, "19:00", "rats", 600, "kp-4", False),
    (521, 142, "14:15", "dandelion greens", 180, "kp-7", False),
]}

V = ["note_id", "animal_id", "date", "finding", "treatment", "vet_id", "follow_up"]
VET_NOTES = {r[0]: dict(zip(V, r)) for r in [
    ("V-21", 140, "2025-01-09", "cracked scute on shell", "resin patch", "vet-1", "2025-04-09"),
    ("V-22", 105, "2025-01-14", "overgrown hoof", "trimmed", "vet-2", None),
    ("V-23", 130, "2025-01-22", "feather plucking", "more enrichment toys", "vet-2", "2025-03-22"),
    ("V-24", 102, "2025-01-30", "chipped canine", "none needed", "vet-1", None),
    ("V-25", 118, "2025-02-04", "bumblefoot, left", "foot bath daily", "vet-1", "2025-03-18"),
    ("V-26", 109, "2025-02-07", "healthy, routine check", "none needed", "vet-2", None),
    ("V-27", 112, "2025-02-11", "stiff right hip", "meloxicam 10 days", "vet-1", "2025-03-25"),
    ("V-28", 123, "2025-02-15", "pregnant", "extra fish", "vet-2", "2025-03-29"),
    ("V-29", 103, "2025-02-20", "mild cough", "steam, observe", "vet-2", "2025-03-20"),
    ("V-30", 119, "2025-02-24", "underweight", "vitamin B1", "vet-1", "2025-03-17"),
    ("V-31", 101, "2025-03-01", "ear infection", "antibiotic drops", "vet-2", "2025-03-15"),
    ("V-32", 133, "2025-03-03", "bill scratch", "disinfected", "vet-2", None),
    ("V-33", 108, "2025-03-06", "tooth abscess", "extraction planned", "vet-1", "2025-03-19"),
    ("V-34", 113, "2025-03-08", "three weeks after birth of cubs, fine", "none needed", "vet-1", "2025-03-28"),
    ("V-35", 142, "2025-03-12", "mites", "ivermectin", "vet-2", "2025-03-26"),
]}


@server.tool()
def get_animal(animal_id: int) -> dict:
    "One animal by its number: name, species, birth date, weight, enclosure code and the number of its last vet's note."
    if animal_id not in ANIMALS:
        raise ToolError(f"animal {animal_id} not found")
    return ANIMALS[animal_id]


@server.tool()
def find_animals(name: str | None = None, species: str | None = None, enclosure: str | None = None) -> list[dict]:
    "Search animals by name, species (part of the word is enough) or enclosure code. Give at least one filter."
    if not (name or species or enclosure):
        raise ToolError("give name, species or enclosure")
    return [{k: a[k] for k in ("animal_id", "name", "species", "born")} for a in ANIMALS.values()
            if (not name or name.lower() in a["name"].lower()) and (not species or species.lower() in a["species"].lower())
            and (not enclosure or enclosure.lower() == a["enclosure"].lower())]


@server.tool()
def get_enclosure(enclosure: str) -> dict:
    "An enclosure by its code (SAV-1) or its name (Lion Rock)."
    for e in ENCLOSURES.values():
        if enclosure.lower() in (e["code"].lower(), e["name"].lower()):
            return {**e, "occupied": sum(a["enclosure"] == e["code"] for a in ANIMALS.values())}
    raise ToolError(f"no enclosure {enclosure!r}")


@server.tool()
def get_staff(staff: str) -> dict:
    "A keeper or vet by staff id (kp-1, vet-1) or by name."
    for s in STAFF.values():
        if staff.lower() == s["staff_id"] or staff.lower() in (s["name"].lower(), s["name"].split()[0].lower(), s["name"].split()[1].lower()):
            return s
    raise ToolError(f"nobody on staff matches {staff!r}")


@server.tool()
def list_feedings(animal_id: int | None = None, keeper_id: str | None = None, only_open: bool = False) -> list[dict]:
    "Today's feedings of one animal or of one keeper; only_open leaves out those already done."
    if animal_id is None and keeper_id is None:
        raise ToolError("give animal_id or keeper_id")
    return [f for f in FEEDINGS.values() if (animal_id is None or f["animal_id"] == animal_id)
            and (keeper_id is None or f["keeper_id"] == keeper_id) and not (only_open and f["done"])]


@server.tool()
def update_feeding(feeding_id: int, done: bool | None = None, grams: int | None = None, time: str | None = None) -> dict:
    "Change a feeding: tick it off, change the amount or the time (HH:MM)."
    if feeding_id not in FEEDINGS:
        raise ToolError(f"feeding {feeding_id} not found")
    f = FEEDINGS[feeding_id]
    for k, v in (("done", done), ("grams", grams), ("time", time)):
        if v is not None:
            f[k] = v
    return f


@server.tool()
def get_vet_note(note_id: str) -> dict:
    "A vet's note by its number, e.g. V-21."
    if note_id not in VET_NOTES:
        raise ToolError(f"vet note {note_id} not found")
    return VET_NOTES[note_id]


@server.tool()
def set_follow_up(note_id: str, date: str) -> dict:
    "Set the follow-up date (YYYY-MM-DD) of a vet's note."
    if note_id not in VET_NOTES:
        raise ToolError(f"vet note {note_id} not found")
    VET_NOTES[note_id]["follow_up"] = date
    return {"note_id": note_id, "follow_up": date}


@server.tool()
def move_animal(animal_id: int, enclosure_code: str) -> dict:
    "Move an animal to another enclosure."
    if animal_id not in ANIMALS:
        raise ToolError(f"animal {animal_id} not found")
    if enclosure_code not in ENCLOSURES:
        raise ToolError(f"no enclosure {enclosure_code!r}")
    a, e = ANIMALS[animal_id], ENCLOSURES[enclosure_code]
    if sum(x["enclosure"] == enclosure_code for x in ANIMALS.values()) >= e["capacity"]:
        raise ToolError(f"{e['name']} is full ({e['capacity']} places)")
    old, a["enclosure"] = a["enclosure"], enclosure_code
    return {"animal_id": animal_id, "name": a["name"], "from": old, "to": enclosure_code}


if __name__ == "__main__":
    server.run()
