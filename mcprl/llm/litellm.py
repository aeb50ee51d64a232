"""Language models behind an API, through litellm: any provider, or any endpoint that speaks OpenAI's protocol.

A call is repeated after an error that may pass, honouring Retry-After. Replies are cached on disk by request, so that
the same request costs nothing again. Costs are added up, and a call that could pass the limit is not made.
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
from mcprl.llm import Chat, FaultyReply
from mcprl.secrets import hide
from mcprl.text import counted, find_json

_FINAL = ("AuthenticationError", "BadRequestError", "NotFoundError", "PermissionDeniedError", "PaymentRequiredError")
_LONGEST_WAIT_S = 60.0
_BOUNDS = ("maxLength", "minItems", "maxItems", "prefixItems", "minimum", "maximum")
"""Keywords of JSON Schema that some providers refuse, and that no large model needs."""


@dataclass
class ChatModel:
    """A model by litellm's name (`openai/o4-mini`), at `base_url` if given."""

    name: str
    base_url: str = ""
    timeout_s: float = 120.0
    """Seconds for one attempt."""
    retries: int = 4
    """Further attempts after an error that may pass."""
    concurrency: int = 8
    """Calls at the same time, at most."""
    max_cost: float = 1e9
    """US dollars."""
    cache: Path | None = None
    """The folder of cached replies; `None` caches none."""
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    """More arguments for litellm."""
    reply_tokens: int = 2_000
    """Tokens of a reply, assumed when a call's cost is forecast."""
    limit: str = "--max-judge-cost"
    """The option that sets `max_cost`, for the error message."""

    def __post_init__(self) -> None:
        self.cost, self.calls = 0.0, 0
        self._reserved = 0.0
        self._limiter = anyio.CapacityLimiter(self.concurrency)

    def require(self) -> None:
        """Raise what would keep every call from being made: `MissingExtra` without litellm, `LlmError` if its key is
        not set. Sends nothing."""
        litellm = _load()
        if self.base_url or "api_key" in self.extra:
            return
        if missing := litellm.validate_environment(self.name)["missing_keys"]:
            raise LlmError(f"{self.name} needs a key in ${' or $'.join(missing)}, which is not set; export it first")

    async def reply(self, messages: Chat, schema: dict[str, Any] | None = None) -> str:
        """The model's reply to the messages: JSON of `schema`, if the model can be held to one.

        Raises `LlmError` if there is no reply, `BudgetError` if a call could cost more than is left, `MissingExtra`
        without litellm.
        """
        schema = _without_bounds(schema)
        request = {"model": self.name, "base_url": self.base_url, "messages": messages, "schema": schema, **self.extra}
        arguments: dict[str, Any] = {}
        if schema:
            json_schema = {"name": "reply", "schema": schema, "strict": True}
            arguments["response_format"] = {"type": "json_schema", "json_schema": json_schema}

        async def call() -> str:
            choice = (await self._response(messages, arguments)).choices[0]
            text, refusal = choice.message.content or "", getattr(choice.message, "refusal", None)
            thought = getattr(choice.message, "reasoning_content", None)
            if schema and thought and not text and find_json(thought) is not None:
                text = str(thought)  # some servers hold a model's thoughts to the schema, and end there
            if refusal and not text:
                return FaultyReply(hide(str(refusal)), f"the model refused: {hide(str(refusal))[:100]}")
            fault = "" if text else "it is empty"
            if schema and choice.finish_reason == "length" and find_json(text) is None:
                fault = f"it was cut after {counted(len(text), 'character')}"
            return FaultyReply(text, f"{fault} (finish_reason {choice.finish_reason})") if fault else str(text)

        return await self._cached(request, call)

    async def turn(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]], sampling: dict[str, Any]
    ) -> dict[str, Any]:
        """An agent's next turn, with the tools as functions and litellm's arguments `sampling`: its `message`, why it
        ended (`finish`) and what it cost when it was made (`cost`, `None` if litellm has no price). Raises as `reply`.
        """
        arguments = {"tools": list(tools), **sampling} if tools else sampling
        request = {"model": self.name, "base_url": self.base_url, "messages": messages, **arguments, **self.extra}

        async def call() -> dict[str, Any]:
            response = await self._response(messages, arguments)
            choice, cost = response.choices[0], _cost(await _litellm(), response)
            message = choice.message.model_dump(exclude_none=True)
            return {"message": message, "finish": choice.finish_reason, "cost": cost}

        return await self._cached(request, call)

    async def _response(self, messages: Sequence[dict[str, Any]], arguments: dict[str, Any]) -> Any:
        """litellm's response to a chat, which is paid for, with a choice. Raises as `reply`."""
        litellm = await _litellm()
        arguments = {"messages": list(messages), "drop_params": True, **arguments}
        response = await self._paid(litellm, litellm.acompletion, arguments, await self.forecast(messages))
        if not response.choices:  # as some providers' filters do
            raise LlmError(f"{self.name}: the reply has no choices")
        return response

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector for each text, from an embedding model. Raises as `reply` does."""
        request = {"model": self.name, "base_url": self.base_url, "texts": list(texts), **self.extra}

        async def call() -> list[list[float]]:
            litellm = await _litellm()
            arguments = {"input": list(texts), "encoding_format": "float"}
            response = await self._paid(litellm, litellm.aembedding, arguments, None)
            return [list(entry["embedding"]) for entry in response.data]

        return await self._cached(request, call)

    async def _cached(self, request: dict[str, Any], call: Callable[[], Awaitable[Any]]) -> Any:
        """The cached reply to the same request, else the result of `call`, which is then cached."""
        key = hashlib.sha256(json.dumps(request, sort_keys=True, default=str).encode()).hexdigest()
        path = self.cache / key[:2] / f"{key}.json" if self.cache else None
        if path:
            with suppress(OSError, ValueError, LookupError):  # missing or torn
                return json.loads(path.read_text())["reply"]
        async with self._limiter:
            reply = await call()
        if path and not isinstance(reply, FaultyReply):  # one that is none may be another next time
            with suppress(OSError):  # a reply that was paid for is worth more than its copy
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, json.dumps({"reply": reply}).encode())
        return reply

    async def forecast(self, messages: Sequence[dict[str, Any]]) -> float | None:
        """The approximate cost of one such call in US dollars; `None` if litellm has no price for the model."""
        litellm = await _litellm()
        try:
            tokens = litellm.token_counter(model=self.name, messages=list(messages))
            return sum(litellm.cost_per_token(self.name, tokens, self.reply_tokens))
        except Exception:  # litellm raises a plain Exception for a model without a price
            return None

    async def price(self, messages: Chat, calls: int) -> str:
        each = await self.forecast(messages)
        return f"for about {calls * each:.2f} dollars" if each else "at a price that litellm does not know"

    async def _paid(self, litellm: Any, ask: Any, arguments: dict[str, Any], forecast: float | None) -> Any:
        """The response of litellm's function `ask`; its cost is added up. Raises `BudgetError` before the limit."""
        expected = forecast or 0.0
        if self.cost + self._reserved + expected > self.max_cost:
            spent = f"{self.cost:.4f} dollars are spent, and one more call may cost {expected:.4f}"
            raise BudgetError(f"{spent}; the limit is {self.max_cost:g} ({self.limit})")
        self._reserved += expected
        try:
            response = await self._repeated(ask, arguments)
        finally:
            self._reserved -= expected
        self.calls += 1
        self.cost += _cost(litellm, response) or 0.0
        return response

    async def _repeated(self, ask: Any, arguments: dict[str, Any]) -> Any:
        """The response of `ask`, called again after errors that may pass. Raises `LlmError`."""
        arguments |= {"model": self.name, "max_retries": 0, "timeout": self.timeout_s}
        if self.base_url:
            arguments["api_base"] = self.base_url
            if self.name.startswith("openai/") and "OPENAI_API_KEY" not in os.environ:
                arguments["api_key"] = "none"  # the client insists on one, most local endpoints do not
        arguments |= self.extra
        attempt = 0
        while True:
            try:
                with anyio.fail_after(self.timeout_s + 1):  # a trickling reply never reaches litellm's own timeout
                    return await ask(**arguments)
            except Exception as error:  # litellm's exceptions have no common base
                if type(error).__name__ in _FINAL or attempt == self.retries:
                    after = f" after {attempt + 1} attempts" if attempt else ""
                    raise LlmError(f"{self.name}: {_line(error, self.timeout_s)}{after}") from error
                wait_s = _wait(error, attempt)
            await anyio.sleep(wait_s)
            attempt += 1


