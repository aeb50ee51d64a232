"""Whether sessions share a state: reads in other sessions before and after writes."""

import re

from mcprl.scenarios.probing.examples import Example
from mcprl.scenarios.probing.knowledge import Knowledge
from mcprl.scenarios.probing.visits import Budget, Visit
from mcprl.types import ToolServer

_MOST_LOOKS = 12
_CLOCK = re.compile(r"(?:\b\w{3},? )?(?:\w{3} \d\d? \d{4}|\d{4}-\d\d-\d\d)[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?")
"""A moment: what a file system or a log says about now differs between sessions and proves no write."""
Look = tuple[str, Example]


async def look(server: ToolServer, known: Knowledge, budget: Budget) -> list[Look]:
    """Calls of different reads with the results of a fresh session: those that two sessions answer alike."""
    calls = [
        (name, examples[position])
        for position in (0, 1)
        for name, examples in known.examples.items()
        if len(examples) > position
    ]
    async with Visit(server, budget) as session:
        steady: list[Look] = []
        for name, example in calls[:_MOST_LOOKS]:
            result = await session.call(name, example.arguments)
            if without_moments(result.text) == without_moments(example.result.text):
                steady.append((name, Example(example.arguments, result)))
    return steady


async def seen_elsewhere(server: ToolServer, before: list[Look], budget: Budget) -> bool:
    """Whether a fresh session answers any of the calls differently than before the writes."""
    async with Visit(server, budget) as session:
        for name, example in before:
            if without_moments((await session.call(name, example.arguments)).text) != without_moments(
                example.result.text
            ):
                return True
    return False


def without_moments(text: str) -> str:
    """A result's text without its moments."""
    return _CLOCK.sub("", text)
