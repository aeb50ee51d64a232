"""A command as a child process that speaks lines on its pipes: a stdio MCP server without the MCP.

Not the SDK's, because a process is replaced after every rollout that wrote: it must stop fast, with all its children,
and nothing it prints may cost unbounded memory (a line over the limit is dropped while it is read).
"""

import os
import shlex
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, STDOUT
from typing import IO, Any

import anyio
from anyio.abc import ByteReceiveStream, Process

from mcprl.config import SCRATCH
from mcprl.errors import ServerError
from mcprl.secrets import scrub

_POLL_S = 0.01
_LEAVE_S = 1.0
"""Seconds that a process has to end after its input is closed."""
_TERM_S = 1.5
"""Seconds that a process group has to end after SIGTERM."""


@dataclass(frozen=True)
class Command:
    """A command ready to start. `scratch` is the folder to start it in, empty for the current one."""

    words: list[str]
    env: dict[str, str]
    scratch: str


@contextmanager
def prepare(target: str, env: Mapping[str, str], inherited: Mapping[str, str]) -> Generator[Command]:
    """The command of a command line and its variables: the program is looked up, and each `{scratch}` becomes a fresh
    folder, which is removed at the end; it is a copy of DIR if one says `{scratch:DIR}`.

    Raises `ServerError` if the line cannot be read or names no program, or DIR cannot be copied.
    """
    try:
        words = shlex.split(target)
    except ValueError as error:
        raise ServerError(f"cannot read the command {scrub(target)!r}: {error}") from None
    with _scratch_folder(
        [template for text in (*words, *env.values()) for template in SCRATCH.findall(text)]
    ) as scratch:
        words = [SCRATCH.sub(lambda _: scratch, word) for word in words]
        env = {**inherited, **{key: SCRATCH.sub(lambda _: scratch, value) for key, value in env.items()}}
        # As in an activated environment: `python` and installed commands are those beside our own interpreter.
        env["PATH"] = os.pathsep.join(filter(None, (str(Path(sys.executable).parent), env.get("PATH"))))
        program = shutil.which(words[0], path=env["PATH"]) if words else None
        if program is None:
            name = scrub(words[0] if words else target)
            raise ServerError(f"{name!r}: no such command; check the spelling (a URL starts with http:// or https://)")
        words[0] = program
        yield Command(absolute(words) if scratch else words, env, scratch)


@contextmanager
def _scratch_folder(templates: Sequence[str]) -> Generator[str]:
    """A fresh folder, removed at the end: a copy of the template that is not empty, if one is. Without templates it is
    the empty string.
    """
    folder = os.path.realpath(tempfile.mkdtemp(prefix="mcprl-")) if templates else ""
    try:
        for template in {*templates} - {""}:
            _copy(template, folder)
        yield folder
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def _copy(template: str, folder: str) -> None:
    try:
        shutil.copytree(Path(template).expanduser(), folder, symlinks=True, dirs_exist_ok=True)
    except (OSError, shutil.Error) as error:
        cause = error.strerror if isinstance(error, OSError) and error.strerror else "it holds what cannot be copied"
        raise ServerError(f"cannot copy {template!r} for {{scratch:{template}}}: {cause}") from None


def absolute(words: Sequence[str]) -> list[str]:
    """The words with the paths that exist made absolute: in a scratch folder a relative one would mean something else.
    What follows `-m` is a module."""
    return [
        str(Path(word).absolute()) if before != "-m" and Path(word).exists() else word
        for before, word in zip(["", *words], words, strict=False)
    ]


@asynccontextmanager
async def child(command: Command) -> AsyncGenerator[Process]:
    """The running command, in a process group of its own. The group is stopped at the end, cancelled or not, and so are
    the children that have left it (`setsid`), except those that have no parent any longer (daemons).

    Raises `OSError` if it cannot be started.
    """
    process = await _open(command)
    try:
        yield process
    finally:
        with anyio.CancelScope(shield=True):
            await _stop(process)


async def run(command: Command, output: IO[bytes], within_s: float) -> int | None:
    """Run a command to its end, with what it prints in `output`. Returns its exit status.

    One that takes longer than `within_s` seconds is stopped with all its children: `None`. What one that has ended left
    running, as a server that it started, goes on. Raises `OSError` if it cannot be started.
    """
    process = await _open(command, stdin=DEVNULL, stdout=output, stderr=STDOUT)
    status = None
    try:
        status = await exit_status(process, within_s)
    finally:
        if status is None:
            with anyio.CancelScope(shield=True):
                await _stop(process)
    return status


async def _open(command: Command, **pipes: Any) -> Process:
    """Shielded from cancellation, in which asyncio would leave a running process behind."""
    with anyio.CancelScope(shield=True):
        return await anyio.open_process(
            command.words, env=command.env, cwd=command.scratch or None, start_new_session=True, **pipes
        )
    raise OSError(f"{command.words[0]} was not started")  # for the type checker: nothing cancels the scope


async def read_lines(stream: ByteReceiveStream, limit: int) -> AsyncIterator[bytes | None]:
    """Each line without its end. A line longer than `limit` bytes is never held in memory and comes as `None`."""
    line = bytearray()
    over = False
    async for chunk in stream:
        for number, part in enumerate(chunk.split(b"\n")):
            if number:
                yield None if over else bytes(line)
                line.clear()
                over = False
            over = over or len(line) + len(part) > limit
            if over:
                line.clear()
            else:
                line += part


async def exit_status(process: Process, within_s: float) -> int | None:
    """The exit status, `None` if the process still runs after `within_s` seconds.

    Polled, since asyncio's own wait also waits for the end of the pipes, which a grandchild may hold open.
    """
    with anyio.move_on_after(within_s):
        while process.returncode is None:  # noqa: ASYNC110
            await anyio.sleep(_POLL_S)
    return process.returncode


async def _stop(process: Process) -> None:
    """Close the input, give the process a second to end, then end what is left of its group and its children's."""
    astray = _groups_below(process.pid)
    if process.stdin is not None:
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await process.stdin.aclose()
    await exit_status(process, _LEAVE_S)
    for group in (process.pid, *astray):
        if _signal_group(group, signal.SIGTERM):
            with anyio.move_on_after(_TERM_S):
                while _signal_group(group, 0):
                    _ = process.returncode
                    await anyio.sleep(_POLL_S)
            _signal_group(group, signal.SIGKILL)
    with anyio.move_on_after(_TERM_S):
        await process.aclose()


def _groups_below(parent: int) -> set[int]:
    """The process groups that descendants of a process lead. Empty where there is no /proc."""
    below, found = [parent], set[int]()
    while below:
        pid = below.pop()
        with suppress(OSError, ValueError):
            listed = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children")]
            below += [int(child) for text in listed for child in text.split()]
            found |= {pid} if os.getpgid(pid) == pid != parent else set()
    return found


def _signal_group(group: int, number: int) -> bool:
    """Send a signal to the group; false if it has no member that can get it.

    The group keeps its leader's id, even after the leader has ended.
    """
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
