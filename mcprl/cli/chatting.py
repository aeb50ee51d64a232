"""The screen of `mcprl chat RUN`: questions in, calls and answers out."""

import json
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mcprl.cli.approving import forget_typed, typed_line
from mcprl.cli.extras import with_torch
from mcprl.cli.progress import Progress, without_status
from mcprl.errors import ConfigError, EngineError, ServerError
from mcprl.text import counted, shortened, visible

if TYPE_CHECKING:
    from mcprl.cli.talk import Talk
    from mcprl.config import Config
    from mcprl.types import Tool, ToolResult

_MOST_SHOWN = 300
"""Characters of a result on the screen."""
_HELP = "Ask; /new forgets what was said, an empty line ends."


class Screen:
    """Shows calls on standard error, and asks there before one that may write."""

    def __init__(self, yes: bool) -> None:
        self._yes = yes

    async def allow(self, tool: "Tool", arguments: Mapping[str, Any]) -> bool:
        if self._yes:
            return True
        call = _call(tool.name, arguments)
        if not _on_a_terminal():
            click.echo(f"  not called, since it may write and nobody can be asked (--yes allows it): {call}", err=True)
            return False
        with without_status():
            forget_typed()
            click.echo(f"  may {call} be called? It may write. [y/N] ", err=True, nl=False)
            return (await typed_line()).strip().lower() in ("y", "yes")

    def show(self, tool: str, arguments: Mapping[str, Any], result: "ToolResult") -> None:
        text = visible(shortened(" ".join(result.text.split()), _MOST_SHOWN))
        click.echo(f"  {_call(tool, arguments)}\n    {text}", err=True)


def _call(tool: str, arguments: Mapping[str, Any]) -> str:
    named = (f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
    return visible(f"{tool}({', '.join(named)})")


async def chat(run: Path, given: "Config", question: str | None, compare: bool, yes: bool) -> None:
    """Ask one question, or those that are typed until there are none. Raises `EngineError` if one question alone gets
    no answer, and `ConfigError` if there is none and nobody to type one."""
    if question is None and not _on_a_terminal():
        raise ConfigError('there is no terminal to type questions on; give one with --once "question"')
    screen = Screen(yes)
    async with AsyncExitStack() as stack:
        with Progress("loading the model and connecting", Console(stderr=True, highlight=False)) as emit:
            opened = with_torch("mcprl.cli.talk").open_talk(run, given, screen.allow, screen.show, compare, emit)
            try:
                talk = await stack.enter_async_context(opened)
            except ServerError as error:
                hint = "" if given.servers else "; --server says where the server is now"
                raise ServerError(f"{error}{hint}") from error
        if question is None:
            await _converse(talk)
        else:
            await _once(talk, question)


async def _converse(talk: "Talk") -> None:
    click.echo(f"{' and '.join(talk.adapters)}, with {counted(len(talk.server.tools), 'tool')}. {_HELP}", err=True)
    while asked := await _question():
        if asked == "/new":
            await talk.forget()
            continue
        try:
            await _answer(talk, asked)
        except (EngineError, ServerError) as error:
            click.echo(f"  {visible(str(error))}; what was said is forgotten", err=True)
            await talk.forget()


async def _answer(talk: "Talk", asked: str) -> None:
    answers: dict[str, str] = {}
    for speaker in talk.adapters:
        click.echo(f"{speaker}:", err=True)
        text, stop = await talk.ask(speaker, asked)
        hint = "; /new makes room" if stop == "max_tokens" else ""
        answers[speaker] = _lines(text) if stop == "answered" else f"  (no answer: {stop}{hint})"
    if len(answers) == 1:
        click.echo(next(iter(answers.values())))
    else:
        Console(highlight=False).print(_side_by_side(answers))


def _side_by_side(answers: Mapping[str, str]) -> Table:
    """A column for each speaker."""
    table = Table(expand=True)
    for speaker in answers:
        table.add_column(speaker, ratio=1, overflow="fold")
    table.add_row(*map(Text, answers.values()))
    return table


async def _once(talk: "Talk", question: str) -> None:
    for speaker in talk.adapters:
        text, stop = await talk.ask(speaker, question)
        several = len(talk.adapters) > 1
        if stop != "answered" and not several:
            raise EngineError(f"the model did not answer: {stop}")
        click.echo((f"{speaker}: " if several else "") + (_lines(text) if stop == "answered" else f"({stop})"))


async def _question() -> str:
    click.echo("> ", err=True, nl=False)
    return (await typed_line()).strip()


def _on_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _lines(text: str) -> str:
    return "\n".join(visible(line) for line in text.splitlines())
