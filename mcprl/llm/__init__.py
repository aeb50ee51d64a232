"""The seam for language models that judge and write: `litellm` asks one behind an API, `policy` the run's own base."""

from collections.abc import Sequence
from typing import Any, Protocol

Chat = Sequence[dict[str, str]]


class LanguageModel(Protocol):
    """Something that answers a chat. `cost` (US dollars) and `calls` are those made so far."""

    name: str
    cost: float
    calls: int

    async def reply(self, messages: Chat, schema: dict[str, Any] | None = None) -> str:
        """What the model says to the messages, as JSON of `schema` where the model can be told so.

        Raises `LlmError` where it cannot be had.
        """
        ...

    async def price(self, messages: Chat, calls: int) -> str:
        """What so many calls like this will cost, in words that follow "it will be asked"."""
        ...
