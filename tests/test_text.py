"""What may be written down of a URL or command, and the small text helpers."""

import shlex

import pytest

from mcprl.config import ServerConfig
from mcprl.runs.settings import parse, redacted
from mcprl.servers.secrets import Secrets
from mcprl.text import scrub, secrets_in


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://ada:pass@h/mcp?key=abc&page=2", "http://***@h/mcp?key=***&page=***"),
        ("http://h/mcp?abc", "http://h/mcp?***"),
        ("http://h/mcp?key=$KEY", "http://h/mcp?key=$KEY"),
        ("python s.py --api-key abc --port 3", "python s.py --api-key *** --port 3"),
        ("python s.py --api-key=abc", "python s.py --api-key=***"),
        ("python s.py --password 'a b&c' -v", "python s.py --password *** -v"),
        ('python s.py --token "never closed', "python s.py --token ***"),
        ("API_KEY=abc python s.py", "API_KEY=*** python s.py"),
        ("API_KEY=$KEY python s.py", "API_KEY=$KEY python s.py"),
        ("sh -c 'TOKEN=abc python s.py' x", "sh -c 'TOKEN=*** python s.py' x"),
        ("npx r http://h --header 'Authorization: Bearer abc'", "npx r http://h --header 'Authorization: Bearer ***'"),
        ("npx r --header 'Authorization: Bearer $T'", "npx r --header 'Authorization: Bearer $T'"),
        ("""s --config '{"api_key": "abc", "port": 3}'""", """s --config '{"api_key": ***, "port": 3}'"""),
        ("http://keycloak:8080/mcp", "http://keycloak:8080/mcp"),
        ("npx a --dir '{scratch}/x'", "npx a --dir '{scratch}/x'"),
    ],
)
def test_secrets_of_urls_and_commands_are_hidden_and_the_rest_is_kept(text: str, shown: str) -> None:
    assert scrub(text) == shown
    assert scrub(shown) == shown
    assert redacted(parse({"servers": [{"target": text}]}))["servers"][0]["target"] == shown


def test_the_hidden_values_come_without_quotes() -> None:
    assert secrets_in("s --token 'a b' --key c http://u:p@h?x=y") == ["a b", "c", "u:p", "y"]


def test_what_a_servers_configuration_holds_is_hidden_in_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", 'se"same')
    monkeypatch.setenv("PORT", "80")
    server = ServerConfig(
        target=f"serve --token {shlex.quote('from the command')}",
        headers={"Authorization": "Bearer $SHOP_KEY", "X-Tenant": "tenant-4711", "X-Short": "on"},
        env={"PORT": "$PORT", "DATA": "{scratch}/memory.json", "GONE": "$NOT_SET"},
    )
    hide = Secrets([server]).hide
    assert hide('Bearer se"same, as JSON se\\"same, in a URL se%22same') == "Bearer ***, as JSON ***, in a URL ***"
    assert hide("tenant-4711: from the command") == "***: ***"
    assert hide("port 80 on {scratch}/memory.json") == "port 80 on {scratch}/memory.json"
    assert Secrets([]).hide("nothing to hide") == "nothing to hide"
    assert Secrets([server]).hide_in_json({"tenant-4711": ["tenant-4711", 4711]}) == {"***": ["***", 4711]}
