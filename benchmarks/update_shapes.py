"""How fast one update is on a GPU, and how much memory it takes, with models of 0.6, 4 and 8 B parameters' shape.

    python benchmarks/update_shapes.py [--shapes 0.6B 4B 8B] [--rounds 3] [--trl]      --trl needs 'mcprl[bench]'
    python benchmarks/update_shapes.py --shapes 4B --unsloth                           ... and 'mcprl[unsloth]'

Qwen3's shapes with random weights in bfloat16 and a LoRA of rank 16 in float32, on eight tries of one task: a prompt of
1,500 tokens and completions of 200. An update is forward, backward, clip and AdamW. Variants run one after another in
each round; figures are medians. Kept in benchmarks/results/update_shapes.json, a row for each shape and machine.

    nodes, flex   the rows' trie, attention node by node, and as one FlexAttention kernel
    padded        whole rows, with torch's own attention
    TRL           the training part of its GRPOTrainer on the same rows (not checkpointed)
    unsloth       flex, with a base that unsloth loaded; last, since it changes transformers for good: one shape a call
    MFU           four operations for each weight and token of the trie (the base is frozen) and attention's products,
                  by the seconds of the faster form and the card's 989 TFLOP/s of bfloat16
    planned       what `mcprl.training.memory` says that the update takes, by what torch had allocated at its peak
"""

import argparse
import gc
import json
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from shutil import copy
from statistics import median
from typing import Any

import torch
import update
from peft import LoraConfig, get_peft_model
from transformers import Qwen3Config, Qwen3ForCausalLM

from mcprl.config import ModelConfig, TrainingConfig
from mcprl.models import unsloth
from mcprl.models.load import LoadedModel
from mcprl.models.places import NANO
from mcprl.training import flex_attention, memory, trie, trie_attention
from mcprl.training.trainer import Trainer

RESULTS = Path(__file__).parent / "results" / "update_shapes.json"
SHAPES = {"0.6B": (28, 1024, 3072, 16), "4B": (36, 2560, 9728, 32), "8B": (36, 4096, 12288, 32)}
"""Layers, width, width of the MLP, heads; eight heads of keys, each 128 wide."""
KEYS, WIDTH, VOCABULARY = 8, 128, 151_936
PEAK = 989e12
"""An H100's bfloat16 operations a second without sparsity, by its datasheet (SXM)."""


def shaped(shape: str) -> Qwen3Config:
    layers, hidden, intermediate, heads = SHAPES[shape]
    return Qwen3Config(
        vocab_size=VOCABULARY,
        hidden_size=hidden,
        intermediate_size=intermediate,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=KEYS,
        head_dim=WIDTH,
        max_position_embeddings=40_960,
        tie_word_embeddings=shape != "8B",
    )


def model(shape: str) -> Any:
    torch.manual_seed(0)
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device("cuda"):
            return Qwen3ForCausalLM(shaped(shape))
    finally:
        torch.set_default_dtype(torch.float32)


def write_tokenizer(folder: Path | str) -> None:
    """nano's tokenizer and template beside a model that has none."""
    for file in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        copy(NANO / file, folder)


def loaded_by_unsloth(shape: str) -> Any:
    config = ModelConfig(name=shape, dtype="bfloat16")
    with tempfile.TemporaryDirectory(prefix="mcprl-") as folder:
        model(shape).save_pretrained(folder)
        write_tokenizer(folder)
        return unsloth.load_base(folder, shaped(shape), config, torch.device("cuda"))


def ours(base: Any, share: bool) -> Trainer:
    lora = LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM")
    policy: Any = get_peft_model(base, lora)
    config = TrainingConfig(share_prefixes=share, bin_tokens=100_000, max_sampler_gap=100.0)
    return Trainer(LoadedModel(policy, None, (), "random", ""), config)


