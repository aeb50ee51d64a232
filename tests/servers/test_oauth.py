"""Logging in: a real MCP server behind a real authorization server, and a browser that is sent back at once."""

import json
import re
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import anyio
import pytest
from support.logins import MemoryKeyring, follow_redirects, guarded, logged
from support.loopback import free_port, odd_http
from support.paths import ROOT

from mcprl import secrets
from mcprl.config import ServerConfig
from mcprl.errors import ConfigError, ServerError
from mcprl.runs.settings import dump_config, parse, redacted, with_secrets
from mcprl.servers import credentials, oauth
from mcprl.servers.callback import listening
from mcprl.servers.server import connect


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A terminal and a browser, which follows redirects; the addresses that it was sent to."""
    return follow_redirects(monkeypatch)


@pytest.fixture(autouse=True)
def _no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credentials, "_usable_keyring", lambda: None)


async def whisper(url: str, log: Path | None = None, client: dict[str, str] | None = None) -> str:
    given = ServerConfig.model_validate(
        {"target": url, "oauth": not client, "oauth_client": client or {}, "timeout_s": 10.0}
    )
    async with (
        connect([given], log=log) as server,
        server.session() as s,
    ):
        return (await s.call("whisper", {})).text


def forget_logins() -> None:
    """As a new process has none."""
    oauth._logins.set({})


async def test_a_login_registers_with_pkce_and_a_random_state_and_many_sessions_share_it(browser: list[str]) -> None:
    with guarded() as url:
        async with connect([ServerConfig(target=url, oauth=True)]) as server:

            async def call() -> None:
                async with server.session() as session:
                    assert not (await session.call("whisper", {})).is_error

            async with anyio.create_task_group() as tasks:
                for _ in range(8):
                    tasks.start_soon(call)
        assert logged(url)[0] == ["register", "authorize", "code"]
    (asked,) = ({name: values[0] for name, values in parse_qs(urlsplit(address).query).items()} for address in browser)
    assert asked["code_challenge_method"] == "S256"
    assert len(asked["state"]) > 30
    assert asked["redirect_uri"].startswith("http://127.0.0.1:")
    assert asked["resource"] == url


async def test_a_token_that_expired_or_was_revoked_is_renewed_without_the_browser(browser: list[str]) -> None:
    with guarded("brief") as url:
        async with connect([ServerConfig(target=url, oauth=True)]) as server, server.session() as session:
            for _ in range(2):
                await anyio.sleep(1.1)  # the life of a token, on the server's clock
                assert not (await session.call("whisper", {})).is_error
        events = logged(url)[0]
    assert events[:3] == ["register", "authorize", "code"]
    assert 2 <= events.count("refresh") <= 4
    assert len(browser) == 1
    with guarded() as url:
        async with connect([ServerConfig(target=url, oauth=True)]) as server, server.session() as session:
            await session.call("whisper", {})
            await anyio.to_thread.run_sync(ask, urlsplit(url).port or 0, "/revoke")
            assert not (await session.call("whisper", {})).is_error
        assert logged(url)[0] == ["register", "authorize", "code", "refresh"]


async def test_a_keyring_keeps_the_login_for_the_next_command(
    browser: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    keyring = MemoryKeyring()
    monkeypatch.setattr(credentials, "_usable_keyring", lambda: keyring)
    with guarded() as url:
        await whisper(url)
        forget_logins()
        monkeypatch.setattr(oauth, "_has_terminal", lambda: False)  # the next command runs at night
        await whisper(url)
        assert logged(url)[0] == ["register", "authorize", "code"]
        kept = json.loads(keyring.kept["mcprl", url])
        kept["expires_at"] = time.time() - 10
        keyring.kept["mcprl", url] = json.dumps(kept)
        forget_logins()
        await whisper(url)
        assert logged(url)[0] == ["register", "authorize", "code", "refresh"]
        keyring.kept["mcprl", url] = "{broken"
        forget_logins()
        with pytest.raises(ServerError, match="no terminal to ask on"):
            await whisper(url)
    assert "as long as this command" not in capsys.readouterr().err


async def test_without_a_keyring_the_login_is_not_kept_and_that_is_said(
    browser: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with guarded() as url:
        await whisper(url)
        forget_logins()
        await whisper(url)
        assert logged(url)[0].count("authorize") == 2
    printed = capsys.readouterr().err
    assert (
        "the login lasts as long as this command; a system keyring and `pip install 'mcprl[keyring]'` keep it"
        in printed
    )
    assert f"log in to {urlsplit(url).netloc} in the browser of this machine, at\nhttp://127.0.0.1" in printed


async def test_tokens_reach_neither_results_nor_the_log(browser: list[str], tmp_path: Path) -> None:
    with guarded("brief") as url:
        told = await whisper(url, tmp_path / "server.log")
        tokens = logged(url)[1]
    assert len(tokens) >= 2
    assert told.count("***") >= 2
    seen = told + (tmp_path / "server.log").read_text()
    assert not [token for token in tokens if token in seen]
    assert [secrets.hide(token) for token in tokens] == ["***"] * len(tokens)


@pytest.mark.parametrize(
    ("server", "terminal", "cause"),
    [
        (
            lambda: guarded(),
            False,
            r"wants a person to log in in a browser, and there is no terminal .*`mcprl login URL`",
        ),
        (lambda: guarded("deny"), True, r"logging in failed: the login was refused: not today"),
        (lambda: odd_http("401"), True, r"publishes no OAuth metadata.*--header 'Authorization: Bearer \$TOKEN'"),
        (lambda: odd_http("key"), False, r"publishes no OAuth metadata.*--header 'Authorization: Bearer \$TOKEN'"),
    ],
    ids=["no-terminal", "denied", "no-metadata", "no-metadata-no-terminal"],
)
async def test_a_login_that_cannot_be_made_is_one_line(
    server: Any, terminal: bool, cause: str, browser: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oauth, "_has_terminal", lambda: terminal)
    with server() as url, pytest.raises(ServerError, match=cause) as caught:
        await whisper(url)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(url)


SECRET = "xyzzy-plugh-2718281828"


async def test_a_server_that_registers_nobody_is_logged_in_to_with_a_client_that_it_knows(
    browser: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The SDK's own authorization server with registration off; then a refresh, in another process so to speak."""
    keyring, port = MemoryKeyring(), str(free_port())
    monkeypatch.setattr(credentials, "_usable_keyring", lambda: keyring)
    monkeypatch.setenv("THE_CLIENTS_SECRET", SECRET)
    secretive = {"id": "secretive", "secret": "env:THE_CLIENTS_SECRET", "port": port}
    with guarded("known", port) as url:
        with pytest.raises(ServerError, match=r"logging in failed: Registration failed: 404.*--oauth-client id=ID"):
            await whisper(url)
        assert browser == []
        await whisper(url, None, {"id": "public", "port": port})
        await whisper(url, tmp_path / "server.log", secretive)
        assert logged(url)[0] == ["authorize", "code"] * 2, "each client has a login of its own"
        ours = "mcprl", f"{url} secretive"
        kept = json.loads(keyring.kept[ours])
        keyring.kept[ours] = json.dumps(kept | {"expires_at": time.time() - 10})
        forget_logins()
        monkeypatch.setattr(oauth, "_has_terminal", lambda: False)
        await whisper(url, tmp_path / "server.log", secretive)
        assert logged(url)[0] == ["authorize", "code"] * 2 + ["refresh"]
        moved = json.dumps(kept | {"tokens": None, "metadata": kept["metadata"] | {"issuer": "https://evil.example/"}})
        keyring.kept[ours] = moved
        forget_logins()
        with pytest.raises(ServerError, match="another authorization server than the client was made for"):
            await whisper(url, None, secretive)
    assert {parse_qs(urlsplit(address).query)["redirect_uri"][0] for address in browser} == {
        f"http://127.0.0.1:{port}/callback"
    }
    assert SECRET not in json.dumps([*keyring.kept.values(), browser]) + (tmp_path / "server.log").read_text()
    assert secrets.hide(f"refused: {SECRET}") == "refused: ***"


