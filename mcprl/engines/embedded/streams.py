"""What the embedded engine decodes: streams, and the trunks that their prompts begin with.

A prompt is a trunk (the tools and the system message, common to every conversation of a run) and a suffix: the tokens
after it, which are the conversation's own.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, zip_longest
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float, Int
from torch import Tensor

from mcprl.engines.embedded.sampling import sample
from mcprl.engines.embedded.speculation import Guesses
from mcprl.errors import EngineError
from mcprl.text import common_prefix

if TYPE_CHECKING:
    from mcprl.engines.embedded.constraint import Constraint


@dataclass(eq=False)
class Trunk:
    """Tokens that many prompts begin with, and their keys and values `kv` (layer, k/v, head, T, D).

    `sources` are the suffixes whose keys and values are in memory: in the row of a running stream, or kept from a
    finished one. `ordered` are the same suffixes in lexicographic order.
    """

    ids: tuple[int, ...]
    kv: Tensor | None = None
    ordered: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    sources: dict[tuple[int, ...], "Stream | Tensor"] = field(default_factory=dict[tuple[int, ...], "Stream | Tensor"])

    def longest(self, suffix: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
        """The suffix in memory that has the longest common prefix with this one, and that prefix's length.

        It is one of the two neighbours in lexicographic order.
        """
        at = bisect_left(self.ordered, suffix)
        neighbours = self.ordered[max(at - 1, 0) : at + 1]
        lengths = ((ids, common_prefix(ids, suffix)) for ids in neighbours)
        return max(lengths, key=lambda pair: pair[1], default=((), 0))

    def add(self, suffix: tuple[int, ...], source: "Stream | Tensor") -> None:
        if suffix not in self.sources:
            self.ordered.insert(bisect_left(self.ordered, suffix), suffix)
        self.sources[suffix] = source

    def remove(self, suffix: tuple[int, ...]) -> None:
        del self.sources[suffix]
        del self.ordered[bisect_left(self.ordered, suffix)]


def _always() -> bool:
    return True


@dataclass(eq=False)
class Stream:
    """One turn being sampled: the request goes in, `ids` and `logprobs` (T, nats) come out.

    `head` returns the tokens of the tools and the system message, which become a trunk. If `wanted` returns False the
    stream ends early. It also ends with the token after which `ends_turn` returns True for its ids.
    """

    prompt: tuple[int, ...]
    head: Callable[[], tuple[int, ...]]
    max_new: int
    temperature: float
    seed: int
    wanted: Callable[[], bool] = _always
    top_p: float = 1.0
    constraint: "Constraint | None" = None
    ends_turn: Callable[[list[int]], bool] | None = None
    ids: list[int] = field(default_factory=list[int])
    logprobs: list[float] = field(default_factory=list[float])
    draws: list[float] = field(default_factory=list[float])  # uniform numbers, one for each new token
    trunk: Trunk = field(default_factory=lambda: Trunk(()))
    suffix: tuple[int, ...] = ()
    guesses: Guesses | None = None
    row: int = -1
    cached: int = 0  # tokens after the trunk whose keys and values are in the row

    def begin(self, row: int, cached: int) -> None:
        """Become a row, which has the keys and values of the first `cached` tokens after the trunk."""
        self.row, self.cached = row, cached
        generator = torch.Generator().manual_seed(self.seed & (2**63 - 1))
        self.draws = torch.rand(self.max_new, generator=generator, dtype=torch.float64).tolist()

    def take(self, picked: list[tuple[int, float]], guess: tuple[int, ...], ends: Container[int]) -> bool:
        """Append the tokens and log-probabilities that were sampled after the stream's end and after each token of its
        guess, up to the first that was not guessed. Returns whether the stream is done."""
        before, done = len(self.ids), False
        for (token, logprob), guessed in zip_longest(picked, guess):
            self.ids.append(token)
            self.logprobs.append(logprob)
            done = token in ends or len(self.ids) == self.max_new or bool(self.ends_turn and self.ends_turn(self.ids))
            if done or token != guessed:
                break
            self.cached += 1
        if self.guesses:
            self.guesses.sampled(self.ids[before:], guess)
        if self.constraint:
            self.constraint.take(self.ids[before:])
        return done


def will_compute(other: Stream, stream: Stream, length: int) -> bool:
    """Whether `other`, which is about to be computed, shares the first `length` suffix tokens of `stream`, which then
    gains by waiting for it."""
    same_trunk = other.trunk is stream.trunk and len(stream.suffix) > length <= len(other.suffix)
    return same_trunk and other.suffix[:length] == stream.suffix[:length]


def places_of(running: Sequence[Stream], guesses: Sequence[tuple[int, ...]]) -> list[tuple[Stream, int, int]]:
    """The running streams with the start and end of their tokens in a step."""
    ends = list(accumulate((1 + len(guess) for guess in guesses), initial=0))
    return list(zip(running, ends, ends[1:], strict=False))


def sample_rows(
    logits: Float[Tensor, "N V"], rows: Sequence[Stream], guesses: Sequence[tuple[int, ...]], ends: Container[int]
) -> tuple[Int[Tensor, " N"], list[Stream]]:
    """Sample each row's next token, and those after it as long as they were guessed.

    Returns all tokens, and the streams that are done. Raises `EngineError` if the logits are not numbers.
    """
    ahead = zip(rows, guesses, strict=True)
    places = [(stream, len(stream.ids) + n) for stream, guess in ahead for n in range(1 + len(guess))]
    draws = [stream.draws[place] for stream, place in places]
    temperatures, top_ps = ([getattr(stream, name) for stream, _ in places] for name in ("temperature", "top_p"))
    constrain(logits, rows, guesses)
    tokens, logprobs = sample(logits, temperatures, draws, top_ps)
    picked: list[tuple[int, float]] = list(zip(tokens.tolist(), logprobs.tolist(), strict=True))
    if any(math.isnan(logprob) for _, logprob in picked):
        raise EngineError("the policy's logits are not finite; the adapter's weights have diverged")
    each = zip(places_of(rows, guesses), guesses, strict=True)
    return tokens, [stream for (stream, start, end), guess in each if stream.take(picked[start:end], guess, ends)]


def constrain(logits: Float[Tensor, "N V"], running: Sequence[Stream], guesses: Sequence[tuple[int, ...]]) -> None:
    """Leave the streams that are held to a schema only the tokens that it allows: -inf for all others, in place."""
    for (stream, start, end), guess in zip(places_of(running, guesses), guesses, strict=True):
        if stream.constraint:
            allowed = stream.constraint.allowed(guess, logits.shape[1])
            logits[start:end].masked_fill_(~allowed.to(logits.device), -torch.inf)
