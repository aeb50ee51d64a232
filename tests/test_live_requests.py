"""What people asked of BFCL's live categories, for the starter: nothing that its other categories or our tests ask."""

import json
from random import Random

import live
import pytest
from support.paths import ROOT

from mcprl.benches.bfcl import MULTI_TURN, STATIC, Bfcl
from mcprl.errors import BenchError


@pytest.fixture(scope="module")
def bfcl() -> Bfcl:
    try:
        return Bfcl()
    except BenchError as error:
        pytest.skip(str(error))


def drawn(held_out: bool) -> list[tuple[set[str], str, list[str]]]:
    """The tools shown, the request and the tools called, of a few steps."""
    found = live.requests(Random(0), 20, 10, held_out)
    return [
        (
            {tool.name for tool in tools},
            messages[0]["content"],
            [call["function"]["name"] for call in messages[1].get("tool_calls", ())],
        )
        for tools, (_, messages) in found
    ]


def test_each_is_answered_by_tools_that_are_shown_or_declined(bfcl: Bfcl) -> None:
    asked = drawn(held_out=False)
    assert all(set(called) <= shown for shown, _, called in asked)
    assert {bool(called) for _, _, called in asked} == {True, False}
    assert all(len(shown) >= live.FEWEST - 1 for shown, _, _ in asked)


def test_no_tool_is_one_of_the_other_categories(bfcl: Bfcl) -> None:
    others = [category for category in (*STATIC, *MULTI_TURN) if "live" not in category]
    tested = {tool.name for category in others for task in bfcl.tasks(category) for tool in task.tools}
    assert all(shown.isdisjoint(tested) for shown, _, _ in drawn(held_out=False))


def test_what_is_held_out_is_not_trained_on_and_people_s_test_requests_are_not_among_them(bfcl: Bfcl) -> None:
    trained, held_out = ({task.id for sets in live.known(part) for asked in sets for task, _ in asked} for part in (False, True))
    assert held_out
    assert trained.isdisjoint(held_out)
    people = [json.loads(line) for path in (ROOT / "scenarios/people").glob("*.jsonl") for line in path.open()]
    tested = {entry["request"].casefold() for entry in people}
    requests = {
        task.messages[0][-1]["content"].casefold() for sets in live.known(False) for asked in sets for task, _ in asked
    }
    assert tested
    assert tested.isdisjoint(requests)
