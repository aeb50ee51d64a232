"""Servers read from other clients' files, in the forms that those clients document."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.command_line import effective, mcprl
from support.paths import ROOT

from mcprl.errors import ConfigError
from mcprl.secrets import hide, resolve
from mcprl.servers.clients import read_servers

SHOP: dict[str, Any] = {"command": sys.executable, "args": [str(ROOT / "examples" / "servers" / "shop.py")]}


def written(folder: Path, key: str = "mcpServers", **entries: Any) -> str:
    (folder / "mcp.json").write_text(json.dumps({key: entries, "inputs": []}))
    return str(folder / "mcp.json")


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"command": "npx", "args": ["-y", "a b"]}, {"target": "npx -y 'a b'"}),
        ({"type": "stdio", "command": "uvx", "args": []}, {"target": "uvx"}),
        ({"command": "server", "cwd": "/data"}, {"target": "sh -c 'cd /data && exec server'"}),
        ({"type": "http", "url": "https://x/mcp"}, {"target": "https://x/mcp", "headers": {}}),
        ({"url": "https://x/mcp", "headers": {"X": "1"}}, {"headers": {"X": "1"}}),
        ({"serverUrl": "https://x/mcp"}, {"target": "https://x/mcp"}),
        ({"type": "sse", "url": "https://x/sse"}, {"target": "https://x/sse"}),
        ({"command": "a", "args": ["${SET}", "${UNSET:-d}"]}, {"target": "a value d"}),
        ({"command": "no-such-program server.py --port 3"}, {"target": "no-such-program server.py --port 3"}),
        ({"command": "no-such-program 'a b'"}, {"target": "no-such-program 'a b'"}),
        ({"command": "a", "env": {"K": None}}, {"env": {"K": ""}}),
        ({"command": "a", "args": ["${userHome}"]}, {"target": f"a {Path.home()}"}),
        ({"command": "a", "env": {"K": "${env:SET}", "L": "a$b"}}, {"env": {"K": "${SET}", "L": "a$$b"}}),
        ({"command": "a", "env": {"K": "${UNSET:-d}"}}, {"env": {"K": "d"}}),
    ],
    ids=str,
)
def test_each_form_of_an_entry_is_taken(
    entry: dict[str, Any], expected: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SET", "value")
    monkeypatch.delenv("UNSET", raising=False)
    (server,) = read_servers(written(tmp_path, one=entry), ())
    assert server["name"] == "one"
    assert {key: server[key] for key in expected} == expected


def test_a_variable_is_a_reference_until_it_is_used_and_a_dollar_sign_stays_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = {"url": "https://x/mcp", "headers": {"Authorization": "Bearer ${TOKEN}", "Note": "$5 or $$"}}
    (server,) = read_servers(written(tmp_path, one=entry), ())
    monkeypatch.setenv("TOKEN", "secret-3f")
    assert "secret-3f" not in str(server)
    sent = {name: resolve(value, name) for name, value in server["headers"].items()}
    assert sent == {"Authorization": "Bearer secret-3f", "Note": "$5 or $$"}


@pytest.mark.parametrize(
    ("entry", "hint"),
    [
        ({}, "neither a command nor a url"),
        ("npx", "is not an object"),
        ({"command": "a", "args": "b"}, "args that are not a list"),
        ({"command": "a", "env": ["K=1"]}, "env that are not an object"),
        ({"command": "a", "envFile": "no.env"}, "an envFile that cannot be read: no.env"),
        ({"command": "a 'b"}, "a command that cannot be read"),
        ({"command": "a", "args": ["${UNSET_3F}"]}, "wants $UNSET_3F"),
        ({"url": "https://x/mcp", "headers": {"K": "${input:key}"}}, "asks for ${input:key}, which is not among"),
        ({"command": "a", "args": ["${command:pick}"]}, "asks for ${command:pick}"),
        ({"type": "sse", "url": "https://x/events"}, "end in /sse"),
    ],
    ids=str,
)
def test_what_cannot_be_taken_is_one_line(entry: Any, hint: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        read_servers(written(tmp_path, one=entry), ())
    assert hint in str(error.value)
    assert "the server 'one'" in str(error.value)


def test_a_file_as_vs_code_reads_it_has_comments_trailing_commas_inputs_and_files_of_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MCPRL_ROOMS_KEY", "MCPRL_SHOP_DB", "MCPRL_SHOP_PLAIN"):
        monkeypatch.setenv(name, "")  # so that what is set is undone
        monkeypatch.delenv(name)
    folder = tmp_path / ".vscode"
    folder.mkdir()
    (tmp_path / ".env").write_text(
        "# the shop's\nDB='postgres://u:correcthorse9@h/db'\nexport PLAIN=3 # three\nEMPTY\n"
    )
    (folder / "mcp.json").write_text(
        """\ufeff{
          // asked for at the first start
          "inputs": [{"type": "promptString", "id": "rooms-key", "description": "Key of the rooms", "password": true},],
          "servers": {
            /* the rooms */
            "rooms": {"type": "http", "url": "http://127.0.0.1:1/mcp", "headers": {"X": "Bearer ${input:rooms-key}"}},
            "shop": {"command": "a", "args": ["${workspaceFolder}/s.py"], "envFile": "${workspaceFolder}/.env",},
          },
        }"""
    )
    asked: list[tuple[str, bool, str]] = []

    def ask(*about: Any) -> str:
        asked.append(about)
        return "battery-staple-7"

    source = str(folder / "mcp.json")
    rooms, shop = read_servers(source, ["*"], ask)
    assert asked == [("Key of the rooms", True, "")]
    assert shop["target"] == f"a {tmp_path}/s.py", "the folder that holds .vscode"
    assert rooms["headers"] == {"X": "Bearer ${MCPRL_ROOMS_KEY}"}
    assert resolve(rooms["headers"]["X"], "X") == "Bearer battery-staple-7"
    assert {name: resolve(value, name) for name, value in shop["env"].items()} == {
        "DB": "postgres://u:correcthorse9@h/db",
        "PLAIN": "3",
    }
    assert hide("it said battery-staple-7 and postgres://u:correcthorse9@h/db") == "it said *** and ***"
    assert read_servers(source, ["rooms"]) == [rooms], "asked for once in a process"
    monkeypatch.delenv("MCPRL_ROOMS_KEY")
    with pytest.raises(ConfigError, match=r"set \$MCPRL_ROOMS_KEY, or run this on a terminal"):
        read_servers(source, ["rooms"])


def test_a_huge_file_that_is_no_json_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text('{"servers": {"a": "' + "x" * 10_000_000)
    began = time.perf_counter()
    with pytest.raises(ConfigError, match="is not JSON"):
        read_servers(str(tmp_path / "mcp.json"), ())
    assert time.perf_counter() - began < 2


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"mcpServers": 3}', "{" * 100_000, '{"mcpServers": {}}'])
def test_a_file_without_servers_is_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text(text)
    with pytest.raises(ConfigError, match=r"mcp\.json"):
        read_servers(str(tmp_path / "mcp.json"), ())


def test_of_several_servers_the_named_ones_are_taken(tmp_path: Path) -> None:
    file = written(tmp_path, "servers", shop=SHOP, shop_two=SHOP, other={"url": "http://x/mcp"})
    with pytest.raises(ConfigError, match="names 3 servers; choose with --only NAME: other, shop, shop_two"):
        read_servers(file, ())
    assert [server["name"] for server in read_servers(file, ["shop*"])] == ["shop", "shop_two"]
    assert [server["name"] for server in read_servers(file, ["other", "shop"])] == ["shop", "other"]
    with pytest.raises(ConfigError, match="names no server shopp"):
        read_servers(file, ["shop", "shopp"])


def test_a_secret_in_an_address_is_hidden_from_what_is_printed_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_PAT_TOKEN", "correcthorsebattery")
    entry = {"command": "server", "args": ["${MCP_PAT_TOKEN}", "${userHome}"]}
    entries: dict[str, Any] = {"my server": entry}
    file = written(tmp_path, "mcpServers", **entries)
    printed = mcprl("train", "--mcp-config", file, "--print-config").out
    assert "correcthorsebattery" not in printed
    assert 'name = "my_server"' in printed


def test_a_clients_file_is_found_in_the_project_and_then_for_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ConfigError, match=r"no \.cursor/mcp\.json and no .*/\.cursor/mcp\.json"):
        read_servers("cursor", ())
    for folder, url in ((tmp_path, "http://user/mcp"), (project, "http://project/mcp")):
        (folder / ".cursor").mkdir()
        written(folder / ".cursor", one={"url": url})
        assert read_servers("cursor", ())[0]["target"] == url


def test_a_server_of_another_client_is_inspected_and_flags_hold_for_it(tmp_path: Path) -> None:
    file = written(tmp_path, shop=SHOP, other={"url": "http://127.0.0.1:9/mcp"})
    done = mcprl("inspect", "--mcp-config", file, "--only", "shop")
    assert (done.code, done.err) == (0, "")
    assert "set_order_status" in done.out
    (server,) = effective("train", "--mcp-config", file, "--only", "shop", "--timeout", "9")["servers"]
    assert (server["name"], server["timeout_s"]) == ("shop", 9)
    for wrong in (["--only", "shop"], ["--mcp-config", file, "http://x/mcp"]):
        done = mcprl("inspect", *wrong)
        assert (done.code, done.err.count("\n")) == (2, 1)
