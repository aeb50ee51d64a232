from typing import Literal, Optional
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("cheesecellar")
Status = Literal["ripening", "ready", "sold", "quarantine"]

# maker id: name, dairy, village, animals, herd size, phone, email
MAKERS = {
    11: ("Rosa Imfeld", "Hinterberg", "Aarlen", "cows", 34, "555-0151", "rosa@hinterberg.example"),
    14: ("Jost Amrein", "Ob der Fluh", "Lauis", "goats", 80, "555-0152", "jost@obderfluh.example"),
    17: ("Mathilde Favre", "La Combe", "Vaudrey", "cows", 52, "555-0153", "mathilde@lacombe.example"),
    19: ("Nils Overgaard", "Kysten", "Holme", "sheep", 140, "555-0154", "nils@kysten.example"),
    23: ("Bepi Tonnelli", "Malga Sole", "Pianedo", "cows", 28, "555-0155", "bepi@malgasole.example"),
    26: ("Sian Prothero", "Nant Farm", "Llanfaes", "sheep", 95, "555-0156", "sian@nantfarm.example"),
}
BATCHES = {b[0]: dict(zip(("batch", "cheese", "maker_id", "made_on", "milk_litres", "ripe_on", "price_per_kg", "rennet", "starter_from_batch"), b)) for b in [
    (4101, "Bergtaler", 11, "2025-01-14", 620, "2025-07-14", "28.50 EUR", "calf", None),
    (4102, "Bergtaler", 11, "2025-01-28", 580, "2025-07-28", "28.50 EUR", "calf", 4101),
    (4103, "Fluh Crottin", 14, "2025-03-03", 210, "2025-04-14", "36.00 EUR", "vegetable", None),
    (4104, "Combe Bleu", 17, "2025-02-10", 450, "2025-05-10", "31.20 EUR", "calf", None),
    (4105, "Combe Bleu", 17, "2025-03-17", 470, "2025-06-17", "31.20 EUR", "calf", 4104),
    (4106, "Holme Tomme", 19, "2025-02-21", 380, "2025-06-21", "33.00 EUR", "vegetable", None),
    (4107, "Sole Stravecchio", 23, "2024-05-06", 700, "2025-11-06", "42.00 EUR", "calf", None),
    (4108, "Sole Stravecchio", 23, "2024-06-17", 680, "2025-12-17", "42.00 EUR", "calf", 4107),
    (4109, "Nant Ewe", 26, "2025-04-02", 300, "2025-08-02", "34.80 EUR", "vegetable", None),
    (4110, "Nant Ewe", 26, "2025-04-23", 320, "2025-08-23", "34.80 EUR", "vegetable", 4109),
    (4111, "Bergtaler", 11, "2025-02-18", 600, "2025-08-18", "29.00 EUR", "calf", 4102),
    (4112, "Holme Tomme", 19, "2025-04-08", 360, "2025-08-08", "33.00 EUR", "vegetable", 4106),
]}
WHEELS = {w[0]: dict(zip(("wheel", "batch", "kg", "shelf", "status", "last_turned"), w)) for w in [
    ("3f9a1c2", 4101, 9.4, "2-A", "ready", "2025-07-30"),
    ("b07e5d1", 4101, 9.1, "2-A", "ready", "2025-07-30"),
    ("88c4f02", 4101, 9.6, "2-B", "sold", "2025-07-14"),
    ("c1d20e7", 4102, 9.2, "2-B", "ripening", "2025-07-31"),
    ("5ea97b3", 4102, 9.5, "2-B", "ripening", "2025-07-31"),
    ("71fb4a9", 4103, 1.1, "1-C", "ready", "2025-07-26"),
    ("e2066cd", 4103, 1.2, "1-C", "ready", "2025-07-26"),
    ("0a9d3b8", 4103, 1.0, "1-C", "quarantine", "2025-07-19"),
    ("d45c817", 4104, 2.6, "4-A", "ready", "2025-07-28"),
    ("96b3e0f", 4104, 2.8, "4-A", "sold", "2025-06-02"),
    ("f80a2d6", 4105, 2.7, "4-B", "ripening", "2025-07-29"),
    ("2c7be94", 4105, 2.5, "4-B", "quarantine", "2025-07-17"),
    ("a51f06d", 4105, 2.9, "4-B", "ripening", "2025-07-29"),
    ("6d3e8b0", 4106, 4.2, "3-A", "ready", "2025-07-27"),
    ("14c9fa7", 4106, 4.4, "3-A", "ready", "2025-07-27"),
    ("bb72d5e", 4107, 32.5, "5-A", "ripening", "2025-07-22"),
    ("07e41ac", 4107, 33.1, "5-A", "ripening", "2025-07-22"),
    ("9f5d30b", 4108, 31.8, "5-B", "ripening", "2025-07-23"),
    ("e6a80c4", 4108, 32.2, "5-B", "ripening", "2025-07-24"),
    ("4b1fd97", 4109, 3.6, "3-B", "ripening", "2025-08-01"),
    ("c93a6e2", 4109, 3.4, "3-B", "ripening", "2025-08-01"),
    ("7d08b5f", 4109, 3.7, "3-C", "ready", "2025-07-25"),
    ("52e9c1a", 4110, 3.5, "3-C", "ripening", "2025-08-01"),
    ("ad6704f", 4110, 3.8, "3-C", "ripening", "2025-08-01"),
    ("1ec5b72", 4111, 9.3, "2-C", "ripening", "2025-07-30"),
    ("f3d918a", 4111, 9.0, "2-C", "quarantine", "2025-07-20"),
    ("60b7ae5", 4111, 9.7, "2-C", "ripening", "2025-07-31"),
    ("8a24fc3", 4112, 4.1, "3-A", "ripening", "2025-08-01"),
    ("d7f15e0", 4112, 4.3, "3-A", "ripening", "2025-08-01"),
]}
# tasting number: wheel, taster, date, score, note
TASTINGS = {
    801: ("3f9a1c2", "Odile Kern", "2025-07-15", 88, "hazelnut, long finish"),
    802: ("b07e5d1", "Odile Kern", "2025-07-15", 84, "a little salty"),
    803: ("d45c817", "Hamish Boyle", "2025-05-12", 91, "creamy, clean blue"),
    804: ("6d3e8b0", "Yara Haddad", "2025-06-23", 79, "dry near the rind"),
    805: ("14c9fa7", "Yara Haddad", "2025-06-23", 86, "grassy, sweet"),
    806: ("71fb4a9", "Hamish Boyle", "2025-04-16", 82, "lemony"),
    807: ("e2066cd", "Odile Kern", "2025-04-16", 77, "chalky heart"),
    808: ("2c7be94", "Hamish Boyle", "2025-06-18", 52, "bitter, ammonia"),
    809: ("bb72d5e", "Odile Kern", "2025-07-01", 90, "crystals, broth"),
    810: ("07e41ac", "Yara Haddad", "2025-07-01", 87, "pineapple, needs time"),
    811: ("7d08b5f", "Hamish Boyle", "2025-07-28", 93, "caramel, best of the year"),
    812: ("f3d918a", "Yara Haddad", "2025-07-22", 58, "cracked, sour smell"),
    813: ("0a9d3b8", "Odile Kern", "2025-04-16", 49, "soapy"),
    814: ("4b1fd97", "Hamish Boyle", "2025-07-28", 81, "young, lactic"),
    815: ("c1d20e7", "Yara Haddad", "2025-07-22", 83, "buttery"),
    816: ("f80a2d6", "Odile Kern", "2025-06-18", 85, "mild, even veining"),
}


