"""mcprl: make an open model good at your MCP server.

`mcprl train --server URL` on the command line; the same parts from Python under the names below. Names load on first
use, so that `import mcprl` stays free of torch, mcp and every other heavy library.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from mcprl.api import Trajectory as Trajectory
    from mcprl.api import TrajectoryGroup as TrajectoryGroup
    from mcprl.api import gather_trajectory_groups as gather_trajectory_groups
    from mcprl.api import ruler as ruler
    from mcprl.api import ruler_score_group as ruler_score_group
    from mcprl.config import Config as Config
    from mcprl.errors import McprlError as McprlError
    from mcprl.scenarios import generate as generate
    from mcprl.scenarios import generate_scenarios as generate_scenarios
    from mcprl.scenarios import load_pack as load_pack
    from mcprl.server import connect as connect
    from mcprl.train import train as train
    from mcprl.trainable import TrainableModel as TrainableModel
    from mcprl.trainable import rollout as rollout

_HOME = {
    "Config": "mcprl.config",
    "McprlError": "mcprl.errors",
    "TrainableModel": "mcprl.trainable",
    "Trajectory": "mcprl.api",
    "TrajectoryGroup": "mcprl.api",
    "connect": "mcprl.server",
    "gather_trajectory_groups": "mcprl.api",
    "generate": "mcprl.scenarios",
    "generate_scenarios": "mcprl.scenarios",
    "load_pack": "mcprl.scenarios",
    "rollout": "mcprl.trainable",
    "ruler": "mcprl.api",
    "ruler_score_group": "mcprl.api",
    "train": "mcprl.train",
}

__all__ = [
    "Config",
    "McprlError",
    "TrainableModel",
    "Trajectory",
    "TrajectoryGroup",
    "__version__",
    "connect",
    "gather_trajectory_groups",
    "generate",
    "generate_scenarios",
    "load_pack",
    "rollout",
    "ruler",
    "ruler_score_group",
    "train",
]


class _Package(ModuleType):
    """Importing `mcprl.train` would set it as an attribute of the package, in place of the function of that name."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _HOME or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'mcprl' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
