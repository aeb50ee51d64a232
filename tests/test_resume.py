"""A run that is killed anywhere goes on where it was and ends as if it had not been: the same bytes, nothing twice."""

import os
import random
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support.journals import assert_gaps_have_the_steps_mean
from support.killable import Run, Unbroken, assert_same, fill_disk_at, left, seeded
from support.paths import SHOP

from mcprl.config import Config
from mcprl.runs.journal import Journal

KILLED = -9
TORTURE = pytest.mark.torture


def test_the_unbroken_run_trains_and_every_trajectory_has_its_fate(unbroken: Unbroken) -> None:
    assert unbroken.left.ledger.trained >= 12
    assert unbroken.left.ledger.waiting == 0
    assert unbroken.left.ledger.issued == 4 * 3 * 4
    with Journal.open(unbroken.folder) as journal:
        with_signal = [step for step in journal.steps() if step.metrics["dropped_groups"] != 3]  # of three groups
        assert assert_gaps_have_the_steps_mean(journal) == len(with_signal) >= 3
    assert len(set(unbroken.left.adapters.values())) == len(unbroken.left.adapters) == 3


def killed_again_and_again(config: Config, kills: int, rng: random.Random, operations: int) -> int:
    """Run until it ends, killed up to `kills` times: at a random operation or at a random moment. Returns how often."""
    killed = 0
    while True:
        by_operation = rng.random() < 0.5
        run = Run(config, kill_at=rng.randint(1, operations) if by_operation and killed < kills else 0)
        if not by_operation and killed < kills:
            run.process.join(rng.uniform(0.0, 4.0))
            run.process.kill()
        ended = run.end()
        if ended.code != KILLED:
            assert (ended.code, ended.error) == (0, "")
            return killed
        killed += 1


