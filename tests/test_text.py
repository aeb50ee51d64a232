"""What may be written down of a URL or command, and the small text helpers."""

import shlex
import time

import pytest

from mcprl.config import ServerConfig
from mcprl.runs.settings import parse, redacted
from mcprl.secrets import hide, hide_in_json, learn, plain_variables, scrub, secrets_in
from mcprl.text import counted


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
    variables = {
        "PORT": "$PORT",
        "DATA": "{scratch}/memory.json",
        "GONE": "$NOT_SET",
        "PASSWORD": "swordfish",
        "TZ": "UTC",
    }
    server = ServerConfig(
        target=f"serve --token {shlex.quote('from the command')} --sort-key created --key-file {__file__}",
        headers={
            "Authorization": "Bearer $SHOP_KEY",
            "X-Tenant": "tenant-4711",
            "X-Short": "on",
            "Accept": "text/html",
        },
        env=variables,
    )
    learn([server, ServerConfig(target="http://ada:dr0wssap@h/mcp?page=2&profile=full")])
    assert hide('Bearer se"same, as JSON se\\"same, in a URL se%22same') == "Bearer ***, as JSON ***, in a URL ***"
    assert hide("tenant-4711: from the command, swordfish") == "***: ***, ***"
    assert hide("Basic YWRhOmRyMHdzc2Fw of ada:dr0wssap, or dr0wssap") == "Basic *** of ***, or ***"
    plain = f"port 80 on {{scratch}}/memory.json, created in full page by {__file__} as text/html"
    assert hide(plain) == plain
    assert hide_in_json({"tenant-4711": ["tenant-4711", 4711]}) == {"***": ["***", 4711]}
    assert plain_variables(variables) == {"DATA": "{scratch}/memory.json", "TZ": "UTC"}


def test_a_number_that_is_a_secret_is_hidden_in_json() -> None:
    learn([ServerConfig(target="serve --access-token 8315529047")])
    assert hide_in_json({"order": 8315529046, "token": 8315529047}) == {"order": 8315529046, "token": "***"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"key sk-proj-{'aB3' * 9}.", "key ***."),
        (f"ghp_{'x9Y' * 12} and xoxb-123456789012-abc", "*** and ***"),
        ("AKIA" + "IOSFODNN7EXAMPLE", "***"),
        ("Authorization: Bearer 0123456789abcdefXYZ", "Authorization: Bearer ***"),
        ("postgres://ada:pass@db/shop", "postgres://***@db/shop"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n", "***\n"),
        ("a task-list-of-many-things-2 for risk-management", "a task-list-of-many-things-2 for risk-management"),
        ("basic understanding of a bearer bond", "basic understanding of a bearer bond"),
        ("see http://h:8000/a@b", "see http://h:8000/a@b"),
    ],
)
def test_what_has_the_shape_of_a_key_is_hidden_wherever_it_stands(text: str, shown: str) -> None:
    assert hide(text) == shown
    assert hide(shown) == shown


@pytest.mark.parametrize("part", ["sk-", "eyJaaaaaaaa.", "://a:", "-----BEGIN PRIVATE KEY-----", "bearer  ", "a"])
def test_hiding_takes_time_that_grows_with_the_text_and_not_faster(part: str) -> None:
    began = time.perf_counter()
    hide(part * (2**21 // len(part)))
    assert time.perf_counter() - began < 5


def test_a_number_with_its_noun() -> None:
    told = [counted(number, "task") for number in (0, 1, 2, 1200)]
    assert told == ["0 tasks", "1 task", "2 tasks", "1,200 tasks"]
    assert [counted(number, "entry", "entries") for number in (1, 2)] == ["1 entry", "2 entries"]
