"""What an answer says beside the value that was asked for, held against the results."""

import json
from typing import Any

import pytest

from mcprl.judges.dumps import dumped
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
    assert not dumped("3: archive (with one file), a.txt and b.txt", (count,), task, evidence)


CITY = Fact("Lyon", "city", "place")
KIRA = {"id": "C-29", "name": "Kira Lindt", "city": "Lyon", "tier": "silver", "since": 2021}
PRICES = [
    {"name": "Oak Shelf", "price": 12.5},
    {"name": "Elm Bench", "price": 14},
    {"name": "Ash Stool", "price": 19.9},
]
CHEAPEST = Fact("Oak Shelf", "name", "name", derived=True)


@pytest.mark.parametrize(
    ("answer", "fact", "rows", "right"),
    [
        ("Kira Lindt lives in Lyon and has a silver tier since 2021.", CITY, KIRA, True),
        ("- Name: Kira Lindt\n- City: Lyon\n- Tier: silver\n- Since: 2021", CITY, KIRA, True),
        ("She lives in Lyon.\n" + json.dumps(KIRA), CITY, KIRA, True),
        ("Lyon (Kira Lindt, silver)", CITY, KIRA, True),
        (json.dumps(KIRA), CITY, KIRA, False),
        ("```json\n" + json.dumps(KIRA, indent=2) + "\n```", CITY, KIRA, False),
        ("Kira Lindt, Lyon, silver, 2021", CITY, KIRA, False),
        ("The cheapest is the Oak Shelf at 12.50.", CHEAPEST, PRICES, True),
        ("Oak Shelf is the cheapest, then Elm Bench (14) and Ash Stool (19.90).", CHEAPEST, PRICES, True),
        (
            "- Oak Shelf: 12.50\n- Elm Bench: 14\n- Ash Stool: 19.90\nThe cheapest is the Oak Shelf.",
            CHEAPEST,
            PRICES,
            True,
        ),
        ("It's the Oak Shelf. The Elm Bench and the Ash Stool cost 14 and 19.90.", CHEAPEST, PRICES, True),
        ("- Oak Shelf: 12.50\n- Elm Bench: 14\n- Ash Stool: 19.90", CHEAPEST, PRICES, False),
        ("We have the Oak Shelf at 12.50, the Elm Bench at 14 and the Ash Stool at 19.90.", CHEAPEST, PRICES, False),
        ("The Oak Shelf costs 12.50. The Elm Bench costs 14. The Ash Stool costs 19.90.", CHEAPEST, PRICES, False),
    ],
)
def test_true_values_beside_the_asked_one_are_no_dump_and_a_whole_list_or_a_raw_result_is(
    answer: str, fact: Fact, rows: Any, right: bool
) -> None:
    task = Scenario("s", "Which one is the cheapest?" if fact is CHEAPEST else "Where does C-29 live?", (fact,))
    evidence = Evidence([CallRecord(0, "get", {}, ToolResult(json.dumps(rows), rows))])
    assert (not dumped(answer, (fact,), task, evidence)) is right


def test_the_lines_of_a_text_are_a_list_and_the_fields_of_a_record_are_none() -> None:
    task = Scenario("s", "Which one is the cheapest?", (CHEAPEST,))
    lines = "Oak Shelf, 12.50\nElm Bench, 14\nAsh Stool, 19.90"
    told = "There are the Oak Shelf, the Elm Bench and the Ash Stool."
    assert dumped(told, (CHEAPEST,), task, Evidence([CallRecord(0, "list", {}, ToolResult(lines))]))
    fields = "Name: Oak Shelf\nBrand: Elm Bench\nMaker: Ash Stool"
    assert not dumped(told, (CHEAPEST,), task, Evidence([CallRecord(0, "get", {}, ToolResult(fields))]))


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("She lives in Lyon. She is not in Ghent.", True),
        ("She lives in Lyon. No problem, ask for more.", True),
        ("Lyon. Actually, she is the only one there.", True),
        ("She lives in Lyon. No, in Ghent.", False),
        ("Lyon - wait, no, Ghent.", False),
        ("She lives in Lyon. Sorry, no, it is Ghent.", False),
        ("She lives in Lyon. Actually, she lives in Ghent.", False),
        ("She lives in Lyon and in Ghent.", False),
        ("It is one of these: Lyon, Ghent. One of them is it.", False),
    ],
)
def test_a_value_that_is_taken_back_or_doubled_is_no_answer(answer: str, right: bool) -> None:
    asked = Asked("Where does she live?", (CITY,), holds=lambda value: value == "lyon")
    assert (not objection(answer, CITY, asked)) is right


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("63 of each.", True),
        ("SKU-1: 63, SKU-2: 63", True),
        ("We have 63 of both SKU-1 and SKU-2.", True),
        ("63 of SKU-1, and the other one the same", True),
        ("We have 63 of SKU-1.", False),
        ("There are 63 of SKU-2.", False),
    ],
)
def test_one_value_of_two_things_is_told_of_both(answer: str, right: bool) -> None:
    both = tuple(Fact(63, "units", "count", subject=sku) for sku in ("SKU-1", "SKU-2"))
    asked = Asked("How many of SKU-1 and SKU-2?", both)
    assert (not any(objection(answer, fact, asked) for fact in both)) is right
