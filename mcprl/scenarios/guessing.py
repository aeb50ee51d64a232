"""What tells too little: what a tool works out alike for most arguments, and a text that was made up for a write."""

from collections import Counter

from mcprl.scenarios.fields import record_of, scalars
from mcprl.scenarios.parameters import is_search
from mcprl.scenarios.probing.knowledge import Knowledge
from mcprl.scenarios.probing.results import takes_path
from mcprl.scenarios.probing.values import known_format
from mcprl.scenarios.slots import Slot
from mcprl.scenarios.steps import Field
from mcprl.text import words
from mcprl.types import Scalar

_LEAST = 4
"""Examples that show whether a field varies."""
_ALIKE = 0.6
"""The share of equal values from which on a guess is too good: what day it is in most places on earth."""


def is_constant(known: Knowledge, tool: str, key: str) -> bool:
    """Whether all examples of a tool, four at least, have the same value in a field: it tells nothing of a thing."""
    seen = _seen(known, tool, key)
    return len(seen) >= _LEAST and len({*seen}) == 1


def is_guessable(known: Knowledge, tool: str, entry: Field) -> bool:
    """Whether most examples of a tool have the same value in a field. An answer to it would prove no call."""
    seen = _seen(known, tool, entry.attribute.key)
    return len(seen) >= _LEAST and Counter(seen).most_common(1)[0][1] > _ALIKE * len(seen)


def _seen(known: Knowledge, tool: str, key: str) -> list[str]:
    """The values of a field in a tool's examples."""
    records = (record_of(example.result) for example in known.examples.get(tool, ()))
    return [str(value) for record in records for path, value in scalars(record) if path[-1] == key]


_NEAR = 0.5
_WRITTEN = frozenset(
    "title name label note message text content body comment description subject summary reason topic caption".split()
)
"""Words of parameters whose text anybody makes up."""


def is_anchored(known: Knowledge, slot: Slot, value: Scalar) -> bool:
    """Whether a text is one that the slot is known to take, and none that was made up or stood anywhere: a choice, an
    example, a format, or what results hold under a name like the slot's."""
    free = known_format(slot) == "name" or (known_format(slot) == "sentence" and is_search(slot))
    if not isinstance(value, str) or slot.choices or not free:
        return True
    return _is_known(known, slot, value)


def is_made_up(known: Knowledge, slot: Slot, value: Scalar) -> bool:
    """Whether a write takes a text that nobody would give it: a sentence as an alignment, a name as a query."""
    free = isinstance(value, str) and not slot.choices and known_format(slot) in ("name", "sentence")
    return free and not {*words(slot.key)} & _WRITTEN and not _is_known(known, slot, value)


def _is_known(known: Knowledge, slot: Slot, value: Scalar) -> bool:
    if str(value) in map(str, known.shown_for(slot)) or known.is_setting(slot) or takes_path(slot):
        return True
    near = (source for source in known.places_of(slot) if known.affinity(slot, source) >= _NEAR)
    return any(str(value) in map(str, known.base.pool.get(source, ())) for source in near)
