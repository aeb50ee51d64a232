"""Language models that judge and write: the seam, and those behind an API, through litellm: any provider, or any
endpoint that speaks OpenAI's protocol. (The run's own model is `engines.own`.)

A call is retried where trying again may help, honouring Retry-After; replies are kept on disk by what was asked, so
that asking again costs nothing; what calls cost is added up, and none is made that could pass the limit.
"""

import hashlib
import json
import logging
import os
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from mcprl.errors import BudgetError, LlmError, MissingExtra
from mcprl.files import write_whole
from mcprl.llm import Chat

_FINAL = ("AuthenticationError", "BadRequestError", "NotFoundError", "PermissionDeniedError", "PaymentRequiredError")
_LONGEST_WAIT_S = 60.0


@dataclass
class ChatModel:
    """A model by litellm's name (`openai/o4-mini`), at `base_url` where given."""

    name: str
    base_url: str = ""
    timeout_s: float = 120.0
    retries: int = 4
    concurrency: int = 8
    max_cost: float = 1e9
    """US dollars."""
    cache: Path | None = None
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    """More arguments for litellm."""
    reply_tokens: int = 2_000
    """What a reply is assumed to take when a call's cost is forecast."""
    limit: str = "--max-judge-cost"
    """The option that sets `max_cost`."""

    def __post_init__(self) -> None:
        self.cost, self.calls = 0.0, 0
        self._reserved = 0.0
        self._limiter = anyio.CapacityLimiter(self.concurrency)

    async def reply(self, messages: Chat, schema: dict[str, Any] | None = None) -> str:
        """What the model says to the messages, as JSON of `schema` where the model can be told so.

        Raises `LlmError` where it cannot be had, `BudgetError` where it could cost more than is left, `MissingExtra`
        without litellm.
        """
        asked = {"model": self.name, "base_url": self.base_url, "messages": messages, "schema": schema, **self.extra}

        async def call() -> str:
            litellm = await _litellm()
            settings: dict[str, Any] = {"messages": list(messages), "drop_params": True}
            if schema:
                wanted = {"name": "reply", "schema": schema, "strict": True}
                settings["response_format"] = {"type": "json_schema", "json_schema": wanted}
            response = await self._paid(litellm, litellm.acompletion, settings, await self.forecast(messages))
            said = response.choices[0].message
            return str(said.content or getattr(said, "refusal", None) or "")

        return str(await self._kept(asked, call))

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector for each text, of a model that makes vectors. Raises as `reply` does."""
        asked = {"model": self.name, "base_url": self.base_url, "texts": list(texts), **self.extra}

        async def call() -> list[list[float]]:
            litellm = await _litellm()
            settings = {"input": list(texts), "encoding_format": "float"}
            response = await self._paid(litellm, litellm.aembedding, settings, None)
            return [list(entry["embedding"]) for entry in response.data]

        return await self._kept(asked, call)

    async def _kept(self, asked: dict[str, Any], call: Callable[[], Awaitable[Any]]) -> Any:
        """What was answered when the same was asked before, else what `call` gives."""
        key = hashlib.sha256(json.dumps(asked, sort_keys=True, default=str).encode()).hexdigest()
        kept = self.cache / key[:2] / f"{key}.json" if self.cache else None
        if kept and kept.exists():
            return json.loads(kept.read_text())["reply"]
        async with self._limiter:
            reply = await call()
        if kept:
            kept.parent.mkdir(parents=True, exist_ok=True)
            write_whole(kept, json.dumps({"reply": reply}).encode())
        return reply

    async def forecast(self, messages: Chat) -> float | None:
        """About what one such call costs in US dollars; `None` where litellm has no price for the model."""
        litellm = await _litellm()
        try:
            tokens = litellm.token_counter(model=self.name, messages=list(messages))
            return sum(litellm.cost_per_token(self.name, tokens, self.reply_tokens))
        except Exception:  # litellm raises a plain Exception for a model that it has no price of
            return None

    async def price(self, messages: Chat, calls: int) -> str:
        each = await self.forecast(messages)
        return f"for about {calls * each:.2f} dollars" if each else "at a price that litellm does not know"

    async def _paid(self, litellm: Any, ask: Any, settings: dict[str, Any], forecast: float | None) -> Any:
        expected = forecast or 0.0
        if self.cost + self._reserved + expected > self.max_cost:
            spent = f"{self.cost:.4f} dollars are spent, and one more call may cost {expected:.4f}"
            raise BudgetError(f"{spent}; the limit is {self.max_cost:g} ({self.limit})")
        self._reserved += expected
        try:
            response = await self._persist(ask, settings)
        finally:
            self._reserved -= expected
        self.calls += 1
        with suppress(Exception):  # as in `forecast`
            self.cost += litellm.completion_cost(response)
        return response

    async def _persist(self, ask: Any, settings: dict[str, Any]) -> Any:
        settings |= {"model": self.name, "max_retries": 0, "timeout": self.timeout_s}
        if self.base_url:
            settings["api_base"] = self.base_url
            if self.name.startswith("openai/") and "OPENAI_API_KEY" not in os.environ:
                settings["api_key"] = "none"  # the client insists on one, most local endpoints do not
        settings |= self.extra
        for attempt in range(self.retries + 1):
            try:
                with anyio.fail_after(self.timeout_s + 5):  # a server that trickles keeps litellm's own timeout waiting
                    return await ask(**settings)
            except Exception as error:  # litellm's exceptions have no base of their own
                final = type(error).__name__ in _FINAL or attempt == self.retries
                if final:
                    after = f" after {attempt + 1} tries" if attempt else ""
                    raise LlmError(f"{self.name}: {_line(error, self.timeout_s)}{after}") from error
                await anyio.sleep(_wait(error, attempt))
        raise AssertionError("unreachable: the last attempt returns or raises")


async def _litellm() -> Any:
    """litellm takes seconds to import, and would fetch a price map from the network."""

    def load() -> Any:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        import litellm

        litellm.suppress_debug_info = True
        logging.getLogger("LiteLLM").setLevel(logging.ERROR)
        return litellm

    try:
        return await anyio.to_thread.run_sync(load)
    except ImportError:
        raise MissingExtra("litellm", "llm") from None


def _wait(error: Exception, attempt: int) -> float:
    """Seconds before the next try: what the server asked for, else twice as long each time, with jitter."""
    headers: Any = getattr(error, "litellm_response_headers", None) or {}
    try:
        asked = float(headers.get("retry-after", ""))
    except ValueError:
        asked = 0.5 * 2**attempt * random.uniform(0.75, 1.25)
    return min(asked, _LONGEST_WAIT_S)


def _line(error: Exception, timeout_s: float) -> str:
    if isinstance(error, TimeoutError):
        return f"no reply within {timeout_s:g} s"
    first = next(iter(str(error).splitlines()), "") or type(error).__name__
    return first.removeprefix("litellm.")[:300]
