"""What tasks for servers that nobody had looked at showed, rule by rule."""

import pytest

from mcprl.scenarios.filling import creates
from mcprl.scenarios.meaning import infer
from mcprl.scenarios.names import noun
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
