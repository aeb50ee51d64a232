"""Batched decoding of one set of weights, in which everything that prompts share is computed and stored once.

A prompt is a trunk, whose keys and values are stored once and attended to by all its streams, and a suffix. Keys and
values of finished turns are kept, so that a conversation's next turn, or another rollout of the same task, computes
only its new tokens.

A step takes one token of each running stream with what it is guessed to say next, and all new tokens of those that
join, flat in one row, (1, N): nothing is padded outside attention. What a stream samples depends on its own seed alone,
up to float rounding. A matrix product over more rows may round its last bits differently (about 1e-6 in a
log-probability), so a draw that falls within that distance of the boundary between two tokens can depend on which other
streams are in the batch.
"""

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from mcprl.engines.embedded.attention import DecodeStep, Span, TrunkPart, causal_mask
from mcprl.engines.embedded.kv_cache import KVCache
from mcprl.engines.embedded.linear import is_tiny
from mcprl.engines.embedded.speculation import Guesses
from mcprl.engines.embedded.streams import Stream, Trunk, places_of, sample_rows, will_compute
from mcprl.text import common_prefix

PREFILL_TOKENS = 4096  # once a step has this many new tokens, further streams wait for the next
WORTH_WAITING = 16  # a stream waits one step if another is about to compute this many of its tokens
SHORTEST_TRUNK = 32
MANY = 512  # from this many tokens on, a step of a tiny model is faster on all cores


@dataclass(frozen=True)
class _Plan:
    """One forward pass over flat `tokens` (N,). `kept`: the indices of the tokens whose logits are needed, or how many
    of the last ones; 0 means all."""

    step: DecodeStep
    tokens: Tensor
    kept: Tensor | int


