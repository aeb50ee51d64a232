"""Sample store of a research lab."""
from typing import Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("sample-store")

Status = Literal["available", "reserved", "in_use", "depleted", "discarded"]
Assay = Literal["concentration", "purity_260_280", "rin", "ph", "viability"]
UNITS = {"concentration": "ng/ul", "purity_260_280": "", "rin": "", "ph": "", "viability": "%"}

FREEZERS = {
    "mammoth": {"name": "mammoth", "room": "B2.14", "set_point_c": -80, "current_c": -78.6, "alarm": False, "capacity": 400, "occupied": 371, "last_defrost": "2024-11-18", "contact": "h.osei@kerrlab.example"},
    "yeti": {"name": "yeti", "room": "B2.14", "set_point_c": -80, "current_c": -61.3, "alarm": True, "capacity": 400, "occupied": 212, "last_defrost": "2023-08-02", "contact": "h.osei@kerrlab.example"},
    "penguin": {"name": "penguin", "room": "B2.09", "set_point_c": -20, "current_c": -19.8, "alarm": False, "capacity": 250, "occupied": 250, "last_defrost": "2025-02-10", "contact": "t.brandt@kerrlab.example"},
    "snowflake": {"name": "snowflake", "room": "C1.03", "set_point_c": -20, "current_c": -21.0, "alarm": False, "capacity": 180, "occupied": 64, "last_defrost": "2025-01-27", "contact": "l.fontaine@kerrlab.example"},
    "dewar-1": {"name": "dewar-1", "room": "B0.01", "set_point_c": -196, "current_c": -194.2, "alarm": False, "capacity": 120, "occupied": 88, "last_defrost": None, "contact": "y.tanaka@kerrlab.example"},
}

COLUMNS = ["sample_id", "label", "material", "project", "freezer", "box", "position", "volume_ul", "collected", "status", "reserved_for"]
ROWS = [
    ["KL-0412", "zebrafish fin clip 7", "DNA", "finregen", "mammoth", 3, "A1", 45, "2024-06-03", "available", None],
    ["KL-0413", "zebrafish fin clip 8", "DNA", "finregen", "mammoth", 3, "A2", 38, "2024-06-03", "available", None],
    ["KL-0414", "zebrafish heart pool", "RNA", "finregen", "mammoth", 3, "A3", 20, "2024-06-10", "reserved", "m.silva@kerrlab.example"],
    ["KL-0431", "soil core Lindow 1", "soil extract", "peatmap", "penguin", 11, "C4", 500, "2024-09-21", "available", None],
    ["KL-0432", "soil core Lindow 2", "soil extract", "peatmap", "penguin", 11, "C5", 480, "2024-09-21", "in_use", None],
    ["KL-0433", "soil core Moss End", "soil extract", "peatmap", "penguin", 11, "C6", 350, "2024-10-05", "available", None],
    ["KL-0440", "HeLa passage 12", "cells", "stressmap", "dewar-1", 1, "B7", 1000, "2024-10-30", "available", None],
    ["KL-0441", "HeLa passage 14", "cells", "stressmap", "dewar-1", 1, "B8", 1000, "2024-11-13", "available", None],
    ["KL-0442", "HEK293 stock", "cells", "stressmap", "dewar-1", 2, "D1", 800, "2024-12-02", "reserved", "y.tanaka@kerrlab.example"],
    ["KL-0450", "donor 31 plasma", "plasma", "longcov", "yeti", 5, "E2", 250, "2025-01-08", "available", None],
    ["KL-0451", "donor 32 plasma", "plasma", "longcov", "yeti", 5, "E3", 0, "2025-01-08", "depleted", None],
    ["KL-0452", "donor 33 plasma", "plasma", "longcov", "yeti", 5, "E4", 225, "2025-01-15", "available", None],
    ["KL-0453", "donor 33 serum", "serum", "longcov", "yeti", 5, "E5", 180, "2025-01-15", "reserved", "p.nowak@kerrlab.example"],
    ["KL-0460", "yeast strain BY4741", "cells", "stressmap", "mammoth", 8, "F6", 600, "2025-02-03", "available", None],
    ["KL-0461", "yeast strain W303", "cells", "stressmap", "mammoth", 8, "F7", 600, "2025-02-03", "discarded", None],
    ["KL-0470", "heat shock 30 min", "RNA", "stressmap", "mammoth", 9, "G1", 30, "2025-03-11", "available", None],
    ["KL-0471", "heat shock 60 min", "RNA", "stressmap", "mammoth", 9, "G2", 28, "2025-03-11", "available", None],
    ["KL-0472", "heat shock control", "RNA", "stressmap", "mammoth", 9, "G3", 33, "2025-03-11", "in_use", None],
    ["KL-0480", "Taq buffer lot 9", "buffer", "general", "snowflake", 2, "H1", 1500, "2025-03-20", "available", None],
    ["KL-0481", "anti-actin antibody", "antibody", "general", "snowflake", 2, "H2", 90, "2025-03-24", "available", None],
]
SAMPLES = {r[0]: dict(zip(COLUMNS, r)) for r in ROWS}

