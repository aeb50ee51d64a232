"""Environments of their own for what pins its own torch: a folder with Python, filled by pip in named steps."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcprl.errors import EngineError
from mcprl.events import Emit, InstallStep, ignore
from mcprl.files import locked, write_whole

MOST_SHOWN = 300
"""Characters of a failed command's error."""
_MANIFEST = "mcprl.json"  # written last, so an environment that has it is complete


@dataclass(frozen=True)
class Recipe:
    """What makes an environment of `name`: pip's `steps`, then the `module` that must be importable. `made_of` tells it
    from other versions. It takes `needs_gb` of a disk, with the files that pip unpacks on the way."""

    name: str
    module: str
    steps: tuple[tuple[str, ...], ...]
    made_of: Mapping[str, Any]
    needs_gb: float


def find(folder: Path) -> dict[str, Any] | None:
    """What a complete environment is made of, or `None` if there is none in the folder."""
    try:
        manifest: dict[str, Any] = json.loads((folder / _MANIFEST).read_text())
    except (OSError, ValueError):
        return None
    return manifest if python_of(folder).exists() else None


def python_of(folder: Path) -> Path:
    """The Python of an environment."""
    return folder / "bin" / "python"


def install(folder: Path, recipe: Recipe, emit: Emit = ignore) -> None:
    """Make an environment in `folder`, or complete a partial one. Does nothing if it is complete already.

    pip writes to `install.log` in the folder. Raises `EngineError`.
    """
    if _is_made(folder, recipe):
        return
    _check_room(folder, recipe)
    with locked(folder):
        if _is_made(folder, recipe):  # by another process during the wait
            return
        log = folder / "install.log"
        log.write_text("")
        steps = [("venv", [sys.executable, "-m", "venv", str(folder)])]
        pip = [str(python_of(folder)), "-m", "pip", "--disable-pip-version-check", "--no-input"]
        steps += [(" ".join(step), [*pip, *step]) for step in recipe.steps]
        steps.append((f"import {recipe.module}", [str(python_of(folder)), "-c", f"import {recipe.module}"]))
        for number, (name, command) in enumerate(steps, 1):
            step = f"{number}/{len(steps)} {name}"
            if reason := run_step(step, command, log, emit):
                failed = f"{recipe.name} could not be set up at {step!r}: {reason}"
                raise EngineError(f"{failed} (the log is {log}); run it again")
        manifest = {**recipe.made_of, "steps": recipe.steps}
        write_whole(folder / _MANIFEST, json.dumps(manifest).encode())


def _is_made(folder: Path, recipe: Recipe) -> bool:
    made = find(folder)
    return bool(made and {name: made.get(name) for name in recipe.made_of} == dict(recipe.made_of))


def _check_room(folder: Path, recipe: Recipe) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EngineError(f"{folder} cannot be made: {error.strerror}; choose another folder with --folder") from None
    free = shutil.disk_usage(folder).free / 2**30
    if free < recipe.needs_gb:
        needed = f"{recipe.name} needs {recipe.needs_gb:.0f}"
        raise EngineError(f"{folder} has {free:.1f} GiB free; {needed}: make room, or choose another --folder")


def run_step(name: str, command: Sequence[str], log: Path, emit: Emit = ignore) -> str:
    """Run a command with its output appended to the log, and emit its run time every second.

    Returns the last error in the log if the command fails, else an empty text. The command does not see this process's
    PYTHONPATH.
    """
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
    return _last_error(log) if code else ""


def _last_error(log: Path) -> str:
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines or ["no output"])[-1][:MOST_SHOWN]
