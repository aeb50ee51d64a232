"""`mcprl bench ...` and `mcprl setup bench ...`: benchmarks made by others.

A command of its own beside `eval`: a benchmark brings its tools, tasks and judge, so it has no server, pack or judge.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mcprl.cli.config_command import ConfigCommand, config_options
from mcprl.cli.extras import with_torch
from mcprl.cli.outcome import run_async
from mcprl.files import require_writable, write_whole

if TYPE_CHECKING:
    from rich.console import Console

    from mcprl.benches.measure import Measurement
    from mcprl.config import Config
    from mcprl.runs.attempts import Interval

_NAME = click.argument("benchmark", metavar="NAME", type=click.Choice(["bfcl", "agentdojo", "tau2"]))
_MOST_FAILURES = 3


@click.command("bench", cls=ConfigCommand, sections=("seed", "runs_dir", "model", "engine", "rollout", "eval"))
@config_options
@_NAME
@click.option("--category", "categories", metavar="NAME", multiple=True, help="Only these kinds of tasks. [all]")
@click.option("--limit", type=click.IntRange(min=0), default=0, help="Draw so many tasks of each kind. [0: all]")
@click.option("--adapter", metavar="FOLDER", help="Compare this adapter with the model: runs/NAME/adapters/step-N.")
@click.option(
    "--user-model", "user", metavar="MODEL", default="", help="Plays tau2's customers: openai/gpt-4.1, policy."
)
@click.option("--out", metavar="FILE", help="Write each task with the calls and the verdict, as lines of JSON.")
def bench(
    config: "Config",
    benchmark: str,
    categories: tuple[str, ...],
    limit: int,
    adapter: str | None,
    user: str,
    out: str | None,
) -> None:
    """Test a model, and an adapter, on a benchmark made by others.

    Its tasks, its tools, its verdicts: bfcl (function calling), agentdojo (tools under injected instructions), tau2
    (retail, airline), after
    mcprl setup bench NAME.
    """
    from mcprl.cli.progress import Progress

    if out:
        require_writable(Path(out).parent, "--out")

    async def work() -> None:
        with Progress(f"sampling the tasks of {benchmark}") as emit:
            measure = with_torch("mcprl.benches.measure").measure
            trained = Path(adapter) if adapter else None
            measured = await measure(config, benchmark, categories, limit, trained, user, emit)
        show_measurement(emit.screen, measured)
        if out:
            write_whole(Path(out), "".join(_lines(measured)).encode())

    run_async(work)


@click.command("bench")
@_NAME
def setup_bench(benchmark: str) -> None:
    """Fetch the package of a benchmark for mcprl bench NAME.

    It goes into a folder of the cache, at a fixed version, without what it asks for. Does nothing if that is done.
    """
    from mcprl.benches import packages
    from mcprl.cli.progress import Progress

    with Progress() as emit:
        folder = packages.install(benchmark, emit)
    click.echo(f"{benchmark} ({packages.PACKAGES[benchmark].licence}) is in {folder}")


def show_measurement(screen: "Console", measured: "Measurement") -> None:
    """Some failures with the benchmark's reason, and the rates."""
    from rich.markup import escape
    from rich.text import Text

    from mcprl.cli.tables import sheet, spelled

    for attempt in [each for each in measured.trained or measured.base if each.verdict.why][:_MOST_FAILURES]:
        request = attempt.task.messages[0][-1]["content"]
        screen.print(f"[red]failed[/] {escape(attempt.task.id)}: {escape(' '.join(str(request).split())[:200])}")
        for call in [call for steps in attempt.played.turns for calls in steps for call in calls][:5]:
            screen.print(f"    [cyan]{escape(spelled(call))}[/]", soft_wrap=True)
        screen.print(f"    [dim]{escape(attempt.verdict.why[:300])}[/]")
    numeric = ("tasks", "passed", "95 % interval")
    table = sheet("measured", "model", *numeric, right=numeric)
    for name, rate in measured.rates.items():
        table.add_row(Text(name), "base", str(rate.tasks), *_cells(rate.base))
        if rate.trained and rate.gain:
            table.add_row("", "trained", "", *_cells(rate.trained))
            table.add_row("", "gain", "", *_cells(rate.gain, "+"))
    screen.print()
    screen.print(table)
    screen.print(f"\n{escape(measured.model)}")


def _cells(value: "Interval", sign: str = "") -> tuple[str, str]:
    middle, low, high = (f"{100 * number:{sign}.1f}" for number in value)
    return middle if sign else f"{middle} %", f"{low} to {high}"


def _lines(measured: "Measurement") -> list[str]:
    from mcprl.benches.measure import as_record

    both = [("base", measured.base), ("trained", measured.trained)]
    return [
        json.dumps({"policy": policy, **as_record(attempt)}) + "\n" for policy, attempts in both for attempt in attempts
    ]
