"""A family tree with its marriages, places and certificates."""
from typing import Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("familyTree")

PLACES = {
    11: ("Aldermoor", "Norfolk", "St Brannoc", "Norfolk Record Office", "555-0101"),
    12: ("Cray Head", "Cornwall", "St Petroc", "Kresen Archive", "555-0102"),
    13: ("Tunbeck", "Cumbria", "Holy Cross", "Carlisle Archive Centre", "555-0103"),
    14: ("Wexcombe", "Wiltshire", "All Souls", "Wiltshire History Centre", "555-0104"),
    15: ("Port Sallow", "Kent", "St Mildred", "Kent Archives", "555-0105"),
    16: ("Ballinroe", "County Mayo", "St Colman", "Mayo County Library", "555-0106"),
}
# id: name, sex, born, birthPlace, died, deathPlace, father, mother, occupation, birthCertificate
PERSONS = {k: dict(zip(("name", "sex", "born", "birthPlace", "died", "deathPlace", "father", "mother", "occupation", "birthCertificate"), v)) for k, v in {
    "I1": ("Josiah Penhale", "M", "1812-03-04", 12, "1880-11-19", 12, None, None, "tin miner", None),
    "I2": ("Grace Tremlow", "F", "1816-07-22", 12, "1891-02-10", 15, None, None, "net maker", None),
    "I3": ("Edmund Harkness", "M", "1809-12-01", 13, "1877-05-30", 13, None, None, "shepherd", None),
    "I4": ("Martha Yewdale", "F", "1814-09-15", 13, "1869-08-08", 13, None, None, "weaver", None),
    "I5": ("Samuel Penhale", "M", "1839-01-17", 12, "1903-06-25", 15, "I1", "I2", "ship's carpenter", "B-1839-06"),
    "I6": ("Loveday Penhale", "F", "1842-10-30", 12, "1918-04-12", 12, "I1", "I2", "schoolmistress", "B-1842-51"),
    "I7": ("Hannah Harkness", "F", "1843-05-05", 13, "1929-01-03", 15, "I3", "I4", "dressmaker", "B-1843-20"),
    "I8": ("Isaac Harkness", "M", "1846-02-28", 13, "1899-12-24", 11, "I3", "I4", "miller", "B-1846-09"),
    "I9": ("Bridget Scanlan", "F", "1850-08-19", 16, "1933-10-01", 11, None, None, "cook", None),
    "I10": ("William Penhale", "M", "1868-04-09", 15, "1941-03-15", 15, "I5", "I7", "customs officer", "B-1868-33"),
    "I11": ("Edith Penhale", "F", "1871-11-02", 15, "1950-07-07", 14, "I5", "I7", "nurse", "B-1871-74"),
    "I12": ("Arthur Penhale", "M", "1875-06-18", 15, "1916-07-01", None, "I5", "I7", "bank clerk", "B-1875-40"),
    "I13": ("Nora Harkness", "F", "1877-03-21", 11, "1961-09-14", 15, "I8", "I9", "typist", "B-1877-18"),
    "I14": ("Peter Harkness", "M", "1880-12-12", 11, None, None, "I8", "I9", "photographer", "B-1880-90"),
    "I15": ("Walter Sturgess", "M", "1866-01-29", 14, "1938-05-20", 14, None, None, "saddler", None),
    "I16": ("Clara Penhale", "F", "1901-02-14", 15, "1984-08-30", 14, "I10", "I13", "botanist", "B-1901-12"),
    "I17": ("Hugh Penhale", "M", "1904-09-03", 15, "1979-01-11", 11, "I10", "I13", "radio engineer", "B-1904-66"),
    "I18": ("Mabel Sturgess", "F", "1898-05-27", 14, "1972-12-05", 14, "I15", "I11", "postmistress", "B-1898-27"),
}.items()}
MARRIAGES = {k: dict(zip(("husband", "wife", "date", "place", "certificate"), v)) for k, v in {
    "M1": ("I1", "I2", "1837-06-11", 12, "M-1837-03"),
    "M2": ("I3", "I4", "1840-10-04", 13, "M-1840-22"),
    "M3": ("I5", "I7", "1866-09-29", 15, "M-1866-15"),
    "M4": ("I8", "I9", "1875-02-08", 16, "M-1875-08"),
    "M5": ("I10", "I13", "1899-04-22", 11, "M-1899-31"),
    "M6": ("I15", "I11", "1896-08-01", 14, "M-1896-47"),
}.items()}
# number: person, registrar, status, price, copies, informant
CERTIFICATES = {k: dict(zip(("registrar", "status", "priceGBP", "copies", "informant", "note"), v)) for k, v in {
    "B-1839-06": ("J. Cobbledick", "scanned", 8.5, 0, "I1", "surname spelled Penhall"),
    "B-1842-51": ("J. Cobbledick", "scanned", 8.5, 0, "I2", ""),
    "B-1843-20": ("A. Postle", "missing", 12.0, 0, "I4", ""),
    "B-1846-09": ("A. Postle", "ordered", 12.0, 1, "I3", "reply due by post"),
    "B-1868-33": ("E. Larkfield", "scanned", 11.0, 0, "I7", ""),
    "B-1871-74": ("E. Larkfield", "missing", 11.0, 0, "I5", ""),
    "B-1875-40": ("M. Quested", "ordered", 11.0, 2, "I7", "one copy for the regiment museum"),
    "B-1877-18": ("R. Gotts", "scanned", 9.25, 0, "I9", ""),
    "B-1880-90": ("R. Gotts", "missing", 9.25, 0, "I8", ""),
    "B-1898-27": ("H. Dorling", "scanned", 10.0, 0, "I15", ""),
    "B-1901-12": ("M. Quested", "scanned", 11.0, 0, "I13", ""),
    "B-1904-66": ("M. Quested", "missing", 11.0, 0, "I10", ""),
    "M-1837-03": ("J. Cobbledick", "scanned", 8.5, 0, None, "bride signed with a cross"),
    "M-1840-22": ("A. Postle", "missing", 12.0, 0, None, ""),
    "M-1866-15": ("E. Larkfield", "scanned", 11.0, 0, None, "witness: Loveday Penhale"),
    "M-1875-08": ("Fr. Conroy", "ordered", 20.0, 1, None, "church record in Latin"),
    "M-1896-47": ("H. Dorling", "scanned", 10.0, 0, None, ""),
    "M-1899-31": ("R. Gotts", "missing", 9.25, 0, None, ""),
}.items()}


