"""`mcprl train`; `mcprl demo`, which trains on the bundled server or serves it; `mcprl auto`, without a server."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcprl.cli.config_command import ConfigCommand, config_options, server_argument
from mcprl.cli.extras import with_torch
from mcprl.cli.outcome import UnfitMachine, run_async
from mcprl.cli.output import output_options, present, progress_console
from mcprl.cli.run_names import complete_run, run_folder, run_name
from mcprl.errors import ConfigError
from mcprl.events import Note
from mcprl.servers.listening import require_listening

if TYPE_CHECKING:
    from mcprl.config import Config

_OF_A_RUN = ("name", "runs_dir", "seed", "control", "record", "trackers", "servers", "tools")
SECTIONS = (*_OF_A_RUN, "scenarios", "model", "engine", "rollout", "judge", "training", "eval")
"""Everything: what `train`, `demo` and `doctor` take."""
_SERVE_PORT = 8750

_EPILOG = """Examples:

\b
  mcprl train http://127.0.0.1:8000/mcp --read-only
  mcprl train "npx -y some-mcp-server" --model smollm2 --steps 40
  mcprl train --mcp-config cursor --only NAME --pack mine --dry-run
"""


def _resumable(function: Any) -> Any:
    options = (
        click.option(
            "--resume",
            metavar="RUN",
            shell_complete=complete_run,
            help="Go on with a run that was stopped (its name, or its folder), with its own settings.",
        ),
        click.option(
            "--accept-tool-changes", is_flag=True, help="With --resume: go on though the server's tools changed."
        ),
        click.option(
            "--dry-run",
            is_flag=True,
            help="Check everything, run a few rollouts, say what training can bring, and write nothing.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return output_options(config_options(function))


@click.command("train", cls=ConfigCommand, sections=SECTIONS, epilog=_EPILOG)
@server_argument
@_resumable
def train(config: "Config", resume: str | None, accept_tool_changes: bool, dry_run: bool) -> None:
    """Train an adapter for SERVER and prove what it gained.

    SERVER is a URL, or a command that speaks MCP on stdio.
    """
    if resume and dry_run:
        raise ConfigError("a run that was begun has its tasks and settings; --dry-run is for a new one")
    if not resume and not config.servers:
        raise ConfigError("no MCP server given; name one: mcprl train URL-or-command (or --server), or try: mcprl demo")
    require_listening(config.servers)
    _train(config, resume, accept_tool_changes, dry_run)


@click.command("demo", cls=ConfigCommand, sections=SECTIONS)
@_resumable
@click.option("--serve", is_flag=True, help="Only serve the shop, for any client, until Ctrl-C.")
@click.option("--port", type=click.IntRange(1, 65535), default=_SERVE_PORT, show_default=True, help="With --serve.")
def demo(
    config: "Config", resume: str | None, accept_tool_changes: bool, dry_run: bool, serve: bool, port: int
) -> None:
    """Train on a small shop that comes with mcprl.

    It does what `mcprl train demo:shop` does. The name demo:shop stands wherever a server does, and serves the shop as
    long as the command runs.
    """
    from mcprl.servers.demo import SHOP, address, bind
    from mcprl.servers.demo import serve as serve_shop

    if serve:
        listener = bind(port)
        click.echo(f"the shop is served at {address(port)}; Ctrl-C ends it")
        serve_shop(listener)
        return
    if config.servers:
        raise ConfigError("mcprl demo has a server of its own; for another: mcprl train URL-or-command")
    from mcprl.config import ServerConfig

    servers = () if resume else (ServerConfig(target=SHOP),)
    _train(config.model_copy(update={"servers": servers}), resume, accept_tool_changes, dry_run)


_OF_AUTO = (
    *("name", "runs_dir", "seed", "control", "trackers", "model", "engine", "rollout", "judge", "training", "eval"),
    *("scenarios.train", "scenarios.val", "scenarios.test", "scenarios.pack"),
    *("scenarios.writer", "scenarios.writer_base_url", "scenarios.writer_cache", "scenarios.max_writer_cost"),
)
_AUTO_EPILOG = """Examples:

\b
  mcprl auto "Answer a customer's question about bicycles in two friendly sentences" --judge-model openai/o4-mini
  mcprl auto task.txt --model Qwen/Qwen3-0.6B --steps 40
"""


@click.command("auto", cls=ConfigCommand, sections=_OF_AUTO, epilog=_AUTO_EPILOG)
@click.argument("task")
@output_options
@config_options
def auto(config: "Config") -> None:
    """Train a model to do TASK, which needs no server and no data.

    TASK says what the model is to do with an input, or names a file that does. The judge writes inputs of many kinds
    and three difficulties, scores the answers of each input against each other (RULER), and at the end compares base
    and trained model blind. Without --judge-model the base model itself writes and judges. A run that was stopped goes
    on with mcprl train --resume.
    """
    from mcprl.models.defaults import with_defaults

    task = config.task.strip()
    if not task:
        raise ConfigError("TASK is empty; say what the model is to do with an input")
    config = with_defaults(config.model_copy(update={"task": task}))
    if not config.name:
        config = config.model_copy(update={"name": run_name("-".join(task.split()[:4]))})
    _run(config, None, accept_tool_changes=False)


def _train(config: "Config", resume: str | None, accept_tool_changes: bool, dry_run: bool) -> None:
    from mcprl.cli.consent import permitted
    from mcprl.secrets import scrub

    if not resume and not config.name:
        config = config.model_copy(update={"name": run_name(scrub(config.servers[0].target))})
    config = config if resume else permitted(config)
    if dry_run:
        _rehearse(config)
    else:
        _run(config, resume, accept_tool_changes)


def _run(config: "Config", resume: str | None, accept_tool_changes: bool) -> None:
    """Train, showing what happens, and show the outcome."""
    from mcprl.cli import json_results, resuming, run_tables
    from mcprl.cli.progress import TrainingProgress

    folder = run_folder(resume, config.runs_dir) if resume else Path(config.runs_dir) / config.name
    if not resume:
        from mcprl.cli.doctor import require

        require(config)

    async def work() -> None:
        with TrainingProgress(folder) as progress:
            if resume and (sentence := resuming.not_taken(folder, config)):
                progress(Note(sentence))
            train_adapter = with_torch("mcprl.art.own").train_adapter  # the import takes seconds
            report = await train_adapter(config, folder if resume else None, progress, accept_tool_changes)
        present(
            lambda screen: run_tables.show_outcome(screen, report, folder),
            lambda: json_results.of_outcome(report, folder),
        )

    run_async(work, folder / "run.log", partial(resuming.stopped, folder, config.runs_dir))


def _rehearse(config: "Config") -> None:
    """`--dry-run`: every check, a few rollouts, and what training can bring. Writes nothing."""
    from mcprl.cli import json_results
    from mcprl.cli.doctor import examine
    from mcprl.cli.progress import Progress
    from mcprl.cli.tables import show_findings

    if failed := show_findings(progress_console(), examine(config)):
        raise UnfitMachine(f"{failed} to be put right: what to do stands behind each")
    headroom = with_torch("mcprl.cli.headroom")

    async def work() -> None:
        with Progress("sampling a few rollouts of the base model") as emit:
            measured = await headroom.measure(config, emit)
        size = config.training.group_size
        present(lambda screen: headroom.show(screen, measured, size), lambda: json_results.of_headroom(measured))

    run_async(work)
