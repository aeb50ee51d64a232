"""The command line. Every setting is a flag, made from the configuration tree (`flags`); the work is done elsewhere.

Whatever goes wrong is one line on standard error and an exit code: 2 where the user can cure it, 130 for Ctrl-C, 1 for
a bug of ours. `MCPRL_DEBUG=1` shows the traceback too. The heavy parts are imported by the command that needs them.
"""

import difflib
import os
import re
import sys
import traceback
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import click

from mcprl import __version__
from mcprl.cli.outcome import Stopped, UnfitMachine, bug, run_async
from mcprl.cli.progress import Progress, Steps, engine_progress
from mcprl.errors import ConfigError, JournalError, McprlError, MissingExtra
from mcprl.files import find_bundled

if TYPE_CHECKING:
    from mcprl.config import Config
    from mcprl.engines.vllm import environment
    from mcprl.llm.policy import PolicyLlm

_RUN = ("name", "runs_dir", "seed", "control", "trackers")
_SERVER = ("servers", "tools")
_RUNS_DIR = click.option("--runs-dir", default="runs", show_default=True, help="The folder that holds the runs.")
_PRESET = (
    "Settings for a machine (laptop, gpu-16gb, gpu-24gb, h100, h200, two-gpus) or of a file; --config wins over it."
)


