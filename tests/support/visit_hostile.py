"""Connect to a server, call a tool and probe it: `python visit_hostile.py TARGET [TOOL [ARGUMENTS]]`.

Prints as JSON what the call gave, how much memory the process grew by (MiB), how long the event loop stood still at
most and what the visit took (seconds), and the size of the log (KiB).
"""

import json
import resource
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio

from mcprl.config import ServerConfig, ToolPolicy
from mcprl.errors import ServerError
from mcprl.scenarios.probing.probe import probe
from mcprl.servers.server import connect

TARGET, TOOL, ARGUMENTS = (*sys.argv[1:], "", "")[:3]


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def visit(log: Path) -> dict[str, Any]:
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
            config = ServerConfig(target=TARGET, timeout_s=6.0, processes=2)
            async with connect([config], ToolPolicy(sandbox=True), log=log) as server:
                told["tools"] = len(server.tools)
                told["notes"] = list(server.describe()[0].notes)
                async with server.session() as session:
                    name = TOOL or (server.tools[0].name if server.tools else "go")
                    result = await session.call(name, json.loads(ARGUMENTS or "{}"))
                told |= {"is_error": result.is_error, "text": result.text[:200]}
                if len(server.tools) <= 3:
                    await probe(server, 0, 20)
        except ServerError as error:
            told["error"] = str(error)
        tasks.cancel_scope.cancel()
    return told | {"stood_still_s": round(max(gaps), 2)}


before = peak()
began = time.monotonic()
with TemporaryDirectory() as folder:
    met = anyio.run(visit, Path(folder) / "server.log")
    met["log_kib"] = round(sum(path.stat().st_size for path in Path(folder).iterdir()) / 1024)
met |= {"grew_mib": round(peak() - before), "took_s": round(time.monotonic() - began, 2)}
sys.stdout.write(json.dumps(met))
