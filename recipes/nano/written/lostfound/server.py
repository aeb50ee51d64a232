from typing import Literal
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("lostfound")
Courier = Literal["swiftbike", "parcelpony", "bluevan", "goldline", "hedgehog"]
Place = Literal["A1", "A2", "B1", "B2", "C1", "C2", "D1", "SAFE", "YARD"]

ITEMS = {c: dict(code=c, description=d, category=k, colour=o, found_on=f"2025-05-{t:02}", found_at=w, finder=f, storage=s, status=x, claim=l) for c, d, k, o, t, w, f, s, x, l in [
    ("LF-0301", "leather briefcase", "bag", "black", 2, "Platform 3", 41, "A1", "stored", None), ("LF-0302", "pair of mittens", "clothing", "red", 2, "Bus 12", 44, "B1", "stored", None),
    ("LF-0303", "phone with cracked screen", "phone", "blue", 3, "Ticket hall", 42, "SAFE", "claimed", "CL-71"), ("LF-0304", "bracelet with anchor charm", "jewellery", "silver", 3, "Waiting room", 45, "SAFE", "stored", None),
    ("LF-0305", "violin in its case", "instrument", "brown", 4, "Tram 7", 43, "C2", "claimed", "CL-72"), ("LF-0306", "rucksack", "bag", "green", 5, "Bus 40", 44, "A2", "stored", None),
    ("LF-0307", "five keys on a ring", "keys", "silver", 5, "Café", 46, "D1", "returned", "CL-73"), ("LF-0308", "plush giraffe", "toy", "yellow", 6, "Tram 2", 43, "B2", "claimed", "CL-74"),
    ("LF-0309", "wool coat", "clothing", "grey", 6, "Platform 1", 41, "B1", "stored", None), ("LF-0310", "empty passport holder", "document", "brown", 7, "Ticket hall", 42, "D1", "disposed", None),
    ("LF-0311", "single earring", "jewellery", "gold", 8, "Washroom", 47, "SAFE", "stored", None), ("LF-0312", "umbrella with wooden handle", "umbrella", "blue", 8, "Bus 12", 48, "C1", "claimed", "CL-75"),
    ("LF-0313", "phone in a cork case", "phone", "white", 9, "Platform 3", 41, "SAFE", "stored", None), ("LF-0314", "trumpet", "instrument", "gold", 10, "Tram 7", 49, "C2", "claimed", "CL-76"),
    ("LF-0315", "child's scooter", "toy", "pink", 10, "Bike racks", 50, "YARD", "stored", None), ("LF-0316", "car key with a tag", "keys", "black", 11, "Café", 46, "D1", "claimed", "CL-77"),
    ("LF-0317", "suitcase with ferry stickers", "bag", "orange", 12, "Airport bus", 48, "A1", "claimed", "CL-78"), ("LF-0318", "library card", "document", "green", 12, "Bus 40", 44, "D1", "stored", None),
    ("LF-0319", "checked scarf", "clothing", "red", 13, "Tram 2", 43, "B1", "stored", None), ("LF-0320", "folding umbrella", "umbrella", "black", 13, "Waiting room", 45, "C1", "stored", None),
    ("LF-0321", "ukulele", "instrument", "blue", 14, "Platform 1", 51, "C2", "stored", None), ("LF-0322", "laptop sleeve", "bag", "grey", 14, "Ticket hall", 42, "A2", "claimed", "CL-79"),
    ("LF-0323", "wedding ring engraved M & J", "jewellery", "gold", 15, "Washroom", 47, "SAFE", "claimed", "CL-80"), ("LF-0324", "toy fire engine", "toy", "red", 15, "Bus 12", 48, "B2", "stored", None)]}
FINDERS = {i: dict(finder=i, name=n, role=r, phone=f"0800 555-01{i}", wants_reward=w) for i, n, r, w in [
    (41, "Arno Petz", "platform guard", False), (42, "Birgit Hahn", "ticket clerk", False), (43, "Cosmo Reyes", "tram driver", False), (44, "Dunya Saleh", "bus driver", False),
    (45, "Elwin Marsh", "cleaner", False), (46, "Flora Iqbal", "café manager", False), (47, "Goran Zeman", "cleaner", False), (48, "Heidi Noack", "passenger", True),
    (49, "Ivo Castellan", "passenger", True), (50, "Jette Brandt", "passenger", True), (51, "Kofi Lamptey", "platform guard", False)]}
CLAIMS = {c: dict(claim=c, item=i, claimant=n, phone=f"0800 555-01{p}", status=s, courier=k, fee_eur=f, opened_on=o) for c, i, n, p, s, k, f, o in [
    ("CL-71", "LF-0303", "Ramona Fisk", 61, "open", None, 5.0, "2025-05-05"), ("CL-72", "LF-0305", "Stellan Berg", 62, "approved", "swiftbike", 12.0, "2025-05-06"),
    ("CL-73", "LF-0307", "Tilda Novak", 63, "collected", None, 3.0, "2025-05-06"), ("CL-74", "LF-0308", "Uma Keller", 64, "approved", "parcelpony", 6.5, "2025-05-08"),
    ("CL-75", "LF-0312", "Viktor Lam", 65, "open", None, 4.0, "2025-05-10"), ("CL-76", "LF-0314", "Wren Oduya", 66, "shipped", "bluevan", 14.0, "2025-05-12"),
    ("CL-77", "LF-0316", "Xaver Dorn", 67, "open", None, 3.0, "2025-05-12"), ("CL-78", "LF-0317", "Ynez Robles", 68, "approved", "bluevan", 18.5, "2025-05-13"),
    ("CL-79", "LF-0322", "Zeno Hart", 69, "rejected", None, 5.0, "2025-05-15"), ("CL-80", "LF-0323", "Mabel Joost", 70, "shipped", "goldline", 22.0, "2025-05-16")]}
