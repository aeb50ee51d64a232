"""Trackers: what they leave behind, that they keep secrets, and that none of them can stop a run."""

import json
import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.loopback import free_port
from support.paths import ROOT, TESTS
from support.trajectories import GROUP, SCORES, trajectory

from mcprl.config import Config, ServerConfig
from mcprl.errors import ConfigError, MissingExtra
from mcprl.runs import resuming
from mcprl.runs.journal import Journal
from mcprl.runs.trackers import Trackers, dialogue, open_trackers, require_trackers
from mcprl.types import Adapter, Group


@pytest.fixture
def run(tmp_path):
    server = ServerConfig(target="https://example.org/mcp", headers={"Authorization": "Bearer header-5ecret"})
    Journal.create(tmp_path / "run", Config(servers=(server,))).close()
    return tmp_path / "run"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_files_hold_metrics_and_groups_that_a_person_can_read(run):
    trackers = open_trackers([], run, Config())
    trackers.log_step(1, {"loss": 0.5, "kl": None, "note": "ok"})
    trackers.log_step(1, {"val/success": 0.25})
    trackers.log_groups(1, [GROUP], SCORES)
    trackers.close()
    assert lines(run / "metrics.jsonl") == [
        {"step": 1, "loss": 0.5, "kl": None, "note": "ok"},
        {"step": 1, "val/success": 0.25},
    ]
    (group,) = lines(run / "groups.jsonl")
    assert (group["step"], group["scenario"], group["request"]) == (1, "s1", "What does 7 cost?")
    assert [(t["id"], t["score"]["value"], t["stop"]) for t in group["rollouts"]] == [
        ("a", 0.95, "answered"),
        ("b", 0.1, "deadline"),
    ]
    assert group["rollouts"][0]["messages"][-1] == {"role": "assistant", "content": "12.50"}
    assert "logprobs" not in (run / "groups.jsonl").read_text()


def test_a_resumed_run_forgets_the_lines_of_steps_that_it_does_again(run):
    first = open_trackers([], run, Config())
    with Journal.open(run, write=True) as journal:
        for step in (1, 2):
            first.log_groups(step, [GROUP], SCORES)
            first.log_step(step, {"loss": step})
            if step == 1:
                journal.write_step(1, {"loss": 1})
    with (run / "metrics.jsonl").open("a") as file:
        file.write('{"step": 3, "lo')  # the process was killed while it wrote
    again = open_trackers([], run, Config())
    again.log_step(2, {"loss": 2.5})
    assert lines(run / "metrics.jsonl") == [{"step": 1, "loss": 1}, {"step": 2, "loss": 2.5}]
    assert [group["step"] for group in lines(run / "groups.jsonl")] == [1]


def test_a_tracker_that_fails_is_reported_once_and_the_others_go_on(run, caplog):
    class Broken:
        def log_step(self, step, metrics):
            raise ConnectionError("no route to host")

        def log_groups(self, step, groups, scores):
            self.log_step(step, groups)

        def close(self, report=None):
            self.log_step(0, report)

    files = open_trackers([], run, Config())
    trackers = Trackers({"broken": Broken(), "files": files})
    for step in (1, 2, 3):
        trackers.log_step(step, {"loss": 0.1})
    trackers.log_groups(3, [GROUP], SCORES)
    trackers.close()
    assert [record.getMessage() for record in caplog.records] == [
        "the tracker broken failed and may miss data: no route to host"
    ]
    assert len(lines(run / "metrics.jsonl")) == 3


def test_what_a_resumed_run_has_logged_already_is_logged_to_no_tracker_again(run):
    first = open_trackers([], run, Config())
    first.log_step(1, {"val/success": 0.25, "val/score": 0.5})
    with Journal.open(run, write=True) as journal:
        journal.write_step(1, {"loss": 1})
    again = open_trackers(["tensorboard"], run, Config())
    again.log_step(1, {"val/success": 0.25, "val/score": 0.5})
    again.log_step(1, {"loss": 0.5})
    again.close()
    assert [set(line) - {"step"} for line in lines(run / "metrics.jsonl")] == [{"val/success", "val/score"}, {"loss"}]
    assert {*scalars(run)} == {"train/loss"}


def test_an_unknown_tracker_is_refused_before_the_run_begins(run):
    known = "files, wandb, trackio, tensorboard, otel"
    with pytest.raises(ConfigError, match=f"unknown tracker 'wandbb'; known are: {known}"):
        require_trackers(["wandbb"])


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("wandb", "wandb"),
        ("trackio", "trackio"),
        ("tensorboard", "torch.utils.tensorboard"),
        ("otel", "opentelemetry.exporter.otlp.proto.http.trace_exporter"),
    ],
)
def test_a_missing_package_is_refused_before_the_run_begins_with_the_extra_that_has_it(name, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"pip install 'mcprl\[{name}\]'"):
        require_trackers([name])


