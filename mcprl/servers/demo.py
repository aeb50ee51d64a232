"""The bundled example server as a target: `demo:shop`, a process that lives as long as the connection to it.

    python -m mcprl.servers.demo [PORT]    # streamable HTTP on 127.0.0.1; prints the port; ends when its input closes

It is a name and no address, so that a run that was stopped, a report's recipe and an export's card find it again.
"""

import os
import runpy
import socket
import sys
import threading
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import anyio

from mcprl.config import ServerConfig
from mcprl.errors import ServerError
from mcprl.files import find_bundled
from mcprl.servers.process import Command, child

PREFIX = "demo:"
SHOP = f"{PREFIX}shop"
_START_S = 60.0


@asynccontextmanager
async def demonstrated(servers: Sequence[ServerConfig]) -> AsyncGenerator[list[ServerConfig]]:
    """The servers, of which each demonstration is served meanwhile and has its address.

    Raises `ServerError` if there is no such demonstration or it cannot be started.
    """
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(_served(config)) if config.target.startswith(PREFIX) else config
            for config in servers
        ]


@asynccontextmanager
async def _served(config: ServerConfig) -> AsyncGenerator[ServerConfig]:
    if config.target != SHOP:
        raise ServerError(f"{config.target!r}: there is no such demonstration; the only one is {SHOP}")
    command = Command([sys.executable, "-m", __name__, "0"], dict(os.environ), "")
    async with child(command) as process:
        assert process.stdout is not None
        line = b""
        with anyio.move_on_after(_START_S):
            try:
                while not line.endswith(b"\n"):
                    line += await process.stdout.receive()
            except (anyio.EndOfStream, anyio.ClosedResourceError):
                line = b""
        if not line.strip().isdigit():
            raise ServerError(f"{SHOP} did not start; python -m {__name__} shows why")
        yield config.model_copy(update={"target": address(int(line)), "name": config.name or "shop"})


def address(port: int) -> str:
    return f"http://127.0.0.1:{port}/mcp"


def bind(port: int) -> socket.socket:
    """A socket that listens on this port of the loopback interface (0: a free one). Raises `ServerError` if it is
    taken."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen(128)  # from now on clients wait until the server is there
    except OSError as error:
        listener.close()
        raise ServerError(f"port {port} of 127.0.0.1: {error.strerror}; --port takes another") from None
    return listener


def serve(listener: socket.socket) -> None:
    """Serve the shop on the socket until the process is interrupted."""
    import uvicorn

    shop = runpy.run_path(str(find_bundled("examples/servers", "shop")))["server"]
    uvicorn.Server(uvicorn.Config(shop.streamable_http_app(), log_level="critical")).run(sockets=[listener])


def _end_with_owner() -> None:
    while os.read(0, 4_096):
        pass
    os._exit(0)


if __name__ == "__main__":
    listening = bind(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    threading.Thread(target=_end_with_owner, daemon=True).start()
    print(listening.getsockname()[1], flush=True)  # noqa: T201 - its owner reads it
    serve(listening)
