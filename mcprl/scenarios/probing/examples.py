"""The calls that probing made: successful ones as examples, and how many of each tool worked, and why others not."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcprl.judges.checks import leaves
from mcprl.servers.protocol import ASKED_BACK
from mcprl.text import compact
from mcprl.types import ToolResult

MOST_EXAMPLES = 40
"""Examples kept of one tool."""
_REASON_LENGTH = 100
_TELLS = re.compile(r"error|message|reason|detail|not found|invalid", re.IGNORECASE)


@dataclass(frozen=True)
class Example:
    """A successful call of a tool, and its result."""

    arguments: dict[str, Any]
    result: ToolResult


@dataclass
class Attempts:
    """The calls of one tool while probing: how many were `made`, how many `worked`, the `reason` of the last failure as
    one line, or what the server asked back for in a call, and the names of the sources whose values worked.
    """

    made: int = 0
    worked: int = 0
    reason: str = ""
    sources: list[str] = field(default_factory=list[str])

    def count(self, result: ToolResult, worked: bool) -> None:
        """Count a call with its result."""
        self.made += 1
        self.worked += worked
        if not worked:
            text = " ".join(message_of(result).split()) or "an empty result"
            asked = next((said for said in ASKED_BACK.values() if said in result.text), "")
            if not asked and self.reason in ASKED_BACK.values():
                return  # that call came further: this one was refused for its values
            text = asked or text
            self.reason = text[:_REASON_LENGTH] + "..." * (len(text) > _REASON_LENGTH)

    @property
    def told(self) -> str:
        """Why no task uses the tool, if no call of it worked."""
        if not self.made:
            return "not called while probing"
        return f"nothing worked that was called while probing ({self.made}): {self.reason}"

    def take_back(self, result: ToolResult) -> None:
        """Count a call that had counted as working as a failed one."""
        self.made -= 1
        self.worked -= 1
        self.count(result, False)


def message_of(result: ToolResult) -> str:
    """What a failed result says: the longest of its texts that speak of an error, else its text."""
    if not isinstance(result.structured, Mapping):
        return result.text
    told = [str(leaf) for path, leaf in leaves(result.structured) if _TELLS.search(f"{path[-1]} {leaf}") and leaf]
    return next((text for text in told if " " in text), result.text)


def add_example(examples: list[Example], arguments: Mapping[str, Any], result: ToolResult) -> None:
    """Add a call to the examples of its tool, unless a call with the same arguments is among them.

    If there are `MOST_EXAMPLES`, the one whose result is most like another's gives way: the same text first, then the
    shortest.
    """
    if any(example.arguments == arguments for example in examples):
        return
    examples.append(Example(json.loads(compact(dict(arguments))), result))
    if len(examples) > MOST_EXAMPLES:
        examples.remove(_least_informative(examples))


def _least_informative(examples: Sequence[Example]) -> Example:
    """The last example whose text another has as well, else the one with the shortest text; never the first one."""
    seen: set[str] = {examples[0].result.text}
    for example in examples[1:]:
        if example.result.text in seen:
            return example
        seen.add(example.result.text)
    return min(examples[1:], key=_length)


def _length(example: Example) -> int:
    return len(example.result.text)
