"""A demonstration is shown with other identifiers each time: what changes, and what must not."""

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any, cast

import pytest
import written
from support.configs import small
from transformers import AutoTokenizer

from mcprl.events import Event, Note, ignore
from mcprl.runs.journal import Journal
from mcprl.servers.server import Server
from mcprl.text import compact
from mcprl.training.demonstrations import Demonstrations
from mcprl.training.renaming import renamed
from mcprl.types import Call, Message, Scenario, Tool


def called(tool: str, arguments: dict[str, Any], result: Any) -> list[Message]:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    text = result if isinstance(result, str) else compact(result)
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "call", "content": text},
    ]


def conversation(request: str, calls: list[Message], answer: str) -> list[Message]:
    return [{"role": "user", "content": request}, *calls, {"role": "assistant", "content": answer}]


def arguments(message: Message) -> dict[str, Any]:
    return json.loads(message["tool_calls"][0]["function"]["arguments"])


TEAPOTS = [{"sku": "SKU-316", "name": "Ivory Teapot"}, {"sku": "SKU-328", "name": "Oak Tray"}]
CHAIN = conversation(
    "where is the Ivory Teapot?",
    [
        *called("search", {"category": "kitchen"}, TEAPOTS),
        *called("check", {"sku": "SKU-316"}, {"sku": "SKU-316", "units": 12, "shelf": "B-28"}),
    ],
    "It is on shelf B-28.",
)


def test_an_identifier_has_the_same_new_digits_wherever_it_stands() -> None:
    _, _, listed, called_with, record, _ = renamed(CHAIN, (), random.Random(0))
    sku = arguments(called_with)["sku"]
    assert re.fullmatch(r"SKU-\d{3}", sku)
    assert sku != "SKU-316"
    rows = {row["name"]: row["sku"] for row in json.loads(listed["content"])}
    assert rows["Ivory Teapot"] == sku == json.loads(record["content"])["sku"]
    assert sku not in [other for name, other in rows.items() if name != "Ivory Teapot"]


def test_each_time_there_are_others_and_the_conversation_itself_is_left() -> None:
    before = json.dumps(CHAIN)
    seen = {arguments(renamed(CHAIN, (), random.Random(seed))[3])["sku"] for seed in range(20)}
    assert len(seen) > 15
    assert json.dumps(CHAIN) == before


def test_rows_come_in_any_order_unless_several_are_named_later() -> None:
    orders = {
        next(iter(json.loads(renamed(CHAIN, (), random.Random(seed))[2]["content"])))["name"] for seed in range(20)
    }
    assert orders == {"Ivory Teapot", "Oak Tray"}
    listing = conversation("all of them?", called("search", {}, TEAPOTS), "SKU-316 and SKU-328.")
    for seed in range(20):
        _, _, listed, answer = renamed(listing, (), random.Random(seed))
        first, second = (row["sku"] for row in json.loads(listed["content"]))
        assert answer["content"] == f"{first} and {second}."


ORDERS = [
    {"order": f"O-{2301 + 7 * at}", "units": units, "on": f"2026-0{9 - at}-11"} for at, units in enumerate((4, 9, 1, 7))
]


def orders_shown(request: str, rows: list[dict[str, Any]], answer: str, seed: int) -> list[Any]:
    """The dates in the orders' list as a demonstration shows it."""
    told = renamed(conversation(request, called("orders", {}, rows), answer), (), random.Random(seed))
    return [row["on"] for row in json.loads(told[2]["content"])]


def test_sorted_rows_keep_their_order_and_some_of_those_that_do_not_matter_are_left_out() -> None:
    """With the rows shuffled, the newest order was anywhere; SmolLM2 found none of eight extremes."""
    shown = [orders_shown("the newest order?", ORDERS, "It's O-2301.", seed) for seed in range(30)]
    assert all(days == sorted(days, reverse=True) and days[0] == "2026-09-11" for days in shown)
    assert {len(days) for days in shown} == {1, 2, 3, 4}


def test_rows_are_neither_left_out_where_they_are_counted_nor_where_none_is_named() -> None:
    for request, answer in (
        ("how many, and which is the newest?", "There are 4 orders. The newest is O-2301."),
        ("how many units are ordered?", "21 units."),
    ):
        assert all(len(orders_shown(request, ORDERS, answer, seed)) == 4 for seed in range(10))
    read = [*called("orders", {}, ORDERS), *called("order", {"order": "O-2301"}, {"order": "O-2301", "shelf": "B-28"})]
    chain = conversation("how many, and where is the newest?", read, "There are 4 orders. The newest is on B-28.")
    for seed in range(10):
        assert len(json.loads(renamed(chain, (), random.Random(seed))[2]["content"])) == 4


