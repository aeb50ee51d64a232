"""`mcprl login URL`: a login in a browser that later commands with --oauth find in the system's keyring."""

from typing import TYPE_CHECKING

import click

from mcprl.cli.config_command import ConfigCommand, config_options, server_argument
from mcprl.cli.outcome import run_async
from mcprl.errors import ConfigError
from mcprl.text import counted

if TYPE_CHECKING:
    from mcprl.config import Config, ServerConfig

_NO_KEYRING = (
    "nothing here would keep the login: install mcprl[keyring] on a machine that has a keyring (Keychain, Credential "
    "Locker, Secret Service), or give --oauth to each command, which then logs in for as long as it runs"
)


@click.command("login", cls=ConfigCommand, sections=("servers",))
@config_options
@server_argument
@click.option("--forget", is_flag=True, help="Remove the login from the keyring instead.")
def login(config: "Config", forget: bool) -> None:
    """Log in to the server at a URL, for later commands with --oauth.

    A browser opens if the server asks for it. Its tokens are kept in the system's keyring, and in no file.
    """
    targets = [server.target for server in config.servers]
    if not targets:
        raise ConfigError("no server given; name one: mcprl login https://HOST/mcp")
    if commands := [target for target in targets if not target.startswith(("http://", "https://"))]:
        raise ConfigError(f"{commands[0]!r} is no URL; what a command's server wants to know is given with --env")
    for server in config.servers:
        if forget:
            _forget(server)
        else:
            _log_in(server.model_copy(update={"oauth": True}))


def _forget(server: "ServerConfig") -> None:
    from mcprl.secrets import scrub
    from mcprl.servers.credentials import Credentials

    kept, name = Credentials(server), scrub(server.target)
    if kept.forget():
        click.echo(f"{name}: removed from {kept.place}; the server may take its tokens until they expire")
    else:
        click.echo(f"{name}: no login is kept here")


def _log_in(server: "ServerConfig") -> None:
    """Log in, list the tools to see that the login is of use, and say where it is kept."""
    from mcprl.secrets import scrub
    from mcprl.servers import oauth
    from mcprl.servers.credentials import Credentials
    from mcprl.servers.server import connect

    if not Credentials(server).lasting:
        raise ConfigError(_NO_KEYRING)

    async def work() -> None:
        async with connect([server]) as connected:
            kept, name = Credentials(server), scrub(server.target)
            if not await oauth.has_tokens(server):
                click.echo(f"{name} asks for no login: nothing is kept, and no command needs --oauth")
            elif not kept.load():
                raise ConfigError(f"logged in to {name}, but {kept.place or 'the keyring'} did not take the tokens")
            else:
                click.echo(f"logged in to {name}, which offers {counted(len(connected.listing), 'tool')}")
                click.echo(f"kept in {kept.place}, in no file; `mcprl login --forget {name}` removes it")
                how = "with the same --oauth-client" if server.oauth_client else "--oauth"
                click.echo(f"next: mcprl inspect {name} {how}")

    run_async(work)
