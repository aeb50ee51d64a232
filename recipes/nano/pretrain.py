"""Pre-train the nano policy from nothing on procedural MCP servers.

    python recipes/nano/pretrain.py train                        all of it; goes on where it was
    python recipes/nano/pretrain.py train --start mcprl/models/nano --practice 0 --rate 1.5e-3    further, on new worlds
    python recipes/nano/pretrain.py evaluate                     on servers that were never trained on
    python recipes/nano/pretrain.py export                       to mcprl/models/nano
    python recipes/nano/pretrain.py survey --worlds 30           what tasks the worlds give, and how fast

`train` learns the tokenizer, turns worlds into files of tokens on all workers, trains, and leaves a model that
`mcprl train --model .cache/nano/ready` takes. All of it is under .cache/nano. Killed at any point and called again, it
goes on: finished files are kept, and a checkpoint is written every five minutes. Plan and measurements: README.md.

Each step takes a few groups: one server's tools and up to sixteen conversations that share them. The first tokens are
the short exercises of `practice.py`; they never quite stop. The loss is on what the assistant says, and one twentieth
on the rest.
"""

import argparse
import json
import os
import pickle
import random
import shutil
import signal
import threading
import time
from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import anyio
import tokenizer as spelling
import torch
import torch.distributed as dist
from measure import played, surveyed, teacher_forced
from muon import Muon
from policy import config, hidden, layout
from practice import exercises
from safetensors.torch import load_file, save_file
from talks import HELD_OUT, Branch, Group, encode, first_calls, lesson, parts
from torch import Tensor
from torch.multiprocessing.spawn import spawn
from torch.nn import functional
from transformers import AutoTokenizer, Qwen3ForCausalLM

from mcprl.chat.prompts import render
from mcprl.types import Tool

MODEL = Path(__file__).parents[2] / "mcprl" / "models" / "nano"
CACHE = Path(__file__).parents[2] / ".cache" / "nano"
OTHERS = 0.05  # loss weight of what the assistant did not say
SAMPLED = 0.1  # share of those tokens that are looked at, each at OTHERS / SAMPLED


@dataclass(frozen=True)
class Budget:
    """How long and how fast to train: by the clock, or by steps where given."""

    minutes: float = 72.0
    steps: int = 0
    tokens: int = 2_400
    """Tokens of a step per worker, prefixes counted once."""
    rate: float = 3e-3
    warm_up: int = 40
    practice: int = 3_000_000
    """Tokens of exercises before the first world."""
    mix: float = 0.3
    """Share of groups that are exercises after that."""
    first_calls: float = 0.4
    """Share of worlds of which only first calls are learnt."""
    longest: int = 640
    """Longer conversations are left out, three times in four."""
    checkpoint_s: float = 300.0
    held_out: int = 14
    """Servers to measure on at each checkpoint."""
    muon: bool = True
    worlds: int = 1_800
    """Worlds that are turned into files of tokens before the training; none: they are made on the fly."""
    pause: int = 0
    """Stop after this step as if killed; the schedule is that of the whole budget."""


# --- data -------------------------------------------------------------------------------------------------------------


SHARD = 24
"""Worlds of one file."""
TOKENS, WEIGHTS = "H", "B"
"""Type codes of ids and weights in the files."""


def stream(
    tokenizer: Any, budget: Budget, worker: int, workers: int, position: dict[str, int], folder: Path
) -> Iterator[Group]:
    """Groups without end. `position` (groups and seeds used, own tokens) is kept up to date and is all that resuming
    needs. Worlds come from the files of `folder`, again and again in another order, or are made if there are none."""
    shards = sorted(folder.glob("*.pickle"))[worker::workers]
    prepared = _prepared(shards, position["worlds"]) if shards else None
    while True:
        rng = random.Random(f"{worker} {position['groups']}")
        position["groups"] += 1
        practice = position["own"] < budget.practice / workers or rng.random() < budget.mix
        seed = position["practice" if practice else "worlds"] * workers + worker
        position["practice" if practice else "worlds"] += 1
        if prepared and not practice:
            group = next(prepared)
        else:
            source = exercises if practice else first_calls if rng.random() < budget.first_calls else lesson
            group = encode(tokenizer, *source(seed % HELD_OUT), budget.longest)
        if not group.branches or len(group.prefix) > LONGEST_PREFIX:
            continue
        position["own"] += len(group)
        yield group