def the_wheel(wheel):
    if wheel not in WHEELS:
        raise ToolError(f"wheel not found: {wheel}")
    return WHEELS[wheel]


@server.tool(name="wheel-get")
def wheel_get(wheel: str) -> dict:
    "One wheel by its 7-character hash."
    return the_wheel(wheel)


@server.tool(name="wheel-search")
def wheel_search(batch: Optional[int] = None, shelf: Optional[str] = None, status: Optional[Status] = None) -> list[dict]:
    "Wheels of a batch, on a shelf (like 2-A) and/or with a status. Needs one of them."
    if batch is None and not shelf and not status:
        raise ToolError("batch, shelf or status required")
    return [{k: w[k] for k in ("wheel", "kg", "shelf", "status")} for w in WHEELS.values()
            if (batch is None or w["batch"] == batch) and (not shelf or w["shelf"] == shelf) and (not status or w["status"] == status)]


@server.tool(name="batch-get")
def batch_get(batch: int) -> dict:
    "One batch by number: cheese, maker, dates, milk, price, rennet, and the batch its starter was taken from."
    if batch not in BATCHES:
        raise ToolError(f"batch not found: {batch}")
    return BATCHES[batch]


@server.tool(name="batch-search")
def batch_search(cheese: Optional[str] = None, maker: Optional[str] = None) -> list[dict]:
    "Batches by name of the cheese and/or of the maker."
    return [{k: b[k] for k in ("batch", "cheese", "maker_id", "made_on")} for b in BATCHES.values()
            if (not cheese or cheese.lower() in b["cheese"].lower()) and (not maker or maker.lower() in MAKERS[b["maker_id"]][0].lower())]