STORAGE = {p: dict(place=p, building=b, keeper=k, key_no=n, capacity=c, used=u, closes=t) for p, b, k, n, c, u, t in [
    ("A1", "North depot", "Lucy Trent", "K-08", 20, 14, "18:00"), ("A2", "North depot", "Lucy Trent", "K-09", 20, 17, "18:00"), ("B1", "North depot", "Omar Diaz", "K-11", 40, 29, "18:00"),
    ("B2", "Annexe", "Omar Diaz", "K-14", 30, 12, "16:30"), ("C1", "Annexe", "Sven Holt", "K-15", 25, 23, "16:30"), ("C2", "Annexe", "Sven Holt", "K-16", 10, 6, "16:30"),
    ("D1", "Main office", "Ada Finch", "K-02", 60, 33, "20:00"), ("SAFE", "Main office", "Ada Finch", "K-01", 15, 11, "17:00"), ("YARD", "South gate", "Piet Moor", "K-21", 12, 5, "15:00")]}
COURIERS = {c: dict(courier=c, name=n, phone=f"0800 555-01{p}", price_eur=e, pickup_days=d, max_kg=k) for c, n, p, e, d, k in [
    ("swiftbike", "Swift Bike", 81, 7.5, "Mon, Wed, Fri", 8), ("parcelpony", "Parcel Pony", 82, 5.9, "Tue, Thu", 10), ("bluevan", "Blue Van", 83, 11.0, "daily except Sun", 40),
    ("goldline", "Goldline Secure", 84, 19.5, "Fri", 5), ("hedgehog", "Hedgehog Post", 85, 4.8, "Mon", 3)]}

def item(code):
    if code not in ITEMS: raise ToolError(f"unknown item {code}")
    return ITEMS[code]

@server.tool()
def item_get(code: str) -> dict:
    "A found item by its code (LF-0301)."
    return item(code)

@server.tool()
def item_search(text: str = "", category: Literal["bag", "clothing", "phone", "jewellery", "instrument", "keys", "toy", "document", "umbrella", ""] = "",
                colour: str = "", status: Literal["stored", "claimed", "returned", "disposed", ""] = "", found_at: str = "") -> dict:
    "Search found items by words of the description, category, colour, status or the place where they were found. Gives at most 10."
    hits = [i for i in ITEMS.values() if text.lower() in i["description"].lower() and category in ("", i["category"]) and colour in ("", i["colour"])
            and status in ("", i["status"]) and found_at.lower() in i["found_at"].lower()]
    return {"count": len(hits), "items": [{k: i[k] for k in ("code", "description", "found_on")} for i in hits[:10]]}

@server.tool()
def item_update(code: str, storage: Place | None = None, status: Literal["stored", "claimed", "returned", "disposed"] | None = None) -> dict:
    "Move a found item to another storage place and/or set its status."
    i = item(code)
    if storage: i["storage"] = storage
    if status: i["status"] = status
    return {"updated": {k: i[k] for k in ("code", "description", "storage", "status")}}

@server.tool()
def finder_get(finder: int) -> dict:
    "The person who handed something in, by finder number."
    if finder not in FINDERS: return {"error": f"no finder {finder}"}
    return FINDERS[finder]

@server.tool()
def claim_get(claim: str) -> dict:
    "A claim by its number (CL-71) or by the claimant's full name."
    for c in CLAIMS.values():
        if claim in (c["claim"], c["claimant"]): return c
    return {"error": f"no claim found for {claim}"}

@server.tool()
def claim_open(item_code: str, claimant: str, phone: str) -> dict:
    "Open a claim for a found item."
    i = item(item_code)
    if i["claim"]: raise ToolError(f"{item_code} is already claimed under {i['claim']}")
    n = f"CL-{81 + len(CLAIMS) - 10}"
    CLAIMS[n] = dict(claim=n, item=item_code, claimant=claimant, phone=phone, status="open", courier=None, fee_eur=5.0, opened_on="2025-05-19")
    i.update(claim=n, status="claimed")
    return CLAIMS[n]

@server.tool()
def claim_update(claim: str, status: Literal["open", "approved", "shipped", "collected", "rejected"] | None = None, courier: Courier | None = None, fee_eur: float | None = None) -> dict:
    "Change the status, courier or fee of a claim (by number)."
    if claim not in CLAIMS: raise ToolError(f"unknown claim {claim}")
    new = {k: v for k, v in dict(status=status, courier=courier, fee_eur=fee_eur).items() if v is not None}
    CLAIMS[claim].update(new)
    return {"claim": claim, "changed": new}

@server.tool()
def storage_get(place: Place) -> dict:
    "A storage place: where it is, who keeps it, how full it is."
    return STORAGE[place]

@server.tool()
def courier_get(courier: Courier) -> dict:
    "A courier that sends items to their owners."
    return COURIERS[courier]

if __name__ == "__main__":
    server.run()
