"""The grounded generator on real servers: tasks are executed, repeatable, worded, and split so that nothing leaks."""

import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from support.paths import SHOP
from support.trajectories import replay

from mcprl.config import ScenarioConfig, ServerConfig, ToolPolicy
from mcprl.errors import ScenarioError
from mcprl.judges.checks import holds
from mcprl.judges.verifier import Verifier
from mcprl.scenarios.fields import result_fields, rows_of, text_value
from mcprl.scenarios.generate import generate
from mcprl.scenarios.pack import Pack, load_pack, split_of
from mcprl.scenarios.wording import picked
from mcprl.servers.effects import is_read
from mcprl.servers.server import connect
from mcprl.training.warm_start import transcript
from mcprl.types import Call, Fact, Tool, ToolResult, Trajectory

SMALL = ScenarioConfig(train=30, val=10, test=20, probe_calls=250, repeat_after_s=0.2)


def shop() -> ServerConfig:
    return ServerConfig(target=SHOP)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def pack() -> Pack:
    async with connect([shop()], ToolPolicy()) as server:
        return await generate(server, SMALL, seed=3)


async def test_every_split_is_filled_with_several_kinds_of_tasks(pack: Pack) -> None:
    assert Counter(s.split for s in pack.scenarios) == {"train": 30, "val": 10, "test": 20}
    assert {"lookup", "missing", "write"} <= {s.kind for s in pack.scenarios}
    assert any(len(s.plan) > 1 for s in pack.scenarios)
    assert len({s.request for s in pack.scenarios}) == len(pack.scenarios)


async def test_no_entity_value_and_no_call_of_a_test_task_stands_in_training(pack: Pack) -> None:
    def values(split: str) -> set[str]:
        return {value.casefold() for s in pack.scenarios if s.split == split for value in s.values}

    def calls(split: str) -> set[str]:
        return {f"{c.tool}{c.arguments}" for s in pack.scenarios if s.split == split for c in s.plan if c.arguments}

    for held_out in ("test", "val"):
        assert values(held_out)
        assert not values("train") & values(held_out)
        assert not calls("train") & calls(held_out)


async def test_the_plan_and_answer_of_every_task_pass_its_checks_in_a_fresh_process(pack: Pack) -> None:
    failed: list[str] = []
    async with connect([shop()], ToolPolicy()) as server:
        verifier = Verifier(server.tools)
        for scenario in pack.scenarios[:40]:
            score = verifier.verify(scenario, await replay(server, scenario))
            if not score.success or score.value != 1.0:
                failed.append(f"{scenario.request}: {score.explanation}")
    assert not failed


async def test_an_answer_without_calls_and_another_tasks_answer_fail(pack: Pack) -> None:
    verifier = Verifier()
    for scenario in pack.scenarios:
        messages = ({"role": "user", "content": scenario.request}, {"role": "assistant", "content": scenario.answer})
        assert not verifier.verify(scenario, Trajectory("t", scenario.id, messages, ())).success, scenario.request


async def test_a_row_out_of_a_list_is_quoted_and_naming_other_rows_too_is_no_answer(pack: Pack) -> None:
    picks = [s for s in pack.scenarios if s.kind == "pick"]
    assert picks
    assert any(s.answer.startswith("{") for s in picks)
    async with connect([shop()], ToolPolicy()) as server:
        for scenario in picks:
            (fact,) = (check for check in scenario.checks if isinstance(check, Fact))
            assert not any(holds(scenario.answer, other) for other in fact.rivals)
            right = await replay(server, scenario)
            hedged = replace(scenario, answer=f"{scenario.answer} Or {fact.rivals[0]}.") if fact.rivals else scenario
            assert Verifier().verify(scenario, right).success
            assert Verifier().verify(scenario, await replay(server, hedged)).success is not bool(fact.rivals)


def test_the_quote_of_a_row_runs_from_the_key_to_what_was_asked() -> None:
    row = {"sku": "SKU-7", "name": "Oak Desk", "price": 80}
    quote = '{"sku":"SKU-7","name":"Oak Desk","price":80}'
    assert picked(f"[{quote}]", row, "sku", "price", "The price is 80.") == f"{quote}: the price is 80."
    assert picked(f"[{quote}]", row, "price", "sku", "The sku is SKU-7.") == "The sku is SKU-7."
    long = {"sku": "SKU-7", "text": "word " * 40, "price": 80}
    assert picked(json.dumps(long), long, "sku", "price", "The price is 80.") == "The price is 80."


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("- sku: SKU-70, price: 9\n- sku: SKU-7, name: Oak Desk, price: 80", "sku: SKU-7, name: Oak Desk, price: 80"),
        ("sku | name | price\nSKU-7 | Oak Desk | 80", "SKU-7 | Oak Desk | 80"),
        ("sku: SKU-7\nname: Oak Desk\nprice: 80\n\nsku: SKU-8\nprice: 80", "sku: SKU-7\nname: Oak Desk\nprice: 80"),
    ],
)
def test_a_row_of_text_is_quoted_as_it_stands(text: str, quote: str) -> None:
    row = {"sku": "SKU-7", "name": "Oak Desk", "price": 80}
    assert picked(text, row, "sku", "price", "The price is 80.") == f"{quote}: the price is 80."


async def test_the_same_seed_gives_the_same_pack_and_another_seed_another(pack: Pack) -> None:
    async with connect([shop()], ToolPolicy()) as server:
        again = await generate(server, SMALL, seed=3)
        other = await generate(server, SMALL, seed=4)
    assert again == pack
    assert {s.id for s in other.scenarios} != {s.id for s in pack.scenarios}


