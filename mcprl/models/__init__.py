"""The seam for models: `load(config) -> LoadedModel`. `peft` loads any transformers causal LM, its base by `unsloth`
where that is installed and there is a GPU."""

import logging

# On CPUs with bfloat16 bitsandbytes warns, when peft imports it, that a package of optional kernels is missing.
logging.getLogger("bitsandbytes.backends.cpu.ops").setLevel(logging.ERROR)
