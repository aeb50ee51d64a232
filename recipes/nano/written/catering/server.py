from datetime import date as Date
from typing import Literal, Optional
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("catering")

STAFF = [dict(zip(("staff", "name", "role", "phone", "hourly_chf", "van_licence", "deputy"), v)) for v in [
    ("mila", "Mila Brandt", "chef", "555-0161", 46, False, "lien"),
    ("bruno", "Bruno Keller", "chef", "555-0162", 41, True, "mila"),
    ("lien", "Lien Tran", "chef", "555-0163", 40, False, "bruno"),
    ("rasheed", "Rasheed Anwar", "event manager", "555-0164", 38, True, "tove"),
    ("tove", "Tove Lindgren", "event manager", "555-0165", 37, False, "jun"),
    ("jun", "Jun Takeda", "event manager", "555-0166", 35, True, "ana"),
    ("ana", "Ana Ferreira", "event manager", "555-0167", 36, False, "rasheed"),
    ("greta", "Greta Moss", "bar", "555-0168", 30, True, "pablo"),
    ("pablo", "Pablo Ruiz", "driver", "555-0169", 28, True, "greta"),
]]

DISHES = [dict(zip(("dish", "name", "station", "prep_minutes", "cost_chf", "allergens", "vegetarian"), v)) for v in [
    ("beetroot-tartare", "Beetroot tartare", "cold", 25, 3.4, ["mustard"], True),
    ("trout-fennel", "Trout on fennel", "hot", 35, 9.8, ["fish"], False),
    ("lemon-posset", "Lemon posset", "pastry", 20, 2.6, ["milk"], True),
    ("pumpkin-soup", "Pumpkin soup", "hot", 40, 2.1, ["celery"], True),
    ("pork-shoulder", "Slow pork shoulder", "grill", 240, 6.9, [], False),
    ("apple-crumble", "Apple crumble", "pastry", 50, 2.4, ["gluten", "milk"], True),
    ("scallop-crudo", "Scallop crudo", "cold", 15, 11.5, ["molluscs"], False),
    ("beef-wellington", "Beef Wellington", "hot", 150, 16.2, ["gluten", "egg"], False),
    ("chocolate-torte", "Chocolate torte", "pastry", 75, 4.1, ["egg", "milk"], True),
    ("corn-ribs", "Corn ribs", "grill", 20, 2.2, [], True),
    ("brisket-smoked", "Smoked brisket", "grill", 600, 8.7, ["mustard"], False),
    ("berry-pavlova", "Berry pavlova", "pastry", 90, 3.2, ["egg", "milk"], True),
    ("goat-cheese-puffs", "Goat cheese puffs", "hot", 45, 3.7, ["gluten", "milk"], True),
    ("chicken-skewers", "Chicken skewers", "grill", 30, 4.4, ["sesame"], False),
    ("mini-eclairs", "Mini éclairs", "pastry", 80, 2.9, ["gluten", "egg", "milk"], True),
    ("pea-hummus", "Pea hummus", "cold", 18, 1.9, ["sesame"], True),
    ("cauliflower-steak", "Cauliflower steak", "grill", 35, 4.8, [], True),
    ("coconut-rice-pudding", "Coconut rice pudding", "pastry", 45, 2.3, [], True),
]]

MENUS = [dict(zip(("menu", "price_per_head_chf", "min_guests", "starter", "main", "dessert", "chef"), v)) for v in [
    ("garden-summer", 78, 50, "beetroot-tartare", "trout-fennel", "lemon-posset", "mila"),
    ("harvest-buffet", 52, 30, "pumpkin-soup", "pork-shoulder", "apple-crumble", "bruno"),
    ("silver-three-course", 95, 40, "scallop-crudo", "beef-wellington", "chocolate-torte", "mila"),
    ("bbq-yard", 45, 60, "corn-ribs", "brisket-smoked", "berry-pavlova", "bruno"),
    ("finger-classic", 34, 25, "goat-cheese-puffs", "chicken-skewers", "mini-eclairs", "lien"),
    ("vegan-feast", 58, 20, "pea-hummus", "cauliflower-steak", "coconut-rice-pudding", "lien"),
]]

