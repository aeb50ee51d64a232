"""A step's time on 1 to 64 GPUs, from a small model of the loop that is checked on measured runs.

    python benchmarks/scale.py --measure       run the shop on vLLM here: one server, two, fewer and more rollouts
    python benchmarks/scale.py                 fit the model to two of these runs, predict the others, draw the rest

The model (`Times`): a sampling server with n turns at once needs `round_s + turn_s * n` for a token of each, and
`prompt_s` for a token that it reads, during which all its turns wait; a turn's calls take `call_s`; an update takes
`update_s + update_token_s * tokens`, which is divided among its GPUs; an adapter reaches all servers in `swap_s`. The
rollouts of a task stay on one server, tasks go to the one with the fewest turns, as in `engines/vllm/replicas.py`. What
a run's turns read and sample is taken from its journal.

Of the measured runs `FITTED` fix the times; the plot's title has the error on the others. **For GPUs nothing of
sampling was measured**: `on_gpus` computes it from the weights' size and a card's bandwidth and arithmetic, at the
stated shares; the update is that of benchmarks/results/update_shapes.json. Kept in benchmarks/results/scale.json and
scale.png.
"""

import argparse
import heapq
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

import anyio

from mcprl import connect, train_adapter
from mcprl.config import ServerConfig
from mcprl.runs.journal import Journal
from mcprl.runs.settings import parse
from mcprl.text import common_prefix
from mcprl.types import Trajectory

RESULTS = Path(__file__).parent / "results"
RUNS = {"4 x 4, one": (1, 4, 4), "16 x 4, one": (1, 16, 4), "8 x 4, one": (1, 8, 4), "16 x 4, two": (2, 16, 4)}
"""Measured runs: servers (a core each), tasks of a step, rollouts of a task."""
FITTED = ("4 x 4, one", "16 x 4, one")
STEPS = 4
Turn = tuple[int, int]
"""Tokens that are new in its prompt, and tokens that it samples."""
Rollout = Sequence[Turn]


@dataclass(frozen=True)
class Times:
    """Seconds of the loop's parts."""

    round_s: float
    turn_s: float
    prompt_s: float
    call_s: float
    update_s: float
    update_token_s: float
    swap_s: float
    most: int = 64
    """Turns that a server samples at once."""


# --- the model --------------------------------------------------------------------------------------------------------


def sampling_s(groups: Sequence[Sequence[Rollout]], servers: int, times: Times) -> float:
    """The time until the last rollout of a step is done. All begin at once."""
    given = [0] * servers
    arrivals: list[list[tuple[float, int, Rollout]]] = [[] for _ in range(servers)]
    number = count()
    for group in groups:
        place = min(range(servers), key=given.__getitem__)
        given[place] += len(group)
        for rollout in group:
            heapq.heappush(arrivals[place], (0.0, next(number), rollout))
    return max(_served(waiting, times, number) for waiting in arrivals)


def _served(waiting: list[tuple[float, int, Rollout]], times: Times, number: "count[int]") -> float:
    """When one server is done with its rollouts, which wait for their next turn from a time on."""
    now, rounds, last = 0.0, 0, 0.0
    running: list[tuple[int, int, Rollout]] = []  # the round in which a turn ends
    while waiting or running:
        if not running and waiting[0][0] > now:
            now = waiting[0][0]
        while waiting and waiting[0][0] <= now and len(running) < times.most:
            _, who, rollout = heapq.heappop(waiting)
            read, sampled = rollout[0]
            now += read * times.prompt_s
            heapq.heappush(running, (rounds + max(1, sampled), who, rollout[1:]))
        per_round = times.round_s + times.turn_s * len(running)
        ahead = running[0][0] - rounds
        if waiting and len(running) < times.most:  # up to the next arrival
            ahead = min(ahead, max(1, int((waiting[0][0] - now) / per_round) + 1))
        rounds, now = rounds + ahead, now + ahead * per_round
        while running and running[0][0] <= rounds:
            _, _, rest = heapq.heappop(running)
            last = now + times.call_s
            if rest:
                heapq.heappush(waiting, (last, next(number), rest))
    return last


def step_s(groups: Sequence[Sequence[Rollout]], servers: int, trainers: int, times: Times) -> dict[str, float]:
    """The parts of a step, one after another, and their sum."""
    tokens = sum(read + sampled for group in groups for rollout in group for read, sampled in rollout)
    parts = {
        "sampling": sampling_s(groups, servers, times),
        "update": times.update_s + times.update_token_s * tokens / trainers,
        "adapter": times.swap_s,
    }
    return parts | {"step": sum(parts.values())}


