from typing import Literal, Optional

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("breweries")

Stage = Literal["fermenting", "conditioning", "packaged", "dumped"]
KegStatus = Literal["full", "at customer", "empty", "repair"]

# tank: site, capacity L, batch, temperature, set point, pressure bar, state
TANKS = {
    "FV-1": ["Northgate", 2000, 417, 19.1, 19.0, 0.2, "in use"],
    "FV-2": ["Northgate", 2000, 421, 18.6, 18.5, 0.3, "in use"],
    "FV-3": ["Northgate", 2000, 420, 17.9, 18.0, 0.3, "in use"],
    "FV-4": ["Mill Lane", 1500, 416, 18.8, 18.0, 0.4, "in use"],
    "FV-5": ["Mill Lane", 1500, 422, 24.3, 24.0, 0.1, "in use"],
    "FV-6": ["Mill Lane", 1200, 423, 19.7, 19.5, 0.2, "in use"],
    "BT-1": ["Northgate", 1300, 419, 6.2, 6.0, 0.9, "in use"],
    "BT-2": ["Northgate", 2000, 418, 1.4, 1.0, 1.1, "in use"],
    "BT-3": ["Northgate", 2000, None, 12.5, 12.0, 0.0, "clean"],
    "BT-4": ["Mill Lane", 1500, 424, 3.8, 3.5, 1.0, "in use"],
    "BT-5": ["Mill Lane", 1500, None, 14.0, 14.0, 0.0, "dirty"],
}
# batch: recipe, brewer, brewed, stage, tank, litres, gravity, kegs
BATCHES = {
    411: ["harbour-light", "MKL", "2025-03-18", "packaged", None, 1900, 1.009, ["K-301", "K-302", "K-303"]],
    412: ["old-tollgate", "JD", "2025-03-25", "packaged", None, 1150, 1.010, ["K-304", "K-305", "K-306"]],
    413: ["night-ferry", "AOB", "2025-04-01", "packaged", None, 1820, 1.017, ["K-307", "K-308"]],
    414: ["lantern-pils", "SW", "2025-04-04", "packaged", None, 1760, 1.008, ["K-309", "K-310", "K-311"]],
    415: ["copper-lane", "TP", "2025-04-10", "packaged", None, 1400, 1.011, ["K-312", "K-313"]],
    416: ["brickyard", "AOB", "2025-04-29", "fermenting", "FV-4", 1380, 1.016, []],
    417: ["harbour-light", "MKL", "2025-05-06", "fermenting", "FV-1", 1850, 1.014, []],
    418: ["lantern-pils", "SW", "2025-05-02", "conditioning", "BT-2", 1720, 1.008, []],
    419: ["salt-marsh", "JD", "2025-05-08", "conditioning", "BT-1", 1210, 1.007, []],
    420: ["copper-lane", "TP", "2025-05-13", "fermenting", "FV-3", 1780, 1.021, []],
    421: ["night-ferry", "AOB", "2025-05-14", "fermenting", "FV-2", 1830, 1.024, []],
    422: ["meadow-saison", "TP", "2025-05-09", "fermenting", "FV-5", 1290, 1.006, []],
    423: ["old-tollgate", "JD", "2025-05-15", "fermenting", "FV-6", 1100, 1.029, []],
    424: ["brickyard", "SW", "2025-04-22", "conditioning", "BT-4", 1360, 1.013, []],
    425: ["harbour-light", "MKL", "2025-04-11", "dumped", None, 1870, 1.031, []],
}
# recipe: beer, style, abv, ibu, hops, yeast, price per keg, author
RECIPES = {
    "harbour-light": ["Harbour Light", "pale ale", 4.2, 28, "Mosaic 3.0 kg", "Foxley No. 5", 118.0, "MKL"],
    "old-tollgate": ["Old Tollgate", "bitter", 3.9, 34, "Fuggle 2.4 kg", "Tollhouse Ale", 104.0, "JD"],
    "night-ferry": ["Night Ferry", "stout", 5.6, 41, "Target 1.8 kg", "Foxley No. 2", 132.5, "AOB"],
    "lantern-pils": ["Lantern Pils", "pilsner", 4.8, 31, "Saaz 4.2 kg", "Cellar Lager", 121.0, "SW"],
    "copper-lane": ["Copper Lane", "red ale", 4.6, 26, "Cascade 2.7 kg", "Foxley No. 5", 115.5, "JD"],
    "brickyard": ["Brickyard", "porter", 5.1, 36, "Bramling 2.1 kg", "Tollhouse Ale", 124.0, "AOB"],
    "salt-marsh": ["Salt Marsh", "gose", 4.0, 9, "Hallertau 0.6 kg", "Coast Sour", 127.0, "TP"],
    "meadow-saison": ["Meadow Saison", "saison", 6.2, 22, "Aramis 1.9 kg", "Barn Farmhouse", 138.0, "MKL"],
}
BREWERS = {
    "MKL": ["Maren Kloss", "Northgate", "555-0121", "06:00 to 14:00"],
    "JD": ["Jude Dorsett", "Northgate", "555-0122", "14:00 to 22:00"],
    "AOB": ["Aoife Brannigan", "Mill Lane", "555-0123", "05:30 to 13:30"],
    "TP": ["Tariq Pasha", "Northgate", "555-0124", "08:00 to 16:00"],
    "SW": ["Stellan Wirth", "Mill Lane", "555-0125", "13:00 to 21:00"],
}
# keg: size L, batch, location, status, filled
KEGS = {
    "K-301": [30, 411, "cold store A", "full", "2025-04-08"],
    "K-302": [30, 411, "cold store A", "full", "2025-04-08"],
    "K-303": [50, 411, "Dog & Duck", "at customer", "2025-04-09"],
    "K-304": [50, 412, "The Anchor", "at customer", "2025-04-14"],
    "K-305": [30, 412, "cold store B", "full", "2025-04-14"],
    "K-306": [20, 412, "workshop", "repair", "2025-04-15"],
    "K-307": [50, 413, "Railway Arms", "at customer", "2025-04-22"],
    "K-308": [30, 413, "The Anchor", "at customer", "2025-04-22"],
    "K-309": [50, 414, "cold store B", "full", "2025-04-30"],
    "K-310": [30, 414, "Dog & Duck", "at customer", "2025-04-30"],
    "K-311": [30, 414, "yard", "empty", "2025-05-01"],
    "K-312": [50, 415, "Railway Arms", "at customer", "2025-05-02"],
    "K-313": [20, 415, "cold store A", "full", "2025-05-02"],
}


