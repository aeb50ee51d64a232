"""A model behind an API where an engine stands: to test it beside a model of one's own, never to train it."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcprl.config import Config
from mcprl.engines import Engine, open_engine
from mcprl.engines.trial import load_worded
from mcprl.errors import BudgetError, EngineError, LlmError, ModelError
from mcprl.events import Emit, Note, ignore
from mcprl.files import AUTO, find_cache
from mcprl.llm.litellm import ChatModel
from mcprl.models import BEHIND_AN_API
from mcprl.types import Adapter, Completion, CompletionRequest, Message


@asynccontextmanager
async def open_policy(config: Config, log: Path, emit: Emit = ignore) -> AsyncGenerator[Engine]:
    """What samples the configured model: the API that it is behind, else the engine with the model loaded.

    Raises `LlmError` if an API's key is not set, `MissingExtra`, and as `load_worded` and `open_engine` do.
    """
    if not config.model.name.startswith(BEHIND_AN_API):
        config, model = await load_worded(config, emit)
        if model.note:
            emit(Note(model.note))
        async with open_engine(config, model, log, emit) as engine:
            yield engine
        return
    agent = ApiAgent(config)
    agent.model.require()
    yield agent


class ApiAgent:
    """Asks a model behind an API for turns: messages alone, without ids and log-probabilities, which APIs hide. A turn
    that was asked for before comes from the disk and is not paid for again."""

    def __init__(self, config: Config) -> None:
        self.model = ChatModel(
            config.model.name.removeprefix(BEHIND_AN_API),
            base_url=config.engine.base_url,
            timeout_s=config.rollout.deadline_s,
            max_cost=config.engine.max_cost,
            cache=find_cache(AUTO, "agents"),
            limit="--max-model-cost",
        )
        self.cost: float | None = 0.0
        """US dollars that its turns cost when they were made; `None` if one's price is not known."""

    async def ready(self) -> None:
        """An API is always there."""

    async def complete(self, request: CompletionRequest) -> Completion:
        """Ask for one turn. Raises `EngineError` if there is none, and `BudgetError` before it could cost too much."""
        sampling = {"temperature": request.temperature, "seed": request.seed, "max_tokens": request.max_tokens}
        functions = [tool.as_function() for tool in request.tools]
        try:
            turn = await self.model.turn(request.messages, functions, sampling)
        except BudgetError:
            raise
        except LlmError as error:
            raise EngineError(str(error)) from error
        self.cost = None if self.cost is None or turn["cost"] is None else self.cost + turn["cost"]
        given: dict[str, Any] = turn["message"]
        calls, malformed = _calls(given.get("tool_calls") or [])
        message: Message = {"role": "assistant", "content": given.get("content") or ""}
        if calls:
            message["tool_calls"] = calls
        reason = "length" if turn["finish"] == "length" else "tool_calls" if calls else "stop"
        return Completion(message, (), (), (), reason, malformed=tuple(malformed))

    async def load_adapter(self, adapter: Adapter) -> None:
        raise ModelError(f"{self.model.name} is behind an API and takes no adapter; leave out --adapter")

    @asynccontextmanager
    async def paused(self) -> AsyncGenerator[None]:
        """It uses no memory of this machine."""
        yield

    async def close(self) -> None:
        """Nothing is kept open."""


def _calls(given: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """The calls whose arguments are an object, in OpenAI's format, and a sentence for each other one."""
    calls: list[dict[str, Any]] = []
    malformed: list[str] = []
    for call in given:
        name, text = call["function"].get("name") or "", call["function"].get("arguments") or "{}"
        try:
            arguments = json.loads(text)
        except ValueError:
            arguments = None
        if isinstance(arguments, dict):
            calls.append({**call, "type": "function", "function": {"name": name, "arguments": text}})
        else:
            malformed.append(f"the arguments of {name} are no JSON object: {text[:200]}")
    return calls, malformed
