"""Data files that people edit: `judges/` (rubrics, judge prompts), `scenarios/` (packs) and `presets/` (settings).

They stand at the top of a checkout and inside an installed package; a path of your own wins over both.
"""

from importlib.resources import files
from pathlib import Path
from typing import Literal

from mcprl.errors import ConfigError

Kind = Literal["judges", "scenarios", "presets"]


def folder(kind: Kind) -> Path:
    """The bundled folder, in a checkout or in an installed package."""
    package = Path(str(files("mcprl")))
    checkout = package.parent / kind
    return checkout if (package.parent / "pyproject.toml").is_file() else package / "_data" / kind


def find(kind: Kind, name: str | Path) -> Path:
    """What `name` stands for: a path that exists, else the bundled file or folder of that name (suffix or not).

    Raises `ConfigError` with the bundled names where there is neither.
    """
    if (own := Path(name).expanduser()).exists():
        return own
    known = sorted(path for path in folder(kind).glob("*") if path.name[0] != "." and path.stem != "README")
    for path in known:
        if str(name) in (path.name, path.stem):
            return path
    raise ConfigError(
        f"{kind}: no file or folder {str(name)!r}; bundled are: {', '.join(p.stem for p in known) or 'none'}"
    )
