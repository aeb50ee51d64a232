"""The update: sampled rows of token ids in, a better LoRA out."""
