"""A real SkyRL server on this machine: its gradients are ours, its samples exact, and a run on it outlives it.

`mcprl setup skyrl` makes its environment (`make test-skyrl` does so by itself).
"""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch
from support.events import Recorder
from support.paths import SHOP
from support.skyrl import Server, in_float32, is_installed

from mcprl.art.own import train_adapter
from mcprl.config import Config, ModelConfig, TrainingConfig
from mcprl.engines.tinker import TinkerEngine
from mcprl.errors import EngineLost, McprlError
from mcprl.events import Event, Sampled, StepComplete
from mcprl.models.adapters import load_adapter_weights
from mcprl.models.load import load_model
from mcprl.models.places import NANO
from mcprl.models.tinker.model import RemoteModel, open_remote
from mcprl.runs.journal import Journal
from mcprl.runs.ledger import ledger
from mcprl.runs.settings import dump_config, parse
from mcprl.training.remote import RemoteTrainer
from mcprl.training.rows import training_rows
from mcprl.training.trainer import Trainer
from mcprl.types import Adapter, CompletionRequest, Row, Trajectory

pytestmark = [
    pytest.mark.skyrl,
    pytest.mark.slow,
    pytest.mark.skipif(not is_installed(), reason="no SkyRL environment; make one: mcprl setup skyrl"),
    pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing.:FutureWarning"),
]


