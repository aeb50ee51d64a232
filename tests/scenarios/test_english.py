"""English that the ground needs: plurals, articles, verbs, the words of a field's name, and what its label tells."""

import pytest

from mcprl.scenarios.english.grammar import a, infinitive, is_plural, listed, one, plural
from mcprl.scenarios.english.labels import front_of, is_adjective, names
from mcprl.scenarios.english.nouns import is_concrete, is_deal, is_person, spoken
from mcprl.scenarios.intents import Attribute
from mcprl.scenarios.meaning import infer


@pytest.mark.parametrize(
    ("noun", "more"),
    [("order", "orders"), ("company", "companies"), ("box", "boxes"), ("person", "people"),
     ("file changed", "files changed"),
     ("item of stock", "items of stock"), ("address", "addresses"), ("series", "series"), ("day", "days")],
)  # fmt: skip
def test_plurals(noun: str, more: str) -> None:
    assert plural(noun) == more
    assert plural(more) == more
    assert is_plural(more) == (more != "series")


@pytest.mark.parametrize(
    ("noun", "phrase"),
    [("order", "an order"), ("user", "a user"), ("hour", "an hour"), ("invoice", "an invoice"), ("unit", "a unit"),
     ("issue", "an issue"), ("SKU", "an SKU"), ("product", "a product"), ("items", "items"), ("one-off", "a one-off")],
)  # fmt: skip
def test_articles(noun: str, phrase: str) -> None:
    assert a(noun) == phrase


@pytest.mark.parametrize(
    ("verb", "to"),
    [("fetches", "fetch"), ("copies", "copy"), ("analyzes", "analyze"), ("gets", "get"), ("process", "process")],
)
def test_what_a_tool_does_is_what_it_is_told_to_do(verb: str, to: str) -> None:
    assert infinitive(verb) == to


@pytest.mark.parametrize(
    ("nouns", "noun"),
    [("people", "person"), ("boxes", "box"), ("items of stock", "item of stock"), ("series", "series")],
)
def test_one_of_them_is_called_so(nouns: str, noun: str) -> None:
    assert one(nouns) == noun


def test_a_list_of_lists_has_a_comma() -> None:
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(["a and b", "c"]) == "a and b, and c"


@pytest.mark.parametrize(
    ("name", "label", "unit"),
    [("price_per_head_chf", "price per head", "CHF"), ("contact_e_mail", "contact email", "")],
)
def test_a_label_is_in_words_and_has_no_unit(name: str, label: str, unit: str) -> None:
    attribute = infer(name, [58 if unit else "ana@quay.example"])
    assert (attribute.label, attribute.unit) == (label, unit)


def test_a_things_own_key_names_it_and_another_things_does_not() -> None:
    own, others = (Attribute(key, f"{key} number", "identifier") for key in ("order", "customer"))
    assert front_of(others) == "customer"
    assert names(own, "order")
    assert not names(others, "order")


def test_which_flags_are_said_with_is() -> None:
    assert is_adjective("active")
    assert is_adjective("in stock")
    assert not is_adjective("children")


def test_nouns_of_people_goods_and_deals() -> None:
    assert spoken("orderItem") == "order item"
    assert (is_person("customer"), is_concrete("product"), is_deal("return order")) == (True, True, True)
    assert not any(knows("file") for knows in (is_person, is_concrete, is_deal))
