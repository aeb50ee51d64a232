"""A served model as the engine of rollouts, and the transport of OpenAI's client to it."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any

import httpx2

from mcprl.art.backends import ModelConnection, checked, no_answer
from mcprl.errors import ConfigError, EngineError, McprlError, PromptTooLong
from mcprl.serving.refusals import of_error
from mcprl.serving.sampling import EXACT, ROLLOUT
from mcprl.types import Adapter, Completion, CompletionRequest

Connect = Callable[[], Awaitable[ModelConnection]]


class ServedPolicy:
    """Samples turns at a served model. Those of a `rollout` are recorded there under that name, so that each turn
    extends the ids of the last."""

    def __init__(self, connect: Connect, model: str, rollout: str = "") -> None:
        self._connect, self._model, self._rollout = connect, model, rollout

    async def complete(self, request: CompletionRequest) -> Completion:
        """Sample one turn. Raises `EngineError`."""
        body: dict[str, Any] = {
            "model": self._model,
            "messages": list(request.messages),
            "tools": [tool.as_function() for tool in request.tools],
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "seed": request.seed,
        }
        connection = await self._connect()
        headers = {ROLLOUT: self._rollout, EXACT: "true"}
        try:
            answer = await connection.client.post("/v1/chat/completions", json=body, headers=headers)
        except httpx2.TransportError as error:
            raise no_answer(connection, error) from error
        try:
            choice: dict[str, Any] = checked(answer).json()["choices"][0]
        except ConfigError as error:
            too_long = answer.json()["error"]["code"] == "context_length_exceeded"
            raise (PromptTooLong if too_long else EngineError)(str(error)) from error
        message = {name: value for name, value in choice["message"].items() if value is not None}
        logprobs = tuple(entry["logprob"] for entry in choice["logprobs"]["content"])
        return Completion(
            {"content": "", **message},
            tuple(choice["prompt_token_ids"]),
            tuple(choice["token_ids"]),
            logprobs,
            choice["finish_reason"],
            choice["policy_step"],
            tuple(choice.get("malformed", ())),
        )

    async def ready(self) -> None:
        """Connect, however long the model takes to load."""
        await self._connect()

    def paused(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def load_adapter(self, adapter: Adapter) -> None:
        raise NotImplementedError("a served model loads its own adapters")

    async def close(self) -> None:
        """Do nothing: the owner of the model closes it."""


class ServedTransport(httpx2.AsyncBaseTransport):
    """Sends the requests of OpenAI's client to a served model, which is opened by the first."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            client = (await self._connect()).client
        except McprlError as error:  # the client would say "Connection error." and nothing else
            refusal = of_error(error)
            return httpx2.Response(refusal.status, json=refusal.body)
        own = ("host", "authorization", "content-length", "transfer-encoding")
        forwarded = client.build_request(
            request.method,
            request.url.raw_path.decode(),
            content=await request.aread(),
            headers=[(name, value) for name, value in request.headers.items() if name.lower() not in own],
            extensions=request.extensions,
        )
        return await client.send(forwarded, stream=True)
