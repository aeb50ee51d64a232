from typing import Literal, Optional
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("orchard")

VARIETIES = {v[0]: dict(zip(("slug", "name", "fruit", "ripens", "keeps_weeks", "price_eur_per_kg", "pollinator"), v)) for v in [
    ("bramley", "Bramley's Seedling", "apple", "early October", 20, 1.10, "discovery"),
    ("discovery", "Discovery", "apple", "mid August", 2, 1.60, "james-grieve"),
    ("james-grieve", "James Grieve", "apple", "early September", 5, 1.45, "discovery"),
    ("topaz", "Topaz", "apple", "late September", 22, 1.95, "james-grieve"),
    ("conference", "Conference", "pear", "mid September", 16, 1.85, "williams"),
    ("williams", "Williams", "pear", "late August", 4, 1.70, "conference"),
    ("kordia", "Kordia", "sweet cherry", "early July", 1, 4.90, "regina"),
    ("regina", "Regina", "sweet cherry", "mid July", 1, 5.20, "kordia"),
    ("hauszwetschge", "Hauszwetschge", "plum", "mid September", 2, 2.10, None),
    ("victoria", "Victoria", "plum", "late August", 1, 2.30, None),
]}
BLOCKS = {b[0]: dict(zip(("block_id", "name", "variety", "area_ha", "trees", "planted", "irrigation", "foreman", "last_spray"), b)) for b in [
    ("B-01", "Chapel Field", "bramley", 2.4, 960, 1998, "none", "P04", "2025-06-18"),
    ("B-02", "Long Acre", "topaz", 3.1, 4650, 2012, "drip", "P02", "2025-07-02"),
    ("B-03", "Mill Slope", "kordia", 0.9, 540, 2009, "sprinkler", "P09", "2025-05-30"),
    ("B-04", "Upper Mill", "regina", 1.2, 700, 2009, "sprinkler", "P09", "2025-05-30"),
    ("B-05", "Pond Corner", "conference", 1.8, 2160, 2004, "drip", "P04", "2025-06-25"),
    ("B-06", "Railway Strip", "williams", 0.7, 805, 2004, "none", "P06", "2025-06-25"),
    ("B-07", "Foxhole", "discovery", 1.5, 1425, 2015, "drip", "P02", "2025-07-09"),
    ("B-08", "Gatehouse", "james-grieve", 1.1, 880, 2001, "none", "P06", "2025-06-11"),
    ("B-09", "Stony Piece", "hauszwetschge", 1.6, 720, 1994, "none", "P11", "2025-06-20"),
    ("B-10", "Windmill", "topaz", 2.7, 4050, 2018, "drip", "P02", "2025-07-04"),
    ("B-11", "The Triangle", "victoria", 0.6, 270, 1999, "none", "P11", "2025-06-20"),
    ("B-12", "Badger Bank", "conference", 2.2, 2750, 2016, "drip", "P04", "2025-06-27"),
    ("B-13", "Schoolhouse", "bramley", 1.9, 760, 2003, "sprinkler", "P06", "2025-06-16"),
    ("B-14", "Heron's Reach", "discovery", 0.8, 760, 2020, "drip", "P09", "2025-07-11"),
]}
PICKERS = {p[0]: dict(zip(("picker_id", "name", "phone", "rate_eur_per_kg", "lodging", "crew_lead"), p)) for p in [
    ("P01", "Ilona Bartosz", "555-0101", 0.16, "Caravan 1", "P02"),
    ("P02", "Marek Sowa", "555-0102", 0.18, "Caravan 1", None),
    ("P03", "Dita Vlk", "555-0103", 0.15, "Caravan 2", "P04"),
    ("P04", "Ruben Aalders", "555-0104", 0.19, "Farmhouse", None),
    ("P05", "Tomas Hruby", "555-0105", 0.15, "Caravan 2", "P04"),
    ("P06", "Greta Lindqvist", "555-0106", 0.17, "Caravan 3", "P04"),
    ("P07", "Amara Diallo", "555-0107", 0.16, "Caravan 4", "P02"),
    ("P08", "Petru Munteanu", "555-0108", 0.14, "Caravan 5", "P09"),
    ("P09", "Sunniva Berg", "555-0109", 0.20, "Farmhouse", None),
    ("P10", "Luis Carvalho", "555-0110", 0.16, "Caravan 5", "P09"),
    ("P11", "Joan Tetteh", "555-0111", 0.18, "Caravan 3", "P09"),
    ("P12", "Emil Novotny", "555-0112", 0.14, "Caravan 4", "P02"),
]}
HARVESTS = {h[0]: dict(zip(("no", "date", "block_id", "picker_id", "kg", "grade", "stored_in"), h)) for h in [
    (501, "2025-07-03", "B-03", "P08", 84, "extra", "cold store 1"),
    (502, "2025-07-03", "B-03", "P10", 97, "extra", "cold store 1"),
    (503, "2025-07-03", "B-03", "P01", 71, "class1", "cold store 1"),
    (504, "2025-07-04", "B-03", "P08", 90, "class1", "cold store 1"),
    (505, "2025-07-04", "B-03", "P07", 66, "juice", "press house"),
    (506, "2025-07-15", "B-04", "P10", 112, "extra", "cold store 1"),
    (507, "2025-07-15", "B-04", "P08", 93, "extra", "cold store 1"),
    (508, "2025-07-16", "B-04", "P12", 78, "class1", "cold store 1"),
    (509, "2025-07-16", "B-04", "P10", 105, "extra", "cold store 2"),
    (510, "2025-08-12", "B-07", "P01", 410, "class1", "barn"),
    (511, "2025-08-12", "B-07", "P07", 385, "class1", "barn"),
    (512, "2025-08-12", "B-14", "P12", 240, "extra", "cold store 2"),
    (513, "2025-08-13", "B-07", "P01", 395, "extra", "cold store 2"),
    (514, "2025-08-13", "B-14", "P08", 255, "class1", "barn"),
    (515, "2025-08-14", "B-14", "P10", 298, "juice", "cold store 2"),
    (516, "2025-08-25", "B-06", "P03", 320, "class1", "cold store 1"),
    (517, "2025-08-25", "B-06", "P05", 345, "class1", "cold store 1"),
    (518, "2025-08-25", "B-11", "P10", 150, "extra", "cold store 2"),
    (519, "2025-08-26", "B-06", "P03", 280, "juice", "press house"),
    (520, "2025-08-26", "B-11", "P12", 135, "class1", "cold store 2"),
    (521, "2025-09-03", "B-08", "P05", 460, "class1", "barn"),
    (522, "2025-09-03", "B-08", "P03", 430, "extra", "cold store 2"),
    (523, "2025-09-04", "B-08", "P05", 475, "class1", "barn"),
    (524, "2025-09-15", "B-05", "P01", 520, "extra", "cold store 1"),
    (525, "2025-09-15", "B-05", "P07", 505, "class1", "cold store 1"),
    (526, "2025-09-15", "B-12", "P03", 560, "class1", "cold store 1"),
    (527, "2025-09-16", "B-12", "P05", 590, "extra", "cold store 1"),
    (528, "2025-09-16", "B-09", "P10", 210, "class1", "cold store 2"),
    (529, "2025-09-17", "B-09", "P08", 195, "juice", "press house"),
    (530, "2025-09-17", "B-12", "P03", 545, "class1", "cold store 1"),
    (531, "2025-09-24", "B-02", "P01", 610, "extra", "cold store 2"),
    (532, "2025-09-24", "B-02", "P07", 640, "extra", "cold store 2"),
    (533, "2025-09-24", "B-10", "P12", 575, "class1", "barn"),
    (534, "2025-09-25", "B-10", "P01", 630, "extra", "cold store 2"),
    (535, "2025-10-02", "B-01", "P05", 700, "class1", "barn"),
    (536, "2025-10-02", "B-13", "P03", 655, "juice", "press house"),
]}
Store = Literal["cold store 1", "cold store 2", "barn", "press house"]


