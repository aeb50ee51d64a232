"""Steps of an installation: commands whose output goes to a log, with their run time as progress."""

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from mcprl.events import Emit, InstallStep, ignore

MOST_SHOWN = 300
"""Characters of a failed command's error."""


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
