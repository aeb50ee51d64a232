"""`mcprl view RUN`: the run's pages in a browser."""

import sys
import webbrowser
from functools import partial
from importlib.util import find_spec

import click

from mcprl.cli.outcome import run_async
from mcprl.cli.run_names import complete_run, run_folder
from mcprl.errors import MissingExtra


@click.command()
@click.argument("run", shell_complete=complete_run)
@click.option("--port", default=0, show_default="a free one", help="The port on 127.0.0.1.")
@click.option("--open/--no-open", "opens", default=None, help="Open a browser. [on a terminal]")
@click.option("--runs-dir", default="runs", show_default=True, help="The folder that holds the runs.")
def view(run: str, port: int, opens: bool | None, runs_dir: str) -> None:
    """Show RUN in a browser, also while it goes on.

    Its rollouts stand side by side, and what was won and lost. Only this machine can see it, and only with the key in
    the address. Ctrl-C ends it.
    """
    folder = run_folder(run, runs_dir)
    for package in ("jinja2", "starlette", "uvicorn"):
        if find_spec(package) is None:
            raise MissingExtra(package, "view")
    from mcprl.viewing.serving import serve

    def ready(address: str) -> None:
        click.echo(f"{folder.name} is at {address} (Ctrl-C ends it)")
        if sys.stdout.isatty() if opens is None else opens:
            webbrowser.open(address)

    run_async(partial(serve, folder, port, ready))
