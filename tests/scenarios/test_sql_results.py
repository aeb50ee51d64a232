"""What tools for SQL answer, read as rows: one column with or without bars and feet, names in ticks."""

import pytest

from mcprl.scenarios.probing.tables import rows_in
from mcprl.scenarios.readers.scalars import plain
from mcprl.types import ToolResult

TITLES = "SELECT title FROM objects WHERE id < 3"


@pytest.mark.parametrize(
    "text",
    [
        "title\nHand loom A\nSundial",
        "| title |\n| --- |\n| Hand loom A |\n| Sundial |\n\n**2 rows returned**",
        "title\n-----\nHand loom A\nSundial\n(2 rows)",
    ],
)
def test_one_column_is_read_under_its_name(text: str) -> None:
    assert rows_in(ToolResult(text), TITLES) == [{"title": "Hand loom A"}, {"title": "Sundial"}]


def test_a_number_is_one_and_a_text_that_no_column_heads_is_no_rows() -> None:
    assert rows_in(ToolResult("COUNT(*)\n24"), "SELECT COUNT(*) FROM objects") == [{"COUNT(*)": 24}]
    assert not rows_in(ToolResult("Hand loom A\nSundial"), TITLES)
    assert not rows_in(ToolResult("title\nHand loom A"))


def test_ticks_around_a_name_are_none_of_it() -> None:
    assert plain("`loans`") == "loans"
    assert plain("a `b` c") == "a `b` c"
