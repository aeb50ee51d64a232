"""What tasks for servers that nobody had looked at showed, rule by rule."""

import random

import pytest

from mcprl.scenarios.filling import creates
from mcprl.scenarios.intents import Attribute, Change, Combine, Lacking, Lookup, Missing, Reference, Value
from mcprl.scenarios.meaning import infer
from mcprl.scenarios.names import noun
from mcprl.scenarios.naming import is_no_noun
from mcprl.scenarios.wording.answers import answer
from mcprl.scenarios.wording.clauses import clause
from mcprl.scenarios.wording.deeds import deed
from mcprl.scenarios.wording.lookups import missing_options
from mcprl.scenarios.wording.template import unmark
from mcprl.types import Tool


@pytest.mark.parametrize(
    ("tool", "made"),
    [
        ("place_order", True),
        ("addNote", True),
        ("update_place", False),
        ("get_schedule", False),
        ("place", False),
        ("查询", False),
    ],
)
def test_an_order_that_is_placed_is_made_and_a_place_that_is_updated_is_not(tool: str, made: bool) -> None:
    assert creates(tool) is made


@pytest.mark.parametrize(
    ("name", "parameter", "called"),
    [
        ("vendor-card", "vendor", "vendor"),
        ("get_order_record", "order_id", "order"),
        ("library_card", "card_no", "library card"),
    ],
)
def test_what_is_known_of_a_thing_is_called_as_the_thing(name: str, parameter: str, called: str) -> None:
    assert noun(Tool(name, input_schema={"type": "object", "properties": {parameter: {}}})) == called


def test_a_price_per_head_has_its_currency() -> None:
    assert (infer("price_per_head_chf", [58]).label, infer("price_per_head_chf", [58]).unit) == (
        "price per head",
        "CHF",
    )


def test_what_no_search_finds_is_asked_for_as_what_one_finds_and_not_by_the_parameter_s_name() -> None:
    """It was asked for as "the entry whose query is castle"."""
    nothing = Missing(Reference("entry", (Value(Attribute("query", "mention", "name"), "castle"),)), None)
    assert {option.form.partition("/")[0] for option in missing_options(nothing, random.Random(0))} == {
        "listing.search"
    }
    assert answer(nothing, (), random.Random(0)) == 'There is no entry that mentions "castle".'


def test_a_number_of_units_is_in_stock_and_a_sum_of_prices_has_its_cents() -> None:
    assert clause("It", Attribute("units", "units", "count"), 8) == "we have 8 in stock"
    price = Attribute("price", "price", "money", "EUR")
    together = Combine((Reference("lamp"), Reference("chair")), price, "sum")
    assert answer(together, (189.7,), random.Random(0)) == "Together that's EUR 189.70."


@pytest.mark.parametrize(
    ("label", "asked"),
    [("free shipping from", False), ("depends on", False), ("on call", False), ("date checked in", True)],
)
def test_a_label_that_is_no_noun_is_not_asked_for(label: str, asked: bool) -> None:
    assert is_no_noun(Attribute(label, label, "text"), "SUP-14") is not asked


def test_an_e_mail_is_an_email() -> None:
    assert infer("contact_e_mail", ["ana@quay.example"]).label == "contact email"


def test_a_thing_is_moved_to_a_place() -> None:
    barrel = Reference("barrel", (Value(Attribute("barrel", "number", "identifier"), "B-4"),))
    place = Value(Attribute("location", "location", "place"), "Vault B")
    moved = Change("move_barrel", "Move a barrel.", "set", barrel, (place,))
    assert unmark(deed(moved, random.Random(0))).endswith("B-4 to Vault B")


def test_nobody_is_asked_for_a_slug() -> None:
    slug = Attribute("slug", "slug", "identifier")
    asked = Lookup(Reference("wine", (Value(slug, "merlot-2022"),)), (Attribute("grape", "grape", "category"),))
    assert answer(Lacking(asked, slug), (), random.Random(0)) == ("Which wine do you mean? Please give me the name.")
