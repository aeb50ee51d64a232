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
    from mcprl.art.groups import Trajectory as Trajectory
    from mcprl.art.groups import TrajectoryGroup as TrajectoryGroup
    from mcprl.art.groups import gather_trajectory_groups as gather_trajectory_groups
    from mcprl.art.groups import ruler as ruler
    from mcprl.art.groups import ruler_score_group as ruler_score_group
    from mcprl.art.model import TrainableModel as TrainableModel
    from mcprl.art.model import rollout as rollout
    from mcprl.config import Config as Config
    from mcprl.errors import McprlError as McprlError
    from mcprl.scenarios.generate import generate as generate
    from mcprl.scenarios.generate import generate_scenarios as generate_scenarios
    from mcprl.scenarios.pack import load_pack as load_pack
    from mcprl.servers.server import connect as connect
    from mcprl.train import train as train

_HOME = {
    "Config": "mcprl.config",
    "McprlError": "mcprl.errors",
    "TrainableModel": "mcprl.art.model",
    "Trajectory": "mcprl.art.groups",
    "TrajectoryGroup": "mcprl.art.groups",
    "connect": "mcprl.servers.server",
    "gather_trajectory_groups": "mcprl.art.groups",
    "generate": "mcprl.scenarios.generate",
    "generate_scenarios": "mcprl.scenarios.generate",
    "load_pack": "mcprl.scenarios.pack",
    "rollout": "mcprl.art.model",
    "ruler": "mcprl.art.groups",
    "ruler_score_group": "mcprl.art.groups",
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
