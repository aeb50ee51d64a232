"""Plain English by rule: each kind of task in stiff and safe words, and its answer."""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcprl.scenarios.intents import (
    Adjust,
    Attribute,
    Both,
    Change,
    Combine,
    Compare,
    Compute,
    Conditional,
    Count,
    Each,
    Extreme,
    Intent,
    Lacking,
    Listing,
    Lookup,
    Missing,
    Outcome,
    Reference,
    Relation,
    Top,
    Total,
    Unserved,
    Value,
)
from mcprl.scenarios.writers.plain import answer, found, say, thing_of, value_of, values_in
from mcprl.types import Meaning

PRICE, STOCK = Attribute("unit_price", "price", "money"), Attribute("stock", "stock", "count")
PAID = Attribute("is_paid", "paid", "flag")
DATE = Attribute("placed_on", "order date", "date")
STATUS = Attribute("status", "status", "status", choices=("open", "paid", "sent"))
LAMP = Reference("lamp", (Value(Attribute("name", "name", "name"), "Oak Lamp"),))
ORDER = Reference("order", (Value(Attribute("order_id", "order number", "identifier"), "O-17"),))
CITY = Value(Attribute("city", "city", "place"), "Graz")
SENT = Value(STATUS, "sent")
ADD = Compute("add", "Add two numbers", (Value(Attribute("a", "a"), 3), Value(Attribute("b", "b"), 4)))


def tell(name: str, forms: Sequence[str]) -> list[str]:
    """The first construction that is no question of its own."""
    plain = ("tell", "set", "raise", "lower", "please")
    return [] if name in ("superlative", "convert") else [form for form in plain if form in forms][:1]


def asked(intent: Intent, name: str) -> set[str]:
    """The requests for an intent in the constructions of one set."""
    worded = [say(intent, random.Random(n), lambda own, forms: forms if own == name else []) for n in range(40)]
    return {each.request for each in worded if each}


CASES: list[tuple[Intent, Outcome, str, str]] = [
    (Lookup(LAMP, (PRICE,)), (19.5,), "Please tell me the price of lamp Oak Lamp.", "The price is 19.5."),
    (Lookup(ORDER, (PAID,)), (True,), "Please tell me whether order O-17 is marked as paid.", "It is marked as paid."),
    (
        Relation(ORDER, ("customer",), (CITY.attribute,)),
        ("Graz",),
        "Please tell me the city of the customer of order O-17.",
        "The city is Graz.",
    ),
    (
        Compare((LAMP, ORDER), PRICE, True),
        ("Oak Lamp",),
        "Please tell me which of lamp Oak Lamp and order O-17 has the higher price.",
        "Oak Lamp has the higher price.",
    ),
    (
        Combine((LAMP, ORDER), PRICE, "difference"),
        (2,),
        "Please tell me the difference between the price of lamp Oak Lamp and of order O-17.",
        "The difference is 2.",
    ),
    (
        Count("order", (SENT,)),
        (3,),
        "Please tell me the number of orders with status sent.",
        "There are 3 orders with status sent.",
    ),
    (Total("order", (), PRICE), (40.0,), "Please tell me the total price of all orders.", "The total price is 40."),
    (
        Extreme("order", (CITY,), DATE, True, (Attribute("order_id", "order number", "identifier"),)),
        ("O-9",),
        "Please tell me the order number of the order with the latest order date among the orders in Graz.",
        "The order number is O-9.",
    ),
    (
        Listing("order", (CITY,), Attribute("order_id", "order number", "identifier")),
        ("O-1", "O-2"),
        "Please tell me the order numbers of all orders in Graz.",
        "The order numbers are O-1 and O-2.",
    ),
    (ADD, (7,), "Please add two numbers, 3 and 4, and tell me the result.", "7."),
    (Missing(ORDER, STATUS), (), "Please tell me the status of order O-17.", "There is no order O-17."),
    (
        Change("set_status", "", "set", ORDER, (SENT,)),
        (),
        "Please set the status of order O-17 to sent.",
        "Done: the status of order O-17 is now sent.",
    ),
    (Change("cancel_order", "", "remove", ORDER), (), "Please cancel order O-17.", "Done: order O-17 is deleted."),
    (
        Adjust("set_stock", "", LAMP, STOCK, -3, 9),
        (),
        "Please lower the stock of lamp Oak Lamp by 3.",
        "Done: the stock of lamp Oak Lamp is now 9.",
    ),
    (
        Conditional(Change("set_status", "", "set", ORDER, (SENT,)), Value(STATUS, "paid"), False),
        ("open",),
        "Please set the status of order O-17 to sent if the status of order O-17 is paid, and else tell me the status.",
        "I did not change anything: the status is open.",
    ),
    (Lacking(ADD, ADD.arguments[1].attribute), (), "Please add two numbers, 3, and tell me the result.", "Which b"),
]


