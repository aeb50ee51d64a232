"""Tasks for servers that the generator was not tuned for (`strangers.toml`), to be read by people who saw no code.

    python benchmarks/strangers.py install                    each server into .cache/strangers
    python benchmarks/strangers.py tasks --writer plain       .cache/strangers/plain/NAME.jsonl: twenty tasks of each
    python benchmarks/strangers.py tally plain READER.jsonl   natural, awkward and wrong by server, of readers' verdicts

`--set strangers_second` takes the servers of the second draw (`strangers_second.toml`).

A verdict is a line {"server": ..., "task": number, "verdict": "natural" | "awkward" | "wrong"}. Nothing of a pack is
chosen by hand: of 80 training and 24 test tasks twenty are drawn by a seed.
"""

import argparse
import json
import random
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio

from mcprl.config import ScenarioConfig, ServerConfig, ToolPolicy
from mcprl.errors import McprlError
from mcprl.scenarios.generate import generate
from mcprl.servers.server import connect
from mcprl.types import Scenario

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".cache" / "strangers"
SETS = ("strangers", "strangers_second")
SERVERS: dict[str, dict[str, Any]] = {}  # those of the chosen set, by name
READ = 20
NODE = CACHE / "node"


def bin_of(server: dict[str, Any]) -> Path:
    if "npm" in server:
        return NODE / "node_modules" / ".bin"
    return CACHE / server["pip"].split()[0] / "bin" if "pip" in server else Path(sys.executable).parent


def install() -> None:
    NODE.mkdir(parents=True, exist_ok=True)
    for name, server in SERVERS.items():
        if "pip" in server and not bin_of(server).exists():
            subprocess.run([sys.executable, "-m", "venv", str(bin_of(server).parent)], check=True)
            subprocess.run([str(bin_of(server) / "pip"), "install", "-q", *server["pip"].split()], check=False)
        elif "npm" in server and not (NODE / "node_modules" / server["npm"]).exists():
            subprocess.run(["npm", "install", "--silent", "--prefix", str(NODE), server["npm"]], check=False)
        print(
            name, "installed" if "held" in server or (bin_of(server) / server["run"].split()[0]).exists() else "FAILED"
        )


def config_of(name: str) -> ServerConfig:
    """The server as mcprl starts it, each session in a copy of a folder that was filled for it."""
    server = SERVERS[name]
    if "held" in server:
        file = ROOT / "recipes" / "nano" / "written" / server["held"] / "server.py"
        return ServerConfig(target=f"{sys.executable} {file}")
    home = CACHE / "homes" / name
    if not home.exists():
        home.mkdir(parents=True)
        script = server.get("shell", "").replace("{bin}", str(bin_of(server)))
        subprocess.run(["bash", "-ec", script], cwd=home, check=True)
    here = f"{{scratch:{home}}}"
    env = {key: value.replace("{here}", here) for key, value in server.get("env", {}).items()}
    return ServerConfig(
        target=f"{bin_of(server)}/{server['run'].replace('{here}', here)}", env={"STRANGER": here} | env, processes=2
    )


async def tasks(name: str, writer: str, seed: int) -> dict[str, Any]:
    """Make a pack, write twenty of its tasks down for readers, and say what share of the tools has tasks."""
    began = time.monotonic()
    settings = ScenarioConfig(train=80, val=8, test=24, test_forms=0, writer=writer)
    async with connect([config_of(name)], ToolPolicy(sandbox=True)) as server:
        pack = await generate(server, settings, seed)
        tools = [{"name": tool.name, "description": tool.description} for tool in server.tools]
    drawn = random.Random(f"{name} {seed}").sample(list(pack), min(READ, len(pack.scenarios)))
    folder = CACHE / writer
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.jsonl").open("w") as file:
        print(json.dumps({"server": name, "tools": tools}, ensure_ascii=False), file=file)
        for number, scenario in enumerate(drawn):
            print(json.dumps({"server": name, "task": number} | shown(scenario), ensure_ascii=False), file=file)
    used = {call.tool for scenario in pack for call in scenario.plan}
    return {
        "server": name,
        "tasks": len(pack.scenarios),
        "kinds": dict(Counter(scenario.kind for scenario in pack).most_common()),
        "written": sum(scenario.form.startswith("written/") for scenario in pack),
        "tools": len(tools),
        "with_tasks": len(used),
        "left_out": pack.left_out,
        "seconds": round(time.monotonic() - began),
    }


def shown(scenario: Scenario) -> dict[str, Any]:
    """What a reader sees of a task."""
    calls = [f"{call.tool}({json.dumps(call.arguments, ensure_ascii=False)})" for call in scenario.plan]
    before = [f"{call.tool}({json.dumps(call.arguments, ensure_ascii=False)})" for call in scenario.setup]
    told = {"request": scenario.request, "calls": calls, "answer": scenario.answer, "kind": scenario.kind}
    return told | ({"done_before": before} if before else {})


def tally(files: list[Path]) -> Iterator[str]:
    counts: dict[str, Counter[str]] = {}
    for file in files:
        for line in file.read_text().splitlines():
            verdict = json.loads(line)
            counts.setdefault(verdict["server"], Counter())[verdict["verdict"]] += 1
    total = sum(counts.values(), Counter[str]())
    for name, each in [*counts.items(), ("all", total)]:
        shares = ", ".join(f"{word} {each[word]}" for word in ("natural", "awkward", "wrong"))
        percent = {word: round(100 * count / each.total()) for word, count in each.items()}
        yield f"{name:14} {shares}; natural {percent.get('natural', 0)} %, wrong {percent.get('wrong', 0)} %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("do", choices=("install", "tasks", "tally"))
    parser.add_argument("verdicts", nargs="*", type=Path)
    parser.add_argument("--writer", default="plain")
    parser.add_argument("--set", choices=SETS, default=SETS[0])
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    SERVERS.update(tomllib.loads((Path(__file__).parent / f"{given.set}.toml").read_text()))
    if unknown := [name for name in given.only if name not in SERVERS]:
        parser.error(f"not in {given.set}.toml: {', '.join(unknown)}")
    if given.do == "install":
        install()
    elif given.do == "tally":
        print(*tally(given.verdicts), sep="\n")
    else:
        for name in given.only or SERVERS:
            try:
                print(json.dumps(anyio.run(tasks, name, given.writer, given.seed)), flush=True)
            except McprlError as error:
                print(json.dumps({"server": name, "error": str(error)}), flush=True)


if __name__ == "__main__":
    main()
