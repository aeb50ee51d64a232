"""benchmarks/serve_load.py in little: 64 clients during updates, and not a turn is lost, mixed or out of step."""

import os
from importlib import import_module
from multiprocessing import Pipe
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from support.paths import ROOT

from mcprl.serving import host


async def test_64_clients_during_updates_lose_and_mix_no_turn(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    load: Any = import_module("serve_load")
    monkeypatch.setattr(host, "create_app", host.create_app)  # the script's server replaces it
    here, there = Pipe()
    server = Thread(target=load.serve, args=(str(tiny_model), tmp_path, there))
    server.start()
    url, name = here.recv()
    seen = await load.play(url, name, os.getpid(), clients=64, seconds=6)
    here.send("end")
    found = load.summary(seen, here.recv())
    server.join()
    assert (found["lost"], found["mixed"], found["out_of_step"]) == ([], [], [])
    assert found["turns"] > 64
    assert found["updates"] > 0
    assert found["exactness"] == 1.0
    assert found["engine"]
