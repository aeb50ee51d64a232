"""Experiment tracking for a small machine learning group."""
from typing import Annotated, Literal
from pydantic import Field
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("mltracker")
RunStatus = Literal["queued", "running", "finished", "failed", "killed"]
Stage = Literal["none", "staging", "production", "archived"]
Project = Literal["vision", "speech", "language", "recsys"]


def _table(columns, rows):
    return {row[0]: dict(zip(("id", *columns), row)) for row in rows}


OWNERS = _table(("name", "email", "phone", "team"), [
    ("0b71de", "Priya Raman", "priya.raman@lab.example", "555-0151", "vision"),
    ("c4e90a", "Tomasz Wilk", "tomasz.wilk@lab.example", "555-0152", "speech"),
    ("58fa23", "Lena Hofstad", "lena.hofstad@lab.example", "555-0153", "language"),
    ("e1d37c", "Marcus Bell", "marcus.bell@lab.example", "555-0154", "recommenders"),
    ("a90f64", "Noor Siddiqui", "noor.siddiqui@lab.example", "555-0155", "perception"),
    ("37bc18", "Owen Tregear", "owen.tregear@lab.example", "555-0156", "platform"),
])
DATASETS = _table(("name", "version", "rows", "size_gb", "license", "steward_id", "derived_from"), [
    ("90ab3e7", "street-signs-raw", 1, 61050, 19.8, "CC-BY-4.0", "37bc18", None),
    ("d41c7f2", "street-signs", 3, 48210, 12.4, "CC-BY-4.0", "a90f64", "90ab3e7"),
    ("7be0a95", "call-centre-audio", 1, 9120, 86.0, "internal", "37bc18", None),
    ("f3382c6", "support-tickets", 5, 215400, 1.8, "internal", "58fa23", None),
    ("19da6e4", "shop-clicks", 12, 3800000, 24.5, "internal", "e1d37c", None),
    ("b6570d1", "leaf-disease", 2, 15330, 6.7, "CC0-1.0", "0b71de", None),
    ("e82f43b", "news-headlines", 4, 640000, 0.9, "CC-BY-SA-4.0", "58fa23", None),
    ("25c9fa0", "crane-footage", 1, 720, 41.3, "internal", "a90f64", None),
])
RUNS = _table(("name", "project", "status", "owner_id", "dataset_id", "best_checkpoint_id", "gpu_hours", "started", "params", "tags"), [
    ("8c1f2e7", "signs-resnet50", "vision", "finished", "0b71de", "d41c7f2", "4f0b6a1", 14.5, "2025-02-03", {"lr": 0.001, "batch_size": 128, "epochs": 40}, ["release"]),
    ("2ad95b0", "signs-vit-small", "vision", "finished", "0b71de", "d41c7f2", "c83e17d", 22.0, "2025-02-10", {"lr": 0.0003, "batch_size": 256, "epochs": 60}, []),
    ("e67340c", "signs-mobilenet", "vision", "running", "a90f64", "d41c7f2", "19b5f8e", 6.2, "2025-03-12", {"lr": 0.002, "batch_size": 192, "epochs": 50}, ["edge"]),
    ("f10be48", "asr-conformer", "speech", "finished", "c4e90a", "7be0a95", "7d2c940", 61.5, "2025-01-20", {"lr": 0.0005, "batch_size": 32, "epochs": 80}, ["release"]),
    ("35c7a9d", "asr-tiny", "speech", "failed", "c4e90a", "7be0a95", None, 3.1, "2025-02-27", {"lr": 0.001, "batch_size": 64, "epochs": 40}, []),
    ("b92d06f", "ticket-router-base", "language", "finished", "58fa23", "f3382c6", "e5a0183", 4.8, "2025-01-29", {"lr": 2e-05, "batch_size": 32, "epochs": 6}, []),
    ("70e4f1a", "ticket-router-large", "language", "running", "58fa23", "f3382c6", "a6f92c7", 17.3, "2025-03-10", {"lr": 1e-05, "batch_size": 16, "epochs": 5}, []),
    ("c58a3d2", "clicks-two-tower", "recsys", "finished", "e1d37c", "19da6e4", "30d8be4", 33.7, "2025-02-14", {"lr": 0.01, "batch_size": 4096, "epochs": 25}, ["release"]),
    ("0f6b97e", "clicks-gru", "recsys", "queued", "e1d37c", "19da6e4", None, 0.0, None, {"lr": 0.005, "batch_size": 2048, "epochs": 20}, []),
    ("d93e1c5", "leaf-effnet-b0", "vision", "finished", "a90f64", "b6570d1", "b17e65c", 5.5, "2025-02-19", {"lr": 0.001, "batch_size": 64, "epochs": 45}, []),
    ("6a08f4b", "leaf-effnet-b3", "vision", "killed", "0b71de", "b6570d1", None, 9.9, "2025-02-21", {"lr": 0.0008, "batch_size": 48, "epochs": 45}, []),
    ("4be72d9", "headline-bert", "language", "finished", "58fa23", "e82f43b", "82cd90f", 11.2, "2025-03-01", {"lr": 3e-05, "batch_size": 32, "epochs": 4}, ["paper"]),
    ("a1d5c08", "headline-distil", "language", "queued", "37bc18", "e82f43b", None, 0.0, None, {"lr": 5e-05, "batch_size": 64, "epochs": 4}, []),
    ("97f3b6e", "crane-tracker", "vision", "running", "a90f64", "25c9fa0", "f4961ab", 28.4, "2025-03-08", {"lr": 0.0004, "batch_size": 8, "epochs": 30}, []),
    ("5e2c81f", "night-cranes", "vision", "failed", "37bc18", "25c9fa0", None, 2.6, "2025-03-11", {"lr": 0.0004, "batch_size": 8, "epochs": 30}, []),
])
CHECKPOINTS = _table(("run_id", "epoch", "size_mb", "stage", "reviewed_by", "uri"), [
    ("4f0b6a1", "8c1f2e7", 38, 98, "production", "a90f64", "/ckpt/vision/4f0b6a1.pt"),
    ("c83e17d", "2ad95b0", 51, 88, "staging", "37bc18", "/ckpt/vision/c83e17d.pt"),
    ("19b5f8e", "e67340c", 12, 14, "none", None, "/ckpt/vision/19b5f8e.pt"),
    ("7d2c940", "f10be48", 77, 430, "production", "58fa23", "/ckpt/speech/7d2c940.pt"),
    ("e5a0183", "b92d06f", 6, 438, "archived", "e1d37c", "/cold/language/e5a0183.pt"),
    ("a6f92c7", "70e4f1a", 3, 1340, "staging", None, "/ckpt/language/a6f92c7.pt"),
    ("30d8be4", "c58a3d2", 24, 210, "production", "37bc18", "/ckpt/recsys/30d8be4.pt"),
    ("b17e65c", "d93e1c5", 45, 21, "staging", "0b71de", "/ckpt/vision/b17e65c.pt"),
    ("82cd90f", "4be72d9", 4, 417, "none", None, "/ckpt/language/82cd90f.pt"),
    ("f4961ab", "97f3b6e", 17, 176, "none", "c4e90a", "/ckpt/vision/f4961ab.pt"),
])
METRICS = {
    "8c1f2e7": {"accuracy": 0.9412, "val_loss": 0.2134}, "2ad95b0": {"accuracy": 0.9537, "val_loss": 0.1871},
    "e67340c": {"accuracy": 0.8893, "val_loss": 0.3562}, "f10be48": {"wer": 0.1184, "val_loss": 0.442},
    "35c7a9d": {"wer": 0.431, "val_loss": 1.2045}, "b92d06f": {"f1": 0.8716, "val_loss": 0.3905},
    "70e4f1a": {"f1": 0.8832, "val_loss": 0.3711}, "c58a3d2": {"recall_at_10": 0.3127, "val_loss": 0.698},
    "d93e1c5": {"accuracy": 0.9688, "val_loss": 0.1022}, "6a08f4b": {"accuracy": 0.9571, "val_loss": 0.1319},
    "4be72d9": {"f1": 0.9045, "val_loss": 0.2658}, "97f3b6e": {"map50": 0.7263, "val_loss": 0.5117},
}
Id = Annotated[str, Field(description="hash id, lower case hex")]