def operations(shape: str, batch: update.Batch) -> float:
    """Of forward and backward over the rows' trie: see MFU above."""
    layers, hidden, intermediate, heads = SHAPES[shape]
    contexts = [row.ids[:-1] for row, _ in batch]
    weights = layers * hidden * (WIDTH * (2 * heads + 2 * KEYS) + 3 * intermediate)
    trained = sum(sum(row.mask) for row, _ in batch)
    attended = layers * 2 * 7 * heads * WIDTH * update.pairs(contexts)
    return 4 * (weights * trie.unique_tokens(contexts) + VOCABULARY * hidden * trained) + attended


def timed(step: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Median seconds, and the peak of what torch had allocated in GiB; the first two runs compile and allocate."""
    taken = list[float]()
    torch.cuda.reset_peak_memory_stats()
    for _ in range(2 + rounds):
        torch.cuda.synchronize()
        began = time.perf_counter()
        step()
        torch.cuda.synchronize()
        taken.append(time.perf_counter() - began)
    return median(taken[2:]), torch.cuda.max_memory_allocated() / memory.GIB


def planned(shape: str, tokens: int) -> float:
    """GiB that the planner states for an update of a bin of so many tokens, without what a process takes."""
    with torch.device("meta"):
        size = memory.size_of(Qwen3ForCausalLM(shaped(shape)))
    settings = memory.Settings(dtype="bfloat16", bin_tokens=tokens, max_total_tokens=0, place="apart", gpu=True)
    return (memory.need(size, settings).train - memory.PROCESS) / memory.GIB


def measure(shape: str, rounds: int, others: list[str]) -> dict[str, Any]:
    batch = update.tries(1500, 200)
    found: dict[str, Any] = {}
    chosen = flex_attention.is_exact_and_faster
    for variant in ("flex", "nodes", "padded", *others):
        gc.collect()
        torch.cuda.empty_cache()
        try:
            if variant == "TRL":
                step: Callable[[], object] = update.trl(batch, model(shape), on_cpu=False)
            else:
                flex_attention.is_exact_and_faster = lambda *_, by=variant: by in ("flex", "unsloth")  # pyright: ignore[reportAttributeAccessIssue]
                base = loaded_by_unsloth(shape) if variant == "unsloth" else model(shape)
                trainer = ours(base, variant != "padded")
                step = lambda trainer=trainer: trainer.update(batch)  # noqa: E731
            found[f"{variant} s"], found[f"{variant} GiB"] = timed(step, rounds)
        except Exception as error:  # whatever a driver, a compiler or another library raises: the others are measured
            found[f"{variant} failed"] = f"{type(error).__name__}: {str(error)[:500]}"
        finally:
            flex_attention.is_exact_and_faster = chosen
            step = trainer = base = None  # pyright: ignore[reportAssignmentType]
        print(shape, variant, {key: value for key, value in found.items() if key.startswith(variant)}, flush=True)
    contexts = [row.ids[:-1] for row, _ in batch]
    best = min(found[name] for name in ("flex s", "nodes s") if name in found)
    found["MFU"] = operations(shape, batch) / best / PEAK
    found["planned GiB"] = planned(shape, trie.unique_tokens(contexts))
    shapes = SHAPES[shape][3], KEYS, WIDTH, torch.bfloat16, torch.device("cuda")
    found["flex is chosen"] = chosen(trie_attention.attend, *shapes, False)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", nargs="*", choices=list(SHAPES), default=list(SHAPES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--trl", action="store_true", help="compare with TRL, too")
    parser.add_argument("--unsloth", action="store_true", help="... and with unsloth; takes one shape")
    given = parser.parse_args()
    if given.unsloth and len(given.shapes) > 1:
        parser.error("--unsloth changes transformers for all that follows; give it one shape a call")
    others = ["TRL"] * given.trl + ["unsloth"] * given.unsloth
    kept: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    card = torch.cuda.get_device_name()
    for shape in given.shapes:
        found = measure(shape, given.rounds, others)
        found |= {"date": date.today().isoformat(), "torch": torch.__version__}
        kept.setdefault(card, {})[shape] = found
        print(shape, json.dumps(found), flush=True)
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
