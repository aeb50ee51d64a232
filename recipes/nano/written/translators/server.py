from typing import Literal, Optional
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("lingua-desk")

# id: name, pairs, rate per word (EUR), words per day, available, email, speciality
T = {
 "abr": ("Anneke Brouwer", "en>nl, de>nl", 0.12, 2600, True, "anneke@brouwervertaalt.example", "legal"),
 "jmo": ("Joaquim Moreira", "en>pt, es>pt", 0.09, 3000, True, "j.moreira@textos.example", "tourism"),
 "sli": ("Signe Lindholm", "en>sv, da>sv", 0.14, 2200, False, "signe@lindholmord.example", "medical"),
 "pva": ("Paolo Vassallo", "en>it, fr>it", 0.10, 2800, True, "vassallo@parole.example", "automotive"),
 "ktz": ("Katarzyna Tzara", "en>pl, de>pl", 0.08, 3200, True, "k.tzara@slowa.example", "software"),
 "hde": ("Henri Delaunay", "en>fr, es>fr", 0.13, 2400, False, "henri.delaunay@traduit.example", "finance"),
 "mke": ("Mirjam Kessler", "en>de, fr>de", 0.15, 2000, True, "kessler@wortwerk.example", "patents"),
 "oya": ("Orhan Yalcin", "en>tr, de>tr", 0.07, 3500, True, "orhan@yalcinceviri.example", "marketing"),
 "ebl": ("Emma Blakely", "de>en, nl>en", 0.11, 2700, True, "emma.blakely@plainwords.example", "technical manuals"),
 "tro": ("Tomas Romero", "en>es, pt>es", 0.09, 2900, False, "tomas@romerotrad.example", "legal"),
 "fnk": ("Fumiko Nakata", "en>ja, ja>en", 0.18, 1500, True, "nakata@kotoba.example", "games"),
 "rdu": ("Rosa Duarte", "en>es, fr>es", 0.10, 2500, True, "rosa.duarte@letras.example", "medical"),
 "lwe": ("Lukas Weidner", "en>de, it>de", 0.12, 2300, True, "lukas@weidner-text.example", "marketing"),
}
T = {k: dict(zip(["id", "name", "pairs", "ratePerWord", "wordsPerDay", "available", "email", "speciality"], (k, *v))) for k, v in T.items()}

C = {
 "CL07": ("Halvorsen Marine", "Ingrid Halvorsen", "ingrid@halvorsenmarine.example", "+47 55 21 09 30", 30, 5),
 "CL11": ("Bellini Caffe", "Marco Bellini", "orders@bellinicaffe.example", "+39 051 228 417", 14, 0),
 "CL12": ("Northgate Solicitors", "Priya Raman", "p.raman@northgatelaw.example", "+44 161 496 0112", 30, 10),
 "CL15": ("Pixelforge Games", "Danny Osei", "danny@pixelforge.example", "+44 20 7946 0551", 45, 8),
 "CL18": ("Medira Health", "Dr. Lena Foss", "lena.foss@medira.health.example", "+45 33 14 88 02", 30, 12),
 "CL20": ("Kranich Maschinenbau", "Jutta Kranich", "einkauf@kranich-mb.example", "+49 711 55 80 14", 60, 15),
 "CL23": ("Costa Verde Resorts", "Ana Pinheiro", "ana@costaverde.example", "+351 289 440 126", 14, 0),
 "CL26": ("Ledgerly", "Sam Whitcombe", "billing@ledgerly.example", "+353 1 524 9987", 30, 5),
 "CL31": ("Tulpen Export BV", "Joost van Rijn", "joost@tulpenexport.example", "+31 252 41 77 60", 21, 0),
}
C = {k: dict(zip(["clientId", "name", "contact", "email", "phone", "paymentDays", "discountPercent"], (k, *v))) for k, v in C.items()}

