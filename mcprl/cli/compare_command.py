"""`mcprl runs compare A B`: two runs on the same test tasks."""

import click

from mcprl.cli.run_names import complete_run, run_folder


@click.command("compare")
@click.argument("first", shell_complete=complete_run)
@click.argument("second", shell_complete=complete_run)
@click.option("--runs-dir", default="runs", show_default=True, help="The folder that holds the runs.")
def compare(first: str, second: str, runs_dir: str) -> None:
    """Compare the trained models of runs FIRST and SECOND on the test tasks that both have."""
    from mcprl.cli.output import console
    from mcprl.cli.tables import sheet
    from mcprl.runs.paired import compare_runs
    from mcprl.runs.phrases import percent, points

    folders = run_folder(first, runs_dir), run_folder(second, runs_dir)
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
