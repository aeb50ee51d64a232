"""Whether anything listens where a server is said to be: asked before what takes seconds to load is loaded, the MCP SDK
included."""

import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from mcprl.errors import ServerError
from mcprl.secrets import scrub

if TYPE_CHECKING:
    from mcprl.config import ServerConfig

_PORTS = {"http": 80, "https": 443}
_ASK_S = 1.0


def require_listening(servers: "Sequence[ServerConfig]") -> None:
    """Raise `ServerError` for the first URL whose port refuses a connection or whose host has no address. One that
    gives no answer within a second, or is behind a proxy, is left to the connection itself."""
    for server in servers:
        parts = urlsplit(server.target)
        host = parts.hostname or ""
        if parts.scheme not in _PORTS:
            continue
        if getproxies().get(parts.scheme) and not proxy_bypass(host):
            continue
        try:
            with suppress(TimeoutError, UnicodeError):
                socket.create_connection((host, parts.port or _PORTS[parts.scheme]), _ASK_S).close()
        except OSError as error:
            cause = error.strerror or str(error)
            raise ServerError(
                f"{scrub(server.target)}: cannot connect ({cause}); is the server running there?"
            ) from None
