from typing import Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("cellarbook")

WINES = {
    "riesling-kirchberg-2023": dict(name="Riesling Kirchberg", vintage=2023, grape="Riesling", colour="white", price_eur=14.50, bottles=820, alcohol=12.0, residual_sugar=6.2),
    "riesling-steinacker-2022": dict(name="Riesling Steinacker", vintage=2022, grape="Riesling", colour="white", price_eur=19.00, bottles=310, alcohol=12.5, residual_sugar=4.1),
    "silvaner-alte-reben-2022": dict(name="Silvaner Alte Reben", vintage=2022, grape="Silvaner", colour="white", price_eur=11.80, bottles=640, alcohol=12.5, residual_sugar=2.9),
    "chardonnay-barrique-2021": dict(name="Chardonnay Barrique", vintage=2021, grape="Chardonnay", colour="white", price_eur=24.00, bottles=185, alcohol=13.5, residual_sugar=1.8),
    "rose-sommerfuchs-2024": dict(name="Rosé Sommerfuchs", vintage=2024, grape="Pinot Noir", colour="rose", price_eur=9.90, bottles=1250, alcohol=11.5, residual_sugar=7.5),
    "pinot-noir-hohlweg-2021": dict(name="Pinot Noir Hohlweg", vintage=2021, grape="Pinot Noir", colour="red", price_eur=32.00, bottles=140, alcohol=13.5, residual_sugar=0.9),
    "pinot-noir-hohlweg-2022": dict(name="Pinot Noir Hohlweg", vintage=2022, grape="Pinot Noir", colour="red", price_eur=29.50, bottles=0, alcohol=13.0, residual_sugar=1.1),
    "lemberger-reserve-2020": dict(name="Lemberger Reserve", vintage=2020, grape="Lemberger", colour="red", price_eur=21.00, bottles=96, alcohol=14.0, residual_sugar=1.4),
    "merlot-klosterhang-2022": dict(name="Merlot Klosterhang", vintage=2022, grape="Merlot", colour="red", price_eur=17.20, bottles=410, alcohol=13.5, residual_sugar=1.6),
    "cuvee-nachtwache-2021": dict(name="Cuvée Nachtwache", vintage=2021, grape="Blend", colour="red", price_eur=26.00, bottles=275, alcohol=14.5, residual_sugar=1.2),
}

_COLS = ("wine", "location", "cooper", "oak", "volume_l", "fill_l", "filled_on", "fills")
BARRELS = {
    r[0]: dict(zip(_COLS, r[1:]))
    for r in [
        (3, "pinot-noir-hohlweg-2022", "Vault A", "Taransaud", "French", 228, 224, "2022-11-08", 1),
        (4, "pinot-noir-hohlweg-2022", "Vault A", "Taransaud", "French", 228, 219, "2022-11-08", 1),
        (7, "pinot-noir-hohlweg-2022", "Vault A", "Seguin Moreau", "French", 228, 226, "2022-11-09", 2),
        (11, "lemberger-reserve-2020", "Vault B", "Stockinger", "Austrian", 300, 281, "2020-12-02", 3),
        (12, "lemberger-reserve-2020", "Vault B", "Stockinger", "Austrian", 300, 290, "2020-12-02", 3),
        (15, "merlot-klosterhang-2022", "Vault B", "Radoux", "French", 225, 221, "2022-11-21", 2),
        (16, "merlot-klosterhang-2022", "Vault B", "Radoux", "American", 225, 213, "2022-11-21", 4),
        (18, "cuvee-nachtwache-2021", "Vault A", "Seguin Moreau", "French", 225, 222, "2021-12-14", 1),
        (21, "cuvee-nachtwache-2021", "Tunnel", "Radoux", "American", 225, 217, "2021-12-14", 2),
        (22, "chardonnay-barrique-2021", "Tunnel", "François Frères", "French", 228, 225, "2021-10-19", 1),
        (23, "chardonnay-barrique-2021", "Tunnel", "François Frères", "French", 228, 220, "2021-10-19", 3),
        (26, "silvaner-alte-reben-2022", "Tunnel", "Stockinger", "Austrian", 500, 488, "2022-10-12", 5),
        (30, None, "Cooperage", "Radoux", "American", 225, 0, None, 4),
        (31, None, "Cooperage", "Taransaud", "French", 228, 0, None, 0),
    ]
}

TASTINGS = [
    ["2025-03-04", "pinot-noir-hohlweg-2022", 3, "Ilse Brandauer", 91, "sour cherry, tannins still firm"],
    ["2025-03-04", "pinot-noir-hohlweg-2022", 4, "Ilse Brandauer", 88, "a little reduced, rack soon"],
    ["2025-03-04", "pinot-noir-hohlweg-2022", 7, "Pieter Vos", 90, "raspberry, silky"],
    ["2025-02-18", "lemberger-reserve-2020", 11, "Pieter Vos", 87, "pepper, slightly dry finish"],
    ["2025-02-18", "lemberger-reserve-2020", 12, "Ilse Brandauer", 92, "blackberry, long, ready to bottle"],
    ["2025-03-11", "merlot-klosterhang-2022", 15, "Noemi Castel", 86, "plum, soft"],
    ["2025-03-11", "merlot-klosterhang-2022", 16, "Noemi Castel", 83, "too much coconut from the oak"],
    ["2025-01-29", "cuvee-nachtwache-2021", 18, "Ilse Brandauer", 93, "cassis, graphite, deep"],
    ["2025-03-20", "cuvee-nachtwache-2021", 21, "Pieter Vos", 89, "vanilla, warm"],
    ["2025-02-05", "chardonnay-barrique-2021", 22, "Noemi Castel", 90, "hazelnut, butter"],
    ["2025-03-20", "chardonnay-barrique-2021", 23, "Noemi Castel", 88, "lemon peel, lean"],
    ["2025-01-15", "silvaner-alte-reben-2022", 26, "Pieter Vos", 85, "hay, pear, flat acidity"],
]


