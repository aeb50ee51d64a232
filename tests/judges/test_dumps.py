"""What an answer says beside the value that was asked for: a dump of the results, a retraction, a rival."""

import json
from typing import Any

import pytest

from mcprl.judges.dumps import dumped
from mcprl.judges.facts import Asked, misses
from mcprl.judges.mentions import read
from mcprl.types import Fact, ToolResult


def test_what_was_counted_may_follow_whatever_kind_it_is_of() -> None:
    rows = [{"name": "archive", "type": "folder"}, {"name": "a.txt", "type": "file"}, {"name": "b.txt", "type": "file"}]
    count = Fact(3, "number", "count", derived=True)
    answer = read("3: archive (with one file), a.txt and b.txt")
    assert not dumped(answer, (count,), "How many things are there?", [ToolResult(json.dumps(rows), rows)])
    whole = read("The name is archive, the type is folder. The name is a.txt, a file of 3. The name is b.txt, a file.")
    rows = [{**row, "size": "3"} for row in rows]
    assert dumped(whole, (count,), "How many things are there?", [ToolResult(json.dumps(rows), rows)])


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
    request = "Which one is the cheapest?" if fact is CHEAPEST else "Where does C-29 live?"
    assert (not dumped(read(answer), (fact,), request, [ToolResult(json.dumps(rows), rows)])) is right


def test_the_lines_of_a_text_are_a_list_and_the_fields_of_a_record_are_none() -> None:
    request = "Which one is the cheapest?"
    lines = "Oak Shelf, 12.50\nElm Bench, 14\nAsh Stool, 19.90"
    told = read("There are the Oak Shelf, the Elm Bench and the Ash Stool.")
    assert dumped(told, (CHEAPEST,), request, [ToolResult(lines)])
    fields = "Name: Oak Shelf\nBrand: Elm Bench\nMaker: Ash Stool"
    assert not dumped(told, (CHEAPEST,), request, [ToolResult(fields)])


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
        ("It is one of these: Lyon, Ghent. One of them is it.", False),
    ],
)
def test_a_value_that_is_taken_back_or_doubled_is_no_answer(answer: str, right: bool) -> None:
    assert (not misses(answer, CITY, Asked("Where does she live?", (CITY,)))) is right


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
    assert (not any(misses(answer, fact, asked) for fact in both)) is right
