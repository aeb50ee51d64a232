"""Models: any transformers causal LM with a LoRA (`load`), its base optionally loaded by `unsloth`, and its adapters on
disk (`adapters`)."""

import logging

# On CPUs with bfloat16 bitsandbytes warns, when peft imports it, that a package of optional kernels is missing.
logging.getLogger("bitsandbytes.backends.cpu.ops").setLevel(logging.ERROR)
