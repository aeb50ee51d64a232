"""The program on a terminal of its own, whose questions are answered when they are shown."""

import os
import pty
import select
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from support.forked import command_line, ends, fork

TIMEOUT_S = 90
"""Seconds without a sign of life, on a busy machine."""


class Terminal:
    """`mcprl ARGUMENTS` with a terminal as its input and its errors; what it prints on stdout is kept apart.

    With `both`, stdout is the terminal, too. The program does not outlive the `with` block.
    """

    def __init__(self, *arguments: str, both: bool = False) -> None:
        self._keys, terminal = pty.openpty()
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115 - closed on exit
        out = terminal if both else self._printed.fileno()
        self._process = fork(Path.cwd(), {0: terminal, 1: out, 2: terminal}, command_line, *arguments)
        os.close(terminal)
        self.shown = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.join()
        os.close(self._keys)
        self._printed.close()

    def until(self, text: str) -> str:
        """What was shown since the last call, up to `text`."""
        while text not in self.shown:
            assert self._read(), f"the program ended before it showed {text!r}: {self.shown}"
        before, _, self.shown = self.shown.partition(text)
        return before

    def type(self, line: str) -> None:
        os.write(self._keys, f"{line}\n".encode())

    def end(self) -> tuple[str, str, int]:
        """What it printed on stdout, what its terminal has shown since the last `until`, and its exit code."""
        while self._read():
            pass
        code = self.ends()
        self._printed.seek(0)
        return self._printed.read().decode(), " ".join(self.shown.split()), code

    def ends(self, within_s: float = TIMEOUT_S) -> int:
        """Its exit code."""
        return ends(self._process, within_s)

    def _read(self) -> bool:
        """Wait for more to be shown. Returns whether there was more before the program ended."""
        ready, _, _ = select.select([self._keys], [], [], TIMEOUT_S)
        assert ready, f"nothing was shown for {TIMEOUT_S} s after: {self.shown}"
        try:
            more = os.read(self._keys, 4096)
        except OSError:  # Linux's way of saying that the other end is closed
            return False
        self.shown += more.decode(errors="replace")
        return bool(more)


def answered(answers: Sequence[tuple[str, str]], *arguments: str) -> tuple[str, str, int]:
    """What `mcprl ARGUMENTS` prints, what its terminal shows, and its exit code, if each question is answered in turn.

    `answers`: (a part of the question, what is typed once it is shown).
    """
    shown = ""
    with Terminal(*arguments) as terminal:
        for question, reply in answers:
            shown += terminal.until(question) + question
            terminal.type(reply)
        printed, rest, code = terminal.end()
    return printed, " ".join((shown + rest).split()), code
