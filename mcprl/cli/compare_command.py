"""`mcprl runs compare A B`: two runs on the same test tasks, and any number of runs as a chart."""

from collections.abc import Sequence
from pathlib import Path

import click

from mcprl.cli.run_names import complete_run, run_folder

_FORMATS = (".png", ".svg", ".pdf")


@click.command("compare")
@click.argument("runs", nargs=-1, required=True, shell_complete=complete_run)
@click.option("--runs-dir", default="runs", show_default=True, help="The folder that holds the runs.")
@click.option("--chart", metavar="FILE", help="Draw base, supervised and trained model of the runs (.png, .svg, .pdf).")
@click.option("--price", metavar="IN/OUT", default="", help="With --chart: dollars per million tokens, read/sampled.")
def compare(runs: tuple[str, ...], runs_dir: str, chart: str | None, price: str) -> None:
    """Compare the trained models of two RUNS on the test tasks that both have, or draw any number of runs.

    The chart shows success with 95 % intervals, and with --price what 1,000 tasks cost.
    """
    from mcprl.errors import ConfigError

    folders = [run_folder(run, runs_dir) for run in runs]
    if price and not chart:
        raise ConfigError("--price is for --chart FILE, which is not given")
    if chart:
        _draw(folders, Path(chart), price)
    elif len(folders) != 2:
        raise ConfigError(f"two runs can be compared, not {len(folders)}; --chart FILE draws any number")
    if len(folders) == 2:
        _show(folders)


def _draw(folders: Sequence[Path], chart: Path, price: str) -> None:
    from mcprl.errors import ConfigError, MissingExtra
    from mcprl.files import require_writable
    from mcprl.runs.chart import charted

    if chart.suffix not in _FORMATS:
        raise ConfigError(f"--chart {chart}: unknown format {chart.suffix!r}; expected one of: {', '.join(_FORMATS)}")
    require_writable(chart.parent, "--chart")
    shown = charted(folders, price)
    try:
        from mcprl.runs.curve import draw_runs
    except ImportError:
        raise MissingExtra("matplotlib", "train") from None
    draw_runs(shown, chart)
    click.echo(f"drew {chart}")


def _show(folders: Sequence[Path]) -> None:
    from mcprl.cli.output import console
    from mcprl.cli.tables import sheet
    from mcprl.runs.figures import percent, points
    from mcprl.runs.paired import compare_runs

    names = tuple(folder.absolute().name for folder in folders)
    numeric = ("tasks", *(names if names[0] != names[1] else ("first", "second")), "difference", "95 %", "won", "lost")
    table = sheet("suite", *numeric, right=numeric)
    unclear: list[str] = []
    for pair in compare_runs(*folders):
        interval = " to ".join(map(points, pair.ci95))
        rates = (percent(pair.first), percent(pair.second), points(pair.difference), interval)
        table.add_row(pair.suite, str(pair.n), *rates, str(pair.won), str(pair.lost))
        if pair.ci95[0] <= 0 <= pair.ci95[1]:
            unclear.append(pair.suite)
    console().print(table)
    if unclear:
        console().print(f"no clear difference in: {', '.join(unclear)}")