def test_what_a_person_says_for_short_follows() -> None:
    told = renamed(
        conversation("ship order 2107", called("ship", {"order": "O-2107"}, "O-2107 is shipped"), "O-2107 is shipped."),
        (),
        random.Random(1),
    )
    digits = arguments(told[1])["order"].removeprefix("O-")
    assert digits != "2107"
    assert [message["content"] for message in told if message["content"]] == [
        f"ship order {digits}",
        f"O-{digits} is shipped",
        f"O-{digits} is shipped.",
    ]


def test_years_dates_prices_times_and_counts_are_left() -> None:
    row = {
        "id": "INV-2026-0012",
        "paid": "2026-03-09T10:15",
        "sum": 1250.5,
        "since": 2026,
        "units": 316,
        "sku": "SKU-316",
    }
    calls = called("read", {"invoice": "INV-2026-0012", "year": 2026}, row)
    told = renamed(conversation("in 2026: INV-2026-0012", calls, "1,250.50 at 10:15, 316 units."), (), random.Random(2))
    shown = json.loads(told[2]["content"])
    assert {**shown, "id": ""} == {**row, "id": ""}
    assert re.fullmatch(r"INV-2026-\d{4}", shown["id"])
    assert told[3]["content"] == "1,250.50 at 10:15, 316 units."


def test_whole_numbers_are_identifiers_where_a_parameter_is_a_key() -> None:
    calls = called("get_train", {"train_no": 4430, "limit": 250}, {"train_no": 4430, "seats": 250})
    told = renamed(conversation("train 4430?", calls, "Train 4430 has 250 seats."), (), random.Random(3))
    number = arguments(told[1])["train_no"]
    assert number != 4430
    assert arguments(told[1])["limit"] == 250
    assert told[0]["content"] == f"train {number}?"
    assert told[3]["content"] == f"Train {number} has 250 seats."


@pytest.fixture
def hotel() -> written.Written:
    """A server in this process with reservations such as R-3110."""
    return written.Written(written.FOLDER / "hotel")


async def test_a_plan_is_executed_once_and_each_step_shows_it_with_another_key(
    tiny_model: Path, tmp_path: Path, hotel: written.Written
) -> None:
    config = small(tiny_model, tmp_path, training={"warm_start_plans": 1})
    journal = Journal.create(tmp_path / "run", config)
    plan = Call("get_reservation", {"code": "R-3110"})
    scenario = Scenario("task", "Which room does R-3110 have?", (), (plan,), "R-3110 has room 102.")
    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    shown = Demonstrations(config, journal, cast(Server, hotel), tokenizer, [scenario], ignore)
    keys: Counter[str] = Counter()
    for step in range(1, 6):
        (row,) = await shown.rows(step)
        (_, told) = tokenizer.decode(row.ids).split("Which room")  # before it are the tools, with an example
        (key, *others) = re.findall(r"R-\d{4}", told)
        assert {key, *others} == {key}
        keys[key] += 1
    assert len(keys) == 5
    assert "R-3110" not in keys
    assert len(journal.trajectories("demonstration")) == 1


@pytest.mark.parametrize(("most", "told"), [(8, 1), (500, 0)])
async def test_a_plan_whose_turns_a_rollout_cannot_end_is_told_once(
    most: int, told: int, tiny_model: Path, tmp_path: Path, hotel: written.Written
) -> None:
    config = small(tiny_model, tmp_path, training={"warm_start_plans": 1}, rollout={"max_tokens": most})
    plan = Call("get_reservation", {"code": "R-3110"})
    tasks = [Scenario(f"task {n}", f"Which room does R-3110 have? {n}", (), (plan,), "It has 102.") for n in range(3)]
    notes: list[Event] = []
    with Journal.create(tmp_path / "run", config) as journal:
        tokenizer = AutoTokenizer.from_pretrained(tiny_model)
        shown = Demonstrations(config, journal, cast(Server, hotel), tokenizer, tasks, notes.append)
        for step in (1, 2, 3):
            await shown.rows(step)
    assert len(notes) == told
    assert all(isinstance(note, Note) and "--max-tokens" in note.text for note in notes)


def test_identifiers_of_a_result_that_has_all_numbers_keep_their_own() -> None:
    rows = " ".join(f"N-{number}" for number in range(100, 1000))
    told = renamed(conversation("all?", called("all", {}, rows), "900."), (), random.Random(0))
    assert told[2]["content"] == rows


def test_what_tools_and_instructions_name_is_left() -> None:
    calls = called("open", {"gate": "G-101", "account": "A-555", "slot": "S-777"}, "S-777 is open")
    schema = {"type": "object", "properties": {"gate": {"type": "string", "enum": ["G-101", "G-102"]}}}
    opening: Message = {"role": "system", "content": "Use the account A-555."}
    told = renamed(
        [opening, *conversation("open G-101 at S-777", calls, "Done.")], [Tool("open", "", schema)], random.Random(0)
    )
    assert told[0] == opening
    assert {**arguments(told[2]), "slot": ""} == {"gate": "G-101", "account": "A-555", "slot": ""}
    assert arguments(told[2])["slot"] != "S-777"
