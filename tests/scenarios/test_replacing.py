"""Writes whose values belong together: a variant in another's place, a removal with a reason; and moments and places
that a request tells in other ways than the call has them."""

import random
import re
import zoneinfo
from datetime import datetime, timedelta

import pytest

from mcprl.scenarios.borrowing import borrowed
from mcprl.scenarios.catalog import Catalog
from mcprl.scenarios.intents import Attribute, Compute, Value
from mcprl.scenarios.planner import Planner
from mcprl.scenarios.probing.draws import Penalties, draw_write
from mcprl.scenarios.probing.knowledge import Knowledge, State
from mcprl.scenarios.slots import slots
from mcprl.scenarios.wording import say
from mcprl.scenarios.wording.clocks import spans
from mcprl.scenarios.wording.template import data
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
    filled = [planner.fill_write(CANCEL, learned.base) for _ in range(10)]
    assert {value for one in filled if one for slot, value in one if slot == order} <= {own[0] for own in ORDERS}
    assert any(filled)


def test_a_note_on_a_new_thing_is_one_of_its_type() -> None:
    learned = known(tool("read_graph"), tool("add", observations=ITEMS))
    rows = [("Ana", "person", "speaks Dutch well"), ("Oak", "project", "budget is small")]
    for name, kind, note in rows:
        row = {"name": name, "type": kind, "observations": [note]}
        learned.records.add("read_graph", {}, [row])
        learned.base.harvest("read_graph", row)
    slot = learned.slots["add"][0]
    notes = {kind: borrowed(learned, slot, State(), ["New", kind], lambda _: True) for kind in ("person", "project")}
    assert notes == {"person": ["speaks Dutch well"], "project": ["budget is small"]}


ZONES = [
    Value(Attribute("source_timezone", "source time zone", "place"), "Europe/Berlin"),
    Value(Attribute("time", "time", "time"), "14:30"),
    Value(Attribute("target_timezone", "target time zone", "place"), "Asia/Tokyo"),
]


def test_a_moment_told_by_a_duration_is_the_one_that_is_meant() -> None:
    spoken = {"half an hour": 30, "45 minutes": 45, "an hour": 60, "an hour and a half": 90, "two hours": 120}
    seen: set[str] = set()
    for seed in range(60):
        for option in spans({"from": "Berlin", "to": "Tokyo"}, ZONES, random.Random(seed))[:1]:
            span, start = (re.sub("[\x02\x03]", "", option.slots[name]) for name in ("span", "start"))
            if span not in spoken or not re.fullmatch(r"\d\d:\d\d", start):
                continue
            sign = 1 if "after" in option.form else -1
            moment = datetime.strptime(start, "%H:%M") + sign * timedelta(minutes=spoken[span])
            assert f"{moment:%H:%M}" == "14:30"
            seen.add(option.form.partition("/")[0])
    assert seen == {"compute.zones_after", "compute.zones_before"}


def test_only_a_question_for_the_time_moves_its_moment() -> None:
    for asked, moved in ((Attribute("datetime", "time", "time"), True), (Attribute("day", "day", "text"), False)):
        intent = Compute("convert_time", "Convert time between time zones", tuple(ZONES), (asked,))
        worded = [say(intent, random.Random(seed), lambda _: True) for seed in range(60)]
        assert any(one and one.form.startswith("compute.zones_") for one in worded) is moved


@pytest.mark.parametrize("zone", data("cities"))
def test_other_cities_are_of_zones_that_there_are(zone: str) -> None:
    assert zoneinfo.ZoneInfo(zone)
    assert zone.rpartition("/")[2].replace("_", " ") not in data("cities")[zone]
