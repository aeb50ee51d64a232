"""Fields of well-known APIs get the meanings that a person would give them."""

from collections.abc import Sequence
from typing import Any, cast, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fields import HELD_OUT, TUNED

from mcprl.scenarios.meaning import infer
from mcprl.types import Meaning, Scalar

SCALARS = st.text(max_size=20) | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans()


@given(
    st.text(max_size=20),
    st.lists(SCALARS, max_size=3),
    st.text(max_size=20),
    st.dictionaries(st.text(), SCALARS, max_size=2),
)
def test_any_field_has_a_meaning_and_a_label(
    name: str, values: list[Scalar], description: str, neighbours: dict[str, Scalar]
) -> None:
    attribute = infer(name, values, description, neighbours)
    assert attribute.meaning in get_args(Meaning)
    assert attribute.key == name


def accuracy(rows: Sequence[tuple[str, list[object], str]]) -> float:
    return sum(infer(name, cast(Any, values)).meaning == meaning for name, values, meaning in rows) / len(rows)


def test_the_sixty_fields_that_the_rules_were_made_with_are_understood() -> None:
    assert accuracy(TUNED) >= 0.95


def test_the_forty_fields_that_were_held_out_are_understood() -> None:
    assert accuracy(HELD_OUT) >= 0.85


@pytest.mark.parametrize(
    ("name", "values", "label"),
    [
        ("unit_price", [3.5], "price"),
        ("price_per_kg", [6.8, 9.35], "price per kg"),
        ("km_per_hour", [80.5, 95.0], "km per hour"),
        ("cust_nm", ["Ana"], "customer name"),
        ("qty", [3, 4], "quantity"),
        ("qtyInStock", [3, 4], "stock"),
        ("placed_on", ["2026-03-03"], "order date"),
        ("created_at", ["2026-03-03T10:00:00Z"], "creation date"),
        ("weight_kg", [2.5], "weight"),
        ("followersCount", [7, 9], "followers"),
        ("order_id", ["O-17"], "order number"),
        ("is_active", [True], "active"),
        ("dueDate", ["2026-03-03"], "due date"),
        ("tz", ["Europe/Oslo"], "time zone"),
        ("durationMin", [20, 45], "duration"),
    ],
)
def test_a_label_is_a_persons_word(name: str, values: list[Scalar], label: str) -> None:
    assert infer(name, values).label == label


def test_a_unit_comes_from_the_name_a_neighbour_the_description_or_the_value() -> None:
    assert infer("weight_kg", [2.5]).unit == "kg"
    assert infer("price", [2.5], neighbours={"currency": "EUR"}).unit == "EUR"
    assert infer("price", ["$2.50"]).unit == "USD"
    assert infer("height", [2.5], description="Height in centimeters").unit == "cm"
    assert infer("length", [2.5], neighbours={"unit": "mm"}).unit == "mm"


def test_a_field_without_values_is_understood_by_its_name() -> None:
    assert infer("email", []).meaning == "email"
    assert infer("assignee", []).meaning == "person"
    assert infer("due_date", []).meaning == "date"
    assert infer("status", []).meaning == "status"


def test_a_state_is_a_region_beside_a_city_and_digits_of_one_length_count_nothing() -> None:
    assert infer("state", ["CA", "NY"]).meaning == "place"
    assert infer("state", ["Bavaria"], neighbours={"city": "Munich"}).meaning == "place"
    assert infer("state", ["open", "closed"]).meaning == "status"
    assert infer("last_four", ["9212", "7055"]).meaning == "identifier"
    assert infer("user_id", ["ana_ruiz_17", "b_lee_9"]).label == "user id"


def test_recurring_values_of_a_category_are_its_choices() -> None:
    assert infer("status", ["open", "closed", "open"]).choices == ("open", "closed")
    assert infer("description", ["a long text", "another text"]).choices == ()
