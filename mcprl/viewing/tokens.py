"""The sampled tokens of a rollout as text: how probable the sampler found each, and how far the trainer was from it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from mcprl.config import ModelConfig
from mcprl.errors import McprlError
from mcprl.types import Trajectory


@dataclass(frozen=True)
class Token:
    """A sampled token. `probability` is the sampler's; `gap` (nats) is `None` if it was not measured."""

    text: str
    probability: float
    gap: float | None = None

    @property
    def style(self) -> str:
        """Its classes: `rare`, and that of the gap's colour, `gap1` from a thousandth of a nat to `gap4` from one."""
        strength = sum((self.gap or 0.0) >= least for least in (0.001, 0.01, 0.1, 1.0))
        return " ".join([*["rare"] * (self.probability < 0.1), *[f"gap{strength}"] * bool(strength)])

    @property
    def numbers(self) -> str:
        gap = "" if self.gap is None else f", gap {self.gap:.2g} nats"
        return f"probability {self.probability:.3f}{gap}"


def sampled(config: ModelConfig, trajectory: Trajectory, gaps: Sequence[float] = ()) -> list[list[Token]]:
    """The tokens of each turn, with the rollout's `gaps` (nats) if there are some.

    Raises `McprlError` if the model's tokenizer cannot be read here.
    """
    tokenizer = _tokenizer(config.model_dump_json())
    left = iter(gaps)
    turns: list[list[Token]] = []
    for turn in trajectory.turns:
        texts = [tokenizer.decode([token], skip_special_tokens=False) for token in turn.completion_ids]
        likely = [math.exp(min(0.0, each)) for each in turn.logprobs]
        known = [next(left, math.nan) for _ in texts]
        measured = [None if math.isnan(gap) else gap for gap in known]
        turns.append([Token(*each) for each in zip(texts, likely, measured, strict=True)])
    return turns


@cache
def _tokenizer(settings: str) -> Any:
    """The tokenizer of a model with these settings (JSON); needs the `train` extra.

    tokenizer.json is read by itself: transformers imports torch, which takes seconds, and is only asked about a model
    without that file.
    """
    config = ModelConfig.model_validate_json(settings)
    try:
        from tokenizers import Tokenizer

        from mcprl.models.places import locate

        path = Path(locate(config.name))
        try:
            return (
                Tokenizer.from_file(str(path / "tokenizer.json"))
                if path.is_dir()
                else Tokenizer.from_pretrained(config.name)
            )
        except Exception:  # what the library raises: there is no such file, nobody to ask for it, or another format
            from mcprl.models.load import read_info

            return read_info(config).tokenizer
    except ImportError as error:
        raise McprlError(f"{error.name} is not installed; tokens need: pip install 'mcprl[train]'") from None