def _tank(tank: str) -> list:
    if tank not in TANKS:
        raise ToolError(f"unknown tank {tank}")
    return TANKS[tank]


def _batch(batch: int) -> list:
    if batch not in BATCHES:
        raise ToolError(f"batch {batch} not found")
    return BATCHES[batch]


@server.tool(name="tank-status")
def tank_status(tank: str) -> str:
    "What a tank holds and its readings. Tanks are FV-n (fermenters) and BT-n (bright tanks)."
    site, cap, batch, temp, setp, bar, state = _tank(tank)
    return (f"tank: {tank}\nsite: {site}\nstate: {state}\nbatch: {batch or 'none'}\ncapacity: {cap} L\n"
            f"temperature: {temp} °C\nset point: {setp} °C\npressure: {bar} bar")


@server.tool(name="batch-sheet")
def batch_sheet(batch: int) -> str:
    "The brew sheet of a batch."
    recipe, brewer, brewed, stage, tank, litres, gravity, kegs = _batch(batch)
    return (f"batch: {batch}\nrecipe: {recipe}\nbrewer: {brewer}\nbrewed: {brewed}\nstage: {stage}\ntank: {tank or 'none'}\n"
            f"volume: {litres} L\ngravity: {gravity:.3f} SG\nkegs: {', '.join(kegs) or 'none'}")


