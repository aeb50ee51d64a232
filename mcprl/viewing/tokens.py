"""The sampled tokens of a rollout as text, with how probable the sampler found each."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from mcprl.config import ModelConfig
from mcprl.errors import McprlError
from mcprl.types import Trajectory


@dataclass(frozen=True)
class Token:
    """A sampled token. `rare` is true if the sampler gave it less than one in ten."""

    text: str
    probability: float

    @property
    def rare(self) -> bool:
        return self.probability < 0.1


def sampled(config: ModelConfig, trajectory: Trajectory) -> list[list[Token]]:
    """The tokens of each turn. Raises `McprlError` if the model's tokenizer cannot be read here."""
    tokenizer = _tokenizer(config.model_dump_json())
    return [_tokens(tokenizer, turn.completion_ids, turn.logprobs) for turn in trajectory.turns]


def _tokens(tokenizer: Any, ids: Sequence[int], logprobs: Sequence[float]) -> list[Token]:
    texts = [tokenizer.decode([token]) for token in ids]
    return [Token(text, math.exp(min(0.0, each))) for text, each in zip(texts, logprobs, strict=True)]


@cache
def _tokenizer(settings: str) -> Any:
    """The tokenizer of a model with these settings (JSON). The import takes seconds and needs the `train` extra."""
    try:
        from mcprl.models.load import read_info
    except ImportError as error:
        raise McprlError(f"{error.name} is not installed; tokens need: pip install 'mcprl[train]'") from None
    return read_info(ModelConfig.model_validate_json(settings)).tokenizer