@pytest.mark.parametrize(("intent", "outcome", "request_", "told"), CASES, ids=lambda case: type(case).__name__)
def test_each_kind_has_its_words(intent: Intent, outcome: Outcome, request_: str, told: str) -> None:
    worded = say(intent, random.Random(0), tell)
    assert worded is not None
    assert worded.request == request_
    assert answer(intent, outcome, random.Random(0)).startswith(told)


def test_a_construction_that_is_not_allowed_is_not_taken() -> None:
    worded = [say(CASES[0][0], random.Random(n), lambda _, forms: [*forms][1:]) for n in range(40)]
    forms = {each.form for each in worded if each}
    assert sum(form.startswith("read/") for form in forms) == 5
    assert "read/what" not in forms
    assert say(CASES[0][0], random.Random(0), lambda *_: []) is None


METRES = tuple(
    Value(Attribute(key, key), value) for key, value in (("value", 3), ("from_unit", "m"), ("to_unit", "feet"))
)
ORDER_ID = Attribute("order_id", "order number", "identifier")
NAME = Attribute("name", "name", "name")
MOVES, OWNER = Attribute("moves", "moves", "count"), Attribute("owner", "owner", "person")


@pytest.mark.parametrize(
    ("intent", "name", "request_"),
    [
        (Lookup(LAMP, (PRICE,)), "ask-price", "How much does Oak Lamp cost?"),
        (Lookup(LAMP, (PRICE,)), "ask-price", "How much is lamp Oak Lamp?"),
        (Lookup(LAMP, (STOCK,)), "ask-stock", "How many of lamp Oak Lamp are left?"),
        (Lookup(ORDER, (DATE,)), "done", "When was order O-17 placed?"),
        (Lookup(ORDER, (OWNER,)), "ask-owner", "Who owns O-17?"),
        (Lookup(ORDER, (MOVES,)), "ask-count", "How many moves does O-17 have?"),
        (Lookup(ORDER, (Attribute("tare", "tare", "measure"),)), "ask-measure", "What tare does order O-17 have?"),
        (Lookup(LAMP, (Attribute("active", "active", "flag"),)), "is-it", "Is lamp Oak Lamp active?"),
        (Relation(ORDER, ("customer",), (CITY.attribute,)), "ask-city", "Which city is the customer of O-17 in?"),
        (Missing(ORDER), "is-there", "Is there an order O-17?"),
        (Count("order", (SENT,)), "how-many", "How many orders are there with status sent?"),
        (Listing("order", (CITY,), ORDER_ID), "which", "Which orders are there in Graz?"),
        (
            Extreme("lamp", (), PRICE, False, (Attribute("name", "name", "name"),)),
            "which-is",
            "Which lamp is the cheapest?",
        ),
        (Compare((LAMP, ORDER), PRICE, True), "which-has", "Which has the higher price, lamp Oak Lamp or order O-17?"),
        (Compute("convert", "Convert units", METRES), "convert", "How many feet are 3 m?"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_people_ask_by_what_a_field_means(intent: Intent, name: str, request_: str) -> None:
    assert request_ in asked(intent, name)


def test_a_status_is_marked_and_a_deed_takes_its_values_in_its_place() -> None:
    marked = {say(Change("set_status", "", "set", ORDER, (SENT,)), random.Random(n)).request for n in range(60)}  # pyright: ignore[reportOptionalMemberAccess]
    assert "Can you mark O-17 as sent?" in marked
    member = Value(Attribute("member_no", "member", "identifier"), 8)
    enter = Change("enter_player", "Enter a member in a tournament.", "act", None, (member,))
    assert "Enter member 8 in a tournament." in asked(enter, "write")
    booking = Reference("booking", (Value(Attribute("booking_id", "booking number", "identifier"), "R-3109"),))
    out = Change("check_out", "Check out a guest who is in house.", "act", booking)
    assert "Check out a guest who is in house for R-3109." in asked(out, "write")


def test_a_number_alone_names_nothing_and_a_field_leaves_out_the_noun_of_its_thing() -> None:
    numbered = Reference("order", (Value(ORDER_ID, 17),))
    assert not any(request.endswith("is 17?") for request in asked(Lookup(numbered, (PRICE,)), "ask-price"))
    assert "Look up the date of order O-17." in asked(Lookup(ORDER, (DATE,)), "read")


def test_two_requests_are_two_sentences() -> None:
    both = Both((CASES[0][0], CASES[11][0]))
    assert say(both, random.Random(0), tell).request.count(".") == 2  # pyright: ignore[reportOptionalMemberAccess]
    assert (
        answer(both, ((19.5,), ()), random.Random(0))
        == "The price of lamp Oak Lamp is 19.5. Done: the status of order O-17 is now sent."
    )


def test_a_thing_is_named_by_what_it_is_called_and_else_described() -> None:
    by_customer = Value(Attribute("customer_id", "customer number", "identifier"), "C-4")
    assert thing_of(Reference("order", (by_customer,))) == "the order for customer C-4"
    assert thing_of(Reference("order", (CITY,))) == "the order in Graz"
    assert (
        thing_of(Reference("order", (CITY,), Top(DATE, False)))
        == "the order with the earliest order date and city Graz"
    )
    assert thing_of(Reference("note", (Value(Attribute("title", "title", "name"), "to do"),))) == 'note "to do"'


def test_a_writer_is_told_what_was_found_and_which_values_must_be_named() -> None:
    assert found(CASES[0][0], (19.5,)) == "The price of lamp Oak Lamp is 19.5."
    assert found(CASES[7][0], ("O-9",)).endswith("among the orders in Graz is O-9.")
    assert values_in(CASES[14][0]) == ["O-17", "sent", "paid"]


def test_what_no_server_does_differs_from_what_nobody_can_know_of_it() -> None:
    asked = {say(Unserved(("boat",)), random.Random(n)).request for n in range(30)}  # pyright: ignore[reportOptionalMemberAccess]
    assert any("boats" in request for request in asked)
    assert any("boat" not in request for request in asked)


NOUNS = st.sampled_from(("order", "person", "tax form", "series"))
LABELS = st.sampled_from(("price", "order date", "owner", "city", "status", "items", "name", "customer number"))
MEANINGS = st.sampled_from([meaning for meaning in get_args(Meaning) if meaning != "flag"])
SPELLED = st.sampled_from(("Ana Sousa", "O-17", "in_progress", "oak shelf", "2026-03-03", 3, 2.5))
FIELDS = st.builds(Attribute, st.just("key"), LABELS, MEANINGS)
GIVEN = st.builds(Value, FIELDS, SPELLED)
WHERE = st.lists(st.builds(Value, FIELDS, SPELLED, st.sampled_from(("is", "not", "over", "under"))), max_size=2)
TOP = st.builds(Top, FIELDS, st.booleans())
THINGS = st.builds(Reference, NOUNS, st.lists(GIVEN, max_size=2).map(tuple), st.none() | TOP)
ASKED = st.lists(FIELDS, min_size=1, max_size=2).map(tuple)
TOOLS = st.sampled_from(("update_item", "createThing", "x_y_z"))
TOLD = st.sampled_from(("", "Does a thing.", "Sends a note to a person."))
EFFECTS = st.sampled_from(("set", "create", "act"))
INTENTS: st.SearchStrategy[Intent] = st.one_of(
    st.builds(Change, TOOLS, TOLD, EFFECTS, THINGS, st.lists(GIVEN, min_size=1, max_size=3).map(tuple)),
    st.builds(Lookup, THINGS, ASKED),
    st.builds(Relation, THINGS, st.tuples(NOUNS), ASKED),
    st.builds(Each, st.tuples(THINGS, THINGS), FIELDS, WHERE.map(tuple)),
    st.builds(Compare, st.tuples(THINGS, THINGS), FIELDS, st.booleans()),
    st.builds(Count, NOUNS, WHERE.map(tuple), st.booleans()),
    st.builds(Total, NOUNS, WHERE.map(tuple), FIELDS),
    st.builds(Extreme, NOUNS, WHERE.map(tuple), FIELDS, st.booleans(), ASKED),
    st.builds(Listing, NOUNS, WHERE.map(tuple), FIELDS),
)


def named(part: Any) -> Iterator[Value]:
    """The values that an intent names."""
    if isinstance(part, Value):
        yield part
    elif isinstance(part, tuple):
        for one in part:
            yield from named(one)
    elif is_dataclass(part):
        for field in fields(part):
            yield from named(getattr(part, field.name))


@settings(max_examples=100, deadline=None)
@given(INTENTS, st.integers(0, 100))
def test_a_request_holds_every_value_and_nothing_that_a_program_would_write(intent: Intent, seed: int) -> None:
    worded = say(intent, random.Random(seed))
    assert worded is not None
    assert all(value_of(value) in worded.request for value in named(intent))
    assert not re.search(r"  |[{}]| [?.,]|\.\.|[a-z][A-Z]", worded.request)
    assert worded == say(intent, random.Random(seed))
