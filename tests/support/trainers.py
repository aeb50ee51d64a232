"""Trainers of tiny random models, and rows that are sampled from those models, for tests of the update."""

import dataclasses
from collections.abc import Iterable
from typing import Any

import torch
from peft import LoraConfig, get_peft_model

from mcprl.config import TrainingConfig
from mcprl.models.load import LoadedModel
from mcprl.training.rows import training_rows
from mcprl.training.trainer import Trainer
from mcprl.types import Completion, Row, Trajectory
from support.models import random_model

PROMPT = (3, 1, 4, 1, 5, 9, 2, 6)


def tiny_base() -> Any:
    # Far enough from uniform for a token to be made likely without moving the output layer.
    return random_model(vocab_size=32, tie_word_embeddings=True, initializer_range=0.3)


def tiny_trainer(rank: int = 8, **settings: Any) -> Trainer:
    model = get_peft_model(tiny_base(), LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear"))
    exact: dict[str, Any] = {"autocast": "off"}  # what is compared is worked out in float32
    return Trainer(LoadedModel(model, None, (), "tiny", ""), TrainingConfig(**exact | settings))


def sampled_trajectories(trainer: Trainer, count: int, seed: int) -> list[Trajectory]:
    """Trajectories of one turn, sampled token by token from the trainer's own model."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.tensor([PROMPT] * count)
    logprobs: list[torch.Tensor] = []
    with torch.no_grad():
        for _ in range(4):
            logits = trainer.model(input_ids=ids).logits[:, -1].log_softmax(-1)
            chosen = torch.multinomial(logits.exp(), 1, generator=generator)
            logprobs.append(logits.gather(1, chosen))
            ids = torch.cat([ids, chosen], 1)
    sampled = zip(ids[:, len(PROMPT) :].tolist(), torch.cat(logprobs, 1).tolist(), strict=True)
    return [
        Trajectory(f"{seed}-{g}", "s", (), (Completion({"role": "assistant"}, PROMPT, tuple(c), tuple(p), "stop"),))
        for g, (c, p) in enumerate(sampled)
    ]


def sampled_batch(trainer: Trainer, seed: int = 0, count: int = 12) -> list[tuple[Row, float]]:
    """Rows of sampled trajectories with advantages that differ."""
    found = [row for trajectory in sampled_trajectories(trainer, count, seed) for row in training_rows(trajectory)]
    return [(row, (b % 5 - 2) / 2) for b, row in enumerate(found)]


def weights_of(trainer: Trainer) -> dict[str, torch.Tensor]:
    return {name: p.detach().clone() for name, p in trainer.model.named_parameters()}


def same_weights(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def replaced(batch: Iterable[tuple[Row, float]], **changes: Any) -> list[tuple[Row, float]]:
    return [(dataclasses.replace(row, **changes), advantage) for row, advantage in batch]