def fitted(runs: Sequence[Mapping[str, Any]], known: Times) -> Times:
    """The times whose rounds and prompts reproduce the sampling of the runs best: a random search, then a finer one."""
    rng = random.Random(0)

    def off(times: Times) -> float:
        steps = [
            (sampling_s(step["groups"], run["servers"], times), step["sampling_s"])
            for run in runs
            for step in run["steps"]
        ]
        return sum((said / took - 1) ** 2 for said, took in steps)

    drawn = [
        replace(
            known,
            round_s=10 ** rng.uniform(-4, -1),
            turn_s=10 ** rng.uniform(-6, -2),
            prompt_s=10 ** rng.uniform(-6, -2),
        )
        for _ in range(600)
    ]
    best = min(drawn, key=off)
    for width in (0.3, 0.1, 0.03):
        near = [
            replace(
                best,
                **{name: getattr(best, name) * 10 ** rng.gauss(0, width) for name in ("round_s", "turn_s", "prompt_s")},
            )
            for _ in range(300)
        ]
        best = min([best, *near], key=off)
    return best


# --- measured runs ----------------------------------------------------------------------------------------------------


@contextmanager
def serving(core: int, port: int, folder: Path) -> Generator[str]:
    """A vLLM server of nano on one core. Yields its address."""
    from mcprl.config import Config
    from mcprl.engines.vllm import environment, server
    from mcprl.models.places import NANO

    found = environment.find()
    if found is None:
        sys.exit("vLLM is not set up; run: mcprl setup vllm")
    command = server._command(Config(), found, str(NANO), 4096, Path("socket"))
    at = command.index("--uds")
    command[at : at + 2] = ["--host", "127.0.0.1", "--port", str(port)]
    variables = server._variables(Config(), found, str(NANO), str(folder)) | {"VLLM_CPU_OMP_THREADS_BIND": str(core)}
    with (folder / f"vllm-{core}.log").open("wb") as log:
        process = subprocess.Popen(command, env=variables, stdout=log, stderr=log, start_new_session=True)
        try:
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


async def call_s() -> float:
    """The median time of a call of the shop."""
    took: list[float] = []
    async with connect([ServerConfig(target="demo:shop")]) as server, server.session() as session:
        for _ in range(100):
            began = time.perf_counter()
            await session.call("get_order", {"order_id": "O-2050"})
            took.append(time.perf_counter() - began)
    return median(took)


async def measure(folder: Path) -> list[dict[str, Any]]:
    """The steps of runs of nano on servers of one core each; the first step, which has what is done once, left out."""
    measured: list[dict[str, Any]] = []
    with serving(0, 8130, folder) as one, serving(1, 8131, folder) as two:
        for name, (servers, tasks, size) in RUNS.items():
            training = {"recipe": "rl", "steps": STEPS, "scenarios_per_step": tasks, "group_size": size}
            config = parse(
                {
                    "name": f"{servers}-{tasks}-{size}",
                    "runs_dir": str(folder),
                    "servers": [{"target": "demo:shop"}],
                    "scenarios": {"train": 64, "val": 2, "test": 2, "test_forms": 0, "floor": False},
                    "engine": {"kind": "vllm", "base_urls": [one, two][:servers]},
                    "training": {**training, "eval_every": STEPS, "pipeline": "off"},
                }
            )
            await train_adapter(config)
            with Journal.open(folder / config.name) as journal:
                steps: list[dict[str, Any]] = [
                    {"groups": groups_of(journal.trajectories("train", step.step)), **timed(step.metrics)}
                    for step in journal.steps()
                    if step.step > 1
                ]
            measured.append({"name": name, "servers": servers, "call_s": await call_s(), "steps": steps})
            print(f"{name}: sampling {median(step['sampling_s'] for step in steps):.1f} s a step")
    return measured


def timed(metrics: Mapping[str, Any]) -> dict[str, Any]:
    names = {"sampling_s": "rollout_s", "update_s": "train_s", "tokens": "forwarded_tokens", "swap_s": "swap_s"}
    return {name: float(metrics.get(key, 0.0)) for name, key in names.items()}


def groups_of(trajectories: Sequence[Trajectory]) -> list[list[list[Turn]]]:
    """What the rollouts of a step read and sample, by task. What a server has read already, it does not read again: the
    tools' definitions, a task's own prompt, a conversation up to its last turn."""
    groups: dict[str, list[list[Turn]]] = {}
    first: tuple[int, ...] = ()
    for each in trajectories:
        made: list[Turn] = []
        before: tuple[int, ...] = ()
        group = groups.setdefault(each.scenario_id, [])
        for turn in each.turns:
            if made:
                known = common_prefix(before, turn.prompt_ids)
            else:
                known = len(turn.prompt_ids) - 1 if group else common_prefix(first, turn.prompt_ids)
                first = first or turn.prompt_ids
            made.append((len(turn.prompt_ids) - known, len(turn.completion_ids)))
            before = (*turn.prompt_ids, *turn.completion_ids)
        group.append(made)
    return list(groups.values())


# --- GPUs, computed ---------------------------------------------------------------------------------------------------

BANDWIDTH, ARITHMETIC = 3.35e12, 989e12
"""Of an H100 SXM: bytes and bfloat16 operations a second (NVIDIA's data sheet)."""
READ_SHARE, WORK_SHARE = 0.6, 0.4
"""Shares of them that a server is taken to reach. Assumed."""
DOLLARS_AN_HOUR = 3.0
"""Of one H100. Assumed."""


