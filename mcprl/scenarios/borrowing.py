"""Texts of other things for a write that takes texts, so that what is noted reads like what is noted already."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mcprl.scenarios.probing.knowledge import Knowledge, State
from mcprl.scenarios.probing.sources import Source
from mcprl.scenarios.slots import Slot
from mcprl.servers.effects import is_read
from mcprl.text import stems, words
from mcprl.types import Scalar


def borrowed(
    known: Knowledge, slot: Slot, state: State, given: Sequence[Scalar], allowed: Callable[[Scalar], bool]
) -> list[str] | None:
    """Texts that stand under the slot's name in results, such as observations for the contents of observations: those
    of things that are of one type with what is `given` already, none if these have
    none; those of all things if that type is not known. `None` if there is no text at all.
    """
    named = {stem for part in slot.path if isinstance(part, str) for stem in stems(part)}
    places = {**known.base.pool, **state.pool}
    reading = {name for name, tool in known.tools.items() if is_read(tool)}
    texts = [
        value
        for source, values in places.items()
        if source[0] == "from" and len(source) > 2 and source[1] in reading and {*stems(source[-1])} & named
        for value in values
        if isinstance(value, str) and allowed(value) and 2 <= len(value.split()) <= 8
    ]
    alike = [text for text in texts if any(known.records.kin(text, value) for value in given)]
    typed = any(True for value in given for _ in known.records.holding(value))
    return alike if typed else texts or None


def sort_of(picked: Mapping[Slot, tuple[Source, Any]]) -> str:
    """The type that a new thing is to have, empty if none is given."""
    sorts = (value for slot, (_, value) in picked.items() if {*words(slot.key)} & {"type", "kind", "category", "sort"})
    return next((value for value in sorts if isinstance(value, str)), "")
