"""What a pack is worth, in numbers, and the floor below which training does not begin."""

from dataclasses import replace
from pathlib import Path

import pytest

from mcprl.errors import ScenarioError
from mcprl.scenarios.packs.pack import Pack, load_pack
from mcprl.scenarios.packs.quality import (
    LEAST_TASKS,
    as_table,
    lacking,
    quality,
    reads_like_error,
    require_floor,
    saved_quality,
)
from mcprl.types import Call, Fact, Scenario, StateHolds, Tool


def tool(name: str, *parameters: str) -> Tool:
    return Tool(name, "", {"type": "object", "properties": {each: {"type": "string"} for each in parameters}})


TOOLS = [tool("get_order", "order_id"), tool("list_orders", "customer", "limit"), tool("set_status", "order_id", "to")]


def lookup(number: int, **more: str) -> Scenario:
    plan = (Call("get_order", {"order_id": f"O-{number}"}),)
    return replace(
        Scenario(f"{number}", f"Where is O-{number}?", (Fact("paid", "status"),), plan, form="lookup.status/where"),
        **more,  # pyright: ignore[reportArgumentType]
    )


CHAIN = Scenario(
    "c",
    "What did Ana order last?",
    (Fact("oak shelf", "name"), StateHolds("set_status", {"order_id": "O-1"}, ("paid",))),
    (Call("list_orders", {"customer": "Ana"}), Call("get_order", {"order_id": "O-7"})),
    kind="chain",
    form="chain/last",
)
TESTS = (
    lookup(900, split="test"),
    lookup(901, split="test", suite="forms"),
    replace(lookup(902, split="test", suite="forms"), request="I have lost track of O-902, help"),
    Scenario("p", "my own", (), split="test", suite="people"),
)
PACK = Pack((*(lookup(number) for number in range(100, 170)), CHAIN, *TESTS))


def test_a_packs_tools_parameters_kinds_plans_forms_and_suites_are_counted() -> None:
    measured = quality(PACK, TOOLS, {"does nothing": 0.02}, standing=0.97)
    assert (measured.covered_tools, measured.tools, measured.uncovered) == (3, 3, ())
    assert (measured.covered_parameters, measured.parameters) == (3, 5)
    assert measured.kinds == {"lookup": 73, "chain": 1}
    assert measured.plan_lengths == {1: 73, 2: 1}
    assert (measured.train, measured.test, measured.forms) == (71, 4, 2)
    assert measured.suites == {"entities": 1, "forms": 2, "people": 1}
    assert measured.overlap == 0.5
    assert measured.error_facts == ()
    table = as_table(measured)
    assert "3 of 3 have tasks" in table
    assert "50% of the forms test's wordings stand in training" in table
    assert "97% of a sample made before hold" in table
    assert "does nothing 2%" in table
    assert len(table.splitlines()) <= 9


def test_a_text_that_has_one_value_in_all_tasks_is_told_with_what_to_do() -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    tools = [Tool("find_place", "", schema), Tool("get_point", "", schema)]
    plans = [(Call("find_place", {"name": "Denver"}), Call("get_point", {"name": f"{n}"})) for n in range(12)]
    tasks = [replace(lookup(n), plan=plan) for n, plan in enumerate(plans)]
    told = "2 of 2 are used by a task; one value alone for find_place.name (Denver): --values names more"
    assert told in as_table(quality(Pack(tuple(tasks)), tools))
    other = replace(lookup(99), plan=(Call("find_place", {"name": "Boise"}),))
    for few in (tasks[:9], [*tasks, other]):
        assert "one value" not in as_table(quality(Pack(tuple(few)), tools))


@pytest.mark.parametrize(
    ("text", "is_error"),
    [
        ("Database error: no such table: young mirror", True),
        ("Error executing tool get: missing", True),
        ("invalid literal for int() with base 10", True),
        ("could not open the file", True),
        ("failed", False),
        ("error", False),
        ("Oak Desk, 80 cm", False),
        ("Trial and Error", False),
    ],
)
def test_a_fact_out_of_an_error_message_is_told_from_a_status(text: str, is_error: bool) -> None:
    assert reads_like_error(text) is is_error


def test_a_good_pack_is_above_the_floor() -> None:
    assert lacking(quality(PACK, TOOLS)) == []
    require_floor(quality(PACK, TOOLS))


def test_below_the_floor_training_stops_with_all_reasons_and_what_to_add() -> None:
    poor = Pack((*PACK.scenarios[:5], replace(lookup(1), checks=(Fact("Database error: no such table"),)), *TESTS))
    more = [*TOOLS, *(tool(f"tool_{n}") for n in range(9))]
    with pytest.raises(ScenarioError) as caught:
        require_floor(quality(poor, more))
    message = str(caught.value)
    assert "only 1 of 12 tools have tasks, half are needed (none for list_orders, set_status, tool_0" in message
    assert f"only 6 training tasks, {LEAST_TASKS} are needed" in message
    assert "1 task states an error message as a fact, such as 'Where is O-1?'" in message
    for way in ("--values", "--example", "--traffic", "--allow-tool", "--pack", "--small-pack"):
        assert way in message
    assert "\n" not in message


def test_the_quality_is_saved_with_the_pack(tmp_path: Path) -> None:
    measured = quality(PACK, TOOLS, {"does nothing": 0.02})
    replace(PACK, quality=measured.as_toml()).save(tmp_path)
    assert saved_quality(load_pack(tmp_path)) == measured
    assert saved_quality(PACK) is None
