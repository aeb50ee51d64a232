from datetime import date
from typing import Annotated, Literal
from pydantic import Field
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("meridian_claims")
Status = Literal["new", "in_review", "awaiting_documents", "approved", "paid", "rejected"]
Product = Literal["home", "motor", "travel", "pet"]

def table(names, rows): return [dict(zip(names.split(), r)) for r in rows]

_policies = {p["policy_no"]: p for p in table("policy_no holder product annual_premium excess cover_limit start_date renewal_date status phone", [
    ("HO-11204", "Greta Halvorsen", "home", 412.50, 250, 300000, "2021-05-01", "2026-05-01", "active", "0171 555014"),
    ("MO-20981", "Greta Halvorsen", "motor", 638.00, 400, 50000, "2022-09-12", "2026-09-12", "active", "0171 555014"),
    ("HO-11390", "Tobias Renner", "home", 355.20, 300, 250000, "2019-03-15", "2027-03-15", "active", "0160 555872"),
    ("MO-21447", "Amira Saleh", "motor", 810.40, 500, 60000, "2023-01-20", "2027-01-20", "active", "0152 555330"),
    ("MO-21502", "Colm Brannigan", "motor", 597.00, 300, 45000, "2020-11-02", "2026-11-02", "active", "0176 555129"),
    ("TR-30017", "Colm Brannigan", "travel", 89.90, 50, 10000, "2025-06-01", "2026-06-01", "active", "0176 555129"),
    ("TR-30044", "Ines Duarte", "travel", 112.00, 75, 15000, "2025-08-18", "2026-08-18", "active", "0157 555906"),
    ("PE-40231", "Ines Duarte", "pet", 264.00, 100, 5000, "2024-02-10", "2027-02-10", "active", "0157 555906"),
    ("HO-11758", "Viktor Paschke", "home", 498.00, 500, 420000, "2018-07-30", "2026-07-30", "active", "0171 555467"),
    ("PE-40305", "Rosalind Achebe", "pet", 318.60, 80, 8000, "2024-10-05", "2026-10-05", "active", "0162 555081"),
    ("MO-21669", "Jonas Lindgren", "motor", 720.75, 350, 55000, "2021-12-14", "2026-12-14", "lapsed", "0159 555244"),
    ("HO-11822", "Mei Tanaka", "home", 389.00, 200, 310000, "2022-04-08", "2027-04-08", "active", "0175 555690"),
    ("TR-30102", "Mei Tanaka", "travel", 149.50, 100, 20000, "2026-01-03", "2027-01-03", "active", "0175 555690"),
    ("HO-11901", "Oskar Wendt", "home", 276.80, 400, 180000, "2023-06-22", "2026-06-22", "cancelled", "0163 555718"),
])}
_assessors = {a["assessor_id"]: a for a in table("assessor_id name specialty region phone daily_rate available", [
    (1, "Hanne Voss", "water", "north", "ext. 411", 340, True),
    (2, "Dario Conti", "motor", "south", "ext. 427", 310, True),
    (3, "Priya Nair", "fire", "west", "ext. 432", 395, False),
    (4, "Lukas Adler", "motor", "north", "ext. 418", 325, True),
    (5, "Sofie Maes", "burglary", "west", "ext. 440", 360, True),
    (6, "Ewan Pryce", "water", "south", "ext. 409", 330, False),
    (7, "Bettina Kolb", "travel_and_pet", "all", "ext. 455", 290, True),
])}
_claims = {c["claim_id"]: c for c in table("claim_id policy_no cause reported_on amount_claimed reserve status assessor_id", [
    ("C-7301", "HO-11204", "burst pipe", "2026-01-08", 4800, 5000, "in_review", 1),
    ("C-7302", "MO-21447", "rear-end collision", "2026-01-11", 3250, 3000, "approved", 2),
    ("C-7303", "HO-11390", "burglary", "2026-01-15", 6120, 6500, "in_review", 5),
    ("C-7304", "TR-30017", "lost luggage", "2026-01-19", 740, 700, "paid", 7),
    ("C-7305", "PE-40231", "knee surgery", "2026-01-23", 1980, 2000, "awaiting_documents", 7),
    ("C-7306", "MO-21502", "hail", "2026-01-27", 2110, 2200, "new", None),
    ("C-7307", "HO-11758", "kitchen fire", "2026-02-02", 18400, 20000, "in_review", 3),
    ("C-7308", "MO-20981", "windscreen", "2026-02-04", 560, 600, "paid", 4),
    ("C-7309", "TR-30044", "trip cancellation", "2026-02-09", 2875, 2500, "awaiting_documents", 7),
    ("C-7310", "HO-11822", "washing machine leak", "2026-02-12", 3390, 3500, "approved", 6),
    ("C-7311", "PE-40305", "swallowed toy", "2026-02-17", 1245, 1300, "new", None),
    ("C-7312", "MO-21669", "parking damage", "2026-02-18", 930, 0, "rejected", 4),
    ("C-7313", "HO-11204", "storm", "2026-02-23", 7250, 7000, "new", None),
    ("C-7314", "MO-21447", "theft of wheels", "2026-02-26", 1680, 1700, "in_review", 2),
    ("C-7315", "TR-30102", "medical abroad", "2026-03-02", 5430, 5500, "awaiting_documents", 7),
    ("C-7316", "HO-11758", "broken window", "2026-03-04", 820, 800, "new", None),
    ("C-7317", "HO-11390", "burst pipe", "2026-03-06", 2640, 2600, "new", None),
    ("C-7318", "PE-40231", "dental", "2026-03-09", 610, 600, "rejected", 7),
])}

