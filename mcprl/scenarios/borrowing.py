"""Texts of other things for a write that takes texts, so that what is noted reads like what is noted already."""

from collections.abc import Callable, Sequence

from mcprl.scenarios.probing.knowledge import Knowledge, State
from mcprl.scenarios.slots import Slot
from mcprl.servers.effects import is_read
from mcprl.text import stems
from mcprl.types import Scalar


def borrowed(
    known: Knowledge, slot: Slot, state: State, given: Sequence[Scalar], allowed: Callable[[Scalar], bool]
) -> list[str]:
    """Texts that stand under the slot's name in results, such as observations for the contents of observations: those
    of things that are of one type with what is `given` already. If that type is known and none has any, there are none.
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
    return alike if alike or typed else texts
