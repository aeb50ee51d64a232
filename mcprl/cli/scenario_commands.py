"""`mcprl scenarios`: generate tasks, and make packs of tasks that people wrote or recorded."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcprl.cli.config_command import ConfigCommand, ConfigGroup, config_options
from mcprl.cli.outcome import run_async
from mcprl.cli.output import console, output_options, present, progress_console
from mcprl.errors import ConfigError
from mcprl.files import require_writable
from mcprl.text import counted

if TYPE_CHECKING:
    from mcprl.config import Config
    from mcprl.events import Event
    from mcprl.scenarios.packs.pack import Pack
    from mcprl.servers.server import Server
    from mcprl.types import Split

_EXECUTING = ("seed", "servers", "tools", "scenarios.repeat_after_s")
_SPLITS = ["train", "val", "test"]

_IMPORT_EPILOG = """\b
A table (requests.csv), one request a line; only the column request is required:
  request,expect,calls,state,missing,asks
  Where is O-2046?,status=shipped,get_order(order_id='O-2046'),,,
  How much is the oak shelf?,EUR 35.45,,,,
  O-2046 has left the house,,,get_order(order_id='O-2046') => 'shipped',,
  Is there an O-9?,,get_order(order_id='O-9'),,yes,
  Order two for me,,,,,product; item

\b
Or chat logs, one conversation a line, as OpenAI's API spells them:
  {"messages": [{"role": "user", ...}, {"role": "assistant", "tool_calls": ...}, {"role": "tool", ...}, ...]}

\b
  mcprl scenarios import requests.csv --out mine --server URL
  mcprl train --server URL --test-pack mine
"""

_ADD_EPILOG = """\b
  mcprl scenarios add mine "Where is O-2046?" --expect status=shipped --server URL
  mcprl scenarios add mine "O-2046 has left" --state "get_order(order_id='O-2046') => 'shipped'" --server URL
  mcprl scenarios add mine "Is there an O-9?" --calls "get_order(order_id='O-9')" --missing
  mcprl scenarios add mine "Order two for me" --asks "product; item"
  mcprl scenarios add mine "Book me a flight" --declines
"""


@click.group(
    "scenarios",
    cls=ConfigGroup,
    sections=("seed", "servers", "tools", "scenarios", "model", "engine"),
    invoke_without_command=True,
    subcommand_metavar="[SERVER]... | COMMAND",
)
@config_options
@output_options
@click.option("--out", metavar="FOLDER", help="Where to save the pack, for a person to read and edit.")
@click.option("--plan-calls", is_flag=True, help="Show what probing would call, call nothing, and stop.")
def scenarios(config: "Config", out: str | None, plan_calls: bool) -> None:
    """Generate tasks for a server and show what they are worth.

    The commands at the end make packs of tasks that people wrote.
    """
    if click.get_current_context().invoked_subcommand:
        return
    from mcprl.cli import json_results, tables
    from mcprl.cli.consent import permitted
    from mcprl.scenarios.packs.quality import as_table, quality, saved_quality

    _require_new(out)
    if plan_calls or not config.scenarios.pack:
        config = permitted(config)
    if plan_calls:
        run_async(lambda: _show_planned(config))
        return

    async def work() -> None:
        pack, tools = await _pack(config)
        measured = quality(pack, tools) if tools is not None else saved_quality(pack)
        if out:
            replace(pack, quality=measured.as_toml() if measured else {}).save(out)
        present(
            lambda screen: tables.show_pack(screen, pack, as_table(measured) if measured else ""),
            lambda: json_results.of_pack(pack, measured, out),
        )
        if out:
            progress_console().print(
                f"saved in {out}; train on it with: mcprl train --pack {out} --server ...", markup=False
            )
        elif not config.scenarios.pack:
            progress_console().print("nothing of this is kept; --out FOLDER keeps it", markup=False)

    run_async(work)


async def _show_planned(config: "Config") -> None:
    """Print the calls that probing would make, tool by tool."""
    from mcprl.cli.server_tables import show_planned
    from mcprl.scenarios.probing.hints import read_hints
    from mcprl.scenarios.probing.probe import rehearse
    from mcprl.servers.server import connect

    given = config.scenarios
    hints = read_hints(given.values, given.examples, given.traffic)
    async with connect(config.servers, config.tools, emit=_warn) as server:
        calls = await rehearse(server, config.seed, given.probe_calls, hints)
        present(
            lambda screen: show_planned(screen, server.tools, calls, given.probe_calls),
            lambda: {"calls": [asdict(call) for call in calls]},
        )


def _warn(event: "Event") -> None:
    """Print a note on standard error."""
    from mcprl.events import Note

    if isinstance(event, Note):
        click.echo(event.text, err=True)


async def _pack(config: "Config") -> "tuple[Pack, tuple[Any, ...] | None]":
    """The configured or a new pack, and the server's tools if one is configured."""
    from mcprl.cli.progress import Progress
    from mcprl.scenarios.generate import generate, keep_apart
    from mcprl.scenarios.packs.exclusion import excluded_values
    from mcprl.scenarios.packs.pack import load_pack, with_tests
    from mcprl.scenarios.prepare import read_test_pack
    from mcprl.servers.server import connect

    if config.scenarios.pack:
        tools: tuple[Any, ...] | None = None
        if config.servers:
            async with connect(config.servers, config.tools) as server:
                tools = server.tools
        people = read_test_pack(config.scenarios, tools)
        pack = load_pack(config.scenarios.pack)
        kept = keep_apart(pack, excluded_values(people, tools or ()), _warn)
        return with_tests(replace(pack, scenarios=tuple(kept)), people), tools
    with Progress("probing the server and generating tasks") as emit:
        async with connect(config.servers, config.tools, emit=emit) as server:
            people = read_test_pack(config.scenarios, server.tools)
            excluded = excluded_values(people, server.tools)
            pack = await generate(server, config.scenarios, config.seed, emit, excluded)
            return with_tests(pack, people), server.tools


