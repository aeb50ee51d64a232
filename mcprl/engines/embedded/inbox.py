"""What the engine's thread is asked to do, and how it answers those who wait."""

from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from mcprl.engines.embedded.streams import Stream
from mcprl.errors import EngineError
from mcprl.types import Adapter, Completion, CompletionRequest


@dataclass(eq=False)
class Turn:
    """Sample this turn."""

    request: CompletionRequest
    future: "Future[Completion]"
    stream: Stream | None = None
    policy_step: int = 0
    told: int = 0  # tokens that `on_tokens` was given

    def tell(self) -> None:
        """Give `on_tokens` what was sampled since the last time."""
        if self.stream and self.request.on_tokens and self.told < len(self.stream.ids):
            begin, self.told = self.told, len(self.stream.ids)
            self.request.on_tokens(self.stream.ids[begin:], self.stream.logprobs[begin:])


@dataclass(eq=False)
class Load:
    """Serve this adapter."""

    adapter: Adapter
    future: "Future[None]"


@dataclass(eq=False)
class Free:
    """Free what decoders without a turn hold."""

    future: "Future[None]"


def answer(future: "Future[Any]", value: Any) -> None:
    """Set the result, unless its caller gave up."""
    with suppress(InvalidStateError):
        future.set_result(value)


def fail(future: "Future[Any]", error: Exception) -> None:
    """Set an `EngineError`, unless its caller gave up."""
    wrapped = error if isinstance(error, EngineError) else EngineError(f"the engine failed: {error!r}")
    wrapped.__cause__ = None if wrapped is error else error
    with suppress(InvalidStateError):
        future.set_exception(wrapped)
