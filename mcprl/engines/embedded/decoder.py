"""Batched decoding of one set of weights, where everything that prompts share is computed and stored once.

A prompt is a *trunk* (the tools and the system message, common to every conversation of a run), whose keys and values
are stored once and attended by all, and the sequence's own tokens. Own keys and values of finished turns are kept, so
that a conversation's next turn, or another try of the same task, computes only what is new to it.

A step takes one token of each running sequence and all new tokens of those that join, flat in one row, (1, N): nothing
is padded outside attention. What a sequence samples depends on its own seed alone, up to float rounding: a matrix
product over more rows may round its last bits differently (about 1e-6 in a log-probability), so a draw that falls
within that distance of the boundary between two tokens can differ with the company that a sequence keeps.
"""

from collections import OrderedDict, deque
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from mcprl.engines.embedded.attention import ATTENTION, DecodeStep, Span, causal_mask
from mcprl.engines.embedded.streams import Stream, Trunk, covers
from mcprl.errors import EngineError
from mcprl.text import common_prefix

PREFILL_TOKENS = 4096  # new tokens that a step takes before it lets further sequences wait
WORTH_WAITING = 16  # a sequence waits one step where another is about to compute this many of its tokens
TRUNKS = 8
SHORTEST_TRUNK = 32
TINY = 2**20  # elements of the largest matrix; see `benchmarks/decode.py`
MANY = 512  # tokens from which on a step of a tiny model is worth waking the other cores for


def is_tiny(model: Any) -> bool:
    """Whether a step's products are so small that what surrounds them counts."""
    embedding = model.get_input_embeddings().weight
    return max(p.numel() for p in model.parameters() if p.dim() == 2 and p is not embedding) < TINY


def check(model: Any) -> None:
    """Raise `EngineError` where decoding with this model does not give its own log-probabilities: attention that does
    not go through `AttentionInterface`, keys of another shape, states that are not keys and values."""
    name = type(model).__name__
    vocabulary = model.get_input_embeddings().weight.shape[0]
    prompt = tuple(n % vocabulary for n in range(1, 1 + SHORTEST_TRUNK + 8))
    stream = Stream(prompt, lambda: prompt[:SHORTEST_TRUNK], 4, 0.0, 0)
    try:
        decoder = Decoder(model, (), 1, 2**26)
        decoder.waiting.append(stream)
        while decoder.busy:
            decoder.step()
        model.config._attn_implementation = "sdpa"
        ids = torch.tensor([[*prompt, *stream.ids]], device=model.device)
        with torch.inference_mode():
            logits = model(input_ids=ids, use_cache=False).logits[0, len(prompt) - 1 : -1].float()
    except (AttributeError, RuntimeError, TypeError, KeyError, ValueError) as error:
        raise EngineError(f"the embedded engine cannot decode a {name}: {error!r}") from error
    finally:
        model.config._attn_implementation = ATTENTION
    expected = logits.log_softmax(-1).gather(1, ids[0, len(prompt) :, None])[:, 0].tolist()
    worst = max(abs(one - other) for one, other in zip(stream.logprobs, expected, strict=True))
    exact = model.dtype == torch.float32 and not hasattr(model, "quantization_method")
    if not worst < (1e-2 if exact else 0.5):
        raise EngineError(f"the embedded engine cannot decode a {name}: log-probabilities are off by {worst:.2g} nats")