def _get(table: dict, kind: str, key: str) -> dict:
    if key not in table:
        raise ToolError(f"404: no {kind} with id {key}")
    return table[key]


@server.tool(name="find")
def find(text: str) -> dict:
    "Look up runs, datasets and owners by name (substring). Returns kind, id and name of each match."
    return {"matches": [{"kind": kind, "id": r["id"], "name": r["name"]} for kind, table in (("run", RUNS), ("dataset", DATASETS), ("owner", OWNERS))
                        for r in table.values() if text.casefold() in r["name"].casefold()][:15]}


@server.tool(name="list-runs")
def list_runs(status: RunStatus | None = None, project: Project | None = None, owner_id: str | None = None) -> dict:
    "List runs, optionally by status, project or owner."
    return {"runs": [{k: r[k] for k in ("id", "name", "status", "gpu_hours", "started")} for r in RUNS.values()
                     if status in (None, r["status"]) and project in (None, r["project"]) and owner_id in (None, r["owner_id"])]}


@server.tool(name="get-run")
def get_run(run_id: Id) -> dict:
    "Run details: status, owner, dataset, best checkpoint, hyperparameters, tags. Metrics are separate."
    return _get(RUNS, "run", run_id)


@server.tool(name="get-metrics")
def get_metrics(run_id: Id) -> dict:
    "Final or latest metrics of a run"
    _get(RUNS, "run", run_id)
    return {"run_id": run_id, "metrics": METRICS.get(run_id, {})}


