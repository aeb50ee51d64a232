"""A rollout function of the user's own: OpenAI's client on the engine of a run, whose turns are recorded exactly."""

import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from uuid import uuid4

from mcprl.config import Config
from mcprl.engines import Engine
from mcprl.engines.conversation import Conversation
from mcprl.errors import EngineError, McprlError, MissingExtra, ServerError
from mcprl.models.load import LoadedModel
from mcprl.rollout import Converse
from mcprl.serving.app import create_app
from mcprl.serving.model import BASE, ServedModel
from mcprl.serving.sampling import ROLLOUT
from mcprl.text import first_line
from mcprl.types import Adapter, CallRecord, Completion, CompletionRequest, Message, Session, StopReason, ToolResult

try:
    import httpx2
    from openai import APIStatusError, AsyncOpenAI
except ImportError:
    raise MissingExtra("openai", "llm") from None

Play = Callable[[AsyncOpenAI, Session, list[Message], list[dict[str, Any]]], Awaitable[object]]
"""One rollout: it is given OpenAI's client, a session of the live server, the messages that begin the conversation, and
the server's tools in OpenAI's format. What it returns is not looked at."""


def played(play: Play, config: Config, loaded: LoadedModel, engine: Engine) -> Converse:
    """The function as the conversation of each rollout."""
    model = _RunModel("run", loaded, engine, config.rollout)
    key = secrets.token_urlsafe()
    transport = httpx2.ASGITransport(create_app(model, key), raise_app_exceptions=False)
    return partial(PlayedConversation, play=play, model=model, transport=transport, key=key)


class _RunModel(ServedModel):
    """A model whose adapters the run loads. They are asked for by their names on the engine."""

    def find(self, name: str) -> Adapter | None:
        return None if name == BASE else Adapter("", int(name.removeprefix("step-")))

    async def complete(self, request: CompletionRequest, adapter: Adapter | None) -> Completion:
        return await self.engine.complete(replace(request, adapter=adapter.name if adapter else None))


@dataclass
class PlayedConversation(Conversation):
    """A conversation that the user's function leads. Its client samples as the run does, whatever its requests say:
    with the run's weights, temperature and seeds, and without a nucleus."""

    play: Play = field(kw_only=True)
    model: ServedModel = field(kw_only=True)
    transport: httpx2.AsyncBaseTransport = field(kw_only=True)
    key: str = field(kw_only=True)
    _name: str = field(default_factory=lambda: uuid4().hex, init=False)
    _asked: int = field(default=0, init=False)

    async def answer(self, session: Session) -> StopReason:
        """Have the function play. Raises `EngineError`, `SessionLost`, and `ServerError` for what it does wrong."""
        client = AsyncOpenAI(
            base_url="http://in-process/v1",
            api_key=self.key,
            http_client=httpx2.AsyncClient(transport=_AsTheRun(self.transport, self._sampling)),
            max_retries=0,
            default_headers={ROLLOUT: self._name},
        )
        tools = [tool.as_function() for tool in self.tools]
        try:
            await self.play(client, _Recorded(session, self.calls, self._take), [*self.messages], tools)
        except McprlError:
            raise
        except Exception as error:  # the function is not ours
            if isinstance(error, APIStatusError) and error.code == "context_length_exceeded":
                return "max_tokens"
            kind = EngineError if isinstance(error, APIStatusError) and error.status_code >= 500 else ServerError
            raise kind(f"the rollout function failed: {type(error).__name__}: {first_line(error)}") from error
        finally:
            self._take()
        if not self.turns:
            raise ServerError("the rollout function sampled no turn; it must ask the client that it is given")
        if self.turns[-1].finish_reason == "length":
            return "max_tokens"
        return "max_turns" if self.turns[-1].message.get("tool_calls") else "answered"

    def _sampling(self) -> dict[str, Any]:
        """What each request samples with."""
        self._asked += 1
        seed = self.seed + self._asked - 1
        return {"model": self.adapter or BASE, "temperature": self.temperature, "seed": seed, "top_p": 1.0}

    def _take(self) -> int:
        """Take what was sampled so far as the turns, the last one's conversation as the messages. Returns how many."""
        sampled = self.model.rollouts.turns(self._name)
        if any(turn.held_to_schema for turn in sampled):
            raise ServerError("the rollout function held a turn to a schema, which cannot be trained on; leave it out")
        if sampled:
            self.turns[:] = [turn.completion for turn in sampled]
            self.messages[:] = [*sampled[-1].messages, sampled[-1].completion.message]
        return len(sampled)


class _AsTheRun(httpx2.AsyncBaseTransport):
    """Puts the run's settings into each request."""

    def __init__(self, transport: httpx2.AsyncBaseTransport, settings: Callable[[], dict[str, Any]]) -> None:
        self._transport, self._settings = transport, settings

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method != "POST":
            return await self._transport.handle_async_request(request)
        content = json.dumps(json.loads(await request.aread()) | self._settings())
        own = ("content-length", "transfer-encoding")
        headers = [(name, value) for name, value in request.headers.items() if name.lower() not in own]
        return await self._transport.handle_async_request(
            httpx2.Request(request.method, request.url, headers=headers, content=content, extensions=request.extensions)
        )


class _Recorded:
    """A session whose calls are those of the rollout."""

    def __init__(self, session: Session, calls: list[CallRecord], turns: Callable[[], int]) -> None:
        self._session, self._calls, self._turns = session, calls, turns

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        result = await self._session.call(tool, arguments)
        self._calls.append(CallRecord(max(0, self._turns() - 1), tool, dict(arguments), result))
        return result
