"""A command whose flags are settings: it is called with the configuration instead of a hundred values."""

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcprl.text import counted

if TYPE_CHECKING:
    from mcprl.config import Config


def config_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command that takes settings: where they come from, and printing them."""
    options = (
        click.option(
            "--help-all",
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_all,
            help="Show every option: each setting has one.",
        ),
        click.option(
            "--set",
            "given",
            metavar="KEY=VALUE",
            multiple=True,
            help="Any setting by its key in the configuration file: training.group_size=4. Wins over flags.",
        ),
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


def _show_all(context: click.Context, _parameter: click.Parameter, given: bool) -> None:
    if given:
        context.meta[_ALL] = True
        click.echo(context.get_help())
        context.exit()


_ALL = "mcprl.help_all"
_PANELS = {
    "Server": ("mcp_config", "only", "servers__headers", "tools__read_only", "tools__allow"),
    "Tasks": ("scenarios__pack", "scenarios__test_pack", "split", "out", "plan_calls"),
    "Model and training": ("model__name", "adapter", "training__recipe", "training__steps", "engine__kind"),
    "Judge": ("judge__name", "judge__model"),
}
"""What the help shows of the settings, by panel, as parameters. It shows everything else that is no setting, too."""
_REST = {"print_config", "preset", "accept_tool_changes"}
"""What is no setting and is shown with all options alone."""
server_argument = click.argument("server", nargs=-1)
"""A command's servers without --server before each."""


def _client_options() -> list[click.Parameter]:
    return [
        click.Option(
            ["--mcp-config"],
            metavar="FILE",
            help="The servers of another MCP client: its file, or claude, claude-code, cursor, vscode, windsurf.",
        ),
        click.Option(["--only"], metavar="NAME", multiple=True, help="Of --mcp-config, the servers with these names."),
    ]


def _first_sentence(text: str) -> str:
    """The first sentence of a setting's help, with its default."""
    default = re.search(r" \[[^\]]*\]\Z", text)
    end = default[0] if default else ""
    return re.split(r"(?<=[^.])\. (?=\W*[A-Z])", text.removesuffix(end), maxsplit=1)[0] + end


class ConfigCommand(click.Command):
    """A command with a flag for each setting under `sections`. The flags are made on first use: listing is cheap."""

    def __init__(self, *args: Any, sections: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._sections: Sequence[str] | None = sections

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        if self._sections is not None:
            from mcprl.cli.options import options

            if "servers" in self._sections:
                self.params += _client_options()
            self.params += options(self._sections)
            self._sections = None
        return super().get_params(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options that most need, in panels; with --help-all every one, under the sections of the configuration
        file."""
        from mcprl.cli.options import leaves

        section = {leaf.parameter: leaf.section for leaf in leaves()}
        panel = {name: title for title, names in _PANELS.items() for name in names}
        everything = ctx.meta.get(_ALL)
        groups: dict[str, list[tuple[str, str]]] = {} if everything else {title: [] for title in _PANELS}
        left = 0
        for parameter in self.get_params(ctx):
            record = None if isinstance(parameter, click.Argument) else parameter.get_help_record(ctx)
            if record is None:
                continue
            name = parameter.name or ""
            if everything:
                title = f"[{section[name]}]" if section.get(name) else "Options"
            elif name in panel or name == "name":
                title = panel.get(name, "Options")
            elif name in section or name in _REST:
                left += 1
                continue
            else:
                title = "Options"
            if name in section and not everything:
                record = (record[0], _first_sentence(record[1]))
            groups.setdefault(title, []).append(record)
        for title, records in groups.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
        if left:
            formatter.write_paragraph()
            formatter.write_text(f"{counted(left, 'more option')}: --help-all shows them.")

    def invoke(self, ctx: click.Context) -> Any:
        """Hand the command its configuration instead of a hundred flags, or print it."""
        from mcprl.cli import options
        from mcprl.cli.approving import Terminal
        from mcprl.files import find_bundled, read_toml
        from mcprl.runs.settings import merge, parse
        from mcprl.servers.approval import APPROVER

        tree: dict[str, Any] = {}
        preset, file = ctx.params.pop("preset"), ctx.params.pop("config")
        for path in (preset and find_bundled("presets", preset), file):
            if path:
                given = read_toml(Path(path))
                parse(given, str(path))
                tree = merge(tree, given)
        ctx.params |= options.given(ctx.params.pop("given"), self.get_params(ctx), ctx)
        _take_servers(tree, ctx.params)
        effective = options.config(tree, ctx.params)
        if ctx.params.pop("print_config"):
            click.echo(_printed(effective), nl=False)
            return None
        APPROVER.set(Terminal())
        known = {leaf.parameter for leaf in options.leaves()}
        ctx.params = {"config": effective} | {name: value for name, value in ctx.params.items() if name not in known}
        return super().invoke(ctx)


def _take_servers(tree: dict[str, Any], values: dict[str, Any]) -> None:
    """Of a command's values take those that name servers: another client's into the tree, the others as if each had
    its flag."""
    from mcprl.servers.clients import read_servers

    named = (*values.pop("server", ()), *(values.get("servers__target") or ()))
    client, only = values.pop("mcp_config", None), values.pop("only", ())
    if client and named:
        raise click.UsageError(f"{named[0]!r} and --mcp-config both name servers; give one of them")
    if only and not client:
        raise click.UsageError("--only chooses among the servers of --mcp-config, which is not given")
    if client:
        tree["servers"] = read_servers(client, only, _asked if sys.stdin.isatty() and sys.stderr.isatty() else None)
    if named:
        values["servers__target"] = named


def _asked(question: str, secret: bool, default: str) -> str:
    return str(click.prompt(question, default=default or None, hide_input=secret, show_default=not secret, err=True))


def _printed(config: "Config") -> str:
    """The configuration with the settings that follow from its model, and why; with a warning if that cannot be read
    here."""
    from mcprl.errors import ModelError
    from mcprl.models.defaults import reasons, with_defaults
    from mcprl.runs.settings import dump_config

    try:
        return dump_config(with_defaults(config), why=reasons(config))
    except ModelError as error:
        click.echo(f"warning: settings that follow from the model are shown as nano's: {error}", err=True)
        return dump_config(config)


class ConfigGroup(ConfigCommand, click.Group):
    """A command with settings as flags that has further commands below it. Words that name none of them are servers."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if any(word in self.commands for word in args):
            return super().parse_args(ctx, args)
        ctx.allow_interspersed_args = True
        ctx.params["server"] = tuple(click.Command.parse_args(self, ctx, args))
        ctx.args = []
        return ctx.args

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)
