"""The engine of a model on a server that speaks the Tinker API: token ids in, sampled ids and log-probabilities out."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import anyio.to_thread

from mcprl.chat import families, forms, prompts
from mcprl.config import EngineConfig
from mcprl.engines import ADAPTERS
from mcprl.errors import EngineError, PromptTooLong, UnsupportedSchema
from mcprl.models import context_limit
from mcprl.models.tinker.model import RemoteModel
from mcprl.types import Adapter, Completion, CompletionRequest


class TinkerEngine:
    """Samples turns on the server of a `RemoteModel`. Its log-probabilities are at temperature 1, whatever it samples
    at, so that it trains at 1 alone."""

    def __init__(self, config: EngineConfig, model: RemoteModel) -> None:
        self._model, self._timeout_s = model, config.start_timeout_s
        self._limit = context_limit(model.model.config)
        self._adapters: dict[str, Adapter] = {}
        self._requests = anyio.CapacityLimiter(config.max_batch)
        self._rendering = anyio.CapacityLimiter(1)  # a tokenizer is not safe in several threads at once

    async def ready(self) -> None:
        """Wait for the server, which may be started again. Raises `EngineError` if it does not come."""
        service = self._model.service
        if await anyio.to_thread.run_sync(service.wait, self._timeout_s, abandon_on_cancel=True):
            await anyio.to_thread.run_sync(self._model.restore)
            return
        raise EngineError(
            f"no Tinker server answers at {service.base_url} after {self._timeout_s:g} s; start it again, "
            "then mcprl train --resume goes on"
        )

    async def complete(self, request: CompletionRequest) -> Completion:
        """Sample one turn. Raises `EngineLost` if the server is gone, and `EngineError` if it refuses, or returns other
        than what it sampled."""
        if request.schema:
            raise UnsupportedSchema("servers of the Tinker API hold no reply to a schema")
        of, step = await self._sampler(request.adapter)
        conversation = (request.messages, request.tools, request.context_ids)
        tokenizer = self._model.tokenizer
        prompt = await anyio.to_thread.run_sync(prompts.prompt_ids, tokenizer, *conversation, limiter=self._rendering)
        room = self._limit - len(prompt)
        if room < 1:
            raise PromptTooLong(f"the prompt has {len(prompt)} tokens; the model reads {self._limit - 1} at most")
        params: dict[str, Any] = {"max_tokens": min(request.max_tokens, room), "stop": list(self._model.end_ids)}
        params |= {"temperature": request.temperature, "top_p": request.top_p, "seed": request.seed % 2**31}
        work = partial(self._model.service.sample, of, prompt, **params)
        ids, logprobs, why = await anyio.to_thread.run_sync(work, limiter=self._requests, abandon_on_cancel=True)
        if not ids or len(ids) != len(logprobs):
            raise EngineError(f"the server returned {len(ids)} tokens with {len(logprobs)} log-probabilities")
        ended = why != "length"
        if ended and ids[-1] not in self._model.end_ids:
            raise EngineError("the server left out the token that ended a turn, which is trained, too")
        if cut := self._end_of_call(ids, request):  # what follows was sampled for nothing
            ids, logprobs, ended = ids[:cut], logprobs[:cut], True
        message, malformed = families.reply(tokenizer, ids, self._model.end_ids, request)
        reason = "length" if not ended else "tool_calls" if message.get("tool_calls") else "stop"
        return Completion(message, prompt, tuple(ids), tuple(map(float, logprobs)), reason, step, malformed)

    def _end_of_call(self, ids: list[int], request: CompletionRequest) -> int:
        """How many ids the turn has if it ends with a call in a fence, else 0."""
        tokenizer = self._model.tokenizer
        if not families.reads_any_form(tokenizer) or forms.FENCE not in str(tokenizer.decode(ids)):
            return 0
        fences = [n for n, token in enumerate(ids, 1) if "`" in str(tokenizer.decode([token]))]
        return next((n for n in fences if families.ends_turn(tokenizer, ids[:n], request.offered)), 0)

    async def _sampler(self, adapter: str | None) -> tuple[dict[str, str], int]:
        """What the server is to sample, and the training step of its weights."""
        if adapter is None:
            return {"base_model": self._model.base}, 0
        if adapter not in self._adapters:
            raise EngineError(f"adapter {adapter!r} is not loaded; loaded: {', '.join(self._adapters) or 'none'}")
        loaded = self._adapters[adapter]
        return {"model_path": await anyio.to_thread.run_sync(self._model.sampler, loaded.path)}, loaded.step

    async def load_adapter(self, adapter: Adapter) -> None:
        """Sample the adapter that the server keeps for this folder. Raises `ModelError` if it keeps none."""
        await self.ready()
        await anyio.to_thread.run_sync(self._model.sampler, adapter.path)
        self._adapters.pop(adapter.name, None)
        self._adapters[adapter.name] = adapter
        for name in [*self._adapters][:-ADAPTERS]:
            del self._adapters[name]

    @asynccontextmanager
    async def paused(self) -> AsyncGenerator[None]:
        """The server has its own memory."""
        yield

    async def close(self) -> None:
        """Let the server forget the run's weights; what was saved stays on its disk."""
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._model.close)
