"""Servers as other MCP clients configure them: `mcpServers` of Claude, Cursor and Windsurf, `servers` of VS Code.

https://code.visualstudio.com/docs/copilot/reference/mcp-configuration, https://code.claude.com/docs/en/mcp

Values of a file of variables and of inputs are secrets: they are put into this process's environment, under a name of
their own, and settings hold only `${NAME}`.
"""

import json
import os
import re
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from mcprl.errors import ConfigError
from mcprl.secrets import learn_values, learn_variable
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
_LONGEST = 2**18
"""Bytes of a file that is read as JSON with comments."""

Ask = Callable[[str, bool, str], str]
"""Asks a person for a value: what for, whether it is a secret, and what it is by default."""


def read_servers(source: str, only: Sequence[str], ask: Ask | None = None) -> list[dict[str, Any]]:
    """The settings (`config.ServerConfig`) of the servers that a client's file names, and of which `only` names each or
    holds a glob. `source` is a file, or one of `CLIENTS`. `ask` is for the values that the file has a person type in.

    Variables of headers and environments stay references, so that no secret is written down. Raises `ConfigError`, also
    if there are several servers and nothing says which.
    """
    path = _find(source)
    tree = _tree(path)
    entries = _entries(path, tree)
    names = [name for name in entries if any(fnmatchcase(name, pattern) for pattern in only or ["*"])]
    unknown = [pattern for pattern in only if not any(fnmatchcase(name, pattern) for name in entries)]
    if not names or unknown or (len(names) > 1 and not only):
        why = f"names no server {', '.join(unknown)}" if unknown else f"names {counted(len(entries), 'server')}"
        known = f"; choose with --only NAME: {', '.join(sorted(entries))}" if entries else ""
        raise ConfigError(f"{path} {why}{known}")
    inputs = {entry["id"]: entry for entry in tree.get("inputs") or () if isinstance(entry, dict) and "id" in entry}
    where = f"{path}: the server "
    return [
        _server(name, entries[name], _File(f"{where}{name!r}", _workspace(path, source), inputs, ask)) for name in names
    ]


@dataclass(frozen=True)
class _File:
    """The file that a server's entry stands in. `where` is that place in words, `workspace` the folder that the client
    would have open, `inputs` what the file has a person type in."""

    where: str
    workspace: Path
    inputs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    ask: Ask | None = None


def _workspace(path: Path, source: str) -> Path:
    """The folder of the file, or the project's if the file is in a folder of a client's in it."""
    folder = path.absolute().parent
    user = source in CLIENTS and path.is_relative_to(Path.home()) and not path.is_relative_to(Path.cwd())
    return Path.cwd() if user else folder.parent if folder.name in (".vscode", ".cursor") else folder


def _find(source: str) -> Path:
    if source not in CLIENTS:
        return Path(source).expanduser()
    places = [Path(place).expanduser() for place in CLIENTS[source]]
    for path in places:
        if path.is_file():
            return path
    raise ConfigError(f"{source} has no servers here; there is no {' and no '.join(map(str, places))}")


def _tree(path: Path) -> Any:
    """The file's JSON, which may have comments and trailing commas, as VS Code reads it."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        known = ", ".join(CLIENTS)
        raise ConfigError(f"cannot read {path}: {error.strerror}; give a file, or one of {known}") from None
    except ValueError as error:
        raise ConfigError(f"{path} is not text in UTF-8: {error}") from None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as strict:
        import json5

        try:
            if len(text) > _LONGEST:
                raise ValueError
            return json5.loads(text)
        except (ValueError, RecursionError):
            raise ConfigError(f"{path} is not JSON: {strict}") from None


def _entries(path: Path, tree: Any) -> dict[str, Any]:
    entries = tree.get("mcpServers", tree.get("servers")) if isinstance(tree, dict) else None
    if not isinstance(entries, dict):
        raise ConfigError(f"{path} holds neither mcpServers nor servers, under which clients keep their servers")
    return entries


def _server(name: str, entry: Any, file: _File) -> dict[str, Any]:
    where = file.where
    if not isinstance(entry, dict):
        raise ConfigError(f"{where} is not an object")
    url = entry.get("url") or entry.get("serverUrl") or entry.get("httpUrl")
    if not (url or entry.get("command")):
        raise ConfigError(f"{where} has neither a command nor a url")
    target = _expanded(str(url), file) if url else _command(entry, file)
    if entry.get("type") == "sse" and not target.endswith("/sse"):
        raise ConfigError(f"{where} speaks SSE at {target}; only addresses that end in /sse are taken for SSE")
    return {
        "name": re.sub(r"[^\w-]+", "_", name),
        "target": target,
        "headers": _references(entry, "headers", file),
        "env": _of_file(name, entry, file) | _references(entry, "env", file),
    }


def _command(entry: Mapping[str, Any], file: _File) -> str:
    arguments = entry.get("args") or []
    if not isinstance(arguments, list):
        raise ConfigError(f"{file.where} has args that are not a list")
    command, *rest = [_expanded(str(word), file) for word in (entry["command"], *arguments)]
    words = [*(_split(command, file.where) if not rest else [command]), *rest]
    if folder := entry.get("cwd"):
        inside = f"cd {shlex.quote(_expanded(str(folder), file))} && exec {shlex.join(words)}"
        return shlex.join(["sh", "-c", inside])
    return shlex.join(words)


def _split(command: str, where: str) -> list[str]:
    """The words of a command line that somebody has written into `command`."""
    if " " not in command or shutil.which(command) or Path(command).exists():
        return [command]
    try:
        return shlex.split(command)
    except ValueError as error:
        raise ConfigError(f"{where} has a command that cannot be read ({error}); put its words into args") from None


def _of_file(server: str, entry: Mapping[str, Any], file: _File) -> dict[str, str]:
    """References to the variables of an entry's `envFile`, by their names."""
    if "envFile" not in entry:
        return {}
    from dotenv import dotenv_values

    path = Path(_expanded(str(entry["envFile"]), file))
    try:
        with path.open(encoding="utf-8") as lines:
            values = {name: value for name, value in dotenv_values(stream=lines).items() if value is not None}
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file.where} has an envFile that cannot be read: {path}: {error}") from None
    return {name: _kept(f"{server}_{name}", value) for name, value in values.items()}