def test_a_tracker_that_cannot_start_stops_the_run_and_says_how_to_go_on_without_it(run, monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "nonsense")
    with pytest.raises(ConfigError, match=r"tracker wandb cannot start: .*--resume run --tracker files"):
        open_trackers(["wandb"], run, Config())


def test_a_resumed_run_takes_the_trackers_that_it_is_given_and_else_has_its_own(tmp_path):
    with Journal.create(tmp_path / "run", Config(trackers=("wandb",))) as journal:
        assert resuming.configuration(journal, Config()).trackers == ("wandb",)
        assert resuming.configuration(journal, Config(trackers=("files",))).trackers == ("files",)
        assert resuming.kept(journal, Config(trackers=("files",))) == {}


# --- TensorBoard, read back with its own reader -----------------------------------------------------------------------


def events(run: Path) -> Any:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    read = EventAccumulator(str(run / "tensorboard"))
    read.Reload()
    return read


def scalars(run: Path) -> dict[str, list[tuple[int, float]]]:
    read = events(run)
    return {
        name: [(point.step, float(point.tensor_proto.float_val[0])) for point in read.Tensors(name)]
        if name in read.Tags()["tensors"]
        else [(point.step, point.value) for point in read.Scalars(name)]
        for name in read.Tags()["scalars"]
    }


def test_tensorboard_gets_every_metric_at_its_step_and_the_rollouts_as_text(run):
    trackers = open_trackers(["tensorboard"], run, Config())
    for step in (1, 2):
        trackers.log_step(step, {"loss": 0.5 / step, "kl": None, "note": "ok"})
        trackers.log_groups(step, [GROUP], SCORES)
    trackers.log_step(1, {"test:trained/success": 0.75})
    trackers.close()
    assert scalars(run) == {"train/loss": [(1, 0.5), (2, 0.25)], "test:trained/success": [(1, 0.75)]}
    shown = events(run).Tensors("groups/text_summary")[-1]
    assert shown.step == 2
    assert shown.tensor_proto.string_val[0].decode().split("\n\n")[:2] == [
        "### What does 7 cost?",
        "**0.95, all facts** (answered)",
    ]


def test_tensorboard_gets_the_settings_without_secrets(run):
    server = ServerConfig(target="https://example.org/mcp", headers={"Authorization": "Bearer header-5ecret"})
    open_trackers(["tensorboard"], run, Config(servers=(server,))).close()
    text = events(run).Tensors("config/text_summary")[0].tensor_proto.string_val[0].decode()
    assert 'target = "https://example.org/mcp"' in text
    assert "5ecret" not in text


def test_tensorboard_shows_what_the_model_wrote_and_runs_none_of_it(run):
    trackers = open_trackers(["tensorboard"], run, Config())
    hostile = replace(trajectory("a"), messages=({"role": "assistant", "content": "<script>x</script> | a\nb"},))
    trackers.log_groups(1, [Group(GROUP.scenario, (hostile,))], [])
    trackers.close()
    text = events(run).Tensors("groups/text_summary")[0].tensor_proto.string_val[0].decode()
    assert text.endswith("answer: \\<script\\>x\\</script\\> \\| a<br>b")


# --- Trackio, in a process of its own: it reads its variables when it is imported --------------------

TRACKIO = """
import sys
from pathlib import Path
from support.trajectories import GROUP, SCORES
from mcprl.config import Config, ServerConfig
from mcprl.runs.trackers import open_trackers

run = Path(sys.argv[1])
server = ServerConfig(target="https://example.org/mcp", headers={"Authorization": "Bearer header-5ecret"})
for steps in ((1, 2), (3,)):  # the second is a resumed run
    trackers = open_trackers(["trackio"], run, Config(servers=(server,)))
    for step in steps:
        trackers.log_step(step, {"loss": 0.5 / step, "kl": None})
        trackers.log_groups(step, [GROUP], SCORES)
    trackers.close()

import json
import trackio
from trackio.sqlite_storage import SQLiteStorage
(name,) = [record["name"] for record in SQLiteStorage.get_run_records("mcprl")]
print(json.dumps([name, SQLiteStorage.get_logs("mcprl", name), SQLiteStorage.get_run_config("mcprl", name)]))
reader = trackio.init("mcprl", name="reader", auto_log_cpu=False, auto_log_gpu=False)
reader.use_artifact("run-adapter:latest").download(sys.argv[2])
"""


