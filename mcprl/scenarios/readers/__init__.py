"""Any text result as data: JSON, tables, lists, pairs, and what single programs print (`programs`).

Wrong structure is worse than none: a text that no reader is sure of is left as it is.
"""

import re

from mcprl.scenarios.readers.blocks import read_blocks
from mcprl.scenarios.readers.lists import read_list
from mcprl.scenarios.readers.programs import PROGRAMS
from mcprl.scenarios.readers.spelled import read_spelled, read_yaml
from mcprl.scenarios.readers.tables import read_aligned, read_barred, read_separated
from mcprl.servers.digest import is_small, plain
from mcprl.types import Json

__all__ = ["read_text"]

LONGEST = 200_000
"""How many characters of a text are read."""
MOST_LINES = 4_000
"""How many lines of a text that is not spelled in a language of its own are read."""

_WIDEST = 120
_WIDE = re.compile(rf"[^\S\n]{{{_WIDEST},}}")  # the readers' patterns may look at a run of blanks more than once
_FENCE = re.compile(r"^[ \t]*```([\w+-]*)[ \t]*\n(.*?)^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL)
_READERS = (
    *PROGRAMS,
    read_barred,
    read_separated,
    read_yaml,
    read_blocks,
    read_aligned,
    read_list,
)


def read_text(text: str) -> Json:
    """A text as a list of records, one record, or a list of scalars; `None` if it is prose, code or one value.

    Scalars are typed: numbers and booleans are such, absent values are left out, dates, money and measures stay text.
    Cells without a name are called `column 0`, `column 1` and so on. Words before and behind the data are left out.
    """
    text = text[:LONGEST].replace("\r\n", "\n").replace("\x00", "")
    value = _read_fenced(text)
    return plain(value) if is_small(value) else None


def _read_fenced(text: str) -> Json:
    """What stands between fences, if that can be read, else what stands outside."""
    if "```" in text:
        for _, inner in _FENCE.findall(text):
            if (value := _read(inner)) is not None:
                return value
        text = _FENCE.sub("", text)
    return _read(text)


def _read(text: str) -> Json:
    if value := read_spelled(text):
        return value
    text = _WIDE.sub(" " * _WIDEST, "\n".join(text.splitlines()[:MOST_LINES]))
    if not text.strip():
        return None
    for reader in _READERS:
        value = reader(text)
        if value:
            return value
    return None