LONGEST_PREFIX = 1_500


def _prepared(shards: Sequence[Path], skip: int) -> Iterator[Group]:
    """The groups of the files, shuffled anew each time round, from the one after the `skip` first."""
    epoch = 0
    while True:
        rng, order = random.Random(f"epoch {epoch}"), list(shards)
        rng.shuffle(order)
        epoch += 1
        for shard in order:
            groups = pickle.loads(shard.read_bytes())
            rng.shuffle(groups)
            for prefix, branches in groups:
                if skip:
                    skip -= 1
                    continue
                yield Group(list(prefix), [Branch(kind, list(ids), [*map(float, own)]) for kind, ids, own in branches])


def prepare(tokenizer_folder: Path, budget: Budget, folder: Path, workers: int) -> None:
    """Turn worlds into files of tokens, `workers` at a time. Files that are there are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = range(-(-budget.worlds // SHARD))
    missing = [shard for shard in wanted if not (folder / f"{shard:05}.pickle").exists()]
    if missing:
        spawn(_prepare, (missing, workers, tokenizer_folder, budget, folder), nprocs=workers)


def _prepare(
    worker: int, missing: Sequence[int], workers: int, tokenizer_folder: Path, budget: Budget, folder: Path
) -> None:
    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    started = time.monotonic()
    for number, shard in enumerate(missing[worker::workers], 1):
        groups: list[tuple[Any, ...]] = []
        for seed in range(shard * SHARD, (shard + 1) * SHARD):
            tools, lists = parts(seed)
            for talks in lists:
                group = encode(tokenizer, tools, talks, budget.longest)
                if group.branches and len(group.prefix) <= LONGEST_PREFIX:
                    groups.append(_packed(group))
        path = folder / f"{shard:05}.pickle"
        path.with_suffix(".new").write_bytes(pickle.dumps(groups))
        os.replace(path.with_suffix(".new"), path)
        if worker == 0:
            passed = time.monotonic() - started
            row = {"files": number, "of": len(missing[worker::workers]), "s_per_world": passed / number / SHARD}
            print(json.dumps(row), flush=True)


def _packed(group: Group) -> tuple[Any, ...]:
    """A group in two bytes a token and one a weight."""
    branches = [
        (branch.kind, array(TOKENS, branch.ids), array(WEIGHTS, map(int, branch.weights))) for branch in group.branches
    ]
    return array(TOKENS, group.prefix), branches


# --- one step ---------------------------------------------------------------------------------------------------------


def loss(model: Qwen3ForCausalLM, groups: Sequence[Group], rng: torch.Generator) -> tuple[Tensor, Tensor, int]:
    """The weighted sum of cross-entropies, that of the assistant's tokens alone, and how many those are."""
    batch = layout([(group.prefix, [branch.ids for branch in group.branches]) for group in groups])
    targets: list[int] = []
    weights: list[float] = []
    for group in groups:  # a prefix's last token predicts the first of each branch, never the assistant's: left out
        for ids, own in [(group.prefix, [0.0] * len(group.prefix)), *((b.ids, b.weights) for b in group.branches)]:
            targets += [*ids[1:], 0]
            weights += [*own[1:], -1.0]
    target, weight = torch.tensor(targets), torch.tensor(weights)
    others = (weight == 0) & (torch.rand(len(weight), generator=rng) < SAMPLED)
    weight[others] = OTHERS / SAMPLED
    chosen = (weight > 0).nonzero().squeeze(1)
    logits = functional.linear(hidden(model, batch)[chosen], model.model.embed_tokens.weight)
    losses = functional.cross_entropy(logits, target[chosen], reduction="none")
    said = ~others[chosen]
    return (losses * weight[chosen]).sum(), losses[said].detach().sum(), int(said.sum())