def _kept(name: str, value: str) -> str:
    """A reference to a secret value, which is in this process's environment from now on."""
    variable = "MCPRL_" + re.sub(r"\W+", "_", name).upper()
    os.environ[variable] = value
    learn_values([value])
    return f"${{{variable}}}"


def _typed_in(name: str, file: _File) -> str:
    """A reference to the value of an input. A person is asked for it, unless a variable of the environment has it."""
    variable = "MCPRL_" + re.sub(r"\W+", "_", name).upper()
    about = file.inputs.get(name)
    if variable in os.environ:
        return _kept(name, os.environ[variable])
    if about is None:
        raise ConfigError(f"{file.where} asks for ${{input:{name}}}, which is not among the inputs of the file")
    if file.ask is None:
        raise ConfigError(f"{file.where} asks for ${{input:{name}}}; set ${variable}, or run this on a terminal")
    question = str(about.get("description") or name)
    if options := [str(each) for each in about.get("options") or ()]:
        question += f" ({', '.join(options)})"
    return _kept(name, file.ask(question, bool(about.get("password")), str(about.get("default") or "")))


def _expanded(text: str, file: _File) -> str:
    """The text with the values of its variables. Those that are secrets are hidden from now on."""

    def value(name: str, default: str | None) -> str:
        found = os.environ.get(name, default)
        if found is None:
            raise ConfigError(f"{file.where} wants ${name}, which is not set in the environment")
        learn_variable(name, found)
        return found

    return _replaced(text, file, value, lambda name: os.environ[_typed_in(name, file)[2:-1]], dollar="$")


def _references(entry: Mapping[str, Any], key: str, file: _File) -> dict[str, str]:
    """The entry's headers or variables, in mcprl's spelling: `${NAME}` for a variable, `$$` for a dollar sign."""

    def reference(name: str, default: str | None) -> str:
        return f"${{{name}}}" if name in os.environ or default is None else default.replace("$", "$$")

    given = entry.get(key) or {}
    if not isinstance(given, dict):
        raise ConfigError(f"{file.where} has {key} that are not an object")
    texts = {str(name): "" if value is None else str(value) for name, value in given.items()}
    return {
        name: _replaced(text, file, reference, lambda typed: _typed_in(typed, file), dollar="$$")
        for name, text in texts.items()
    }


def _replaced(
    text: str,
    file: _File,
    variable: Callable[[str, str | None], str],
    typed_in: Callable[[str], str],
    dollar: str,
) -> str:
    """The text with each variable as `variable` gives it by its name and its default, and each input by its id."""

    def replaced(match: re.Match[str]) -> str:
        name, default, other = match.groups()
        folders = {
            "userHome": Path.home(),
            "workspaceFolder": file.workspace,
            "workspaceFolderBasename": file.workspace.name,
            "pathSeparator": os.sep,
        }
        if name in folders:
            return str(folders[name])
        if name:
            return variable(name, default)
        if other is not None and other.startswith("input:"):
            return typed_in(other.removeprefix("input:"))
        if other is not None:
            raise ConfigError(f"{file.where} asks for {match[0]}; put ${{env:NAME}} there in a copy of the file")
        return dollar

    return _VARIABLE.sub(replaced, text)
