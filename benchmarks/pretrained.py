"""What a pre-trained model learns on ten servers: `mcprl scenarios` and `mcprl train --model smollm2`, as one table.

    python benchmarks/pretrained.py                        all servers that are installed, one after another
    python benchmarks/pretrained.py --only git retail      a part; finished runs are kept
    python benchmarks/pretrained.py --only git -- --warm-start-plans 4     what follows `--` goes to `mcprl train`
    python benchmarks/pretrained.py --table                the table of what is there, run nothing

The servers and their data are those of tests/support/bar_servers.py. Each run tests on tasks in forms that training
never uses and, where there are some, on what people asked the same data (`scenarios/people/`). A run takes three
quarters of an hour of one core. The table is kept in benchmarks/results/pretrained.json, the worst gain in forms never
used first; rows of runs that are not on this machine stay in it.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
RUNS = ROOT / "runs" / "pretrained"
PEOPLE = ROOT / "scenarios" / "people"
RESULTS = Path(__file__).parent / "results" / "pretrained.json"
TASKS = ("--train-tasks", "800", "--val-tasks", "48", "--test-tasks", "32", "--test-forms", "64")
SUITES = ("forms", "people")


def run(name: str, model: str, seed: int, more: list[str]) -> None:
    """Make the pack of a server and train on it, unless the report is there."""
    from support.bar_servers import setting

    from mcprl.config import ToolPolicy
    from mcprl.runs.settings import dump_config

    folder = RUNS / f"{name}-{seed}"
    if (folder / name / "report.json").exists():
        return
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    made = setting(name, data)
    if name == "filesystem":  # people asked for edits, too; its data are its own
        made = made.model_copy(update={"tools": ToolPolicy(sandbox=True)})
    config = folder / "server.toml"
    config.write_text(dump_config(made, "servers", "tools", "scenarios"))  # rates and steps are the model's own
    people = folder / "people.jsonl"
    if (asked := PEOPLE / f"{name}.jsonl").exists():
        people.write_text(asked.read_text().replace("{dir}", str(data / "repo" if name == "git" else data)))
    common = ("--config", str(config), "--seed", str(seed))
    tests = ("--test-pack", str(people)) if people.exists() else ()
    _mcprl("scenarios", *common, *TASKS, *tests, "--out", str(folder / "pack"))
    options = ("--pack", str(folder / "pack"), "--model", model, "--name", name, "--runs-dir", str(folder))
    _mcprl("train", *common, *options, *more)


def _mcprl(*arguments: str) -> None:
    command = (str(Path(sys.executable).with_name("mcprl")), *arguments)
    print("$", " ".join(command), flush=True)
    subprocess.run(command, cwd=ROOT, check=True)


def rows() -> list[dict[str, Any]]:
    """A row for each suite of each finished run."""
    found: list[dict[str, Any]] = []
    for path in RUNS.glob("*/*/report.json"):
        report = json.loads(path.read_text())
        for suite in (suite for suite in SUITES if suite in report["suites"] and report["finished"]):
            test = report["suites"][suite]
            shares = {part: test[part] and test[part]["success"] for part in ("base", "start", "trained")}
            gains = {part: test[part] for part in ("over_base", "over_start")}
            about = {"server": path.parent.name, "seed": report["seed"], "suite": suite, "tasks": test["n"]}
            about["model"] = report["model"]
            found.append(about | shares | gains | {"date": report["date"], "minutes": round(report["wall_s"] / 60, 1)})
    return found


def merged(before: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All rows, of those of one server, seed and suite the newer."""
    by_test = {(row["server"], row["seed"], row["suite"]): row for row in (*before, *new)}
    return sorted(by_test.values(), key=lambda row: (row["suite"], row["over_base"]["mean"]))


def main() -> None:
    from support.bar_servers import NAMES

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=NAMES, default=NAMES, help="these servers")
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--table", action="store_true", help="run nothing")
    parser.add_argument("more", nargs="*", help="after `--`: options of `mcprl train`")
    given = parser.parse_args()
    for name in () if given.table else given.only:
        try:
            run(name, given.model, given.seed, given.more)
        except LookupError as error:
            print(error, file=sys.stderr)
    kept = merged(json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else [], rows())
    RESULTS.write_text(json.dumps({"rows": kept}, indent=1) + "\n")
    print("| server | tasks | base | starter | trained | gain over the base | due to the run |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for row in kept:
        parts = (row["base"], row["start"], row["trained"])
        shares = " | ".join("-" if share is None else f"{100 * share:.1f}" for share in parts)
        about = f"{row['server']} | {row['suite']}, {row['tasks']}"
        print(f"| {about} | {shares} | {gain(row['over_base'])} | {gain(row['over_start'])} |")


def gain(over: dict[str, Any] | None) -> str:
    """A gain in points with its interval, bold where that does not hold zero."""
    if over is None:
        return "-"
    low, high = over["ci95"]
    told = f"{100 * over['mean']:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"
    return f"**{told}**" if low > 0 or high < 0 else told


if __name__ == "__main__":
    main()
