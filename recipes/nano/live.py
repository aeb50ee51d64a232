"""Requests that people typed: those of BFCL's live categories, each with its tools and the call that answers it.

They are the only lines of a starter that no generator of ours worded. `mcprl setup bench bfcl` fetches them. What
shares the name of a tool with BFCL's other categories is left out, so that those stay tasks about tools never seen.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from random import Random

from practice import Talk

from mcprl.benches import Task
from mcprl.benches.bfcl import MULTI_TURN, STATIC, Bfcl
from mcprl.scenarios.wording.answers import DECLINED
from mcprl.text import stems
from mcprl.types import Message, Tool

CALLED, DECLINING = ("live_simple", "live_multiple", "live_parallel"), ("live_irrelevance",)
TOGETHER = 3
"""Requests with the same tools that a step learns, at most: their tools are read once."""
FEWEST = 4
"""Tools that requests are shown with, at least: of a single one nothing is chosen."""
EVERY_HELD_OUT = 12
"""Of so many sets of tools one is never trained on."""

Asked = tuple[Task, Message | None]
"""A request and the calls that answer it; None where no tool serves it."""


def requests(rng: Random, calls: int, declined: int, held_out: bool = False) -> Iterator[tuple[Sequence[Tool], Talk]]:
    """What was asked of so many sets of tools that serve it, and of so many that do not, each with the tools shown."""
    served, unserved = known(held_out)
    for asked in (*rng.sample(served, calls), *rng.sample(unserved, declined)):
        tools = _among_others(asked[0][0].tools, rng)
        for task, reply in rng.sample(asked, min(TOGETHER, len(asked))):
            message = reply or {"role": "assistant", "content": rng.choice(DECLINED)}
            yield tools, ("live", (*task.messages[0], message))


@cache
def known(held_out: bool) -> tuple[list[list[Asked]], list[list[Asked]]]:
    """All that was asked, by the tools: what they serve, and what they do not."""
    bench = Bfcl()
    others = {tool.name for name in (*STATIC, *MULTI_TURN) if "live" not in name for tool in _tools(bench, name)}

    def by_tools(categories: Sequence[str]) -> list[list[Asked]]:
        sets: dict[str, list[Asked]] = {}
        for task in (task for category in categories for task in bench.tasks(category)):
            names = " ".join(sorted(tool.name for tool in task.tools))
            if _usable(task, others) and (Random(names).randrange(EVERY_HELD_OUT) == 0) == held_out:
                sets.setdefault(names, []).append((task, _reply(bench, task)))
        return list(sets.values())

    return by_tools(CALLED), by_tools(DECLINING)


def _tools(bench: Bfcl, category: str) -> Iterator[Tool]:
    for task in bench.tasks(category):
        yield from task.tools


def _usable(task: Task, others: set[str]) -> bool:
    """Whether a request is one message in English to tools that no other category has."""
    [messages] = task.messages
    english = all(message["content"].isascii() for message in messages)
    return bool(task.tools) and len(messages) == 1 and english and others.isdisjoint(tool.name for tool in task.tools)


def _reply(bench: Bfcl, task: Task) -> Message | None:
    if task.category in DECLINING:
        return None
    [[calls]] = bench.gold(task).turns
    made = [
        {"type": "function", "id": f"call_{at}", "function": {"name": call.tool, "arguments": call.arguments}}
        for at, call in enumerate(calls)
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def _among_others(tools: Sequence[Tool], rng: Random) -> list[Tool]:
    """The tools among those of other requests, where they are few; none of the others has a word in common."""
    shown = list(tools)
    for [(task, _), *_] in rng.sample(known(False)[0], 8):
        other, known = rng.choice(task.tools), {stem for tool in shown for stem in stems(tool.name)}
        if len(shown) < FEWEST and known.isdisjoint(stems(f"{other.name} {other.description}")):
            shown.append(other)
    rng.shuffle(shown)
    return shown
