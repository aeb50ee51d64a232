"""What guessing tokens by prompt lookup saves in the embedded engine, on a run's own conversations.

    python benchmarks/prompt_lookup.py --run FOLDER [--turns 64] [--streams 1 4 16] [--rounds 2] [--temperature 0]

The turns of a finished run's last test are sampled once more behind their prompts, with the adapter that they were
sampled with: with guesses (`mcprl.engines.embedded.speculation`) and without, in turn, so many streams at once. At
temperature 0, a test's, both sample the same tokens; at 1, a training rollout's, up to rounding.

    without over with   seconds without guesses / with them, prompts included: the median of the rounds
    guessed             of the sampled tokens, those that were guessed and so needed no pass of their own
"""

import argparse
import time
from collections.abc import Sequence
from functools import reduce
from itertools import chain, pairwise
from pathlib import Path
from statistics import median
from typing import Any

from mcprl.engines.embedded.decoder import Decoder
from mcprl.engines.embedded.engine import MEMORY
from mcprl.engines.embedded.streams import Stream
from mcprl.engines.embedded.weights import bare_model, merged_model, packed
from mcprl.models.load import load_model
from mcprl.runs.journal import Journal
from mcprl.runs.proof import chosen_adapter
from mcprl.text import common_prefix
from mcprl.types import Completion

Ids = tuple[int, ...]


def a_test(folder: Path, count: int) -> tuple[Any, Sequence[int], list[Completion]]:
    """The model that a run tested, the ids that end a turn, and the first turns of that test."""
    with Journal.open(folder) as journal:
        loaded = load_model(journal.config.model)
        model = packed(merged_model(bare_model(loaded.model), chosen_adapter(journal).path))
        turns = chain.from_iterable(trajectory.turns for trajectory in journal.trajectories("test:trained"))
        return model, loaded.end_ids, list(turns)[:count]


def shared(prompts: Sequence[Ids]) -> Ids:
    """What all begin with: the tools and the system message."""
    return reduce(lambda head, prompt: head[: common_prefix(head, prompt)], prompts)


def decode(decoder: Decoder, turns: Sequence[Completion], temperature: float, longest: int) -> tuple[float, int, int]:
    """Seconds, sampled tokens, and the rows of all passes: a pass samples one token of a row that nothing was guessed
    for."""
    head, rows = shared([turn.prompt_ids for turn in turns]), 0
    streams = [Stream(turn.prompt_ids, lambda: head, longest, temperature, seed) for seed, turn in enumerate(turns)]
    decoder.waiting.extend(streams)
    began = time.perf_counter()
    while decoder.busy:
        rows += len(decoder.step()) + len(decoder.rows)
    return time.perf_counter() - began, sum(len(stream.ids) for stream in streams), rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, required=True, help="the folder of a finished run")
    parser.add_argument("--turns", type=int, default=64)
    parser.add_argument("--streams", type=int, nargs="+", default=(1, 4, 16))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--temperature", type=float, default=0.0)
    given = parser.parse_args()
    model, end_ids, turns = a_test(given.run, given.turns)
    longest = max(len(turn.completion_ids) for turn in turns)
    for streams in given.streams:
        taken: list[tuple[float, int, int]] = []
        for speculate in (True, False) * given.rounds:
            decoder = Decoder(model, end_ids, streams, MEMORY, speculate=speculate)
            taken.append(decode(decoder, turns, given.temperature, longest))
        pairs = list(pairwise(taken))[::2]
        ratio = median(without[0] / with_[0] for with_, without in pairs)
        (seconds, tokens, rows), (_, as_many, _) = pairs[0]
        print(
            f"{streams} at once: without over with {ratio:.2f}; guessed {1 - rows / tokens:.1%} of {tokens:,} tokens "
            f"({as_many:,} without), {tokens / seconds:,.0f} tokens/s with"
        )


if __name__ == "__main__":
    main()
