"""Which secrets a run keeps by name, and what a resumed run asks for."""

from pathlib import Path

import pytest
from support.command_line import effective, mcprl
from support.loopback import odd_http

from mcprl.config import Config, ServerConfig
from mcprl.errors import ConfigError
from mcprl.runs.journal import Journal
from mcprl.runs.settings import parse, redacted, with_secrets
from mcprl.servers.server import connect

URL = "http://127.0.0.1:1/mcp"


def kept(value: str) -> str:
    """A header's value as a run keeps it."""
    config = Config(servers=(ServerConfig(target=URL, headers={"Authorization": value}, env={"KEY": value}),))
    server = redacted(config)["servers"][0]
    assert server["env"]["KEY"] == (server["headers"]["Authorization"] if value[:4] != "env:" else "***")
    return server["headers"]["Authorization"]


@pytest.mark.parametrize("value", ["$TOKEN", "${TOKEN}", "Bearer $TOKEN", "basic ${A}:${B}", "$USER:$PASSWORD"])
def test_a_value_that_only_names_variables_is_kept(value: str) -> None:
    assert kept(value) == value


@pytest.mark.parametrize(
    "value", ["s3same", "Bearer s3same", "Bearer s3same$TOKEN", "hunter2 $TOKEN", "$TOKEN/hunter2"]
)
def test_a_value_with_anything_else_in_it_is_hidden(value: str) -> None:
    assert kept(value) == "***"


def test_a_judges_address_that_was_hidden_in_part_is_asked_for_again() -> None:
    address = "https://one.openai.azure.com/v1?api-version=2024-10-21"
    run = Config.model_validate({"judge": {"base_url": address}})
    stored = parse(redacted(run))
    assert "2024-10-21" not in stored.judge.base_url
    with pytest.raises(ConfigError, match="resume it with --judge-base-url"):
        with_secrets(stored, Config())
    assert with_secrets(stored, run).judge.base_url == address


def test_a_header_may_be_written_env_and_the_name() -> None:
    assert kept("env:TOKEN") == "$TOKEN"
    tree = effective(
        "inspect", "--server", URL, "--header", "Authorization: env:TOKEN", "--header", "X-Environment: env:"
    )
    assert tree["servers"][0]["headers"] == {"Authorization": "$TOKEN", "X-Environment": "***"}


@pytest.mark.parametrize("value", ["Bearer $SHOP_KEY", "env:SHOP_HEADER"])
async def test_a_resumed_run_reads_its_headers_from_the_environment_again(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_KEY", "sesame")
    monkeypatch.setenv("SHOP_HEADER", "Bearer sesame")
    with odd_http("key") as url:
        config = Config(servers=(ServerConfig(target=url, headers={"Authorization": value}),))
        Journal.create(tmp_path / "run", config).close()
        assert "sesame" not in (tmp_path / "run" / "config.toml").read_text()
        with Journal.open(tmp_path / "run") as journal:
            again = with_secrets(journal.config, Config())
        async with connect(again.servers) as server:
            assert server.tools == ()  # they are unmarked, and listed


@pytest.mark.parametrize(
    ("server", "flags"),
    [
        (
            {"target": URL, "headers": {"Authorization": "Bearer s3same-77"}},
            f"--server {URL} --header 'Authorization: ***'",
        ),
        ({"target": "serve", "env": {"KEY": "s3same-77", "B": "$B"}}, "--server serve --env 'KEY=***' --env 'B=$B'"),
        ({"target": "serve --api-key s3same-77"}, "--server 'serve --api-key ***'"),
        ({"target": "serve", "reset_command": "psql --password s3same-77"}, "--server serve --reset-command 'psql"),
    ],
)
def test_a_resume_that_lacks_a_secret_says_what_to_give(server: dict[str, str], flags: str, tmp_path: Path) -> None:
    Journal.create(tmp_path / "run", parse({"servers": [server]})).close()
    result = mcprl("train", "--resume", "run", "--runs-dir", str(tmp_path))
    assert result.code == 2
    assert result.err.count("\n") == 1
    assert f"the run keeps no secrets; resume it with {flags}" in result.err
    assert "s3same" not in result.err


def test_a_resume_that_is_given_its_servers_takes_them() -> None:
    given = Config(servers=(ServerConfig(target=URL, headers={"Authorization": "Bearer s3same-77"}),))
    stopped = parse(redacted(given) | {"seed": 7})
    assert with_secrets(stopped, given).servers == given.servers
    assert with_secrets(stopped, given).seed == 7
    with pytest.raises(ConfigError):
        with_secrets(stopped, Config(seed=3))


def test_a_flag_about_a_server_without_one_is_refused(tmp_path: Path) -> None:
    result = mcprl("train", "--resume", "run", "--runs-dir", str(tmp_path), "--header", "Authorization: $TOKEN")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "--header is about a server, and none is given; add --server" in result.err
