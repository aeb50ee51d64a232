"""What sharing prefixes and bfloat16 do to the update of a pre-trained model, on text.

    python benchmarks/update_pretrained.py [--model FOLDER] [--rows 8] [--prompt 500] [--completion 100] [--rounds 2]

Rows are pieces of this repository's documentation: a common prompt, then completions that differ. All variants run one
after another in each round; figures are medians of the rounds' ratios.

    padded over tree    seconds of whole rows, padded / of the trie: forward and backward
    sharing gap         largest difference in nats between the two, in float32
    sharing gradient    |difference of the LoRA's gradients| / |gradient|, in float32
    bf16_...            what bfloat16 does, as training measures it before its first step (`mcprl.training.precision`)
    bf16 in ...         whether a kind of step takes bfloat16
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median

import torch
from torch import Tensor

from mcprl.config import NANO, ModelConfig
from mcprl.models.load import LoadedModel, load_model
from mcprl.training.forward import Forward
from mcprl.training.precision import measure
from mcprl.types import Row

ROOT = Path(__file__).parents[1]


def rows_of_text(loaded: LoadedModel, count: int, prompt: int, completion: int) -> list[Row]:
    """Rows with one prompt; each completion is another place of the documentation."""
    text = "\n".join(path.read_text() for path in sorted((ROOT / "docs").glob("*.md")))
    ids: list[int] = loaded.tokenizer.encode(text[: 8 * (prompt + count * completion)])
    mask = (False,) * prompt + (True,) * completion
    starts = range(prompt, prompt + count * completion, completion)
    made = [(*ids[:prompt], *ids[start : start + completion]) for start in starts]
    return [Row(f"{n}", row, mask, (0.0,) * len(row)) for n, row in enumerate(made)]


def gradient(forward: Forward, parameters: Sequence[Tensor], rows: Sequence[Row]) -> tuple[Tensor, Tensor, float]:
    """The rows' log-probabilities, the gradient of their sum by the parameters, and the seconds of both."""
    began, found = time.perf_counter(), dict[int, Tensor]()
    for part in forward.bins(rows):
        torch.cat(part.logprobs_B).sum().backward()
        found |= {i: logprobs.detach() for i, logprobs in zip(part.indices, part.logprobs_B, strict=True)}
    seconds = time.perf_counter() - began
    flat = torch.cat([p.grad.flatten() for p in parameters if p.grad is not None])
    for parameter in parameters:
        parameter.grad = None
    return torch.cat([found[i] for i in range(len(rows))]), flat, seconds


def figures(loaded: LoadedModel, rows: Sequence[Row], rounds: int) -> dict[str, float]:
    model = loaded.model.eval()
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    for name, parameter in model.named_parameters():
        if "lora_B" in name:  # at zero the other half would have no gradient
            torch.nn.init.normal_(parameter, std=0.01)
    tree, padded = Forward(model), Forward(model, share=False)
    logprobs, shared, _ = gradient(tree, parameters, rows)  # the first runs allocate
    expected, whole, _ = gradient(padded, parameters, rows)
    seconds = [(gradient(tree, parameters, rows)[2], gradient(padded, parameters, rows)[2]) for _ in range(rounds)]
    work = tree.work(rows)
    return {
        "shares": float(tree.shares),
        "forwarded tokens": work.forwarded,
        "padded tokens": work.padded,
        "padded over tree": median(slow / fast for fast, slow in seconds),
        "sharing gap": float((logprobs - expected).abs().max()),
        "sharing gradient": float((shared - whole).norm() / whole.norm()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=NANO, help="a folder, or a Hugging Face id; nano if left out")
    parser.add_argument("--rows", type=int, default=8)
    parser.add_argument("--prompt", type=int, default=500)
    parser.add_argument("--completion", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    torch.manual_seed(0)
    loaded = load_model(ModelConfig(name=given.model))
    rows = rows_of_text(loaded, given.rows, given.prompt, given.completion)
    found = figures(loaded, rows, given.rounds)
    trained = [parameter for parameter in loaded.model.parameters() if parameter.requires_grad]
    measured, found["bf16_speedup"] = measure(Forward(loaded.model), trained, rows[:4])
    found |= asdict(measured)
    for supervised, kind in ((True, "supervised"), (False, "policy gradient")):
        found[f"bf16 in {kind} steps"] = float(measured.suits(supervised))
    for name, value in found.items():
        print(f"{name}: {value:.4g}")


if __name__ == "__main__":
    main()
