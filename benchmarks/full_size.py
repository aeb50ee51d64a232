"""One whole run at full size: `mcprl train` with a model of Qwen3-0.6B's shape, on the bundled shop.

    python benchmarks/full_size.py                                  the embedded engine, on what there is
    python benchmarks/full_size.py --engine vllm --dtype bfloat16   ... with anything that `mcprl train` takes

No weights of that size can be had without a network, and random ones never call a tool. So the shipped nano policy is
widened: its numbers fill a corner of the big matrices, the rest of which is random where nothing of it gets through. It
answers as nano does, at the cost and in the memory of 0.6 B parameters. What it learns is not the question (short runs
of few tries), but whether everything fits and holds, and how long a step's parts take. Kept, a run for each set of
options, in benchmarks/results/full_size.json.
"""

import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path
from shutil import copy
from statistics import median
from typing import Any

import torch
from servers import BENCHES, served
from transformers import Qwen3Config, Qwen3ForCausalLM

from mcprl.models.places import NANO

RESULTS = Path(__file__).parent / "results" / "full_size.json"
SMALL = {
    "train-tasks": 8, "val-tasks": 2, "test-tasks": 4, "test-forms": 0, "steps": 2, "scenarios-per-step": 2,
    "group-size": 4, "warm-start-steps": 0, "eval-every": 2, "deadline-s": 1200,
}  # fmt: skip
FIRM = 0.01  # what marks a known token in a spare place of the residual stream; small beside what is there
SPARE = -1  # that place


def main() -> None:
    options = sys.argv[1:]
    if {"-h", "--help"} & set(options):
        print(__doc__)
        return
    with tempfile.TemporaryDirectory(prefix="mcprl-") as scratch, served(BENCHES[0], dict(os.environ)) as port:
        folder = Path(scratch) / "wide"
        off = widened(folder)
        print(f"widened: at most {off:.1g} nats off nano", flush=True)
        command = [str(Path(sys.executable).with_name("mcprl")), "train", "--server", f"http://127.0.0.1:{port}/mcp"]
        command += ["--model", str(folder), "--runs-dir", scratch, "--name", "run", "--small-pack"]
        command += [part for name, value in SMALL.items() for part in (f"--{name}", str(value))]
        subprocess.run([*command, *options], check=True)
        keep(options, Path(scratch) / "run")


@torch.no_grad()
def widened(folder: Path) -> float:
    """Save the wide model; returns how far its log-probabilities are off nano's on random tokens, in nats at most."""
    nano = Qwen3ForCausalLM.from_pretrained(NANO, dtype=torch.float32)
    small = nano.config
    torch.manual_seed(0)
    shape = Qwen3Config(
        vocab_size=151936,
        hidden_size=1024,
        intermediate_size=3072,
        num_hidden_layers=28,
        num_attention_heads=16,
        num_key_value_heads=8,
        head_dim=128,
        max_position_embeddings=40960,
        rms_norm_eps=2e-7,  # nano's, for means over more places of which most are 0
        rope_parameters=small.rope_parameters,
        tie_word_embeddings=True,
        eos_token_id=small.eos_token_id,
        pad_token_id=small.pad_token_id,
    )
    wide = Qwen3ForCausalLM(shape)
    narrower = (small.hidden_size / shape.hidden_size) ** 0.5  # a norm divides by the mean over all places
    near: Any = wide.model
    far: Any = nano.model
    near.embed_tokens.weight.zero_()
    near.embed_tokens.weight[: small.vocab_size, : small.hidden_size] = far.embed_tokens.weight
    near.embed_tokens.weight[:, SPARE] = -1.0  # all other tokens are as good as impossible
    near.embed_tokens.weight[: small.vocab_size, SPARE] = FIRM
    near.norm.weight[: small.hidden_size] = far.norm.weight * narrower
    near.norm.weight[SPARE] = 100 / FIRM
    # A position turns the pairs (i, i + D / 2) of a head, pair i by theta^(-2 i / D): pair i is pair r i of r D places.
    pairs = torch.arange(small.head_dim // 2) * (shape.head_dim // small.head_dim)
    places = torch.cat([pairs, pairs + shape.head_dim // 2])
    for n, layer in enumerate(near.layers):
        for matrix in (layer.self_attn.o_proj, layer.mlp.down_proj):  # what a layer adds
            matrix.weight.zero_()
        if n >= small.num_hidden_layers:
            continue
        old, queries, keys = far.layers[n], small.num_attention_heads, small.num_key_value_heads
        for name in ("input_layernorm", "post_attention_layernorm"):
            getattr(layer, name).weight[: small.hidden_size] = getattr(old, name).weight * narrower
        for name in ("gate_proj", "up_proj", "down_proj"):
            weight, values = getattr(layer.mlp, name).weight.zero_(), getattr(old.mlp, name).weight
            weight[: values.shape[0], : values.shape[1]] = values
        attention = layer.self_attn
        for name, heads in (("q_proj", queries), ("k_proj", keys), ("v_proj", keys)):
            weight = getattr(attention, name).weight.zero_().view(-1, shape.head_dim, shape.hidden_size)
            values = getattr(old.self_attn, name).weight.view(heads, small.head_dim, -1)
            weight[:heads, places, : small.hidden_size] = values
        weight = attention.o_proj.weight.view(shape.hidden_size, -1, shape.head_dim)
        values = old.self_attn.o_proj.weight.view(small.hidden_size, queries, -1)
        weight[: small.hidden_size, :queries, places] = values
        # Norms of heads divide by a mean, too; and scores are divided by the root of a head's width.
        attention.q_norm.weight[places] = old.self_attn.q_norm.weight
        attention.k_norm.weight[places] = old.self_attn.k_norm.weight * (small.head_dim / shape.head_dim) ** 0.5
    wide.save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        copy(NANO / name, folder)
    ids = torch.randint(small.vocab_size, (1, 200))
    logprobs = [model(ids).logits.log_softmax(-1) for model in (nano, wide)]
    return float((logprobs[0] - logprobs[1][..., : small.vocab_size]).abs().max())


def keep(options: list[str], run: Path) -> None:
    """Add the run to the file, and print it."""
    steps = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    updates = [step for step in steps if "loss" in step]
    report = json.loads((run / "report.json").read_text())
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else ""
    found: dict[str, Any] = {
        "options": options,
        "date": date.today().isoformat(),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}{gpu and f', {gpu}'}",
        "minutes": report["wall_s"] / 60,
        "peak_gib": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20,
        "exact_tokens": report["exact_tokens"],
        "updates": len(updates),
    }
    for name in ("rollout_s", "train_s", "swap_s", "tokens_per_s", "sampler_gap_mean"):
        found[name] = median(step[name] for step in updates) if updates else None
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    kept = [row for row in kept if (row["options"], row["machine"]) != (options, found["machine"])] + [found]
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
