"""docs/from-art.md: every name and parameter that it claims is there, and what it calls absent is absent."""

import inspect
import re
from functools import reduce
from typing import Any

import pytest
from support.paths import ROOT

import mcprl

ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "from-art.md").read_text().splitlines()
    if line.startswith("| ") and not line.startswith("| ART")
]
CALL = re.compile(r"`mcprl\.(?P<name>[\w.]+)(?:\((?P<parameters>[^`]*)\))?`")


def looked_up(name: str) -> Any:
    return reduce(getattr, name.split("."), mcprl)


def test_the_table_has_rows_of_three_kinds() -> None:
    assert len(ROWS) > 25
    assert {how for _, how, _ in ROWS} == {"same", "other", "absent"}


@pytest.mark.parametrize(("art", "how", "ours"), ROWS, ids=[row[0][:40] for row in ROWS])
def test_what_the_table_says_is_so(art: str, how: str, ours: str) -> None:
    calls = list(CALL.finditer(ours))
    assert bool(calls) == (how != "absent")
    for call in calls:
        found = looked_up(call["name"])
        wanted = {part.strip() for part in (call["parameters"] or "").split("=,") if part.strip()}
        if wanted:
            assert {name.rstrip("=") for name in wanted} <= {*inspect.signature(found).parameters}
    for name in re.findall(r"`(?:art\.)?(\w+)", art) if how == "absent" else ():
        assert not hasattr(mcprl, name)
        assert not hasattr(mcprl.Trajectory, name)
    if how == "same":
        theirs = [name.rpartition(".")[2] for name in re.findall(r"`([\w.]+)", art)]
        assert theirs == [call["name"].rpartition(".")[2] for call in calls[: len(theirs)]]
