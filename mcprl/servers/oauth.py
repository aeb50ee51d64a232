"""Logging in to a server in a browser: OAuth 2.1 as MCP has it, through the SDK's provider.

The SDK discovers the authorization server, registers this program, makes the request with PKCE and a random state, and
renews tokens. Here is what it leaves to its user: where tokens are kept, the browser, the client that a server which
registers none knows already, and which addresses are fetched: only https ones, and those of the server's own origin or,
for a server on this machine, of this machine.
"""

import sys
import webbrowser
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from urllib.parse import parse_qs, urlsplit

import anyio
import anyio.lowlevel
import anyio.to_thread
import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError, OAuthRegistrationError, OAuthTokenError
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
)
from pydantic import AnyUrl, BaseModel, ValidationError

from mcprl.config import ServerConfig
from mcprl.errors import ServerError
from mcprl.secrets import hide, learn_values, resolve
from mcprl.servers.callback import Callback, has_screen, listening
from mcprl.servers.credentials import Credentials, entry
from mcprl.servers.protocol import one_line

LOGIN_S = 300.0
"""Seconds that a person has to log in."""
FLOW = "oauth"
"""The mark, among a request's extensions, of requests that the login itself makes."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_PING = {"jsonrpc": "2.0", "id": "login", "method": "ping"}
_EXPIRED = 1.0

Client = Callable[[httpx2.Auth], httpx2.AsyncClient]


class Kept(BaseModel):
    """What is kept of a login. `metadata` is the authorization server's, `expires_at` in seconds since 1970."""

    tokens: OAuthToken | None = None
    expires_at: float | None = None
    client: OAuthClientInformationFull | None = None
    metadata: OAuthMetadata | None = None