@server.tool(name="maker-get")
def maker_get(maker_id: int) -> str:
    "Card of a cheesemaker."
    if maker_id not in MAKERS:
        return f"No maker with id {maker_id}."
    name, dairy, village, animals, herd, phone, email = MAKERS[maker_id]
    return f"id: {maker_id}\nname: {name}\ndairy: {dairy}\nvillage: {village}\nherd: {herd} {animals}\nphone: {phone}\nemail: {email}"


@server.tool(name="tasting-get")
def tasting_get(number: int) -> str:
    "One tasting with its note."
    if number not in TASTINGS:
        return f"Tasting {number} was never entered."
    wheel, taster, date, score, note = TASTINGS[number]
    return f"Tasting {number}: on {date} {taster} gave wheel {wheel} {score} points and wrote \"{note}\"."


@server.tool(name="tasting-search")
def tasting_search(taster: Optional[str] = None, wheel: Optional[str] = None) -> str:
    "Tastings by taster and/or wheel, one a line: number, wheel, date, score."
    if not taster and not wheel:
        raise ToolError("taster or wheel required")
    rows = [f"{n}  {t[0]}  {t[2]}  {t[3]} points" for n, t in TASTINGS.items() if (not taster or taster.lower() in t[1].lower()) and (not wheel or wheel == t[0])]
    return "\n".join(rows) or "no tastings"


@server.tool(name="tasting-add")
def tasting_add(wheel: str, taster: str, date: str, score: int, note: str = "") -> str:
    "Enter a tasting. Date YYYY-MM-DD, score 0 to 100."
    the_wheel(wheel)
    if not 0 <= score <= 100:
        raise ToolError("score must be 0..100")
    n = max(TASTINGS) + 1
    TASTINGS[n] = (wheel, taster, date, score, note)
    return f"Entered as tasting {n}: {taster}, {date}, wheel {wheel}, {score} points."


@server.tool(name="wheel-update")
def wheel_update(wheel: str, shelf: Optional[str] = None, status: Optional[Status] = None, kg: Optional[float] = None) -> dict:
    "Change shelf, status or weight of a wheel; give only what changes."
    w = the_wheel(wheel)
    changed = {k: v for k, v in (("shelf", shelf), ("status", status), ("kg", kg)) if v is not None}
    w.update(changed)
    return {"wheel": wheel, "updated": changed}


if __name__ == "__main__":
    server.run()
