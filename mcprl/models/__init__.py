"""Models: any transformers causal LM with a LoRA (`load`), its base optionally loaded by `unsloth`, and its adapters on
disk (`adapters`)."""

import logging
from typing import Any

# On CPUs with bfloat16 bitsandbytes warns, when peft imports it, that a package of optional kernels is missing.
logging.getLogger("bitsandbytes.backends.cpu.ops").setLevel(logging.ERROR)

BEHIND_AN_API = "llm:"
"""What the name of a model begins with that is behind an API and can be tested, not trained: `llm:openai/gpt-4.1`."""


def context_limit(config: Any) -> int:
    """The tokens that a model can read, by its transformers config; very many if that does not say."""
    return int(getattr(config.get_text_config(), "max_position_embeddings", 2**31))
