"""What a login needs: a server that asks for one, a browser that is sent back at once, and a keyring."""

import json
import sys
import urllib.request
from contextlib import AbstractContextManager

import pytest

from mcprl.servers import oauth
from support.loopback import free_port, http
from support.paths import SERVERS


def guarded(*mode: str | int) -> AbstractContextManager[str]:
    """The address of an MCP server behind an authorization server (`servers/guarded.py`)."""
    port = free_port()
    return http([sys.executable, SERVERS / "guarded.py", port, *mode], port)


def logged(url: str) -> tuple[list[str], list[str]]:
    """What was asked of the authorization server, and its live tokens."""
    with urllib.request.urlopen(url.replace("/mcp", "/log")) as reply:
        return tuple(json.load(reply))


class MemoryKeyring:
    """A keyring with the functions that are used, in memory."""

    def __init__(self) -> None:
        self.priority, self.name = 5.0, "memory Keyring"
        self.kept: dict[tuple[str, str], str] = {}

    def get_keyring(self) -> "MemoryKeyring":
        return self

    def get_password(self, service: str, name: str) -> str | None:
        return self.kept.get((service, name))

    def set_password(self, service: str, name: str, text: str) -> None:
        self.kept[service, name] = text

    def delete_password(self, service: str, name: str) -> None:
        del self.kept[service, name]


def follow_redirects(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A terminal and a browser, which follows redirects. Returns the addresses that it is sent to."""
    visited: list[str] = []

    def visit(url: str) -> bool:
        visited.append(url)
        with urllib.request.urlopen(url) as reply:
            assert b"close this page" in reply.read()
        return True

    monkeypatch.setattr(oauth, "_has_terminal", lambda: True)
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(oauth.webbrowser, "open", visit)
    return visited
