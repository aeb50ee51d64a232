"""mcprl: make an open model good at your MCP server.

`mcprl train --server URL` on the command line; the same parts from Python under the names below. Names load on first
use, so that `import mcprl` stays free of torch, mcp and every other heavy library.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from mcprl.config import Config as Config
    from mcprl.errors import McprlError as McprlError
    from mcprl.scenarios import generate as generate
    from mcprl.scenarios import load_pack as load_pack
    from mcprl.server import connect as connect
    from mcprl.train import train as train

_HOME = {
    "Config": "mcprl.config",
    "McprlError": "mcprl.errors",
    "connect": "mcprl.server",
    "generate": "mcprl.scenarios",
    "load_pack": "mcprl.scenarios",
    "train": "mcprl.train",
}

__all__ = ["Config", "McprlError", "__version__", "connect", "generate", "load_pack", "train"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'mcprl' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
