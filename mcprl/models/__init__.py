"""Models: any transformers causal LM with a LoRA (`load`), its base optionally loaded by `unsloth`, and its adapters on
disk (`adapters`)."""

import logging

# On CPUs with bfloat16 bitsandbytes warns, when peft imports it, that a package of optional kernels is missing.
logging.getLogger("bitsandbytes.backends.cpu.ops").setLevel(logging.ERROR)

BEHIND_AN_API = "llm:"
"""What the name of a model begins with that is behind an API and can be tested, not trained: `llm:openai/gpt-4.1`."""