@pytest.fixture(scope="module")
def server(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    folder = tmp_path_factory.mktemp("skyrl")
    server = Server(in_float32(tiny_model, folder / "model"), folder / "served")
    server.start()
    try:
        server.wait()
        yield server
    finally:
        server.kill()


def opened(server: Server, **settings: Any) -> RemoteModel:
    given = {"model": {"name": str(server.model), "dtype": "float32"}, "rollout": {"deadline_s": 120.0}, **settings}
    return open_remote(parse({**given, "engine": {"kind": "tinker", "base_url": server.url}}))


def ask(text: str, adapter: str | None = None, seed: int = 0) -> CompletionRequest:
    return CompletionRequest(({"role": "user", "content": text},), max_tokens=12, seed=seed, adapter=adapter)


async def sampled(engine: TinkerEngine, adapter: str | None, count: int = 6) -> list[tuple[Row, float]]:
    """Rows of sampled turns with advantages that differ."""
    rows: list[tuple[Row, float]] = []
    for n in range(count):
        turn = await engine.complete(ask("What is in the shop? " * (1 + n % 2), adapter, seed=n))
        rows += [(row, (n % 5 - 2) / 2) for row in training_rows(Trajectory(f"t{n}", "s", (), (turn,)))]
    return rows


def our_trainer(server: Server, adapter: Path, **settings: Any) -> Trainer:
    """Our own trainer of the same model, with the weights that the server has sent."""
    loaded = load_model(ModelConfig(name=str(server.model), dtype="float32"))
    load_adapter_weights(loaded, adapter)
    return Trainer(loaded, TrainingConfig(autocast="off", max_grad_norm=1e9, **settings))


async def test_gradients_and_log_probabilities_are_those_of_our_own_trainer(server: Server, tmp_path: Path) -> None:
    model = opened(server)
    engine = TinkerEngine(Config().engine, model)
    moved = RemoteTrainer(model, TrainingConfig(learning_rate=1e-2))
    rows = await sampled(engine, None)
    moved.update(rows)  # B is no longer 0, so that A has a gradient, too
    moved.save(tmp_path / "step-1")
    adapter = Adapter(str(tmp_path / "step-1"), 1)
    await engine.load_adapter(adapter)
    rows = await sampled(engine, adapter.name)
    plain = [row for row, _ in rows]
    norms: dict[str, tuple[float, float]] = {}
    tried: dict[str, dict[str, Any]] = {
        "cispo": {"loss": "cispo"},
        "ppo": {"loss": "ppo"},
        "sequence": {"normalization": "sequence"},
        "kl": {"kl_coef": 0.5},
    }
    for name, settings in tried.items():
        theirs = RemoteTrainer(model, TrainingConfig(learning_rate=0.0, **settings)).update(rows)
        ours = our_trainer(server, tmp_path / "step-1", learning_rate=0.0, **settings).update(rows)
        norms[name] = theirs["grad_norm"], ours["grad_norm"]
        assert theirs["loss"] == pytest.approx(ours["loss"], rel=1e-3, abs=1e-5)
        assert theirs["sampler_gap_mean"] <= 1e-3
    theirs = RemoteTrainer(model, TrainingConfig()).supervise(plain, 0.0)
    ours = our_trainer(server, tmp_path / "step-1").supervise(plain, 0.0)
    norms["sft"] = theirs["grad_norm"], ours["grad_norm"]
    assert theirs["loss"] == pytest.approx(ours["loss"], rel=1e-4)
    for name, (remote, local) in norms.items():
        assert remote == pytest.approx(local, rel=1e-4), name
    await engine.close()


async def test_what_is_sampled_and_what_comes_back_are_the_adapters_own(server: Server, tmp_path: Path) -> None:
    model = opened(server)
    engine, trainer = TinkerEngine(Config().engine, model), RemoteTrainer(model, TrainingConfig(learning_rate=1e-2))
    base = await sampled(engine, None)
    saved: list[Adapter] = []
    for step in (1, 2):
        trainer.update(base)
        trainer.save(tmp_path / f"step-{step}")
        saved.append(Adapter(str(tmp_path / f"step-{step}"), step))
        await engine.load_adapter(saved[-1])
    for adapter in saved:  # the older one last saved before the newest: it is sampled beside the weights in training
        loaded = load_model(ModelConfig(name=str(server.model), dtype="float32"))
        load_adapter_weights(loaded, adapter.path)
        turn = await engine.complete(ask("What is in the shop?", adapter.name))
        assert turn.policy_step == adapter.step
        ids = torch.tensor([[*turn.prompt_ids, *turn.completion_ids]])
        with torch.no_grad():
            logits = loaded.model(input_ids=ids).logits[0, len(turn.prompt_ids) - 1 : -1].log_softmax(-1)
        ours = logits[range(len(turn.completion_ids)), list(turn.completion_ids)]
        assert torch.allclose(ours, torch.tensor(turn.logprobs), atol=1e-4)
        again = await engine.complete(ask("What is in the shop?", adapter.name))
        assert again.completion_ids == turn.completion_ids
    rows = await sampled(engine, saved[-1].name)
    assert trainer.update(rows)["sampler_gap_mean"] <= 1e-3, "sampling an older one left the weights in training alone"
    config = json.loads((tmp_path / "step-1" / "adapter_config.json").read_text())
    assert len(config["target_modules"]) == 7
    await engine.close()


async def test_a_saved_step_is_trained_on_as_if_nothing_had_been(server: Server, tmp_path: Path) -> None:
    model = opened(server)
    engine, trainer = TinkerEngine(Config().engine, model), RemoteTrainer(model, TrainingConfig(learning_rate=1e-3))
    rows = await sampled(engine, None)
    trainer.update(rows)
    trainer.save(tmp_path / "step-1")
    went_on = trainer.update(rows), trainer.update(rows)
    other = opened(server)
    resumed = RemoteTrainer(other, TrainingConfig(learning_rate=1e-3))
    resumed.load(tmp_path / "step-1")
    again = resumed.update(rows), resumed.update(rows)
    for one, two in zip(went_on, again, strict=True):
        assert two["grad_norm"] == pytest.approx(one["grad_norm"], rel=1e-6)
    other.close()
    await engine.close()


def run_settings(server: Server, folder: Path, **training: Any) -> Config:
    return parse(
        {
            "name": "shop",
            "runs_dir": str(folder),
            "servers": [{"target": SHOP}],
            "tools": {"read_only": True},
            "scenarios": {"train": 24, "val": 2, "test": 2, "test_forms": 0, "probe_calls": 100, "floor": False},
            "model": {"name": "nano"},
            "engine": {"kind": "tinker", "base_url": server.url},
            "rollout": {"deadline_s": 240, "max_tokens": 64, "max_turns": 3},
            "training": {"recipe": "sft+rl", "scenarios_per_step": 2, "group_size": 4, **training},
        }
    )


@pytest.fixture
def of_nano(tmp_path: Path) -> Generator[Server]:
    server = Server(in_float32(NANO, tmp_path / "model"), tmp_path / "served")
    server.start()
    try:
        server.wait()
        yield server
    finally:
        server.kill()


@pytest.mark.timeout(600)
async def test_a_whole_run_goes_on_after_its_server_was_killed_in_mid_step(of_nano: Server, tmp_path: Path) -> None:
    """Ten supervised steps and five of RL. The server is killed with its engine while step 3 is sampled."""
    emitted = Recorder()
    killed: list[float] = []
    seen = 0

    def emit(event: Event) -> None:
        nonlocal seen
        emitted(event)
        seen = event.step if isinstance(event, StepComplete) else seen
        if isinstance(event, Sampled) and event.phase == "train" and seen == 2 and event.done and not killed:
            killed.append(time.monotonic())
            for pid in of_nano.pids():
                os.kill(pid, signal.SIGKILL)
            of_nano.start()

    settings = run_settings(of_nano, tmp_path, steps=5, warm_start_steps=10, warm_start_plans=4, eval_every=10)
    report = await train_adapter(settings, emit=emit)
    assert killed
    with Journal.open(tmp_path / "shop") as journal:
        steps: list[dict[str, Any]] = [dict(step.metrics) for step in journal.steps()]
        books = ledger(journal)
        tried = journal.trajectories("train")
    assert len(steps) == 5
    updates = [metrics for metrics in steps if "sampler_gap_mean" in metrics]
    assert updates, "no group had a signal"
    assert all(metrics["exact_tokens"] == 1.0 for metrics in updates)
    assert all(metrics["sampler_gap_mean"] <= 1e-3 for metrics in updates)
    assert [one.error for one in tried if one.stop == "error"] == []
    assert (books.issued, books.waiting) == (5 * 2 * 4, 0)
    assert report


async def test_a_server_that_does_not_come_back_ends_the_run_with_a_line(of_nano: Server, tmp_path: Path) -> None:
    model = open_remote(run_settings(of_nano, tmp_path))
    of_nano.kill()
    began = time.monotonic()
    with pytest.raises(EngineLost, match="is gone, or hangs"):
        model.service.call("optim_step", {"model_id": model.current, "adam_params": {}})
    assert time.monotonic() - began < 10


def progress(folder: Path) -> int:
    """What a run has in its journal: rollouts, steps and adapters."""
    with suppress(McprlError, sqlite3.Error), Journal.open(folder) as journal:
        rollouts = journal.db.read("select count(*) from trajectory")[0][0]
        return rollouts + len([*journal.steps()]) + len([*journal.adapters("train")])
    return 0


@pytest.mark.torture
@pytest.mark.timeout(3600)
def test_a_run_ends_though_its_processes_are_killed_twenty_times(
    of_nano: Server, tmp_path: Path, count: Callable[..., None]
) -> None:
    """The client, the server, its engine and all at once, at random moments after the run has gone on. What was killed
    is started again: the server by whoever keeps it, the client with --resume."""
    settings = run_settings(of_nano, tmp_path, steps=24, warm_start_steps=2, warm_start_plans=2, eval_every=24)
    (tmp_path / "run.toml").write_text(dump_config(settings))
    folder, rng = tmp_path / "shop", random.Random(0)
    begin = [sys.executable, "-m", "mcprl", "train", "--config", str(tmp_path / "run.toml")]
    again = [sys.executable, "-m", "mcprl", "train", "--resume", str(folder)]
    killed, waited, known = Counter[str](), [0.0], 0

    def start() -> subprocess.Popen[bytes]:
        with (tmp_path / "client.log").open("ab") as log:
            return subprocess.Popen(again if progress(folder) else begin, stdout=log, stderr=log)

    client, since = start(), time.monotonic()
    while client.poll() is None:
        time.sleep(0.2)
        has = progress(folder)
        if has == known:
            assert time.monotonic() - since < 240 + 5, "nothing happens past the deadline of a rollout"
            continue
        waited.append(time.monotonic() - since)
        known, since = has, time.monotonic()
        if killed.total() == 20 or rng.random() < 0.5:
            continue
        time.sleep(rng.uniform(0.0, 3.0))
        what = rng.choice(["client", "server", "engine", "all"])
        killed[what] += 1
        if what in ("client", "all"):
            client.kill()
            client.wait()
        if what in ("engine", "all"):
            of_nano.kill_engine()
        if what in ("server", "all"):
            of_nano.kill()
            of_nano.start()
        elif what == "engine":
            time.sleep(2)  # until its keeper sees it
            of_nano.kill()
            of_nano.start()
        if what in ("client", "all"):
            of_nano.wait()
            client = start()
        since = time.monotonic()
    said = (tmp_path / "client.log").read_text()
    assert client.returncode == 0, said[-2000:]
    assert killed.total() == 20, "the run ended before"
    with Journal.open(folder) as journal:
        steps: list[dict[str, Any]] = [dict(step.metrics) for step in journal.steps()]
        books = ledger(journal)
        repeated = len([*journal.events("repeated")])
    assert len(steps) == 24
    assert (books.issued, books.waiting) == (24 * 2 * 4, 0)
    updates = [metrics for metrics in steps if "sampler_gap_mean" in metrics]
    assert all(metrics["exact_tokens"] == 1.0 and metrics["sampler_gap_mean"] <= 1e-3 for metrics in updates)
    done = {"steps": len(steps), "updates": len(updates), "repeated": repeated, "trained": books.trained}
    count("SkyRL killed", **killed, longest_wait_s=round(max(waited)), **done, **books.dropped)
