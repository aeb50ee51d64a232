from typing import Any, Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("seedbank")

SPECIES = {s[0]: dict(zip(("slug", "latinName", "commonName", "family", "conservationStatus", "storageClass", "stratificationDays", "germinationTempC"), s)) for s in [
    ("papaver-rhoeas", "Papaver rhoeas", "common poppy", "Papaveraceae", "least concern", "orthodox", 0, 15),
    ("gentiana-lutea", "Gentiana lutea", "great yellow gentian", "Gentianaceae", "near threatened", "orthodox", 60, 12),
    ("quercus-suber", "Quercus suber", "cork oak", "Fagaceae", "least concern", "recalcitrant", 0, 20),
    ("primula-farinosa", "Primula farinosa", "bird's-eye primrose", "Primulaceae", "vulnerable", "orthodox", 42, 10),
    ("arnica-montana", "Arnica montana", "mountain arnica", "Asteraceae", "near threatened", "orthodox", 14, 18),
    ("sorbus-aucuparia", "Sorbus aucuparia", "rowan", "Rosaceae", "least concern", "orthodox", 120, 8),
    ("drosera-anglica", "Drosera anglica", "great sundew", "Droseraceae", "endangered", "orthodox", 35, 22),
    ("castanea-sativa", "Castanea sativa", "sweet chestnut", "Fagaceae", "least concern", "recalcitrant", 21, 16),
    ("lilium-martagon", "Lilium martagon", "Turk's cap lily", "Liliaceae", "vulnerable", "intermediate", 90, 14),
]}
COLLECTORS = {c[0]: dict(zip(("id", "name", "institute", "email", "phone", "permit", "permitExpires"), c)) for c in [
    ("m-eberle", "Magda Eberle", "Alpine Garden Trust", "eberle@alpinegarden.example", "555-0150", "P-2207", "2026-12-31"),
    ("t-nkemelu", "Tobe Nkemelu", "Wetland Survey Group", "tobe@wetlands.example", "555-0151", "P-1984", "2025-09-30"),
    ("s-arriaga", "Sol Arriaga", "University of Port Verano", "s.arriaga@upv.example", "555-0152", "P-2315", "2027-04-15"),
    ("h-brunner", "Hannes Brunner", "Forestry Office North", "brunner@forestnorth.example", "555-0153", "P-2040", "2026-03-01"),
    ("y-takeda", "Yuki Takeda", "independent", "yuki.takeda@post.example", "555-0154", "P-2291", "2026-08-20"),
]}
VAULTS = {v[0]: dict(zip(("vault", "name", "temperatureC", "humidityPct", "shelvesFree", "keeper", "lastInspected", "locked"), v)) for v in [
    ("cold-north", "North cold room", -20, 15, 12, "Ines Farrugia", "2025-08-14", True),
    ("cold-south", "South cold room", -18, 17, 0, "Dov Lerner", "2025-06-02", True),
    ("cryo-1", "Cryo tank 1", -196, 3, 4, "Ines Farrugia", "2025-09-22", True),
    ("dry-a", "Drying chamber A", 15, 14, 31, "Petra Slavik", "2025-09-05", False),
    ("moist-b", "Moist store B", 4, 68, 7, "Gil Amarante", "2025-07-19", False),
]}
ACCESSIONS = {a[0]: dict(zip(("hash", "species", "collector", "vault", "seeds", "collected", "site", "status"), a)) for a in [
    ("3fa91c7", "papaver-rhoeas", "y-takeda", "cold-north", 8200, "2021-07-30", "field edge near Holm", "stored"),
    ("b07de24", "gentiana-lutea", "m-eberle", "cold-north", 1450, "2019-09-11", "Karr pass, 1900 m", "stored"),
    ("9c15e08", "quercus-suber", "s-arriaga", "moist-b", 260, "2024-11-02", "Verano hills", "stored"),
    ("e42b6fa", "primula-farinosa", "t-nkemelu", "cryo-1", 610, "2022-08-03", "Lower Fen", "stored"),
    ("71d08bb", "arnica-montana", "m-eberle", "cold-south", 2300, "2020-08-25", "Karr pass, 1700 m", "stored"),
    ("a8835dc", "sorbus-aucuparia", "h-brunner", "cold-south", 3900, "2018-10-06", "Nordwald block 7", "stored"),
    ("0de4f19", "drosera-anglica", "t-nkemelu", "cryo-1", 140, "2023-09-17", "Blackmoss bog", "quarantine"),
    ("c61a972", "castanea-sativa", "s-arriaga", "moist-b", 185, "2024-10-20", "Santa Ula orchard", "stored"),
    ("5b9f3e0", "lilium-martagon", "y-takeda", "cold-north", 720, "2022-09-28", "Ober wood", "stored"),
    ("d7702ac", "papaver-rhoeas", "h-brunner", "dry-a", 5100, "2025-07-14", "motorway verge, km 12", "drying"),
    ("4e8c1b5", "arnica-montana", "y-takeda", "dry-a", 960, "2025-08-19", "Tiefsee meadow", "drying"),
    ("f2906d3", "primula-farinosa", "m-eberle", "cold-north", 330, "2017-08-12", "Karr pass, spring", "depleted"),
    ("68ab04e", "gentiana-lutea", "h-brunner", "cold-south", 2050, "2023-09-30", "Nordwald clearing", "stored"),
    ("1d5c7f8", "sorbus-aucuparia", "m-eberle", "cold-north", 1780, "2021-10-01", "Karr valley", "stored"),
    ("bc3e951", "drosera-anglica", "y-takeda", "cryo-1", 415, "2020-09-08", "Witch's mire", "stored"),
    ("27f4ad6", "lilium-martagon", "s-arriaga", "dry-a", 540, "2025-09-10", "Verano north slope", "quarantine"),
]}
TESTS = {t[0]: dict(zip(("test", "accession", "started", "sown", "germinated", "medium", "technician"), t)) for t in [
    ("gt-301", "3fa91c7", "2024-03-04", 100, 91, "agar", "Lotte Vance"),
    ("gt-302", "b07de24", "2024-03-04", 50, 31, "filter paper", "Lotte Vance"),
    ("gt-303", "e42b6fa", "2024-05-13", 40, 22, "agar", "Rui Pascoal"),
    ("gt-304", "71d08bb", "2024-05-20", 60, 48, "filter paper", "Rui Pascoal"),
    ("gt-305", "a8835dc", "2024-09-02", 80, 36, "sand", "Lotte Vance"),
    ("gt-306", "3fa91c7", "2025-03-10", 100, 87, "agar", "Cass Ito"),
    ("gt-307", "9c15e08", "2025-02-03", 20, 17, "peat", "Cass Ito"),
    ("gt-308", "0de4f19", "2025-04-01", 25, 6, "peat", "Rui Pascoal"),
    ("gt-309", "f2906d3", "2025-04-14", 30, 3, "agar", "Lotte Vance"),
    ("gt-310", "c61a972", "2025-02-17", 20, 19, "sand", "Cass Ito"),
    ("gt-311", "b07de24", "2025-05-05", 50, 27, "filter paper", "Rui Pascoal"),
    ("gt-312", "1d5c7f8", "2025-06-16", 60, 42, "sand", "Cass Ito"),
    ("gt-313", "bc3e951", "2025-06-30", 35, 28, "peat", "Lotte Vance"),
    ("gt-314", "5b9f3e0", "2025-08-11", 40, 18, "filter paper", "Rui Pascoal"),
]}


