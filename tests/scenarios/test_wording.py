"""Requests are what a person could have typed, and they hold all values that single out the thing."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.imagined import DOMAINS, random_intent, value

from mcprl.scenarios import intents
from mcprl.scenarios.intents import Attribute, Intent, Reference, Value
from mcprl.scenarios.wording import MAX_LETTERS, answer, grammar, say
from mcprl.scenarios.wording.template import data
from mcprl.scenarios.wording.values import forms, plain, status_told, status_words
from mcprl.types import Meaning, Scalar

MEANINGS: tuple[Meaning, ...] = get_args(Meaning)
NOUNS = ("order", "product", "openOrder", "patient", "repo", "file", "entity", "tax_form", "person", "series")
LABELS = (
    "price",
    "stock",
    "weight",
    "order date",
    "due date",
    "owner",
    "city",
    "colour",
    "status",
    "number",
    "note",
    "items",
    "shelf",
)
LETTERS = st.characters(codec="ascii", categories=("L", "N", "Zs", "P"), exclude_characters="{}")
SAMPLES: dict[str, st.SearchStrategy[Scalar]] = {
    "money": st.floats(0.5, 900).map(lambda number: round(number, 2)),
    "count": st.integers(0, 500),
    "measure": st.floats(0.5, 90).map(lambda number: round(number, 1)),
    "percent": st.integers(0, 100),
    "number": st.integers(0, 99),
    "date": st.dates().map(lambda day: day.isoformat()),
    "datetime": st.datetimes().map(lambda moment: moment.replace(microsecond=0).isoformat()),
    "time": st.times().map(lambda moment: moment.strftime("%H:%M")),
    "year": st.integers(1900, 2040),
    "duration": st.integers(1, 90),
    "flag": st.booleans(),
    "identifier": st.from_regex(r"[A-Z]{1,3}-[0-9]{1,4}|[0-9]{1,6}", fullmatch=True),
    "email": st.just("ana@mail.example"),
    "url": st.just("https://shop.example/a_b"),
    "phone": st.just("+351 555 010 200"),
    "path": st.sampled_from(("notes/to_do.txt", "src/appMain.py", "/tmp/x")),
    "status": st.sampled_from(("open", "shipped", "in_progress", "DONE", "on-hold", "cancelled")),
    "category": st.sampled_from(("red", "Tools", "garden_tools", "HIGHLAND")),
    "text": st.text(LETTERS, min_size=1, max_size=60).map(str.strip).filter(bool),
}  # fmt: skip
NAMES = st.sampled_from(("Ana Sousa", "Lumina", "oak shelf", "Porto", "Dr. Amiri", "A_b"))


@st.composite
def some_value(draw: st.DrawFn) -> Value:
    meaning = draw(st.sampled_from(MEANINGS))
    unit = draw(st.sampled_from(("", "EUR", "USD"))) if meaning == "money" else ""
    unit = draw(st.sampled_from(("", "kg", "cm"))) if meaning == "measure" else unit
    attribute = Attribute("some_key", draw(st.sampled_from(LABELS)), meaning, unit)
    return Value(attribute, draw(SAMPLES.get(meaning, NAMES)))


ATTRIBUTES = some_value().map(lambda one: one.attribute)
REFERENCES = st.builds(Reference, st.sampled_from(NOUNS), st.lists(some_value(), max_size=2).map(tuple))
ONE = st.builds(Reference, st.sampled_from(NOUNS), st.lists(some_value(), min_size=1, max_size=1).map(tuple))
WHERE = st.lists(some_value(), max_size=2).map(tuple)
HOW = st.sampled_from(("not", "over", "under"))
LIMITED = WHERE | st.builds(lambda one, how: (replace(one, how=how),), some_value(), HOW)
TOP = st.builds(intents.Top, ATTRIBUTES, st.booleans())
TOPMOST = st.builds(Reference, st.sampled_from(NOUNS), LIMITED, TOP)
ASKED = st.lists(ATTRIBUTES, min_size=1, max_size=2).map(tuple)
NOUN = st.sampled_from(NOUNS)
TOOLS = st.sampled_from(("update_item", "createThing", "hr_send_note", "archive", "x_y_z"))
WORDS = st.sampled_from(("", "Does a thing.", "Sends a note to a person.", "Some `odd_code` {here} in camelCase"))
LOOKUPS = st.builds(intents.Lookup, REFERENCES, ASKED)
COMPUTES = st.builds(intents.Compute, TOOLS, WORDS, st.lists(some_value(), max_size=3).map(tuple), st.just(()))
CHANGES = st.builds(
    intents.Change, TOOLS, WORDS, st.sampled_from(("set", "create", "remove", "act")), st.none() | REFERENCES, WHERE
)
SET = st.builds(
    intents.Change, TOOLS, WORDS, st.sampled_from(("set", "remove")), ONE | TOPMOST, st.tuples(some_value())
)
INTENTS: st.SearchStrategy[Intent] = st.one_of(
    LOOKUPS,
    st.builds(intents.Combine, st.tuples(ONE, ONE), ATTRIBUTES, st.sampled_from(("sum", "difference"))),
    st.builds(intents.Conditional, SET.filter(lambda one: one.effect == "set"), some_value(), st.booleans()),
    SET.filter(lambda one: one.effect == "set"),
    st.builds(intents.Each, st.lists(ONE, min_size=2, max_size=2).map(tuple), ATTRIBUTES),
    st.builds(intents.Compare, st.lists(ONE, min_size=2, max_size=3).map(tuple), ATTRIBUTES, st.booleans()),
    st.builds(intents.Relation, ONE, st.lists(NOUN, min_size=1, max_size=2).map(tuple), ASKED),
    st.builds(intents.Count, NOUN, LIMITED),
    st.builds(intents.Total, NOUN, LIMITED, ATTRIBUTES, st.sampled_from(("sum", "average"))),
    st.builds(intents.Extreme, NOUN, LIMITED, ATTRIBUTES, st.booleans(), ASKED),
    st.builds(intents.Listing, NOUN, LIMITED, ATTRIBUTES),
    st.builds(intents.Missing, REFERENCES, st.none() | ATTRIBUTES),
    COMPUTES,
    CHANGES,
    st.builds(intents.Adjust, TOOLS, WORDS, ONE, ATTRIBUTES, st.sampled_from((3, -4)), st.just(7)),
    st.builds(intents.Unserved, st.lists(NOUN, max_size=2).map(tuple)),
)


def values_in(part: Any) -> Iterator[Value]:
    """The values that an intent names."""
    if isinstance(part, Value):
        yield part
    elif isinstance(part, tuple):
        for one in part:
            yield from values_in(one)
    elif is_dataclass(part):
        for field in fields(part):
            yield from values_in(getattr(part, field.name))


def holds(request: str, one: Value) -> bool:
    """Whether a request spells a value in one of its forms, truth values by their field."""
    if isinstance(one.value, bool):
        return True
    ways = [*forms(one), *status_words(one)[1]]
    return any(way in request for way in ways)


def everything(form: str) -> bool:
    return True


@settings(max_examples=400, deadline=None)
@given(INTENTS, st.integers(0, 10**6))
@example(intents.Count("order", (Value(Attribute("some_key", "owner", "money", "EUR"), 1.0),)), 0)
@example(
    intents.Lookup(
        Reference(
            "file",
            (
                Value(Attribute("some_key", "price", "money"), 1.0),
                Value(Attribute("some_key", "price", "count"), 0),
            ),
        ),
        (Attribute("some_key", "price", "flag"),),
    ),
    0,
)
def test_a_request_holds_every_value_and_nothing_that_a_program_would_write(intent: Intent, seed: int) -> None:
    worded = say(intent, random.Random(seed), everything)
    assert worded is not None
    request = worded.request
    assert all(holds(request, one) for one in values_in(intent)), (request, list(values_in(intent)))
    rest = request
    ways = (way for one in values_in(intent) if not isinstance(one.value, bool) for way in forms(one))
    for way in sorted(ways, key=len, reverse=True):
        rest = rest.replace(way, "7")
    assert not re.search(r"[{}\[\]|\x02\x03=]", rest), request
    assert not re.search(r"\w_\w|[a-z][A-Z]", rest), request
    assert "  " not in rest, request
    assert not re.search(r"\s[?.!,]|[,;:(-]$|^\W|\.\.", rest.strip('"')), request
    assert len(request) <= MAX_LETTERS


@settings(max_examples=200, deadline=None)
@given(INTENTS, st.integers(0, 10**6))
def test_the_same_seed_says_the_same(intent: Intent, seed: int) -> None:
    assert say(intent, random.Random(seed), everything) == say(intent, random.Random(seed), everything)


def test_forms_are_some_hundreds_and_each_has_several_personas() -> None:
    rng = random.Random(1)
    found: Counter[str] = Counter()
    for _ in range(2500):
        worded = say(random_intent(rng), rng, everything)
        assert worded is not None
        found[worded.form] += 1
    bases = {form.partition("+")[0] for form in found}
    personas = {form.partition("+")[2] for form in found}
    assert 200 <= len(bases) <= 450
    assert len(personas) >= 10


@pytest.mark.parametrize("suffix", ["", "+greeting", "+hasty"])
def test_only_allowed_forms_are_used(suffix: str) -> None:
    rng = random.Random(2)
    for _ in range(100):
        worded = say(random_intent(rng), rng, only(suffix))
        assert worded is None or "+" + worded.form.partition("+")[2] == (suffix or "+")


def only(suffix: str) -> Callable[[str], bool]:
    def allowed(form: str) -> bool:
        return form.endswith(suffix) if suffix else "+" not in form

    return allowed


def test_a_third_of_the_forms_can_be_held_out() -> None:
    rng = random.Random(3)
    worded = [say(random_intent(rng), rng, lambda form: hash(form) % 3 != 0) for _ in range(300)]
    assert all(one is None or hash(one.form) % 3 for one in worded)
    assert sum(one is None for one in worded) <= 3


def test_no_form_is_allowed_no_request() -> None:
    assert say(random_intent(random.Random(4)), random.Random(4), lambda form: False) is None


PRODUCT = DOMAINS[3]
SHELF = Reference("product", (value(PRODUCT, "sku", PRODUCT.rows[0]),))
PRICE, STOCK = (value(PRODUCT, name, PRODUCT.rows[0]).attribute for name in ("unit_price", "qty_in_stock"))
RNG = random.Random(0)


def test_answers_are_short_sentences_with_the_values_as_the_checks_read_them() -> None:
    assert answer(intents.Lookup(SHELF, (PRICE,)), (35.45,), RNG) == "It costs EUR 35.45."
    assert answer(intents.Lookup(SHELF, (PRICE, STOCK)), (35.45, 12), RNG) == "It costs EUR 35.45. We have 12 in stock."
    each = intents.Each((SHELF, Reference("product", (value(PRODUCT, "sku", PRODUCT.rows[1]),))), PRICE)
    assert answer(each, (35.45, 59.0), RNG) == "SKU-321 costs EUR 35.45 and SKU-340 costs EUR 59."
    assert answer(intents.Missing(SHELF), (), RNG) == "There is no product SKU-321."
    assert answer(intents.Count("product", ()), (1,), RNG) == "There is 1 product."
    assert answer(intents.Count("product", ()), (4,), RNG) == "There are 4 products."
    listing = intents.Listing("product", (), Attribute("name", "name", "name"))
    assert answer(listing, ("oak shelf", "brass lamp"), RNG) == "These are the products: oak shelf and brass lamp."
    lacking = intents.Lacking(intents.Lookup(SHELF, (PRICE,)), SHELF.values[0].attribute)
    assert answer(lacking, (), RNG).startswith("Which product do you mean?")
    assert "can't" in answer(intents.Unserved(("product",)), (), RNG) or "not something" in answer(
        intents.Unserved(("product",)), (), RNG
    )


def test_a_date_is_answered_in_words() -> None:
    order = DOMAINS[4]
    placed = value(order, "placed_on", order.rows[0]).attribute
    thing = Reference("order", (value(order, "order_id", order.rows[0]),))
    assert answer(intents.Lookup(thing, (placed,)), ("2026-03-03",), RNG) == "It was placed on 3 March 2026."


def text_value(key: str, meaning: Meaning, text: str) -> Value:
    return Value(Attribute(key, key, meaning), text)


SPECIES, COMMIT = text_value("species", "category", "dog"), text_value("target", "identifier", "4aef7b46")
WORKS = text_value("relationType", "name", "works_on")
MADE = intents.Change(
    "create_relations",
    "Create relations.",
    "create",
    None,
    (text_value("from", "name", "Ana"), text_value("to", "name", "Apollo"), WORKS),
)
LEASE = Reference("file", (text_value("path", "path", "lease.txt"),))
RENT = Attribute("monthly_rent", "monthly rent", "money", "EUR")


@pytest.mark.parametrize(
    ("intent", "said", "never"),
    [
        (intents.Count("animal", (SPECIES,)), "dogs", "species"),
        (intents.Count("changed file", (COMMIT,)), "ince commit 4aef7b46", "compared"),
        (MADE, "Ana works on Apollo", "relation"),
        (intents.Lookup(LEASE, (RENT,)), "lease.txt", "monthly rent of"),
    ],
)
def test_types_commits_relations_and_documents_are_said_as_people_do(intent: Intent, said: str, never: str) -> None:
    for seed in range(30):
        worded = say(intent, random.Random(seed), lambda form: "+" not in form)
        assert worded is not None
        assert said in worded.request
        assert never not in worded.request


def test_what_is_lacking_is_not_said() -> None:
    for seed in range(30):
        lacking = intents.Lacking(intents.Lookup(SHELF, (PRICE,)), SHELF.values[0].attribute)
        worded = say(lacking, random.Random(seed), everything)
        assert worded is not None
        assert "321" not in worded.request


@pytest.mark.parametrize(
    ("noun", "plural"),
    [("order", "orders"), ("company", "companies"), ("box", "boxes"), ("person", "people"),
     ("file changed", "files changed"),
     ("item of stock", "items of stock"), ("address", "addresses"), ("series", "series"), ("day", "days")],
)  # fmt: skip
def test_plurals(noun: str, plural: str) -> None:
    assert grammar.plural(noun) == plural
    assert grammar.plural(plural) == plural


@pytest.mark.parametrize(
    ("noun", "phrase"),
    [("order", "an order"), ("user", "a user"), ("hour", "an hour"), ("invoice", "an invoice"), ("unit", "a unit"),
     ("issue", "an issue"), ("SKU", "an SKU"), ("product", "a product"), ("items", "items"), ("one-off", "a one-off")],
)  # fmt: skip
def test_articles(noun: str, phrase: str) -> None:
    assert grammar.a(noun) == phrase


def test_values_are_spelled_as_people_do_and_stay_derivable() -> None:
    assert "3 March 2026" in forms(Value(Attribute("d", "date", "date"), "2026-03-03"))
    assert "EUR 35.45" in forms(Value(PRICE, 35.45))
    assert "Oslo" in forms(Value(Attribute("tz", "time zone", "place"), "Europe/Oslo"))
    assert "2 pm" in forms(Value(Attribute("t", "time", "time"), "14:00"))
    assert plain(3.0) == "3"


def test_a_status_that_is_told_is_not_named() -> None:
    statuses, told = data("thesaurus")["status"], data("told")["status"]
    assert set(told) <= set(statuses)
    for status, entry in told.items():
        names = re.compile(rf"\b(?:{'|'.join(map(re.escape, (status, *statuses[status]['words'])))})\b")
        for sentence in entry["told"]:
            assert sentence.count("{it}") == 1, sentence
            assert not names.search(sentence), sentence


def test_a_sentence_that_tells_another_choice_too_is_not_said() -> None:
    one = Attribute("status", "status", "status", choices=("paid", "shipped"))
    assert status_told(Value(one, "paid"))
    assert not status_told(Value(replace(one, meaning="category"), "paid"))
