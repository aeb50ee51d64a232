"""Many MCP sessions at once over HTTP against one server on loopback: is a call lost, and what does one cost?

    python benchmarks/sessions.py --sessions 1,64,512,2000

Each session changes an order and reads orders, so it needs an MCP session of its own (the state rule of
`mcprl/servers/pool.py`). The last read must show the session's own change. Prints, for each number of sessions,

- the calls that were lost (an error, or another session's state), and the seconds in all;
- the median and the 99th percentile of a call's time as the caller sees it, while all sessions call at once;
- the client's processor time for a call, and so the rate at which its one core is full; the server's likewise;
- the memory that a session takes in the client and in the server.

Server and client are a process each, and share the machine: with two cores neither waits for the other's.
"""

import argparse
import json
import socket
import subprocess
import sys
import time
from statistics import quantiles
from typing import Any

import anyio
import psutil

from mcprl.config import ServerConfig, ToolPolicy
from mcprl.errors import McprlError
from mcprl.servers.server import Server, connect

READS = 4
"""Calls that read, of each session, after its one call that writes."""
STATUSES = ("open", "paid", "packed", "shipped", "delivered")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


async def one(server: Server, number: int, orders: list[str], took: list[float], lost: list[str]) -> None:
    """A session: change an order, read others, read it again."""
    mine, status = orders[number % len(orders)], STATUSES[number % len(STATUSES)]
    calls: list[tuple[str, dict[str, Any]]] = [("set_order_status", {"order_id": mine, "status": status})]
    calls += [("get_order", {"order_id": orders[(number + n) % len(orders)]}) for n in range(1, READS)]
    calls.append(("get_order", {"order_id": mine}))
    try:
        async with server.session() as session:
            for name, arguments in calls:
                began = time.perf_counter()
                result = await session.call(name, arguments)
                took.append(time.perf_counter() - began)
                if result.is_error:
                    lost.append(result.text)
            if json.loads(result.text)["status"] != status:  # pyright: ignore[reportPossiblyUnboundVariable]
                lost.append(f"session {number} reads another's status")
    except (McprlError, OSError) as error:
        lost.append(f"{type(error).__name__}: {error}")


async def measure(url: str, count: int, serving: psutil.Process) -> dict[str, Any]:
    """`count` sessions at once."""
    own = psutil.Process()
    target = ServerConfig(target=url, timeout_s=300)
    async with connect([target], ToolPolicy(allow=("get_order", "set_order_status"))) as server:
        orders = [f"O-{number}" for number in range(2043, 2107)]
        before = own.memory_info().rss, serving.memory_info().rss, cpu_s(own), cpu_s(serving)
        took: list[float] = []
        lost: list[str] = []
        began = time.perf_counter()
        peak = [0, 0]

        async def watch() -> None:
            while True:
                peak[0] = max(peak[0], own.memory_info().rss)
                peak[1] = max(peak[1], serving.memory_info().rss)
                await anyio.sleep(0.2)

        async with anyio.create_task_group() as watching:
            watching.start_soon(watch)
            async with anyio.create_task_group() as tasks:
                for number in range(count):
                    tasks.start_soon(one, server, number, orders, took, lost)
            watching.cancel_scope.cancel()
        seconds = time.perf_counter() - began
    calls = max(1, len(took))
    cuts = quantiles(took, n=100) if len(took) > 1 else [float("nan")] * 99
    client, its = (cpu_s(own) - before[2]) / calls, (cpu_s(serving) - before[3]) / calls
    return {
        "sessions": count,
        "calls": len(took),
        "lost": len(lost),
        "first_lost": lost[0][:200] if lost else "",
        "seconds": round(seconds, 2),
        "p50_ms": round(1000 * cuts[49], 1),
        "p99_ms": round(1000 * cuts[98], 1),
        "client_cpu_ms": round(1000 * client, 2),
        "client_full_at_calls_s": round(1 / client) if client else None,
        "server_cpu_ms": round(1000 * its, 2),
        "client_kib_a_session": round(max(0, peak[0] - before[0]) / 1024 / count),
        "server_kib_a_session": round(max(0, peak[1] - before[1]) / 1024 / count),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", default="1,64,512,2000", help="numbers of sessions, one after another")
    options = parser.parse_args()
    for count in map(int, options.sessions.split(",")):
        port = free_port()
        command = [sys.executable, "-m", "mcprl", "demo", "--serve", "--port", str(port)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                wait_for(port)
                serving = psutil.Process(process.pid)
                print(json.dumps(anyio.run(measure, f"http://127.0.0.1:{port}/mcp", count, serving)), flush=True)
            finally:
                process.terminate()


def wait_for(port: int) -> None:
    for _ in range(300):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise SystemExit(f"the server does not listen on port {port}")


if __name__ == "__main__":
    main()
