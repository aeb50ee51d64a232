from typing import Literal, Optional
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("bee-club")

Apiary = Literal["orchard", "mill-meadow", "heath", "rooftop", "linden-row"]
Status = Literal["strong", "ok", "weak", "queenless", "swarmed", "empty"]

HIVES = {r[0]: dict(zip(("hive", "apiary", "type", "queenColour", "queenYear", "supers", "status", "motherHive", "weightKg"), r)) for r in [
    ("H1", "orchard", "Langstroth", "green", 2024, 2, "strong", "H3", 38.5),
    ("H2", "orchard", "Langstroth", "blue", 2025, 1, "ok", "H1", 31.0),
    ("H3", "orchard", "Dadant", "red", 2023, 3, "strong", "none", 52.4),
    ("H4", "orchard", "Langstroth", "blue", 2025, 1, "weak", "H3", 22.7),
    ("H5", "mill-meadow", "Dadant", "green", 2024, 2, "strong", "H12", 44.1),
    ("H6", "mill-meadow", "Dadant", "blue", 2025, 2, "swarmed", "H5", 29.3),
    ("H7", "heath", "Dadant", "blue", 2025, 2, "strong", "H3", 41.2),
    ("H8", "heath", "Warre", "yellow", 2022, 0, "weak", "none", 19.8),
    ("H9", "heath", "Langstroth", "none", "none", 1, "queenless", "H8", 24.6),
    ("H10", "rooftop", "Langstroth", "green", 2024, 1, "strong", "H12", 35.9),
    ("H11", "rooftop", "Langstroth", "blue", 2025, 1, "ok", "H10", 30.2),
    ("H12", "linden-row", "Dadant", "red", 2023, 3, "strong", "none", 57.0),
    ("H13", "linden-row", "Dadant", "blue", 2025, 2, "ok", "H12", 36.6),
    ("H14", "linden-row", "Warre", "none", "none", 0, "empty", "none", 9.5),
    ("H15", "mill-meadow", "Langstroth", "none", "none", 1, "queenless", "H5", 26.4),
]}
INSPECTIONS = {r[0]: dict(zip(("hive", "date", "keeper", "mites", "broodFrames", "temper", "note"), r)) for r in [
    ("H1", "2026-05-03", "nora@hives.example", 2, 7, "calm", "super added"),
    ("H2", "2026-05-03", "nora@hives.example", 1, 5, "calm", "-"),
    ("H3", "2026-05-03", "lotte@hives.example", 6, 9, "nervous", "needs space"),
    ("H4", "2026-05-10", "lotte@hives.example", 9, 3, "calm", "feed syrup"),
    ("H5", "2026-05-08", "tomas@hives.example", 3, 8, "calm", "-"),
    ("H6", "2026-05-08", "tomas@hives.example", 4, 2, "calm", "two queen cells left"),
    ("H7", "2026-05-11", "ivy@hives.example", 2, 8, "nervous", "-"),
    ("H8", "2026-04-26", "ivy@hives.example", 12, 2, "aggressive", "treat with oxalic acid"),
    ("H9", "2026-05-11", "samir@hives.example", 3, 0, "aggressive", "no eggs seen"),
    ("H10", "2026-05-06", "samir@hives.example", 1, 6, "calm", "-"),
    ("H11", "2026-05-06", "lotte@hives.example", 2, 6, "calm", "-"),
    ("H12", "2026-05-09", "nora@hives.example", 5, 10, "calm", "heavy, extract soon"),
    ("H13", "2026-05-09", "tomas@hives.example", 3, 6, "nervous", "-"),
    ("H15", "2026-05-08", "tomas@hives.example", 7, 1, "nervous", "unite or requeen"),
]}
APIARIES = {r[0]: dict(zip(("apiary", "village", "keeper", "landowner", "gateCode", "forage"), r)) for r in [
    ("orchard", "Brockwell", "nora@hives.example", "Mr Tilling", "4471", "apple, clover"),
    ("mill-meadow", "Dunsley", "tomas@hives.example", "Dunsley Mill Ltd", "0926", "rapeseed"),
    ("heath", "Carrow", "ivy@hives.example", "Carrow Estate", "7310", "heather, birch"),
    ("rooftop", "Eastport", "samir@hives.example", "City Library", "5582", "linden, balcony flowers"),
    ("linden-row", "Brockwell", "nora@hives.example", "Mrs Okafor", "1208", "linden, forest honeydew"),
]}
KEEPERS = {r[0]: dict(zip(("email", "name", "phone", "memberSince", "town"), r)) for r in [
    ("nora@hives.example", "Nora Whitlock", "555-0131", 2011, "Brockwell"),
    ("tomas@hives.example", "Tomas Vrana", "555-0132", 2018, "Dunsley"),
    ("ivy@hives.example", "Ivy Castellan", "555-0133", 2015, "Selby Cross"),
    ("samir@hives.example", "Samir Haddou", "555-0134", 2022, "Eastport"),
    ("lotte@hives.example", "Lotte Brandsma", "555-0135", 2024, "Eastport"),
]}
BATCHES = {r[0]: dict(zip(("code", "apiary", "harvested", "flavour", "moisture", "jars", "pricePerJar", "bottledBy"), r)) for r in [
    ("HB-2501", "orchard", "2025-05-28", "spring blossom", "17.8 %", 42, 7.5, "lotte@hives.example"),
    ("HB-2502", "mill-meadow", "2025-06-04", "rapeseed", "16.9 %", 88, 6.2, "tomas@hives.example"),
    ("HB-2503", "linden-row", "2025-07-02", "linden", "17.2 %", 35, 8.4, "nora@hives.example"),
    ("HB-2504", "rooftop", "2025-07-11", "linden", "18.3 %", 17, 9.9, "samir@hives.example"),
    ("HB-2505", "heath", "2025-08-30", "heather", "19.1 %", 12, 12.5, "ivy@hives.example"),
    ("HB-2506", "orchard", "2025-07-19", "clover", "17.5 %", 60, 7.0, "nora@hives.example"),
    ("HB-2507", "heath", "2025-09-03", "heather", "18.8 %", 0, 12.5, "lotte@hives.example"),
    ("HB-2508", "linden-row", "2025-07-25", "forest", "16.5 %", 24, 10.8, "lotte@hives.example"),
]}