@server.tool(name="recipe-card")
def recipe_card(recipe: str) -> str:
    "Recipe card by slug, i.e. the beer's name in lower case with hyphens (night-ferry)."
    if recipe not in RECIPES:
        return f"no recipe called {recipe}"
    beer, style, abv, ibu, hops, yeast, price, author = RECIPES[recipe]
    return (f"recipe: {recipe}\nbeer: {beer}\nstyle: {style}\nstrength: {abv} % vol\nbitterness: {ibu} IBU\nhops: {hops}\n"
            f"yeast: {yeast}\nkeg price: £{price:.2f}\nauthor: {author}")


@server.tool(name="brewer-card")
def brewer_card(initials: str) -> str:
    "Name, site, phone and shift of a brewer, by initials."
    if initials not in BREWERS:
        return f"no brewer {initials}"
    name, site, phone, shift = BREWERS[initials]
    return f"initials: {initials}\nname: {name}\nsite: {site}\nphone: {phone}\nshift: {shift}"


@server.tool(name="keg-trace")
def keg_trace(keg: str) -> str:
    "Where a keg is and what is in it. Keg numbers look like K-301."
    if keg not in KEGS:
        return f"no keg {keg} on the books"
    size, batch, location, status, filled = KEGS[keg]
    return f"keg: {keg}\nsize: {size} L\nbatch: {batch}\nlocation: {location}\nstatus: {status}\nfilled: {filled}"


@server.tool(name="list-batches")
def list_batches(stage: Optional[Stage] = None, beer: Optional[str] = None) -> str:
    "Batches with beer, stage and tank; filter by stage and/or beer name."
    rows = []
    for number, b in BATCHES.items():
        name = RECIPES[b[0]][0]
        if stage in (None, b[3]) and (beer is None or beer.lower() in name.lower()):
            rows.append(f"{number}: {name}, {b[3]}" + (f", {b[4]}" if b[4] else ""))
    return "\n".join(rows) or "no batches"


@server.tool(name="set-temperature")
def set_temperature(tank: str, celsius: float) -> str:
    "Change a tank's set point."
    t = _tank(tank)
    if not -1 <= celsius <= 30:
        raise ToolError("set point must be between -1 and 30 °C")
    old, t[4] = t[4], float(celsius)
    return f"tank: {tank}\nset point: {t[4]} °C (was {old} °C)"


@server.tool(name="update-batch")
def update_batch(batch: int, stage: Optional[Stage] = None, gravity: Optional[float] = None, tank: Optional[str] = None) -> str:
    "Record a new stage, a gravity reading (SG, e.g. 1.012) or a transfer to another tank."
    b = _batch(batch)
    out = [f"batch: {batch}"]
    if tank is not None:
        t = _tank(tank)
        if t[2] is not None or t[6] != "clean":
            raise ToolError(f"{tank} is {t[6]}")
        if b[4]:
            TANKS[b[4]][2], TANKS[b[4]][6] = None, "dirty"
        t[2], t[6], b[4] = batch, "in use", tank
        out.append(f"tank: {tank}")
    if gravity is not None:
        b[6] = gravity
        out.append(f"gravity: {gravity:.3f} SG")
    if stage is not None:
        b[3] = stage
        out.append(f"stage: {stage}")
        if stage in ("packaged", "dumped") and b[4]:
            TANKS[b[4]][2], TANKS[b[4]][6] = None, "dirty"
            out.append(f"tank: none ({b[4]} is now dirty)")
            b[4] = None
    if len(out) == 1:
        raise ToolError("give a stage, a gravity or a tank")
    return "\n".join(out)


@server.tool(name="update-keg")
def update_keg(keg: str, location: Optional[str] = None, status: Optional[KegStatus] = None) -> str:
    "Record where a keg has gone and/or its status. Locations: cold store A, cold store B, yard, workshop, or the customer's name."
    if keg not in KEGS:
        return f"no keg {keg} on the books"
    k = KEGS[keg]
    k[2], k[3] = location or k[2], status or k[3]
    return f"keg: {keg}\nlocation: {k[2]}\nstatus: {k[3]}"


if __name__ == "__main__":
    server.run()
