import datetime
from typing import Literal
from mcp.server.mcpserver import MCPServer

server = MCPServer("removals")


def table(key, columns, rows):
    return {dict(zip(columns, r))[key]: dict(zip(columns, r)) for r in rows}


crews = table("crewName", ("crewName", "foreman", "people", "mobile", "yard", "usualVan"), [
    ("Falcon", "Grace Otieno", 4, "555-0161", "West Yard", "RM-210"),
    ("Heron", "Piotr Zielinski", 3, "555-0162", "West Yard", "RM-214"),
    ("Kestrel", "Sandra Blum", 2, "555-0163", "Canal Yard", "RM-222"),
    ("Osprey", "Idris Kamara", 5, "555-0164", "Canal Yard", "RM-218"),
    ("Magpie", "Tove Nilsson", 3, "555-0165", "Hill Yard", "RM-225"),
])

vans = table("plate", ("plate", "model", "capacityM3", "tailLift", "mileageKm", "inspectionDue", "fuel"), [
    ("RM-210", "Atego 12t", 45, True, 184300, "2025-09-30", "diesel"),
    ("RM-214", "Sprinter Luton", 20, True, 96150, "2025-07-31", "diesel"),
    ("RM-218", "Actros 18t", 60, True, 231800, "2025-06-30", "diesel"),
    ("RM-222", "eDaily box", 18, False, 22400, "2026-03-31", "electric"),
    ("RM-225", "Master box", 22, True, 71900, "2025-11-30", "diesel"),
    ("RM-230", "TGL 7.5t", 36, False, 143050, "2025-08-31", "diesel"),
])

jobs = table("jobNo", ("jobNo", "customer", "date", "fromAddress", "toAddress", "volumeM3", "status", "crew", "van", "quote"), [
    (701, "Agnes Moreau", "2025-06-02", "5 Mill Lane", "18 Beech Road", 34, "done", "Falcon", "RM-210", "Q-1180"),
    (702, "Dr. Karim Aziz", "2025-06-03", "22 Harbour Street", "9 Orchard Close", 17, "done", "Heron", "RM-214", "Q-1182"),
    (703, "Stella Okafor", "2025-06-05", "41 King Street", "3 Chapel Hill", 52, "confirmed", "Osprey", "RM-218", "Q-1183"),
    (704, "Hugo Lindqvist", "2025-06-05", "10 Station Road", "66 Linden Way", 15, "confirmed", "Kestrel", "RM-222", "Q-1185"),
    (705, "Bakery Tamm", "2025-06-10", "1 Market Square", "12 Market Square", 30, "confirmed", "Falcon", "RM-230", "Q-1186"),
    (706, "Noor Haddad", "2025-06-10", "7 Park Terrace", "28 Canal Walk", 21, "booked", "Magpie", "RM-225", "Q-1188"),
    (707, "Ewan Sinclair", "2025-06-12", "90 Church Street", "4 Mill Lane", 40, "booked", "Falcon", "RM-210", "Q-1189"),
    (708, "Lucia Ferri", "2025-06-13", "33 Rose Avenue", "17 Quarry Road", 12, "cancelled", "Kestrel", "RM-222", "Q-1190"),
    (709, "Law office Brandt", "2025-06-16", "2 Court Place", "55 King Street", 58, "confirmed", "Osprey", "RM-218", "Q-1191"),
    (710, "Mina Petersen", "2025-06-17", "8 Beech Road", "71 Valley Drive", 19, "booked", "Heron", "RM-214", "Q-1193"),
    (711, "Agnes Moreau", "2025-06-20", "Storage unit 14", "18 Beech Road", 9, "booked", "Kestrel", "RM-222", "Q-1194"),
    (712, "Yusuf Demir", "2025-06-23", "26 Canal Walk", "13 Hill View", 28, "booked", "Magpie", "RM-230", "Q-1196"),
    (713, "Stella Okafor", "2025-06-24", "Storage unit 3", "3 Chapel Hill", 11, "booked", None, None, "Q-1197"),
    (714, "Paula Grant", "2025-06-26", "19 Linden Way", "50 Coast Road", 44, "booked", None, None, "Q-1199"),
])

