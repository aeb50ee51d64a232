"""The loopback address to which a browser returns from a login (RFC 8252, section 7.3)."""

import os
import secrets
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from urllib.parse import parse_qs, urlsplit

import anyio
from anyio.abc import SocketAttribute, SocketStream

PATH = "/callback"
_MOST_BYTES, _READ_S = 2**14, 5.0
_PAGE = b"HTTP/1.1 %s\r\nContent-Type: text/plain\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n%s\n"


class Callback:
    """Waits for the browser's request. It answers only one that has the login's `state`, a random key; every other
    request is refused, whatever its route, and changes nothing."""

    def __init__(self, port: int) -> None:
        self.port, self.uri = port, f"http://127.0.0.1:{port}{PATH}"
        self._state = ""
        self._fields: dict[str, str] = {}
        self._arrived = anyio.Event()

    def expect(self, state: str) -> None:
        """Only a request with this state counts from now on."""
        self._state = state

    async def fields(self) -> dict[str, str]:
        """The fields that the browser brings: `code`, `state`, `iss`; or `error`."""
        await self._arrived.wait()
        return self._fields

    async def answer(self, stream: SocketStream) -> None:
        """Answer one connection."""
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, ValueError):
            async with stream:
                with anyio.move_on_after(_READ_S):
                    request = b""
                    while b"\r\n\r\n" not in request and len(request) < _MOST_BYTES:
                        request += await stream.receive()
                    await stream.send(_PAGE % self._reply(request.split(b"\r\n")[0].decode("latin-1")))

    def _reply(self, line: str) -> tuple[bytes, bytes]:
        method, _, address = line.partition(" ")
        parts = urlsplit(address.partition(" ")[0])
        fields = {name: values[0] for name, values in parse_qs(parts.query).items()}
        known = self._state and secrets.compare_digest(fields.get("state", "").encode(), self._state.encode())
        if method != "GET" or parts.path != PATH or not known:
            return b"404 Not Found", b"There is nothing here."
        self._fields = fields
        self._arrived.set()
        return b"200 OK", b"You may close this page and go back to mcprl."


@asynccontextmanager
async def listening(port: int = 0) -> AsyncGenerator[Callback]:
    """A callback that listens on the loopback `port`, or on any if that is 0 or taken."""
    try:
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port)
    except OSError:
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    callback = Callback(listener.extra(SocketAttribute.local_port))
    failure: Exception | None = None
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, callback.answer)
        try:
            yield callback
        except Exception as error:
            failure = error  # raised outside the task group, which would wrap it
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure


def has_screen() -> bool:
    """Whether a browser would have a window: one that runs in the terminal would take it over."""
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
