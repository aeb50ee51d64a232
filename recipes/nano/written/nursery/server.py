from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("nursery")
TODAY = "2026-03-12"
Group = Literal["ladybirds", "hedgehogs", "owls", "foxes"]

GUARDIANS = {}
for _id, _name, _rel, _phone, _mail, _lang, _due in [
    (201, "Helen Winterbourne", "mother", "555-0101", "helen.w@post.example", "English", 0.0),
    (202, "George Winterbourne", "grandfather", "555-0102", "g.winterbourne@post.example", "English", 0.0),
    (203, "Paulo Ferreira", "father", "555-0103", "paulo@ferreira.example", "Portuguese", 84.5),
    (204, "Chidi Okafor", "father", "555-0104", "chidi.okafor@mailbox.example", "English", 0.0),
    (205, "Marit Sandvik", "mother", "555-0105", "marit@sandvik.example", "Norwegian", 310.0),
    (206, "Luc Delacroix", "father", "555-0106", "luc.d@courrier.example", "French", 0.0),
    (207, "Sabine Brandt", "mother", "555-0107", "sabine.brandt@mailbox.example", "German", 45.0),
    (208, "Anand Pillai", "father", "555-0108", "anand@pillai.example", "English", 0.0),
    (209, "Katrin Hartwig", "mother", "555-0109", "k.hartwig@post.example", "German", 0.0),
    (210, "Dieter Hartwig", "grandfather", "555-0110", "opa.dieter@post.example", "German", 0.0),
    (211, "Farah Aziz", "mother", "555-0111", "farah.aziz@mailbox.example", "English", 127.75),
    (212, "Nils Lindqvist", "father", "555-0112", "nils@lindqvist.example", "Swedish", 0.0),
    (213, "Thandi Mbeki", "mother", "555-0113", "thandi@mbeki.example", "English", 22.0),
    (214, "Kenji Tanaka", "father", "555-0114", "kenji.tanaka@mailbox.example", "Japanese", 0.0),
    (215, "Rosa Marchetti", "grandmother", "555-0115", "nonna.rosa@post.example", "Italian", 0.0),
    (216, "Sean Gallagher", "father", "555-0116", "sean.g@mailbox.example", "English", 198.0),
    (217, "Layla Haddad", "mother", "555-0117", "layla@haddad.example", "Arabic", 0.0),
    (218, "Rui Carvalho", "father", "555-0118", "rui@carvalho.example", "Portuguese", 0.0),
    (219, "Petra Vogel", "mother", "555-0119", "petra.vogel@post.example", "German", 60.0),
    (220, "Joanne Marsh", "mother", "555-0120", "jo.marsh@mailbox.example", "English", 256.4),
    (221, "Ama Boateng", "aunt", "555-0121", "ama.b@post.example", "English", 0.0),
    (222, "Dmitri Petrov", "father", "555-0122", "dmitri@petrov.example", "Bulgarian", 15.0),
]:
    GUARDIANS[_id] = {"id": _id, "name": _name, "relation": _rel, "phone": _phone, "email": _mail, "language": _lang, "balance_due_eur": _due}

EDUCATORS = {}
for _code, _name, _role, _shift, _phone, _aid, _off in [
    ("ED1", "Margit Olsen", "head of centre", "08:00-16:30", "555-0131", "2027-09-30", None),
    ("ED2", "Rachel Stone", "group lead", "07:00-15:00", "555-0132", "2026-05-14", "Wednesday"),
    ("ED3", "Yusuf Demir", "group lead", "07:30-15:30", "555-0133", "2026-11-02", "Friday"),
    ("ED4", "Bettina Kraus", "group lead", "09:00-17:00", "555-0134", "2027-01-20", "Monday"),
    ("ED5", "Aoife Brennan", "group lead", "08:00-16:00", "555-0135", "2026-04-01", None),
    ("ED6", "Miguel Santos", "assistant", "09:30-17:30", "555-0136", "2027-03-08", "Tuesday"),
    ("ED7", "Hana Novak", "assistant", "07:00-13:00", "555-0137", "2026-08-19", None),
    ("ED8", "Will Draper", "trainee", "08:30-14:30", "555-0138", None, "Thursday"),
]:
    EDUCATORS[_code] = {"code": _code, "name": _name, "role": _role, "shift": _shift, "phone": _phone, "first_aid_until": _aid, "day_off": _off}