class Decoder:
    """Decodes streams with one model (any transformers decoder whose attention goes through `AttentionInterface`).

    `max_rows` streams run at once; `memory` bytes are for keys and values, see `KVCache`. Without `reuse` every prompt
    is computed whole; without `speculate` a step samples one token of each stream. Not thread-safe: one thread owns it.
    """

    def __init__(
        self, model: Any, end_ids: Sequence[int], max_rows: int, memory: int, reuse: bool = True, speculate: bool = True
    ) -> None:
        self.model, self.end_ids, self.max_rows = model, frozenset(end_ids), max_rows
        self.reuse, self.speculate = reuse, speculate
        weight = model.get_input_embeddings().weight
        self._zeros, self._device = weight.new_zeros, weight.device
        self._tiny = is_tiny(model)
        self._no_mask = self._zeros(1, 1, 1, 1)  # a mask that is 4-D is left alone by transformers
        self._cache = KVCache(model, memory)
        self.waiting: deque[Stream] = deque()
        self.rows: list[Stream] = []
        self.used = time.monotonic()
        self._rows_changed = True

    @property
    def busy(self) -> bool:
        return bool(self.waiting or self.rows)

    def step(self) -> list[Stream]:
        """Let waiting streams join, sample each stream's next token and those after it that were guessed. Returns the
        streams that are done.

        Raises `EngineError` if the logits are not numbers.
        """
        self._cores = torch.get_num_threads()
        torch.set_num_threads(1 if self._tiny else self._cores)  # waking a thread takes longer than a tiny product
        try:
            return self._step()
        finally:
            torch.set_num_threads(self._cores)
            self.used = time.monotonic()

    @torch.inference_mode()
    def _step(self) -> list[Stream]:
        for stream in [stream for stream in self.rows if not stream.wanted()]:
            self._leave(stream)
        joined = self._join()
        if not self.rows:
            return []
        running = self.rows[: len(self.rows) - len(joined)]
        guesses = [self._guess(stream) for stream in running]
        logits = self._forward(self._plan(joined, guesses))
        for stream in joined:
            stream.cached = len(stream.suffix)
            if self.reuse and stream.suffix not in stream.trunk.sources:
                stream.trunk.add(stream.suffix, stream)
        for stream in running:
            stream.cached += 1  # its last token, of which the pass has computed keys and values
        self._tokens, done = sample_rows(logits, self.rows, [*guesses, *((),) * len(joined)], self.end_ids)
        for stream in done:
            self._leave(stream)
        return done

    def _guess(self, stream: Stream) -> tuple[int, ...]:
        most = stream.max_new - len(stream.ids) - 1
        if stream.constraint:
            return stream.constraint.forced(most)
        if not self.speculate or most < 1:
            return ()
        if stream.guesses is None:
            stream.guesses = Guesses((*stream.prompt, *stream.ids))
        return stream.guesses.next(len(self.rows), most, self._device.type)

    # --- joining and leaving --------------------------------------------------------------------------------------

    def _join(self) -> list[Stream]:
        """Move waiting streams into rows, as many as fit. Those that gain by waiting a step stay first in line."""
        joined: list[Stream] = []
        postponed: list[Stream] = []
        new_tokens = 0
        try:
            while self.waiting and len(self.rows) < self.max_rows and new_tokens < PREFILL_TOKENS:
                stream = self.waiting.popleft()
                if not stream.wanted():
                    continue
                postponed.append(stream)  # until it has joined
                stream.trunk = self._trunk(stream)
                stream.suffix = stream.prompt[len(stream.trunk.ids) :]
                source, shared = stream.trunk.longest(stream.suffix) if self.reuse else ((), 0)
                shared = min(shared, len(stream.suffix) - 1)  # the last token is always computed: it gives the logits
                if self.reuse and any(will_compute(other, stream, shared + WORTH_WAITING) for other in joined):
                    continue
                expected = min(len(self.rows) + 1 + len(self.waiting), self.max_rows)
                if not self._cache.reserve(self.rows, len(stream.suffix) + stream.max_new, expected):
                    break
                self._admit(stream, source, shared)
                joined.append(postponed.pop())
                new_tokens += len(stream.suffix) - stream.cached
        finally:  # out of memory, too, so that whoever is told of it knows of all streams
            self.waiting.extendleft(reversed(postponed))
        return joined

    def _admit(self, stream: Stream, source: tuple[int, ...], shared: int) -> None:
        """Make a row of a stream. Its first tokens are copied from `source`, unless that was forgotten for the row."""
        stream.begin(len(self.rows), shared if source in stream.trunk.sources else 0)
        if stream.cached:
            self._cache.fill(stream, source, stream.cached)
        self.rows.append(stream)

    def _leave(self, stream: Stream) -> None:
        """Keep the stream's keys and values, and close the gap with the last row."""
        self._rows_changed = True
        if self.reuse and stream.cached:
            if stream.trunk.sources.get(stream.suffix) is stream:
                stream.trunk.remove(stream.suffix)
            self._cache.keep(stream)
        last = self.rows.pop()
        if last is not stream:
            self.rows[stream.row] = last
            self._cache.move(last, stream.row)

    def _trunk(self, stream: Stream) -> Trunk:
        """The trunk of a stream's prompt, computed if it is new; the empty one if the prompt's head is short."""
        if not self.reuse:
            return self._cache.root
        trunk = self._cache.find_trunk(stream.prompt)
        if trunk:
            return trunk
        head = stream.head()
        ids = head[: min(common_prefix(head, stream.prompt), len(stream.prompt) - 1)]
        if len(ids) < SHORTEST_TRUNK:
            return self._cache.root
        kv = self._cache.new_kv(len(ids))
        none = self._long([])
        positions, span = self._range(0, len(ids)), Span(0, len(ids), 0, kv, None)
        step = DecodeStep(self._cache.rows, none, none, self._no_mask, None, slice(0), positions, [], [span])
        self._forward(_Plan(step, self._long(ids), 1))
        return self._cache.add_trunk(ids, kv)

    def _long(self, values: Sequence[int]) -> Tensor:
        return torch.tensor(values, dtype=torch.long, device=self._device)

    def _range(self, start: int, end: int) -> Tensor:
        return torch.arange(start, end, device=self._device)

    # --- one step -------------------------------------------------------------------------------------------------

    def _forward(self, plan: _Plan) -> Tensor:
        """The logits (T_kept, V)."""
        threads = torch.get_num_threads()
        torch.set_num_threads(self._cores if len(plan.tokens) >= MANY else threads)
        try:
            return self.model(
                input_ids=plan.tokens[None],
                position_ids=plan.step.positions[None],
                attention_mask=self._no_mask,
                use_cache=False,
                logits_to_keep=plan.kept,
                decoding=plan.step,
            ).logits[0]
        finally:
            torch.set_num_threads(threads)

    def _plan(self, joined: list[Stream], guesses: list[tuple[int, ...]]) -> _Plan:
        """The next forward pass: the last token and the guess of each running stream, then the new tokens of those that
        joined."""
        running = self.rows[: len(guesses)]
        if joined or self._rows_changed or any(guesses):
            self._rows_changed = bool(joined) or any(guesses)
            self._describe(running, guesses)
        else:
            self._at += 1
            self._positions += 1
            self._mask[self._row_ids, 0, 0, self._at] = 0.0
        ends = [stream.cached + 1 + len(guess) for stream, guess in zip(running, guesses, strict=True)]
        step = DecodeStep(
            self._cache.rows,
            self._row_ids,
            self._at,
            self._mask,
            self._grid,
            slice(0, max(ends, default=0)),
            self._positions,
            self._row_trunks,
            [],
        )
        if not joined:
            return _Plan(step, self._tokens, 0)
        tokens = [self._tokens]
        positions = [self._positions]
        places = places_of(running, guesses)
        start = len(self._tokens)
        kept = [*range(start)]
        for stream in joined:
            new = stream.suffix[stream.cached :]
            end = start + len(new)
            mask = causal_mask(len(new), len(stream.suffix), self._cache.rows) if stream.cached else None
            step.spans.append(Span(start, end, stream.cached, self._cache.rows[:, :, stream.row], mask))
            tokens.append(self._long(new))
            positions.append(self._range(stream.cached, len(stream.suffix)) + len(stream.trunk.ids))
            places.append((stream, start, end))
            kept.append(end - 1)
            start = end
        step.trunks, step.positions = self._by_trunk(places), torch.cat(positions)
        return _Plan(step, torch.cat(tokens), self._long(kept))

    def _describe(self, running: list[Stream], guesses: list[tuple[int, ...]]) -> None:
        """Make the tensors that describe the rows; without guesses they stay valid, advanced by one, until a row joins
        or leaves."""
        pairs = [(stream, n) for stream, guess in zip(running, guesses, strict=True) for n in range(1 + len(guess))]
        width = 1 + max(map(len, guesses), default=0)
        self._row_ids = self._long([stream.row for stream, _ in pairs])
        self._at = self._long([stream.cached + n for stream, n in pairs])
        self._positions = self._long([len(stream.trunk.ids) + stream.cached + n for stream, n in pairs])
        said = ((stream.ids[-1], *guess) for stream, guess in zip(running, guesses, strict=True))
        self._tokens = self._long([token for tokens in said for token in tokens])
        self._grid = self._long([stream.row * width + n for stream, n in pairs]) if width > 1 else None
        last = self._long([stream.cached for stream in running])[:, None] + self._range(0, width)  # (B, width)
        hidden = self._range(0, self._cache.rows.shape[4]) > last[..., None]  # (B, width, C)
        self._mask = self._zeros(hidden.shape).masked_fill_(hidden, -torch.inf)[:, None]
        self._row_trunks = self._by_trunk(places_of(running, guesses))

    def _by_trunk(self, places: list[tuple[Stream, int, int]]) -> list[TrunkPart]:
        """Each trunk and the tokens that attend to it. `places` are the streams with the start and end of their
        tokens."""
        groups: dict[int, tuple[Tensor, list[int]]] = {}
        for stream, start, end in places:
            if stream.trunk.kv is not None:
                groups.setdefault(id(stream.trunk), (stream.trunk.kv, []))[1].extend(range(start, end))
        count = places[-1][2] if places else 0
        return [TrunkPart(kv, None if len(tokens) == count else self._long(tokens)) for kv, tokens in groups.values()]