async def test_a_pack_is_files_that_read_back_the_same(pack: Pack, tmp_path: Path) -> None:
    pack.save(tmp_path)
    read = load_pack(tmp_path)
    for split in ("train", "val", "test"):
        assert read.split(split) == pack.split(split)
    assert read.tool_hash == pack.tool_hash
    (tmp_path / "val.jsonl").write_text("not json\n")
    with pytest.raises(ScenarioError, match=r"val\.jsonl, line 1 is not a scenario"):
        load_pack(tmp_path)


async def test_a_transcript_is_the_plan_executed_and_the_answer(pack: Pack) -> None:
    scenario = next(s for s in pack.scenarios if len(s.plan) > 1)
    async with connect([shop()], ToolPolicy()) as server:
        messages = await transcript(server, scenario)
    assert [m["role"] for m in messages] == ["user", *["assistant", "tool"] * len(scenario.plan), "assistant"]
    facts = [str(check.value) for check in scenario.checks if isinstance(check, Fact)]
    assert all(fact in messages[-1]["content"] for fact in facts)
    assert any(fact in m["content"] for m in messages if m["role"] == "tool" for fact in facts)


async def test_coverage_counts_tools_parameters_and_pairs(pack: Pack) -> None:
    rows = {name: (train, val, test) for name, train, val, test in pack.coverage()}
    assert rows["get_order"][0] > 0
    assert rows["get_order.order_id"] == rows["get_order"]
    assert any(" -> " in name for name in rows)


async def test_values_of_a_universal_format_reach_every_split() -> None:
    clocks = ServerConfig(target=f"{Path(sys.executable).with_name('mcp-server-time')} --local-timezone UTC")
    async with connect([clocks], ToolPolicy()) as server:
        pack = await generate(server, SMALL, seed=0)
    counts = {name: tested for name, *tested in pack.coverage() if name in ("convert_time", "get_current_time")}
    assert all(min(tested) > 0 for tested in counts.values()), counts
    assert pack.untested() == []
    kept = tuple(s for s in pack.scenarios if s.split != "test" or s.plan[0].tool != "convert_time")
    assert replace(pack, scenarios=kept).untested() == ["convert_time"]


async def test_a_server_without_usable_tools_says_what_to_do() -> None:
    async with connect([shop()], ToolPolicy(deny=("*",))) as server:
        with pytest.raises(ScenarioError, match="no tool that may be called"):
            await generate(server, SMALL)


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("Temperature: 12\nPlace: Upper Mill", {"Temperature": 12, "Place": "Upper Mill"}),
        ("name,size\nalpha,3\nbeta,4", [{"name": "alpha", "size": 3}, {"name": "beta", "size": 4}]),
        ("| name | size |\n|---|---|\n| alpha | 3 |", [{"name": "alpha", "size": 3}]),
        (
            "2 found:\n- id: A-1, who: Bo, Ek\n- id: A-2, who: Li",
            [{"id": "A-1", "who": "Bo, Ek"}, {"id": "A-2", "who": "Li"}],
        ),
        ("1. id: A-1 | n: 3\n2. id: A-2 | n: 4", [{"id": "A-1", "n": 3}, {"id": "A-2", "n": 4}]),
        ("**Id**: A-1\n**N:** 3\n\n**Id**: A-2\n**N:** 4", [{"Id": "A-1", "N": 3}, {"Id": "A-2", "N": 4}]),
        ("[FILE] a.txt\n[DIR] docs", [{"column 0": "a.txt"}, {"column 0": "docs"}]),
        ("All is well.", None),
    ],
)
def test_text_results_are_read_as_records_tables_or_lines(text: str, meaning: object) -> None:
    assert text_value(text) == meaning


@pytest.mark.parametrize(
    ("name", "description", "hint", "reads"),
    [
        ("open_issue", "Creates an issue.", None, False),
        ("open_nodes", "Open specific nodes in the graph by their names", None, True),
        ("list_events", "Log of what happened", None, True),
        ("delete_row", "Row, gone", None, False),
        ("open_issue", "Creates an issue.", True, True),
        ("get_report", "Reads a report", False, False),
    ],
)
def test_what_may_be_called_to_look_around(name: str, description: str, hint: bool | None, reads: bool) -> None:
    assert is_read(Tool(name, description, {"type": "object"}, read_only=hint)) is reads


def test_what_varies_between_the_texts_of_a_tool_is_what_can_be_asked() -> None:
    texts = ["The sum of 1 and 2 is 3.", "The sum of 4 and 5 is 9."]
    fields = result_fields(texts, Call("add", {"a": 4, "b": 5}), ToolResult("The sum of 4 and 5 is 9."))
    assert [field.values for field in fields] == [(9,)]


def test_rows_are_found_inside_wrappers() -> None:
    assert rows_of({"count": 2, "data": {"items": [{"a": 1}, {"a": 2}]}}) == (("data", "items"), [{"a": 1}, {"a": 2}])
    assert rows_of({"items": [{"a": 1}]}) is None


def test_a_value_belongs_to_one_split_however_it_is_written() -> None:
    assert split_of(1, "Ada Byron") == split_of(1, " ada  byron ")
    assert split_of(1, 3.0) == split_of(1, 3)
    shares = Counter(split_of(7, f"C-{number}") for number in range(4_000))
    assert 0.27 < shares["test"] / 4_000 < 0.33
