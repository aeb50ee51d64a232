"""The seam for models: `load(config) -> LoadedModel`. `peft` loads any transformers causal LM, its base by `unsloth`
where that is installed and there is a GPU."""
