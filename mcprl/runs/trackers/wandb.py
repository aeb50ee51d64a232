"""Weights & Biases: metrics, a table of every step's rollouts, and the adapter as an artifact when the run ends.

`WANDB_MODE`, `WANDB_PROJECT`, `WANDB_ENTITY` and wandb's other variables work. wandb must not collect data about the
machine and the command line: a command line may hold a header with a key.
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from mcprl.config import Config
from mcprl.errors import MissingExtra
from mcprl.runs.journal import Journal
from mcprl.runs.records import SavedAdapter
from mcprl.runs.settings import redacted
from mcprl.runs.trackers import COLUMNS, Metrics, Tracker, final_adapter, rows
from mcprl.types import Group, Json, Score

_OPTIMIZER: Final = "optimizer*"
_START_S, _FINISH_S = 30.0, 120.0


class Wandb:
    """One wandb run for one run of mcprl; `module` is the wandb package."""

    def __init__(self, module: Any, run: Any, folder: Path) -> None:
        self._wandb, self._run, self._folder = module, run, folder
        # Not wandb's own step, which may only grow: the best adapter's test belongs to an earlier step.
        run.define_metric("step", hidden=True)
        run.define_metric("*", step_metric="step")

    def log_step(self, step: int, metrics: Metrics) -> None:
        self._run.log({"step": step, **{name: value for name, value in metrics.items() if value is not None}})

    def log_groups(self, step: int, groups: Sequence[Group], scores: Sequence[Score]) -> None:
        table = self._wandb.Table(columns=list(COLUMNS), data=rows(groups, scores))
        self._run.log({"step": step, "groups": table})

    def close(self, report: Mapping[str, Json] | None = None) -> None:
        try:
            if report:
                self._run.summary.update({name: report[name] for name in ("test", "steps", "wall_s") if name in report})
            if saved := final_adapter(self._folder):
                self._run.log_artifact(self._artifact(saved))
        finally:
            self._run.finish()

    def _artifact(self, saved: SavedAdapter) -> Any:
        metadata = {"step": saved.adapter.step, "kind": saved.kind}
        name = re.sub(r"[^\w.-]", "-", f"{self._folder.absolute().name}-adapter")
        artifact = self._wandb.Artifact(name, type="model", metadata=metadata)
        folder = Path(saved.adapter.path)
        for path in sorted(set(folder.rglob("*")) - set(folder.rglob(_OPTIMIZER))):
            if path.is_file():  # an adapter on disk never changes, so wandb need not copy it
                artifact.add_file(str(path), str(path.relative_to(folder)), policy="immutable")
        return artifact


def require() -> Any:
    """The wandb package. Raises `MissingExtra` if it is not installed."""
    try:
        import wandb
    except ImportError:
        raise MissingExtra("wandb", "wandb") from None
    return wandb


def open_tracker(folder: Path, config: Config) -> Tracker:
    """Start or continue the wandb run of this folder's run."""
    wandb = require()
    os.environ.setdefault("WANDB_DISABLE_WEAVE", "true")  # it advertises another package on the screen
    with Journal.open(folder) as journal:
        identity = journal.fact("run_id")
    run = wandb.init(
        project=os.environ.get("WANDB_PROJECT", "mcprl"),
        id=identity,
        name=folder.absolute().name,
        resume="allow",
        reinit="create_new",
        dir=folder,
        config=redacted(config),
        settings=wandb.Settings(
            console="off",
            silent=True,
            disable_git=True,
            save_code=False,
            init_timeout=_START_S,
            finish_timeout=_FINISH_S,
            x_disable_meta=True,
            x_disable_machine_info=True,
        ),
    )
    return Wandb(wandb, run, folder)
