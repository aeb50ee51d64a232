"""The seam for language models that judge and write: `litellm` asks one behind an API, `policy` the run's own base."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, TypedDict, Unpack

from mcprl.config import POLICY
from mcprl.errors import ConfigError

Chat = Sequence[dict[str, str]]


class FaultyReply(str):
    """A reply that is not what was asked for. `fault` says why: empty, refused, cut."""

    fault: str

    def __new__(cls, text: str, fault: str) -> "FaultyReply":
        reply = super().__new__(cls, text)
        reply.fault = fault
        return reply


class LanguageModel(Protocol):
    """Something that answers a chat. `cost` (US dollars) and `calls` are its totals so far."""

    name: str
    cost: float
    calls: int

    async def reply(self, messages: Chat, schema: dict[str, Any] | None = None) -> str:
        """The model's reply to the messages: JSON of `schema`, if the model can be held to it. `FaultyReply` is none.

        Raises `LlmError` if nothing came.
        """
        ...

    def require(self) -> None:
        """Raise what would keep every call from being made, such as a key that is not set. Asks nothing."""
        ...

    async def price(self, messages: Chat, calls: int) -> str:
        """The cost of so many calls like this one, in words that can follow "it will be asked"."""
        ...


class ApiSettings(TypedDict, total=False):
    """Settings of a model behind an API; `litellm.ChatModel` has their meanings and defaults."""

    base_url: str
    timeout_s: float
    retries: int
    concurrency: int
    max_cost: float
    cache: Path | None
    extra: dict[str, Any]
    reply_tokens: int
    limit: str


def open_llm(
    name: str,
    setting: str,
    policy: LanguageModel | None = None,
    *,
    instead: str = "name another model",
    **api: Unpack[ApiSettings],
) -> LanguageModel:
    """`policy`, the run's own model, if `name` is "policy", else the model that litellm calls `name`, with `api`.

    Raises `ConfigError` for "policy" without a run: its text says which `setting` named it and what to do `instead`.
    """
    if name != POLICY:
        from mcprl.llm.litellm import ChatModel

        return ChatModel(name, **api)
    if policy is None:
        raise ConfigError(f"{setting} names {POLICY!r}, a run's own model, but there is no run here; {instead}")
    return policy
