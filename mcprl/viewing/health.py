"""The health of a run's servers: how often each tool was called, how fast it answered, and what went wrong."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from mcprl.runs.journal import Journal
from mcprl.text import shortened

UNKNOWN: Final = "names that are no allowed tool's"


@dataclass
class _Calls:
    seconds: list[float] = field(default_factory=list[float])
    unread: int = 0
    errors: Counter[str] = field(default_factory=Counter[str])


@dataclass(frozen=True)
class ToolHealth:
    """A tool's calls in all rollouts. Latencies are in seconds, `unread` calls had arguments that were no JSON, and
    `errors` are the most frequent ones with their number."""

    name: str
    calls: int
    failed: float
    unread: int
    median_s: float
    p95_s: float
    slowest_s: float
    errors: Sequence[tuple[str, int]]


def health(journal: Journal) -> list[ToolHealth]:
    """Every tool that may be called, those that fail most often first, and at the end what was called in vain."""
    allowed = set(journal.fact("tools", []))
    found: defaultdict[str, _Calls] = defaultdict(_Calls, {name: _Calls() for name in allowed})
    for (body,) in journal.db.read("select body from trajectory where phase <> 'demonstration'"):
        for call in journal.db.json(body)["calls"]:
            calls, result = found[call["tool"] if call["tool"] in allowed else UNKNOWN], call["result"]
            calls.seconds.append(float(result["latency_s"]))
            calls.unread += call["arguments"] is None
            if result["is_error"]:
                calls.errors[shortened(" ".join(result["text"][:400].split()), 160)] += 1
    lines = [_line(name, calls) for name, calls in found.items()]
    return sorted(lines, key=lambda line: (line.name == UNKNOWN, -line.failed, line.name))


def _line(name: str, calls: _Calls) -> ToolHealth:
    ordered = sorted(calls.seconds) or [0.0]
    return ToolHealth(
        name=name,
        calls=len(calls.seconds),
        failed=calls.errors.total() / max(1, len(calls.seconds)),
        unread=calls.unread,
        median_s=ordered[len(ordered) // 2],
        p95_s=ordered[int(0.95 * (len(ordered) - 1))],
        slowest_s=ordered[-1],
        errors=calls.errors.most_common(3),
    )