def test_a_run_killed_at_random_instants_ends_as_the_unbroken_run(unbroken: Unbroken, tmp_path: Path) -> None:
    config = seeded(unbroken.model, tmp_path, unbroken.url)
    assert killed_again_and_again(config, 5, random.Random(1), unbroken.operations // 3) >= 3
    assert_same(left(tmp_path / "small"), unbroken.left)


@TORTURE
@pytest.mark.parametrize("pipeline", ["off", "on"])
def test_runs_killed_at_fifty_random_instants_end_as_the_unbroken_run(
    pipeline: str, unbroken: Unbroken, tmp_path: Path, count: Callable[..., None]
) -> None:
    rng, training = random.Random(pipeline), {"pipeline": pipeline}
    whole = Run(seeded(unbroken.model, tmp_path / "whole", unbroken.url, training=training))
    operations = whole.end().operations
    expected, kills, runs, differing, lost_or_doubled = left(whole.folder), 0, 0, 0, 0
    while kills < 50:
        runs += 1
        config = seeded(unbroken.model, tmp_path / str(runs), unbroken.url, training=training)
        kills += killed_again_and_again(config, 50 - kills, rng, operations)
        found = left(tmp_path / str(runs) / "small")
        differing += found != expected
        lost_or_doubled += len(found.trajectories.keys() ^ expected.trajectories.keys())
        lost_or_doubled += abs(found.ledger.issued - expected.ledger.issued)
    count(
        f"kill -9, pipeline {pipeline}",
        kills=kills,
        runs=runs,
        differing=differing,
        lost_or_doubled=lost_or_doubled,
        issued=runs * expected.ledger.issued,
    )
    assert (differing, lost_or_doubled) == (0, 0)


def without(path: Path) -> None:
    path.unlink()


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def garbled(path: Path) -> None:
    """One bit is another, in the middle."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


FILES = ("adapter_model.safetensors", "adapter_config.json", "optimizer.safetensors", "README.md")
QUICK = {("adapter_config.json", truncated), ("optimizer.safetensors", garbled)}
DAMAGES = [
    pytest.param(name, damage, id=f"{damage.__name__} {name}", marks=() if (name, damage) in QUICK else TORTURE)
    for name in FILES
    for damage in (without, truncated, emptied, garbled)
]


@pytest.mark.parametrize(("name", "damage"), DAMAGES)
def test_a_damaged_checkpoint_is_made_again_from_the_one_before_with_the_rollouts_there_are(
    name: str, damage: Callable[[Path], None], unbroken: Unbroken, tmp_path: Path, count: Callable[..., None]
) -> None:
    config = seeded(unbroken.model, tmp_path, unbroken.url)
    shutil.copytree(unbroken.folder, tmp_path / "small")
    damage(tmp_path / "small" / "adapters" / "step-4" / name)
    ended = Run(config).end()
    assert (ended.code, ended.error) == (0, "")
    assert ended.notes[0] == (
        "the checkpoint of step 4 is damaged; training goes on from step 3, with the rollouts it has"
    )
    assert_same(left(tmp_path / "small"), unbroken.left)
    count(f"{damage.__name__} {name}", resumed_from_step=3)


def test_without_any_whole_checkpoint_a_run_is_trained_again_on_the_rollouts_it_has(
    unbroken: Unbroken, tmp_path: Path
) -> None:
    shutil.copytree(unbroken.folder, tmp_path / "small")
    for folder in (tmp_path / "small" / "adapters").iterdir():
        truncated(folder / "adapter_model.safetensors")
    ended = Run(seeded(unbroken.model, tmp_path, unbroken.url)).end()
    assert (ended.code, ended.error) == (0, "")
    assert "the checkpoint of step 4 is damaged; training goes on from the beginning" in ended.notes[0]
    assert "the warm start's adapter is damaged and is made again" in ended.notes
    assert_same(left(tmp_path / "small"), unbroken.left)


SITES = {
    "config.toml": ("mcprl.runs.journal", "write_whole", 1),
    "pack": ("mcprl.scenarios.prepare", "Pack.save", 1),
    "journal": ("mcprl.runs.database", "Database.write", 60),
    "adapter": ("mcprl.training.trainer", "write_adapter", 3),
    "optimizer": ("mcprl.training.trainer", "save_file", 3),
    "tracker": ("mcprl.runs.trackers.files", "_append", 5),
    "server log": ("logging.handlers", "RotatingFileHandler.emit", 1),
    "report": ("mcprl.runs.report", "build", 1),
}


@pytest.mark.parametrize(
    "site", [pytest.param(site, marks=() if site in ("journal", "optimizer") else TORTURE) for site in SITES]
)
def test_a_disk_that_is_full_ends_the_run_in_one_line_and_it_goes_on_once_there_is_room(
    site: str, unbroken: Unbroken, tmp_path: Path, count: Callable[..., None]
) -> None:
    server = f"sh -c 'echo ready >&2; exec {SHOP}'" if site == "server log" else unbroken.url
    config = seeded(unbroken.model, tmp_path, server)
    stopped = Run(config, 0, fill_disk_at, *SITES[site]).end()
    *warnings, error = stopped.error.splitlines()
    assert stopped.code == 2, stopped.error
    assert error.startswith("error: ")
    assert warnings in ([], ["the tracker files failed and may miss data: [Errno 27] File too large"])
    assert "a bug in mcprl" not in stopped.error
    ended = Run(config).end()
    assert (ended.code, ended.error) == (0, "")
    assert not any("damaged" in note for note in ended.notes)
    assert_same(left(tmp_path / "small"), replace(unbroken.left, report=unbroken.left.report | {"targets": [server]}))
    count(f"full disk at the {site}", exit_code=stopped.code)


@TORTURE
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
@pytest.mark.parametrize("size_kib", [100, 160, 240, 320, 480, 640, 800])
def test_a_disk_that_fills_up_wherever_it_does_ends_the_run_in_one_line(
    size_kib: int, unbroken: Unbroken, tmp_path: Path, count: Callable[..., None]
) -> None:
    config = seeded(unbroken.model, tmp_path / "disk", unbroken.url)
    (tmp_path / "disk").mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size_kib}k", "tmpfs", str(tmp_path / "disk")]
    if subprocess.run(mount, check=False).returncode:
        pytest.skip("this machine mounts nothing")
    try:
        stopped = Run(config, result=tmp_path / "result.json").end()
        assert stopped.code == 2, stopped.error
        assert stopped.error.splitlines()[-1].startswith("error: ")
        assert "a bug in mcprl" not in stopped.error
        assert "Traceback" not in stopped.error
        subprocess.run(["mount", "-o", "remount,size=64m", str(tmp_path / "disk")], check=True)
        ended = Run(config, result=tmp_path / "result.json").end()
        assert (ended.code, ended.error) == (0, "")
        assert_same(left(tmp_path / "disk" / "small"), unbroken.left)
    finally:
        subprocess.run(["umount", str(tmp_path / "disk")], check=True)
    count(f"disk of {size_kib} KiB", exit_code=stopped.code)
