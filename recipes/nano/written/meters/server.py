from typing import Literal, Optional
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("thornby-energy")

Tariff = Literal["standard", "night-saver", "green-fixed", "business"]
RATES = {"standard": (0.27, 0.41), "night-saver": (0.22, 0.45), "green-fixed": (0.29, 0.38), "business": (0.24, 0.62)}

CONTRACTS = {}
for no, customer, address, postcode, phone, email, tariff, monthly, start, end, status, paperless, balance in [
    (50011, "Helen Marsh", "4 Quarry Lane", "TH2 4QL", "01632 960114", "helen.marsh@postbox.example", "green-fixed", 96.0, "2021-04-01", "2026-03-31", "active", True, 12.40),
    (50012, "Ibrahim Sadik", "17 Mill Street", "TH1 8MS", "01632 960188", "i.sadik@fastmail.example", "standard", 74.5, "2019-09-15", None, "active", False, -38.15),
    (50013, "Joanna Petrov", "9 Orchard Close", "TH3 1OC", "01632 960231", "jo.petrov@mail.example", "night-saver", 112.0, "2022-11-01", None, "active", True, 0.0),
    (50014, "Thornby Bakery Ltd", "2 Market Square", "TH1 1MK", "01632 960300", "accounts@thornbybakery.example", "business", 640.0, "2018-02-01", "2026-01-31", "active", True, -212.70),
    (50015, "Kieran Doyle", "31 Canal Road", "TH4 6CR", "01632 960377", "kdoyle@inbox.example", "standard", 58.0, "2023-06-20", None, "active", True, 21.05),
    (50016, "Marguerite Lowe", "Flat 3, 12 Station Road", "TH1 5SR", "01632 960402", "", "standard", 49.0, "2015-05-11", None, "active", False, 64.90),
    (50017, "Samir Haddad", "22 Beech Avenue", "TH3 7BA", "01632 960455", "samir@haddad.example", "green-fixed", 131.0, "2024-01-08", "2026-01-07", "active", True, -9.60),
    (50018, "Wei-Ling Cho", "5 Weavers Yard", "TH2 2WY", "01632 960519", "weiling.cho@mail.example", "night-saver", 88.0, "2020-10-03", None, "active", True, 5.25),
    (50019, "The Red Lion", "1 Church Hill", "TH5 3CH", "01632 960566", "landlord@redlion.example", "business", 415.0, "2017-07-01", "2025-12-31", "active", False, -530.00),
    (50020, "Anton Berger", "48 Canal Road", "TH4 6CS", "01632 960590", "anton.berger@inbox.example", "standard", 67.0, "2021-08-14", "2025-06-30", "ended", True, 0.0),
    (50021, "Priya Nathan", "14 Beech Avenue", "TH3 7BA", "01632 960613", "priya.n@fastmail.example", "green-fixed", 103.5, "2025-10-01", "2027-09-30", "pending", True, 0.0),
    (50022, "Oliver Stubbs", "7 Quarry Lane", "TH2 4QL", "01632 960678", "ollie.stubbs@postbox.example", "night-saver", 79.0, "2022-03-22", None, "active", False, -16.45),
    (50023, "Oliver Marsh", "60 Mill Street", "TH1 8MT", "01632 960702", "omarsh@mail.example", "standard", 62.5, "2024-09-02", None, "active", True, 3.80),
    (50024, "St Aidan's Primary School", "Church Hill", "TH5 3CA", "01632 960741", "office@staidans.example", "business", 890.0, "2016-09-01", "2026-08-31", "active", True, 148.20),
]:
    CONTRACTS[no] = dict(contractNo=no, customer=customer, address=address, postcode=postcode, phone=phone, email=email or None, tariff=tariff,
                         monthlyPayment=monthly, startDate=start, endDate=end, status=status, paperless=paperless, balance=balance)

