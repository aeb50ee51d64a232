"""What an answer says beside the value that was asked for, held against the results."""

import json

import pytest

from mcprl.judges.mentions import read
from mcprl.judges.records import contradicted
from mcprl.judges.results import Evidence
from mcprl.judges.rivals import Asked
from mcprl.judges.roles import objection
from mcprl.types import CallRecord, Fact, Scenario, ToolResult

OLDEST = Fact("Ana", "name", "name")
ORDERS = [
    {"order": "O-17", "status": "delivered", "placed": "2026-03-01", "total": 12.5},
    {"order": "O-18", "status": "paid", "placed": "2026-03-09", "total": 20.0},
    {"order": "O-19", "status": "delivered", "placed": "2026-04-02", "total": 9.0},
]


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("O-17 from 1 March and O-18 from 9 March", True),
        ("O-17 and O-18, for 12.50 and 20.00", True),
        ("O-17 is delivered, O-18 is not.", True),
        ("O-17, 8 days before O-18 (not delivered yet)", True),
        ("O-17 is older than O-18, from 1 March.", True),
        ("O-17 from 9 March and O-18 from 1 March", False),
        ("| Order | Total |\n|---|---|\n| O-17 | 20.00 |\n| O-18 | 12.50 |", False),
        ("O-17 is not delivered yet.", False),
    ],
)
def test_what_an_answer_tells_of_things_is_what_the_results_tell_of_them(answer: str, right: bool) -> None:
    found = contradicted(read(answer), [ToolResult(json.dumps(ORDERS), ORDERS)])
    assert (not found) is right, found
    lines = "\n".join(f"order {row['order']}: {row['placed']}" for row in ORDERS)
    assert bool(contradicted(read(answer), [ToolResult(lines)])) is ("9 March and" in answer)


@pytest.mark.parametrize(("answer", "right"), [("Ana, on Friday.", True), ("Ana, followed by Bo.", True),
                                               ("Ana, followed by Cleo.", False)])  # fmt: skip
def test_a_name_beside_the_right_one_stands_in_a_result(answer: str, right: bool) -> None:
    asked = Asked("Who is the oldest?", (OLDEST,), holds=lambda value: value in ("ana", "bo"))
    assert (not objection(answer, OLDEST, asked)) is right


def test_what_was_counted_may_follow_whatever_kind_it_is_of() -> None:
    rows = [{"name": "archive", "type": "folder"}, {"name": "a.txt", "type": "file"}, {"name": "b.txt", "type": "file"}]
    count = Fact(3, "number", "count", derived=True)
    task = Scenario("s", "How many things are there?", (count,))
    evidence = Evidence([CallRecord(0, "list", {}, ToolResult(json.dumps(rows), rows))])
    assert not evidence.repeated("3: archive (with one file), a.txt and b.txt", task)
