"""Tools that work something out of their arguments, found by what they do: `add(a, b)`, `convert_length(...)`.

An unmarked tool whose name says nothing of reading is called in a session that may be spoilt, each time twice. If the
same arguments always give the same result, others give another, and each result has a value that the arguments do not
hold, it is a function. A name that tells of a deed needs more: arguments of numbers and choices alone, and a number as
the result, as `add` and `multiply` have them.
"""

import random
from collections.abc import Collection
from dataclasses import replace

from mcprl.judges.checks import leaves, squash
from mcprl.scenarios.fields import record_of
from mcprl.scenarios.probing.draws import Penalties, draw_write
from mcprl.scenarios.probing.knowledge import Knowledge
from mcprl.scenarios.probing.reading import SLOW_S
from mcprl.scenarios.probing.visits import Visit
from mcprl.scenarios.slots import build
from mcprl.servers.effects import is_read
from mcprl.servers.proposals import propose
from mcprl.types import Scalar, Tool, ToolResult

_MOST_DRAWS = 8
_ENOUGH = 3
"""Different arguments with different results after which a tool is a function."""


async def find_functions(
    known: Knowledge, unmarked: Collection[str], session: Visit, rng: random.Random, most: int
) -> None:
    """Mark the functions among the `unmarked` tools of `known` as read-only, in at most `most` calls."""
    doubtful = [tool for tool in known.tools.values() if tool.name in unmarked and _may_compute(known, tool)]
    for tool in doubtful:
        share = min(2 * _MOST_DRAWS, most // len(doubtful))
        if await _is_function(known, tool, session, rng, share):
            known.tools[tool.name] = replace(tool, read_only=True, destructive=False)
            known.functions.add(tool.name)


def _may_compute(known: Knowledge, tool: Tool) -> bool:
    slots = known.slots[tool.name]
    if is_read(tool) or not any(slot.required for slot in slots):
        return False
    return propose(tool) == "unknown" or _takes_numbers(known, tool)


def _takes_numbers(known: Knowledge, tool: Tool) -> bool:
    """Whether all that the tool needs are numbers and choices, a number at least among them."""
    needed = [slot for slot in known.slots[tool.name] if slot.required]
    numbers = [slot for slot in needed if slot.kind in ("integer", "number")]
    return bool(numbers) and all(slot in numbers or slot.choices for slot in needed)


async def _is_function(known: Knowledge, tool: Tool, session: Visit, rng: random.Random, most: int) -> bool:
    needed = [slot for slot in known.slots[tool.name] if slot.required]
    answers: dict[str, str] = {}
    for attempt in range(most // 2):
        draw = draw_write(known, tool, needed, known.base, rng, attempt, Penalties())
        arguments = build({slot.path: value for slot, (_, value) in draw.picked.items()})
        first = await session.call(tool.name, arguments)
        if first.is_error or first.latency_s > SLOW_S:
            continue
        again = await session.call(tool.name, arguments)
        found = _worked_out(first, [value for _, value in draw.picked.values()], propose(tool) != "unknown")
        if again.text != first.text:
            return False
        if not found:
            continue  # a metre in metres
        answers[str(arguments)] = found
        if len({*answers.values()}) >= _ENOUGH:
            return True
    return False


def _worked_out(result: ToolResult, given: list[Scalar], number: bool) -> str:
    """What a result has that its arguments do not hold; only numbers if `number`. Empty if there is nothing."""
    record = record_of(result)
    held = [leaf for _, leaf in leaves(record)] if record is not None else [result.text]
    told = {squash(str(value)) for value in given}
    new = [leaf for leaf in held if leaf is not None and squash(str(leaf)) not in told and not isinstance(leaf, bool)]
    if number:
        new = [leaf for leaf in new if _is_number(leaf)] if len(held) == 1 else []
    return " ".join(str(leaf) for leaf in new)


def _is_number(value: Scalar) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
