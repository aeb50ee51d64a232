"""A proxy on loopback that cuts connections in the middle of an answer."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

AT_ONCE = b""
"""In place of a mark: the connection is cut as soon as it is made."""


@dataclass
class Proxy:
    """Where it listens, and the marks behind which it has still to cut a connection."""

    port: int = 0
    marks: list[bytes] = field(default_factory=list[bytes])


@asynccontextmanager
async def cutting(to: int, marks: Sequence[bytes]) -> AsyncGenerator[Proxy]:
    """Forwards to a port. The first connection whose answer holds the first mark is reset right behind it, then the
    first with the second, and so on."""
    proxy = Proxy(marks=list(marks))

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if proxy.marks and proxy.marks[0] == AT_ONCE:
            proxy.marks.pop(0)
            writer.transport.abort()
            return
        there, to_there = await asyncio.open_connection("127.0.0.1", to)
        up = asyncio.create_task(_pump(reader, to_there))
        try:
            while chunk := await there.read(2**16):
                if proxy.marks and proxy.marks[0] and (at := chunk.find(proxy.marks[0])) >= 0:
                    writer.write(chunk[: at + len(proxy.marks.pop(0))])
                    await writer.drain()
                    return
                writer.write(chunk)
                await writer.drain()
        finally:
            up.cancel()
            writer.transport.abort()
            to_there.transport.abort()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await server.wait_closed()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while chunk := await reader.read(2**16):
            writer.write(chunk)
            await writer.drain()
