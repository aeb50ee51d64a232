"""Pre-train the nano policy from nothing on procedural MCP servers. On two laptop cores under three hours.

    python recipes/nano/pretrain.py tokenizer                    once; frozen when training starts
    python recipes/nano/pretrain.py train --minutes 165          resumes where it was if .cache/nano holds a checkpoint
    python recipes/nano/pretrain.py evaluate                     on servers that were never trained on
    python recipes/nano/pretrain.py export                       to mcprl/models/nano

Each step takes a few groups: one server's tools and up to sixteen conversations that share them. Groups are made on
the fly from consecutive seeds, so nothing is seen twice and a position in the data is one number a worker. The first
tokens are the short exercises of `practice.py`; they never quite stop. The loss is on what the assistant says, and
one twentieth on the rest.
"""

import argparse
import json
import os
import random
import shutil
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import anyio
import tokenizer as spelling
import torch
import torch.distributed as dist
from measure import played, teacher_forced
from muon import Muon
from policy import config, hidden, layout
from practice import exercises
from safetensors.torch import load_file, save_file
from talks import HELD_OUT, Group, encode, first_calls, lesson
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

    minutes: float = 165.0
    steps: int = 0
    tokens: int = 2_400
    """Tokens of a step per worker, prefixes counted once."""
    rate: float = 3e-3
    warm_up: int = 40
    practice: int = 2_500_000
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
    pause: int = 0
    """Stop after this step as if killed; the schedule is that of the whole budget."""


# --- data -------------------------------------------------------------------------------------------------------------


def stream(tokenizer: Any, budget: Budget, worker: int, workers: int, position: dict[str, int]) -> Iterator[Group]:
    """Groups without end. `position` (seeds used, own tokens) is kept up to date and is all that resuming needs."""
    while True:
        rng = random.Random(f"{worker} {position['groups']}")
        position["groups"] += 1
        practice = position["own"] < budget.practice / workers or rng.random() < budget.mix
        seed = position["practice" if practice else "worlds"] * workers + worker
        position["practice" if practice else "worlds"] += 1
        source = exercises if practice else first_calls if rng.random() < budget.first_calls else lesson
        tools, talks = source(seed % HELD_OUT)
        group = encode(tokenizer, tools, talks, budget.longest)
        if not group.branches or len(group.prefix) > 1_500:
            continue
        position["own"] += len(group)
        yield group


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


def train(budget: Budget, cache: Path, workers: int = 2) -> None:
    """Train with `workers` processes of one thread each: on a busy machine they wait for one another once a step,
    threads would at every operation. SIGTERM to the process group ends it with a checkpoint."""
    cache.mkdir(parents=True, exist_ok=True)
    if workers == 1:
        _worker(0, 1, budget, cache)
        return
    (cache / "rendezvous").unlink(missing_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: None)  # the workers act on it
    spawn(_worker, (workers, budget, cache), nprocs=workers)


def _worker(worker: int, workers: int, budget: Budget, cache: Path) -> None:
    torch.set_num_threads(1)
    if workers > 1:
        dist.init_process_group(
            "gloo", init_method=f"file://{cache.resolve()}/rendezvous", rank=worker, world_size=workers
        )
    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    model = fresh(tokenizer)
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
    groups = stream(tokenizer, budget, worker, workers, position)
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
        _share(flat, workers, dist.ReduceOp.SUM)
        count, assistant, computed = flat[-3:].tolist()
        norm = _give(parameters, flat[:-3] / max(count, 1))
        rate = budget.rate * min(1.0, (done + 1) / budget.warm_up) * (1 - float(progress))
        for optimizer in stepping:
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.step()
            optimizer.zero_grad()
        done, tokens = done + 1, tokens + int(computed)
        sums = {"loss": assistant, "trained": count, "computed": computed, "norm": norm, "steps": 1}
        for name, value in sums.items():
            running[name] += value
        passed = time.monotonic() - started
        if done % 20 == 0 and worker == 0:
            row = {"minutes": round(passed / 60, 2), "rate": round(rate, 6), "per_s": round(tokens / passed)}
            row |= {
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


def make_tokenizer(worlds: int = 400) -> None:
    """Learn the tokenizer from worlds that are neither trained nor tested on."""
    template = (MODEL / "chat_template.jinja").read_text()
    plain = spelling.train([], template)
    texts = [
        piece
        for seed in range(worlds)
        for source in (lesson(HELD_OUT // 2 + seed), exercises(HELD_OUT // 2 + seed))
        for n, (_, messages) in enumerate(source[1])
        for piece in _text(plain, messages, source[0] if n == 0 else [])
    ]
    spelling.train(texts, template).save_pretrained(MODEL)


def _text(tokenizer: Any, messages: Any, tools: Sequence[Tool]) -> list[str]:
    text = render(tokenizer, messages, tools, generation_prompt=False)
    for mark in (spelling.START, spelling.END, spelling.PAD, *spelling.CALL):
        text = text.replace(mark, "\0")
    return [piece for piece in text.split("\0") if piece]


def export(cache: Path) -> None:
    """Round to bfloat16, measure what that costs, and put the weights into the package."""
    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    model = fresh(tokenizer)
    model.load_state_dict(load_file(cache / "model" / "model.safetensors"), strict=False)
    print("float32 ", json.dumps(teacher_forced(model, tokenizer)))
    save_model(model, MODEL, torch.bfloat16)
    rounded = {name: tensor.float() for name, tensor in load_file(MODEL / "model.safetensors").items()}
    model.load_state_dict(rounded, strict=False)
    print("bfloat16", json.dumps(teacher_forced(model, tokenizer)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("tokenizer", "train", "evaluate", "export"))
    parser.add_argument(
        "--minutes", type=float, default=Budget.minutes, help="wall clock; the learning rate reaches 0 at its end"
    )
    parser.add_argument("--steps", type=int, default=0, help="optimizer steps, instead of minutes")
    parser.add_argument("--rate", type=float, default=Budget.rate, help="peak learning rate")
    parser.add_argument(
        "--practice", type=int, default=Budget.practice, help="tokens of exercises before the first world"
    )
    parser.add_argument("--adamw", action="store_true", help="AdamW for the matrices too")
    parser.add_argument("--workers", type=int, default=2, help="processes of one thread")
    parser.add_argument("--worlds", type=int, default=20, help="held-out servers to evaluate on")
    parser.add_argument("--first", type=int, default=HELD_OUT + 10_000, help="the seed of the first of them")
    parser.add_argument("--fresh", action="store_true", help="forget the checkpoint in the cache folder")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where checkpoints and logs are")
    given = parser.parse_args()
    if given.what == "tokenizer":
        make_tokenizer()
    elif given.what == "evaluate":
        for name, value in anyio.run(played, MODEL, given.worlds, given.first).items():
            print(f"{name:20} {value}")
    elif given.what == "export":
        export(given.cache)
    elif given.what == "train":
        if given.fresh:
            shutil.rmtree(given.cache, ignore_errors=True)
        settings: dict[str, Any] = {"rate": given.rate, "practice": given.practice, "muon": not given.adamw}
        budget = Budget(given.minutes, given.steps, **settings)
        print(json.dumps(asdict(budget)), flush=True)
        train(budget, given.cache, given.workers)


if __name__ == "__main__":
    main()