def _accession(hash: str) -> dict:
    hits = [a for h, a in ACCESSIONS.items() if h.startswith(hash.lower())] if len(hash) >= 4 else []
    if len(hits) != 1:
        raise ToolError(f"E404 accession '{hash}' not found (at least 4 characters of the hash are needed)")
    return hits[0]


@server.tool()
def accessionGet(hash: str) -> dict[str, Any]:
    """Read one accession (seed lot) by its hash; the first 4 or more characters are enough. Species, collector and vault are given as keys."""
    return _accession(hash)


@server.tool()
def accessionSearch(commonName: str | None = None, vault: str | None = None, collector: str | None = None, status: Literal["stored", "drying", "quarantine", "depleted"] | None = None) -> list[dict[str, Any]]:
    """Find accessions by the species' common name (part of it), vault key, collector id, status, or several of these. Returns hash, species, seeds, collected."""
    return [{k: a[k] for k in ("hash", "species", "seeds", "collected")} for a in ACCESSIONS.values()
            if (commonName is None or commonName.lower() in SPECIES[a["species"]]["commonName"].lower()) and vault in (None, a["vault"])
            and collector in (None, a["collector"]) and status in (None, a["status"])][:12]


@server.tool()
def speciesInfo(slug: str) -> dict[str, Any]:
    """Botanical data of a species. The slug is the Latin name in lower case with a hyphen, e.g. quercus-suber."""
    if slug not in SPECIES:
        raise ToolError(f"E404 species '{slug}' not found")
    return SPECIES[slug]


