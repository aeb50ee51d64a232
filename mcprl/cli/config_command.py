"""A command whose flags are settings: it is called with the configuration instead of a hundred values."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from mcprl.config import Config


def config_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command that takes settings: where they come from, and printing them."""
    options = (
        click.option("--print-config", is_flag=True, help="Print the effective settings as TOML and stop."),
        click.option("--config", metavar="FILE", help="Settings from a TOML file; flags win over it."),
        click.option(
            "--preset",
            metavar="NAME",
            help=(
                "Settings for a machine (laptop, gpu-16gb, gpu-24gb, h100, h200, two-gpus) or of a file; --config wins."
            ),
        ),
    )
    for option in options:
        function = option(function)
    return function


class ConfigCommand(click.Command):
    """A command with a flag for each setting under `sections`. The flags are made on first use: listing is cheap."""

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
            record = None if isinstance(parameter, click.Argument) else parameter.get_help_record(ctx)
            if record is not None:
                groups.setdefault(section.get(parameter.name or "", ""), []).append(record)
        for name, records in groups.items():
            with formatter.section(f"[{name}]" if name else "Options"):
                formatter.write_dl(records)

    def invoke(self, ctx: click.Context) -> Any:
        """Hand the command its configuration instead of a hundred flags, or print it."""
        from mcprl.cli import options
        from mcprl.cli.approving import Terminal
        from mcprl.files import find_bundled, read_toml
        from mcprl.runs.settings import dump_config, merge, parse
        from mcprl.servers.approval import APPROVER

        tree: dict[str, Any] = {}
        preset, file = ctx.params.pop("preset"), ctx.params.pop("config")
        for path in (preset and find_bundled("presets", preset), file):
            if path:
                given = read_toml(Path(path))
                parse(given, str(path))
                tree = merge(tree, given)
        effective = options.config(tree, ctx.params)
        if ctx.params.pop("print_config"):
            click.echo(dump_config(_by_model(effective)), nl=False)
            return None
        APPROVER.set(Terminal())
        known = {leaf.parameter for leaf in options.leaves()}
        ctx.params = {"config": effective} | {name: value for name, value in ctx.params.items() if name not in known}
        return super().invoke(ctx)


def _by_model(config: "Config") -> "Config":
    """The configuration with the settings that follow from its model, or with a warning if that cannot be read here."""
    from mcprl.errors import ModelError
    from mcprl.models.defaults import with_defaults

    try:
        return with_defaults(config)
    except ModelError as error:
        click.echo(f"warning: settings that follow from the model are shown as nano's: {error}", err=True)
        return config


class ConfigGroup(ConfigCommand, click.Group):
    """A command with settings as flags that has further commands below it."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)