def test_trackio_gets_metrics_tables_and_the_adapter_and_continues_a_run(run, tmp_path):
    with Journal.open(run, write=True) as journal:
        adapter = run / "adapters" / "step-2"
        adapter.mkdir(parents=True)
        (adapter / "adapter_model.safetensors").write_bytes(b"weights")
        (adapter / "optimizer.safetensors").write_bytes(b"moments")
        journal.write_adapter(Adapter(str(adapter), 2), kind="best")
    done = in_process(TRACKIO, run, tmp_path / "downloaded", HOME=tmp_path, TRACKIO_DIR=tmp_path / "trackio")
    name, logs, config = json.loads(done.stdout.splitlines()[0])  # nothing was printed before
    assert name.startswith("run-")
    assert [(row["step"], row["loss"]) for row in logs if "loss" in row] == [(1, 0.5), (2, 0.25), (3, 0.5 / 3)]
    assert not any("kl" in row for row in logs)
    (table, *_) = [row["groups"]["_value"] for row in logs if "groups" in row]
    assert [(row["rollout"], row["score"], row["stop"]) for row in table] == [
        ("a", 0.95, "answered"),
        ("b", 0.1, "deadline"),
    ]
    assert config["servers"][0]["headers"] == {"Authorization": "***"}
    assert [path.name for path in (tmp_path / "downloaded").iterdir()] == ["adapter_model.safetensors"]


def test_a_trackio_server_that_does_not_answer_is_refused_before_the_run_begins(monkeypatch):
    port = free_port()
    monkeypatch.setenv("TRACKIO_SERVER_URL", f"http://127.0.0.1:{port}/?write_token=5ecret")
    with pytest.raises(
        ConfigError, match=rf"trackio cannot reach 127.0.0.1:{port}: Connection refused; start"
    ) as error:
        require_trackers(["trackio"])
    assert "5ecret" not in str(error.value)