@server.tool()
def collectorInfo(id: str) -> dict[str, Any]:
    """Contact and permit of a collector. Ids are initial-surname, e.g. m-eberle."""
    if id not in COLLECTORS:
        raise ToolError(f"E404 collector '{id}' not found")
    return COLLECTORS[id]


@server.tool()
def vaultInfo(vault: Literal["cold-north", "cold-south", "cryo-1", "dry-a", "moist-b"]) -> dict[str, Any]:
    """State of a storage vault."""
    return VAULTS[vault]


@server.tool()
def testList(accession: str | None = None, technician: str | None = None) -> list[dict[str, Any]]:
    """Germination tests of an accession (hash) or by a technician (name), oldest first."""
    key = _accession(accession)["hash"] if accession else None
    rows = [t for t in TESTS.values() if key in (None, t["accession"]) and (technician is None or technician.lower() in t["technician"].lower())]
    return [{k: t[k] for k in ("test", "accession", "started", "sown", "germinated")} for t in sorted(rows, key=lambda t: t["started"])][:10]


@server.tool()
def testGet(test: str) -> dict[str, Any]:
    """One germination test by id, e.g. gt-304."""
    if test not in TESTS:
        raise ToolError(f"E404 test '{test}' not found")
    return TESTS[test]


@server.tool()
def testRecord(accession: str, sown: int, germinated: int, medium: Literal["agar", "filter paper", "sand", "peat"] = "agar") -> dict[str, Any]:
    """Record a finished germination test of an accession."""
    a = _accession(accession)
    if germinated > sown:
        raise ToolError("E422 more germinated than sown")
    key = f"gt-{301 + len(TESTS)}"
    TESTS[key] = {"test": key, "accession": a["hash"], "started": "2025-10-01", "sown": sown, "germinated": germinated, "medium": medium, "technician": "-"}
    return {"recorded": key, "accession": a["hash"], "sown": sown, "germinated": germinated, "medium": medium}


@server.tool()
def accessionUpdate(hash: str, seeds: int | None = None, vault: Literal["cold-north", "cold-south", "cryo-1", "dry-a", "moist-b"] | None = None,
                    status: Literal["stored", "drying", "quarantine", "depleted"] | None = None) -> dict[str, Any]:
    """Change an accession: seeds is the new count, vault the key of its new place, status its new status. Leave out what stays."""
    a = _accession(hash)
    if vault and VAULTS[vault]["shelvesFree"] == 0:
        raise ToolError(f"E409 vault '{vault}' has no free shelf")
    changed = {k: v for k, v in (("seeds", seeds), ("vault", vault), ("status", status)) if v is not None}
    a.update(changed)
    return {"hash": a["hash"], "changed": changed}


if __name__ == "__main__":
    server.run()