def block(block_id):
    if block_id not in BLOCKS:
        raise ToolError(f"No block {block_id}.")
    return BLOCKS[block_id]


def picker(picker_id):
    if picker_id not in PICKERS:
        raise ToolError(f"No picker {picker_id}.")
    return PICKERS[picker_id]


@server.tool()
def get_block(block_id: str) -> dict:
    "Everything about one block of the orchard (id like B-07): area, trees, planting year, irrigation, foreman, last spraying."
    return block(block_id)


@server.tool()
def list_blocks(name: Optional[str] = None, variety: Optional[str] = None, irrigation: Optional[Literal["drip", "sprinkler", "none"]] = None) -> list[dict]:
    "Blocks, optionally only those with this text in the name, this variety slug or this irrigation."
    return [{k: b[k] for k in ("block_id", "name", "variety", "area_ha")} for b in BLOCKS.values()
            if (not name or name.lower() in b["name"].lower()) and (not variety or variety == b["variety"]) and (not irrigation or irrigation == b["irrigation"])]


@server.tool()
def get_variety(slug: str) -> dict:
    "A fruit variety by its slug, e.g. james-grieve."
    if slug not in VARIETIES:
        raise ToolError(f"No variety '{slug}' is grown here.")
    return VARIETIES[slug]


@server.tool()
def find_picker(who: str) -> list[dict]:
    "Pickers by id (P07) or by name or part of it."
    return [p for p in PICKERS.values() if who.upper() == p["picker_id"] or who.lower() in p["name"].lower()]


