"""The keys and values that a decoder has in memory: rows of running streams, trunks, and finished streams for reuse."""

import math
import mmap
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor

from mcprl.engines.embedded.streams import Stream, Trunk

TRUNKS = 8


class KVCache:
    """`rows` (layer, k/v, row, head, C, D) holds the keys and values of running streams after their trunks, C tokens at
    most. `root` is the empty trunk.

    Half of `memory` bytes is for the rows and half for finished streams, of which the least recently used are forgotten
    first. The `TRUNKS` most recently used trunks come on top.
    """

    def __init__(self, model: Any, memory: int) -> None:
        config = model.config.get_text_config()
        heads = config.num_key_value_heads
        width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        weight = model.get_input_embeddings().weight
        self._like = weight
        self.rows = self._zeros(config.num_hidden_layers, 2, 0, heads, 0, width)
        token_bytes = config.num_hidden_layers * 2 * heads * width * weight.element_size()
        self._capacity = memory // 2 // token_bytes  # tokens in the rows, and as many of finished streams
        self.root = Trunk(())
        self._trunks: OrderedDict[tuple[int, ...], Trunk] = OrderedDict()
        self._finished: OrderedDict[tuple[Trunk, tuple[int, ...]], None] = OrderedDict()
        self._finished_tokens = 0

    def _zeros(self, *shape: int) -> Tensor:
        """Zeros, since what a mask hides must be finite. On Linux they take memory once they are written: of rows with
        room for the longest answers half never is."""
        size = math.prod(shape) * self._like.element_size()
        if self._like.device.type != "cpu" or not size or not hasattr(mmap, "MADV_NOHUGEPAGE"):
            return self._like.new_zeros(shape)
        pages = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        with suppress(OSError):  # a kernel without huge pages
            pages.madvise(mmap.MADV_NOHUGEPAGE)
        return torch.frombuffer(pages, dtype=self._like.dtype).view(shape)

    # --- rows -----------------------------------------------------------------------------------------------------

    def reserve(self, running: Sequence[Stream], length: int, expected: int) -> bool:
        """Make room for one more row, of `length` tokens, beside those of the `running` streams; ahead of time for as
        many of the `expected` rows as memory allows. Finished streams are forgotten for what is copied.

        Returns False if memory is too small while others run: their rows become free.
        """
        layers, kinds, old_rows, heads, old_length, width = self.rows.shape
        rows = len(running) + 1
        if rows <= old_rows and length <= old_length:
            return True
        length = max(old_length if running else 0, -(-length // 256) * 256)
        rows = max(rows, min(expected, self._capacity // length))
        if rows * length > self._capacity and running:
            return False
        if not running:
            self.rows = self._zeros(layers, kinds, 0, heads, 0, width)  # free before as much is taken
        else:  # the old rows are there until they are copied
            self._bound_finished(2 * self._capacity - rows * length - old_rows * old_length)
        enlarged = self._zeros(layers, kinds, rows, heads, length, width)
        used = max((stream.cached for stream in running), default=0)
        enlarged[:, :, : len(running), :, :used] = self.rows[:, :, : len(running), :, :used]
        self.rows = enlarged
        return True

    def fill(self, stream: Stream, suffix: tuple[int, ...], length: int) -> None:
        """Copy the first `length` tokens of a suffix in memory into the stream's row."""
        source = stream.trunk.sources[suffix]
        kv = source if isinstance(source, Tensor) else self.rows[:, :, source.row]
        self.rows[:, :, stream.row, :, :length] = kv[:, :, :, :length]
        if isinstance(source, Tensor):
            self._finished.move_to_end((stream.trunk, suffix))
            if length == len(suffix):  # the conversation goes on: the longer one will replace it
                self._forget(stream.trunk, suffix)

    def move(self, stream: Stream, row: int) -> None:
        """Move a running stream to another row, whose contents it replaces."""
        self.rows[:, :, row, :, : stream.cached] = self.rows[:, :, stream.row, :, : stream.cached]
        stream.row = row

    # --- finished streams -----------------------------------------------------------------------------------------

    def keep(self, stream: Stream) -> None:
        """Keep a copy of a finished stream's row, so that a prompt that begins like it computes only the rest."""
        suffix = (*stream.suffix, *stream.ids)[: stream.cached]
        if suffix in stream.trunk.sources or self._trunks.get(stream.trunk.ids, self.root) is not stream.trunk:
            return
        stream.trunk.add(suffix, self.rows[:, :, stream.row, :, : stream.cached].clone())
        self._finished[stream.trunk, suffix] = None
        self._finished_tokens += stream.cached
        self._bound_finished(self._capacity)

    def _bound_finished(self, most: int) -> None:
        """Forget the least recently used until the finished streams have that many tokens at most."""
        while self._finished_tokens > max(0, most):
            self._forget(*next(iter(self._finished)))

    def _forget(self, trunk: Trunk, suffix: tuple[int, ...]) -> None:
        del self._finished[trunk, suffix]
        trunk.remove(suffix)
        self._finished_tokens -= len(suffix)

    # --- trunks ---------------------------------------------------------------------------------------------------

    def find_trunk(self, prompt: tuple[int, ...]) -> Trunk | None:
        """The longest trunk that the prompt begins with and goes beyond."""
        fitting = [ids for ids in self._trunks if len(ids) < len(prompt) and prompt[: len(ids)] == ids]
        if not fitting:
            return None
        ids = max(fitting, key=len)
        self._trunks.move_to_end(ids)
        return self._trunks[ids]

    def new_kv(self, length: int) -> Tensor:
        """Space for the keys and values (layer, k/v, head, length, D) of a new trunk."""
        layers, kinds, _, heads, _, width = self.rows.shape
        return self._zeros(layers, kinds, heads, length, width)

    def add_trunk(self, ids: tuple[int, ...], kv: Tensor) -> Trunk:
        """Add a trunk; if there are too many, drop the least recently used one and its finished streams."""
        self._trunks[ids] = trunk = Trunk(ids, kv)
        if len(self._trunks) > TRUNKS:
            _, dropped = self._trunks.popitem(last=False)
            for key in [key for key in self._finished if key[0] is dropped]:
                self._forget(*key)
        return trunk
