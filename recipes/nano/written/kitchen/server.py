from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("kitchen")

def _r(title, course, price, portions, minutes, veg, allergens, station, chef, on_menu, ingredients):
    return dict(title=title, course=course, price_eur=price, portions=portions, minutes=minutes, vegetarian=veg,
                allergens=allergens, station=station, chef=chef, on_menu=on_menu, ingredients=ingredients)

RECIPES = {
    "pea-soup": _r("Pea and Mint Soup", "starter", 7.5, 8, 35, True, ["milk", "celery"], "soup", "Ilse", True, {"peas": "1.2 kg", "mint": "40 g", "cream": "300 ml"}),
    "onion-tart": _r("Red Onion Tart", "starter", 9, 6, 55, True, ["gluten", "milk", "egg"], "pastry", "Noor", True, {"red onions": "900 g", "flour": "350 g", "butter": "200 g", "eggs": "4"}),
    "smoked-trout": _r("Smoked Trout Salad", "starter", 12.5, 4, 20, False, ["fish", "mustard"], "cold", "Bram", True, {"trout": "480 g", "fennel": "300 g", "mustard": "20 g"}),
    "beet-carpaccio": _r("Beetroot Carpaccio", "starter", 8.5, 4, 25, True, ["nuts"], "cold", "Bram", False, {"beetroot": "700 g", "walnuts": "80 g"}),
    "mussels": _r("Mussels in Cider", "main", 19.5, 4, 30, False, ["molluscs", "sulphites"], "fish", "Tomasz", True, {"mussels": "4 kg", "cider": "500 ml", "fennel": "200 g"}),
    "lamb-shank": _r("Braised Lamb Shank", "main", 24, 6, 190, False, ["celery", "sulphites"], "grill", "Tomasz", True, {"lamb shanks": "6", "carrots": "800 g", "red wine": "750 ml"}),
    "mushroom-risotto": _r("Mushroom Risotto", "main", 17, 4, 40, True, ["milk", "celery"], "stove", "Ilse", True, {"risotto rice": "360 g", "mushrooms": "500 g", "parmesan": "120 g"}),
    "cod-leeks": _r("Cod on Leeks", "main", 22.5, 4, 35, False, ["fish", "milk"], "fish", "Noor", True, {"cod": "720 g", "leeks": "600 g", "butter": "120 g"}),
    "steak-frites": _r("Steak Frites", "main", 26.5, 2, 30, False, ["milk"], "grill", "Tomasz", True, {"ribeye": "500 g", "potatoes": "600 g", "butter": "60 g"}),
    "aubergine-bake": _r("Aubergine Bake", "main", 16, 8, 75, True, ["milk", "gluten"], "oven", "Ilse", False, {"aubergines": "2 kg", "tomatoes": "1.5 kg", "parmesan": "200 g"}),
    "potato-gratin": _r("Potato Gratin", "side", 5.5, 10, 80, True, ["milk"], "oven", "Noor", True, {"potatoes": "2.5 kg", "cream": "1 l"}),
    "green-beans": _r("Green Beans with Shallots", "side", 4.5, 6, 15, True, [], "stove", "Bram", True, {"green beans": "900 g", "shallots": "150 g"}),
    "slaw": _r("Fennel Slaw", "side", 4, 8, 15, True, ["mustard", "egg"], "cold", "Bram", False, {"fennel": "800 g", "mustard": "30 g", "eggs": "2"}),
    "lemon-posset": _r("Lemon Posset", "dessert", 7, 6, 20, True, ["milk"], "pastry", "Noor", True, {"cream": "900 ml", "lemons": "5", "sugar": "220 g"}),
    "choc-tart": _r("Dark Chocolate Tart", "dessert", 8.5, 12, 95, True, ["gluten", "milk", "egg"], "pastry", "Noor", True, {"dark chocolate": "600 g", "butter": "250 g", "flour": "300 g", "eggs": "6"}),
    "poached-pear": _r("Pear Poached in Red Wine", "dessert", 7.5, 8, 50, True, ["sulphites"], "pastry", "Ilse", False, {"pears": "8", "red wine": "1.5 l", "sugar": "180 g"}),
}

