"""Decoding with transformers' own cache, one stream after another: for models that `Decoder` cannot batch.

Those are the ones whose states are not keys and values alone (linear attention, as in Qwen3.5; convolutions, as in
LFM2), or whose attention does not go through `AttentionInterface` as it is (latent attention, as in Kimi K2; capped
scores, as in Gemma 2). Each prompt is computed whole. `Decoder` is several times as fast where many streams run.
"""

import inspect
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache

from mcprl.engines.embedded.streams import Stream, sample_rows

AT_ONCE = 4
"""Streams that take turns, token by token. More would take memory, and be no faster."""


class PlainDecoder:
    """Decodes streams with any causal language model whose states fit into transformers' `DynamicCache`. Not
    thread-safe: one thread owns it."""

    def __init__(self, model: Any, end_ids: Sequence[int]) -> None:
        self.model, self.end_ids = model, frozenset(end_ids)
        self.waiting: deque[Stream] = deque()
        self.used = time.monotonic()
        self._caches: dict[Stream, DynamicCache] = {}
        takes = inspect.signature(model.forward).parameters
        self._cache_argument = "cache" if "cache" in takes else "past_key_values"  # its name until transformers 5.24

    @property
    def rows(self) -> list[Stream]:
        return list(self._caches)

    @property
    def busy(self) -> bool:
        return bool(self.waiting or self._caches)

    @torch.inference_mode()
    def step(self) -> list[Stream]:
        """Let waiting streams join, and sample each stream's next token. Returns the streams that are done.

        Raises `EngineError` if the logits are not numbers.
        """
        self._join()
        done: list[Stream] = []
        if self._caches:
            logits = torch.stack([self._logits(stream) for stream in self._caches])
            _, done = sample_rows(logits, self.rows, [()] * len(logits), self.end_ids)
        for stream in done:
            del self._caches[stream]
        self.used = time.monotonic()
        return done

    def _join(self) -> None:
        for stream in [stream for stream in self._caches if not stream.wanted()]:
            del self._caches[stream]
        while self.waiting and len(self._caches) < AT_ONCE:
            stream = self.waiting.popleft()
            if stream.wanted():
                stream.begin(len(self._caches), 0)
                self._caches[stream] = DynamicCache(config=self.model.config.get_text_config())

    def _logits(self, stream: Stream) -> Tensor:
        """The logits (V,) of the stream's next token; the first time its whole prompt is computed."""
        new = torch.tensor([stream.ids[-1:] or stream.prompt], device=self.model.device)
        cache = {self._cache_argument: self._caches[stream]}
        return self.model(input_ids=new, use_cache=True, logits_to_keep=1, **cache).logits[0, -1]
