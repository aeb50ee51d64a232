"""mcprl: make an open model good at your MCP server.

`mcprl train --server URL` on the command line; the same parts from Python under the names below. A name is imported on
first use, so that `import mcprl` loads neither torch nor mcp nor any other heavy library.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from mcprl.art.backends import LocalBackend as LocalBackend
    from mcprl.art.backends import RemoteBackend as RemoteBackend
    from mcprl.art.gathering import gather_trajectories as gather_trajectories
    from mcprl.art.gathering import gather_trajectory_groups as gather_trajectory_groups
    from mcprl.art.groups import History as History
    from mcprl.art.groups import Trajectory as Trajectory
    from mcprl.art.groups import TrajectoryGroup as TrajectoryGroup
    from mcprl.art.groups import ruler as ruler
    from mcprl.art.groups import ruler_score_group as ruler_score_group
    from mcprl.art.model import TrainableModel as TrainableModel
    from mcprl.art.own import OwnParts as OwnParts
    from mcprl.art.own import train_adapter as train_adapter
    from mcprl.config import Config as Config
    from mcprl.config import TrainingConfig as TrainingConfig
    from mcprl.errors import McprlError as McprlError
    from mcprl.scenarios.generate import generate as generate
    from mcprl.scenarios.generate import generate_scenarios as generate_scenarios
    from mcprl.scenarios.packs.pack import load_pack as load_pack
    from mcprl.servers.server import connect as connect
    from mcprl.serving.demonstrations import TrainSFTConfig as TrainSFTConfig


def _public() -> dict[str, str]:
    """Each public name with its module, read from the imports above: type checkers and this package share one list."""
    block = next(node for node in ast.parse(Path(__file__).read_text()).body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


_PUBLIC = _public()
__all__ = ["__version__", *_PUBLIC]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'mcprl' has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return __all__
