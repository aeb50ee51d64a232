"""Files that are there whole or not at all."""

import os
from pathlib import Path


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
