"""Serving a run's pages on this machine's loopback address, until Ctrl-C."""

import secrets
import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn

from mcprl.errors import ConfigError
from mcprl.runs.journal import Journal
from mcprl.viewing.app import application


async def serve(run: Path, port: int, ready: Callable[[str], None]) -> None:
    """Serve the run in that folder; `port` 0 takes a free one. `ready` is called with the address, which holds a key.

    Raises `JournalError` if there is no run, `ConfigError` if the port is taken.
    """
    with Journal.open(run) as journal:
        try:
            listening = socket.create_server(("127.0.0.1", port))
        except OSError as error:
            raise ConfigError(f"port {port} cannot be used ({error.strerror}); choose another with --port") from None
        with listening:
            key = secrets.token_urlsafe(16)
            ready(f"http://127.0.0.1:{listening.getsockname()[1]}/{key}/")
            await server(journal, key).serve(sockets=[listening])


def server(journal: Journal, key: str) -> uvicorn.Server:
    """The server of a run's pages, which ends when its `should_exit` is set."""
    app = application(journal, key, is_ending=lambda: made.should_exit)
    settings = uvicorn.Config(
        app, log_level="warning", access_log=False, lifespan="off", ws="none", timeout_graceful_shutdown=5
    )
    made = uvicorn.Server(settings)
    return made
