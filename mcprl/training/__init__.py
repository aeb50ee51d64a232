"""The update: rows of sampled ids in, a better LoRA out."""
