"""The engine that needs nothing but torch: it decodes in a thread of this process, on the CPU or a small GPU.

Requests from many tasks join one running batch. The LoRA is merged into a copy of the weights that it changes, so that
it costs no time in sampling; all other weights are shared with the model that trains. Of a large model no weight is
copied (`models.packing`). The base model is served beside it.
"""

import asyncio
import queue
import threading
import time
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from mcprl.chat import families, prompts
from mcprl.engines import ADAPTERS, Policy, in_time, written_at
from mcprl.engines.embedded.decoder import Decoder
from mcprl.engines.embedded.inbox import Free, Load, Turn, answer, fail
from mcprl.engines.embedded.plain import PlainDecoder
from mcprl.engines.embedded.streams import Stream
from mcprl.engines.embedded.weights import bare_model, merged_model, packed, plain_model
from mcprl.errors import EngineError, PromptTooLong
from mcprl.models import context_limit
from mcprl.models.heap import collect_and_trim, trim_heap
from mcprl.models.packing import is_shared
from mcprl.types import Adapter, Completion, CompletionRequest

if TYPE_CHECKING:
    from mcprl.engines.embedded.constraint import Grammar

MEMORY = 2 * 2**30
RESTARTS = 3
"""How often decoding begins afresh after failures without a turn in between."""
AnyDecoder = Decoder | PlainDecoder
IDLE_S = 60.0
"""Seconds after which a decoder without a turn makes room for another: a test samples the base, then the adapter."""
_PLAIN = "it is sampled one turn after another with transformers' own cache; --engine vllm is many times as fast"
CLOSE_S = 10.0
"""Seconds that the thread may take to end."""


