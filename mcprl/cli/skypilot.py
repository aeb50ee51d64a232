"""SkyPilot in an environment of its own: it holds click below the version that mcprl needs."""

import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from mcprl.cli import sky_client as client_script
from mcprl.cli.launching import Launch, as_yaml
from mcprl.errors import ConfigError, EngineError
from mcprl.events import Emit, ignore
from mcprl.files import cache_folder
from mcprl.models import installing

VERSION = "0.14.1"
NEEDS_GB = 2.0


def default_folder() -> Path:
    """The environment's folder: `$MCPRL_SKYPILOT`, else a folder of the user's cache named after the version."""
    if folder := os.environ.get("MCPRL_SKYPILOT"):
        return Path(folder).expanduser()
    return cache_folder() / f"skypilot-{VERSION}"


def install(folder: Path, cloud: str, emit: Emit = ignore) -> None:
    """Make the environment with the client of a cloud; does nothing if it is complete. Raises `EngineError`."""
    steps = (("install", f"skypilot[{cloud}]=={VERSION}"),)
    installing.install(
        folder, installing.Recipe("SkyPilot", "sky", steps, {"version": VERSION, cloud: True}, NEEDS_GB), emit
    )


def run(launch: Launch, here: Path, keep: bool) -> int:
    """Launch a task, follow it, fetch its folder into `here` and delete the machine unless it is to be kept. Returns
    the run's exit status. Raises `EngineError` without SkyPilot, and `ConfigError` for a secret that is not set."""
    folder = default_folder()
    if installing.find(folder) is None:
        raise EngineError(f"SkyPilot is not set up in {folder}; run: mcprl setup skypilot --cloud CLOUD")
    if missing := [name for name in launch.secrets if name not in os.environ]:
        raise ConfigError(f"${missing[0]} is not set, and the run needs it")
    with TemporaryDirectory(prefix="mcprl-") as private:
        task = dict(launch.task)
        mounts = dict(task.get("file_mounts") or {})
        for n, (there, text) in enumerate(launch.files.items()):
            (Path(private) / str(n)).write_text(text)
            mounts[there] = str(Path(private) / str(n))
        place = Path(private) / "task.yaml"
        place.write_text(as_yaml({**task, "file_mounts": mounts}))
        command = [str(installing.python_of(folder)), "-P", client_script.__file__, str(place), str(task["name"])]
        command += [launch.run, str(here), *(["--keep"] if keep else [])]
        command += [word for name in launch.secrets for word in ("--secret", name)]
        return subprocess.run(command, check=False).returncode
