"""Choices as events of a stream, while they are sampled."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from mcprl.errors import McprlError
from mcprl.serving.model import ServedModel
from mcprl.serving.refusals import of_error
from mcprl.serving.sampling import SamplingRequest, details, message_of, plain_text, sample, usage
from mcprl.serving.text import GrowingText
from mcprl.types import Completion

_Item = tuple[int, list[int] | Completion | McprlError]


class ClosedStream(StreamingResponse):
    """A stream whose generator ends with it, also if the client is gone."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            if isinstance(self.body_iterator, AsyncGenerator):
                await self.body_iterator.aclose()


async def begun(events: AsyncGenerator[str], media_type: str) -> ClosedStream:
    """A stream as a response, once its first event is there: what is wrong by then is an error, not a stream."""
    try:
        first = await anext(events)
    except BaseException:
        await events.aclose()
        raise

    async def whole() -> AsyncGenerator[str]:
        try:
            yield first
            async for event in events:
                yield event
        finally:
            await events.aclose()

    return ClosedStream(whole(), media_type=media_type)


async def events(model: ServedModel, asked: SamplingRequest, head: dict[str, Any]) -> AsyncGenerator[str]:
    """The choices as server-sent events. `head` is what every chunk begins with. Token ids and log-probabilities come
    with a choice's last chunk. Raises `EngineError` before the first event only."""
    turns, queue = _Turns(model, asked), asyncio.Queue[_Item]()
    tasks = _begin(model, asked, queue)
    done: list[Completion] = []
    said = False
    try:
        while len(done) < len(tasks):
            index, item = await queue.get()
            if isinstance(item, McprlError):
                if not said:
                    raise item
                yield _event(of_error(item).body)
                return
            said = True
            if isinstance(item, Completion):
                done.append(item)
            for choice in turns.ended(index, item) if isinstance(item, Completion) else turns.grown(index, item):
                yield _event(head | {"choices": [choice]})
        if asked.body.stream_options and asked.body.stream_options.include_usage:
            yield _event(head | {"choices": [], "usage": usage(done)})
        yield "data: [DONE]\n\n"
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _begin(model: ServedModel, asked: SamplingRequest, queue: "asyncio.Queue[_Item]") -> list["asyncio.Task[None]"]:
    """Tasks that sample the choices and put into the queue what they have."""
    loop = asyncio.get_running_loop()

    def on_tokens(index: int, ids: Sequence[int], _logprobs: Sequence[float]) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody reads this
            loop.call_soon_threadsafe(queue.put_nowait, (index, list(ids)))

    async def one(index: int) -> None:
        request = replace(asked.requests[index], on_tokens=partial(on_tokens, index))
        try:
            queue.put_nowait((index, await sample(model, asked, request)))
        except McprlError as error:
            queue.put_nowait((index, error))

    return [asyncio.create_task(one(index)) for index in range(len(asked.requests))]


class _Turns:
    """The chunks of each choice."""

    def __init__(self, model: ServedModel, asked: SamplingRequest) -> None:
        self._model, self._asked = model, asked
        new: Callable[[], GrowingText] = partial(
            GrowingText,
            model.tokenizer,
            model.end_ids,
            asked.body.stop,
            plain=not asked.is_chat,
            calls=any(request.tools for request in asked.requests),
        )
        self._texts = [new() for _ in asked.requests]
        self._begun: set[int] = set()

    def grown(self, index: int, ids: list[int]) -> list[dict[str, Any]]:
        """The chunks that these ids make: none if they make no text certain."""
        text = self._texts[index].add(ids)
        return [self._chunk(index, {"content": text})] if text or index not in self._begun else []

    def ended(self, index: int, completion: Completion) -> list[dict[str, Any]]:
        """The last chunks of a choice: what is missing of it, and its details."""
        more = details(self._model, self._asked, completion)
        if not self._asked.is_chat:
            text = self._texts[index].rest(plain_text(self._model, completion, self._asked.body.stop))
            return [{"index": index, "text": text} | more]
        message = message_of(completion)
        delta: dict[str, Any] = {}
        if text := self._texts[index].rest(message.pop("content") or ""):
            delta["content"] = text
        if calls := message.pop("tool_calls", None):
            delta["tool_calls"] = [{"index": number, **call} for number, call in enumerate(calls)]
        delta |= {name: value for name, value in message.items() if name != "role"}
        chunks = [self._chunk(index, delta)] if delta or index not in self._begun else []
        return [*chunks, {"index": index, "delta": {}} | more]

    def _chunk(self, index: int, delta: dict[str, Any]) -> dict[str, Any]:
        first = index not in self._begun
        self._begun.add(index)
        if not self._asked.is_chat:
            return {"index": index, "text": delta["content"], "finish_reason": None, "logprobs": None}
        role = {"role": "assistant"} if first else {}
        return {"index": index, "delta": role | delta, "finish_reason": None, "logprobs": None}


def _event(content: dict[str, Any]) -> str:
    return f"data: {json.dumps(content)}\n\n"