def in_process(script: str, *words: object, **own: object) -> subprocess.CompletedProcess[str]:
    """A script in a process of its own, with these variables."""
    variables = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), str(ROOT)])}
    variables |= {name: str(value) for name, value in own.items()}
    command = [sys.executable, "-c", script, *map(str, words)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done


def test_a_dialogue_is_text_with_long_parts_cut():
    text = dialogue(
        [{"role": "system", "content": "tools"}, *trajectory("a").messages, {"role": "assistant", "content": "x" * 700}]
    )
    assert text.splitlines() == [
        "user:   What does 7 cost? ½ 😀",
        'call:   get({"id": 7})',
        "result: 7: 12.50",
        "answer: 12.50",
        "answer: " + "x" * 600 + "... (100 characters more)",
    ]


# --- wandb, offline, in a process of its own as in a run --------------------------------------------------------------

SCRIPT = """
import sys
from pathlib import Path
from support.trajectories import GROUP, SCORES
from mcprl.runs.settings import parse
from mcprl.runs.trackers import open_trackers

run = Path(sys.argv[1])
server = {"target": "https://example.org/mcp", "headers": {"Authorization": "Bearer header-5ecret"}}
config = parse({"servers": [server]})
trackers = open_trackers(["wandb"], run, config)
for step in (1, 2):
    trackers.log_step(step, {"loss": 0.5 / step, "kl": None})
    trackers.log_groups(step, [GROUP], SCORES)
trackers.log_step(1, {"test:trained/success": 0.75})
trackers.close({"test": {"gain": 0.5, "n": 60}, "steps": 2, "wall_s": 3.0})
"""


@pytest.fixture(scope="module")
def wandb_run(tmp_path_factory):
    """A run folder that was tracked offline, in a process whose command line holds a secret."""
    folder = tmp_path_factory.mktemp("tracked")
    run = folder / "my run"
    with Journal.create(run, Config()) as journal:
        adapter = run / "adapters" / "step-2"
        adapter.mkdir(parents=True)
        (adapter / "adapter_model.safetensors").write_bytes(b"weights")
        (adapter / "optimizer.safetensors").write_bytes(b"moments")
        journal.write_adapter(Adapter(str(adapter), 2), kind="best")
    own = {
        "HOME": str(folder),
        "WANDB_MODE": "offline",
        "PYTHONPATH": os.pathsep.join([str(TESTS), str(ROOT)]),
        "EXTRA": "env-5ecret",
    }
    own |= {f"WANDB_{name}_DIR": str(folder / name) for name in ("CACHE", "CONFIG", "DATA")}
    command = [sys.executable, "-c", SCRIPT, str(run), "--header", "X-Key: argv-5ecret"]
    done = subprocess.run(command, env=os.environ | own, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "tracker" not in done.stderr
    return run


def records(folder: Path) -> Iterator[Any]:
    """The records of a .wandb file: LevelDB's log (32 KiB blocks; checksum, length, kind) behind 7 bytes."""
    from wandb.proto.wandb_internal_pb2 import Record  # pyright: ignore[reportAttributeAccessIssue]

    (path,) = folder.glob("wandb/offline-run-*/run-*.wandb")
    content, at, parts = path.read_bytes(), 7, b""
    assert content.startswith(b":W&B")
    while at + 7 <= len(content):
        if (left := 32_768 - at % 32_768) < 7:
            at += left
            continue
        _, length, kind = struct.unpack_from("<IHB", content, at)
        parts += content[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # whole, or the last part
            record = Record()
            record.ParseFromString(parts)
            parts = b""
            yield record


def items(entries) -> dict[str, Any]:
    return {entry.key or ".".join(entry.nested_key): json.loads(entry.value_json) for entry in entries}


def test_wandb_gets_every_metric_at_its_step(wandb_run):
    history = [items(record.history.item) for record in records(wandb_run) if record.HasField("history")]
    assert [(row["step"], row["loss"]) for row in history if "loss" in row] == [(1, 0.5), (2, 0.25)]
    assert [(row["step"], row["test:trained/success"]) for row in history if "test:trained/success" in row] == [
        (1, 0.75)
    ]
    assert not any("kl" in row for row in history)
    metrics = {record.metric.glob_name or record.metric.name: record.metric for record in records(wandb_run)}
    assert metrics["*"].step_metric == "step"


def test_wandb_gets_a_table_of_the_rollouts_with_scores_matched_by_id(wandb_run):
    history = [items(record.history.item) for record in records(wandb_run) if record.HasField("history")]
    tables = [row for row in history if row.get("groups._type") == "table-file"]
    assert [(table["step"], table["groups.nrows"]) for table in tables] == [(1, 2), (2, 2)]
    (root,) = wandb_run.glob("wandb/offline-run-*/files")
    table = json.loads((root / tables[0]["groups.path"]).read_text())
    columns = [dict(zip(table["columns"], row, strict=True)) for row in table["data"]]
    assert [(row["rollout"], row["score"], row["success"], row["stop"]) for row in columns] == [
        ("a", 0.95, True, "answered"),
        ("b", 0.1, False, "deadline"),
    ]
    assert columns[0]["dialogue"].endswith("answer: 12.50")


def test_wandb_gets_the_best_adapter_without_the_optimizer(wandb_run):
    sent = [record.request.log_artifact.artifact for record in records(wandb_run)]
    sent += [record.artifact for record in records(wandb_run)]
    (artifact,) = [artifact for artifact in sent if artifact.type == "model"]
    assert (artifact.name, artifact.type) == ("my-run-adapter", "model")
    assert json.loads(artifact.metadata) == {"kind": "best", "step": 2}
    assert [entry.path for entry in artifact.manifest.contents] == ["adapter_model.safetensors"]


def test_wandb_gets_the_report_and_the_configuration_and_no_secret_reaches_the_folder(wandb_run):
    found = list(records(wandb_run))
    config = items(entry for record in found if record.HasField("run") for entry in record.run.config.update)
    assert config["servers"][0]["headers"] == {"Authorization": "***"}
    summary = items(entry for record in found if record.HasField("summary") for entry in record.summary.update)
    assert summary["steps"] == 2
    assert "5ecret" not in "".join(path.read_text(errors="ignore") for path in wandb_run.rglob("*") if path.is_file())


def test_results_with_any_line_break_of_unicode_do_not_keep_a_run_from_going_on(run):
    odd = replace(GROUP, scenario=replace(GROUP.scenario, request="one\u2028two\u2029three\x85four"))
    open_trackers([], run, Config()).log_groups(1, [odd], SCORES)
    with Journal.open(run, write=True) as journal:
        journal.write_step(1, {"loss": 1})
    with (run / "groups.jsonl").open("ab") as file:
        file.write('{"request": "é'.encode()[:-1])  # the process was killed within a letter
    again = open_trackers([], run, Config())
    again.close()
    (line,) = (run / "groups.jsonl").read_text().split("\n")[:-1]
    assert json.loads(line)["request"] == odd.scenario.request
