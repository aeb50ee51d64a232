"""SkyRL's server of the Tinker API on loopback, for a model's folder."""

import os
import signal
import subprocess
import time
import urllib.request
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcprl.models import installing
from mcprl.models.tinker import skyrl_server
from support.loopback import free_port


@dataclass
class Server:
    """A server that can be killed, and started again on the same port with what it has on disk."""

    model: Path
    folder: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, without waiting for it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        python = installing.python_of(skyrl_server.default_folder())
        command = skyrl_server.command(python, self.model, self.port, self.folder / "checkpoints")
        environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "OMP_NUM_THREADS")}
        cache = {"JAX_COMPILATION_CACHE_DIR": str(self.folder / "compiled")}
        cache["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
        environment |= {"JAX_PLATFORMS": "cpu", "HF_HUB_OFFLINE": "1", **cache}
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)

    def wait(self, seconds: float = 180.0) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            with suppress(OSError), urllib.request.urlopen(f"{self.url}/api/v1/healthz", timeout=5) as answer:
                if answer.status == 200:
                    return
            time.sleep(0.5)
        raise TimeoutError((self.folder / "server.log").read_text()[-2000:])

    def kill(self) -> None:
        """Kill it with its engine, as a machine that dies does."""
        if self.process:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None

    def kill_engine(self) -> None:
        """Kill the process that computes, and let the one that answers go on."""
        assert self.process
        for pid in self.pids():
            command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if b"engine" in command:
                os.kill(pid, signal.SIGKILL)

    def pids(self) -> list[int]:
        """The server's processes, its engine among them."""
        assert self.process
        found = subprocess.run(["pgrep", "-g", str(self.process.pid)], capture_output=True, text=True, check=False)
        return [int(pid) for pid in found.stdout.split()]


def is_installed() -> bool:
    return installing.find(skyrl_server.default_folder()) is not None


def in_float32(model: Path, folder: Path) -> Path:
    return skyrl_server.in_float32(model, folder)


def settings(server: Server, **more: Any) -> dict[str, Any]:
    """The settings of a run on the server."""
    return {"engine": {"kind": "tinker", "base_url": server.url}, **more}
