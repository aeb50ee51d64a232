"""All hostile behaviours, and what a process that meets each goes through.

    PYTHONPATH=tests python -m support.hostile_table [NAME ...]

A line each: memory growth (MiB, at most 256), log (KiB, at most 1,024), how long the event loop stood still at most and
how long the visit took (seconds), and the one line that it ends with.
"""

import json
import os
import subprocess
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from support.loopback import http
from support.paths import SERVERS, TESTS

ENDLESS = """
    json capital-json event event-lines comments events error error-json error-events redirect redirect-events gzip
    gzip-events
""".split()
HUGE = ["bomb", "empty-blocks", "text-blocks", "deep", "huge-number", "huge-structured"]
MOST = """
    most-empty-blocks most-text-blocks most-objects most-strings most-keys most-json-text excerpts excerpts-that-end
    keys
""".split()
LISTINGS = ["many-tools", "many-nothings", "many-properties"]
SCHEMAS = """
    deep-schema recursive-schema laughs remote-ref self-ref regex long-regex deep-regex odd-schema output-regex
""".split()
STATUSES = ["page", "key", "401", "403", "404", "429", "500", "503", "echo-500", "echo-broken"]
OVER_HTTP = {"dies": ("none", "die", ""), "huge over HTTP": ("none", "huge", "")}
STDIO = {
    "stdio: exits at once": ("exit", "", ""),
    "stdio: mute": ("mute", "", ""),
    "stdio: floods stdout": ("flood", "value", ""),
    "stdio: dies in a call": ("", "crash", ""),
    "stdio: hangs in a call": ("", "sleep", '{"seconds": 99}'),
    "stdio: 100 MB reply": ("", "big", '{"n": 100000000}'),
    "stdio: exploding pattern": ("", "bomb", ""),
    "stdio: malformed tools": ("malformed", "value", ""),
    "stdio: same cursor": ("same-cursor", "value", ""),
    "stdio: endless pages": ("endless", "value", ""),
    "stdio: tools that change": ("changing.py", "get_price", ""),
}
BEHAVIOURS = [*ENDLESS, *HUGE, *MOST, *LISTINGS, *SCHEMAS, *STATUSES, *OVER_HTTP, *STDIO]


def visit(behaviour: str) -> dict[str, Any]:
    """What a process of its own met at a server with such a behaviour."""
    server: AbstractContextManager[str]
    if behaviour in STDIO:
        fault, tool, arguments = STDIO[behaviour]
        script = fault if fault.endswith(".py") else f"odd_stdio.py {fault}"
        server = nullcontext(f"{sys.executable} {SERVERS}/{script}")
    elif behaviour in STATUSES or behaviour in OVER_HTTP:
        fault, tool, arguments = OVER_HTTP.get(behaviour, (behaviour, "", ""))
        server = http([sys.executable, SERVERS / "odd_http.py", fault])
    else:
        tool = arguments = ""
        server = http([sys.executable, SERVERS / "hostile.py", behaviour])
    with server as target:
        command = [sys.executable, str(TESTS / "support" / "visit_hostile.py"), target, tool, arguments]
        paths = os.pathsep.join(filter(None, sys.path))
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=90, check=True, env={**os.environ, "PYTHONPATH": paths}
        )
    return json.loads(done.stdout)


def outcome(met: dict[str, Any]) -> str:
    return met.get("error") or ("error: " if met["is_error"] else "") + " ".join(met["text"].split())


if __name__ == "__main__":
    sys.stdout.write(f"{'behaviour':26} {'MiB':>5} {'log KiB':>8} {'still s':>8} {'took s':>7}  outcome\n")
    for name in sys.argv[1:] or BEHAVIOURS:
        seen = visit(name)
        figures = f"{seen['grew_mib']:5} {seen['log_kib']:8} {seen['stood_still_s']:8.2f} {seen['took_s']:7.1f}"
        sys.stdout.write(f"{name:26} {figures}  {outcome(seen)[:90]}\n")
        sys.stdout.flush()