class Login(OAuthClientProvider):
    """The login of this process at one server. `client` makes an HTTP client that authenticates with it."""

    def __init__(self, config: ServerConfig, client: Client) -> None:
        target = self._target = config.target
        self._client, self._registered = client, config.oauth_client
        self._credentials = Credentials(config)
        self._kept, self._loaded = Kept(), False
        self._callback: Callback | None = None
        self._renewing = anyio.Lock()
        self._begun = False
        metadata = OAuthClientMetadata(
            client_name="mcprl",
            redirect_uris=[AnyUrl("http://127.0.0.1/callback")],
            token_endpoint_auth_method="none",
        )
        super().__init__(target, metadata, self, self._open_browser, self._wait_for_browser)

    async def begin(self) -> None:
        """Log in if the server asks for it and no kept token serves. Raises `ServerError`."""
        async with self._renewing:
            if self._begun:
                return
            if not _has_terminal():
                await self._ping()
            else:
                port = await self._kept_port()
                async with listening(port) as self._callback:
                    self.context.client_metadata.redirect_uris = [AnyUrl(self._callback.uri)]
                    if "port" in self._registered and port != self._callback.port:
                        raise ServerError(f"port {port}, to which the login comes back, is taken on this machine")
                    if port != self._callback.port and not self._kept.tokens:
                        self._kept.client = None  # it was registered with another address
                    await self._ping()
                self._callback = None
            self._begun = True

    async def token(self, refused: str = "") -> str:
        """An access token that is not the `refused` one, empty if the server asks for none. Raises `ServerError`."""
        async with self._renewing:
            current = self.context.current_tokens
            if current and current.access_token == refused:
                self.context.token_expiry_time = _EXPIRED  # it is refreshed, where that is possible
            if refused or (current and not self.context.is_token_valid()):
                await self._ping()
            current = self.context.current_tokens
            return current.access_token if current else ""

    async def _ping(self) -> None:
        """A request that the SDK authenticates: it refreshes the token, or has a person log in."""
        events = urlsplit(self._target).path.rstrip("/").endswith("/sse")
        method, body = ("GET", None) if events else ("POST", _PING)
        headers = {"accept": "text/event-stream" if events else "application/json, text/event-stream"}
        try:
            with anyio.fail_after(LOGIN_S):
                async with (
                    self._client(self) as client,
                    client.stream(method, self._target, json=body, headers=headers),
                ):
                    pass  # whatever it answers: the connection that follows says what is wrong
        except TimeoutError:
            raise ServerError(f"nobody logged in within {LOGIN_S:.0f} s; try again, or use --header") from None
        except (OAuthFlowError, OAuthRegistrationError, OAuthTokenError, ValidationError) as error:
            cause = one_line(hide(str(error))).rstrip(".")
            advice = "give credentials with --header 'Authorization: Bearer $TOKEN'"
            if isinstance(error, OAuthRegistrationError):
                advice = "name a client that it knows with --oauth-client id=ID (and secret=env:NAME), or " + advice
            raise ServerError(f"logging in failed: {cause}; {advice}") from None
        except httpx2.HTTPError:
            pass

    # --- the SDK's flow, with a look at each address ------------------------------------------------------------------

    async def _auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        flow = super()._auth_flow(request)
        try:
            outgoing = await anext(flow)
            while True:
                if outgoing is not request:
                    self._require_allowed(str(outgoing.url))
                    if outgoing.method == "POST" and self.context.oauth_metadata is None:
                        raise OAuthFlowError("the server publishes no OAuth metadata, so nobody can log in")
                    if self._registered and self.context.client_info is None:
                        other = "the server names another authorization server than the client was made for"
                        raise OAuthFlowError(f"{other}; if it is right, say so with --oauth-client issuer=URL")
                    outgoing.extensions[FLOW] = True
                response = yield outgoing
                outgoing = await flow.asend(response)
        except StopAsyncIteration:
            return
        finally:
            await flow.aclose()

    def _require_allowed(self, url: str) -> None:
        own, other = urlsplit(self._target), urlsplit(url)
        local = own.hostname in _LOOPBACK and other.hostname in _LOOPBACK
        if not (other.scheme == "https" or local or (own.scheme, own.netloc) == (other.scheme, other.netloc)):
            raise OAuthFlowError(f"the server names {url[:100]!r} for the login, which is not https")

    # --- the browser --------------------------------------------------------------------------------------------------

    async def _open_browser(self, url: str) -> None:
        if self._callback is None:
            raise OAuthFlowError(
                "the server wants a person to log in in a browser, and there is no terminal to ask on: run "
                "`mcprl login URL` in a terminal of this machine" + ("" if self._credentials.lasting else _KEEP)
            )
        self._require_allowed(url)
        self._callback.expect(parse_qs(urlsplit(url).query)["state"][0])
        if self._registered:
            self.context.client_info = self._known_client(self.context.oauth_metadata)
        name, port = urlsplit(self._target).netloc, self._callback.port
        lines = [f"log in to {name} in the browser of this machine, at", url]
        lines.append(f"(from another machine: first ssh -L {port}:127.0.0.1:{port} to this one)")
        if not self._credentials.lasting:
            lines.append(f"the login lasts as long as this command{_KEEP}")
        sys.stderr.write("\n".join(lines) + "\n")
        if has_screen():
            await anyio.to_thread.run_sync(webbrowser.open, url)

    async def _wait_for_browser(self) -> AuthorizationCodeResult:
        if self._callback is None:
            raise OAuthFlowError("nobody can log in")
        fields = await self._callback.fields()
        if error := fields.get("error"):
            raise OAuthFlowError(f"the login was refused: {fields.get('error_description') or error}")
        learn_values([fields.get("code", "")])
        return AuthorizationCodeResult(code=fields.get("code", ""), state=fields.get("state"), iss=fields.get("iss"))

    async def _kept_port(self) -> int:
        """The port with which this program is registered at the server, 0 if it is not."""
        if self._registered:
            port = self._registered.get("port", "0")
            if not port.isdecimal() or int(port) > 65535:
                raise ServerError(f"--oauth-client port={port[:20]}: expected a number up to 65535")
            return int(port)
        client = await self.get_client_info()
        return next((uri.port or 0 for uri in client.redirect_uris or ()), 0) if client else 0

    # --- the SDK's TokenStorage ---------------------------------------------------------------------------------------

    async def _initialize(self) -> None:
        """The SDK forgets when a loaded token expires and where it can be refreshed, so it never refreshes one."""
        await super()._initialize()
        self.context.token_expiry_time = self._kept.expires_at
        self.context.oauth_metadata = self.context.oauth_metadata or self._kept.metadata

    async def get_tokens(self) -> OAuthToken | None:
        await self._load()
        return self._kept.tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        await self._load()
        return self._known_client(self._kept.metadata) if self._registered else self._kept.client

    def _known_client(self, metadata: OAuthMetadata | None) -> OAuthClientInformationFull:
        """The client that the operator has registered. It shows its secret as the server's `metadata` want it, in the
        Authorization header if they do not say (RFC 8414, section 2), and to no other server than the first."""
        told = {key: resolve(value, f"--oauth-client {key}") for key, value in self._registered.items()}
        if not told.get("id"):
            raise ServerError("--oauth-client has no id=ID, under which the server knows this client")
        learn_values([told.get("secret", "")])
        ways = (metadata and metadata.token_endpoint_auth_methods_supported) or ["client_secret_basic"]
        way = "client_secret_basic" if "client_secret_basic" in ways else "client_secret_post"
        return OAuthClientInformationFull(
            client_id=told["id"],
            client_secret=told.get("secret"),
            token_endpoint_auth_method=way if "secret" in told else "none",
            redirect_uris=self.context.client_metadata.redirect_uris,
            issuer=told.get("issuer") or (str(self._kept.metadata.issuer) if self._kept.metadata else None),
        )

    async def set_tokens(self, tokens: OAuthToken) -> None:
        expires_at, metadata = self.context.token_expiry_time, self.context.oauth_metadata
        await self._save(
            self._kept.model_copy(update={"tokens": tokens, "expires_at": expires_at, "metadata": metadata})
        )

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        await self._save(self._kept.model_copy(update={"client": client_info}))

    async def _load(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        text = await anyio.to_thread.run_sync(self._credentials.load)
        with suppress(ValidationError):  # of another version: the login begins anew
            self._kept = Kept.model_validate_json(text) if text else self._kept
        self._hide_tokens()

    async def _save(self, kept: Kept) -> None:
        self._kept = kept
        self._hide_tokens()
        await anyio.to_thread.run_sync(self._credentials.save, kept.model_dump_json(exclude_none=True))

    def _hide_tokens(self) -> None:
        tokens, client = self._kept.tokens, self._kept.client
        values = [tokens.access_token, tokens.refresh_token] if tokens else []
        learn_values([value for value in [*values, client.client_secret if client else None] if value])


_KEEP = "; a system keyring and `pip install 'mcprl[keyring]'` keep it"
_logins = anyio.lowlevel.RunVar[dict[str, Login]]("logins")


def login(config: ServerConfig, client: Client) -> Login:
    """The login at a server: one for all connections of this event loop."""
    logins = _logins.get({})
    _logins.set(logins)
    if entry(config) not in logins:
        logins[entry(config)] = Login(config, client)
    return logins[entry(config)]


async def has_tokens(config: ServerConfig) -> bool:
    """Whether the login at a server got tokens or had them: a server may ask for none."""
    known = _logins.get({}).get(entry(config))
    return known is not None and await known.get_tokens() is not None


class Bearer(httpx2.Auth):
    """Sends a login's token, and a renewed one if the server refuses it. The SDK's own provider would send one request
    at a time."""

    def __init__(self, login: Login) -> None:
        self._login = login

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        token = await self._login.token()
        if token:
            request.headers["Authorization"] = f"Bearer {token}"
        response = yield request
        if response.status_code == 401 and token:
            request.headers["Authorization"] = f"Bearer {await self._login.token(refused=token)}"
            yield request


def _has_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()
