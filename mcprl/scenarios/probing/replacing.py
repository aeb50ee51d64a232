"""Tools that replace a text in a file, and the text that they replace: a line of a file that was read."""

import random
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from mcprl.judges.checks import leaves
from mcprl.scenarios.parameters import READING, is_replaced
from mcprl.scenarios.probing.knowledge import Knowledge
from mcprl.scenarios.probing.paths import takes_path
from mcprl.scenarios.slots import Slot
from mcprl.servers.effects import is_read
from mcprl.text import words
from mcprl.types import Scalar, Tool

_LONGEST = 80
_TEXTS = frozenset("text str string content line lines snippet old new find search replace replacement".split())


class Replacement(NamedTuple):
    """The parameters of a tool that replaces a text in a file."""

    path: Slot
    old: Slot
    new: Slot


def replacement(tool: Tool, slots: Sequence[Slot]) -> Replacement | None:
    """The parameters of a tool that replaces a text in a file and needs nothing else; `None` for other tools, such as
    one that takes an old and a new path.
    """
    path = next((slot for slot in slots if slot.required and takes_path(slot)), None)
    texts = [slot for slot in slots if slot.kind == "string" and slot is not path and {*words(slot.key)} <= _TEXTS]
    pairs = [(old, new) for old in texts for new in texts if is_replaced(old.key, new.key)]
    if is_read(tool) or path is None or not pairs or {slot for slot in slots if slot.required} - {path, *pairs[0]}:
        return None
    return Replacement(path, *pairs[0])


def old_text(known: Knowledge, tool: Tool, rng: random.Random) -> dict[Slot, Scalar]:
    """For a tool that replaces a text in a file: the path of a file that was read and a line of it. Empty for others,
    and if none was read."""
    replaced = replacement(tool, known.slots[tool.name])
    if replaced is None:
        return {}
    lines: list[tuple[str, str]] = []
    for name, examples in known.examples.items():
        for example in examples if {*words(name)} & READING else ():
            arguments = [value for _, value in leaves(example.arguments)]
            if len(arguments) != 1 or not isinstance(path := arguments[0], str) or not PurePosixPath(path).suffix:
                continue
            text = example.result.text
            own = [line.strip() for line in text.splitlines()]
            lines += [(path, line) for line in own if 3 < len(line) <= _LONGEST and text.count(line) == 1]
    if not lines:
        return {}
    path, line = rng.choice(lines)
    return {replaced.path: path, replaced.old: line}