def on_gpus(billions: float, call: float) -> Times:
    """The times of a model of so many parameters in bfloat16 on an H100 for each server."""
    update = json.loads((RESULTS / "update_shapes.json").read_text())["NVIDIA H100 80GB HBM3"]["8B"]["flex s"]
    weights, cache = 2e9 * billions, 2_000 * 150_000  # bytes: of a sequence of 2,000 tokens at 8 B, grouped queries
    return Times(
        round_s=weights / (BANDWIDTH * READ_SHARE),
        turn_s=cache / (BANDWIDTH * READ_SHARE) + weights / (ARITHMETIC * WORK_SHARE),
        prompt_s=weights / (ARITHMETIC * WORK_SHARE),
        call_s=call,
        update_s=0.1,
        update_token_s=update / (8 * 1_700),
        swap_s=0.1,
        most=256,
    )


def projection(call: float) -> list[dict[str, float]]:
    """A step of an 8 B model: 10 to 10,000 rollouts of 4 turns, 1 to 64 GPUs, half of which sample."""
    rows: list[dict[str, float]] = []
    rng = random.Random(0)
    for rollouts in (10, 100, 1_000, 10_000):
        groups = [
            [[(300 if n else 1_500 if not k else 1, rng.randint(30, 120)) for n in range(4)] for k in range(10)]
            for _ in range(rollouts // 10)
        ]
        for gpus in (1, 2, 4, 8, 16, 32, 64):
            servers = max(1, gpus // 2)
            parts = step_s(groups, servers, max(1, gpus - servers), on_gpus(8.0, call))
            dollars = parts["step"] * gpus * DOLLARS_AN_HOUR / 3600
            rows.append({"rollouts": rollouts, "gpus": gpus, **parts, "dollars": dollars})
    return rows


# --- the picture ------------------------------------------------------------------------------------------------------


def draw(checked: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, float]]) -> None:
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    for place, each in enumerate(checked):
        shade = "#9e9e9e" if each["name"] in FITTED else "#3949ab"
        left.bar(place - 0.2, each["measured_s"], 0.4, color=shade)
        left.bar(place + 0.2, each["model_s"], 0.4, color=shade, alpha=0.45)
    worst = max(abs(each["error"]) for each in checked if each["name"] not in FITTED)
    left.set_xticks(range(len(checked)), [each["name"] for each in checked], fontsize=8)
    left.set(ylabel="seconds of sampling a step", title=f"measured | model: {worst:.0%} off at most (grey: fitted)")
    for rollouts in sorted({row["rollouts"] for row in rows}):
        line = [row for row in rows if row["rollouts"] == rollouts]
        right.plot([row["gpus"] for row in line], [row["step"] for row in line], marker="o", label=f"{rollouts:,.0f}")
    right.set(xscale="log", yscale="log", xlabel="H100s, half of which sample", ylabel="seconds a step")
    right.set_title("8 B, computed; nothing of it was measured")
    right.set_xticks([1, 2, 4, 8, 16, 32, 64], ["1", "2", "4", "8", "16", "32", "64"])
    right.legend(title="rollouts", fontsize=8)
    figure.savefig(RESULTS / "scale.png", dpi=120)


def check(runs: Sequence[Mapping[str, Any]]) -> tuple[Times, list[dict[str, Any]]]:
    """The times fitted to two runs, and for each run what was measured and what the model says."""
    steps = [step for run in runs for step in run["steps"]]
    known = Times(0, 0, 0, median(run["call_s"] for run in runs), 0, 0, median(step["swap_s"] for step in steps))
    times = fitted([run for run in runs if run["name"] in FITTED], known)
    checked: list[dict[str, Any]] = []
    for run in runs:
        took = median(step["sampling_s"] for step in run["steps"])
        said = median(sampling_s(step["groups"], run["servers"], times) for step in run["steps"])
        checked.append({"name": run["name"], "measured_s": took, "model_s": said, "error": said / took - 1})
    return times, checked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true", help="run the shop on vLLM first; a quarter of an hour")
    options = parser.parse_args()
    path = RESULTS / "scale.json"
    if options.measure:
        with tempfile.TemporaryDirectory() as folder:
            runs = anyio.run(measure, Path(folder))
        path.write_text(json.dumps({"date": str(date.today()), "cores": os.cpu_count(), "runs": runs}) + "\n")
    if not path.exists():
        sys.exit("nothing was measured yet: python benchmarks/scale.py --measure")
    kept = json.loads(path.read_text())
    times, checked = check(kept["runs"])
    print(times)
    for each in checked:
        print("{name}: measured {measured_s:.1f} s, model {model_s:.1f} s ({error:+.0%})".format(**each))
    rows = projection(times.call_s)
    for row in rows:
        binds = max(("sampling", "update", "adapter"), key=row.__getitem__)
        print(
            "{rollouts:6,} rollouts, {gpus:2} GPUs: {step:8.1f} s a step, ".format(**row)
            + f"{row[binds] / row['step']:.0%} {binds}, {row['dollars']:.3f} $"
        )
    draw(checked, rows)


if __name__ == "__main__":
    main()
