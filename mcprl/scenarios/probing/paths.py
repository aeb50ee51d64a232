"""Paths found by listing: the path that a tool was called with, joined with the names that its result lists."""

import re
from collections.abc import Mapping
from typing import Any

from mcprl.judges.checks import leaves
from mcprl.scenarios.fields import record_of
from mcprl.scenarios.parameters import READING
from mcprl.scenarios.probing.tokens import short_lines
from mcprl.scenarios.probing.values import known_format
from mcprl.scenarios.slots import Slot
from mcprl.text import words
from mcprl.types import ToolResult

_MOST = 40
_NAME = re.compile(r"[\w.@+()-](?:[\w .@+()-]{0,60}[\w.@+()-])?")


def takes_path(slot: Slot) -> bool:
    """Whether the slot takes the path of a file or folder."""
    return slot.kind == "string" and known_format(slot) in ("path", "folder")


def inner_paths(picked: Mapping[Slot, Any], result: ToolResult) -> list[str]:
    """The paths of the things that a listing of a folder names; empty if the call has no path or its result is no
    listing.

    Names that do not exist are among them, since a listing has other words too.
    """
    folders = [str(value) for slot, (_, value) in picked.items() if takes_path(slot)]
    if len(folders) != 1 or not re.search(r"/|^\.$", folders[0]):
        return []
    if any({*words(slot.tool)} & READING for slot in picked):
        return []  # what a file holds are no files
    if result.structured is not None:
        names = [
            str(leaf) for path, leaf in leaves(record_of(result)) if path[-1:] in (("name",), ("path",), ("file",))
        ]
    else:
        names = short_lines(result.text)
    names = [re.sub(r"\s{2,}.*$", "", name) for name in names]
    folder = "" if folders[0] == "." else folders[0].rstrip("/") + "/"
    return [folder + name for name in dict.fromkeys(names) if _NAME.fullmatch(name)][:_MOST]


def joined(folder: str, name: str) -> str:
    """A new path inside a folder."""
    return f"{folder.rstrip('/')}/{name}"


def folder_of(path: object) -> str:
    """The folder that a path is in; `.` if it names none."""
    return str(path).rpartition("/")[0] or "."