def _text(row):
    return "\n".join(f"{k}: {f'{v:.2f} EUR' if k == 'pricePerJar' else v}" for k, v in row.items())


@server.tool()
def getHive(hiveId: str) -> str:
    "Shows a hive (H1, H2, ...): where it stands, type, queen, supers, status, the hive it was split from, weight."
    return _text(HIVES[hiveId]) if hiveId in HIVES else f"No such hive: {hiveId}"


@server.tool()
def listHives(apiary: Optional[Apiary] = None, status: Optional[Status] = None) -> str:
    "Short list of hives, filtered by apiary and/or status."
    return "\n".join(f"{h['hive']}: {h['apiary']}, {h['status']}" for h in HIVES.values()
                     if apiary in (None, h["apiary"]) and status in (None, h["status"])) or "No hives."


@server.tool()
def lastInspection(hiveId: str) -> str:
    "The most recent inspection of a hive."
    if hiveId not in HIVES:
        return f"No such hive: {hiveId}"
    return _text(INSPECTIONS[hiveId]) if hiveId in INSPECTIONS else f"{hiveId} has not been inspected yet."


@server.tool()
def logInspection(hiveId: str, keeper: str, mites: int, broodFrames: int, note: str = "-") -> str:
    "Records today's inspection of a hive. keeper is the e-mail address of the person who did it."
    if hiveId not in HIVES:
        raise ToolError(f"No such hive: {hiveId}")
    if keeper not in KEEPERS:
        raise ToolError(f"No keeper with the address {keeper}")
    INSPECTIONS[hiveId] = dict(hive=hiveId, date="2026-05-14", keeper=keeper, mites=mites, broodFrames=broodFrames, note=note)
    return "logged\n" + _text(INSPECTIONS[hiveId])


@server.tool()
def getApiary(apiary: Apiary) -> str:
    "Shows an apiary: village, responsible keeper's e-mail, landowner, gate code, forage."
    return _text(APIARIES[apiary])


@server.tool()
def batches(code: str = "", flavour: str = "") -> str:
    "Honey batches. With a code (HB-2501): everything about that batch. Without: a short list with the jars in stock, optionally of one flavour."
    if code:
        return _text(BATCHES[code]) if code in BATCHES else f"No batch {code}."
    return "\n".join(f"{b['code']}: {b['flavour']}, {b['jars']} jars" for b in BATCHES.values() if flavour.lower() in b["flavour"]) or "No batches."


@server.tool()
def getKeeper(who: str) -> str:
    "Shows a club member by e-mail address or full name."
    for k in KEEPERS.values():
        if who.lower() in (k["email"], k["name"].lower()):
            return _text(k)
    return f"Nobody called {who} in the club."


@server.tool()
def updateHive(hiveId: str, status: Optional[Status] = None, apiary: Optional[Apiary] = None, supers: Optional[int] = None) -> str:
    "Changes a hive's status, place or number of supers."
    if hiveId not in HIVES:
        raise ToolError(f"No such hive: {hiveId}")
    change = {k: v for k, v in (("status", status), ("apiary", apiary), ("supers", supers)) if v is not None}
    HIVES[hiveId].update(change)
    return _text({"updated": hiveId, **change})


@server.tool()
def updateBatch(code: str, jars: Optional[int] = None, pricePerJar: Optional[float] = None) -> str:
    "Sets the jars in stock or the price per jar (EUR) of a batch."
    if code not in BATCHES:
        raise ToolError(f"No batch {code}")
    change = {k: v for k, v in (("jars", jars), ("pricePerJar", pricePerJar)) if v is not None}
    BATCHES[code].update(change)
    return _text({"updated": code, **change})


if __name__ == "__main__":
    server.run()
