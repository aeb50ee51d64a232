"""Processes of their own that begin to work at once: forked from a server that has imported torch and all of mcprl.

An import of these takes seconds of a processor. One server is shared by all tests of a worker.
"""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Self

import pytest

from support.launched import PLACE, launch_servers
from support.paths import ROOT, TESTS

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["support.killable", "mcprl.runs.curve", "mcprl.cli.commands"])


def ensure_server() -> None:
    """Start the server. It must find the tests, and compute as one thread does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(TESTS)]))
        patch.setenv("OMP_NUM_THREADS", "1")
        forkserver.ensure_running()


def command_line(*arguments: object) -> None:
    """What the program `mcprl ARGUMENTS` does, given to `Forked`."""
    from mcprl.cli.commands import main

    main([str(each) for each in arguments])


def fork(cwd: Path, streams: Mapping[int, int], work: Callable[..., None], *arguments: object) -> ForkServerProcess:
    """Begin `work(*arguments)` in a process of its own in that folder.

    `streams`: of its file descriptors 0, 1 and 2, which of this process's they are. It hears Ctrl-C, which tests in a
    shell's background ignore.
    """
    ensure_server()
    passed = {number: Connection(os.dup(stream)) for number, stream in streams.items()}  # multiprocessing knows how
    process = CONTEXT.Process(target=_work, args=(cwd, dict(os.environ), passed, work, arguments))
    process.start()
    for stream in passed.values():
        stream.close()
    return process


class Forked:
    """`work(*arguments)` in a process of its own in that folder, whose `stdout` and `stderr` are read as they come.

    It does not outlive the `with` block.
    """

    def __init__(self, cwd: Path, work: Callable[..., None], *arguments: object) -> None:
        (out, its_out), (err, its_err) = os.pipe(), os.pipe()
        self.process = fork(cwd, {1: its_out, 2: its_err}, work, *arguments)
        os.close(its_out)
        os.close(its_err)
        self.stdout, self.stderr = os.fdopen(out), os.fdopen(err)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.join()
        self.stdout.close()
        self.stderr.close()

    def interrupt(self) -> None:
        """What Ctrl-C does: nothing, if it has ended."""
        assert self.process.pid
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGINT)

    def ends(self, within_s: float = 120) -> int:
        """Its exit code."""
        return ends(self.process, within_s)


def ends(process: ForkServerProcess, within_s: float) -> int:
    """The exit code of a process, once it has ended."""
    process.join(within_s)
    assert process.exitcode is not None, f"it did not end within {within_s} s"
    return process.exitcode


def _work(
    cwd: Path,
    environment: Mapping[str, str],
    streams: Mapping[int, Connection],
    work: Callable[..., None],
    arguments: Sequence[object],
) -> None:
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for number, stream in streams.items():
        os.dup2(stream.fileno(), number)
        stream.close()
    # Python's own were made for the server's.
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if place := os.environ.get(PLACE):
        launch_servers(Path(place))
    work(*arguments)