def optimizers(model: Qwen3ForCausalLM, budget: Budget) -> list[torch.optim.Optimizer]:
    matrices = [p for name, p in model.named_parameters() if p.ndim == 2 and "embed" not in name]
    embedding = [p for name, p in model.named_parameters() if "embed" in name]
    vectors = [p for p in model.parameters() if p.ndim == 1]
    rest = [{"params": embedding, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
    settings: dict[str, Any] = {"lr": budget.rate, "betas": (0.9, 0.98), "eps": 1e-9, "fused": True}
    if budget.muon:
        return [Muon(matrices, budget.rate), torch.optim.AdamW(rest, **settings)]
    return [torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}, *rest], **settings)]


# --- training ---------------------------------------------------------------------------------------------------------


def train(budget: Budget, cache: Path, workers: int = 2, tokenizer: Path = MODEL, start: Path | None = None) -> None:
    """Train random weights, or those of `start`, with `workers` processes of one thread each: on a busy machine they
    wait for one another once a step, threads would at every operation. SIGTERM to the process group ends it with a
    checkpoint."""
    cache.mkdir(parents=True, exist_ok=True)
    if workers == 1:
        _worker(0, 1, budget, cache, tokenizer, start)
        return
    (cache / "rendezvous").unlink(missing_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: None)  # the workers act on it
    spawn(_worker, (workers, budget, cache, tokenizer, start), nprocs=workers)