def person(pid):
    if pid not in PERSONS:
        raise ToolError(f"Unknown person id: {pid}")
    return PERSONS[pid]


def certificate(number):
    if number not in CERTIFICATES:
        raise ToolError(f"Certificate {number} is not registered")
    return CERTIFICATES[number]


@server.tool()
def getPersons(ids: list[str]) -> list[dict]:
    "Full records of one or more persons, e.g. ['I3', 'I7']. Parents are person ids, places are place ids."
    return [{"id": i, **person(i)} for i in ids]


@server.tool()
def searchPersons(name: str = "", bornFrom: int = 0, bornTo: int = 9999) -> list[dict]:
    "Search by a part of the name and/or the years of birth."
    return [{"id": k, "name": p["name"], "born": p["born"]} for k, p in PERSONS.items()
            if name.lower() in p["name"].lower() and bornFrom <= int(p["born"][:4]) <= bornTo]


@server.tool()
def getChildren(personId: str) -> list[dict]:
    "The children of a person, eldest first."
    person(personId)
    rows = [{"id": k, "name": p["name"], "born": p["born"]} for k, p in PERSONS.items() if personId in (p["father"], p["mother"])]
    return sorted(rows, key=lambda r: r["born"])


@server.tool()
def getMarriages(personId: str) -> list[dict]:
    "The marriages of a person: spouses (person ids), date, place id, certificate number."
    person(personId)
    return [{"id": k, **m} for k, m in MARRIAGES.items() if personId in (m["husband"], m["wife"])]


@server.tool()
def getPlace(placeId: int) -> dict:
    "A place: county, parish church, and the archive that keeps its registers."
    if placeId not in PLACES:
        raise ToolError(f"No place {placeId}")
    return {"id": placeId, **dict(zip(("name", "county", "parish", "archive", "archivePhone"), PLACES[placeId]))}


@server.tool()
def getCertificates(numbers: list[str]) -> list[dict]:
    "One or more certificates by number (B-yyyy-nn for births, M-yyyy-nn for marriages). The informant is a person id."
    return [{"number": n, **certificate(n)} for n in numbers]


@server.tool()
def listCertificates(status: Literal["scanned", "ordered", "missing"]) -> list[dict]:
    "All certificates with a status."
    return [{"number": n, "registrar": c["registrar"], "priceGBP": c["priceGBP"], "copies": c["copies"]} for n, c in CERTIFICATES.items() if c["status"] == status]


@server.tool()
def updatePerson(personId: str, field: Literal["name", "born", "birthPlace", "died", "deathPlace", "father", "mother", "occupation"], value: str) -> list[dict]:
    "Set one field of a person. Dates as YYYY-MM-DD; parents by person id; places by place id."
    p = person(personId)
    if field in ("father", "mother"):
        person(value)
    if field in ("birthPlace", "deathPlace"):
        if not value.isdigit() or int(value) not in PLACES:
            raise ToolError(f"No place {value}")
    old, p[field] = p[field], int(value) if field in ("birthPlace", "deathPlace") else value
    return [{"id": personId, "name": p["name"], "field": field, "old": old, "new": p[field]}]


@server.tool()
def setCertificate(number: str, status: Literal["scanned", "ordered", "missing"] | None = None, copies: int | None = None) -> list[dict]:
    "Change the status of a certificate and/or the number of copies on order."
    c = certificate(number)
    c.update({k: v for k, v in {"status": status, "copies": copies}.items() if v is not None})
    return [{"number": number, "status": c["status"], "copies": c["copies"]}]


if __name__ == "__main__":
    server.run()
