"""Train a starter: a LoRA with which a pre-trained model that knows no tools can call those of servers it never saw.

    python recipes/nano/starter.py --model smollm2 --steps 300      goes on where it was; leaves .cache/starter-smollm2

Each step learns one procedural server: some fourteen verified conversations with it, in the words of the scenario
generator. The rate is constant and falls to 0 in the last quarter; a run that was ended can go on with more steps.
"""

import argparse
import json
import math
import signal
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from talks import HELD_OUT, lesson

from mcprl.config import Config, ModelConfig
from mcprl.models import packaged
from mcprl.models.adapters import save_adapter
from mcprl.models.defaults import with_defaults
from mcprl.models.load import LoadedModel, load_model
from mcprl.training.demonstrations import demonstration
from mcprl.training.rows import training_rows
from mcprl.training.trainer import Trainer
from mcprl.types import Row

CACHE = Path(__file__).parents[2] / ".cache"
WEIGHTS, LORA = "adapter_model.safetensors", "adapter_config.json"
LONGEST = 1_024
"""Tokens of a conversation; longer ones are left out."""
SAVE_EVERY = 20
FALLS_IN = 0.25
"""The last part of the steps, in which the rate falls to 0."""


def rows_of(tokenizer: Any, seed: int) -> list[Row]:
    """The conversations with one world as rows of tokens."""
    tools, talks = lesson(seed)
    shown = (demonstration(tokenizer, messages, tools) for _, messages in talks)
    return [row for trajectory in shown for row in training_rows(trajectory) if len(row.ids) <= LONGEST]


def rate_at(step: int, steps: int, rate: float) -> float:
    return rate * min(1.0, (steps + 1 - step) / (FALLS_IN * steps))


@torch.no_grad()
def held_out_loss(trainer: Trainer, worlds: Sequence[Sequence[Row]]) -> float:
    """Nats per token of the assistant on worlds that are never trained on."""
    logprobs = [
        float(values)
        for rows in worlds
        for part in trainer.forward.bins(rows, 1.0)
        for values in torch.cat(part.logprobs_B)
    ]
    return -math.fsum(logprobs) / len(logprobs)


def train(loaded: LoadedModel, config: Config, folder: Path, steps: int, held_out: int = 8) -> None:
    """Take the steps up to `steps`, and go on from `folder` if it has a checkpoint. The loss on so many `held_out`
    worlds is logged at times."""
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    trainer = Trainer(loaded, config.training)
    rate = config.training.warm_start_learning_rate
    checkpoint, log = folder / "checkpoint", folder / "log.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    if checkpoint.exists():
        trainer.load(checkpoint)
    unseen = [rows for seed in range(HELD_OUT, HELD_OUT + held_out) if (rows := rows_of(loaded.tokenizer, seed))]
    seed = json.loads(log.read_text().splitlines()[-1])["seed"] if trainer.step else 0
    while trainer.step < steps and not ended.is_set():
        rows, seed, began = rows_of(loaded.tokenizer, seed), seed + 1, time.monotonic()
        if not rows:
            continue
        metrics = trainer.supervise(rows, rate_at(trainer.step + 1, steps, rate))
        record = {"step": trainer.step, "seed": seed, "rows": len(rows), "seconds": time.monotonic() - began}
        record |= {name: metrics[name] for name in ("loss", "learning_rate", "forwarded_tokens", "bf16")}
        if trainer.step % SAVE_EVERY == 0 or trainer.step == steps:
            trainer.save(checkpoint)
        if trainer.step % (5 * SAVE_EVERY) == 0 or trainer.step == steps:
            record["held_out_loss"] = held_out_loss(trainer, unseen)
        with log.open("a") as file:
            print(json.dumps(record), file=file)
    trainer.save(checkpoint)
    save_adapter(loaded, folder / "adapter")


def publish(adapter: Path, folder: Path, base: str) -> None:
    """Write the LoRA in bfloat16 into `folder`, as one for the model that the hub knows as `base`."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: value.to(torch.bfloat16) for name, value in load_file(adapter / WEIGHTS).items()}
    save_file(weights, folder / WEIGHTS)
    lora = json.loads((adapter / LORA).read_text())
    lora |= {"base_model_name_or_path": base, "target_modules": sorted(lora["target_modules"])}
    (folder / LORA).write_text(json.dumps(lora, indent=2) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--steps", type=int, default=300, help="worlds to learn (%(default)s)")
    arguments = parser.parse_args()
    config = with_defaults(Config(model=ModelConfig(name=arguments.model)))
    folder = CACHE / f"starter-{arguments.model}"
    train(load_model(config.model), config, folder, arguments.steps)
    if target := packaged.starter(arguments.model):
        publish(folder / "adapter", Path(target), packaged.MODELS[arguments.model].hub)


if __name__ == "__main__":
    main()