quotes = table("quoteNo", ("quoteNo", "jobNo", "issued", "labourEur", "packingEur", "transportEur", "depositEur", "depositPaid", "state", "surveyor"), [
    ("Q-1180", 701, "2025-05-06", 940.0, 180.0, 260.0, 300.0, True, "accepted", "Marta Sole"),
    ("Q-1182", 702, "2025-05-08", 520.0, 0.0, 140.0, 150.0, True, "accepted", "Ben Achterberg"),
    ("Q-1183", 703, "2025-05-09", 1350.0, 320.0, 410.0, 450.0, True, "accepted", "Marta Sole"),
    ("Q-1185", 704, "2025-05-12", 380.0, 60.0, 95.0, 100.0, True, "accepted", "Ben Achterberg"),
    ("Q-1186", 705, "2025-05-13", 870.0, 240.0, 75.0, 250.0, False, "accepted", "Marta Sole"),
    ("Q-1188", 706, "2025-05-15", 560.0, 110.0, 130.0, 160.0, True, "accepted", "Liv Sorensen"),
    ("Q-1189", 707, "2025-05-16", 1080.0, 0.0, 290.0, 320.0, False, "sent", "Liv Sorensen"),
    ("Q-1190", 708, "2025-05-19", 310.0, 45.0, 85.0, 90.0, False, "expired", "Ben Achterberg"),
    ("Q-1191", 709, "2025-05-19", 1490.0, 410.0, 165.0, 500.0, True, "accepted", "Marta Sole"),
    ("Q-1193", 710, "2025-05-21", 495.0, 70.0, 210.0, 150.0, False, "sent", "Liv Sorensen"),
    ("Q-1194", 711, "2025-05-22", 240.0, 0.0, 60.0, 50.0, True, "accepted", "Marta Sole"),
    ("Q-1196", 712, "2025-05-26", 690.0, 155.0, 120.0, 200.0, False, "sent", "Ben Achterberg"),
    ("Q-1197", 713, "2025-05-27", 265.0, 0.0, 55.0, 60.0, False, "sent", "Marta Sole"),
    ("Q-1199", 714, "2025-05-30", 1120.0, 275.0, 480.0, 350.0, False, "sent", "Ben Achterberg"),
])


@server.tool()
def getJob(jobNo: int) -> dict:
    "Removal job by number: customer, addresses, volume, status, crew, van and quote number."
    return jobs.get(jobNo) or {"error": f"Job {jobNo} not found"}


@server.tool()
def searchJobs(customer: str = "", date: str = "", crew: str = "", status: Literal["", "booked", "confirmed", "done", "cancelled"] = "") -> dict:
    "Jobs filtered by customer (part of the name), date (YYYY-MM-DD), crew name and/or status."
    found = [j for j in jobs.values() if customer.lower() in j["customer"].lower() and date in ("", j["date"])
             and crew in ("", j["crew"]) and status in ("", j["status"])]
    return {"count": len(found), "jobs": [{k: j[k] for k in ("jobNo", "customer", "date", "volumeM3", "status")} for j in found]}


@server.tool()
def getCrew(crewName: str) -> dict:
    "Crew by name (Falcon, Heron, ...): foreman, number of people, mobile, home yard and the van it usually takes."
    return crews.get(crewName) or {"error": f"There is no crew called {crewName}"}


@server.tool()
def getVan(plate: str) -> dict:
    "Van by number plate (RM-nnn)."
    return vans.get(plate) or {"error": f"No van with plate {plate}"}


@server.tool()
def listVans(minCapacityM3: int = 0, tailLift: bool | None = None) -> dict:
    "The fleet, optionally only vans of at least a given capacity and with or without a tail lift."
    return {"vans": [{k: v[k] for k in ("plate", "model", "capacityM3", "tailLift", "mileageKm")} for v in vans.values()
                     if v["capacityM3"] >= minCapacityM3 and tailLift in (None, v["tailLift"])]}


@server.tool()
def getQuote(quoteNo: str) -> dict:
    "Quote by number (Q-nnnn): job, labour, packing and transport in euros, deposit, state and surveyor. All amounts without tax."
    return quotes.get(quoteNo) or {"error": f"Quote {quoteNo} does not exist"}


@server.tool()
def updateJob(jobNo: int, date: str | None = None, status: Literal["booked", "confirmed", "done", "cancelled"] | None = None) -> dict:
    "Move a job to another date (YYYY-MM-DD) and/or set its status."
    if jobNo not in jobs:
        return {"error": f"Job {jobNo} not found"}
    job = jobs[jobNo]
    if date:
        try:
            job["date"] = datetime.date.fromisoformat(date).isoformat()
        except ValueError:
            return {"error": "date must look like 2025-06-30"}
    if status:
        job["status"] = status
    return {"ok": True, "jobNo": jobNo, "customer": job["customer"], "date": job["date"], "status": job["status"]}


@server.tool()
def assignJob(jobNo: int, crew: str | None = None, van: str | None = None) -> dict:
    "Give a job a crew (by name) and/or a van (by plate)."
    if jobNo not in jobs:
        return {"error": f"Job {jobNo} not found"}
    if crew and crew not in crews:
        return {"error": f"There is no crew called {crew}"}
    if van and van not in vans:
        return {"error": f"No van with plate {van}"}
    jobs[jobNo].update({k: v for k, v in (("crew", crew), ("van", van)) if v})
    return {"ok": True, "jobNo": jobNo, "crew": jobs[jobNo]["crew"], "van": jobs[jobNo]["van"]}


@server.tool()
def updateQuote(quoteNo: str, state: Literal["sent", "accepted", "expired"] | None = None, depositPaid: bool | None = None,
                labourEur: float | None = None, packingEur: float | None = None, transportEur: float | None = None) -> dict:
    "Change a quote: state, whether the deposit is in, or one of the three amounts (euros). Returns the fields that changed."
    if quoteNo not in quotes:
        return {"error": f"Quote {quoteNo} does not exist"}
    new = {k: v for k, v in (("state", state), ("depositPaid", depositPaid), ("labourEur", labourEur),
                             ("packingEur", packingEur), ("transportEur", transportEur)) if v is not None}
    quotes[quoteNo].update(new)
    return {"ok": True, "quoteNo": quoteNo, "changed": new}


if __name__ == "__main__":
    server.run()
