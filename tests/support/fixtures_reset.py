"""Puts a server's fixed data into a folder, for `--reset-command`: `python tests/support/fixtures_reset.py git FOLDER`.

It imports nothing heavy, since a generator resets a server some fifty times.
"""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from support.fixtures import make_database, make_git
from support.fixtures_files import make_files, make_memory

DATA: dict[str, Callable[[Path], None]] = {
    "memory": lambda folder: make_memory(folder / "memory.json"),
    "filesystem": make_files,
    "git": lambda folder: make_git(folder / "repo"),
    "sqlite": lambda folder: make_database(folder / "practice.db"),
}
"""What puts the data of a server that all its sessions share into an empty folder."""


def reset(name: str, folder: Path) -> None:
    """Empty the folder and put the server's data into it."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    DATA[name](folder)


if __name__ == "__main__":
    reset(sys.argv[1], Path(sys.argv[2]))
