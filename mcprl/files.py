"""Files that are there whole or not at all."""

import os
from importlib.resources import files
from pathlib import Path
from typing import Literal

from mcprl.errors import ConfigError


def cache_folder() -> Path:
    """Where this user's machine keeps what can be made again: `$XDG_CACHE_HOME/mcprl`, else `~/.cache/mcprl`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mcprl"


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, or replace one: a reader never sees half of it, also when the machine stops."""
    draft = path.with_name(path.name + ".part")
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


Kind = Literal["judges", "scenarios", "presets"]


def bundled_folder(kind: Kind) -> Path:
    """The bundled folder, in a checkout or in an installed package."""
    package = Path(str(files("mcprl")))
    checkout = package.parent / kind
    return checkout if (package.parent / "pyproject.toml").is_file() else package / "_data" / kind


def find_bundled(kind: Kind, name: str | Path) -> Path:
    """What `name` stands for: a path that exists, else the bundled file or folder of that name (suffix or not).

    Raises `ConfigError` with the bundled names where there is neither.
    """
    if (own := Path(name).expanduser()).exists():
        return own
    known = sorted(path for path in bundled_folder(kind).glob("*") if path.name[0] != "." and path.stem != "README")
    for path in known:
        if str(name) in (path.name, path.stem):
            return path
    raise ConfigError(
        f"{kind}: no file or folder {str(name)!r}; bundled are: {', '.join(p.stem for p in known) or 'none'}"
    )


def sync(path: Path) -> None:
    """Make what was written to a file or folder survive a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
