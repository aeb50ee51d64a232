"""The run's own model as the language model that judges its rollouts. Its adapter is off, so that training does
not change the measure.
"""

from contextlib import suppress
from typing import Any

import anyio

from mcprl.config import POLICY
from mcprl.engines import Engine
from mcprl.errors import EngineError, LlmError
from mcprl.llm import Chat
from mcprl.types import CompletionRequest

_REPLY_TOKENS = 4_096
_ATTEMPTS = 3
_DEADLINE_S = 600.0
"""Seconds for one reply: a long one of a large model on a CPU takes minutes."""


class PolicyLlm:
    """Asks the base model of an engine, at temperature 0: the same chat gets the same reply.

    Replies are not kept on disk, and cost nothing but the engine's time.
    """

    name, cost = POLICY, 0.0

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.calls = 0

    async def partner(self, messages: Chat, max_tokens: int) -> str:
        """As `reply`, in at most so many tokens: for a server that asks its client for a model."""
        return await self.reply(messages, max_tokens=max_tokens)

    async def reply(self, messages: Chat, schema: dict[str, Any] | None = None, max_tokens: int = _REPLY_TOKENS) -> str:
        """The model's reply: JSON of `schema`, to which the engine holds it, unless it is cut.

        An engine that fails is asked again, three times in all. Raises `LlmError` if it fails each time, or gives no
        reply in time.
        """
        request = CompletionRequest(tuple(messages), max_tokens=max_tokens, temperature=0.0, schema=schema)
        for _ in range(_ATTEMPTS - 1):
            with suppress(EngineError):
                return await self._ask(request)
        try:
            return await self._ask(request)
        except EngineError as error:
            raise LlmError(f"{POLICY}, the run's own model: {error}") from error

    def require(self) -> None:
        """Nothing is needed but the engine."""

    async def price(self, messages: Chat, calls: int) -> str:
        return "at no cost but its time"

    async def _ask(self, request: CompletionRequest) -> str:
        await self._engine.ready()
        try:
            with anyio.fail_after(_DEADLINE_S):
                completion = await self._engine.complete(request)
        except TimeoutError:  # asked again, it would take as long
            raise LlmError(f"{POLICY}, the run's own model: no reply within {_DEADLINE_S:g} s") from None
        self.calls += 1
        return str(completion.message.get("content") or "")