J = [
 ("J-2041", "Charter agreement 2025", "CL07", "en>de", 6200, "mke", "in_review", "2025-06-12", 1116.00),
 ("J-2042", "Spring menu cards", "CL11", "en>fr", 850, "hde", "delivered", "2025-05-20", 153.00),
 ("J-2043", "Lease contract Harbour House", "CL12", "en>es", 4100, "tro", "in_progress", "2025-06-10", 615.00),
 ("J-2044", "Starfall quest dialogues", "CL15", "en>ja", 18500, "fnk", "in_progress", "2025-07-04", 4810.00),
 ("J-2045", "Patient leaflet Cardolin", "CL18", "en>sv", 2300, "sli", "in_review", "2025-06-06", 460.00),
 ("J-2046", "Milling machine manual KM-8", "CL20", "de>en", 24000, "ebl", "in_progress", "2025-07-18", 3840.00),
 ("J-2047", "Hotel website Albufeira", "CL23", "en>pt", 5400, "jmo", "delivered", "2025-05-28", 702.00),
 ("J-2048", "Invoice module UI strings", "CL26", "en>pl", 3100, "ktz", "in_progress", "2025-06-16", 403.00),
 ("J-2049", "Bulb catalogue autumn", "CL31", "nl>en", 7700, "ebl", "new", "2025-06-30", 1232.00),
 ("J-2050", "Witness statement Okafor", "CL12", "en>nl", 1900, "abr", "in_review", "2025-06-05", 342.00),
 ("J-2051", "Annual report summary", "CL26", "en>fr", 3600, None, "new", "2025-06-24", 684.00),
 ("J-2052", "Espresso machine warranty", "CL11", "en>de", 1250, "lwe", "in_progress", "2025-06-11", 212.50),
 ("J-2053", "Clinical trial consent form", "CL18", "en>es", 4800, "rdu", "in_progress", "2025-06-13", 816.00),
 ("J-2054", "Starfall store page", "CL15", "en>tr", 950, "oya", "delivered", "2025-05-30", 104.50),
 ("J-2055", "Patent claim hydraulic clamp", "CL20", "en>de", 5200, "mke", "new", "2025-07-02", 1144.00),
 ("J-2056", "Crew safety handbook", "CL07", "en>pl", 11200, "ktz", "new", "2025-07-10", 1344.00),
 ("J-2057", "Summer offers newsletter", "CL23", "en>es", 1100, None, "new", "2025-06-09", 165.00),
 ("J-2058", "Power of attorney Singh", "CL12", "en>it", 780, "pva", "cancelled", "2025-05-26", 117.00),
 ("J-2059", "Nurse training slides", "CL18", "en>de", 3900, "lwe", "in_progress", "2025-06-19", 663.00),
 ("J-2060", "Customs declaration guide", "CL31", "en>tr", 2650, None, "new", "2025-06-20", 291.50),
 ("J-2061", "Spare parts list KM-8", "CL20", "de>pl", 6900, "ktz", "in_review", "2025-06-17", 828.00),
 ("J-2062", "Wedding packages brochure", "CL23", "en>it", 2100, "pva", "in_progress", "2025-06-14", 315.00),
]
J = {r[0]: dict(zip(["jobNo", "title", "clientId", "pair", "words", "translatorId", "status", "deadline", "priceEur"], r)) for r in J}

Status = Literal["new", "in_progress", "in_review", "delivered", "cancelled"]

def _job(n):
    if n not in J: raise ToolError(f"Job {n} does not exist.")
    return J[n]
def _tr(i):
    if i not in T: raise ToolError(f"No translator with id '{i}'.")
    return T[i]

@server.tool()
def getJob(jobNo: str) -> dict:
    "Full record of one translation job, by its number (format J-0000)."
    return _job(jobNo)

@server.tool()
def searchJobs(title: Optional[str] = None, status: Optional[Status] = None, clientId: Optional[str] = None, translatorId: Optional[str] = None) -> list[dict]:
    "Find jobs by part of the title, status, client or translator. At least one filter is needed."
    if not (title or status or clientId or translatorId): raise ToolError("Give at least one filter.")
    rows = [j for j in J.values() if (not title or title.lower() in j["title"].lower()) and (not status or j["status"] == status)
            and (not clientId or j["clientId"] == clientId) and (not translatorId or j["translatorId"] == translatorId)]
    return [{k: j[k] for k in ("jobNo", "title", "pair", "words", "status", "deadline")} for j in rows]

@server.tool()
def getTranslator(translatorId: str) -> dict:
    "Profile of a translator: language pairs, rate per word in EUR, daily capacity, contact. Ids are three letters, e.g. 'abr'."
    return _tr(translatorId)

@server.tool()
def searchTranslators(name: Optional[str] = None, pair: Optional[str] = None, onlyAvailable: bool = False) -> list[dict]:
    "Find translators by (part of) their name and/or language pair such as 'en>de'. Rates are EUR per word."
    rows = [t for t in T.values() if (not name or name.lower() in t["name"].lower()) and (not pair or pair in t["pairs"].split(", ")) and (t["available"] or not onlyAvailable)]
    return [{k: t[k] for k in ("id", "name", "ratePerWord", "available")} for t in rows]

@server.tool()
def getClient(clientId: str) -> dict:
    "Client record with contact person, payment term in days and discount."
    if clientId not in C: raise ToolError(f"Unknown client {clientId}.")
    return C[clientId]

@server.tool()
def searchClients(text: str) -> list[dict]:
    "Find clients by company name or contact person; gives their ids."
    return [{"clientId": c["clientId"], "name": c["name"], "contact": c["contact"]} for c in C.values() if text.lower() in (c["name"] + " " + c["contact"]).lower()]

@server.tool()
def assignJob(jobNo: str, translatorId: str) -> dict:
    "Give a job to a translator. Fails if the translator does not work in the job's language pair."
    j, t = _job(jobNo), _tr(translatorId)
    if j["pair"] not in t["pairs"].split(", "): raise ToolError(f"{t['name']} does not translate {j['pair']}.")
    if not t["available"]: raise ToolError(f"{t['name']} is not available at the moment.")
    j["translatorId"] = translatorId
    return {"jobNo": jobNo, "title": j["title"], "translatorId": translatorId, "translator": t["name"]}

@server.tool()
def updateJob(jobNo: str, status: Optional[Status] = None, deadline: Optional[str] = None, words: Optional[int] = None) -> dict:
    "Change status, deadline (YYYY-MM-DD) or word count of a job. Only the given fields change."
    j = _job(jobNo); new = {k: v for k, v in dict(status=status, deadline=deadline, words=words).items() if v is not None}
    if not new: raise ToolError("Nothing to change.")
    j.update(new)
    return {"jobNo": jobNo, "title": j["title"], "updated": new}

@server.tool()
def setAvailability(translatorId: str, available: bool) -> dict:
    "Mark a translator as available or not available for new jobs."
    t = _tr(translatorId); t["available"] = available
    return {"id": translatorId, "name": t["name"], "available": available}

if __name__ == "__main__":
    server.run()
