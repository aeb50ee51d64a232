"""What `--pipeline on` buys: the wall time of a step over the slower of its two sides, sampling and training.

    python benchmarks/pipeline.py             sides of set durations: an engine and a trainer that wait
    python benchmarks/pipeline.py --vllm      and the real ones: vLLM on this CPU and the trainer beside it

One after another, a step takes the sum of its sides; in the pipeline, the tries of step n + 1 are sampled and judged
while step n trains. Everything else is the real loop on the bundled shop: server, sessions, journal, adapters. A step's
wall time is the time between its record and the last one's; figures are medians, the first two steps (nothing to
overlap with yet) and the last left out. Real sides share this machine's cores and slow each other, so they are as long
as they were in that run. Kept in benchmarks/results/pipeline.json.
"""

import argparse
import hashlib
import json
import os
import platform
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import anyio
from servers import BENCHES, served

from mcprl import train, train_adapter
from mcprl.judges import scoring
from mcprl.runs.journal import Journal
from mcprl.runs.settings import parse
from mcprl.training.trainer import Trainer
from mcprl.types import Adapter, Completion, CompletionRequest, Group, Message, Score

RESULTS = Path(__file__).parent / "results" / "pipeline.json"
SIMULATED = ((2.0, 2.0), (3.0, 1.0), (1.0, 3.0))  # seconds of sampling and of training


class Waiting:
    """An engine whose turns take `seconds` each, however many are asked for at once."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.step = seconds, 0

    async def ready(self) -> None: ...

    def paused(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def load_adapter(self, adapter: Adapter) -> None:
        self.step = adapter.step

    async def complete(self, request: CompletionRequest) -> Completion:
        await anyio.sleep(self.seconds)
        return Completion(Message(role="assistant", content="done"), (1, 2, 3), (4, 5), (-1.0, -1.0), "stop", self.step)

    async def close(self) -> None: ...


class Dice:
    """A judge that finds differences everywhere, so that every group is trained on."""

    async def forecast(self, groups: int, example: Group) -> str:
        return ""

    async def score(self, group: Group) -> list[Score]:
        value = lambda tried: hashlib.sha256(tried.id.encode()).digest()[0] / 255  # noqa: E731
        return [Score(tried.id, value(tried), False, "at random") for tried in group.trajectories]

    def report(self) -> dict[str, float]:
        return {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--vllm", action="store_true", help="also with a real vLLM server (`mcprl setup vllm`)")
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for sampling, training in SIMULATED:
        for pipeline in (False, True):
            label = f"simulated, {sampling:g} s and {training:g} s"
            rows.append({"sides": label, "pipeline": pipeline} | simulated(given.steps, sampling, training, pipeline))
            print(json.dumps(rows[-1]), flush=True)
    for pipeline in (False, True) if given.vllm else ():
        figures = measured({"engine": {"kind": "vllm"}}, given.steps, pipeline)
        rows.append({"sides": "vLLM and the trainer on one CPU", "pipeline": pipeline} | figures)
        print(json.dumps(rows[-1]), flush=True)
    machine = {"cores": os.cpu_count(), "processor": platform.processor() or platform.machine()}
    RESULTS.write_text(
        json.dumps({"date": date.today().isoformat(), "machine": machine, "rows": rows}, indent=1) + "\n"
    )


def simulated(steps: int, sampling: float, training: float, pipeline: bool) -> dict[str, float]:
    def update(*_: Any) -> dict[str, float]:
        time.sleep(training)
        return {}

    @asynccontextmanager
    async def open_engine(*_: Any) -> AsyncGenerator[Waiting]:
        yield Waiting(sampling)

    with (
        patch.object(train, "open_engine", open_engine),
        patch.object(scoring, "open_judge", lambda *_: Dice()),
        patch.object(Trainer, "update", update),
    ):
        return measured({}, steps, pipeline, (sampling, training))


def measured(more: dict[str, Any], steps: int, pipeline: bool, sides: Sequence[float] = ()) -> dict[str, float]:
    """One run; `sides` are the durations that were set, else the recorded ones count."""
    with tempfile.TemporaryDirectory() as folder, served(BENCHES[0], dict(os.environ)) as port:
        anyio.run(train_adapter, parse(settings(folder, port, steps, pipeline) | more))
        with Journal.open(Path(folder) / "run") as journal:
            recorded = journal.steps()
    middle = recorded[2:-1]
    walls = [now.at - before.at for before, now in zip(recorded[1:-2], middle, strict=True)]
    seconds = [{key: float(value or 0) for key, value in step.metrics.items()} for step in middle]
    spent = [(step["swap_s"] + step["rollout_s"] + step["judge_s"], step["train_s"]) for step in seconds]
    slower = max(sides) if sides else median(max(one) for one in spent)
    return {
        "wall_s": round(median(walls), 2),
        "sampling_s": round(median(one[0] for one in spent), 2),
        "training_s": round(median(one[1] for one in spent), 2),
        "over_slower": round(median(walls) / slower, 3),
    }


def settings(folder: str, port: int, steps: int, pipeline: bool) -> dict[str, Any]:
    return {
        "name": "run",
        "runs_dir": folder,
        "servers": [{"target": BENCHES[0].target.replace("{port}", str(port))}],
        "scenarios": {"train": 32, "val": 4, "test": 8, "floor": False},
        "training": {"steps": steps, "pipeline": ("off", "on")[pipeline], "warm_start_steps": 0, "eval_every": steps},
    }


if __name__ == "__main__":
    main()