class ConfigCommand(click.Command):
    """A command whose flags are the settings under `sections`; made when it is called, so that listing it is cheap."""

    def __init__(self, *args: Any, sections: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._sections: Sequence[str] | None = sections

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        if self._sections is not None:
            from mcprl.cli.options import options

            self.params += options(self._sections)
            self._sections = None
        return super().get_params(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The help, with a heading for each section of the configuration file."""
        from mcprl.cli.options import leaves

        section = {leaf.parameter: leaf.section for leaf in leaves()}
        groups: dict[str, list[tuple[str, str]]] = {"": []}
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is not None:
                groups.setdefault(section.get(parameter.name or "", ""), []).append(record)
        for name, records in groups.items():
            with formatter.section(f"[{name}]" if name else "Options"):
                formatter.write_dl(records)

    def invoke(self, ctx: click.Context) -> Any:
        """Hand the command its configuration instead of a hundred flags, or print it."""
        from mcprl import config
        from mcprl.cli import options

        tree: dict[str, Any] = {}
        preset, file = ctx.params.pop("preset"), ctx.params.pop("config")
        for path in (preset and find_bundled("presets", preset), file):
            if path:
                given = config.load(path)
                config.parse(given, str(path))
                tree = config.merge(tree, given)
        effective = options.config(tree, ctx.params)
        if ctx.params.pop("print_config"):
            click.echo(config.dump(effective), nl=False)
            return None
        known = {leaf.parameter for leaf in options.leaves()}
        ctx.params = {"config": effective} | {name: value for name, value in ctx.params.items() if name not in known}
        return super().invoke(ctx)


def _command(*sections: str, name: str | None = None) -> Callable[[Callable[..., Any]], click.Command]:
    def decorate(function: Callable[..., Any]) -> click.Command:
        function = click.option("--print-config", is_flag=True, help="Print the effective settings as TOML and stop.")(
            function
        )
        function = click.option("--config", metavar="FILE", help="Settings from a TOML file; flags win over it.")(
            function
        )
        function = click.option("--preset", metavar="NAME", help=_PRESET)(function)
        return cli.command(name, cls=ConfigCommand, sections=sections)(function)

    return decorate


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Make an open model good at your MCP server, and prove it on tasks it never trained on."""


@_command(*_RUN, *_SERVER, "scenarios", "model", "engine", "rollout", "judge", "training", "eval")
@click.option("--resume", metavar="RUN", help="Go on with a run that was stopped: its name, or its folder.")
def train(config: "Config", resume: str | None) -> None:
    """Train an adapter for a server and prove what it gained."""
    from mcprl.cli import tables
    from mcprl.runs.journal import FILE, Journal

    if not resume and not config.servers:
        raise ConfigError("no MCP server given; name one with --server URL-or-command")
    if not resume and not config.name:
        config = config.model_copy(update={"name": _name(config.servers[0].target)})
    folder = _run_folder(resume, config.runs_dir) if resume else Path(config.runs_dir) / config.name

    async def work() -> None:
        with Progress(folder) as progress:
            train_adapter = _with_torch("mcprl.train").train_adapter  # which takes seconds
            report = await train_adapter(config, folder if resume else None, progress)
        tables.show_report(tables.console(), report)

    try:
        run_async(work, folder / "run.log")
    except Stopped:
        if not (folder / FILE).is_file():
            raise
        with Journal.open(folder) as journal:
            kept = journal.last_step() or 0
        again = f"mcprl train --resume {folder if config.runs_dir != 'runs' else folder.name}"
        raise Stopped(f"stopped; {kept} steps and all rollouts are kept in {folder}; go on with: {again}") from None


def _with_torch(module: str) -> ModuleType:
    """A module that needs the `train` extra, or what to install for it."""
    for package in ("torch", "transformers", "peft"):
        if find_spec(package) is None:
            raise MissingExtra(package, "train")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")  # our own lines say what goes on
    return import_module(module)


def _name(target: str) -> str:
    """A run's name from its server and the time: `shop-20261121-0312`."""
    words = [Path(word).stem for word in re.split(r"[\s/:?&=]+", target)]
    telling = [
        word
        for word in words
        if word and not re.fullmatch(r"https?|python[\d.]*|npx|uvx|run|mcp|sse|-.*|\d[\d.]*", word)
    ]
    slug = re.sub(r"[^a-z0-9]+", "-", (telling or ["run"])[0].lower()).strip("-")[:32]
    return f"{slug or 'run'}-{datetime.now():%Y%m%d-%H%M%S}"


@_command(*_SERVER)
def inspect(config: "Config") -> None:
    """Show what a server offers, what may be called, what it costs."""
    from mcprl.cli import tables
    from mcprl.servers import server

    async def work() -> None:
        async with server.connect(config.servers, config.tools) as connected:
            tables.show_server(tables.console(), connected)

    run_async(work)


@_command("seed", *_SERVER, "scenarios", "model", "engine")
@click.option("--out", metavar="FOLDER", help="Where to save the pack, for a person to read and edit.")
def scenarios(config: "Config", out: str | None) -> None:
    """Generate tasks for a server and show what they cover."""
    from mcprl.cli import tables
    from mcprl.scenarios.generate import generate
    from mcprl.scenarios.pack import load_pack
    from mcprl.servers import server

    if out and Path(out).exists() and any(Path(out).iterdir()):
        raise ConfigError(f"--out {out}: the folder is not empty; name a new one")

    async def work() -> None:
        if config.scenarios.pack:
            pack = load_pack(config.scenarios.pack)
        else:
            async with server.connect(config.servers, config.tools) as connected, _writer(config) as own:
                pack = await generate(connected, config.scenarios, config.seed, click.echo, own)
        if out:
            pack.save(out)
        tables.show_pack(tables.console(), pack)
        if out:
            click.echo(f"saved in {out}; train on it with: mcprl train --pack {out} --server ...")

    run_async(work)


@asynccontextmanager
async def _writer(config: "Config") -> "AsyncGenerator[PolicyLlm | None]":
    """The configured model, where it is to write the tasks itself."""
    from mcprl.config import POLICY
    from mcprl.llm.policy import PolicyLlm

    if config.scenarios.generator != f"llm:{POLICY}":
        yield None
        return
    log = Path(config.runs_dir) / "scenarios-vllm.log"
    async with _with_torch("mcprl.prepare").sampling(config, log) as engine:
        yield PolicyLlm(lambda: engine)


@_command("seed", *_SERVER, "scenarios", "model", "engine", "rollout", "judge", "eval", name="eval")
@click.option("--adapter", metavar="FOLDER", help="A trained adapter to put on the model: runs/NAME/adapters/step-N.")
@click.option(
    "--split", type=click.Choice(["train", "val", "test"]), default="test", help="Which tasks of the pack. [test]"
)
def evaluate(config: "Config", adapter: str | None, split: str) -> None:
    """Test a model or an adapter on a pack's tasks, without training."""
    from mcprl.cli import tables

    async def work() -> None:
        shown = tables.console()
        with shown.status("trying the tasks", refresh_per_second=4) as status:
            evaluate_pack = _with_torch("mcprl.evaluate").evaluate_pack
            tell = engine_progress(shown, status)
            evaluation = await evaluate_pack(config, Path(adapter) if adapter else None, split, tell)
        tables.show_evaluation(shown, evaluation)

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
    with Journal.open(folder) as journal:
        command = options.command(journal.config)
    exporting = _with_torch("mcprl.export")
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
    """Make what some engines need beside mcprl."""


@setup.command("vllm")
@click.option("--folder", metavar="FOLDER", help="Where to put it. [$MCPRL_VLLM, or a folder of the user's cache]")
@click.option("--build", type=click.Choice(["cpu", "cuda"]), help="Which vLLM. [cuda where there is an NVIDIA GPU]")
def setup_vllm(folder: str | None, build: "environment.Build | None") -> None:
    """Install vLLM, in the version that is tested, into an environment of its own; does nothing where that is done."""
    from mcprl.engines.vllm import environment

    build = build or environment.suits()
    place = Path(folder).expanduser() if folder else environment.default_folder(build)
    with Steps() as show:
        environment = environment.install(place, build, show)
    use = f"--engine vllm --vllm-environment {folder}" if folder else "--engine vllm"
    click.echo(f"vLLM {environment.version} ({environment.build}) is in {environment.folder}; use it with: {use}")


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
    try:
        cli.main(arguments, prog_name="mcprl", standalone_mode=False)
        code = 0
    except click.ClickException as error:
        code = _fail(error.format_message(), error.exit_code)
    except click.Abort:
        code = _fail("stopped", 130)
    except McprlError as error:
        code = _fail(str(error), error.exit_code)
    except Exception as error:
        code = _fail(str(bug(error, None)), 1)
    sys.exit(code)


def _fail(text: str, code: int) -> int:
    if os.environ.get("MCPRL_DEBUG") == "1":
        traceback.print_exc()
    start = "error: " if code != 130 else "\n" if sys.stderr.isatty() else ""  # a terminal has just shown ^C
    click.echo(start + " ".join(text.split()), err=True)
    return code