async def _litellm() -> Any:
    """litellm, imported in a thread, since that takes seconds. Raises `MissingExtra`."""
    return await anyio.to_thread.run_sync(_load)


def _load() -> Any:
    """litellm, kept from fetching a price map from the network. Raises `MissingExtra`."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    try:
        import litellm
    except ImportError:
        raise MissingExtra("litellm", "llm") from None
    litellm.suppress_debug_info = True
    logging.getLogger("LiteLLM").setLevel(logging.ERROR)
    return litellm


def _cost(litellm: Any, response: Any) -> float | None:
    """US dollars that a response cost; `None` if litellm has no price for the model."""
    with suppress(Exception):  # as in `forecast`
        return float(litellm.completion_cost(response))
    return None


def _without_bounds(schema: Any) -> Any:
    """The schema without `_BOUNDS`; a property of such a name stays."""
    if isinstance(schema, list):
        return [_without_bounds(inner) for inner in schema]  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if key not in _BOUNDS or isinstance(value, dict)}  # pyright: ignore[reportUnknownVariableType]
    return {key: _without_bounds(value) for key, value in kept.items()}  # pyright: ignore[reportUnknownVariableType]


def _wait(error: Exception, attempt: int) -> float:
    """Seconds before the next attempt: as the server asks, else twice as long each time, with jitter."""
    headers: Any = getattr(error, "litellm_response_headers", None) or {}
    try:
        wait_s = float(headers.get("retry-after", ""))
    except ValueError:
        wait_s = 0.5 * 2**attempt * random.uniform(0.75, 1.25)
    return min(wait_s, _LONGEST_WAIT_S)


def _line(error: Exception, timeout_s: float) -> str:
    if isinstance(error, TimeoutError):
        return f"no reply within {timeout_s:g} s"
    first = next(iter(str(error).splitlines()), "") or type(error).__name__
    return hide(first.removeprefix("litellm."))[:300]