PANTRY = [dict(zip(("item", "amount", "unit", "minimum", "shelf", "best_before", "supplier"), row)) for row in [
    ("butter", 6.5, "kg", 4, "fridge 1", "2025-10-30", "Veldhof Dairy"),
    ("cream", 3, "l", 6, "fridge 1", "2025-10-17", "Veldhof Dairy"),
    ("parmesan", 2.4, "kg", 1.5, "fridge 1", "2025-12-05", "Veldhof Dairy"),
    ("eggs", 84, "pcs", 60, "fridge 2", "2025-10-24", "Veldhof Dairy"),
    ("cod", 2.9, "kg", 3, "fridge 2", "2025-10-15", "North Quay Fish"),
    ("trout", 1.8, "kg", 1, "fridge 2", "2025-10-19", "North Quay Fish"),
    ("mussels", 8, "kg", 8, "fridge 2", "2025-10-14", "North Quay Fish"),
    ("lamb shanks", 14, "pcs", 12, "fridge 3", "2025-10-18", "Hartog Butchers"),
    ("ribeye", 3.5, "kg", 5, "fridge 3", "2025-10-20", "Hartog Butchers"),
    ("leeks", 4, "kg", 3, "rack A", "2025-10-21", "Green Cart"),
    ("fennel", 1.1, "kg", 2, "rack A", "2025-10-18", "Green Cart"),
    ("red onions", 9, "kg", 5, "rack A", "2025-11-12", "Green Cart"),
    ("potatoes", 40, "kg", 25, "rack A", "2025-11-20", "Green Cart"),
    ("mushrooms", 2.2, "kg", 2, "rack A", "2025-10-16", "Green Cart"),
    ("lemons", 30, "pcs", 20, "rack B", "2025-10-29", "Green Cart"),
    ("pears", 12, "pcs", 10, "rack B", "2025-10-23", "Green Cart"),
    ("flour", 18, "kg", 10, "dry store", "2026-04-01", "Molenaar Dry Goods"),
    ("sugar", 7, "kg", 8, "dry store", "2027-01-31", "Molenaar Dry Goods"),
    ("risotto rice", 11, "kg", 5, "dry store", "2026-08-15", "Molenaar Dry Goods"),
    ("dark chocolate", 4.2, "kg", 3, "dry store", "2026-03-10", "Molenaar Dry Goods"),
    ("red wine", 9, "l", 6, "cellar", "2028-06-30", "Molenaar Dry Goods"),
]]

DELIVERIES = {d[0]: dict(zip(("delivery_no", "supplier", "due", "window", "status", "total_eur", "driver", "lines", "note"), d)) for d in [
    ("D-301", "Green Cart", "2025-10-11", "06:00-07:00", "delivered", 182.40, "Femke", ["leeks 6 kg", "potatoes 25 kg", "mushrooms 3 kg"], ""),
    ("D-302", "North Quay Fish", "2025-10-11", "07:00-08:00", "delivered", 264, "Sander", ["mussels 12 kg", "trout 2 kg"], "ice melted, still cold"),
    ("D-303", "Hartog Butchers", "2025-10-12", "08:00-09:30", "refused", 318.75, "Ruud", ["ribeye 7 kg"], "packaging torn"),
    ("D-304", "Veldhof Dairy", "2025-10-12", "06:30-07:30", "delivered", 121.10, "Anneke", ["butter 5 kg", "eggs 90 pcs"], ""),
    ("D-305", "Veldhof Dairy", "2025-10-13", "06:30-07:30", "on the way", 96.80, "Anneke", ["cream 12 l"], ""),
    ("D-306", "North Quay Fish", "2025-10-13", "07:00-08:00", "on the way", 208.50, "Sander", ["cod 6 kg"], "ring at the back door"),
    ("D-307", "Green Cart", "2025-10-13", "06:00-07:00", "on the way", 74.25, "Femke", ["fennel 4 kg", "mint 200 g"], ""),
    ("D-308", "Hartog Butchers", "2025-10-14", "08:00-09:30", "ordered", 402, "Ruud", ["ribeye 6 kg", "lamb shanks 12 pcs"], "replaces D-303"),
    ("D-309", "Molenaar Dry Goods", "2025-10-15", "13:00-15:00", "ordered", 149.90, "Joep", ["sugar 10 kg", "flour 25 kg"], ""),
    ("D-310", "North Quay Fish", "2025-10-15", "07:00-08:00", "ordered", 330, "Sander", ["mussels 15 kg", "cod 4 kg"], ""),
    ("D-311", "Green Cart", "2025-10-16", "06:00-07:00", "ordered", 98.60, "Femke", ["mushrooms 5 kg", "pears 30 pcs"], ""),
]}

SUPPLIERS = [dict(zip(("name", "contact", "phone", "order_by", "delivery_days", "minimum_order_eur", "payment_days"), s)) for s in [
    ("Veldhof Dairy", "Marijke Vos", "030-4417", "15:00", "Mon, Wed, Sat", 75, 14),
    ("North Quay Fish", "Sander Blok", "030-2290", "21:00", "Mon, Wed, Fri, Sat", 120, 7),
    ("Hartog Butchers", "Piet Hartog", "030-8153", "12:00", "Tue, Sun", 150, 30),
    ("Green Cart", "Femke de Wit", "030-6604", "20:00", "daily", 40, 14),
    ("Molenaar Dry Goods", "Lotte Kuiper", "030-7718", "10:00", "Wed", 100, 30),
]]

