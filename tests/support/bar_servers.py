"""The ten servers that tasks are measured on, each with fixed data and the way back to it.

`make test` installs all but tau2's two, which are there after `mcprl setup bench tau2`.
"""

import shlex
import shutil
import sys
from pathlib import Path

from mcprl.config import Config, ServerConfig, ToolPolicy
from mcprl.files import find_cache, read_toml
from mcprl.runs.settings import parse
from support import fixtures_reset
from support.paths import GIT_SERVER, NODE_BIN, ROOT, SERVERS, SHOP, SQLITE_SERVER

WRITTEN = sorted(path.parent.name for path in (ROOT / "recipes" / "nano" / "written").glob("*/server.py"))
"""Servers that were written for a starter (`recipes/nano/written.py`)."""

NAMES = ("shop", "time", "memory", "filesystem", "everything", "git", "sqlite", "store", "retail", "airline")
GIT_READS = ("git_status", "git_diff*", "git_log", "git_show", "git_branch")
SQLITE_READS = ("read_query", "list_tables", "describe_table")


def setting(name: str, folder: Path) -> Config:
    """How a server is started and what it may do, its data in `folder`. Raises `LookupError` if it is not there."""
    if name in ("retail", "airline"):
        return _tau2(name)
    target, policy = _command(name, folder)
    reset = ""
    if name in fixtures_reset.DATA:
        fixtures_reset.reset(name, folder)
        reset = shlex.join([sys.executable, "-S", fixtures_reset.__file__, name, str(folder)])
    program = next(word for word in shlex.split(target) if word != "env" and "=" not in word)
    if shutil.which(program) is None:
        raise LookupError(f"{name}: {program} is not installed")
    return Config(servers=(ServerConfig(target=target, timeout_s=60, reset_command=reset),), tools=policy)


def written(name: str) -> Config:
    """How one of the `WRITTEN` servers is started; its data are those of each process."""
    target = shlex.join([sys.executable, str(ROOT / "recipes" / "nano" / "written" / name / "server.py")])
    return Config(servers=(ServerConfig(target=target, timeout_s=60),), tools=ToolPolicy(sandbox=True))


def _command(name: str, folder: Path) -> tuple[str, ToolPolicy]:
    disposable = ToolPolicy(sandbox=True)
    match name:
        case "shop":
            return SHOP, ToolPolicy()
        case "time":
            return "mcp-server-time --local-timezone UTC", disposable
        case "memory":
            return f"env MEMORY_FILE_PATH={folder / 'memory.json'} {NODE_BIN / 'mcp-server-memory'}", disposable
        case "filesystem":
            return f"{NODE_BIN / 'mcp-server-filesystem'} {folder}", ToolPolicy()
        case "everything":
            return f"{NODE_BIN / 'mcp-server-everything'} stdio", ToolPolicy()
        case "git":
            reads = ToolPolicy(sandbox=True, assume=dict.fromkeys(GIT_READS, "read"))
            return f"{GIT_SERVER} --repository {folder / 'repo'}", reads
        case "sqlite":
            reads = ToolPolicy(sandbox=True, assume=dict.fromkeys(SQLITE_READS, "read"))
            return f"{SQLITE_SERVER} --db-path {folder / 'practice.db'}", reads
        case "store":
            return f"{sys.executable} {SERVERS / 'text_store.py'}", disposable
        case _:
            raise LookupError(f"{name!r} is none of {', '.join(NAMES)}")


def _tau2(name: str) -> Config:
    """The server of tau2's package with the hints of `examples/hints`."""
    cache = find_cache("auto", "benches")
    packages = sorted(cache.glob("tau2-*")) if cache else []
    if not packages:
        raise LookupError(f"{name}: run `mcprl setup bench tau2`")
    config = parse(read_toml(ROOT / "examples" / "hints" / f"tau2_{name}.toml"))
    state = f"TAU2_{name.upper()}_MCP_STATE_DIR={{scratch}}"
    command = packages[-1] / "bin" / f"tau2-{name}-mcp"
    target = f"env PYTHONPATH={packages[-1]} {state} {sys.executable} {command}"
    return config.model_copy(update={"servers": (ServerConfig(target=target, timeout_s=60),)})
