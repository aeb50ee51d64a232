"""Where things are in the repository, for tests."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
SERVERS = TESTS / "support" / "servers"
NODE_BIN = Path(os.environ.get("MCPRL_NODE_BIN", ROOT / "node_modules" / ".bin"))
GIT_SERVER = Path(sys.executable).with_name("mcp-server-git")
SQLITE_SERVER = ROOT / ".venv-sqlite" / "bin" / "mcp-server-sqlite"
"""It has an environment of its own (`make test`), since its last release needs the MCP SDK's version 1."""
SHOP_SCRIPT = ROOT / "examples" / "servers" / "shop.py"
SHOP = f"{sys.executable} {SHOP_SCRIPT}"
"""The example shop on stdio, as `--server` takes it."""
ODD = f"{sys.executable} {SERVERS / 'odd_stdio.py'}"
"""A hand-written stdio server that misbehaves as its arguments say."""
