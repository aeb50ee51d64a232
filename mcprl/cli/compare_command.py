"""`mcprl runs compare A B`: two runs, or a run and another model, on the same test tasks, or any number as a chart."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from mcprl.cli.run_names import complete_run, run_folder

_FORMATS = (".png", ".svg", ".pdf")


@click.command("compare")
@click.argument("runs", nargs=-1, required=True, shell_complete=complete_run)
@click.option("--runs-dir", default="runs", show_default=True, help="The folder that holds the runs.")
@click.option("--chart", metavar="FILE", help="Draw base, supervised and trained model of the runs (.png, .svg, .pdf).")
@click.option("--price", metavar="IN/OUT", default="", help="With --chart: dollars per million tokens, read/sampled.")
@click.option("--mark", "marks", metavar="NAME=SHARE", multiple=True, help="With --chart: what others report, 0 to 1.")
def compare(runs: tuple[str, ...], runs_dir: str, chart: str | None, price: str, marks: tuple[str, ...]) -> None:
    """Compare the trained models of two RUNS on the test tasks that both have, or draw any number of runs.

    In place of a run, the folder of mcprl eval (runs/evals/NAME), or a file that its --json printed, stands for the
    model that it tested: one behind an API beside your own. The chart shows success with 95 % intervals, what 1,000
    tasks cost (--price, or an API's), and as grey lines what others report of their own set-up (--mark).
    """
    from mcprl.errors import ConfigError

    paths = [Path(run) if run.endswith(".json") else run_folder(run, runs_dir) for run in runs]
    if (price or marks) and not chart:
        raise ConfigError(f"{'--price' if price else '--mark'} is for --chart FILE, which is not given")
    if chart:
        _draw(paths, Path(chart), price, dict(map(_mark, marks)))
    elif len(paths) != 2:
        raise ConfigError(f"two runs can be compared, not {len(paths)}; --chart FILE draws any number")
    else:
        _show(paths)


def _mark(text: str) -> tuple[str, float]:
    from mcprl.errors import ConfigError

    name, _, share = text.rpartition("=")
    if not name or not re.fullmatch(r"0?\.\d+|[01](\.0*)?", share):
        raise ConfigError(f"--mark {text}: expected NAME=SHARE with a share from 0 to 1, such as 'GPT-4o=0.33'")
    return name, float(share)


def _draw(paths: Sequence[Path], chart: Path, price: str, marks: Mapping[str, float]) -> None:
    from mcprl.errors import ConfigError, MissingExtra
    from mcprl.files import require_writable
    from mcprl.runs.chart import charted

    if chart.suffix not in _FORMATS:
        raise ConfigError(f"--chart {chart}: unknown format {chart.suffix!r}; expected one of: {', '.join(_FORMATS)}")
    require_writable(chart.parent, "--chart")
    evaluations = [path for path in paths if path.suffix == ".json"]
    shown = charted([path for path in paths if path not in evaluations], price, evaluations)
    try:
        from mcprl.runs.curve import draw_runs
    except ImportError:
        raise MissingExtra("matplotlib", "train") from None
    draw_runs(shown, chart, marks)
    click.echo(f"drew {chart}")


def _show(paths: Sequence[Path]) -> None:
    from mcprl.cli.output import console
    from mcprl.cli.tables import sheet
    from mcprl.runs.figures import percent, points
    from mcprl.runs.paired import compare_runs

    names = tuple(path.absolute().name for path in paths)
    numeric = ("tasks", *(names if names[0] != names[1] else ("first", "second")), "difference", "95 %", "won", "lost")
    table = sheet("suite", *numeric, right=numeric)
    unclear: list[str] = []
    for pair in compare_runs(*paths):
        interval = " to ".join(map(points, pair.ci95))
        rates = (percent(pair.first), percent(pair.second), points(pair.difference), interval)
        table.add_row(pair.suite, str(pair.n), *rates, str(pair.won), str(pair.lost))
        if pair.ci95[0] <= 0 <= pair.ci95[1]:
            unclear.append(pair.suite)
    console().print(table)
    if unclear:
        console().print(f"no clear difference in: {', '.join(unclear)}")
