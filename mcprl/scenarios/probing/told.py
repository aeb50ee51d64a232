"""Values that texts tell: a tool's description by its examples, an error by what would have been right."""

import re
from collections.abc import Iterator, Sequence

from mcprl.scenarios.probing.sources import converted, listed
from mcprl.scenarios.slots import Slot
from mcprl.text import stems
from mcprl.types import Scalar, Tool

_EXAMPLES = re.compile(
    r"(?:\be\.g\.,?|\bsuch as|\bfor example,?|\bexamples?:|\bas in)\s*([^();]+?)(?=[();]|\.(?:\s|$)|$)"
)
_CODE = re.compile(r"(?<![\w-])(?!UTF|ISO|RFC|SHA|MD\d|HTTP)[A-Z]{1,4}(?:-[A-Z]{1,4})?-?\d{1,8}(?![\w-])")
_QUOTED = re.compile(r"(?<!\w)['`]([\w./@-]{2,30})['`](?!\w)")
_NEAR = 6
"""Words before an example that may say what it is of."""


def described(slot: Slot, tool: Tool, slots: Sequence[Slot]) -> list[Scalar]:
    """The values that a tool's description gives as examples of a slot: "One pair, e.g. P-31".

    They are of the slot whose name stands before them, else of the first of its kind among the tool's `slots`.
    """
    first = next((own for own in slots if own.kind == slot.kind and not own.choices), slot)
    found: list[Scalar] = []
    for before, value, sure in _examples(tool.description):
        own = converted(slot, value)
        near = list(stems(" ".join(before.split()[-_NEAR:])))[::-1]
        places = {other: min(map(near.index, {*near} & _telling(other)), default=_NEAR) for other in slots}
        nearest = min(slots, key=lambda other: places[other], default=slot)
        of = nearest if places.get(nearest, _NEAR) < _NEAR else first if sure else None
        if own is not None and slot == of and not (slot.kind == "string" and value.isdigit()):
            found.append(own)
    return list(dict.fromkeys(found))


def _telling(slot: Slot) -> set[str]:
    """The words of a slot's name that say what it is of."""
    return {*stems(slot.key)} - {"id", "no", "number", "name", "code"}


def _examples(text: str) -> Iterator[tuple[str, str, bool]]:
    """What a text gives as examples, each with what stands before it, and whether it is sure to be one: other quoted
    words may be anything."""
    for match in _EXAMPLES.finditer(text):
        for part in re.split(r",\s*|\s+or\s+", match[1]):
            value = part.strip(" '\"`“”")
            quoted = value != part.strip()
            if value and (quoted or (" " not in value and (re.search(r"\d", value) or "-" in value))):
                yield text[: match.start()], value, True
    for match in _QUOTED.finditer(text):
        yield text[: match.start()], match[1], False
    for match in _CODE.finditer(text):
        yield text[: match.start()], match[0], True


def offered(message: str, slots: Sequence[Slot]) -> list[str]:
    """The values that an error lists as the right ones: "No such branch; branches: main, release". The names of a
    tool's `slots` are none."""
    keys = {slot.key.casefold() for slot in slots}
    found = listed(message)
    return [] if keys & {value.casefold() for value in found} else found


def is_named(slot: Slot, value: object, message: str) -> bool:
    """Whether an error, in small letters, has the slot's name or its value."""
    text = str(value).casefold()
    return (len(text) > 2 and text in message) or bool(
        re.search(rf"(?<![a-z]){re.escape(slot.key.casefold())}", message)
    )
