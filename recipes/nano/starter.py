"""Train a starter: a LoRA with which a pre-trained model that knows no tools can call those of servers it never saw.

    python recipes/nano/starter.py --model smollm2 --steps 300      goes on where it was; leaves .cache/starter-smollm2

Each step learns one procedural server: some fourteen verified conversations with it, in the words of the scenario
generator; a few of the short exercises that nano begins with (calls, or reading a result); and requests that none of
the tools shown serves, which must be declined. The rate is constant and falls to 0 in the last quarter; a run that was
ended can go on with more steps, and `--start FOLDER --first-seed N` goes on from a LoRA whose checkpoint is gone.
`--mean FOLDER ...` takes no steps: it publishes the mean of LoRAs that came one out of the other.
"""

import argparse
import json
import math
import random
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from shutil import copy
from types import MappingProxyType
from typing import Any

import torch
import written
from picks import picks
from practice import MAKING, READING, REMOVING, SETTING, WORKING, Talk, exercises
from safetensors.torch import load_file, save_file
from talks import HELD_OUT, lesson

from mcprl.config import Config, ModelConfig
from mcprl.models import packaged
from mcprl.models.adapters import load_adapter_weights, save_adapter
from mcprl.models.defaults import with_defaults
from mcprl.models.load import LoadedModel, load_model
from mcprl.scenarios.writers.plain import DECLINED
from mcprl.text import stems
from mcprl.training.demonstrations import demonstration
from mcprl.training.renaming import renamed
from mcprl.training.rows import training_rows
from mcprl.training.trainer import Trainer
from mcprl.types import Row, Tool

CACHE = Path(__file__).parents[2] / ".cache"
WEIGHTS, LORA = "adapter_model.safetensors", "adapter_config.json"
LONGEST, LONGEST_WRITTEN = 1_024, 2_048
"""Tokens of a conversation, with a procedural server and with a written one; longer ones are left out."""
SAVE_EVERY = 20
EXERCISES = 6
"""Exercises of a step."""
RATE = 1.3e-3
"""The learning rate: that of the defaults for a model that knows no tools."""
FALLS_IN = 0.25
"""The last part of the steps, in which the rate falls to 0."""
VERBS = {stem for verb in (*READING, *SETTING, *MAKING, *REMOVING, *WORKING) for stem in stems(verb)}
"""Words of tools' names that say nothing of what a tool is about."""


def rows_of(tokenizer: Any, seed: int) -> list[Row]:
    """What a step learns: a world's conversations, its exercises and its strangers, as rows of tokens."""
    world, talks = lesson(seed)
    made, practised = exercises(seed, EXERCISES)
    others = [*strangers(world, seed), *strangers(made, -seed - 1)]
    return tokens(tokenizer, [*((world, talk) for talk in talks), *((made, talk) for talk in practised), *others])


def written_rows_of(tokenizer: Any, number: int, learned: Sequence[str] = ()) -> list[Row]:
    """What a step learns of a written server: some of its conversations with other identifiers, strangers, and
    exercises in finding rows."""
    name, talks = written.chunk(number, learned)
    tools, _ = written.conversations(name)
    rng = random.Random(f"renamed {number}")
    told = [(kind, tuple(renamed(messages, tools, rng))) for kind, messages in talks]
    listing, practised = picks(number, EXERCISES)
    shown = [
        *((tools, talk) for talk in told),
        *written.strangers(name, number),
        *((listing, each) for each in practised),
    ]
    return tokens(tokenizer, shown, LONGEST_WRITTEN)


def tokens(tokenizer: Any, shown: Iterable[tuple[Sequence[Tool], Talk]], longest: int = LONGEST) -> list[Row]:
    read = (demonstration(tokenizer, messages, tools) for tools, (_, messages) in shown)
    return [row for trajectory in read for row in training_rows(trajectory) if len(row.ids) <= longest]


def strangers(tools: Sequence[Tool], seed: int) -> Iterator[tuple[Sequence[Tool], Talk]]:
    """Two requests to other servers, declined: one with all of the `tools` shown, and one with one to three of them."""
    rng = random.Random(f"strangers {seed}")
    here = {stem for tool in tools for stem in stems(f"{tool.name} {tool.description}")} - VERBS
    left = [rng.sample(list(tools), min(len(tools), rng.choice((1, 1, 2, 3)))), tools] if tools else []
    while left:
        others, asked = exercises(rng.randrange(HELD_OUT, 2**40), 1)
        if others and asked and not here & {stem for tool in others for stem in stems(tool.name)}:
            declined = {"role": "assistant", "content": rng.choice(DECLINED)}
            yield left.pop(), ("stranger", (asked[0][1][0], declined))


def rate_at(step: int, steps: int) -> float:
    return RATE * min(1.0, (steps + 1 - step) / (FALLS_IN * steps))