def _recipe(recipe_id):
    if recipe_id not in RECIPES:
        raise ToolError(f"unknown recipe '{recipe_id}' (see list_recipes for ids)")
    return RECIPES[recipe_id]

@server.tool()
def list_recipes(course: Literal["starter", "main", "side", "dessert"] | None = None, vegetarian: bool | None = None,
                 on_menu: bool | None = None, title_contains: str = "") -> list[dict]:
    """List recipes with their ids; all filters are optional but at least one is needed."""
    if course is None and vegetarian is None and on_menu is None and not title_contains:
        raise ToolError("give at least one filter")
    return [{"recipe_id": k, "title": r["title"], "price_eur": r["price_eur"], "minutes": r["minutes"]} for k, r in RECIPES.items()
            if (course is None or r["course"] == course) and (vegetarian is None or r["vegetarian"] == vegetarian)
            and (on_menu is None or r["on_menu"] == on_menu) and title_contains.lower() in r["title"].lower()]

@server.tool()
def get_recipe(recipe_id: str) -> dict:
    """Everything about one recipe. recipe_id is a slug such as 'pea-soup'; use list_recipes to find it."""
    return {"recipe_id": recipe_id, **_recipe(recipe_id)}

@server.tool()
def set_on_menu(recipe_id: str, on_menu: bool) -> dict:
    """Put a recipe on tonight's menu (true) or take it off (false)."""
    r = _recipe(recipe_id); r["on_menu"] = on_menu
    return {"recipe_id": recipe_id, "title": r["title"], "on_menu": on_menu}

@server.tool()
def pantry(search: str = "", shelf: str = "", low_only: bool = False) -> list[dict]:
    """Stock in the pantry. Search by ingredient name, by shelf (e.g. 'fridge 1', 'rack A', 'dry store') or only what is below its minimum."""
    if not (search or shelf or low_only):
        raise ToolError("search, shelf or low_only is required")
    rows = [p for p in PANTRY if search.lower() in p["item"] and shelf.lower() in p["shelf"].lower() and (not low_only or p["amount"] < p["minimum"])]
    return rows[:12]

@server.tool()
def correct_pantry(item: str, change: float, reason: str = "") -> dict:
    """Add to (positive) or take from (negative) the stock of an ingredient, in its own unit."""
    for p in PANTRY:
        if p["item"] == item.lower():
            if p["amount"] + change < 0:
                raise ToolError(f"only {p['amount']} {p['unit']} of {item} in stock")
            before = p["amount"]; now = round(before + change, 2); p["amount"] = int(now) if now == int(now) else now
            return {"item": p["item"], "before": before, "now": p["amount"], "unit": p["unit"]}
    raise ToolError(f"'{item}' is not kept in the pantry")

@server.tool()
def list_deliveries(supplier: str = "", status: Literal["ordered", "on the way", "delivered", "refused"] | None = None, due: str = "") -> list[dict]:
    """Deliveries in short form, by supplier name, status and/or due date (YYYY-MM-DD)."""
    return [{k: d[k] for k in ("delivery_no", "supplier", "due", "status", "total_eur")} for d in DELIVERIES.values()
            if supplier.lower() in d["supplier"].lower() and (status is None or d["status"] == status) and (not due or d["due"] == due)]

@server.tool()
def get_delivery(delivery_no: str) -> dict:
    """One delivery with its lines, time window, driver and note, by number such as 'D-301'."""
    if delivery_no not in DELIVERIES:
        raise ToolError(f"no delivery {delivery_no}")
    return DELIVERIES[delivery_no]

@server.tool()
def set_delivery_status(delivery_no: str, status: Literal["ordered", "on the way", "delivered", "refused"], note: str = "") -> dict:
    """Change the status of a delivery; a note may be added."""
    d = get_delivery(delivery_no); old = d["status"]; d["status"] = status
    if note: d["note"] = note
    return {"delivery_no": delivery_no, "supplier": d["supplier"], "old_status": old, "status": status, "note": d["note"]}

@server.tool()
def get_supplier(name: str) -> dict:
    """Contact person, phone, order deadline, delivery days and terms of a supplier (part of the name is enough)."""
    for s in SUPPLIERS:
        if name.lower() in s["name"].lower(): return s
    raise ToolError(f"no supplier matches '{name}'")

if __name__ == "__main__":
    server.run()