class Decoder:
    """Decodes streams with one model (any transformers decoder whose attention goes through `AttentionInterface`).

    `max_rows` streams at once; `memory` bytes for the keys and values of running and of finished streams, half each.
    Not thread-safe: one thread owns it.
    """

    def __init__(self, model: Any, end_ids: Sequence[int], max_rows: int, memory: int, reuse: bool = True) -> None:
        self.model, self.end_ids, self.max_rows, self.reuse = model, frozenset(end_ids), max_rows, reuse
        config = model.config
        heads = config.num_key_value_heads
        width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        weight = model.get_input_embeddings().weight
        self._new, self._device = weight.new_zeros, weight.device  # zeros: what a mask hides must be finite
        self._kv = self._new(config.num_hidden_layers, 2, 0, heads, 0, width)
        self._token_bytes = config.num_hidden_layers * 2 * heads * width * weight.element_size()
        self._tiny = is_tiny(model)
        self._half = memory // 2 // self._token_bytes  # tokens
        self._no_mask = self._new(1, 1, 1, 1)  # a mask that is 4-D is left alone by transformers
        self.waiting: deque[Stream] = deque()
        self.rows: list[Stream] = []
        self._fresh_rows = True
        self._root = Trunk(())
        self._trunks: OrderedDict[tuple[int, ...], Trunk] = OrderedDict()
        self._kept: OrderedDict[tuple[Trunk, tuple[int, ...]], None] = OrderedDict()  # finished streams, oldest first
        self._kept_tokens = 0

    @property
    def busy(self) -> bool:
        return bool(self.waiting or self.rows)

    def step(self) -> list[Stream]:
        """Let waiting streams join, sample one token of each, and return those that are done."""
        self._cores = torch.get_num_threads()
        torch.set_num_threads(1 if self._tiny else self._cores)  # waking one for a tiny product is dearer than it
        try:
            return self._step()
        finally:
            torch.set_num_threads(self._cores)

    @torch.inference_mode()
    def _step(self) -> list[Stream]:
        for stream in [stream for stream in self.rows if not stream.wanted()]:
            self._leave(stream)
        joined = self._join()
        if not self.rows:
            return []
        step, tokens, positions, last = self._plan(joined)
        picked = self._sample(self._forward(step, tokens, positions, last))
        for stream in joined:
            stream.known = len(stream.own)
            if self.reuse and stream.own not in stream.trunk.sources:
                stream.trunk.add(stream.own, stream)
        for stream in self.rows[: len(self.rows) - len(joined)]:
            stream.known += 1
        done = [stream for stream, token in zip(self.rows, picked, strict=True) if self._ends(stream, token)]
        for stream in done:
            self._leave(stream)
        return done

    # --- joining and leaving --------------------------------------------------------------------------------------

    def _join(self) -> list[Stream]:
        joined: list[Stream] = []
        passed: list[Stream] = []
        new_tokens = 0
        while self.waiting and len(self.rows) < self.max_rows and new_tokens < PREFILL_TOKENS:
            stream = self.waiting.popleft()
            if not stream.wanted():
                continue
            stream.trunk = self._trunk(stream)
            stream.own = stream.prompt[len(stream.trunk.ids) :]
            ids, shared = stream.trunk.longest(stream.own) if self.reuse else ((), 0)
            shared = min(shared, len(stream.own) - 1)  # the last token gives the logits: it is always computed
            if self.reuse and any(covers(other, stream, shared + WORTH_WAITING) for other in joined):
                passed.append(stream)
                continue
            if not self._reserve(len(self.rows) + 1, len(stream.own) + stream.max_new):
                passed.append(stream)
                break
            stream.row = len(self.rows)
            stream.known = shared
            if shared:
                self._copy(stream, ids, shared)
            generator = torch.Generator().manual_seed(stream.seed & (2**63 - 1))
            stream.draws = torch.rand(stream.max_new, generator=generator, dtype=torch.float64).tolist()
            self.rows.append(stream)
            joined.append(stream)
            new_tokens += len(stream.own) - shared
        self.waiting.extendleft(reversed(passed))
        return joined

    def _copy(self, stream: Stream, ids: tuple[int, ...], shared: int) -> None:
        source = stream.trunk.sources[ids]
        kv = source if isinstance(source, Tensor) else self._kv[:, :, source.row]
        self._kv[:, :, stream.row, :, :shared] = kv[:, :, :, :shared]
        if isinstance(source, Tensor):
            self._kept.move_to_end((stream.trunk, ids))
            if shared == len(ids):  # the conversation goes on: the longer one will take its place
                self._forget(stream.trunk, ids)

    def _leave(self, stream: Stream) -> None:
        """Keep the stream's keys and values, and close the gap with the last row."""
        self._fresh_rows = True
        if self.reuse and stream.known:
            if stream.trunk.sources.get(stream.own) is stream:
                stream.trunk.remove(stream.own)
            self._keep(stream)
        last = self.rows.pop()
        if last is not stream:
            self.rows[stream.row] = last
            self._kv[:, :, stream.row, :, : last.known] = self._kv[:, :, last.row, :, : last.known]
            last.row = stream.row

    def _keep(self, stream: Stream) -> None:
        own = (*stream.own, *stream.ids)[: stream.known]
        if own in stream.trunk.sources or self._trunks.get(stream.trunk.ids, self._root) is not stream.trunk:
            return
        stream.trunk.add(own, self._kv[:, :, stream.row, :, : stream.known].clone())
        self._kept[stream.trunk, own] = None
        self._kept_tokens += stream.known
        while self._kept_tokens > self._half:
            self._forget(*next(iter(self._kept)))

    def _forget(self, trunk: Trunk, own: tuple[int, ...]) -> None:
        del self._kept[trunk, own]
        trunk.remove(own)
        self._kept_tokens -= len(own)

    def _reserve(self, rows: int, length: int) -> bool:
        """Make room for that many rows of that many own tokens; False where memory forbids and it can wait."""
        _, _, old_rows, _, old_length, _ = self._kv.shape
        if rows <= old_rows and length <= old_length:
            return True
        length = max(old_length if self.rows else 0, -(-length // 256) * 256)
        expected = min(len(self.rows) + 1 + len(self.waiting), self.max_rows)
        rows = max(rows, min(expected, self._half // length))
        if rows * length > self._half and self.rows:
            return False
        kv = self._new(*self._kv.shape[:2], rows, self._kv.shape[3], length, self._kv.shape[5])
        used = max((stream.known for stream in self.rows), default=0)
        kv[:, :, : len(self.rows), :, :used] = self._kv[:, :, : len(self.rows), :, :used]
        self._kv = kv
        return True

    def _trunk(self, stream: Stream) -> Trunk:
        if not self.reuse:
            return self._root
        fits = [ids for ids in self._trunks if len(ids) < len(stream.prompt) and stream.prompt[: len(ids)] == ids]
        if fits:
            ids = max(fits, key=len)
            self._trunks.move_to_end(ids)
            return self._trunks[ids]
        head = stream.head()
        ids = head[: min(common_prefix(head, stream.prompt), len(stream.prompt) - 1)]
        if len(ids) < SHORTEST_TRUNK:
            return self._root
        kv = self._new(*self._kv.shape[:2], self._kv.shape[3], len(ids), self._kv.shape[5])
        nothing = self._long([])
        step = DecodeStep(self._kv, nothing, nothing, self._no_mask, 0, [], [Span(0, len(ids), 0, kv, None)])
        self._forward(step, self._long(ids), self._range(0, len(ids)), 1)
        self._trunks[ids] = trunk = Trunk(ids, kv)
        if len(self._trunks) > TRUNKS:
            _, old = self._trunks.popitem(last=False)
            for trunk_own in [key for key in self._kept if key[0] is old]:
                self._forget(*trunk_own)
        return trunk

    def _long(self, values: Sequence[int]) -> Tensor:
        return torch.tensor(values, dtype=torch.long, device=self._device)

    def _float(self, values: Sequence[Sequence[float]], dtype: torch.dtype = torch.float32) -> Tensor:
        return torch.tensor(values, dtype=dtype, device=self._device)

    def _range(self, start: int, end: int) -> Tensor:
        return torch.arange(start, end, device=self._device)

    # --- one step -------------------------------------------------------------------------------------------------

    def _forward(self, step: DecodeStep, tokens: Tensor, positions: Tensor, kept: Tensor | int) -> Tensor:
        """The logits of the `kept` ones of flat tokens (N,) at positions (N,)."""
        threads = torch.get_num_threads()
        torch.set_num_threads(self._cores if len(tokens) >= MANY else threads)
        try:
            return self.model(
                input_ids=tokens[None],
                position_ids=positions[None],
                attention_mask=self._no_mask,
                use_cache=False,
                logits_to_keep=kept,
                decoding=step,
            ).logits[0]
        finally:
            torch.set_num_threads(threads)

    def _plan(self, joined: list[Stream]) -> tuple[DecodeStep, Tensor, Tensor, Tensor | int]:
        """The step, its flat tokens (N,) and positions (N,), and where each row's logits are."""
        running = self.rows[: len(self.rows) - len(joined)]
        if joined or self._fresh_rows:
            self._fresh_rows = bool(joined)
            self._row_ids = self._range(0, len(running))
            self._at = self._long([stream.known for stream in running])
            self._positions = torch.tensor(
                [len(stream.trunk.ids) + stream.known for stream in running], dtype=torch.long
            )
            self._tokens = self._long([stream.ids[-1] for stream in running])
            hidden = self._range(0, self._kv.shape[4]) > self._at[:, None]
            self._mask = self._new(hidden.shape).masked_fill_(hidden, -torch.inf)[:, None, None]
            self._on_trunks = self._by_trunk([(stream, row, row + 1) for row, stream in enumerate(running)])
            self._temperature = self._float([[stream.temperature or 1.0] for stream in self.rows])
        else:
            self._at += 1
            self._positions += 1
            self._mask[self._row_ids, 0, 0, self._at] = 0.0
        longest = 1 + max((stream.known for stream in running), default=0)
        step = DecodeStep(self._kv, self._row_ids, self._at, self._mask, longest, self._on_trunks, [])
        if not joined:
            return step, self._tokens, self._positions, 0
        tokens, positions = [self._tokens], [self._positions]
        places = [(stream, row, row + 1) for row, stream in enumerate(running)]
        start = len(running)
        for stream in joined:
            new = stream.own[stream.known :]
            at, end = stream.known, start + len(new)
            mask = causal_mask(len(new), len(stream.own), self._kv) if at else None
            step.spans.append(Span(start, end, at, self._kv[:, :, stream.row], mask))
            tokens.append(self._long(new))
            positions.append(self._range(at, len(stream.own)) + len(stream.trunk.ids))
            places.append((stream, start, end))
            start = end
        step.trunks = self._by_trunk(places)
        return step, torch.cat(tokens), torch.cat(positions), self._long([end - 1 for _, _, end in places])

    def _by_trunk(self, places: list[tuple[Stream, int, int]]) -> list[tuple[Tensor, Tensor | None]]:
        """Each trunk's keys and values, and which tokens of the step are on it; `places` are the streams' tokens."""
        groups: dict[int, tuple[Tensor, list[int]]] = {}
        for stream, start, end in places:
            if stream.trunk.kv is not None:
                groups.setdefault(id(stream.trunk), (stream.trunk.kv, []))[1].extend(range(start, end))
        count = places[-1][2] if places else 0
        return [(kv, None if len(on) == count else self._long(on)) for kv, on in groups.values()]

    def _sample(self, logits: Tensor) -> list[int]:
        """Draw each row's token from softmax(logits / temperature) over the whole vocabulary, by inverting the
        cumulative distribution (in double) at the stream's own next uniform number. Greedy rows take the likeliest
        token."""
        logits = logits.float()
        logprobs = (logits / self._temperature).log_softmax(-1)  # (B, V)
        greedy = [stream.temperature == 0 for stream in self.rows]
        picked = logprobs.argmax(-1) if any(greedy) else None
        if picked is None or not all(greedy):
            cumulative = logprobs.exp().cumsum(-1, dtype=torch.float64)
            draws = self._float([[stream.draws[len(stream.ids)]] for stream in self.rows], torch.float64)
            drawn = torch.searchsorted(cumulative, draws * cumulative[:, -1:], right=True)[:, 0]
            drawn.clamp_(max=logits.shape[1] - 1)  # NaN lies beyond the last token; it is refused below
            picked = drawn if picked is None else torch.where(self._long(greedy).bool(), picked, drawn)
        self._tokens = picked
        chosen = logprobs.gather(1, picked[:, None])[:, 0].tolist()
        if not all(map(float.__eq__, chosen, chosen)):
            raise EngineError("the policy's logits are not finite; the adapter's weights have diverged")
        for stream, logprob in zip(self.rows, chosen, strict=True):
            stream.logprobs.append(logprob)
        return picked.tolist()

    def _ends(self, stream: Stream, token: int) -> bool:
        stream.ids.append(token)
        return token in self.end_ids or len(stream.ids) == stream.max_new
