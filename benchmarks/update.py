"""How fast one update is: the rows' trie against TRL, against our own padded rows, and against the bound.

    python benchmarks/update.py [--rounds 5] [--trl]          --trl needs: pip install 'mcprl[bench]'

A random Qwen3 (4 layers, 256 wide, 4,096 tokens) with a LoRA of rank 8 in float32. Rows are eight tries of one task: a
prompt of 1,500 tokens and completions of 200 or of 64; and eight conversations of four turns that part one after
another. An update is forward, backward, clip and AdamW. All variants of a case run one after another in each round;
figures are medians of the rounds' ratios, except memory, which each variant shows in a process of its own.

    X over ours   seconds of TRL's, or of our padded, update / ours
    efficiency    padded seconds / ours, over padded FLOP / ours: 1 where sharing wastes nothing
    over bound    our seconds / those of one plain causal row with as many tokens, over the same ratio of FLOP
"""

import argparse
import importlib
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoTokenizer

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.models import random_model

from mcprl.config import TrainingConfig
from mcprl.models.load import LoadedModel
from mcprl.models.places import NANO
from mcprl.training import lm_head, trie
from mcprl.training.trainer import Trainer
from mcprl.types import Row

RESULTS = Path(__file__).parent / "results" / "update.json"
LAYERS, WIDTH, HEADS, KV_HEADS, VOCABULARY = 4, 256, 8, 4, 4096
Batch = list[tuple[Row, float]]
Update = Callable[[], object]


def model() -> Any:
    return random_model(
        vocab_size=VOCABULARY,
        hidden_size=WIDTH,
        intermediate_size=3 * WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        head_dim=WIDTH // HEADS,
        max_position_embeddings=8192,
        tie_word_embeddings=True,
    )


def lora() -> LoraConfig:
    return LoraConfig(r=8, lora_alpha=16, target_modules="all-linear", task_type="CAUSAL_LM")


def tries(prompt: int, completion: int, count: int = 8) -> Batch:
    context = _random("prompt", prompt)
    mask = (False,) * prompt + (True,) * completion
    return [_row((*context, *_random(n, completion)), mask, n) for n in range(count)]


def conversations(count: int = 8) -> Batch:
    """Four turns of 100 sampled tokens behind a prompt of 1,000, results of 150 between. After the first turn there are
    two, after the second four, and then eight that differ."""
    made: Batch = []
    for n in range(count):
        ids, mask = _random("prompt", 1000), (False,) * 1000
        for turn in range(4):
            ids += _random((turn, n >> max(0, 2 - turn)), 100 + 150)
            mask += (True,) * 100 + (False,) * 150
        made.append(_row(ids, mask, n))
    return made


def _random(seed: object, count: int) -> tuple[int, ...]:
    rng = Random(str(seed))
    return tuple(rng.randrange(VOCABULARY) for _ in range(count))


def _row(ids: tuple[int, ...], mask: tuple[bool, ...], n: int) -> tuple[Row, float]:
    """A row as an untrained model would have sampled it: the log-probability of one token in 4,096 is -8.3."""
    return Row(f"{n}", ids, mask, (-8.3,) * len(ids)), (-1.0) ** n


CASES: dict[str, Callable[[], Batch]] = {
    "8 x (1,500 + 200)": lambda: tries(1500, 200),
    "8 x (1,500 + 64)": lambda: tries(1500, 64),
    "8 x four turns": conversations,
}


# --- what is compared -------------------------------------------------------------------------------------------------


def ours(batch: Batch, share: bool) -> Update:
    policy: Any = get_peft_model(model(), lora())
    config = TrainingConfig(share_prefixes=share, bin_tokens=100_000)
    trainer = Trainer(LoadedModel(policy, None, (), "random", ""), config)
    return lambda: trainer.update(batch)


def bound(batch: Batch) -> Update:
    """One plain causal row with as many tokens as the trie, as many of them trained."""
    size = trie.unique_tokens([row.ids[:-1] for row, _ in batch])
    trained = sum(sum(row.mask) for row, _ in batch)
    mask = (False,) * (size + 1 - trained) + (True,) * trained
    return ours([_row(_random("bound", size + 1), mask, 0)], share=False)


def trl(batch: Batch, policy: Any, on_cpu: bool = True) -> Update:
    """The training part of TRL's GRPOTrainer on the same rows. Its layers are not checkpointed, as they are by default
    in its own loop, which is not run here."""
    datasets, peer = (importlib.import_module(name) for name in ("datasets", "trl"))  # installed for --trl only
    prompt = min(row.mask.index(True) for row, _ in batch)
    ids = torch.tensor([row.ids for row, _ in batch])
    inputs = {
        "prompt_ids": ids[:, :prompt],
        "prompt_mask": torch.ones_like(ids[:, :prompt]),
        "completion_ids": ids[:, prompt:],
        "completion_mask": torch.ones_like(ids[:, prompt:]),
        "tool_mask": torch.tensor([row.mask[prompt:] for row, _ in batch]).long(),
        "advantages": torch.tensor([advantage for _, advantage in batch]),
        "num_items_in_batch": torch.tensor(sum(sum(row.mask) for row, _ in batch)),
    }

    inputs = {name: tensor.to(policy.device) for name, tensor in inputs.items()}

    class Given(peer.GRPOTrainer):
        def _prepare_inputs(self, generation_batch: Any) -> Any:
            return inputs

    config = peer.GRPOConfig(
        tempfile.mkdtemp(),
        use_cpu=on_cpu,
        bf16=not on_cpu,
        fp16=False,
        per_device_train_batch_size=len(batch),
        num_generations=len(batch),
        beta=0.0,
        loss_type="cispo",
        report_to=[],
        disable_tqdm=True,
    )
    tokenizer = AutoTokenizer.from_pretrained(NANO)
    dataset = datasets.Dataset.from_list([{"prompt": "x"}] * len(batch))
    trainer: Any = Given(policy, lambda **_: [0.0], config, dataset, processing_class=tokenizer, peft_config=lora())
    trainer.create_optimizer()
    trainer.model.train()
    trainer.current_gradient_accumulation_steps = 1

    def update() -> None:
        trainer.training_step(trainer.model, inputs, None)
        torch.nn.utils.clip_grad_norm_(trainer.model.parameters(), 1.0)
        trainer.optimizer.step()
        trainer.optimizer.zero_grad()

    return update