METERS = {}
for mid, contract, fuel, kind, location, installed, inspected, status in [
    ("E-30417", 50011, "electricity", "smart", "hall cupboard", "2021-03-29", "2024-05-14", "ok"),
    ("G-11852", 50011, "gas", "dial", "outside box", "2009-06-02", "2024-05-14", "ok"),
    ("E-30440", 50012, "electricity", "dial", "cellar", "1998-11-20", "2022-02-07", "ok"),
    ("E-30462", 50013, "electricity", "smart", "garage", "2022-10-27", "2025-03-11", "ok"),
    ("E-30509", 50014, "electricity", "smart", "back store room", "2018-01-30", "2024-09-03", "ok"),
    ("G-11901", 50014, "gas", "digital", "yard wall", "2018-01-30", "2024-09-03", "faulty"),
    ("E-30533", 50015, "electricity", "prepay", "under the stairs", "2016-04-18", "2023-06-20", "ok"),
    ("E-30571", 50016, "electricity", "dial", "landing", "2003-02-12", "2021-10-29", "faulty"),
    ("E-30588", 50017, "electricity", "smart", "porch", "2024-01-05", "2024-01-05", "ok"),
    ("G-11947", 50017, "gas", "smart", "porch", "2024-01-05", "2024-01-05", "ok"),
    ("E-30602", 50018, "electricity", "digital", "kitchen", "2012-08-09", "2025-01-22", "ok"),
    ("E-30655", 50019, "electricity", "digital", "beer cellar", "2010-05-25", "2023-11-16", "ok"),
    ("G-11980", 50019, "gas", "dial", "car park cabinet", "2007-09-13", "2023-11-16", "ok"),
    ("E-30670", 50020, "electricity", "digital", "hall", "2014-12-01", "2023-04-04", "removed"),
    ("E-30711", 50021, "electricity", "smart", "utility room", "2025-09-24", "2025-09-24", "ok"),
    ("E-30728", 50022, "electricity", "dial", "coal shed", "2001-07-19", "2022-08-30", "ok"),
    ("E-30746", 50023, "electricity", "smart", "hall", "2024-08-30", "2024-08-30", "ok"),
    ("E-30790", 50024, "electricity", "smart", "boiler house", "2019-08-12", "2025-02-18", "ok"),
    ("G-12033", 50024, "gas", "digital", "boiler house", "2016-08-22", "2025-02-18", "ok"),
]:
    METERS[mid] = dict(meterId=mid, contractNo=contract, fuel=fuel, kind=kind, location=location, installed=installed, lastInspection=inspected, status=status)

READINGS = {
    "E-30417": [("2025-06-30", 18342, "remote"), ("2025-07-31", 18561, "remote"), ("2025-08-31", 18779, "remote"), ("2025-09-30", 19040, "remote")],
    "G-11852": [("2025-03-31", 7210, "customer"), ("2025-06-30", 7388, "customer"), ("2025-09-30", 7421, "estimate")],
    "E-30440": [("2024-12-30", 60117, "engineer"), ("2025-06-28", 61450, "customer"), ("2025-09-29", 62008, "customer")],
    "E-30462": [("2025-07-31", 9120, "remote"), ("2025-08-31", 9433, "remote"), ("2025-09-30", 9790, "remote")],
    "E-30509": [("2025-08-31", 210455, "remote"), ("2025-09-30", 213902, "remote")],
    "G-11901": [("2025-05-31", 44810, "customer"), ("2025-08-31", 44810, "customer")],
    "E-30533": [("2025-06-20", 15602, "customer"), ("2025-09-20", 16015, "customer")],
    "E-30571": [("2024-10-29", 33871, "estimate"), ("2025-04-29", 34302, "estimate")],
    "E-30588": [("2025-08-31", 5011, "remote"), ("2025-09-30", 5307, "remote")],
    "G-11947": [("2025-08-31", 1204, "remote"), ("2025-09-30", 1266, "remote")],
    "E-30602": [("2025-03-03", 41290, "customer"), ("2025-09-03", 42711, "customer")],
    "E-30655": [("2025-06-30", 155230, "engineer"), ("2025-09-30", 161018, "customer")],
    "G-11980": [("2025-06-30", 28077, "engineer"), ("2025-09-30", 28540, "estimate")],
    "E-30670": [("2025-06-30", 27719, "engineer")],
    "E-30711": [],
    "E-30728": [("2025-02-28", 51366, "customer"), ("2025-08-30", 52104, "customer")],
    "E-30746": [("2025-08-31", 2377, "remote"), ("2025-09-30", 2560, "remote")],
    "E-30790": [("2025-07-31", 388120, "remote"), ("2025-08-31", 389004, "remote"), ("2025-09-30", 396771, "remote")],
    "G-12033": [("2025-06-30", 90342, "customer"), ("2025-09-30", 90877, "customer")],
}


def _contract(no):
    if no not in CONTRACTS:
        raise ToolError(f"Contract {no} does not exist")
    return CONTRACTS[no]


def _meter(mid):
    if mid not in METERS:
        raise ToolError(f"Unknown meter {mid}")
    return METERS[mid]


