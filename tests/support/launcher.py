"""Forks Python programs from a process that has imported the MCP SDK (`support.launched`).

python launcher.py LISTENER    # forks what it is asked for on this file descriptor, until its input closes
"""

import gc
import json
import os
import runpy
import selectors
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path


def _forked_program(listener: socket.socket) -> Sequence[str]:
    """Forks until the input closes. Returns in each forked process with the words of its command."""
    running: dict[int, socket.socket] = {}
    woken, waker = socket.socketpair()
    waker.setblocking(False)
    signal.set_wakeup_fd(waker.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C of the tests
    with listener, selectors.DefaultSelector() as selector:
        for each in (0, listener, woken):
            selector.register(each, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj == 0:
                    os._exit(0)
                elif key.fileobj is woken:
                    woken.recv(4_096)
                    _tell_ends(running)
                else:
                    asked, _ = listener.accept()
                    words, env, cwd, streams = _read(asked)
                    if pid := os.fork():
                        running[pid] = asked
                        for each in streams:
                            os.close(each)
                        continue
                    os.setsid()
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    signal.signal(signal.SIGINT, signal.default_int_handler)
                    os.chdir(cwd)
                    for number, each in enumerate(streams):
                        os.dup2(each, number)
                        os.close(each)
                    os.environ.clear()
                    os.environ.update(env)
                    asked.sendall(os.getpid().to_bytes(4))
                    for each in (asked, woken, waker, *running.values()):
                        each.close()
                    return words


def _read(asked: socket.socket) -> tuple[list[str], dict[str, str], str, list[int]]:
    length, streams, _, _ = socket.recv_fds(asked, 4, 3)
    request = b""
    while len(request) < int.from_bytes(length):
        request += asked.recv(65_536)
    return *json.loads(request), streams


def _tell_ends(running: dict[int, socket.socket]) -> None:
    """Each process that has ended: its status to who asked for it, if that one still listens."""
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        with running.pop(pid) as asked, suppress(OSError):
            asked.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, signed=True))


def _run(words: Sequence[str]) -> None:
    """What the command does, as `__main__`."""
    # Python's own were made for the launcher's.
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
    program, *rest = words
    first = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    if Path(program).name.startswith("python") and rest[0] == "-m":
        sys.path[:1] = [os.getcwd(), *first]
        sys.argv = rest[1:]
        runpy.run_module(rest[1], run_name="__main__", alter_sys=True)
        return
    sys.argv = rest if Path(program).name.startswith("python") else list(words)
    sys.path[:1] = [str(Path(sys.argv[0]).resolve().parent), *first]
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    for module in ("mcp.server.mcpserver", "mcp.server.stdio", "starlette.applications", "uvicorn"):
        import_module(module)
    gc.freeze()
    _run(_forked_program(socket.socket(fileno=int(sys.argv[1]))))
