"""What writes are given: values that belong together, a variant in another's place, a reason, a made-up day."""

import random

import pytest

from mcprl.scenarios.catalog import Catalog
from mcprl.scenarios.filling import creates
from mcprl.scenarios.planner import Planner
from mcprl.scenarios.probing.draws import Penalties, draw_write
from mcprl.scenarios.probing.knowledge import Knowledge
from mcprl.scenarios.probing.results import Records
from mcprl.scenarios.probing.sources import place
from mcprl.scenarios.probing.values import invent
from mcprl.scenarios.probing.writing import without_moments
from mcprl.scenarios.slots import slots
from mcprl.types import Tool, ToolResult

TEXT = {"type": "string"}
ITEMS = {"type": "array", "items": TEXT}


def known(*tools: Tool) -> Knowledge:
    return Knowledge({tool.name: tool for tool in tools}, {tool.name: slots(tool) for tool in tools})


def tool(name: str, **parameters: object) -> Tool:
    return Tool(name, "", {"type": "object", "properties": parameters, "required": [*parameters]})


EXCHANGE = tool("exchange_delivered_items", order_id=TEXT, item_ids=ITEMS, new_item_ids=ITEMS)
CANCEL = tool("cancel_order", order_id=TEXT, reason={**TEXT, "description": "'no longer needed' or 'by mistake'"})
ORDERS = (("O-1", "pending", ("i-1", "i-7")), ("O-2", "delivered", ("i-2", "i-8")), ("O-3", "pending", ("i-3", "i-9")))


def shop() -> Knowledge:
    """Three orders of two items each, and the variants of the item of order O-2."""
    learned = known(tool("get_order", order_id=TEXT), tool("get_product", product_id=TEXT), EXCHANGE, CANCEL)
    variants = [{"item_id": "i-2", "size": "M"}, {"item_id": "i-22", "size": "L"}, {"item_id": "i-23", "size": "S"}]
    products = [("p-1", {"product_id": "p-1", "variants": variants})]
    orders = [(o, {"order_id": o, "status": s, "items": [{"item_id": i} for i in own]}) for o, s, own in ORDERS]
    for name, results in (("get_order", orders), ("get_product", products)):
        for key, record in results:
            argument = "order_id" if name == "get_order" else "product_id"
            learned.records.add(name, {argument: key}, record)
            learned.base.harvest(name, record)
            learned.keep(name, {argument: key}, ToolResult(str(record), record))
    return learned


def test_an_exchange_takes_a_delivered_order_and_another_variant_of_its_item() -> None:
    learned = shop()
    drawn = draw_write(learned, EXCHANGE, learned.slots[EXCHANGE.name], learned.base, random.Random(0), 0, Penalties())
    order, old, new = (value for _, value in drawn.picked.values())
    assert (order, old) == ("O-2", "i-2")
    assert new in ("i-22", "i-23")


def test_what_was_refused_is_drawn_again_in_a_fresh_session() -> None:
    penalties = Penalties(taken={("O-1", "i-1"), ("O-2", "i-2")})
    order, item, _ = slots(EXCHANGE)
    penalties.blame({order: (("from",), "O-1"), item: (("from",), "i-1")}, {}, "refused")
    assert penalties.refused == {("O-1", "i-1")}


def test_a_removal_with_a_reason_takes_an_order_although_no_row_has_the_reason() -> None:
    learned = shop()
    order, reason = learned.slots["cancel_order"]
    learned.sources["cancel_order", order.path] = [("from", "get_order", "order_id")]
    learned.sources["cancel_order", reason.path] = [("quoted",)]
    planner = Planner(Catalog(learned), "train", "entities", 0, 4)
    filled = [planner.filler.fill(CANCEL, learned.base) for _ in range(10)]
    assert {value for one in filled if one for slot, value in one if slot == order} <= {own[0] for own in ORDERS}
    assert any(filled)


def test_values_of_one_record_are_found_together() -> None:
    records = Records()
    records.add("get_user", {"id": "a"}, {"name": {"first": "Ana", "last": "Ruiz"}, "zip": "80279"})
    records.add("get_user", {"id": "b"}, {"name": {"first": "Bo", "last": "Lund"}, "zip": "10083"})
    places = [[place("get_user", ("name", "first"))], [place("get_user", ("zip",))]]
    assert records.together(places) == [("Ana", "80279"), ("Bo", "10083")]
    assert not records.together([*places, [place("get_user", ("none",))]])


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


def test_moments_prove_no_write() -> None:
    text = "size: 4\nmodified: Sun Nov 22 2026 08:47:37 GMT\nseen 2026-11-22T08:47:37Z"
    assert without_moments(text) == without_moments(text.replace("08:47:37", "09:01:02"))
    assert without_moments("size: 4") != without_moments("size: 5")


def test_a_made_up_day_is_near_those_that_results_show() -> None:
    learned = known(tool("jobs_due", day={**TEXT, "description": "a date, YYYY-MM-DD"}))
    (due,) = learned.slots["jobs_due"]
    learned.base.pool[("from", "job_sheet", "due")] = {"2031-02-03": None, "2031-03-09": None, "waiting": None}
    days = [learned.made_up(due, random.Random(seed)) for seed in range(40)]
    assert {day[:4] for day in days} == {"2031"}
    assert all("2031-01-03" <= day <= "2031-04-09" for day in days)


def test_nobody_makes_calls_at_night_or_hands_out_odd_amounts() -> None:
    schema = {"type": "object", "properties": {"time": {"type": "string"}, "amount": {"type": "integer"}}}
    clock, amount = slots(Tool("send_certificate", "", schema))
    for seed in range(40):
        assert "07" <= str(invent(clock, random.Random(seed))) < "23"
        assert int(invent(amount, random.Random(seed))) % 5 == 0
