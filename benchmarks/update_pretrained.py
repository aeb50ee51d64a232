"""What sharing prefixes and bfloat16 do to the update of a pre-trained model, on text or on a run's own rollouts.

    python benchmarks/update_pretrained.py [--model FOLDER] [--rows 8] [--prompt 500] [--completion 100] [--rounds 2]
    python benchmarks/update_pretrained.py --run FOLDER [--phase train] [--rows 8] [--rounds 2]
    python benchmarks/update_pretrained.py --model FOLDER --config FILE --pack FOLDER [--rows 16] [--rounds 2]

Rows are pieces of this repository's documentation: a common prompt, then completions that differ. With `--run` they are
rollouts of that run's last test, or with `--phase train` those of its first RL step, group after group, computed with
the adapter that they were sampled with; with `--pack` the plans of its first training tasks, executed on the servers of
`--config`, as a supervised step has them. All variants run one after another in each round; figures are medians of the
rounds' ratios.

    padded over tree    seconds of whole rows, padded / of the trie: forward and backward
    anew over tree      seconds with what all rows begin with computed anew in each bin / once (`mcprl.training.trunk`)
    sharing gap         largest difference in nats between the two, in float32
    sharing gradient    |difference of the LoRA's gradients| / |gradient|, in float32
    sampler gap         |log-probability in training - as sampled| in nats, the mean and the largest; of a run alone
    bf16_...            what bfloat16 does, as training measures it before its first step (`mcprl.training.precision`)
    bf16 in ...         whether a kind of step takes bfloat16
"""

import argparse
import asyncio
import time
import tomllib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median

import torch
from torch import Tensor

from mcprl.config import NANO, Config, ModelConfig
from mcprl.models.adapters import load_adapter_weights
from mcprl.models.load import LoadedModel, load_model
from mcprl.runs.journal import Journal
from mcprl.runs.proof import chosen_adapter
from mcprl.runs.settings import parse
from mcprl.scenarios.packs.pack import load_pack
from mcprl.servers.server import connect
from mcprl.training.demonstrations import demonstration, transcript
from mcprl.training.forward import Forward
from mcprl.training.precision import measure
from mcprl.training.rows import trained_logprobs, training_rows
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


def rows_of_run(folder: Path, phase: str, count: int) -> tuple[LoadedModel, list[Row]]:
    """A finished run's model with the adapter that the phase sampled, and rows of its rollouts, group after group."""
    with Journal.open(folder) as journal:
        loaded = load_model(journal.config.model)
        if phase == "train":
            sampled, step = journal.adapters("warm")[-1].adapter, 1
        else:
            sampled, step = chosen_adapter(journal), None
        load_adapter_weights(loaded, sampled.path)
        trajectories = sorted(journal.trajectories(phase, step), key=lambda each: each.scenario_id)
    rows = [row for trajectory in trajectories for row in training_rows(trajectory)]
    return loaded, rows[:count]


async def rows_of_plans(loaded: LoadedModel, settings: Config, pack: Path, count: int) -> list[Row]:
    async with connect(settings.servers, settings.tools) as server:
        tasks = load_pack(pack).train[:count]
        shown = [
            demonstration(loaded.tokenizer, await transcript(server, task), server.tools, task.id) for task in tasks
        ]
    return [row for trajectory in shown for row in training_rows(trajectory)]


class Anew(Forward):
    """Every bin computes what all rows begin with."""

    def _trunk_length(self, rows: Sequence[Row]) -> int:
        return 0


def sampler_gap(forward: Forward, rows: Sequence[Row]) -> dict[str, float]:
    computed: dict[int, Tensor] = {}
    with torch.no_grad():
        for part in forward.bins(rows):
            computed |= dict(zip(part.indices, part.logprobs_B, strict=True))
    sampled = torch.tensor([logprob for row in rows for logprob in trained_logprobs(row)])
    apart = (torch.cat([computed[i] for i in range(len(rows))]) - sampled).abs()
    return {"sampler gap mean": float(apart.mean()), "sampler gap max": float(apart.max())}


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


def figures(loaded: LoadedModel, rows: Sequence[Row], rounds: int, bin_tokens: int) -> dict[str, float]:
    model = loaded.model.eval()
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    for name, parameter in model.named_parameters():
        if "lora_B" in name and not parameter.any():  # at zero the other half would have no gradient
            torch.nn.init.normal_(parameter, std=0.01)
    tree, anew = Forward(model, max_tokens=bin_tokens), Anew(model, max_tokens=bin_tokens)
    padded = Forward(model, share=False, max_tokens=bin_tokens)
    logprobs, shared, _ = gradient(tree, parameters, rows)  # the first runs allocate
    expected, whole, _ = gradient(padded, parameters, rows)
    seconds = [[gradient(form, parameters, rows)[2] for form in (tree, anew, padded)] for _ in range(rounds)]
    work = tree.work(rows)
    return {
        "shares": float(tree.shares),
        "forwarded tokens": work.forwarded,
        "padded tokens": work.padded,
        "tree's seconds": median(fast for fast, _, _ in seconds),
        "anew over tree": median(slow / fast for fast, slow, _ in seconds),
        "padded over tree": median(slow / fast for fast, _, slow in seconds),
        "sharing gap": float((logprobs - expected).abs().max()),
        "sharing gradient": float((shared - whole).norm() / whole.norm()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=NANO, help="a folder, or a Hugging Face id; nano if left out")
    parser.add_argument("--run", type=Path, help="the folder of a finished run, whose rollouts are taken")
    parser.add_argument("--phase", choices=("test:trained", "train"), default="test:trained", help="of the run")
    parser.add_argument("--pack", type=Path, help="a pack, whose plans are taken")
    parser.add_argument("--config", type=Path, help="a configuration file with the pack's servers")
    parser.add_argument("--rows", type=int, default=8)
    parser.add_argument("--prompt", type=int, default=500)
    parser.add_argument("--completion", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--bin-tokens", type=int, default=2048, help="of a bin at most; a CPU's setting if left out")
    given = parser.parse_args()
    torch.manual_seed(0)
    if given.run:
        loaded, rows = rows_of_run(given.run, given.phase, given.rows)
        found = sampler_gap(Forward(loaded.model.eval()), rows)
    else:
        loaded, found = load_model(ModelConfig(name=given.model)), {}
        if given.pack:
            if not given.config:
                parser.error("--pack needs --config, which names the pack's servers")
            settings = parse(tomllib.loads(given.config.read_text()), str(given.config))
            rows = asyncio.run(rows_of_plans(loaded, settings, given.pack, given.rows))
        else:
            rows = rows_of_text(loaded, given.rows, given.prompt, given.completion)
    found |= figures(loaded, rows, given.rounds, given.bin_tokens)
    trained = [parameter for parameter in loaded.model.parameters() if parameter.requires_grad]
    measured, found["bf16_speedup"] = measure(Forward(loaded.model), trained, rows[:4])
    found |= asdict(measured)
    for supervised, kind in ((True, "supervised"), (False, "policy gradient")):
        found[f"bf16 in {kind} steps"] = float(measured.suits(supervised))
    for name, value in found.items():
        print(f"{name}: {value:.4g}")


if __name__ == "__main__":
    main()