GROUPS = {
    "ladybirds": {"group": "ladybirds", "room": "Garden Room", "ages": "1-2", "capacity": 8, "lead": "ED2", "assistant": "ED7", "outing_day": "Tuesday"},
    "hedgehogs": {"group": "hedgehogs", "room": "Blue Room", "ages": "2-3", "capacity": 10, "lead": "ED3", "assistant": "ED8", "outing_day": "Thursday"},
    "owls": {"group": "owls", "room": "Loft", "ages": "3-4", "capacity": 6, "lead": "ED4", "assistant": "ED6", "outing_day": "Monday"},
    "foxes": {"group": "foxes", "room": "Workshop", "ages": "4-6", "capacity": 12, "lead": "ED5", "assistant": "ED6", "outing_day": "Wednesday"},
}

CHILDREN, PICKUPS = {}, {}
for _name, _born, _group, _guards, _allergy, _nap, _key, _locker, _time, _by, _col in [
    ("Ada Winterbourne", "2024-04-18", "ladybirds", [201, 202], ["peanuts"], "12:30", "ED2", 1, "15:30", 202, False),
    ("Tomas Ferreira", "2024-07-02", "ladybirds", [203], [], "12:00", "ED7", 2, "16:00", 203, False),
    ("Lina Okafor", "2024-01-27", "ladybirds", [204], ["egg"], "12:30", "ED2", 3, "14:15", 204, True),
    ("Bo Sandvik", "2024-09-11", "ladybirds", [205], [], "11:30", "ED7", 4, "15:00", 205, False),
    ("Ben Marsh", "2024-05-30", "ladybirds", [220], [], "12:30", "ED7", 5, "16:45", 220, False),
    ("Hugo Brandt", "2023-02-14", "hedgehogs", [207], ["cow's milk"], "13:00", "ED3", 6, "14:30", 207, True),
    ("Maya Pillai", "2023-06-21", "hedgehogs", [208], [], "13:00", "ED8", 7, "15:45", 208, False),
    ("Emil Hartwig", "2023-03-09", "hedgehogs", [209, 210], ["bee stings"], "12:45", "ED3", 8, "16:15", 210, False),
    ("Noor Aziz", "2023-08-05", "hedgehogs", [211], [], "13:15", "ED3", 9, "17:00", 211, False),
    ("Freya Lindqvist", "2023-01-16", "hedgehogs", [212], ["hazelnut"], None, "ED8", 10, "15:15", 212, False),
    ("Oscar Mbeki", "2022-10-23", "owls", [213], [], None, "ED4", 11, "16:30", 213, False),
    ("Chloe Tanaka", "2022-05-12", "owls", [214], ["shellfish"], None, "ED6", 12, "15:00", 214, False),
    ("Leo Marchetti", "2022-12-01", "owls", [215], [], "13:00", "ED4", 13, "14:00", 215, True),
    ("Ruby Gallagher", "2022-08-19", "owls", [216], ["peanuts", "sesame"], None, "ED6", 14, "17:15", 216, False),
    ("Samir Haddad", "2022-04-07", "owls", [217], [], None, "ED4", 15, "15:30", 217, False),
    ("Iris Delacroix", "2021-11-25", "foxes", [206], [], None, "ED5", 16, "16:00", 206, False),
    ("Ines Carvalho", "2021-03-03", "foxes", [218], ["kiwi"], None, "ED5", 17, "15:20", 218, False),
    ("Jonas Vogel", "2020-09-28", "foxes", [219], [], None, "ED6", 18, "14:45", 219, True),
    ("Tilly Marsh", "2021-06-14", "foxes", [220], [], None, "ED5", 19, "16:45", 220, False),
    ("Kofi Boateng", "2020-12-17", "foxes", [221], ["cow's milk"], None, "ED6", 20, "17:30", 221, False),
    ("Zoe Petrova", "2021-08-08", "foxes", [222], [], None, "ED5", 21, "15:50", 222, False),
]:
    CHILDREN[_name] = {"name": _name, "born": _born, "group": _group, "guardian_ids": _guards, "allergies": _allergy,
                       "nap_at": _nap, "key_educator": _key, "locker": _locker}
    PICKUPS[_name] = {"child": _name, "time": _time, "guardian_id": _by, "collected": _col}
