"""What training brings on five servers that the policy never saw: `mcprl train` on each, three seeds, as one table.

    python benchmarks/servers.py                          all of it, one run after another; finished runs are kept
    python benchmarks/servers.py --only time --seeds 0    a part
    python benchmarks/servers.py --jobs 2                 two runs side by side: sooner done, but slower each
    python benchmarks/servers.py --table                  the table of what is there, run nothing
    python benchmarks/servers.py --variants learning-rate-0 shuffled-rewards    controls on the shop: must show nothing
    python benchmarks/servers.py --variants short short-unshared short-vllm     30 steps, with prefixes shared, without,
                                                          and sampled by vLLM: must be alike
    python benchmarks/servers.py --variants scale-mean scale-none     what dividing advantages by the mean score brings

Every run is the command that a user would type; it is printed. The table is made of the runs' report.json, and is kept
with the machine and the date in benchmarks/results/servers.json.
"""

import argparse
import json
import os
import platform
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "runs" / "servers"
PATH = os.pathsep.join([str(Path(sys.executable).parent), str(ROOT / "node_modules" / ".bin"), os.environ["PATH"]])
RESULTS = Path(__file__).parent / "results" / "servers.json"


@dataclass(frozen=True)
class Bench:
    """A server: how `mcprl train` is pointed at it, and the command that serves it where it is reached over HTTP."""

    name: str
    target: str
    options: tuple[str, ...] = ()
    serve: tuple[str, ...] = ()


BENCHES = (
    Bench(
        "shop", "http://127.0.0.1:{port}/mcp", serve=(sys.executable, "examples/servers/shop.py", "--http", "{port}")
    ),
    Bench("time", "mcp-server-time --local-timezone UTC"),
    Bench("everything", "http://127.0.0.1:{port}/mcp", serve=("mcp-server-everything", "streamableHttp")),
    Bench("memory", "mcp-server-memory", ("--env", "MEMORY_FILE_PATH={scratch}/memory.json")),
    Bench("filesystem", "mcp-server-filesystem {scratch}", ("--allow-destructive",)),
)
RL = ("--recipe", "sft+rl", "--warm-start-steps", "10", "--eval-every", "10", "--learning-rate", "1.5e-3")
"""RL from a short warm start, at a rate that harms after a long one: what the variants are about."""
VARIANTS = {
    "learning-rate-0": (*RL, "--learning-rate", "0"),
    "shuffled-rewards": (*RL, "--control", "shuffle-rewards"),
    "short": (*RL, "--steps", "30"),
    "short-unshared": (*RL, "--steps", "30", "--no-share-prefixes"),
    "short-vllm": (*RL, "--steps", "30", "--engine", "vllm"),
    "scale-mean": (*RL, "--advantage-scale", "mean"),
    "scale-none": (*RL, "--advantage-scale", "none"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=[bench.name for bench in BENCHES], help="these servers")
    parser.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2])
    parser.add_argument("--jobs", type=int, default=1, help="runs side by side")
    parser.add_argument("--variants", nargs="*", choices=VARIANTS, default=(), help="these, of the shop, instead")
    parser.add_argument("--table", action="store_true", help="run nothing")
    given = parser.parse_args()
    chosen = [bench for bench in BENCHES if not given.only or bench.name in given.only]
    if not given.table:
        runs = product(given.seeds, BENCHES[:1] if given.variants else chosen, given.variants or ("",))
        threads = max(1, (os.cpu_count() or 1) // given.jobs)
        with ThreadPoolExecutor(given.jobs) as pool:
            list(pool.map(lambda one: run(one[0], one[1], one[2], threads), runs))
    keep()


def run(seed: int, bench: Bench, variant: str, threads: int) -> None:
    """One `mcprl train`, unless its report is there; one that was stopped goes on."""
    name = "-".join(filter(None, (bench.name, variant, str(seed))))
    folder = RUNS / name
    if (folder / "report.json").exists() and json.loads((folder / "report.json").read_text())["finished"]:
        return
    environment = os.environ | {"PATH": PATH, "OMP_NUM_THREADS": str(threads)}
    with served(bench, environment) as port:
        again = ("--resume", str(folder)) if (folder / "journal.sqlite").exists() else ("--name", name)
        target = ("--server", bench.target.replace("{port}", str(port)))
        options = (*bench.options, "--runs-dir", str(RUNS), "--seed", str(seed), *VARIANTS.get(variant, ()), *again)
        command = (str(Path(sys.executable).with_name("mcprl")), "train", *target, *options)
        print("$", " ".join(command), flush=True)
        subprocess.run(command, env=environment, cwd=ROOT, check=False)


@contextmanager
def served(bench: Bench, environment: dict[str, str]) -> Generator[int]:
    """The port at which the bench's HTTP server listens; 0 for one on stdio, which mcprl starts by itself."""
    if not bench.serve:
        yield 0
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    command = [part.replace("{port}", str(port)) for part in bench.serve]
    silent = subprocess.DEVNULL
    process = subprocess.Popen(command, env=environment | {"PORT": str(port)}, cwd=ROOT, stdout=silent, stderr=silent)
    try:
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait(10)


def keep() -> None:
    """Write what every finished run proved to one file, and print it as a table."""
    rows: list[dict[str, Any]] = []
    for path in sorted(RUNS.glob("*/report.json")):
        report = json.loads(path.read_text())
        if report["finished"]:
            wanted = ("steps", "wall_s", "exact_tokens", "dropped_groups", "test")
            rows.append({"run": path.parent.name} | {key: report[key] for key in wanted})
    RESULTS.parent.mkdir(exist_ok=True)
    machine = f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}"
    kept = {"date": date.today().isoformat(), "machine": machine, "runs": rows}
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
    columns = ("run", "n", "base", "warm", "trained", "gain", "of it RL", "steps", "minutes")
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    for row in rows:
        test = row["test"]
        warm = f"{test['warm']['success']:.2f}" if test["warm"] else "-"
        print(
            f"| {row['run']} | {test['n']} | {test['base']['success']:.2f} | {warm} | {test['trained']['success']:.2f} "
            f"| {interval(test, 'gain')} | {interval(test, 'rl_gain')} | {row['steps']} | {row['wall_s'] / 60:.1f} |"
        )


def interval(test: dict[str, Any], name: str) -> str:
    if not test[f"{name}_ci95"]:
        return "-"
    low, high = test[f"{name}_ci95"]
    return f"{test[name]:+.2f} ({low:+.2f} to {high:+.2f})"


if __name__ == "__main__":
    main()