def claim_of(claim_id):
    if claim_id not in _claims: raise ToolError(f"claim {claim_id} not found")
    return _claims[claim_id]

def policy_of(policy_no):
    if policy_no not in _policies: raise ToolError(f"policy {policy_no} not found")
    return _policies[policy_no]

@server.tool()
def get_claim(claim_id: Annotated[str, Field(description="e.g. C-7301")]) -> dict:
    "Return one claim. Amounts are in EUR."
    return claim_of(claim_id)

@server.tool()
def search_claims(status: Status | None = None, policy_no: str | None = None, assessor_id: int | None = None, min_amount: float = 0, unassigned_only: bool = False) -> dict:
    "Search claims; all filters are optional and combined with AND. Returns at most 8 claims, oldest first, and the total number of hits."
    hits = [c for c in _claims.values() if status in (None, c["status"]) and policy_no in (None, c["policy_no"]) and assessor_id in (None, c["assessor_id"])
            and c["amount_claimed"] >= min_amount and not (unassigned_only and c["assessor_id"])]
    return {"total": len(hits), "claims": [{k: c[k] for k in ("claim_id", "policy_no", "cause", "reported_on", "amount_claimed", "status")} for c in hits[:8]]}

@server.tool()
def get_policy(policy_no: Annotated[str, Field(description="e.g. HO-11204")]) -> dict:
    "Return one policy with premium, excess, limit and dates. Amounts are in EUR."
    return policy_of(policy_no)

@server.tool()
def find_policies(holder_name: str, product: Product | None = None) -> list[dict]:
    "Find the policies of a policyholder by (part of the) name, optionally of one product."
    hits = [p for p in _policies.values() if holder_name.casefold() in p["holder"].casefold() and product in (None, p["product"])]
    if not hits: raise ToolError(f"no policyholder matches '{holder_name}'" + (f" with product {product}" if product else ""))
    return [{k: p[k] for k in ("policy_no", "holder", "product", "status")} for p in hits]

@server.tool()
def list_assessors(specialty: Literal["water", "motor", "fire", "burglary", "travel_and_pet"] | None = None, available: bool | None = None) -> list[dict]:
    "List loss assessors with id, region, phone and daily rate (EUR)."
    return [a for a in _assessors.values() if specialty in (None, a["specialty"]) and available in (None, a["available"])]

@server.tool()
def assign_assessor(claim_id: str, assessor_id: int) -> dict:
    "Assign a claim to an assessor (replaces the present one)."
    c = claim_of(claim_id)
    if assessor_id not in _assessors: raise ToolError(f"assessor {assessor_id} not found")
    if not _assessors[assessor_id]["available"]: raise ToolError(f"{_assessors[assessor_id]['name']} is not available")
    c["assessor_id"] = assessor_id
    return {"claim_id": claim_id, "assessor_id": assessor_id, "assessor": _assessors[assessor_id]["name"]}

@server.tool()
def update_claim(claim_id: str, status: Status | None = None, reserve: float | None = None, amount_claimed: float | None = None) -> dict:
    "Change a claim's status, reserve or claimed amount."
    c, new = claim_of(claim_id), {k: v for k, v in dict(status=status, reserve=reserve, amount_claimed=amount_claimed).items() if v is not None}
    if not new: raise ToolError("nothing to update")
    c.update(new)
    return {"claim_id": claim_id, "updated": new}

@server.tool()
def open_claim(policy_no: str, cause: Annotated[str, Field(description="what happened, in a few words")], amount_claimed: float, reported_on: Annotated[str, Field(description="YYYY-MM-DD")] = "2026-03-10") -> dict:
    "Register a new claim on an active policy. reported_on defaults to today."
    p = policy_of(policy_no)
    if p["status"] != "active": raise ToolError(f"policy {policy_no} is {p['status']}")
    date.fromisoformat(reported_on)
    c = dict(claim_id=f"C-{7301 + len(_claims)}", policy_no=policy_no, cause=cause, reported_on=reported_on, amount_claimed=amount_claimed, reserve=0, status="new", assessor_id=None)
    _claims[c["claim_id"]] = c
    return c

@server.tool()
def update_policy(policy_no: str, excess: int | None = None, phone: str | None = None, renewal_date: str | None = None, status: Literal["active", "lapsed", "cancelled"] | None = None) -> dict:
    "Change the excess, contact phone, renewal date (YYYY-MM-DD) or status of a policy."
    p, new = policy_of(policy_no), {k: v for k, v in dict(excess=excess, phone=phone, renewal_date=renewal_date, status=status).items() if v is not None}
    if not new: raise ToolError("nothing to update")
    p.update(new)
    return {"policy_no": policy_no, "holder": p["holder"], "updated": new}

if __name__ == "__main__":
    server.run()
