"""How many tools of servers that others wrote does probing reach: tools of which a call gave something.

    python benchmarks/reach.py                       the written servers (recipes/nano/written), half an hour
    python benchmarks/reach.py --only zoo cinema     these
    python benchmarks/reach.py --written 20 --seed 4 twenty of them, drawn by chance

What no call reaches has no tasks. The bar: 80 % of the tools of a server. Probing was changed for what the first run
showed of sixteen servers (mentoring, storageunits, genealogy, cemetery, beekeeping, bibliography, pipelines, breweries,
auctions, cinema, dns, zoo, payroll, satellites, campsite, notebook); the others are as their writers made them.
"""

import argparse
import asyncio
import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcprl.scenarios.probing.knowledge import Knowledge

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
BAR = 0.8


async def probed(name: str, seed: int) -> "Knowledge":
    """What probing finds out of a written server."""
    from support.bar_servers import written

    from mcprl.scenarios.probing.probe import probe
    from mcprl.servers.server import connect

    config = written(name)
    async with connect(config.servers, config.tools) as server:
        return await probe(server, seed, config.scenarios.probe_calls)


def main() -> None:
    """Probe the servers one after another; a line for each, and for each tool that was not reached."""
    from support.bar_servers import WRITTEN

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=WRITTEN, metavar="NAME", default=WRITTEN)
    parser.add_argument("--written", type=int, metavar="N", help="draw so many of the written servers instead")
    parser.add_argument("--seed", type=int, default=3)
    options = parser.parse_args()
    names = random.Random(options.seed).sample(WRITTEN, options.written) if options.written else options.only
    tools = reached = below = 0
    for name in names:
        began = time.perf_counter()
        known = asyncio.run(probed(name, options.seed))
        missed = [tool for tool in known.tools if not known.working.get(tool)]
        here = len(known.tools) - len(missed)
        tools, reached, below = tools + len(known.tools), reached + here, below + (here < BAR * len(known.tools))
        print(f"{name}: {here} of {len(known.tools)} tools, {time.perf_counter() - began:.0f} s")
        for tool in missed:
            print(f"    {tool}: {known.attempts[tool].told if tool in known.attempts else 'not called'}", flush=True)
    print(f"{reached} of {tools} tools of {len(names)} servers; {below} servers are below {BAR:.0%}")


if __name__ == "__main__":
    main()