def _barrel(number):
    if number not in BARRELS:
        raise ToolError(f"barrel {number} does not exist")
    return BARRELS[number]


@server.tool(name="find-wines")
def find_wines(name: str | None = None, colour: Literal["white", "rose", "red"] | None = None, vintage: int | None = None) -> str:
    """Wine list as a table with the slug, price and bottles in stock. Filter by part of the name or grape, colour, vintage."""
    rows = [f"{slug} | {w['name']} {w['vintage']} | {w['price_eur']:.2f} EUR | {w['bottles']}" for slug, w in WINES.items()
            if (not name or name.lower() in w["name"].lower() or name.lower() in w["grape"].lower())
            and (not colour or w["colour"] == colour) and (not vintage or w["vintage"] == vintage)]
    if not rows:
        return "no wines found"
    return "\n".join(["slug | wine | price | bottles", *rows])


@server.tool(name="wine-card", structured_output=False)
def wine_card(slug: str) -> dict | str:
    """Data sheet of one wine by slug: grape, alcohol (% vol), residual sugar (g/l), price, stock."""
    if slug not in WINES:
        return f"no wine with slug {slug}"
    return {"slug": slug, **WINES[slug]}


@server.tool()
def barrel(number: int) -> dict:
    """What is in a barrel, where it lies, its cooper, oak, size and fill in litres, and how often it has been filled."""
    return {"number": number, **_barrel(number)}


@server.tool(name="list-barrels")
def list_barrels(wine: str | None = None, location: Literal["Vault A", "Vault B", "Tunnel", "Cooperage"] | None = None) -> str:
    """Barrels as a table, of one wine (slug) and/or in one place."""
    rows = [f"{n} | {b['wine'] or '(empty)'} | {b['location']} | {b['oak']} | {b['fill_l']}/{b['volume_l']} l" for n, b in BARRELS.items()
            if (not wine or b["wine"] == wine) and (not location or b["location"] == location)]
    return "\n".join(["no | wine | location | oak | fill", *rows]) if rows else "no barrels"


@server.tool()
def tastings(wine: str | None = None, barrel: int | None = None, taster: str | None = None) -> str:
    """Tasting notes, newest last. Give a wine slug, a barrel number or a taster's full name."""
    hits = [t for t in TASTINGS if (not wine or t[1] == wine) and (barrel is None or t[2] == barrel) and (not taster or t[3] == taster)]
    return "\n".join(f"{t[0]} {t[1]} barrel {t[2]}: {t[4]} points, {t[3]}: {t[5]}" for t in sorted(hits, key=lambda t: t[0])) or "no tastings"


@server.tool(name="add-tasting")
def add_tasting(barrel: int, taster: str, points: int, note: str = "") -> str:
    """Record a tasting of a barrel today (50 to 100 points)."""
    b = _barrel(barrel)
    if b["wine"] is None:
        raise ToolError(f"barrel {barrel} is empty")
    if not 50 <= points <= 100:
        raise ToolError("points must be 50 to 100")
    TASTINGS.append(["2025-04-01", b["wine"], barrel, taster, points, note])
    return f"tasting saved: 2025-04-01 {b['wine']} barrel {barrel}, {points} points, {taster}"


@server.tool(name="move-barrel")
def move_barrel(number: int, location: Literal["Vault A", "Vault B", "Tunnel", "Cooperage"]) -> str:
    """Move a barrel to another place in the cellar."""
    b = _barrel(number)
    old, b["location"] = b["location"], location
    return f"barrel {number} moved from {old} to {location}"


@server.tool(name="set-fill")
def set_fill(number: int, litres: int) -> str:
    """Set how many litres are in a barrel, after topping up or drawing off."""
    b = _barrel(number)
    if not 0 <= litres <= b["volume_l"]:
        raise ToolError(f"barrel {number} holds {b['volume_l']} l at most")
    old, b["fill_l"] = b["fill_l"], litres
    return f"barrel {number}: {old} l -> {litres} l of {b['volume_l']} l"


@server.tool(name="update-wine")
def update_wine(slug: str, price_eur: float | None = None, bottles: int | None = None) -> str:
    """Change the price per bottle and/or the number of bottles in stock of a wine."""
    if slug not in WINES:
        return f"no wine with slug {slug}"
    w, done = WINES[slug], []
    if price_eur is not None:
        done.append(f"price {w['price_eur']:.2f} -> {price_eur:.2f} EUR"); w["price_eur"] = price_eur
    if bottles is not None:
        done.append(f"bottles {w['bottles']} -> {bottles}"); w["bottles"] = bottles
    return f"{slug}: " + (", ".join(done) or "nothing changed")


if __name__ == "__main__":
    server.run()
