"""English that the ground needs: plurals, articles, verbs, the words of a field's name, and what its label tells."""

import pytest

from mcprl.scenarios.english.grammar import a, infinitive, is_plural, listed, one, plural
from mcprl.scenarios.english.labels import counts_changes, front_of, is_adjective, names
from mcprl.scenarios.english.nouns import is_deal, is_goods, is_moment_of_history, is_person, spoken
from mcprl.scenarios.intents import Attribute, Value
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


def test_which_flags_are_said_with_is_and_which_counts_tell_of_changes() -> None:
    assert is_adjective("active")
    assert is_adjective("in stock")
    assert not is_adjective("children")
    assert counts_changes(Attribute("removed", "removed lines", "count"))
    assert not counts_changes(Attribute("lines", "lines", "count"))


def test_nouns_of_people_goods_and_deals() -> None:
    assert spoken("orderItem") == "order item"
    assert (is_person("customer"), is_goods("product"), is_deal("return order")) == (True, True, True)
    assert not any(knows("file") for knows in (is_person, is_goods, is_deal))


@pytest.mark.parametrize(("label", "text", "told"), [("target", "d2861432", True), ("customer", "d2861432", False)])
def test_what_changed_since_a_commit_is_compared_with_it(label: str, text: str, told: bool) -> None:
    assert is_moment_of_history(Value(Attribute(label, label, "identifier"), text)) is told
