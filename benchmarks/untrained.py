"""What models do of people's requests without training: seven servers, each model with the wording its trial chooses.

    python benchmarks/untrained.py                           all models, servers and requests
    python benchmarks/untrained.py --models smollm2 --servers git time    a part
    python benchmarks/untrained.py --limit 24                of each server 24 requests, drawn by a fixed seed
    python benchmarks/untrained.py --table                   judge again what is there, run nothing

One rollout of each request in `scenarios/people/` on the servers of tests/support/bar_servers.py, greedy unless
`--temperature` says otherwise, scored by the checks: `mcprl eval SERVER --model NAME --pack PACK`, but that smollm2 has
its starter. Rollouts are kept, 24 at a time, in runs/untrained/MODEL/SERVER.jsonl, in the form that
tests/support/answers.py reads, and a run goes on where the one before ended. The table is also written to
benchmarks/results/untrained.json.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

import anyio

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
from support.answers import judged, lines  # noqa: E402
from support.bar_servers import setting  # noqa: E402

from mcprl.config import Config, EngineConfig, EvalConfig, ModelConfig, ToolPolicy  # noqa: E402
from mcprl.engines import open_engine  # noqa: E402
from mcprl.engines.machine import resolve  # noqa: E402
from mcprl.engines.trial import load_worded  # noqa: E402
from mcprl.rollout import Sampler  # noqa: E402
from mcprl.runs.intervals import wilson  # noqa: E402
from mcprl.runs.starting import as_started, with_start  # noqa: E402
from mcprl.scenarios.prepare import read_test_pack  # noqa: E402
from mcprl.servers.server import connect  # noqa: E402
from mcprl.types import Adapter, Scenario, Tool, Trajectory  # noqa: E402

MODELS = ("smollm2", "qwen2.5-coder-0.5b", "qwen2.5-coder-1.5b")
SERVERS = ("time", "filesystem", "sqlite", "memory", "everything", "git", "shop")
RUNS = ROOT / "runs" / "untrained"
RESULTS = Path(__file__).parent / "results" / "untrained.json"
AT_ONCE = 24


async def run(model: str, servers: Sequence[str], limit: int, temperature: float) -> None:
    """The model's rollouts on the servers, after those that are kept."""
    sampling = EvalConfig(temperature=temperature)
    config = resolve(Config(model=ModelConfig(name=model), engine=EngineConfig(max_batch=AT_ONCE), eval=sampling))
    config, loaded = await load_worded(with_start(as_started(config)), print)
    print(loaded.note)
    start = Adapter(config.training.start, 0) if config.training.start else None
    async with open_engine(config, loaded, RUNS / "vllm.log") as engine:
        for name in servers:
            data = RUNS / "data" / name
            data.mkdir(parents=True, exist_ok=True)
            made = setting(name, data)
            tools = ToolPolicy(sandbox=True) if name == "filesystem" else made.tools  # people asked for edits, too
            here = config.model_copy(update={"servers": made.servers, "tools": tools})
            out = kept(model, name, temperature)
            out.parent.mkdir(exist_ok=True)
            done = {line["scenario"] for line in lines(out)} if out.exists() else set[str]()
            people = here.scenarios.model_copy(update={"test_pack": str(pack_of(name, data))})
            async with connect(here.servers, here.tools) as server:
                scenarios = list(read_test_pack(people, server.tools))
                random.Random(0).shuffle(scenarios)
                left = [scenario for scenario in scenarios[:limit] if scenario.id not in done]
                sampler = Sampler(here, server, engine)
                while left:
                    batch, left = left[:AT_ONCE], left[AT_ONCE:]
                    began = time.perf_counter()
                    groups = await sampler.groups("eval", 0, batch, 1, start)
                    seconds = round((time.perf_counter() - began) / len(batch), 1)
                    with out.open("a") as file:
                        for group in groups:
                            turns = [
                                loaded.tokenizer.decode(turn.completion_ids) for turn in group.trajectories[0].turns
                            ]
                            line = told(group.scenario, group.trajectories[0], server.tools)
                            file.write(
                                json.dumps(line | {"turns": turns, "seconds": seconds}, ensure_ascii=False) + "\n"
                            )
                    print(f"{model}, {name}: {len(left)} requests left, {seconds} s each", flush=True)


def kept(model: str, name: str, temperature: float = 0.0) -> Path:
    return RUNS / model / (f"{name}-{temperature:g}.jsonl" if temperature else f"{name}.jsonl")


def pack_of(name: str, data: Path) -> Path:
    """People's requests with the folder that the server's data are in."""
    requests = (ROOT / "scenarios" / "people" / f"{name}.jsonl").read_text()
    pack = RUNS / "data" / f"{name}.jsonl"
    pack.write_text(requests.replace("{dir}", str(data / "repo" if name == "git" else data)))
    return pack


def told(scenario: Scenario, trajectory: Trajectory, tools: Sequence[Tool]) -> dict[str, Any]:
    """A rollout as tests/support/answers.py reads it."""
    writing = {tool.name for tool in tools if not tool.read_only}
    return {
        "id": scenario.id,
        "pack": str((RUNS / "data").relative_to(ROOT) / f"{scenario.id.split('-')[1]}.jsonl"),
        "scenario": scenario.id,
        "request": scenario.request,
        "tools": [tool.name for tool in tools],
        "calls": [{"tool": call.tool, "arguments": call.arguments} for call in trajectory.calls],
        "results": [asdict(call.result) for call in trajectory.calls],
        "messages": trajectory.messages,
        "stop": trajectory.stop,
        "error": trajectory.error,
        "before": [asdict(result) for result in trajectory.before],
        "after": [asdict(result) for result in trajectory.state],
        "others": sorted(writing),
        "schemas": {tool.name: tool.input_schema for tool in tools},
    }


def table(models: Sequence[str], servers: Sequence[str]) -> list[dict[str, Any]]:
    """A row for each model and server with greedy rollouts."""
    rows: list[dict[str, Any]] = []
    for model in models:
        for name in servers:
            if not kept(model, name).exists():
                continue
            pack_of(name, RUNS / "data" / name)
            rollouts = lines(kept(model, name))
            right = sum(bool(judged(line).success) for line in rollouts if not line["error"])
            answered = sum(line["stop"] == "answered" for line in rollouts)
            called = sum(bool(line["calls"]) for line in rollouts)
            rows.append({"model": model, "server": name, "requests": len(rollouts), "right": right})
            rows[-1] |= {"called": called, "answered": answered, "date": str(date.today())}
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="*", default=MODELS, help="names or folders of models")
    parser.add_argument("--servers", nargs="*", choices=SERVERS, default=SERVERS)
    parser.add_argument("--limit", type=int, default=1_000, help="requests of each server")
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--table", action="store_true", help="run nothing")
    given = parser.parse_args()
    RUNS.mkdir(parents=True, exist_ok=True)
    for model in () if given.table else given.models:
        anyio.run(run, model, given.servers, given.limit, given.temperature)
    rows = table([*dict.fromkeys((*MODELS, *given.models))], SERVERS)
    RESULTS.write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    print("| server | model | right | called a tool | answered |\n|---|---|---:|---:|---:|")
    for row in sorted(rows, key=lambda row: (SERVERS.index(row["server"]), row["model"])):
        n, right = row["requests"], row["right"]
        low, high = wilson(right, n)
        share = f"{right} of {n} ({right / n:.0%}, {100 * low:.0f} to {100 * high:.0f})"
        print(f"| {row['server']} | {row['model']} | {share} | {row['called']} | {row['answered']} |")


if __name__ == "__main__":
    main()
