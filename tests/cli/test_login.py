"""`mcprl login URL`: a browser, then the system's keyring, then commands that need no browser."""

import json

import pytest
from support.command_line import mcprl
from support.logins import MemoryKeyring, follow_redirects, guarded, logged
from support.loopback import odd_http, shop_over_http

from mcprl.servers import credentials, oauth


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return follow_redirects(monkeypatch)


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> MemoryKeyring:
    made = MemoryKeyring()
    monkeypatch.setattr(credentials, "_usable_keyring", lambda: made)
    return made


def test_a_login_is_kept_in_the_keyring_serves_the_next_command_and_is_forgotten(
    browser: list[str], keyring: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    with guarded() as url:
        done = mcprl("login", url)
        assert (done.code, len(browser)) == (0, 1), done.err
        assert done.out.splitlines() == [
            f"logged in to {url}, which offers 1 tool",
            f"kept in the system's keyring (memory Keyring), in no file; `mcprl login --forget {url}` removes it",
            f"next: mcprl inspect {url} --oauth",
        ]
        tokens = json.loads(keyring.kept["mcprl", url])["tokens"]
        assert [token for token in tokens.values() if str(token) in done.out + done.err and len(str(token)) > 8] == []

        monkeypatch.setattr(oauth, "_has_terminal", lambda: False)  # the next command runs at night
        assert "whisper" in mcprl("inspect", url, "--oauth").out
        assert mcprl("login", url).code == 0
        assert logged(url)[0] == ["register", "authorize", "code"]

        assert mcprl("login", "--forget", url).out.startswith(f"{url}: removed from the system's keyring")
        assert keyring.kept == {}
        assert mcprl("login", "--forget", url).out == f"{url}: no login is kept here\n"
        without = mcprl("inspect", url, "--oauth")
    assert without.code == 2
    assert "run `mcprl login URL` in a terminal of this machine" in without.err


def test_a_server_that_asks_for_no_login_gets_none(browser: list[str], keyring: MemoryKeyring) -> None:
    with shop_over_http() as url:
        done = mcprl("login", url)
    assert done.out == f"{url} asks for no login: nothing is kept, and no command needs --oauth\n"
    assert (browser, keyring.kept) == ([], {})


def test_without_a_keyring_no_browser_opens_and_a_line_says_what_to_do(
    browser: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credentials, "_usable_keyring", lambda: None)
    done = mcprl("login", "https://mcp.example/mcp")
    assert done.code == 2
    assert "install mcprl[keyring]" in done.err
    assert "give --oauth to each command" in done.err
    assert (done.err.count("\n"), browser) == (1, [])


class LockedKeyring(MemoryKeyring):
    """A keyring whose user says no."""

    def set_password(self, service: str, name: str, text: str) -> None:
        raise RuntimeError("the user refused")

    def delete_password(self, service: str, name: str) -> None:
        raise RuntimeError("the user refused")


def test_a_keyring_that_refuses_is_named(browser: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    locked = LockedKeyring()
    monkeypatch.setattr(credentials, "_usable_keyring", lambda: locked)
    with guarded() as url:
        done = mcprl("login", url)
        locked.kept["mcprl", url] = "{}"
        kept = mcprl("login", "--forget", url)
    assert (done.code, kept.code) == (2, 2)
    assert "but the system's keyring (memory Keyring) did not take the tokens" in done.err
    assert "keeps the login: the user refused; remove the entry there" in kept.err


@pytest.mark.parametrize(
    ("words", "said"),
    [([], "no server given; name one: mcprl login https://HOST/mcp"), (["npx server"], "'npx server' is no URL")],
)
def test_what_cannot_be_logged_in_to_is_one_line(words: list[str], said: str) -> None:
    done = mcprl("login", *words)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert said in done.err


def test_a_server_without_metadata_names_the_header(browser: list[str], keyring: MemoryKeyring) -> None:
    with odd_http("401") as url:
        done = mcprl("login", url)
    assert done.code == 2
    assert "--header 'Authorization: Bearer $TOKEN'" in done.err
