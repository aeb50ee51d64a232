"""`--approve`: the question before the first call of a tool, on the terminal."""

import os
import sys
from typing import TYPE_CHECKING

import anyio
import click

from mcprl.cli.consent import Answers, Undecided
from mcprl.cli.progress import without_status
from mcprl.text import visible

if TYPE_CHECKING:
    from mcprl.servers.permission import ToolStatus

_QUESTION = "It is called with invented arguments. [y]es, in this command; [n]o; [a]lways:"


class Terminal:
    """Asks on the terminal of this process; implements `servers.approval.Approver`."""

    @property
    def asks(self) -> bool:
        return sys.stdin.isatty() and sys.stderr.isatty()

    def always(self, server: str, status: "ToolStatus") -> bool:
        return status.tool is not None and Answers().approves(Undecided(server, status.name, status.tool))

    async def ask(self, server: str, status: "ToolStatus") -> bool:
        told = visible(status.tool.description.strip())[:200] if status.tool else ""
        with without_status():
            forget_typed()
            click.echo(f"\nMay {visible(status.name)} be called ({status.marked})? {told}", err=True)
            click.echo(f"{_QUESTION} ", err=True, nl=False)
            answer = (await typed_line()).strip().lower()
        if answer in ("a", "always") and status.tool:
            memory = Answers()
            memory.approve(Undecided(server, status.name, status.tool))
            click.echo(f"remembered in {memory.path}; mcprl inspect --server ... --forget asks again", err=True)
        return answer in ("y", "yes", "a", "always")


def forget_typed() -> None:
    """Forget what was typed before a question was asked: it is no answer to it."""
    import termios  # not on Windows

    termios.tcflush(sys.stdin, termios.TCIFLUSH)


async def typed_line() -> str:
    """The next line that is typed; empty at the end of the input. Other tasks go on meanwhile."""
    typed = b""
    while not typed.endswith(b"\n"):
        await anyio.wait_readable(sys.stdin)
        if not (more := os.read(sys.stdin.fileno(), 4_096)):
            break
        typed += more
    return typed.decode(errors="replace")