EVENTS = [dict(zip(("event", "title", "date", "start", "venue", "guests", "menu", "lead", "contact_phone", "status"), v)) for v in [
    ("wedding-hartmann", "Hartmann wedding", "2025-06-14", "16:00", "Lakeside Barn", 120, "garden-summer", "mila", "555-0171", "confirmed"),
    ("jubilee-rotary", "Rotary Club jubilee", "2025-06-20", "18:30", "Town Hall", 85, "silver-three-course", "rasheed", "555-0172", "confirmed"),
    ("picnic-lumen", "Lumen Software summer picnic", "2025-06-27", "12:00", "Birch Park", 140, "bbq-yard", "tove", "555-0173", "tentative"),
    ("christening-okafor", "Okafor christening", "2025-06-29", "11:30", "St. Anne's parish house", 40, "finger-classic", "jun", "555-0174", "confirmed"),
    ("gala-hospice", "Hospice charity gala", "2025-07-05", "19:00", "Opera foyer", 210, "silver-three-course", "mila", "555-0175", "tentative"),
    ("birthday-vogt-60", "Elke Vogt's 60th birthday", "2025-07-11", "18:00", "Mill Garden", 60, "harvest-buffet", "tove", "555-0176", "confirmed"),
    ("wedding-silva-brun", "Silva & Brun wedding", "2025-07-19", "15:00", "Château Rive", 95, "garden-summer", "rasheed", "555-0177", "confirmed"),
    ("launch-pedalworks", "Pedalworks bike launch", "2025-07-24", "17:00", "Tram depot", 75, "finger-classic", "jun", "555-0178", "tentative"),
    ("retreat-yoga-moor", "Moor yoga retreat dinner", "2025-08-02", "19:00", "Moor House", 32, "vegan-feast", "ana", "555-0179", "confirmed"),
    ("fete-ironworks", "Ironworks staff fête", "2025-08-09", "12:30", "Ironworks yard", 180, "bbq-yard", "tove", "555-0180", "confirmed"),
    ("anniv-delacroix", "Delacroix golden anniversary", "2025-08-16", "13:00", "Hotel Beau", 50, "silver-three-course", "ana", "555-0181", "cancelled"),
    ("school-reunion-90", "Class of '90 reunion", "2025-08-23", "18:00", "Old gymnasium", 70, "harvest-buffet", "jun", "555-0182", "tentative"),
    ("wedding-petrov", "Petrov wedding", "2025-09-06", "16:30", "Vineyard Solis", 110, "garden-summer", "mila", "555-0183", "tentative"),
    ("opening-gallery-nord", "Gallery Nord opening", "2025-09-12", "18:15", "Gallery Nord", 90, "finger-classic", "ana", "555-0184", "confirmed"),
]]


def _pick(table, key, value):
    for row in table:
        if row[key] == value:
            return row
    raise ToolError(f"no {key} '{value}'")


@server.tool(name="list-events")
def list_events(search: str = "", month: Optional[str] = None, status: Optional[Literal["tentative", "confirmed", "cancelled"]] = None) -> list[dict]:
    """Events, by a word of the title, by month (YYYY-MM) and/or status. The slug of each stands under "event"."""
    return [{k: e[k] for k in ("event", "title", "date", "guests", "status")} for e in EVENTS
            if (search.lower() in e["title"].lower() or search.lower() in e["event"]) and e["date"].startswith(month or "") and status in (None, e["status"])]


@server.tool(name="get-event")
def get_event(event: str) -> list[dict]:
    """Full record of an event by slug: start, venue, menu, lead, contact phone."""
    return [_pick(EVENTS, "event", event)]


@server.tool(name="get-menu")
def get_menu(menu: str) -> list[dict]:
    """Menu by slug."""
    return [_pick(MENUS, "menu", menu)]


@server.tool(name="list-dishes")
def list_dishes(search: str = "", station: Optional[Literal["cold", "hot", "grill", "pastry"]] = None, vegetarian: Optional[bool] = None) -> list[dict]:
    """Dishes by a word of the name, kitchen station and/or vegetarian. At least one filter."""
    if not search and station is None and vegetarian is None:
        raise ToolError("give at least one filter")
    return [{k: d[k] for k in ("dish", "name", "cost_chf")} for d in DISHES
            if search.lower() in d["name"].lower() and station in (None, d["station"]) and vegetarian in (None, d["vegetarian"])]


@server.tool(name="get-dish")
def get_dish(dish: str) -> list[dict]:
    """Dish by slug: station, preparation time, cost per portion, allergens."""
    return [_pick(DISHES, "dish", dish)]


@server.tool(name="list-staff")
def list_staff(role: Optional[Literal["chef", "event manager", "bar", "driver"]] = None) -> list[dict]:
    """Staff, optionally of one role."""
    return [{k: s[k] for k in ("staff", "name", "role")} for s in STAFF if role in (None, s["role"])]


@server.tool(name="get-staff")
def get_staff(staff: str) -> list[dict]:
    """A staff member by slug, which is the first name in lower case."""
    return [_pick(STAFF, "staff", staff)]


@server.tool(name="update-event")
def update_event(event: str, guests: Optional[int] = None, date: Optional[str] = None,
                 status: Optional[Literal["tentative", "confirmed", "cancelled"]] = None) -> list[dict]:
    """Change the guest count, date (YYYY-MM-DD) or status of an event. Give only what changes."""
    e = _pick(EVENTS, "event", event)
    changes = {k: v for k, v in (("guests", guests), ("date", date), ("status", status)) if v is not None}
    if not changes:
        raise ToolError("nothing to change")
    if date is not None:
        try:
            Date.fromisoformat(date)
        except ValueError:
            raise ToolError("date must be YYYY-MM-DD")
    out = [{"event": event, "field": k, "old": e[k], "new": v} for k, v in changes.items()]
    e.update(changes)
    return out


@server.tool(name="assign-lead")
def assign_lead(event: str, staff: str) -> list[dict]:
    """Put a staff member in charge of an event."""
    e = _pick(EVENTS, "event", event)
    _pick(STAFF, "staff", staff)
    old, e["lead"] = e["lead"], staff
    return [{"event": event, "field": "lead", "old": old, "new": staff}]


if __name__ == "__main__":
    server.run()
