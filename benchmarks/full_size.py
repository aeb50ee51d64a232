"""One whole run at full size: `mcprl train` with a model of Qwen3's shape, on the bundled shop.

    python benchmarks/full_size.py                                  0.6 B, the embedded engine, on what there is
    python benchmarks/full_size.py --engine vllm --dtype bfloat16   ... with anything that `mcprl train` takes
    python benchmarks/full_size.py --shape 4B --preset gpu-16gb     on a GPU

No weights of that size can be had without a network, and random ones never call a tool. So the shipped nano policy is
widened: its numbers fill a corner of the big matrices, the rest of which is random where nothing of it gets through. It
answers as nano does, at the cost and in the memory of that many parameters. What it learns is not the question (short
runs of few tries), but whether everything fits and holds, and how long a step's parts take. Kept, a run for each set of
options, in benchmarks/results/full_size.json.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

import torch
from servers import BENCHES, served
from transformers import Qwen3ForCausalLM
from update_shapes import KEYS, SHAPES, shaped, write_tokenizer

from mcprl.models.places import NANO

RESULTS = Path(__file__).parent / "results" / "full_size.json"
SMALL = {
    "train-tasks": 8, "val-tasks": 2, "test-tasks": 4, "test-forms": 0, "steps": 2, "scenarios-per-step": 2,
    "group-size": 4, "warm-start-steps": 0, "eval-every": 2, "deadline-s": 1200,
}  # fmt: skip
FIRM = 0.01  # what marks a known token in a spare place of the residual stream; small beside what is there
SPARE = -1  # that place


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=SHAPES, default="0.6B", help="of Qwen3 (default: 0.6B)")
    given, options = parser.parse_known_args()
    with tempfile.TemporaryDirectory(prefix="mcprl-") as scratch, served(BENCHES[0], dict(os.environ)) as port:
        folder = Path(scratch) / "wide"
        off = widened(folder, given.shape)
        torch.cuda.empty_cache()  # what the wide model took; does nothing without a GPU
        print(f"widened: at most {off:.1g} nats off nano", flush=True)
        command = [str(Path(sys.executable).with_name("mcprl")), "train", "--server", f"http://127.0.0.1:{port}/mcp"]
        command += ["--model", str(folder), "--runs-dir", scratch, "--name", "run", "--small-pack"]
        command += [part for name, value in SMALL.items() for part in (f"--{name}", str(value))]
        subprocess.run([*command, *options], check=True)
        keep(given.shape, options, Path(scratch) / "run")


@torch.no_grad()
def widened(folder: Path, name: str) -> float:
    """Save the wide model; returns how far its log-probabilities are off nano's on random tokens, in nats at most."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    nano: Any = Qwen3ForCausalLM.from_pretrained(NANO, dtype=torch.float32)
    nano = nano.to(device)
    small: Any = nano.config
    torch.manual_seed(0)
    shape = shaped(name)
    shape.rms_norm_eps = small.rms_norm_eps * small.hidden_size / shape.hidden_size  # for means over mostly zeros
    shape.rope_parameters = small.rope_parameters
    shape.tie_word_embeddings = True
    shape.eos_token_id, shape.pad_token_id = small.eos_token_id, small.pad_token_id
    with torch.device(device):
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
    places = torch.cat([pairs, pairs + shape.head_dim // 2]).to(device)
    shared = small.num_attention_heads // small.num_key_value_heads  # queries that read the same keys
    query_heads = torch.arange(small.num_attention_heads, device=device)
    query_heads = query_heads // shared * (shape.num_attention_heads // KEYS) + query_heads % shared
    key_heads = torch.arange(small.num_key_value_heads, device=device)
    for n, layer in enumerate(near.layers):
        for matrix in (layer.self_attn.o_proj, layer.mlp.down_proj):  # what a layer adds
            matrix.weight.zero_()
        if n >= small.num_hidden_layers:
            continue
        old = far.layers[n]
        for name in ("input_layernorm", "post_attention_layernorm"):
            getattr(layer, name).weight[: small.hidden_size] = getattr(old, name).weight * narrower
        for name in ("gate_proj", "up_proj", "down_proj"):
            weight, values = getattr(layer.mlp, name).weight.zero_(), getattr(old.mlp, name).weight
            weight[: values.shape[0], : values.shape[1]] = values
        attention = layer.self_attn
        for part, chosen in (("q_proj", query_heads), ("k_proj", key_heads), ("v_proj", key_heads)):
            weight = getattr(attention, part).weight.zero_().view(-1, shape.head_dim, shape.hidden_size)
            values = getattr(old.self_attn, part).weight.view(len(chosen), small.head_dim, -1)
            weight[chosen[:, None], places, : small.hidden_size] = values
        weight = attention.o_proj.weight.view(shape.hidden_size, -1, shape.head_dim)
        values = old.self_attn.o_proj.weight.view(small.hidden_size, len(query_heads), -1)
        weight[: small.hidden_size, query_heads[:, None], places] = values
        # Norms of heads divide by a mean, too; and scores are divided by the root of a head's width.
        attention.q_norm.weight[places] = old.self_attn.q_norm.weight
        attention.k_norm.weight[places] = old.self_attn.k_norm.weight * (small.head_dim / shape.head_dim) ** 0.5
    ids = torch.randint(small.vocab_size, (1, 200), device=device)
    logprobs = [model(ids).logits.log_softmax(-1) for model in (nano, wide)]
    (wide.bfloat16() if device == "cuda" else wide).save_pretrained(folder)
    write_tokenizer(folder)
    return float((logprobs[0] - logprobs[1][..., : small.vocab_size]).abs().max())


def keep(shape: str, options: list[str], run: Path) -> None:
    """Add the run to the file, and print it."""
    steps = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    updates = [step for step in steps if "loss" in step]
    report = json.loads((run / "report.json").read_text())
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else ""
    found: dict[str, Any] = {
        "shape": shape,
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
    same = ("shape", "options", "machine")
    kept = [row for row in kept if any(row[name] != found[name] for name in same)] + [found]
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