# sample, assay, value, date, operator
MEASURED = [
    ["KL-0412", "concentration", 112.4, "2024-06-04", "Marta Silva"], ["KL-0412", "purity_260_280", 1.86, "2024-06-04", "Marta Silva"],
    ["KL-0413", "concentration", 74.9, "2024-06-04", "Marta Silva"], ["KL-0413", "purity_260_280", 1.62, "2024-06-04", "Marta Silva"],
    ["KL-0414", "concentration", 203.0, "2024-06-11", "Henry Osei"], ["KL-0414", "rin", 8.7, "2024-06-12", "Henry Osei"],
    ["KL-0431", "ph", 4.1, "2024-09-25", "Lou Fontaine"], ["KL-0432", "ph", 4.3, "2024-09-25", "Lou Fontaine"], ["KL-0433", "ph", 5.2, "2024-10-07", "Lou Fontaine"],
    ["KL-0440", "viability", 91.5, "2024-10-30", "Yuki Tanaka"], ["KL-0440", "viability", 84.0, "2025-03-05", "Yuki Tanaka"],
    ["KL-0441", "viability", 93.2, "2024-11-13", "Yuki Tanaka"], ["KL-0442", "viability", 77.8, "2024-12-02", "Piotr Nowak"],
    ["KL-0470", "rin", 9.1, "2025-03-12", "Henry Osei"], ["KL-0470", "concentration", 148.2, "2025-03-12", "Henry Osei"],
    ["KL-0471", "rin", 6.4, "2025-03-12", "Henry Osei"], ["KL-0471", "concentration", 131.7, "2025-03-12", "Henry Osei"],
    ["KL-0472", "rin", 9.4, "2025-03-12", "Henry Osei"],
]


def sample(sample_id):
    if sample_id not in SAMPLES:
        raise ToolError(f"SampleNotFound: {sample_id!r}")
    return SAMPLES[sample_id]


@server.tool()
def get_sample(sample_id: str) -> dict:
    """Fetch the full record of a sample. sample_id looks like KL-0412."""
    return sample(sample_id)


@server.tool()
def search_samples(text: str | None = None, material: str | None = None, project: str | None = None,
                   freezer: str | None = None, status: Status | None = None) -> list[dict]:
    """Search samples. All filters are optional and combined with AND; text matches part of the label. At most 10 short records are returned."""
    hits = []
    for s in SAMPLES.values():
        if text and text.lower() not in s["label"].lower():
            continue
        if any(v and s[k].lower() != v.lower() for k, v in (("material", material), ("project", project), ("freezer", freezer), ("status", status))):
            continue
        hits.append({k: s[k] for k in ("sample_id", "label", "status", "volume_ul")})
    return hits[:10]


@server.tool()
def list_freezers() -> list[dict]:
    """All freezers with temperature and alarm state."""
    return [{k: f[k] for k in ("name", "room", "current_c", "alarm")} for f in FREEZERS.values()]


@server.tool()
def get_freezer(name: str) -> dict:
    """Details of a freezer by its (lower case) name: room, temperatures, capacity, last defrost, contact."""
    if name not in FREEZERS:
        raise ToolError(f"FreezerNotFound: {name!r}")
    f = FREEZERS[name]
    return {**f, "free_slots": f["capacity"] - f["occupied"]}


@server.tool()
def get_measurements(sample_id: str, assay: Assay | None = None) -> list[dict]:
    """Measurements of a sample, oldest first."""
    sample(sample_id)
    return [{"assay": a, "value": v, "unit": UNITS[a], "measured_on": d, "operator": o} for s, a, v, d, o in MEASURED if s == sample_id and assay in (None, a)]


@server.tool()
def record_measurement(sample_id: str, assay: Assay, value: float, operator: str | None = None) -> dict:
    """Store a new measurement. Units: concentration ng/ul, viability %, others none."""
    sample(sample_id)
    if assay == "ph" and not 0 <= value <= 14:
        raise ToolError("InvalidValue: ph must be between 0 and 14")
    MEASURED.append([sample_id, assay, value, "2025-04-02", operator])
    return {"recorded": True, "sample_id": sample_id, "assay": assay, "value": value, "unit": UNITS[assay], "measured_on": "2025-04-02", "operator": operator}


@server.tool()
def move_sample(sample_id: str, freezer: str, box: int, position: str) -> dict:
    """Move a sample to a box and position (like B7) of a freezer."""
    s = sample(sample_id)
    if freezer not in FREEZERS:
        raise ToolError(f"FreezerNotFound: {freezer!r}")
    for other in SAMPLES.values():
        if (other["freezer"], other["box"], other["position"]) == (freezer, box, position):
            raise ToolError(f"PositionTaken: {freezer} box {box} {position} holds {other['sample_id']}")
    if FREEZERS[freezer]["occupied"] >= FREEZERS[freezer]["capacity"] and freezer != s["freezer"]:
        raise ToolError(f"FreezerFull: {freezer}")
    before = f"{s['freezer']}/{s['box']}/{s['position']}"
    FREEZERS[s["freezer"]]["occupied"] -= 1
    FREEZERS[freezer]["occupied"] += 1
    s.update(freezer=freezer, box=box, position=position)
    return {"sample_id": sample_id, "from": before, "to": f"{freezer}/{box}/{position}"}


@server.tool()
def set_sample_status(sample_id: str, status: Literal["available", "in_use", "depleted", "discarded"]) -> dict:
    """Set the status of a sample; clears a reservation. To reserve use reserve_sample."""
    s = sample(sample_id)
    s["status"], s["reserved_for"] = status, None
    if status == "depleted":
        s["volume_ul"] = 0
    return {"sample_id": sample_id, "label": s["label"], "status": status}


@server.tool()
def reserve_sample(sample_id: str, email: str) -> dict:
    """Reserve an available sample for a person."""
    s = sample(sample_id)
    if s["status"] != "available":
        raise ToolError(f"NotAvailable: {sample_id} is {s['status']}" + (f" for {s['reserved_for']}" if s["reserved_for"] else ""))
    s["status"], s["reserved_for"] = "reserved", email
    return {"sample_id": sample_id, "label": s["label"], "status": "reserved", "reserved_for": email}


if __name__ == "__main__":
    server.run()
