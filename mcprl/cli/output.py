"""What a command writes where: progress and result, and what --json, --quiet and -v make of them."""

import json
import re
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:  # what only shows help needs no rich
    from rich.console import Console

_KEY = "mcprl.output"
_LABEL = re.compile(r"- |(?=.{12} \S)(?:\S{12} |\S+(?: \S+)?  +)")
"""A list's dash, or the thirteen columns in which a line of progress has its name."""
VERBOSE: ContextVar[bool] = ContextVar("verbose", default=False)
"""Whether -v was given; it outlives the command, whose error is printed after it."""


@dataclass
class Chosen:
    """`as_json`: the result is one object on standard output, progress goes to standard error. `quiet`: no progress."""

    as_json: bool = False
    quiet: bool = False


def current() -> Chosen:
    """The output of the command that runs."""
    context = click.get_current_context(silent=True)
    return _of(context) if context else Chosen()


def output_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command that works for long or has a result."""

    def keep(context: click.Context, parameter: click.Parameter, given: bool) -> None:
        if given and parameter.name == "verbose":
            VERBOSE.set(True)
        elif given:
            setattr(_of(context), str(parameter.name), True)

    flags = {
        "as_json": (["--json"], "Print the result as one JSON object; progress goes to standard error."),
        "quiet": (["-q", "--quiet"], "Print the result and nothing else."),
        "verbose": (["-v", "--verbose"], "Print all metrics of each step, and the traceback of an error."),
    }
    for name, (words, text) in reversed(flags.items()):
        option = click.option(*words, name, is_flag=True, expose_value=False, callback=keep, help=text)
        function = option(function)
    return function


def _of(context: click.Context) -> Chosen:
    return context.find_root().meta.setdefault(_KEY, Chosen())


def console() -> "Console":
    """Standard output: styled on a terminal; elsewhere plain, 160 columns wide."""
    return _console(stderr=False)


def progress_console() -> "Console":
    """Where progress goes: standard output, with --json standard error, with --quiet nowhere."""
    output = current()
    screen = _console(stderr=output.as_json)
    screen.quiet = output.quiet
    return screen


def _console(stderr: bool) -> "Console":
    from rich.console import Console

    screen = Console(highlight=False, soft_wrap=False, stderr=stderr)
    return screen if screen.is_terminal else Console(highlight=False, width=160, stderr=stderr)


def wrapped(text: str, screen: "Console") -> str:
    """The text for a terminal: a line too long for it goes on below what follows its label or its dash. Where there is
    no terminal, lines stay whole."""
    if not screen.is_terminal:
        return text
    return "\n".join(_wrapped(line, screen.width) for line in text.splitlines())


def _wrapped(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    label = _LABEL.match(line)
    indent = " " * label.end() if label else ""
    return fill(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def present(show: Callable[["Console"], None], tree: Callable[[], Any]) -> None:
    """The result of a command: shown as tables, or with --json as one object."""
    if current().as_json:
        click.echo(json.dumps(tree(), ensure_ascii=False))
    else:
        show(console())