@scenarios.command("import", cls=ConfigCommand, sections=_EXECUTING, epilog=_IMPORT_EPILOG)
@config_options
@click.argument("file")
@click.option("--out", metavar="PACK", required=True, help="The folder of the new pack.")
@click.option(
    "--split",
    type=click.Choice([*_SPLITS, "auto"]),
    default="test",
    help="The split of lines that name none; auto divides them by the values that they name. [test]",
)
def import_file(config: "Config", file: str, out: str, split: Any) -> None:
    """Make a pack of the requests in FILE: a CSV or JSONL table, or chat logs with tool calls.

    With --server each plan is executed twice, and what comes back becomes the checks. Lines that do not hold are left
    out and listed. Without --server a table is taken as it is written, and a chat log is checked against the results
    that it holds.
    """
    from mcprl.cli import tables
    from mcprl.cli.consent import permitted
    from mcprl.scenarios.packs.imports import import_tasks

    _require_new(out)
    config = permitted(config)

    async def work() -> None:
        async with _server(config) as server:
            imported = await import_tasks(Path(file), server, config.seed, split, config.scenarios.repeat_after_s)
        imported.pack.save(out)
        screen = console()
        for place, reason in imported.left_out:
            screen.print(f"left out: {place} {reason}", style="yellow", markup=False, soft_wrap=True)
        tables.show_tasks(screen, imported.pack.scenarios)
        kept = len(imported.pack)
        click.echo(f"\n{kept} of {counted(kept + len(imported.left_out), 'task')} saved in {out}")
        click.echo(f"test on them beside generated ones: mcprl train --test-pack {out} --server ...")
        click.echo(f"or test a model on them alone:      mcprl eval --pack {out} --server ...")

    run_async(work)


@scenarios.command("add", cls=ConfigCommand, sections=_EXECUTING, epilog=_ADD_EPILOG)
@config_options
@click.argument("pack")
@click.argument("request")
@click.option("--expect", metavar="FACTS", help="What the answer must state: status=shipped; EUR 35.45")
@click.option("--calls", metavar="CALLS", help="Calls that must be made: get_order(order_id='O-17'); ...")
@click.option("--state", metavar="STATE", help="What a call must show afterwards: CALL => 'shipped', not 'open'")
@click.option("--missing", is_flag=True, help="The answer must say that the thing does not exist.")
@click.option("--asks", metavar="WORDS", help="The answer must ask back, with one of these words: order; number")
@click.option("--declines", is_flag=True, help="The answer must say that it cannot be done, and nothing is changed.")
@click.option("--kind", metavar="KIND", help="A name for this kind of task in reports. [made from the checks]")
@click.option("--split", type=click.Choice(_SPLITS), default="test", help="Which tasks it joins. [test]")
def add(config: "Config", pack: str, request: str, split: "Split", **written: Any) -> None:
    """Append one task to PACK (a folder, made if missing, or a JSONL file).

    With --server its calls are executed, and what comes back fills the checks. Without anything expected the task is
    scored by a judge, or shown without a score.
    """
    from mcprl.cli import tables
    from mcprl.cli.consent import permitted
    from mcprl.scenarios.packs.imports import add_task

    config = permitted(config)
    tree = {"request": request, **{name: value for name, value in written.items() if value}}

    async def work() -> None:
        async with _server(config) as server:
            scenario = await add_task(Path(pack), tree, server, split, config.scenarios.repeat_after_s)
        tables.show_tasks(console(), [scenario])
        click.echo(f"added to {pack}; test on it with: mcprl eval --pack {pack} --server ...")

    run_async(work)


@asynccontextmanager
async def _server(config: "Config") -> "AsyncGenerator[Server | None]":
    """The configured servers, `None` if there are none."""
    from mcprl.servers.server import connect

    if not config.servers:
        yield None
        return
    async with connect(config.servers, config.tools, emit=_warn) as server:
        yield server


def _require_new(out: str | None) -> None:
    if not out:
        return
    require_writable(Path(out), "--out")
    if Path(out).exists() and any(Path(out).iterdir()):
        raise ConfigError(f"--out {out}: the folder is not empty; name a new one")
