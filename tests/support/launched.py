"""Server processes that begin at once: forked from one that has imported the MCP SDK, which takes a processor seconds.

They stand in for those that `process.child` starts, and are processes like these: with pipes, a session, a folder and
an environment of their own. Only Python programs begin so: `python FILE`, `python -m MODULE`, and scripts that pip
installed beside this interpreter. All others are started as ever.
"""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from anyio import to_thread
from anyio.abc import Process, UNIXSocketStream

from mcprl.servers import process

PLACE = "MCPRL_TESTS_LAUNCHER"
"""The variable that tells the launcher's socket to forked programs."""
_POLL_S = 0.01
_BIN = Path(sys.executable).parent
_LAUNCHER = Path(__file__).with_name("launcher.py")


@contextmanager
def launcher() -> Generator[Path]:
    """The socket of a launcher, which runs meanwhile."""
    with TemporaryDirectory(prefix="mcprl-launcher-") as folder, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place := Path(folder, "socket")))
        listener.listen(128)  # from now on who asks waits
        with subprocess.Popen(
            [sys.executable, _LAUNCHER, str(listener.fileno())],
            stdin=subprocess.PIPE,
            pass_fds=[listener.fileno()],
            env={key: value for key, value in os.environ.items() if not key.startswith("PYTHON")},
        ):
            yield place  # leaving closes its input


start = process._open
"""How servers are started where no launcher begins them."""


def launch_servers(place: Path) -> None:
    """From now on have the launcher begin this process's servers."""

    async def begin(command: process.Command, **pipes: Any) -> Process:
        if pipes or not is_launched(command.words, command.env):
            return await start(command, **pipes)
        with anyio.CancelScope(shield=True):
            return await launch(place, command)
        raise AssertionError("nothing cancels the scope")

    process._open = begin


def is_launched(words: Sequence[str], env: Mapping[str, str]) -> bool:
    """Whether the launcher can begin the command: a Python program whose interpreter is set up as the launcher's."""
    if any(key.startswith("PYTHON") and key not in {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE"} for key in env):
        return False
    program, *rest = words
    if Path(program).parent != _BIN:
        return False
    if Path(program).name.startswith("python"):
        return len(rest) > (rest[:1] == ["-m"]) and (rest[0] == "-m" or not rest[0].startswith("-"))
    with open(program, "rb") as file:
        return file.readline().startswith(f"#!{_BIN}/python".encode())


async def launch(place: Path, command: process.Command) -> Process:
    """The command, begun by the launcher."""
    asked = socket.socket(socket.AF_UNIX)
    pairs = [socket.socketpair() for _ in range(3)]
    pid = await to_thread.run_sync(_ask, asked, place, command, [theirs for _, theirs in pairs])
    return Launched(pid, asked, [await UNIXSocketStream.from_socket(ours) for ours, _ in pairs])


def _ask(asked: socket.socket, place: Path, command: process.Command, streams: Sequence[socket.socket]) -> int:
    """Its process id."""
    asked.connect(str(place))
    request = json.dumps([command.words, command.env, command.scratch or os.getcwd()]).encode()
    socket.send_fds(asked, [len(request).to_bytes(4)], [each.fileno() for each in streams])
    asked.sendall(request)
    for each in streams:
        each.close()
    if not (pid := asked.recv(4)):
        raise OSError(f"{command.words[0]} was not started")
    asked.setblocking(False)
    return int.from_bytes(pid)


class Launched(Process):
    """A forked process, whose pipes are sockets."""

    def __init__(self, pid: int, asked: socket.socket, streams: Sequence[UNIXSocketStream]) -> None:
        self._pid, self._asked, self._status = pid, asked, None
        self._stdin, self._stdout, self._stderr = streams

    @property
    def pid(self) -> int:
        return self._pid

    @property
    def stdin(self) -> UNIXSocketStream:
        return self._stdin

    @property
    def stdout(self) -> UNIXSocketStream:
        return self._stdout

    @property
    def stderr(self) -> UNIXSocketStream:
        return self._stderr

    @property
    def returncode(self) -> int | None:
        with suppress(BlockingIOError):
            if self._status is None:
                self._status = int.from_bytes(self._asked.recv(4), signed=True)
        return self._status

    async def wait(self) -> int:
        while (status := self.returncode) is None:  # noqa: ASYNC110
            await anyio.sleep(_POLL_S)
        return status

    def send_signal(self, signal: signal.Signals) -> None:
        os.kill(self._pid, signal)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    async def aclose(self) -> None:
        for stream in (self._stdin, self._stdout, self._stderr):
            await stream.aclose()
        try:
            await self.wait()
        finally:
            self._asked.close()