class EmbeddedEngine:
    """Samples turns in this process. At most `max_batch` turns are decoded at once, others wait. `memory` bounds the
    bytes of keys and values, for the base model and for the adapter each. Without `prefix_cache` every prompt is
    computed whole."""

    def __init__(self, loaded: Policy, max_batch: int = 64, memory: int = MEMORY, prefix_cache: bool = True) -> None:
        self._tokenizer, self._end_ids = loaded.tokenizer, loaded.end_ids
        self.note = ""
        """What a user should know of how the model is decoded."""
        try:
            self._base = bare_model(loaded.model)
        except EngineError as error:
            self._base, self.note = plain_model(loaded.model), f"{error}; {_PLAIN}"
        if is_shared(self._base):  # and so is the output layer, packed beside the embeddings
            self._base = packed(self._base)
        self._options = (self._end_ids, max_batch, memory, prefix_cache)
        self._limit = context_limit(self._base.config)
        self._decoders: dict[str | None, AnyDecoder] = {}
        self._loaded: dict[str, tuple[Adapter, int]] = {}  # with when it was written, the oldest load first
        self._turns: dict[Stream, Turn] = {}
        self._inbox: queue.SimpleQueue[Turn | Load | Free | None] = queue.SimpleQueue()
        self._closed, self._failures = False, 0
        self._thread = threading.Thread(target=self._work, name="mcprl-embedded-engine", daemon=True)
        self._thread.start()

    # --- the async side -------------------------------------------------------------------------------------------

    async def ready(self) -> None:
        """Returns at once: the engine can sample as soon as it is made."""

    async def complete(self, request: CompletionRequest) -> Completion:
        """Sample one turn. Its log-probabilities are log softmax(logits / temperature), for greedy turns at 1, over the
        tokens that `top_p` and the schema allow.

        Raises `EngineError` if the adapter is not loaded, the prompt is too long or the engine is closed.
        """
        future: Future[Completion] = Future()
        self._send(Turn(request, future))
        return await asyncio.wrap_future(future)

    async def load_adapter(self, adapter: Adapter) -> None:
        """Serve this adapter besides the last one. Turns that run on another are finished on it."""
        future: Future[None] = Future()
        self._send(Load(adapter, future))
        await asyncio.wrap_future(future)

    @asynccontextmanager
    async def paused(self) -> AsyncGenerator[None]:
        """Free what decoders without a turn hold, and at the end what the update has left. Turns that run go on; the
        base's weights are shared with the trainer."""
        future: Future[None] = Future()
        self._send(Free(future))
        await in_time(asyncio.wrap_future(future))
        await anyio.to_thread.run_sync(collect_and_trim)
        try:
            yield
        finally:
            await anyio.to_thread.run_sync(trim_heap)

    async def close(self) -> None:
        """End the thread; one that hangs ends with the process. Turns that are not done raise `EngineError`."""
        if not self._closed:
            self._closed = True
            self._inbox.put(None)
        await anyio.to_thread.run_sync(self._thread.join, CLOSE_S)

    def _send(self, item: "Turn | Load | Free") -> None:
        if self._closed:
            raise EngineError("the engine is closed")
        self._inbox.put(item)

    # --- the thread -----------------------------------------------------------------------------------------------

    def _work(self) -> None:
        end = EngineError("the engine was closed before the turn was done")
        try:
            while not self._serve_unless_it_fails():
                pass
        except BaseException as error:
            end = EngineError(f"the engine's thread died: {error!r}")
            raise
        finally:
            self._closed = True
            self._fail_turns(end)
            while not self._inbox.empty():
                if item := self._inbox.get():
                    fail(item.future, end)
            self._decoders.clear()

    def _serve_unless_it_fails(self) -> bool:
        """Whether the engine is to end. After a failure the running turns fail and decoding begins afresh; raises it
        if no turn was done since the last `RESTARTS`."""
        try:
            self._serve()
        except Exception as error:
            self._failures += 1
            if self._failures > RESTARTS:
                raise
            self._fail_turns(error)
            self._decoders = {name: self._decode_with(each.model) for name, each in self._decoders.items()}
            return False
        return True

    def _fail_turns(self, error: Exception) -> None:
        for turn in self._turns.values():
            fail(turn.future, error)
        self._turns.clear()

    def _serve(self) -> None:
        while True:
            busy = [name for name, decoder in self._decoders.items() if decoder.busy]
            if not self._receive(wait=not busy):
                return
            for name in busy:
                self._step(name)
            self._retire()

    def _receive(self, wait: bool) -> bool:
        """Begin the turns and loads in the inbox. Returns False if the engine is to end."""
        while wait or not self._inbox.empty():
            wait = False
            item = self._inbox.get()
            if item is None:
                return False
            try:
                if isinstance(item, Load):
                    self._load(item.adapter)
                    answer(item.future, None)
                elif isinstance(item, Free):
                    self._drop_idle()
                    answer(item.future, None)
                elif not item.future.cancelled():
                    self._begin(item)
            except Exception as error:
                fail(item.future, error)
        return True

    def _begin(self, turn: Turn) -> None:
        request = turn.request
        self._drop_idle(IDLE_S, but=request.adapter)
        decoder = self._decoder(request.adapter)
        prompt = prompts.prompt_ids(self._tokenizer, request.messages, request.tools, request.context_ids)
        room = self._limit - len(prompt)
        if room < 1:
            raise PromptTooLong(f"the prompt has {len(prompt)} tokens; the model reads {self._limit - 1} at most")
        future = turn.future
        turn.policy_step = self._loaded[request.adapter][0].step if request.adapter else 0
        turn.stream = Stream(
            prompt,
            lambda: prompts.head_ids(self._tokenizer, request.messages, request.tools),
            min(request.max_tokens, room),
            request.temperature,
            request.seed,
            lambda: not future.cancelled(),  # not the turn: a cycle would keep what was sampled
            top_p=request.top_p,
            constraint=self._grammar.constraint(request.schema) if request.schema else None,
            ends_turn=self._ends_turn(request),
        )
        self._turns[turn.stream] = turn
        decoder.waiting.append(turn.stream)

    def _ends_turn(self, request: CompletionRequest) -> Callable[[list[int]], bool] | None:
        """Whether a turn ends with the ids so far, besides at an end token."""
        if request.schema or not families.reads_any_form(self._tokenizer):
            return None
        fences, offered = self._fences, request.offered
        return lambda ids: ids[-1] in fences and families.ends_turn(self._tokenizer, ids, offered)

    @cached_property
    def _fences(self) -> frozenset[int]:
        """The tokens that may complete a fence, so that a turn's text is looked at after these alone."""
        return frozenset(token for token in range(len(self._tokenizer)) if "`" in self._tokenizer.decode([token]))

    @cached_property
    def _grammar(self) -> "Grammar":
        from mcprl.engines.embedded.constraint import Grammar  # takes a moment, and few runs need it

        return Grammar(self._tokenizer, self._end_ids, self._base.get_output_embeddings().weight.shape[0])

    def _decoder(self, adapter: str | None) -> AnyDecoder:
        """The decoder of the base model or of a loaded adapter, made again if it was dropped."""
        if adapter not in (None, *self._loaded):
            loaded = ", ".join(self._loaded) or "none, only the base"
            raise EngineError(f"adapter {adapter!r} is not loaded; loaded: {loaded}")
        if adapter not in self._decoders:
            self._decoders[adapter] = self._new_decoder(self._loaded[adapter][0].path if adapter else None)
        return self._decoders[adapter]

    def _new_decoder(self, folder: str | None) -> AnyDecoder:
        """A decoder of the base model, or of the adapter in `folder`."""
        decoder = self._decode_with(merged_model(self._base, folder) if folder else self._base)
        trim_heap()  # of the merged weights, which are packed now
        return decoder

    def _decode_with(self, model: Any) -> AnyDecoder:
        return PlainDecoder(model, self._end_ids) if self.note else Decoder(packed(model), *self._options)

    def _step(self, name: str | None) -> None:
        decoder = self._decoders[name]
        try:
            done = decoder.step()
        except Exception as error:
            streams = [*decoder.rows, *decoder.waiting]
            self._decoders[name] = self._decode_with(decoder.model)
            for turn in [self._turns.pop(stream) for stream in streams if stream in self._turns]:
                fail(turn.future, error)
            return
        for turn in self._turns.values():
            turn.tell()
        for stream in done:
            turn, self._failures = self._turns.pop(stream), 0
            try:
                answer(turn.future, self._completion(stream, turn))
            except Exception as error:
                fail(turn.future, error)
        for stream in [stream for stream, turn in self._turns.items() if turn.future.cancelled()]:
            del self._turns[stream]

    def _completion(self, stream: Stream, turn: Turn) -> Completion:
        ended = stream.ids[-1] in self._end_ids or bool(stream.ends_turn and stream.ends_turn(stream.ids))
        message, malformed = families.reply(self._tokenizer, stream.ids, self._end_ids, turn.request)
        if not ended:
            reason = "length"
        elif message.get("tool_calls"):
            reason = "tool_calls"
        else:
            reason = "stop"
        ids, logprobs = tuple(stream.ids), tuple(stream.logprobs)
        return Completion(message, stream.prompt, ids, logprobs, reason, turn.policy_step, malformed)

    def _load(self, adapter: Adapter) -> None:
        version = (adapter, written_at(adapter))
        if version == self._loaded.get(adapter.name):
            self._loaded[adapter.name] = self._loaded.pop(adapter.name)
            return
        self._drop_idle()  # before the new one takes as much memory
        self._decoders[adapter.name] = self._new_decoder(adapter.path)
        self._loaded.pop(adapter.name, None)
        self._loaded[adapter.name] = version
        while len(self._loaded) > ADAPTERS:
            del self._loaded[next(iter(self._loaded))]

    def _drop_idle(self, for_s: float = 0.0, but: str | None = "") -> None:
        """Drop the packed weights and caches of decoders that had no turn for so long. Their next turn makes them
        again."""
        now, idle = time.monotonic(), [name for name, decoder in self._decoders.items() if not decoder.busy]
        left = [name for name in idle if name != but and now - self._decoders[name].used >= for_s]
        for name in left:
            del self._decoders[name]
        if left:
            trim_heap()

    def _retire(self) -> None:
        """Drop the decoders of replaced adapters once their turns are done."""
        for name in [name for name, decoder in self._decoders.items() if not decoder.busy]:
            if name not in {None, *self._loaded}:
                del self._decoders[name]
