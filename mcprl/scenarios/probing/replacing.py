"""The text that an editing tool replaces: a line of a file that was read."""

import random
from pathlib import PurePosixPath

from mcprl.judges.checks import leaves
from mcprl.scenarios.parameters import replacement
from mcprl.scenarios.probing.knowledge import Knowledge
from mcprl.scenarios.probing.paths import takes_path
from mcprl.scenarios.slots import Slot
from mcprl.scenarios.titles import READING
from mcprl.text import words
from mcprl.types import Scalar, Tool

_LONGEST = 80


def old_text(known: Knowledge, tool: Tool, rng: random.Random) -> dict[Slot, Scalar]:
    """For a tool that replaces a text in a file: the path of a file that was read and a line of it. Empty for others,
    and if none was read."""
    slots = known.slots[tool.name]
    pair, target = replacement(slots), next((slot for slot in slots if takes_path(slot)), None)
    read = [
        (example, list(leaves(example.arguments)))
        for name, examples in known.examples.items()
        if {*words(name)} & READING
        for example in examples
    ]
    lines = [
        (path, line)
        for example, arguments in (read if pair and target else [])
        if len(arguments) == 1 and isinstance(path := arguments[0][1], str) and PurePosixPath(path).suffix
        for line in map(str.strip, example.result.text.splitlines())
        if 3 < len(line) <= _LONGEST and example.result.text.count(line) == 1
    ]
    if pair is None or target is None or not lines:
        return {}
    path, line = rng.choice(lines)
    return {target: path, pair[0]: line}
