"""Overlap: wordings are compared without their values, and facts are found beside their entity, in any kind of text."""

import json

import pytest

from mcprl.runs.overlap import blanked, overlap, wording_overlap
from mcprl.types import Call, Fact, Message, Scenario, Suite


def task(
    request: str, *values: str, fact: str | float = "", suite: Suite = "entities", **arguments: object
) -> Scenario:
    checks = (Fact(fact, "price"),) if fact != "" else ()
    return Scenario(request, request, checks, (Call("get", arguments),), values=values, split="test", suite=suite)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (task("How much is the oak shelf?", "Oak Shelf"), task("how much is the lamp?", "lamp")),
        (task("Where is SKU-321?"), task("Where is sku-9-b?")),
        (task("When was 'O-7' placed, before 3 March 2026?"), task('When was "O-8" placed, before 2026-04-01?')),
        (
            task("Orders over $35.50 since March 8th, please"),
            task("Orders over EUR 7 since Jan 1, please".replace("EUR ", "€")),
        ),
        (task("Rename ./notes/a.md to b.txt"), task("Rename c.md to /tmp/d")),
        (task("Mail bob@example.org on Monday at 10:30"), task("Mail a.b@c.de on Friday at 9:15am")),
        (task("Mark O-1 as shipped.", status="shipped"), task("Mark O-2 as open.", status="open")),
    ],
)
def test_wordings_that_differ_only_in_values_are_one(one, other):
    assert blanked(one) == blanked(other)
    assert wording_overlap([one], [other]) == {"entities": (1, 1)}


def test_other_words_are_another_wording_and_each_suite_is_counted():
    train = [task("How much is the oak shelf?", "oak shelf")]
    test = [
        task("How much is the lamp?", "lamp"),
        task("hey, what does the lamp cost", "lamp", suite="forms"),
        task("May I have the price of the lamp?", "lamp", suite="forms"),
        task("How much is the desk?", "desk", suite="forms"),
    ]
    assert wording_overlap(test, train) == {"entities": (1, 1), "forms": (3, 1)}
    assert blanked(test[2]) == "may i have the price of the _?"


def test_a_long_name_without_digits_is_read_quickly():
    assert blanked(task("_".join(["word"] * 500) + "!")) == "_".join(["word"] * 500) + "!"


def conversation(result: str, **arguments: object) -> list[Message]:
    call = {"id": "c", "type": "function", "function": {"name": "get", "arguments": json.dumps(arguments)}}
    return [
        {"role": "user", "content": "What does SKU-1 cost?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": result},
    ]


ROWS = [{"sku": "SKU-1", "price": 12.5}, {"sku": "SKU-2", "price": 7}]


@pytest.mark.parametrize(
    "result",
    [
        json.dumps(ROWS),
        json.dumps({"page": 1, "products": ROWS}),
        json.dumps({"SKU-1": {"price": 12.5}, "SKU-2": {"price": 7}}),
        "sku | price\nSKU-1 | 12.50\nSKU-2 | 7",
        "SKU: SKU-1\nPrice: 12.50\n\nSKU: SKU-2\nPrice: 7",
    ],
)
def test_a_fact_counts_only_beside_its_entity(result):
    test = [
        task("What does SKU-1 cost?", "SKU-1", fact=12.5),
        task("What does SKU-2 cost?", "SKU-2", fact=12.5),
        task("What does SKU-22 cost?", "SKU-22", fact=7),
    ]
    counts = overlap(test, [], [conversation(result)])["entities"]
    assert (counts.with_entity, counts.entity_seen, counts.with_fact, counts.fact_seen) == (3, 2, 3, 1)


def test_the_entity_may_stand_in_the_call_alone_and_in_the_record_around():
    test = [task("What does SKU-1 cost?", "SKU-1", fact=12.5)]
    assert overlap(test, [], [conversation('{"price": 12.5}', sku="SKU-1")])["entities"].fact_seen == 1
    nested = json.dumps([{"order": "SKU-1", "lines": [{"price": 12.5}]}, {"order": "SKU-3", "lines": [{"price": 1}]}])
    assert overlap(test, [], [conversation(nested)])["entities"].fact_seen == 1


def test_derived_facts_and_tasks_without_entities_are_not_counted():
    derived = Scenario("t", "How many?", (Fact(2, "count", derived=True),), suite="forms")
    counts = overlap([derived], [], [conversation(json.dumps(ROWS))])["forms"]
    assert (counts.tasks, counts.with_entity, counts.with_fact, counts.fact_seen) == (1, 0, 0, 0)