# --- figures ----------------------------------------------------------------------------------------------------------


def flop(lengths: Sequence[int], attended: float) -> float:
    """Forward and backward of a frozen model: four per weight and token, and attention's products over `attended`
    pairs (two forward, five backward)."""
    head_dim = WIDTH // HEADS
    weights = LAYERS * (WIDTH * head_dim * (HEADS + 2 * KV_HEADS) + HEADS * head_dim * WIDTH + 3 * WIDTH * 3 * WIDTH)
    return 4 * weights * sum(lengths) + LAYERS * 2 * 7 * HEADS * head_dim * attended


def pairs(ids_B: Sequence[Sequence[int]]) -> float:
    """Query and key pairs of the rows' trie: every token sees its ancestors and itself."""
    return float(sum(position + 1 for position in trie.build(ids_B).positions))


def seconds(update: Update) -> float:
    began = time.perf_counter()
    update()
    return time.perf_counter() - began


def measure(case: str, rounds: int, with_trl: bool) -> dict[str, float]:
    batch = CASES[case]()
    contexts = [row.ids[:-1] for row, _ in batch]
    variants = {"tree": ours(batch, True), "padded": ours(batch, False), "bound": bound(batch)}
    if with_trl:
        variants["trl"] = trl(batch, model())
    for update in variants.values():  # the first run allocates
        update()
    runs = [{name: seconds(update) for name, update in variants.items()} for _ in range(rounds)]
    lengths = [len(ids) for ids in contexts]
    unique = trie.unique_tokens(contexts)
    shared = flop([unique], pairs(contexts))
    padded = flop(lengths, sum(length * (length + 1) / 2 for length in lengths)) / shared
    plain = shared / flop([unique], unique * (unique + 1) / 2)
    metrics: Any = variants["tree"]()
    found = {
        "seconds": median(run["tree"] for run in runs),
        "padded over ours": median(run["padded"] / run["tree"] for run in runs),
        "efficiency": median(run["padded"] / run["tree"] for run in runs) / padded,
        "over bound": median(run["tree"] / run["bound"] for run in runs) / plain,
        "forwarded over unique": metrics["forwarded_tokens"] / metrics["unique_tokens"],
        "memory over padded": memory(case, "tree") / memory(case, "padded"),
    }
    if with_trl:
        found["TRL over ours"] = median(run["trl"] / run["tree"] for run in runs)
    return found


def memory(case: str, variant: str) -> float:
    """What one update adds to the peak memory of a process of its own, in bytes."""
    command = [sys.executable, __file__, "--memory", case, variant]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])


def show_memory(case: str, variant: str) -> None:
    batch = CASES[case]()
    update = ours(batch, variant == "tree")
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = _status("VmRSS")
    update()
    print(_status("VmHWM") - before)


def _status(field: str) -> int:
    """A size of this process in bytes, as Linux tells it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(field))


def heads(rounds: int) -> dict[str, float]:
    """The head in chunks against logits at once: 1,600 trained tokens, 151,936 tokens of vocabulary, 256 wide."""
    layer = torch.nn.Linear(256, 151_936, bias=False).requires_grad_(False)
    hidden, targets = torch.randn(1600, 256, requires_grad=True), torch.randint(151_936, (1600,))

    def chunked() -> None:
        lm_head.target_logprobs(layer, hidden, targets).sum().backward()

    def full() -> None:
        layer(hidden).log_softmax(-1).gather(1, targets[:, None]).sum().backward()

    chunked()
    full()
    return {"over full logits": median(seconds(chunked) / seconds(full) for _ in range(rounds))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--trl", action="store_true", help="compare with TRL, too")
    parser.add_argument("--only", nargs="*", choices=list(CASES), default=list(CASES))
    parser.add_argument("--memory", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.memory:
        show_memory(*given.memory)
        return
    found = {case: measure(case, given.rounds, given.trl) for case in given.only}
    found["head"] = heads(given.rounds)
    for case, figures in found.items():
        print(f"{case}: " + ", ".join(f"{name} {value:.2f}" for name, value in figures.items()))
    machine = f"{torch.get_num_threads()} threads, {platform.machine()}, {platform.system()}, torch {torch.__version__}"
    RESULTS.parent.mkdir(exist_ok=True)
    kept = {"date": date.today().isoformat(), "machine": machine, "figures": found}
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
