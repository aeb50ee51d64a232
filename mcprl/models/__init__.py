"""Models: any transformers causal LM with a LoRA (`load`), its base optionally loaded by `unsloth`, and its adapters on
disk (`adapters`)."""
