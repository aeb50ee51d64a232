"""The values on a server's own command line and in its environment: the folder it serves, the file it opens.

Secrets are left out: values of options and variables whose names say so, `$NAME` references, and URLs with users.
"""

import re
import shlex
from pathlib import Path

from mcprl.config import SCRATCH, ServerConfig
from mcprl.secrets import hide, plain_variables, secrets_in
from mcprl.servers.transports import is_url
from mcprl.types import Scalar

_RUNNER = re.compile(r"(?:python[\d.]*|node|npx|uvx?|deno|bun|env|docker|sh|bash)(?:\.exe)?")
_SCRIPT = re.compile(r".*\.(?:py|js|mjs|cjs|ts|sh)")


def command_values(config: ServerConfig) -> dict[str, list[Scalar]]:
    """The values of a stdio server's command line by the names of their options; words without one are `argument`.

    An existing file or folder is given as an absolute path, as the server gets it. Empty for a URL, and for a command
    that cannot be read.
    """
    if is_url(config.target):
        return {}
    try:
        words = shlex.split(config.target)
    except ValueError:
        return {}
    words = _shell_words(words) or words
    hidden = {*secrets_in(config.target)}
    values: dict[str, list[Scalar]] = {}
    name = ""
    for position, word in enumerate(words):
        option, equals, told = word.partition("=")
        if option.startswith("-") and len(option.lstrip("-")) > 0 and not re.fullmatch(r"-[\d.]+", word):
            name = option.lstrip("-")
            if not equals:
                continue
        else:
            told = word
        module = name == "m" and position == 2
        if not module and (name or not _starts(words, position)):
            _keep(values, name or "argument", told, hidden)
        name = ""
    return values


def _shell_words(words: list[str]) -> list[str]:
    """The last command of a script of a shell: `sh -c 'cp a b && exec server b'`; empty for other commands."""
    if len(words) < 3 or Path(words[0]).name not in ("sh", "bash", "dash", "zsh") or words[1] != "-c":
        return []
    try:
        told = shlex.split(re.split(r"&&|\|\||;|\n", words[2].strip().rstrip(";"))[-1])
    except ValueError:
        return []
    assigned = [word for word in told if re.match(r"\w+=", word)]
    rest = [word for word in told if word != "exec" and word not in assigned]
    return [*rest, *(f"--{name.lower()}={value}" for name, _, value in (word.partition("=") for word in assigned))]


def environment_values(config: ServerConfig) -> dict[str, list[Scalar]]:
    """The values of a server's configured variables by their names."""
    values: dict[str, list[Scalar]] = {}
    for name, value in plain_variables(config.env).items():
        _keep(values, name.lower(), value, set())
    return values


def _starts(words: list[str], position: int) -> bool:
    """Whether a word belongs to what starts the server: the program, a runner, its script or package."""
    before = [Path(word).name for word in words[:position]]
    return (
        position == 0
        or bool(_SCRIPT.fullmatch(words[position]))
        or (
            all(_RUNNER.fullmatch(word) or word.startswith("-") for word in before)
            and not words[position].startswith("/")
        )
    )


def _keep(values: dict[str, list[Scalar]], name: str, value: str, hidden: set[str]) -> None:
    if not value or "$" in value or value in hidden or hide(value) != value or re.search(r"://[^/]*@", value):
        return
    value = SCRATCH.sub("/scratch", value)
    path = Path(value).expanduser()
    if "://" not in value and path.exists():
        value = str(path.absolute())
    number = re.fullmatch(r"\d{1,9}", value)
    values.setdefault(name.replace("-", "_"), []).append(int(value) if number else value)
