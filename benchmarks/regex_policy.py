"""What a regular-expression policy without a model scores on generated tasks, by server, suite and kind.

    python benchmarks/regex_policy.py                      all servers that are installed
    python benchmarks/regex_policy.py --only shop --seed 1

The policy is tests/support/regex_policy.py. A high share means that the tasks need no English: the bar is 30 % on the
forms that training never uses. The suite `people` has what people asked the same server. Results are added to
benchmarks/results/regex_policy.json, the worst server first.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections import Counter
from datetime import date
from pathlib import Path
from shutil import which
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
PATH = os.pathsep.join([str(Path(sys.executable).parent), str(ROOT / "node_modules" / ".bin"), os.environ["PATH"]])
RESULTS = Path(__file__).parent / "results" / "regex_policy.json"
SERVERS = {
    "shop": (f"{sys.executable} {ROOT / 'examples' / 'servers' / 'shop.py'}", {}),
    "time": ("mcp-server-time --local-timezone UTC", {}),
    "memory": ("mcp-server-memory", {"MEMORY_FILE_PATH": "{scratch}/memory.json"}),
    "filesystem": ("mcp-server-filesystem {scratch}", {}),
    "everything": ("mcp-server-everything", {}),
}
BAR = 0.3


async def measure(name: str, seed: int, scratch: str) -> dict[str, Any]:
    """The shares that the policy solves on one server, by suite and by suite and kind."""
    from support.fixtures_files import make_files
    from support.regex_policy import play

    from mcprl.config import ScenarioConfig, ServerConfig, ToolPolicy
    from mcprl.judges.verifier import Verifier
    from mcprl.runs.overlap import wording_overlap
    from mcprl.scenarios.generate import generate
    from mcprl.servers.server import connect

    if name == "filesystem":
        make_files(Path(scratch))
    target, env = SERVERS[name]
    server = ServerConfig(
        target=target.replace("{scratch}", scratch),
        env={key: value.replace("{scratch}", scratch) for key, value in env.items()},
    )
    config = ScenarioConfig(train=80, val=8, test=64, test_forms=96)
    tasks, solved = Counter[str](), Counter[str]()
    async with connect([server], ToolPolicy()) as connected:
        pack = await generate(connected, config, seed)
        verifier = Verifier(connected.tools)
        for scenario in (*pack.test, *peoples(name)):
            success = bool(verifier.verify(scenario, await play(scenario, connected)).success)
            for key in (scenario.suite, f"{scenario.suite}/{scenario.kind}"):
                tasks[key] += 1
                solved[key] += success
    shares = {key: {"solved": solved[key], "tasks": tasks[key]} for key in sorted(tasks)}
    overlap = {suite: same for suite, (_, same) in wording_overlap(pack.test, pack.train).items()}
    return {"date": str(date.today()), "seed": seed, "same_wording_as_training": overlap, "shares": shares}


def peoples(name: str) -> list[Any]:
    """The requests that people wrote for a server whose data is always the same, as the suite `people`."""
    from dataclasses import replace

    from pydantic import TypeAdapter

    from mcprl.types import Scenario

    if name not in ("shop", "time"):
        return []
    lines = (ROOT / "scenarios" / "people" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [replace(TypeAdapter(Scenario).validate_json(line), suite="people") for line in lines]


def forms_share(result: dict[str, Any]) -> float:
    """The share solved of the forms that training never uses."""
    forms = result["shares"].get("forms", {"solved": 0, "tasks": 1})
    return forms["solved"] / forms["tasks"]


def main() -> None:
    """Measure the installed servers one after another and keep what is measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=list(SERVERS), default=list(SERVERS))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    os.environ["PATH"] = PATH
    for name in options.only:
        if which(SERVERS[name][0].split()[0]) is None:
            print(f"{name}: not installed")
            continue
        with tempfile.TemporaryDirectory() as scratch:
            measured = asyncio.run(measure(name, options.seed, scratch))
        results: dict[str, Any] = json.loads(RESULTS.read_text())["servers"] if RESULTS.exists() else {}
        results[f"{name}/{options.seed}"] = measured
        worst_first = dict(sorted(results.items(), key=lambda entry: -forms_share(entry[1])))
        worst = max(map(forms_share, results.values()))
        document = {"bar": BAR, "worst_share_of_forms": round(worst, 3), "servers": worst_first}
        RESULTS.write_text(json.dumps(document, indent=2) + "\n")
        print(f"{name}: {forms_share(measured):.1%} of forms never used; bar {BAR:.0%}", flush=True)


if __name__ == "__main__":
    main()