@server.tool()
def findContracts(customer: Optional[str] = None, tariff: Optional[Tariff] = None, status: Optional[Literal["active", "pending", "ended"]] = None) -> list[dict]:
    "Search contracts by (part of) the customer's name, by tariff or by status. All filters are optional."
    return [{k: c[k] for k in ("contractNo", "customer", "tariff", "monthlyPayment", "status")} for c in CONTRACTS.values()
            if (not customer or customer.lower() in c["customer"].lower()) and (not tariff or c["tariff"] == tariff) and (not status or c["status"] == status)]


@server.tool()
def getContract(contractNo: int) -> dict:
    "Full contract: address, contact data, prices in GBP, balance (negative = customer owes us) and its meters."
    c = _contract(contractNo)
    unit, standing = RATES[c["tariff"]]
    return {**c, "unitPrice": unit, "standingChargePerDay": standing, "meters": [m for m, r in METERS.items() if r["contractNo"] == contractNo]}


@server.tool()
def listMeters(fuel: Optional[Literal["electricity", "gas"]] = None, status: Optional[Literal["ok", "faulty", "removed"]] = None,
               kind: Optional[Literal["smart", "dial", "digital", "prepay"]] = None) -> str:
    "Meters as lines of text: id, fuel, kind, status, contract, date of installation."
    rows = [m for m in METERS.values() if (not fuel or m["fuel"] == fuel) and (not status or m["status"] == status) and (not kind or m["kind"] == kind)]
    return "\n".join(f"{m['meterId']}  {m['fuel']}  {m['kind']}  {m['status']}  contract {m['contractNo']}  installed {m['installed']}" for m in rows) or "No meters match."


@server.tool()
def getMeter(meterId: str) -> dict:
    "One meter, e.g. E-30417"
    return _meter(meterId)


@server.tool()
def getReadings(meterId: str, last: int = 4) -> str:
    "The latest readings of a meter, newest first (kWh for electricity, m3 for gas)."
    unit = "kWh" if _meter(meterId)["fuel"] == "electricity" else "m3"
    rows = READINGS[meterId][::-1][:last]
    return "\n".join(f"{d}: {v} {unit} ({s})" for d, v, s in rows) or f"No readings yet for {meterId}."


@server.tool()
def addReading(meterId: str, value: int, date: str, source: Literal["customer", "engineer", "estimate"] = "customer") -> dict:
    "Record a reading. date is YYYY-MM-DD; the value may not be lower than the previous one."
    m = _meter(meterId)
    if m["status"] == "removed":
        raise ToolError(f"Meter {meterId} was removed, no more readings accepted")
    previous = READINGS[meterId][-1] if READINGS[meterId] else None
    if previous and value < previous[1]:
        raise ToolError(f"Reading {value} is lower than the previous reading {previous[1]} of {previous[0]}")
    READINGS[meterId].append((date, value, source))
    return {"meterId": meterId, "date": date, "value": value, "source": source, "usedSinceLast": value - previous[1] if previous else None}


@server.tool()
def updateContract(contractNo: int, tariff: Optional[Tariff] = None, monthlyPayment: Optional[float] = None, paperless: Optional[bool] = None,
                   phone: Optional[str] = None, email: Optional[str] = None) -> dict:
    "Change one or more fields of a contract; fields left out stay as they are."
    c = _contract(contractNo)
    if c["status"] == "ended":
        raise ToolError(f"Contract {contractNo} has ended and cannot be changed")
    changes = {k: v for k, v in dict(tariff=tariff, monthlyPayment=monthlyPayment, paperless=paperless, phone=phone, email=email).items() if v is not None}
    if not changes:
        raise ToolError("Nothing to change")
    c.update(changes)
    return {"contractNo": contractNo, "customer": c["customer"], "updated": changes}


@server.tool()
def endContract(contractNo: int, endDate: str) -> dict:
    "Terminate a contract on a date (YYYY-MM-DD)."
    c = _contract(contractNo)
    if c["status"] == "ended":
        raise ToolError(f"Contract {contractNo} already ended on {c['endDate']}")
    c["endDate"] = endDate
    c["status"] = "ended"
    return {"contractNo": contractNo, "customer": c["customer"], "status": "ended", "endDate": endDate}


@server.tool()
def setMeterStatus(meterId: str, status: Literal["ok", "faulty", "removed"]) -> str:
    "Set the status of a meter."
    m = _meter(meterId)
    old, m["status"] = m["status"], status
    return f"Meter {meterId}: {old} -> {status}"


if __name__ == "__main__":
    server.run()
