"""The run's own model as the language model that judges its tries or writes its tasks: with the adapter off, so that
what is trained does not change what it is measured by."""

from typing import Any

from mcprl.config import POLICY
from mcprl.engines import Engine
from mcprl.errors import EngineError, LlmError
from mcprl.llm import Chat
from mcprl.types import CompletionRequest

REPLY_TOKENS = 4_096
TRIES = 3


class PolicyLlm:
    """Asks the base model of an engine, greedily, so that the same question gets the same reply.

    Replies are not kept on disk, and cost nothing but the engine's time.
    """

    name, cost = POLICY, 0.0

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.calls = 0

    async def reply(self, messages: Chat, schema: dict[str, Any] | None = None) -> str:
        """What the model says, as JSON of `schema` where the engine can hold it to that (vLLM can). An engine that dies
        meanwhile is asked again. Raises `LlmError`."""
        request = CompletionRequest(tuple(messages), max_tokens=REPLY_TOKENS, temperature=0.0, schema=schema)
        for left in range(TRIES - 1, -1, -1):
            try:
                await self._engine.ready()
                completion = await self._engine.complete(request)
                self.calls += 1
                return str(completion.message.get("content") or "")
            except EngineError as error:
                if not left:
                    raise LlmError(f"{POLICY}, the run's own model: {error}") from error
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def price(self, messages: Chat, calls: int) -> str:
        return "at no cost but its time"