@server.tool()
def get_harvest(no: int) -> dict:
    "One harvest entry by its number."
    if no not in HARVESTS:
        raise ToolError(f"Harvest {no} does not exist.")
    return HARVESTS[no]


@server.tool()
def list_harvests(block_id: Optional[str] = None, picker_id: Optional[str] = None, date: Optional[str] = None) -> list[dict]:
    "Harvest entries of a block, a picker and/or a day (YYYY-MM-DD). At least one filter."
    if not (block_id or picker_id or date):
        raise ToolError("Give a block, a picker or a date.")
    return [{k: h[k] for k in ("no", "date", "block_id", "picker_id", "kg")} for h in HARVESTS.values()
            if (not block_id or block_id == h["block_id"]) and (not picker_id or picker_id == h["picker_id"]) and (not date or date == h["date"])]


@server.tool()
def record_harvest(block_id: str, picker_id: str, date: str, kg: float, grade: Literal["extra", "class1", "juice"] = "class1") -> dict:
    "Enter a new harvest. Date as YYYY-MM-DD, weight in kg."
    block(block_id), picker(picker_id)
    no = max(HARVESTS) + 1
    HARVESTS[no] = {"no": no, "date": date, "block_id": block_id, "picker_id": picker_id, "kg": kg, "grade": grade, "stored_in": None}
    return HARVESTS[no]


@server.tool()
def update_harvest(no: int, kg: Optional[float] = None, grade: Optional[Literal["extra", "class1", "juice"]] = None, stored_in: Optional[Store] = None) -> dict:
    "Correct the weight, the grade or the store of a harvest entry; give only what changes."
    h = get_harvest(no)
    h.update({k: v for k, v in (("kg", kg), ("grade", grade), ("stored_in", stored_in)) if v is not None})
    return h


@server.tool()
def update_block(block_id: str, foreman: Optional[str] = None, irrigation: Optional[Literal["drip", "sprinkler", "none"]] = None, last_spray: Optional[str] = None) -> dict:
    "Change a block's foreman (picker id), irrigation or date of last spraying; give only what changes."
    b = block(block_id)
    if foreman:
        picker(foreman)
    changed = {k: v for k, v in (("foreman", foreman), ("irrigation", irrigation), ("last_spray", last_spray)) if v is not None}
    b.update(changed)
    return {"block_id": block_id, "name": b["name"], **changed}


if __name__ == "__main__":
    server.run()
