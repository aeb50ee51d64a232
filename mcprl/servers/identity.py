"""Which server a configuration means, in a text that may be kept: for what a user said of its tools."""

import hashlib
import json
import os
import shlex
import string
from collections.abc import Mapping

from mcprl.config import ServerConfig
from mcprl.secrets import scrub
from mcprl.servers.process import absolute


def identity(config: ServerConfig) -> str:
    """The target as it may be shown and, if there is more to it, a fingerprint of all that tells servers apart: what is
    not shown, the values of headers and variables, the folder of a relative path. A slow hash, since the rest of it may
    be easy to guess."""
    shown = scrub(config.target)
    whole = [_from_here(config.target), _resolved(config.headers), _resolved(config.env)]
    if whole == [shown, {}, {}]:
        return shown
    text = json.dumps(whole, sort_keys=True).encode(errors="replace")
    return f"{shown} #{hashlib.scrypt(text, salt=b'mcprl', n=2**14, r=8, p=1, dklen=8).hex()}"


def _from_here(target: str) -> str:
    """A command with its relative paths made absolute; a URL as it is."""
    try:
        words = shlex.split(target)
    except ValueError:
        return target
    found = absolute(words)
    return target if found == words else shlex.join(found)


def _resolved(values: Mapping[str, str]) -> dict[str, str]:
    """The values with the variables that are set."""
    return {name: string.Template(value).safe_substitute(os.environ) for name, value in values.items()}