ABSENCES = []


def _child(name):
    for key, child in CHILDREN.items():
        if key.lower() == name.strip().lower():
            return child
    raise ToolError(f"No child named '{name}' is enrolled. Use find_children if you only know part of the name.")


@server.tool()
def find_children(name_part: str = "", group: Group | None = None, locker: int | None = None) -> list[dict]:
    """Find enrolled children by part of their name, group or locker number. Gives full names for get_child."""
    if not (name_part or group or locker):
        raise ToolError("Give at least one of name_part, group, locker.")
    return [{"name": c["name"], "group": c["group"], "born": c["born"]} for c in CHILDREN.values()
            if name_part.lower() in c["name"].lower() and group in (None, c["group"]) and locker in (None, c["locker"])]


@server.tool()
def get_child(full_name: str) -> dict:
    """A child's record: birth date, group, guardian ids, allergies, nap time, key educator (code), locker. Needs first and last name."""
    return _child(full_name)


@server.tool()
def get_guardian(guardian_id: int) -> dict:
    """Contact data and outstanding balance of a parent or other guardian."""
    if guardian_id not in GUARDIANS:
        raise ToolError(f"guardian {guardian_id} not found")
    return GUARDIANS[guardian_id]


@server.tool()
def get_group(group: Group) -> dict:
    """Room, ages, capacity, enrolled children and staff (educator codes) of a group."""
    return {**GROUPS[group], "enrolled": sum(c["group"] == group for c in CHILDREN.values())}


@server.tool()
def get_educator(code: str) -> dict:
    """Staff record by educator code, e.g. ED3."""
    if code not in EDUCATORS:
        raise ToolError(f"educator {code} not found")
    return EDUCATORS[code]


@server.tool()
def todays_pickups(group: Group) -> list[dict]:
    """Today's planned pick-ups of one group: child, time, who collects (guardian id), whether already collected."""
    return [PICKUPS[c["name"]] for c in CHILDREN.values() if c["group"] == group]


@server.tool()
def update_pickup(child: str, time: str | None = None, guardian_id: int | None = None, collected: bool | None = None) -> dict:
    """Change today's pick-up of a child (full name). time is HH:MM; only the given fields change."""
    pickup = PICKUPS[_child(child)["name"]]
    if guardian_id is not None:
        if guardian_id not in _child(child)["guardian_ids"]:
            raise ToolError(f"guardian {guardian_id} is not authorised to collect {child}")
        pickup["guardian_id"] = guardian_id
    if time is not None:
        pickup["time"] = time
    if collected is not None:
        pickup["collected"] = collected
    return pickup


@server.tool()
def report_absence(child: str, reason: Literal["sick", "holiday", "family", "other"], first_day: str = TODAY, last_day: str | None = None) -> dict:
    """Report a child (full name) absent. Dates YYYY-MM-DD; default is today only."""
    record = {"absence": 71 + len(ABSENCES), "child": _child(child)["name"], "reason": reason, "from": first_day, "to": last_day or first_day}
    ABSENCES.append(record)
    return record


@server.tool()
def move_child(child: str, to_group: Group) -> dict:
    """Move a child (full name) to another group. Fails when the group is full."""
    record = _child(child)
    enrolled = sum(c["group"] == to_group for c in CHILDREN.values())
    if enrolled >= GROUPS[to_group]["capacity"]:
        raise ToolError(f"{to_group} is full ({enrolled} of {GROUPS[to_group]['capacity']})")
    old, record["group"] = record["group"], to_group
    return {"child": record["name"], "from": old, "to": to_group, "enrolled_now": enrolled + 1}


if __name__ == "__main__":
    server.run()
