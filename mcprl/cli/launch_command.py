"""`mcprl launch`: a run on a machine in a cloud."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mcprl.cli.config_command import ConfigCommand, config_options, server_argument
from mcprl.cli.extras import with_torch
from mcprl.cli.run_names import run_name
from mcprl.cli.train_commands import SECTIONS
from mcprl.errors import ConfigError

if TYPE_CHECKING:
    from mcprl.config import Config

_EPILOG = """Examples:

\b
  mcprl launch https://example.org/mcp --cloud aws --model Qwen/Qwen3-0.6B --read-only --dry-run
  mcprl launch https://example.org/mcp --cloud gcp --gpu L4:1 --model Qwen/Qwen3-0.6B --read-only
"""


@click.command("launch", cls=ConfigCommand, sections=SECTIONS, epilog=_EPILOG)
@server_argument
@click.option(
    "--cloud", default="", metavar="CLOUD", help="Where, as SkyPilot names it: aws, gcp/us-east1, kubernetes."
)
@click.option("--gpu", default="", metavar="NAME:COUNT", help="The accelerator. [the smallest that the run fits on]")
@click.option("--secret", "secrets", multiple=True, metavar="NAME", help="An environment variable that the run needs.")
@click.option("--idle-minutes", default=30, show_default=True, help="Without work, after which the machine is deleted.")
@click.option("--keep", is_flag=True, help="Keep the machine when the run is done.")
@click.option("--dry-run", is_flag=True, help="Print SkyPilot's task and stop.")
@config_options
def launch(
    config: "Config", cloud: str, gpu: str, secrets: tuple[str, ...], idle_minutes: int, keep: bool, dry_run: bool
) -> None:
    """Train in a cloud, through SkyPilot (mcprl setup skypilot).

    It takes the settings of mcprl train. The accelerator follows from the memory that the run needs; files that the
    settings name are sent along, secrets by their names. The run is followed; when it is done its folder is fetched and
    the machine deleted.
    """
    if not config.servers:
        raise ConfigError("no MCP server given; name one by its URL: mcprl launch URL --cloud CLOUD")
    if not cloud:
        raise ConfigError("no cloud given; name one as SkyPilot does: --cloud aws, gcp/us-east1, kubernetes")
    if not config.name:
        config = config.model_copy(update={"name": run_name(config.servers[0].target)})
    planning = with_torch("mcprl.cli.launching")
    planned = planning.plan(config, cloud, gpu, secrets, idle_minutes)
    if dry_run:
        click.echo(planning.as_yaml(planned.task), nl=False)
        return
    from mcprl.cli import skypilot

    raise SystemExit(skypilot.run(planned, Path(config.runs_dir), keep))
