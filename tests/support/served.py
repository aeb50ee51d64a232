"""A run of nano, served by a process of its own, and any model, served from a thread of this process."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import anyio
import httpx2
import torch
from anyio.from_thread import start_blocking_portal
from safetensors.torch import load_file, save_file

from mcprl.config import Config, EngineConfig
from mcprl.models.adapters import save_adapter
from mcprl.models.load import load_model
from mcprl.runs.journal import Journal
from mcprl.serving import host
from mcprl.serving.origin import find_origin
from mcprl.types import Adapter
from support.configs import small

KEY = "a-key-for-tests"


@dataclass(frozen=True)
class Endpoint:
    """Where a served model is, and what it printed when it was ready."""

    url: str
    printed: str

    @property
    def root(self) -> str:
        return self.url.removesuffix("/v1")


def nano_run(runs: Path, name: str = "talker") -> Config:
    """A finished run of nano. Its best adapter, of step 2, leaves nano as it is; the one of step 1 is random."""
    limits = {"max_turns": 4, "max_tokens": 96}
    config = small(Path("nano"), runs, training={"steps": 2}, rollout=limits)
    with Journal.create(runs / name, config) as journal:
        folder = runs / name / "adapters"
        save_adapter(load_model(config.model), folder / "step-2")
        changed = shutil.copytree(folder / "step-2", folder / "step-1") / "adapter_model.safetensors"
        generator = torch.Generator().manual_seed(1)
        save_file({k: torch.randn(v.shape, generator=generator) for k, v in load_file(changed).items()}, changed)
        journal.write_adapter(Adapter(str(folder / "step-1"), 1))
        journal.write_adapter(Adapter(str(folder / "step-2"), 2))
        journal.write_adapter(Adapter(str(folder / "step-2"), 2), kind="best")
        journal.write_event("best", step=2, score=0.5)
        journal.write_event("done")
    return config


@contextmanager
def served(target: str, runs: Path, *flags: str) -> Generator[Endpoint]:
    """`mcprl serve` in a process with a home of its own, on a free port."""
    home = {"HOME": str(runs / "home"), "XDG_STATE_HOME": str(runs / "home" / "state")}
    command = [sys.executable, "-m", "mcprl", "serve", target, "--runs-dir", str(runs), "--port", "0", "--key", KEY]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([*command, *flags], env=os.environ | home, **pipes) as process:
        assert process.stdout
        assert process.stderr
        lines: list[str] = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("Ctrl-C"):
                break
        try:
            printed = "".join(lines)
            address = re.search(r"http://\S+/v1\b", printed)
            assert address, process.stderr.read()
            yield Endpoint(address[0], printed)
        finally:
            process.kill()


@contextmanager
def served_here(target: str, runs: Path, kind: Literal["embedded", "vllm"] = "embedded") -> Generator[Endpoint]:
    """What `mcprl serve` serves, from a thread of this process, over a socket. It has answered: what it makes at its
    start, loggers among it, would otherwise change under pytest, which walks through them as a test begins."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(_serving(target, runs, kind)) as endpoint:
        httpx2.get(f"{endpoint.url}/models", headers={"Authorization": f"Bearer {KEY}"}).raise_for_status()
        yield endpoint


@asynccontextmanager
async def _serving(target: str, runs: Path, kind: Literal["embedded", "vllm"]) -> AsyncGenerator[Endpoint]:
    origin = find_origin(target, str(runs), EngineConfig(kind=kind))
    with host.listen("127.0.0.1", 0) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        async with (
            host.open_served(origin, runs / "served" / origin.name) as learner,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(host.serve, learner, KEY, listening)
            yield Endpoint(address, "")
            tasks.cancel_scope.cancel()
