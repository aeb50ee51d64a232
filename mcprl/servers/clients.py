"""Servers as other MCP clients configure them: `mcpServers` of Claude, Cursor and Windsurf, `servers` of VS Code.

https://code.visualstudio.com/docs/copilot/reference/mcp-configuration, https://code.claude.com/docs/en/mcp
"""

import json
import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from mcprl.errors import ConfigError
from mcprl.secrets import learn_variable
from mcprl.text import counted

CLIENTS: Final = {
    "claude": (
        "~/.config/Claude/claude_desktop_config.json",
        "~/Library/Application Support/Claude/claude_desktop_config.json",
    ),
    "claude-code": (".mcp.json", "~/.claude.json"),
    "cursor": (".cursor/mcp.json", "~/.cursor/mcp.json"),
    "vscode": (
        ".vscode/mcp.json",
        "~/.config/Code/User/mcp.json",
        "~/Library/Application Support/Code/User/mcp.json",
    ),
    "windsurf": ("~/.codeium/windsurf/mcp_config.json",),
}
"""Where each client keeps its file: in a project's folder, then for the user."""
_VARIABLE = re.compile(r"\$\{(?:env:)?(\w+)(?::-([^}]*))?\}|\$\{([^}]*)\}|\$")


def read_servers(source: str, only: Sequence[str]) -> list[dict[str, Any]]:
    """The settings (`config.ServerConfig`) of the servers that a client's file names, and of which `only` names each or
    holds a glob. `source` is a file, or one of `CLIENTS`.

    Variables of headers and environments stay references, so that no secret is written down. Raises `ConfigError`, also
    if there are several servers and nothing says which.
    """
    path = _find(source)
    entries = _entries(path)
    names = [name for name in entries if any(fnmatchcase(name, pattern) for pattern in only or ["*"])]
    unknown = [pattern for pattern in only if not any(fnmatchcase(name, pattern) for name in entries)]
    if not names or unknown or (len(names) > 1 and not only):
        why = f"names no server {', '.join(unknown)}" if unknown else f"names {counted(len(entries), 'server')}"
        known = f"; choose with --only NAME: {', '.join(sorted(entries))}" if entries else ""
        raise ConfigError(f"{path} {why}{known}")
    return [_server(name, entries[name], f"{path}: the server {name!r}") for name in names]


def _find(source: str) -> Path:
    if source not in CLIENTS:
        return Path(source).expanduser()
    places = [Path(place).expanduser() for place in CLIENTS[source]]
    for path in places:
        if path.is_file():
            return path
    raise ConfigError(f"{source} has no servers here; there is no {' and no '.join(map(str, places))}")


def _entries(path: Path) -> dict[str, Any]:
    try:
        tree = json.loads(path.read_bytes())
    except OSError as error:
        known = ", ".join(CLIENTS)
        raise ConfigError(f"cannot read {path}: {error.strerror}; give a file, or one of {known}") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not JSON: {error}") from None
    entries = tree.get("mcpServers", tree.get("servers")) if isinstance(tree, dict) else None
    if not isinstance(entries, dict):
        raise ConfigError(f"{path} holds neither mcpServers nor servers, under which clients keep their servers")
    return entries


def _server(name: str, entry: Any, where: str) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise ConfigError(f"{where} is not an object")
    if "envFile" in entry:
        raise ConfigError(f"{where} has an envFile, which is not read; name its variables under env")
    url = entry.get("url") or entry.get("serverUrl")
    if not (url or entry.get("command")):
        raise ConfigError(f"{where} has neither a command nor a url")
    target = _expanded(str(url), where) if url else _command(entry, where)
    if entry.get("type") == "sse" and not target.endswith("/sse"):
        raise ConfigError(f"{where} speaks SSE at {target}; only addresses that end in /sse are taken for SSE")
    return {
        "name": re.sub(r"[^\w-]+", "_", name),
        "target": target,
        "headers": _references(entry, "headers", where),
        "env": _references(entry, "env", where),
    }


def _command(entry: Mapping[str, Any], where: str) -> str:
    arguments = entry.get("args") or []
    if not isinstance(arguments, list):
        raise ConfigError(f"{where} has args that are not a list")
    words = [_expanded(str(word), where) for word in (entry["command"], *arguments)]
    if folder := entry.get("cwd"):
        inside = f"cd {shlex.quote(_expanded(str(folder), where))} && exec {shlex.join(words)}"
        return shlex.join(["sh", "-c", inside])
    return shlex.join(words)


def _expanded(text: str, where: str) -> str:
    """The text with the values of its variables. Those that are secrets are hidden from now on."""

    def value(name: str, default: str | None) -> str:
        found = os.environ.get(name, default)
        if found is None:
            raise ConfigError(f"{where} wants ${name}, which is not set in the environment")
        learn_variable(name, found)
        return found

    return _replaced(text, where, value, dollar="$")


def _references(entry: Mapping[str, Any], key: str, where: str) -> dict[str, str]:
    """The entry's headers or variables, in mcprl's spelling: `${NAME}` for a variable, `$$` for a dollar sign."""

    def reference(name: str, default: str | None) -> str:
        return f"${{{name}}}" if name in os.environ or default is None else default.replace("$", "$$")

    given = entry.get(key) or {}
    if not isinstance(given, dict):
        raise ConfigError(f"{where} has {key} that are not an object")
    return {str(name): _replaced(str(value), where, reference, dollar="$$") for name, value in given.items()}


def _replaced(text: str, where: str, variable: Callable[[str, str | None], str], dollar: str) -> str:
    """The text with each variable as `variable` gives it by its name and its default."""

    def replaced(match: re.Match[str]) -> str:
        name, default, other = match.groups()
        folders = {"userHome": Path.home(), "workspaceFolder": Path.cwd()}
        if name in folders:
            return str(folders[name])
        if name:
            return variable(name, default)
        if other is not None:
            raise ConfigError(f"{where} asks for {match[0]}; put ${{env:NAME}} there in a copy of the file")
        return dollar

    return _VARIABLE.sub(replaced, text)
