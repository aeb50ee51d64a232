"""MCP servers over HTTP on this machine, each a process of its own."""

import socket
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, contextmanager

from support.paths import SERVERS, SHOP_SCRIPT


@contextmanager
def http(command: Sequence[object], port: int | None = None, path: str = "mcp") -> Generator[str]:
    """The address of a running HTTP server; the odd one prints its port, others are waited for."""
    with subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            assert process.stdout is not None
            port = port or int(process.stdout.readline())
            until = time.monotonic() + 30
            while not accepts(port) and time.monotonic() < until:
                assert process.poll() is None, "the server did not start"
            yield f"http://127.0.0.1:{port}/{path}"
        finally:
            process.kill()


def shop_over_http() -> AbstractContextManager[str]:
    """The address of the example shop."""
    port = free_port()
    return http([sys.executable, SHOP_SCRIPT, "--http", port], port)


def odd_http(fault: str) -> AbstractContextManager[str]:
    """The address of a server with a fault."""
    return http([sys.executable, SERVERS / "odd_http.py", fault])


def accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