@server.tool(name="get-dataset")
def get_dataset(dataset_id: Id) -> dict:
    "Dataset card"
    return _get(DATASETS, "dataset", dataset_id)


@server.tool(name="get-checkpoint")
def get_checkpoint(checkpoint_id: Id) -> dict:
    "Checkpoint details: run, epoch, size, stage, reviewer, file"
    return _get(CHECKPOINTS, "checkpoint", checkpoint_id)


@server.tool(name="get-owner")
def get_owner(owner_id: Id) -> dict:
    "Person who owns runs, looks after datasets or reviews checkpoints"
    return _get(OWNERS, "owner", owner_id)


@server.tool(name="update-run")
def update_run(run_id: Id, status: RunStatus | None = None, owner_id: str | None = None, add_tag: str | None = None) -> dict:
    "Set the status or owner of a run, or add a tag. Put a run back to 'queued' to run it again."
    run = _get(RUNS, "run", run_id)
    if owner_id is not None:
        _get(OWNERS, "owner", owner_id)
    if status is None and owner_id is None and add_tag is None:
        raise ToolError("400: nothing to update")
    out = {"run_id": run_id, "name": run["name"]}
    if status is not None:
        out["old_status"], out["status"] = run["status"], status
        run["status"] = status
    if owner_id is not None:
        out["old_owner_id"], out["owner_id"] = run["owner_id"], owner_id
        run["owner_id"] = owner_id
    if add_tag is not None:
        run["tags"].append(add_tag)
        out["tags"] = run["tags"]
    return out


@server.tool(name="stage-checkpoint")
def stage_checkpoint(checkpoint_id: Id, stage: Stage) -> dict:
    "Move a checkpoint to another deployment stage"
    c = _get(CHECKPOINTS, "checkpoint", checkpoint_id)
    old, c["stage"] = c["stage"], stage
    return {"checkpoint_id": checkpoint_id, "run_id": c["run_id"], "old_stage": old, "stage": stage}


if __name__ == "__main__":
    server.run()
