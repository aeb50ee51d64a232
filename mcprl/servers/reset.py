"""Turns on a server whose state all sessions share, and what brings it back into its first state.

Rollouts that only read may run together. One that writes runs alone, after a reset. One that turns out to write beside
others is stopped before it does, and begins again as one that writes. So no rollout sees what another wrote, although
the server does not keep its sessions apart.
"""

import json
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from tempfile import TemporaryFile
from typing import Any

import anyio

from mcprl.errors import NotAlone, ServerError
from mcprl.secrets import hide, scrub
from mcprl.servers.process import prepare, run
from mcprl.servers.protocol import one_line
from mcprl.types import Call


class Turns:
    """Readers together, a writer alone. `reset` runs before each writer, and before the readers after a writer.

    Without `reset` there is nothing to wait for.
    """

    def __init__(self, reset: Callable[[], Awaitable[None]] | None) -> None:
        self._reset = reset
        self._readers = 0
        self._alone = False
        self._dirty = True  # whatever ran before, such as the generator
        self._changed = anyio.Event()

    @property
    def active(self) -> bool:
        """Whether the server is reset at all."""
        return self._reset is not None

    def begin_write(self) -> None:
        """To be called before each write: the state must be reset before anybody else reads.

        Raises `NotAlone` if others read it now.
        """
        if self._readers > 1:
            raise NotAlone("the session would write what others read")
        self._dirty = True

    @asynccontextmanager
    async def take(self, writes: bool) -> AsyncGenerator[None]:
        """A turn, after a wait of any length. Raises `ServerError` if the reset failed."""
        if self._reset is None:
            yield
            return
        await self._enter(self._reset, writes)
        try:
            yield
        finally:
            self._readers -= not writes
            self._alone = self._alone and not writes
            self._dirty = self._dirty or writes
            self._wake()

    async def _enter(self, reset: Callable[[], Awaitable[None]], writes: bool) -> None:
        while self._alone or (self._readers and (writes or self._dirty)):
            await self._changed.wait()
        if writes or self._dirty:
            self._alone = self._dirty = True  # a reset that fails half way leaves anything
            try:
                await reset()
                self._dirty = False
            except BaseException:
                self._alone = False
                self._wake()
                raise
            self._alone = writes
        self._readers += not writes
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


def reset_call(text: str) -> Call:
    """The call that `name {"argument": "value"}` spells; the arguments may be left out. Raises `ServerError`."""
    name, _, spelled = text.strip().partition(" ")
    try:
        arguments: Any = json.loads(spelled or "{}")
    except ValueError:
        arguments = None
    if not name or not isinstance(arguments, dict):
        raise ServerError(
            f'cannot read --reset-tool {scrub(text)!r}; write the tool\'s name and its arguments: name {{"a": 1}}'
        )
    return Call(name, arguments)


async def run_command(command: str, timeout_s: float) -> None:
    """Run a command line to its end. Raises `ServerError` if it fails or takes longer than `timeout_s` seconds."""
    shown = scrub(command)
    with prepare(command, {}, os.environ) as prepared, TemporaryFile() as output:
        try:
            status = await run(prepared, output, timeout_s)
        except OSError as error:
            raise ServerError(f"the reset command {shown!r} did not start: {error.strerror}") from None
        output.seek(max(0, output.seek(0, os.SEEK_END) - 20_000))
        said = hide(output.read().decode(errors="replace")).strip().splitlines() or ["no output"]
    if status is None:
        raise ServerError(f"the reset command {shown!r} took longer than {timeout_s:g} s (--timeout)")
    if status:
        raise ServerError(f"the reset command {shown!r} exited with status {status}: {one_line(said[-1])}")
