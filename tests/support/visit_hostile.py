"""Connect to the server at a URL, call `go` and probe it: `python visit_hostile.py URL`.

Prints as JSON what the call gave, how much memory the process grew by (MiB), and how long the event loop stood still
at most (seconds).
"""

import json
import resource
import sys
import time
from typing import Any

import anyio

from mcprl.config import ServerConfig
from mcprl.errors import ServerError
from mcprl.scenarios.probing.probe import probe
from mcprl.servers.server import connect


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def visit(url: str) -> dict[str, Any]:
    gaps: list[float] = [0.0]
    told: dict[str, Any] = {}

    async def beat() -> None:
        while True:
            start = time.monotonic()
            await anyio.sleep(0.01)
            gaps.append(time.monotonic() - start)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(beat)
        try:
            async with connect([ServerConfig(target=url, timeout_s=6.0)]) as server:
                told["tools"] = len(server.tools)
                told["notes"] = list(server.describe()[0].notes)
                name = server.tools[0].name if server.tools else "go"
                async with server.session() as session:
                    result = await session.call(name, {})
                told |= {"is_error": result.is_error, "text": result.text[:200]}
                if len(server.tools) <= 3:
                    await probe(server, 0, 20)
        except ServerError as error:
            told["error"] = str(error)
        tasks.cancel_scope.cancel()
    return told | {"stood_still_s": round(max(gaps), 2)}


before = peak()
began = time.monotonic()
met = anyio.run(visit, sys.argv[1])
met |= {"grew_mib": round(peak() - before), "took_s": round(time.monotonic() - began, 2)}
sys.stdout.write(json.dumps(met))
