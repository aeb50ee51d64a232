"""Whether what a tool works out could be guessed: it comes out alike for most arguments."""

from collections import Counter

from mcprl.scenarios.fields import record_of, scalars
from mcprl.scenarios.probing.knowledge import Knowledge
from mcprl.scenarios.steps import Field

_LEAST = 4
"""Examples that show whether a field varies."""
_ALIKE = 0.6
"""The share of equal values from which on a guess is too good: what day it is in most places on earth."""


def is_guessable(known: Knowledge, tool: str, entry: Field) -> bool:
    """Whether most examples of a tool have the same value in a field. An answer to it would prove no call."""
    seen = [
        str(value)
        for example in known.examples.get(tool, ())
        for path, value in scalars(record_of(example.result))
        if path[-1] == entry.attribute.key
    ]
    return len(seen) >= _LEAST and Counter(seen).most_common(1)[0][1] > _ALIKE * len(seen)
