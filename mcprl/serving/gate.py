"""What a request passes before its route: the key, the size of its body, how many are answered at once."""

import secrets
import time

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcprl.serving.metrics import Metrics
from mcprl.serving.refusals import Refusal

OPEN = "/health"
MAX_BODY = 64 * 2**20
MAX_RUNNING = 1_024


class Gate:
    """Lets requests with the key through, and counts them. `/health` needs no key."""

    def __init__(self, app: ASGIApp, key: str, metrics: Metrics, max_body: int = MAX_BODY) -> None:
        self._app, self._expected, self._metrics, self._max_body = app, f"Bearer {key}".encode(), metrics, max_body
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self._running += 1
        self._metrics.running.set(self._running)
        try:
            await self._answer(scope, receive, noting)
        finally:
            self._running -= 1
            self._metrics.running.set(self._running)
            route = getattr(scope.get("route"), "path", "other")
            self._metrics.answered(route, status, time.perf_counter() - began)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._check(dict(scope["headers"]), scope["path"])
            body, more = bytearray(), scope["path"] != OPEN
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return
                body += message.get("body", b"")
                more = message.get("more_body", False)
                if len(body) > self._max_body:
                    raise self._too_large()
        except Refusal as refusal:
            await JSONResponse(refusal.body, refusal.status)(scope, receive, send)
            return
        given = False

        async def again() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": bytes(body), "more_body": False}

        await self._app(scope, again, send)

    def _check(self, headers: dict[bytes, bytes], path: str) -> None:
        if path == OPEN:
            return
        if not secrets.compare_digest(headers.get(b"authorization", b""), self._expected):
            raise Refusal(
                401, "the key is missing or wrong; send the header Authorization: Bearer KEY", code="invalid_api_key"
            )
        if self._running > MAX_RUNNING:
            raise Refusal(429, f"{MAX_RUNNING} requests are being answered; send this one again later", code="busy")
        if int(headers.get(b"content-length", b"0")) > self._max_body:
            raise self._too_large()

    def _too_large(self) -> Refusal:
        return Refusal(413, f"the body has more than {self._max_body} bytes; send it in parts", code="body_too_large")
