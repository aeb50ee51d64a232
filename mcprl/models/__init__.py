"""The seam for models: `load(config) -> LoadedModel`. `peft` loads any transformers causal LM."""