def _worker(worker: int, workers: int, budget: Budget, cache: Path, tokenizer_folder: Path, start: Path | None) -> None:
    torch.set_num_threads(1)
    if workers > 1:
        dist.init_process_group(
            "gloo", init_method=f"file://{cache.resolve()}/rendezvous", rank=worker, world_size=workers
        )
    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    model = loaded(tokenizer, start) if start else fresh(tokenizer)
    parameters = list(model.parameters())
    stepping = optimizers(model, budget)
    position = {"groups": 0, "worlds": 0, "practice": 0, "own": 0}
    done, tokens, elapsed = 0, 0, 0.0
    own = cache / f"state-{worker}.pt"
    if own.exists():
        state = torch.load(own, weights_only=True)
        model.load_state_dict(state["model"])
        for optimizer, saved in zip(stepping, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        position, done, tokens, elapsed = state["position"], state["step"], state["tokens"], state["elapsed"]
    groups = stream(tokenizer, budget, worker, workers, position, cache / "data")
    started, saved_at = time.monotonic() - elapsed, time.monotonic()
    running: dict[str, float] = defaultdict(float)
    stopping = threading.Event()
    if workers > 1:
        signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    while True:
        progress = torch.tensor(
            done / budget.steps if budget.steps else (time.monotonic() - started) / 60 / budget.minutes
        )
        _share(progress, workers, dist.ReduceOp.MAX)
        if progress >= 1 or (budget.pause and done >= budget.pause):
            break
        batch = [next(groups)]
        while sum(map(len, batch)) < budget.tokens:
            batch.append(next(groups))
        total, assistant, count = loss(model, batch, torch.Generator().manual_seed(done * workers + worker))
        total.backward()
        counts = torch.tensor([count, assistant, sum(map(len, batch))])
        flat = torch.cat([*(p.grad.flatten() for p in parameters if p.grad is not None), counts])
        waiting = time.monotonic()
        _share(flat, workers, dist.ReduceOp.SUM)
        waiting = time.monotonic() - waiting
        count, assistant, computed = flat[-3:].tolist()
        norm = _give(parameters, flat[:-3] / max(count, 1))
        rate = budget.rate * min(1.0, (done + 1) / budget.warm_up) * (1 - float(progress))
        for optimizer in stepping:
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.step()
            optimizer.zero_grad()
        done, tokens = done + 1, tokens + int(computed)
        sums = {"loss": assistant, "trained": count, "computed": computed, "norm": norm, "steps": 1, "waited": waiting}
        for name, value in sums.items():
            running[name] += value
        passed = time.monotonic() - started
        if done % 20 == 0 and worker == 0:
            row = {"minutes": round(passed / 60, 2), "rate": round(rate, 6), "per_s": round(tokens / passed)}
            row |= {
                "waited_s": round(running["waited"] / running["steps"], 3),
                "loss": round(running["loss"] / running["trained"], 4),
                "norm": round(running["norm"] / running["steps"], 3),
            }
            _log(cache, done, tokens, row | position | {"share": round(running["trained"] / running["computed"], 3)})
            running.clear()
        late = torch.tensor(float(time.monotonic() - saved_at > budget.checkpoint_s or stopping.is_set()))
        _share(late, workers, dist.ReduceOp.MAX)
        if late:
            _checkpoint(own, model, stepping, position, done, tokens, passed)
            if worker == 0:
                save_model(model, cache / "model")
                _log(
                    cache, done, tokens, {} if stopping.is_set() else teacher_forced(model, tokenizer, budget.held_out)
                )
            saved_at = time.monotonic()
            if stopping.is_set():
                return
    _checkpoint(own, model, stepping, position, done, tokens, time.monotonic() - started)
    if worker == 0:
        save_model(model, cache / "model")
        _log(cache, done, tokens, teacher_forced(model, tokenizer, 4 * budget.held_out))


def _give(parameters: Sequence[Tensor], gradient: Tensor) -> float:
    """Hand the shared gradient out, clipped to norm 1; returns its norm before that."""
    norm = float(gradient.norm())
    gradient = gradient * min(1.0, 1.0 / (norm + 1e-6))
    for p, g in zip(parameters, gradient.split([p.numel() for p in parameters]), strict=True):
        p.grad = g.view_as(p)
    return norm


def _log(cache: Path, step: int, tokens: int, row: dict[str, Any]) -> None:
    line = json.dumps({"step": step, "tokens": tokens, **row})
    print(line, flush=True)
    with open(cache / "log.jsonl", "a") as log:
        log.write(line + "\n")


def _share(value: Tensor, workers: int, how: Any) -> None:
    if workers > 1:
        dist.all_reduce(value, how)


def _checkpoint(
    path: Path, model: Any, stepping: Any, position: dict[str, int], step: int, tokens: int, elapsed: float
) -> None:
    state = {"model": model.state_dict(), "optimizers": [optimizer.state_dict() for optimizer in stepping]}
    state |= {"position": position, "step": step, "tokens": tokens, "elapsed": elapsed}
    torch.save(state, path.with_suffix(".new"))
    os.replace(path.with_suffix(".new"), path)


def fresh(tokenizer: Any) -> Qwen3ForCausalLM:
    torch.manual_seed(0)
    return Qwen3ForCausalLM(config(len(tokenizer), tokenizer.eos_token_id, tokenizer.pad_token_id))


def loaded(tokenizer: Any, folder: Path) -> Qwen3ForCausalLM:
    """The weights of a folder, in float32."""
    model = fresh(tokenizer)
    weights = {name: tensor.float() for name, tensor in load_file(folder / "model.safetensors").items()}
    model.load_state_dict(weights, strict=False)  # the output layer is the embedding
    return model


def save_model(model: Qwen3ForCausalLM, folder: Path, dtype: torch.dtype = torch.float32) -> None:
    """`config.json` and `model.safetensors`, the latter swapped in whole."""
    folder.mkdir(parents=True, exist_ok=True)
    model.config.architectures = ["Qwen3ForCausalLM"]
    model.config.dtype = dtype
    model.config.save_pretrained(folder)
    tensors = {name: p.detach().to(dtype).contiguous() for name, p in model.named_parameters()}
    save_file(tensors, folder / "model.new", metadata={"format": "pt"})
    os.chmod(folder / "model.new", 0o644)  # safetensors makes it the owner's alone
    os.replace(folder / "model.new", folder / "model.safetensors")


# --- commands ---------------------------------------------------------------------------------------------------------


def make_tokenizer(folder: Path, start: Path | None = None, worlds: int = 160) -> None:
    """Learn the tokenizer from worlds that are neither trained nor tested on, or take that of `start`, unless the
    folder holds one."""
    if (folder / "tokenizer.json").exists():
        return
    if start:
        AutoTokenizer.from_pretrained(start).save_pretrained(folder)
        return
    template = (MODEL / "chat_template.jinja").read_text()
    plain = spelling.train([], template)
    texts = [
        piece
        for seed in range(worlds)
        for source in (lesson(HELD_OUT // 2 + seed), exercises(HELD_OUT // 2 + seed), exercises(HELD_OUT - 1 - seed))
        for n, (_, messages) in enumerate(source[1])
        for piece in _text(plain, messages, source[0] if n == 0 else [])
    ]
    spelling.train(texts, template).save_pretrained(folder)


def _text(tokenizer: Any, messages: Any, tools: Sequence[Tool]) -> list[str]:
    text = render(tokenizer, messages, tools, generation_prompt=False)
    for mark in (spelling.START, spelling.END, spelling.PAD, *spelling.CALL):
        text = text.replace(mark, "\0")
    return [piece for piece in text.split("\0") if piece]


def ready(cache: Path) -> Path:
    """The model as a folder that `mcprl train --model` takes: rounded to bfloat16, with its tokenizer."""
    folder = cache / "ready"
    tokenizer = AutoTokenizer.from_pretrained(cache / "tokenizer")
    tokenizer.save_pretrained(folder)
    save_model(loaded(tokenizer, cache / "model"), folder, torch.bfloat16)
    return folder


def export(cache: Path) -> None:
    """Put the model into the package, and measure what rounding it to bfloat16 cost."""
    folder = ready(cache)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    for name, path in (("float32 ", cache / "model"), ("bfloat16", folder)):
        print(name, json.dumps(teacher_forced(loaded(tokenizer, path), tokenizer)))
    for path in folder.iterdir():
        shutil.copy(path, MODEL / path.name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("train", "evaluate", "export", "survey"))
    parser.add_argument(
        "--minutes",
        type=float,
        default=Budget.minutes,
        help="training time; the learning rate reaches 0 at its end",
    )
    parser.add_argument("--steps", type=int, default=0, help="optimizer steps, instead of minutes")
    parser.add_argument("--rate", type=float, default=Budget.rate, help="peak learning rate")
    parser.add_argument(
        "--practice", type=int, default=Budget.practice, help="tokens of exercises before the first world"
    )
    parser.add_argument(
        "--start", type=Path, help="begin from this model's weights and tokenizer, not from random ones"
    )
    parser.add_argument("--adamw", action="store_true", help="AdamW for the matrices too")
    parser.add_argument("--workers", type=int, default=2, help="processes of one thread")
    parser.add_argument("--data", type=int, default=Budget.worlds, help="worlds to turn into tokens before training")
    parser.add_argument("--model", type=Path, default=MODEL, help="the model to evaluate")
    parser.add_argument("--worlds", type=int, default=20, help="held-out servers to evaluate on")
    parser.add_argument("--first", type=int, default=HELD_OUT + 10_000, help="the seed of the first of them")
    parser.add_argument("--fresh", action="store_true", help="forget the checkpoint in the cache folder")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where checkpoints and logs are")
    given = parser.parse_args()
    if given.what == "evaluate":
        for name, value in anyio.run(played, given.model, given.worlds, given.first).items():
            print(f"{name:20} {value}")
    elif given.what == "survey":
        for name, value in anyio.run(surveyed, given.worlds, given.first).items():
            print(f"{name:20} {value}")
    elif given.what == "export":
        export(given.cache)
    elif given.what == "train":
        if given.fresh:
            shutil.rmtree(given.cache, ignore_errors=True)
        settings: dict[str, Any] = {"rate": given.rate, "practice": given.practice, "muon": not given.adamw}
        budget = Budget(given.minutes, given.steps, worlds=given.data, **settings)
        print(json.dumps(asdict(budget)), flush=True)
        make_tokenizer(given.cache / "tokenizer", given.start)
        prepare(given.cache / "tokenizer", budget, given.cache / "data", given.workers)
        train(budget, given.cache, given.workers, given.cache / "tokenizer", given.start)
        print(f"the model so far is in {ready(given.cache)}")


if __name__ == "__main__":
    main()
