"""What the generator makes for ten servers: tools with tasks, held-out tasks, seconds, and thirty tasks to read.

    python benchmarks/packs.py                                  all servers that are installed
    python benchmarks/packs.py --only git sqlite --seed 77 --out FOLDER
    python benchmarks/packs.py --written 12                     twelve of the 120 that were written for a starter

The settings are those of `mcprl scenarios`. With `--out` each server gets FOLDER/NAME-SEED (the pack) and
FOLDER/NAME-SEED.txt: thirty random tasks with their calls and answers, for a person to read. The bars: tasks for 80 %
of the tools that may be called, 100 held-out tasks, 120 seconds. tests/support/bar_servers.py has the servers. Those
of `recipes/nano/written` are by writers who knew nothing of the generator. It was changed for what tasks for twenty-six
of them showed (swimming, garden, bloodbank, newsletter, carfleet, school, mentoring, storageunits, grants, nursery,
football, taxis, seedbank, mountainhuts, optician, auditions, wholesale, catering, deploys, winery, spareparts,
featureflags, watchrepair, and a little for quarry, choreography, hearings and invoices).
"""

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcprl.scenarios.packs.pack import Pack
    from mcprl.types import Scenario

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

READ = 30
"""Tasks of a server that are written out for a reader."""


async def make(name: str, seed: int) -> "tuple[Pack, float, float]":
    """The pack of one server, and the seconds and seconds of CPU (the server's included) that it took."""
    from support.bar_servers import NAMES, setting, written

    from mcprl.scenarios.generate import generate
    from mcprl.servers.server import connect

    with tempfile.TemporaryDirectory() as folder:
        config = setting(name, Path(folder)) if name in NAMES else written(name)
        began, computed = time.perf_counter(), _cpu()
        async with connect(config.servers, config.tools) as server:
            pack = await generate(server, config.scenarios, seed)
        return pack, time.perf_counter() - began, _cpu() - computed


def _cpu() -> float:
    """Seconds of CPU of this process and of those that it started and that have ended."""
    return sum(os.times()[:4])


def row(name: str, pack: "Pack", seconds: float, computed: float) -> str:
    """A line of the table."""
    from mcprl.scenarios.packs.quality import saved_quality

    measured = saved_quality(pack)
    assert measured is not None
    suites = ", ".join(f"{count} {suite}" for suite, count in measured.suites.items())
    cells = [
        name,
        f"{measured.covered_tools} of {measured.tools}",
        f"{measured.test} ({suites})",
        f"{seconds:.0f} s, {computed:.0f} s of CPU",
        ", ".join(measured.uncovered) or "none",
    ]
    return f"| {' | '.join(cells)} |"


def to_read(pack: "Pack", seed: int, name: str) -> str:
    """Thirty random tasks of all splits as text: request, calls, answer."""
    drawn = random.Random(f"{name} {seed}").sample(pack.scenarios, min(READ, len(pack.scenarios)))
    return "\n".join(f"{number}. {_shown(scenario)}" for number, scenario in enumerate(drawn, 1)) + "\n"


def _shown(scenario: "Scenario") -> str:
    calls = [f"{call.tool}({json.dumps(call.arguments, ensure_ascii=False)})" for call in scenario.plan]
    return f"{scenario.request}\n    > {'; '.join(calls)}\n    = {scenario.answer}"


def main() -> None:
    """Make the packs one after another and print the table."""
    from support.bar_servers import NAMES, WRITTEN

    from mcprl.errors import McprlError

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=list(NAMES), default=list(NAMES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--written", type=int, metavar="N", help="draw so many of the written servers instead")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    paths = [str(Path(sys.executable).parent), str(ROOT / "node_modules" / ".bin"), os.environ["PATH"]]
    os.environ["PATH"] = os.pathsep.join(paths)
    os.chdir(ROOT)  # the hints of tau2's servers are named from here
    print(
        f"| server (seed {options.seed}) | tools with tasks | held-out tasks | took | no tasks |\n|---|---|---|---|---|"
    )
    names = random.Random(options.seed).sample(WRITTEN, options.written) if options.written else options.only
    for name in names:
        try:
            pack, seconds, computed = asyncio.run(make(name, options.seed))
        except (LookupError, McprlError) as error:
            print(f"| {name} | {error} | | | |", flush=True)
            continue
        print(row(name, pack, seconds, computed), flush=True)
        if options.out:
            pack.save(options.out / f"{name}-{options.seed}")
            (options.out / f"{name}-{options.seed}.txt").write_text(to_read(pack, options.seed, name))


if __name__ == "__main__":
    main()
