"""What the embedded engine decodes: streams, and the trunks that their prompts begin with."""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field

from torch import Tensor

from mcprl.text import common_prefix


@dataclass(eq=False)
class Trunk:
    """Tokens that many prompts begin with, their keys and values (layer, k/v, head, T, D), and the own tokens that are
    known behind them: of a running sequence or kept from a finished one."""

    ids: tuple[int, ...]
    kv: Tensor | None = None
    ordered: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    sources: dict[tuple[int, ...], "Stream | Tensor"] = field(default_factory=dict[tuple[int, ...], "Stream | Tensor"])

    def longest(self, own: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
        """The known tokens that share most with these, and how many they share: a neighbour in sorted order."""
        at = bisect_left(self.ordered, own)
        near = self.ordered[max(at - 1, 0) : at + 1]
        return max(((ids, common_prefix(ids, own)) for ids in near), key=lambda found: found[1], default=((), 0))

    def add(self, own: tuple[int, ...], source: "Stream | Tensor") -> None:
        if own not in self.sources:
            self.ordered.insert(bisect_left(self.ordered, own), own)
        self.sources[own] = source

    def remove(self, own: tuple[int, ...]) -> None:
        del self.sources[own]
        del self.ordered[bisect_left(self.ordered, own)]


@dataclass(eq=False)
class Stream:
    """One turn being sampled. `prompt` and what it asks for go in, `ids` and `logprobs` (T) come out."""

    prompt: tuple[int, ...]
    head: Callable[[], tuple[int, ...]]
    max_new: int
    temperature: float
    seed: int
    wanted: Callable[[], bool] = lambda: True  # false ends it early
    ids: list[int] = field(default_factory=list[int])
    logprobs: list[float] = field(default_factory=list[float])
    draws: list[float] = field(default_factory=list[float])
    trunk: Trunk = field(default_factory=lambda: Trunk(()))
    own: tuple[int, ...] = ()
    row: int = -1
    known: int = 0  # own tokens whose keys and values are in the row


def covers(other: Stream, stream: Stream, length: int) -> bool:
    """Whether `other`, which is about to be computed, begins with `length` tokens of `stream`, so that waiting pays."""
    both = other.trunk is stream.trunk and len(stream.own) > length <= len(other.own)
    return both and other.own[:length] == stream.own[:length]
