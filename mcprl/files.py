"""Files and folders that are written whole or not at all, the user's cache, and the data bundled with the package."""

import os
import resource
import shutil
import tempfile
import tomllib
from collections.abc import Generator
from contextlib import contextmanager, suppress
from hashlib import file_digest, sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock
from platformdirs import user_cache_path, user_state_path

from mcprl.errors import ConfigError
from mcprl.text import shortened

AUTO = "auto"
"""As the setting of a cache: its folder below `cache_folder`."""
_OPEN_FILES, _FILES_OF_A_ROLLOUT = 256, 4
"""What a run opens besides, and its session's connections and its turn's."""


def cache_folder() -> Path:
    """This user's folder for what can be made again: on Linux `$XDG_CACHE_HOME/mcprl`, by default `~/.cache/mcprl`."""
    return user_cache_path("mcprl", appauthor=False)


def state_folder() -> Path:
    """This user's folder for what was decided: on Linux `$XDG_STATE_HOME/mcprl`, by default `~/.local/state/mcprl`."""
    return user_state_path("mcprl", appauthor=False)


def find_cache(setting: str, name: str) -> Path | None:
    """The folder that a cache's setting stands for: `cache_folder() / name` for "auto", `None` if it is empty."""
    if setting == AUTO:
        return cache_folder() / name
    return Path(setting).expanduser() if setting else None


def require_writable(folder: Path, what: str) -> None:
    """Raise `ConfigError` if `folder`, which `what` names, cannot be made and written to. What is made is removed."""
    missing: list[Path] = []
    try:
        missing = [place for place in (folder, *folder.parents) if not place.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except (OSError, ValueError) as error:
        shown = shortened(repr(str(folder)), 200)
        raise ConfigError(f"{what} {shown}: {_why(error)}; name a folder that can be made and written to") from None
    finally:
        for place in missing:
            with suppress(OSError, ValueError):
                place.rmdir()


def read_toml(path: Path) -> dict[str, Any]:
    """The tree of a TOML file. Raises `ConfigError` of one line if it cannot be read."""
    try:
        return tomllib.loads(path.read_bytes().decode())
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except RecursionError:
        raise ConfigError(f"{path} is nested too deeply; a settings file has tables of settings and no more") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {shortened(str(error), 300)}") from None
    except ValueError:
        raise ConfigError(f"{path} holds a number of too many digits; write at most 18") from None


def _why(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else "") or str(error)


def write_whole(path: Path, content: bytes) -> None:
    """Write or replace a file: a reader sees all of it or what was there before, also after a power cut."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def whole_folder(path: Path) -> Generator[Path]:
    """Make or replace a folder: the block fills the yielded draft beside `path`, which takes its place at the end.

    If the block fails, nothing is left of the draft and `path` is as it was. What stands at `path` survives a power
    cut.
    """
    draft = path.with_name(f".{path.name}.part")
    replaced = path.with_name(f".{path.name}.old")
    _clear(path, draft, replaced)
    draft.mkdir(parents=True)
    try:
        yield draft
        for inside in draft.rglob("*"):
            _sync(inside)
        _sync(draft)
        if path.exists():
            path.rename(replaced)  # not deleted in place: a reader must not find half of it
        draft.rename(path)
        _sync(path.parent)
    finally:
        _clear(path, draft, replaced)


@contextmanager
def locked(folder: Path) -> Generator[None]:
    """Wait until no other process is in such a block for `folder`, which exists."""
    with FileLock(folder / ".lock"):  # the system releases it however this process ends
        yield


def fingerprint(folder: str | Path) -> str:
    """A digest of the names and contents of all files in a folder, empty if there is none."""
    digest = sha256()
    paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    for path in paths:
        with path.open("rb") as file:
            content = file_digest(file, sha256).digest()
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + content)
    return digest.hexdigest() if paths else ""


def _clear(path: Path, draft: Path, replaced: Path) -> None:
    """Remove what a replacement left, after putting back the replaced folder if no new one took its place."""
    if replaced.exists() and not path.exists():
        replaced.rename(path)
    for leftover in (draft, replaced):
        shutil.rmtree(leftover, ignore_errors=True)


def _sync(path: Path) -> None:
    """Make what was written to a file or folder survive a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


Kind = Literal["judges", "scenarios", "presets", "examples/servers"]


def bundled_folder(kind: Kind) -> Path:
    """The bundled folder of that kind, in a checkout or in an installed package."""
    package = Path(str(files("mcprl")))
    checkout = package.parent / kind
    return checkout if (package.parent / "pyproject.toml").is_file() else package / "_data" / kind


def find_bundled(kind: Kind, name: str | Path) -> Path:
    """The path `name` if it exists, else the bundled file or folder of that name, with or without its suffix.

    Raises `ConfigError` with the bundled names if there is neither.
    """
    if (path := Path(name).expanduser()).exists():
        return path
    bundled = sorted(path for path in bundled_folder(kind).glob("*") if path.name[0] != "." and path.stem != "README")
    for path in bundled:
        if str(name) in (path.name, path.stem):
            return path
    raise ConfigError(
        f"{kind}: no file or folder {str(name)!r}; bundled are: {', '.join(p.stem for p in bundled) or 'none'}"
    )


def allow_open_files(rollouts: int) -> None:
    """Let this process open the files that so many rollouts at once need. Raises `ConfigError` if the system does not
    allow as many."""
    needed = _OPEN_FILES + _FILES_OF_A_ROLLOUT * rollouts
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if resource.RLIM_INFINITY != hard < needed:
        raise ConfigError(
            f"engine.max_batch = {rollouts} needs up to {needed:,} open files, and this system allows {hard:,} for a "
            f"process; lower it, or raise the limit (ulimit -Hn {needed})"
        )
    if resource.RLIM_INFINITY != soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
