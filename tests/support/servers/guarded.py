"""An MCP server behind OAuth, with an authorization server of its own: `python guarded.py PORT [MODE ...]`.

The SDK's own server parts: metadata, dynamic registration, PKCE, refresh tokens that are used once. Nobody is asked:
the authorization page sends the browser back at once. MODE `brief` gives tokens that expire after one second, `deny`
refuses each login; `known PORT` registers nobody and knows two clients, `public` and `secretive`, to which a browser
comes back on that port. `GET /log` lists what was asked for, `GET /revoke` makes every access token void.
"""

import json
import secrets
import sys
import time
from typing import Any

from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from mcp_types import ToolAnnotations
from pydantic import AnyHttpUrl
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

PORT, MODE = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
HOME = f"http://127.0.0.1:{PORT}"
LIFE_S = 1 if MODE == "brief" else 3600
SECRET = {"token_endpoint_auth_method": "client_secret_basic", "client_secret": "xyzzy-plugh-2718281828"}


class Accounts(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """The authorization server's memory."""

    def __init__(self) -> None:
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.refreshes: dict[str, RefreshToken] = {}
        self.accesses: dict[str, AccessToken] = {}
        self.log: list[str] = []
        if MODE == "known":
            back = {"redirect_uris": [f"http://127.0.0.1:{sys.argv[3]}/callback"]}
            for name, way in (("public", {"token_endpoint_auth_method": "none"}), ("secretive", SECRET)):
                self.clients[name] = OAuthClientInformationFull.model_validate({"client_id": name, **back, **way})

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.log.append("register")
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        self.log.append("authorize")
        if MODE == "deny":
            return f"{params.redirect_uri}?error=access_denied&error_description=not+today&state={params.state}"
        code = AuthorizationCode(
            code=secrets.token_urlsafe(24),
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            **params.model_dump(
                include={"code_challenge", "redirect_uri", "redirect_uri_provided_explicitly", "resource"}
            ),
        )
        self.codes[code.code] = code
        return f"{params.redirect_uri}?code={code.code}&state={params.state}"

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        self.log.append("code")
        del self.codes[authorization_code.code]
        return self._tokens(client, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        return self.refreshes.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        self.log.append("refresh")
        del self.refreshes[refresh_token.token]
        return self._tokens(client, scopes, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.accesses.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        raise NotImplementedError

    def _tokens(self, client: OAuthClientInformationFull, scopes: list[str], resource: str | None) -> OAuthToken:
        access, refresh = f"access-{secrets.token_hex(12)}", f"refresh-{secrets.token_hex(12)}"
        given: dict[str, Any] = {"client_id": client.client_id, "scopes": scopes, "resource": resource}
        self.accesses[access] = AccessToken(token=access, expires_at=int(time.time()) + LIFE_S, **given)
        self.refreshes[refresh] = RefreshToken(token=refresh, **given)
        return OAuthToken(access_token=access, refresh_token=refresh, expires_in=LIFE_S, scope=" ".join(scopes))


accounts = Accounts()
server = MCPServer(
    "guarded",
    auth_server_provider=accounts,
    auth=AuthSettings(
        issuer_url=AnyHttpUrl(HOME),
        resource_server_url=AnyHttpUrl(f"{HOME}/mcp"),
        client_registration_options=ClientRegistrationOptions(enabled=MODE != "known"),
        validate_token_resource=True,
    ),
)


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def whisper() -> str:
    """Say the tokens that are in use."""
    return json.dumps([*accounts.accesses, *accounts.refreshes])


@server.custom_route("/log", methods=["GET"])
async def log(request: Request) -> Response:
    return JSONResponse([accounts.log, [*accounts.accesses, *accounts.refreshes]])


@server.custom_route("/revoke", methods=["GET"])
async def revoke(request: Request) -> Response:
    accounts.accesses.clear()
    return JSONResponse({})


server.run("streamable-http", host="127.0.0.1", port=PORT)
