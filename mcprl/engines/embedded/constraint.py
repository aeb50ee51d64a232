"""Holds a reply to a JSON schema: only tokens that the schema allows can be sampled (with llguidance)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool
from llguidance import LLMatcher, LLTokenizer
from llguidance.hf import from_tokenizer
from torch import Tensor

from mcprl.errors import UnsupportedSchema

_SPACES: Any = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
"""As `json.dumps` writes. A small model that may write spaces writes them until it has no tokens left."""


class Grammar:
    """What a tokenizer can spell. `vocabulary` is the number of logits, which may be above the tokenizer's own."""

    def __init__(self, tokenizer: Any, end_ids: Sequence[int], vocabulary: int) -> None:
        self._tokenizer: LLTokenizer = from_tokenizer(tokenizer, vocabulary, list(end_ids))

    def constraint(self, schema: dict[str, Any]) -> "Constraint":
        """A constraint for one reply. Raises `UnsupportedSchema` if it cannot be held to the schema."""
        matcher = LLMatcher(self._tokenizer, LLMatcher.grammar_from_json_schema(schema, overrides=_SPACES), log_level=0)
        if matcher.is_error():
            raise UnsupportedSchema(f"the reply cannot be held to its schema: {' '.join(matcher.get_error().split())}")
        return Constraint(matcher)


class Constraint:
    """What one reply may go on with."""

    def __init__(self, matcher: LLMatcher) -> None:
        self._matcher = matcher

    def forced(self, most: int) -> tuple[int, ...]:
        """The tokens that must come next, at most so many. As a guess they always come true."""
        return tuple(self._matcher.compute_ff_tokens()[: max(most, 0)])

    def allowed(self, guess: Sequence[int], vocabulary: int) -> Bool[Tensor, "T V"]:
        """Which tokens may come next, and after each of the guessed ones (T = guessed ones + 1)."""
        masks = [self._mask()]
        for token in guess:
            self._matcher.consume_token(token)
            masks.append(self._mask())
        self._matcher.rollback(len(guess))
        return torch.stack(masks)[:, :vocabulary]

    def take(self, tokens: Sequence[int]) -> None:
        """Go on to what was sampled."""
        self._matcher.consume_tokens(list(tokens))

    def _mask(self) -> Bool[Tensor, " V"]:
        bits = np.frombuffer(self._matcher.compute_bitmask(), np.uint8)
        return torch.from_numpy(np.unpackbits(bits, bitorder="little").astype(bool))