@torch.no_grad()
def held_out_loss(trainer: Trainer, servers: Sequence[Sequence[Row]]) -> float:
    """Nats per token of the assistant on servers that are never trained on."""
    logprobs = [
        float(values)
        for rows in servers
        for part in trainer.forward.bins(rows, 1.0)
        for values in torch.cat(part.logprobs_B)
    ]
    return -math.fsum(logprobs) / len(logprobs)


def unseen(tokenizer: Any, worlds: int = 8) -> dict[str, list[list[Row]]]:
    """By the name of its loss: the conversations of servers that are never trained on, procedural and written."""
    lessons = (lesson(seed) for seed in range(HELD_OUT, HELD_OUT + worlds))
    people = (written.conversations(name) for name in written.HELD_OUT)
    few = ((tools, talks[::4]) for tools, talks in people)
    lots = (("held_out_loss", lessons, LONGEST), ("written_loss", few, LONGEST_WRITTEN))
    return {
        name: [tokens(tokenizer, ((tools, talk) for talk in talks), longest) for tools, talks in lot if talks]
        for name, lot, longest in lots
    }


def train(
    loaded: LoadedModel,
    config: Config,
    folder: Path,
    steps: int,
    first_seed: int = 0,
    rows_of: Callable[[Any, int], list[Row]] = rows_of,
    held_out: Mapping[str, Sequence[Sequence[Row]]] = MappingProxyType({}),
) -> bool:
    """Take the steps up to `steps`, and go on from `folder` if it has a checkpoint. The losses on what is `held_out`,
    by name, are logged at times. Whether all steps are taken: SIGTERM ends it before."""
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    trainer = Trainer(loaded, config.training)
    checkpoint, log = folder / "checkpoint", folder / "log.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    if checkpoint.exists():
        trainer.load(checkpoint)
    seed = json.loads(log.read_text().splitlines()[-1])["seed"] if trainer.step else first_seed
    while trainer.step < steps and not ended.is_set():
        rows, seed, began = rows_of(loaded.tokenizer, seed), seed + 1, time.monotonic()
        if not rows:
            continue
        metrics = trainer.supervise(rows, rate_at(trainer.step + 1, steps))
        record = {"step": trainer.step, "seed": seed, "rows": len(rows), "seconds": time.monotonic() - began}
        record |= {name: metrics[name] for name in ("loss", "learning_rate", "forwarded_tokens", "bf16")}
        if trainer.step % SAVE_EVERY == 0 or trainer.step == steps:
            trainer.save(checkpoint)
        if trainer.step % (5 * SAVE_EVERY) == 0 or trainer.step == steps:
            record |= {name: held_out_loss(trainer, servers) for name, servers in held_out.items()}
        with log.open("a") as file:
            print(json.dumps(record), file=file)
    trainer.save(checkpoint)
    save_adapter(loaded, folder / "adapter")
    return trainer.step >= steps


def mean(folders: Sequence[str], folder: Path) -> Path:
    """Write the mean of LoRAs into `folder`, each weight by itself (a soup of models, arXiv 2203.05482). One that is
    named twice counts twice. Only LoRAs that came one out of the other are near enough to have a mean."""
    folder.mkdir(parents=True, exist_ok=True)
    each = [load_file(Path(name) / WEIGHTS) for name in folders]
    means = {name: torch.stack([weights[name].float() for weights in each]).mean(0) for name in each[0]}
    save_file(means, folder / WEIGHTS)
    copy(Path(folders[0]) / LORA, folder)
    return folder


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
    parser.add_argument("--steps", type=int, default=300, help="servers to learn (%(default)s)")
    parser.add_argument("--start", metavar="FOLDER", help="a LoRA to begin from where there is no checkpoint")
    parser.add_argument("--first-seed", type=int, default=0, help="the first world to learn (%(default)s)")
    parser.add_argument(
        "--written",
        nargs="*",
        metavar="NAME",
        choices=sorted({*written.names()} - {*written.HELD_OUT}),
        help="learn servers of written/ instead (all that are not held out)",
    )
    parser.add_argument("--mean", nargs="+", metavar="FOLDER", help="publish the mean of these LoRAs instead")
    arguments = parser.parse_args()
    target = packaged.starter(arguments.model)
    if arguments.mean and target:
        publish(mean(arguments.mean, CACHE / "mean"), Path(target), packaged.MODELS[arguments.model].hub)
        return
    people = arguments.written is not None
    config = with_defaults(Config(model=ModelConfig(name=arguments.model)))
    folder = CACHE / f"starter-{arguments.model}{'-written' * people}"
    loaded = load_model(config.model)
    if arguments.start:
        load_adapter_weights(loaded, arguments.start)
    rows = partial(written_rows_of, learned=arguments.written) if people else rows_of
    done = train(loaded, config, folder, arguments.steps, arguments.first_seed, rows, unseen(loaded.tokenizer))
    if done and target:
        publish(folder / "adapter", Path(target), packaged.MODELS[arguments.model].hub)


if __name__ == "__main__":
    main()
