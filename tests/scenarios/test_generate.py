"""The grounded generator on real servers: tasks are executed, repeatable, worded, and split so that nothing leaks."""

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.loopback import shop_over_http
from support.once import replayed

from mcprl.config import ScenarioConfig, ServerConfig, ToolPolicy
from mcprl.errors import ScenarioError
from mcprl.judges.verifier import Verifier
from mcprl.runs.overlap import wording_overlap
from mcprl.scenarios.catalog import Catalog
from mcprl.scenarios.compose import Composer
from mcprl.scenarios.fields import opened, record_of, rows_of
from mcprl.scenarios.generate import generate
from mcprl.scenarios.identities import Identities
from mcprl.scenarios.packs.pack import Pack, load_pack, split_of
from mcprl.scenarios.probing.probe import probe
from mcprl.servers.digest import digest
from mcprl.servers.effects import is_read
from mcprl.servers.server import connect
from mcprl.training.demonstrations import transcript
from mcprl.types import Fact, Scalar, Tool, ToolResult, Trajectory

SMALL = ScenarioConfig(train=40, val=10, test=20, test_forms=20, probe_calls=300, repeat_after_s=0.2)

TINY = ScenarioConfig(train=10, val=2, test=4, test_forms=4, probe_calls=120, repeat_after_s=0.0)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def pack(shop: ServerConfig) -> Pack:
    async with connect([shop], ToolPolicy()) as server:
        return await generate(server, SMALL, seed=3)


async def test_every_split_is_filled_with_several_kinds_of_tasks(pack: Pack) -> None:
    made = Counter((s.split, s.suite) for s in pack.scenarios)
    assert made["train", "entities"] >= 38  # a field that proves volatile takes its tasks with it
    assert made["val", "entities"] >= 9
    assert made["test", "entities"] >= 19
    assert made["test", "forms"] >= 19
    assert {"lookup", "missing", "write", "each", "extreme", "count", "asks"} <= {s.kind for s in pack.scenarios}
    assert {1, 2} <= {len(s.plan) for s in pack.scenarios}
    assert len({s.request for s in pack.scenarios}) == len(pack.scenarios)


async def test_what_is_declined_and_asked_back_is_no_rarity(pack: Pack) -> None:
    """They count as one and the same task if their plans are compared, which are empty."""
    kinds = Counter(scenario.kind for scenario in pack.train)
    assert kinds["declines"] >= 0.04 * len(pack.train)
    assert kinds["asks"] >= 0.04 * len(pack.train)


async def test_what_one_split_asks_no_other_does_even_if_it_names_no_value(shop: ServerConfig) -> None:
    """ "Can you update the file?" stood in train and in val of the file server's pack, which `train` then refused."""
    async with connect([shop], ToolPolicy()) as server:
        catalog = Catalog(await probe(server, 3, TINY.probe_calls), lambda _: False)
        asked: set[str] = set()
        rounds = [
            {s.request for s in await Composer(server, catalog, "train", "entities", 3, TINY, asked).compose(12)}
            for _ in range(2)
        ]
    assert all(rounds)
    assert rounds[0].isdisjoint(rounds[1])
    assert asked >= rounds[0] | rounds[1]


@pytest.fixture(scope="module")
async def many(shop: ServerConfig) -> Pack:
    sizes = {"train": 600, "val": 2, "test": 4, "test_forms": 0}
    async with connect([shop], ToolPolicy()) as server:
        return await generate(server, SMALL.model_copy(update=sizes), seed=4)


async def test_the_plain_questions_are_there_each_field_by_its_key_and_each_list(many: Pack) -> None:
    """Kinds that call a tool otherwise (to compare, to combine) and filters that leave nothing once crowded them out:
    of 1,219 training tasks 6 asked for a price by the SKU, 1 for a supplier, and 16 listed a customer's orders. What
    people ask is a plain lookup in 30 of 100 requests; here it was one in 12. None
    asked how many are left: a number of units was taken for the word in which something is counted."""
    train = many.train
    plain = [scenario for scenario in train if len(scenario.plan) == 1 and scenario.kind == "lookup"]
    assert len(plain) >= 0.2 * len(train)
    tools = Counter(scenario.plan[0].tool for scenario in plain)
    assert all(tools[tool] >= 0.02 * len(train) for tool in ("get_product", "get_order", "get_customer", "check_stock"))
    listed = [scenario for scenario in train if [call.tool for call in scenario.plan] == ["list_orders"]]
    assert len(listed) >= 0.04 * len(train)
    asked = {(s.plan[0].tool, check.name) for s in plain for check in s.checks if isinstance(check, Fact)}
    assert {("get_product", name) for name in ("name", "category", "price", "supplier")} <= asked
    assert {("check_stock", name) for name in ("units", "shelf")} <= asked
    assert {("get_order", name) for name in ("sku", "quantity", "status", "order date")} <= asked


