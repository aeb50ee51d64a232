"""The command line. Every setting is a flag, made from the configuration tree (`flags`); the work is done elsewhere.

Whatever goes wrong is one line on standard error and an exit code: 2 where the user can cure it, 130 for Ctrl-C, 1 for
a bug of ours. `MCPRL_DEBUG=1` shows the traceback too. The heavy parts are imported by the command that needs them.
"""

import os
import sys
import tempfile
import traceback
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mcprl import __version__
from mcprl.errors import ConfigError, McprlError

if TYPE_CHECKING:
    from mcprl.config import Config

T = TypeVar("T")
_RUN = ("name", "runs_dir", "seed", "control", "trackers")
_SERVER = ("servers", "tools")


class ConfigCommand(click.Command):
    """A command whose flags are the settings under `sections`; made when it is called, so that listing it is cheap."""

    def __init__(self, *args: Any, sections: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._sections: Sequence[str] | None = sections

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        if self._sections is not None:
            from mcprl.flags import options

            self.params += options(self._sections)
            self._sections = None
        return super().get_params(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The help, with a heading for each section of the configuration file."""
        from mcprl.flags import leaves

        section = {leaf.parameter: leaf.section for leaf in leaves()}
        groups: dict[str, list[tuple[str, str]]] = {"": []}
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is not None:
                groups.setdefault(section.get(parameter.name or "", ""), []).append(record)
        for name, records in groups.items():
            with formatter.section(f"[{name}]" if name else "Options"):
                formatter.write_dl(records)

    def invoke(self, ctx: click.Context) -> Any:
        """Hand the command its configuration instead of a hundred flags, or print it."""
        from mcprl import config, flags

        tree: dict[str, Any] = {}
        if file := ctx.params.pop("config"):
            tree = config.load(file)
            config.parse(tree, str(file))
        effective = flags.config(tree, ctx.params)
        if ctx.params.pop("print_config"):
            click.echo(config.dump(effective), nl=False)
            return None
        known = {leaf.parameter for leaf in flags.leaves()}
        ctx.params = {"config": effective} | {name: value for name, value in ctx.params.items() if name not in known}
        return super().invoke(ctx)


def _command(*sections: str) -> Callable[[Callable[..., Any]], click.Command]:
    def decorate(function: Callable[..., Any]) -> click.Command:
        function = click.option("--print-config", is_flag=True, help="Print the effective settings as TOML and stop.")(
            function
        )
        function = click.option("--config", metavar="FILE", help="Settings from a TOML file; flags win over it.")(
            function
        )
        return cli.command(cls=ConfigCommand, sections=sections)(function)

    return decorate


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Make an open model good at your MCP server, and prove it on tasks it never trained on."""


@_command(*_RUN, *_SERVER, "scenarios", "model", "engine", "rollout", "judge", "training", "eval")
@click.option("--resume", metavar="RUN", help="Go on with a run that was stopped: its name, or its folder.")
def train(config: "Config", resume: str | None) -> None:
    """Train an adapter for a server and prove what it gained."""
    raise NotImplementedError


@_command(*_SERVER)
def inspect(config: "Config") -> None:
    """Show what a server offers, what may be called, what it costs."""
    from mcprl import screen, server

    async def work() -> None:
        async with server.connect(config.servers, config.tools) as connected:
            screen.show_server(screen.console(), connected)

    _run(work)


@_command("seed", *_SERVER, "scenarios")
@click.option("--out", metavar="FOLDER", help="Where to save the pack, for a person to read and edit.")
def scenarios(config: "Config", out: str | None) -> None:
    """Generate tasks for a server and show what they cover."""
    from mcprl import screen, server
    from mcprl.scenarios import generate, load_pack

    if out and Path(out).exists() and any(Path(out).iterdir()):
        raise ConfigError(f"--out {out}: the folder is not empty; name a new one")

    async def work() -> None:
        if config.scenarios.pack:
            pack = load_pack(config.scenarios.pack)
        else:
            async with server.connect(config.servers, config.tools) as connected:
                pack = await generate(connected, config.scenarios, config.seed)
        if out:
            pack.save(out)
        screen.show_pack(screen.console(), pack)
        if out:
            click.echo(f"saved in {out}; train on it with: mcprl train --pack {out} --server ...")

    _run(work)


@cli.group()
def runs() -> None:
    """List the runs, or show one."""


def _run(work: Callable[[], Awaitable[T]]) -> T:
    """Run a command's coroutine; out of an exception group comes the error that a user can act on."""
    import anyio

    try:
        return anyio.run(work)
    except BaseExceptionGroup as group:
        raise _cause(group) from group


def _cause(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Our own error where there is one in the group, else its first."""
    leaves: list[BaseException] = []
    for error in group.exceptions:
        leaves.append(_cause(error) if isinstance(error, BaseExceptionGroup) else error)  # pyright: ignore
    return next((error for error in leaves if isinstance(error, McprlError)), leaves[0])


def main(arguments: Sequence[str] | None = None) -> None:
    """The `mcprl` program. Ends the process with the exit code."""
    try:
        code = cli.main(arguments, prog_name="mcprl", standalone_mode=False)
    except click.ClickException as error:
        code = _fail(error.format_message(), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        code = _fail("stopped", 130)
    except McprlError as error:
        code = _fail(str(error), error.exit_code)
    except Exception as error:
        code = _fail(f"{type(error).__name__}: {error} (a bug in mcprl; {_keep_traceback()})", 1)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(text: str, code: int) -> int:
    if os.environ.get("MCPRL_DEBUG") == "1" and not isinstance(sys.exception(), click.ClickException):
        traceback.print_exc()
    click.echo("error: " + " ".join(text.split()), err=True)
    return code


def _keep_traceback() -> str:
    with tempfile.NamedTemporaryFile("w", prefix="mcprl-", suffix=".log", delete=False) as file:
        traceback.print_exc(file=file)
    return f"the traceback is in {file.name}"
