"""`mcprl serve TARGET`: a run, an export or a model as an endpoint of OpenAI's shape."""

import json
import secrets
from contextlib import AsyncExitStack
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mcprl.cli.config_command import ConfigCommand, config_options
from mcprl.cli.extras import with_torch
from mcprl.cli.outcome import run_async
from mcprl.cli.run_names import complete_run
from mcprl.text import as_folder_name

if TYPE_CHECKING:
    from mcprl.config import Config
    from mcprl.serving.model import ServedModel

_KEY = "MCPRL_KEY"
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_QUESTION = {"model": "latest", "messages": [{"role": "user", "content": "Hello"}]}


def _as_name(_context: click.Context, _parameter: click.Parameter, name: str | None) -> str | None:
    try:
        return name and as_folder_name(name)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command("serve", cls=ConfigCommand, sections=("runs_dir", "engine"))
@config_options
@click.argument("target", shell_complete=complete_run)
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8000, show_default=True, help="The port to listen on; 0 takes a free one.")
@click.option(
    "--key",
    metavar="KEY",
    envvar=_KEY,
    help=f"What clients must send as their API key. [${_KEY}, or a new one, which is printed]",
)
@click.option(
    "--name",
    "served_as",
    metavar="NAME",
    callback=_as_name,
    help="What it is called, and kept as when it is trained. [TARGET's own name]",
)
@click.option("--requests-wait", is_flag=True, help="Requests wait while an update is computed, and get its adapter.")
def serve(
    config: "Config", target: str, host: str, port: int, key: str | None, served_as: str | None, requests_wait: bool
) -> None:
    """Serve TARGET with OpenAI's API, for clients on this machine.

    TARGET is a run, the folder of an export, or a model. While clients train it, requests are answered with the adapter
    before the update.
    """
    from mcprl.cli.progress import Progress

    from_environment = click.get_current_context().get_parameter_source("key") == click.core.ParameterSource.ENVIRONMENT
    given = key or f"mcprl-{secrets.token_urlsafe(24)}"
    hosting = with_torch("mcprl.serving.host")

    async def work() -> None:
        async with AsyncExitStack() as stack:
            with Progress("loading the model") as emit:
                origin = with_torch("mcprl.serving.origin").find_origin(target, config.runs_dir, config.engine)
                origin = replace(origin, name=served_as) if served_as else origin
                listening = stack.enter_context(hosting.listen(host, port))
                folder = Path(config.runs_dir) / "served" / origin.name
                learner = await stack.enter_async_context(hosting.open_served(origin, folder, emit, requests_wait))
            address = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
            _show(learner.model, origin.config.model.name, address, f"${_KEY}" if from_environment else given)
            if host not in _LOOPBACK:
                click.echo("warning: other machines reach this address, and nothing is encrypted on the way", err=True)
            await hosting.serve(learner, given, listening)

    run_async(work, uvloop=find_spec("uvloop") is not None)  # there is none for Windows


def _show(model: "ServedModel", base: str, address: str, key: str) -> None:
    """Print what a client needs to know."""
    latest, name, *others = model.names()
    what = f"training step {model.step} of {base}" if model.latest else "not trained"
    click.echo(f"URL    {address}/v1")
    click.echo(f"model  {latest}, which is {name}: {what} (others: {', '.join(others)})")
    click.echo(f"key    {key}")
    click.echo(f'\ncurl {address}/v1/chat/completions -H "Authorization: Bearer {key}" \\')
    click.echo(f"  -H 'Content-Type: application/json' -d '{json.dumps(_QUESTION)}'")
    click.echo("\nCtrl-C ends it.")
