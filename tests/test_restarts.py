"""A run whose servers are killed while its rollouts go on, and start again: it ends, and the rollouts that it cost are
marked."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from support.killable import Run, seeded
from support.loopback import accepts, free_port
from support.paths import SHOP, SHOP_SCRIPT

from mcprl.runs.journal import Journal
from mcprl.runs.ledger import ledger

SSE = "import runpy, sys; shop = runpy.run_path(sys.argv[1]); shop['server'].run('sse', host='127.0.0.1', port={port})"


class Kept:
    """A server over HTTP that can be killed and started again on its port."""

    def __init__(self, transport: str) -> None:
        self._port = free_port()
        script = ["-c", SSE.format(port=self._port), SHOP_SCRIPT]
        self._command = script if transport == "sse" else [SHOP_SCRIPT, "--http", str(self._port)]
        self.url = f"http://127.0.0.1:{self._port}/{transport}"
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, *map(str, self._command)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        until = time.monotonic() + 30
        while not accepts(self._port) and time.monotonic() < until:
            time.sleep(0.02)

    def restart(self) -> None:
        self.close()
        self._start()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def kill_one_process(run: Run) -> bool:
    """Kill one of the run's stdio servers. Whether there was one."""
    servers = [child for child in psutil.Process(run.process.pid).children() if "shop.py" in " ".join(child.cmdline())]
    if servers:
        os.kill(random.Random(len(servers)).choice(servers).pid, signal.SIGKILL)
    return bool(servers)


def is_sampling(run: Run) -> bool:
    """Whether the run has its tasks, and rollouts go on."""
    try:
        with Journal.open(run.folder) as journal:
            return bool(journal.trajectories("test:base"))
    except Exception:  # its tables are being made
        return False


CASES = [("mcp", 2), *(pytest.param(each, 20, marks=pytest.mark.torture) for each in ("stdio", "mcp", "sse"))]


@pytest.mark.usefixtures("servers_start_as_ever")
@pytest.mark.parametrize(("transport", "kills"), CASES)
def test_a_run_ends_though_its_server_is_killed_again_and_again(
    transport: str, kills: int, tiny_model: Path, tmp_path: Path, count: Callable[..., None]
) -> None:
    kept = None if transport == "stdio" else Kept(transport)
    training = {"steps": 200, "eval_every": 100, "patience": 1000, "max_minutes": 0.05 * kills}
    config = seeded(tiny_model, tmp_path, kept.url if kept else SHOP, training=training)
    run = Run(config)
    kill: Callable[[], bool | None] = kept.restart if kept else lambda: kill_one_process(run)
    killed = 0
    try:
        while run.process.is_alive() and killed < kills:
            time.sleep(0.3)
            if is_sampling(run):
                killed += kill() is not False
        ended = run.end(60 + 10 * kills)
    finally:
        if kept:
            kept.close()
    assert (ended.code, ended.error) == (0, "")
    assert killed == kills
    with Journal.open(run.folder) as journal:
        stops = Counter(each.stop for phase in ("train", "val") for each in journal.trajectories(phase))
        books = ledger(journal)
        lost = [each for each in journal.trajectories("train") if each.stop == "error"]
        repeated = [event.data for event in journal.events("repeated")]
    assert books.waiting == 0
    assert books.dropped.get("broken", 0) == len(lost)
    assert all(each.error for each in lost)
    assert all(each["rollout"] and each["reason"] for each in repeated)
    assert kills < 20 or repeated, "rollouts that lost their server are marked"
    done = {"repeated": len(repeated), **stops, "trained": books.trained, **books.dropped}
    count(f"server killed and restarted ({transport})", kills=killed, **done)