@pytest.fixture(scope="module")
def registers_nobody() -> Generator[str]:
    with guarded("known", 1) as url:
        yield url


@pytest.mark.parametrize(
    ("client", "cause"),
    [
        ({"secret": "env:NO_SUCH_VARIABLE", "id": "public"}, r"--oauth-client secret wants \$NO_SUCH_VARIABLE"),
        ({"port": "8000"}, "--oauth-client has no id=ID"),
        ({"id": "public", "port": "ten"}, "--oauth-client port=ten: expected a number up to 65535"),
        ({"id": "public", "port": "TAKEN"}, r"port \d+, to which the login comes back, is taken on this machine"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
async def test_a_client_that_cannot_log_in_is_one_line(
    client: dict[str, str], cause: str, registers_nobody: str, browser: list[str]
) -> None:
    taken = {"port": str(urlsplit(registers_nobody).port)} if client.get("port") == "TAKEN" else {}
    with pytest.raises(ServerError, match=cause) as caught:
        await whisper(registers_nobody, None, client | taken)
    assert "\n" not in str(caught.value)


def test_the_secret_of_a_client_is_kept_by_name_or_not_at_all() -> None:
    servers = [{"target": "http://h/mcp", "oauth_client": {"id": "us", "secret": given}} for given in ("env:X", SECRET)]
    config = parse({"servers": servers})
    kept = [server["oauth_client"] for server in redacted(config)["servers"]]
    assert kept == [{"id": "us", "secret": "$X"}, {"id": "us", "secret": "***"}]
    assert SECRET not in dump_config(config)
    with pytest.raises(ConfigError, match=r"resume it with .*--oauth-client 'secret=\*\*\*'"):
        with_secrets(parse({"servers": redacted(config)["servers"][1:]}), parse({}))


async def test_a_401_without_the_flag_opens_no_browser_and_names_both_ways(browser: list[str]) -> None:
    with guarded() as url, pytest.raises(ServerError, match=r"HTTP 401; give .*--header.*, or log in with --oauth"):
        async with connect([ServerConfig(target=url)]):
            pass
    assert browser == []


@pytest.mark.parametrize(
    ("target", "url", "allowed"),
    [
        ("https://mcp.example/mcp", "https://login.example/token", True),
        ("https://mcp.example/mcp", "http://169.254.169.254/latest", False),
        ("https://mcp.example/mcp", "http://127.0.0.1:8080/token", False),
        ("http://mcp.example:80/mcp", "http://mcp.example:80/token", True),
        ("http://mcp.example/mcp", "http://mcp.example.evil/token", False),
        ("http://127.0.0.1:1/mcp", "http://localhost:2/token", True),
        ("http://127.0.0.1:1/mcp", "http://10.0.0.1/token", False),
        ("https://mcp.example/mcp", "file:///etc/passwd", False),
    ],
)
async def test_a_login_goes_only_to_https_or_where_the_server_is(target: str, url: str, allowed: bool) -> None:
    login = oauth.Login(ServerConfig(target=target), lambda auth: pytest.fail("no request is made"))
    if allowed:
        login._require_allowed(url)
    else:
        with pytest.raises(oauth.OAuthFlowError, match="not https"):
            login._require_allowed(url)


# --- the callback -----------------------------------------------------------------------------------------------------


def ask(port: int, route: str, method: str = "GET") -> int:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{route}", method=method, data=b"" if method != "GET" else None
    )
    try:
        with urllib.request.urlopen(request, timeout=5) as reply:
            return reply.status
    except urllib.error.HTTPError as error:
        return error.code


async def test_the_callback_answers_no_route_without_the_state_and_the_right_one_once_it_comes() -> None:
    async with listening() as callback:
        callback.expect("a-random-state")
        wrong = """
            / /callback /callback? /callback?code=c /callback?code=c&state= /callback?code=c&state=a-random
            /callback/?code=c&state=a-random-state /other?code=c&state=a-random-state /mcp /.well-known/x /%00
            /callback?error=x&state=%ff //callback?state=a-random-state&code=c
        """.split()
        for route in wrong:
            assert await anyio.to_thread.run_sync(ask, callback.port, route) == 404, route
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
            right = "/callback?code=c&state=a-random-state"
            assert await anyio.to_thread.run_sync(ask, callback.port, right, method) == 404, method
        with anyio.move_on_after(0.05) as waited:
            await callback.fields()
        assert waited.cancelled_caught
        route = "/callback?" + urlencode({"code": "c&d", "state": "a-random-state"})
        assert await anyio.to_thread.run_sync(ask, callback.port, route) == 200
        assert await callback.fields() == {"code": "c&d", "state": "a-random-state"}


async def test_the_callback_listens_on_loopback_alone_and_is_gone_afterwards() -> None:
    async with listening() as callback:
        table = await anyio.Path("/proc/net/tcp").read_text()
        listening_at = [line.split()[1] for line in table.splitlines()[1:]]
        port = f"{callback.port:04X}"
        assert [address for address in listening_at if address.endswith(f":{port}")] == [f"0100007F:{port}"]
    with pytest.raises(OSError, match="All connection attempts failed"):
        await anyio.connect_tcp("127.0.0.1", callback.port)


async def test_a_flood_of_bytes_or_silence_does_not_keep_the_browser_out() -> None:
    async with listening() as callback:
        callback.expect("s3cret")
        silent = await anyio.connect_tcp("127.0.0.1", callback.port)
        flood = await anyio.connect_tcp("127.0.0.1", callback.port)
        with anyio.move_on_after(0.5), suppress(anyio.BrokenResourceError):  # it is hung up on
            while True:
                await flood.send(b"x" * 2**16)
                await anyio.sleep(0.01)
        assert await anyio.to_thread.run_sync(ask, callback.port, "/callback?code=c&state=s3cret") == 200
        await silent.aclose()
        await flood.aclose()


# --- the keyring ------------------------------------------------------------------------------------------------------


@contextmanager
def fake_module(monkeypatch: pytest.MonkeyPatch, priority: float) -> Generator[MemoryKeyring]:
    keyring = MemoryKeyring()
    keyring.priority = priority
    monkeypatch.undo()  # the fixture that says there is none
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    yield keyring


def test_only_a_keyring_that_its_authors_recommend_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with fake_module(monkeypatch, 0.5):  # a file in plain text
        assert not credentials.Credentials(ServerConfig(target="t")).lasting
    with fake_module(monkeypatch, 5) as keyring:
        kept = credentials.Credentials(ServerConfig(target="t"))
        kept.save("x")
        assert (kept.lasting, kept.load(), keyring.kept) == (True, "x", {("mcprl", "t"): "x"})


def test_a_keyring_that_refuses_is_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    with fake_module(monkeypatch, 5) as keyring:
        keyring.get_password = lambda service, name: 1 / 0  # type: ignore[method-assign]
        kept = credentials.Credentials(ServerConfig(target="t"))
        assert kept.load() is None
        assert not kept.lasting
        kept.save("x")
        assert keyring.kept == {}


# --- all listeners ----------------------------------------------------------------------------------------------------


def test_what_of_ours_listens_on_a_port_is_known() -> None:
    """`serve` and `view` ask for a key, `demo` serves invented data, `doctor` tries a port out; each is tested
    with what it listens for. SkyRL's server, which a user starts, listens on loopback; vLLM's on a socket in a folder
    of mode 0700."""
    listens = re.compile(
        r"create_\w*listener|start_server\(|create_server\(|HTTPServer\(|uvicorn\.|socket\(|\.listen\("
    )
    sources = {path.relative_to(ROOT).as_posix(): path.read_text() for path in (ROOT / "mcprl").rglob("*.py")}
    assert {name for name, text in sources.items() if listens.search(text)} == {
        "mcprl/servers/callback.py",
        "mcprl/servers/demo.py",
        "mcprl/serving/host.py",
        "mcprl/viewing/serving.py",
        "mcprl/cli/doctor.py",
        "mcprl/cli/serve_command.py",
        "mcprl/models/tinker/skyrl_server.py",
    }
    assert 'host="127.0.0.1"' in sources["mcprl/models/tinker/skyrl_server.py"]
    assert "--uds" in sources["mcprl/engines/vllm/server.py"]
    assert not any(word in sources["mcprl/engines/vllm/server.py"] for word in ('"--port"', '"--host"'))