async def test_some_writes_are_on_what_does_not_exist(many: Pack) -> None:
    """Without them a model says "Done." whatever the server answers to a write."""
    absent = [s for s in many.train if s.kind == "missing" and s.plan[-1].tool == "set_order_status"]
    assert 0.01 * len(many.train) <= len(absent) <= 0.05 * len(many.train)
    assert all(s.answer.startswith("There is no order O-") for s in absent)


async def test_a_list_that_is_cut_off_is_asked_for_its_first_and_for_what_a_limit_leaves(many: Pack) -> None:
    """Five products are shown of a category, the cheapest first, so that nothing can be counted or ranked but with
    `max_price`. That was taken for the number of results: no task had it, and none asked for the cheapest."""
    search = [(s, call.arguments) for s in many.train for call in s.plan if call.tool == "search_products"]
    limited = [(s, arguments["max_price"]) for s, arguments in search if "max_price" in arguments]
    assert {"count", "listing"} <= {s.kind for s, _ in limited}
    assert all(str(limit) in s.request for s, limit in limited)
    extremes = [s for s, arguments in search if s.kind == "extreme" and [*arguments] == ["category"]]
    assert extremes
    assert not [s.request for s in extremes if "expensive" in s.request or "dearest" in s.request]


async def test_whether_there_are_any_is_asked_where_there_are_and_where_there_are_none(many: Pack) -> None:
    asked = [s for s in many.train if s.kind == "whether"]
    none = [s for s in asked if s.answer.startswith("There are no ")]
    assert 0.2 * len(asked) <= len(none) <= 0.8 * len(asked)
    assert all(s.answer.startswith("Yes, there ") for s in asked if s not in none)
    assert {"list_orders"} == {s.plan[-1].tool for s in none}


async def test_a_write_that_no_tool_does_is_on_what_no_tool_sets(pack: Pack) -> None:
    """The shop can set an order's status, and neither take anything away nor change a product or a customer."""
    declined = [s for s in pack if s.kind == "declines" and not s.form.startswith("unserved")]
    assert declined
    assert all(s.form.startswith("write/") for s in declined)
    assert not [s.request for s in declined if "set the status" in s.request]
    assert not [s.request for s in pack if s.kind == "asks" and s.plan]


async def test_no_entity_of_a_test_task_is_named_in_training(pack: Pack) -> None:
    def values(split: str) -> set[str]:
        return {value.casefold() for s in pack.scenarios if s.split == split for value in s.values}

    for held_out in ("test", "val"):
        assert values(held_out)
        assert not values("train") & values(held_out)


async def test_forms_and_wordings_of_the_test_on_forms_stand_nowhere_else(pack: Pack) -> None:
    def forms(suite: str) -> set[str]:
        return {s.form for s in pack.scenarios if s.suite == suite}

    assert len(forms("forms")) > 4
    assert not forms("forms") & forms("entities")
    assert wording_overlap(pack.test, pack.train)["forms"][1] == 0


async def test_the_plan_and_answer_of_every_task_pass_its_checks_in_a_fresh_process(pack: Pack) -> None:
    failed: list[str] = []
    chosen = pack.scenarios[:60]
    with shop_over_http() as url:
        async with connect([ServerConfig(target=url)], ToolPolicy()) as server:
            verifier = Verifier(server.tools)
            for scenario, played in zip(chosen, await replayed(server, chosen), strict=True):
                score = verifier.verify(scenario, played)
                if not score.success:
                    failed.append(f"{scenario.request}: {score.explanation}")
    assert not failed


async def test_an_answer_without_calls_and_another_tasks_answer_fail(pack: Pack) -> None:
    verifier = Verifier()
    for scenario in (s for s in pack.scenarios if s.plan):
        messages = ({"role": "user", "content": scenario.request}, {"role": "assistant", "content": scenario.answer})
        assert not verifier.verify(scenario, Trajectory("t", scenario.id, messages, ())).success, scenario.request


async def test_the_same_seed_gives_the_same_pack_and_another_seed_another(shop: ServerConfig) -> None:
    async with connect([shop], ToolPolicy()) as server:
        one, again, other = [await generate(server, TINY, seed) for seed in (3, 3, 4)]
    assert again == one
    assert {s.id for s in other.scenarios} != {s.id for s in one.scenarios}


async def test_a_pack_is_files_that_read_back_the_same(pack: Pack, tmp_path: Path) -> None:
    pack.save(tmp_path)
    read = load_pack(tmp_path)
    for split in ("train", "val", "test"):
        assert read.split(split) == pack.split(split)
    assert read.tool_hash == pack.tool_hash
    (tmp_path / "val.jsonl").write_text("not json\n")
    with pytest.raises(ScenarioError, match=r"val\.jsonl, line 1 is not JSON"):
        load_pack(tmp_path)


