"""Trackio: metrics, a table of every step's rollouts, and the adapter as an artifact when the run ends.

Kept on this machine (`TRACKIO_DIR`; `trackio show` opens it), or sent to a Space (`TRACKIO_SPACE_ID`) or a server
(`TRACKIO_SERVER_URL`). `TRACKIO_PROJECT` names the project. It must not collect data about the machine.
"""

import os
import re
import warnings
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, Final

from mcprl.config import Config
from mcprl.errors import ConfigError, MissingExtra
from mcprl.runs.journal import Journal
from mcprl.runs.settings import redacted
from mcprl.runs.trackers import COLUMNS, Metrics, Tracker, final_adapter, reach, rows
from mcprl.types import Group, Json, Score

_OPTIMIZER: Final = "optimizer*"


class Trackio:
    """One Trackio run for one run of mcprl; `module` is the trackio package."""

    def __init__(self, module: Any, run: Any, folder: Path) -> None:
        self._trackio, self._run, self._folder = module, run, folder

    def log_step(self, step: int, metrics: Metrics) -> None:
        self._run.log({name: value for name, value in metrics.items() if value is not None}, step=step)

    def log_groups(self, step: int, groups: Sequence[Group], scores: Sequence[Score]) -> None:
        table = self._trackio.Table(columns=list(COLUMNS), data=rows(groups, scores))
        self._run.log({"groups": table}, step=step)

    def close(self, report: Mapping[str, Json] | None = None) -> None:
        with redirect_stdout(StringIO()):  # it says that it finishes
            try:
                if saved := final_adapter(self._folder):
                    metadata = {"step": saved.adapter.step, "kind": saved.kind}
                    name = re.sub(r"[^\w.-]", "-", f"{self._folder.absolute().name}-adapter")
                    artifact = self._trackio.Artifact(name, type="model", metadata=metadata)
                    folder = Path(saved.adapter.path)
                    for path in sorted(set(folder.rglob("*")) - set(folder.rglob(_OPTIMIZER))):
                        if path.is_file():
                            artifact.add_file(path, path.relative_to(folder).as_posix())
                    self._run.log_artifact(artifact)
            finally:
                self._run.finish()


def require() -> Any:
    """The trackio package. Raises `MissingExtra` if it is not installed, and `ConfigError` if its server is away."""
    try:
        import trackio
    except ImportError:
        raise MissingExtra("trackio", "trackio") from None
    if (server := os.environ.get("TRACKIO_SERVER_URL")) and not os.environ.get("TRACKIO_SPACE_ID"):
        reach("trackio", server, "start Trackio's server there (trackio show), or mend TRACKIO_SERVER_URL")
    return trackio


def open_tracker(folder: Path, config: Config) -> Tracker:
    """Start or continue the Trackio run of this folder's run. Raises `ConfigError` if it starts with a warning: it
    would go on without what it warns of."""
    trackio = require()
    with Journal.open(folder) as journal:
        identity = str(journal.fact("run_id"))
    with warnings.catch_warnings(record=True) as caught, redirect_stdout(StringIO()):
        warnings.simplefilter("always")
        run = trackio.init(
            project=os.environ.get("TRACKIO_PROJECT", "mcprl"),
            name=f"{folder.absolute().name}-{identity[:8]}",  # a run of this name is continued
            resume="allow",
            config=redacted(config),
            embed=False,
            auto_log_gpu=False,
            auto_log_cpu=False,
        )
    if own := [warning for warning in caught if "trackio" in str(warning.message)]:
        raise ConfigError(f"the tracker trackio cannot start: {own[0].message}")
    return Trackio(trackio, run, folder)
