"""Prompt-lookup speculation: a stream is guessed to go on with what followed the same tokens earlier in its context.

A pass computes a stream's guessed tokens beside its next one, and each position is sampled with its own draw. Guesses
count up to the first that is not what was sampled there, so the output is what it would be without them (speculative
decoding, arXiv 2211.17192, with a draft that costs nothing).
"""

import math
from collections.abc import Iterable

NGRAM = 2  # tokens that must agree before those that follow are copied
LONGEST = 8
FREE = {"cpu": 6, "cuda": 64}
"""A pass takes about as long as this many tokens plus its own: reading the weights costs as much as computing these."""


class Guesses:
    """What one stream may say next, and how often that came true."""

    def __init__(self, context: Iterable[int]) -> None:
        self._context: list[int] = []
        self._after: dict[tuple[int, ...], int] = {}  # the place after the last occurrence of each n-gram
        self._place: int | None = None  # where the n-gram at the end was followed by something
        self._right, self._wrong = 1, 1
        for token in context:
            self._append(token)

    def next(self, streams: int, most: int, device: str) -> tuple[int, ...]:
        """The guess for a pass over `streams` streams, at most `most` tokens; empty if it would not pay.

        With c free tokens a pass over B streams takes a time like c + B; a guessed token that comes true with
        probability p pays if p is above B / (c + B). The n-th of a guess comes true with p ** n.
        """
        if self._place is None:
            return ()
        probability = self._right / (self._right + self._wrong)
        length = int(math.log(streams / (streams + FREE.get(device, 64))) / math.log(probability))
        return tuple(self._context[self._place : self._place + min(length, most, LONGEST)])

    def sampled(self, tokens: list[int], guess: tuple[int, ...]) -> None:
        """Take in the tokens that were sampled, and whether they were guessed."""
        for place, token in enumerate(tokens):
            if place < len(guess):
                self._right, self._wrong = self._right + (token == guess[place]), self._wrong + (token != guess[place])
            self._append(token)

    def _append(self, token: int) -> None:
        self._context.append(token)
        end = tuple(self._context[-NGRAM:])
        self._place = self._after.get(end)
        self._after[end] = len(self._context)