async def test_a_transcript_is_the_plan_executed_and_the_answer(pack: Pack, shop: ServerConfig) -> None:
    scenario = next(s for s in pack.scenarios if len(s.plan) > 1)
    async with connect([shop], ToolPolicy()) as server:
        messages = await transcript(server, scenario)
    assert [m["role"] for m in messages] == ["user", *["assistant", "tool"] * len(scenario.plan), "assistant"]
    assert messages[-1]["content"] == scenario.answer


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
    kept = tuple(s for s in pack.scenarios if s.split != "test" or "convert_time" not in [call.tool for call in s.plan])
    assert replace(pack, scenarios=kept).untested() == ["convert_time"]
    kept = tuple(
        s for s in pack.scenarios if s.split != "train" or "convert_time" not in [call.tool for call in s.plan]
    )
    assert pack.untrained() == []
    assert replace(pack, scenarios=kept).untrained() == ["convert_time"]


async def test_a_server_without_usable_tools_says_what_to_do(shop: ServerConfig) -> None:
    async with connect([shop], ToolPolicy(deny=("*",))) as server:
        with pytest.raises(ScenarioError, match="no tool that may be called"):
            await generate(server, SMALL)


@pytest.mark.parametrize(
    ("name", "description", "hint", "reads"),
    [
        ("open_issue", "Creates an issue.", None, False),
        ("open_nodes", "Open specific nodes in the graph by their names", None, False),
        ("list_events", "Log of what happened", None, True),
        ("delete_row", "Row, gone", None, False),
        ("open_issue", "Creates an issue.", True, True),
        ("get_report", "Reads a report", False, False),
    ],
)
def test_what_may_be_called_to_look_around(name: str, description: str, hint: bool | None, reads: bool) -> None:
    assert is_read(Tool(name, description, {"type": "object"}, read_only=hint)) is reads


def test_rows_are_found_inside_wrappers() -> None:
    assert rows_of({"count": 2, "data": {"items": [{"a": 1}, {"a": 2}]}}) == (("data", "items"), [{"a": 1}, {"a": 2}])
    assert rows_of({"items": [{"a": 1}]}) is None
    assert rows_of({"items": [{"a": 1}]}, least=1) == (("items",), [{"a": 1}])
    ids = {"T-Shirt": "9523456873", "Desk Lamp": "6817146515", "Luggage Set": "5426915165"}
    assert rows_of(ids) == ((), [{"name": name, "id": key} for name, key in ids.items()])
    assert rows_of({"first_name": "Ana", "last_name": "Lund", "city": "Lyon"}) is None


def test_what_reports_on_a_call_is_no_part_of_its_result() -> None:
    envelope = {"ok": True, "tool": "get_order", "arguments": {"id": 7}, "parsed_content": {"status": "open"}}
    assert record_of(ToolResult("", envelope)) == {"status": "open"}
    assert record_of(ToolResult("", {"status": "open", "content": "a letter"})) == {
        "status": "open",
        "content": "a letter",
    }


@pytest.mark.parametrize(
    ("content", "text", "is_error"),
    [
        ({"status": "open"}, '{"status":"open"}', False),
        ("landed", "landed", False),
        ([], "[]", False),
        ("Error: no such order", "Error: no such order", True),
    ],
)
def test_a_result_is_read_without_its_envelope(content: Any, text: str, is_error: bool) -> None:
    envelope = {"ok": True, "tool": "get_order", "arguments": {"id": 7}, "parsed_content": content}
    result = opened(digest("", envelope))
    assert (result.text, result.is_error) == (text, is_error)
    plain = digest("", {"status": "open", "content": "a letter"})
    assert opened(plain) is plain


def test_of_a_result_that_is_cut_no_more_is_read_than_the_model_sees() -> None:
    rows = [{"number": number, "text": "x" * 20} for number in range(300)]
    result = opened(digest("", {"ok": True, "tool": "list", "content": {"rows": rows}, "log": "y" * 9_000}))
    assert result.cut_bytes
    assert len(result.text) < 4_100


class Repository(Identities):
    """Ten commits, and a folder of more files than chance leaves out of a split."""

    def __init__(self, taken: str = "") -> None:
        super().__init__(["/srv"], lambda thing: thing == taken)

    def populations(self) -> Iterable[Sequence[Scalar]]:
        return [[f"commit {number}" for number in range(10)], [f"/srv/{number}.txt" for number in range(100)], ["main"]]


@pytest.mark.parametrize("seed", range(20))
def test_of_few_things_each_split_has_its_share_whatever_the_seed(seed: int) -> None:
    commits, _, _ = Repository().populations()
    assert Counter(Repository().split(seed, commit) for commit in commits) == {"test": 3, "val": 1, "train": 6}
    assert Repository(taken="commit 7").split(seed, "Commit 7") == "test"
    assert Repository().split(seed, "/srv/5.txt") == split_of(seed, "5.txt")
    assert Repository().split(seed, "main") == split_of(seed, "main")


def test_a_value_belongs_to_one_split_however_it_is_written() -> None:
    assert split_of(1, "Ada Byron") == split_of(1, " ada  byron ")
    assert split_of(1, 3.0) == split_of(1, 3)
    shares = Counter(split_of(7, f"C-{number}") for number in range(4_000))
    assert 0.27 < shares["test"] / 4_000 < 0.33
